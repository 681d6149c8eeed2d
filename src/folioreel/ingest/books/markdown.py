"""Markdown → blocks with the line numbers of the file, exact even where markup is stripped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from folioreel.errors import InputError
from folioreel.ingest.books.blocks import Block, BlockKind, Manuscript
from folioreel.ingest.books.titles import is_break
from folioreel.ingest.source import SourceFile

# Before inline markup is parsed, each line gets its number, written in kinds of blanks that people
# do not type. Markdown takes them for blanks, so they change nothing, and the number goes wherever
# the line's text goes.
_DIGITS = "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
_FRAME = "\u205f"
_TO_BLANKS = str.maketrans("0123456789", _DIGITS)
_TO_ASCII = str.maketrans(_DIGITS, "0123456789")
_STAMP = re.compile(f"{_FRAME}([{_DIGITS}]+){_FRAME}")
_RARE_BLANKS = re.compile(f"[{_DIGITS}\u200a{_FRAME}]")
_FRONT_MATTER = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\n(?P<fields>.*?\n)(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_TITLE_BLOCK = re.compile(r"\A(?:%[^\n]*\n)+")
_NOTE = re.compile(
    r"^ {0,3}\[\^[^\]\s]+\]:[^\n]*(?:\n(?!\s*\n|\[\^)[^\n]*)*(?:\n+(?:[ ]{4}|\t)[^\n]*)*",
    re.MULTILINE,
)
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]|\^\[[^\]]*\]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNREAD = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_HTML_HEADING = re.compile(r"\s*<h([1-6])\b", re.IGNORECASE)
_RULE = re.compile(r"\s*<hr\b", re.IGNORECASE)
_ATTRIBUTES = re.compile(r"\s*\{[^{}]*\}\s*$")
_FENCED_DIV = re.compile(r"^\s*:{3,}.*$", re.MULTILINE)
_VERSE_LINE = 70
"""Characters; longer lines that end with a hard break are prose."""
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")


def read_markdown(file: SourceFile) -> Manuscript:
    """Read a Markdown file.

    Raises:
        InputError: The file is not text, or holds nothing to read.
    """
    fields, text = _front_matter(file.text)
    blocks = list(_blocks(_blanked(_FENCED_DIV, _blanked(_NOTE, text))))
    if not any(block.kind != "break" for block in blocks):
        raise InputError("holds no text; is it the right file?", file.path)
    first = next((block.text for block in blocks if block.kind == "heading"), None)
    return Manuscript(
        title=fields.get("title") or first or file.path.stem,
        blocks=tuple(blocks),
        language=fields.get("lang") or fields.get("language"),
    )


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields above the text (YAML, TOML, or pandoc's `%` lines); the text with them blanked."""
    match = _FRONT_MATTER.match(text)
    if match:
        found = re.findall(r"^(\w+)\s*[:=][ \t]*(.+?)[ \t]*$", match["fields"], re.MULTILINE)
        fields = {name.lower(): value.strip("\"'").strip() for name, value in found}
        return fields, "\n" * match.group().count("\n") + text[match.end() :]
    match = _TITLE_BLOCK.match(text)
    if match:
        title = match.group().split("\n")[0].lstrip("% ").strip()
        return {"title": title}, "\n" * match.group().count("\n") + text[match.end() :]
    return {}, text


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text without what a pattern finds, and with as many lines as before."""
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def _blocks(text: str) -> Iterator[Block]:
    parser = MarkdownIt("commonmark").enable("table")
    references: dict[str, object] = {}  # the targets of `[text][name]`, from anywhere in the file
    tokens = parser.parse(text, references)
    row: list[tuple[str, int]] | None = None
    for k, token in enumerate(tokens):
        first = token.map[0] + 1 if token.map else 0
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            yield from _block("paragraph", row)
            row = None
        elif token.type == "inline":
            lines = _inline_lines(parser, token, first, references)
            opening = tokens[k - 1]
            if row is not None:
                row += lines
            elif opening.type == "heading_open":
                yield from _block("heading", lines)
            else:
                yield from _body(token, lines)
        elif token.type in ("fence", "code_block"):
            yield from _paragraphs(token.content, first + (token.type == "fence"))
        elif token.type == "html_block":
            yield from _html_blocks(token.content, first)
        elif token.type == "hr":
            rule = text.split("\n")[first - 1].strip(" \t>")
            yield Block(kind="break", text=" ".join(rule.split()), lines=((0, first),))


def _inline_lines(
    parser: MarkdownIt, token: Token, first: int, references: dict[str, object]
) -> list[tuple[str, int]]:
    """The visible text of each source line of a paragraph, and the line's number."""
    [inline] = parser.parseInline(_stamped(token.content, first), references)
    stamped = "".join(_visible(inline.children or ()))
    plain = "".join(_visible(token.children or ()))
    if "".join(_STAMP.sub("", stamped).split()) == "".join(plain.split()):
        return _stamped_lines(stamped, first)
    # A link whose target goes on in the next line loses the number: count the visible lines.
    parts: list[list[str]] = [[]]
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append([])
        parts[-1].extend(_visible([child]))
    return [("".join(part), first + k) for k, part in enumerate(parts)]


