"""What a line of text says as a title: a chapter's, a part's, or that of front and back matter.

All words that depend on a language are in `LANGUAGES`: to add a language, add an entry there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Literal

# What a title names, if not a part of the story; `matter.py` says which of these are left out.
MatterKind = Literal[
    "contents",  # a table of contents, a list of illustrations
    "page",  # one or two pages such as a title page, a dedication or a copyright notice
    "apparatus",  # notes, an index, an editor's or translator's note
    "preface",  # a preface or foreword
    "introduction",  # by the author or an editor, though parts of stories are called so too
    "excerpt",  # the beginning of another book, as an advertisement
]


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of one language, each field a regular expression of alternatives.

    Case does not matter. A title is compared with the words of all languages.
    """

    chapters: str = ""  # what a chapter is called; its number comes before or after
    parts: str = ""  # what a division above the chapters is called
    sections: str = ""  # titles of parts of the story that have no number
    numbers: str = ""  # numbers in words
    contents: str = ""  # this and the next five: titles of matter; see `MatterKind`
    pages: str = ""
    apparatus: str = ""
    prefaces: str = ""
    introductions: str = ""
    excerpts: str = ""
    ends: str = ""  # what is printed below the last line of a story
    imprints: str = ""  # first words of lines on a title page
    page_numbers: str = ""  # what may come before a page number
    of_pages: str = ""  # what comes between a page number and the number of pages: "3 of 12"


LANGUAGES = {
    "en": Words(
        chapters=r"chapter|chap\.|stave|canto|letter|scene|section|episode",
        parts=r"part|book|volume|vol\.",
        sections="prologue|epilogue|prelude|interlude|postlude|conclusion|afterward|finale|"
        "l'envoi|coda",
        numbers="one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
        "fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|"
        "eighty|ninety|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|"
        "twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|"
        "twentieth|thirtieth|last",
        contents=r"(?:table of )?contents|(?:table of )?illustrations|(?:table of )?list of \w+",
        pages=r"(?:front |back |book )?cover(?: page| image)?|(?:half[- ]?)?title(?:[- ]?page)?|"
        r"(?:un)?copyright(?: page| notice| information)?|imprint|colophon|dedication|"
        r"(?:other )?(?:books|titles|works|novels) by\b.*|also (?:by|available)\b.*|"
        r"by the same author|about(?: (?:the|this) (?:authors?|publisher|translator|illustrator|"
        r"editor|type|e-?book|edition|book))?|(?:advance )?praise(?: for\b.*)?|"
        r"acknowledge?ments?|permissions|credits|newsletter(?: sign-?up)?|landmarks|frontispiece|"
        r"front ?matter|back ?matter|advertisements?",
        apparatus=r"(?:foot|end)?notes|index|bibliography|glossary|works cited|errata|"
        r"(?:translator|editor|transcriber|publisher)[’']?s?[’']? "
        r"(?:notes?|preface|introduction|foreword)|notes? on the (?:text|translation|type)|"
        r"afterword\b.*\bby\b.*|(?:reading group|discussion) (?:guide|questions)|"
        r"(?:full )?project gutenberg\b.*|(?:pg|etext) editor[’']?s bookmarks",
        prefaces=r"(?:author[’']?s?[’']? )?(?:preface|foreword)(?: (?:to|by)\b.*)?",
        introductions=r"(?:author[’']?s?[’']? )?introduct(?:ion|ory)\b.*",
        excerpts=r"(?:excerpt|preview) (?:from|of)\b.*",
        ends=r"the\s+end|finis",
        imprints="all rights|copyright|printed|published|first published|entered according|by|"
        "with|illustrated|translated|edited|dedicated|to",
        page_numbers=r"page|p\.|pg\.?",
        of_pages="of",
    ),
    "fr": Words(
        chapters="chapitre",
        parts="livre|partie|tome",
        sections="épilogue",
        contents="table des matières",
        pages="couverture|page de titre|dédicace",
        ends="fin",
    ),
    "de": Words(
        chapters="kapitel",
        parts="teil|buch",
        sections="prolog|epilog",
        contents="inhalt(?:sverzeichnis)?",
        pages="titelseite|impressum|widmung",
        ends="ende",
        page_numbers="seite",
        of_pages="von",
    ),
    "es": Words(
        chapters="cap[íi]tulo",
        parts="parte|libro",
        sections="prólogo|epílogo",
        contents="índice",
        pages="portada|dedicatoria",
    ),
    "it": Words(chapters="capitolo", parts="parte|libro", contents="indice"),
    "nl": Words(chapters="hoofdstuk"),
    "no": Words(chapters="kapittel"),
    "fi": Words(chapters="luku"),
    "pl": Words(chapters="rozdział"),
    "cs": Words(chapters="kapitola"),
    "ru": Words(
        chapters="глава",
        parts="часть|книга|том",
        sections="пролог|эпилог",
        contents="содержание|оглавление",
        pages="обложка|титульный лист|аннотация|выходные данные",
        apparatus="примечания|сноски",
        ends="конец",
        page_numbers=r"стр\.?",
        of_pages="из",
    ),
    "el": Words(chapters="κεφάλαιο"),
}

