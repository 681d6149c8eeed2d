"""`folioreel train visual` and `train caption`: described clips → the models of section 4.2.

The data is the folder of Flickr8k, whose train and dev splits are used, or a table of clips and
sentences (LSMDC, MPII-MD) in the folder of its videos, of which every tenth clip is held out. The
run's folder (runs.py) also has `embedding/` (models/visual_semantic.py) or `captioner/`
(models/captioner.py). The features of the pictures are cached, and not computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from folioreel import __version__
from folioreel.errors import ConfigError, InputError
from folioreel.ingest.clip_features import (
    ClipFeatures,
    PictureEncoder,
    View,
    picture_features,
    video_features,
)
from folioreel.ingest.descriptions import (
    DescribedClip,
    find_names,
    is_flickr8k,
    read_clip_table,
    read_flickr8k,
    read_pictures,
    replace_names,
)
from folioreel.models.captioner import Captioner
from folioreel.models.frame_features import DEFAULT, load_frame_features
from folioreel.models.vocabulary import SPECIAL_TOKENS
from folioreel.models.word_encoder import WordEncoder
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.train.captioner import (
    CaptionerConfig,
    CaptionTraining,
    CaptionTrainingConfig,
    caption_ids,
    caption_words,
    stored_weights,
)
from folioreel.train.loop import choose_device
from folioreel.train.onnx import embedding_model
from folioreel.train.runs import CHECKPOINT, REPORT, RunSettings, model_card, open_run, write_json
from folioreel.train.visual_semantic import VisualSemanticConfig
from folioreel.train.visual_training import (
    DescribedClips,
    VisualTraining,
    VisualTrainingConfig,
    described_clips,
    paper_settings,
    start_network,
)

_FORMAT = "folioreel-described-clips"
_HELD_OUT_EVERY = 10
# As in the shipped captioner, for which the dev split of Flickr8k decided (training/).
_BEAM = 5
_LENGTH_POWER = 0.0
# Twice the length of a usual caption; longer ones are cut.
_LONGEST_CAPTION = 24


@dataclass(frozen=True, kw_only=True)
class ClipSettings(RunSettings):
    """What `train visual` and `train caption` have in common."""

    frame_features: str = DEFAULT
    """The network that computes the features of pictures."""


@dataclass(frozen=True, kw_only=True)
class TrainVisualConfig(ClipSettings):
    """The settings of `train visual`; the others are the defaults of `VisualTrainingConfig`."""

    features: str = "visual"
    """The kind of frame features: `visual` or `scene`."""
    reader: Literal["attention", "lstm"] = "attention"
    paper: bool = False
    """Whether to use the paper's own settings (`paper_settings`)."""
    epochs: int = 60
    batch: int = 512
    """Clips per step; all of them if there are fewer."""


