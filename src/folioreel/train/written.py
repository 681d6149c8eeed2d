"""Written adaptations as lessons: dialogue that somebody wrote for passages of novels.

A folder has a file `*.tsv` for each passage; training/adaptations/README.md describes them. The
text of the novels comes from another folder, and only passages that are the very text the lines
were written from are used.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.book import load_book
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.reading import read_utf8
from folioreel.times import parse_digits
from folioreel.train.lessons import TextLesson, equal_shares

HOW = ("verbatim", "paraphrase", "reported", "scene", "new")
_AROUND = 200  # sentences on each side of a passage that its lines are told from
_KEPT = "kept for testing"
_HEAD = re.compile(
    r"# gutenberg (?P<number>\d+); (?P<title>[^;]+); .*; first sentence (?P<first>\d+); "
    r"sha256 of the (?P<count>\d+) sentences joined by newlines "
    r"(?P<sha256>[0-9a-f]{64});(?P<rest>.*)"
)
# 12260, pg12260, 12260-0: as the files are downloaded.
_NUMBER = re.compile(r"(?:pg)?(\d+)(?:-\d)?")


@dataclass(frozen=True, kw_only=True)
class Written:
    """The lessons of a folder, and what was left out."""

    lessons: tuple[TextLesson, ...]
    kept: tuple[TextLesson, ...]  # marked as kept for testing
    absent: int  # passages of novels that are not there
    changed: int  # passages of novels that are there with another text

    def __str__(self) -> str:
        """What was left out, in one sentence; empty if nothing was."""
        counts = {"of absent novels": self.absent, "of another edition": self.changed}
        parts = [f"{count} {what}" for what, count in counts.items() if count]
        return f"passages skipped: {', '.join(parts)}" if parts else ""


@dataclass(frozen=True, kw_only=True)
class _Adaptation:
    """One file."""

    name: str
    number: int
    title: str
    first: int
    count: int
    sha256: str
    kept: bool
    rows: tuple[tuple[str, str, tuple[int, ...]], ...]  # line, how, sentences


def read_written(
    folder: Path, novels: Path, progress: ProgressCallback = ignore_progress
) -> Written:
    """The lessons of a folder of written adaptations.

    Args:
        folder: The adaptations.
        novels: The novels as text files, named by their Gutenberg number or by title.
        progress: Called after each novel.

    Raises:
        InputError: A folder has no such files, or a file is not in the format.
    """
    paths = sorted(folder.glob("*.tsv"))
    if not paths:
        raise InputError("holds no written adaptations (*.tsv)", folder)
    files = _novel_files(novels)
    lessons: list[TextLesson] = []
    kept: list[TextLesson] = []
    absent = changed = 0
    for path in track(paths, "reading novels", progress, name=lambda path: path.stem):
        adaptation = _read_adaptation(path)
        candidates = _candidates(adaptation, files)
        lesson = next(filter(None, (_lesson(adaptation, novel) for novel in candidates)), None)
        if lesson is not None:
            (kept if adaptation.kept else lessons).append(lesson)
        elif candidates:
            changed += 1
        else:
            absent += 1
    return Written(lessons=tuple(lessons), kept=tuple(kept), absent=absent, changed=changed)


def _read_adaptation(path: Path) -> _Adaptation:
    lines = read_utf8(path).splitlines()
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        raise InputError("does not begin with the line that names the novel", path, 1)
    first, count = parse_digits(head["first"]), parse_digits(head["count"])
    rows = []
    for number, row in enumerate(lines[1:], 2):
        line, how, places = (*row.split("\t"), "", "")[:3]
        sentences = tuple(
            parse_digits(place.strip()) for place in places.split(",") if place.strip().isdecimal()
        )
        inside = all(first <= place < first + count for place in sentences)
        if not line or how not in HOW or bool(sentences) == (how == "new") or not inside:
            raise InputError(
                f"is not a line, how it was made ({', '.join(HOW)}) and sentences of the passage,"
                " separated by tabs",
                path,
                number,
            )
        rows.append((line, how, sentences))
    return _Adaptation(
        name=path.stem,
        number=parse_digits(head["number"]),
        title=_slug(head["title"]),
        first=first,
        count=count,
        sha256=head["sha256"],
        kept=_KEPT in head["rest"],
        rows=tuple(rows),
    )


def _lesson(adaptation: _Adaptation, novel: Path) -> TextLesson | None:
    """The lesson with the sentences of a novel; None if it is another text."""
    sentences = _read_novel(novel)
    first, last = adaptation.first, adaptation.first + adaptation.count
    passage = "\n".join(sentences[first:last]).encode("utf-8")
    if hashlib.sha256(passage).hexdigest() != adaptation.sha256:
        return None
    begin = max(0, first - _AROUND)
    return TextLesson(
        name=adaptation.name,
        source="written",
        lines=tuple(line for line, _, _ in adaptation.rows),
        sentences=sentences[begin : last + _AROUND],
        targets=tuple(
            equal_shares([place - begin for place in places]) for _, _, places in adaptation.rows
        ),
        new=tuple(how in ("scene", "new") for _, how, _ in adaptation.rows),
    )


@lru_cache(maxsize=4)  # the adaptations of a novel follow each other
def _read_novel(path: Path) -> tuple[str, ...]:
    """The sentences of a novel; none if it cannot be read."""
    try:
        return tuple(sentence.text for sentence in load_book(path).sentences)
    except FolioReelError:
        return ()


def _novel_files(folder: Path) -> dict[int | str, list[Path]]:
    """The text files of a folder by number, or by title without the author before it."""
    if not folder.is_dir():
        raise InputError("is not a folder; give the folder of the novels' texts", folder)
    files: dict[int | str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.txt")):
        number = _NUMBER.fullmatch(path.stem)
        files[int(number[1]) if number else _slug(path.stem.split("_")[-1])].append(path)
    if not files:
        raise InputError("holds no texts of novels (*.txt)", folder)
    return files


def _candidates(adaptation: _Adaptation, files: dict[int | str, list[Path]]) -> list[Path]:
    """Files that may be the novel: by number, by title, or by title without the subtitle."""
    found = list(files.get(adaptation.number, ()))
    words = adaptation.title.split("-")
    for count in range(len(words), 0, -1):
        found += files.get("-".join(words[:count]), ())
    return found


def _slug(title: str) -> str:
    plain = title.lower().encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
