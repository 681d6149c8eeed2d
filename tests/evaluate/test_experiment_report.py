"""Means over different pairs are kept apart; kinds of matches; what the report says of them."""

import csv
from dataclasses import asdict, replace

import numpy as np
import pytest

from folioreel.evaluate.experiment_plots import write_bars, write_curves
from folioreel.evaluate.experiment_report import (
    group_rows,
    mean_rows,
    missing_notes,
    write_reproduction,
)
from folioreel.evaluate.experiment_results import (
    Reproduction,
    RowResults,
    StoredResult,
    Table,
    store_outcomes,
    visual_scores,
)
from folioreel.evaluate.metrics import Outcomes, ShotScores


def outcomes(distances, kinds=None):
    """Matches whose links are as many paragraphs away from the truth."""
    count = len(distances)
    return Outcomes(
        verdicts=np.array(["match"] * count),
        hows=np.array(["-"] * count),
        kinds=np.array(kinds or ["dialogue"] * count),
        scores=np.linspace(0.9, 0.1, count),
        distances=np.array(distances),
        recalled=np.array(distances) <= 3,
    )


def row_of(name, reference=None, **pairs):
    """A row from the distances of each pair, or why there are none."""
    results = [
        StoredResult(row=name, pair=pair, missing=found)
        if isinstance(found, str)
        else StoredResult(row=name, pair=pair, outcomes=store_outcomes(found))
        for pair, found in pairs.items()
    ]
    return RowResults(row=name, results=tuple(results), reference=reference)


@pytest.fixture
def table():
    """CNN-1 finds all of a and half of b; without VIS, which only b has, three quarters of b."""
    return Table(
        protocol="leave-one-out",
        pairs=("a", "b"),
        trained_on=None,
        rows=(
            row_of("CNN-1", a=outcomes([0, 0]), b=outcomes([0, 9, 0, 9])),
            row_of("CNN-1 without VIS", "CNN-1", a="no pictures", b=outcomes([0, 0, 9, 0])),
            row_of("CNN-3", a=outcomes([0, 9]), b=outcomes([0, 9, 9, 9])),
            row_of("CNN-1 without SCENE", "CNN-1", a="no pictures", b="no pictures in training"),
        ),
    )


def report_of(table, folder):
    found = Reproduction(
        tables=(table,), measure_times={}, pictures=("b",), statistics=({"pair": "a"},), about={}
    )
    write_reproduction(found, folder, "folioreel reproduce")
    return (folder / "report.md").read_text(encoding="utf-8").splitlines()


def test_the_report_says_why_there_are_no_figures(table, tmp_path):
    notes = [
        "No figures for CNN-1 without VIS: no pictures (a)",
        "No figures for CNN-1 without SCENE: no pictures (a), no pictures in training (b)",
    ]
    assert missing_notes(table) == notes
    assert {f"{note}." for note in notes} <= set(report_of(table, tmp_path))
    unseen = {"a": "no pictures", "b": "no pictures"}
    rows = tuple(row_of(name, **unseen) for name in ("default, unwatched", "CNN-1 without VIS"))
    assert missing_notes(replace(table, rows=rows)) == [
        "No figures for default, unwatched; CNN-1 without VIS: no pictures"
    ]


def test_rows_are_compared_on_the_same_pairs(table):
    assert [row.row for row in table.whole] == ["CNN-1", "CNN-3", "CNN-1 without SCENE"]
    (group,) = table.groups
    assert group.pairs == ("b",)
    reference, without = group_rows(group)
    assert (reference["system"], without["system"]) == ("CNN-1", "CNN-1 without VIS")
    # The means over all pairs, 75 and 75, would say that VIS is worth nothing.
    assert mean_rows(table.whole)[0]["recall"].startswith("75.0 ")
    assert reference["recall"].startswith("50.0 ")
    assert without["recall"].startswith("75.0 ")
    assert without["recall_gain"].startswith("+25.0 ")
    assert (reference["over"], without["over"]) == ("–", "CNN-1")
    assert [(row["pairs"], row["lines"]) for row in mean_rows(table.whole)] == [
        (2, 6),
        (2, 6),
        (0, 0),
    ]
    assert (without["pairs"], without["lines"]) == (1, 4)


