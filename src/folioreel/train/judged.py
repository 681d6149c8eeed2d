"""What training knows of a pair: which moments were judged, and where in the book they belong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["match", "scene", "none"]


@dataclass(frozen=True, kw_only=True)
class JudgedMoment:
    """A moment that somebody looked up in the book."""

    moment: int
    verdict: Verdict
    """`match`: it is there; `scene`: it is new, its place is known; `none`: it is not there."""
    sentences: tuple[int, ...]
    """Every sentence that counts as right, ascending; none for `none`."""

    def __post_init__(self) -> None:
        """Refuse a match without a place."""
        if (self.verdict == "none") == bool(self.sentences):
            raise ValueError(f"moment {self.moment}: a {self.verdict} with {self.sentences}")
