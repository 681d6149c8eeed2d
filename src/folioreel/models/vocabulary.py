"""Words and punctuation marks as numbers: what the sentence vectors are trained on (section 4.1).

Imports nothing but the standard library and this package's light modules, so that a training
machine can read a vocabulary and write words as numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from folioreel.errors import InputError
from folioreel.files import write_whole

PADDING, END, UNKNOWN = 0, 1, 2
"""The ids that stand for no word: filling, the end of a sentence, a word not in the vocabulary."""
SPECIAL_TOKENS = ("<pad>", "<eos>", "<unk>")
"""How they are written; no text gives such a token, as `<` is a token of its own."""
LARGEST_VOCABULARY = 2**16 - len(SPECIAL_TOKENS)

_FOLDED: dict[int, str | None] = {ord(mark): "'" for mark in "‘’‚‛`´ʼ′"}
_FOLDED |= {ord(mark): '"' for mark in "“”„‟«»″"}
_FOLDED |= {ord(mark): "--" for mark in "—―"} | {ord("–"): "-"}
# Characters that are not seen: soft hyphen, zero-width ones, byte-order mark.
_FOLDED |= dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
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
# What is parted from the word before it: n't, and 's, 'll, 're, 've, 'd, 'm.
_NOT = re.compile(r"(?<=\w)'?n't\b")
_ENDING = re.compile(r"(?<=[\w.])'(?=(?:s|ll|re|ve|d|m)\b)")


def training_tokens(text: str) -> list[str]:
    """The words and punctuation marks of a sentence, in lower case.

    As in the paper's samples: `did n't`, `the girl 's hand`, `wrought-iron`, and numbers as they
    are. Where those write quotes as two marks (`` and ''), we write one, as subtitles do.
    """
    folded = text.translate(_FOLDED) if not text.isascii() or "`" in text else text
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", folded)
    folded = folded.lower()
    if "'" in folded:
        folded = _ENDING.sub(" '", _NOT.sub(" n't", folded))
    tokens: list[str] = _TOKEN.findall(folded)
    # There is one way to write a dash and one to write an ellipsis.
    if "-" in folded:
        tokens = ["--" if token[0] == "-" else token for token in tokens]
    if ".." in folded or ". ." in folded:
        tokens = ["..." if token[0] == "." and len(token) > 1 else token for token in tokens]
    return tokens


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words that a model knows, by number."""

    words: tuple[str, ...]
    """The special tokens first, then words by falling frequency, equals in alphabetical order."""
    counts: tuple[int, ...]
    """How often each occurs; for the unknown word, how often all words that are not here do."""

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word → number."""
        return {word: number for number, word in enumerate(self.words)}

    @property
    def coverage(self) -> float:
        """The share of the corpus's tokens that it knows."""
        tokens = sum(self.counts[UNKNOWN:])
        return 1 - self.counts[UNKNOWN] / max(1, tokens)

    def encode(self, text: str) -> list[int]:
        """The numbers of a sentence's tokens, without an end mark."""
        ids = self.ids
        return [ids.get(token, UNKNOWN) for token in training_tokens(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The tokens of some numbers, parted by blanks, up to the end mark and without filling."""
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
        """Read `vocabulary.txt`.

        Raises:
            InputError: The file is missing or is not a vocabulary.
        """
        try:
            return cls.parse(path.read_bytes(), path)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", path) from error

    @classmethod
    def parse(cls, data: bytes, path: Path) -> Vocabulary:
        """The vocabulary that `pack` gave; the path is for messages.

        Raises:
            InputError: This is not a whole vocabulary.
        """
        try:
            # Not `splitlines`: a word may hold one of the rarer line separators.
            lines = data.decode("utf-8").replace("\r\n", "\n").split("\n")
        except UnicodeDecodeError as error:
            raise InputError(f"is not a vocabulary ({error})", path) from error
        words, counts = [], []
        for number, line in enumerate(lines[:-1], 1):
            word, _, count = line.partition("\t")
            if not word or not count.isdecimal():
                raise InputError("should be a word, a tab and its count", path, number)
            words.append(word)
            counts.append(int(count))
        if tuple(words[:3]) != SPECIAL_TOKENS or lines[-1] or len(set(words)) != len(words):
            raise InputError("is not a whole vocabulary; was it cut short or edited?", path)
        return cls(words=tuple(words), counts=tuple(counts))