def _stamped(content: str, first: int) -> str:
    """The source of a paragraph, with its number before each line."""
    lines = _RARE_BLANKS.sub(" ", content).split("\n")
    numbers = [str(first + k).translate(_TO_BLANKS) for k in range(len(lines))]
    return "\n".join(
        f"{_FRAME}{number}{_FRAME}{line}" if k else line
        for k, (number, line) in enumerate(zip(numbers, lines, strict=True))
    )


def _stamped_lines(text: str, first: int) -> list[tuple[str, int]]:
    """The visible text of each source line, and the line's number."""
    parts = _STAMP.split(text)
    numbers = [first, *(int(digits.translate(_TO_ASCII)) for digits in parts[1::2])]
    return list(zip(parts[::2], numbers, strict=True))


def _body(inline: Token, lines: list[tuple[str, int]]) -> Iterator[Block]:
    """A paragraph; or verse, if its lines have hard breaks or form a line block of pandoc."""
    children = inline.children or []
    hard = sum(token.type == "hardbreak" for token in children)
    if len(lines) > 1 and all(text.strip().startswith("| ") for text, _ in lines):
        yield from _block("verse", [(text.strip()[2:], number) for text, number in lines])
    elif (
        len(lines) >= 3 and hard == len(lines) - 1 and max(len(t) for t, _ in lines) <= _VERSE_LINE
    ):
        yield from _block("verse", lines)
    else:
        yield from _block("paragraph", lines)


def _visible(tokens: Sequence[Token]) -> Iterator[str]:
    """The text that a reader sees, and the line numbers in what is hidden."""
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            yield (
                token.content if token.type == "code_inline" else _NOTE_MARK.sub("", token.content)
            )
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "html_inline":
            yield "".join(match.group() for match in _STAMP.finditer(token.content))
            yield " " if token.content.lower().startswith("<br") else ""
        elif token.type in ("link_open", "image"):
            target = (
                f"{token.attrGet('href') or token.attrGet('src')}{token.attrGet('title') or ''}"
            )
            if token.type == "image":
                target = token.content + target
            # A target over several lines is shown after the text; its numbers still count.
            yield "".join(match.group() for match in _STAMP.finditer(unquote(target)))


def _block(kind: BlockKind, lines: Sequence[tuple[str, int]]) -> Iterator[Block]:
    """One block of the lines that have text; each line's place in it."""
    text, places = "", []
    for raw, number in lines:
        content = " ".join(_INVISIBLE.sub("", raw).split())
        # A word runs on over a line's end only where markup joins it: `<!--` … `-->`.
        text += " " if text and content else ""
        places.append((len(text), number))
        text += content
    if kind == "heading":
        text = _ATTRIBUTES.sub("", text)
    if text:
        yield Block(kind="break" if is_break(text) else kind, text=text, lines=tuple(places))


def _paragraphs(content: str, first: int) -> Iterator[Block]:
    """Literal text, split at empty lines."""
    group: list[tuple[str, int]] = []
    for k, line in enumerate(content.split("\n")):
        if line.strip():
            group.append((line, first + k))
        elif group:
            yield from _block("paragraph", group)
            group = []
    if group:
        yield from _block("paragraph", group)


def _html_blocks(content: str, first: int) -> Iterator[Block]:
    """A block of HTML: its text, line by line, without tags and comments."""
    content = _blanked(_UNREAD, _blanked(_COMMENT, content))
    if _RULE.match(content) and not _TAG.sub("", content).strip():
        yield Block(kind="break", text="", lines=((0, first),))
        return
    heading = _HTML_HEADING.match(content)
    plain = html.unescape(_blanked(_TAG, content))
    if heading:
        lines = [(line, first + k) for k, line in enumerate(plain.rstrip("\n").split("\n"))]
        yield from _block("heading", lines)
    else:
        yield from _paragraphs(plain, first)
