"""The stages of an alignment: measures → scores → chain or positions → links."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from folioreel import __version__
from folioreel.alignment import links
from folioreel.alignment.alternatives import find_places
from folioreel.alignment.blocks import SolvedRows
from folioreel.alignment.decode import decode_chain
from folioreel.alignment.marginals import chain_marginals
from folioreel.alignment.pictures import weigh_pictures
from folioreel.alignment.positions import Positions, film_times, follow_book
from folioreel.alignment.score import context_scores, score_cells
from folioreel.config import AlignConfig, SpeechConfig
from folioreel.errors import AlignmentError, ConfigError
from folioreel.ingest.film import load_film, watch_film
from folioreel.ingest.parts import Wanted
from folioreel.ingest.several import Given
from folioreel.ingest.sync import Timing
from folioreel.ingest.video.shot_detectors import DetectorName
from folioreel.language import language_name
from folioreel.models.chain import judge_chain, make_chain, time_steps
from folioreel.models.context_cnn import ContextModel
from folioreel.models.frame_features import FrameFeatures, load_frame_features
from folioreel.models.multilingual_encoder import known_languages
from folioreel.models.presets import choose_preset, load_preset
from folioreel.models.sentence_encoder import SentenceEncoder, TextEncoder, load_encoder
from folioreel.progress import (
    Progress,
    ProgressCallback,
    ignore_progress,
    name_progress,
)
from folioreel.similarity.base import source_name
from folioreel.similarity.tensor import SimilarityRows, silent_moments
from folioreel.types import Alignment, Book, Film, Link

_log = logging.getLogger(__name__)


class Aligner:
    """The stages with one preset, for callers that need scores and links apart."""

    def __init__(
        self, config: AlignConfig, name: str = "custom", encoder: SentenceEncoder | None = None
    ) -> None:
        self.config = config
        self.name = name  # what the alignment's signature calls the settings
        self.encoder = encoder  # replaces the sentence encoder that the settings name

    @property
    def encoder_name(self) -> str:
        """What the settings call the encoder of the preset's sentence vectors."""
        if self.config.compares_meaning:
            return self.config.semantic_encoder
        return self.config.sentence_encoder

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages between which it can compare; None if nobody knows."""
        if self.config.compares_meaning or "sentence" in self.config.measures:
            return known_languages(self.encoder_name)
        return frozenset()

    @classmethod
    def load(
        cls,
        preset: AlignConfig | str | Path = "default",
        encoder: TextEncoder | str | Path | None = None,
    ) -> Aligner:
        """The aligner of a preset, with another sentence encoder if one is given.

        Raises:
            ConfigError: There is no such preset or encoder, or the preset has no use for it.
            ModelFolderError: A folder is damaged.
        """
        if isinstance(preset, AlignConfig):
            config, name = preset, "custom"
        else:
            config, name = load_preset(str(preset)), str(preset)
        if encoder is None:
            return cls(config, name)
        # A wrong name is refused here, before the film is read, which may take minutes.
        loaded = load_encoder(encoder)
        # An object cannot be loaded again by its name, which may be that of a shipped encoder.
        is_object = not isinstance(encoder, str | Path)
        named = f"{loaded.name} (an object)" if is_object else str(encoder)
        if config.compares_meaning:
            changed = replace(config, semantic_encoder=named)
        elif "sentence" in config.measures:
            changed = replace(config, sentence_encoder=named)
        else:
            raise ConfigError(
                f"the preset {name} compares no sentence vectors, so an encoder would change "
                "nothing; choose another preset or no encoder"
            )
        if changed != config:
            _warn_of_encoder(name, named)
        return cls(changed, name, loaded)

    @classmethod
    def choose(
        cls, film: Film, book: Book, encoder: TextEncoder | str | Path | None = None
    ) -> Aligner:
        """The aligner of the best preset for the languages of a film and a book."""
        name = choose_preset(film.language, book.language, own_encoder=encoder is not None)
        if name != "default":
            languages = (
                language_name(side.language) if side.language else "an unknown language"
                for side in (film, book)
            )
            _log.info("preset %s: the film is in %s, the book in %s", name, *languages)
        return cls.load(name, encoder)

    def frame_features(self) -> FrameFeatures | None:
        """The network that watches a film before it is aligned; None if pictures do not matter."""
        return load_frame_features(self.config.frame_features) if self.config.looks else None

    def load_film(
        self,
        film: Film | Given,
        *,
        subtitles: Wanted | Sequence[Wanted] = None,
        language: str | None = None,
        book_language: str | None = None,
        speech: SpeechConfig | None = None,
        timing: Timing | None = None,
        shots: bool = True,
        pictures: bool = True,
        detector: DetectorName = "adaptive",
        progress: ProgressCallback = ignore_progress,
    ) -> Film:
        """The film as this preset needs it, watched if it looks at pictures; as in `align`.

        `book_language` is that of the book, if it is known; with books that are not in English,
        pictures are of no use.
        """
        looks = shots and pictures and reads_pictures(book_language)
        network = self.frame_features() if looks else None
        if not isinstance(film, Film):
            return load_film(
                film,
                subtitles=subtitles,
                language=language,
                book_language=book_language,
                speech=speech,
                timing=timing,
                shots=shots,
                detector=detector,
                progress=progress,
                encoder=network,
            )
        if subtitles is not None or timing is not None or language is not None:
            raise ValueError("subtitles are chosen when a film is loaded: give the film as a path")
        if network is not None:
            return watch_film(film, network, detector=detector, progress=progress)
        # What the caller does not want is left out, even if the film has it.
        return replace(film, shots=film.shots if shots else (), features=None)

    def align(
        self, film: Film, book: Book, progress: ProgressCallback = ignore_progress
    ) -> Alignment:
        """Align a film, watched or not, with a book.

        Raises:
            AlignmentError: The two have nothing that could be compared.
        """
        aligner = self.for_film(film)
        progress = name_progress(progress, source_name(film))
        scores = aligner.score(film, book, progress)
        progress(Progress(stage="finding the best links", done=0, total=1))
        found, energy = aligner.link(film, book, scores)
        progress(Progress(stage="finding the best links", done=1, total=1))
        signature = aligner.signature(energy, pictures=film.features is not None)
        return Alignment(book=book, film=film, links=found, signature=signature)

    def for_film(self, film: Film) -> Aligner:
        """The aligner with the settings for watched films, if this one was watched."""
        if film.features is None:
            return self
        return Aligner(self.config.with_pictures(), self.name, self.encoder)

    def score(
        self, film: Film, book: Book, progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The unary score of every moment and sentence, which `link` takes: (I, J)."""
        scores, config = self.compare(film, book, progress), self.config
        silent = silent_moments(film)
        if config.context is None and config.steps is not None and config.pictures is not None:
            looked_at = silent & np.isfinite(scores).any(axis=1)
            weigh_pictures(scores, looked_at, film_times(film), config.steps)
        return scores

    def compare(
        self, film: Film, book: Book, progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """How well each sentence fits each moment, whatever the others are: (I, J).

        Only these can be compared between books.
        """
        if not film.moments:
            raise AlignmentError(
                "the film has neither dialogue nor shots; there is nothing to align"
            )
        rows = SimilarityRows(film, book, self.config, progress, self.encoder)
        if self.config.context is None:
            return score_cells(rows, self.config, progress)
        return context_scores(rows, ContextModel.load(self.config.context), progress)

    def link(
        self,
        film: Film,
        book: Book,
        scores: NDArray[np.float32],
        judged: Mapping[int, int] | None = None,
    ) -> tuple[tuple[Link, ...], float]:
        """The best links for what `score` returned, and their energy.

        `judged` maps moments to the sentences that a reader chose, or to `ABSENT`: these are fixed.
        """
        judged, config = judged or {}, self.config
        if config.steps is not None:
            fixed = links.fix_positions(scores, judged)
            silent = silent_moments(film)
            positions = follow_book(scores, film_times(film), config.steps, fixed, silent)
            energy = -positions.log_partition
            passages, evidence = self.find_links(positions, scores, book, silent)
            placed = passages, links.calibrate_passages(evidence, silent, config.calibration)
        else:
            chain = judge_chain(make_chain(scores, time_steps(film), config.chain), judged)
            path = decode_chain(chain)
            energy = path.energy
            placed = self.place_path(path.sentences, chain_marginals(chain).probability, book)
        return links.make_links(0, *placed, judged, config.in_book_from), energy

    @staticmethod
    def find_links(
        positions: Positions | SolvedRows,
        scores: NDArray[np.float32],
        book: Book,
        silent: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The passages of a run of moments, silent or not, the link's own first: (I, P).

        Also what is known of each: (P, I, 3).
        """
        sentences = links.choose_sentences(positions, book, silent)
        passages = find_places(positions.rendered, sentences, book)
        evidence = [links.link_evidence(positions, scores, one, book) for one in passages.T]
        return passages, np.stack(evidence)

    def place_path(
        self, path: NDArray[np.int64], probability: NDArray[np.float32], book: Book
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The passages of a run of moments and their scores, the path's own first: (I, P)."""
        passages = find_places(probability, path, book)
        near = [links.passage_probability(probability, one, book, reach=1) for one in passages.T]
        calibration = self.config.calibration
        scores = expit(calibration.link * links.logit(np.column_stack(near)) + calibration.bias)
        return passages, np.minimum(scores, scores[:, :1])

    def signature(self, energy: float, *, pictures: bool = False) -> dict[str, object]:
        """Everything it takes to reproduce the alignment; `pictures`: the film was watched."""
        return {
            "preset": self.name,
            "measures": list(self.config.measures),
            "package_version": __version__,
            "config": asdict(self.config),
            "pictures": pictures,
            "energy": round(energy, 6),
        }


def reads_pictures(book_language: str | None) -> bool:
    """Whether pictures can be compared with a book: the embeddings know English only."""
    return book_language in (None, "en")


@cache  # said once, not for every pair of a dataset
def _warn_of_encoder(preset: str, encoder: str) -> None:
    _log.warning(
        f"the preset {preset} was not trained with the encoder {encoder}, so its probabilities may "
        "be too high"
    )
