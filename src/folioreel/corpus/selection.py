"""Which books a corpus keeps, and why it leaves out the others (paper, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from folioreel.corpus.fingerprints import SignatureIndex, SketchIndex
from folioreel.corpus.manifest import BookRecord, HeldOutRecord
from folioreel.corpus.readings import Reading
from folioreel.corpus.sources import FoundFile
from folioreel.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class CorpusConfig:
    """Which books a corpus keeps, and how it is built."""

    min_words: int = 20_000
    """Shorter books are left out: the paper's bound, against "noisier shorter stories"."""
    duplicate_from: float = 0.3
    """The share of common five-word runs from which two books count as editions of one: 0.83
    after changing 2 % of the words, at most 0.16 for novels by one author (fingerprints.py)."""
    held_out_from: float = 0.1
    """The share of the shorter text from which a book is too much like a held-out one. Stricter
    than for duplicates: a test book leaking into training data costs more than a lost book."""
    exclude: tuple[Path, ...] = ()
    """Folders of books that must stay out, such as those of an evaluation."""
    workers: int | None = 1  # number of processes that read books; see `run_many`

    def __post_init__(self) -> None:
        if self.min_words < 0:
            raise ConfigError(f"corpus.min_words must be 0 or more, not {self.min_words}")
        for name in ("duplicate_from", "held_out_from"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"corpus.{name} must be above 0 and at most 1")
        if self.workers is not None and self.workers < 1:
            raise ConfigError(f"corpus.workers must be at least 1, not {self.workers}")

    def settings(self) -> dict[str, Any]:
        """The settings that decide which books are kept, for the record in `corpus.json`."""
        names = ("min_words", "duplicate_from", "held_out_from")
        return {name: getattr(self, name) for name in names}


GetReading = Callable[[FoundFile], Reading]  # fetched one at a time: signatures take memory


def select_books(
    files: Iterable[FoundFile],
    held_out: Iterable[FoundFile],
    get_reading: GetReading,
    config: CorpusConfig,
) -> Iterator[BookRecord]:
    """Decide on each book in turn, so that the first of several editions is kept."""
    readings = ((file.path, get_reading(file)) for file in held_out)
    # Unreadable ones have no sketch; the report warns that they could not be excluded.
    sketches = SketchIndex(
        {path: reading.fingerprint.sketch for path, reading in readings if not reading.problem}
    )
    signatures = SignatureIndex()
    kept: dict[str, str] = {}  # path -> sha256
    for file in files:
        reading = get_reading(file)
        record = _judge_alone(file, reading, sketches, config)
        if record.status == "kept":
            signature = reading.fingerprint.signature
            match, share = signatures.find_likeness(signature)
            if share >= config.duplicate_from:
                same = kept[match] == file.sha256
                reason = "the same file" if same else f"{share:.0%} of the same text"
                record = replace(record, status="duplicate", reason=reason, duplicate_of=match)
            else:
                signatures.add(file.path, signature)
                kept[file.path] = file.sha256
        yield record


def describe_held_out(
    held_out: Iterable[FoundFile], get_reading: GetReading
) -> Iterator[HeldOutRecord]:
    """What `corpus.json` says about the books that must stay out."""
    for file in held_out:
        reading = get_reading(file)
        yield HeldOutRecord(
            path=file.path,
            title=_title(file, reading),
            sha256=file.sha256,
            words=reading.words,
            problem=reading.problem,
        )


def _judge_alone(
    file: FoundFile, reading: Reading, held_out: SketchIndex, config: CorpusConfig
) -> BookRecord:
    """The record of a book, judged without regard to the other books of the corpus."""
    record = BookRecord(
        id=file.id,
        title=_title(file, reading),
        path=file.path,
        sha256=file.sha256,
        sentences=reading.sentences,
        words=reading.words,
        status="kept",
        language=reading.language,
    )
    if reading.problem:
        return replace(record, status="unreadable", reason=reading.problem)
    match, share = held_out.find_likeness(reading.fingerprint.sketch)
    # Before the length: what was held out must be listed as such, however short it is.
    if share >= config.held_out_from:
        reason = f"{share:.0%} of the shorter text is in both"
        return replace(record, status="held out", reason=reason, duplicate_of=match)
    if reading.words < config.min_words:
        reason = f"{reading.words:,} words, fewer than {config.min_words:,}"
        return replace(record, status="short", reason=reason)
    return record


def _title(file: FoundFile, reading: Reading) -> str:
    """The title that the book states, or else its file name."""
    return reading.title or PurePosixPath(file.path).stem
