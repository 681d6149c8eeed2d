"""Options that several commands share, each written once, and how groups list their commands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import output

if TYPE_CHECKING:
    from click.decorators import FC


# The library checks that a path exists and can be read: its messages say more than click's.


class _FilePath(click.Path):
    """A path that is not empty: `Path("")` would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name of a file is empty", param, ctx)
        return super().convert(value, param, ctx)


FILE = _FilePath(path_type=Path, readable=False)


def join(*options: Callable[[FC], FC]) -> Callable[[FC], FC]:
    """One decorator for several options, which `--help` lists in this order."""

    def decorate(command: FC) -> FC:
        for option in reversed(options):  # decorators apply from the bottom up
            command = option(command)
        return command

    return decorate


def out(help_text: str, **settings: Any) -> Callable[[FC], FC]:
    """`--out`: where results are written."""
    return click.option("--out", type=FILE, help=help_text, **{"metavar": "FOLDER", **settings})


def results(help_text: str, **settings: Any) -> Callable[[FC], FC]:
    """`--out`, `--force` and `--json`: results as files, and on stdout."""
    return join(out(help_text, **settings), force, json)


def books(help_text: str) -> Callable[[FC], FC]:
    """`--books`: where many books are read from."""
    return click.option("--books", type=FILE, required=True, metavar="FOLDER", help=help_text)


def number(
    name: str, default: int, help_text: str, kind: type | click.IntRange = int
) -> Callable[[FC], FC]:
    """An option that takes a whole number."""
    return click.option(
        name, type=kind, default=default, show_default=True, metavar="N", help=help_text
    )


def name(option: str, default: str, help_text: str, metavar: str = "NAME") -> Callable[[FC], FC]:
    """An option that takes the name of something, and shows its default."""
    return click.option(option, default=default, show_default=True, metavar=metavar, help=help_text)


def choice(name: str, values: list[str], help_text: str) -> Callable[[FC], FC]:
    """An option that takes one of some values, the first of them by default."""
    kind = click.Choice(values)
    return click.option(name, type=kind, default=values[0], show_default=True, help=help_text)


def encoder(help_text: str, **settings: Any) -> Callable[[FC], FC]:
    """`--encoder`: what turns sentences into vectors."""
    return click.option("--encoder", metavar="NAME|FOLDER", help=help_text, **settings)


def _switch_off(name: str, help_text: str) -> Callable[[FC], FC]:
    """`--no-NAME`, for what is done unless the user declines: the value is True without it."""
    # Not `flag_value=False`: versions of click disagree on what the default means then.
    return click.option(f"--no-{name}", name, is_flag=True, callback=_negate, help=help_text)


def _negate(context: click.Context, option: click.Parameter, given: bool) -> bool:
    return not given


def _moved_help(what: str, piece: str) -> str:
    return (
        f"The {what}, or its folder, if it has moved since it was aligned. "
        f"Repeat it for each {piece}, in order."
    )


json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    expose_value=False,  # output.py asks for it, so that no command has to
    callback=output.choose_json,
    help="Print the results as JSON.",
)
force = click.option("--force", is_flag=True, help="Overwrite existing results.")


