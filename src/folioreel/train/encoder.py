"""`folioreel train encoder`: pairs of films and books → a sentence encoder that knows their like.

Expectation–maximisation: a preset aligns every pair, the encoder learns from the posteriors, and
with more rounds the preset aligns again with what it has learned. Nobody needs to have judged the
pairs; where somebody did, the judgements count.

The run's folder (runs.py) has `round-1/` and so on, each with `lessons.json`, what the aligner
found, and `checkpoint.pt`; and `encoder/`, the encoder as users run it after the last round.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx
import torch

from folioreel import __version__
from folioreel.alignment.aligner import Aligner
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.files import make_folder
from folioreel.models.transformer_encoder import FORMAT, GRAPH, TOKENIZER, save_transformer
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.reading import read_plain
from folioreel.train import runs
from folioreel.train.lessons import (
    FilmAndBook,
    PieceReader,
    TextLesson,
    align_lesson,
    check_posteriors,
    find_films_and_books,
    read_pair,
)
from folioreel.train.loop import check_least, choose_device
from folioreel.train.onnx import transformer_graph
from folioreel.train.paraphrase import ParaphraseConfig, ParaphraseTraining
from folioreel.train.transformer import Transformer
from folioreel.train.written import Written, read_written

_log = logging.getLogger(__name__)

START = "paraphrase"
_LESSONS = "lessons.json"
_SOURCES = (("films", 0.5), ("written", 0.5))  # shares of the batches where there are both


@dataclass(frozen=True, kw_only=True)
class TrainEncoderConfig(runs.RunSettings):
    """The settings of `train encoder`."""

    preset: str = "default"  # what aligns the pairs
    encoder: str = START  # whose weights training starts from
    steps: int = 500  # in each round
    batch: int = 8  # runs of 32 lines in a step, each of one film
    rate: float = 2e-5  # the highest learning rate
    seed: int = 0
    rounds: int = 1  # of aligning and learning
    written: tuple[Path, ...] = ()  # folders of written adaptations
    novels: Path | None = None  # the folder of the texts they were written from

    def __post_init__(self) -> None:
        """Check the values before any work is done."""
        super().__post_init__()
        check_least(self, 1, "steps", "batch", "rounds")
        check_least(self, 0, "rate", "seed")
        if bool(self.written) != (self.novels is not None):
            raise ConfigError(
                "written adaptations need the texts of their novels; give both --written and"
                " --novels"
            )

    def training(self, longest: int) -> ParaphraseConfig:
        """How each round is trained, for a transformer that reads so many pieces."""
        both = _SOURCES if self.written else ()
        return ParaphraseConfig(
            steps=self.steps,
            groups=self.batch,
            learning_rate=self.rate,
            warm_up=min(100, max(1, self.steps // 10)),
            longest=min(ParaphraseConfig.longest, longest),
            sources=both,
            seed=self.seed,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Material:
    """All that a run learns from."""

    pairs: Sequence[FilmAndBook]
    written: Sequence[Written]


def train_encoder(
    dataset: Path,
    out: Path,
    settings: TrainEncoderConfig,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Fine-tune an encoder on pairs of films and books, or continue a stopped run.

    Returns:
        The content of `report.json`.

    Raises:
        ConfigError: `out` holds a run with other settings or data, or the preset or the encoder
            is not one that can be used here.
        InputError: A file is missing or damaged, or `out` cannot be written.
    """
    device = choose_device(settings.device)
    folder = find_start(settings.encoder)
    graph, reader = read_plain(folder / GRAPH), PieceReader(folder / TOKENIZER)
    longest = open_network(graph).config.longest
    aligner = Aligner.load(settings.preset)
    check_posteriors(aligner)
    later = f"round-{settings.rounds + 1}"
    if (out / later).exists():
        raise ConfigError(
            f"{out} has {later} already; ask for more rounds, or choose another --out"
        )
    material = _read(dataset, settings, progress)
    data = _fingerprints(material, aligner, graph, reader)
    first = Path("round-1")
    runs.open_run(out, data, out / first / _LESSONS, str(first / runs.CHECKPOINT))
    config = settings.training(longest)
    rounds: list[dict[str, Any]] = []
    for number in range(1, settings.rounds + 1):
        if number > 1:  # with what the rounds before have learned
            aligner = Aligner.load(settings.preset, out / "encoder")
        folder = out / f"round-{number}"
        lessons = _lessons(folder / _LESSONS, material.pairs, aligner, progress)
        network = open_network(graph).to(device)
        training = _training(config, network, reader, lessons, material.written)
        rounds.append({"round": number, **_fit(training, lessons, folder, progress)})
        graph = transformer_graph(network).SerializeToString()
        report = _report(settings, config, material, device, rounds)
        save_encoder(out / "encoder", graph, reader.path, longest, report)
    runs.write_json(out / runs.REPORT, report)
    return report


def find_start(encoder: str) -> Path:
    """The folder of the transformer to start from, by its name or the folder itself.

    Raises:
        ConfigError: There is none, or it is another kind of encoder.
    """
    folder = FORMAT.find(encoder)
    if all((folder / name).is_file() for name in (GRAPH, TOKENIZER)):
        return folder
    inside = folder / "encoder"
    if (inside / GRAPH).is_file():
        raise ConfigError(f"{encoder} is a training run, not an encoder; give {inside}")
    raise ConfigError(
        f"{encoder} is no encoder that can be trained here; give {START}, or a folder with"
        f" {GRAPH} and {TOKENIZER} that `folioreel train encoder` wrote"
    )


