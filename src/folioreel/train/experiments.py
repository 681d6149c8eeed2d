"""The rows of the paper's table: systems that learn from some judged pairs and link others (5.1).

UNI         the uniform timeline
SVM         a linear SVM over the measures of a single cell; in the paper, with the chain
CNN-1       the context-aware CNN with one layer, and the same without one of the paper's measures
CNN-3, CRF  the CNN with three layers, by itself and with the chain
literal     the CRF to the letter: probabilities instead of logits, and pruned sentences

Beside them, our position model fitted to the same pairs, the shipped presets, and plain baselines.
Without the chain, a moment is linked to the sentence with the highest score.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from folioreel.alignment.align import align
from folioreel.alignment.aligner import Aligner
from folioreel.alignment.score import context_scores
from folioreel.config import BLEU, AlignConfig, ChainConfig
from folioreel.evaluate.baselines import BASELINES, baseline_links
from folioreel.evaluate.dataset import Pair
from folioreel.evaluate.experiment_results import NO_PICTURES, UNSEEN, Times
from folioreel.models.presets import shipped_training
from folioreel.models.sentence_encoder import load_encoder
from folioreel.progress import ProgressCallback
from folioreel.similarity.tensor import PICTURE_MEASURES
from folioreel.train.chain import CHAIN_START, LITERAL_START
from folioreel.train.judged import TrainingPair
from folioreel.train.kept_rows import PAPER_MEASURES, KeptRows
from folioreel.types import Alignment, Book, Film, Link

if TYPE_CHECKING:
    from folioreel.train.context_cnn import ContextConfig
    from folioreel.train.positions import JudgedFilm

# Steps count, and each epoch has more of them where there are several pairs to learn from.
_EPOCHS_OF_MANY = 8

Kind = Literal["svm", "cnn1", "cnn3"]
Linker = Callable[["Case", Times, ProgressCallback], Alignment]
Fit = Callable[[Sequence["Case"], Times, ProgressCallback], Linker]
"""Learns from some pairs, and returns what links others; both add to the times."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A judged pair, read and measured."""

    pair: Pair
    film: Film  # watched if it has a video
    book: Book
    rows: KeptRows
    training: TrainingPair  # what a model may learn from it

    @property
    def pictures(self) -> bool:
        """Whether the film was watched."""
        return self.film.features is not None

    @cached_property
    def positions(self) -> JudgedFilm:
        """The same as the position model learns from it."""
        from folioreel.train.positions import read_judged

        return read_judged(self.pair.folder, shots=bool(self.film.shots))[0]

    def aligned(self, links: tuple[Link, ...], **signature: object) -> Alignment:
        """The alignment that some links make."""
        return Alignment(book=self.book, film=self.film, links=links, signature=signature)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the table."""

    name: str
    fit: Fit
    trained: bool = True  # whether it learns from the pairs
    pytorch: bool = False  # whether it needs PyTorch
    picture: str | None = None  # the measure of pictures that it leaves out, if any
    preset: str | None = None  # the shipped preset that it is
    watched: bool = True  # whether it uses the pictures of a film that has any
    reference: str | None = None  # the row that has all that this one goes without

    def cannot(self, training: Sequence[Case], test: Case) -> str | None:
        """Why there is no figure for a pair; None if there is one.

        To leave out pictures says nothing where there are none.
        """
        if self.picture is None and self.watched:
            return None
        if not test.pictures:
            return NO_PICTURES
        return None if not self.trained or any(case.pictures for case in training) else UNSEEN

    def looks(self, training: Sequence[Case], test: Case) -> bool:
        """Whether it uses the pictures of a film; a network must have learned from some."""
        if not (self.watched and test.pictures):
            return False
        if self.pytorch:
            return any(case.pictures for case in training)
        return self.trained or self.preset is not None

    def saw(self, pair: str) -> bool:
        """Whether it is a preset that was trained on a pair of that name."""
        return self.preset is not None and pair in shipped_training(self.preset)


@contextmanager
def timed(times: Times, stage: str) -> Iterator[None]:
    """Add the processor time of what is done inside."""
    start = time.process_time()
    yield
    times[stage] = times.get(stage, 0.0) + time.process_time() - start


def _baseline(name: str) -> Fit:
    def fit(training: Sequence[Case], times: Times, progress: ProgressCallback) -> Linker:
        encoder = load_encoder("student") if name.startswith("encoder") else None
        return lambda case, times, progress: case.aligned(
            baseline_links(name, case.film, case.book, encoder), baseline=name
        )

    return fit


def _shipped(preset: str, *, watched: bool = True) -> Fit:
    def fit(training: Sequence[Case], times: Times, progress: ProgressCallback) -> Linker:
        return lambda case, times, progress: align(
            case.book, case.film, preset=preset, pictures=watched, progress=progress
        )

    return fit


def _positions(training: Sequence[Case], times: Times, progress: ProgressCallback) -> Linker:
    from folioreel.train.positions import fit_preset

    config = fit_preset([case.positions for case in training], progress=progress)
    aligner = Aligner(config)
    return lambda case, times, progress: aligner.align(case.film, case.book, progress)


def _context(kind: Kind, *, chain: ChainConfig | None = None, without: tuple[str, ...] = ()) -> Fit:
    """The SVM or a context CNN; with the chain, whose weights are searched from a start."""

    def fit(training: Sequence[Case], times: Times, progress: ProgressCallback) -> Linker:
        from folioreel.train.paper import fit_context_model, fit_paper_chain

        config = _config(kind, training, without)
        pairs = [case.training for case in training]
        with timed(times, "network, training"):
            model = fit_context_model(config, pairs, progress=progress)
        fitted = None
        if chain is not None:
            with timed(times, "chain, training"):
                fitted = fit_paper_chain(config, pairs, start=chain, progress=progress).config

        def link(case: Case, times: Times, progress: ProgressCallback) -> Alignment:
            with timed(times, "network, inference"):
                scores = context_scores(case.rows, model, progress)
            if fitted is None:
                return case.aligned(best_cells(scores))
            aligner = Aligner(AlignConfig(chain=fitted))
            with timed(times, "chain, inference"):
                links, energy = aligner.link(case.film, case.book, scores)
            return case.aligned(links, **aligner.signature(energy))

        return link

    return fit


def _config(kind: Kind, training: Sequence[Case], without: tuple[str, ...]) -> ContextConfig:
    from folioreel.train import context_cnn

    measures = PAPER_MEASURES
    # A network that has never seen a picture would read noise from those of a test film.
    if any(case.pictures for case in training):
        measures += PICTURE_MEASURES
    match kind:
        case "svm":
            made = context_cnn.svm_config(measures)
        case "cnn1":
            made = context_cnn.one_layer_config(measures)
        case _:
            made = context_cnn.ContextConfig(measures=measures)
    if len(training) > 1:
        made = replace(made, epochs=_EPOCHS_OF_MANY)
    return context_cnn.without_measures(made, *without)


def best_cells(logits: NDArray[np.float32]) -> tuple[Link, ...]:
    """Each moment's sentence of highest score, with its probability."""
    best = logits.argmax(axis=1)
    chances = expit(logits[np.arange(len(best)), best].astype(np.float64))
    return tuple(
        Link(moment=i, sentence=int(j), score=float(chance), in_book=bool(chance >= 0.5))
        for i, (j, chance) in enumerate(zip(best, chances, strict=True))
    )


