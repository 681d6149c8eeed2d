"""Words and punctuation marks as ids: what the sentence encoders read (paper, section 4.1).

A word that a vocabulary does not have can be read as a known variant of it: `ill-lit` as `ill lit`,
`colour` as `color`, `carving` as `carve`.

Imports nothing but the standard library and this package's light modules, so that a bare training
machine can encode text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from folioreel.errors import InputError
from folioreel.files import write_whole
from folioreel.reading import read_plain

# The ids of padding, of the end of a sentence, and of any word that is not in the vocabulary, and
# how they are written; text never gives such a token, as `<` is a token of its own.
PADDING, END, UNKNOWN = 0, 1, 2
SPECIAL_TOKENS = ("<pad>", "<eos>", "<unk>")
# So that an id fits into two bytes: the training corpus is stored as uint16.
LARGEST_VOCABULARY = 2**16 - len(SPECIAL_TOKENS)
_MOST_DIGITS = 15  # of a count; no corpus has as many words, and Python converts no endless number

# Typographic quotes and dashes become plain ones: books have them, subtitles mostly do not.
_FOLDED: dict[int, str | None] = {ord(mark): "'" for mark in "‘’‚‛`´ʼ′"}
_FOLDED |= {ord(mark): '"' for mark in "“”„‟«»″"}
_FOLDED |= {ord(mark): "--" for mark in "—―"} | {ord("–"): "-"}
# Invisible characters: soft hyphen, zero-width ones, byte-order mark.
_FOLDED |= dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
# Chinese and Japanese are written without spaces: each of their characters is a token.
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_LETTER = rf"[^\W_{_CJK}]"
_TOKEN = re.compile(
    rf"[^\W\d_{_CJK}](?:\.[^\W\d_{_CJK}])+\."  # p.m. and u.s.
    r"|\d+(?:[.,:]\d+)+(?![^\W\d_])"  # 1,000 and 3.5 and 10:30
    r"|(?:mrs?|messrs|dr|st|prof|rev|col|capt|gen|lieut|hon|jr|sr)\."
    rf"|n't\b|{_LETTER}+(?:[-']{_LETTER}+)*"
    r"|'(?:s|ll|re|ve|d|m|em|t(?:is|was|were|will|would))\b"
    r"|\.(?:\s?\.)+"  # the dots of an ellipsis, however they are set
    r"|--+"
    r"|\S"  # a mark, or an ideograph
)
# Split off from the word before it: n't, and 's, 'll, 're, 've, 'd, 'm.
_NOT = re.compile(r"(?<=\w)'?n't\b")
_ENDING = re.compile(r"(?<=[\w.])'(?=(?:s|ll|re|ve|d|m)\b)")


def training_tokens(text: str) -> list[str]:
    """The words and punctuation marks of a sentence, in lower case.

    As in the paper's samples: `did n't`, `the girl 's hand`, `wrought-iron`, and numbers as they
    are. Quotes, which the samples write as two marks (`` and ''), are one, as in subtitles.
    """
    folded = text.translate(_FOLDED) if not text.isascii() or "`" in text else text
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", folded)
    folded = folded.lower()
    if "'" in folded:
        folded = _ENDING.sub(" '", _NOT.sub(" n't", folded))
    tokens: list[str] = _TOKEN.findall(folded)
    # One token for all dashes and one for all ellipses.
    if "-" in folded:
        tokens = ["--" if token[0] == "-" else token for token in tokens]
    if ".." in folded or ". ." in folded:
        tokens = ["..." if token[0] == "." and len(token) > 1 else token for token in tokens]
    return tokens


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words that a model knows, by id."""

    words: tuple[str, ...]
    """The special tokens first, then words by falling frequency, ties in alphabetical order."""
    counts: tuple[int, ...]
    """How often each occurs in the corpus; for `<unk>`, how often all other words do."""

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word → id."""
        return {word: number for number, word in enumerate(self.words)}

    @property
    def coverage(self) -> float:
        """The fraction of the corpus's tokens that are in the vocabulary."""
        tokens = sum(self.counts[UNKNOWN:])
        return 1 - self.counts[UNKNOWN] / max(1, tokens)

    def encode(self, text: str) -> list[int]:
        """The ids of a sentence's tokens, without `<eos>`."""
        ids = self.ids
        return [ids.get(token, UNKNOWN) for token in training_tokens(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The tokens of some ids, separated by spaces, up to `<eos>` and without padding."""
        tokens = []
        for number in ids:
            if number == END:
                break
            if number != PADDING:
                tokens.append(self.words[number])
        return " ".join(tokens)

    def pack(self) -> bytes:
        """The content of `vocabulary.txt`: a word and its count on each line, by id."""
        rows = zip(self.words, self.counts, strict=True)
        return "".join(f"{word}\t{count}\n" for word, count in rows).encode()

    def save(self, path: Path) -> None:
        """Write `vocabulary.txt`, all of it or nothing."""
        write_whole(path, self.pack())

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read `vocabulary.txt`."""
        try:
            return cls.parse(read_plain(path), path)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", path) from error

    @classmethod
    def parse(cls, data: bytes, path: Path) -> Vocabulary:
        """The vocabulary that `pack` gave; the path is for messages."""
        try:
            # Not `splitlines`: a word may hold one of the rarer line separators.
            lines = data.decode("utf-8").replace("\r\n", "\n").split("\n")
        except UnicodeDecodeError as error:
            raise InputError(f"is not a vocabulary ({error})", path) from error
        words, counts = [], []
        for number, line in enumerate(lines[:-1], 1):
            word, _, count = line.partition("\t")
            if not word or not count.isdecimal() or len(count) > _MOST_DIGITS:
                raise InputError("should be a word, a tab and its count", path, number)
            words.append(word)
            counts.append(int(count))
        if tuple(words[:3]) != SPECIAL_TOKENS or lines[-1] or len(set(words)) != len(words):
            raise InputError("is not a whole vocabulary; was it cut short or edited?", path)
        return cls(words=tuple(words), counts=tuple(counts))


# Shorter stems are mostly not stems at all (`bed`, `sing`).
_SHORTEST_STEM = 3
_VOWEL = re.compile(r"[aeiouy]")
# One vowel and one consonant at the end: such a stem has lost an e, or would have doubled.
_SHORT_END = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")
_LOST_E = re.compile(r"[^cvszu][cvszu]$")  # danc(e), mov(e), rais(e), argu(e), but not pass
_DOUBLED = re.compile(r"([bdfgklmnprtvz])\1$")

# British and American spelling, tried in both directions. Each is bound to a place in the word: at
# least two letters before it and one of these endings after it, so that `or` and `her` are safe.
_SPELLINGS = tuple(
    (re.compile(before + found + after), other)
    for before, british, american, after in (
        (r"(?<=\w\w)", "our", "or", r"(?=(?:s|ed|ing|er|ers|ful|less|able|ably|ite|y)?$)"),
        (r"(?<=\w\w)", "is", "iz", r"(?=(?:e|es|ed|ing|er|ers|ation|ations)$)"),
        (r"(?<=\w\w)", "ys", "yz", r"(?=(?:e|es|ed|ing)$)"),
        (r"(?<=\w\w[bt])", "re", "er", r"(?=s?$)"),
        (r"(?<=\w\w)", "ence", "ense", r"(?=s?$)"),
        (r"(?<=\w\w[aeiou])", "ll", "l", r"(?=(?:ed|ing|er|ers)$)"),
        ("", "grey", "gray", ""),
    )
    for found, other in ((british, american), (american, british))
)
# Plurals and adverbs: what an ending becomes, the likelier bases first.
_BASES = (
    *(("ies", "y"), ("ves", "f"), ("ves", "fe"), ("ses", "s"), ("xes", "x"), ("zes", "z")),
    *(("ches", "ch"), ("shes", "sh"), ("oes", "o"), ("s", "")),
    *(("ily", "y"), ("bly", "ble"), ("ically", "ic"), ("ly", "")),
)


def known_tokens(tokens: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """The tokens, with each unknown word replaced by a known variant of it, if there is one.

    A hyphenated word becomes those of its parts that are known. A word without a known variant
    stays as it is.
    """
    known = vocabulary.ids
    found: list[str] = []
    for token in tokens:
        pieces = [token] if token in known else token.split("-")
        forms = (known_form(piece, known) for piece in pieces)
        found += [form for form in forms if form is not None] or [token]
    return found


def known_form(word: str, known: Container[str]) -> str | None:
    """The word itself, another spelling, or the form that it is inflected from: the first known."""
    if word in known:
        return word
    if not (word.isascii() and word.isalpha()):
        return None
    bases = list(base_forms(word))
    respelt_bases = (form for base in bases for form in spellings(base))
    forms = chain(spellings(word), bases, respelt_bases)
    return next((form for form in forms if form in known), None)


def spellings(word: str) -> Iterator[str]:
    """The word in British or American spelling, whichever it is not in."""
    for pattern, other in _SPELLINGS:
        respelt = pattern.sub(other, word)
        if respelt != word:
            yield respelt


def base_forms(word: str) -> Iterator[str]:
    """The words that this one may be an inflection of, the likeliest first."""
    if word.endswith(("ss", "us", "is")):  # pass, status, basis: singular already
        return
    endings = [(ending, base) for ending, base in _BASES if word.endswith(ending)]
    forms = (word.removesuffix(ending) + base for ending, base in endings)
    for form in forms if endings else _without_ending(word):
        if len(form) >= _SHORTEST_STEM and _VOWEL.search(form):
            yield form


def _without_ending(word: str) -> Iterator[str]:
    """Without -ed, -er, -est or -ing: the silent e put back, the doubled consonant undone."""
    for ending in ("ed", "er", "est", "ing"):
        if not word.endswith(ending):
            continue
        stem = word.removesuffix(ending)
        if len(stem) < _SHORTEST_STEM - 1 or not _VOWEL.search(stem):
            return
        if stem.endswith("i") and ending != "ing":
            yield stem[:-1] + "y"
        elif _SHORT_END.search(stem) or _LOST_E.search(stem):
            yield from (stem + "e", stem)  # hoping is from hope, where hopping is from hop
        else:
            yield from (stem, stem + "e")
        if _DOUBLED.search(stem):
            yield stem[:-1]
        return
