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
from folioreel.ingest.picture import Stills
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.types import Film

WIDTH_PX = 160
_MOST = 1200
"""The most pictures in a page; of a film with more shots every second (third …) gets one."""
_BUDGET_BYTES = 5_500_000
"""Their total size; base64 adds a third. Keeps page.html below what mail servers accept."""
_QUALITIES = (60, 40, 20)


def encode_jpeg(picture: NDArray[np.uint8], most_bytes: int | None = None) -> bytes | None:
    """A picture as JPEG, at lower quality if it would be too large; None if that is not enough."""
    for quality in _QUALITIES:
        stream = io.BytesIO()
        Image.fromarray(picture).save(stream, format="JPEG", quality=quality, optimize=True)
        if most_bytes is None or stream.tell() <= most_bytes:
            return stream.getvalue()
    return None


def inline_thumbnails(film: Film, progress: ProgressCallback = ignore_progress) -> list[str | None]:
    """One `data:` URL per shot, or None; empty if no shot has a picture."""
    if film.video is None or not film.shots:
        return []
    every = -(-len(film.shots) // _MOST)
    # All pictures get the same share of the budget.
    share = _BUDGET_BYTES * every // len(film.shots)
    found: list[str | None] = [None] * len(film.shots)
    for shot, picture in _pictures(film, film.video, every, progress):
        if (jpeg := encode_jpeg(picture, share)) is not None:
            found[shot] = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    return found if any(found) else []


def _pictures(
    film: Film, video: Path, every: int, progress: ProgressCallback
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Shots, each with a picture; shots that cannot be decoded are skipped."""
    try:
        stills = Stills(video, WIDTH_PX)
    except InputError:
        return  # the page works without pictures
    with stills:
        for shot in film.shots[::every]:
            progress(Progress(stage="picturing", done=shot.index, total=len(film.shots)))
            picture = stills.picture(shot)
            if picture is not None:
                yield shot.index, picture
