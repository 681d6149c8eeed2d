"""Pictures told with passages of books: the paper's CoCoBook (section 5).

A picture gets a plain sentence from the captioner. The ten sentences of the books that are nearest
to it by their vectors are ranked again by the caption's 1-gram precision, without stop words, and
the best is given with the two sentences before it and the two after.

The paper does not say which of the two texts the precision is of. Of the caption it favours
sentences that tell more of the picture; of the sentence, scraps with one word of the caption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from folioreel.apps.caption_books import Books, Floats, Neighbour, open_books
from folioreel.apps.caption_picture import caption_pictures
from folioreel.apps.caption_words import PLAIN_CAPTIONS, unigram_precision
from folioreel.apps.library import Failure
from folioreel.errors import ConfigError, InputError
from folioreel.ingest.picture import read_picture
from folioreel.models.onnx_graphs import unit_rows
from folioreel.progress import ProgressCallback, ignore_progress

_AROUND = 2
"""Sentences before and after the one that was found."""


@dataclass(frozen=True, kw_only=True)
class CaptionConfig:
    """How passages for pictures are found."""

    encoder: str | None = None
    """What gives the sentence vectors; as `open_books` takes it."""
    captioner: str = "captioner"
    """The name of a captioner, or its folder."""
    nearest: int = 10
    """How many sentences, the nearest ones, are ranked by their words."""
    count: int = 1
    """How many passages a picture gets, at most as many."""
    style_shift: bool = False
    """Whether a caption's vector is moved from how captions sound to how these books do."""
    workers: int | None = None
    """Books that are read at once; one a core if it is None."""

    def __post_init__(self) -> None:
        """Refuse to look for nothing."""
        if not 1 <= self.count <= self.nearest:
            raise ConfigError(
                f"count must be from 1 to the {self.nearest} nearest sentences, not {self.count}"
            )


@dataclass(frozen=True, kw_only=True)
class BookPassage:
    """A sentence of a book that is like a caption, between its neighbours."""

    book: str
    """The book's title."""
    path: str
    """Relative to the folder; a book in an archive has the archive's path before its own."""
    chapter: str
    """The chapter's title; empty where it has none."""
    index: int
    """The sentence's place in the book, counted from 0."""
    before: str
    """Two sentences, fewer where the book begins; a new paragraph begins on a new line."""
    sentence: str
    after: str
    similarity: float
    """The cosine between the vectors of caption and sentence."""
    precision: float
    """Of the caption's words without stop words, the share that the sentence has."""

    @property
    def text(self) -> str:
        """All of it, as it is read."""
        return self.before + self.sentence + self.after


@dataclass(frozen=True, kw_only=True)
class Story:
    """A picture, its caption, and what books have to say of it."""

    picture: Path | None
    """None where a caption alone was told."""
    caption: str
    passages: tuple[BookPassage, ...]
    """The best first."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        picture = str(self.picture) if self.picture is not None else None
        return {**asdict(self), "picture": picture}


@dataclass(frozen=True, kw_only=True)
class Telling:
    """What came of some pictures."""

    stories: tuple[Story, ...]
    failures: tuple[Failure, ...]
    """Pictures and books that the work went on without."""


def tell_pictures(
    pictures: Sequence[Path | str],
    books: Books | Path | str,
    config: CaptionConfig | None = None,
    progress: ProgressCallback = ignore_progress,
    *,
    captions: Sequence[str] = (),
) -> Telling:
    """Find passages in books for pictures.

    Args:
        pictures: Files: JPEG, PNG, WebP and the like.
        books: A corpus that was indexed, a folder of books, or what `open_books` made of one.
        config: How passages are found.
        progress: Told how far the reading of books has come.
        captions: Sentences in the captioner's place, one a picture; or without any picture.

    Raises:
        InputError: None of the pictures can be told, or the books cannot be opened. A picture or a
            book among others that cannot be read is no error: the failures name it.
        ConfigError: There is no such encoder, or the corpus was indexed with another.
        ModelFolderError: The captioner or the encoder is damaged.
        ValueError: There are captions, but not one for each picture.
    """
    config = config or CaptionConfig()
    paths = [Path(picture) for picture in pictures]
    if not (paths or captions) or (paths and captions and len(captions) != len(paths)):
        raise ValueError(f"{len(captions)} captions for {len(paths)} pictures")
    failures: list[Failure] = []
    told = _give_captions(paths, captions, config.captioner, failures)
    if isinstance(books, Path | str):
        books = open_books(books, config.encoder, progress, workers=config.workers)
    told = _keep_askable(told, books, failures)
    vectors = unit_rows(books.encoder.encode([text for _, text in told]))
    if config.style_shift:
        vectors = shift_style(vectors, books)
    stories = tuple(
        Story(picture=picture, caption=text, passages=rank_by_words(text, found)[: config.count])
        for (picture, text), found in zip(told, books.nearest(vectors, config.nearest), strict=True)
    )
    return Telling(stories=stories, failures=(*failures, *books.failures))


def rank_by_words(caption: str, neighbours: Sequence[Neighbour]) -> tuple[BookPassage, ...]:
    """Sentences by the precision of the caption's words; of equals the nearer one comes first."""
    passages = [_read_passage(caption, neighbour) for neighbour in neighbours]
    return tuple(sorted(passages, key=lambda passage: (-passage.precision, -passage.similarity)))


