"""A judged pair: a folder with a book, a film, and which line renders which passage.

    book.txt  film.srt (and film.mp4 …)  film_sentences.tsv  gold.tsv

`film_sentences.tsv` numbers the spoken sentences; `gold.tsv` judges some or all of them: `match`
(the book has a counterpart), `scene` (the exchange plays out there, the line is new) or `none`.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from folioreel.errors import InputError

Verdict = Literal["match", "scene", "none"]
Lines = tuple[int, int]
"""First and last line of a passage, counted from 1."""


@dataclass(frozen=True, kw_only=True)
class SpokenLine:
    """A sentence of the film as the judges numbered it."""

    index: int
    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the judges say of one spoken line."""

    line: int
    verdict: Verdict
    how: str
    """Of a match: verbatim, paraphrase or reported."""
    passages: tuple[Lines, ...]
    """Every place in the book that counts as right; none for `none`."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A judged pair, read from its folder."""

    name: str
    folder: Path
    spoken: tuple[SpokenLine, ...]
    judgements: tuple[Judgement, ...]
    paragraph_lines: tuple[int, ...]
    """The first line of each paragraph of book.txt: a run of lines that are not blank."""

    @property
    def book(self) -> Path:
        """The book's file."""
        return self.folder / "book.txt"

    @property
    def film(self) -> Path:
        """The film's file: the subtitles."""
        return self.folder / "film.srt"


def load_pair(folder: Path) -> Pair:
    """Read one judged pair.

    Raises:
        InputError: A file is missing or a row cannot be read.
    """
    spoken = tuple(
        SpokenLine(
            index=int(row["id"]),
            start_s=float(row["start_s"]),
            end_s=float(row["end_s"]),
            text=row["text"],
        )
        for row in _read_table(folder / "film_sentences.tsv", ("id", "start_s", "end_s", "text"))
    )
    judgements = tuple(
        _judgement(row, folder / "gold.tsv", number)
        for number, row in enumerate(
            _read_table(folder / "gold.tsv", ("id", "verdict", "line_from", "line_to")), 2
        )
    )
    return Pair(
        name=folder.name,
        folder=folder,
        spoken=spoken,
        judgements=judgements,
        paragraph_lines=_paragraph_lines(folder / "book.txt"),
    )


def find_pairs(folder: Path) -> list[Path]:
    """The judged pairs in a folder: itself, or its sub-folders, by name."""
    if not folder.is_dir():
        raise InputError("is not a folder; give a folder of judged pairs", folder)
    if (folder / "gold.tsv").exists():
        return [folder]
    found = sorted(gold.parent for gold in folder.glob("*/gold.tsv"))
    if not found:
        raise InputError(
            "holds no judged pair (a folder with gold.tsv, book.txt, film.srt)", folder
        )
    return found


def _read_table(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except FileNotFoundError:
        raise InputError("is missing; a judged pair needs it", path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path) from error
    missing = [column for column in columns if not rows or rows[0].get(column) is None]
    if missing:
        raise InputError(f"has no column {', '.join(missing)}", path)
    return rows


def _judgement(row: dict[str, str], path: Path, number: int) -> Judgement:
    how = row.get("how") or "-"
    try:
        line = int(row["id"])
        match row["verdict"]:
            case "none":
                return Judgement(line=line, verdict="none", how=how, passages=())
            case "match" | "scene" as verdict:
                first = (int(row["line_from"]), int(row["line_to"]))
                passages = (first, *_alternates(row.get("alternates") or ""))
                return Judgement(line=line, verdict=verdict, how=how, passages=passages)
            case unknown:
                raise ValueError(f"unknown verdict {unknown!r}")
    except ValueError as error:
        raise InputError(f"cannot be read as a judgement ({error})", path, number) from None


def _alternates(field: str) -> tuple[Lines, ...]:
    found = []
    for part in field.split(";"):
        if "-" in part.strip(" -"):
            first, last = part.strip().split("-")[:2]
            found.append((int(first), int(last)))
    return tuple(found)


def _paragraph_lines(path: Path) -> tuple[int, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path) from error
    firsts, inside = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not inside:
            firsts.append(number)
        inside = bool(line.strip())
    return tuple(firsts)
