"""`folioreel train positions`: judged pairs → the position model of the preset `default`.

Fits what each measure is worth, how films move through their books, and how sure a link is
(position_fit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.align import align
from folioreel.alignment.aligner import Aligner
from folioreel.alignment.links import look_around
from folioreel.alignment.positions import (
    film_times,
    follow_book,
)
from folioreel.config import AlignConfig
from folioreel.errors import ConfigError, InputError
from folioreel.evaluate.dataset import Pair, find_pairs, load_pair, load_pair_film
from folioreel.evaluate.metrics import PlacedLink, judge_links
from folioreel.evaluate.report import PairResult, judge_alignment
from folioreel.files import file_sha256
from folioreel.ingest.book import load_book
from folioreel.models.presets import check_replaceable, load_preset, save_preset
from folioreel.models.sentence_encoder import encoder_reference, load_encoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress, nest_progress, track
from folioreel.similarity.cognates import CognatesMeasure
from folioreel.similarity.tensor import SimilarityRows, silent_moments
from folioreel.train.judged import fixed_moments
from folioreel.train.position_fit import (
    FitConfig,
    MeasuredFilm,
    fit_calibration,
    fit_positions,
)
from folioreel.train.starts import START, STARTS
from folioreel.types import Alignment, Book, Film


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedFilm:
    """A judged pair with its measures."""

    pair: Pair
    film: Film
    book: Book
    measured: MeasuredFilm
    start: AlignConfig = field(default_factory=lambda: START)
    """Where fitting begins; it has the measures and their encoder."""


def read_judged(
    datasets: Path | Sequence[Path],
    progress: ProgressCallback = ignore_progress,
    *,
    like: str = "default",
    encoder: str | Path | None = None,
    without: Sequence[str] = (),
    shots: bool = True,
) -> list[JudgedFilm]:
    """Every judged pair of one or more datasets, with the measures of a preset.

    `like` names the preset, one of `STARTS`; `encoder` is the name or folder of a sentence encoder
    that takes the place of its own; `without` names pairs to leave out.
    """
    start = STARTS[like]
    if encoder is not None:
        if not start.compares_meaning:
            raise ConfigError(f"the preset {like} compares no sentence vectors; give no encoder")
        load_encoder(encoder)  # a wrong name should be refused before anything is read
        start = replace(start, semantic_encoder=encoder_reference(encoder))
    found = []
    folders = _find_pairs([datasets] if isinstance(datasets, Path) else datasets, without)
    for folder in track(folders, "measuring", progress, name=lambda folder: folder.name):
        pair = load_pair(folder)
        film, book = load_pair_film(pair, shots=shots), load_book(pair.book)
        planes = _measure_all(SimilarityRows(film, book, start))
        if film.language == book.language:
            # Words that look alike say far more within a language: they would be overrated.
            planes[[name in CognatesMeasure.names for name in start.measures]] = 0
        measured = MeasuredFilm(
            planes=planes,
            silent=silent_moments(film),
            times=film_times(film),
            fixed=fixed_moments(pair, film, book),
        )
        found.append(JudgedFilm(pair=pair, film=film, book=book, measured=measured, start=start))
    return found


def _find_pairs(datasets: Sequence[Path], without: Sequence[str]) -> list[Path]:
    """The folders of all pairs but some."""
    folders = [folder for dataset in datasets for folder in find_pairs(dataset)]
    names = [folder.resolve().name for folder in folders]
    if unknown := [name for name in without if name not in names]:
        raise ConfigError(f"there is no pair {unknown[0]!r} to leave out")
    kept = [folder for folder, name in zip(folders, names, strict=True) if name not in without]
    if not kept:
        raise ConfigError("all pairs are left out; keep at least one")
    return kept


def _measure_all(rows: SimilarityRows) -> NDArray[np.float32]:
    """All measures of a film: (M, I, J)."""
    planes = np.empty((len(rows.measures), *rows.shape), dtype=np.float32)
    # In blocks, as a whole film at once would take twice the memory of the planes.
    for block in rows.blocks():
        last = block.first + len(block.values)
        planes[:, block.first : last] = np.moveaxis(block.values, -1, 0)
    return planes


def fit_preset(
    judged: Sequence[JudgedFilm],
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> AlignConfig:
    """The settings fitted to some judged pairs, with the measures that they were read with."""
    start = judged[0].start
    if any(item.start != start for item in judged):
        raise ValueError("the pairs should have been read with one encoder and the same measures")
    fitted = fit_positions([item.measured for item in judged], start, config, progress)
    evidence, right = zip(*(_judged_evidence(item, fitted) for item in judged), strict=True)
    calibration = fit_calibration(np.concatenate(evidence), np.concatenate(right))
    # The weights of pictures are fitted elsewhere (training/pictures.py), and kept.
    pictures = load_preset("default").pictures
    return replace(fitted, calibration=calibration, pictures=pictures)


def _judged_evidence(
    item: JudgedFilm, config: AlignConfig
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What is known of the links of judged lines, and whether they are right: (N, 3) and (N,)."""
    assert config.steps is not None
    scores = item.measured.scores(config)
    positions = follow_book(scores, item.measured.times, config.steps)
    passages, evidence = Aligner.find_links(positions, scores, item.book)
    known = look_around(evidence[0], item.measured.silent)
    # Each link has its own number as its score, by which a judged line tells which link is its own.
    links = [
        PlacedLink(
            start_s=moment.start_s,
            end_s=moment.end_s,
            line=item.book.sentences[sentence].line,
            score=float(number),
        )
        for number, (moment, sentence) in enumerate(
            zip(item.film.moments, passages[:, 0], strict=True)
        )
    ]
    outcomes = judge_links(item.pair, links)
    own = outcomes.scores[outcomes.stated].astype(int)
    # Dialogue says nothing of silent shots; what pictures say is weighed in training/pictures.py.
    heard = ~item.measured.silent[own]
    return known[own][heard], outcomes.near[outcomes.stated][heard]


