"""Markdown → blocks with the line numbers of the file, exact even where markup is stripped."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, backtick, html_inline, image, link
from markdown_it.token import Token

from folioreel.errors import InputError
from folioreel.ingest.books.blocks import Block, BlockKind, Manuscript, promote_numbers
from folioreel.ingest.books.emphasis import (
    END,
    START,
    count_emphasis,
    place_emphasis,
    strip_marks,
)
from folioreel.ingest.books.html import note_left_out
from folioreel.ingest.books.html_elements import NOTES
from folioreel.ingest.books.titles import is_break, reading_language, titles_in
from folioreel.ingest.source import SourceFile
from folioreel.language import decide_language
from folioreel.text import count_words

_FRONT_MATTER = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\n(?P<fields>.*?\n)(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_TITLE_BLOCK = re.compile(r"\A(?:%[^\n]*\n)+")
_NOTE = re.compile(r" {0,3}\[\^[^\]\s]+\]:")
_FIELD = re.compile(r"^(\w+)[ \t]*+[:=](.+)$", re.MULTILINE)
# What stands in front matter besides: what is indented, comments, lists, and the ends of brackets.
_FIELDS_LINE = re.compile(r"[\w.-]++[ \t]*+[:=]|[\s#\])}\"'-]|$")
# With limits, as `[^` may stand anywhere, and each would be followed to the end of the text.
_NOTE_MARK = re.compile(r"\[\^[^\]\s]{1,100}+\]|\^\[[^\]]{0,2000}+\]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNREAD = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_HTML_HEADING = re.compile(r"\s*<h([1-6])\b", re.IGNORECASE)
_RULE = re.compile(r"\s*<hr\b", re.IGNORECASE)
_ATTRIBUTES = re.compile(r"\s*\{[^{}]*\}\s*$")
_FENCED_DIV = re.compile(r"^[ \t]*:{3,}.*$", re.MULTILINE)
# A paragraph with more opening brackets is no prose, and is left as it is: the parser looks for the
# end of each link anew, which takes quadratic time.
_MOST_BRACKETS = 500
_VERSE_LINE = 70  # characters; longer lines that end with a hard break are prose
_EMPHASIS = {"em_open": START, "<em>": START, "<i>": START}
_EMPHASIS |= {"em_close": END, "</em>": END, "</i>": END}
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")


def read_markdown(file: SourceFile) -> Manuscript:
    """Read a Markdown file."""
    fields, text = _front_matter(file.text)
    declared = fields.get("lang") or fields.get("language")
    told = _without_notes(text)
    left_out = Counter({NOTES: count_words(text) - count_words(told)})
    with titles_in(decide_language(text, declared=declared)):
        language = reading_language()
        blocks = promote_numbers(list(_blocks(_blanked(_FENCED_DIV, told))))
    if not any(block.kind != "break" for block in blocks):
        raise InputError("holds no text; is it the right file?", file.path)
    first = next((block.text for block in blocks if block.kind == "heading"), None)
    return Manuscript(
        title=fields.get("title") or first or file.path.stem,
        blocks=tuple(blocks),
        language=declared,
        titles_in=language,
        notes=note_left_out(left_out),
    )


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields above the text (YAML, TOML, or pandoc's `%` lines); the text with them blanked."""
    match = _FRONT_MATTER.match(text)
    # Between two rules may stand a story as well.
    if match and all(map(_FIELDS_LINE.match, match["fields"].split("\n"))):
        found = _FIELD.findall(match["fields"])
        fields = {name.lower(): value.strip().strip("\"'").strip() for name, value in found}
        return fields, _blanked(_FRONT_MATTER, text)
    if match := _TITLE_BLOCK.match(text):
        title = match.group().split("\n")[0].lstrip("% ").strip()
        return {"title": title}, _blanked(_TITLE_BLOCK, text)
    return {}, text


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text without what a pattern finds, and with as many lines as before."""
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def _without_notes(text: str) -> str:
    """The text without its footnotes, and with as many lines as before.

    A note goes on to the next blank line, and after it as long as lines are indented.
    """
    lines = text.split("\n")
    in_note = is_open = False  # whether a line belongs to a note even if it is not indented
    for k, line in enumerate(lines):
        if _NOTE.match(line):
            in_note = is_open = True
        elif not line.strip():
            is_open = False
        elif line.startswith("[^"):
            in_note = False
        elif not is_open:
            in_note = in_note and line.startswith(("    ", "\t"))
        if in_note:
            lines[k] = ""
    return "\n".join(lines)


def _blocks(text: str) -> Iterator[Block]:
    tokens = _line_parser().parse(text)
    source_lines = text.split("\n")
    row: list[tuple[str, int]] | None = None
    for k, token in enumerate(tokens):
        first = token.map[0] + 1 if token.map else 0
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            yield from _block("paragraph", row)
            row = None
        elif token.type == "inline":
            lines = _inline_lines(token, first)
            if row is not None:
                row += lines
            elif tokens[k - 1].type == "heading_open":
                yield from _block("heading", lines)
            else:
                yield from _body(token, lines)
        elif token.type in ("fence", "code_block"):
            yield from _paragraphs(token.content, first + (token.type == "fence"))
        elif token.type == "html_block":
            yield from _html_blocks(token.content, first)
        elif token.type == "hr":
            rule = source_lines[first - 1].strip(" \t>")
            yield Block(kind="break", text=" ".join(rule.split()), lines=((0, first),))


def _line_parser() -> MarkdownIt:
    """A parser that notes in which line a construct ends, even where its markup hides newlines."""
    parser = MarkdownIt("commonmark").enable("table")
    hiding = {"backticks": backtick, "link": link, "image": image, "html_inline": html_inline}
    for name, rule in hiding.items():
        parser.inline.ruler.at(name, partial(_noting_line, rule))
    parser.core.ruler.at("inline", _parse_inline)
    return parser


def _parse_inline(state: StateCore) -> None:
    """Parse the text of each block, unless that would take forever."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if token.content.count("[") <= _MOST_BRACKETS:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
            continue
        for k, line in enumerate(token.content.split("\n")):
            token.children += [Token("softbreak", "br", 0)] * bool(k)
            token.children.append(Token("text", "", 0, content=line))


def _noting_line(
    rule: Callable[[StateInline, bool], bool], state: StateInline, silent: bool
) -> bool:
    start, before = state.pos, len(state.tokens)
    if not rule(state, silent):
        return False
    if len(state.tokens) > before:  # not if the parser only looks ahead
        token = state.tokens[-1]
        token.meta["lines"] = bisect_left(_line_ends(state.src), state.pos)
        if token.type == "code_inline":  # its newlines have become blanks
            token.content = state.src[start : state.pos].strip("`")
    return True


@lru_cache(maxsize=1)
def _line_ends(text: str) -> list[int]:
    return [match.start() for match in re.finditer("\n", text)]


def _inline_lines(token: Token, first: int) -> list[tuple[str, int]]:
    """The visible text of each source line of a paragraph, and the line's number."""
    lines = [""]
    for child in token.children or ():
        if child.type == "code_inline":
            head, *rest = child.content.split("\n")
            lines[-1] += head
            lines += rest
        elif child.type in ("text", "text_special"):
            lines[-1] += _NOTE_MARK.sub("", child.content)
        elif mark := _EMPHASIS.get(child.type) or _EMPHASIS.get(child.content.lower()):
            lines[-1] += mark
        elif child.type in ("softbreak", "hardbreak"):
            lines.append("")
        elif child.type == "html_inline" and child.content.lower().startswith("<br"):
            lines[-1] += " "
        lines += [""] * (child.meta.get("lines", 0) + 1 - len(lines))
    return [(text, first + k) for k, text in enumerate(lines)]


def _body(inline: Token, lines: list[tuple[str, int]]) -> Iterator[Block]:
    """A paragraph; or verse, if its lines have hard breaks or form a line block of pandoc."""
    hard = sum(token.type == "hardbreak" for token in inline.children or ())
    shown = [strip_marks(text) for text, _ in lines]
    if len(lines) > 1 and all(text.strip().startswith("| ") for text in shown):
        yield from _block("verse", [(text.replace("| ", "", 1), number) for text, number in lines])
    elif len(lines) >= 3 and hard == len(lines) - 1 and max(map(len, shown)) <= _VERSE_LINE:
        yield from _block("verse", lines)
    else:
        yield from _block("paragraph", lines)


def _block(kind: BlockKind, lines: Sequence[tuple[str, int]]) -> Iterator[Block]:
    """One block of the lines that have text; each line's place in it."""
    text, places = "", []
    for raw, number in lines:
        content = _clean(strip_marks(raw))
        # A word runs on over a line's end only where markup joins it: `<!--` … `-->`.
        text += " " if text and content else ""
        places.append((len(text), number))
        text += content
    if kind == "heading":
        text = _ATTRIBUTES.sub("", text)
    if text:
        emphasis = place_emphasis(count_emphasis("\n".join(raw for raw, _ in lines), _clean), text)
        kind = "break" if is_break(text) else kind
        yield Block(kind=kind, text=text, lines=tuple(places), emphasis=emphasis)


def _clean(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", text).split())


def _paragraphs(content: str, first: int) -> Iterator[Block]:
    """Literal text, split at empty lines."""
    lines = [(line, first + k) for k, line in enumerate(content.split("\n"))]
    for written, group in groupby(lines, key=lambda line: bool(line[0].strip())):
        if written:
            yield from _block("paragraph", list(group))


def _html_blocks(content: str, first: int) -> Iterator[Block]:
    """A block of HTML: its text, line by line, without tags and comments."""
    content = _blanked(_UNREAD, _blanked(_COMMENT, content))
    if _RULE.match(content) and not _TAG.sub("", content).strip():
        yield Block(kind="break", text="", lines=((0, first),))
        return
    plain = html.unescape(_blanked(_TAG, content))
    if _HTML_HEADING.match(content):
        lines = [(line, first + k) for k, line in enumerate(plain.rstrip("\n").split("\n"))]
        yield from _block("heading", lines)
    else:
        yield from _paragraphs(plain, first)
