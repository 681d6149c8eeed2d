"""PDF with a text layer → blocks: lines are joined into headings, paragraphs, verse and breaks.

The paper's own rule for headings ("indentation, starts on a new page, no end symbol", section 3) is
among the signs; a larger or bolder face, where there is one, says more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from folioreel.errors import InputError
from folioreel.ingest.books import pdf_layout, pdf_lines, titles
from folioreel.ingest.books.blocks import (
    Block,
    Manuscript,
    arrange,
    head_pages,
    heading_text,
    join_verse,
)
from folioreel.ingest.books.pdf_layout import Area, Placed, Style
from folioreel.ingest.books.pdf_lines import FEWEST_LETTERS, SOFT_HYPHEN, Line
from folioreel.ingest.books.titles import (
    is_break,
    is_numbered,
    is_strong_heading,
    reading_language,
    titles_in,
)
from folioreel.ingest.books.trees import clean_text
from folioreel.ingest.source import SourceFile
from folioreel.isolation import read_apart
from folioreel.language import decide_language
from folioreel.progress import ProgressCallback

_FILE_NAME = re.compile(
    r"^(?:untitled|microsoft word\b.*|.*\.(?:docx?|odt|indd|tex|rtf|pdf|qxd|pub|html?))?$",
    re.IGNORECASE,
)
_UNKNOWN = re.compile("[\ufffd\ue000-\uf8ff]")  # no character, or one of a font's own
_SCANNED = "has no text layer (it is a scan); run OCR on it first, for example with ocrmypdf"
# With more characters that no font explains, OCR reads the page better than we can.
_UNREADABLE_SHARE = 0.3
# Letters larger than the text's by this factor are a heading's: 12 pt above text in 10.5 pt are,
# 11 pt are not.
_LARGER = 1.12
_END_MARKS = ".!?…:;”\"'’»)*"  # end a run-in heading or a bold sentence, and not a heading in bold
_TERMINAL = ".!?…”\"'’»"  # what ends a paragraph
_INITIAL = 1.7  # a single letter larger by this factor is a drop capital, two lines high or more
# Space above a line, in lines (units of the pitch):
_SET_OFF = 0.4  # above and below a heading, at least
_PARAGRAPH_GAP = 0.25  # separates paragraphs in a book that separates them by space
_LOOSE_GAP = 0.45  # where indentation separates them; less may only stretch a page to its height
_BREAK_GAP = 0.8  # between indented paragraphs, stands for a section break
_HEADING_GAP = 0.9  # lines of one heading are closer than this, in units of their own size
_SAME_SIZE = 0.06  # two lines of a heading whose sizes differ by less are one heading
# In sizes of the text: lines that differ by more belong to different blocks. A letter or a
# quotation is set smaller; italics and small capitals differ by less.
_OTHER_SIZE = 0.15
_INDENT_TOLERANCE = 0.3  # how exactly a line must stand at the usual indentation
_STEP_IN = 0.5  # a line that begins further right than the one before by this is indented
_VERSE_INDENT = 0.8  # verse is indented by at least this

Role = Literal["heading", "break", "paragraph"]
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)++")
_PARTED = re.compile(r"(?P<left>[^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010]$")
_FIRST = re.compile(r"^[^\W\d_]+")
# English, like most books that we read; in other languages these hardly ever match.
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
_LONGEST_WORD = 60  # characters, with its hyphens


def read_pdf(file: SourceFile) -> Manuscript:
    """Read a PDF that holds text; a scan without a text layer is refused."""
    return read_apart(_read_pdf, file.path, file, reading_language())


def _read_pdf(
    path: Path, file: SourceFile, language: str | None, progress: ProgressCallback
) -> Manuscript:
    with pdf_lines.open_pdf(file) as document:
        pages, notes = pdf_lines.read_pages(document, file)
        _refuse_unreadable(pages, file.path)
        title = clean_text(document.get_metadata_value("Title") or "")
        declared = pdf_lines.read_language(document)
        words = " ".join(line.text for lines in pages for line in lines)
        language = language or decide_language(words, declared=declared)
        with titles_in(language):
            blocks = arrange(head_pages(_blocks(pages), pdf_lines.read_outline(document)))
        return Manuscript(
            title=file.path.stem if _FILE_NAME.match(title) else title,
            blocks=blocks,
            language=declared,
            titles_in=language,
            notes=notes,
        )


def _refuse_unreadable(pages: Sequence[Sequence[Line]], path: Path) -> None:
    letters = sum(map(pdf_lines.count_letters, pages))
    # Scanners print a page number or a stamp on each page, and no more.
    if letters == 0 or (len(pages) > 3 and letters < FEWEST_LETTERS * len(pages)):
        raise InputError(_SCANNED, path)
    text = "".join(line.text for lines in pages for line in lines)
    if len(_UNKNOWN.findall(text)) > _UNREADABLE_SHARE * len(text):
        message = "has text in fonts that do not name their letters; run ocrmypdf --force-ocr"
        raise InputError(message, path)


def _blocks(pages: Sequence[Sequence[Line]]) -> list[Block]:
    pages = pdf_layout.drop_furniture(pages)
    size = pdf_layout.body_size(pages)
    margins = pdf_layout.usual_margins(pages)
    areas: list[Area] = []
    for number, lines in enumerate(pages):
        text = pdf_layout.drop_notes(lines, size)
        areas += pdf_layout.reading_areas(text, margins.get(number % 2))
    style = pdf_layout.measure_style(areas, size)
    joiner = Joiner(line.text for area in areas for line in area.lines)
    placed = pdf_layout.place_lines(areas, style)
    return list(_make_blocks(_group_lines(placed, style, joiner), style, joiner))


def _group_lines(lines: Iterable[Placed], style: Style, joiner: Joiner) -> Iterator[list[Placed]]:
    """The lines of each block; lines of a heading that look the same are one block."""
    group: list[Placed] = []
    for placed in _merge_initials(lines, style, joiner):
        if group and _starts_block(group, placed, style):
            yield group
            group = []
        group.append(placed)
    if group:
        yield group


def _merge_initials(lines: Iterable[Placed], style: Style, joiner: Joiner) -> Iterator[Placed]:
    """Join drop capitals, which files draw separately, to the lines they begin."""
    initial: Placed | None = None
    for placed in lines:
        text = placed.line.text
        if (
            len(text.strip("\"“‘'")) == 1
            and placed.line.size > _INITIAL * style.size
            and text[-1].isalpha()
        ):
            initial = placed
            continue
        if initial is not None:
            placed = _with_initial(initial, placed, joiner)
            initial = None
        yield placed
    if initial is not None:
        yield initial


def _with_initial(initial: Placed, placed: Placed, joiner: Joiner) -> Placed:
    letter, text = initial.line.text, placed.line.text
    first = text.split()[0].strip(".,;:!?—-\"'“”’")
    # "I" and "was" are two words; "I" and "t" are one.
    alone = letter[-1] in "AIO" and joiner.knows(first) and not joiner.knows(letter[-1] + first)
    whole = f"{letter} {text}" if alone else letter + text
    line = replace(placed.line, text=whole, x0=initial.line.x0)
    return replace(placed, line=line, opens=True)


def _starts_block(group: Sequence[Placed], placed: Placed, style: Style) -> bool:
    last = group[-1]
    role, role_before = _line_role(placed, style), _line_role(last, style)
    if role != role_before or role == "break" or placed.opens:
        return True
    if role == "heading":
        alike = abs(placed.line.size - last.line.size) < _SAME_SIZE * last.line.size
        near = placed.gap is not None and placed.gap < (_HEADING_GAP * last.line.size / style.size)
        return not (alike and near) or is_numbered(placed.line.text)
    if last.line.text.endswith(("-", SOFT_HYPHEN)) and placed.line.text[0].islower():
        return False  # half a word
    if placed.gap is None:
        return not _runs_on(last, placed, style)
    if placed.gap > (_PARAGRAPH_GAP if style.spaced or not style.indent else _LOOSE_GAP):
        return True
    if abs(placed.line.size - last.line.size) > _OTHER_SIZE * style.size:
        return True
    return _is_indented(group, placed, style) or _follows_end(last, placed, style)


def _is_indented(group: Sequence[Placed], placed: Placed, style: Style) -> bool:
    """Whether a line's indentation opens a paragraph."""
    last = group[-1]
    step = placed.line.x0 - last.line.x0
    tolerance = _INDENT_TOLERANCE * style.size
    if style.indent and abs(placed.indent - style.indent) < tolerance:
        return True
    if placed.is_centred != last.is_centred and placed.indent > style.size:
        return True
    if len(group) > 1 or not style.indent:
        return step > _STEP_IN * style.size and not placed.is_centred
    # A second line further in than an indented first line begins a poem or a quotation.
    return step > _STEP_IN * style.size and abs(last.indent - style.indent) < tolerance


