"""Aligning and scoring every judged pair of a dataset (paper, section 5.1)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from folioreel.align.aligner import Aligner
from folioreel.evaluate.dataset import find_pairs, load_pair
from folioreel.evaluate.metrics import placed_links, score_links
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.progress import Progress, ProgressCallback, ignore_progress

_FIGURES = ("recall", "near", "strict", "ap", "auroc")


def evaluate_dataset(
    folder: Path, preset: str = "default", progress: ProgressCallback = ignore_progress
) -> list[dict[str, Any]]:
    """A row for each pair, and one for their mean where there are several."""
    aligner = Aligner.load(preset)
    folders = find_pairs(folder)
    rows: list[dict[str, Any]] = []
    for done, path in enumerate(folders):
        progress(Progress(stage="evaluating", done=done, total=len(folders)))
        pair = load_pair(path)
        alignment = aligner.align(load_film(pair.film), load_book(pair.book))
        rows.append({"pair": pair.name, **asdict(score_links(pair, placed_links(alignment)))})
    if len(rows) > 1:
        rows.append(_mean(rows))
    return rows


def _mean(rows: list[dict[str, Any]]) -> dict[str, Any]:
    mean: dict[str, Any] = {
        "pair": "mean",
        "match": sum(row["match"] for row in rows),
        "none": sum(row["none"] for row in rows),
    }
    for figure in _FIGURES:
        values = [row[figure] for row in rows if row[figure] is not None]
        mean[figure] = round(sum(values) / len(values), 3 if figure == "auroc" else 2)
    return mean
