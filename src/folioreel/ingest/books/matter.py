"""What surrounds a story and is left out of it: one rule for all formats, decided here (section 3).

Readers say what their format knows (titles, `epub:type`, the guide, the table of contents), and
`titles.matter_kind` says what a title names. What goes, by kind:

- contents: everywhere; the list ends where prose begins;
- page (title page, copyright, dedication, about the author …): everywhere, if it is short;
- apparatus (notes, index, a translator's note …): everywhere;
- preface or foreword: everywhere, whoever wrote it, because a film renders the story, and a text
  does not say whether the preface is the author's own;
- introduction: before the first chapter; later, a part of the story may be called so.
  Neither goes where the file marks it as a part of the story (`bodymatter`), and a prologue or an
  author's note stays: it is a part of the story more often than not;
- excerpt from another book: where an EPUB's table of contents gives it a document of its own.

Two rules protect against wrong guesses: a section or document that holds a large share of the words
is the story whatever it is called, and if nothing were left, everything stays. Line numbers and
places stay those of the file.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from folioreel.ingest.books import titles
from folioreel.ingest.books.blocks import Block, Document
from folioreel.ingest.books.numerals import numeral_value
from folioreel.ingest.books.titles import MatterKind, matter_kind
from folioreel.text import count_words

# What a "title page" or "dedication" may hold, in either unit (about five printed pages); one with
# more text is mislabelled, and may hold a chapter.
PAGE_CHARACTERS = 8000
_PAGE_WORDS = 1500
# A document of an EPUB, or a section of running text, that holds more of the book's words is the
# story, whatever it is called. Long prefaces to short novels are common in running text.
_LARGEST_SHARE = 0.2
_LARGEST_SECTION = 0.5
_PROSE_WORDS = 25  # with fewer, a block before the first chapter may be a line of the title page
_TITLE_WORDS = 8  # with more, a line is a sentence that happens to begin like a title of matter

# EPUB's words for matter, in `epub:type`, in `role` (as `doc-…`), and in the guide of EPUB 2.
_PAGE_TYPES = frozenset(
    "cover titlepage halftitlepage halftitle frontispiece copyright-page imprint imprimatur "
    "dedication colophon seriespage other-credits contributors credits acknowledgments "
    "acknowledgements errata".split()
)
_APPARATUS_TYPES = frozenset(
    "toc toc-brief landmarks page-list loi lot loa lov index bibliography glossary footnote "
    "footnotes endnote endnotes rearnote rearnotes notes pagelist backlink navigation".split()
)
_PREFACE_TYPES = frozenset({"foreword", "preface", "introduction"})
MATTER_TYPES = _PAGE_TYPES | _APPARATUS_TYPES | _PREFACE_TYPES
_FILE_NAME_CHARACTERS = 100  # an archive may have endless names
_FILE_NUMBER = re.compile(r"^(?:\w*?\d+[-_])|[-_]?\d+$")
_FILE_NAMES = frozenset({"toc", "nav", "loi", "wrap"})

_GUTENBERG_START = re.compile(
    r"\*\*\*\s*START OF (?:THE|THIS) PROJECT GUTENBERG|\*END\*?\s*THE SMALL PRINT", re.IGNORECASE
)
_GUTENBERG_END = re.compile(r"\*\*\*\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_OLD_GUTENBERG_END = re.compile(r"^\s*End of (?:the )?Project Gutenberg(?:'s|’s)?\b", re.IGNORECASE)
_PRODUCED_BY = re.compile(
    r"^(?:e-?text )?(?:produced|prepared|transcribed|scanned|digitized) (?:by|from)\b",
    re.IGNORECASE,
)
# What notes may be; a heading that is called a footnote opens a section, which goes as a whole.
_NOTE_BLOCKS = {
    "transcriber's notes": ("paragraph", "verse", "break"),
    "footnotes": ("paragraph",),
}
_ENTRY_END = re.compile(r"(?:\.\.|\s)\d{1,4}$")
_NUMBERED_ENTRY = re.compile(r"^(?:\d{1,3}|[IVXLC]+)\s*[.:)]?\s*(?:--|[—–])\s*\S")
_STORY_ENDS = ".!?…”\"'’。！？」』؟۔।»“«"  # end a sentence or a speech
_SHORT_SPEECHES = 8  # so many may open a story: "Tom!" No answer. "Tom!"


def is_matter_type(types: frozenset[str], outer: frozenset[str], *, is_page: bool) -> bool:
    """Whether its types make an element matter; `outer` has those of the elements around it too."""
    if types & _APPARATUS_TYPES or (types & _PAGE_TYPES and is_page):
        return True
    return bool(types & _PREFACE_TYPES) and "frontmatter" in outer


def story_documents(documents: Sequence[Document]) -> tuple[list[Document], list[str]]:
    """The documents that tell the story, and the names of those that do not."""
    total = sum(document.words for document in documents)
    written = [document for document in documents if document.blocks]
    story, names = [], []
    for document in written:
        small = document.words <= _LARGEST_SHARE * total or len(documents) == 1
        if small and _is_matter_document(document):
            names.append((*document.labels, posixpath.basename(document.href))[0])
        else:
            story.append(document)
    return (story, names) if story else (written, [])


def _is_matter_document(document: Document) -> bool:
    is_page = document.words <= _PAGE_WORDS
    if document.labels:
        # What the contents call a chapter is one, whatever else is said of the file.
        return all(_names_document(label, is_page=is_page) for label in document.labels)
    if document.types & (_PAGE_TYPES | _APPARATUS_TYPES) and is_page:
        return True
    first = document.blocks[0]
    if first.kind == "heading":
        if _names_document(first.text, is_page=is_page):
            return True
        if titles.is_strong_heading(first.text):
            return False
    stem = posixpath.splitext(posixpath.basename(document.href))[0].lower()
    return is_page and _names_file(stem)


def _names_document(title: str, *, is_page: bool) -> bool:
    """Whether a title makes a whole document matter; `drop_matter` decides on prefaces by place."""
    kind = matter_kind(title)
    return kind in ("contents", "apparatus", "excerpt") or (kind == "page" and is_page)


def _names_file(stem: str) -> bool:
    """Whether a file is called like matter: `0002_title-page`, `copyright01`."""
    name = _FILE_NUMBER.sub("", stem[:_FILE_NAME_CHARACTERS])
    if name == "index":  # what web pages and converters call any first page
        return False
    return name in _FILE_NAMES or _names_document(re.sub("[-_]", " ", name), is_page=True)


def drop_matter(blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    """Leave out what is not the story; the note for the user says what was skipped."""
    skipped: Counter[str] = Counter()
    kept = _drop_gutenberg(list(blocks), skipped)
    kept = _drop_single_blocks(kept, skipped)
    kept = _demote_capitals(_drop_after_end(_drop_sections(kept, skipped), skipped))
    kept = _drop_title_page(kept, skipped)
    if not any(block.kind in ("paragraph", "verse") for block in kept):
        return blocks, ()
    parts = {name: f"{n} block{'s' * (n > 1)}" for name, n in skipped.items() if n}
    names = ", ".join(f"{name} ({count})" for name, count in parts.items())
    note = f"skipped as front or back matter: {names}"
    return tuple(kept), (note,) if names else ()


def drop_licence(blocks: Sequence[Block]) -> list[Block]:
    """Leave out Project Gutenberg's English around a text in any language."""
    return _drop_gutenberg(list(blocks), Counter())