@dataclass(frozen=True, kw_only=True)
class TrainCaptionConfig(ClipSettings):
    """The settings of `train caption`; the others are those of `CaptionTrainingConfig`."""

    epochs: int = 25
    batch: int = 128
    """Sentences per step."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClipData:
    """Described clips; those to train on come first, the others are held out."""

    views: tuple[ClipFeatures, ...]
    """Features by kind, (N, units): of the whole clips, and perhaps of crops."""
    texts: tuple[tuple[str, ...], ...]
    """Sentences about each clip; for training, with names replaced by `someone`."""
    training: int
    """The number of clips to train on."""
    identity: dict[str, Any]
    """What must not change between the parts of a run."""
    summary: dict[str, Any]
    """What a report says about the data."""

    def tensors(
        self, kinds: Sequence[str], word_ids: Callable[[str], list[int]], longest: int
    ) -> tuple[DescribedClips, DescribedClips]:
        """Training and held-out examples: some kinds of features side by side, and word ids."""
        rows = [np.hstack([view[kind] for kind in kinds]) for view in self.views]
        views = np.stack(rows, axis=1).astype(np.float32)
        ids = [[word_ids(text) for text in texts] for texts in self.texts]
        count = self.training
        # Crops are for training alone: models are used on whole pictures.
        held_out = described_clips(views[count:, :1], ids[count:], longest)
        return described_clips(views[:count], ids[:count], longest), held_out


def train_visual(
    source: Path,
    out: Path,
    settings: TrainVisualConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train an embedding of clips and sentences in `out`, or continue a run that was stopped.

    Returns:
        The content of `report.json`.

    Raises:
        ConfigError: `out` holds a run with other settings or data.
        InputError: The data is damaged or too small, or `out` cannot be written.
    """
    settings = settings or TrainVisualConfig()
    device, kind = choose_device(settings.device), settings.features
    encoder = load_frame_features(settings.frame_features)
    if kind not in encoder.units:
        raise ConfigError(f"{encoder.name} has no {kind} features; use {', '.join(encoder.units)}")
    data = read_clips(source, encoder, progress, crops=True)
    open_run(out, data.identity)
    student = WordEncoder.load("student")
    clips, held_out = data.tensors([kind], student.word_ids, student.longest)
    config = _visual_config(settings, clips, len(student.vocabulary))
    network = start_network(config, device, student)
    training = VisualTraining(config, network, clips.to(device), held_out.to(device))
    report = _fit(training, data, out, settings, progress)
    summary = "Clips and sentences in one space, trained with `folioreel train visual`."
    card = _card(out.name, summary, report, f"{kind}; reader: {config.model.reader}")
    networks = {f"{kind}-{config.model.reader}": network}
    model = embedding_model(out.name, kind, networks, student, report, card)
    model.save(out / "embedding", replace=True)
    return report


