"""The central types: a book, a film, and the alignment that links them (paper, section 3).

A container owns flat tuples; divisions are ranges of indices, so nothing points at its parent.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

from folioreel.times import format_clock

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

Kind = Literal["dialogue", "visual"]
Verdict = Literal["match", "none"]
JudgedKind = Literal["dialogue", "visual", "audio"]
_LONGEST_TITLE = 20  # characters of a part's name before a time: "S01E02 The Storm" fits


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One sentence of the book and where it stands in the file."""

    index: int
    text: str
    line: int | None = None
    """First and last line of a plain-text book, counted from 1."""
    line_end: int | None = None
    href: str | None = None
    """The document inside a book that has no lines (EPUB, FB2, HTML, PDF page)."""
    char_start: int | None = None
    """Where the sentence begins and ends in the text of `href`, in characters."""
    char_end: int | None = None
    breaks: tuple[int, ...] = ()
    """Where lines of verse begin in `text`, 0 if the sentence begins one; empty in prose."""
    emphasis: tuple[tuple[int, int], ...] = ()
    """Where italics begin and end in `text`."""


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A run of sentences."""

    index: int
    sentences: range


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A run of paragraphs with a title (empty for what stands before the first heading)."""

    index: int
    title: str
    paragraphs: range


@dataclass(frozen=True, kw_only=True)
class Volume:
    """One file of a book that comes in several."""

    title: str
    sentences: range
    """Its sentences, whose lines and characters are counted in this file."""
    path: Path | None = None
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Book:
    """A book as sentences in paragraphs in chapters."""

    title: str
    sentences: tuple[Sentence, ...]
    paragraphs: tuple[Paragraph, ...]
    chapters: tuple[Chapter, ...]
    path: Path | None = None
    sha256: str | None = None
    notes: tuple[str, ...] = ()
    """What the reader chose or noticed, in words for the user."""
    volumes: tuple[Volume, ...] = ()
    """The files of a book in several volumes, which has no `path`; empty if it is one file."""
    language: str | None = None
    """Two letters, `fr`; None if it is unknown, or if volumes differ."""

    def volume_of(self, sentence: int) -> int | None:
        """The volume of a sentence, if the book has several."""
        holds = (k for k, volume in enumerate(self.volumes) if sentence in volume.sentences)
        return next(holds, None)

    @cached_property
    def paragraph_of(self) -> tuple[int, ...]:
        """The paragraph of each sentence."""
        return tuple(p.index for p in self.paragraphs for _ in p.sentences)

    @cached_property
    def chapter_of(self) -> tuple[int, ...]:
        """The chapter of each paragraph."""
        return tuple(c.index for c in self.chapters for _ in c.paragraphs)

    def __repr__(self) -> str:
        return (
            f"<Book {self.title!r}: {len(self.sentences)} sentences, "
            f"{len(self.paragraphs)} paragraphs, {len(self.chapters)} chapters>"
        )


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A stretch of the video without a cut."""

    index: int
    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True, eq=False)
class ShotFeatures:
    """What a network saw in each shot: the mean over some of its frames."""

    network: str
    fingerprint: str
    """A hash of the network: vectors of different networks cannot be compared."""
    vectors: Mapping[str, NDArray[np.float16]]
    """By kind, `visual` and `scene`: (shots, units); zeros where no frame could be seen."""


@dataclass(frozen=True, kw_only=True)
class Subtitle:
    """One spoken sentence with its own time."""

    index: int
    start_s: float
    end_s: float
    text: str
    speaker: str | None = None
    """Who says it, if the subtitles name them: `JOHN:`, a voice of WebVTT, a name of ASS."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A row of every matrix: a spoken sentence with its shot, or a silent shot."""

    index: int
    start_s: float
    end_s: float
    text: str
    """What is said; empty for a silent shot."""
    subtitle: int | None
    shot: int | None

    @property
    def kind(self) -> Kind:
        """Dialogue if somebody speaks, visual otherwise."""
        return "visual" if self.subtitle is None else "dialogue"


