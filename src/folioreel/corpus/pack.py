"""A corpus → a vocabulary and shards of token ids, to train sentence encoders on (section 4.1).

```
OUT/pack.json            format, version, settings, counts, and what each shard holds
OUT/vocabulary.txt       the words by id
OUT/shard-0000.npz …     the sentences in the order of the corpus
```
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.corpus.reader import Corpus, CorpusBook
from folioreel.corpus.shards import Shard, encode_shard
from folioreel.errors import ConfigError
from folioreel.files import make_folder, write_whole
from folioreel.models.vocabulary import (
    LARGEST_VOCABULARY,
    SPECIAL_TOKENS,
    UNKNOWN,
    Vocabulary,
    training_tokens,
)
from folioreel.progress import ProgressCallback, ignore_progress, track

FORMAT = "folioreel-pack"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class PackConfig:
    """How a corpus is packed."""

    shard_mb: float = 32.0  # the largest size of a shard before compression, in millions of bytes
    max_tokens: int = 60
    """Longer sentences are truncated: a batch takes as many steps as its longest sentence has
    words."""
    compress: bool = True  # whether shards are compressed: smaller to send, slower to load

    def __post_init__(self) -> None:
        if not 1 <= self.max_tokens < 2**16:  # lengths are stored as 16-bit integers
            raise ConfigError(f"pack.max_tokens must be 1 to 65,535, not {self.max_tokens}")
        if self.shard_mb * 1e6 < 4 * self.max_tokens:
            raise ConfigError(f"pack.shard_mb is too small for one sentence: {self.shard_mb}")


@dataclass(frozen=True, kw_only=True)
class PackedShard:
    """What one shard holds."""

    file: str
    books: int
    sentences: int
    tokens: int
    bytes: int


@dataclass(kw_only=True)
class PackReport:
    """The result of packing a corpus."""

    shards: tuple[PackedShard, ...] = ()
    sentences: int = 0
    tokens: int = 0
    unknown_tokens: int = 0
    cut_sentences: int = 0  # sentences that were truncated


@dataclass(frozen=True, kw_only=True, eq=False)
class _Piece:
    """Consecutive sentences of one book."""

    book_id: str
    first: int
    tokens: NDArray[np.uint16]
    lengths: NDArray[np.uint16]

    @property
    def size(self) -> int:
        """The number of bytes that it takes in a shard."""
        return self.tokens.nbytes + self.lengths.nbytes

    def split(self, size: int) -> tuple[_Piece, _Piece]:
        """As many sentences as fit into `size` bytes, and the rest."""
        ends = np.cumsum(self.lengths, dtype=np.int64)
        needed = 2 * ends + 2 * np.arange(1, len(ends) + 1)  # two bytes per token and per length
        count = int(np.searchsorted(needed, size, side="right"))
        cut = int(ends[count - 1])
        head = replace(self, tokens=self.tokens[:cut], lengths=self.lengths[:count])
        tokens, lengths = self.tokens[cut:], self.lengths[count:]
        return head, replace(self, first=self.first + count, tokens=tokens, lengths=lengths)


def build_vocabulary(
    corpus: Corpus, size: int = 20_000, progress: ProgressCallback = ignore_progress
) -> Vocabulary:
    """The most frequent words of a corpus; the paper's decoder has 20,000, as `size` does."""
    if not 0 < size <= LARGEST_VOCABULARY:
        raise ConfigError(f"a vocabulary has 1 to {LARGEST_VOCABULARY:,} words, not {size:,}")
    counts: Counter[str] = Counter()
    for book in track(corpus.read_books(), "counting words", progress, len(corpus.books)):
        for text in book.text.texts:
            counts.update(training_tokens(text))
    return choose_words(counts, size, sentences=corpus.sentence_count)


def choose_words(counts: Counter[str], size: int, sentences: int) -> Vocabulary:
    """The vocabulary of the most frequent words; ties are broken alphabetically."""
    chosen = sorted(counts, key=lambda word: (-counts[word], word))[:size]
    known = [counts[word] for word in chosen]
    return Vocabulary(
        words=(*SPECIAL_TOKENS, *chosen),
        counts=(0, sentences, counts.total() - sum(known), *known),
    )


