"""The position model fitted to judged films: weights, steps and calibration.

It is maximum likelihood with hidden nodes, since most moments have no judgement (paper, section
4.4). The gradient is exact: expectations with the judged moments fixed, less those without.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from folioreel.alignment.positions import (
    Fixed,
    follow_book,
    quote_shares,
    timeline_distance,
)
from folioreel.config import STEPS, AlignConfig, CalibrationConfig, StepsConfig
from folioreel.progress import Progress, ProgressCallback, ignore_progress


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
