"""How good captions are: BLEU over a whole test set, with several references each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

Tokens = Sequence[str]


def corpus_bleu(found: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> list[float]:
    """BLEU-1 … BLEU-4 in percent (Papineni et al. 2002), over all captions together.

    Args:
        found: The words of each caption.
        references: What people wrote for the same picture.
    """
    matched, total = [0] * 4, [0] * 4
    length = reference_length = 0
    for words, others in zip(found, references, strict=True):
        length += len(words)
        # The nearest length counts, of two the shorter.
        reference_length += min((abs(len(r) - len(words)), len(r)) for r in others)[1]
        for n in range(1, 5):
            grams = _grams(words, n)
            most: Counter[tuple[str, ...]] = Counter()
            for other in others:
                most |= _grams(other, n)
            matched[n - 1] += sum((grams & most).values())
            total[n - 1] += sum(grams.values())
    if not length:
        return [0.0] * 4
    brevity = min(0.0, 1 - reference_length / length)
    scores = []
    logarithms = 0.0
    for n in range(4):
        share = matched[n] / total[n] if total[n] else 0.0
        logarithms += math.log(share) if share else -math.inf
        scores.append(100 * math.exp(brevity + logarithms / (n + 1)))
    return scores


def _grams(words: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))
