"""How the film renders a passage: in its words, in other words, or by saying what it narrates.

Decided from the text alone. A line whose words are mostly in the passage, in order, is `verbatim`.
Otherwise it is a `paraphrase` if the passage is speech in the book, and `reported` if it is
narration. Speech is what stands in quotation marks, or in a paragraph that begins with a dash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from folioreel.export.estimates import Estimate
from folioreel.language import are_kin
from folioreel.text import find_words, place_sentences, tokenize
from folioreel.types import Alignment, Book, Link

How = Literal["verbatim", "paraphrase", "reported"]
HOWS: tuple[How, ...] = ("verbatim", "paraphrase", "reported")

_AROUND = 2  # sentences: a line often takes up the end of one sentence and the start of the next
_VERBATIM = 0.6
"""The share of a line's words that must be there, in order: chosen on the 741 judged lines that are
linked near their passage, of which 0.55 and 0.65 decide half a percent worse."""
_VERBATIM_NARRATION = 0.9
"""The same where the book narrates: judges call the same words in narration `reported`, unless the
line is all of them."""
CONFUSION: dict[How, tuple[int, int, int]] = {
    "verbatim": (431, 26, 4),
    "paraphrase": (35, 117, 6),
    "reported": (17, 13, 92),
}
"""What judges said (in the order of HOWS) of the lines of which we say this: they agree on 86 % of
741 lines (benchmarks/adaptations.py)."""
_FEW = 0.05  # share of paragraphs with speech marks below which a book does not use them
_MARKS = {
    # Then Finnish and Swedish books, which open and close alike, typists, and Japanese and Hebrew.
    "double": re.compile(
        r"[“„«][^“„«”»]*[”»“]?|”[^”]*”?|»[^»]*»?|\"[^\"]*\"?|「[^」]*」?|『[^』]*』?|"
        r"(?<!\w)״.*?(?:״(?!\w)|$)"
    ),
    "single": re.compile(r"(?<!\w)['‘](?=\w).*?(?<=[\w.,!?;:—…-])['’](?!\w)|(?<!\w)['‘](?=\w).*$"),
    "dash": re.compile(r"^\s*[—–―-]\s*\S.*$", re.DOTALL),
}


@dataclass(frozen=True, kw_only=True)
class Renderings:
    """How the lines that are in the book render it."""

    lines: int
    shares: dict[How, Estimate]
    """Of these lines, corrected by how often judges say otherwise."""
    marks_speech: bool
    """Whether the book marks speech; if not, `reported` also holds paraphrases of speech."""


class Reader:
    """Decides how lines render a book."""

    def __init__(self, book: Book) -> None:
        self._book = book
        placed = [
            place_sentences(book.sentences[j].text for j in paragraph.sentences)
            for paragraph in book.paragraphs
        ]
        self._texts = [text for text, _ in placed]
        self._starts = [start for _, starts in placed for start in starts]  # of each sentence
        self._marks = self._find_marks()
        self.marks_speech = bool(self._marks)

    def _find_marks(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        """How the book marks speech: what enough of its paragraphs have."""

        def is_used(pattern: re.Pattern[str]) -> bool:
            count = sum(pattern.search(text) is not None for text in self._texts)
            return count >= _FEW * len(self._texts)

        found = [(name, mark) for name, mark in _MARKS.items() if is_used(mark)]
        # Single quotes stand inside double ones, and apostrophes look like them.
        names = [name for name, _ in found]
        return tuple(pair for pair in found if pair[0] != "single" or "double" not in names)

    def is_speech(self, sentence: int) -> bool:
        """Whether most words of a sentence are speech."""
        paragraph = self._book.paragraph_of[sentence]
        text, start = self._texts[paragraph], self._starts[sentence]
        end = start + len(self._book.sentences[sentence].text)
        words = len(find_words(text[start:end]))
        for _, mark in self._marks:
            spoken = " ".join(
                text[max(start, found.start()) : max(start, min(end, found.end()))]
                for found in mark.finditer(text)
            )
            if words and 2 * len(find_words(spoken)) >= words:
                return True
        return False

    def how(self, line: str, sentence: int) -> How:
        """How a line renders a sentence."""
        said = tokenize(line)
        last = len(self._book.sentences) - 1
        around = range(max(0, sentence - _AROUND), min(last, sentence + _AROUND) + 1)
        words = [word for j in around for word in self._words[j]]
        share = common_words(said, words) / max(1, len(said))
        if self.is_speech(sentence):
            return "verbatim" if share >= _VERBATIM else "paraphrase"
        return "verbatim" if share >= _VERBATIM_NARRATION else "reported"

    @cached_property
    def _words(self) -> list[list[str]]:
        return [tokenize(sentence.text) for sentence in self._book.sentences]


def common_words(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for word in first:
        before = 0
        for k, other in enumerate(second, 1):
            before, row[k] = row[k], before + 1 if word == other else max(row[k], row[k - 1])
    return row[-1]


def measure_renderings(alignment: Alignment) -> Renderings | None:
    """How the lines in the book render it; None if none is, or the two are in other languages."""
    links = spoken_in_book(alignment)
    if not links or not _same_language(alignment):
        return None
    reader = Reader(alignment.book)
    said = alignment.film.moments
    found = [reader.how(said[link.moment].text, link.sentence) for link in links]
    return Renderings(
        lines=len(links), shares=expected_shares(found), marks_speech=reader.marks_speech
    )


def spoken_in_book(alignment: Alignment) -> list[Link]:
    """The links of lines that are in the book, in time order."""
    moments = alignment.film.moments
    return [link for link in alignment.links if link.in_book and moments[link.moment].text.strip()]


def expected_shares(found: Iterable[How]) -> dict[How, Estimate]:
    """Shares as judges would count them, each with its 95 % interval.

    What we call a paraphrase, judges sometimes call verbatim. How often they do is known from few
    lines, so it is drawn from its posterior, and the lines are drawn from it.
    """
    found = list(found)
    counts = {how: found.count(how) for how in HOWS}
    generator = np.random.default_rng(0)
    drawn = np.zeros((2000, len(HOWS)))
    for how, count in counts.items():
        chances = generator.dirichlet(np.array(CONFUSION[how]) + 0.5, size=len(drawn))
        drawn += generator.multinomial(count, chances)
    drawn /= max(1, len(found))
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    return {
        how: Estimate(value=float(drawn[:, k].mean()), low=float(low[k]), high=float(high[k]))
        for k, how in enumerate(HOWS)
    }


def _same_language(alignment: Alignment) -> bool:
    """Whether the two are in one language, as far as their languages are known."""
    book, film = alignment.book.language, alignment.film.language
    return book is None or film is None or are_kin(book, film)