def train_positions(
    datasets: Path | Sequence[Path],
    out: Path,
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
    **reading: Any,
) -> dict[str, Any]:
    """Fit a preset to every judged pair of some datasets and write its folder.

    `reading` are the options of `read_judged`. Returns the pairs, the number of judged lines, the
    date, and the settings.
    """
    check_replaceable(out)
    judged = read_judged(datasets, progress, **reading)
    fitted = fit_preset(judged, config, progress)
    names = [item.pair.name for item in judged]
    lines = sum(len(item.measured.fixed) for item in judged)
    training = {"pairs": names, "judged_lines": lines, "date": date.today().isoformat()}
    save_preset(fitted, out, _card(fitted, training), training)
    return {**training, "config": asdict(fitted)}


def _card(config: AlignConfig, training: dict[str, Any]) -> str:
    assert config.steps is not None
    weights = [f"| {name} | {weight:.2f} |" for name, weight in config.weights.items()]
    steps = [f"| {name} | {share:.3g} |" for name, share in asdict(config.steps).items()]
    encoder = [f"Its sentence encoder is `{config.semantic_encoder}`."]
    lines = [
        "# Position model",
        "",
        f"Fitted on {training['date']} with `folioreel train positions` to"
        f" {training['judged_lines']:,} judged lines of {len(training['pairs'])} pairs:"
        f" {', '.join(training['pairs'])}.",
        *(encoder if config.compares_meaning else []),
        "To evaluate it on one of these pairs, fit it to the others:",
        "`folioreel evaluate DATASET --leave-one-out`.",
        "",
        "| measure | weight |",
        "|---|---|",
        *weights,
        f"| bias | {config.bias:.2f} |",
        "",
        "| step | probability or strength |",
        "|---|---|",
        *steps,
    ]
    return "\n".join(lines) + "\n"


def align_measured(item: JudgedFilm, config: AlignConfig) -> Alignment:
    """Align a pair whose measures are computed already."""
    aligner = Aligner(config)
    links, energy = aligner.link(item.film, item.book, item.measured.scores(config))
    signature = aligner.signature(energy)
    return Alignment(book=item.book, film=item.film, links=links, signature=signature)


def leave_one_out(
    judged: Sequence[JudgedFilm],
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
    *,
    shots: bool = True,
    pictures: bool = True,
) -> list[PairResult]:
    """Evaluate each pair with settings fitted to the pairs of all other books."""
    # A film of the same book would give away which of its passages are filmed.
    books = [file_sha256(item.pair.book) for item in judged]
    if len(set(books)) < 2:
        raise InputError("all pairs have the same book; --leave-one-out needs two books")
    results = []
    for done, (own, item) in enumerate(zip(books, judged, strict=True)):
        whole = Progress(stage="leave-one-out", done=done, total=len(judged), name=item.pair.name)
        nested = nest_progress(progress, whole)
        others = [other for other, book in zip(judged, books, strict=True) if book != own]
        fitted = fit_preset(others, config)
        # The front door, which also watches the film: pictures are no part of what was measured.
        watching: dict[str, Any] = {"shots": shots, "pictures": pictures, "progress": nested}
        alignment = align(item.book, item.film, preset=fitted, **watching)
        results.append(judge_alignment(item.pair, alignment))
    progress(Progress(stage="leave-one-out", done=len(judged), total=len(judged)))
    return results
