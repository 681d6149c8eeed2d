"""The rows of a dataset, and the folder that a report becomes."""

import csv
import json

import pytest

from folioreel.errors import InputError
from folioreel.evaluate.report import (
    COLUMNS,
    compare_results,
    evaluate_system,
    gain_rows,
    interval_rows,
    make_rows,
    make_system,
    shot_rows,
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


def rows_of(dataset, name, groups=None):
    return make_rows(evaluate_system(dataset, make_system(name)), groups)


def test_rows_of_a_baseline(dataset):
    rows = rows_of(dataset, "tfidf")
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
    assert {row["watched"] for row in rows} == {"no"}
    assert mean["pairs"] == ["one", "two"]
    assert mean["pooled_ece"] == mean["calibration"]["ece"]
    json.dumps(rows, allow_nan=False)


def test_the_printed_table_is_flat(dataset):
    rows = rows_of(dataset / "one", "default")
    assert len(rows) == 1  # one pair has no mean
    (shown,) = table_rows(rows)
    assert tuple(shown) == COLUMNS
    assert all(value is None or isinstance(value, str | int | float) for value in shown.values())
    assert rows[0]["signature"]["preset"] == "default"


def test_a_report_becomes_a_folder(dataset, tmp_path):
    rows = rows_of(dataset, "uniform")
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
    rows, again = rows_of(dataset, "bm25"), rows_of(dataset, "bm25")
    for first, second in zip(
        write_report(rows, tmp_path / "a"), write_report(again, tmp_path / "b"), strict=True
    ):
        assert first.read_bytes() == second.read_bytes(), first.name


def test_a_report_cannot_replace_a_file(dataset, tmp_path):
    rows = rows_of(dataset / "one", "uniform")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="cannot be created"):
        write_report(rows, tmp_path / "taken")


def test_groups_have_means_of_their_own(dataset):
    write_pair(dataset / "three", 9)
    rows = rows_of(dataset, "uniform", {"few": ["three", "two"], "alone": ["one"]})
    assert [row["pair"] for row in rows] == ["one", "three", "two", "few", "alone", "mean"]
    one, three, two, few, alone, mean = rows
    assert few["near"] == pytest.approx((three["near"] + two["near"]) / 2, abs=0.01)
    assert few["match"] == three["match"] + two["match"]
    assert (alone["near"], alone["intervals"]["near"]) == (one["near"], one["intervals"]["near"])
    assert mean["near"] == pytest.approx((one["near"] + two["near"] + three["near"]) / 3, abs=0.01)
    shown = interval_rows(rows)
    assert [row["mean"] for row in shown] == ["few", "alone", "mean"]
    low, high = few["intervals"]["near"]
    assert shown[0]["near"] == f"{few['near']:.1f} [{low:.1f}, {high:.1f}]"
    assert shown[2]["pooled_ece"].startswith(f"{mean['pooled_ece']:.3f} [")
    assert shown[2]["ece_by_chance"] == f"{mean['ece_by_chance']:.3f}"


def test_a_single_pair_has_intervals_too(dataset):
    (shown,) = interval_rows(rows_of(dataset / "one", "uniform"))
    assert shown["pair"] == "one"
    assert "[" in shown["near"]
    assert shown["auroc"] == "0.500 [0.500, 0.500]"


def test_two_systems_on_the_same_pairs(dataset):
    good, bad = (evaluate_system(dataset, make_system(name)) for name in ("tfidf", "uniform"))
    gains = compare_results(good, bad, {"first": ["one"]})
    assert [row["gain"] for row in gains] == ["first", "mean"]
    by_name = {row["pair"]: row for row in [*make_rows(good), *make_rows(bad)]}
    value, low, high = gains[1]["near"]
    assert value == pytest.approx(100 - by_name["mean"]["near"], abs=0.01)
    assert 0 < low <= value <= high
    assert gain_rows(gains)[1]["near"] == f"+{value:.1f} [+{low:.1f}, +{high:.1f}]"
    (alone,) = compare_results(good[:1], good[:1])
    assert (alone["gain"], alone["ap"]) == ("one", [0.0, 0.0, 0.0])
    json.dumps(gains, allow_nan=False)


def test_a_film_with_a_video_is_watched(tmp_path):
    """One made film through every system: what was watched, and the links of the front door."""
    from drawn_films import draw_film, shots_of

    import folioreel
    from folioreel.evaluate.dataset import load_pair
    from folioreel.evaluate.report import align_pair

    folder = tmp_path / "pair"
    write_pair(folder, 0)
    draw_film(folder / "film.mp4", shots_of((25, 25, 100, 100)))
    (folder / "shots.tsv").write_text(
        "start_s\tend_s\tverdict\tline_from\tline_to\n0\t1\tmatch\t1\t1\n1\t2\t-\t-\t-\n"
    )
    watched = align_pair(load_pair(folder))
    assert watched.film.features is not None
    door = folioreel.align(folder / "book.txt", folder / "film.mp4")
    assert watched.links == door.links
    found = {}
    for name, options in (
        ("default", {}),
        ("default", {"pictures": False}),
        ("default", {"shots": False}),
        ("bm25", {}),
        ("bm25", {"shots": False}),
    ):
        rows = make_rows(evaluate_system(folder, make_system(name, **options)))
        found[name, *options] = rows[0]["watched"]
        assert len(shot_rows(rows)) == (rows[0]["watched"] != "no")
    assert list(found.values()) == ["yes", "shots only", "no", "shots only", "no"]
