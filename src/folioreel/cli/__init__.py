"""The command line: parse, call one public function, print; notes and progress go to stderr.

Each module holds one kind of command. Heavy imports happen inside the commands, so that
`folioreel --help` answers at once.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import click

from folioreel import __version__
from folioreel.cli import options, output
from folioreel.cli.align import align, align_many, demo, inspect
from folioreel.cli.books import borrow, caption, retrieve
from folioreel.cli.corpus import corpus
from folioreel.cli.describe import describe
from folioreel.cli.evaluate import evaluate
from folioreel.cli.export import export, import_corrections
from folioreel.cli.illustrate import illustrate
from folioreel.cli.report import compare, report
from folioreel.cli.reproduce import reproduce
from folioreel.cli.train import train
from folioreel.cli.transcribe import transcribe
from folioreel.cli.view import view
from folioreel.errors import FolioReelError, shorten


class _Main(options.CommandGroup):
    """Turns our errors into one line on stderr and exit code 1; click exits with 2 on misuse."""

    def invoke(self, ctx: click.Context) -> Any:
        output.show_log(logging.WARNING)
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            message = output.harmless(shorten(error.format_message()))
            raise click.UsageError(message, ctx=error.ctx) from None
        except (output.StoppedError, KeyboardInterrupt) as error:
            output.show_error(str(error) or "stopped")
            sys.exit(output.STOPPED)
        except FolioReelError as error:
            output.show_error(str(error))
        except MemoryError:
            output.show_error(
                "there is not enough memory; close other programs, or use smaller files"
            )
        except BrokenPipeError:
            sys.stderr.close()  # nobody reads our output any more, as in `folioreel … | head`
        except OSError as error:
            # Not "[Errno 13] Permission denied: 'x'", as Python would say it.
            where = f"{error.filename}: " if error.filename else ""
            output.show_error(f"{where}{error.strerror or error}")
        sys.exit(1)


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="folioreel")
def main() -> None:
    """Align a film with the book it was made from.

    For every moment of the film, folioreel finds the sentence of the book that it shows, and how
    likely that is, or says that the moment is not in the book.

    \b
    Examples:
      folioreel demo
      folioreel align novel.epub film.mkv --out result
      folioreel view result
    """


main.add_section("Align", align, align_many, demo, inspect, transcribe)
main.add_section("Explore an alignment", view, describe)
main.add_section("Study and take away", report, compare, export, import_corrections, illustrate)
main.add_section("Search many books", retrieve, borrow, caption, corpus)
main.add_section("Research", evaluate, reproduce, train)