def _drop_gutenberg(blocks: list[Block], skipped: Counter[str]) -> list[Block]:
    """Drop what precedes Project Gutenberg's start mark and what follows its end mark."""
    first, last = 0, len(blocks)
    for k, block in enumerate(blocks):
        is_late = k > len(blocks) // 2
        if _GUTENBERG_START.search(block.text):
            first = k + 1
        # In the first half it may be a mention; the licence below a tale is longer than the tale.
        elif (_GUTENBERG_END.search(block.text) and (first or is_late)) or (
            _OLD_GUTENBERG_END.search(block.text) and is_late
        ):
            last = k
            break
    while first < last and _PRODUCED_BY.match(blocks[first].text):
        first += 1
    skipped["Project Gutenberg's header and licence"] += len(blocks) - (last - first)
    return blocks[first:last]


def _drop_single_blocks(blocks: list[Block], skipped: Counter[str]) -> list[Block]:
    kept = []
    for block in blocks:
        kind = titles.aside_kind(block.text)
        if kind == "captions" or (kind is not None and block.kind in _NOTE_BLOCKS[kind]):
            skipped[kind] += 1
        elif _is_contents_list(block):
            skipped["contents"] += 1
        else:
            kept.append(block)
    return kept


def _is_contents_list(block: Block) -> bool:
    """Whether one block is a list of chapters with their pages."""
    if len(block.lines) < 3 or block.kind == "heading":
        return False
    starts = [offset for offset, _ in block.lines]
    entries = [
        block.text[a:b].strip() for a, b in zip(starts, [*starts[1:], len(block.text)], strict=True)
    ]
    listed = sum(bool(_ENTRY_END.search(e)) or titles.is_strong_heading(e) for e in entries)
    return listed >= 0.6 * len(entries)  # long entries run on over a line without a number


