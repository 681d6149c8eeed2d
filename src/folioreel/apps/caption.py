"""Book passages for pictures: the paper's CoCoBook (section 5).

The captioner writes a plain sentence about a picture. The ten sentences of the books whose vectors
are nearest to it are ranked again by the unigram precision of the caption, without stop words, and
the best one is given with the two sentences before and after it.

The paper does not say of which text the precision is taken. With the caption's, sentences win that
say more about the picture; with the sentence's, fragments that hold one word of the caption would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from folioreel.apps.caption_books import Floats, NearSentence, SearchableBooks, open_books
from folioreel.apps.library import Failure
from folioreel.errors import ConfigError, InputError
from folioreel.ingest.picture import read_picture, square
from folioreel.models.captioner import Caption, Captioner
from folioreel.models.frame_features import DEFAULT, load_frame_features
from folioreel.models.onnx_graphs import unit_rows
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.text import tokenize

# English, as the captioner is.
STOP_WORDS = frozenset(
    """
    a an the this that these those some any no each every all both either neither such own same
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves one's oneself
    who whom whose which what when where why how whoever whatever
    am is are was were be been being have has had having do does did doing done can could may
    might must shall should will would ought
    i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll
    we're we've we'd we'll they're they've they'd they'll that's there's here's what's who's let's
    isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't can't cannot couldn't
    mustn't needn't shan't shouldn't won't wouldn't
    and but or nor if than then so because as until while though although since unless whether
    of at by for with without about against between among into onto through during before after
    above below under over to toward towards from up upon down in out on off near around across
    along behind beside beyond within again further once there here also too very just only even
    still yet ever never not more most much many other another few less least else quite rather
    """.split()
)

# Captions as people write them under photographs, made up for this purpose: their mean vector is
# the style of captions.
PLAIN_CAPTIONS = Path(__file__).with_name("plain_captions.txt").read_text("utf-8").splitlines()


@dataclass(frozen=True, kw_only=True)
class CaptionConfig:
    """How passages for pictures are found."""

    encoder: str | None = None  # the sentence encoder, as `open_books` takes it
    captioner: str = "captioner"  # the name of a captioner, or its folder
    nearest: int = 10
    """The number of nearest sentences that are ranked by their words, as in the paper."""
    count: int = 1  # the number of passages per picture, at most `nearest`
    style_shift: bool = False
    """Whether caption vectors are shifted from the style of captions to the style of the books."""
    workers: int | None = 1  # number of books that are read in parallel; see `run_many`

    def __post_init__(self) -> None:
        if not 1 <= self.count <= self.nearest:
            raise ConfigError(
                f"count must be from 1 to the {self.nearest} nearest sentences, not {self.count}"
            )


@dataclass(frozen=True, kw_only=True)
class RankedPassage:
    """A sentence similar to a caption, with the sentences around it."""

    book: str  # the title of the book
    path: str  # relative to the folder; a book in an archive has the archive's path before its own
    chapter: str  # the title of the chapter; empty if it has none
    index: int  # the index of the sentence in the book, counted from 0
    before: str  # two sentences, fewer at the start of the book; each paragraph starts a new line
    sentence: str
    after: str
    similarity: float  # the cosine between the vectors of caption and sentence
    precision: float  # the share of the caption's words, without stop words, that the sentence has

    @property
    def text(self) -> str:
        """The whole passage."""
        return self.before + self.sentence + self.after


@dataclass(frozen=True, kw_only=True)
class Story:
    """A picture, its caption, and what books say about it."""

    picture: Path | None  # None if a caption was given without a picture
    caption: str
    passages: tuple[RankedPassage, ...]  # best first

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        picture = str(self.picture) if self.picture is not None else None
        return {**asdict(self), "picture": picture}


@dataclass(frozen=True, kw_only=True)
class FoundPassages:
    """The passages for some pictures."""

    stories: tuple[Story, ...]
    failures: tuple[Failure, ...]  # pictures and books that were skipped


def find_passages(
    pictures: Sequence[Path | str],
    books: SearchableBooks | Path | str,
    config: CaptionConfig | None = None,
    progress: ProgressCallback = ignore_progress,
    *,
    captions: Sequence[str] = (),
) -> FoundPassages:
    """Find book passages for pictures.

    Args:
        pictures: Files: JPEG, PNG, WebP and the like.
        books: An indexed corpus, a folder of books, or what `open_books` returned for one.
        config: How passages are found.
        progress: Called as books are read.
        captions: Used instead of the captioner's: one per picture, or without any picture.

    Raises:
        InputError: No picture can be read, or the books cannot be opened. One unreadable picture or
            book among others is not an error: `failures` names it.
        ConfigError: There is no such encoder, or the corpus was indexed with another.
        ModelFolderError: The captioner or the encoder is damaged.
        ValueError: There are captions, but not one for each picture.
    """
    config = config or CaptionConfig()
    paths = [Path(picture) for picture in pictures]
    if not (paths or captions) or (paths and captions and len(captions) != len(paths)):
        raise ValueError(f"{len(captions)} captions for {len(paths)} pictures")
    failures: list[Failure] = []
    # Pictures come first: opening the books may take minutes.
    captioned = _add_captions(paths, captions, config.captioner, failures)
    if isinstance(books, Path | str):
        books = open_books(books, config.encoder, progress, workers=config.workers)
    check_query = books.check_query
    captioned = _keep_usable(captioned, lambda _, text: check_query(text), failures)
    vectors = unit_rows(books.encoder.encode([text for _, text in captioned]))
    if config.style_shift:
        vectors = shift_style(vectors, books)
    neighbours = books.nearest(vectors, config.nearest)
    stories = tuple(
        Story(picture=picture, caption=text, passages=rank_passages(text, found)[: config.count])
        for (picture, text), found in zip(captioned, neighbours, strict=True)
    )
    return FoundPassages(stories=stories, failures=(*failures, *books.failures))


def caption_pictures(
    pictures: Sequence[Path | str], *, count: int = 1, captioner: str | Path = "captioner"
) -> list[list[Caption]]:
    """Captions for each picture, the most probable first.

    Args:
        pictures: Files: JPEG, PNG, WebP and the like.
        count: The largest number of captions per picture.
        captioner: The name of a captioner, or its folder.
    """
    writer = Captioner.load(captioner)
    network = load_frame_features(str(writer.training.get("frame_features", DEFAULT)))
    found = []
    for picture in pictures:
        frame = square(read_picture(Path(picture)), network.size_px)
        seen = network.encode(frame[None])
        features = np.hstack([seen[kind] for kind in writer.features])
        found += writer.captions(features, count)
    return found


def rank_passages(caption: str, neighbours: Sequence[NearSentence]) -> tuple[RankedPassage, ...]:
    """Sentences by the unigram precision of the caption; of equals the nearest comes first."""
    passages = [
        RankedPassage(
            book=near.title,
            path=near.path,
            chapter=near.passage.chapter_title,
            index=near.passage.centre,
            before=near.passage.before,
            sentence=near.passage.sentence.text,
            after=near.passage.after,
            similarity=round(near.similarity, 6),
            precision=round(unigram_precision(caption, near.passage.sentence.text), 6),
        )
        for near in neighbours
    ]
    return tuple(sorted(passages, key=lambda passage: (-passage.precision, -passage.similarity)))


def unigram_precision(caption: str, sentence: str) -> float:
    """The share of a caption's words that a sentence has, without stop words.

    As in BLEU, the machine's text is judged against the human one, and a word counts at most as
    often as the sentence has it. 0 for a caption of nothing but stop words.
    """
    words = Counter(_content_words(caption))
    shared = words & Counter(_content_words(sentence))
    return shared.total() / max(1, words.total())


def _content_words(text: str) -> list[str]:
    return [word for word in tokenize(text) if word not in STOP_WORDS]


def shift_style(vectors: Floats, books: SearchableBooks) -> Floats:
    """Caption vectors in the style of the books, as in neural-storyteller (Kiros 2015).

    Each unit vector minus the mean vector of captions plus that of the books' sentences.
    """
    plain = unit_rows(books.encoder.encode(PLAIN_CAPTIONS)).mean(axis=0)
    shifted: Floats = unit_rows(vectors) - plain + books.mean_vector()
    return shifted


# Pictures with their captions; a caption is empty until it has been generated.
_Captioned = list[tuple[Path | None, str]]


def _add_captions(
    paths: Sequence[Path], captions: Sequence[str], captioner: str, failures: list[Failure]
) -> _Captioned:
    """The readable pictures, each with the caption that was given or is generated now."""
    if not paths:
        return [(None, text) for text in captions]
    given: _Captioned = list(zip(paths, captions or [""] * len(paths), strict=True))
    readable = _keep_usable(given, lambda path, _: path and read_picture(path), failures)
    if captions:
        return readable
    written = caption_pictures([path for path, _ in readable if path], captioner=captioner)
    return [(path, found[0].text) for (path, _), found in zip(readable, written, strict=True)]


def _keep_usable(
    captioned: _Captioned, check: Callable[[Path | None, str], object], failures: list[Failure]
) -> _Captioned:
    """The pictures that pass a check; the others become failures. At least one must pass."""
    kept: _Captioned = []
    for picture, text in captioned:
        try:
            check(picture, text)
            kept.append((picture, text))
        except InputError as error:
            failures.append(Failure(path=str(picture or "the caption"), problem=error.message))
    if kept:
        return kept
    first = f"{failures[0].path}: {failures[0].problem}"
    if len(failures) == 1:
        raise InputError(first)
    raise InputError(f"none of the {len(failures)} pictures can be used; the first: {first}")
