"""The rows of a dataset, and the folder that a report becomes."""

import csv
import json
from functools import partial

import pytest

from folioreel.errors import InputError
from folioreel.evaluate.baselines import baseline_alignment
from folioreel.evaluate.report import (
    COLUMNS,
    evaluate_dataset,
    evaluate_system,
    table_rows,
    write_report,
)

WORDS = "ferry river malt bolt dial plank grass letter noon bus desk hoarding band kilo".split()


def write_pair(folder, shift):
    """A book of 14 paragraphs; the film says each in turn, and one line of its own."""
    folder.mkdir(parents=True)
    told = [f"The old {word} stood by the {word} gate number {k}." for k, word in enumerate(WORDS)]
    (folder / "book.txt").write_text("\n\n".join(told) + "\n")
    said = [*told[shift:], "Nothing whatever of that kind."]
    cues, rows, gold = [], ["id\tstart_s\tend_s\ttext"], ["id\tverdict\thow\tline_from\tline_to"]
    for k, text in enumerate(said):
        start = 3 * k
        cues.append(f"{k + 1}\n00:00:{start:02},000 --> 00:00:{start + 2:02},000\n{text}\n")
        rows.append(f"{k}\t{start}\t{start + 2}\t{text}")
        line = 2 * (k + shift) + 1
        last = k == len(said) - 1
        gold.append(f"{k}\tnone" if last else f"{k}\tmatch\tverbatim\t{line}\t{line}")
    (folder / "film.srt").write_text("\n".join(cues))
    (folder / "film_sentences.tsv").write_text("\n".join(rows) + "\n")
    (folder / "gold.tsv").write_text("\n".join(gold) + "\n")


@pytest.fixture
def dataset(tmp_path):
    write_pair(tmp_path / "pairs" / "one", 0)
    write_pair(tmp_path / "pairs" / "two", 5)
    return tmp_path / "pairs"


def test_rows_of_a_baseline(dataset):
    rows = evaluate_system(dataset, partial(baseline_alignment, "tfidf"))
    assert [row["pair"] for row in rows] == ["one", "two", "mean"]
    one, two, mean = rows
    assert (one["match"], one["none"], two["match"], mean["match"]) == (14, 1, 9, 23)
    # Each line's own sentence is its nearest, the cosine is 1, and the stranger's is lower.
    assert (one["near"], one["strict"], one["ap"], one["auroc"]) == (100.0, 100.0, 100.0, 1.0)
    assert one["how"]["verbatim"] == {"match": 14, "recall": 100.0, "near": 100.0, "strict": 100.0}
    assert one["how"]["reported"]["near"] is None
    assert mean["how"]["verbatim"]["match"] == 23
    assert mean["calibration"]["links"] == 25
    assert mean["precision_at"]["90"] == 100.0
    assert mean["precision_at"]["100"] == 92.0
    assert one["intervals"]["near"] == [100.0, 100.0]
    assert one["signature"] == {"baseline": "tfidf"}
    json.dumps(rows, allow_nan=False)


def test_the_printed_table_is_flat(dataset):
    rows = evaluate_dataset(dataset / "one")
    assert len(rows) == 1  # one pair has no mean
    (shown,) = table_rows(rows)
    assert tuple(shown) == COLUMNS
    assert all(value is None or isinstance(value, str | int | float) for value in shown.values())
    assert rows[0]["signature"]["preset"] == "default"


def test_a_report_becomes_a_folder(dataset, tmp_path):
    rows = evaluate_system(dataset, partial(baseline_alignment, "uniform"))
    files = write_report(rows, tmp_path / "new" / "report")
    assert sorted(path.name for path in files) == sorted(
        path.name for path in (tmp_path / "new" / "report").iterdir()
    )
    whole = json.loads((files[-1]).read_text())
    assert whole["format"] == "folioreel-report"
    assert whole["rows"] == rows
    with files[0].open() as file:
        table = list(csv.DictReader(file))
    assert [row["pair"] for row in table] == ["one", "two", "mean"]
    assert float(table[2]["near"]) == rows[2]["near"]
    assert float(table[0]["near_low"]) == rows[0]["intervals"]["near"][0]
    markdown = files[1].read_text().splitlines()
    assert markdown[0].startswith("| pair | match |")
    assert markdown[4].startswith("| mean | 23 | 2 | ")
    assert len({line.count("|") for line in markdown[:5]}) == 1
    for name in ("reliability.png", "coverage.png"):
        assert (tmp_path / "new" / "report" / name).read_bytes().startswith(b"\x89PNG")


def test_two_reports_are_the_same_to_the_byte(dataset, tmp_path):
    rows = evaluate_system(dataset, partial(baseline_alignment, "bm25"))
    again = evaluate_system(dataset, partial(baseline_alignment, "bm25"))
    for first, second in zip(
        write_report(rows, tmp_path / "a"), write_report(again, tmp_path / "b"), strict=True
    ):
        assert first.read_bytes() == second.read_bytes(), first.name


def test_a_report_cannot_replace_a_file(dataset, tmp_path):
    rows = evaluate_system(dataset / "one", partial(baseline_alignment, "uniform"))
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="cannot be created"):
        write_report(rows, tmp_path / "taken")
