"""Which lines of a text head a chapter: the usual forms, and the paper's own rule (section 3)."""

from __future__ import annotations

import re

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth last"
).split()
_ROMAN = r"(?=[IVXLC])(?:XC|XL|L?X{0,3}|C{1,3}(?:XC|XL|L?X{0,3}))(?:IX|IV|V?I{0,3})"
_NUMBER = (
    rf"(?:\d{{1,3}}|{_ROMAN}|{_ROMAN.lower()}|"
    rf"(?:{'|'.join(_NUMBER_WORDS)})(?:[- ](?:{'|'.join(_NUMBER_WORDS)}))?)"
)
# Words for a chapter in the languages that people bring; the number may come before or after.
_CHAPTER_WORD = (
    r"(?:chapter|chap\.|stave|canto|letter|scene|part|book|volume|vol\.|section|episode|"
    r"chapitre|livre|partie|tome|kapitel|teil|buch|cap[íi]tulo|capitolo|parte|libro|hoofdstuk|"
    r"kapittel|luku|rozdział|kapitola|глава|часть|книга|том|κεφάλαιο)"
)
_UPPER_WORD = r"(?:PART|BOOK|VOLUME|VOL\.|LIVRE|PARTIE|TOME|TEIL|BUCH|PARTE|LIBRO|ЧАСТЬ|КНИГА|ТОМ)"
# Sections that belong to the story though no number says so.
_NAMED = (
    r"prologue|epilogue|prelude|interlude|postlude|conclusion|afterward|finale|l'envoi|coda|"
    r"prolog|epilog|épilogue|prólogo|epílogo|пролог|эпилог"
)
# A title after the number begins with a capital or a quote: "Part of it was gone" is no heading.
_TITLE = r"(?:\s*[.:,—–-]*\s*(?-i:[\"“‘'(_A-ZÀ-ÞА-Я0-9]).{0,90})?"

_CHAPTER = re.compile(
    rf"^(?:the\s+)?(?:{_CHAPTER_WORD}\s+(?:the\s+)?{_NUMBER}\b|{_NUMBER}\.?\s+{_CHAPTER_WORD}\b)"
    rf"[.:)\]—–-]*{_TITLE}\s*$",
    re.IGNORECASE,
)
_NAMED_SECTION = re.compile(rf"^(?:the\s+)?(?:{_NAMED})\b[.:—–-]*{_TITLE}\s*$", re.IGNORECASE)
_BARE_NUMBER = re.compile(rf"^[\[(§—-]*\s*(?:{_ROMAN}|\d{{1,3}})\s*[.)\]—-]*$")
_NUMBERED_TITLE = re.compile(rf"^(?:{_ROMAN}|\d{{1,3}})\s*[.:)—–-]+\s+[\"“‘'A-ZÀ-ÞА-Я].{{1,80}}$")
_WORD_NUMBERED = re.compile(
    rf"^(?:{'|'.join(word.capitalize() for word in _NUMBER_WORDS)})(?:-\w+)?\s*[.:—–-]\s*"
    r"[A-ZÀ-Þ][^a-zà-ÿ]{2,80}$"
)
_CHAPTER_LINE = re.compile(rf"^chapter\s+(?:the\s+)?{_NUMBER}\s*[.:]?$", re.IGNORECASE)
_PART = re.compile(rf"^(?:the\s+)?(?:{_UPPER_WORD})\b", re.IGNORECASE)
_BREAK = re.compile(r"^\s*(?:[*#~=_•·—–+oO-]\s*){1,}$|^\s*(?:\*\s*){2,}$|^\s*[⁂❦❧☙]\s*$")

_END_MARKS = ".!?…:;,"
_LONGEST_TITLE_WORDS = 14


def is_break(text: str) -> bool:
    """Whether a line parts two sections of a chapter (`* * *`, a rule)."""
    return len(text) < 80 and bool(_BREAK.match(text)) and not text.strip().isalpha()


def is_strong_heading(text: str) -> bool:
    """Whether a line heads a chapter by its words: `CHAPTER IV`, `Stave I: Marley's Ghost`."""
    text = text.strip(" _*=")
    if len(text) > 110:
        return False
    return bool(_CHAPTER.match(text) or _NAMED_SECTION.match(text))


def is_numbered(text: str) -> bool:
    """Whether a heading opens with a chapter's number: `IV`, `12. The Road`, `CHAPTER ONE`."""
    text = text.strip(" _*=")
    forms = (_BARE_NUMBER, _NUMBERED_TITLE, _WORD_NUMBERED)
    return is_strong_heading(text) or any(form.match(text) for form in forms)


def is_chapter_line(text: str) -> bool:
    """Whether a line holds `CHAPTER II` and nothing else: a heading even without blank lines."""
    return bool(_CHAPTER_LINE.match(text.strip(" _*=")))


def is_weak_heading(
    text: str,
    *,
    blank_before: int,
    indented: bool,
    new_page: bool,
    evenly_spaced: bool = False,
) -> bool:
    """Whether a line heads a chapter by how it stands: a number, capitals, or the paper's rule.

    Args:
        text: The line, trimmed.
        blank_before: Blank lines above it.
        indented: It is set in from the margin, or centred.
        new_page: A form feed stands above it.
        evenly_spaced: The file leaves one blank line everywhere, so that none sets a heading off.
    """
    text = text.strip(" _*=")
    if not text or len(text.split()) > _LONGEST_TITLE_WORDS or is_break(text):
        return False
    set_off = new_page or blank_before >= 2
    if set_off and (is_numbered(text) or _is_capitals(text)):
        return True
    if evenly_spaced and is_numbered(text) and (len(text) < 8 or text[-1] not in _END_MARKS):
        return True
    # The paper: "a chapter title has indentation, starts on a new page, and does not end with an
    # end symbol". Plain text shows a new page by a form feed or by four blank lines.
    return (new_page or blank_before >= 4) and indented and text[-1] not in _END_MARKS


def is_subtitle(text: str, *, blank_before: int) -> bool:
    """Whether a line right below a chapter's number is the chapter's title."""
    text = text.strip(" _*=")
    if not text or len(text.split()) > _LONGEST_TITLE_WORDS or is_break(text) or blank_before > 3:
        return False
    if _is_capitals(text):
        return True
    return text[-1] not in _END_MARKS and text[-1] not in "\"”'’" and text[0].isupper()


def heading_level(text: str) -> int:
    """1 for a part or a book, 2 for a chapter."""
    return 1 if _PART.match(text.strip(" _*=")) else 2


def _is_capitals(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return len(letters) >= 2 and all(not letter.islower() for letter in letters)
