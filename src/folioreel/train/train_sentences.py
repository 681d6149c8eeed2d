"""A corpus → trained sentence vectors: words counted, books packed, skip-thoughts fitted.

```
OUT/data.json        which books and how many words the run is about
OUT/pack/            the corpus as numbers               (corpus/pack.py)
OUT/checkpoint.pt    the run so far                      (train/sentences.py)
OUT/encoder/         the encoder as users run it         (models/store.py)
OUT/report.json      settings, and what was measured
```
Each step is skipped where an earlier run has done it (paper, section 4.1).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.corpus.pack import build_vocabulary, pack_corpus
from folioreel.corpus.reader import Corpus, open_corpus
from folioreel.errors import ConfigError, InputError
from folioreel.files import write_text
from folioreel.ingest.shards import load_shard
from folioreel.models.vocabulary import LARGEST_VOCABULARY, Vocabulary
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.train.runs import (
    DeviceName,
    check_pytorch,
    explaining_memory,
    open_run,
    read_json,
    take_up,
    training_seconds,
)

if TYPE_CHECKING:
    import torch

    from folioreel.train.sentences import Books, Training

_DATA_FORMAT = "folioreel-training-data"
_MOST_HELD_OUT = 10
"""Books that perplexity is measured on, in a large corpus; a tenth of a small one."""


@dataclass(frozen=True, kw_only=True)
class TrainSentencesConfig:
    """What a run is told."""

    units: int = 1024
    """The length of a sentence vector."""
    word_units: int = 320
    vocabulary: int = 20_000
    """The most frequent words that the model knows; the others are one unknown word."""
    bidirectional: bool = False
    batch: int = 512
    """Sentences a step."""
    steps: int = 100_000
    minutes: float | None = None
    """Training ends after so long, packing not counted; None: when the steps are done."""
    device: DeviceName = "auto"

    def __post_init__(self) -> None:
        """Refuse sizes that make no network."""
        for name in ("units", "word_units", "vocabulary", "batch", "steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.vocabulary > LARGEST_VOCABULARY:
            raise ConfigError(f"a vocabulary has at most {LARGEST_VOCABULARY:,} words")
        if self.bidirectional and self.units % 2:
            raise ConfigError("a bi-directional encoder needs an even number of units")
        if self.minutes is not None and not self.minutes > 0:
            raise ConfigError(f"minutes must be above 0, not {self.minutes}")


def train_sentences(
    corpus: Path,
    out: Path,
    settings: TrainSentencesConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train skip-thoughts on a corpus, or go on with a run that was stopped.

    Args:
        corpus: What `build_corpus` wrote.
        out: The run's own folder; one that an earlier run left is taken up.
        settings: Sizes, limits and the device.
        progress: Called as books are packed and steps are done.

    Returns:
        What `report.json` holds. Where no step was left to do, that file stays as it is.

    Raises:
        ConfigError: PyTorch is missing, or `out` holds a run of other settings or books.
        InputError: The corpus is damaged or too small, or `out` cannot be written.
    """
    settings = settings or TrainSentencesConfig()
    check_pytorch()
    from folioreel.train.encoders import skip_thought_encoder
    from folioreel.train.sentences import choose_device

    device = choose_device(settings.device)
    opened = open_corpus(corpus)
    if len(opened.books) < 2:
        raise InputError("holds fewer than two books: one to learn, one to judge by", corpus)
    vocabulary = _prepare_pack(opened, out, settings, progress)
    training = _make_training(settings, len(vocabulary), len(opened.books), device)
    books = _load_books(out / "pack", training, corpus)
    measured = _fit(training, books, out / "checkpoint.pt", settings, progress)
    report = {
        "package_version": __version__,
        "corpus": {
            "folder": str(corpus),
            "books": len(opened.books),
            "sentences": opened.sentence_count,
        },
        "vocabulary": {"words": len(vocabulary), "coverage": vocabulary.coverage},
        "training": asdict(training.config),
        "device": str(device),
        "step": training.step,
        "log": measured.pop("log"),
        "run": measured,
    }
    # A run that took no step has measured nothing: the account of the one before it stays.
    earlier = read_json(out / "report.json") if not measured["steps"] else {}
    kept = earlier.get("step") == training.step
    account = earlier if kept else report
    encoder = skip_thought_encoder(training.model, vocabulary, training.config.longest, account)
    encoder.save(out / "encoder", replace=True)
    if not kept:
        write_text(out / "report.json", json.dumps(report, indent=1) + "\n")
    return report