def pack_corpus(
    corpus: Corpus,
    vocabulary: Vocabulary,
    out: Path,
    config: PackConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> PackReport:
    """Write a corpus as token ids, in shards of a given size."""
    config = config or PackConfig()
    if len(vocabulary) > LARGEST_VOCABULARY + len(SPECIAL_TOKENS):
        raise ConfigError(f"a vocabulary of {len(vocabulary):,} words does not fit into 16 bits")
    make_folder(out)
    report = PackReport()
    pieces = _encode_books(corpus, vocabulary, config.max_tokens, report, progress)
    report.shards = tuple(
        _write_shard(out, number, group, config)
        for number, group in enumerate(_group_pieces(pieces, int(config.shard_mb * 1e6)))
    )
    vocabulary.save(out / "vocabulary.txt")
    head = {"format": FORMAT, "version": VERSION, "config": asdict(config)}
    text = json.dumps(head | asdict(report), indent=1) + "\n"
    write_whole(out / "pack.json", text.encode("utf-8"))
    # Left over from an earlier pack with more shards, they would be taken for part of this one.
    named = {shard.file for shard in report.shards}
    for path in out.glob("shard-*.npz"):
        if path.name not in named:
            path.unlink()
    return report


def _encode_books(
    corpus: Corpus,
    vocabulary: Vocabulary,
    max_tokens: int,
    report: PackReport,
    progress: ProgressCallback,
) -> Iterator[_Piece]:
    """Each book as one piece, counted in the report."""
    for book in track(corpus.read_books(), "packing books", progress, len(corpus.books)):
        piece, cut = _encode_book(book, vocabulary, max_tokens)
        report.sentences += len(piece.lengths)
        report.tokens += len(piece.tokens)
        report.unknown_tokens += int(np.count_nonzero(piece.tokens == UNKNOWN))
        report.cut_sentences += cut
        yield piece


def _encode_book(book: CorpusBook, vocabulary: Vocabulary, max_tokens: int) -> tuple[_Piece, int]:
    """A book's token ids, and how many of its sentences were truncated."""
    sentences = [vocabulary.encode(text) for text in book.text.texts]
    ids = [token for sentence in sentences for token in sentence[:max_tokens]]
    lengths = [min(len(sentence), max_tokens) for sentence in sentences]
    piece = _Piece(
        book_id=book.record.id,
        first=0,
        tokens=np.array(ids, dtype=np.uint16),
        lengths=np.array(lengths, dtype=np.uint16),
    )
    return piece, sum(len(sentence) > max_tokens for sentence in sentences)


def _group_pieces(pieces: Iterator[_Piece], size: int) -> Iterator[list[_Piece]]:
    """Books in groups that fit into a shard; a book larger than a shard is split."""
    group: list[_Piece] = []
    room = size
    for piece in pieces:
        if piece.size > room and group:  # a book starts a new shard rather than being split
            yield group
            group, room = [], size
        while piece.size > size:
            head, piece = piece.split(size)
            yield [head]
        group.append(piece)
        room -= piece.size
    if group:
        yield group


def _write_shard(out: Path, number: int, group: list[_Piece], config: PackConfig) -> PackedShard:
    shard = Shard(
        tokens=np.concatenate([piece.tokens for piece in group]),
        lengths=np.concatenate([piece.lengths for piece in group]),
        books=np.cumsum([0, *(len(piece.lengths) for piece in group)], dtype=np.int64),
        book_ids=np.array([piece.book_id for piece in group], dtype=np.str_),
        firsts=np.array([piece.first for piece in group], dtype=np.int64),
    )
    data = encode_shard(shard, compress=config.compress)
    path = out / f"shard-{number:04d}.npz"
    write_whole(path, data)
    return PackedShard(
        file=path.name,
        books=len(group),
        sentences=len(shard.lengths),
        tokens=len(shard.tokens),
        bytes=len(data),
    )
