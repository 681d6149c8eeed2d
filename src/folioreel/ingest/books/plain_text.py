"""Plain text → blocks, whatever its layout, with the line numbers of the file (section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Literal

from folioreel.ingest.books import titles
from folioreel.ingest.books.aozora import is_aozora, strip_aozora
from folioreel.ingest.books.bare_titles import promote_titles
from folioreel.ingest.books.blocks import Block, BlockKind, Manuscript, promote_numbers
from folioreel.ingest.books.emphasis import (
    END,
    START,
    Ranges,
    count_emphasis,
    place_emphasis,
)
from folioreel.ingest.books.titles import is_break, is_chapter_line, is_strong_heading, titles_in
from folioreel.ingest.source import SourceFile
from folioreel.language import decide_language, words_of
from folioreel.text import join_lines, joint, squeeze

# How the file separates paragraphs.
Layout = Literal["blank lines", "a line each", "indented", "double-spaced", "short last lines"]

_NOTE_MARK = re.compile(r"(?<=\S)\[(?:\d{1,3}|[*†‡])\]")
_EMPHASIS = re.compile(r"(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
_NO_TITLE = re.compile(r"[\[(*]|\W*transcriber|(?:by|author|title)\W*$", re.IGNORECASE)
_ENDS = (
    ".!?”\"'’…:»«“。！？」』）؟۔।"  # what ends a sentence or a speech, and so perhaps a paragraph
)
_FILLED = 0.75  # a line shorter than this share of the width is verse, or a paragraph's last
_DEEPEST_INDENT = 8  # blanks; a line further in is centred or right-aligned, and opens no paragraph
_EVENLY_SPACED = 0.002  # with so few double blank lines (1 in 500), spacing marks no headings
_LONG_LINE = 160  # letters; if full lines are longer, each line is a paragraph
_MOST_BROKEN = 0.03  # of lines that are paragraphs, so few are long and end without a stop
# Letters of double width say more than others.
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True, kw_only=True)
class _Line:
    number: int
    text: str
    indent: int
    blank_before: int
    new_page: bool

    @property
    def width(self) -> int:
        """How long the line is, in letters of single width."""
        return len(self.text) + (0 if self.text.isascii() else len(_WIDE.findall(self.text)))


def read_plain_text(file: SourceFile) -> Manuscript:
    """Read a text file; the layout is detected from the text."""
    with titles_in(decide_language(file.text)):
        text = _usual_lines(file.text)
        layout: Layout | None = None
        if titles.reading_language() == "ja":
            layout = "a line each" if is_aozora(text) else None
            text = strip_aozora(text)
        return parse_plain_text(text, default_title=file.path.stem, layout=layout)


def _usual_lines(text: str) -> str:
    """The text with newlines, where another sign ends its lines, as Unicode has several."""
    # Elsewhere they stand inside lines, whose numbers are those that an editor shows.
    ends = max("\v\x85\u2028\u2029", key=text.count)
    return text.replace(ends, "\n") if text.count(ends) > text.count("\n") else text


def parse_plain_text(
    text: str, default_title: str = "", layout: Layout | None = None
) -> Manuscript:
    """Split a text into headings, paragraphs, verse and breaks; by default detect its layout."""
    lines = _number_lines(text)
    layout = layout or detect_layout(lines)
    width = _page_width(lines)
    doubled = sum(line.blank_before >= 2 for line in lines[3:])
    even = doubled <= _EVENLY_SPACED * len(lines)
    blocks: list[Block] = []
    for group in _paragraph_groups(lines, layout):
        titled = bool(blocks) and blocks[-1].kind == "heading"
        blocks += _classify(group, width, evenly_spaced=even, after_heading=titled)
    blocks = promote_titles(promote_numbers(blocks), evenly_spaced=even)
    title = _stated_title(text) or _first_title(blocks) or default_title
    return Manuscript(title=title, blocks=tuple(blocks), titles_in=titles.reading_language())


def _number_lines(text: str) -> list[_Line]:
    lines = []
    blank, new_page = 0, False
    for number, raw in enumerate(text.split("\n"), 1):
        new_page |= "\f" in raw
        # Tabs and ideographic spaces indent like blanks.
        expanded = raw.replace("\f", "").replace("\u3000", "  ").expandtabs(4)
        content = expanded.strip()
        if not content:
            blank += 1
            continue
        indent = len(expanded) - len(expanded.lstrip())
        lines.append(
            _Line(number=number, text=content, indent=indent, blank_before=blank, new_page=new_page)
        )
        blank, new_page = 0, False
    return lines


def _page_width(lines: list[_Line]) -> int:
    """The length of full lines: 95 % are no longer, and a few stick out."""
    lengths = sorted(line.width for line in lines)
    return lengths[int(0.95 * (len(lengths) - 1))] if lengths else 0


def detect_layout(lines: list[_Line]) -> Layout:
    """How paragraphs are separated, judged by how lines are filled, indented and spaced."""
    if len(lines) < 3:
        return "blank lines"
    width = _page_width(lines)
    inner = [line for line in lines[1:] if line.blank_before == 0]
    if width > _LONG_LINE:
        return "a line each"
    # Nearly every line has a blank one above it; a few lines of verse may have none.
    if len(inner) < 0.15 * len(lines) and _is_double_spaced(lines, width):
        return "double-spaced"
    if not inner:
        return "blank lines"
    runs = len(lines) - len(inner)
    if _is_line_each(lines, width, runs):
        return "a line each"
    # Inside a run of lines without blanks, an indented line opens a paragraph. Below 4 % these are
    # quotations; above 60 % the text is indented as a whole.
    opens = sum(0 < line.indent <= _DEEPEST_INDENT for line in inner)
    if 0.04 * len(inner) < opens < 0.6 * len(inner) and opens > runs:
        return "indented"
    # Full lines with hardly a blank line between them: only the last line of a paragraph is short.
    filled = sum(line.width > _FILLED * width for line in lines)
    if runs <= max(1, 0.02 * len(lines)) and filled > 0.6 * len(lines):
        return "short last lines"
    return "blank lines"


def _is_line_each(lines: list[_Line], width: int, runs: int) -> bool:
    """Whether lines end like sentences, as paragraphs do, and none breaks off at the margin."""
    wide = sum(line.width for line in lines) > 1.5 * sum(len(line.text) for line in lines)
    # Chinese and Japanese set blank lines where a scene changes, or around what is said.
    if runs >= 0.1 * len(lines) and not wide:
        return False
    told = [line for line in lines if not _is_marked(line.text)]
    open_ended = [line for line in told if line.text[-1] not in _ENDS]
    broken_off = sum(line.width > _FILLED * width for line in open_ended)
    return len(open_ended) < 0.2 * len(told) and broken_off <= _MOST_BROKEN * len(told)


def _is_marked(text: str) -> bool:
    """Whether the words or the marks of a line make it a heading."""
    return is_strong_heading(text) or titles.is_marked_heading(text)


def _is_double_spaced(lines: list[_Line], width: int) -> bool:
    """Whether nearly every line is followed by a blank one though sentences run on."""
    filled = [line for line in lines if line.width > _FILLED * width]
    running_on = sum(line.text[-1] not in _ENDS for line in filled)
    # In text with paragraphs of one line each, most lines end like a sentence.
    return len(filled) > 0.5 * len(lines) and running_on > 0.6 * len(filled)


def _paragraph_groups(lines: list[_Line], layout: Layout) -> Iterator[list[_Line]]:
    """The lines of each paragraph."""
    gap = 2 if layout == "double-spaced" else 1
    width = _page_width(lines)
    group: list[_Line] = []
    for line in lines:
        starts = (
            line.blank_before >= gap
            or line.new_page
            or layout == "a line each"
            or is_chapter_line(line.text)
            or (layout in ("indented", "double-spaced") and 0 < line.indent <= _DEEPEST_INDENT)
        )
        if layout == "short last lines" and group:
            last = group[-1].text
            # Shorter by about one word: the next line's first word would have fitted.
            starts |= group[-1].width < 0.85 * width and last[-1] in _ENDS
        if group and (starts or is_chapter_line(group[-1].text)):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _classify(
    group: list[_Line], width: int, *, evenly_spaced: bool, after_heading: bool
) -> list[Block]:
    """One group as blocks: headings stand alone, the rest is a paragraph or verse."""
    first = group[0]
    if len(group) == 1 and is_break(first.text):
        return [_block("break", group)]
    if len(group) == 1 and titles.is_marked_heading(first.text):
        return [_block("heading", group)]
    # "CHAPTER I" may have its title in up to three lines right below it.
    if is_strong_heading(first.text) and len(group) <= 4 and _fits_heading(group):
        return [_block("heading", group)]
    if len(group) <= 3:
        whole = join_lines(line.text for line in group)
        if titles.is_weak_heading(
            whole,
            blank_before=first.blank_before,
            indented=first.indent >= 2,
            new_page=first.new_page,
            evenly_spaced=evenly_spaced,
        ) or (after_heading and titles.is_subtitle(whole, blank_before=first.blank_before)):
            return [replace(_block("heading", group), guessed=True)]
    if is_strong_heading(first.text) and len(group) > 1 and first.blank_before >= 1:
        # A heading with its first paragraph right below it.
        return [_block("heading", group[:1]), _block(_body_kind(group[1:], width), group[1:])]
    return [_block(_body_kind(group, width), group)]


def _fits_heading(group: list[_Line]) -> bool:
    """Whether the lines below a heading's first can be its title rather than prose."""
    rest = " ".join(line.text for line in group[1:])
    return not rest or titles.is_subtitle(rest, blank_before=0)


