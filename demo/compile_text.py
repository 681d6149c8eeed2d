"""The screenplay as text: rows and shots, subtitle cues with their times, passages of the book."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LINE_CHARS = 42
CUE_CHARS = 78
"""Two lines of 42 do not always break well, so a cue holds a little less than 84."""
READING_CPS = 15.4
MIN_CUE_S = 1.05
PAIR_EVERY = 24
"""At least so many cues between two that hold two speakers."""
GAP_S = 0.083
TURN_GAP_S = 0.25
LEAD_S, TAIL_S = 0.17, 0.2
SCENE_LEAD_S, SCENE_TAIL_S = 1.1, 0.8
MIN_SHOT_S = 1.8
SILENT_S = {"insert": 2.6, "close": 2.7, "medium": 3.0, "wide": 3.6, "title": 5.0}
BEAT_S = 1.2
"""A silent row inside a shot that also has speech."""
COLUMNS = (
    "scene",
    "shot",
    "picture",
    "speaker",
    "text",
    "verdict",
    "how",
    "passage",
    "alternates",
    "note",
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the screenplay: a spoken sentence or a silent shot."""

    line: int
    scene: int
    shot: str
    picture: str
    speaker: str
    text: str
    verdict: str
    how: str
    passage: str
    alternates: tuple[str, ...]
    note: str


@dataclass(kw_only=True)
class Cue:
    """A subtitle: its lines, the rows it speaks, its time."""

    lines: list[str]
    rows: list[int]
    speakers: list[str]
    whole: bool
    """Every sentence in it is complete, so that another may join."""
    start_s: float = 0.0
    end_s: float = 0.0


@dataclass(kw_only=True)
class Shot:
    """Consecutive rows under one picture, with the cues that are spoken in it."""

    scene: int
    picture: str
    rows: list[Row]
    cues: list[Cue] = field(default_factory=list)
    first_frame: int = 0
    end_frame: int = 0

    @property
    def silent(self) -> bool:
        """Whether nobody speaks in it."""
        return not any(row.text for row in self.rows)

    @property
    def size(self) -> str:
        """The framing that the picture asks for."""
        return self.picture.split("|")[1].strip()


class ScreenplayError(Exception):
    """Rows of the screenplay that cannot be compiled; one message a row."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


def read_screenplay(path: Path) -> list[Row]:
    """Read the rows; a picture holds until the next one is given."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if tuple(lines[0].strip().split("\t")) != COLUMNS:
        raise ScreenplayError([f"{path.name}:1: the header is not {' '.join(COLUMNS)}"])
    rows, problems = [], []
    for number, cells in enumerate(
        csv.reader(lines[1:], delimiter="\t", quoting=csv.QUOTE_NONE), start=2
    ):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(COLUMNS):
            problems.append(f"{path.name}:{number}: {len(cells)} cells instead of {len(COLUMNS)}")
            continue
        cells += [""] * (len(COLUMNS) - len(cells))
        cell = dict(zip(COLUMNS, (c.strip() for c in cells), strict=True))
        blank = {key: "" if value == "-" else value for key, value in cell.items()}
        rows.append(
            Row(
                line=number,
                scene=int(cell["scene"]),
                shot=cell["shot"],
                picture=cell["picture"],
                speaker=cell["speaker"],
                text=" ".join(cell["text"].split()),
                verdict=cell["verdict"],
                how=cell["how"] or "-",
                passage=blank["passage"],
                alternates=tuple(a.strip() for a in blank["alternates"].split("||") if a.strip()),
                note=cell["note"] or "-",
            )
        )
    if problems:
        raise ScreenplayError(problems)
    return rows


def group_shots(rows: Sequence[Row]) -> list[Shot]:
    """Put rows under their pictures."""
    shots: list[Shot] = []
    for row in rows:
        if row.picture:
            if row.picture.count("|") != 3:
                raise ScreenplayError([f"screenplay.tsv:{row.line}: picture has not four parts"])
            shots.append(Shot(scene=row.scene, picture=row.picture, rows=[row]))
        elif not shots:
            raise ScreenplayError([f"screenplay.tsv:{row.line}: no picture yet"])
        else:
            shots[-1].rows.append(row)
    return shots


