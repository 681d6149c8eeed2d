"""A judged pair: a folder with a book, a film, and which line renders which passage.

    book.txt                             the book; judgements name its lines, counted from 1
    film.mp4 (.mkv, .webm, .mov, .avi)   the film, with film.srt beside it; or film.srt alone,
                                         or film.json
    gold.tsv with film_sentences.tsv     spoken lines that readers looked up in the book, or
    annotations.tsv (or .csv)            matching places, as the paper's annotators noted them
    shots.tsv                            optional: silent shots that readers looked up in the book

`film_sentences.tsv` numbers the spoken sentences (a row without text is a silent shot); `gold.tsv`
judges some or all of them: `match` (the book has a counterpart), `scene` (the exchange takes place
there, but the line is new) or `none` (not in the book).

`annotations.tsv` pairs a time in the film with a line of the book (paper, section 3). It has the
columns `time_s` (seconds, or h:mm:ss) and `line`, and optionally `end_s`, `line_to`, `kind`
(dialogue, visual or audio) and `note`. A table of just two columns needs no header. Places that it
does not mention may match as well, so such a pair has no `none`.

`film.json` is a film as it was read: shots and spoken sentences with their times, and the path of
the video. The viewer writes it, so that a pair judged there keeps the moments that were judged.

`shots.tsv` has the columns `start_s`, `end_s`, `verdict` (match, none, or `-` for a shot nobody
judged), `line_from` and `line_to`; further columns are ignored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from folioreel.errors import InputError
from folioreel.evaluate import judged_tables
from folioreel.evaluate.judged_tables import Judgement, SpokenLine
from folioreel.files import write_text
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.ingest.sync import Timing
from folioreel.ingest.video.shots import recall_features
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.json_input import parse_json
from folioreel.language import decide_language
from folioreel.progress import ProgressCallback
from folioreel.reading import is_file, read_utf8, read_whole
from folioreel.times import check_parts, check_spans
from folioreel.types import Film, FilmPart, Shot, Subtitle

FILM_JSON = "film.json"
_FILM_FORMAT = {"format": "folioreel-film", "version": 1}
ANNOTATIONS = ("annotations.tsv", "annotations.csv")
_SUBTITLES = "film.srt"
# If there are several, the first of these is the film.
VIDEOS = tuple(f"film{suffix}" for suffix in (".mp4", ".mkv", ".webm", ".mov", ".avi"))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A judged pair, read from its folder."""

    name: str
    folder: Path
    spoken: tuple[SpokenLine, ...]
    judgements: tuple[Judgement, ...]
    paragraph_lines: tuple[int, ...]
    """The first line of each paragraph of book.txt: a run of non-blank lines."""
    film_name: str = _SUBTITLES
    shots: tuple[Judgement, ...] = ()  # the judged silent shots of `shots.tsv`.

    @property
    def book(self) -> Path:
        """The book's file."""
        return self.folder / "book.txt"

    @property
    def film(self) -> Path:
        """The film's file: film.json, the video, or the subtitles alone."""
        return self.folder / self.film_name

    @property
    def subtitles(self) -> Path | None:
        """The subtitle file beside a video: the one whose lines were judged."""
        path = self.folder / _SUBTITLES
        return path if self.film_name in VIDEOS and path.exists() else None


def load_pair(folder: Path) -> Pair:
    """Read one judged pair."""
    annotations, book = _first_of(folder, ANNOTATIONS), folder / "book.txt"
    by_time = annotations is not None and not (folder / "gold.tsv").exists()
    spoken = () if by_time else judged_tables.read_spoken(folder / "film_sentences.tsv")
    paragraph_lines, lines = _count_lines(book)
    shots = folder / "shots.tsv"
    # film.json holds the very moments that were judged. A video comes next, because silent
    # shots exist only there; subtitles alone give the dialogue.
    film = _first_of(folder, (FILM_JSON, *VIDEOS))
    pair = Pair(
        name=folder.resolve().name,
        folder=folder,
        spoken=spoken,
        judgements=(),
        paragraph_lines=paragraph_lines,
        film_name=film.name if film else _SUBTITLES,
        shots=judged_tables.read_shots(shots, lines) if shots.exists() else (),
    )
    if annotations is not None and by_time:
        return _add_annotations(pair, annotations, lines)
    gold = judged_tables.read_gold(folder / "gold.tsv", len(spoken), lines)
    return replace(pair, judgements=gold)


def load_pair_film(
    pair: Pair,
    progress: ProgressCallback | None = None,
    encoder: FrameEncoder | None = None,
    *,
    shots: bool = True,
) -> Film:
    """The film of a judged pair; if it has a video, `encoder` watches its shots."""
    if pair.film_name == FILM_JSON:
        film = recall_features(read_film_json(pair.film), encoder)
        return film if shots else replace(film, shots=(), features=None)
    return load_film(
        pair.film,
        subtitles=pair.subtitles,
        timing=Timing(sync=False),  # judgements go by the times of the file
        shots=shots,
        progress=progress,
        encoder=encoder,
    )


