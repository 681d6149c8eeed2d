"""What commands print: results on stdout; errors, notes and progress bars on stderr."""

from __future__ import annotations

import json
import logging
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

# Book titles and paths may be very long; a table with several columns should still fit a window.
_LONGEST_CELL = 40
_DECIMALS = 4
# Narrower than most terminals: prose is hard to read in long lines.
_PASSAGE_WIDTH = 88


class Notices(logging.Handler):
    """Shows what the library logs as lines on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message of a record."""
        show_error(record.getMessage())


class StoppedError(FolioReelError):
    """The user pressed Ctrl-C during work that can be resumed."""


@contextmanager
def resumable(kept: str) -> Iterator[None]:
    """Work that continues where it stopped when the same command is run again.

    Args:
        kept: What is not lost, as the user would call it: "the books read so far".
    """
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError(
            f"stopped; {kept} are kept: run the same command again to continue"
        ) from None


def show_error(message: str) -> None:
    """One line on stderr."""
    show_note(f"folioreel: {' '.join(message.split())}")


def show_note(text: str) -> None:
    """A remark on stderr, so that stdout holds nothing but results."""
    click.echo(_printable(text), err=True)


def show_notes(path: Path, notes: tuple[str, ...]) -> None:
    """What a reader noticed in a file, or chose."""
    for note in notes:
        show_note(f"{path.name}: {note}")


def show_failures(failures: Iterable[Failure]) -> None:
    """The files that were skipped, one per line on stderr."""
    listed = [f"  {failure.path}: {failure.problem}" for failure in failures]
    if listed:
        files = "file" if len(listed) == 1 else "files"
        show_note("\n".join([f"skipped {len(listed)} {files}:", *listed]))


def show_line(text: str = "") -> None:
    """A line of results."""
    click.echo(_printable(text))


def show_written(*paths: Path) -> None:
    """The files or folders that were written."""
    for path in paths:
        show_line(f"wrote {path}")


def show_json(value: Any) -> None:
    """A result as JSON."""
    show_line(json.dumps(value, ensure_ascii=False, indent=1))


def show_rows(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """Rows with the same keys, as a table or as JSON."""
    if as_json:
        show_json(rows)
    else:
        show_table(rows)


def show_table(rows: list[dict[str, Any]]) -> None:
    """Rows with the same keys as aligned columns, numbers to the right."""
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
    """One figure per line: its name, and the number to the right."""
    cells = {name: _cell(value) for name, value in figures.items()}
    names = max(map(len, cells), default=0)
    numbers = max(map(len, cells.values()), default=0)
    for name, cell in cells.items():
        show_line(f"{name:<{names}}  {cell:>{numbers}}")


def show_passage(text: str | None, margin: str = "  ") -> None:
    """Prose of a book in lines of readable length, behind a margin; each line is a paragraph."""
    for paragraph in (text or "").strip().splitlines():
        show_line(textwrap.indent(textwrap.fill(paragraph, _PASSAGE_WIDTH), margin))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_CELL else value[: _LONGEST_CELL - 1] + "…"
    if isinstance(value, float):
        value = round(value, _DECIMALS)
    return f"{value:,}"


def _printable(text: str) -> str:
    """Text without the lone surrogates that file names may hold, which no terminal can print."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


class ProgressBars:
    """Progress bars on stderr, one per stage; none if stderr is not a terminal."""

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
