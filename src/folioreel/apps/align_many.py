"""Align many films with their books: each row of a table, on any engine.

Rows are independent: one that fails is reported at the end, and one that an earlier run of the same
command has finished is kept, so a run that was stopped can be resumed.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any, Literal

from folioreel import __version__
from folioreel.alignment.align import align
from folioreel.alignment.aligner import Aligner
from folioreel.apps.many_summary import (
    INDEX,
    TABLE,
    PairOutcome,
    check_summary,
    write_summary,
)
from folioreel.engines.batch import EngineName, Outcome, count_cores, run_many
from folioreel.errors import FolioReelError, InputError
from folioreel.export.estimates import estimate_share
from folioreel.export.results import check_folder, write_results
from folioreel.files import (
    is_unfinished,
    make_folder,
    scratch_folder,
    write_whole,
    writing_together,
)
from folioreel.ingest.book import list_volumes
from folioreel.ingest.dialogue_source import is_file_name
from folioreel.ingest.film import list_parts
from folioreel.ingest.several import share_title
from folioreel.ingest.source import read_bytes
from folioreel.ingest.sync import Timing
from folioreel.ingest.tables import read_rows
from folioreel.json_input import parse_json
from folioreel.language import check_names
from folioreel.models.presets import AUTO
from folioreel.models.sentence_encoder import load_encoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.reading import is_file, is_folder

_log = logging.getLogger(__name__)
_LAST = "alignment.json"  # written last: a folder that has it is complete
_REQUIRED = ("book", "film")
_LONGEST_NAME = 200  # bytes; file systems take 255, and what is unfinished has a longer name
_COLUMNS = (*_REQUIRED, "name", "subtitles", "language", "book_language")
# Between several files in a cell: no table is separated by it, and Windows forbids it in names.
_SEPARATOR = "|"


@dataclass(frozen=True, kw_only=True)
class PairTask:
    """One row: a film, its book, and the options of `align`."""

    name: str  # the name of the folder for its results
    title: str  # of the film, if the table has names; empty for its own
    book: tuple[Path, ...]  # its volumes, and the parts of the film; each may be a folder
    film: tuple[Path, ...]
    subtitles: str | list[str | None] | None  # a list has one for each part
    language: str | None  # of the film's words and of the book, if the row gives them
    book_language: str | None
    config: ManyConfig


@dataclass(frozen=True, kw_only=True)
class ManyConfig:
    """The options of `align` for all pairs, and where the work runs."""

    preset: str = AUTO
    encoder: str | None = None  # a sentence encoder to use instead of the preset's own
    language: str | None = None  # of the films and books whose row gives none
    book_language: str | None = None
    sync: bool = True  # whether to check the times of subtitle files by the films' sound
    shots: bool = True  # whether to look for shots in videos
    pictures: bool = True  # whether to look at what the shots show
    engine: EngineName = "local"
    workers: int | None = 1  # number of pairs aligned in parallel; see `run_many`
    force: bool = False  # whether to overwrite results of other files or options


def align_many(
    table: Path | str,
    out: Path | str,
    config: ManyConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> tuple[PairOutcome, ...]:
    """Align each pair of a table, and write its results into a folder of its own.

    Args:
        table: A CSV (commas or semicolons) or TSV file with the columns `book` and `film`, and
            optionally `name`, `subtitles`, `language` and `book_language`; paths are relative to
            the table. Volumes, parts and their subtitles are separated by `|`.
        out: The folder for the results; each row gets a subfolder, called by its `name` or else
            after its film.
        config: The options; by default each pair has the preset for its languages, and the work
            runs on this machine.
        progress: Called as pairs are finished.

    Returns:
        The outcome of each row, in the table's order; `index.html` and `summary.csv` have them too.
    """
    config, out = config or ManyConfig(), Path(out)
    # A wrong name is refused before any work is done.
    if config.preset != AUTO:
        Aligner.load(config.preset, config.encoder)
    elif config.encoder is not None:
        load_encoder(config.encoder)
    check_names(config.language, config.book_language)
    tasks = read_table(Path(table), config)
    check_summary(out, force=config.force)
    results: dict[str, PairOutcome] = {}
    todo: list[PairTask] = []
    for task in tasks:
        try:
            if _is_done(out / task.name, task):
                results[task.name] = _describe(out / task.name, task.name, "kept")
            else:
                check_folder(out / task.name, force=config.force)
                todo.append(task)
        except InputError as error:
            results[task.name] = PairOutcome(name=task.name, status="failed", reason=str(error))
    outcomes = run_many(align_pair, todo, engine=config.engine, workers=config.workers)
    left = [task.name for task in todo]
    _report(left, len(todo), config, progress)
    for outcome in outcomes:
        results[outcome.item.name] = _keep(out / outcome.item.name, outcome)
        left.remove(outcome.item.name)
        _report(left, len(todo), config, progress)
    found = tuple(results[task.name] for task in tasks)
    write_summary(found, out)
    return found


def _report(left: list[str], total: int, config: ManyConfig, progress: ProgressCallback) -> None:
    """Name the pairs that are being aligned: engines start them in order, one for each worker."""
    running = ", ".join(left[: config.workers or count_cores()])
    done = total - len(left)
    progress(Progress(stage="aligning pairs", done=done, total=total, name=running))


def align_pair(task: PairTask) -> dict[str, bytes]:
    """The results of one pair by path in its folder; runs on any engine."""
    gc.collect()  # drawings refer to themselves: those of a hundred pairs would wait to be freed
    with _named_warnings(task.name) as reported:
        alignment = align(
            task.book,
            task.film,
            preset=task.config.preset,
            encoder=task.config.encoder,
            subtitles=task.subtitles,
            **_languages(task),
            timing=Timing(sync=task.config.sync),
            shots=task.config.shots,
            pictures=task.config.pictures,
        )
        reported += alignment.warnings
    if task.title:
        alignment = replace(alignment, film=replace(alignment.film, title=task.title))
    with scratch_folder() as folder:
        files = write_results(alignment, folder)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@contextmanager
def _named_warnings(name: str) -> Iterator[list[str]]:
    """Warn of a pair by its name, except of what is put into the list: its outcome says that."""
    logger, held = logging.getLogger("folioreel"), BufferingHandler(10**6)
    before = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [held], False
    reported: list[str] = []
    try:
        yield reported
    finally:
        logger.handlers, logger.propagate = before
        for record in held.buffer:
            if record.levelno >= logging.WARNING and record.getMessage() not in reported:
                _log.warning(f"{name}: {record.getMessage()}")


def read_table(table: Path, config: ManyConfig) -> list[PairTask]:
    """The rows of a table, checked: no cell is missing, and no two rows share a name."""
    rows = read_rows(table)
    columns = [cell.strip().lower() for cell in rows[0].cells] if rows else []
    missing = [name for name in _REQUIRED if name not in columns]
    unknown = [name for name in columns if name not in _COLUMNS]
    if missing or unknown:
        what = f"has no column {missing[0]}" if missing else f"has an unknown column {unknown[0]!r}"
        raise InputError(f"{what}; its first line should name {', '.join(_COLUMNS)}", table, 1)
    tasks: dict[str, PairTask] = {}
    for row in rows[1:]:
        cells = dict(zip(columns, row.cells, strict=False))
        task = _read_row(cells, table, row.line, config)
        if task.name in tasks:
            names = "in the column `name`" if "name" in columns else "with a column `name`"
            message = f"two rows are called {task.name}; give each row a name of its own {names}"
            raise InputError(message, table, row.line)
        tasks[task.name] = task
    if not tasks:
        raise InputError("has no rows; give a book and a film in each", table)
    return list(tasks.values())


def _read_row(row: dict[str, str], table: Path, line: int, config: ManyConfig) -> PairTask:
    cells = {name: row.get(name, "").strip() for name in _COLUMNS}
    book, film = (_read_paths(cells[name], table.parent) for name in _REQUIRED)
    for name, paths in zip(_REQUIRED, (book, film), strict=True):
        if not paths:
            raise InputError(f"has no {name} in this row", table, line)
    name = cells["name"] or _name_folder(film)
    if not _is_folder_name(name):
        raise InputError(f"{name!r} cannot be the name of a folder", table, line)
    return PairTask(
        name=name,
        title=cells["name"],
        book=book,
        film=film,
        subtitles=_read_subtitles(cells["subtitles"], table.parent),
        language=cells["language"] or None,
        book_language=cells["book_language"] or None,
        config=config,
    )


def _is_folder_name(name: str) -> bool:
    is_plain = Path(name).name == name and not name.startswith(".") and "\0" not in name
    is_plain = is_plain and name.lower() not in (INDEX, TABLE)  # which lie beside the folders
    return is_plain and len(name.encode(errors="replace")) <= _LONGEST_NAME


def _read_paths(cell: str, folder: Path) -> tuple[Path, ...]:
    """The files in a cell; a file whose own name has the separator is taken as it is."""
    if cell and (is_file(folder / cell) or is_folder(folder / cell)):
        return (folder / cell,)
    return tuple(folder / one.strip() for one in cell.split(_SEPARATOR) if one.strip())


def _read_subtitles(cell: str, folder: Path) -> str | list[str | None] | None:
    """What is wanted for each part, nothing where a place is empty; or one for all of them."""
    whole = is_file(folder / cell)
    given = [one.strip() for one in ([cell] if whole else cell.split(_SEPARATOR))]
    wanted = [str(folder / one) if is_file_name(one, folder) else one or None for one in given]
    return wanted if len(wanted) > 1 else wanted[0]


def _name_folder(film: tuple[Path, ...]) -> str:
    """The folder for results: named after the film's file or folder, or what its parts share."""
    if len(film) == 1:
        return film[0].name if is_folder(film[0]) else film[0].stem
    return share_title([path.stem for path in film], film)[0]


