"""The scan over signs against a plain count of bits that differ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.corpus.scan import nearest_by_signs
from folioreel.corpus.vectors import pack_signs


def count_by_hand(signs, query):
    return [
        sum(bin(int(a) ^ int(b)).count("1") for a, b in zip(row, query, strict=True))
        for row in signs
    ]


@settings(deadline=None)  # the kernel is compiled in the first one
@given(st.integers(1, 40), st.integers(1, 7), st.integers(1, 12), st.integers(0, 2**32))
def test_the_nearest_rows(rows: int, words: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2**64, (rows, words), dtype=np.uint64)
    query = rng.integers(0, 2**64, words, dtype=np.uint64)
    distances = count_by_hand(signs, query)
    furthest = sorted(distances)[min(count, rows) - 1]
    expected = [row for row in range(rows) if distances[row] <= furthest]
    found = nearest_by_signs(signs, query, count)
    if len(expected) <= 2 * count:
        assert found.tolist() == expected


def test_long_ties_are_cut() -> None:
    signs = np.zeros((1000, 6), dtype=np.uint64)
    signs[500] = 1  # further away
    signs[[7, 9], 0] = 2
    query = np.array([2, 0, 0, 0, 0, 0], dtype=np.uint64)
    found = nearest_by_signs(signs, query, 10)
    assert len(found) == 20
    assert {7, 9} <= set(found.tolist())
    assert 500 not in found


def test_nothing_to_scan() -> None:
    assert len(nearest_by_signs(np.empty((0, 6), np.uint64), np.zeros(6, np.uint64), 5)) == 0


@pytest.mark.parametrize("units", [64, 100, 384])
def test_fewer_signs_differ_the_nearer_a_vector_is(units: int) -> None:
    """By the angle: the share of signs that differ is the angle over 180 degrees."""
    rng = np.random.default_rng(3)
    base = rng.standard_normal((2000, units)).astype(np.float32)
    other = (base + 0.5 * rng.standard_normal((2000, units))).astype(np.float32)
    cosines = np.sum(base * other, 1) / np.linalg.norm(base, axis=1) / np.linalg.norm(other, axis=1)
    differing = pack_signs(base) ^ pack_signs(other)
    differ = np.unpackbits(differing.view(np.uint8), axis=1).sum(1) / units
    assert differ.mean() == pytest.approx(np.mean(np.arccos(cosines) / np.pi), abs=0.005)
