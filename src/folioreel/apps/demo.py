"""The bundled demo: our own novella and film, aligned and scored against its judged lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from folioreel.alignment.align import align
from folioreel.evaluate.dataset import load_pair
from folioreel.evaluate.metrics import Scores, ShotScores, placed_links, score_links, score_shots
from folioreel.export.results import write_results
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.types import Alignment


@dataclass(frozen=True, kw_only=True)
class DemoResult:
    """The demo's alignment, the files written, and its scores."""

    alignment: Alignment
    files: list[Path]
    scores: Scores  # of the judged lines
    shots: ShotScores | None  # of the judged silent shots

    def to_dict(self) -> dict[str, Any]:
        """The scores and the files, for JSON."""
        return {
            "scores": asdict(self.scores),
            "shots": None if self.shots is None else asdict(self.shots),
            "files": [str(path) for path in self.files],
        }


def demo_folder() -> Path:
    """The folder of the bundled book and film."""
    return Path(str(resources.files("folioreel") / "demo"))


def run_demo(out: Path, progress: ProgressCallback = ignore_progress) -> DemoResult:
    """Align the bundled film with its book and write every result into `out`."""
    pair = load_pair(demo_folder())
    alignment = align(pair.book, pair.folder / "film.mp4", progress=progress)
    links = placed_links(alignment)
    return DemoResult(
        alignment=alignment,
        files=write_results(alignment, out, progress),
        scores=score_links(pair, links),
        shots=score_shots(pair, links),
    )