def _follows_end(last: Placed, placed: Placed, style: Style) -> bool:
    """Where nothing else separates paragraphs, a short line with a full stop ends one."""
    if style.indent or style.spaced or placed.is_centred:
        return False
    return last.line.text[-1] in _TERMINAL and _had_room(last, placed)


def _had_room(last: Placed, placed: Placed) -> bool:
    """Whether the next line's first word would have fitted, so that the line was meant to end."""
    text = placed.line.text
    letter = (placed.line.x1 - placed.line.x0) / len(text)
    # Two letters more, for the space between words and for margins that are not exact.
    return last.area.right - last.line.x1 > letter * (len(text.split()[0]) + 2)


def _runs_on(last: Placed, placed: Placed, style: Style) -> bool:
    """Whether a paragraph goes on over the end of a page or a column."""
    text, first = last.line.text, placed.line.text
    if last.is_centred or placed.is_centred:
        return False
    if text[-1] in ",;" or first[0].islower():
        return True
    if style.indent:
        ended = _had_room(last, placed) and text[-1] in _TERMINAL
        return placed.indent < _STEP_IN * style.size and not ended
    return text[-1] not in _TERMINAL or not _had_room(last, placed)


def _line_role(placed: Placed, style: Style) -> Role:
    """What a line is by itself."""
    line = placed.line
    text = line.text
    if is_break(text):
        return "break"
    if len(text) > titles.HEADING_CHARACTERS or not any(c.isalnum() for c in text):
        return "paragraph"
    # A long line in large letters that ends like a sentence is a motto, or a letter to the reader.
    if line.size > _LARGER * style.size and not (len(text) > 60 and text[-1] in ".,"):
        return "heading"
    above = placed.gap is None or placed.gap > _SET_OFF
    below = placed.room_below is None or placed.room_below > _SET_OFF
    if not (above and (below or placed.is_centred)):
        return "paragraph"
    if is_strong_heading(text) and (placed.is_centred or line.bold or below):
        return "heading"
    if line.bold and placed.is_short and text[-1] not in _END_MARKS:
        return "heading"
    weak = placed.is_centred and titles.is_weak_heading(
        text,
        # The top of a page counts as the four blank lines that mean a new page in plain text.
        blank_before=round(placed.gap) if placed.gap is not None else 4,
        indented=True,
        new_page=placed.gap is None,
    )
    return "heading" if weak else "paragraph"


