"""`export` and `import`: corrections reach every file, and come back from a spreadsheet."""

import csv
import io
import json
import sys

import pytest
from command_line import assert_one_line, run
from lxml import etree
from made_pages import SILENT, make_alignment, open_session

from folioreel.errors import ConfigError
from folioreel.export.alignment_json import read_alignment
from folioreel.export.formats import FORMATS


@pytest.fixture
def corrected(result):
    """A result in which two moments were judged in the page."""
    session = open_session(result)
    session.judge(0, {"moment": 0, "verdict": "none", "sentence": None})
    session.judge(1, {"moment": 3, "verdict": "match", "sentence": 4})
    session.close()
    return result


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path, rows, delimiter=",", encoding="utf-8"):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(file.getvalue(), encoding=encoding)
    return path


def test_corrections_reach_every_file(corrected):
    found = run("export", corrected)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("2 of 4 links were judged\n")
    folder = corrected / "exported"
    rows = read_csv(folder / "alignment.csv")
    assert (rows[0]["judged"], rows[0]["in_book"]) == ("none", "False")
    assert (rows[3]["judged"], rows[3]["sentence"], rows[3]["score"]) == ("match", "4", "1.0")
    assert rows[2]["judged"] == ""
    passage = "In the evening the band played in the malt-house."
    assert passage in (folder / "book.srt").read_text(encoding="utf-8")
    assert '"judged": "match"' in (folder / "alignment.vtt").read_text(encoding="utf-8")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert '"judgements":[{"moment":0,"verdict":"none","sentence":null},' in page
    # The same as the alignment that `view` keeps.
    kept = read_alignment(corrected / "judged" / "alignment.json")
    assert read_alignment(folder / "alignment.json").links == kept.links
    assert read_alignment(corrected).links != kept.links


def test_without_the_corrections(corrected, tmp_path):
    found = run("export", corrected, "--uncorrected", "--as", "csv", "--out", tmp_path / "a.csv")
    assert found.exit_code == 0, found.output
    assert [row["judged"] for row in read_csv(tmp_path / "a.csv")] == [""] * 4


def test_without_judgements_nothing_changes(result, tmp_path):
    before = (result / "alignment.json").read_bytes()
    run("export", result, "--as", "json", "--out", tmp_path / "out")
    assert (
        json.loads((tmp_path / "out" / "alignment.json").read_bytes())["links"]
        == (json.loads(before)["links"])
    )
    assert not (result / "judged").exists()


def test_all_formats_are_in_the_help():
    listed = run("export", "--help").stdout.partition("Formats:")[2].partition("Examples:")[0]
    assert [line.split()[0] for line in listed.splitlines() if line.strip()] == [*FORMATS, "all"]


def test_one_format_goes_to_a_file(result, tmp_path):
    found = run("export", result, "--as", "pdf", "--out", tmp_path / "new" / "figure.pdf")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "new" / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_nothing_is_overwritten_unasked(result):
    assert run("export", result, "--as", "csv").exit_code == 0
    assert_one_line(run("export", result, "--as", "csv"), "--force")
    assert run("export", result, "--as", "csv", "--force").exit_code == 0
    assert run("export", result, "--as", "jsonl", "--json").exit_code == 0


@pytest.mark.parametrize(("delimiter", "encoding"), [(",", "utf-8"), (";", "utf-16")])
def test_a_spreadsheet_comes_back(result, tmp_path, delimiter, encoding):
    run("export", result, "--as", "csv", "--out", tmp_path / "a.csv")
    rows = read_csv(tmp_path / "a.csv")
    rows[0]["judged"] = "none"
    rows[2] |= {"judged": "Match", "sentence": "2.0"}
    rows[3] |= {"judged": "match", "sentence": "", "passage": "He looked at the water."}
    rows[SILENT]["sentence"] = "0"  # not judged, so it is no correction
    table = write_csv(tmp_path / "b.csv", rows, delimiter, encoding)
    found = run("import", result, table)
    assert found.stdout == "imported 3 new corrections; 3 in all\n", found.output
    run("export", result, "--as", "csv", "--out", tmp_path / "c.csv")
    again = read_csv(tmp_path / "c.csv")
    assert [row["judged"] for row in again] == ["none", "", "match", "match"]
    assert [again[k]["sentence"] for k in (2, 3)] == ["2", "3"]
    assert run("import", result, tmp_path / "c.csv").stdout.startswith("imported 0 new")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"judged": "maybe"}, "maybe"),
        ({"judged": "match", "sentence": "9999"}, "no sentence 9999"),
        ({"judged": "match", "sentence": "two"}, "'two' is not the number of a sentence"),
        ({"judged": "match", "sentence": "", "passage": "Never written."}, "in no sentence"),
        ({"judged": "match", "sentence": "", "passage": "the"}, "sentences of the book"),
        ({"judged": "none", "moment": "77"}, "no moment 77"),
        ({"judged": "none", "text": "A line of another film."}, "another film"),
    ],
)
def test_a_wrong_row_changes_nothing(result, tmp_path, change, says):
    run("export", result, "--as", "csv", "--out", tmp_path / "a.csv")
    rows = read_csv(tmp_path / "a.csv")
    rows[3] |= change
    assert_one_line(run("import", result, write_csv(tmp_path / "b.csv", rows)), says, "b.csv")
    assert not (result / "judged" / "journal.jsonl").exists()


