"""Described pictures or clips → an embedding of clips and sentences (paper, section 4.2).

```
OUT/data.json        which clips, sentences and features the run is about
OUT/checkpoint.pt    the run so far                        (train/visual_training.py)
OUT/embedding/       the embedding as users run it         (models/visual_semantic.py)
OUT/report.json      settings, and what was measured
```
What was seen in the clips is in the cache, and is not looked at again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from folioreel import __version__
from folioreel.errors import ConfigError
from folioreel.files import write_text
from folioreel.models.frame_features import DEFAULT, load_frame_features
from folioreel.models.word_encoder import EncoderModel, WordEncoder
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.train.clips import DescribedData, Lessons, read_described
from folioreel.train.runs import (
    DeviceName,
    check_pytorch,
    explaining_memory,
    open_run,
    take_up,
    training_seconds,
)

if TYPE_CHECKING:
    from folioreel.train.visual_training import DescribedClips, VisualTraining, VisualTrainingConfig

_STUDENT = "student"


@dataclass(frozen=True, kw_only=True)
class TrainVisualConfig:
    """What a run is told; what is not said here is as `VisualTrainingConfig` has it."""

    features: str = "visual"
    """The kind of frame features: `visual` or `scene`."""
    reader: Literal["attention", "lstm"] = "attention"
    paper: bool = False
    """The paper's own settings: LSTM, all contrasts, gradient descent without momentum."""
    rounds: int = 60
    batch: int = 512
    """Clips a step; all of them where there are fewer."""
    frame_features: str = DEFAULT
    minutes: float | None = None
    """Training ends after so long, looking not counted; None: when the rounds are done."""
    device: DeviceName = "auto"


def train_visual(
    data: Path,
    out: Path,
    settings: TrainVisualConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train an embedding, or go on with a run that was stopped.

    Args:
        data: The folder of Flickr8k, or a table of clips and sentences above its videos.
        out: The run's own folder; one that an earlier run left is taken up.
        settings: Features, reader, limits and the device.
        progress: Told of pictures that were seen, and of rounds.

    Returns:
        What `report.json` holds.

    Raises:
        ConfigError: PyTorch is missing, or `out` holds a run of other settings or data.
        InputError: The data is broken or too small, or `out` cannot be written.
    """
    settings = settings or TrainVisualConfig()
    check_pytorch()
    seconds = training_seconds(settings.minutes)
    encoder = load_frame_features(settings.frame_features)
    if settings.features not in encoder.units:
        raise ConfigError(f"{encoder.name} gives no {settings.features} features")
    described = read_described(data, encoder, progress, views=True)
    open_run(out, described.identity())
    student = EncoderModel.load(_STUDENT)
    training, learned, judged = _prepare(described, student, settings)
    checkpoint = out / "checkpoint.pt"
    take_up(training, checkpoint)
    from folioreel.train.visual_training import fit

    with explaining_memory():
        measured = fit(
            training, learned, judged, seconds=seconds, checkpoint=checkpoint, progress=progress
        )
    report = {
        "package_version": __version__,
        **described.account(),
        "training": asdict(training.config),
        "round": training.round,
        **measured,
    }
    _save(out, training, settings.features, student, report)
    return report


def _prepare(
    described: DescribedData, student: EncoderModel, settings: TrainVisualConfig
) -> tuple[VisualTraining, DescribedClips, DescribedClips]:
    """The run before its first round, what it learns from, and what it is judged by."""
    from folioreel.train.encoders import begin_with_student
    from folioreel.train.sentences import choose_device
    from folioreel.train.visual_training import VisualTraining

    device = choose_device(settings.device)
    learned, judged = (
        _as_tensors(part, settings.features, student).to(device)
        for part in (described.learned, described.judged)
    )
    words = len(student.vocabulary)
    training = VisualTraining(_config(settings, learned, words), device)
    begin_with_student(training.network, student)
    training.start(learned)
    return training, learned, judged


def _as_tensors(lessons: Lessons, kind: str, student: EncoderModel) -> DescribedClips:
    import numpy as np

    from folioreel.train.visual_training import described_clips

    word_ids = WordEncoder(student).word_ids
    views = np.stack([view[kind] for view in lessons.views], axis=1).astype(np.float32)
    ids = [[word_ids(text) for text in texts] for texts in lessons.texts]
    return described_clips(views, ids, student.longest)


def _config(settings: TrainVisualConfig, clips: DescribedClips, words: int) -> VisualTrainingConfig:
    from folioreel.train.visual_semantic import VisualSemanticConfig
    from folioreel.train.visual_training import VisualTrainingConfig, paper_settings

    model = VisualSemanticConfig(
        clip_units=clips.features.shape[1], vocabulary=words, reader=settings.reader
    )
    config = paper_settings(model) if settings.paper else VisualTrainingConfig(model=model)
    return replace(config, rounds=settings.rounds, batch=min(settings.batch, len(clips)))


def _save(
    out: Path,
    training: VisualTraining,
    kind: str,
    student: EncoderModel,
    report: dict[str, Any],
) -> None:
    from folioreel.train.encoders import embedding_model

    reader = training.config.model.reader
    card = "\n".join(
        [
            f"# {out.name}",
            "",
            "Clips and sentences in one space, trained with `folioreel train visual`.",
            "",
            f"- clips: {report['data']['clips']:,}, sentences: {report['data']['sentences']:,}",
            f"- features: {kind} of {report['frame_features']}; reader: {reader}",
            *(f"- held out, {k.replace('_', ' ')}: {v:.4g}" for k, v in report["best"].items()),
        ]
    )
    networks = {f"{kind}-{reader}": training.network.eval()}
    model = embedding_model(out.name, kind, networks, student, report, card + "\n")
    model.save(out / "embedding", replace=True)
    write_text(out / "report.json", json.dumps(report, indent=1) + "\n")
