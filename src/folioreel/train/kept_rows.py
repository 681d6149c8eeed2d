"""The paper's measures of one pair, computed once and kept in a file, for many experiments.

`OUT/measures/PAIR.npy` holds them in half precision, (M, I, J), and `PAIR.json` how long each took.
Both may be deleted: they are made again when they are needed.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from folioreel.config import BLEU, AlignConfig
from folioreel.errors import InputError
from folioreel.evaluate.experiment_results import WATCHING
from folioreel.files import make_folder, replacing, write_text
from folioreel.json_input import parse_json
from folioreel.progress import ProgressCallback, track
from folioreel.reading import read_plain
from folioreel.similarity.tensor import PICTURE_MEASURES, SimilarityRows, SimilarityTensor
from folioreel.types import Book, Film

PAPER_MEASURES: tuple[str, ...] = ("prior", "tfidf", *BLEU, "sentence")
"""The paper's measures of dialogue, in stacking order; those of pictures need a video."""
# What the paper calls them, in its table of running times.
_FAMILIES = {"PRIOR": ("prior",), "TF": ("tfidf",), "BLEU": BLEU, "BOOK": ("sentence",)}
_PICTURES = {"VIS": ("visual",), "SCENE": ("scene",)}


class KeptRows(SimilarityRows):
    """The measures of a pair from their file; those of pictures are 0 if it has none."""

    measures = (*PAPER_MEASURES, *PICTURE_MEASURES)

    def __init__(self, path: Path) -> None:
        """Open what `keep_rows` wrote."""
        self._planes = np.load(path, mmap_mode="r")  # (M, I, J)
        self.shape = (int(self._planes.shape[1]), int(self._planes.shape[2]))

    def block(self, first: int, last: int, halo: int = 0) -> SimilarityTensor:
        """Rows first … last - 1 with `halo` rows of context above and below."""
        low, high = max(0, first - halo), min(self.shape[0], last + halo)
        rows = last - first + 2 * halo
        planes = np.zeros((len(self.measures), rows, self.shape[1]), dtype=np.float32)
        above = low - (first - halo)
        planes[: len(self._planes), above : above + high - low] = self._planes[:, low:high]
        return SimilarityTensor(
            values=np.moveaxis(planes, 0, -1), measures=self.measures, first=first, halo=halo
        )


def keep_rows(
    film: Film, book: Book, path: Path, progress: ProgressCallback, watching_s: float = 0.0
) -> KeptRows:
    """The measures of a pair, from their file or computed now.

    `watching_s` is the processor time that the features of the film's shots took; 0: unknown.
    """
    if not path.exists():
        _measure(film, book, path, progress, {WATCHING: watching_s} if watching_s else {})
    try:
        kept = KeptRows(path)
    except (OSError, ValueError) as error:
        raise InputError("is damaged; delete it, and it will be made again", path) from error
    if kept.shape != (len(film.moments), len(book.sentences)):
        raise InputError("is of another film or book; delete it, and it will be made again", path)
    return kept


def read_times(path: Path) -> dict[str, float]:
    """The processor time of each measure, in seconds, by the name that the paper gives it."""
    try:
        found = parse_json(read_plain(path.with_suffix(".json")), dict[str, float])
    except (OSError, ValueError):
        return {}
    return found


def _measure(
    film: Film, book: Book, path: Path, progress: ProgressCallback, times: dict[str, float]
) -> None:
    make_folder(path.parent)
    families = _FAMILIES | (_PICTURES if film.features is not None else {})
    count = sum(map(len, families.values()))
    with replacing(path) as unfinished:
        shape = (count, len(film.moments), len(book.sentences))
        planes = np.lib.format.open_memmap(unfinished, "w+", np.float16, shape)
        first = 0
        for name, measures in track(
            list(families.items()), "measuring", progress, name=lambda item: item[0]
        ):
            start = time.process_time()
            rows = SimilarityRows(film, book, AlignConfig(weights=dict.fromkeys(measures, 1.0)))
            for block in rows.blocks():
                last = block.first + block.values.shape[0]
                values = np.moveaxis(block.values, -1, 0)
                planes[first : first + len(measures), block.first : last] = values
            times[name] = time.process_time() - start
            first += len(measures)
        planes.flush()
        del planes
    write_text(path.with_suffix(".json"), json.dumps(times) + "\n")