def test_a_row_without_its_reference_stands_alone(table):
    alone = replace(table, rows=table.rows[1:])
    (group,) = alone.groups
    (row,) = group_rows(group)
    assert (row["system"], row["recall_gain"], row["over"]) == ("CNN-1 without VIS", "–", "–")


def test_the_report(table, tmp_path):
    lines = report_of(table, tmp_path)
    shown = [line for line in lines if line.startswith("| CNN-")]
    # All pairs, with the best in bold and the paper's figures; then b alone; then each pair.
    assert [line.split(" | ")[0] for line in shown[:5]] == [
        *("| CNN-1", "| CNN-3", "| CNN-1 without SCENE", "| CNN-1", "| CNN-1 without VIS")
    ]
    assert shown[0].startswith("| CNN-1 | **75.0** [")
    assert "**" not in shown[1]
    assert shown[1].endswith("| 2 | 6 | 66.77 | 22.51 |")
    assert shown[4].endswith("| CNN-1 | 50.03 | 8.83 |")
    svg = (tmp_path / "means-leave-one-out.svg").read_text()
    assert "over b alone" in svg
    assert svg.count(">CNN-1 without VIS<") == 1
    assert svg.count(">CNN-1<") == 2


def test_curves_are_of_the_main_rows(table, tmp_path):
    path = write_curves(table, tmp_path / "curves.svg")
    text = path.read_text()
    assert ">CNN-1<" in text
    assert ">CNN-3<" in text
    assert "without" not in text
    ablations = replace(table, rows=table.rows[1:2])
    assert write_curves(ablations, tmp_path / "none.svg") is None
    assert write_bars(ablations, tmp_path / "means.svg") is not None


def test_plots_say_what_was_trained_on_what(table, tmp_path):
    one = replace(table, protocol="one", trained_on="oak$lea")
    for write in (write_curves, write_bars):
        text = write(one, tmp_path / "fair.svg").read_text()
        assert ">Trained on oak$lea, tested on the others, as in the paper<" in text
        assert "†" not in text
        # CNN-3, say, was trained on b.
        results = [replace(result, seen=result.pair == "b") for result in table.rows[2].results]
        rows = [*table.rows[:2], replace(table.rows[2], results=tuple(results))]
        text = write(replace(table, rows=tuple(rows)), tmp_path / "seen.svg").read_text()
        assert ">Leave one pair out: each is tested with what was learned from the others<" in text
        assert text.count(">CNN-3 †<") == 1
        assert ">† a preset that was trained on one of these pairs<" in text


def test_visual_matches_of_annotations(table, tmp_path):
    both = outcomes([0, 9, 2, 9, 9, 9], ["dialogue", "dialogue", *["visual"] * 4])
    row = row_of("CRF", a=outcomes([0]), b=both)
    expected = ShotScores(match=4, none=0, near=25.0, strict=0.0, claimed=None, false_claims=0)
    assert [visual_scores(result) for result in row.results] == [None, expected]
    # Judged shots come first.
    judged = replace(row.results[1], shots=replace(expected, none=2))
    assert visual_scores(judged) == replace(expected, none=2)
    for looked, shown in ((None, "–"), (True, "yes"), (False, "no")):
        results = tuple(replace(result, looked=looked) for result in row.results)
        lines = report_of(replace(table, rows=(replace(row, results=results),)), tmp_path)
        assert f"| CRF | b | 4 | 0 | 25.0 | 0.0 | – | – | {shown} |" in lines
    assert "| CRF | b | 2 | 50.0 | 50.0 | 50.0 |" in lines  # dialogue
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        _, cells = csv.DictReader(file)
    for name, value in asdict(expected).items():
        assert cells[f"shots_{name}"] == ("" if value is None else str(value))