# The words of all languages together.
ANY_LANGUAGE = Words(
    **{
        field.name: "|".join(filter(None, (getattr(w, field.name) for w in LANGUAGES.values())))
        for field in fields(Words)
    }
)

_ROMAN = r"(?=[IVXLC])(?:XC|XL|L?X{0,3}|C{1,3}(?:XC|XL|L?X{0,3}))(?:IX|IV|V?I{0,3})"
_NUMBER = (
    rf"(?:\d{{1,3}}|{_ROMAN}|{_ROMAN.lower()}|"
    rf"(?:{ANY_LANGUAGE.numbers})(?:[- ](?:{ANY_LANGUAGE.numbers}))?)"
)
_CHAPTER_WORD = f"(?:{ANY_LANGUAGE.chapters}|{ANY_LANGUAGE.parts})"
# A title after the number begins with a capital or a quote: "Part of it was gone" is not a heading.
_TITLE = r"(?:\s*[.:,—–-]*\s*(?-i:[\"“‘'(_A-ZÀ-ÞА-Я0-9]).{0,90})?"
_CHAPTER = re.compile(
    rf"^(?:the\s+)?(?:{_CHAPTER_WORD}\s+(?:the\s+)?{_NUMBER}\b|{_NUMBER}\.?\s+{_CHAPTER_WORD}\b)"
    rf"[.:)\]—–-]*{_TITLE}\s*$",
    re.IGNORECASE,
)
_NAMED_SECTION = re.compile(
    rf"^(?:the\s+)?(?:{ANY_LANGUAGE.sections})\b[.:—–-]*{_TITLE}\s*$", re.IGNORECASE
)
_BARE_NUMBER = re.compile(rf"^[\[(§—-]*\s*(?:{_ROMAN}|\d{{1,3}})\s*[.)\]—-]*$")
_NUMBERED_TITLE = re.compile(rf"^(?:{_ROMAN}|\d{{1,3}})\s*[.:)—–-]+\s+[\"“‘'A-ZÀ-ÞА-Я].{{1,80}}$")
_WORD_NUMBERED = re.compile(
    rf"^(?=[A-ZÀ-Þ][^A-ZÀ-Þ])(?i:{ANY_LANGUAGE.numbers})(?:-\w+)?\s*[.:—–-]\s*"
    r"[A-ZÀ-Þ][^a-zà-ÿ]{2,80}$"
)
_CHAPTER_LINE = re.compile(rf"^chapter\s+(?:the\s+)?{_NUMBER}\s*[.:]?$", re.IGNORECASE)
_PART = re.compile(rf"^(?:the\s+)?(?:{ANY_LANGUAGE.parts})\b", re.IGNORECASE)
_BREAK = re.compile(r"^\s*(?:[*#~=_•·—–+oO-]\s*){1,}$|^\s*(?:\*\s*){2,}$|^\s*[⁂❦❧☙]\s*$")

_ARTICLE = r"(?:the\s+|an?\s+)?"
_MATTER_WORDS: dict[MatterKind, str] = {
    "contents": rf"{_ARTICLE}(?:{ANY_LANGUAGE.contents})",
    "page": rf"(?:{ANY_LANGUAGE.pages})",  # without an article: "The Cover" is a chapter's title
    "apparatus": rf"{_ARTICLE}(?:{ANY_LANGUAGE.apparatus})",
    "preface": rf"{_ARTICLE}(?:{ANY_LANGUAGE.prefaces})",
    "introduction": rf"{_ARTICLE}(?:{ANY_LANGUAGE.introductions})",
    "excerpt": rf"{_ARTICLE}(?:{ANY_LANGUAGE.excerpts})",
}
_MATTER = {kind: re.compile(rf"^{w}[.:]?$", re.I) for kind, w in _MATTER_WORDS.items()}

