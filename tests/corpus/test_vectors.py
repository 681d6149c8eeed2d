"""The file of a book's vectors: what is read is what was written, and damage is seen."""

from pathlib import Path

import numpy as np
import pytest

from folioreel.corpus.vectors import (
    VectorFile,
    pack_signs,
    pack_vectors,
    scale_rows,
    unpack_vectors,
)
from folioreel.errors import InputError


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
    found = scale_rows(stored.astype(np.float32))
    lengths = np.linalg.norm(vectors[rows], axis=1)
    lengths[1] = 1
    np.testing.assert_allclose(found, vectors[rows] / lengths[:, None], atol=0.002)
    assert not found[1].any()
    assert np.abs(unpack_vectors(file)[[0, 7]]).max(axis=1).tolist() == [127, 127]


def test_signs(file: VectorFile, vectors: np.ndarray) -> None:
    signs = np.empty((30, 2), dtype=np.uint64)
    file.read_signs(signs)
    bits = np.unpackbits(signs.view(np.uint8), axis=1)[:, :100]
    assert (bits == (vectors > 0)).all()
    assert (signs == pack_signs(vectors)).all()


def test_damage_is_seen(file: VectorFile) -> None:
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
