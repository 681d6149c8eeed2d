"""A judged pair: a folder with a book, a film, and which line renders which passage.

    book.txt  film.srt (and film.mp4 …) or film.json  and one of
    gold.tsv with film_sentences.tsv     lines of the film that readers looked up in the book
    annotations.tsv (or .csv)            places that match, as the paper's annotators wrote them

`film_sentences.tsv` numbers the spoken sentences (a row without text is a silent shot); `gold.tsv`
judges some or all of them: `match` (the book has a counterpart), `scene` (the exchange plays out
there, the line is new) or `none`.

`annotations.tsv` holds a time of the film and a line of the book (paper, section 3): the columns
`time_s` (seconds, or h:mm:ss) and `line`, and where they are known `end_s`, `line_to` and `kind`
(dialogue, visual or audio). A table of two columns needs no head. What it leaves out may match too,
so that such a pair has matches alone.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from folioreel.errors import InputError
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film

Verdict = Literal["match", "scene", "none"]
JudgedKind = Literal["dialogue", "visual", "audio"]
Lines = tuple[int, int]
"""First and last line of a passage, counted from 1."""

FILM_JSON = "film.json"
"""A film as it was read (film_json.py); where it lies in a pair's folder, it is the pair's film."""
ANNOTATIONS = ("annotations.tsv", "annotations.csv")
_VIDEOS = (".mp4", ".mkv", ".webm", ".mov", ".avi")
_KINDS: dict[str, JudgedKind] = {
    "": "dialogue",
    "-": "dialogue",
    "dialogue": "dialogue",
    "dialog": "dialogue",
    "visual": "visual",
    "audio": "audio",
}
_TIME = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?)")

_Read = TypeVar("_Read")


@dataclass(frozen=True, kw_only=True)
class SpokenLine:
    """A sentence of the film as the judges numbered it."""

    index: int
    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the judges say of one spoken line, or of one time of the film."""

    line: int
    """The spoken line; of a time that was annotated, the line nearest to it."""
    verdict: Verdict
    how: str
    """Of a match: verbatim, paraphrase or reported; `-` where nobody said."""
    passages: tuple[Lines, ...]
    """Every place in the book that counts as right; none for `none`."""
    kind: JudgedKind = "dialogue"
    times_s: tuple[float, float] | None = None
    """From when to when, where the judges gave a time in place of a line."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A judged pair, read from its folder."""

    name: str
    folder: Path
    spoken: tuple[SpokenLine, ...]
    judgements: tuple[Judgement, ...]
    paragraph_lines: tuple[int, ...]
    """The first line of each paragraph of book.txt: a run of lines that are not blank."""
    film_name: str = "film.srt"

    @property
    def book(self) -> Path:
        """The book's file."""
        return self.folder / "book.txt"

    @property
    def film(self) -> Path:
        """The film's file: subtitles, film.json, or the video of a pair with annotated times."""
        return self.folder / self.film_name


def load_pair(folder: Path) -> Pair:
    """Read one judged pair.

    Raises:
        InputError: A file is missing or a row cannot be read; with its path and line.
    """
    annotations = _annotations_of(folder)
    if annotations is not None and not (folder / "gold.tsv").exists():
        return _load_annotated(folder, annotations)
    spoken = _read_rows(
        folder / "film_sentences.tsv", ("id", "start_s", "end_s", "text"), _spoken_line
    )
    for number, line in enumerate(spoken):
        if line.index != number:
            raise InputError(
                f"has sentence {line.index} where {number} is due; number them from 0 without gaps",
                folder / "film_sentences.tsv",
            )
    paragraph_lines, lines = _count_lines(folder / "book.txt")
    judgements = _read_rows(
        folder / "gold.tsv",
        ("id", "verdict", "line_from", "line_to"),
        lambda row: _judgement(row, len(spoken), lines),
    )
    return Pair(
        name=folder.name,
        folder=folder,
        spoken=spoken,
        judgements=judgements,
        paragraph_lines=paragraph_lines,
        film_name=FILM_JSON if (folder / FILM_JSON).exists() else "film.srt",
    )


def find_pairs(folder: Path) -> list[Path]:
    """The judged pairs in a folder: itself, or its sub-folders, by name.

    Raises:
        InputError: There is none, or one is not judged: a mean over the others would hide it.
    """
    if not folder.is_dir():
        raise InputError("is not a folder; give a folder of judged pairs", folder)
    if _is_pair(folder):
        return [folder]
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    found = [path for path in folders if _is_pair(path)]
    for path in folders:
        if path not in found and _has_book_and_film(path):
            raise InputError(
                "has a book and a film but no judgements; add film_sentences.tsv and gold.tsv, or "
                "annotations.tsv, or move it elsewhere",
                path,
            )
    if not found:
        raise InputError(
            "holds no judged pair (a folder with book.txt, film.srt, and film_sentences.tsv and "
            "gold.tsv, or annotations.tsv or annotations.csv)",
            folder,
        )
    return found


def _is_pair(folder: Path) -> bool:
    return (folder / "gold.tsv").exists() or _annotations_of(folder) is not None


def _has_book_and_film(folder: Path) -> bool:
    films = (folder / f"film{end}" for end in (".srt", *_VIDEOS))
    return (folder / "book.txt").exists() and any(film.exists() for film in films)


def _annotations_of(folder: Path) -> Path | None:
    return next((folder / name for name in ANNOTATIONS if (folder / name).exists()), None)


