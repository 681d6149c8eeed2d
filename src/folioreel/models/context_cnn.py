"""The context CNN as users run it, with ONNX Runtime (paper, section 4.3).

It rescores each cell of the similarity tensor by what the measures say around it. The network and
its training are in train/context_cnn.py. The folder: `context.onnx`, the graph; `config.json` has
the measures that it reads and its halo.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from folioreel.models.folders import CARD, ModelFormat
from folioreel.models.onnx_graphs import open_session

FORMAT = ModelFormat(name="folioreel-context-model", version=1, what="context model")
GRAPH = "context.onnx"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContextModel:
    """A network from the measures around a cell to the log-odds that it is right."""

    name: str
    measures: tuple[str, ...]  # in the order in which the graph takes them
    halo: tuple[int, int]  # moments above and below, sentences left and right, that it looks at
    graph: bytes  # ONNX: `planes` (N, M, R, C) gives `log_odds` (N, 1, R - 2 · halo, C - 2 · halo)
    training: dict[str, Any] = field(default_factory=dict)
    card: str = ""

    @classmethod
    def load(cls, name_or_folder: str | Path) -> ContextModel:
        """The shipped context model of this name, or the one in a folder (`ModelFormat.open`)."""
        with FORMAT.open(name_or_folder) as folder:
            config = folder.config
            rows, columns = config["halo"]
            model = cls(
                name=str(config["name"]),
                measures=tuple(map(str, config["measures"])),
                halo=(int(rows), int(columns)),
                graph=folder.read(GRAPH),
                training=dict(config["training"]),
                card=folder.card,
            )
            taken = model._session.get_inputs()[0].shape[1]
            if taken != len(model.measures):
                raise ValueError(f"{GRAPH} takes {taken} measures, {len(model.measures)} are named")
            return model

    def save(self, folder: Path, *, replace: bool = False) -> None:
        """Write a model folder; `ModelFormat.save` says what is refused."""
        config = {key: getattr(self, key) for key in ("name", "measures", "halo", "training")}
        FORMAT.save(folder, config, {GRAPH: self.graph, CARD: self.card}, replace=replace)

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        return open_session(self.graph)

    def log_odds(self, planes: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scores of a block: (M, rows + 2 · halo, J) → (rows, J).

        Rows come with their halo; sentences beyond the ends of the book are zeros.
        """
        # The graph pads nothing itself, so that blocks of rows can be joined without seams.
        width = self.halo[1]
        padded = np.pad(planes, ((0, 0), (0, 0), (width, width)))[None]
        found: NDArray[np.float32] = self._session.run(None, {"planes": padded})[0][0, 0]
        return found
