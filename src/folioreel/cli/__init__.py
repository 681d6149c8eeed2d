"""The command line: parse, call one public function, print; notes and progress go to stderr.

One module for each kind of command. They import what is heavy inside the commands, so that
`folioreel --help` is there at once.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from folioreel import __version__
from folioreel.cli import (
    align,
    books,
    caption,
    corpus,
    describe,
    evaluate,
    train,
    train_visual,
    view,
)
from folioreel.cli.output import show_error
from folioreel.errors import FolioReelError


class _Commands(click.Group):
    """Turns our errors into one line on stderr and exit code 1."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except FolioReelError as error:
            show_error(str(error))
            sys.exit(1)
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output has gone: `folioreel … | head`
            sys.exit(1)
        except OSError as error:
            show_error(f"{error}; check that file and the disk")
            sys.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="folioreel")
def main() -> None:
    """Align a film with the book it was made from.

    For every moment of the film: the sentence of the book that it renders, how sure that is, or
    that it is not in the book.
    """


for _command in (
    align.align,
    align.align_many,
    align.demo,
    align.inspect,
    books.borrow,
    books.retrieve,
    caption.caption,
    describe.describe,
    corpus.corpus,
    evaluate.evaluate,
    train.train,
    view.view,
):
    main.add_command(_command)
for _command in (train_visual.visual, train_visual.caption):
    train.train.add_command(_command)
