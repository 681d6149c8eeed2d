"""Where sentences begin and end (paper, section 3).

`sentencex` finds the boundaries, by the rules of the language; the rules here add what fiction
needs: speech is split inside its quotes, and a tag stays with the words it tags (`"Go!" he said.`
is one sentence).
"""

from __future__ import annotations

import re
from functools import cache

import sentencex

from folioreel.language import words_of
from folioreel.text import CAPITALS, QUOTES, SINGLE_QUOTES, dominant_script

# Characters that sentencex gets at once: it takes quadratic time over what is no prose (`!!!!!!`).
# Only where a longer paragraph is cut can a sentence be missed.
_SPLIT_AT_ONCE = 10_000

_CLOSERS = QUOTES + ")]}_*"
_DASHES = "—–―-"

# Verbs that introduce or follow speech, in the past and the present tense.
_SPEECH_VERBS = frozenset(
    """
    say says said ask asks asked cry cries cried reply replies replied answer answers answered
    tell tells told whisper whispers whispered shout shouts shouted murmur murmurs murmured
    mutter mutters muttered exclaim exclaims exclaimed remark remarks remarked return returned
    call calls called repeat repeats repeated inquire inquires inquired enquire enquired
    demand demands demanded observe observes observed add adds added continue continues continued
    begin begins began think thinks thought interrupt interrupts interrupted
    scream screams screamed yell yells yelled snap snaps snapped gasp gasps gasped
    sigh sighs sighed laugh laughs laughed growl growls growled groan groans groaned
    stammer stammers stammered sob sobs sobbed hiss hisses hissed roar roars roared
    explain explains explained admit admits admitted agree agrees agreed suggest suggests suggested
    declare declares declared protest protests protested insist insists insisted
    announce announces announced retort retorts retorted respond responds responded
    ejaculate ejaculated rejoin rejoined pursue pursued resume resumed conclude concluded
    urge urged plead pleaded beg begged order ordered command commanded warn warned
    echo echoed breathe breathed mumble mumbled grunt grunted bark barked bellow bellowed
    shriek shrieked wail wailed croak croaked chuckle chuckled giggle giggled grumble grumbled
    confess confessed promise promised assure assured object objected wonder wondered
    venture ventured falter faltered persist persisted read reads sang sings concede conceded
    """.split()
)
_SUBJECT = (
    r"(?:I|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey|[Yy]ou|[Ss]omeone|[Ss]omebody|[Ee]verybody|[Nn]obody|"
    r"(?:(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Mm]y|[Oo]ur|[Tt]heir)\s+)?(?:[\w’'-]+\.?\s+){0,3}?[\w’'-]+)"
)
_TAG = re.compile(rf"{_SUBJECT}\s+(?:\w+ly\s+|at once\s+|only\s+|just\s+)?(\w+)\b")
# Verbs that tag speech only if nothing follows; otherwise they are action ("He called the dog").
_WEAK_TAGS = frozenset("call calls called read reads begin begins began return returned".split())
# A clause that opens with one of these is a sentence of its own, whatever verb it holds.
_CONJUNCTIONS = frozenset(
    "and but so then when as if while for or yet because though after before that there".split()
)

# Words that sentencex takes for abbreviations, but that end sentences in fiction.
_NO_ABBREVIATION = re.compile(
    r"(?:\b(?:me|no|may|ill|art|ken|fed|miss|ore|arc|mar|ark|brig|con|pa|Pa|Ida|Ken|etc|"
    r"No(?=\.\s+(?:I\b|[A-Z][a-z'])))|[a-z] I)\."
    r"[\"”’)]*\s+(?=[\"“‘(]?[A-Z])"
)

_SCRIPT_LANGUAGES = {
    "CYRILLIC": "ru",
    "GREEK": "el",
    "CJK": "zh",
    "HANGUL": "ko",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "ARMENIAN": "hy",
    "THAI": "th",
}
_KANA = re.compile("[\u3041-\u30fa]")
# Thai sets no marks between sentences, only spaces, and sets them between clauses, too, and around
# numbers and names. What is shorter, in characters, is taken for one of these.
_SHORTEST_THAI = 16