def _rows() -> Iterator[Row]:
    yield Row(name="UNI", fit=_baseline("uniform"), trained=False)
    yield Row(name="SVM", fit=_context("svm", chain=CHAIN_START), pytorch=True)
    yield Row(name="SVM, no chain", fit=_context("svm"), pytorch=True)
    yield Row(name="CNN-1", fit=_context("cnn1"), pytorch=True)
    left_out = {"BLEU": BLEU, "TF-IDF": ("tfidf",), "BOOK": ("sentence",)}
    left_out |= {"VIS": ("visual",), "SCENE": ("scene",), "PRIOR": ("prior",)}
    for name, measures in left_out.items():
        picture = measures[0] if measures[0] in PICTURE_MEASURES else None
        fit = _context("cnn1", without=measures)
        yield Row(
            name=f"CNN-1 without {name}", fit=fit, pytorch=True, picture=picture, reference="CNN-1"
        )
    yield Row(name="CNN-3", fit=_context("cnn3"), pytorch=True)
    yield Row(name="CRF", fit=_context("cnn3", chain=CHAIN_START), pytorch=True)
    yield Row(name="CRF, literal", fit=_context("cnn3", chain=LITERAL_START), pytorch=True)
    yield Row(name="positions", fit=_positions)
    for preset in ("default", "fast", "paper"):
        yield Row(name=f"{preset}, shipped", fit=_shipped(preset), trained=False, preset=preset)
    for preset in ("default", "paper"):  # what their pictures are worth
        fit = _shipped(preset, watched=False)
        yield Row(
            name=f"{preset}, unwatched",
            fit=fit,
            trained=False,
            preset=preset,
            watched=False,
            reference=f"{preset}, shipped",
        )
    for baseline in BASELINES[1:]:
        yield Row(name=baseline, fit=_baseline(baseline), trained=False)


ROWS: dict[str, Row] = {row.name: row for row in _rows()}
