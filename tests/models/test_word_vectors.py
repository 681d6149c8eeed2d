"""Word vectors: what is written in each form is read back, and what is damaged is named."""

import gzip
import tempfile
import tracemalloc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.errors import InputError, UnknownFormatError
from folioreel.models.vocabulary_expansion import open_word_vectors

FORMS = ("binary", "binary with line feeds", "text", "fasttext", "glove")
WORDS = ("the", "Ferry", "été", "1914", "东京", "a\u00a0b")


def write(path, entries, form, packed=False):
    """The file as the programs write it that made the forms."""
    units = len(entries[0][1])
    header = b"" if form == "glove" else f"{len(entries)} {units}\n".encode()
    pieces = [header]
    for word, vector in entries:
        name = word if isinstance(word, bytes) else word.encode()
        if form.startswith("binary"):
            end = b"\n" if form.endswith("feeds") else b""
            pieces.append(name + b" " + np.asarray(vector, "<f4").tobytes() + end)
        else:
            end = " \n" if form == "fasttext" else "\n"
            values = " ".join(repr(float(np.float32(value))) for value in vector)
            pieces.append(name + f" {values}{end}".encode())
    data = b"".join(pieces)
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def made(rng, words=WORDS, units=7):
    return [(word, rng.normal(size=units).astype(np.float32)) for word in words]


def same(found, wanted):
    assert [word for word, _ in found] == [word for word, _ in wanted]
    for (_, one), (_, other) in zip(found, wanted, strict=True):
        assert one.dtype == np.float32
        assert np.array_equal(one, other)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_each_form(tmp_path, rng, form, packed):
    entries = made(rng)
    path = write(tmp_path / "vectors", entries, form, packed)
    vectors = open_word_vectors(path)
    same(list(vectors), entries)
    same(list(vectors), entries)  # and once again
    assert vectors.units == 7


# What may stand in a word: no blank (but see below), no line feed, nothing that UTF-8 cannot say.
CHARACTERS = st.characters(exclude_characters=" \n", exclude_categories=("Cs",))
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def entries_of(draw):
    units = draw(st.integers(2, 6))
    words = draw(st.lists(st.text(CHARACTERS, min_size=1), min_size=1, max_size=8))
    return [
        (word, np.array(draw(st.lists(NUMBERS, min_size=units, max_size=units)), np.float32))
        for word in words
    ]


@settings(deadline=None)
@given(entries_of(), st.sampled_from(FORMS), st.booleans())
def test_whatever_is_written_is_read(entries, form, packed):
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "vectors", entries, form, packed)
        same(list(open_word_vectors(path)), entries)


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"3 2\n", b"a 1 2\nb 3 4\n", b"\x1f\x8b"]))
def test_whatever_it_is_we_say_so(data, start):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        path.write_bytes(start + data)
        with suppress(InputError):  # and nothing else
            for _, vector in open_word_vectors(path):
                assert np.isfinite(vector).all()


def test_words_may_hold_blanks(tmp_path, rng):
    entries = made(rng, (".", ". . .", "at name@domain.com", "the", "1 2", "a"))
    same(list(open_word_vectors(write(tmp_path / "glove", entries, "glove"))), entries)
    same(list(open_word_vectors(write(tmp_path / "text", entries, "text"))), entries)


def test_a_word_that_is_not_utf8_is_left_out(tmp_path, rng, caplog):
    entries = made(rng, ("one", "été".encode("latin-1"), "two"))
    for form in FORMS:
        vectors = open_word_vectors(write(tmp_path / "vectors", entries, form))
        same(list(vectors), [entries[0], entries[2]])
        assert (vectors.undecodable, vectors.broken) == (1, 0)
    assert "not UTF-8 (1)" in caplog.text