def shift_style(vectors: Floats, books: Books) -> Floats:
    """Captions' vectors, from how captions sound to how the books do.

    Each of length 1, minus the mean vector of captions, plus that of the books' sentences, as
    neural-storyteller does (Kiros 2015).
    """
    plain = unit_rows(books.encoder.encode(PLAIN_CAPTIONS)).mean(axis=0)
    shifted: Floats = unit_rows(vectors) - plain + books.mean_vector()
    return shifted


_Told = list[tuple[Path | None, str]]
"""Pictures with their captions."""


def _give_captions(
    paths: Sequence[Path], captions: Sequence[str], captioner: str, failures: list[Failure]
) -> _Told:
    """The pictures that can be read, each with the caption that was given or is written now."""
    if not paths:
        return [(None, text) for text in captions]
    good: list[int] = []
    for number, path in enumerate(paths):
        try:
            read_picture(path)
            good.append(number)
        except InputError as error:
            failures.append(Failure(path=str(path), problem=error.message))
    if not good:
        raise _nothing_left(failures)
    readable = [paths[number] for number in good]
    if captions:
        texts = [captions[number] for number in good]
    else:
        texts = [found[0].text for found in caption_pictures(readable, captioner=captioner)]
    return list(zip(readable, texts, strict=True))


def _keep_askable(told: _Told, books: Books, failures: list[Failure]) -> _Told:
    """Those whose captions the books can answer."""
    kept: _Told = []
    for picture, text in told:
        try:
            books.check_query(text)
            kept.append((picture, text))
        except InputError as error:
            failures.append(Failure(path=str(picture or "the caption"), problem=error.message))
    if not kept:
        raise _nothing_left(failures)
    return kept


def _nothing_left(failures: Sequence[Failure]) -> InputError:
    first = failures[0]
    if len(failures) == 1:
        return InputError(f"{first.path}: {first.problem}")
    return InputError(
        f"none of the {len(failures)} can be told; the first: {first.path}: {first.problem}"
    )


def _read_passage(caption: str, neighbour: Neighbour) -> BookPassage:
    text, index = neighbour.text, neighbour.index
    first, last = max(0, index - _AROUND), min(len(text.texts), index + _AROUND + 1)
    gaps = [
        " " if text.paragraphs[k] == text.paragraphs[k + 1] else "\n"
        for k in range(first, last - 1)
    ]
    return BookPassage(
        book=neighbour.title,
        path=neighbour.path,
        chapter=text.chapter_titles[text.chapters[index]],
        index=index,
        before="".join(text.texts[k] + gaps[k - first] for k in range(first, index)),
        sentence=neighbour.sentence,
        after="".join(gaps[k - 1 - first] + text.texts[k] for k in range(index + 1, last)),
        similarity=round(neighbour.similarity, 6),
        precision=round(unigram_precision(caption, neighbour.sentence), 6),
    )
