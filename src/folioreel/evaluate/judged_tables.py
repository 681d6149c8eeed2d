"""The tables of a judged pair: spoken lines, and judgements of lines, times and shots (dataset.py).

Rows that cannot be read are named by file and line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeGuard, TypeVar

from folioreel.errors import InputError
from folioreel.ingest import tables
from folioreel.times import is_clock, parse_clock
from folioreel.types import JudgedKind

Verdict = Literal["match", "scene", "none"]
Lines = tuple[int, int]  # first and last line of a passage, counted from 1

_KINDS: dict[str, JudgedKind] = {"visual": "visual", "audio": "audio"}
_KINDS |= {name: "dialogue" for name in ("", "-", "dialog", "dialogue")}

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
    """The judges' verdict on one spoken line, one annotated time, or one silent shot."""

    line: int  # the spoken line; for an annotated time, the line nearest to it; for a shot, its row
    verdict: Verdict
    how: str  # for a match: verbatim, paraphrase or reported; `-` if unknown
    passages: tuple[Lines, ...]  # every place in the book that counts as right; empty for `none`
    kind: JudgedKind = "dialogue"
    times_s: tuple[float, float] | None = None
    """Start and end, if the judges gave a time instead of a line."""
    note: str = ""
    span: str = ""
    """The name of what was judged at once, if that is several lines: they count as one match."""


def read_spoken(path: Path) -> tuple[SpokenLine, ...]:
    """The rows of `film_sentences.tsv`."""
    spoken = read_rows(path, ("id", "start_s", "end_s", "text"), _spoken_line)
    for number, line in enumerate(spoken):
        # Judgements name lines by number: a gap would shift all that follow.
        if line.index != number:
            raise InputError(
                f"has sentence {line.index} where {number} is expected; number the sentences from "
                "0 without gaps",
                path,
            )
    return spoken


def read_gold(path: Path, spoken: int, lines: int) -> tuple[Judgement, ...]:
    """The rows of `gold.tsv`, of a film of `spoken` sentences and a book of so many lines."""
    columns = ("id", "verdict", "line_from", "line_to")
    return read_rows(path, columns, lambda row: _judgement(row, spoken, lines))


def read_annotations(
    path: Path, spoken: tuple[SpokenLine, ...], lines: int
) -> tuple[Judgement, ...]:
    """The rows of `annotations.tsv`: times of the film and lines of the book."""
    columns = ("time_s", "line")
    return read_rows(
        path, columns, lambda row: _annotation(row, spoken, lines), _annotation_rows(path)
    )


def count_matches(judgements: Iterable[Judgement]) -> Counter[JudgedKind]:
    """The matches of each kind, as the paper counts them: several lines judged at once are one."""
    matches = [judgement for judgement in judgements if judgement.verdict == "match"]
    counts = Counter(match.kind for match in matches if not match.span)
    counts.update(kind for kind, _ in {(match.kind, match.span) for match in matches if match.span})
    return counts


def read_shots(path: Path, lines: int) -> tuple[Judgement, ...]:
    """The judged rows of `shots.tsv`."""
    columns = ("start_s", "end_s", "verdict", "line_from", "line_to")
    rows = read_rows(path, columns, lambda row: _judged_shot(row, lines))
    return tuple(replace(shot, line=k) for k, shot in enumerate(rows) if shot is not None)


def read_rows(
    path: Path,
    columns: tuple[str, ...],
    read: Callable[[dict[str, str]], _Read],
    rows: list[tables.TableRow] | None = None,
) -> tuple[_Read, ...]:
    """Each row of a table through `read`; its ValueErrors get the file and line.

    The rows are those of the file, without quoting, if they are not given.
    """
    found = []
    for number, row in _read_table(path, columns, rows):
        try:
            found.append(read(row))
        except ValueError as error:
            raise InputError(f"cannot be read ({error})", path, number) from None
    return tuple(found)


def _annotation_rows(path: Path) -> list[tables.TableRow]:
    """The rows with the quoting of spreadsheets, or without any, as older versions wrote them.

    A note is one line: a cell of several is one whose first quotation mark was not meant as such.
    """
    try:
        rows = tables.read_rows(path)
    except InputError:
        rows = []
    is_quoted = rows and not any("\n" in cell for row in rows for cell in row.cells)
    return rows if is_quoted else tables.read_rows(path, quoted_tabs=False)