def _make_blocks(
    groups: Iterable[Sequence[Placed]], style: Style, joiner: Joiner
) -> Iterator[Block]:
    """The blocks of the book; an empty line between paragraphs that are not spaced is a break."""
    before: Block | None = None
    for group in groups:
        block = _make_block(group, style, joiner)
        both = before is not None and before.kind == block.kind == "paragraph"
        if both and style.indent and not style.spaced and (group[0].gap or 0) > _BREAK_GAP:
            yield Block(kind="break", text="", href=block.href)
        yield block
        before = block


def _make_block(group: Sequence[Placed], style: Style, joiner: Joiner) -> Block:
    """One block from its lines."""
    href = f"#page={group[0].line.page + 1}"
    texts = [placed.line.text for placed in group]
    role = _line_role(group[0], style)
    if role == "break":
        return Block(kind="break", text=texts[0], href=href)
    if role == "heading":
        return Block(kind="heading", text=heading_text([joiner.join(texts)]), href=href)
    if _is_verse(group, style):
        text, breaks = join_verse(texts)
        return Block(kind="verse", text=text, breaks=breaks, href=href)
    return Block(kind="paragraph", text=joiner.join(texts), href=href)


def _is_verse(group: Sequence[Placed], style: Style) -> bool:
    """Whether lines are indented, end before the margin, and begin with capitals."""
    if len(group) < 2 or not all(placed.is_short for placed in group):
        return False
    indented = all(placed.indent > _VERSE_INDENT * style.size for placed in group)
    capitals = sum(placed.line.text.lstrip("\"“‘'(—-")[:1].isupper() for placed in group)
    return indented and capitals >= 0.7 * len(group)  # a verse that is too long runs on


class Joiner:
    """Joins lines; it knows the book's words, to tell `exam-ple` from `well-known`."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Count the words and the compounds inside lines, where no line break cuts them."""
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
        done, text = [], ""
        for line in lines:
            text = self._append(text, line) if text else line
            if len(text) > 2 * _LONGEST_WORD:  # only the end may still change
                done.append(text[:-_LONGEST_WORD])
                text = text[-_LONGEST_WORD:]
        return "".join([*done, text]).rstrip(SOFT_HYPHEN)

    def _append(self, text: str, line: str) -> str:
        if text.endswith(SOFT_HYPHEN):
            return text[:-1] + line
        parted, first = _parted(text), _FIRST.match(line)
        if parted and first:
            kept = self._keeps_hyphen(parted["left"], first.group())
            return text[:-1] + ("-" if kept else "") + line
        # A dash without a space before it has none after it.
        closed = _DASH.search(text[-4:]) or (text[-1] == "-" and line[0] == "-")
        return text + line if closed else f"{text} {line}"

    def _keeps_hyphen(self, left: str, right: str) -> bool:
        """Whether the hyphen belongs to the word, and not to the line break.

        The forms that the book itself uses decide. If it uses neither, a hyphen is kept between
        two words, and after a whole word if what follows is more than an ending.
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
        # Three unknown letters after a known word are an ending more often than a word.
        return len(after) > 3 or bool(self._words[after])

    def knows(self, word: str) -> bool:
        """Whether the book uses a word."""
        return self._words[word.casefold()] > 0


def _parted(text: str) -> re.Match[str] | None:
    """The word that a hyphen at the end of a text cuts."""
    if not text.endswith(("-", "\u2010")):
        return None
    # Searching a whole paragraph each time would be slow.
    return _PARTED.search(text, max(0, len(text) - _LONGEST_WORD))
