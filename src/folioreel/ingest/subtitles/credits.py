"""Which cues are credits and adverts: what subtitlers and sites put in, and nobody says."""

from __future__ import annotations

import re

# Whatever the words around them, these are never spoken.
_ADVERT = re.compile(
    r"""
    https?:// | \bwww\. | \bopensubtitles\b | \bopen\s?subtitles\.org | \baddic7ed\b | \bsubscene\b
    | \bpodnapisi\b | \btvsubtitles\b | \bsubdl\b | \byify\b | \byts\.(?:mx|am|lt|ag) | \bdvdrip\b
    | \bbluray\s?rip\b | \bsubtitle\s?edit\b | \bsubrip\b | \bsyncfix\b | \bamara\.org\b
    | advertise\s+your\s+product | become\s+(?:a\s+)?vip\s+member | support\s+us\s+and\s+become
    | please\s+rate\s+this\s+subtitle | help\s+other\s+users\s+to\s+choose
    | do\s+you\s+want\s+subtitles\s+for
    | watch\s+(?:any\s+video\s+)?(?:movies\s+)?online\s+(?:with|for\s+free)
    | remove\s+all\s+ads\s+from | download(?:ed)?\s+(?:more\s+)?(?:movies|subtitles|subs)\b
    | -=+[^=]+=+- | ^\s*©
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WORK = (
    r"(?:sub(?:title)?s?|subtitl(?:ed|ing)|synch?(?:ed|ing|ro(?:ni[sz](?:ed|ation)?)?)?|re-?synch?(?:ed)?|"
    r"correct(?:ed|ions?)|fix(?:ed)?|translat(?:ed|ion|or)|transcri(?:bed|pt|ption)|"
    r"(?:closed[\s-]+)?caption(?:s|ed|ing)|tim(?:ed|ing)|encod(?:ed|ing)|ripp?(?:ed|ing)?|edited|"
    r"proof-?read(?:ing)?|adapt(?:ed|ation)|improved|modified|upload(?:ed)?|created|provided|"
    r"presented|sponsored|download(?:ed)?|typeset(?:ting)?|quality\s+check(?:ed)?)"
)
# These are, when a cue opens with them: `Synced and corrected by …`, `Subtitles: …`.
_CREDIT = re.compile(
    rf"""
    ^\W*(?:english\s+|dvd\s+|original\s+)?
    (?:
        {_WORK}(?:\s*(?:,|&|and)\s*{_WORK})*\s*(?:\b(?:by|from|at)\b|made\s+possible|:)
      | (?:directed|produced|written|screenplay|music|cinematography|photographed|costumes?)\s+by\b
      | (?:a\s+film\s+by|based\s+(?:up)?on\s+the\s+(?:novel|book|play)\s+by|starring)\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_CREDIT_WORDS = 14


def is_credit(text: str) -> bool:
    """Whether a whole cue, on one line and without markup, is a credit or an advert."""
    if _ADVERT.search(text):
        return True
    return _CREDIT.match(text) is not None and len(text.split()) <= _LONGEST_CREDIT_WORDS
