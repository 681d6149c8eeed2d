"""The paper's table against a count by hand."""

from collections import Counter
from pathlib import Path
from statistics import median

from hypothesis import given
from hypothesis import strategies as st
from made_books import make_novel

from folioreel.corpus.build import CorpusConfig, build_corpus
from folioreel.corpus.reader import open_corpus
from folioreel.corpus.statistics import measure_corpus, median_of_histogram

FIRST = """CHAPTER I

The ferry crossed the river at dawn. The old ferryman didn't speak to Petra, and Petra didn't
speak to him in all the years that they both knew the river.

“Go!” he said.
"""
SECOND = """CHAPTER I

Nobody saw the river rise in the night, for it was dark and the rain had not yet come to town.
"""


def test_a_count_by_hand(tmp_path: Path) -> None:
    books = tmp_path / "library"
    books.mkdir()
    (books / "a.txt").write_text(FIRST, encoding="utf-8")
    (books / "b.txt").write_text(SECOND, encoding="utf-8")
    (books / "b-copy.txt").write_text(SECOND, encoding="utf-8")
    (books / "empty.txt").write_bytes(b"")
    (books / "short.txt").write_text("One two three.", encoding="utf-8")
    (books / "held.txt").write_text(make_novel(1), encoding="utf-8")
    held = tmp_path / "held"
    held.mkdir()
    (held / "other.txt").write_text(make_novel(1), encoding="utf-8")
    config = CorpusConfig(min_words=10, workers=1, exclude=(held,))
    build_corpus(books, tmp_path / "out", config)
    seen = []
    found = measure_corpus(open_corpus(tmp_path / "out"), seen.append)
    # 7, 23, 3 and 21 words.
    first = "the ferry crossed the river at dawn the old ferryman didn't speak to petra and petra "
    first += "didn't speak to him in all the years that they both knew the river go he said"
    second = "nobody saw the river rise in the night for it was dark and the rain had not yet come "
    second += "to town"
    assert found.books == 2
    assert found.sentences == 4
    assert found.words == len(first.split()) + len(second.split()) == 54
    assert found.unique_words == len({*first.split(), *second.split()})
    assert found.mean_sentence_words == 13.5
    assert found.median_sentence_words == 14
    assert found.left_out == {"short": 1, "duplicate": 1, "held out": 1, "unreadable": 1}
    assert seen[-1].done == seen[-1].total == 2
    assert found.figures()["books"] == "2"
    assert found.figures()["median words per sentence"] == "14"
    assert found.genres == {}
    by_genre = measure_corpus(open_corpus(tmp_path / "out"), genres={"a.txt": "Romance"})
    assert by_genre.genres == {"Romance": 1, "": 1}
    assert by_genre.figures()["genre: Romance"] == by_genre.figures()["genre: unknown"] == "1"


@given(st.lists(st.integers(0, 30)))
def test_the_median_is_exact(values: list[int]) -> None:
    expected = median(values) if values else 0
    assert median_of_histogram(Counter(values)) == expected