def _read_table(
    path: Path, columns: tuple[str, ...], rows: list[tables.TableRow] | None
) -> list[tuple[int, dict[str, str]]]:
    """The rows with their line numbers; cells missing from a short row are empty."""
    if not path.exists():
        raise InputError("is missing; the dataset needs it", path)
    if rows is None:
        # Quotation marks are dialogue here, not quoting.
        rows = tables.read_rows(path, quoted_tabs=False)
    head = [cell.strip() for cell in rows[0].cells] if rows else []
    if len(head) == len(columns) and is_clock(head[0]):
        head = list(columns)  # a table without a header
    else:
        rows = rows[1:]
    missing = [column for column in columns if column not in head]
    if missing:
        raise InputError(f"has no column {', '.join(missing)}", path, 1)
    if not rows:
        raise InputError("has no rows below its header", path)
    empty = dict.fromkeys(head, "")
    return [(row.line, {**empty, **dict(zip(head, row.cells, strict=False))}) for row in rows]


def _spoken_line(row: dict[str, str]) -> SpokenLine:
    return SpokenLine(
        index=_whole_number(row["id"], "id"),
        start_s=parse_clock(row["start_s"]),
        end_s=parse_clock(row["end_s"]),
        text=row["text"],
    )


def _judgement(row: dict[str, str], spoken: int, lines: int) -> Judgement:
    line = _whole_number(row["id"], "id")
    if not 0 <= line < spoken:
        raise ValueError(f"id {line}: the film has sentences 0 to {spoken - 1}")
    verdict, passages = _verdict(row, lines)
    span = row["span"].strip() if _is_given(row.get("span")) else ""
    return Judgement(
        line=line,
        verdict=verdict,
        how=row.get("how") or "-",
        passages=passages,
        kind=_kind(row),
        span=span,
    )


def _judged_shot(row: dict[str, str], lines: int) -> Judgement | None:
    span = _time_span(row["start_s"], row["end_s"])
    if not _is_given(row["verdict"]):
        return None
    verdict, passages = _verdict(row, lines)
    return Judgement(
        line=0, verdict=verdict, how="-", passages=passages, kind="visual", times_s=span
    )


def _verdict(row: dict[str, str], lines: int) -> tuple[Verdict, tuple[Lines, ...]]:
    """A row's verdict, and the passages that count as right."""
    match row["verdict"]:
        case "none":
            return "none", ()
        case "match" | "scene" as verdict:
            main = _passage(row["line_from"], row["line_to"], lines)
            parts = (row.get("alternates") or "").split(";")
            others = [part.strip().split("-")[:2] for part in parts if "-" in part.strip(" -")]
            return verdict, (main, *(_passage(first, last, lines) for first, last in others))
        case unknown:
            raise ValueError(f"unknown verdict {unknown!r}: match, scene or none")


def _annotation(row: dict[str, str], spoken: tuple[SpokenLine, ...], lines: int) -> Judgement:
    end = row.get("end_s")
    start_s, end_s = _time_span(row["time_s"], end if _is_given(end) else row["time_s"])
    last = row["line_to"] if _is_given(row.get("line_to")) else row["line"]
    gaps = [max(said.start_s - end_s, start_s - said.end_s, 0.0) for said in spoken]
    return Judgement(
        line=gaps.index(min(gaps)) if gaps else 0,
        verdict="match",
        how="-",
        passages=(_passage(row["line"], last, lines),),
        kind=_kind(row),
        times_s=(start_s, end_s),
        note=row["note"] if _is_given(row.get("note")) else "",
    )


def _is_given(cell: str | None) -> TypeGuard[str]:
    return cell is not None and cell.strip() not in ("", "-")


def _time_span(start: str, end: str) -> tuple[float, float]:
    start_s, end_s = parse_clock(start), parse_clock(end)
    if end_s < start_s:
        raise ValueError(f"ends at {end_s:g} s, before its start at {start_s:g} s")
    return start_s, end_s


def _whole_number(cell: str, what: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise ValueError(f"{what} {cell!r} is not a whole number") from None


def _kind(row: dict[str, str]) -> JudgedKind:
    cell = row.get("kind") or ""
    if cell.strip().lower() not in _KINDS:
        raise ValueError(f"unknown kind {cell!r}: dialogue, visual or audio")
    return _KINDS[cell.strip().lower()]


def _passage(first: str, last: str, lines: int) -> Lines:
    passage = (_whole_number(first, "line"), _whole_number(last, "line"))
    if not 1 <= passage[0] <= passage[1] <= lines:
        raise ValueError(f"lines {first} to {last}: the book has lines 1 to {lines}, in order")
    return passage
