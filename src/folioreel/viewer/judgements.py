"""A reader's judgements, kept beside the alignment as a judged pair (evaluate/dataset.py).

The source of truth is `journal.jsonl`: append-only, one line per judgement or undo, flushed to disk
before the page is told that a judgement was saved. The files of the dataset format are derived from
it: `gold.tsv`, `film_sentences.tsv`, `book.txt` and `film.json`. Line ids are moment numbers.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.evaluate.dataset import FILM_JSON, write_film_json
from folioreel.files import make_folder, write_text
from folioreel.ingest.book import detect_format, open_book
from folioreel.ingest.source import read_bytes
from folioreel.json_input import parse_json
from folioreel.types import Alignment, Book, Film, Verdict

FORMAT = "folioreel-judgements"
VERSION = 1
JOURNAL = "journal.jsonl"
LOCK = ".lock"  # held while a line is added to the journal
_LOCK_S = 10.0  # adding a line takes milliseconds; a network drive may take longer
Lines = tuple[int, int]  # the first and last line of a sentence in `book.txt`, counted from 1
_GOLD = ("id", "verdict", "how", "line_from", "line_to", "alternates", "note", "kind")


@dataclass(frozen=True, kw_only=True)
class ReaderJudgement:
    """What a reader decided about one moment."""

    moment: int
    verdict: Verdict
    sentence: int | None  # the sentence it renders; None unless the verdict is `match`

    def to_dict(self) -> dict[str, Any]:
        """The form that the page and the journal use."""
        return {"moment": self.moment, "verdict": self.verdict, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, values: Any, alignment: Alignment) -> ReaderJudgement:
        """Check and read a judgement of this alignment.

        Raises:
            ValueError: A value is missing, of the wrong type, or out of range.
        """
        if not isinstance(values, dict):
            raise ValueError("a judgement has a moment, a verdict and a sentence")
        moment, verdict, sentence = (values.get(k) for k in ("moment", "verdict", "sentence"))
        if not _is_index(moment, len(alignment.film.moments)):
            raise ValueError(f"the film has no moment {reprlib.repr(moment)}")
        assert isinstance(moment, int)
        if verdict == "none":
            return cls(moment=moment, verdict="none", sentence=None)
        if verdict != "match":
            raise ValueError(f"unknown verdict {reprlib.repr(verdict)}: match or none")
        if not _is_index(sentence, len(alignment.book.sentences)):
            raise ValueError(f"the book has no sentence {reprlib.repr(sentence)}")
        return cls(moment=moment, verdict="match", sentence=sentence)


class Judgements:
    """A reader's judgements of one alignment, and the folder they are kept in."""

    def __init__(self, alignment: Alignment, folder: Path) -> None:
        """Read existing judgements; nothing is written before the first new one.

        Raises:
            InputError: The folder holds something else, or judgements of another alignment.
        """
        self.folder = folder
        self._alignment = alignment
        self._made: list[ReaderJudgement] = []  # in the order in which they were made
        self.revision = 0
        self._size = 0  # of the journal, in bytes
        if (folder / JOURNAL).exists():
            self._read()
        elif folder.exists() and (
            not folder.is_dir() or any(path.name != LOCK for path in folder.iterdir())
        ):
            raise InputError("is not a folder of judgements; move it elsewhere", folder)

    @property
    def current(self) -> dict[int, ReaderJudgement]:
        """The judgement of each moment that has one."""
        return {judgement.moment: judgement for judgement in self._made}

    def add(self, judgement: ReaderJudgement) -> bool:
        """Save a judgement in the journal; it is on disk when this returns.

        Returns:
            Whether it is new; a judgement that already holds is not written again.
        """
        if self.current.get(judgement.moment) == judgement:
            return False
        self._append({"do": "judge", "judgement": judgement.to_dict()})
        self._made.append(judgement)
        return True

    def is_latest(self) -> bool:
        """Whether no other process has added to the journal."""
        try:
            return (self.folder / JOURNAL).stat().st_size <= self._size
        except OSError:
            return False

    def undo(self) -> int:
        """Undo the last judgement and return its moment. The journal keeps both entries.

        Raises:
            ValueError: There is nothing to undo.
        """
        if not self._made:
            raise ValueError("there is nothing to undo")
        self._append({"do": "undo"})
        return self._made.pop().moment

    def _header(self) -> dict[str, Any]:
        book, film = self._alignment.book, self._alignment.film
        return {
            "format": FORMAT,
            "version": VERSION,
            "book_sha256": book.sha256,
            "film_sha256": film.sha256,
            "sentences": len(book.sentences),
            "moments": len(film.moments),
        }

    def _read(self) -> None:
        path = self.folder / JOURNAL
        data = read_bytes(path)
        # A last line without a newline was never acknowledged: the machine stopped in mid-write.
        self._size = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: self._size].splitlines(), 1):
            try:
                self._take(parse_json(line), number)
            except (ValueError, LookupError, TypeError) as error:
                raise InputError(f"cannot be read ({error})", path, number) from error

    def _take(self, entry: dict[str, Any], number: int) -> None:
        """Replay one line of the journal."""
        if number == 1:
            if entry != self._header():
                raise ValueError(
                    "it is of another book, film or alignment; move the folder elsewhere"
                )
            return
        if entry["do"] == "undo":
            self._made.pop()
        else:
            self._made.append(ReaderJudgement.from_dict(entry["judgement"], self._alignment))
        self.revision = int(entry["revision"])

    def _append(self, entry: dict[str, Any]) -> None:
        """Append a line to the journal; it is on disk when this returns."""
        path = self.folder / JOURNAL
        now = datetime.now(UTC).isoformat(timespec="seconds")
        lines = [{"revision": self.revision + 1, "time": now, **entry}]
        if not self._size:
            lines.insert(0, self._header())
        data = "".join(json.dumps(line) + "\n" for line in lines).encode("ascii")
        make_folder(self.folder)
        with self._locked():
            try:
                with path.open("ab") as file:
                    if os.fstat(file.fileno()).st_size > self._size:
                        self._drop_torn(path, file.fileno())
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                with suppress(OSError):
                    os.truncate(path, self._size)  # a full disk must not leave half a line
                raise InputError(f"cannot be written ({error.strerror or error})", path) from error
        self._size += len(data)
        self.revision += 1

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from the journal, as two of them could save the same revision."""
        from filelock import FileLock, Timeout  # imports asyncio, which the page can do without

        path = self.folder / LOCK
        lock = FileLock(path)
        try:
            lock.acquire(timeout=_LOCK_S)
        except Timeout:
            message = "another `folioreel view` is saving a judgement; try again"
            raise InputError(message, path) from None
        except (OSError, NotImplementedError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot be written ({reason})", path) from error
        try:
            yield
        finally:
            lock.release()

    def _drop_torn(self, path: Path, descriptor: int) -> None:
        """Remove an incomplete last line; a complete one was written by another process."""
        with path.open("rb") as file:
            file.seek(self._size)
            if b"\n" in file.read():
                raise InputError(
                    "another `folioreel view` has saved judgements since; restart this one",
                    path,
                )
        os.ftruncate(descriptor, self._size)

    def write_pair(self) -> None:
        """Write the judgements in the dataset format.

        Raises:
            InputError: A file cannot be written; the journal has all judgements in any case.
        """
        folder, film = self.folder, self._alignment.film
        text, lines = self._book_lines
        # The first three never change.
        if not (folder / "book.txt").exists():
            write_text(folder / "book.txt", text)
        if not (folder / FILM_JSON).exists():
            write_film_json(film, folder / FILM_JSON)
        if not (folder / "film_sentences.tsv").exists():
            write_text(folder / "film_sentences.tsv", _numbered_lines(film))
        rows = ["\t".join(_GOLD)]
        for moment, judgement in sorted(self.current.items()):
            first, last = ("-", "-") if judgement.sentence is None else lines[judgement.sentence]
            kind = film.moments[moment].kind
            rows.append(f"{moment}\t{judgement.verdict}\t-\t{first}\t{last}\t-\t-\t{kind}")
        write_text(folder / "gold.tsv", "\n".join(rows) + "\n")

    @cached_property
    def _book_lines(self) -> tuple[str, list[Lines]]:
        return book_lines(self._alignment.book)


def _numbered_lines(film: Film) -> str:
    """The moments as the rows of `film_sentences.tsv`; silent ones have no text."""
    rows = [
        f"{m.index}\t{m.start_s:.3f}\t{m.end_s:.3f}\t{' '.join(m.text.split())}"
        for m in film.moments
    ]
    return "\n".join(["id\tstart_s\tend_s\ttext", *rows]) + "\n"


def judgements_folder(alignment: Path) -> Path:
    """Where the judgements of an alignment are kept: `judged`, beside `alignment.json`."""
    name = "judged" if alignment.stem == "alignment" else f"{alignment.stem}-judged"
    return alignment.parent / name


def _is_index(value: Any, size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def book_lines(book: Book) -> tuple[str, list[Lines]]:
    """A book as plain text, and the lines of each sentence in it.

    A plain-text book is taken as it is. Any other is written out with one sentence per line and a
    blank line between paragraphs.
    """
    kept = [(s.line, s.line_end) for s in book.sentences]
    known = [(first, last) for first, last in kept if first is not None and last is not None]
    if book.path is not None and len(known) == len(kept):
        file = open_book(book.path)
        if detect_format(file) == "plain text":
            return file.text, known
    written: list[str] = []
    lines: list[Lines] = []
    for paragraph in book.paragraphs:
        for j in paragraph.sentences:
            written.append(" ".join(book.sentences[j].text.split()))
            lines.append((len(written), len(written)))
        written.append("")
    return "\n".join(written), lines
