"""What commands print: results on stdout; errors, notes and progress bars on stderr.

A command shows its result twice, with `show_json` and with the other functions. Without --json the
first prints nothing, and with it the others print nothing.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli.bars import draw_progress, hidden_bar
from folioreel.errors import FolioReelError, shorten
from folioreel.progress import ProgressCallback

if TYPE_CHECKING:
    from folioreel.apps.library import Failure
    from folioreel.types import Alignment

# Book titles and paths may be very long; a table with several columns should still fit a window.
_LONGEST_CELL = 40
# Enough for probabilities and weights, and few enough to compare rows at a glance.
_DECIMALS = 4
# Narrower than most terminals: prose is hard to read in long lines.
_PASSAGE_WIDTH = 88
# What a terminal would obey or hide instead of showing it: controls, and marks that reverse text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""


class Notices(logging.Handler):
    """Shows what the library logs as lines on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message of a record."""
        show = show_note if record.levelno < logging.WARNING else show_error
        show(record.getMessage())


def show_log(level: int) -> None:
    """Show what the library logs at a level or above: its warnings, or its notes on files too."""
    # What other packages log is no line of ours; without a handler, Python would print it.
    logging.getLogger().addHandler(logging.NullHandler())
    logger = logging.getLogger("folioreel")
    logger.handlers = [Notices()]
    logger.setLevel(level)


class StoppedError(FolioReelError):
    """The user pressed Ctrl-C during work that can be resumed."""


@contextmanager
def show_progress(kept: str | None = None) -> Iterator[ProgressCallback]:
    """Progress on stderr: bars in a terminal, a line now and then elsewhere.

    `kept` is for work that the same command continues after Ctrl-C: what the user does not lose,
    such as "the books read so far".
    """
    try:
        with draw_progress(show_note) as progress:
            yield progress
    except KeyboardInterrupt:
        if kept is None:
            raise
        message = f"stopped; {kept} are kept: run the same command again to continue"
        raise StoppedError(message) from None


def show_error(message: str) -> None:
    """One line on stderr."""
    show_note(f"folioreel: {' '.join(message.split())}")


def show_note(text: str) -> None:
    """A remark on stderr, so that stdout holds nothing but results."""
    with hidden_bar():
        _write("\n".join(map(shorten, text.split("\n"))), err=True)


def show_notes(path: Path, notes: tuple[str, ...]) -> None:
    """What a reader noticed in a file, or chose."""
    for note in notes:
        show_note(f"{path.name}: {note}")


def show_warnings(alignment: Alignment) -> None:
    """What makes an alignment doubtful, such as the wrong book, on stderr."""
    for warning in alignment.warnings:
        show_error(f"{alignment.film.title}: {warning}")


def show_failures(failures: Iterable[Failure]) -> None:
    """The files that were skipped, one per line on stderr."""
    # Shown after the results, where they are not scrolled out of sight.
    listed = [f"  {failure.path}: {failure.problem}" for failure in failures]
    if listed:
        heading = f"skipped {len(listed)} file{'s' * (len(listed) != 1)}:"
        show_note("\n".join([heading, *listed]))


def choose_json(context: click.Context, option: click.Parameter, chosen: bool) -> None:
    """Remember whether --json was given for as long as the command runs."""
    context.meta[__name__] = chosen


def _is_json() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(__name__, False)


def show_line(text: str = "") -> None:
    """A line of results."""
    if not _is_json():
        _write(text)


def show_written(*paths: Path) -> None:
    """The files or folders that were written."""
    for path in paths:
        show_line(f"wrote {path}")


def show_json(value: Any) -> None:
    """The whole result as JSON."""
    if _is_json():
        # Passages of books stay readable: no \u escapes, and one field per line.
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
        _write(_CONTROLS.sub(lambda match: f"\\u{ord(match.group()):04x}", text))


def show_list(title: str, lines: list[str]) -> None:
    """Lines under a title, if there are any."""
    for line in (f"\n{title}:", *(f"  {line}" for line in lines)) if lines else ():
        show_line(line)


def show_below(title: str, rows: list[dict[str, Any]]) -> None:
    """A table under a title, if it has any rows."""
    if rows:
        show_line(f"\n{title}")
        show_table(rows)


def show_table(rows: list[dict[str, Any]], without: str = "") -> None:
    """Rows with the same keys as aligned columns, numbers to the right."""
    if not rows:
        return
    rows = [{name: value for name, value in row.items() if name != without} for row in rows]
    cells = [[_cell(value) for value in row.values()] for row in rows]
    head = [name.replace("_", " ") for name in rows[0]]
    widths = [max(len(row[k]) for row in [head, *cells]) for k in range(len(head))]
    # The first row decides: a column of numbers may have gaps (None), a column of texts has none.
    texts = [isinstance(value, str) for value in rows[0].values()]
    for row in [head, *cells]:
        padded = (
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, texts, strict=True)
        )
        show_line("  ".join(padded).rstrip())


def show_figures(figures: Mapping[str, Any], out: Path | None = None) -> None:
    """One figure per line, its name and then the number; `out` is where the result was written."""
    cells = {name: _cell(value) for name, value in figures.items()}
    names = max(map(len, cells), default=0)
    numbers = max(map(len, cells.values()), default=0)
    for name, cell in cells.items():
        show_line(f"{name:<{names}}  {cell:>{numbers}}")
    if out is not None:
        show_line(f"\nwrote {out}")


def show_passage(text: str | None, margin: str = "  ") -> None:
    """Prose of a book in lines of readable length, behind a margin; each line is a paragraph."""
    from folioreel.text import wrap_lines  # loads the sentence splitter

    for paragraph in (text or "").strip().splitlines():
        show_line("\n".join(margin + line for line in wrap_lines(paragraph, _PASSAGE_WIDTH)))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        from folioreel.text import cut_label  # loads the sentence splitter

        return cut_label(value, _LONGEST_CELL)
    if isinstance(value, float):
        value = round(value, _DECIMALS)
    return f"{value:,}"


def harmless(text: str) -> str:
    """Text that a terminal shows, and does not obey."""
    # Names of files may hold lone surrogates, which no terminal can print.
    plain = text.encode("utf-8", errors="replace").decode("utf-8")
    return _CONTROLS.sub(lambda match: ascii(match.group())[1:-1], plain)


def _write(text: str, *, err: bool = False) -> None:
    """Print text, all of it: the one place where words of files and names reach the terminal."""
    plain = harmless(text)
    stream = sys.stderr if err else sys.stdout
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        click.echo(plain, err=err)
        return
    # With `python -u` a write to a full disk drops what does not fit, without a word.
    stream.flush()
    data = f"{plain}\n".encode(stream.encoding, errors="replace")
    while data:
        data = data[raw.write(data) or 0 :]