def _drop_sections(blocks: list[Block], skipped: Counter[str]) -> list[Block]:
    """Drop sections whose title says that they are matter, up to the next heading of the story."""
    first_chapter = _first_chapter(blocks)
    told = [
        k for k, b in enumerate(blocks) if b.kind != "heading" and (_is_prose(b) or _is_told(b))
    ]
    last_told = told[-1] if told else len(blocks)
    kinds = [
        _section_kind(block, early=k < first_chapter, late=k > last_told)
        for k, block in enumerate(blocks)
    ]
    ends = _section_ends(blocks, kinds)
    passed = [0, *accumulate(count_words(block.text) for block in blocks)]  # words
    total = passed[-1]
    kept: list[Block] = []
    k = 0
    while k < len(blocks):
        kind = kinds[k]
        end = ends[k] if kind else k + 1
        if kind == "contents":
            end = _last_entries(blocks, end)
        words = passed[end] - passed[k]
        too_long = words > _LARGEST_SECTION * total or (kind == "page" and words > _PAGE_WORDS)
        if kind is None or too_long:
            kept.append(blocks[k])
            k += 1
        else:
            # The dot of a Turkish İ would become a sign of its own.
            title = blocks[k].text.strip(" .:_*=").lower().replace("i\u0307", "i")
            skipped[title] += end - k
            k = end
    return kept


def _section_kind(block: Block, *, early: bool, late: bool) -> MatterKind | None:
    """The kind of matter that a block is the title of.

    `early` is before the first chapter, and `late` is after all prose.
    """
    text = block.text.strip(" _*=")
    kind = matter_kind(text) if count_words(text) <= _TITLE_WORDS else None
    if kind in (None, "excerpt"):
        return None
    is_heading = block.kind == "heading"
    if block.in_body and kind in ("preface", "introduction"):
        return None
    if kind == "introduction":
        return kind if early and is_heading else None
    # "Notes" may be a line of the story in the middle of a book; only a heading counts there.
    # French and Russian books have their contents at the end.
    return kind if early or is_heading or (late and kind == "contents") else None


def _section_ends(blocks: list[Block], kinds: list[MatterKind | None]) -> list[int]:
    """Where a section that a block opens ends: at the next title, the contents at prose."""
    ends = [0] * len(blocks)
    next_title = next_prose = len(blocks)
    for k in reversed(range(len(blocks))):
        ends[k] = next_prose if kinds[k] == "contents" else next_title
        is_title = blocks[k].kind == "heading" or kinds[k] is not None
        if is_title:
            next_title = k
        # Entries look like headings, so a heading must open prose to end the list.
        if (is_title and _is_prose_soon(blocks, k)) or (
            blocks[k].kind == "paragraph" and _is_prose(blocks[k])
        ):
            next_prose = k
    return ends


def _last_entries(blocks: list[Block], end: int) -> int:
    """The end of a list, after entries that count on where the title of a story stands below."""
    while end + 1 < len(blocks) and blocks[end + 1].kind == "heading":
        before, entry = (titles.opening_number(block.text) for block in blocks[end - 1 : end + 1])
        if before is None or entry is None or before.word != entry.word:
            break
        if numeral_value(entry.number) != numeral_value(before.number) + 1:
            break
        end += 1
    return end


def _is_prose_soon(blocks: list[Block], k: int) -> bool:
    """Whether a heading opens a story: prose follows, after a title or a motto at most."""
    short = 0
    for follower in blocks[k + 1 : k + 5]:
        if follower.kind in ("paragraph", "verse"):
            if _is_prose(follower) or _is_told(follower):
                return True
            short += 1
        if short > 1 or (follower.kind == "heading" and titles.is_strong_heading(follower.text)):
            return False
    return False