def _body_kind(group: list[_Line], width: int) -> BlockKind:
    """Verse ends its lines early, and begins each with a capital."""
    if len(group) < 2 or width == 0:
        return "paragraph"
    longest = max(line.width + line.indent for line in group[:-1])
    capitals = sum(line.text.lstrip("\"“‘'_(—-")[:1].isupper() for line in group)
    is_verse = longest < _FILLED * width and capitals >= 0.8 * len(group)  # long verses run on
    # Two lines may be prose, the second of which happens to begin with a name.
    is_verse = is_verse and (len(group) > 2 or not group[0].text[-1:].isalnum())
    # Set in from the margin, its lines may be as long as those of prose.
    is_set_in = all(line.indent >= 2 for line in group) and len(group) > 2
    return "verse" if is_verse or (is_set_in and capitals == len(group)) else "paragraph"


def _block(kind: BlockKind, group: list[_Line]) -> Block:
    """Join lines into one text, and record where each begins."""
    parts: list[str] = []
    places = []
    length = 0
    shown = [_NOTE_MARK.sub("", line.text) for line in group]
    for line, raw in zip(group, shown, strict=True):
        content = squeeze(_EMPHASIS.sub("", raw))
        if parts and content:
            parts.append(joint(parts[-1], content))
            length += len(parts[-1])
        places.append((length, line.number))
        if content:
            parts.append(content)
            length += len(content)
    text = "".join(parts)
    return Block(kind=kind, text=text, lines=tuple(places), emphasis=_emphasis(shown, text))


