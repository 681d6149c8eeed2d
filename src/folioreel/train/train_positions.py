"""Judged pairs → the preset `default`: weights of measures, steps through the book, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.links import logit
from folioreel.alignment.positions import Fixed, film_times
from folioreel.config import AlignConfig, StepsConfig
from folioreel.errors import InputError
from folioreel.evaluate.dataset import Pair, find_pairs, load_pair, load_pair_film
from folioreel.evaluate.metrics import Outcomes, judge_links, placed_links
from folioreel.evaluate.report import Row, rows_of
from folioreel.files import file_sha256
from folioreel.ingest.book import load_book
from folioreel.models.presets import check_replaceable, load_preset, save_preset
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tensor import SimilarityRows
from folioreel.train.judged import judged_moments
from folioreel.train.positions import FitConfig, Lesson, fit_calibration, fit_positions
from folioreel.types import Alignment, Book, Film

START = AlignConfig(
    weights={
        "rare": 3.0,
        "covered": 0.0,
        "covers": 0.0,
        "phrase": 0.0,
        "phrase3": 0.0,
        "nearby": 0.0,
        "nearby_covered": 0.0,
        "semantic": 0.0,
        "semantic_z": 0.0,
        "semantic_long": 0.0,
    },
    bias=-6.0,
    steps=StepsConfig(),
)
"""Where fitting begins: shared rare words alone."""
_SCENE_MARGIN = 6
"""Sentences before and after a judged scene that still belong to it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedFilm:
    """A pair with its measures, which are computed once."""

    pair: Pair
    film: Film
    book: Book
    lesson: Lesson


def read_judged(
    dataset: Path, config: AlignConfig = START, progress: ProgressCallback = ignore_progress
) -> list[JudgedFilm]:
    """Every judged pair of a dataset, measured."""
    folders = find_pairs(dataset)
    found = []
    for done, folder in enumerate(folders):
        progress(Progress(stage="measuring", done=done, total=len(folders)))
        pair = load_pair(folder)
        film, book = load_pair_film(pair), load_book(pair.book)
        rows = SimilarityRows(film, book, config)
        values = rows.block(0, rows.shape[0]).values  # (I, J, M)
        lesson = Lesson(
            planes=np.moveaxis(values, -1, 0),
            silent=np.array([moment.text == "" for moment in film.moments]),
            times=film_times(film),
            fixed=fixed_moments(pair, film, book),
        )
        found.append(JudgedFilm(pair=pair, film=film, book=book, lesson=lesson))
    return found


def fixed_moments(pair: Pair, film: Film, book: Book) -> dict[int, Fixed]:
    """What the judges say of moments: rendered here, not in the book, or somewhere in a scene."""
    fixed: dict[int, Fixed] = {}
    for judged in judged_moments(pair, film, book):
        if judged.verdict == "none":
            fixed[judged.moment] = Fixed(sentences=None, rendered=False)
            continue
        sentences = np.zeros(len(book.sentences), dtype=bool)
        margin = _SCENE_MARGIN if judged.verdict == "scene" else 0
        for sentence in judged.sentences:
            sentences[max(0, sentence - margin) : sentence + margin + 1] = True
        # Where nobody speaks no score could bear a match out; its place counts all the same.
        spoken = film.moments[judged.moment].text != ""
        rendered = True if judged.verdict == "match" and spoken else None
        fixed[judged.moment] = Fixed(sentences=sentences, rendered=rendered)
    return fixed


def fit_preset(
    judged: Sequence[JudgedFilm],
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> AlignConfig:
    """The settings that some judged pairs teach."""
    fitted = fit_positions([item.lesson for item in judged], START, config, progress)
    outcomes = [judge_film(item, fitted) for item in judged]
    odds = logit(np.concatenate([found.scores[found.stated] for found in outcomes]))
    right = np.concatenate([found.near[found.stated] for found in outcomes])
    # What pictures are worth is learned elsewhere (training/pictures.py), and goes along.
    pictures = load_preset("default").pictures
    return replace(fitted, calibration=fit_calibration(odds, right), pictures=pictures)


def train_chain(
    dataset: Path,
    out: Path,
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Learn a preset from every judged pair of a dataset and write its folder.

    Returns:
        What the folder's card says: the pairs, the judged lines, the learned numbers.
    """
    check_replaceable(out)
    judged = read_judged(dataset, progress=progress)
    fitted = fit_preset(judged, config, progress)
    names = [item.pair.name for item in judged]
    lines = sum(len(item.lesson.fixed) for item in judged)
    training = {"pairs": names, "judged_lines": lines, "date": date.today().isoformat()}
    save_preset(fitted, out, _card(fitted, training), training)
    return {**training, "config": asdict(fitted)}


def _card(config: AlignConfig, training: dict[str, Any]) -> str:
    assert config.steps is not None
    weights = [f"| {name} | {weight:.2f} |" for name, weight in config.weights.items()]
    steps = [f"| {name} | {share:.3f} |" for name, share in asdict(config.steps).items()]
    lines = [
        "# An aligner's learned numbers",
        "",
        f"Learned on {training['date']} with `folioreel train chain` from"
        f" {training['judged_lines']:,} judged lines of {len(training['pairs'])} pairs:"
        f" {', '.join(training['pairs'])}.",
        "Figures of these pairs come from settings that the other pairs taught:",
        "`folioreel evaluate DATASET --leave-one-out` (docs/results.md).",
        "",
        "| measure | weight |",
        "|---|---|",
        *weights,
        f"| bias | {config.bias:.2f} |",
        "",
        "| step or passage | share or strength |",
        "|---|---|",
        *steps,
    ]
    return "\n".join(lines) + "\n"


def judge_film(item: JudgedFilm, config: AlignConfig) -> Outcomes:
    """What becomes of a pair's judged lines."""
    return judge_links(item.pair, placed_links(align_measured(item, config)))


def align_measured(item: JudgedFilm, config: AlignConfig) -> Alignment:
    """Align a pair whose measures are there already."""
    aligner = Aligner(config)
    links, energy = aligner.link(item.film, item.book, item.lesson.scores(config))
    return Alignment(
        book=item.book, film=item.film, links=links, signature=aligner.signature(energy)
    )


def leave_one_out(
    judged: Sequence[JudgedFilm],
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> list[Row]:
    """Each pair judged by settings that the pairs of all other books taught, and the mean.

    Raises:
        InputError: All pairs are of one book, so that no other could teach.
    """
    # Two films of one book would teach each other where in it the story lies.
    books = [file_sha256(item.pair.book) for item in judged]
    if len(set(books)) < 2:
        raise InputError("all pairs have one and the same book; leaving one out needs two books")
    outcomes, signatures = [], []
    for done, item in enumerate(judged):
        progress(Progress(stage="leaving one out", done=done, total=len(judged)))
        others = [other for other, book in zip(judged, books, strict=True) if book != books[done]]
        fitted = fit_preset(others, config)
        alignment = align_measured(item, fitted)
        outcomes.append(judge_links(item.pair, placed_links(alignment)))
        signatures.append(alignment.signature)
    return rows_of([item.pair.name for item in judged], outcomes, signatures)