@dataclass(frozen=True, kw_only=True)
class FilmPart:
    """One file of a film, and where it lies on the film's timeline."""

    title: str
    start_s: float
    duration_s: float
    video: Path | None = None
    path: Path | None = None
    """The file: the video, or the subtitle file alone."""
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Film:
    """A film: its shots, its spoken sentences, or both."""

    title: str
    duration_s: float
    shots: tuple[Shot, ...] = ()
    subtitles: tuple[Subtitle, ...] = ()
    video: Path | None = None
    path: Path | None = None
    """The file that was given as the film: the video, or the subtitle file alone."""
    sha256: str | None = None
    notes: tuple[str, ...] = ()
    """What the reader chose or noticed, in words for the user."""
    source: str = ""
    """Where the words come from: `track`, `file`, `ocr` (pictures of text), `burned` (into the
    film) or `speech`; several, with commas, if parts differ; empty if there are none."""
    language: str | None = None
    """Of the words, two letters: `fr`; None if it is unknown, or if parts differ."""
    features: ShotFeatures | None = field(default=None, compare=False)
    """What the shots look like; None unless the film was watched."""
    parts: tuple[FilmPart, ...] = ()
    """The files of a film in several parts, one after the other on one timeline. Such a film has
    neither `path` nor `video`; a film of one file has no parts."""

    @cached_property
    def files(self) -> tuple[FilmPart, ...]:
        """The parts; a film of one file is a single part from beginning to end."""
        whole = FilmPart(
            title=self.title,
            start_s=0.0,
            duration_s=self.duration_s,
            video=self.video,
            path=self.path,
            sha256=self.sha256,
        )
        return self.parts or (whole,)

    @property
    def has_video(self) -> bool:
        """Whether there are pictures to decode, not only subtitles."""
        return any(file.video is not None for file in self.files)

    @cached_property
    def names_speakers(self) -> bool:
        """Whether the subtitles say of any line who speaks it."""
        return any(said.speaker is not None for said in self.subtitles)

    def locate(self, time_s: float) -> tuple[int, float]:
        """The file that plays at a time of the timeline, counted from 0, and the time in it."""
        file = max(0, bisect_right([file.start_s for file in self.files], time_s) - 1)
        # To the microsecond: 112.1 - 100.1 must be 12, not a little less.
        return file, round(time_s - self.files[file].start_s, 6) if self.parts else time_s

    def clock(self, time_s: float) -> str:
        """A time as h:mm:ss; in a film of several parts, the part's name and the time in it."""
        file, local_s = self.locate(time_s)
        if not self.parts:
            return format_clock(local_s)
        title = shorten(self.parts[file].title, _LONGEST_TITLE, placeholder=" …")
        return f"{title} {format_clock(local_s)}"

    def part_fields(self, time_s: float) -> dict[str, Any]:
        """The part that plays at a time and the time in it, for JSON; empty if there are none."""
        if not self.parts:
            return {}
        part, local_s = self.locate(time_s)
        return {"part": part, "part_title": self.parts[part].title, "part_start_s": local_s}

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """Each subtitle with the shot it is spoken in, and each silent shot, in time order."""
        spoken_in = [self._shot_of(subtitle) for subtitle in self.subtitles]
        rows: list[tuple[float, float, str, int | None, int | None]] = [
            (s.start_s, s.end_s, s.text, s.index, shot)
            for s, shot in zip(self.subtitles, spoken_in, strict=True)
        ]
        rows += [
            (shot.start_s, shot.end_s, "", None, shot.index)
            for shot in self.shots
            if not self._is_spoken(shot)
        ]
        rows.sort(key=lambda row: (row[0], row[1], row[3] is not None, row[3] or 0))
        return tuple(
            Moment(index=i, start_s=a, end_s=b, text=text, subtitle=subtitle, shot=shot)
            for i, (a, b, text, subtitle, shot) in enumerate(rows)
        )

    def __repr__(self) -> str:
        watched = ", watched" if self.features is not None else ""
        return (
            f"<Film {self.title!r}: {len(self.moments)} moments, "
            f"{len(self.subtitles)} spoken sentences, {len(self.shots)} shots{watched}>"
        )

    @cached_property
    def _spoken_shots(self) -> frozenset[int]:
        """The shots during which some subtitle is on screen."""
        spoken = set()
        for subtitle in self.subtitles:
            for k in range(self._first_shot_after(subtitle.start_s), len(self.shots)):
                if self.shots[k].start_s >= subtitle.end_s:
                    break
                spoken.add(k)
        return frozenset(spoken)

    def _first_shot_after(self, time_s: float) -> int:
        """The first shot that ends after a time."""
        low, high = 0, len(self.shots)
        while low < high:
            middle = (low + high) // 2
            if self.shots[middle].end_s > time_s:
                high = middle
            else:
                low = middle + 1
        return low

    def _is_spoken(self, shot: Shot) -> bool:
        return shot.index in self._spoken_shots

    def _shot_of(self, subtitle: Subtitle) -> int | None:
        """The shot that a subtitle shares most time with."""
        best, best_overlap = None, 0.0
        for k in range(self._first_shot_after(subtitle.start_s), len(self.shots)):
            shot = self.shots[k]
            if shot.start_s >= subtitle.end_s:
                break
            overlap = min(shot.end_s, subtitle.end_s) - max(shot.start_s, subtitle.start_s)
            if overlap > best_overlap:
                best, best_overlap = k, overlap
        return best


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """A passage that a moment may render, and the probability that the truth is near it."""

    sentence: int
    score: float


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """What a reader said of a stretch of the film, beyond the verdict."""

    moments: tuple[int, int]  # first and last
    sentences: tuple[int, int] | None = None  # first and last; None: not in the book
    kind: JudgedKind | None = None  # how the book is rendered; None: not in the book
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A moment with its sentence of the book, and the probability that this is right."""

    moment: int
    sentence: int
    score: float
    in_book: bool = True
    judged: Verdict | None = None
    """What a reader said of this moment: `match`, it renders the sentence; `none`, no sentence."""
    alternatives: tuple[Alternative, ...] = ()
    """The three best passages that are more than three paragraphs apart, the link's own first;
    fewer if the others have no chance, and none if a reader has judged the moment."""
    annotation: Annotation | None = None  # of a judged link

    @property
    def sentences(self) -> range:
        """The passage: what a reader linked the moment with, or else its one sentence."""
        span = self.annotation.sentences if self.annotation else None
        first, last = span or (self.sentence, self.sentence)
        return range(first, last + 1)


@dataclass(frozen=True, kw_only=True, repr=False)
class Alignment:
    """One link for each moment of a film, and the settings that produced it.

    The methods that read or write files call modules of higher layers, which are imported when
    they are needed: this module itself stays at the bottom.
    """

    book: Book
    film: Film
    links: tuple[Link, ...]
    signature: dict[str, Any] = field(default_factory=dict)
    """Preset, measures, weights, options and package version: what it takes to reproduce it."""
    warnings: tuple[str, ...] = ()
    """What makes the whole doubtful, in words for the user: the wrong book or language."""

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        book: Path | str | Sequence[Path | str] | None = None,
        film: Path | str | Sequence[Path | str] | None = None,
    ) -> Alignment:
        """Read back what `save` or `folioreel align --out` wrote; no video is decoded.

        Scores have the four digits of `alignment.json`.

        Args:
            folder: The folder of results, or its `alignment.json`.
            book: Where the book's file is now, if it was moved; the folder it is in; or the files
                of all volumes in order.
            film: Where the film's file is now, if it was moved; the folder it is in; or the files
                of all parts in order.

        Raises:
            InputError: A file is missing, damaged, or has changed since the alignment was made.
        """
        found: Alignment = import_module("folioreel.export.alignment_json").read_alignment(
            folder, book, film
        )
        return found

    def save(
        self, folder: Path | str, *, overwrite: bool = False, formats: Sequence[str] | None = None
    ) -> list[Path]:
        """Write JSON, CSV, WebVTT, SRT, the picture and the page; returns the files.

        Args:
            folder: Where to write them.
            overwrite: Whether to replace files that are there.
            formats: What to write instead: names that `folioreel export --as` takes.

        Raises:
            ValueError: There is no such format.
            InputError: The folder already holds results and `overwrite` is not set, or it cannot
                be written.
        """
        results = import_module("folioreel.export.results")
        chosen = results.RESULTS if formats is None else tuple(formats)
        if unknown := set(chosen) - set(results.FORMATS):
            raise ValueError(f"no such format: {', '.join(sorted(unknown))}")
        results.check_folder(Path(folder), chosen, force=overwrite)
        files: list[Path] = results.write_results(self, Path(folder), formats=chosen)
        return files

    @property
    def title(self) -> str:
        """The titles of film and book, or one if they have the same."""
        return " — ".join(dict.fromkeys((self.film.title, self.book.title)))

    def links_at(self, time_s: float) -> tuple[Link, ...]:
        """The links of the moments on screen at a time, in seconds from the start of the film.

        For a time in a part of the film, add the part's `start_s`.
        """
        return tuple(
            link
            for link, moment in zip(self.links, self.film.moments, strict=True)
            if moment.start_s <= time_s < moment.end_s
        )

    def moments_of(self, sentence: int | range | Sentence) -> tuple[Moment, ...]:
        """The moments of the film that render a sentence, or a range of them, in time order.

        Raises:
            IndexError: The book has no such sentence.
        """
        index = sentence.index if isinstance(sentence, Sentence) else sentence
        wanted = index if isinstance(index, range) else range(index, index + 1)
        if wanted and not 0 <= min(wanted) <= max(wanted) < len(self.book.sentences):
            raise IndexError(f"the book has no sentence {sentence}: {self.book!r}")
        return tuple(
            self.film.moments[link.moment]
            for link in self.links
            if link.in_book and any(j in wanted for j in link.sentences)
        )

    def to_dataframe(self) -> pd.DataFrame:
        """One row per moment: the columns of `alignment.csv`. Needs pandas.

        Raises:
            ConfigError: pandas is not installed.
        """
        frame: pd.DataFrame = import_module("folioreel.export.tables").to_dataframe(self)
        return frame

    def __repr__(self) -> str:
        return f"<Alignment of {self.film!r} with {self.book!r}: {self._counts()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the counts and the picture."""
        text: str = import_module("folioreel.export.picture").to_html(self, self._counts())
        return text

    def _counts(self) -> str:
        text: str = import_module("folioreel.export.estimates").describe_share(self)
        return text
