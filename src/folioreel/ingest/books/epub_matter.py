"""Which documents of an EPUB surround the story, and are left out.

The rule for what stands before a story: a prologue, a preface, a foreword or an introduction
belongs to it, and stays, unless its title says that another hand wrote it ("Introduction by …" with
a name that is not the author's, "Translator's Note"), or the publisher marks it as a `foreword` of
the `frontmatter`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from folioreel.ingest.books.arrange import Piece
from folioreel.ingest.books.headings import is_strong_heading

_PAGE_TITLE = re.compile(
    r"^(?:(?:front |back |book )?cover(?: page| image)?|(?:half[- ]?)?title(?:[- ]?page)?|"
    r"copyright(?: page| notice| information)?|(?:un)?copyright|imprint|colophon|dedication|"
    r"(?:other )?(?:books|titles|works|novels) by\b.*|also (?:by|available)\b.*|"
    r"by the same author|about(?: (?:the|this) (?:authors?|publisher|translator|illustrator|editor|"
    r"type|e-?book|edition|book))?|(?:advance )?praise(?: for\b.*)?|acknowledge?ments?|permissions|"
    r"credits|newsletter(?: sign-?up)?|landmarks|frontispiece|front ?matter|back ?matter|"
    r"titelseite|impressum|widmung|couverture|page de titre|dédicace|portada|dedicatoria|"
    r"обложка|титульный лист|аннотация|выходные данные)[.:]?$",
    re.IGNORECASE,
)
_LIST_TITLE = re.compile(
    r"^(?:(?:table of )?contents|list of \w+|illustrations|index|bibliography|glossary|works cited|"
    r"(?:foot|end)?notes|(?:author|translator|editor|transcriber|publisher)[’']?s?[’']? "
    r"(?:notes?|preface|introduction|foreword)|(?:a )?notes? on the (?:text|translation|type)|"
    r"(?:an? )?(?:excerpt|extract|preview) (?:from|of)\b.*|(?:reading group|discussion) "
    r"(?:guide|questions)|"
    r"(?:the full )?project gutenberg\b.*|table des matières|inhalt(?:sverzeichnis)?|índice|"
    r"содержание|оглавление|примечания|сноски)[.:]?$",
    re.IGNORECASE,
)
_AUTHORS_OWN = re.compile(r"^author[’']?s?[’']? ", re.IGNORECASE)
_BY_ANOTHER = re.compile(
    r"^(?:an? |the )?(?:introduction|preface|foreword|afterword)\b.*?\bby (?P<name>.+)$",
    re.IGNORECASE,
)
_MATTER_TYPES = frozenset(
    "cover titlepage halftitlepage copyright-page imprint colophon dedication toc index glossary "
    "bibliography notes footnotes endnotes rearnotes loi lot acknowledgments acknowledgements "
    "landmarks frontispiece".split()
)
_MATTER_FILE = re.compile(
    r"^(?:\w*?\d+[-_])?(?:cover(?:page)?|title[-_]?page|half[-_]?title(?:[-_]?page)?|copyright|"
    r"uncopyright|imprint|colophon|dedication|toc|contents|nav|(?:foot|end)notes|notes|loi|"
    r"wrap0000|about[-_]the[-_]author|acknowledge?ments|also[-_]by)(?:[-_]?\d+)?$",
    re.IGNORECASE,
)
_PAGE_WORDS = 1500
_LARGEST_SHARE = 0.2
"""A document with more of the book's words is the story, whatever it is called."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One document of the spine."""

    href: str
    pieces: tuple[Piece, ...]
    labels: tuple[str, ...]
    """What the table of contents calls it and its parts."""
    types: frozenset[str]
    """What the guide and the landmarks call it."""

    @property
    def words(self) -> int:
        """How many words its pieces have."""
        return sum(len(piece.text.split()) for piece in self.pieces)


def story_documents(
    documents: Sequence[Document], creators: Sequence[str]
) -> tuple[list[Document], list[str]]:
    """The documents that tell the story, and the names of those that do not.

    If all would go, all stay: a wrong guess must not lose a book.
    """
    total = sum(document.words for document in documents)
    story, names = [], []
    for document in documents:
        small = document.words <= _LARGEST_SHARE * total or len(documents) == 1
        if document.pieces and not (small and _is_matter(document, creators)):
            story.append(document)
        elif document.pieces:
            names.append(
                document.labels[0] if document.labels else posixpath.basename(document.href)
            )
    if not story:
        return [document for document in documents if document.pieces], []
    return story, names


def _is_matter(document: Document, creators: Sequence[str]) -> bool:
    is_page = document.words <= _PAGE_WORDS
    if document.labels:
        # What the contents call a chapter is one, whatever else is said of the file.
        return all(is_matter_title(label, creators, page=is_page) for label in document.labels)
    if document.types & _MATTER_TYPES and is_page:
        return True
    first = document.pieces[0]
    if first.kind == "heading":
        if is_matter_title(first.text, creators, page=is_page):
            return True
        if is_strong_heading(first.text):
            return False
    stem = posixpath.splitext(posixpath.basename(document.href))[0]
    return is_page and bool(_MATTER_FILE.match(stem))


def is_matter_title(title: str, creators: Sequence[str] = (), *, page: bool = True) -> bool:
    """Whether a title names something that is no part of the story.

    Args:
        title: A heading, or a line of the table of contents.
        creators: The book's authors: what they introduce themselves is their own.
        page: What it names is short enough for a title page, a dedication or the like.
    """
    title = title.strip(" *_")
    by_another = _BY_ANOTHER.match(title)
    if by_another:
        own = any(_surname(name) in by_another["name"].casefold() for name in creators)
        return not own
    if _AUTHORS_OWN.match(title):
        return False
    return bool(_LIST_TITLE.match(title)) or (page and bool(_PAGE_TITLE.match(title)))


def _surname(name: str) -> str:
    """The last name of "Jane Austen" and of "Austen, Jane"."""
    before, comma, _ = name.partition(",")
    return (before if comma else name.split()[-1]).strip().casefold()
