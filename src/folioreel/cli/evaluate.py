"""`evaluate`: alignments of judged pairs, or one part of the method by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from folioreel.cli import options, output
from folioreel.errors import ConfigError, InputError
from folioreel.files import check_output_file, check_output_folder

if TYPE_CHECKING:
    from folioreel.evaluate.dataset import Pair
    from folioreel.evaluate.report import PairResult
    from folioreel.types import Alignment

# As in evaluate/baselines.py, which is not imported here: `--help` should not wait for NumPy.
_BASELINES = "uniform tfidf tfidf-monotone bm25 bm25-monotone encoder encoder-monotone".split()


class _DatasetOrCommand(options.CommandGroup):
    """A group whose first argument may be a folder: whatever is not a command is a dataset."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The named command, or else the one for datasets, with all arguments."""
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
    """Usage lines say `folioreel evaluate`, without a blank for the missing command name."""

    @property
    def command_path(self) -> str:
        """The words before the arguments."""
        return super().command_path.rstrip()


@click.command("DATASET")
@click.argument("dataset", type=options.FILE)
@options.method
@click.option(
    "--leave-one-out", is_flag=True, help="Score each pair with a preset trained on the others."
)
@click.option("--baseline", type=click.Choice(_BASELINES), help="Score this instead of a preset.")
@click.option("--compare", metavar="NAME", help="Also show the gain over a preset or baseline.")
@click.option(
    "--group",
    "groups",
    metavar="NAME PAIR[,PAIR]...",
    type=(str, str),
    multiple=True,
    help="Also show the mean over these pairs; may be repeated.",
)
@click.option(
    "--picture",
    type=options.FILE,
    metavar="FILE.png|FILE.svg",
    help="Also draw right, wrong and missed links of one pair: film against book.",
)
@options.results("Folder for tables, plots and all the figures.")
def evaluate_pairs(
    dataset: Path,
    compare: str | None,
    groups: tuple[tuple[str, str], ...],
    picture: Path | None,
    out: Path | None,
    force: bool,
    **method: Any,
) -> None:
    """Align each judged pair in DATASET (a folder of folders) and score it.

    A dataset with the name of a command needs its path: ./sentences.

    \b
    Examples:
      folioreel evaluate pairs/
      folioreel evaluate pairs/ --encoder minilm --out report
      folioreel evaluate pairs/ --leave-one-out --encoder minilm
      folioreel evaluate pairs/ --leave-one-out --group close old-scrooge,the-devil
      folioreel evaluate pairs/ --compare bm25-monotone
      folioreel evaluate pairs/old-scrooge --json
      folioreel evaluate pairs/old-scrooge --picture old-scrooge.png
    """
    from folioreel.evaluate import report

    _check_options(method["leave_one_out"], method["baseline"])
    members = {name: pairs.split(",") for name, pairs in groups}
    if members or method["leave_one_out"]:
        _check_pairs(dataset, members)
    if out is not None:
        check_output_folder(out, force=force)
    if picture is not None:
        _check_picture(dataset, picture, force=force)
    results, others = _align_pairs(dataset, compare, picture, **method)
    rows = report.make_rows(results, members)
    gains = report.compare_results(results, others, members) if others else []
    files = report.write_report(rows, out) if out is not None else []
    files += [picture] if picture is not None else []
    compared = {"rows": rows, "compared_with": compare, "gains": gains}
    output.show_json(compared if gains else rows)
    _show_report(rows, gains, compare)
    output.show_written(*files)


evaluate_pairs.context_class = _NamelessContext


def _align_pairs(
    dataset: Path,
    compare: str | None,
    picture: Path | None,
    *,
    preset: str,
    encoder: str | None,
    baseline: str | None,
    leave_one_out: bool,
    **watching: Any,
) -> tuple[list[PairResult], list[PairResult]]:
    """How the pairs turned out, with the chosen method and with the one to compare with."""
    from folioreel.evaluate import report
    from folioreel.train import positions

    # Both methods are opened first: a wrong name should not cost an evaluation.
    system = report.make_system(baseline or preset, encoder, **watching)
    other = report.make_system(compare, **watching) if compare else None
    with output.show_progress() as progress:
        if leave_one_out:
            reading: dict[str, Any] = {"encoder": encoder, "shots": watching["shots"]}
            judged = positions.read_judged(dataset, progress, **reading)
            results = positions.leave_one_out(judged, progress=progress, **watching)
        else:
            see = _drawing(picture) if picture is not None else None
            results = report.evaluate_system(dataset, system, progress, see)
        return results, report.evaluate_system(dataset, other, progress) if other else []