@pytest.mark.parametrize("bad", ["two 0.5 0.5", "two 0.5 0.5 0.5 x", "two 1 1 1 nan", "", "two 1"])
def test_one_broken_line_is_left_out_and_two_are_too_many(tmp_path, bad):
    good = ["one 1 2 3 4", "three 1 2 3 5", "four 1 2 3 6", "five 1 2 3 1e39", "six 1 2 3 7"]
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join([good[0], bad, *good[1:3]]) + "\n")
    vectors = open_word_vectors(path)
    assert [word for word, _ in vectors] == ["one", "three", "four"]
    assert vectors.broken == 1
    path.write_text("\n".join([good[0], bad, *good[1:]]) + "\n")  # 1e39 is no float32
    with pytest.raises(InputError, match="2 of 6 entries") as caught:
        list(open_word_vectors(path))
    assert caught.value.line == 2
    path.write_text("\n".join(["6 4", good[0], bad, *good[1:]]) + "\n")
    with pytest.raises(InputError, match="2 of 6 entries") as caught:
        list(open_word_vectors(path))
    assert caught.value.line == 3


def test_one_in_a_thousand(tmp_path):
    lines = [f"w{k} {k} 1" for k in range(3000)]
    lines[5] = lines[1500] = lines[2900] = "broken"
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(lines) + "\n")
    vectors = open_word_vectors(path)
    assert sum(1 for _ in vectors) == 2997
    assert vectors.broken == 3
    path.write_text("\n".join([*lines[:-1], "broken"]) + "\n")
    with pytest.raises(InputError, match="4 of 3000"):
        list(open_word_vectors(path))


def test_many_broken_lines_end_it_half_way(tmp_path):
    path = tmp_path / "vectors.txt"
    good = "".join(f"w{k} {k} 1\n" for k in range(200))
    path.write_text(good + "broken\n" * 500 + good)
    with pytest.raises(InputError, match="11 of 211") as caught:
        list(open_word_vectors(path))
    assert caught.value.line == 201


def test_not_numbers_in_a_binary_file(tmp_path, rng):
    entries = made(rng)
    entries[2][1][3] = np.nan
    vectors = open_word_vectors(write(tmp_path / "vectors", entries, "binary"))
    same(list(vectors), entries[:2] + entries[3:])
    assert vectors.broken == 1
    entries[4][1][0] = np.inf
    with pytest.raises(InputError, match="2 of 6 entries are broken, first word 3"):
        list(open_word_vectors(write(tmp_path / "vectors", entries, "binary")))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["binary", "binary with line feeds", "text"])
def test_cut_short_anywhere(tmp_path, rng, form, packed):
    whole = write(tmp_path / "whole", made(rng), form, packed).read_bytes()
    path = tmp_path / "cut"
    # A text may lose its last line feed, and the last number some digits, without a trace.
    spare = 20 if form == "text" and not packed else 2
    for size in range(len(whole) - spare):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError):
            list(open_word_vectors(path))


def test_cut_short_says_where(tmp_path, rng):
    whole = write(tmp_path / "whole", made(rng), "binary").read_bytes()
    path = tmp_path / "cut"
    path.write_bytes(whole[:-1])
    with pytest.raises(InputError, match="cut short after 5 of 6 words"):
        list(open_word_vectors(path))
    path.write_text("one 1 2 3\ntwo 1 2 3\nthree 1 2 4\nfour 1")
    with pytest.raises(InputError, match="cut short after 3 words") as caught:
        list(open_word_vectors(path))
    assert caught.value.line == 4


@pytest.mark.parametrize(
    "text", ["", "\n", "It was a dark night.\nIt rained.\n", "a\nb\n", "12 0\nx\n", "{'a': [1, 2]}"]
)
def test_no_word_vectors(tmp_path, text):
    path = tmp_path / "vectors.bin"
    path.write_text(text)
    with pytest.raises(UnknownFormatError, match="no word vectors"):
        open_word_vectors(path)
    with pytest.raises(InputError, match="no such file"):
        open_word_vectors(tmp_path / "nowhere")
    with pytest.raises(InputError):
        open_word_vectors(tmp_path)


@pytest.mark.parametrize("form", ["binary", "glove"])
def test_little_is_held_in_memory(tmp_path, rng, form):
    path = write(tmp_path / "vectors", made(rng, [f"w{k}" for k in range(5000)], 200), form)
    size = path.stat().st_size
    tracemalloc.start()
    try:
        words = sum(1 for _ in open_word_vectors(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert words == 5000
    assert peak < 3.9e6 < size
