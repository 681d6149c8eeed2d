"""Full text: the order is BM25's, worked out by hand; changes count when they are committed."""

import math
from pathlib import Path

import pytest

from folioreel.corpus.words import WordIndex, WordWriter
from folioreel.errors import InputError

FIRST = ["The ghost walked.", "The ghost spoke to the ghost of a ghost.", "A candle burned."]
SECOND = ["Ships sail by night.", "The candle and the ghost.", "Café Noir", "It’s don't (AND OR)"]


@pytest.fixture
def index(tmp_path: Path) -> WordIndex:
    writer = WordWriter(tmp_path)
    writer.add_book("first", FIRST)
    writer.add_book("second", SECOND)
    writer.commit()
    writer.close()
    return WordIndex(tmp_path)


def bm25(texts, words, text):
    """Robertson's formula with Lucene's idf, k1 = 1.2 and b = 0.75."""
    split = [sentence.replace(".", "").lower().split() for sentence in texts]
    mean = sum(map(len, split)) / len(split)
    own = text.replace(".", "").lower().split()
    total = 0.0
    for word in words:
        having = sum(word in sentence for sentence in split)
        idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        count = own.count(word)
        total += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(own) / mean))
    return total


def test_the_scores_are_those_of_bm25(tmp_path: Path) -> None:
    texts = ["a ghost walked", "a ghost spoke to a ghost of a ghost", "b candle", "ghost candle x"]
    writer = WordWriter(tmp_path)
    writer.add_book("only", texts)
    writer.commit()
    hits = WordIndex(tmp_path).search("ghost candle", 10)
    expected = {k: bm25(texts, ["ghost", "candle"], text) for k, text in enumerate(texts)}
    assert {sentence: score for (_, sentence), score in hits.items()} == pytest.approx(
        expected, rel=1e-5
    )
    assert [sentence for _, sentence in hits] == sorted(expected, key=lambda k: -expected[k])


def test_endings_accents_and_marks_do_not_count(index: WordIndex) -> None:
    def places(query):
        return set(index.search(query, 10))

    assert places("sailing ship") == {("second", 0)}
    assert places("CAFE!") == {("second", 2)}
    assert places('burned: +candle -"') == {("first", 2), ("second", 1)}
    assert places("it's AND") == {("second", 3), ("second", 1)}
    assert places("submarine") == set()
    assert places("… ?") == set()


def test_words_in_every_sentence_are_passed_over_where_others_tell_more(tmp_path: Path) -> None:
    writer = WordWriter(tmp_path)
    writer.add_book("a", ["the sea"] * 50 + ["the ghost"])
    writer.commit()
    index = WordIndex(tmp_path)
    assert [sentence for _, sentence in index.search("the ghost", 60)] == [50]
    assert len(index.search("the", 60)) == 51


def test_changes_count_when_they_are_committed(index: WordIndex, tmp_path: Path) -> None:
    writer = WordWriter(tmp_path)
    writer.remove_book("first")
    writer.add_book("second", ["The ghost came back."])
    assert WordIndex(tmp_path).sentences == 7
    writer.commit()
    assert [sentence for _, sentence in WordIndex(tmp_path).search("ghost", 5)] == [0]
    assert WordIndex(tmp_path).search("candle", 5) == {}
    assert index.sentences == 7  # what was opened before stays as it was


def test_damage_is_said(index: WordIndex, tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="index the corpus again"):
        WordIndex(tmp_path)
    with pytest.raises(InputError, match="cannot be searched"):
        WordIndex(tmp_path / "nowhere")


def test_books_are_found_by_the_stems_of_their_language(tmp_path: Path) -> None:
    writer = WordWriter(tmp_path)
    writer.add_book("english", ["He continued his way.", "The maisonette is let."], "en")
    writer.add_book("french", ["Il continua son chemin vers l'émir.", "Des maisons."], "fr")
    writer.add_book("chinese", ["老人坐在火边。", "他走了。"], "zh")
    writer.commit()
    writer.close()
    index = WordIndex(tmp_path, ["en", "fr", "zh", None])
    assert index.has_stems
    for query, place in [
        ("continuing", ("english", 0)),
        ("continuer", ("french", 0)),
        ("EMIRS", ("french", 0)),  # another form, without its accent
        ("maison", ("french", 1)),
        ("火边", ("chinese", 0)),
    ]:
        assert place in index.search(query, 5), query
    assert index.search("火山", 5) == {}
    assert WordIndex(tmp_path, ["en"]).search("emirs", 5) == {}  # no French is asked for
