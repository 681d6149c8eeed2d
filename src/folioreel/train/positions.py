"""`folioreel train positions`: judged pairs → the position model of the preset `default`.

Fits what each measure is worth, how films move through their books, and how sure a link is. It is
maximum likelihood with hidden nodes, since most moments have no judgement (paper, section 4.4). The
gradient is exact: expectations with the judged moments fixed, less those without.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from folioreel.alignment.align import align
from folioreel.alignment.aligner import Aligner
from folioreel.alignment.links import look_around
from folioreel.alignment.positions import (
    Fixed,
    film_times,
    follow_book,
    quote_shares,
    timeline_distance,
)
from folioreel.config import STEPS, AlignConfig, CalibrationConfig, StepsConfig
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
from folioreel.train.starts import START, STARTS
from folioreel.types import Alignment, Book, Film


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredFilm:
    """A film and its book as measures, with what is known about the judged moments."""

    planes: NDArray[np.float32]  # (M, I, J)
    silent: NDArray[np.bool_]  # (I,)
    times: NDArray[np.float32]  # from 0 at the first moment to 1 at the last: (I,)
    fixed: Mapping[int, Fixed]  # the judged moments

    def scores(self, config: AlignConfig) -> NDArray[np.float32]:
        """The score of every cell: (I, J)."""
        measures, moments, sentences = self.planes.shape
        weights = np.array([config.weights[name] for name in config.measures], dtype=np.float32)
        flat = weights @ self.planes.reshape(measures, -1)
        scores = flat.reshape(moments, sentences) + np.float32(config.bias)
        scores[self.silent] = -np.inf
        return scores


@dataclass(frozen=True, kw_only=True)
class FitConfig:
    """How the position model is fitted."""

    iterations: int = 25  # iterations of L-BFGS at most
    weight_decay: float = 1.0  # L2 penalty on the weights of measures: half of it × their squares
    strongest_timeline: float = 0.05
    """An upper bound: the judged films are plays, which follow the order of the book more closely
    than other films do."""
    step_decay: float = 0.1  # the same penalty on the logarithms of the steps' probabilities


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
    sentences, evidence = Aligner.find_links(positions, scores, item.book)
    known = look_around(evidence, item.measured.silent)
    # Each link has its own number as its score, by which a judged line tells which link is its own.
    links = [
        PlacedLink(
            start_s=moment.start_s,
            end_s=moment.end_s,
            line=item.book.sentences[sentence].line,
            score=float(number),
        )
        for number, (moment, sentence) in enumerate(zip(item.film.moments, sentences, strict=True))
    ]
    outcomes = judge_links(item.pair, links)
    own = outcomes.scores[outcomes.stated].astype(int)
    return known[own], outcomes.near[outcomes.stated]


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


def fit_positions(
    films: Sequence[MeasuredFilm],
    start: AlignConfig,
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> AlignConfig:
    """The weights, the bias and the step probabilities that maximise the judgements' likelihood."""
    config = config or FitConfig()
    done = itertools.count(1)

    def count(_: object) -> None:
        progress(Progress(stage="fitting", done=next(done), total=config.iterations))

    found = minimize(
        lambda values: _objective(films, start, values, config),
        _to_vector(start),
        jac=True,
        method="L-BFGS-B",
        bounds=_bounds(start, config),
        callback=count,
        options={"maxiter": config.iterations, "maxcor": 20},
    )
    # It often converges before its last iteration.
    progress(Progress(stage="fitting", done=config.iterations, total=config.iterations))
    return _from_vector(start, found.x)


def _objective(
    films: Sequence[MeasuredFilm],
    start: AlignConfig,
    values: NDArray[np.float64],
    config: FitConfig,
) -> tuple[float, NDArray[np.float64]]:
    """The penalised negative log-likelihood, and its gradient."""
    present = _from_vector(start, values)
    # Two films at once: each needs several arrays of moments × sentences.
    with ThreadPoolExecutor(2) as threads:
        parts = list(threads.map(lambda film: _film_gradient(film, present), films))
    likelihood = sum(part[0] for part in parts)
    gradient = np.sum([part[1] for part in parts], axis=0)
    weights, steps = values[: -len(STEPS) - _OTHERS], values[-len(STEPS) :]
    penalty = config.weight_decay * (weights**2).sum() + config.step_decay * (steps**2).sum()
    gradient[: len(weights)] -= config.weight_decay * weights
    gradient[-len(STEPS) :] -= config.step_decay * steps
    return penalty / 2 - likelihood, -gradient


