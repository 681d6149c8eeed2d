"""Lines of a PDF → running text: words that a line's end parted are joined again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from folioreel.ingest.books.pdf_lines import SOFT_HYPHEN

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_PARTED = re.compile(r"(?P<left>[^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010]$")
_FIRST = re.compile(r"^[^\W\d_]+")
# English, as most books that come here; elsewhere these hardly ever match.
_FORM_COMPOUNDS = frozenset(
    "self half semi well ill cross quarter twenty thirty forty fifty sixty seventy eighty ninety "
    "to mother father brother sister fellow".split()
)
_PREFIXES = frozenset(
    "a an in im en em un re be de per for fore pro con com dis mis out up on ex sub over under "
    "inter trans ab ad at as is it so or no do he me we the and any are ever every some with her "
    "him man can car par pen bar for sin son cap".split()
)
_ENDING = re.compile(
    r"^(?:ings?|ed|ers?|est|ly|n?ess|less|full?|ments?|[stc]ion|able|ibl[ey]|abl[ey]|ous|ive|al|it|"
    r"is[mt]|i[zs]|en|[ae]nc|ship|hood|wards?|dom|some|ry|ty|th)\w{0,5}$"
)
_DASH = re.compile(r"(?<=\S)(?:--|—|–)$")


class Joiner:
    """Joins lines, and knows the book's words to tell `exam-ple` from `well-known`."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Count the words and the compounds that stand inside lines, where no line's end is."""
        self._words: Counter[str] = Counter()
        self._compounds: Counter[str] = Counter()
        parted = False
        for line in lines:
            cut = _parted(line)
            inside = (line[: cut.start()] if cut else line).casefold()
            inside = _FIRST.sub("", inside) if parted else inside
            parted = cut is not None or line.endswith(SOFT_HYPHEN)
            self._words.update(_WORD.findall(inside))
            self._compounds.update(_COMPOUND.findall(inside))

    def join(self, lines: Sequence[str]) -> str:
        """The lines as one text."""
        text = ""
        for line in lines:
            text = self._append(text, line) if text else line
        return text.rstrip(SOFT_HYPHEN)

    def _append(self, text: str, line: str) -> str:
        if text.endswith(SOFT_HYPHEN):
            return text[:-1] + line
        parted, first = _parted(text), _FIRST.match(line)
        if parted and first:
            kept = self._keeps_hyphen(parted["left"], first.group())
            return text[:-1] + ("-" if kept else "") + line
        # A dash that follows a word directly is followed by one directly.
        closed = _DASH.search(text[-4:]) or (text[-1] == "-" and line[0] == "-")
        return text + line if closed else f"{text} {line}"

    def _keeps_hyphen(self, left: str, right: str) -> bool:
        """Whether the hyphen belongs to the word, and not to the line's end.

        The forms that the book itself uses decide. Where it uses neither, a hyphen is kept
        between two words, and after a whole word if what follows is no mere ending.
        """
        before, after = left.casefold(), right.casefold()
        last = before.rpartition("-")[2]
        if last != before and self._words[last + after]:
            return False  # "self-posses-" and "sion"
        joined, hyphenated = self._words[before + after], self._compounds[f"{before}-{after}"]
        if joined or hyphenated:
            return hyphenated > joined
        if last != before or last in _FORM_COMPOUNDS or (right[0].isupper() and not left.isupper()):
            return True
        if last in _PREFIXES or not self._words[last] or _ENDING.match(after):
            return False
        return len(after) > 3 or bool(self._words[after])

    def knows(self, word: str) -> bool:
        """Whether the book uses a word."""
        return self._words[word.casefold()] > 0


def _parted(text: str) -> re.Match[str] | None:
    """The word that a hyphen at the end of a text cuts."""
    if not text.endswith(("-", "\u2010")):
        return None
    return _PARTED.search(text, max(0, len(text) - 60))
