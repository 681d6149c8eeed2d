"""`film.json`: a film as it was read, so that a judged pair keeps its very moments.

Where a pair was judged on the page, its moments are those that the reader saw: shots and spoken
sentences, with their times. The video itself stays where it is, and the file says where that is.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.evaluate.dataset import FILM_JSON, Pair
from folioreel.files import write_text
from folioreel.ingest.film import load_film
from folioreel.ingest.video.scan_cache import recall_features
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.progress import ProgressCallback
from folioreel.types import Film, Shot, Subtitle

FORMAT = "folioreel-film"
VERSION = 1


def load_pair_film(
    pair: Pair,
    progress: ProgressCallback | None = None,
    encoder: FrameEncoder | None = None,
) -> Film:
    """The film of a judged pair; watched, where it has a video and an encoder is given.

    Raises:
        InputError: It is missing or cannot be read.
    """
    if pair.film_name == FILM_JSON:
        return recall_features(read_film_json(pair.film), encoder)
    return load_film(pair.film, progress=progress, encoder=encoder)


def write_film_json(film: Film, path: Path) -> None:
    """Write a film's shots and spoken sentences, and where its video lies."""
    video = None if film.video is None else os.path.relpath(film.video.absolute(), path.parent)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": film.title,
        "duration_s": film.duration_s,
        "video": video,
        "sha256": film.sha256,
        "shots": [[shot.start_s, shot.end_s] for shot in film.shots],
        "subtitles": [[said.start_s, said.end_s, said.text] for said in film.subtitles],
    }
    write_text(path, json.dumps(document, ensure_ascii=False) + "\n")


def read_film_json(path: Path) -> Film:
    """A film that `write_film_json` wrote; a video that is gone is left out.

    Raises:
        InputError: The file is missing or not of this kind.
    """
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise ValueError("another format or version")
        video = None if document["video"] is None else path.parent / document["video"]
        return Film(
            title=document["title"],
            duration_s=float(document["duration_s"]),
            shots=tuple(
                Shot(index=k, start_s=float(start_s), end_s=float(end_s))
                for k, (start_s, end_s) in enumerate(document["shots"])
            ),
            subtitles=tuple(
                Subtitle(index=k, start_s=float(start_s), end_s=float(end_s), text=str(text))
                for k, (start_s, end_s, text) in enumerate(document["subtitles"])
            ),
            video=video if video is not None and video.is_file() else None,
            path=path,
            sha256=document["sha256"],
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(f"is no film that folioreel wrote ({error})", path) from error
