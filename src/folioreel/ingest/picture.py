"""Pictures: a file → pixels, and the square that frame features take."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from folioreel.errors import InputError

Pixels = NDArray[np.uint8]
"""(height, width, 3), RGB."""

_MOST_PIXELS = 200_000_000


def read_picture(source: Path | bytes, name: str = "") -> Pixels:
    """The pixels of a picture, turned as it is meant to be seen.

    Args:
        source: A file, or the bytes of one.
        name: What the bytes are called in a message.

    Raises:
        InputError: It cannot be read, is no picture, is damaged, or is far too large.
    """
    place = source if isinstance(source, Path) else Path(name) if name else None
    try:
        data = source.read_bytes() if isinstance(source, Path) else source
        with Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                raise InputError("is too large a picture; make it smaller", place)
            return np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    except InputError:
        raise
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"cannot be read ({error.strerror})", place) from error
        raise InputError(
            "is no picture that can be read; give a JPEG, PNG or WebP", place
        ) from error
    except (ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError("is a damaged picture", place) from error


def square(pixels: Pixels, size_px: int) -> Pixels:
    """The whole picture, squeezed into a square."""
    resized = Image.fromarray(pixels).resize((size_px, size_px), Image.Resampling.BICUBIC)
    return np.asarray(resized)


def middle(pixels: Pixels) -> Pixels:
    """The largest square in the middle of a picture."""
    height, width = pixels.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return pixels[top : top + side, left : left + side]
