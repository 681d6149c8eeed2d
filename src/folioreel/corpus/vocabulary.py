"""The words of a corpus by frequency (paper, section 4.1)."""

from __future__ import annotations

from collections import Counter

from folioreel.corpus.reader import Corpus
from folioreel.errors import ConfigError
from folioreel.models.vocabulary import (
    LARGEST_VOCABULARY,
    SPECIAL_TOKENS,
    Vocabulary,
    training_tokens,
)
from folioreel.progress import Progress, ProgressCallback, ignore_progress


def build_vocabulary(
    corpus: Corpus, size: int = 20_000, progress: ProgressCallback = ignore_progress
) -> Vocabulary:
    """The most frequent words of a corpus, in one pass over it.

    Args:
        corpus: Where they are counted.
        size: How many words, the special tokens not counted; the paper's decoder has 20,000.
        progress: Called after each book.
    """
    if not 0 < size <= LARGEST_VOCABULARY:
        raise ConfigError(f"a vocabulary has 1 to {LARGEST_VOCABULARY:,} words, not {size:,}")
    counts: Counter[str] = Counter()
    for done, book in enumerate(corpus.read_books(), 1):
        for text in book.text.texts:
            counts.update(training_tokens(text))
        progress(Progress(stage="counting words", done=done, total=len(corpus.books)))
    return choose_words(counts, size, sentences=corpus.sentence_count)


def choose_words(counts: Counter[str], size: int, sentences: int) -> Vocabulary:
    """The vocabulary of the most frequent words; of equals, the alphabet decides."""
    chosen = sorted(counts, key=lambda word: (-counts[word], word))[:size]
    known = [counts[word] for word in chosen]
    return Vocabulary(
        words=(*SPECIAL_TOKENS, *chosen),
        counts=(0, sentences, counts.total() - sum(known), *known),
    )