def _load_annotated(folder: Path, annotations: Path) -> Pair:
    """A pair judged in the paper's way: times and lines."""
    # Visual matches need the shots of the video; without one there is the speech.
    video = next((f"film{end}" for end in _VIDEOS if (folder / f"film{end}").exists()), None)
    film_name = video or "film.srt"
    subtitles = load_film(folder / film_name, shots=False).subtitles
    spoken = tuple(
        SpokenLine(index=k, start_s=s.start_s, end_s=s.end_s, text=s.text)
        for k, s in enumerate(subtitles)
    )
    _, lines = _count_lines(folder / "book.txt")
    # The paper's books mark paragraphs by indentation, which the book's reader knows of.
    book = load_book(folder / "book.txt")
    firsts = (book.sentences[paragraph.sentences.start].line for paragraph in book.paragraphs)
    return Pair(
        name=folder.name,
        folder=folder,
        spoken=spoken,
        judgements=_read_rows(
            annotations, ("time_s", "line"), lambda row: _annotation(row, spoken, lines)
        ),
        paragraph_lines=tuple(first for first in firsts if first is not None),
        film_name=film_name,
    )


def _read_rows(
    path: Path, columns: tuple[str, ...], read: Callable[[dict[str, str]], _Read]
) -> tuple[_Read, ...]:
    """Each row of a table through `read`, whose ValueErrors get the row's place."""
    found = []
    for number, row in _read_table(path, columns):
        try:
            found.append(read(row))
        except ValueError as error:
            raise InputError(f"cannot be read ({error})", path, number) from None
    return tuple(found)


def _read_table(path: Path, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """The rows with their line numbers; a cell that a short row lacks is empty."""
    delimiter = "," if path.suffix == ".csv" else "\t"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            rows = [(reader.line_num, row) for row in reader if row]
    except FileNotFoundError:
        raise InputError("is missing; a judged pair needs it", path) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read ({error})", path) from error
    head = rows[0][1] if rows else []
    if len(head) == len(columns) and _TIME.fullmatch(head[0].strip()):
        head = list(columns)  # a table without a head
    else:
        rows = rows[1:]
    missing = [column for column in columns if column not in head]
    if missing:
        raise InputError(f"has no column {', '.join(missing)}", path)
    if not rows:
        raise InputError("has no rows below its head", path)
    empty = dict.fromkeys(head, "")
    return [(number, {**empty, **dict(zip(head, row, strict=False))}) for number, row in rows]


def _spoken_line(row: dict[str, str]) -> SpokenLine:
    return SpokenLine(
        index=_whole_number(row["id"], "id"),
        start_s=_seconds(row["start_s"]),
        end_s=_seconds(row["end_s"]),
        text=row["text"],
    )


def _judgement(row: dict[str, str], spoken: int, lines: int) -> Judgement:
    line = _whole_number(row["id"], "id")
    if not 0 <= line < spoken:
        raise ValueError(f"id {line}: the film has sentences 0 to {spoken - 1}")
    how = row.get("how") or "-"
    match row["verdict"]:
        case "none":
            passages: tuple[Lines, ...] = ()
        case "match" | "scene":
            passages = (
                _passage(row["line_from"], row["line_to"], lines),
                *_alternates(row.get("alternates") or "", lines),
            )
        case unknown:
            raise ValueError(f"unknown verdict {unknown!r}: match, scene or none")
    return Judgement(
        line=line,
        verdict=row["verdict"],
        how=how,
        passages=passages,
        kind=_kind(row.get("kind") or ""),
    )


def _annotation(row: dict[str, str], spoken: tuple[SpokenLine, ...], lines: int) -> Judgement:
    start_s = _seconds(row["time_s"])
    end_s = _seconds(row["end_s"]) if _is_given(row.get("end_s")) else start_s
    if end_s < start_s:
        raise ValueError(f"ends at {end_s:g} s, before its start at {start_s:g} s")
    last = row["line_to"] if _is_given(row.get("line_to")) else row["line"]
    nearest = min(
        spoken,
        key=lambda said: max(said.start_s - end_s, start_s - said.end_s, 0.0),
        default=None,
    )
    return Judgement(
        line=nearest.index if nearest else 0,
        verdict="match",
        how="-",
        passages=(_passage(row["line"], last, lines),),
        kind=_kind(row.get("kind") or ""),
        times_s=(start_s, end_s),
    )


def _is_given(cell: str | None) -> bool:
    return cell is not None and cell.strip() not in ("", "-")


def _whole_number(cell: str, what: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise ValueError(f"{what} {cell!r} is not a whole number") from None


def _seconds(cell: str) -> float:
    found = _TIME.fullmatch(cell.strip())
    if not found:
        raise ValueError(f"time {cell!r} is neither seconds nor h:mm:ss")
    hours, minutes, seconds = found.groups(default="0")
    return 3600 * int(hours) + 60 * int(minutes) + float(seconds)


def _kind(cell: str) -> JudgedKind:
    try:
        return _KINDS[cell.strip().lower()]
    except KeyError:
        raise ValueError(f"unknown kind {cell!r}: dialogue, visual or audio") from None


def _passage(first: str, last: str, lines: int) -> Lines:
    passage = (_whole_number(first, "line"), _whole_number(last, "line"))
    if not 1 <= passage[0] <= passage[1] <= lines:
        raise ValueError(f"lines {first} to {last}: the book has lines 1 to {lines}, in order")
    return passage


def _alternates(field: str, lines: int) -> tuple[Lines, ...]:
    found = []
    for part in field.split(";"):
        if "-" in part.strip(" -"):
            first, last = part.strip().split("-")[:2]
            found.append(_passage(first, last, lines))
    return tuple(found)


def _count_lines(path: Path) -> tuple[tuple[int, ...], int]:
    """The first line of each run of lines that are not blank, and the number of lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path) from error
    lines = text.split("\n")
    firsts, inside = [], False
    for number, line in enumerate(lines, 1):
        if line.strip() and not inside:
            firsts.append(number)
        inside = bool(line.strip())
    return tuple(firsts), len(lines)
