"""folioreel aligns a film with the book it was made from.

import folioreel
alignment = folioreel.align("novel.epub", "film.mkv")
alignment.save("result")
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# ONNX Runtime reports to its makers unless this is set before it is imported; its function for it
# comes too late. The second is what some versions call it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
os.environ.setdefault("ORT_TELEMETRY_DISABLED", "1")

if TYPE_CHECKING:
    from folioreel.alignment.align import align
    from folioreel.alignment.aligner import Aligner
    from folioreel.errors import AlignmentError, ConfigError, FolioReelError, InputError
    from folioreel.ingest.book import load_book
    from folioreel.ingest.film import load_film
    from folioreel.ingest.sync import Timing
    from folioreel.progress import Progress
    from folioreel.types import Alignment, Alternative, Book, Film, Link, Moment, Sentence

_HOMES = {
    "align": "folioreel.alignment.align",
    "load_book": "folioreel.ingest.book",
    "load_film": "folioreel.ingest.film",
    "Aligner": "folioreel.alignment.aligner",
    "Alignment": "folioreel.types",
    "Alternative": "folioreel.types",
    "Book": "folioreel.types",
    "Film": "folioreel.types",
    "Link": "folioreel.types",
    "Moment": "folioreel.types",
    "Sentence": "folioreel.types",
    "Timing": "folioreel.ingest.sync",
    "Progress": "folioreel.progress",
    "FolioReelError": "folioreel.errors",
    "AlignmentError": "folioreel.errors",
    "ConfigError": "folioreel.errors",
    "InputError": "folioreel.errors",
}

__all__ = [
    "Aligner",
    "Alignment",
    "AlignmentError",
    "Alternative",
    "Book",
    "ConfigError",
    "Film",
    "FolioReelError",
    "InputError",
    "Link",
    "Moment",
    "Progress",
    "Sentence",
    "Timing",
    "__version__",
    "align",
    "load_book",
    "load_film",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import folioreel` stays light."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'folioreel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
