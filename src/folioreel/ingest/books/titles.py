"""What a line of text says as a title: a chapter's, a part's, or that of front and back matter.

The words are in the folder `languages`. Readers of books ask the functions here, which know them in
the language of the book that is being read (`titles_in`), or else in all languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from folioreel.ingest.books.numerals import HAN, ROMAN
from folioreel.language import described_languages, words_of
from folioreel.text import CAPITALS, CASELESS

# What a title names, if not a part of the story; `matter.py` says which of these are left out.
MatterKind = Literal[
    "contents",  # a table of contents, a list of illustrations
    "page",  # one or two pages such as a title page, a dedication or a copyright notice
    "apparatus",  # notes, an index, an editor's or translator's note
    "preface",  # a preface or foreword
    "introduction",  # by the author or an editor, though parts of stories are called so too
    "excerpt",  # the beginning of another book, as an advertisement
]


_KEYS: dict[MatterKind, str] = {
    "contents": "contents",
    "page": "pages",
    "apparatus": "apparatus",
    "preface": "prefaces",
    "introduction": "introductions",
    "excerpt": "excerpts",
}

_ARTICLE = r"(?:(?:%s)\s+)?"
_BREAK = re.compile(r"^\s*(?:[*#~=_•·—–+oO-]\s*){1,}$|^\s*(?:\*\s*){2,}$|^\s*[⁂❦❧☙]\s*$")
_BARE_NUMBER = re.compile(rf"^[\[(（【§—-]*\s*(?:{ROMAN}|\d{{1,3}}|{HAN})\s*[.)\]）】—-]*$")
_NUMBERED_TITLE = re.compile(rf"^(?:{ROMAN}|\d{{1,3}})\s*[.:)—–-]+\s+[\"“‘'{CAPITALS}].{{1,80}}$")
# Chinese and Japanese: 一、来信. What ends like a sentence, or goes on with a comma, is none.
_HAN_TITLE = re.compile(rf"^{HAN}(?:\s*[、．.:：]\s*|\s)[^、，。！？：；…”」』]{{1,28}}$")
# The title after the number begins with a capital or a quote: "Part of it was gone" is no heading.
_TITLE = rf"(?:\s*[.:,—–-]*\s*(?-i:[\"“‘'(_«„»¿¡{CAPITALS}{CASELESS}0-9]).{{0,90}})?"
END_MARKS = ".!?…:;,。！？：；，、؟۔।"  # end a sentence or a clause, and never a chapter's title
HEADING_CHARACTERS = 110  # a longer line is prose, even if it begins like a heading
_LONG_HEADING = 400  # a longer line is prose, whatever it counts
TITLE_WORDS = 14  # a line with more words is prose, or a chapter's summary, and not a title
_CASELESS_CHARACTERS = 30  # the same, for scripts without capitals, where only the length tells
_LEADERS = re.compile(r"(?:\.{4}|…{2}|(?: \.){3}) ?\d{1,4}$")  # a line of the contents
_INITIALS = re.compile(rf"^(?:[{CAPITALS}]\.\s?)+$")
_ANY_WORD = r"[^\W\d_][^\s\d_.,;:!?()«»\"“”]{1,19}"  # with the marks of Indian scripts
_FRAME = " _*=\u3000"  # what plain text puts around a title for emphasis
_MARKED = re.compile(r"^#{1,6}\s+(?P<title>.*?\S)\s*#*$")  # Markdown's headings, in plain text too


def bare_title(text: str) -> str:
    """A title without what plain text puts around it: `## CHAPTER I`, `*** CHAPTER I ***`."""
    # A longer line is prose, and the pattern would be slow on one of nothing but marks.
    marked = _MARKED.match(text.strip()) if len(text) <= HEADING_CHARACTERS else None
    return (marked["title"] if marked else text).strip(_FRAME)


def is_marked_heading(text: str) -> bool:
    """Whether a line of plain text is written as a heading of Markdown: `## The Road`."""
    return len(text) <= HEADING_CHARACTERS and bool(_MARKED.match(text.strip()))


class Opening(NamedTuple):
    """How a title opens that counts chapters."""

    word: str  # in small letters: `chapter`; may be empty
    number: str
    titled: bool  # whether more follows: `Chapter XII. The Road`


class Titles:
    """What titles mean in one language, and in English, whose notices stand in every edition."""

    def __init__(self, language: str | None) -> None:
        """Compile the words of a language; of all languages if it is not known."""
        known = described_languages() if language is None else dict.fromkeys(("en", language))
        self._language = language
        self._books = [words_of(code).get("book", {}) for code in known]
        self._compile_headings()
        self._compile_matter()

    def _words(self, key: str) -> str:
        """The words under a key, as one regular expression."""
        # Short words such as `a` and `fine` say something in their own language alone.
        only_english = self._language is None and key in ("imprints", "ends")
        books = self._books[:1] if only_english else self._books
        return "|".join(word for book in books for word in book.get(key, ())) or "(?!)"

    def _compile_headings(self) -> None:
        words, language = self._words, self._language
        numbers, suffixes = words("numbers"), words("number_suffixes")
        number = (
            rf"(?:(?:\d{{1,3}}|{ROMAN}|{ROMAN.lower()})(?:{suffixes})?|"
            rf"(?:{numbers})(?:[- ](?:{numbers}))?)"
        )
        chapter = f"(?:{words('chapters')}|{words('parts')})"
        # Of the articles, English headings have `the` alone: "A Part of the World" is a title.
        the = _ARTICLE % words("articles") if language not in (None, "en") else r"(?:the\s+)?"
        usual = "|".join(book["chapters"][0] for book in self._books if book.get("chapters"))
        self._chapter = re.compile(
            rf"^{the}(?:{chapter}\s+{the}{number}\b|{number}\.?\s+{chapter}\b)"
            rf"[.:)\]—–-]*{_TITLE}\s*$",
            re.IGNORECASE,
        )
        # Elsewhere than in English any word may be the one for a chapter, if it comes with numbers
        # that count; nothing, or a title in a script without capitals, may follow.
        word, rest = rf"(?i:{chapter})", rf"\s+[\"“‘'(«„»¿¡—{CAPITALS}]"
        if language != "en":
            word, rest = rf"(?:{word}|{_ANY_WORD})", rf"(?:{rest[:-1]}{CASELESS}]|$)"
        self._opening = re.compile(
            rf"^(?P<word>(?:{word}\s+)?)(?P<number>{ROMAN}|\d{{1,3}})\s*[.:)—–-]*{rest}"
        )
        self._form = re.compile(rf"^(?:{words('forms')})", re.IGNORECASE)
        self._section = re.compile(
            rf"^{the}(?:{words('sections')})\b[.:—–-]*{_TITLE}\s*$", re.IGNORECASE
        )
        self._word_numbered = re.compile(
            rf"^(?=[{CAPITALS}][^{CAPITALS}])(?i:{numbers})(?:-\w+)?\s*[.:—–-]\s*"
            rf"[{CAPITALS}][^a-zà-ÿ]{{2,80}}$"
        )
        order = rf"(?:{usual})\s+{the}{number}"
        if language not in (None, "en"):
            order += rf"|{number}\.?\s+(?:{usual})"
        self._chapter_line = re.compile(rf"^(?:{order})\s*[.:]?$", re.IGNORECASE)
        # Elsewhere the number may come first: Erster Teil, ELSŐ RÉSZ.
        before = rf"(?:{number}\.?\s+)?" if language not in (None, "en") else ""
        self._part = re.compile(rf"^{the}{before}(?:{words('parts')})\b", re.IGNORECASE)

    def _compile_matter(self) -> None:
        words = self._words
        article = _ARTICLE % words("articles")
        self._matter: dict[MatterKind, re.Pattern[str]] = {
            kind: re.compile(
                # A page has no article: "The Cover" is a chapter's title.
                rf"^{'' if kind == 'page' else article}(?:{words(key)})[.:]?$",
                re.IGNORECASE,
            )
            for kind, key in _KEYS.items()
        }
        self._imprint = re.compile(rf"^\W*(?:{words('imprints')})\b", re.IGNORECASE)
        self._end = re.compile(rf"^[^\w]*(?:{words('ends')})[^\w]*$", re.IGNORECASE)
        self._picture = re.compile(rf"^\[\s*(?:{words('pictures')})\b.*\]?$", re.IGNORECASE)
        self._transcriber = re.compile(rf"^[\[(*]*\s*(?:{words('transcribers')})\b", re.IGNORECASE)
        self._footnote = re.compile(
            rf"^\[(?:\d{{1,3}}|[*†‡])\]\s|^\[?(?:{words('footnotes')})\b|^(?:\*|†)\s+\S",
            re.IGNORECASE,
        )

    def matter_kind(self, title: str) -> MatterKind | None:
        """What kind of front or back matter a title names; None if it may be the story's."""
        return next((kind for kind, words in self._matter.items() if words.match(title)), None)

    def is_strong_heading(self, text: str) -> bool:
        """Whether the words of a line make it a heading: `CHAPTER IV`, `第一章 雪`."""
        if len(text) > HEADING_CHARACTERS:
            return False
        if (form := self._form.match(text)) is not None:
            rest = text[form.end() :]
            set_off = not rest or not (rest[0].isalnum() or rest[0] in END_MARKS)
            length = _CASELESS_CHARACTERS * (2 if set_off else 1)
            return len(text) <= length and (not rest or rest[-1] not in END_MARKS)
        return bool(self._chapter.match(text) or self._section.match(text))

    def is_numbered(self, text: str) -> bool:
        """Whether a heading opens with a chapter's number: `IV`, `12. The Road`, `CHAPTER ONE`."""
        forms = (_BARE_NUMBER, _NUMBERED_TITLE, _HAN_TITLE, self._word_numbered)
        return self.is_strong_heading(text) or any(form.match(text) for form in forms)

    def opening_number(self, text: str) -> Opening | None:
        """The word, if any, and the number with which a title opens: `Chapter` and `XII`."""
        if len(text) > _LONG_HEADING or (opening := self._opening.match(text)) is None:
            return None
        word, number = opening["word"].strip().casefold(), opening["number"]
        if not word and opening.end() == len(text):
            return None  # a bare number, which other rules know
        return Opening(word=word, number=number, titled=opening.end() < len(text))

    def is_chapter_line(self, text: str) -> bool:
        """Whether a line is a chapter's number and nothing else: `CHAPTER II`."""
        return bool(self._chapter_line.match(text))

    def is_part(self, text: str) -> bool:
        """Whether a heading is that of a part or a book, which has chapters below it."""
        return bool(self._part.match(text))

    def is_imprint(self, text: str) -> bool:
        """Whether a line begins like one of a title page: `Printed by …`."""
        return bool(self._imprint.match(text))

    def is_end(self, text: str) -> bool:
        """Whether a line is what is printed below the end of a story: `THE END`."""
        return bool(self._end.match(text))

    def aside_kind(self, text: str) -> str | None:
        """What a block is that is no part of the running text: a caption, or a note."""
        asides = {
            "captions": self._picture,
            "transcriber's notes": self._transcriber,
            "footnotes": self._footnote,
        }
        return next((kind for kind, words in asides.items() if words.match(text)), None)