def _keep(folder: Path, outcome: Outcome[PairTask, dict[str, bytes]]) -> PairOutcome:
    """Write the results of a pair, `alignment.json` last."""
    name = outcome.item.name
    try:
        files = outcome.get()
        with writing_together(folder, {Path(file).parts[0] for file in files}):
            for file, data in sorted(files.items(), key=lambda item: item[0] == _LAST):
                make_folder((folder / file).parent)
                write_whole(folder / file, data)
    except FolioReelError as error:
        return PairOutcome(name=name, status="failed", reason=str(error))
    return _describe(folder, name, "aligned")


def _is_done(folder: Path, task: PairTask) -> bool:
    """Whether an earlier run of this version aligned the same files with the same options."""
    if is_unfinished(folder) or not (folder / _LAST).is_file():
        return False
    try:
        data = _read_alignment(folder)
    except InputError:
        if task.config.force:
            return False  # damaged, and about to be replaced
        raise
    files = ((data.book, list_volumes(task.book)), (data.film, list_parts(task.film)))
    for record, paths in files:
        recorded = record.volumes or record.parts or [record]
        there = [(str(path), path.stat().st_size if is_file(path) else None) for path in paths]
        if [(file.path, file.bytes) for file in recorded] != there:
            return False
    config, options = task.config, data.model.options or _Options()
    same = options.subtitles == task.subtitles
    for name, language in _languages(task).items():
        same &= getattr(options, name) == language
    for name in ("preset", "encoder", "shots", "pictures"):
        same &= getattr(options, name) == getattr(config, name)
    same &= (options.timing or {}).get("sync", True) == config.sync
    return same and data.model.package_version == __version__


