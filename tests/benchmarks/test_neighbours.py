"""Neighbours against brute force."""

import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

PATH = Path(__file__).parents[2] / "benchmarks" / "neighbours.py"
SPEC = importlib.util.spec_from_file_location("benchmark_neighbours", PATH)
neighbours = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = neighbours  # dataclasses look their module up
SPEC.loader.exec_module(neighbours)
nearest_sentences = neighbours.nearest_sentences


class LetterEncoder:
    """A vector for the words of a text, the same whatever its case; zeros for none."""

    name, units, fingerprint = "letters", 8, "letters"

    def __init__(self):
        self.largest = 0

    def encode(self, texts, progress=None):
        self.largest = max(self.largest, len(texts))
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text):
        if not text.strip():
            return np.zeros(8, np.float32)
        key = hashlib.sha256(" ".join(text.lower().split()).encode()).digest()
        return np.frombuffer(key[:8], np.int8).astype(np.float32)


def brute_force(encoder, query, candidates, count):
    wanted = encoder.vector(query).astype(np.float64)
    seen, found = {query.lower()}, []
    for index, text in enumerate(candidates):
        if text.lower() in seen:
            continue
        seen.add(text.lower())
        vector = encoder.vector(text).astype(np.float64)
        length = np.linalg.norm(wanted) * np.linalg.norm(vector)
        found.append((float(wanted @ vector / length) if length else 0.0, index, text))
    return sorted(found, key=lambda item: (-item[0], item[1]))[:count]


WORDS = st.lists(st.sampled_from("a b c dog Dog cat CAT".split()), min_size=1, max_size=3)
TEXTS = st.lists(WORDS.map(" ".join), max_size=30)


@settings(deadline=None)
@given(TEXTS, st.lists(WORDS.map(" ".join), min_size=1, max_size=3), st.integers(1, 5))
def test_as_brute_force(candidates, queries, count):
    encoder = LetterEncoder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "BLOCK", 4)
        found = nearest_sentences(encoder, queries, iter(candidates), count)
    for query, near in zip(queries, found, strict=True):
        wanted = brute_force(encoder, query, candidates, count)
        assert [(n.index, n.text) for n in near] == [(i, text) for _, i, text in wanted]
        assert [n.cosine for n in near] == pytest.approx([c for c, _, _ in wanted], abs=1e-6)


def test_blocks_are_small_and_progress_is_told():
    encoder, told = LetterEncoder(), []
    candidates = [f"sentence number {k}" for k in range(20_000)]
    found = nearest_sentences(encoder, ["sentence number 7"], candidates, 2, told.append)
    assert encoder.largest <= neighbours.BLOCK < len(candidates)
    assert [n.index for n in found[0]] == [
        index for _, index, _ in brute_force(encoder, "sentence number 7", candidates, 2)
    ]
    assert told[-1].done == told[-1].total == 20_000


def test_no_count_no_candidates():
    with pytest.raises(ValueError, match="at least 1"):
        nearest_sentences(LetterEncoder(), ["a"], ["b"], 0)
    assert nearest_sentences(LetterEncoder(), ["a"], [], 1) == [[]]