@cache
def load_titles(language: str | None) -> Titles:
    """The titles of a language; of all languages if it is not known."""
    return Titles(language)


_reading: ContextVar[str | None] = ContextVar("reading", default=None)


@contextmanager
def titles_in(language: str | None) -> Iterator[None]:
    """Read a book in a language: until the end of the block, its words decide what a title is.

    The readers of all formats ask for titles in many places, so the language is not handed through
    each of them. Inside another such block, which the user's choice opens, nothing changes.
    """
    token = _reading.set(_reading.get() or language)
    try:
        yield
    finally:
        _reading.reset(token)


def reading_language() -> str | None:
    """The language of the book that is being read, if it is known."""
    return _reading.get()


def _titles() -> Titles:
    return load_titles(reading_language())


def any_language(key: str) -> str:
    """The words of all languages under a key, as one regular expression."""
    found = [words_of(code).get("book", {}).get(key, ()) for code in described_languages()]
    return "|".join(word for words in found for word in words)


def matter_kind(title: str) -> MatterKind | None:
    """What kind of front or back matter a title names; None if it may be the story's."""
    return _titles().matter_kind(bare_title(title))


def is_break(text: str) -> bool:
    """Whether a line separates two sections of a chapter (`* * *`, a rule)."""
    return len(text) < 80 and bool(_BREAK.match(text)) and not text.strip().isalpha()