def split_sentence(text: str) -> list[str]:
    """Cut a long sentence into pieces for cues, near the even places and after commas if it can."""
    count = -(-len(text) // CUE_CHARS)
    if count == 1 and fits(text):
        return [text]
    count = max(2, count)
    pieces, rest = [], text
    while count > 1:
        target = len(rest) / count
        costs = [
            (abs(m.start() - target) - (14 if rest[m.start() - 1] in ",;:.!?—" else 0), m.start())
            for m in re.finditer(" ", rest)
        ]
        best = min(costs)[1]
        pieces.append(rest[:best])
        rest, count = rest[best + 1 :], count - 1
    return [
        part
        for piece in [*pieces, rest]
        for part in ([piece] if fits(piece) else split_sentence(piece))
    ]


def fits(text: str) -> bool:
    """Whether a text can be set in two lines."""
    return all(len(line) <= LINE_CHARS for line in set_lines(text))


def set_lines(text: str) -> list[str]:
    """Break a cue into one line or two, balanced, the lower one the longer."""
    if len(text) <= LINE_CHARS:
        return [text]
    spaces = [m.start() for m in re.finditer(" ", text)]
    if not spaces:
        return [text]
    at = min(
        spaces,
        key=lambda k: (
            max(k, len(text) - k - 1) + (k > len(text) / 2) - (5 if text[k - 1] in ",;:.!?—" else 0)
        ),
    )
    if max(at, len(text) - at - 1) > LINE_CHARS:
        at = min(spaces, key=lambda k: max(k, len(text) - k - 1))
    return [text[:at], text[at + 1 :]]


def build_cues(shots: Sequence[Shot]) -> None:
    """Give every shot its cues; short sentences share one, now and then across two speakers."""
    since_pair = PAIR_EVERY
    for shot in shots:
        for row in shot.rows:
            if not row.text:
                continue
            last = shot.cues[-1] if shot.cues else None
            if last and last.whole and shot.rows.index(row) == last.rows[-1] + 1:
                if joins_same(last, row):
                    last.lines = set_lines(" ".join(last.lines) + " " + row.text)
                    last.rows.append(shot.rows.index(row))
                    last.speakers.append(row.speaker)
                    continue
                if since_pair >= PAIR_EVERY and joins_pair(last, row):
                    last.lines = [f"- {' '.join(last.lines)}", f"- {row.text}"]
                    last.rows.append(shot.rows.index(row))
                    last.speakers.append(row.speaker)
                    last.whole, since_pair = False, 0
                    continue
            pieces = split_sentence(row.text)
            for piece in pieces:
                shot.cues.append(
                    Cue(
                        lines=set_lines(piece),
                        rows=[shot.rows.index(row)],
                        speakers=[row.speaker],
                        whole=len(pieces) == 1,
                    )
                )
            since_pair += len(pieces)


def joins_same(cue: Cue, row: Row) -> bool:
    """Whether a short sentence of the same speaker joins the cue before it."""
    text = " ".join(cue.lines)
    return (
        cue.speakers[-1] == row.speaker
        and len(cue.rows) < 3
        and min(len(text), len(row.text)) <= 16
        and len(text) + 1 + len(row.text) <= 52
        and fits(text + " " + row.text)
    )


def joins_pair(cue: Cue, row: Row) -> bool:
    """Whether a reply joins the other speaker's cue as a second dashed line."""
    return (
        cue.speakers[-1] != row.speaker
        and len(cue.rows) == 1
        and len(cue.lines) == 1
        and len(cue.lines[0]) <= 26
        and len(row.text) <= 26
    )


def time_shots(shots: Sequence[Shot], fps: int) -> None:
    """Set the time of every cue and the frames of every shot, so that cuts fall between cues."""
    frame = 0
    for k, shot in enumerate(shots):
        opens = k == 0 or shots[k - 1].scene != shot.scene
        closes = k + 1 == len(shots) or shots[k + 1].scene != shot.scene
        shot.first_frame = frame
        if shot.silent:
            length = SILENT_S[shot.size] + (0.0 if shot.picture.endswith("still") else 0.6)
            length += (len(shot.rows) - 1) * BEAT_S
            end_s = frame / fps + length
        else:
            end_s = time_cues(shot, frame / fps + (SCENE_LEAD_S if opens else LEAD_S))
            end_s += SCENE_TAIL_S if closes else TAIL_S
        frame = max(math.ceil(end_s * fps), frame + round(MIN_SHOT_S * fps))
        shot.end_frame = frame


def time_cues(shot: Shot, start_s: float) -> float:
    """Lay the cues of a shot one after another; returns where its last row ends."""
    clock, before = start_s, -1
    for k, cue in enumerate(shot.cues):
        if k:
            same = shot.cues[k - 1].speakers[-1] == cue.speakers[0]
            clock += GAP_S if same else TURN_GAP_S
        skipped = cue.rows[0] - before - 1
        clock += max(0, skipped) * BEAT_S
        cue.start_s = round(clock, 3)
        clock += max(MIN_CUE_S, sum(map(len, cue.lines)) / READING_CPS)
        cue.end_s = round(clock, 3)
        before = cue.rows[-1]
    return clock + (len(shot.rows) - 1 - before) * BEAT_S


class BookFinder:
    """Finds passages of the book by their first and last words, and says their lines."""

    def __init__(self, text: str) -> None:
        parts, self.line_at = [], []
        for number, line in enumerate(text.split("\n"), start=1):
            words = plain(line)
            if words:
                parts.append(words)
                self.line_at += [number] * (len(words) + 1)
        self.flat = " ".join(parts)

    def lines(self, passage: str) -> tuple[int, int]:
        """Return the lines, from 1, that a passage `first words ... last words` spans.

        Raises:
            ValueError: a snippet is not in the book, or the first is there twice.
        """
        first, *tail = re.split(r"\s+\.\.\.\s+", plain(passage), maxsplit=1)
        start = self.flat.find(first)
        if start < 0:
            raise ValueError(f"not in the book: {first!r}")
        if self.flat.find(first, start + 1) >= 0:
            raise ValueError(f"more than once in the book: {first!r}")
        end = start + len(first)
        if tail:
            found = self.flat.find(tail[0], start)
            if found < 0:
                raise ValueError(f"not in the book after its beginning: {tail[0]!r}")
            end = found + len(tail[0])
        return self.line_at[start], self.line_at[end - 1]


def plain(text: str) -> str:
    """Make white space single and quotation marks straight."""
    table = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'"})
    return " ".join(text.translate(table).split())


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Where a row is in the book, in lines."""

    lines: tuple[int, int] | None
    alternates: tuple[tuple[int, int], ...]


def judge_rows(rows: Sequence[Row], book: str) -> dict[int, Judgement]:
    """Find every row's passages, by screenplay line.

    Raises:
        ScreenplayError: naming every row whose verdict or snippets are wrong.
    """
    finder, found, problems = BookFinder(book), {}, []
    for row in rows:
        where = f"screenplay.tsv:{row.line} (scene {row.scene}, shot {row.shot})"
        if row.verdict not in ("match", "scene", "none"):
            problems.append(f"{where}: verdict {row.verdict!r}")
            continue
        if row.verdict != "none" and not row.passage:
            problems.append(f"{where}: verdict {row.verdict} without a passage")
        try:
            lines = finder.lines(row.passage) if row.passage and row.verdict != "none" else None
            others = tuple(finder.lines(other) for other in row.alternates)
        except ValueError as error:
            problems.append(f"{where}: {error}")
            continue
        found[row.line] = Judgement(lines=lines, alternates=others)
    if problems:
        raise ScreenplayError(problems)
    return found


def spoken(shots: Sequence[Shot]) -> Iterator[tuple[Row, int, int, float, float]]:
    """Yield each spoken row with its first and last cue (from 1) and their times."""
    number = 0
    for shot in shots:
        for k, row in enumerate(shot.rows):
            own = [c for c, cue in enumerate(shot.cues) if k in cue.rows]
            if own:
                first, last = shot.cues[own[0]], shot.cues[own[-1]]
                yield row, number + own[0] + 1, number + own[-1] + 1, first.start_s, last.end_s
        number += len(shot.cues)