_WORD_STOP = re.compile(
    rf"(?<![^\W\d_])([^\W\d_]+)\.[{re.escape(_CLOSERS)}]*\s+(?=[{QUOTES}(\[¿¡—–-]*\s?[{CAPITALS}])"
)
# An interrupted speech ends with a dash or dots inside its closing quote.
_INTERRUPTED = re.compile(rf"(?:[{_DASHES}…]|\.\.\.)[”\"»’]\s+(?=[“\"«‘{CAPITALS}])")
# Where speech opens with a dash, one right after a sentence opens the next: Viens !—Non.
_SPEECH_DASH = re.compile(rf"(?<=[.!?…”\"»])[{_DASHES}]+\s*$")
_SPACED_CLOSER = re.compile(r"\s+([»«])(?=\s|$)")
# A closed speech that is followed by another: "Why?" "Because!" and He stopped. "Go on."
_NEXT_SPEECH = re.compile(r"[.!?…](?:[”\"»]\s+(?=[“\"«])|[“«]\s+(?=[„»]))")


def split_sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """The spans of the sentences of one paragraph, trimmed and in order.

    Args:
        text: One paragraph.
        language: An ISO 639-1 code; guessed from the script where it is not given.
    """
    if language is None:
        language = _guess_by_script(text)
    boundaries = _thai_boundaries(text) if language == "th" else []
    boundaries += _raw_boundaries(text, language)
    spans = _spans_between(text, sorted(boundaries), speech_dashes=language != "en")
    return _join_fragments(text, spans, language)


def _guess_by_script(text: str) -> str:
    # The first sentences show the script; a whole paragraph would only take longer.
    head = text[:200]
    guess = _SCRIPT_LANGUAGES.get(dominant_script(head) or "", "en")
    return "ja" if guess == "zh" and _KANA.search(head) else guess


def _thai_boundaries(text: str) -> list[int]:
    """Spaces with at least a clause before and after them."""
    found, last = [], 0
    for space in re.finditer(r"\s+", text):
        if min(space.start() - last, len(text) - space.end()) >= _SHORTEST_THAI:
            found.append(space.end())
            last = space.end()
    return found


def _raw_boundaries(text: str, language: str) -> list[int]:
    """Where a sentence may begin, by sentencex over the text without its quotation marks."""
    # sentencex does not split inside quotes, and misses abbreviations after inner dashes, so it is
    # given blanks in their place.
    masked = "".join(
        " " if character in QUOTES and not _is_apostrophe(text, k) else character
        for k, character in enumerate(text)
    )
    masked = re.sub(r"(?<=\S)(?:—|--)(?=\S)", lambda dash: " " * len(dash.group()), masked)
    found = {0}
    for first in range(0, len(masked), _SPLIT_AT_ONCE):
        pieces = sentencex.get_sentence_boundaries(language, masked[first : first + _SPLIT_AT_ONCE])
        found |= {first + piece["start_index"] for piece in pieces if piece["start_index"]}
    if language == "en":
        found |= {match.end() for match in _NO_ABBREVIATION.finditer(text)}
    else:
        found |= _stops_after_words(text, language)
        found -= {match.end() for match in _abbreviated(language).finditer(text)}
    found |= {match.end() for match in _INTERRUPTED.finditer(text)}
    found |= {match.end() for match in _NEXT_SPEECH.finditer(text)}
    return sorted(found - {0})


@cache
def _abbreviations(language: str) -> frozenset[str]:
    """Those of a language, at the beginning of a sentence, too, and those of English names."""
    own, english = (words_of(code).get("text", {}) for code in (language, "en"))
    listed = f"{own.get('abbreviations', '')} {english['abbreviations']}".split()
    return frozenset(listed) | {word[0].upper() + word[1:] for word in listed}


@cache
def _abbreviated(language: str) -> re.Pattern[str]:
    """A full stop that ends no sentence of a language, with the blanks after it."""
    # Longest first: of `d.h` and `h`, the whole is meant. A single capital is an initial.
    longest_first = sorted(_abbreviations(language), key=lambda word: (-len(word), word))
    listed = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![^\W\d_])(?:{listed}|[{CAPITALS}])\.\s+")


def _stops_after_words(text: str, language: str) -> set[int]:
    """Where a full stop after a whole word in small letters is followed by a capital.

    For some languages sentencex has hundreds of abbreviations that are words, too.
    """
    ends = words_of(language).get("text", {}).get("sentence_ends", "").split()
    return {
        stop.end()
        for stop in _WORD_STOP.finditer(text)
        if (word := stop.group(1)) in ends
        or (len(word) > 1 and word.islower() and word not in _abbreviations(language))
    }


@cache
def _tags(language: str) -> re.Pattern[str]:
    """How what follows a speech and belongs to it begins."""
    return re.compile(words_of(language).get("text", {}).get("tags") or "(?!)")


