"""A small JPEG of each shot, for the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from folioreel.errors import InputError
from folioreel.ingest.video.stills import Stills
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.types import Film

WIDTH_PX = 160
_MOST = 1200
"""So many pictures at most go into a page; of a film with more shots, every second one, …"""
_BUDGET_BYTES = 5_500_000
"""What they may weigh together; base64 makes a third more of it."""
_QUALITIES = (60, 40, 20)


def encode_jpeg(picture: NDArray[np.uint8], most_bytes: int | None = None) -> bytes | None:
    """A picture as JPEG, coarser where it would be too large; None where that does not help."""
    for quality in _QUALITIES:
        stream = io.BytesIO()
        Image.fromarray(picture).save(stream, format="JPEG", quality=quality, optimize=True)
        if most_bytes is None or stream.tell() <= most_bytes:
            return stream.getvalue()
    return None


def inline_thumbnails(film: Film, progress: ProgressCallback = ignore_progress) -> list[str | None]:
    """One `data:` address a shot, or None; empty where there is no picture at all."""
    if film.video is None or not film.shots:
        return []
    every = -(-len(film.shots) // _MOST)
    # A film of few shots has room for each; large ones share what there is.
    share = _BUDGET_BYTES * every // len(film.shots)
    found: list[str | None] = [None] * len(film.shots)
    for shot, picture in _pictures(film, film.video, every, progress):
        if (jpeg := encode_jpeg(picture, share)) is not None:
            found[shot] = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    return found if any(found) else []


def _pictures(
    film: Film, video: Path, every: int, progress: ProgressCallback
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Shots with a picture of each; those of which none can be decoded are left out."""
    try:
        stills = Stills(video, WIDTH_PX)
    except InputError:
        return  # the page does without
    with stills:
        for shot in film.shots[::every]:
            progress(Progress(stage="picturing", done=shot.index, total=len(film.shots)))
            picture = stills.picture(shot)
            if picture is not None:
                yield shot.index, picture
