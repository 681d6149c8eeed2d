"""PyTorch's older checkpoints as NumPy arrays, read without PyTorch and without running their code.

Such a file is four pickles (a magic number, a version, the machine, the tensors by name), then the
names of the storages, then the storages: a count and the numbers themselves. Of all that a pickle
may call, only what rebuilds a tensor is allowed.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_TYPES = {"FloatStorage": "<f4", "LongStorage": "<i8"}


def read_checkpoint(data: bytes) -> dict[str, NDArray[Any]]:
    """The tensors of a checkpoint by name.

    Raises:
        ValueError: It is no such checkpoint, is damaged, or asks for other code to be run.
    """
    stream = io.BytesIO(data)
    try:
        head = [_Unpickler(stream).load() for _ in range(3)]
        if head[:2] != [_MAGIC, _VERSION]:
            raise ValueError("is no checkpoint that PyTorch wrote in its older way")
        reader = _Unpickler(stream)
        tensors = reader.load()
        keys = _Unpickler(stream).load()
        storages = {key: _read_storage(stream, reader.kinds[key]) for key in keys}
        return {name: tensor.values(storages) for name, tensor in tensors.items()}
    except (pickle.UnpicklingError, EOFError, KeyError, AttributeError, struct.error) as error:
        raise ValueError(f"is a damaged checkpoint ({error})") from error


@dataclass(frozen=True)
class _Tensor:
    """A tensor whose numbers come later in the file."""

    storage: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def values(self, storages: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The numbers, in the tensor's shape."""
        numbers = storages[self.storage]
        last = sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        is_negative = min((self.offset, *self.strides, *self.shape)) < 0
        if is_negative or self.offset + last >= len(numbers):
            raise ValueError("holds a tensor that reaches beyond its numbers")
        steps = [step * numbers.itemsize for step in self.strides]
        return np.lib.stride_tricks.as_strided(numbers[self.offset :], self.shape, steps).copy()


class _Unpickler(pickle.Unpickler):
    """Knows tensors and ordered dictionaries, and nothing else."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self.kinds: dict[str, str] = {}  # the number type of each storage

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle may call."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> str:
        """A storage: its key."""
        _, kind, key, _, _, _ = pid
        self.kinds[key] = kind
        return str(key)


def _rebuild(storage: str, offset: int, shape: Any, strides: Any, *_: object) -> _Tensor:
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _read_storage(stream: io.BytesIO, kind: str) -> NDArray[Any]:
    """The count of numbers, and the numbers."""
    (count,) = struct.unpack("<q", stream.read(8))
    data = stream.read(count * np.dtype(kind).itemsize)
    if count < 0 or len(data) != count * np.dtype(kind).itemsize:
        raise EOFError("it breaks off")
    return np.frombuffer(data, dtype=kind)