def _one_or_several(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> str | list[str] | None:
    return list(given) if len(given) > 1 else given[0] if given else None


subtitles = click.option(
    "--subtitles",
    metavar="FILE|TRACK|LANGUAGE",
    multiple=True,
    callback=_one_or_several,
    help="Subtitles to use: a file, or a track of the video by number or language, or none; or "
    "burned, to read them in the picture (needs folioreel[ocr]); or speech, to recognise what is "
    "said (needs folioreel[speech]). Repeat it for the parts of a film, in order.",
)
language = click.option(
    "--language",
    metavar="LANGUAGE",
    help="Language of the film's dialogue, as a code or a name: fr, French (default: detected).",
)
book_language = click.option(
    "--book-language",
    metavar="LANGUAGE",
    help="Language of the book (default: what its file says, or detected).",
)
languages = join(language, book_language)
sync = _switch_off("sync", "Do not check the times of a subtitle file by the film's sound.")
_times = join(
    click.option(
        "--offset",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="Shift the subtitles: -2.4 if they are 2.4 s late.",
    ),
    click.option(
        "--fps",
        metavar="FROM:TO",
        help="Stretch subtitles that were timed for another frame rate, such as 25:23.976.",
    ),
    click.option(
        "--stretch", type=float, metavar="FACTOR", help="Multiply the times of the subtitles."
    ),
    sync,
)
no_shots = _switch_off("shots", "Do not decode the video; use the dialogue only.")
watching = join(no_shots, _switch_off("pictures", "Find the shots, but ignore what they show."))
preset = name(
    "--preset",
    "auto",
    "Alignment method: auto, which chooses one of default, multilingual, words and across by the "
    "languages of film and book; one of these; fast; paper; paper-literal; or the folder of a "
    "trained preset.",
    "NAME|FOLDER",
)
# The names of the parameters are those of `folioreel.align`, which is called with them.
method = join(
    preset,
    encoder("Sentence encoder to use instead of the preset's own, such as minilm."),
    watching,
)
# Skimming a book takes moments and aligning it takes seconds or more: a longer list finds books
# whose words and names are unlike the film's, and costs time in proportion.
shortlist = number("--shortlist", 8, "Number of books to align, chosen by similar words and names.")
workers = click.option(
    "--workers", type=int, metavar="N", help="Number of parallel jobs (default: one per core)."
)
engine = choice(
    "--engine",
    ["local", "ray"],
    "Run on this machine, or on a Ray cluster (needs folioreel[ray]).",
)
parallel = join(engine, workers)
minutes = click.option(
    "--minutes", type=float, metavar="M", help="Stop after M minutes; run again to continue."
)
device = choice(
    "--device", ["auto", "cpu", "cuda"], "Where to compute; auto uses a GPU if there is one."
)
moved = join(
    click.option("--book", type=FILE, multiple=True, help=_moved_help("book", "volume")),
    click.option("--film", type=FILE, multiple=True, help=_moved_help("film", "part")),
)


def timing(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--offset`, `--fps`, `--stretch` and `--no-sync`, as the parameter `timing`."""

    @_times
    @functools.wraps(command)
    def with_timing(
        *, offset: float, fps: str | None, stretch: float | None, sync: bool, **rest: Any
    ) -> Any:
        from folioreel.ingest.sync import Timing, parse_rates

        if fps is not None and stretch is not None:
            raise click.UsageError("--fps and --stretch are the same thing; give one of them")
        factor = parse_rates(fps) if fps is not None else 1.0 if stretch is None else stretch
        return command(timing=Timing(offset_s=offset, stretch=factor, sync=sync), **rest)

    return with_timing


_speech_model = click.option(
    "--speech-model",
    metavar="NAME|FOLDER",
    help="Whisper model that listens: tiny, base, small, medium, large-v3, turbo …, which is "
    "downloaded unless it is here, or a folder (default: base, of folioreel[speech]).",
)
_speech_language = click.option(
    "--speech-language", metavar="LANGUAGE", help="Language that is spoken (default: detected)."
)


def speech(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--speech-model` and `--speech-language`, as the parameter `speech`."""

    @_speech_model
    @_speech_language
    @functools.wraps(command)
    def with_speech(*, speech_model: str | None, speech_language: str | None, **rest: Any) -> Any:
        from folioreel.config import SpeechConfig

        return command(speech=SpeechConfig(model=speech_model, language=speech_language), **rest)

    return with_speech


class CommandGroup(click.Group):
    """Lists commands in the order they were added, in sections, with their whole summaries."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.sections: dict[str, list[str]] = {}

    def add_section(self, title: str, *commands: click.Command) -> None:
        """Add commands that are listed under a heading of their own."""
        for command in commands:
            self.add_command(command)
        self.sections[title] = [command.name or "" for command in commands]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands; click would sort them."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands; click would cut long summaries with an ellipsis."""
        for title, names in (self.sections or {"Commands": list(self.commands)}).items():
            with formatter.section(title):
                # A limit no summary reaches: the formatter wraps what is too long for a line.
                shown = [name for name in names if not self.commands[name].hidden]
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(1000)) for name in shown]
                )
