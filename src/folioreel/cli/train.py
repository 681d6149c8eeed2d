"""`folioreel train …`: train the paper's models on your own data, and build on existing ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import options, output
from folioreel.files import check_output_file

if TYPE_CHECKING:
    from folioreel.progress import ProgressCallback


@click.group(cls=options.CommandGroup)
def train() -> None:
    """Train a model, or build one from existing models.

    Most commands need PyTorch: pip install "folioreel[train]"

    \b
    Examples:
      folioreel train positions pairs/ --out preset
      folioreel train context pairs/old-scrooge --out preset
      folioreel train sentences corpus --out skip-thought --minutes 60
      folioreel train encoder pairs/ --out run
      folioreel train visual flickr8k/ --out embedding
      folioreel train combine uni/encoder bi/encoder --out combined
    """


_run_options = options.join(
    options.out("Folder for the run.", required=True),
    options.minutes,
    options.device,
    options.json,
)
_preset_options = options.join(
    options.out("Folder for the preset; a preset in it is replaced.", required=True), options.json
)
_encoder_options = options.join(
    options.out("Folder for the new encoder.", required=True), options.json
)
_clip_options = options.join(
    click.argument("data", type=options.FILE),
    _run_options,
    options.name(
        "--frame-features", "efficientnet-lite0", "Network that computes the features of pictures."
    ),
)


@train.command()
@click.argument("datasets", metavar="DATASET...", type=options.FILE, nargs=-1, required=True)
@_preset_options
@options.choice(
    "--like",
    ["default", "multilingual", "words", "across"],
    "Preset whose measures and sentence encoder to use.",
)
@options.encoder("Sentence encoder of the preset, by name or folder (default: that of --like).")
@click.option(
    "--without", metavar="PAIR", multiple=True, help="A pair to leave out. Can be repeated."
)
@options.number("--iterations", 25, "Iterations of the optimiser at most.", click.IntRange(min=1))
def positions(datasets: tuple[Path, ...], out: Path, iterations: int, **reading: Any) -> None:
    """Fit a preset with a position model to all judged pairs in each DATASET.

    Fits what each measure is worth, how films move through their books, and how sure a link is.
    DATASET is a folder with a folder for each pair. Use the result with --preset FOLDER.

    \b
    Examples:
      folioreel train positions pairs/ --out preset
      folioreel train positions pairs/ --out preset --encoder minilm
      folioreel train positions pairs/ --out preset --like words --without old-scrooge
      folioreel train positions pairs/ --out preset --iterations 10 --json
    """
    from folioreel.config import STEPS
    from folioreel.train.position_fit import FitConfig
    from folioreel.train.positions import train_positions

    settings = FitConfig(iterations=iterations)
    with output.show_progress() as progress:
        report = train_positions(datasets, out, settings, progress, **reading)
    output.show_json({"preset": str(out), **report})
    weights, steps = report["config"]["weights"], report["config"]["steps"]
    output.show_figures({"pairs": len(report["pairs"]), "judged lines": report["judged_lines"]})
    output.show_below("weights of the measures:", _rows("measure", "weight", weights))
    # The other fields of the steps, such as the pull of the timeline, are not probabilities.
    shares = {name: steps[name] for name in STEPS if name in steps}
    output.show_below("steps between moments:", _rows("step", "probability", shares))
    output.show_line(f"\nwrote {out}")


@train.command()
@click.argument("pair", type=options.FILE)
@_preset_options
@click.option(
    "--pictures",
    type=options.FILE,
    metavar="PAIR",
    help="A judged pair with a video, for a second context CNN that uses pictures.",
)
@click.option(
    "--literal",
    is_flag=True,
    help="Fit the chain as the paper prints it, like the preset paper-literal.",
)
@click.option(
    "--visual", type=options.FILE, metavar="FOLDER", help="Embedding for VIS, with --pictures."
)
@click.option(
    "--scene", type=options.FILE, metavar="FOLDER", help="Embedding for SCENE, with --pictures."
)
def context(
    pair: Path,
    out: Path,
    pictures: Path | None,
    literal: bool,
    visual: Path | None,
    scene: Path | None,
) -> None:
    """Train the paper's context CNN and chain on one judged PAIR.

    Writes a preset like `paper`. Use it with --preset FOLDER. For a film of 1,000 lines and a book
    of 1,800 sentences it takes about a minute on one core; the time grows with lines × sentences.

    \b
    Examples:
      folioreel train context pairs/old-scrooge --out preset
      folioreel train context pairs/old-scrooge --pictures pairs/built --out preset
      folioreel train context pairs/old-scrooge --literal --out preset
    """
    from dataclasses import asdict

    given = {"visual": visual, "scene": scene}
    embeddings = {kind: str(path) for kind, path in given.items() if path is not None}
    if embeddings and pictures is None:
        raise click.UsageError("--visual and --scene need --pictures PAIR, a film to learn from")

    from folioreel.train import check_pytorch

    check_pytorch()
    from folioreel.train.paper import train_paper

    with output.show_progress() as progress:
        config = train_paper(pair, out, progress, pictures, literal=literal, embeddings=embeddings)
    chain = asdict(config.chain)
    output.show_json({"preset": str(out), "chain": chain})
    output.show_figures({name: chain[name] for name in ("unary", "pace", "stay", "sigma")}, out)


# The chain is fitted to scores of the CNN, so that one command trains both; either name finds it.
_chain = copy.copy(context)
_chain.hidden = True
train.add_command(_chain, "chain")


@train.command()
@click.argument("corpus", type=options.FILE)
@_run_options
@options.number("--units", 1024, "Length of a sentence vector.")
@options.number("--word-units", 320, "Length of a word vector.")
@options.number("--vocabulary", 20_000, "Size of the vocabulary.")
@click.option("--bidirectional", is_flag=True, help="Read sentences in both directions.")
@options.number("--batch", 512, "Batch size, in sentences.")
@options.number("--steps", 100_000, "Number of training steps.")
def sentences(corpus: Path, out: Path, **settings: Any) -> None:
    """Train skip-thought sentence vectors on CORPUS.

    CORPUS is made by `folioreel corpus build`. Writes encoder/ into FOLDER, for --encoder. Run the
    same command again to continue from the last checkpoint.

    \b
    Examples:
      folioreel train sentences corpus --out skip-thought --minutes 60
      folioreel train sentences corpus --out small --units 256 --batch 64 --device cpu
    """
    with _training() as progress:
        from folioreel.train.sentences import TrainSentencesConfig, train_sentences

        report = train_sentences(corpus, out, TrainSentencesConfig(**settings), progress)
    last = report["log"][-1] if report["log"] else {}
    figures = {
        "minutes": report["run"]["seconds"] / 60,
        "words per second": round(report["run"]["words_per_second"]) or None,
        "perplexity, sentence before": last.get("perplexity_before"),
        "perplexity, sentence after": last.get("perplexity_after"),
    }
    _show_run(report, "step", figures, out)


@train.command()
@click.argument("dataset", type=options.FILE)
@options.out("Folder for the run.", required=True)
@options.name("--preset", "default", "Preset that aligns the pairs.", "NAME|FOLDER")
@options.name("--encoder", "paraphrase", "Encoder to start from.", "NAME|FOLDER")
@options.number("--steps", 500, "Number of training steps in each round.")
@options.number("--batch", 8, "Batch size, in runs of 32 lines.")
@click.option("--rate", default=2e-5, show_default=True, metavar="R", help="Learning rate.")
@options.number("--seed", 0, "Seed of the random choices.")
@options.number("--round", 1, "Number of rounds; each aligns the pairs and learns from that.")
@click.option(
    "--written",
    type=options.FILE,
    multiple=True,
    metavar="FOLDER",
    help="Written adaptations to learn from as well; may be repeated.",
)
@click.option(
    "--novels", type=options.FILE, metavar="FOLDER", help="Texts of the novels of --written."
)
@options.device
@options.json
def encoder(dataset: Path, out: Path, **settings: Any) -> None:
    """Fine-tune a sentence encoder on the pairs of films and books in DATASET.

    DATASET is a folder with a folder for each pair, judged or not. Writes encoder/ into FOLDER, for
    --encoder. Run the same command again to continue from the last checkpoint.

    \b
    Examples:
      folioreel train encoder pairs/ --out run
      folioreel train encoder pairs/ --out run --round 2 --written adaptations/ --novels novels/
    """
    with _training() as progress:
        from folioreel.train.encoder import TrainEncoderConfig, train_encoder

        rounds = settings.pop("round")
        report = train_encoder(
            dataset, out, TrainEncoderConfig(rounds=rounds, **settings), progress
        )
    final = report["rounds"][-1]
    last = final["log"][-1] if final["log"] else {}
    figures = {
        "rounds done": len(report["rounds"]),
        "pairs": len(report["pairs"]),
        "share of lines found in the books": final["lines_found"],
        "recall@1 on novels kept for testing": last.get("recall@1"),
        "recall@10 on novels kept for testing": last.get("recall@10"),
    }
    _show_run(report, "step", figures, out)


@train.command()
@_clip_options
@options.choice("--features", ["visual", "scene"], "Kind of features: of objects, or of places.")
@click.option(
    "--reader",
    type=click.Choice(["attention", "lstm"]),
    help="Network that reads sentences (default: attention, or lstm with --paper).",
)
@click.option("--paper", is_flag=True, help="Use the paper's settings: LSTM, all negatives, SGD.")
@options.number("--epochs", 60, "Number of epochs.")
@click.option(
    "--batch",
    type=int,
    metavar="N",
    help="Batch size, in clips (default: 512, or 128 with --paper).",
)
def visual(data: Path, out: Path, **settings: Any) -> None:
    """Train an embedding of clips and sentences on DATA.

    DATA is the folder of Flickr8k, or a table (clip, tab, sentence) in the folder of its videos.
    Writes embedding/ into FOLDER. Run the same command again to continue from the last checkpoint.

    \b
    Examples:
      folioreel train visual flickr8k/ --out embedding
      folioreel train visual clips/table.tsv --out embedding --features scene --minutes 30
      folioreel train visual flickr8k/ --out as-the-paper --paper
    """
    with _training() as progress:
        from folioreel.train.clips import TrainVisualConfig, train_visual

        report = train_visual(data, out, TrainVisualConfig(**settings), progress)
    _show_run(report, "epoch", report["best"], out)


@train.command()
@_clip_options
@options.number("--epochs", 25, "Number of epochs.")
@options.number("--batch", 128, "Batch size, in sentences.")
def caption(data: Path, out: Path, **settings: Any) -> None:
    """Train a captioner, which writes a sentence for a picture, on DATA.

    DATA is the folder of Flickr8k, or a table (clip, tab, sentence) in the folder of its videos.
    Writes captioner/ into FOLDER. Run the same command again to continue from the last checkpoint.

    \b
    Examples:
      folioreel train caption flickr8k/ --out captioner
      folioreel train caption clips/table.tsv --out captioner --epochs 10 --minutes 30
    """
    with _training() as progress:
        from folioreel.train.clips import TrainCaptionConfig, train_caption

        report = train_caption(data, out, TrainCaptionConfig(**settings), progress)
    _show_run(report, "epoch", report["best"], out)


@train.command()
@click.argument("encoder")
@click.argument("vectors", type=options.FILE)
@_encoder_options
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Add at most N words.")
def vocabulary(encoder: str, vectors: Path, out: Path, limit: int | None) -> None:
    """Add the words of VECTORS, a word2vec or GloVe file, to ENCODER.

    ENCODER is a name such as skip-thought, or a folder. A linear map brings the new words into its
    space; words that it knows already keep their vectors.

    \b
    Examples:
      folioreel train vocabulary skip-thought glove.6B.300d.txt --out expanded
      folioreel train vocabulary run/encoder GoogleNews-vectors-negative300.bin.gz --out expanded
      folioreel train vocabulary student vectors.txt --limit 50000 --out expanded --json
    """
    from folioreel.models.sentence_encoder import open_word_encoder
    from folioreel.models.vocabulary_expansion import expand_vocabulary

    check_output_file(out)
    model = open_word_encoder(encoder)
    with output.show_progress() as progress:
        expansion = expand_vocabulary(model, vectors, limit, progress)
    expansion.model.save(out)
    figures = {
        "known": expansion.known,
        "added": expansion.added,
        "words": len(expansion.model.vocabulary),
        "held_out_cosine": round(expansion.cosine, 4),
    }
    output.show_json({"encoder": str(out), **figures})
    names = ("words that both know", "words added", "words in all", "held-out cosine")
    output.show_figures(dict(zip(names, figures.values(), strict=True)), out)


@train.command()
@click.argument("first")
@click.argument("others", metavar="SECOND...", nargs=-1, required=True)
@_encoder_options
def combine(first: str, others: tuple[str, ...], out: Path) -> None:
    """Combine encoders with the same vocabulary by concatenating their vectors.

    Each is a name or a folder. A uni- and a bidirectional skip-thought encoder together are the
    paper's combine-skip.

    \b
    Examples:
      folioreel train combine uni/encoder bi/encoder --out combined
      folioreel train combine uni-skip bi-skip --out combined --json
    """
    from folioreel.models.sentence_encoder import open_word_encoder
    from folioreel.models.word_encoder import combine_encoders

    check_output_file(out)
    model = combine_encoders([open_word_encoder(name) for name in (first, *others)], out.name)
    model.save(out)
    units = {part.name: part.units for part in model.parts}
    output.show_json({"encoder": str(out), "words": len(model.vocabulary), "parts": units})
    output.show_table(_rows("part", "units", units))
    output.show_line(f"\nwrote {out}")


def _rows(key: str, value: str, table: dict[str, Any]) -> list[dict[str, Any]]:
    return [{key: name, value: number} for name, number in table.items()]


@contextmanager
def _training() -> Iterator[ProgressCallback]:
    """A run that can be resumed when it was stopped."""
    from folioreel.train import check_pytorch

    check_pytorch()
    with output.show_progress("the data read so far and the last checkpoint") as progress:
        yield progress


def _show_run(report: dict[str, Any], unit: str, figures: dict[str, Any], out: Path) -> None:
    """The results of a run that is counted in a unit, `epoch` or `step`."""
    output.show_json(report)
    done, total = report[unit], report["training"][f"{unit}s"]
    rounded = {
        name.replace("_", " "): round(value, 2) if isinstance(value, float) else value
        for name, value in figures.items()
    }
    output.show_figures({f"{unit}s done": done, f"{unit}s in all": total, **rounded})
    if done < total:
        output.show_line("\nnot finished; run the same command again to continue")
    output.show_line(f"\nwrote {out}")
