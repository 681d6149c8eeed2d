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
from folioreel.ingest import clip_features, descriptions
from folioreel.ingest.descriptions import DescribedClip
from folioreel.models.captioner import Captioner
from folioreel.models.frame_features import DEFAULT, load_frame_features
from folioreel.models.vocabulary import SPECIAL_TOKENS
from folioreel.models.word_encoder import WordEncoder
from folioreel.progress import ProgressCallback
from folioreel.train import captioner, runs, visual_training
from folioreel.train.loop import choose_device
from folioreel.train.onnx import embedding_model
from folioreel.train.visual_semantic import VisualSemanticConfig
from folioreel.train.visual_training import DescribedClips, VisualTraining, VisualTrainingConfig

_FORMAT = "folioreel-described-clips"
_HELD_OUT_EVERY = 10
# As in the shipped captioner, for which the dev split of Flickr8k decided (training/).
_BEAM = 5
_LENGTH_POWER = 0.0
# Twice the length of a usual caption; longer ones are cut.
_LONGEST_CAPTION = 24


@dataclass(frozen=True, kw_only=True)
class ClipSettings(runs.RunSettings):
    """What `train visual` and `train caption` have in common."""

    frame_features: str = DEFAULT  # the network that computes the features of pictures


@dataclass(frozen=True, kw_only=True)
class TrainVisualConfig(ClipSettings):
    """The settings of `train visual`; the others are the defaults of `VisualTrainingConfig`."""

    features: str = "visual"  # the kind of frame features: `visual` or `scene`
    reader: Literal["attention", "lstm"] | None = None  # None: attention, or the paper's LSTM
    paper: bool = False  # whether to use the paper's own settings (`paper_settings`)
    epochs: int = 60
    batch: int | None = None
    """Clips per step, or all of them if there are fewer; None: 512, or the paper's 128."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.paper and self.reader == "attention":
            raise ConfigError("the paper's settings have an LSTM; drop --paper or the reader")


@dataclass(frozen=True, kw_only=True)
class TrainCaptionConfig(ClipSettings):
    """The settings of `train caption`; the others are those of `CaptionTrainingConfig`."""

    epochs: int = 25
    batch: int = 128  # sentences per step


@dataclass(frozen=True, kw_only=True, eq=False)
class ClipData:
    """Described clips; those to train on come first, the others are held out."""

    views: Sequence[clip_features.ClipFeatures]  # of the whole clips, and perhaps of crops
    texts: Sequence[tuple[str, ...]]  # of each clip; for training, with `someone` for names
    training: int  # the number of clips to train on
    source: str  # the name of the file or folder
    sha256: str  # of the names of the clips and their sentences
    encoder: clip_features.PictureEncoder

    @property
    def identity(self) -> dict[str, Any]:
        """What must not change between the parts of a run."""
        header = {"format": _FORMAT, "version": 1}
        return {**header, "sentences": self.sha256, "features": self.encoder.fingerprint}

    @property
    def summary(self) -> dict[str, Any]:
        """What a report says about the data."""
        sizes = {
            "clips": self.training,
            "sentences": sum(map(len, self.texts[: self.training])),
            "held_out_clips": len(self.texts) - self.training,
        }
        return {
            "data": {"source": self.source, **sizes, "sha256": self.sha256},
            "frame_features": self.encoder.name,
            "fingerprint": self.encoder.fingerprint,
        }

    def tensors(
        self, kinds: Sequence[str], word_ids: Callable[[str], list[int]], longest: int
    ) -> tuple[DescribedClips, DescribedClips]:
        """Training and held-out examples: some kinds of features side by side, and word ids."""
        rows = [np.hstack([view[kind] for kind in kinds]) for view in self.views]
        views = np.stack(rows, axis=1).astype(np.float32)
        ids = [[word_ids(text) for text in texts] for texts in self.texts]
        count = self.training
        # Crops are for training alone: models are used on whole pictures.
        held_out = visual_training.described_clips(views[count:, :1], ids[count:], longest)
        return visual_training.described_clips(views[:count], ids[:count], longest), held_out


def train_visual(
    source: Path, out: Path, settings: TrainVisualConfig, progress: ProgressCallback
) -> dict[str, Any]:
    """Train an embedding of clips and sentences in `out`, or continue a run that was stopped.

    Returns the content of `report.json`.

    Raises:
        ConfigError: `out` holds a run with other settings or data.
        InputError: The data is damaged or too small, or `out` cannot be written.
    """
    device, kind = choose_device(settings.device), settings.features
    encoder = load_frame_features(settings.frame_features)
    if kind not in encoder.units:
        raise ConfigError(f"{encoder.name} has no {kind} features; use {', '.join(encoder.units)}")
    data = read_clips(source, encoder, progress, ("whole", "middle"))
    runs.open_run(out, data.identity)
    student = WordEncoder.load("student")
    clips, held_out = data.tensors([kind], student.word_ids, student.longest)
    config = visual_config(settings, clips, len(student.vocabulary))
    network = visual_training.start_network(config, device, student)
    training = VisualTraining(config, network, clips.to(device), held_out.to(device))
    report = _fit(training, data, out, settings, progress)
    summary = "Clips and sentences in one space, trained with `folioreel train visual`."
    card = _card(out.name, summary, report, f"{kind}; reader: {config.model.reader}")
    networks = {f"{kind}-{config.model.reader}": network}
    model = embedding_model(out.name, kind, networks, student, report, card)
    model.save(out / "embedding", replace=True)
    return report


def train_caption(
    source: Path, out: Path, settings: TrainCaptionConfig, progress: ProgressCallback
) -> dict[str, Any]:
    """Train a captioner, or continue a run that was stopped; see `train_visual`."""
    device = choose_device(settings.device)
    encoder = load_frame_features(settings.frame_features)
    data = read_clips(source, encoder, progress, ("whole",))
    runs.open_run(out, data.identity)
    vocabulary = captioner.caption_words(data.texts[: data.training])
    if len(vocabulary) == len(SPECIAL_TOKENS):
        raise InputError("has no word that occurs four times; add sentences", source)
    kinds = tuple(encoder.units)
    pictures, held_out = data.tensors(
        kinds, lambda text: captioner.caption_ids(text, vocabulary), _LONGEST_CAPTION
    )
    units = sum(encoder.units.values())
    shape = captioner.CaptionerConfig(vocabulary=len(vocabulary), picture_units=units)
    config = captioner.CaptionTrainingConfig(
        model=shape, epochs=settings.epochs, batch=settings.batch
    )
    training = captioner.CaptionTraining(config, pictures.to(device), held_out.to(device))
    report = _fit(training, data, out, settings, progress)
    summary = "Writes a sentence for a picture; trained with `folioreel train caption`."
    model = Captioner(
        name=out.name,
        features=kinds,
        vocabulary=vocabulary,
        weights=captioner.stored_weights(training.network.weights()),
        beam=_BEAM,
        length_power=_LENGTH_POWER,
        training=report,
        card=_card(out.name, summary, report, " and ".join(kinds)),
    )
    model.save(out / "captioner", replace=True)
    return report


def _fit(
    training: VisualTraining | captioner.CaptionTraining,
    data: ClipData,
    out: Path,
    settings: ClipSettings,
    progress: ProgressCallback,
) -> dict[str, Any]:
    """Train, and write the report."""
    checkpoint = out / runs.CHECKPOINT
    measured = training.fit(seconds=settings.seconds, checkpoint=checkpoint, progress=progress)
    report = {
        "package_version": __version__,
        **data.summary,
        "training": asdict(training.config),
        "epoch": training.done,
        **measured,
    }
    runs.write_json(out / runs.REPORT, report)
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
    return runs.model_card(name, summary, facts)


def visual_config(
    settings: TrainVisualConfig, clips: DescribedClips, words: int
) -> VisualTrainingConfig:
    """How an embedding is trained on some clips, with a vocabulary of so many words."""
    model = VisualSemanticConfig(
        clip_units=clips.features.shape[1], vocabulary=words, reader=settings.reader or "attention"
    )
    config = (
        visual_training.paper_settings(model)
        if settings.paper
        else VisualTrainingConfig(model=model)
    )
    batch = config.batch if settings.batch is None else settings.batch
    return replace(config, epochs=settings.epochs, batch=min(batch, len(clips)))


def read_clips(
    source: Path,
    encoder: clip_features.PictureEncoder,
    progress: ProgressCallback,
    views: Sequence[clip_features.View],
) -> ClipData:
    """Read the sentences, and compute the features of the pictures or clips unless cached."""
    if source.is_dir():
        if not descriptions.is_flickr8k(source):
            raise InputError("has no captions.tsv; give the folder of Flickr8k, or a table", source)
        training = descriptions.read_flickr8k(source, "train")
        clips = [*training, *descriptions.read_flickr8k(source, "dev")]
        read, names = clip_features.picture_features, [clip.clip for clip in clips]
        pictures = descriptions.read_pictures
        features = [read(pictures(source), names, encoder, view, progress) for view in views]
    else:
        training, held_out = _split(descriptions.read_clip_table(source), source)
        clips = [*training, *held_out]
        videos = _find_videos(source, [clip.clip for clip in clips])
        features = [clip_features.video_features(videos, encoder, progress)]
    content = json.dumps([[clip.clip, *clip.texts] for clip in clips])
    digest = hashlib.sha256(content.encode("utf-8")).hexdigest()
    return ClipData(
        views=features,
        texts=_nameless(training) + [clip.texts for clip in clips[len(training) :]],
        training=len(training),
        source=source.name,
        sha256=digest,
        encoder=encoder,
    )


def _nameless(clips: Sequence[DescribedClip]) -> list[tuple[str, ...]]:
    """The sentences about each clip with `someone` in place of names (paper, section 4.2)."""
    names = descriptions.find_names(text for clip in clips for text in clip.texts)
    return [tuple(descriptions.replace_names(text, names) for text in c.texts) for c in clips]


def _split(
    clips: list[DescribedClip], table: Path
) -> tuple[list[DescribedClip], list[DescribedClip]]:
    """Training and held-out clips; every tenth is enough to choose the best epoch by."""
    least = _HELD_OUT_EVERY
    if len(clips) < least:
        reason = f"at least {least} are needed, because every tenth is held out"
        raise InputError(f"names {len(clips)} clips; {reason}", table)
    return [clip for k, clip in enumerate(clips, 1) if k % least], clips[least - 1 :: least]


def _find_videos(table: Path, names: Sequence[str]) -> list[Path]:
    """The files of clips, below the table's folder: by path, or by name with or without suffix."""
    there: dict[str, Path] = {}
    for path in sorted(table.parent.rglob("*")):
        if path.is_file() and path != table:
            for name in (path.relative_to(table.parent).as_posix(), path.name, path.stem):
                there.setdefault(name, path)
    missing = [name for name in names if name not in there]
    if missing:
        reason = f"which is not in its folder ({len(missing)} missing)"
        raise InputError(f"names the clip {missing[0]}, {reason}", table)
    return [there[name] for name in names]