def _film_gradient(film: MeasuredFilm, config: AlignConfig) -> tuple[float, NDArray[np.float64]]:
    """The log-likelihood of one film's judgements, and its gradient."""
    steps, scores = config.steps, film.scores(config)
    assert steps is not None
    free = follow_book(scores, film.times, steps)
    fixed = follow_book(scores, film.times, steps, film.fixed)
    # d log Z / d score is P(the cell is rendered), but not for judged quotes: the judge restricts
    # which sentences are quoted, not those of the root mean square.
    surplus = fixed.rendered - free.rendered  # (I, J)
    for moment, known in film.fixed.items():
        if known.rendered and known.sentences is not None:
            row, chance = scores[moment], fixed.quoted[moment]
            surplus[moment] += chance * (quote_shares(row, known.sentences) - quote_shares(row))
    weights = film.planes.reshape(len(film.planes), -1) @ surplus.ravel()
    likelihood = fixed.log_partition - free.log_partition
    distance = timeline_distance(film.times, scores.shape[1])
    pull = np.vdot(free.position - fixed.position, distance)
    (stay, leave), (come_back, stay_free) = fixed.passages - free.passages
    others = [
        surplus.sum(dtype=np.float64),
        pull,
        fixed.rendered_freely - free.rendered_freely,
        # By the logits of leaving the book, and of coming back.
        leave * (1 - steps.leave) - stay * steps.leave,
        come_back * (1 - steps.come_back) - stay_free * steps.come_back,
        (fixed.quoted - free.quoted).sum(dtype=np.float64),
    ]
    # Both chains take the same number of steps, so the softmax's normaliser cancels.
    return likelihood, np.concatenate([weights, others, fixed.steps - free.steps])


def _bounds(start: AlignConfig, config: FitConfig) -> list[tuple[float | None, float | None]]:
    """Bounds on the numbers that would otherwise reverse their own meaning."""
    # timeline, free (a score), logits of leave and come_back: -6 is a probability of 0.25 %,
    # 0 one of a half, above which leaving the book would be the rule. Quotes stay well below the
    # root mean square of odds (e^-1.5), so that they remain exceptions.
    free: tuple[float | None, float | None] = (None, None)
    turns = [(-6.0, 0.0), (-6.0, 0.0)]
    others = [free, (0.0, config.strongest_timeline), (-8.0, 0.0), *turns, (_LEAST_QUOTES, -1.5)]
    return [free] * len(start.measures) + others + [free] * len(STEPS)


# Between the weights and the steps: bias, timeline, free, logits of leave and come_back, and the
# log of elsewhere.
_OTHERS = 6
_LEAST_QUOTES = -12.0  # the lowest log of elsewhere, and that of a start without quotes


def _to_vector(config: AlignConfig) -> NDArray[np.float64]:
    """All numbers that are fitted, as one vector."""
    steps = config.steps
    assert steps is not None
    shares = np.array([getattr(steps, name) for name in STEPS])
    logs = np.log(np.maximum(shares, 1e-6))
    weights = [config.weights[name] for name in config.measures]
    turns = [np.log(share / (1 - share)) for share in (steps.leave, steps.come_back)]
    quotes = math.log(max(steps.elsewhere, math.exp(_LEAST_QUOTES)))
    others = [config.bias, steps.timeline, steps.free, *turns, quotes]
    return np.array([*weights, *others, *(logs - logs.mean())])


def _from_vector(start: AlignConfig, values: NDArray[np.float64]) -> AlignConfig:
    measures = start.measures
    bias, timeline, free, leave, come_back, quotes = values[len(measures) :][:_OTHERS].tolist()
    logs = values[-len(STEPS) :]
    # A line search may overshoot; at least e^-12, no step becomes impossible by underflow.
    shares = np.exp(np.maximum(logs - logs.max(), -12))
    named = dict(zip(STEPS, (shares / shares.sum()).tolist(), strict=True))
    assert start.steps is not None
    steps = StepsConfig(
        **named,
        timeline=max(0.0, timeline),
        free=free,
        leave=1 / (1 + math.exp(-leave)),
        come_back=1 / (1 + math.exp(-come_back)),
        elsewhere=math.exp(quotes) if start.steps.elsewhere else 0.0,  # none remain none
    )
    weights = dict(zip(measures, values.tolist(), strict=False))
    return replace(start, weights=weights, bias=bias, steps=steps)


def fit_calibration(
    evidence: NDArray[np.float64], right: NDArray[np.bool_], decay: float = 1.0
) -> CalibrationConfig:
    """The logistic regression from what is known of links, (N, 3), to whether they are right.

    An L2 penalty pulls it towards no change: weight 1 for the link's posterior, 0 for all else. No
    weight is negative: more evidence never makes a link less sure.
    """
    known = np.column_stack([evidence, np.ones(len(evidence))])  # (N, 4)
    signs = np.where(right, 1.0, -1.0)
    start = np.array([1.0, 0.0, 0.0, 0.0])

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = signs * (known @ values)
        pull = values - start
        gradient = known.T @ (-signs * expit(-margin)) + decay * pull
        return float(np.logaddexp(0, -margin).sum() + decay * (pull**2).sum() / 2), gradient

    # The link's own weight stays above 0, so that links keep their order where all else is equal.
    bounds = [(0.05, None), (0, None), (0, None), (None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x.tolist()
    names = [one.name for one in fields(CalibrationConfig)]
    return CalibrationConfig(**dict(zip(names, found, strict=True)))