def test_what_is_no_table_of_corrections(result, tmp_path):
    (tmp_path / "a.csv").write_text("line,verdict\n1,none\n")
    assert_one_line(run("import", result, tmp_path / "a.csv"), "no column `moment`")
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04rest")
    assert_one_line(run("import", result, tmp_path / "a.xlsx"), "save the sheet as CSV")
    assert_one_line(run("import", result, tmp_path / "missing.csv"), "missing.csv")


def test_a_book_without_lines(tmp_path):
    result = make_alignment(tmp_path / "library", "novel.html")
    found = run("export", result, "--as", "tei", "--as", "web-annotation", "--as", "eaf")
    assert found.exit_code == 0, found.output
    document = json.loads((result / "exported" / "annotations.jsonld").read_text("utf-8"))
    quotation = document["first"]["items"][0]["body"]["selector"][0]
    assert quotation["exact"] == "“Sixty-one kilos,” she said to the old ferryman."


def test_a_moment_that_is_judged_twice(result, tmp_path):
    run("export", result, "--as", "csv", "--out", tmp_path / "a.csv")
    rows = read_csv(tmp_path / "a.csv")
    rows[0]["judged"] = "none"
    twice = write_csv(tmp_path / "b.csv", [rows[0], rows[0]])
    assert_one_line(run("import", result, twice), "b.csv:3", "as line 2 does")


def test_without_pyarrow_all_others_are_written(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = run("export", result, "--as", "all", "--out", tmp_path / "all")
    assert found.exit_code == 0, found.output
    assert 'parquet is left out: it needs pip install "folioreel[parquet]"' in found.stderr
    names = {FORMATS[name].file for name in FORMATS if name != "parquet"}
    assert {path.name for path in (tmp_path / "all").iterdir()} == names
    assert found.stdout.count("wrote ") == len(names)


def test_a_format_that_cannot_be_written_stops_before_the_first_file(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = run("export", result, "--as", "csv", "--as", "parquet", "--out", tmp_path / "some")
    assert_one_line(found, "alignment.parquet", "folioreel[parquet]")
    assert not (tmp_path / "some").exists()
    with pytest.raises(ConfigError, match="parquet"):
        read_alignment(result).save(tmp_path / "some", formats=["csv", "parquet"])
    assert not (tmp_path / "some").exists()


def test_the_figure_for_a_paper(result, tmp_path):
    path = tmp_path / "figure.svg"
    options = ("--title", "", "--no-subtitle", "--size", "7", "3.5")
    assert run("export", result, "--as", "svg", *options, "--out", path).exit_code == 0
    root = etree.parse(path).getroot()
    assert (root.get("width"), root.get("height")) == ("504pt", "252pt")  # 72 points to an inch
    text = "".join(root.itertext())
    assert "spoken lines are in the book" not in text
    assert "novel" not in text
    refused = run("export", result, "--as", "svg", "--size", "1", "1", "--out", path, "--force")
    assert refused.exit_code == 2


def test_a_span_is_enough_to_correct_a_row(result, tmp_path):
    run("export", result, "--as", "csv", "--out", tmp_path / "a.csv")
    rows = read_csv(tmp_path / "a.csv")
    # Its guess stays in the row: it lies elsewhere in the book.
    assert int(rows[3]["sentence"]) > 4
    rows[3] |= {"judged": "match", "first_sentence": "2", "last_sentence": "4"}
    found = run("import", result, write_csv(tmp_path / "b.csv", rows))
    assert found.exit_code == 0, found.output
    run("export", result, "--as", "csv", "--out", tmp_path / "c.csv")
    (row,) = [row for row in read_csv(tmp_path / "c.csv") if row["judged"]]
    assert (row["sentence"], row["first_sentence"], row["last_sentence"]) == ("2", "2", "4")