def _is_apostrophe(text: str, k: int) -> bool:
    """Whether a quote character is an apostrophe inside a word, as in don't."""
    inside = 0 < k < len(text) - 1
    return inside and text[k] in SINGLE_QUOTES and text[k - 1].isalnum() and text[k + 1].isalnum()


def _spans_between(
    text: str, boundaries: list[int], *, speech_dashes: bool
) -> list[tuple[int, int]]:
    """Trimmed spans; a closing mark stays with what it closes, an opening one with what follows."""
    # „German“ speech closes with the mark that opens speech elsewhere, and so does »German« speech.
    openers = "‘‹„" if "„" in text else "‘‹“"
    openers += "»" if _closes_inwards(text) else "«"
    openers += "「『《〈"
    starts = [0]
    for boundary in boundaries:
        # Walk back to the end of the words before, then over the marks that close them.
        end = max(boundary, starts[-1])
        while end > starts[-1] and (text[end - 1].isspace() or text[end - 1] in _CLOSERS):
            end -= 1
        while end < len(text) and text[end] in _CLOSERS and text[end] not in openers:
            end += 1
        # French sets a space before the mark, too: « Trop tard. » Elle partit.
        if (spaced := _SPACED_CLOSER.match(text, end)) and spaced.group(1) not in openers:
            end = spaced.end()
        if speech_dashes and (dash := _SPEECH_DASH.search(text, max(starts[-1], end - 9), end)):
            end = dash.start()
        starts.append(end)
    spans = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = text[start:end]
        if stripped := piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(stripped)))
    return spans


def _closes_inwards(text: str) -> bool:
    """Whether the first angle quote is a closing one elsewhere: »speech«."""
    angle = re.search("[«»]", text)
    # Finnish and Swedish »speech» opens and closes with one mark, which then closes.
    return angle is not None and angle.group() == "»" and "«" in text


def _join_fragments(
    text: str, spans: list[tuple[int, int]], language: str
) -> list[tuple[int, int]]:
    """Join what sentencex split: a speech and its tag, an outcry and its sentence, bare marks."""
    joined: list[tuple[int, int]] = []
    has_capitals = text != text.lower()
    # Of the sentence so far: looking at all of it again for each piece would be quadratic.
    has_words = has_quotes = False
    for start, end in spans:
        piece = text[start:end]
        words = any(character.isalnum() for character in piece)
        quotes = any(quote in piece for quote in QUOTES)
        if not joined:
            continues = False
        elif not has_words or not words:
            continues = True  # dots, dashes or quotes alone open a sentence, or close one
        else:
            speech_closed = has_quotes and text[joined[-1][1] - 1] in _CLOSERS
            continues = _continues(piece, speech_closed, has_capitals, language)
        if continues:
            joined[-1] = (joined[-1][0], end)
            has_words, has_quotes = has_words or words, has_quotes or quotes
        else:
            joined.append((start, end))
            has_words, has_quotes = words, quotes
    return joined


def _continues(after: str, speech_closed: bool, has_capitals: bool, language: str) -> bool:
    """Whether `after` belongs to the sentence before it."""
    if has_capitals and after.lstrip(QUOTES + "_*([—–- ")[:1].islower():
        return True  # `"Oh!" she cried`, `O Captain! my Captain!`, `vol. ii. of it`
    if not speech_closed or after[0] in QUOTES:
        return False
    # Elsewhere the verb comes first, in small letters: "Nein!" rief Otto.
    return _is_tag(after) if language == "en" else _tags(language).match(after) is not None


def _is_tag(after: str) -> bool:
    """Whether a text opens with a tag of speech: `Mr. Jones asked`, `The old man cried`."""
    if after.split(maxsplit=1)[0].lower() in _CONJUNCTIONS:
        return False
    clause = re.split(r"[,;:!?“\"«]|\.(?=\s*$)|\.\s+(?=[“\"«])", after, maxsplit=1)[0]
    match = _TAG.match(clause)
    while match is not None:
        verb = match.group(1)
        if verb in _SPEECH_VERBS:
            rest = clause[match.end() :].strip()
            return not rest if verb in _WEAK_TAGS else True
        # The lazy subject may have matched too few words: let it grow by one, up to five.
        longer = re.match(rf"\S+(?:\s+\S+){{{len(match.group().split()) - 1}}}\s+(\w+)\b", clause)
        if longer is None or len(longer.group().split()) > 6:
            return False
        match = longer
    return False
