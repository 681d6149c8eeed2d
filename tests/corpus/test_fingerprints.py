"""MinHash against exact shares of runs."""

import numpy as np
import pytest
from made_books import edit_words, make_paragraphs

from folioreel.corpus.fingerprints import SignatureIndex, SketchIndex, fingerprint, hash_runs


def runs(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[k : k + 5]) for k in range(len(words) - 4)}


def novel(seed: int, words: int = 8000) -> list[str]:
    return " ".join(make_paragraphs(seed, words)).split()


def test_each_run_has_one_value() -> None:
    words = novel(1)
    assert len(hash_runs(words)) == len(runs(words))
    assert np.all(np.diff(hash_runs(words).astype(object)) > 0)
    assert len(hash_runs(["two", "words"])) == 1
    assert len(hash_runs([])) == 0


@pytest.mark.parametrize("share", [0.005, 0.02, 0.05, 0.1])
def test_the_estimate_is_near_the_exact_share(share: float) -> None:
    words = novel(1)
    edited = edit_words(" ".join(words), share).split()
    exact = len(runs(words) & runs(edited)) / len(runs(words) | runs(edited))
    index = SignatureIndex()
    index.add("a", fingerprint(words).signature)
    found = index.find_likeness(fingerprint(edited).signature)
    # The standard error of 128 draws is below 0.045.
    assert found[1] == pytest.approx(exact, abs=0.13)


def test_the_most_similar_of_many_is_found() -> None:
    index = SignatureIndex()
    assert index.find_likeness(fingerprint(novel(0)).signature) == ("", 0.0)
    for seed in range(40):
        index.add(f"novel {seed}", fingerprint(novel(seed, 2000)).signature)
    edited = edit_words(" ".join(novel(33, 2000)), 0.02).split()
    found = index.find_likeness(fingerprint(edited).signature)
    assert found[0] == "novel 33"
    other = index.find_likeness(fingerprint(novel(50, 2000)).signature)
    assert other[1] < 0.05


def test_a_tale_is_found_in_a_collection() -> None:
    tales = [novel(seed, 2500) for seed in range(20)]
    collection = [word for tale in tales for word in tale]
    index = SketchIndex({str(k): fingerprint(tales[k]).sketch for k in (3, 7)})
    assert index.find_likeness(fingerprint(collection).sketch)[1] > 0.95
    del collection[6 * 2500 : 9 * 2500]
    assert index.find_likeness(fingerprint(collection).sketch)[0] == "3"
    assert index.find_likeness(fingerprint(novel(99, 50_000)).sketch)[1] < 0.02
    assert SketchIndex({}).find_likeness(fingerprint(collection).sketch) == ("", 0.0)


def test_the_values_are_the_same_everywhere() -> None:
    """Readings outlive versions of NumPy and Python: these numbers must not change."""
    mark = fingerprint(str(number * number % 997) for number in range(900))
    assert mark.signature[:3].tolist() == [1102926, 8032280, 2152737]
    assert mark.sketch[:2].tolist() == [49630076518904955, 66527378255702493]
