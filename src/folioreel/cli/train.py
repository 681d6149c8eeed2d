"""`train`: fit the models of the paper to one's own data, and build on those that are there."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import options, output
from folioreel.files import check_output_file

if TYPE_CHECKING:
    from folioreel.train.runs import DeviceName


_out_option = options.out("Folder for the new encoder.", required=True)


@click.group(cls=options.CommandGroup)
def train() -> None:
    """Fit a model, or make a new one out of those that are there.

    Most need PyTorch: pip install "folioreel[train]".

    \b
    folioreel train chain pairs/ --out preset
    folioreel train sentences corpus --out skip-thought --minutes 60
    folioreel train combine uni/encoder bi/encoder --out combined
    folioreel train vocabulary combined glove.6B.300d.txt --out expanded
    folioreel train visual flickr8k/ --out embedding
    """


@train.command()
@click.argument("corpus", type=options.FILE)
@options.out("Folder for the run.", required=True)
@click.option("--units", default=1024, show_default=True, help="Length of a sentence vector.")
@click.option("--word-units", default=320, show_default=True, help="Length of a word vector.")
@click.option("--vocabulary", default=20_000, show_default=True, help="Words that it knows.")
@click.option("--bidirectional", is_flag=True, help="Read sentences from both ends.")
@click.option("--batch", default=512, show_default=True, help="Sentences a step.")
@click.option("--steps", default=100_000, show_default=True, help="Steps in all.")
@options.minutes
@options.device
@options.json
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

    Writes into FOLDER: pack/ (the corpus as numbers), checkpoint.pt, encoder/ (what --encoder
    takes elsewhere) and report.json. The same command goes on from the checkpoint.

    \b
    folioreel train sentences corpus --out skip-thought --minutes 60
    folioreel train sentences corpus --out small --units 256 --batch 64 --device cpu
    """
    from folioreel.train.train_sentences import TrainSentencesConfig, train_sentences

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
    kept = "the steps up to the last checkpoint"
    with output.resumable(kept), ending_like_ctrl_c(), output.ProgressBars() as progress:
        report = train_sentences(corpus, out, settings, progress)
    if as_json:
        output.show_json(report)
    else:
        _show_report(report, out)


@train.command()
@click.argument("encoder")
@click.argument("vectors", type=options.FILE)
@_out_option
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Add at most so many words.")
@options.json
def vocabulary(encoder: str, vectors: Path, out: Path, limit: int | None, as_json: bool) -> None:
    """Give ENCODER the words of VECTORS, a file of word2vec or GloVe.

    ENCODER is one that comes with the package, by name, or the folder of one. The words of VECTORS
    are brought into its space by a linear map; those that it knows stay as they are.

    \b
    folioreel train vocabulary skip-thought glove.6B.300d.txt --out expanded
    folioreel train vocabulary run/encoder GoogleNews-vectors-negative300.bin.gz --out expanded
    folioreel train vocabulary student vectors.txt --limit 50000 --out expanded --json
    """
    from folioreel.models.derived_encoders import expand_vocabulary
    from folioreel.models.sentence_encoder import open_encoder_model

    check_output_file(out)
    model = open_encoder_model(encoder)
    with output.ProgressBars() as progress:
        expansion = expand_vocabulary(model, vectors, limit, progress)
    expansion.model.save(out)
    words, cosine = len(expansion.model.vocabulary), round(expansion.cosine, 4)
    known, added = expansion.known, expansion.added
    if as_json:
        figures = {"known": known, "added": added, "words": words, "held_out_cosine": cosine}
        output.show_json({"encoder": str(out), **figures})
        return
    output.show_figures(
        {
            "words that both know": known,
            "words added": added,
            "words in all": words,
            "held-out cosine": cosine,
        }
    )
    output.show_line(f"\nwrote {out}")


