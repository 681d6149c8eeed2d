"""Described pictures or clips → a captioner.

The run's folder is as that of `train_visual`, with `captioner/` (models/captioner.py) in it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from folioreel import __version__
from folioreel.errors import InputError
from folioreel.files import write_text
from folioreel.models.captioner import Captioner
from folioreel.models.frame_features import DEFAULT, load_frame_features
from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.train.clips import Lessons, read_described
from folioreel.train.runs import (
    DeviceName,
    check_pytorch,
    explaining_memory,
    open_run,
    take_up,
    training_seconds,
)

if TYPE_CHECKING:
    import torch

    from folioreel.train.captioner import Captioned, CaptionTraining, CaptionTrainingConfig

_BEAM = 5
_LENGTH_POWER = 0.0
_LONGEST = 24


@dataclass(frozen=True, kw_only=True)
class TrainCaptionConfig:
    """What a run is told; what is not said here is as `CaptionTrainingConfig` has it."""

    passes: int = 25
    batch: int = 128
    """Sentences a step."""
    frame_features: str = DEFAULT
    minutes: float | None = None
    """Training ends after so long, looking not counted; None: when the passes are done."""
    device: DeviceName = "auto"


def train_caption(
    data: Path,
    out: Path,
    settings: TrainCaptionConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train a captioner, or go on with a run that was stopped.

    Args:
        data: The folder of Flickr8k, or a table of clips and sentences above its videos.
        out: The run's own folder; one that an earlier run left is taken up.
        settings: Limits and the device.
        progress: Told of pictures that were seen, and of passes.

    Returns:
        What `report.json` holds.

    Raises:
        ConfigError: PyTorch is missing, or `out` holds a run of other settings or data.
        InputError: The data is broken or too small, or `out` cannot be written.
    """
    settings = settings or TrainCaptionConfig()
    check_pytorch()
    from folioreel.train.captioner import CaptionTraining, caption_words, fit_captioner
    from folioreel.train.sentences import choose_device

    seconds = training_seconds(settings.minutes)
    device = choose_device(settings.device)
    encoder = load_frame_features(settings.frame_features)
    described = read_described(data, encoder, progress)
    open_run(out, described.identity())
    vocabulary = caption_words(described.learned.texts)
    if len(vocabulary) == len(SPECIAL_TOKENS):
        raise InputError("holds no word four times; give more sentences", data)
    units = sum(encoder.units.values())
    training = CaptionTraining(_config(settings, len(vocabulary), units), device)
    checkpoint = out / "checkpoint.pt"
    take_up(training, checkpoint)
    learned, judged = (
        _as_tensors(part, vocabulary, device) for part in (described.learned, described.judged)
    )
    with explaining_memory():
        measured = fit_captioner(
            training, learned, judged, seconds=seconds, checkpoint=checkpoint, progress=progress
        )
    report = {
        "package_version": __version__,
        **described.account(),
        "training": asdict(training.config),
        "passes": training.passes,
        **measured,
    }
    _save(out, training, tuple(encoder.units), vocabulary, report)
    return report


def _config(settings: TrainCaptionConfig, words: int, units: int) -> CaptionTrainingConfig:
    from folioreel.train.captioner import CaptionerConfig, CaptionTrainingConfig

    model = CaptionerConfig(vocabulary=words, picture_units=units)
    return CaptionTrainingConfig(model=model, passes=settings.passes, batch=settings.batch)


def _as_tensors(lessons: Lessons, vocabulary: Vocabulary, device: torch.device) -> Captioned:
    from folioreel.train.captioner import caption_ids
    from folioreel.train.visual_training import described_clips

    features = np.hstack([lessons.features(kind) for kind in lessons.views[0]])
    ids = [[caption_ids(text, vocabulary) for text in texts] for texts in lessons.texts]
    clips = described_clips(features[:, None], ids, _LONGEST).to(device)
    return clips.features, clips.ids, clips.clip_of


def _save(
    out: Path,
    training: CaptionTraining,
    kinds: tuple[str, ...],
    vocabulary: Vocabulary,
    report: dict[str, Any],
) -> None:
    from folioreel.train.captioner import stored_weights

    card = "\n".join(
        [
            f"# {out.name}",
            "",
            "Writes a sentence for a picture; trained with `folioreel train caption`.",
            "",
            f"- clips: {report['data']['clips']:,}, sentences: {report['data']['sentences']:,}",
            f"- features: {' and '.join(kinds)} of {report['frame_features']}",
            *(f"- held out, {name}: {value:.4g}" for name, value in report["best"].items()),
        ]
    )
    model = Captioner(
        name=out.name,
        features=kinds,
        vocabulary=vocabulary,
        weights=stored_weights(training.network.weights()),
        beam=_BEAM,
        length_power=_LENGTH_POWER,
        training=report,
        card=card + "\n",
    )
    model.save(out / "captioner", replace=True)
    write_text(out / "report.json", json.dumps(report, indent=1) + "\n")
