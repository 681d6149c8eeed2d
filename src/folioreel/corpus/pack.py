"""A corpus → shards of numbers for the training of sentence vectors (paper, section 4.1).

```
OUT/pack.json            format, version, settings, counts, and what each shard holds
OUT/vocabulary.txt       the words by id                        (tokens.py)
OUT/shard-0000.npz …     the sentences in the corpus's order    (shards.py)
```
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.corpus.reader import Corpus, CorpusBook
from folioreel.errors import ConfigError
from folioreel.files import make_folder, write_whole
from folioreel.ingest.shards import Shard, encode_shard
from folioreel.models.vocabulary import LARGEST_VOCABULARY, SPECIAL_TOKENS, UNKNOWN, Vocabulary
from folioreel.progress import Progress, ProgressCallback, ignore_progress

FORMAT = "folioreel-pack"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class PackConfig:
    """How a corpus is packed."""

    shard_mb: float = 32.0
    """The size of a shard's arrays at most, before compression, in millions of bytes."""
    max_tokens: int = 60
    """Longer sentences are cut there."""
    compress: bool = True
    """Whether shards are compressed: smaller to send, slower to load."""

    def __post_init__(self) -> None:
        """Refuse sizes that hold nothing."""
        if not 1 <= self.max_tokens < 2**16:
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


@dataclass(frozen=True, kw_only=True)
class PackReport:
    """What came of packing a corpus."""

    shards: tuple[PackedShard, ...]
    sentences: int
    tokens: int
    unknown_tokens: int
    cut_sentences: int
    """Sentences that were longer than the limit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Piece:
    """Consecutive sentences of one book."""

    book_id: str
    first: int
    tokens: NDArray[np.uint16]
    lengths: NDArray[np.uint16]

    @property
    def size(self) -> int:
        """The bytes that it needs in a shard."""
        return self.tokens.nbytes + self.lengths.nbytes

    def split(self, size: int) -> tuple[_Piece, _Piece]:
        """As many sentences as fit into some bytes, and the rest."""
        ends = np.cumsum(self.lengths, dtype=np.int64)
        needed = 2 * ends + 2 * np.arange(1, len(ends) + 1)
        count = int(np.searchsorted(needed, size, side="right"))
        cut = int(ends[count - 1])
        head = _Piece(
            book_id=self.book_id,
            first=self.first,
            tokens=self.tokens[:cut],
            lengths=self.lengths[:count],
        )
        rest = _Piece(
            book_id=self.book_id,
            first=self.first + count,
            tokens=self.tokens[cut:],
            lengths=self.lengths[count:],
        )
        return head, rest


@dataclass(kw_only=True)
class _Counts:
    sentences: int = 0
    tokens: int = 0
    unknown: int = 0
    cut: int = 0


def pack_corpus(
    corpus: Corpus,
    vocabulary: Vocabulary,
    out: Path,
    config: PackConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> PackReport:
    """Write a corpus as numbers, in shards of a given size.

    Raises:
        InputError: A book's file is damaged, or `out` cannot be written.
    """
    config = config or PackConfig()
    if len(vocabulary) > LARGEST_VOCABULARY + len(SPECIAL_TOKENS):
        raise ConfigError(f"a vocabulary of {len(vocabulary):,} does not fit into 16 bits")
    make_folder(out)
    counts = _Counts()
    pieces = _read_pieces(corpus, vocabulary, config, counts, progress)
    shards = tuple(
        _write_shard(out, number, group, config)
        for number, group in enumerate(_group_pieces(pieces, int(config.shard_mb * 1e6)))
    )
    vocabulary.save(out / "vocabulary.txt")
    report = PackReport(
        shards=shards,
        sentences=counts.sentences,
        tokens=counts.tokens,
        unknown_tokens=counts.unknown,
        cut_sentences=counts.cut,
    )
    head = {"format": FORMAT, "version": VERSION, "config": asdict(config)}
    text = json.dumps(head | asdict(report), indent=1) + "\n"
    write_whole(out / "pack.json", text.encode("utf-8"))
    _remove_old_shards(out, len(shards))
    return report


def _read_pieces(
    corpus: Corpus,
    vocabulary: Vocabulary,
    config: PackConfig,
    counts: _Counts,
    progress: ProgressCallback,
) -> Iterator[_Piece]:
    """Each book as one piece."""
    for done, book in enumerate(corpus.read_books(), 1):
        piece = _encode_book(book, vocabulary, config.max_tokens, counts)
        counts.sentences += len(piece.lengths)
        counts.tokens += len(piece.tokens)
        counts.unknown += int(np.count_nonzero(piece.tokens == UNKNOWN))
        yield piece
        progress(Progress(stage="packing books", done=done, total=len(corpus.books)))


def _encode_book(
    book: CorpusBook, vocabulary: Vocabulary, max_tokens: int, counts: _Counts
) -> _Piece:
    ids: list[int] = []
    lengths: list[int] = []
    for text in book.text.texts:
        sentence = vocabulary.encode(text)
        counts.cut += len(sentence) > max_tokens
        ids += sentence[:max_tokens]
        lengths.append(min(len(sentence), max_tokens))
    return _Piece(
        book_id=book.record.id,
        first=0,
        tokens=np.array(ids, dtype=np.uint16),
        lengths=np.array(lengths, dtype=np.uint16),
    )


def _group_pieces(pieces: Iterator[_Piece], size: int) -> Iterator[list[_Piece]]:
    """Books in groups that fit into a shard; one that is larger than a shard is split."""
    group: list[_Piece] = []
    room = size
    for piece in pieces:
        if piece.size > room and group:
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
    path = out / _shard_name(number)
    write_whole(path, data)
    return PackedShard(
        file=path.name,
        books=len(group),
        sentences=len(shard.lengths),
        tokens=len(shard.tokens),
        bytes=len(data),
    )


def _remove_old_shards(out: Path, shards: int) -> None:
    """Remove what an earlier pack of more shards left, which would be taken for part of this."""
    named = {_shard_name(number) for number in range(shards)}
    for path in out.glob("shard-*.npz"):
        if path.name not in named:
            path.unlink()


def _shard_name(number: int) -> str:
    return f"shard-{number:04d}.npz"