@train.command()
@click.argument("first")
@click.argument("others", metavar="SECOND...", nargs=-1, required=True)
@_out_option
@options.json
def combine(first: str, others: tuple[str, ...], out: Path, as_json: bool) -> None:
    """Join encoders of one vocabulary: the new vectors are theirs, one after the other.

    Each is one that comes with the package, by name, or the folder of one. A uni- and a
    bi-directional skip-thought encoder joined are the paper's combine-skip.

    \b
    folioreel train combine uni/encoder bi/encoder --out combined
    folioreel train combine uni-skip bi-skip --out combined --json
    """
    from folioreel.models.derived_encoders import combine_encoders
    from folioreel.models.sentence_encoder import open_encoder_model

    check_output_file(out)
    model = combine_encoders([open_encoder_model(name) for name in (first, *others)], out.name)
    model.save(out)
    units = {part.name: part.units for part in model.parts}
    if as_json:
        output.show_json({"encoder": str(out), "words": len(model.vocabulary), "parts": units})
        return
    output.show_table([{"part": name, "units": size} for name, size in units.items()])
    output.show_line(f"\nwrote {out}")


@train.command()
@click.argument("dataset", type=options.FILE)
@options.out("Folder for the preset.", required=True)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    metavar="N",
    default=25,
    show_default=True,
    help="Steps of fitting, at most.",
)
@options.json
def chain(dataset: Path, out: Path, iterations: int, as_json: bool) -> None:
    """Learn a preset from all judged pairs in DATASET (a folder of folders).

    Learns what each measure is worth, how films move through their books, and how sure a link is.
    FOLDER is what --preset takes elsewhere; a preset that is there is replaced.

    \b
    folioreel train chain pairs/ --out preset
    folioreel train chain pairs/ --out preset --iterations 10 --json
    """
    from folioreel.config import STEPS
    from folioreel.train.positions import FitConfig
    from folioreel.train.train_positions import train_chain

    with output.ProgressBars() as progress:
        report = train_chain(dataset, out, FitConfig(iterations=iterations), progress)
    if as_json:
        output.show_json({"preset": str(out), **report})
        return
    weights, steps = report["config"]["weights"], report["config"]["steps"]
    output.show_figures({"pairs": len(report["pairs"]), "judged lines": report["judged_lines"]})
    output.show_line("")
    output.show_table([{"measure": name, "weight": weight} for name, weight in weights.items()])
    output.show_line("")
    # The pull of the timeline is no share, and has no place among them.
    output.show_table([{"step": name, "share": steps[name]} for name in STEPS if name in steps])
    output.show_line(f"\nwrote {out}")


@train.command()
@click.argument("pair", type=options.FILE)
@options.out("Folder for the preset.", required=True)
@click.option("--pictures", type=options.FILE, metavar="PAIR", help="A judged pair with a video.")
@options.json
def context(pair: Path, out: Path, pictures: Path | None, as_json: bool) -> None:
    """Learn the paper's method from one judged PAIR: the context CNN and the chain's weights.

    FOLDER is what --preset takes elsewhere; a preset that is there is replaced. With --pictures,
    films with a video get a context CNN of their own, which reads their pictures too. Needs
    PyTorch: pip install "folioreel[train]"

    \b
    folioreel train context pairs/old-scrooge --out preset
    folioreel train context pairs/old-scrooge --pictures pairs/built --out preset
    """
    from dataclasses import asdict

    from folioreel.train.paper import train_paper

    with output.ProgressBars() as progress:
        chain_weights = asdict(train_paper(pair, out, progress, pictures).chain)
    if as_json:
        output.show_json({"preset": str(out), "chain": chain_weights})
        return
    output.show_figures({name: chain_weights[name] for name in ("unary", "pace", "stay", "sigma")})
    output.show_line(f"\nwrote {out}")


@contextmanager
def ending_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, which batch systems send, leave a checkpoint as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _show_report(report: dict[str, Any], out: Path) -> None:
    run, steps = report["run"], report["training"]["steps"]
    last = report["log"][-1] if report["log"] else {}
    output.show_figures(
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
        output.show_line("\nnot finished; give the same command again to go on")
    output.show_line(f"\nwrote {out}")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
