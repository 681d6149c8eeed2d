"""`folioreel train sentences`: a corpus → skip-thought sentence vectors (paper, section 4.1).

The run's folder (runs.py) also has `pack/`, the corpus as word ids (corpus/pack.py), and
`encoder/`, the encoder as users run it (models/word_encoder.py). Each step is skipped if an earlier
run has done it.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.corpus.pack import build_vocabulary, pack_corpus
from folioreel.corpus.reader import Corpus, open_corpus
from folioreel.corpus.shards import is_packed, read_pack
from folioreel.errors import ConfigError, InputError
from folioreel.models.vocabulary import LARGEST_VOCABULARY, Vocabulary
from folioreel.models.word_encoder import WordEncoder
from folioreel.progress import ProgressCallback
from folioreel.train import runs, skip_thought
from folioreel.train.loop import check_least, choose_device
from folioreel.train.onnx import encoder_part, skip_thought_graph

_DATA_FORMAT = "folioreel-training-data"
# Perplexity hardly changes with more books than this; of a small corpus, a tenth is held out.
_MOST_HELD_OUT = 10


@dataclass(frozen=True, kw_only=True)
class TrainSentencesConfig(runs.RunSettings):
    """The settings of `train sentences`."""

    units: int = 1024  # the length of a sentence vector
    word_units: int = 320  # the length of a word vector
    vocabulary: int = 20_000
    """The most frequent words, which the model knows; all others are one unknown word."""
    bidirectional: bool = False
    batch: int = 512  # sentences per step
    steps: int = 100_000

    def __post_init__(self) -> None:
        """Check the values before any work is done."""
        super().__post_init__()
        check_least(self, 1, "batch", "steps")
        self.model(self.vocabulary)
        if self.vocabulary > LARGEST_VOCABULARY:
            raise ConfigError(f"vocabulary must be at most {LARGEST_VOCABULARY:,} words")

    def model(self, words: int) -> skip_thought.SkipThoughtConfig:
        """The model for a vocabulary; a small corpus has fewer words than were asked for."""
        return skip_thought.SkipThoughtConfig(
            vocabulary=words,
            word_units=self.word_units,
            units=self.units,
            bidirectional=self.bidirectional,
        )


def train_sentences(
    corpus: Path, out: Path, settings: TrainSentencesConfig, progress: ProgressCallback
) -> dict[str, Any]:
    """Train skip-thoughts on a corpus that `build_corpus` wrote, or continue a stopped run.

    Returns:
        The content of `report.json`, which is not written again if no step was left to take.

    Raises:
        ConfigError: `out` holds a run with other settings or books.
        InputError: The corpus is damaged or too small, or `out` cannot be written.
    """
    device = choose_device(settings.device)
    opened = open_corpus(corpus)
    if len(opened.books) < 2:
        raise InputError("has fewer than two books; one must be held out for validation", corpus)
    vocabulary = _prepare_pack(opened, out, settings, progress)
    books = skip_thought.PackedBooks(*read_pack(out / "pack"), device)
    config = skip_thought.SkipThoughtTrainingConfig(
        model=settings.model(len(vocabulary)),
        batch=settings.batch,
        steps=settings.steps,
        held_out_books=min(_MOST_HELD_OUT, max(1, len(opened.books) // 10)),
    )
    training = skip_thought.SkipThoughtTraining(config, books, device)
    if not len(training.middles) or not len(training.held_out):
        raise InputError("has books of fewer than three sentences; add longer ones", corpus)
    checkpoint = out / runs.CHECKPOINT
    measured = training.fit(seconds=settings.seconds, checkpoint=checkpoint, progress=progress)
    report = _report(opened, corpus, vocabulary, training, measured)
    # A run that took no step has measured nothing: the report of the one before it stays.
    earlier = runs.read_json(out / runs.REPORT) if not measured["steps"] else {}
    kept = earlier.get("step") == training.step
    encoder = skip_thought_encoder(
        training.network, vocabulary, config.longest, earlier if kept else report
    )
    encoder.save(out / "encoder", replace=True)
    if not kept:
        runs.write_json(out / runs.REPORT, report)
    return report


def _report(
    corpus: Corpus,
    folder: Path,
    vocabulary: Vocabulary,
    training: skip_thought.SkipThoughtTraining,
    measured: dict[str, Any],
) -> dict[str, Any]:
    sizes = {"books": len(corpus.books), "sentences": corpus.sentence_count}
    return {
        "package_version": __version__,
        "corpus": {"folder": str(folder), **sizes},
        "vocabulary": {"words": len(vocabulary), "coverage": vocabulary.coverage},
        "training": asdict(training.config),
        "device": str(training.device),
        "step": training.step,
        "log": measured["log"],
        "run": {key: measured[key] for key in ("steps", "seconds", "words_per_second", "epochs")},
    }


def skip_thought_encoder(
    network: skip_thought.SkipThought, vocabulary: Vocabulary, longest: int, report: dict[str, Any]
) -> WordEncoder:
    """The encoder of a skip-thought model, as users run it."""
    name = "bi-skip" if network.config.bidirectional else "uni-skip"
    facts = {
        "books": f"{report['corpus']['books']:,}",
        "sentences": f"{report['corpus']['sentences']:,}",
        "words": f"{len(vocabulary):,}",
        "length of a sentence vector": f"{network.config.units:,}",
        **(report["log"][-1] if report["log"] else {}),
    }
    summary = "A skip-thought sentence encoder, trained with `folioreel train sentences`."
    return WordEncoder(
        name=name,
        vocabulary=vocabulary,
        parts=(encoder_part(name, skip_thought_graph(network), network.words.weight),),
        longest=longest,
        normalize=True,
        training=report,
        card=runs.model_card(name, summary, facts),
    )


def _prepare_pack(
    corpus: Corpus, out: Path, settings: TrainSentencesConfig, progress: ProgressCallback
) -> Vocabulary:
    """Count words and pack the books, unless an earlier run has done both."""
    pack = out / "pack"
    # The package version is part of the data, since it decides how books are split and tokenized.
    ids = "\n".join([corpus.manifest.package_version, *(book.id for book in corpus.books)])
    data = {
        "format": _DATA_FORMAT,
        "version": 1,
        "books": hashlib.sha256(ids.encode("utf-8")).hexdigest(),
        "vocabulary": settings.vocabulary,
    }
    runs.open_run(out, data, derived=pack / "pack.json")
    if not is_packed(pack):
        vocabulary = build_vocabulary(corpus, settings.vocabulary, progress)
        pack_corpus(corpus, vocabulary, pack, progress=progress)
    return Vocabulary.load(pack / "vocabulary.txt")
