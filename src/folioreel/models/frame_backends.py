"""Frame features from networks that the user has: an ONNX file, torchvision, timm or open_clip.

`places365.onnx`, `torchvision:resnet50`, `timm:convnext_tiny`, `open_clip:ViT-B-32/openai`. An ONNX
file may have a description beside it, `places365.json`: any of the fields of `Description`.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.files import file_sha256
from folioreel.models.inference import open_session

TORCH_LIBRARIES = {"torchvision": "torchvision", "timm": "timm", "open_clip": "open_clip_torch"}
"""Library → what pip calls it."""
_BATCH = 8


@dataclass(frozen=True, kw_only=True)
class Description:
    """How a network takes pictures and what it gives; by default as most ImageNet ones do."""

    size_px: int = 224
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    """What is taken from each colour, which goes from 0 to 1."""
    deviation: tuple[float, ...] = (0.229, 0.224, 0.225)
    """What each is then divided by."""
    channels: str = "first"
    """`first`: (N, 3, height, width); `last`: (N, height, width, 3)."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Kind → the name of an output; by default the first output is `visual`."""

    def __post_init__(self) -> None:
        """Refuse what no network could take."""
        good = self.size_px > 0 and len(self.mean) == len(self.deviation) == 3
        if not good or self.channels not in ("first", "last") or 0 in self.deviation:
            raise ValueError("a size, means, deviations or channels that cannot be")
        if set(self.outputs) - {"visual", "scene"}:
            raise ValueError("outputs are visual or scene")

    def prepare(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Pictures (N, size_px, size_px, 3) as the network takes them."""
        mean, deviation = np.array([self.mean, self.deviation], dtype=np.float32)
        scaled = (frames.astype(np.float32) / np.float32(255) - mean) / deviation
        order = (0, 3, 1, 2) if self.channels == "first" else (0, 1, 2, 3)
        return np.ascontiguousarray(scaled.transpose(order))


class OnnxFeatures:
    """Any ONNX network with one input for pictures."""

    def __init__(self, path: Path) -> None:
        """Open the graph and its description.

        Raises:
            ModelFolderError: One of them cannot be read, or they do not fit each other.
        """
        self.name = path.stem
        if not path.is_file():
            raise ModelFolderError(f"{path}: no such file; check the path")
        self._description, described = _read_description(path)
        self.size_px = self._description.size_px
        self._session = open_session(path)
        self._input = self._session.get_inputs()[0].name
        names = [output.name for output in self._session.get_outputs()]
        self._outputs = dict(self._description.outputs) or {"visual": names[0]}
        if not set(self._outputs.values()) <= set(names):
            raise ModelFolderError(f"{path}: has the outputs {', '.join(names)}; name one of them")
        content = file_sha256(path)
        self.fingerprint = hashlib.sha256(f"{content} {described}".encode()).hexdigest()
        try:
            blank = self.encode(np.zeros((1, self.size_px, self.size_px, 3), dtype=np.uint8))
        except Exception as error:  # ONNX Runtime's errors share no other root
            reason = str(error).splitlines()[0]
            raise ModelFolderError(f"{path}: cannot be run; describe it ({reason})") from error
        self.units: Mapping[str, int] = {kind: rows.shape[1] for kind, rows in blank.items()}

    def encode(self, frames: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """The vectors of some pictures by kind: (N, units)."""
        parts: dict[str, list[NDArray[np.float32]]] = {kind: [] for kind in self._outputs}
        for first in range(0, max(len(frames), 1), _BATCH):
            feed = {self._input: self._description.prepare(frames[first : first + _BATCH])}
            found = self._session.run(list(self._outputs.values()), feed)
            for kind, rows in zip(self._outputs, found, strict=True):
                parts[kind].append(_as_rows(rows))
        return {kind: np.concatenate(rows) for kind, rows in parts.items()}


class TorchFeatures:
    """A PyTorch network that gives one vector a picture, as `visual`."""

    def __init__(self, name: str, network: Any, description: Description) -> None:
        """Take a network; its weights go into the fingerprint."""
        self.name, self.size_px = name, description.size_px
        self._network, self._description = network.eval(), description
        total = hashlib.sha256(f"{name} {description}".encode())
        for key, value in sorted(network.state_dict().items()):
            total.update(key.encode())
            total.update(value.cpu().numpy().tobytes())
        self.fingerprint = total.hexdigest()
        blank = self.encode(np.zeros((1, self.size_px, self.size_px, 3), dtype=np.uint8))
        self.units: Mapping[str, int] = {"visual": blank["visual"].shape[1]}

    def encode(self, frames: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """The vectors of some pictures: (N, units)."""
        torch: Any = importlib.import_module("torch")
        found = []
        for first in range(0, max(len(frames), 1), _BATCH):
            pictures = self._description.prepare(frames[first : first + _BATCH])
            with torch.no_grad():
                found.append(_as_rows(self._network(torch.from_numpy(pictures)).numpy()))
        return {"visual": np.concatenate(found)}


def load_torch(library: str, name: str) -> TorchFeatures:
    """A network of a library by its name, with its best weights, which it may fetch.

    Raises:
        ConfigError: The library is not installed, or does not know the name.
    """
    try:
        package: Any = importlib.import_module(library)
    except ImportError:
        raise ConfigError(
            f"the frame features {library}:{name} need one more package;"
            f" run: pip install {TORCH_LIBRARIES[library]}"
        ) from None
    try:
        network, description = _LOADERS[library](package, name)
    except Exception as error:  # of many kinds: no such name, no network, no disk
        reason = str(error).strip().split("\n")[0]
        raise ConfigError(f"{library} cannot load {name!r} ({reason}); check the name") from error
    return TorchFeatures(f"{library}:{name}", network, description)


def _from_torchvision(package: Any, name: str) -> tuple[Any, Description]:
    torch: Any = importlib.import_module("torch")
    weights = package.models.get_model_weights(name).DEFAULT
    network = package.models.get_model(name, weights=weights)
    for head in ("fc", "classifier", "heads", "head"):  # what tells classes goes
        if hasattr(network, head):
            setattr(network, head, torch.nn.Identity())
    look = weights.transforms()
    return network, Description(
        size_px=look.crop_size[0], mean=tuple(look.mean), deviation=tuple(look.std)
    )


def _from_timm(package: Any, name: str) -> tuple[Any, Description]:
    network = package.create_model(name, pretrained=True, num_classes=0)
    look = network.pretrained_cfg
    return network, Description(
        size_px=look["input_size"][1], mean=tuple(look["mean"]), deviation=tuple(look["std"])
    )


def _from_open_clip(package: Any, name: str) -> tuple[Any, Description]:
    model, _, pretrained = name.partition("/")
    network = package.create_model(model, pretrained=pretrained or None).visual
    size = network.image_size
    return network, Description(
        size_px=size[0] if isinstance(size, tuple) else size,
        mean=tuple(network.image_mean),
        deviation=tuple(network.image_std),
    )


_LOADERS = {
    "torchvision": _from_torchvision,
    "timm": _from_timm,
    "open_clip": _from_open_clip,
}


def _read_description(graph: Path) -> tuple[Description, str]:
    """The description beside a graph, and its text; the defaults where there is none."""
    path = graph.with_suffix(".json")
    if not path.is_file():
        return Description(), ""
    try:
        text = path.read_text(encoding="utf-8")
        return Description(**json.loads(text)), text
    except (OSError, TypeError, ValueError) as error:
        raise ModelFolderError(
            f"{path}: is no description of a network ({error}); see docs/visual.md"
        ) from error


def _as_rows(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, units); maps are averaged over the picture."""
    rows = values.mean(axis=tuple(range(2, values.ndim))) if values.ndim > 2 else values
    return np.asarray(rows, dtype=np.float32)
