"""The paper's table of its corpus (table 2): books, sentences, words, unique words, lengths.

Words are those of `folioreel.text.tokenize`, which does not count punctuation marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from folioreel.corpus.manifest import STATUSES
from folioreel.corpus.reader import Corpus
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.text import tokenize


@dataclass(frozen=True, kw_only=True)
class CorpusStatistics:
    """What a corpus holds, and how many books were left out for each reason."""

    books: int
    sentences: int
    words: int
    unique_words: int
    mean_sentence_words: float
    median_sentence_words: float
    left_out: dict[str, int]
    """Status → number of books: `short`, `duplicate`, `held out`, `unreadable`."""
    genres: dict[str, int] = field(default_factory=dict)
    """Genre → number of books, most first, where genres were given; `""`: books without one."""

    def figures(self) -> dict[str, str]:
        """The rows of the table: name → figure."""
        return {
            "books": f"{self.books:,}",
            "sentences": f"{self.sentences:,}",
            "words": f"{self.words:,}",
            "unique words": f"{self.unique_words:,}",
            "mean words per sentence": f"{self.mean_sentence_words:.1f}",
            "median words per sentence": f"{self.median_sentence_words:g}",
            **{f"genre: {name or 'unknown'}": f"{n:,}" for name, n in self.genres.items()},
            **{f"left out: {status}": f"{count:,}" for status, count in self.left_out.items()},
        }


def measure_corpus(
    corpus: Corpus,
    progress: ProgressCallback = ignore_progress,
    genres: Mapping[str, str] | None = None,
) -> CorpusStatistics:
    """Count what a corpus holds, in one pass over it.

    `genres` are by the path of a book in the folder that the corpus was built from.
    """
    unique: set[str] = set()
    # A histogram instead of a list: BookCorpus has 74 million sentences, but few lengths.
    lengths: Counter[int] = Counter()
    for book in track(corpus.read_books(), "counting words", progress, len(corpus.books)):
        for text in book.text.texts:
            words = tokenize(text)
            unique.update(words)
            lengths[len(words)] += 1
    sentences = lengths.total()
    words_in_all = sum(length * count for length, count in lengths.items())
    statuses = Counter(book.status for book in corpus.manifest.left_out)
    return CorpusStatistics(
        books=len(corpus.books),
        sentences=sentences,
        words=words_in_all,
        unique_words=len(unique),
        mean_sentence_words=words_in_all / max(1, sentences),
        median_sentence_words=median_of_histogram(lengths),
        genres=_count_genres(corpus, genres) if genres is not None else {},
        left_out={status: statuses[status] for status in STATUSES if status != "kept"},
    )


def _count_genres(corpus: Corpus, genres: Mapping[str, str]) -> dict[str, int]:
    counts = Counter(genres.get(book.path, "") for book in corpus.manifest.kept)
    return dict(sorted(counts.items(), key=lambda item: (item[0] == "", -item[1], item[0])))


def median_of_histogram(histogram: Counter[int]) -> float:
    """The exact median of counted values; 0 if there are none."""
    if not histogram:
        return 0.0
    values = np.array(sorted(histogram))
    ends = np.cumsum([histogram[value] for value in values.tolist()])
    # The two middle places; the same place twice if the number of values is odd.
    middles = [(ends[-1] - 1) // 2, ends[-1] // 2]
    return float(values[np.searchsorted(ends, middles, side="right")].mean())
