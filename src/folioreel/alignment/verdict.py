"""Whether a film and a book belong together at all, and are in one language.

An alignment finds something for every film: in a wrong book, too, a few lines are alike. What tells
a wrong book is the score of `fit_score`, by which `retrieve` ranks books: the evidence of the chain
times the similarity of words and names. The thresholds are from right and wrong pairs
(docs/explanation/warnings.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.ocr.recognisers import can_read
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.tracks import Track, list_tracks, read_track
from folioreel.isolation import read_apart
from folioreel.language import are_kin, decide_language, language_name, parse_language
from folioreel.models.multilingual_encoder import LANGUAGES
from folioreel.progress import ProgressCallback
from folioreel.similarity.tfidf import compare_bags, make_bag
from folioreel.text import dominant_script
from folioreel.types import Alignment, Book, Film, Sentence, Subtitle

# What wrong books typically have. Lower values are raised to these: a book with less is not more
# wrong, but a different kind of text, and would widen the scatter of wrong books for nothing.
_LEAST_EVIDENCE, _LEAST_SIMILARITY = 0.1, 0.05

_LOW_SCORE = 0.078
"""All right books that were tried score more than this, with the presets `default` (38 right and
152 wrong) and `fast` (30 and 60), and all wrong ones less."""
_LOW_SCORE_OF_SHORT = 0.04
_SHORT, _TOO_SHORT = 500, 200
"""Of films with fewer than `_SHORT` spoken sentences some right ones score less, as they name few
of their people; with fewer than `_TOO_SHORT`, scores cannot tell a wrong book."""
_LITTLE_FOUND = 0.02
"""Of pieces of 15 to 150 sentences, half score less with a wrong book, and 3 of 112 with the right
one, with the preset `default`."""

_FEWEST = 15
"""With fewer spoken sentences, scores say little: of pieces of 2 to 10, 3 of 36 score less than
`_LITTLE_FOUND` with the right book, and 29 of 72 with a wrong one."""

_TO_TELL = "to tell whether this is the film of this book"

_SCRIPTS = {"CJK": "Chinese or Japanese", "HANGUL": "Korean"}

_SAMPLE_S = 600.0
"""How much of a track is read to detect its language: about a page is spoken in ten minutes."""


def fit_score(evidence: float, similarity: float) -> float:
    """How well a book fits a film, above 0.

    Args:
        evidence: Of the chain or the positions, in nats per moment.
        similarity: Of words and names, by `compare_bags`.
    """
    return max(evidence, _LEAST_EVIDENCE) * max(similarity, _LEAST_SIMILARITY)


def score_of(alignment: Alignment) -> float:
    """The score of a film's dialogue and a book, by what was found."""
    said, written = alignment.film.subtitles, alignment.book.sentences
    bags = [make_bag(" ".join(part.text for part in side)) for side in (said, written)]
    # Silent shots say nothing about the book, or little, so they are not counted.
    evidence = -float(alignment.signature["energy"]) / max(1, len(said))
    return fit_score(evidence, float(compare_bags(bags[0], bags[1:])[0]))


def check_fit(alignment: Alignment) -> str | None:
    """A warning if the film does not seem to be made from the book, by what was found.

    Scores are for presets that follow positions, whose evidence can be compared. Where little is
    said, it is no more than a doubt.
    """
    spoken = len(alignment.film.subtitles)
    if spoken < _FEWEST:
        many = f"only {spoken} sentences are" if spoken > 1 else "only one sentence is"
        return f"{many if spoken else 'nothing is'} said in the film, too little {_TO_TELL}"
    if alignment.signature["config"]["steps"] is None:
        return None
    score = score_of(alignment)
    if spoken < _TOO_SHORT:
        doubt = f"nearly nothing was found, and too little is said {_TO_TELL}"
        return doubt if score < _LITTLE_FOUND else None
    if score >= (_LOW_SCORE if spoken >= _SHORT else _LOW_SCORE_OF_SHORT):
        return None
    return (
        "this does not look like the film of this book: the two share no more than any film and "
        "any book; most links are probably chance"
    )


