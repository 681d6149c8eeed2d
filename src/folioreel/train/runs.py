"""A training run's folder, from which the same command continues.

```
OUT/data.json        a fingerprint of the training data
OUT/checkpoint.pt    the run so far                     (loop.py)
OUT/report.json      settings, data, and what was measured
OUT/…                the model, in a model folder
```
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from folioreel.errors import ConfigError, InputError
from folioreel.files import list_others, make_folder, write_text
from folioreel.json_input import parse_json
from folioreel.reading import read_plain

DeviceName = Literal["auto", "cpu", "cuda"]
CHECKPOINT, REPORT = "checkpoint.pt", "report.json"

_DATA = "data.json"
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Where and how long to train."""

    minutes: float | None = None
    """Training stops after this long, not counting the preparation of the data; None: when done."""
    device: DeviceName = "auto"

    def __post_init__(self) -> None:
        if self.minutes is not None and not self.minutes > 0:
            raise ConfigError(f"minutes must be above 0, not {self.minutes}")

    @property
    def seconds(self) -> float:
        """The time limit."""
        return math.inf if self.minutes is None else 60 * self.minutes


def open_run(
    out: Path, data: dict[str, Any], derived: Path | None = None, checkpoint: str = CHECKPOINT
) -> None:
    """Create a run's folder, or check that an existing one was trained on the same data.

    A file `derived` from the data is removed if the data has changed before the first checkpoint.
    """
    path = out / _DATA
    make_folder(out)
    if not path.is_file() and list_others(out):
        raise InputError("is not empty and no training run; choose a new folder", out)
    found = read_json(path)
    if found == data:
        return
    begun = out / checkpoint
    if begun.exists():
        differences = [
            # Two hashes side by side would tell nobody anything.
            f"other {key}"
            if _HASH.fullmatch(str(value))
            else f"{key}: {found.get(key)} there, {value} here"
            for key, value in data.items()
            if found.get(key) != value
        ]
        raise ConfigError(
            f"{begun} was trained on other data ({'; '.join(differences)}); "
            "choose another --out, or remove that file"
        )
    if derived is not None:
        derived.unlink(missing_ok=True)
    write_json(path, data)


def read_json(path: Path) -> dict[str, Any]:
    """The content of a file of ours; empty if it is missing or damaged, to be made again."""
    try:
        found = parse_json(read_plain(path))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a file that `read_json` reads."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def model_card(title: str, summary: str, facts: dict[str, object]) -> str:
    """The card of a trained model, in Markdown."""
    lines = (
        f"- {name.replace('_', ' ')}: {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in facts.items()
    )
    return "\n".join([f"# {title}", "", summary, "", *lines]) + "\n"
