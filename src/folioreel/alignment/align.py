"""The front door: files → measures → scores → chain or positions → links (paper, section 4)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from folioreel.alignment import verdict
from folioreel.alignment.aligner import Aligner
from folioreel.config import AlignConfig, SpeechConfig
from folioreel.errors import InputError
from folioreel.ingest.book import load_book
from folioreel.ingest.film import holds_film, is_film
from folioreel.ingest.parts import Wanted
from folioreel.ingest.several import Given, check_order, each_given
from folioreel.ingest.sync import Timing
from folioreel.ingest.video.shot_detectors import DetectorName
from folioreel.language import check_names
from folioreel.models.presets import AUTO
from folioreel.models.sentence_encoder import TextEncoder, load_encoder
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.reading import is_file, is_folder
from folioreel.similarity.base import log_notes
from folioreel.types import Alignment, Book, Film, FilmPart, Volume

_log = logging.getLogger(__name__)


def align(
    book: Book | Given,
    film: Film | Given,
    *,
    preset: AlignConfig | str | Path = AUTO,
    encoder: TextEncoder | str | Path | None = None,
    subtitles: Wanted | Sequence[Wanted] = None,
    language: str | None = None,
    book_language: str | None = None,
    speech: SpeechConfig | None = None,
    timing: Timing | None = None,
    shots: bool = True,
    pictures: bool = True,
    detector: DetectorName = "adaptive",
    progress: ProgressCallback = ignore_progress,
) -> Alignment:
    """Align a film with the book it was made from.

    Every command and every evaluation goes through this function, so one pair of files gives one
    alignment.

    Args:
        book: A book file of any format that `load_book` reads, or what it returned; for a book in
            several volumes, a list of files or a folder.
        film: A video, or a subtitle file alone, or what `load_film` returned; for a film in several
            parts, a list of files or a folder. A loaded film that has shots but was not watched is
            watched here.
        preset: `auto` chooses by the languages of film and book: `default` for English,
            `multilingual` or `words` for another language, `across` for two. Any of these, `fast`,
            `paper`, `paper-literal`, a folder that training wrote, or the settings themselves.
        encoder: A sentence encoder to use instead of the preset's own: a name, a folder, or an
            object with a method `encode`, such as a sentence-transformers model.
        subtitles: A subtitle file, a track number, a language, `burned`, `speech` or `none`; by
            default the best text track of the video, a subtitle file beside it, pictures of text in
            the video or beside it (extra `ocr`), or else its speech (extra `speech`). For a film in
            several parts, one of these for all, or a list with one for each. Of several
            languages, that of the book is chosen.
        language: The language of the film's words, by code or name (`fr`, `French`); detected by
            default.
        book_language: The language of the book; by default what its file says, or detected.
        speech: The model and the language of the speech, if it is recognised.
        timing: How to shift and stretch the subtitles; by default those from a file are compared
            with the film's sound, and mended where they are clearly off.
        shots: Whether to look for shots; without them a video is its dialogue alone.
        pictures: Whether to look at what the shots show, if the preset makes use of it and the
            book is in English: the models of pictures know no other language.
        detector: The shot detector.
        progress: Called with the progress of each stage.

    Raises:
        InputError: A file is missing, damaged or of an unknown format.
        ConfigError: There is no such preset or encoder, or the preset has no use for the encoder.
        AlignmentError: The two have nothing that could be compared.
    """
    if isinstance(book, Film) or isinstance(film, Book):
        raise TypeError("the book comes first, then the film: align(book, film)")
    if isinstance(book, Book) and book_language is not None:
        raise ValueError("a book's language is given when it is loaded: give the book as a path")
    if preset != AUTO:
        aligner = Aligner.load(preset, encoder)
    else:  # which film and book decide; until then, for English
        aligner = Aligner.load("default")
        if encoder is not None:
            load_encoder(encoder)  # a wrong name is refused before the film is read
    check_names(language, book_language)
    given_book, given_film = book, film
    if not isinstance(book, Book):
        _refuse_swapped(book, film)
        book = load_book(book, language=book_language)
    log_notes(book)  # before anything can go wrong in the alignment
    film = aligner.load_film(
        film,
        subtitles=subtitles,
        language=language,
        book_language=book.language,
        speech=speech,
        timing=timing,
        shots=shots,
        pictures=pictures,
        detector=detector,
        progress=progress,
    )
    log_notes(film)
    if preset == AUTO:
        aligner = Aligner.choose(film, book, encoder)
    warnings = [*_unordered(given_book, book.volumes), *_unordered(given_film, film.parts)]
    # Before the work, which may take minutes.
    for doubt in verdict.check_given(film, book, language, book_language):
        warnings += _warn(doubt)
    foreign = _warn(verdict.check_languages(film, book, aligner.languages))
    if not foreign and (track := verdict.find_track(film, book)):
        _log.info("subtitles in the language of the book align better; %s", track)
    alignment = aligner.align(film, book, progress)
    # Between such languages little is found in the right book, too.
    warnings += foreign or _warn(verdict.check_fit(alignment))
    options = {
        "preset": AUTO if preset == AUTO else aligner.name,
        "encoder": None if aligner.encoder is None else aligner.encoder_name,
        "subtitles": _option_of(subtitles),
        "language": language,
        "book_language": book_language,
        "speech": asdict(speech or SpeechConfig()),
        "timing": asdict(timing or Timing()),
        "shots": shots,
        "pictures": pictures,
        "detector": detector,
    }
    signature = alignment.signature | {"options": options}
    return replace(alignment, signature=signature, warnings=tuple(warnings))


def _option_of(subtitles: Wanted | Sequence[Wanted]) -> str | list[str | None] | None:
    """Chosen subtitles as JSON has them."""
    if subtitles is None or isinstance(subtitles, Path | str | int):
        return None if subtitles is None else str(subtitles)
    return [None if wanted is None else str(wanted) for wanted in subtitles]


def _refuse_swapped(book: Given, film: Film | Given) -> None:
    """Raise an error if the film was given before the book."""
    if isinstance(film, Film):
        return
    others = [path for path in each_given(film) if is_file(path) and not is_film(path)]
    for path in each_given(book) if others else ():
        if holds_film(path) if is_folder(path) else is_film(path):
            message = f"is a film and {others[0].name} is not; give the book first, then the film"
            raise InputError(message, path)


def _unordered(given: Book | Film | Given, files: Sequence[Volume | FilmPart]) -> list[str]:
    """What a reader warned of: files of a folder in an order that may be wrong."""
    if isinstance(given, Book | Film):
        return []
    warning = check_order(given, [file.path for file in files if file.path is not None])
    return [warning] if warning else []


def _warn(warning: str | None) -> tuple[str, ...]:
    if warning is None:
        return ()
    _log.warning(warning)
    return (warning,)
