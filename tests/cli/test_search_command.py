"""`corpus index` and `corpus search` as a user types them."""

import json
import re

import pytest
from click.testing import CliRunner
from corpus.made_stories import build_tales

from folioreel.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def assert_one_line(result, *says):
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert re.fullmatch(r"folioreel: [^\n]+\n", result.stderr), result.stderr
    for words in says:
        assert words in result.stderr


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = build_tales(tmp_path_factory.mktemp("tales"))
    result = run("corpus", "index", folder, "--workers", 1)
    assert result.exit_code == 0, result.output
    figures = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    assert {name.strip(): int(count) for name, count in figures.items()} == {
        "books": 3,
        "sentences": 18,
        "books added": 3,
        "books removed": 0,
    }
    return folder


def test_the_words_need_no_quotes(corpus):
    result = run("corpus", "search", "who", "has", "been", "robbed", "--corpus", corpus)
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()[:2]
    assert re.fullmatch(r"1\.000  A Matter of Business: CHAPTER 2", first)
    assert second.strip().startswith("One night the strongbox was empty.")


def test_words_of_another_language_are_named(corpus):
    result = run("corpus", "search", "le fantôme of the gallery", "--corpus", corpus)
    assert result.exit_code == 0
    assert result.stderr.startswith("not found in any book: le, fantôme; check spelling")
    assert run("corpus", "search", "the gallery", "--corpus", corpus).stderr == ""


def test_json(corpus):
    result = run("corpus", "search", "a ghost", "--corpus", corpus, "--count", 2, "--json")
    rows = json.loads(result.stdout)
    assert [set(row) for row in rows] == 2 * [
        {
            *("score", "meaning", "words", "book", "book_id", "path", "chapter"),
            *("chapter_title", "paragraph", "sentence", "text", "passage"),
        }
    ]
    assert rows[0]["text"] == "At midnight a ghost walked along the gallery."
    words = run("corpus", "search", "ghost", "--corpus", corpus, "--by", "words", "--json")
    assert [row["sentence"] for row in json.loads(words.stdout)] == [1]


def test_a_damaged_book_is_listed_at_the_end(tmp_path):
    folder = build_tales(tmp_path)
    book = next((folder / "books").glob("*.tsv.gz"))
    book.write_bytes(b"junk")
    result = run("corpus", "index", folder, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert re.search(r"not indexed:\n  \w+\.txt: .*build the corpus again", result.stdout)
    report = json.loads(run("corpus", "index", folder, "--workers", 1, "--json").stdout)
    assert (report["books"], len(report["failures"])) == (2, 1)
    searched = run("corpus", "search", "night", "--corpus", folder)
    assert searched.exit_code == 0
    assert "not indexed yet: 1;" in searched.stderr


def test_wrong_input_is_one_line(corpus, tmp_path):
    assert_one_line(run("corpus", "search", "x", "--corpus", tmp_path), "is no corpus")
    assert_one_line(run("corpus", "index", tmp_path), "is no corpus")
    assert_one_line(
        run("corpus", "search", "Кто там?", "--corpus", corpus), "Cyrillic", "language of the books"
    )
    assert_one_line(run("corpus", "search", "…", "--corpus", corpus), "has no words")
    assert_one_line(run("corpus", "search", "x", "--corpus", corpus, "--count", 0), "at least 1")
    assert_one_line(run("corpus", "index", corpus, "--workers", 0), "at least 1")
    assert_one_line(run("corpus", "index", corpus, "--encoder", "no-such"), "unknown sentence")
    assert run("corpus", "search", "--corpus", corpus).exit_code == 2
    assert run("corpus", "index", corpus, "--engine", "spark").exit_code == 2
