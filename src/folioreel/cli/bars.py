"""Progress on stderr: a bar for each stage in a terminal, a line now and then in a file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from folioreel.progress import Progress, ProgressCallback
from folioreel.times import format_clock

_BAR = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
_NARROW_BAR = "{desc} {percentage:3.0f}%"
_PERCENTAGE_COLUMNS = 6  # with a space before it, and one after it where the cursor stands
# Narrower windows have no room for a bar and its times beside the label.
_NARROW_COLUMNS = 60
# Half of the line is for the label; beyond this the bar is the better use of a wide window.
_WIDEST_LABEL = 48
_USUAL_COLUMNS = 80  # where the terminal does not say
# Seconds without a line in a file: at least so many, and a tenth of the time since the start, so
# that an hour of work gets about fifty lines.
_SHORTEST_GAP_S = 10.0
_GAP_SHARE = 0.1

_shown: _Bars | None = None
"""The bars on the screen: whatever else is printed must not end up in the same line."""


@contextmanager
def draw_progress(show_line: Callable[[str], None]) -> Iterator[ProgressCallback]:
    """A callback that draws bars if stderr is a terminal, and else gives lines to `show_line`."""
    global _shown
    if not sys.stderr.isatty():
        yield _Lines(show_line)
        return
    before, _shown = _shown, _Bars()
    try:
        yield _shown
        _shown.close()
    finally:
        _shown.close(leave=True)  # after an error, the bar tells how far the work had come
        _shown = before


@contextmanager
def hidden_bar() -> Iterator[None]:
    """Take the bar off the screen while something else is printed."""
    bar = None if _shown is None else _shown.bar
    if bar is not None:
        bar.clear()
    yield
    if bar is not None:
        bar.refresh()


class _Bars:
    """One bar at a time; a stage that is done leaves its bar on a line of its own."""

    def __init__(self) -> None:
        self.bar: Any = None
        self._stage = self._label = ""

    def __call__(self, progress: Progress) -> None:
        from tqdm import tqdm

        if progress.total <= 0:
            return  # there is nothing to do
        columns = _columns()
        label = _fit(_label(progress), columns)
        if self.bar is not None and self._begins_anew(progress, label):
            self.close()
        if self.bar is None:
            form = _NARROW_BAR if columns < _NARROW_COLUMNS else _BAR
            self.bar = tqdm(
                desc=label, total=progress.total, bar_format=form, dynamic_ncols=True, leave=False
            )
        elif label != self._label:
            self.bar.set_description_str(label)
        self._stage, self._label = progress.stage, label
        self.bar.total = progress.total  # it may grow while a stage runs
        self.bar.update(progress.done - self.bar.n)

    def _begins_anew(self, progress: Progress, label: str) -> bool:
        """Whether this is another stage than the bar's, or the same for another file."""
        is_done = self.bar.n >= self.bar.total
        is_earlier = progress.done < self.bar.n
        is_other = progress.stage != self._stage or (is_done and label != self._label)
        return is_other or is_earlier

    def close(self, leave: bool = False) -> None:
        """End the line of a bar that is done. Another one is wiped, unless it is to stay."""
        if self.bar is not None:
            self.bar.leave = leave or self.bar.n >= self.bar.total
            self.bar.close()
        self.bar = None


class _Lines:
    """Says how far a stage has come, often enough to see that it is alive."""

    def __init__(self, show_line: Callable[[str], None]) -> None:
        self._show_line = show_line
        self._start_s = self._told_s = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now_s = time.monotonic()
        passed_s = now_s - self._start_s
        if progress.total <= 0 or now_s - self._told_s < max(
            _SHORTEST_GAP_S, _GAP_SHARE * passed_s
        ):
            return
        self._told_s = now_s
        share = min(1.0, progress.done / progress.total)
        self._show_line(f"{_label(progress)}: {share:.0%} after {format_clock(passed_s)}")


def _label(progress: Progress) -> str:
    """What is being done, and with what; names of files may hold anything."""
    text = f"{progress.stage}: {progress.name}" if progress.name else progress.stage
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS


def _fit(label: str, columns: int) -> str:
    """A label as wide as all others in a terminal of so many columns."""
    from tqdm.utils import disp_len, disp_trim

    width = min(_WIDEST_LABEL, columns // 2)
    if columns < _NARROW_COLUMNS:
        width = max(1, columns - _PERCENTAGE_COLUMNS)
    if disp_len(label) > width:
        label = f"{disp_trim(label, width - 1)}…"
    return label + " " * (width - int(disp_len(label)))
