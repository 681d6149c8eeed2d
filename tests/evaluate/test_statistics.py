"""The paper's table of a dataset against a count by hand."""

import json

import pytest
from command_line import assert_one_line, run
from made_pairs import LINES, SENTENCES, WORDS, write_dataset

from folioreel.evaluate.statistics import describe_dataset
from folioreel.text import tokenize


@pytest.fixture
def pairs(tmp_path):
    folder = write_dataset(tmp_path / "pairs")
    head = "start_s\tend_s\tverdict\tline_from\tline_to\n"
    rows = "0\t1\tmatch\t1\t1\n2\t3\tnone\t-\t-\n4\t5\t-\t-\t-\n"
    (folder / "garden" / "shots.tsv").write_text(head + rows)
    return folder


def test_rows_and_all(pairs):
    ferry, garden, whole = describe_dataset(pairs)
    texts = [(pairs / name / "book.txt").read_text() for name in ("ferry", "garden")]
    for row, text in zip((ferry, garden), texts, strict=True):
        assert (row["sentences"], row["paragraphs"]) == (SENTENCES, SENTENCES)
        assert row["unique_words"] == len(set(tokenize(text)))
        assert (row["subtitle_sentences"], row["shots"]) == (LINES, 0)
    # Nine of the twelve lines are in the book; a scene and two others are not matches.
    assert [row["dialogue"] for row in (ferry, garden, whole)] == [9, 9, 18]
    assert [row["visual"] for row in (ferry, garden, whole)] == [0, 1, 1]
    assert whole["pair"] == "All"
    assert whole["unique_words"] == len(set(tokenize(" ".join(texts)))) <= len(WORDS) + 3
    assert whole["words"] == sum(len(tokenize(text)) for text in texts)
    assert whole["mean_sentence_words"] == round(whole["words"] / (2 * SENTENCES), 1)
    assert "genre" not in whole


def test_lines_that_were_judged_at_once_count_once(pairs):
    """Nine matches: three of one span, two of another that is visual, and four of their own."""
    path = pairs / "ferry" / "gold.tsv"
    head, *rows = path.read_text().splitlines()
    cells = [dict(zip(head.split("\t"), row.split("\t"), strict=True)) for row in rows]
    matches = [row for row in cells if row["verdict"] == "match"]
    for row, span in zip(matches, ["a", "a", "a", "b", "b", "-", "", "-", "-"], strict=True):
        row |= {"span": span, "kind": "visual" if span == "b" else "dialogue"}
    names = [*cells[0], *(name for name in ("kind", "span") if name not in cells[0])]
    lines = ["\t".join(row.get(name, "") for name in names) for row in cells]
    path.write_text("\n".join(["\t".join(names), *lines, ""]))
    (row,) = describe_dataset(pairs / "ferry")
    assert (row["dialogue"], row["visual"], row["audio"]) == (5, 1, 0)


def test_genres_and_the_command(pairs):
    (pairs / "index.tsv").write_text("pair\tauthor\tgenre\nferry\tA. B.\tRomance\ngarden\tC.\n")
    rows = json.loads(run("inspect", pairs, "--json").stdout)
    assert [row["genre"] for row in rows] == ["Romance", "", ""]
    table = run("inspect", pairs).stdout.splitlines()
    assert table[0].split()[:3] == ["pair", "genre", "sentences"]
    assert table[-1].split()[:2] == ["All", str(2 * SENTENCES)]
    beside = run("inspect", pairs, pairs / "ferry" / "book.txt")
    assert beside.exit_code == 1
    assert "holds judged pairs" in beside.stderr
    single = json.loads(run("inspect", pairs / "ferry", "--json").stdout)
    assert [row["pair"] for row in single] == ["ferry"]
    (pairs / "index.tsv").write_text("name\tgenre\nferry\tRomance\n")
    assert_one_line(run("inspect", pairs), "has no column pair", "index.tsv")