def _is_prose(block: Block) -> bool:
    return count_words(block.text) >= _PROSE_WORDS


def _is_told(block: Block) -> bool:
    """Whether a short block is a sentence of a story rather than a line of a title page."""
    if _NUMBERED_ENTRY.match(block.text):
        return False
    words = block.text.split()
    if not block.text or block.text[-1] not in _STORY_ENDS or titles.is_imprint(block.text):
        return False
    if not any(character.isupper() or character.islower() for character in block.text):
        return count_words(block.text) >= 5  # a script without capitals
    # A title page has its words in capitals.
    inner = words[1:] if titles.reading_language() == "en" else _inner_words(words)
    return len(words) >= 3 and sum(word[:1].islower() for word in inner) > 0.6 * len(inner)


def _inner_words(words: Sequence[str]) -> list[str]:
    """The words that begin no sentence, where speeches of a word or two may be in one paragraph."""
    letters = [word for word in words if any(map(str.isalpha, word))]
    return [word for before, word in pairwise(letters) if before[-1] not in _STORY_ENDS]


def _first_chapter(blocks: list[Block]) -> int:
    """The first numbered heading that opens prose, or else the first heading that does."""
    opening = [k for k, b in enumerate(blocks) if b.kind == "heading" and _is_prose_soon(blocks, k)]
    numbered = (k for k in opening if titles.is_numbered(blocks[k].text))
    return next(numbered, opening[0] if opening else 0)


def _drop_after_end(blocks: list[Block], skipped: Counter[str]) -> list[Block]:
    """Drop what follows `THE END` in the last quarter of a file, unless more chapters come."""
    for k in range(3 * len(blocks) // 4, len(blocks)):
        # "CHAPTER XXXIII" above it makes it a chapter's title.
        is_title = k > 0 and blocks[k - 1].kind == "heading"
        if titles.is_end(blocks[k].text) and not is_title:
            after = blocks[k + 1 :]
            if any(b.kind == "heading" and titles.is_numbered(b.text) for b in after):
                return blocks
            skipped["after the end"] += len(after)
            return blocks[:k]
    return blocks


def _demote_capitals(blocks: list[Block]) -> list[Block]:
    """Where chapters are numbered, turn other headings in capitals into text: signs, headlines.

    A line right below a number stays: it is the chapter's title.
    """
    strong = sum(b.kind == "heading" and titles.is_strong_heading(b.text) for b in blocks)
    if strong < 3:  # a prologue and an epilogue alone do not make chapters numbered
        return blocks
    first = _first_chapter(blocks)
    result: list[Block] = []
    for k, block in enumerate(blocks):
        titled = bool(result) and result[-1].kind == "heading"
        if k > first and block.guessed and not titles.is_numbered(block.text) and not titled:
            block = replace(block, kind="paragraph")
        result.append(block)
    return result


def _chapter_above(blocks: list[Block], k: int) -> int:
    """Where the chapter begins whose first long paragraph is given: short speeches may open it."""
    head = k
    while head and blocks[head - 1].kind == "paragraph" and k - head < _SHORT_SPEECHES:
        head -= 1
        text = blocks[head].text
        if text[-1:] not in _STORY_ENDS or titles.is_imprint(text):
            return k
    while head and blocks[head - 1].kind == "heading":
        head -= 1
        if titles.is_strong_heading(blocks[head].text):
            return k if titles.is_part(blocks[head].text) else head
    return k


def _drop_title_page(blocks: list[Block], skipped: Counter[str]) -> list[Block]:
    """Drop what precedes the first prose and its heading: title, author, publisher, dedication."""
    first = 0
    for k, block in enumerate(blocks):
        opens = block.kind == "heading" and _is_prose_soon(blocks, k)
        if opens or (block.kind == "paragraph" and (_is_prose(block) or _is_told(block))):
            first = _chapter_above(blocks, k)
            break
    # "PART ONE" above "CHAPTER ONE" stays.
    while (
        first and blocks[first - 1].kind == "heading" and titles.is_numbered(blocks[first - 1].text)
    ):
        first -= 1
    skipped["title page"] += first
    return blocks[first:]
