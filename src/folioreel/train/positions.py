"""Learning what a cell's score is made of, and how films move through books, from judged lines.

Maximum likelihood with hidden nodes (paper, section 4.4): most moments have no judgement. The
gradient is the difference of two exact expectations, with the judged moments fixed and without.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from folioreel.alignment.positions import Fixed, follow_book, timeline_distance
from folioreel.config import STEPS, AlignConfig, StepsConfig
from folioreel.progress import Progress, ProgressCallback, ignore_progress


@dataclass(frozen=True, kw_only=True, eq=False)
class Lesson:
    """A film and its book as measures, with what the judges said of some moments."""

    planes: NDArray[np.float32]
    """(M, I, J)."""
    silent: NDArray[np.bool_]
    """(I,)."""
    times: NDArray[np.float32]
    """From 0 at the first moment to 1 at the last: (I,)."""
    fixed: Mapping[int, Fixed]

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
    """How the numbers are fitted."""

    iterations: int = 25
    weight_decay: float = 1.0
    """Pulls measures' weights to 0: half of it times their squares."""
    strongest_timeline: float = 0.05
    """The judged films are plays, which keep to the book's order; other films leap more."""
    step_decay: float = 0.1
    """Pulls the logarithms of the steps' shares together."""


def fit_positions(
    lessons: Sequence[Lesson],
    start: AlignConfig,
    config: FitConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> AlignConfig:
    """The weights, the bias and the shares of steps that make the judgements likeliest."""
    config = config or FitConfig()
    done = 0

    def count(_: object) -> None:
        nonlocal done
        done += 1
        progress(Progress(stage="fitting", done=done, total=config.iterations))

    found = minimize(
        lambda values: _objective(lessons, start, values, config),
        _to_vector(start),
        jac=True,
        method="L-BFGS-B",
        bounds=_bounds(start, config),
        callback=count,
        options={"maxiter": config.iterations, "maxcor": 20},
    )
    return _from_vector(start, found.x)


def log_likelihood(lesson: Lesson, config: AlignConfig) -> float:
    """How likely a film's judgements are."""
    assert config.steps is not None
    scores = lesson.scores(config)
    fixed = follow_book(scores, lesson.times, config.steps, lesson.fixed)
    return fixed.log_partition - follow_book(scores, lesson.times, config.steps).log_partition


def _objective(
    lessons: Sequence[Lesson], start: AlignConfig, values: NDArray[np.float64], config: FitConfig
) -> tuple[float, NDArray[np.float64]]:
    """What is minimised, and its gradient."""
    present = _from_vector(start, values)
    with ThreadPoolExecutor(2) as threads:
        parts = list(threads.map(lambda lesson: _lesson_gradient(lesson, present), lessons))
    likelihood = sum(part[0] for part in parts)
    gradient = np.sum([part[1] for part in parts], axis=0)
    weights, steps = values[: -len(STEPS) - _OTHERS], values[-len(STEPS) :]
    penalty = config.weight_decay * (weights**2).sum() + config.step_decay * (steps**2).sum()
    gradient[: len(weights)] -= config.weight_decay * weights
    gradient[-len(STEPS) :] -= config.step_decay * steps
    return penalty / 2 - likelihood, -gradient


def _lesson_gradient(lesson: Lesson, config: AlignConfig) -> tuple[float, NDArray[np.float64]]:
    """The log-likelihood of one film's judgements, and its gradient."""
    assert config.steps is not None
    scores = lesson.scores(config)
    free = follow_book(scores, lesson.times, config.steps)
    fixed = follow_book(scores, lesson.times, config.steps, lesson.fixed)
    # d log Z / d score is the chance that the cell is rendered.
    surplus = fixed.rendered - free.rendered  # (I, J)
    weights = lesson.planes.reshape(len(lesson.planes), -1) @ surplus.ravel()
    likelihood = fixed.log_partition - free.log_partition
    distance = timeline_distance(lesson.times, scores.shape[1])
    pull = np.vdot(free.position - fixed.position, distance)
    others = [
        surplus.sum(dtype=np.float64),
        pull,
        fixed.rendered_freely - free.rendered_freely,
        *_passage_gradient(fixed.passages - free.passages, config.steps),
    ]
    # Both films take the same number of steps, so that the shares' sum needs no care.
    return likelihood, np.concatenate([weights, others, fixed.steps - free.steps])


def _passage_gradient(surplus: NDArray[np.float64], steps: StepsConfig) -> tuple[float, float]:
    """By the log odds of leaving the book, and of coming back."""
    (stay, leave), (come_back, stay_free) = surplus
    return (
        float(leave * (1 - steps.leave) - stay * steps.leave),
        float(come_back * (1 - steps.come_back) - stay_free * steps.come_back),
    )


def _bounds(start: AlignConfig, config: FitConfig) -> list[tuple[float | None, float | None]]:
    """All numbers are free but those that would turn the meaning of others around."""
    free: tuple[float | None, float | None] = (None, None)
    others = [free, (0.0, config.strongest_timeline), (-8.0, 0.0), (-6.0, 0.0), (-6.0, 0.0)]
    return [free] * len(start.measures) + others + [free] * len(STEPS)


_OTHERS = 5
"""Between the weights and the steps: bias, timeline, free, log odds of leave and come_back."""


def _to_vector(config: AlignConfig) -> NDArray[np.float64]:
    """All numbers that are learned, as one vector."""
    steps = config.steps
    assert steps is not None
    shares = np.array([getattr(steps, name) for name in STEPS])
    logs = np.log(np.maximum(shares, 1e-6))
    weights = [config.weights[name] for name in config.measures]
    turns = [np.log(share / (1 - share)) for share in (steps.leave, steps.come_back)]
    others = [config.bias, steps.timeline, steps.free, *turns]
    return np.array([*weights, *others, *(logs - logs.mean())])


def _from_vector(start: AlignConfig, values: NDArray[np.float64]) -> AlignConfig:
    measures = start.measures
    bias, timeline, free, leave, come_back = values[len(measures) :][:_OTHERS].tolist()
    logs = values[-len(STEPS) :]
    shares = np.exp(np.maximum(logs - logs.max(), -12))  # a search may try anything
    named = dict(zip(STEPS, (shares / shares.sum()).tolist(), strict=True))
    steps = StepsConfig(
        **named,
        timeline=max(0.0, timeline),
        free=free,
        leave=1 / (1 + math.exp(-leave)),
        come_back=1 / (1 + math.exp(-come_back)),
    )
    weights = dict(zip(measures, values.tolist(), strict=False))
    return replace(start, weights=weights, bias=bias, steps=steps)


def fit_calibration(
    odds: NDArray[np.float64], right: NDArray[np.bool_], decay: float = 1.0
) -> tuple[float, float]:
    """Slope and offset of a logistic regression from links' log odds to whether they are right."""

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = np.where(right, 1.0, -1.0) * (values[0] * odds + values[1])
        error = -np.where(right, 1.0, -1.0) / (1 + np.exp(margin))
        pull = values - np.array([1.0, 0.0])
        gradient = np.array([(error * odds).sum(), error.sum()]) + decay * pull
        return float(np.logaddexp(0, -margin).sum() + decay * (pull**2).sum() / 2), gradient

    slope, offset = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
    return max(0.05, float(slope)), float(offset)