def train_caption(
    source: Path,
    out: Path,
    settings: TrainCaptionConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train a captioner, or continue a run that was stopped; see `train_visual`."""
    settings = settings or TrainCaptionConfig()
    device = choose_device(settings.device)
    encoder = load_frame_features(settings.frame_features)
    data = read_clips(source, encoder, progress)
    open_run(out, data.identity)
    vocabulary = caption_words(data.texts[: data.training])
    if len(vocabulary) == len(SPECIAL_TOKENS):
        raise InputError("has no word that occurs four times; add sentences", source)
    kinds = tuple(encoder.units)
    pictures, held_out = data.tensors(
        kinds, lambda text: caption_ids(text, vocabulary), _LONGEST_CAPTION
    )
    units = sum(encoder.units.values())
    config = CaptionTrainingConfig(
        model=CaptionerConfig(vocabulary=len(vocabulary), picture_units=units),
        epochs=settings.epochs,
        batch=settings.batch,
    )
    training = CaptionTraining(config, pictures.to(device), held_out.to(device))
    report = _fit(training, data, out, settings, progress)
    summary = "Writes a sentence for a picture; trained with `folioreel train caption`."
    model = Captioner(
        name=out.name,
        features=kinds,
        vocabulary=vocabulary,
        weights=stored_weights(training.network.weights()),
        beam=_BEAM,
        length_power=_LENGTH_POWER,
        training=report,
        card=_card(out.name, summary, report, " and ".join(kinds)),
    )
    model.save(out / "captioner", replace=True)
    return report


def _fit(
    training: VisualTraining | CaptionTraining,
    data: ClipData,
    out: Path,
    settings: ClipSettings,
    progress: ProgressCallback,
) -> dict[str, Any]:
    """Train, and write the report."""
    measured = training.fit(
        seconds=settings.seconds, checkpoint=out / CHECKPOINT, progress=progress
    )
    report = {
        "package_version": __version__,
        **data.summary,
        "training": asdict(training.config),
        "epoch": training.done,
        **measured,
    }
    write_json(out / REPORT, report)
    return report


def _card(name: str, summary: str, report: dict[str, Any], features: str) -> str:
    data = report["data"]
    facts = {
        "clips": f"{data['clips']:,}",
        "sentences": f"{data['sentences']:,}",
        "features": f"{report['frame_features']}, {features}",
        **{f"held-out {key}": value for key, value in report["best"].items() if key != "epoch"},
        "best epoch": report["best"].get("epoch"),
    }
    return model_card(name, summary, facts)


def _visual_config(
    settings: TrainVisualConfig, clips: DescribedClips, words: int
) -> VisualTrainingConfig:
    model = VisualSemanticConfig(
        clip_units=clips.features.shape[1], vocabulary=words, reader=settings.reader
    )
    config = paper_settings(model) if settings.paper else VisualTrainingConfig(model=model)
    return replace(config, epochs=settings.epochs, batch=min(settings.batch, len(clips)))


def read_clips(
    source: Path,
    encoder: PictureEncoder,
    progress: ProgressCallback = ignore_progress,
    *,
    crops: bool = False,
) -> ClipData:
    """Read the sentences, and compute the features of the pictures or clips unless cached.

    With `crops`, the middle of each picture is a second view of it.

    Raises:
        InputError: Something is missing or damaged, or there are too few clips.
    """
    if source.is_dir():
        if not is_flickr8k(source):
            raise InputError("has no captions.tsv; give the folder of Flickr8k, or a table", source)
        training, held_out = read_flickr8k(source, "train"), read_flickr8k(source, "dev")
    else:
        training, held_out = _split(read_clip_table(source), source)
    clips = [*training, *held_out]
    names = [clip.clip for clip in clips]
    if source.is_dir():
        views: tuple[View, ...] = ("whole", "middle") if crops else ("whole",)
        features = [
            picture_features(read_pictures(source), names, encoder, view, progress)
            for view in views
        ]
    else:
        features = [video_features(_find_videos(source, names), encoder, progress)]
    people = find_names(text for clip in training for text in clip.texts)
    replaced = [tuple(replace_names(text, people) for text in clip.texts) for clip in training]
    identity, summary = _describe(source, encoder, training, held_out)
    return ClipData(
        views=tuple(features),
        texts=(*replaced, *(clip.texts for clip in held_out)),
        training=len(training),
        identity=identity,
        summary=summary,
    )


def _describe(
    source: Path,
    encoder: PictureEncoder,
    training: Sequence[DescribedClip],
    held_out: Sequence[DescribedClip],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The identity and the summary of some data."""
    content = json.dumps([[clip.clip, *clip.texts] for clip in (*training, *held_out)])
    digest = hashlib.sha256(content.encode("utf-8")).hexdigest()
    header = {"format": _FORMAT, "version": 1}
    identity = {**header, "sentences": digest, "features": encoder.fingerprint}
    sizes = {
        "clips": len(training),
        "sentences": sum(len(clip.texts) for clip in training),
        "held_out_clips": len(held_out),
    }
    summary = {
        "data": {"source": source.name, **sizes, "sha256": digest},
        "frame_features": encoder.name,
        "fingerprint": encoder.fingerprint,
    }
    return identity, summary


def _split(
    clips: list[DescribedClip], table: Path
) -> tuple[list[DescribedClip], list[DescribedClip]]:
    """Training and held-out clips; every tenth is enough to choose the best epoch by."""
    if len(clips) < _HELD_OUT_EVERY:
        raise InputError(
            f"names {len(clips)} clips; at least {_HELD_OUT_EVERY} are needed, because every tenth"
            " is held out",
            table,
        )
    held_out = clips[_HELD_OUT_EVERY - 1 :: _HELD_OUT_EVERY]
    training = [clip for number, clip in enumerate(clips, 1) if number % _HELD_OUT_EVERY]
    return training, held_out


def _find_videos(table: Path, names: Sequence[str]) -> list[Path]:
    """The files of clips, below the table's folder: by path, or by name with or without suffix."""
    there: dict[str, Path] = {}
    for path in sorted(table.parent.rglob("*")):
        if path.is_file() and path != table:
            for name in (path.relative_to(table.parent).as_posix(), path.name, path.stem):
                there.setdefault(name, path)
    missing = [name for name in names if name not in there]
    if missing:
        raise InputError(
            f"names the clip {missing[0]}, which is not in its folder ({len(missing)} missing)",
            table,
        )
    return [there[name] for name in names]