def open_network(graph: bytes) -> Transformer:
    """The network of a graph; it rounds to bytes as the graph does, between the graph's bounds."""
    try:
        model = onnx.load_from_string(graph)
    except Exception as error:  # of protobuf, which onnx does not wrap
        raise ModelFolderError(f"{GRAPH} is damaged; copy the folder again") from error
    network = Transformer.from_graph(model)
    network.round_to_bytes()
    network.keep_bounds()
    return network


def save_encoder(
    folder: Path, graph: bytes, tokenizer: Path, longest: int, report: dict[str, Any]
) -> None:
    """Write the encoder as `load_encoder` reads it; replaces one of the same kind."""
    facts = {
        "pairs": len(report["pairs"]),
        "judged lines": report["judged_lines"],
        "written lines": report["written"]["lines"],
        "started from": report["encoder"],
        "rounds": len(report["rounds"]),
        "steps in each": report["step"],
    }
    summary = (
        "A sentence encoder, fine-tuned with `folioreel train encoder`. Measure it on judged pairs"
        " that it was not trained on before you rely on it."
    )
    save_transformer(
        folder,
        graph=graph,
        tokenizer=read_plain(tokenizer),
        longest=longest,
        card=runs.model_card("Encoder", summary, facts),
        training=report,
        replace=True,
    )


def _training(
    config: ParaphraseConfig,
    network: Transformer,
    reader: PieceReader,
    lessons: Sequence[TextLesson],
    written: Sequence[Written],
) -> ParaphraseTraining:
    """The training of one round."""
    chosen = [*lessons, *(lesson for one in written for lesson in one.lessons)]
    kept = [reader.lesson(lesson) for one in written for lesson in one.kept]
    taught = [reader.lesson(lesson) for lesson in chosen]
    return ParaphraseTraining(config, network, taught, reader.marks, kept)


def _fit(
    training: ParaphraseTraining,
    lessons: Sequence[TextLesson],
    folder: Path,
    progress: ProgressCallback,
) -> dict[str, Any]:
    """Train one round; what it measured, or for a finished round what it measured then."""
    measured = training.fit(checkpoint=folder / runs.CHECKPOINT, progress=progress)
    earlier = runs.read_json(folder / runs.REPORT)
    if earlier and not measured["steps"]:
        return earlier
    found = [
        0.0 if new else sum(share for _, share in row)
        for lesson in lessons
        for row, new in zip(lesson.targets, lesson.new, strict=True)
    ]
    report = {"lines_found": sum(found) / len(found)}
    report |= {key: measured[key] for key in ("steps", "seconds", "log")}
    runs.write_json(folder / runs.REPORT, report)
    return report


def _read(dataset: Path, settings: TrainEncoderConfig, progress: ProgressCallback) -> _Material:
    """Read the pairs and the written adaptations."""
    folders = find_films_and_books(dataset)
    tracked = track(folders, "reading pairs", progress, name=lambda path: path.name)
    pairs = [read_pair(path) for path in tracked]
    written: list[Written] = []
    if settings.novels is not None:
        written = [read_written(path, settings.novels, progress) for path in settings.written]
    for skipped in filter(None, map(str, written)):
        _log.warning(skipped)
    return _Material(pairs=pairs, written=written)


def _lessons(
    path: Path, pairs: Sequence[FilmAndBook], aligner: Aligner, progress: ProgressCallback
) -> list[TextLesson]:
    """What the aligner finds, or found when the round began."""
    stored = runs.read_json(path).get("lessons")
    if stored is not None:
        return [TextLesson(**lesson) for lesson in stored]
    found = [align_lesson(pair, aligner) for pair in track(pairs, "aligning", progress)]
    make_folder(path.parent)
    runs.write_json(path, {"lessons": [asdict(lesson) for lesson in found]})
    return found


def _fingerprints(
    material: _Material, aligner: Aligner, graph: bytes, reader: PieceReader
) -> dict[str, Any]:
    """What tells the data of a run from other data."""
    read = [
        (
            pair.name,
            [(said.start_s, said.end_s, said.text) for said in pair.film.subtitles],
            [sentence.text for sentence in pair.book.sentences],
            pair.judged,
        )
        for pair in material.pairs
    ]
    return {
        "format": "folioreel-encoder-data",
        "version": 1,
        "pairs": _sha256(read),
        "written adaptations": _sha256([(one.lessons, one.kept) for one in material.written]),
        "preset": _sha256(asdict(aligner.config)),
        "encoder to start from": _sha256((hashlib.sha256(graph).hexdigest(), reader.sha256)),
    }


def _sha256(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8")).hexdigest()


def _report(
    settings: TrainEncoderConfig,
    config: ParaphraseConfig,
    material: _Material,
    device: torch.device,
    rounds: list[dict[str, Any]],
) -> dict[str, Any]:
    lessons = [lesson for one in material.written for lesson in one.lessons]
    return {
        "package_version": __version__,
        "pairs": [pair.name for pair in material.pairs],
        "judged_lines": sum(len(pair.judged) for pair in material.pairs),
        "written": {
            "passages": len(lessons),
            "lines": sum(len(lesson.lines) for lesson in lessons),
            "kept": sum(len(one.kept) for one in material.written),
            "absent": sum(one.absent for one in material.written),
            "changed": sum(one.changed for one in material.written),
        },
        "preset": settings.preset,
        "encoder": settings.encoder,
        "training": asdict(config),
        "device": str(device),
        "step": config.steps,
        "rounds": rounds,
    }
