"""The stages in order: measures → scores → chain → links (paper, section 4)."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.align.decode import decode_chain
from folioreel.align.marginals import chain_marginals
from folioreel.align.score import score_cells
from folioreel.config import AlignConfig, preset
from folioreel.errors import AlignmentError
from folioreel.models.chain import ABSENT, make_chain, time_steps
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tensor import SimilarityRows
from folioreel.text import dominant_script
from folioreel.types import Alignment, Book, Film, Link


class Aligner:
    """Aligns films with books by the settings of one preset."""

    def __init__(self, config: AlignConfig, name: str = "custom") -> None:
        """Keep the settings and the name that goes into the alignment's signature."""
        self.config = config
        self.name = name

    @classmethod
    def load(cls, name: str = "default") -> Aligner:
        """The aligner of a preset: `default` or `paper`."""
        return cls(preset(name), name)

    def align(
        self, film: Film, book: Book, progress: ProgressCallback = ignore_progress
    ) -> Alignment:
        """For every moment of the film the sentence of the book that it renders.

        Raises:
            AlignmentError: The two have nothing that could be compared.
        """
        _check_comparable(film, book)
        rows = SimilarityRows(film, book, self.config, progress)
        unary = score_cells(rows, self.config, progress)
        chain = make_chain(unary, time_steps(film), self.config.chain)
        progress(Progress(stage="chaining", done=0, total=2))
        path = decode_chain(chain)
        progress(Progress(stage="chaining", done=1, total=2))
        marginals = chain_marginals(chain)
        progress(Progress(stage="chaining", done=2, total=2))
        # A moment that is not in the book gets the best guess all the same.
        guesses = marginals.probability.argmax(axis=1)
        sentences = np.where(path.sentences == ABSENT, guesses, path.sentences)
        scores = passage_probability(marginals.probability, sentences, book)
        present = (path.sentences != ABSENT) & (scores >= self.config.in_book_from)
        links = tuple(
            Link(moment=i, sentence=int(j), score=float(score), in_book=bool(in_book))
            for i, (j, score, in_book) in enumerate(zip(sentences, scores, present, strict=True))
        )
        return Alignment(book=book, film=film, links=links, signature=self._signature(path.energy))

    def _signature(self, energy: float) -> dict[str, object]:
        """What is needed to get the same alignment again."""
        return {
            "preset": self.name,
            "measures": list(self.config.measures),
            "package_version": __version__,
            "config": asdict(self.config),
            "energy": round(energy, 6),
        }


def passage_probability(
    probability: NDArray[np.float32], sentences: NDArray[np.int64], book: Book
) -> NDArray[np.float64]:
    """The probability that the truth lies in the linked paragraph or next to it: (I,)."""
    sums = np.zeros((probability.shape[0], probability.shape[1] + 1))
    np.cumsum(probability, axis=1, dtype=np.float64, out=sums[:, 1:])
    found = np.empty(len(sentences))
    for i, sentence in enumerate(sentences):
        paragraph = book.paragraph_of[sentence]
        first = book.paragraphs[max(0, paragraph - 1)].sentences.start
        last = book.paragraphs[min(len(book.paragraphs) - 1, paragraph + 1)].sentences.stop
        found[i] = sums[i, last] - sums[i, first]
    return np.clip(found, 0.0, 1.0)


def _check_comparable(film: Film, book: Book) -> None:
    """Refuse a film and a book that no measure could bring together."""
    if not film.moments:
        raise AlignmentError("the film has neither dialogue nor shots; there is nothing to align")
    spoken = dominant_script(" ".join(subtitle.text for subtitle in film.subtitles[:500]))
    written = dominant_script(" ".join(sentence.text for sentence in book.sentences[:500]))
    if spoken and written and spoken != written:
        raise AlignmentError(
            f"the book is in {written.capitalize()} script and the subtitles are in "
            f"{spoken.capitalize()} script; give both in one language (a translation of either)"
        )
