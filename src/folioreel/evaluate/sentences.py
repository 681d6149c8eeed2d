"""Sentence encoders side by side on SICK, with baselines and the published figures."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError
from folioreel.evaluate.baseline_encoders import MeanWordsEncoder, TfidfEncoder, UntrainedEncoder
from folioreel.evaluate.relatedness import (
    SentencePairs,
    Sick,
    agreement,
    fit_relatedness,
    load_sick,
    pair_features,
    pearson_correlation,
)
from folioreel.models.inference import unit_rows
from folioreel.models.sentence_encoder import PRETRAINED, SentenceEncoder, load_encoder
from folioreel.models.word_encoder import EncoderModel
from folioreel.progress import Progress, ProgressCallback, ignore_progress

ENCODERS = ("uni-skip", "bi-skip", "skip-thought", "student")
"""Those that come with the package."""
BASELINES = (TfidfEncoder.name, MeanWordsEncoder.name, UntrainedEncoder.name)

_PUBLISHED = {
    "uni-skip (published)": (0.8477, 0.7780, 0.2872),
    "bi-skip (published)": (0.8405, 0.7696, 0.2995),
    "combine-skip (published)": (0.8584, 0.7916, 0.2687),
}
"""Pearson, Spearman and mean squared error in the skip-thoughts paper (Kiros et al. 2015)."""
_MODEL = "skip-thought"
"""Whose words and sizes the baselines take."""

_logger = logging.getLogger(__name__)


def evaluate_sentences(
    sick: Path,
    encoders: Sequence[str] | None = None,
    progress: ProgressCallback = ignore_progress,
) -> list[dict[str, Any]]:
    """One row for each encoder, and at the end those that were published.

    A row holds `encoder`, `pearson`, `spearman` and `mse` on the test pairs, `cosine_pearson`
    (that of the vectors' plain cosine, with nothing fitted) and `sentences_per_s`; the last two
    are None where published.

    Args:
        sick: The folder of the data set.
        encoders: Names or folders of encoders, or names of baselines; by default all of them.
        progress: Told how far it has come.

    Raises:
        InputError: The data set cannot be read.
        ConfigError: There is no such encoder, or a package that it needs is missing.
        ModelFolderError: The folder of an encoder is missing or damaged.
    """
    data = load_sick(sick)
    names = (*ENCODERS, PRETRAINED, *BASELINES) if encoders is None else tuple(encoders)
    rows = []
    for number, (name, encoder) in enumerate(_open_all(names, data, lenient=encoders is None), 1):
        rows.append({"encoder": name, **judge_encoder(encoder, data, progress)})
        progress(Progress(stage="judging encoders", done=number, total=len(names)))
    return rows + [
        {
            "encoder": name,
            "pearson": pearson,
            "spearman": spearman,
            "mse": mse,
            "cosine_pearson": None,
            "sentences_per_s": None,
        }
        for name, (pearson, spearman, mse) in _PUBLISHED.items()
    ]


def judge_encoder(
    encoder: SentenceEncoder, data: Sick, progress: ProgressCallback = ignore_progress
) -> dict[str, float]:
    """The figures of one encoder."""
    texts = data.sentences()
    begin = time.perf_counter()
    vectors = encoder.encode(texts, progress)
    seconds = time.perf_counter() - begin
    places = {text: row for row, text in enumerate(texts)}
    train, trial, test = (_both_sides(part, vectors, places) for part in data.parts)
    model = fit_relatedness(
        pair_features(*train), data.train.scores, pair_features(*trial), data.trial.scores
    )
    found = agreement(model.predict(pair_features(*test)), data.test.scores)
    first, second = (unit_rows(side).astype(np.float64) for side in test)
    return {
        **asdict(found),
        "cosine_pearson": pearson_correlation(np.sum(first * second, axis=1), data.test.scores),
        "sentences_per_s": len(texts) / max(seconds, 1e-9),
    }


def _both_sides(
    part: SentencePairs, vectors: NDArray[np.float32], places: dict[str, int]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The vectors of the first and of the second sentences of some pairs: (N, units) each."""
    first = vectors[[places[text] for text in part.first]]
    return first, vectors[[places[text] for text in part.second]]


def _open_all(
    names: Sequence[str], data: Sick, *, lenient: bool
) -> Iterator[tuple[str, SentenceEncoder]]:
    for name in names:
        try:
            encoder = _open(name, data)
        except ConfigError as error:
            if not lenient or name != PRETRAINED:
                raise
            _logger.info("%s is left out: %s", name, error)  # it is not installed
            continue
        yield name, encoder


def _open(name: str, data: Sick) -> SentenceEncoder:
    if name not in BASELINES:
        return load_encoder(name)
    if name == TfidfEncoder.name:
        # Fitted on what is trained on, so that it has seen no more than the others.
        return TfidfEncoder((*data.train.first, *data.train.second))
    model = EncoderModel.load(_MODEL)
    if name == MeanWordsEncoder.name:
        return MeanWordsEncoder(model)
    part = model.parts[0]
    return UntrainedEncoder(
        model.vocabulary,
        word_units=part.word_units,
        units=part.units,
        longest=model.longest,
        back_off=model.back_off,
    )