END_MARKS = ".!?…:;,"  # what ends a sentence or a clause, and never a chapter's title
HEADING_CHARACTERS = 110  # a longer line is prose, even if it begins like a heading
_TITLE_WORDS = 14  # a line with more words is prose, or a chapter's summary, and not a title
_FRAME = " _*="  # what plain text puts around a title for emphasis
_MARKED = re.compile(r"^#{1,6}\s+(?P<title>.*?\S)\s*#*$")  # Markdown's headings, in plain text too


def bare_title(text: str) -> str:
    """A title without what plain text puts around it: `## CHAPTER I`, `*** CHAPTER I ***`."""
    # A longer line is prose, and the pattern would be slow on one of nothing but marks.
    marked = _MARKED.match(text.strip()) if len(text) <= HEADING_CHARACTERS else None
    return (marked["title"] if marked else text).strip(_FRAME)


def is_marked_heading(text: str) -> bool:
    """Whether a line of plain text is written as a heading of Markdown: `## The Road`."""
    return len(text) <= HEADING_CHARACTERS and bool(_MARKED.match(text.strip()))


def matter_kind(title: str) -> MatterKind | None:
    """What kind of front or back matter a title names; None if it may be the story's."""
    title = bare_title(title)
    return next((kind for kind, pattern in _MATTER.items() if pattern.match(title)), None)


def is_break(text: str) -> bool:
    """Whether a line separates two sections of a chapter (`* * *`, a rule)."""
    return len(text) < 80 and bool(_BREAK.match(text)) and not text.strip().isalpha()


def is_strong_heading(text: str) -> bool:
    """Whether the words of a line make it a heading: `CHAPTER IV`, `Stave I: Marley's Ghost`."""
    text = bare_title(text)
    if len(text) > HEADING_CHARACTERS:
        return False
    return bool(_CHAPTER.match(text) or _NAMED_SECTION.match(text))


def is_numbered(text: str) -> bool:
    """Whether a heading opens with a chapter's number: `IV`, `12. The Road`, `CHAPTER ONE`."""
    text = bare_title(text)
    forms = (_BARE_NUMBER, _NUMBERED_TITLE, _WORD_NUMBERED)
    return is_strong_heading(text) or any(form.match(text) for form in forms)


def is_chapter_line(text: str) -> bool:
    """Whether a line holds `CHAPTER II` and nothing else: a heading even without blank lines."""
    return bool(_CHAPTER_LINE.match(bare_title(text)))


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
    if not text or len(text.split()) > _TITLE_WORDS or is_break(text):
        return False
    set_off = new_page or blank_before >= 2  # one blank line separates paragraphs
    if set_off and (is_numbered(text) or _is_capitals(text)):
        return True
    # `XXXVIII.` ends with a stop too; anything of eight characters that does may be a sentence.
    if evenly_spaced and is_numbered(text) and (len(text) < 8 or text[-1] not in END_MARKS):
        return True
    # The paper: "a chapter title has indentation, starts on a new page, and does not end with an
    # end symbol". Plain text shows a new page by a form feed or by four blank lines.
    return (new_page or blank_before >= 4) and indented and text[-1] not in END_MARKS


def is_subtitle(text: str, *, blank_before: int) -> bool:
    """Whether a line right below a chapter's number is the chapter's title."""
    text = bare_title(text)
    # Four blank lines are a new page: what follows belongs to the next heading.
    if not text or len(text.split()) > _TITLE_WORDS or is_break(text) or blank_before > 3:
        return False
    if _is_capitals(text):
        return True
    return text[-1] not in END_MARKS and text[-1] not in "\"”'’" and text[0].isupper()


def is_part(text: str) -> bool:
    """Whether a heading is that of a part or a book, which has chapters below it."""
    return bool(_PART.match(bare_title(text)))


def _is_capitals(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return len(letters) >= 2 and all(not letter.islower() for letter in letters)
