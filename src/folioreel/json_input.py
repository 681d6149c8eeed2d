"""JSON that we did not write, or that somebody may have changed: the one door it comes in by.

Python's own parser reads the syntax, and msgspec holds the values to a shape: a dataclass, or any
type that annotations can say (`list[Segment]`, `dict[str, float]`). Our settings and records are
dataclasses anyway, so what they declare is checked, and no second description of them can go
stale. msgspec is one small wheel without dependencies, compiled, and names the place of a fault.

Everything that is wrong with a text raises `ValueError`: wrong syntax, a wrong type, too many
brackets, NaN, Infinity, and numbers that are too large to be true.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any, TypeVar, overload

import msgspec

Shape = TypeVar("Shape")

_LARGEST = 2**63  # whole numbers from here on overflow what reads them next
_MOST_DIGITS = 25  # enough for every whole number below that


@overload
def parse_json(text: str | bytes) -> Any: ...
@overload
def parse_json(text: str | bytes, shape: type[Shape]) -> Shape: ...
def parse_json(text: str | bytes, shape: Any = Any) -> Any:
    """The value that a JSON text holds, with the given shape; see `convert`.

    Raises:
        ValueError: It is not JSON, or has another shape; the message says where.
    """
    try:
        value = json.loads(
            text, parse_constant=_refuse, parse_int=_whole_number, parse_float=_number
        )
        return value if shape is Any else convert(value, shape)
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None


def convert(value: Any, shape: type[Shape], *, known_only: bool = False) -> Shape:
    """A value of plain JSON types in a shape; raises `ValueError` if it does not fit.

    Fields that a dataclass does not have are ignored, as a later version may add some; with
    `known_only` they are an error, for what people write by hand.
    """
    try:
        found = msgspec.convert(value, shape)
    except msgspec.ValidationError as error:  # a ValueError in later versions alone
        raise ValueError(str(error)) from error
    if known_only and (name := _unknown_field(value, found)) is not None:
        raise ValueError(f"it has an unknown field {name!r}")
    return found


def _unknown_field(value: Any, found: Any) -> str | None:
    """The first field of a value that the dataclasses made from it do not have."""
    pairs: Iterable[tuple[Any, Any]] = ()
    if dataclasses.is_dataclass(found) and isinstance(value, dict):
        known = {field.name for field in dataclasses.fields(found)}
        if unknown := set(value) - known:
            return str(min(unknown))
        pairs = ((part, getattr(found, name)) for name, part in value.items())
    elif isinstance(value, list) and isinstance(found, list | tuple):
        pairs = zip(value, found, strict=False)
    names = (_unknown_field(part, read) for part, read in pairs)
    return next((name for name in names if name is not None), None)


def _refuse(name: str) -> float:
    # Python's parser accepts NaN and Infinity, which the standard does not and no page can show.
    raise ValueError(f"{name} is not a number")


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS or not -_LARGEST <= int(digits) < _LARGEST:
        raise ValueError("a number is too large")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return value
