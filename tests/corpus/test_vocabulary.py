"""Tokens as the paper's samples show them, and the vocabulary."""

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_books import write_novels

from folioreel.corpus.build import CorpusConfig, build_corpus
from folioreel.corpus.pack import build_vocabulary, choose_words
from folioreel.corpus.reader import open_corpus
from folioreel.errors import ConfigError, InputError
from folioreel.models.vocabulary import (
    END,
    PADDING,
    SPECIAL_TOKENS,
    UNKNOWN,
    Vocabulary,
    training_tokens,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # The paper's own samples.
        (
            "The club was a little emptier than I would have expected, and",
            "the club was a little emptier than i would have expected , and",
        ),
        (
            "They watched him, but didn't move and didn’t speak.",
            "they watched him , but did n't move and did n't speak .",
        ),
        ("above, a pergola-type structure", "above , a pergola-type structure"),
        ("My places had a more … relaxed feel.", "my places had a more ... relaxed feel ."),
        ("The girl's hand", "the girl 's hand"),
        ("“Somewhere you'll never find it,”", '" somewhere you \'ll never find it , "'),
        # And what books bring beside.
        ("Can't, won't, shan't, they'd've", "ca n't , wo n't , sha n't , they 'd 've"),
        ("I sha'n't, 'tisn't my pa 's, Co.'s", "i sha n't , 'tis n't my pa 's , co . 's"),
        ("'Tis five o'clock, ma'am; tell 'em.", "'tis five o'clock , ma'am ; tell 'em ."),
        ("The boys' dog", "the boys ' dog"),
        ("Mr. St. John came at 10:30 p.m.", "mr. st. john came at 10:30 p.m."),
        ("He paid $1,000.50 in 1914.", "he paid $ 1,000.50 in 1914 ."),
        ("the 4th of 3 and 5.", "the 4th of 3 and 5 ."),
        ("Well--no—I . . . I—", "well -- no -- i ... i --"),
        ("so\u00adft zero\u200bwidth", "soft zerowidth"),
        ("ÉTÉ ﬁn Œuvre", "été fin œuvre"),
        ("東京へ 2 times", "東 京 へ 2 times"),
        ("<unk> <eos>", "< unk > < eos >"),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert training_tokens(text) == tokens.split()


@settings(deadline=None)
@given(st.text())
def test_tokens_hold_no_blanks_and_lose_no_letters(text: str) -> None:
    tokens = training_tokens(text)
    assert all(token and not any(c.isspace() for c in token) for token in tokens)
    assert not set(tokens) & set(SPECIAL_TOKENS)
    if any(character.isalnum() for character in text):
        assert tokens


def test_equals_are_in_alphabetical_order() -> None:
    counts = Counter({"b": 3, "a": 3, "c": 5, "z": 1, "y": 1, "x": 1})
    vocabulary = choose_words(counts, 4, sentences=2)
    assert vocabulary.words == (*SPECIAL_TOKENS, "c", "a", "b", "x")
    assert vocabulary.counts == (0, 2, 2, 5, 3, 3, 1)
    assert vocabulary.coverage == pytest.approx(12 / 14)


def test_encode_and_decode() -> None:
    vocabulary = choose_words(Counter("the ferry 's dog . .".split()), 5, sentences=1)
    ids = vocabulary.encode("The ferry's cat.")
    assert vocabulary.decode(ids) == "the ferry 's <unk> ."
    assert ids.count(UNKNOWN) == 1
    assert vocabulary.decode([*ids, END, PADDING, 5]) == "the ferry 's <unk> ."
    assert len(vocabulary) == 8


def test_a_vocabulary_of_a_corpus(tmp_path: Path) -> None:
    write_novels(tmp_path / "library", range(3), words=500)
    build_corpus(tmp_path / "library", tmp_path / "out", CorpusConfig(min_words=0, workers=1))
    corpus = open_corpus(tmp_path / "out")
    texts = [text for book in corpus.read_books() for text in book.text.texts]
    counts = Counter(token for text in texts for token in training_tokens(text))
    vocabulary = build_vocabulary(corpus, 50)
    assert len(vocabulary) == 53
    assert vocabulary.words[3] == "."
    assert dict(zip(vocabulary.words[3:], vocabulary.counts[3:], strict=True)) == {
        word: counts[word] for word in vocabulary.words[3:]
    }
    assert sum(vocabulary.counts[UNKNOWN:]) == counts.total()
    assert vocabulary.counts[END] == corpus.sentence_count
    vocabulary.save(tmp_path / "vocabulary.txt")
    assert Vocabulary.load(tmp_path / "vocabulary.txt") == vocabulary
    for size in (0, 65_534):
        with pytest.raises(ConfigError):
            build_vocabulary(corpus, size)


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1), st.integers(1, 9), max_size=20))
def test_any_text_survives_the_file(counts: dict[str, int]) -> None:
    tokens = Counter({t: n for text, n in counts.items() for t in training_tokens(text)})
    vocabulary = choose_words(tokens, 100, sentences=1)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary.save(Path(folder) / "vocabulary.txt")
        assert Vocabulary.load(Path(folder) / "vocabulary.txt") == vocabulary


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<pad>\t0\n<eos>\t1\n<unk>\t2\nword\n", 4),
        pytest.param(f"<pad>\t0\n<eos>\t1\n<unk>\t{'1' * 5000}\n", 3, id="5000 digits"),
        ("<pad>\t0\n<eos>\t1\n<unk>\tmany\n", 3),
        ("word\t1\n", None),
        ("<pad>\t0\n<eos>\t1\n<unk>\t2\na\t1\na\t1\n", None),
        ("<pad>\t0\n<eos>\t1\n<unk>\t2\nword\t1", None),
        ("", None),
    ],
)
def test_a_damaged_vocabulary(tmp_path: Path, text: str, line: int | None) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Vocabulary.load(path)
    assert caught.value.line == line
    with pytest.raises(InputError, match="No such file"):
        Vocabulary.load(tmp_path / "nowhere.txt")
