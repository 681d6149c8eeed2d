"""Which of the books that were read the corpus keeps, and why it leaves out the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from folioreel.corpus.config import CorpusConfig
from folioreel.corpus.fingerprints import SignatureIndex, SketchIndex
from folioreel.corpus.readings import Reading
from folioreel.corpus.records import BookRecord, HeldOutRecord, Status

FindReading = Callable[[str], Reading]
"""Book id → what came of reading it."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A file that may become a book of the corpus, or that must stay out of it."""

    path: str
    id: str = ""
    sha256: str = ""
    problem: str = ""
    """Why it could not even be opened; it has no id then."""


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    status: Status
    reason: str = ""
    duplicate_of: str | None = None


def select_books(
    candidates: Iterable[Candidate],
    held_out: Iterable[Candidate],
    find_reading: FindReading,
    config: CorpusConfig,
) -> Iterator[BookRecord]:
    """Decide on each book in turn, so that of several editions the first is kept.

    Readings are drawn one at a time; of each kept book only its signature stays in memory.
    """
    sketches = _index_held_out(held_out, find_reading)
    signatures = SignatureIndex()
    kept: dict[str, str] = {}  # path -> sha256
    for candidate in candidates:
        reading = _reading(candidate, find_reading)
        verdict = _judge_alone(reading, sketches, config)
        if verdict.status == "kept":
            signature = reading.fingerprint.signature
            likeness = signatures.find_likeness(signature)
            if likeness is not None and likeness.share >= config.duplicate_from:
                same = kept[likeness.name] == candidate.sha256
                words = "the same file" if same else f"{likeness.share:.0%} of the same text"
                verdict = _Verdict(status="duplicate", reason=words, duplicate_of=likeness.name)
            else:
                signatures.add(candidate.path, signature)
                kept[candidate.path] = candidate.sha256
        yield _record(candidate, reading, verdict)


def describe_held_out(
    held_out: Iterable[Candidate], find_reading: FindReading
) -> Iterator[HeldOutRecord]:
    """What the corpus says about the books that it must not hold."""
    for candidate in held_out:
        reading = _reading(candidate, find_reading)
        yield HeldOutRecord(
            path=candidate.path,
            title=_title(candidate, reading),
            sha256=candidate.sha256,
            words=reading.words,
            problem=reading.problem,
        )


def _index_held_out(held_out: Iterable[Candidate], find_reading: FindReading) -> SketchIndex:
    readings = {c.path: _reading(c, find_reading) for c in held_out}
    return SketchIndex(
        {
            path: reading.fingerprint.sketch
            for path, reading in readings.items()
            if not reading.problem
        }
    )


def _judge_alone(reading: Reading, held_out: SketchIndex, config: CorpusConfig) -> _Verdict:
    """What a book's own reading tells."""
    if reading.problem:
        return _Verdict(status="unreadable", reason=reading.problem)
    likeness = held_out.find_likeness(reading.fingerprint.sketch)
    if likeness is not None and likeness.share >= config.held_out_from:
        reason = f"{likeness.share:.0%} of the shorter one's text is in both"
        return _Verdict(status="held out", reason=reason, duplicate_of=likeness.name)
    if reading.words < config.min_words:
        reason = f"{reading.words:,} words, fewer than {config.min_words:,}"
        return _Verdict(status="short", reason=reason)
    return _Verdict(status="kept")


def _reading(candidate: Candidate, find_reading: FindReading) -> Reading:
    if candidate.problem:
        return Reading(problem=candidate.problem)
    return find_reading(candidate.id)


def _record(candidate: Candidate, reading: Reading, verdict: _Verdict) -> BookRecord:
    return BookRecord(
        id=candidate.id,
        title=_title(candidate, reading),
        path=candidate.path,
        sha256=candidate.sha256,
        sentences=reading.sentences,
        words=reading.words,
        status=verdict.status,
        reason=verdict.reason,
        duplicate_of=verdict.duplicate_of,
    )


def _title(candidate: Candidate, reading: Reading) -> str:
    """The title that the book states, or else its file's name."""
    return reading.title or PurePosixPath(candidate.path).stem