def check_given(
    film: Film, book: Book, language: str | None, book_language: str | None
) -> list[str]:
    """A warning for each language that the user gives and the text clearly is not in."""
    sides: tuple[tuple[str, str, str | None, Sequence[Subtitle | Sentence]], ...] = (
        ("subtitles look like {} but are", "--language", language, film.subtitles),
        ("book looks like {} but is", "--book-language", book_language, book.sentences),
    )
    found = []
    for what, option, given, parts in sides:
        looks = decide_language(" ".join(part.text for part in parts)) if given else None
        if given and looks and not are_kin(looks, parse_language(given)):
            believed = language_name(parse_language(given))
            found.append(
                f"the {what.format(language_name(looks))} read as {believed}, as {option} says"
            )
    return found


def check_languages(film: Film, book: Book, known: frozenset[str] | None) -> str | None:
    """A warning if no measure can compare the languages well, and what to use instead.

    `known` are the languages of the sentence encoder; None if nobody knows them.
    """
    spoken, written = film.language, book.language
    if spoken is None or written is None or are_kin(spoken, written):
        scripts = [_script(side) for side in (film.subtitles, book.sentences)]
        if None in scripts or scripts[0] == scripts[1]:
            return None
        names = (_SCRIPTS.get(str(name), f"{str(name).capitalize()} script") for name in scripts)
        written_in = " and the book is in ".join(names)
        return f"the subtitles are in {written_in}; give both in one language"
    if known is None or known.issuperset((spoken, written)):
        return None
    said, wanted = language_name(spoken), language_name(written)
    unknown = " and ".join(language_name(code) for code in (spoken, written) if code not in known)
    advice = find_track(film, book)
    if advice is None and LANGUAGES.issuperset((spoken, written)):
        advice = "use the preset across"
    elif advice is None:
        how = " (--subtitles FILE)" if _videos(film) else ""
        advice = f"give {wanted} subtitles{how}, or the book in {said}"
    return (
        f"the subtitles are in {said} and the book is in {wanted}; the sentence encoder was not "
        f"trained on {unknown}, so few lines can be found; {advice}"
    )


def find_track(film: Film, book: Book) -> str | None:
    """Which tracks of a film in another language than the book are in the book's, in words."""
    if film.language is None or book.language is None or are_kin(film.language, book.language):
        return None
    # Of each video, as a film may have several parts.
    found = [_tracks_in(video, book.language) for video in _videos(film)]
    if not found or not all(found):
        return None
    return f"the film has {language_name(book.language)} ones: use {_choose(found, book.language)}"


def _script(side: Sequence[Subtitle | Sentence]) -> str | None:
    return dominant_script(" ".join(part.text for part in side[:500]))


def _videos(film: Film) -> list[Path]:
    files = [part.video for part in film.parts] or [film.video]
    return [video for video in files if video is not None]


def _choose(found: list[list[Track]], language: str) -> str:
    """The option that chooses tracks in a language, of which each video of the film has some."""
    if len(found) == 1:
        named = [replace(track, language=language) for track in found[0]]
        return " or ".join(f"--subtitles {track.index} for {track}" for track in named)
    if all(tracks[0].language for tracks in found):
        return f"--subtitles {language}"
    return " ".join(f"--subtitles {tracks[0].index}" for tracks in found)  # one for each part


def _tracks_in(path: Path, language: str) -> list[Track]:
    """The tracks of a video that have the whole dialogue in a language and can be read."""
    try:
        fitting = read_apart(_find_tracks, path, language)
    except FolioReelError:
        return []  # moved since it was read: the warning is as good without
    text = [track for track in fitting if track.is_text]
    return text or [track for track in fitting if can_read(track.language)]


def _find_tracks(path: Path, language: str, progress: ProgressCallback) -> list[Track]:
    with OpenVideo(path) as video:
        tracks = [t for t in list_tracks(video) if not t.forced and not t.commentary]
        return [t for t in tracks if (t.language or _language_of(video, t)) == language]


def _language_of(video: OpenVideo, track: Track) -> str | None:
    """The language of a text track by its first minutes, for a file that does not say it."""
    if not track.is_text:
        return None
    try:
        return read_track(video, track, until_s=_SAMPLE_S).language
    except InputError:
        return None  # nothing is said, or it cannot be read
