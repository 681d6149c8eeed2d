"""A reader's judgements, kept beside the alignment as a judged pair (evaluate/dataset.py).

The source of truth is `journal.jsonl`: append-only, one line per judgement or undo, flushed to disk
before the page is told that a judgement was saved. A header names the book and the film that the
lines below it are of; after a new alignment with other moments, another header follows, and the
judgements above it are placed by their times and words. The files of the dataset format are derived
from the journal: `gold.tsv`, `annotations.tsv`, `film_sentences.tsv`, `book.txt` and `film.json`.
Line ids are moment numbers.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.evaluate.dataset import ANNOTATIONS, FILM_JSON, write_film_json
from folioreel.files import make_folder, write_text
from folioreel.ingest.book import detect_format, open_book
from folioreel.ingest.source import read_bytes
from folioreel.json_input import parse_json
from folioreel.text import guard_cell
from folioreel.types import Alignment, Book, Film
from folioreel.viewer.judgement import Carrier, ReaderJudgement, describe_place

FORMAT = "folioreel-judgements"
VERSION = 1
JOURNAL = "journal.jsonl"
LOCK = ".lock"  # held while a line is added to the journal
_LOCK_S = 10.0  # adding a line takes milliseconds; a network drive may take longer
Lines = tuple[int, int]  # the first and last line of a sentence in `book.txt`, counted from 1
_GOLD = ("id", "verdict", "how", "line_from", "line_to", "alternates", "note", "kind", "span")
_ANNOTATIONS = ("time_s", "end_s", "line", "line_to", "kind", "note")


class Judgements:
    """A reader's judgements of one alignment, and the folder they are kept in."""

    def __init__(self, alignment: Alignment, folder: Path) -> None:
        """Read existing judgements; nothing is written before the first new one.

        Raises:
            InputError: The folder holds something else, or judgements of another alignment.
        """
        self.folder = folder
        self._alignment = alignment
        # In the order in which they were made, those of one step together, which one undo takes
        # back; None for one that has no place in this alignment.
        self._steps: list[list[ReaderJudgement | None]] = []
        self.revision = 0
        self._is_other = False  # whether the journal's last header is of another alignment
        self._is_same_film = True
        self._has_pair = False  # whether the files that never change have been written
        self._size = 0  # of the journal, in bytes
        if (folder / JOURNAL).exists():
            self._read()
        elif folder.exists() and (
            not folder.is_dir() or any(path.name != LOCK for path in folder.iterdir())
        ):
            raise InputError("is not a folder of judgements; move it elsewhere", folder)

    @property
    def current(self) -> dict[int, ReaderJudgement]:
        """The judgement of each moment that has one, in the order in which they were made.

        Where a later judgement has taken some moments out of an earlier one, the earlier holds for
        the others.
        """
        made = list(chain.from_iterable(self._steps))
        latest: dict[int, int] = {}
        for k, judgement in enumerate(made):
            latest |= dict.fromkeys(judgement.moments if judgement else (), k)
        held = []
        for k, run in groupby(sorted(latest), key=latest.__getitem__):
            moments, judgement = list(run), made[k]
            assert judgement is not None
            held.append((k, judgement.within(moments[0], moments[-1])))
        held.sort(key=lambda found: found[0])
        return {moment: judgement for _, judgement in held for moment in judgement.moments}

    @property
    def unplaced(self) -> int:
        """How many judgements have no place in this alignment; the journal keeps them."""
        return sum(step.count(None) for step in self._steps)

    def add(self, *judgements: ReaderJudgement) -> list[ReaderJudgement]:
        """Save judgements in the journal as one step; they are on disk when this returns.

        Returns:
            Those that are new; a judgement that already holds is not written again.
        """
        current = self.current
        new = [one for one in judgements if any(current.get(i) != one for i in one.moments)]
        entries: list[dict[str, Any]] = [
            {
                "do": "judge",
                "judgement": judgement.to_dict(),
                "place": describe_place(judgement, self._alignment),
            }
            for judgement in new
        ]
        for entry in entries[1:]:
            entry["with_last"] = True
        if new:
            self._append(*entries)
            self._steps.append([*new])
        return new

    def is_latest(self) -> bool:
        """Whether no other process has added to the journal."""
        try:
            return (self.folder / JOURNAL).stat().st_size <= self._size
        except OSError:
            return False

    def undo(self) -> list[int]:
        """Undo the last step and return its moments. The journal keeps all entries.

        Raises:
            ValueError: There is nothing to undo.
        """
        if not self._steps:
            raise ValueError("there is nothing to undo")
        self._append(*({"do": "undo"} for _ in self._steps[-1]))  # one for each judgement
        undone = self._steps.pop()
        return sorted({moment for judgement in undone if judgement for moment in judgement.moments})

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
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise InputError(f"cannot be read ({error})", path, number) from error

    def _take(self, entry: dict[str, Any], number: int) -> None:
        """Replay one line of the journal."""
        if number == 1 or "format" in entry:
            return self._take_header(entry)
        if entry["do"] == "undo":
            self._steps[-1].pop()
            if not self._steps[-1]:
                self._steps.pop()
        elif entry.get("with_last") and self._steps:
            self._steps[-1].append(self._judgement_in(entry))
        else:
            self._steps.append([self._judgement_in(entry)])
        self.revision = int(entry["revision"])
        return None

    def _judgement_in(self, entry: dict[str, Any]) -> ReaderJudgement | None:
        """The judgement of a line of the journal; None if it has no place in this alignment."""
        if not self._is_other:
            return ReaderJudgement.from_dict(entry["judgement"], self._alignment)
        if "place" not in entry:
            raise ValueError(
                "an older folioreel judged other moments of this film; move the folder elsewhere"
            )
        return self._carrier.carry(
            entry["judgement"], entry["place"], is_same_film=self._is_same_film
        )

    def _take_header(self, entry: Any) -> None:
        ours = self._header()
        self._is_other = entry != ours
        if not self._is_other:
            return
        # Another alignment of the same film, or another film of the same book; never two strangers.
        keys = ("book_sha256", "film_sha256")
        same = [isinstance(entry, dict) and entry.get(k) == ours[k] for k in keys]
        if not any(same) or (entry["format"], entry["version"]) != (FORMAT, VERSION):
            raise ValueError("it is of another book and film; move the folder elsewhere")
        self._is_same_film = same[1]

    @cached_property
    def _carrier(self) -> Carrier:
        return Carrier(self._alignment)

    def _append(self, *entries: dict[str, Any]) -> None:
        """Append lines to the journal; they are on disk when this returns."""
        path = self.folder / JOURNAL
        now = datetime.now(UTC).isoformat(timespec="seconds")
        lines: list[dict[str, Any]] = [
            {"revision": revision, "time": now, **entry}
            for revision, entry in enumerate(entries, self.revision + 1)
        ]
        if not self._size or self._is_other:
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
        self._is_other = False
        self.revision += len(entries)

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
        if not self._has_pair:
            write_text(folder / "book.txt", text)
            write_film_json(film, folder / FILM_JSON)
            write_text(folder / "film_sentences.tsv", _numbered_lines(film))
            self._has_pair = True
        current = self.current
        rows, spans = ["\t".join(_GOLD)], io.StringIO(newline="")
        # As spreadsheets quote: a note may begin with a quotation mark.
        annotations = csv.writer(spans, delimiter="\t", lineterminator="\n")
        annotations.writerow(_ANNOTATIONS)
        for moment, judgement in sorted(current.items()):
            first, last = judgement.sentence, judgement.last_sentence
            kind = judgement.kind_in(film) or film.moments[moment].kind
            place, note = ("-", "-"), guard_cell(judgement.note) if judgement.note else "-"
            if first is not None and last is not None:
                place = (str(lines[first][0]), str(lines[last][1]))
                if moment == judgement.moment:
                    annotations.writerow((*times_of(film, judgement.moments), *place, kind, note))
            span = str(judgement.moment) if len(judgement.moments) > 1 else "-"
            rows.append(
                "\t".join((str(moment), judgement.verdict, "-", *place, "-", note, kind, span))
            )
        write_text(folder / ANNOTATIONS[0], spans.getvalue())
        write_text(folder / "gold.tsv", "\n".join(rows) + "\n")

    @cached_property
    def _book_lines(self) -> tuple[str, list[Lines]]:
        return book_lines(self._alignment.book)