def _drawing(path: Path) -> Callable[[Pair, Alignment], None]:
    from folioreel.evaluate.truth_picture import write_truth_picture

    return lambda pair, alignment: write_truth_picture(pair, alignment, path)


def _check_picture(dataset: Path, path: Path, *, force: bool) -> None:
    """Refuse what cannot be drawn or written, before the work."""
    from folioreel.evaluate.dataset import find_pairs
    from folioreel.evaluate.truth_picture import check_picture

    check_picture(path)
    if len(find_pairs(dataset)) > 1:
        problem = "holds several pairs, and --picture draws one; give the folder of a single pair"
        raise InputError(problem, dataset)
    check_output_file(path, force=force)


def _show_report(
    rows: list[dict[str, Any]], gains: list[dict[str, Any]], compare: str | None
) -> None:
    from folioreel.evaluate import report

    output.show_table(report.table_rows(rows))
    intervals = "95 % intervals, by bootstrap over the judged lines:"
    output.show_below(intervals, report.interval_rows(rows))
    output.show_below("judged silent shots:", report.shot_rows(rows))
    output.show_below(f"gain over {compare}, with 95 % intervals:", report.gain_rows(gains))


def _check_options(leave_one_out: bool, baseline: str | None) -> None:
    """Refuse options that would be ignored."""
    option, unused = f"--baseline {baseline}", ["preset"] if baseline else []
    if baseline and not baseline.startswith("encoder"):
        unused = ["encoder", "preset"]
    if leave_one_out:
        option, unused = "--leave-one-out", ["baseline", "preset"]
    for name in unused:
        source = click.get_current_context().get_parameter_source(name)
        if source is not ParameterSource.DEFAULT:
            raise ConfigError(f"{option} does not use --{name}; leave one of them out")


def _check_pairs(dataset: Path, groups: dict[str, list[str]]) -> None:
    """Refuse groups of pairs that do not exist, and means over a single pair."""
    from folioreel.evaluate.dataset import find_pairs

    pairs = [folder.resolve().name for folder in find_pairs(dataset)]
    if len(pairs) < 2:
        problem = "holds a single pair; --leave-one-out and --group need two or more"
        raise InputError(problem, dataset)
    for name in (pair for group in groups.values() for pair in group):
        if name not in pairs:
            raise ConfigError(f"--group: there is no pair {name!r}; there are {', '.join(pairs)}")


@click.group(
    cls=_DatasetOrCommand,
    subcommand_metavar="DATASET | COMMAND [ARGS]...",
    # The options of a dataset may stand before it, as in `evaluate --json pairs/`.
    context_settings={"ignore_unknown_options": True},
)
def evaluate() -> None:
    """Score alignments of judged pairs, or one part of the method by itself.

    With DATASET (a judged pair, or a folder of them), align each pair and score the links; a film
    with a video is watched. With a COMMAND, score that part.

    \b
    Examples:
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
    help="Sentence encoder, by name or folder; may be repeated (default: all).",
)
@options.json
def evaluate_sentences(sick: Path, encoders: tuple[str, ...]) -> None:
    """Score sentence encoders on SICK: relatedness of sentence pairs as people judged it.

    \b
    Examples:
      folioreel evaluate sentences --sick sick/
      folioreel evaluate sentences --sick sick/ --encoder skip-thought --json
    """
    from folioreel.evaluate.sentences import evaluate_sentences as score_encoders

    with output.show_progress() as progress:
        rows = score_encoders(sick, encoders or None, progress)
    output.show_json(rows)
    output.show_table(rows)


@evaluate.command("visual")
@click.option(
    "--flickr8k", type=options.FILE, required=True, help="Folder of the Flickr8k dataset."
)
@click.option(
    "--embedding",
    "embeddings",
    metavar="NAME",
    multiple=True,
    help="Embedding, by name or folder; may be repeated to add up scores (default: visual, scene).",
)
@options.name("--captioner", "captioner", "Captioner, by name or folder.")
@options.json
def evaluate_visual(flickr8k: Path, embeddings: tuple[str, ...], captioner: str) -> None:
    """Score image-sentence embeddings and a captioner on the test pictures of Flickr8k.

    \b
    Examples:
      folioreel evaluate visual --flickr8k flickr8k/
      folioreel evaluate visual --flickr8k flickr8k/ --embedding visual --json
    """
    from folioreel.evaluate import visual

    with output.show_progress() as progress:
        found = visual.evaluate_visual(
            flickr8k, embeddings or visual.EMBEDDINGS, captioner, progress
        )
    output.show_json(found)
    for title, rows in visual.tables(found, captioner).items():
        output.show_line(title)
        output.show_table(rows)
