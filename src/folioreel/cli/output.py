"""What the commands print: tables and JSON to stdout, notes and progress bars to stderr."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.errors import FolioReelError
from folioreel.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from folioreel.apps.library import Failure

_LONGEST_CELL = 40
_DECIMALS = 4
_PASSAGE_WIDTH = 100


class StoppedError(FolioReelError):
    """The user pressed Ctrl-C in the middle of work that can be taken up again."""


@contextmanager
def resumable(kept: str) -> Iterator[None]:
    """Work that goes on where it was when the same command is given again.

    Args:
        kept: What stays of it, for the user: "the books read so far".
    """
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError(
            f"stopped; {kept} are kept: give the same command again to go on from there"
        ) from None


def show_error(message: str) -> None:
    """One line on stderr."""
    click.echo(f"folioreel: {' '.join(_writable(message).split())}", err=True)


def show_notes(path: Path, notes: tuple[str, ...]) -> None:
    """What a reader chose or noticed."""
    for note in notes:
        click.echo(_writable(f"{path.name}: {note}"), err=True)


def show_failures(failures: Iterable[Failure]) -> None:
    """What the work went on without, at its end: a line each on stderr."""
    listed = [f"  {failure.path}: {failure.problem}" for failure in failures]
    if listed:
        click.echo(_writable("\n".join([f"{len(listed)} left out:", *listed])), err=True)


def show_line(text: str) -> None:
    """A line of results."""
    click.echo(_writable(text))


def show_json(value: Any) -> None:
    """A result as JSON."""
    show_line(json.dumps(value, ensure_ascii=False, indent=1))


def show_rows(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """Rows of equal keys, as a table or as JSON."""
    if as_json:
        show_json(rows)
    else:
        show_table(rows)


def show_table(rows: list[dict[str, Any]]) -> None:
    """Rows of equal keys as aligned columns, numbers to the right."""
    if not rows:
        return
    cells = [[_cell(value) for value in row.values()] for row in rows]
    head = [name.replace("_", " ") for name in rows[0]]
    widths = [max(len(row[k]) for row in [head, *cells]) for k in range(len(head))]
    texts = [isinstance(value, str) for value in rows[0].values()]
    for row in [head, *cells]:
        padded = (
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, texts, strict=True)
        )
        show_line("  ".join(padded).rstrip())


def show_figures(figures: Mapping[str, Any]) -> None:
    """One row a figure: its name, and the number to the right."""
    cells = {name: _cell(value) for name, value in figures.items()}
    names = max(map(len, cells), default=0)
    numbers = max(map(len, cells.values()), default=0)
    for name, cell in cells.items():
        show_line(f"{name:<{names}}  {cell:>{numbers}}")


def wrap_passage(text: str) -> str:
    """A passage as indented lines."""
    return textwrap.fill(
        text, width=_PASSAGE_WIDTH, initial_indent="       ", subsequent_indent="       "
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_CELL else value[: _LONGEST_CELL - 1] + "…"
    if isinstance(value, float):
        value = round(value, _DECIMALS)
    return f"{value:,}"


def _writable(text: str) -> str:
    """Text without the half characters that file names may hold and no terminal can write."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


class ProgressBars:
    """Progress bars on stderr, one a stage; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""

    def __enter__(self) -> Callable[[Progress], None]:
        return self._update if sys.stderr.isatty() else ignore_progress

    def _update(self, progress: Progress) -> None:
        from tqdm import tqdm

        if progress.stage != self._stage:
            self._close()
            self._stage = progress.stage
            form = "{desc:>12} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            self._bar = tqdm(
                desc=progress.stage, total=progress.total, bar_format=form, leave=False
            )
        self._bar.total = progress.total
        self._bar.update(progress.done - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __exit__(self, *error: object) -> None:
        self._close()