def times_of(film: Film, moments: range) -> tuple[str, str]:
    """Start and end of a run of moments, as `annotations.tsv` has them."""
    end_s = max(film.moments[i].end_s for i in moments)
    return f"{film.moments[moments[0]].start_s:.3f}", f"{end_s:.3f}"


def _numbered_lines(film: Film) -> str:
    """The moments as the rows of `film_sentences.tsv`; silent ones have no text."""
    rows = [
        f"{m.index}\t{m.start_s:.3f}\t{m.end_s:.3f}\t{' '.join(m.text.split())}"
        for m in film.moments
    ]
    return "\n".join(["id\tstart_s\tend_s\ttext", *rows]) + "\n"


def describe_kept(alignment: Alignment, path: Path) -> str:
    """What becomes of the judgements beside an alignment that was written anew; "" without any."""
    folder = judgements_folder(path)
    if not folder.exists():
        return ""
    try:
        kept = Judgements(alignment, folder)
    except InputError as error:
        return str(error)
    placed = len(kept.current)
    lines = []
    if placed:
        moments = f"{placed} judged moment{'s' * (placed != 1)}"
        lines.append(f"kept {moments} in {folder}; `folioreel export` writes the results with them")
    if kept.unplaced:
        lines.append(describe_unplaced(kept))
    return "\n".join(lines)


def describe_unplaced(kept: Judgements) -> str:
    """How many judgements of an earlier alignment have no place in this one."""
    count = kept.unplaced
    have = "judgement has" if count == 1 else "judgements have"
    return (
        f"{count} {have} no place in this alignment, which has different moments or "
        f"sentences; "
        f"{'it stays' if count == 1 else 'they stay'} in {kept.folder / JOURNAL}"
    )


def judgements_folder(alignment: Path) -> Path:
    """Where the judgements of an alignment are kept: `judged`, beside `alignment.json`."""
    name = "judged" if alignment.stem == "alignment" else f"{alignment.stem}-judged"
    return alignment.parent / name


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