def write_film_json(film: Film, path: Path) -> None:
    """Write a film's shots and spoken sentences, and the path of its video."""
    parts = [
        {
            "title": part.title,
            "start_s": part.start_s,
            "duration_s": part.duration_s,
            "video": _relative(part.video, path.parent),
            "sha256": part.sha256,
        }
        for part in film.parts
    ]
    document = {
        **_FILM_FORMAT,
        "title": film.title,
        "duration_s": film.duration_s,
        "video": _relative(film.video, path.parent),
        "sha256": film.sha256,
        "language": film.language,
        "shots": [[shot.start_s, shot.end_s] for shot in film.shots],
        "subtitles": [[said.start_s, said.end_s, said.text] for said in film.subtitles],
        **({"parts": parts} if parts else {}),
    }
    write_text(path, json.dumps(document, ensure_ascii=False) + "\n")


def _relative(video: Path | None, folder: Path) -> str | None:
    """A path that still holds when the folder is moved, as long as the video moves with it."""
    return None if video is None else os.path.relpath(video.absolute(), folder)


def _existing(video: str | None, folder: Path) -> Path | None:
    """The video that `_relative` wrote, if it is still there."""
    return folder / video if video is not None and is_file(folder / video) else None


@dataclass(frozen=True, kw_only=True)
class _PartRecord:
    title: str
    start_s: float
    duration_s: float
    video: str | None
    sha256: str | None


@dataclass(frozen=True, kw_only=True)
class _FilmRecord:
    """What `write_film_json` writes."""

    format: str
    version: int
    title: str
    duration_s: float
    video: str | None
    sha256: str | None
    shots: list[tuple[float, float]]
    subtitles: list[tuple[float, float, str]]
    parts: list[_PartRecord] = field(default_factory=list)
    language: str | None = None


def read_film_json(path: Path) -> Film:
    """Read what `write_film_json` wrote; a video that no longer exists is left out."""
    try:
        record = parse_json(read_whole(path), _FilmRecord)
        if {"format": record.format, "version": record.version} != _FILM_FORMAT:
            raise ValueError("unknown format or version")
        check_spans([(0, record.duration_s), *record.shots, *(s[:2] for s in record.subtitles)])
        check_parts((part.start_s, part.duration_s) for part in record.parts)
    except ValueError as error:
        raise InputError(f"is not a film.json that folioreel wrote ({error})", path) from error
    words = "\n".join(text for _, _, text in record.subtitles)
    return Film(
        title=record.title,
        duration_s=record.duration_s,
        shots=tuple(
            Shot(index=k, start_s=start_s, end_s=end_s)
            for k, (start_s, end_s) in enumerate(record.shots)
        ),
        subtitles=tuple(
            Subtitle(index=k, start_s=start_s, end_s=end_s, text=text)
            for k, (start_s, end_s, text) in enumerate(record.subtitles)
        ),
        video=_existing(record.video, path.parent),
        path=path,
        sha256=record.sha256,
        language=decide_language(words, declared=record.language),
        parts=tuple(
            FilmPart(
                title=part.title,
                start_s=part.start_s,
                duration_s=part.duration_s,
                video=_existing(part.video, path.parent),
                sha256=part.sha256,
            )
            for part in record.parts
        ),
    )


def find_pairs(folder: Path) -> list[Path]:
    """The judged pairs in a folder: the folder itself, or its sub-folders by name."""
    if not folder.is_dir():
        raise InputError("is not a folder; give a folder of judged pairs", folder)
    if is_pair(folder):
        return [folder]
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    found = [path for path in folders if is_pair(path)]
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


def is_pair(folder: Path) -> bool:
    """Whether a folder holds judgements of a pair."""
    return _first_of(folder, ("gold.tsv", *ANNOTATIONS)) is not None


def _has_book_and_film(folder: Path) -> bool:
    film = _first_of(folder, (_SUBTITLES, *VIDEOS))
    return film is not None and (folder / "book.txt").exists()


def _first_of(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)


def _add_annotations(pair: Pair, annotations: Path, lines: int) -> Pair:
    """The judgements of a pair judged in the paper's way: times and lines."""
    # The paper's books mark paragraphs by indentation, which only the book's reader knows about.
    book = load_book(pair.book)
    firsts = (book.sentences[paragraph.sentences.start].line for paragraph in book.paragraphs)
    spoken = tuple(
        SpokenLine(index=k, start_s=s.start_s, end_s=s.end_s, text=s.text)
        for k, s in enumerate(load_pair_film(pair, shots=False).subtitles)
    )
    return replace(
        pair,
        spoken=spoken,
        judgements=judged_tables.read_annotations(annotations, spoken, lines),
        paragraph_lines=tuple(first for first in firsts if first is not None),
    )


def _count_lines(path: Path) -> tuple[tuple[int, ...], int]:
    """The first line of each run of non-blank lines, and the number of lines."""
    lines = read_utf8(path).split("\n")
    # Blank lines separate paragraphs, as in the benchmark's own scoring script.
    written = [False, *(bool(line.strip()) for line in lines)]  # by line number, from 1
    firsts = (n for n in range(1, len(written)) if written[n] and not written[n - 1])
    return tuple(firsts), len(lines)