def is_strong_heading(text: str) -> bool:
    """Whether the words of a line make it a heading: `CHAPTER IV`, `Stave I: Marley's Ghost`."""
    title = bare_title(text)
    return len(title) <= HEADING_CHARACTERS and _is_strong(reading_language(), title)


# Readers ask for the same lines again and again, and the words of all languages are many.
@lru_cache(maxsize=10_000)
def _is_strong(language: str | None, title: str) -> bool:
    return load_titles(language).is_strong_heading(title)


@lru_cache(maxsize=10_000)
def _is_numbered(language: str | None, title: str) -> bool:
    return load_titles(language).is_numbered(title)


def is_numbered(text: str) -> bool:
    """Whether a heading opens with a chapter's number: `IV`, `12. The Road`, `CHAPTER ONE`."""
    title = bare_title(text)
    if len(title) > HEADING_CHARACTERS:
        return _titles().is_numbered(title)
    return _is_numbered(reading_language(), title)


def opening_number(text: str) -> Opening | None:
    """The word, if any, and the number with which a title opens: `Chapter` and `XII`."""
    return _titles().opening_number(bare_title(text))


def is_chapter_line(text: str) -> bool:
    """Whether a line holds `CHAPTER II` and nothing else: a heading even without blank lines."""
    return _titles().is_chapter_line(bare_title(text))


