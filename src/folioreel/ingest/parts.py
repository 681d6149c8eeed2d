"""Films in several parts → one `Film` on one timeline, and back to the film of each part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from folioreel.errors import InputError
from folioreel.ingest.dialogue_source import is_file_name
from folioreel.ingest.several import join_hashes, name_files, share_title
from folioreel.language import join_languages
from folioreel.progress import Progress, ProgressCallback
from folioreel.types import Film, FilmPart, Shot, ShotFeatures, Subtitle

Timed = TypeVar("Timed", Shot, Subtitle)
Wanted = Path | int | str | None
"""Where the words of one file come from, as `load_film` explains."""


def join_parts(films: Sequence[Film]) -> Film:
    """The films of some files, one after the other.

    A part is as long as its video, or, if it is only subtitles, until the end of its last line.
    """
    files = [film.path for film in films if film.path is not None]
    title, names = share_title([film.title for film in films], files)
    parts: list[FilmPart] = []
    shots: list[Shot] = []
    subtitles: list[Subtitle] = []
    notes = [name_files(files, "parts")]
    start_s = 0.0
    for film, name in zip(films, names, strict=True):
        length_s = film.duration_s or max((said.end_s for said in film.subtitles), default=0.0)
        if length_s <= 0:
            raise InputError("its length is unknown, as it has neither shots nor lines", film.path)
        inside = [said for said in film.subtitles if said.start_s < length_s]
        notes += [f"{name}: {note}" for note in film.notes]
        if late := len(film.subtitles) - len(inside):
            notes.append(f"{name}: skipped {late} spoken sentence{'s' * (late != 1)} after its end")
        parts.append(
            FilmPart(
                title=name,
                start_s=start_s,
                duration_s=length_s,
                video=film.video,
                path=film.path,
                sha256=film.sha256,
            )
        )
        shots += _shift(film.shots, start_s, len(shots))
        # The last line may stay up after the last frame, but not into the next part.
        cut = [replace(said, end_s=min(said.end_s, length_s)) for said in inside]
        subtitles += _shift(cut, start_s, len(subtitles))
        start_s += length_s
    return Film(
        title=title,
        duration_s=start_s,
        shots=tuple(shots),
        subtitles=tuple(subtitles),
        sha256=join_hashes(film.sha256 for film in films),
        notes=tuple(notes),
        source=", ".join(dict.fromkeys(film.source for film in films if film.source)),
        features=join_features([film.features for film in films]),
        parts=tuple(parts),
        language=join_languages(film.language for film in films),
    )


def split_parts(film: Film) -> list[Film]:
    """The film of each part, unwatched: its video and shots with its own times."""
    starts = [part.start_s for part in film.parts] + [float("inf")]
    films = []
    for part, end_s in zip(film.parts, starts[1:], strict=True):
        inside = [shot for shot in film.shots if part.start_s <= shot.start_s < end_s]
        films.append(
            Film(
                title=part.title,
                duration_s=part.duration_s,
                shots=tuple(_shift(inside, -part.start_s, 0)),
                video=part.video,
                path=part.path,
                sha256=part.sha256,
            )
        )
    return films


def join_features(features: Sequence[ShotFeatures | None]) -> ShotFeatures | None:
    """The features of the shots of all parts; None if a part was not watched."""
    known = [found for found in features if found is not None]
    if not known or len(known) < len(features):
        return None
    # A part without a single shot has no kinds of vectors.
    filled = [found.vectors for found in known if found.vectors]
    kinds = filled[0] if filled else ()
    vectors = {kind: np.concatenate([rows[kind] for rows in filled]) for kind in kinds}
    return replace(known[0], vectors=vectors)


def match_subtitles(wanted: Wanted | Sequence[Wanted], files: Sequence[Path]) -> list[Wanted]:
    """What is wanted for each file: the same for all of them, or one after the other.

    Raises:
        InputError: There are fewer or more subtitles than files.
    """
    if wanted is not None and not isinstance(wanted, Path | str | int):
        each = list(wanted)
    elif isinstance(wanted, Path) or (isinstance(wanted, str) and is_file_name(wanted)):
        each = [wanted]
    else:
        return [wanted] * len(files)
    if len(each) != len(files):
        parts = f"{len(files)} film file{'s' * (len(files) != 1)}"
        raise InputError(
            f"{len(each)} --subtitles for {parts}; give one for each part, in the same order"
        )
    return each


def name_stage(progress: ProgressCallback | None, part: int, parts: int) -> ProgressCallback | None:
    """Reports the progress of a part, called so if there are several."""
    if progress is None or parts == 1:
        return progress

    def report(value: Progress) -> None:
        progress(replace(value, stage=f"{value.stage}, part {part + 1} of {parts}"))

    return report


def _shift(timed: Iterable[Timed], by_s: float, first: int) -> list[Timed]:
    return [
        replace(one, index=index, start_s=one.start_s + by_s, end_s=one.end_s + by_s)
        for index, one in enumerate(timed, first)
    ]
