"""One judgement of a reader: which moments render which sentences, how, and a note.

A judgement that comes from another alignment of the film (other shots, other subtitles, another
edition of the book) is placed by what was said and shown, not by the numbers of its moments.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, get_args

from folioreel.text import printable, squeeze
from folioreel.types import Alignment, Annotation, Film, JudgedKind, Moment, Verdict

MOST_MOMENTS = 200  # a long scene; the links around each of them are found again, in about 0.1 s
_LONGEST_NOTE = 1000  # characters
_SHIFT_S = 60.0  # a line that has moved farther than this in the film is another line
_PIECE = 20  # characters of a sentence that tell it from others when sentences are split otherwise


@dataclass(frozen=True, kw_only=True)
class ReaderJudgement:
    """What a reader decided about a moment, or about a stretch of moments."""

    moment: int
    verdict: Verdict
    sentence: int | None  # the sentence it renders; None unless the verdict is `match`
    moment_to: int | None = None  # the last moment, if there are several
    sentence_to: int | None = None  # the last sentence, if there are several
    kind: JudgedKind | None = None  # None: as the moments are, spoken or silent
    note: str = ""

    @property
    def moments(self) -> range:
        """All moments that were judged."""
        return range(self.moment, (self.moment if self.moment_to is None else self.moment_to) + 1)

    @property
    def last_sentence(self) -> int | None:
        """The last sentence that is rendered."""
        return self.sentence if self.sentence_to is None else self.sentence_to

    def within(self, first: int, last: int) -> ReaderJudgement:
        """The same of only some of its moments."""
        return replace(self, moment=first, moment_to=None if last == first else last)

    def sentence_at(self, moment: int, found: int) -> int | None:
        """The sentence that a judged moment is linked to; None if it is not in the book.

        What the alignment found is kept if it is in the passage; otherwise the sentences are dealt
        out to the moments in order.
        """
        if self.sentence is None or self.last_sentence is None:
            return None
        if self.sentence <= found <= self.last_sentence:
            return found
        steps = max(1, len(self.moments) - 1)
        return (
            self.sentence + (moment - self.moment) * (self.last_sentence - self.sentence) // steps
        )

    def kind_in(self, film: Film) -> JudgedKind | None:
        """How the book is rendered; None if it is not."""
        if self.verdict == "none":
            return None
        return self.kind or usual_kind(film, self.moments)

    def annotation(self, film: Film) -> Annotation:
        """The form that alignments have it in."""
        span = None
        if self.sentence is not None and self.last_sentence is not None:
            span = (self.sentence, self.last_sentence)
        return Annotation(
            moments=(self.moments[0], self.moments[-1]),
            sentences=span,
            kind=self.kind_in(film),
            note=self.note,
        )

    def to_dict(self) -> dict[str, Any]:
        """The form that the page and the journal use; what is as usual is left out."""
        more = {
            "moment_to": self.moment_to,
            "sentence_to": self.sentence_to,
            "kind": self.kind,
            "note": self.note or None,
        }
        return {
            "moment": self.moment,
            "verdict": self.verdict,
            "sentence": self.sentence,
            **{name: value for name, value in more.items() if value is not None},
        }

    @classmethod
    def from_dict(cls, values: Any, alignment: Alignment) -> ReaderJudgement:
        """Check and read a judgement of this alignment.

        Raises:
            ValueError: A value is missing, of the wrong type, or out of range.
        """
        if not isinstance(values, dict):
            raise ValueError("a judgement has a moment, a verdict and a sentence")
        moment, moment_to = _read_span(values, "moment", len(alignment.film.moments), "film")
        if moment_to is not None and moment_to - moment >= MOST_MOMENTS:
            raise ValueError(f"a judgement spans at most {MOST_MOMENTS} moments")
        note = values.get("note") or ""
        if not isinstance(note, str) or len(note) > _LONGEST_NOTE:
            raise ValueError(f"a note is a text of at most {_LONGEST_NOTE} characters")
        note = " ".join(printable(note).split())
        verdict = values.get("verdict")
        if verdict == "none":
            return cls(moment=moment, moment_to=moment_to, verdict="none", sentence=None, note=note)
        if verdict != "match":
            raise ValueError(f"unknown verdict {reprlib.repr(verdict)}: match or none")
        sentence, sentence_to = _read_span(
            values, "sentence", len(alignment.book.sentences), "book"
        )
        read = cls(
            moment=moment,
            moment_to=moment_to,
            verdict="match",
            sentence=sentence,
            sentence_to=sentence_to,
            note=note,
        )
        kind = values.get("kind")
        if kind is None or kind == usual_kind(alignment.film, read.moments):
            return read
        if kind not in get_args(JudgedKind):
            raise ValueError(f"unknown kind {reprlib.repr(kind)}: dialogue, visual or audio")
        return replace(read, kind=kind)


def usual_kind(film: Film, moments: Iterable[int]) -> JudgedKind:
    """Dialogue if anybody speaks in some moments, else visual."""
    return "dialogue" if any(film.moments[i].text for i in moments) else "visual"


def _read_span(values: dict[str, Any], name: str, size: int, whole: str) -> tuple[int, int | None]:
    """First and last of a run of moments or sentences; None for the last if there is but one."""
    first, last = values.get(name), values.get(f"{name}_to")
    last = first if last is None else last
    for value in (first, last):
        if not _is_index(value, size):
            raise ValueError(f"the {whole} has no {name} {reprlib.repr(value)}")
    assert isinstance(first, int)
    assert isinstance(last, int)
    if last < first:
        raise ValueError(f"{name} {last} comes before {name} {first}")
    return first, None if last == first else last


def _is_index(value: Any, size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def describe_place(judgement: ReaderJudgement, alignment: Alignment) -> dict[str, Any]:
    """What `Carrier` needs: the times and lines of the moments, and the sentences' words."""
    moments = [alignment.film.moments[i] for i in (judgement.moments[0], judgement.moments[-1])]
    ends = (judgement.sentence, judgement.last_sentence)
    return {
        "film": [[m.start_s, m.end_s, m.text] for m in moments],
        "book": [[alignment.book.sentences[j].text, j] for j in ends if j is not None],
    }


