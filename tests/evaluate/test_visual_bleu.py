"""BLEU over a test set, against two other programs."""

import numpy as np
import pytest
import sacrebleu
from nltk.translate.bleu_score import corpus_bleu as by_nltk

from folioreel.evaluate.visual import corpus_bleu

WORDS = "a dog runs over the green grass with red ball in its mouth two men play".split()


def made_captions(seed, count=40):
    rng = np.random.default_rng(seed)

    def text(low, high):
        return [WORDS[k] for k in rng.integers(0, len(WORDS), rng.integers(low, high))]

    references = [[text(4, 12) for _ in range(5)] for _ in range(count)]
    # Half of each caption is a piece of a reference, so that long matches occur.
    found = [r[0][: rng.integers(3, 7)] + text(1, 6) for r in references]
    return found, references


@pytest.mark.parametrize("seed", range(5))
def test_as_others_count(seed):
    found, references = made_captions(seed)
    scores = corpus_bleu(found, references)
    for n in range(1, 5):
        theirs = by_nltk(references, found, weights=[1 / n] * n)
        assert scores[n - 1] == pytest.approx(100 * theirs)
    lines = [" ".join(words) for words in found]
    columns = [[" ".join(r[k]) for r in references] for k in range(5)]
    official = sacrebleu.corpus_bleu(lines, columns, tokenize="none", smooth_method="none")
    assert scores[3] == pytest.approx(official.score)


def test_the_ends():
    assert (
        corpus_bleu([["a", "dog", "runs", "here"]], [[["a", "dog", "runs", "here"]]]) == [100.0] * 4
    )
    assert corpus_bleu([["cat"]], [[["dog"]]]) == [0.0] * 4
    assert corpus_bleu([[]], [[["dog"]]]) == [0.0] * 4
