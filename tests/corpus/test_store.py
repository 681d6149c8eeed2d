"""The files of a search store: what is read is what was written, and damage is noticed."""

from pathlib import Path

import numpy as np
import pytest
from made_stories import build_tales

from folioreel.corpus.reader import open_corpus
from folioreel.corpus.store import (
    VectorFile,
    is_whole,
    pack_passages,
    pack_signs,
    pack_vectors,
    read_passage,
)
from folioreel.errors import InputError
from folioreel.models.onnx_graphs import unit_rows


@pytest.fixture
def vectors() -> np.ndarray:
    made = np.random.default_rng(5).standard_normal((30, 100)).astype(np.float32)
    made[4] = 0  # a sentence without words
    return made


@pytest.fixture
def file(tmp_path: Path, vectors: np.ndarray) -> VectorFile:
    path = tmp_path / "book.bin"
    path.write_bytes(pack_vectors(vectors))
    return VectorFile(path=path, sentences=30, units=100)


def test_rows_keep_their_direction(file: VectorFile, vectors: np.ndarray) -> None:
    assert file.is_whole()
    rows = [0, 4, 7, 29]
    stored = np.frombuffer(b"".join(file.read_rows(rows)), dtype=np.int8).reshape(4, 100)
    found = unit_rows(stored.astype(np.float32))
    lengths = np.linalg.norm(vectors[rows], axis=1)
    lengths[1] = 1
    np.testing.assert_allclose(found, vectors[rows] / lengths[:, None], atol=0.002)
    assert not found[1].any()
    assert np.abs(file.read_all()[[0, 7]]).max(axis=1).tolist() == [127, 127]


def test_signs(file: VectorFile, vectors: np.ndarray) -> None:
    signs = np.empty((30, 2), dtype=np.uint64)
    file.read_signs(signs)
    bits = np.unpackbits(signs.view(np.uint8), axis=1)[:, :100]
    assert (bits == (vectors > 0)).all()
    assert (signs == pack_signs(vectors)).all()


def test_damaged_vectors_are_noticed(file: VectorFile) -> None:
    whole = file.path.read_bytes()
    flipped = bytearray(whole)
    flipped[700] ^= 1
    file.path.write_bytes(flipped)
    assert not file.is_whole()
    file.path.write_bytes(whole[:-50])
    assert not file.is_whole()
    with pytest.raises(InputError, match="index the corpus again"):
        file.read_signs(np.empty((30, 2), dtype=np.uint64))
    with pytest.raises(InputError, match="cut short"):
        file.read_rows([29])
    file.path.unlink()
    assert not file.is_whole()
    with pytest.raises(InputError, match=r"book\.bin: cannot be read"):
        file.read_rows([0])


def test_a_book_without_sentences(tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(pack_vectors(np.empty((0, 100), dtype=np.float32)))
    assert VectorFile(path=path, sentences=0, units=100).is_whole()


def test_every_sentence_leads_to_its_paragraph(tmp_path: Path) -> None:
    for book in open_corpus(build_tales(tmp_path)).read_books():
        path = tmp_path / "book.bin"
        path.write_bytes(pack_passages(book.text))
        assert is_whole(path)
        sentences = list(book.text.sentences())
        for sentence in sentences:
            passage = read_passage(path, sentence.index)
            assert passage.centre == sentence.index
            assert passage.chapter_title == book.text.chapter_titles[sentence.chapter]
            assert list(passage.sentences) == [
                each for each in sentences if each.paragraph == sentence.paragraph
            ]


def test_damaged_passages_are_noticed(tmp_path: Path) -> None:
    (book, *_) = open_corpus(build_tales(tmp_path)).read_books()
    path = tmp_path / "book.bin"
    whole = pack_passages(book.text)
    assert not is_whole(path)
    with pytest.raises(InputError, match=r"cannot be read .* index the corpus again"):
        read_passage(path, 0)
    path.write_bytes(whole[:60])
    assert not is_whole(path)
    with pytest.raises(InputError, match="damaged; index the corpus again"):
        read_passage(path, 5)
    path.write_bytes(b"\xff" * len(whole))
    with pytest.raises(InputError, match=r"book\.bin: "):
        read_passage(path, 0)