def _languages(task: PairTask) -> dict[str, Any]:
    """The languages of a row, or those of all rows where it gives none."""
    return {
        "language": task.language or task.config.language,
        "book_language": task.book_language or task.config.book_language,
    }


def _describe(folder: Path, name: str, status: Literal["aligned", "kept"]) -> PairOutcome:
    data = _read_alignment(folder)
    spoken = [link for link in data.links if link.kind == "dialogue"]
    scores = [link.score for link in spoken]
    return PairOutcome(
        name=name,
        status=status,
        book=data.book.title,
        minutes=data.film.duration_s / 60,
        lines=len(spoken),
        share=estimate_share([1.0] * len(scores), scores, [False] * len(scores)),
        moments=len(data.links),
        in_book=sum(link.in_book for link in data.links),
        reason="; ".join(data.warnings),
    )


@dataclass(frozen=True, kw_only=True)
class _File:
    path: str | None = None
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class _Files(_File):
    title: str
    duration_s: float = 0.0  # of a film
    volumes: list[_File] = field(default_factory=list)
    parts: list[_File] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Options:
    subtitles: Any = None
    language: Any = None
    book_language: Any = None
    preset: Any = None
    encoder: Any = None
    shots: Any = None
    pictures: Any = None
    timing: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class _Model:
    package_version: str | None = None
    options: _Options | None = None


@dataclass(frozen=True, kw_only=True)
class _Link:
    in_book: bool
    kind: str
    score: float


@dataclass(frozen=True, kw_only=True)
class _Alignment:
    """What of an alignment tells whether it is done, and what there is to say about it."""

    book: _Files
    film: _Files
    model: _Model
    links: list[_Link]
    warnings: list[str] = field(default_factory=list)


def _read_alignment(folder: Path) -> _Alignment:
    path = folder / _LAST
    try:
        return parse_json(read_bytes(path), _Alignment)
    except ValueError:
        raise InputError("is damaged; delete it, or use --force", path) from None