class Carrier:
    """Finds the places of judgements that were made on another alignment."""

    def __init__(self, alignment: Alignment) -> None:
        self._alignment = alignment
        self._texts = [squeeze(sentence.text) for sentence in alignment.book.sentences]

    def carry(
        self, values: dict[str, Any], place: dict[str, Any], *, is_same_film: bool
    ) -> ReaderJudgement | None:
        """A judgement of the other alignment in this one; None if it has no place here.

        Args:
            values: The judgement, with the numbers of the other alignment.
            place: What `describe_place` said of it there.
            is_same_film: Whether the film is the same file, so that its times hold.
        """
        moments = [self._find_moment(*end, is_same_film=is_same_film) for end in place["film"]]
        sentences = [self._find_sentence(*end) for end in place["book"]]
        if None in moments or None in sentences:
            return None
        placed = {**values, "moment": moments[0], "moment_to": moments[-1]}
        if sentences:
            placed |= {"sentence": sentences[0], "sentence_to": sentences[-1]}
        try:
            return ReaderJudgement.from_dict(placed, self._alignment)
        except ValueError:  # such as an end before its start: the order is another one here
            return None

    def _find_moment(
        self, start_s: float, end_s: float, text: str, *, is_same_film: bool
    ) -> int | None:
        """The moment with the same line near this time, or the one that shares most of its time."""
        moments, said = self._alignment.film.moments, squeeze(text)
        same = [m for m in moments if said and squeeze(m.text) == said]
        near = min(same, key=lambda m: abs(m.start_s - start_s), default=None)
        if near is not None and abs(near.start_s - start_s) <= _SHIFT_S:
            return near.index
        if not is_same_film:
            return None

        def shared_s(moment: Moment) -> float:
            return min(moment.end_s, end_s) - max(moment.start_s, start_s)

        alike = [m for m in moments if bool(m.text) == bool(said)]
        best = max(alike, key=shared_s, default=None)
        if best is None or shared_s(best) <= 0:
            return None
        enough_s = min(end_s - start_s, best.end_s - best.start_s) / 2
        return best.index if shared_s(best) >= enough_s else None

    def _find_sentence(self, text: str, index: int) -> int | None:
        """The sentence with the same words, or one split off it, nearest to its place."""
        wanted = squeeze(text)
        same = [j for j, other in enumerate(self._texts) if other == wanted]
        if not same and len(wanted) >= _PIECE:
            same = [
                j
                for j, other in enumerate(self._texts)
                if len(other) >= _PIECE and (other in wanted or wanted in other)
            ]
        return min(same, key=lambda j: abs(j - index), default=None)