def is_bare_number(text: str) -> bool:
    """Whether a heading is a chapter's number alone: `XII.`, `CHAPTER II`."""
    return is_chapter_line(text) or bool(_BARE_NUMBER.match(bare_title(text)))


def is_part(text: str) -> bool:
    """Whether a heading is that of a part or a book, which has chapters below it."""
    return _titles().is_part(bare_title(text))


def is_imprint(text: str) -> bool:
    """Whether a line begins like one of a title page: `Printed by …`."""
    return _titles().is_imprint(text)


def is_end(text: str) -> bool:
    """Whether a line is what is printed below the end of a story: `THE END`."""
    return _titles().is_end(text)


def aside_kind(text: str) -> str | None:
    """What a block is that is no part of the running text: a caption, or a note."""
    return _titles().aside_kind(text)


def is_weak_heading(
    text: str,
    *,
    blank_before: int,
    indented: bool,
    new_page: bool,
    evenly_spaced: bool = False,
) -> bool:
    """Whether the layout makes a line a heading: a number or capitals set off, or the paper's rule.

    In a file that is `evenly_spaced`, with one blank line everywhere, spacing does not mark them.
    """
    text = bare_title(text)
    if not text or len(text.split()) > TITLE_WORDS or is_break(text) or _LEADERS.search(text):
        return False
    # `C. B.` is no title; English books, of which we have judged many, are read as they were.
    if len(text) > 3 and _INITIALS.match(text) and reading_language() != "en":
        return False
    set_off = new_page or blank_before >= 2  # one blank line separates paragraphs
    if set_off and (is_numbered(text) or is_capitals(text) or is_short_caseless(text)):
        return True
    if evenly_spaced and is_number_line(text):
        return True
    # The paper: "a chapter title has indentation, starts on a new page, and does not end with an
    # end symbol". Plain text shows a new page by a form feed or by four blank lines.
    return (new_page or blank_before >= 4) and indented and text[-1] not in END_MARKS


def is_number_line(text: str) -> bool:
    """Whether a line by itself is a chapter's number, or opens with one and ends like a title."""
    text = bare_title(text)
    if not text or len(text.split()) > TITLE_WORDS:
        return False
    # `XXXVIII.` ends with a stop too; what else has eight characters and does may be a sentence.
    is_short = len(text) < 8 or text[-1] not in END_MARKS or bool(_BARE_NUMBER.match(text))
    return is_numbered(text) and is_short


def is_subtitle(text: str, *, blank_before: int) -> bool:
    """Whether a line right below a chapter's number is the chapter's title."""
    text = bare_title(text)
    # Four blank lines are a new page: what follows belongs to the next heading.
    if not text or len(text.split()) > TITLE_WORDS or is_break(text) or blank_before > 3:
        return False
    if is_capitals(text):
        return True
    if is_short_caseless(text):
        return True
    return text[-1] not in END_MARKS and text[-1] not in "\"”'’" and text[0].isupper()


def is_short_caseless(text: str) -> bool:
    """Whether a line without capitals or small letters may be a title by its length and end."""
    is_short = len(text) <= _CASELESS_CHARACTERS and any(map(str.isalpha, text))
    return is_short and not has_case(text) and text[-1] not in END_MARKS + "”’」』"


def is_capitals(text: str) -> bool:
    """Whether a line is in capitals."""
    letters = [character for character in text if character.isalpha()]
    return len(letters) >= 2 and not any(map(str.islower, letters)) and has_case(text)


def has_case(text: str) -> bool:
    """Whether a text is in a script with capitals and small letters."""
    return any(character.isupper() or character.islower() for character in text)
