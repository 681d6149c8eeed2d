"""`evaluate`: judged film and book pairs, and the parts of the method each by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from folioreel.cli import options, output
from folioreel.errors import ConfigError, InputError
from folioreel.files import check_output_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from folioreel.progress import ProgressCallback
    from folioreel.types import Alignment, Book, Film


class _DatasetOrCommand(options.CommandGroup):
    """A group whose first argument may be a folder: what names no command is a dataset."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, or else the one for datasets with all that was given."""
        if arguments[0] in self.commands:
            return super().resolve_command(context, arguments)
        return "", evaluate_pairs, arguments

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of both kinds of use."""
        with formatter.section("Options with DATASET"):
            options = [p for p in evaluate_pairs.params if isinstance(p, click.Option)]
            records = (option.get_help_record(context) for option in options)
            formatter.write_dl([record for record in records if record])
        super().format_options(context, formatter)


class _NamelessContext(click.Context):
    """Speaks of `folioreel evaluate`, without a blank where the command's name would be."""

    @property
    def command_path(self) -> str:
        """The words before the arguments."""
        return super().command_path.rstrip()


class _PairsCommand(click.Command):
    """The command that is meant when none is named."""

    context_class = _NamelessContext


@click.command("DATASET", cls=_PairsCommand)
@click.argument("dataset", type=options.FILE)
@options.preset
@options.preset_encoder
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="Judge each pair by a preset that all the others teach.",
)
@click.option(
    "--baseline",
    type=click.Choice(
        [
            "uniform",
            *("tfidf", "tfidf-monotone", "bm25", "bm25-monotone", "encoder", "encoder-monotone"),
        ]
    ),
    help="Judge a simple system in place of a preset.",
)
@options.out("Folder for the report: tables, plots and all figures.")
@options.force
@options.json
@click.pass_context
def evaluate_pairs(
    context: click.Context,
    dataset: Path,
    preset: str,
    encoder: str | None,
    leave_one_out: bool,
    baseline: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Align each judged pair in DATASET (a folder of folders) and score it.

    A folder that is called as a command is written with its path: ./sentences.

    \b
    folioreel evaluate pairs/
    folioreel evaluate pairs/ --encoder minilm --out report
    folioreel evaluate pairs/ --leave-one-out
    folioreel evaluate pairs/ --baseline bm25-monotone
    folioreel evaluate pairs/old-scrooge --json
    """
    from folioreel.evaluate.report import evaluate_system, table_rows, write_report

    align: Callable[[Film, Book], Alignment]
    if leave_one_out:
        _check_learnable(dataset, context)
    elif baseline is None:
        from folioreel.alignment.aligner import Aligner

        align = Aligner.load(preset, encoder).align
    else:
        _check_baseline(baseline, context)
        align = _baseline(baseline, encoder)
    if out is not None:
        check_output_folder(out, force=force)
    with output.ProgressBars() as progress:
        if leave_one_out:
            rows = _leave_one_out(dataset, progress)
        else:
            rows = evaluate_system(dataset, align, progress)
    files = write_report(rows, out) if out is not None else []
    if as_json:
        output.show_json(rows)
        return
    output.show_table(table_rows(rows))
    for path in files:
        output.show_line(f"wrote {path}")


def _check_learnable(dataset: Path, context: click.Context) -> None:
    """Refuse what cannot be learned pair by pair, before any work is done."""
    from folioreel.evaluate.dataset import find_pairs

    for name in ("preset", "encoder", "baseline"):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise ConfigError(
                f"--leave-one-out learns a preset for each pair, so that --{name} would change "
                "nothing; leave one of the two out"
            )
    if len(find_pairs(dataset)) < 2:
        raise InputError(
            "holds a single pair; --leave-one-out needs two or more, as each is judged by what "
            "the others teach",
            dataset,
        )


def _check_baseline(name: str, context: click.Context) -> None:
    """Refuse options that a baseline has no use for."""
    useless = ("preset",) if name.startswith("encoder") else ("preset", "encoder")
    for option in useless:
        if context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            raise ConfigError(f"--baseline {name} has no use for --{option}; leave one of them out")


def _baseline(name: str, encoder: str | None) -> Callable[[Film, Book], Alignment]:
    """What aligns by a baseline; those of `encoder` take the student unless another is named."""
    from folioreel.evaluate.baselines import baseline_alignment
    from folioreel.models.sentence_encoder import load_encoder

    loaded = load_encoder(encoder or "student") if name.startswith("encoder") else None
    return lambda film, book: baseline_alignment(name, film, book, loaded)


def _leave_one_out(dataset: Path, progress: ProgressCallback) -> list[dict[str, Any]]:
    from folioreel.train.positions import leave_one_out, read_judged

    return leave_one_out(read_judged(dataset, progress=progress), progress=progress)


@click.group(
    cls=_DatasetOrCommand,
    subcommand_metavar="DATASET | COMMAND [ARGS]...",
    # The options of a dataset may stand before it, as in `evaluate --json pairs/`.
    context_settings={"ignore_unknown_options": True},
)
def evaluate() -> None:
    """Score alignments against judged pairs, or one part of the method by itself.

    With DATASET (a folder of folders): align each judged pair in it and score the links. With a
    COMMAND: score that part.

    \b
    folioreel evaluate pairs/
    folioreel evaluate pairs/old-scrooge --preset paper --json
    folioreel evaluate sentences --sick sick/
    folioreel evaluate visual --flickr8k flickr8k/
    """


@evaluate.command("sentences")
@click.option("--sick", type=options.FILE, required=True, help="Folder of the SICK dataset.")
@click.option(
    "--encoder",
    "encoders",
    metavar="NAME",
    multiple=True,
    help="A sentence encoder to judge, by name or folder; may be given again. All if none is.",
)
@options.json
def evaluate_sentences(sick: Path, encoders: tuple[str, ...], as_json: bool) -> None:
    """Score sentence encoders against people's judgements (SICK).

    \b
    folioreel evaluate sentences --sick sick/
    folioreel evaluate sentences --sick sick/ --encoder skip-thought --json
    """
    from folioreel.evaluate.sentences import evaluate_sentences as score_encoders

    with output.ProgressBars() as progress:
        rows = score_encoders(sick, encoders or None, progress)
    output.show_rows(rows, as_json=as_json)


@evaluate.command("visual")
@click.option(
    "--flickr8k", type=options.FILE, required=True, help="Folder of the Flickr8k dataset."
)
@click.option(
    "--embedding",
    "embeddings",
    metavar="NAME",
    multiple=True,
    help="An embedding by name or folder; of several the scores are added up. visual and scene"
    " if none is given.",
)
@click.option(
    "--captioner",
    metavar="NAME",
    default="captioner",
    show_default=True,
    help="A captioner by name or folder.",
)
@options.json
def evaluate_visual(
    flickr8k: Path, embeddings: tuple[str, ...], captioner: str, as_json: bool
) -> None:
    """Score embeddings of pictures and sentences, and a captioner, on Flickr8k's test pictures.

    \b
    folioreel evaluate visual --flickr8k flickr8k/
    folioreel evaluate visual --flickr8k flickr8k/ --embedding visual --json
    """
    from folioreel.evaluate.visual import EMBEDDINGS
    from folioreel.evaluate.visual import evaluate_visual as score_models

    with output.ProgressBars() as progress:
        found = score_models(flickr8k, embeddings or EMBEDDINGS, captioner, progress)
    if as_json:
        output.show_json(found)
    else:
        _show_visual(found, captioner)


def _show_visual(found: dict[str, Any], captioner: str) -> None:
    from folioreel.evaluate.visual import PUBLISHED, PUBLISHED_BLEU1

    rows: dict[str, Any] = dict(found["each"])
    if len(rows) > 1:
        rows[" + ".join(rows)] = found
    for way in ("image_to_sentence", "sentence_to_image"):
        output.show_line(f"{way.replace('_', ' ')}, {found['pictures']:,} pictures")
        columns = dict.fromkeys(found[way])
        output.show_table(
            [{"embedding": n, **columns, **row[way]} for n, row in (rows | PUBLISHED).items()]
        )
        output.show_line("")
    columns = dict.fromkeys(found["captions"])
    published = {"captioner": "Show and Tell (published)", **columns, "bleu1": PUBLISHED_BLEU1}
    output.show_table([{"captioner": captioner, **found["captions"]}, published])
