"""`reproduce`: the paper's experiments on judged pairs."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli import options, output

if TYPE_CHECKING:
    from folioreel.evaluate.experiment_results import Reproduction


@click.command()
@click.argument("dataset", type=options.FILE)
@options.out(
    "Folder for results, tables and plots; run again to continue.",
    default=Path("reproduction"),
    show_default=True,
)
@click.option(
    "--train",
    metavar="PAIR",
    help="Pair to train on for the paper's protocol (default: the one with the most matches).",
)
@click.option(
    "--protocol",
    type=click.Choice(["one", "leave-one-out"]),
    help="Train on one pair, as in the paper, or on all but the tested one (default: both).",
)
@click.option(
    "--row",
    "rows",
    metavar="NAME",
    multiple=True,
    help='Compute this row of the table only, such as "CRF"; may be repeated.',
)
@options.json
def reproduce(
    dataset: Path, out: Path, train: str | None, protocol: str | None, rows: tuple[str, ...]
) -> None:
    """Run the paper's experiments on the judged pairs in DATASET.

    Trains and tests every row of the paper's main table: UNI, SVM, CNN-1 and its ablations, CNN-3
    and CRF; beside them our position model, the shipped presets and plain baselines. Writes
    report.md, results.csv, times.csv and plots. What is finished is kept and reported: run the same
    command again to continue, or another to add to it. Takes some minutes per pair, most of it for
    the rows with the chain.

    Needs PyTorch: pip install "folioreel[train]"

    \b
    Examples:
      folioreel reproduce pairs/ --out reproduction
      folioreel reproduce pairs/ --train old-scrooge --protocol one
      folioreel reproduce pairs/ --row UNI --row CNN-3 --row CRF
    """
    from folioreel.evaluate.experiment_report import write_reproduction
    from folioreel.evaluate.experiment_results import PROTOCOLS
    from folioreel.train.experiments import ROWS
    from folioreel.train.reproduce import ReproduceConfig
    from folioreel.train.reproduce import reproduce as run

    chosen = tuple(name for name in PROTOCOLS if protocol in (None, name))
    config = ReproduceConfig(rows=rows or tuple(ROWS), protocols=chosen, train=train)
    given = [("--train", train), ("--protocol", protocol), *(("--row", row) for row in rows)]
    words = [word for option, value in given if value is not None for word in (option, value)]
    command = shlex.join(["folioreel", "reproduce", dataset.resolve().name, *words])

    def report_finished(found: Reproduction) -> None:
        if any(table.rows for table in found.tables):
            output.show_note("writing the report of what is finished …")
            files = write_reproduction(found, out, command)
            output.show_note(f"wrote {files[0]}")

    with output.show_progress("the results so far") as progress:
        found = run(dataset, out, config, progress, report_finished)
    files = write_reproduction(found, out, command)
    output.show_json([asdict(table) for table in found.tables])
    _show_tables(found)
    output.show_line()
    output.show_written(*files)


def _show_tables(found: Reproduction) -> None:
    from folioreel.evaluate import experiment_report as report

    for number, table in enumerate(found.tables):
        output.show_line(("\n" if number else "") + table.title)
        output.show_table(report.mean_rows(table.whole))
        for note in report.missing_notes(table):
            output.show_line(note)
        for group in table.groups:
            output.show_below(report.group_title(group), report.group_rows(group))
