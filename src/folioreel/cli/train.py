"""`train`: fit the models of the paper to one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli.options import FILE, json_option
from folioreel.cli.output import ProgressBars, resumable, show_figures, show_json, show_line

if TYPE_CHECKING:
    from folioreel.apps.train_sentences import DeviceName


@click.group()
def train() -> None:
    """Fit a model; needs PyTorch: pip install "folioreel[train]".

    \b
    folioreel train sentences corpus --out skip-thought --minutes 60
    """


@train.command()
@click.argument("corpus", type=FILE)
@click.option("--out", metavar="FOLDER", type=FILE, required=True, help="The run's own folder.")
@click.option("--units", default=1024, show_default=True, help="Length of a sentence vector.")
@click.option("--word-units", default=300, show_default=True, help="Length of a word vector.")
@click.option("--vocabulary", default=20_000, show_default=True, help="Words that it knows.")
@click.option("--bidirectional", is_flag=True, help="Read sentences from both ends.")
@click.option("--batch", default=512, show_default=True, help="Sentences a step.")
@click.option("--steps", default=100_000, show_default=True, help="Steps in all.")
@click.option(
    "--minutes", type=float, metavar="M", help="Stop after so long; give it again to go on."
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where to compute; auto takes a GPU if there is one.",
)
@json_option
def sentences(
    corpus: Path,
    out: Path,
    units: int,
    word_units: int,
    vocabulary: int,
    bidirectional: bool,
    batch: int,
    steps: int,
    minutes: float | None,
    device: DeviceName,
    as_json: bool,
) -> None:
    """Train skip-thought sentence vectors on CORPUS (see: folioreel corpus build).

    Writes into FOLDER: pack/ (the corpus as numbers), checkpoint.pt and report.json. The same
    command goes on from the checkpoint.

    \b
    folioreel train sentences corpus --out skip-thought --minutes 60
    folioreel train sentences corpus --out small --units 256 --batch 64 --device cpu
    """
    from folioreel.apps.train_sentences import TrainSentencesConfig, train_sentences

    settings = TrainSentencesConfig(
        units=units,
        word_units=word_units,
        vocabulary=vocabulary,
        bidirectional=bidirectional,
        batch=batch,
        steps=steps,
        minutes=minutes,
        device=device,
    )
    with resumable("the steps up to the last checkpoint"), ProgressBars() as progress:
        report = train_sentences(corpus, out, settings, progress)
    if as_json:
        show_json(report)
    else:
        _show_report(report, out)


def _show_report(report: dict[str, Any], out: Path) -> None:
    run, steps = report["run"], report["training"]["steps"]
    last = report["log"][-1] if report["log"] else {}
    show_figures(
        {
            "steps done": report["step"],
            "steps in all": steps,
            "minutes of this run": round(run["seconds"] / 60, 1),
            "words per second": round(run.get("words_per_second", 0)) or None,
            "perplexity, sentence before": _rounded(last.get("perplexity_before")),
            "perplexity, sentence after": _rounded(last.get("perplexity_after")),
        }
    )
    if report["step"] < steps:
        show_line("\nnot finished; give the same command again to go on")
    show_line(f"\nwrote {out}")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