def _emphasis(lines: list[str], text: str) -> Ranges:
    """What stands between underscores, if each that opens has one that closes."""
    pieces = _EMPHASIS.split("\n".join(lines))
    if len(pieces) % 2 == 0:
        return ()
    marks = cycle((START, END))
    marked = "".join(piece + next(marks) for piece in pieces[:-1]) + pieces[-1]
    return place_emphasis(count_emphasis(marked, squeeze), text)


def _stated_title(text: str) -> str | None:
    """The title that a header states, as Project Gutenberg's does."""
    # Only the header is searched, not the story.
    match = re.search(r"^Title:\s*(.+?)\s*$", text[:4000], re.MULTILINE)
    return match.group(1) if match else None


def _first_title(blocks: list[Block]) -> str | None:
    """The first line of the title page: short, and not the start of a sentence."""
    # The title is among the first lines, below a picture or a note at most.
    named = (
        b for b in blocks[:8] if not _NO_TITLE.match(b.text) and not titles.matter_kind(b.text)
    )
    first = next(named, None)
    if first is None or titles.is_numbered(first.text):
        return None
    title = first.text.strip(" _*=")
    if not titles.has_case(title):
        # The author's name may stand right below it.
        title = title[: first.lines[1][0]].strip() if len(first.lines) > 1 else title
        return title if titles.is_short_caseless(title) else None
    if not first.text[:1].isupper():
        return None
    # More words, or a stop at the end, make a sentence; in capitals a stop is usual.
    if len(title.split()) > 10 or (title[-1] in ".,;:!?" and not title.isupper()):
        return None
    return _in_small_letters(title).rstrip(".") if title.isupper() else title


def _in_small_letters(title: str) -> str:
    """A title in capitals as the language writes it, as far as can be known without its names."""
    language = titles.reading_language()
    if language not in (None, "en", "de"):
        return title[0] + title[1:].lower()
    # German has capitals for nouns, and titles have few other words; English has them everywhere.
    small = words_of("de")["subtitles"]["function_words"].split() if language == "de" else ()

    def capitalise(word: re.Match[str]) -> str:
        is_small = word.start() > 0 and word.group().lower() in small
        return word.group().lower() if is_small else word.group().capitalize()

    return re.sub(r"[^\W_]+(?:['’][^\W_]+)?", capitalise, title)