def read_pack(
    pack: Path,
) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.int64]]:
    """All shards of a pack as one.

    Returns:
        The tokens of all sentences; where each begins, and the end; the book of each, from 0.

    Raises:
        InputError: A shard is missing or damaged.
    """
    shards = [load_shard(pack / name) for name in _shard_sizes(pack)]
    lengths = np.concatenate([shard.lengths for shard in shards])
    # A book that is larger than a shard goes on in the next one, under the same id.
    ids = np.concatenate([np.repeat(shard.book_ids, np.diff(shard.books)) for shard in shards])
    changes = np.concatenate([[False], ids[1:] != ids[:-1]])
    return (
        np.concatenate([shard.tokens for shard in shards]),
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        np.cumsum(changes, dtype=np.int64),
    )


def _prepare_pack(
    corpus: Corpus, out: Path, settings: TrainSentencesConfig, progress: ProgressCallback
) -> Vocabulary:
    """Count words and pack the books, unless an earlier run has done both."""
    pack = out / "pack"
    open_run(out, _describe_data(corpus, settings.vocabulary), pack / "pack.json")
    if not _is_whole(pack):
        vocabulary = build_vocabulary(corpus, settings.vocabulary, progress)
        pack_corpus(corpus, vocabulary, pack, progress=progress)
    return Vocabulary.load(pack / "vocabulary.txt")


def _describe_data(corpus: Corpus, vocabulary: int) -> dict[str, Any]:
    """What the packed books hang on; the version of the package has its part in their texts."""
    ids = "\n".join([corpus.manifest.package_version, *(book.id for book in corpus.books)])
    digest = hashlib.sha256(ids.encode("utf-8")).hexdigest()
    return {"format": _DATA_FORMAT, "version": 1, "books": digest, "vocabulary": vocabulary}


def _is_whole(pack: Path) -> bool:
    """Whether packing came to its end, and nothing was removed or cut since."""
    sizes = _shard_sizes(pack)
    files = {path.name: path.stat().st_size for path in pack.glob("shard-*.npz")}
    return bool(sizes) and sizes == files and (pack / "vocabulary.txt").is_file()


def _shard_sizes(pack: Path) -> dict[str, int]:
    """Name → bytes of each shard in order; nothing if there is no whole pack."""
    shards = read_json(pack / "pack.json").get("shards", [])
    return {shard["file"]: shard["bytes"] for shard in shards}


def _make_training(
    settings: TrainSentencesConfig, words: int, books: int, device: torch.device
) -> Training:
    from folioreel.train.sentences import Training, TrainingConfig
    from folioreel.train.skip_thought import SkipThoughtConfig

    model = SkipThoughtConfig(
        vocabulary=words,
        word_units=settings.word_units,
        units=settings.units,
        bidirectional=settings.bidirectional,
    )
    config = TrainingConfig(
        model=model,
        batch=settings.batch,
        steps=settings.steps,
        held_out_books=min(_MOST_HELD_OUT, max(1, books // 10)),
    )
    return Training(config, device)


def _load_books(pack: Path, training: Training, corpus: Path) -> Books:
    from folioreel.train.sentences import Books

    tokens, offsets, book_of = read_pack(pack)
    books = Books(tokens, offsets, book_of, training.device)
    count = int(book_of[-1]) + 1
    learned = count - training.config.held_out_books
    if not all(len(books.middles(part)) for part in (range(learned), range(learned, count))):
        raise InputError("has books of fewer than three sentences; add longer ones", corpus)
    return books


def _fit(
    training: Training,
    books: Books,
    checkpoint: Path,
    settings: TrainSentencesConfig,
    progress: ProgressCallback,
) -> dict[str, Any]:
    """Train from the checkpoint on, and leave another, also when the user stops it."""
    from folioreel.train.sentences import train

    take_up(training, checkpoint)
    if training.step >= training.config.steps:
        return {"steps": 0, "seconds": 0.0, "log": training.log}
    seconds = training_seconds(settings.minutes)
    try:
        with explaining_memory():
            return train(training, books, seconds=seconds, checkpoint=checkpoint, progress=progress)
    except KeyboardInterrupt:
        # The step that was broken off may be done in part; the next ones make up for that.
        training.save(checkpoint)
        raise
