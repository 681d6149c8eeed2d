"""Align many films with their books: each row of a table, on any engine.

Rows are independent: one that fails is reported at the end, and one that an earlier run of the same
command has finished is kept, so a run that was stopped can be resumed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

from folioreel import __version__
from folioreel.alignment.aligner import Aligner, align
from folioreel.engines.batch import EngineName, Outcome, run_many
from folioreel.errors import FolioReelError, InputError
from folioreel.export.results import check_folder, write_results
from folioreel.files import make_folder, write_whole
from folioreel.ingest.source import read_bytes
from folioreel.json_input import parse_json
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.text import unguard_cell

_LAST = "alignment.json"  # written last: a folder that has it is complete
_REQUIRED = ("book", "film")
_COLUMNS = (*_REQUIRED, "name", "subtitles")


@dataclass(frozen=True, kw_only=True)
class PairTask:
    """One row: a film, its book, and the options of `align`."""

    name: str  # the name of the folder for its results
    book: Path
    film: Path
    subtitles: str | None
    config: ManyConfig


@dataclass(frozen=True, kw_only=True)
class ManyConfig:
    """The options of `align` for all pairs, and where the work runs."""

    preset: str = "default"
    encoder: str | None = None  # a sentence encoder to use instead of the preset's own
    shots: bool = True  # whether to look for shots in videos
    pictures: bool = True  # whether to look at what the shots show
    engine: EngineName = "local"
    workers: int | None = 1  # number of pairs aligned in parallel; see `run_many`
    force: bool = False  # whether to overwrite results of other files or options


@dataclass(frozen=True, kw_only=True)
class PairOutcome:
    """The outcome of one row."""

    name: str
    status: Literal["aligned", "kept", "failed"]  # `kept`: an earlier run had aligned it
    moments: int | None = None
    in_book: int | None = None  # number of moments that are in the book
    reason: str = ""  # why it failed


def align_many(
    table: Path | str,
    out: Path | str,
    config: ManyConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> tuple[PairOutcome, ...]:
    """Align each pair of a table, and write its results into a folder of its own.

    Args:
        table: A CSV or TSV file with the columns `book` and `film`, and optionally `name` and
            `subtitles`; paths are relative to the table.
        out: The folder for the results; each row gets a subfolder, called by its `name` or else
            after its film.
        config: The options; by default the preset `default`, on this machine.
        progress: Called as pairs are finished.

    Returns:
        The outcome of each row, in the table's order.
    """
    config, out = config or ManyConfig(), Path(out)
    Aligner.load(config.preset, config.encoder)  # a wrong one is refused before any work is done
    tasks = read_table(Path(table), config)
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
    for outcome in track(outcomes, "aligning pairs", progress, total=len(todo)):
        results[outcome.item.name] = _keep(out / outcome.item.name, outcome)
    return tuple(results[task.name] for task in tasks)


def align_pair(task: PairTask) -> dict[str, bytes]:
    """The results of one pair by file name; runs on any engine."""
    alignment = align(
        task.book,
        task.film,
        preset=task.config.preset,
        encoder=task.config.encoder,
        subtitles=task.subtitles,
        shots=task.config.shots,
        pictures=task.config.pictures,
    )
    with TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in write_results(alignment, Path(folder))}


def read_table(table: Path, config: ManyConfig) -> list[PairTask]:
    """The rows of a table, checked: no cell is missing, and no two rows share a name."""
    try:
        lines = read_bytes(table).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text; save the table as CSV in UTF-8", table) from error
    tabs = "\t" in (lines[0] if lines else "")
    rows = csv.DictReader(lines, delimiter="\t" if tabs else ",")
    try:
        columns = rows.fieldnames or []
    except csv.Error as error:
        raise InputError(f"cannot be read as a table ({error})", table, 1) from error
    missing = [name for name in _REQUIRED if name not in columns]
    unknown = [name for name in columns if name not in _COLUMNS]
    if missing or unknown:
        what = f"has no column {missing[0]}" if missing else f"has an unknown column {unknown[0]!r}"
        raise InputError(f"{what}; its first line should name {', '.join(_COLUMNS)}", table, 1)
    tasks: dict[str, PairTask] = {}
    for row in _rows(rows, table):
        task = _read_row(row, table, rows.line_num, config)
        if task.name in tasks:
            raise InputError(
                f"two rows are called {task.name}; add a column `name` with unique names",
                table,
                rows.line_num,
            )
        tasks[task.name] = task
    if not tasks:
        raise InputError("has no rows; give a book and a film in each", table)
    return list(tasks.values())


def _rows(reader: csv.DictReader[str], table: Path) -> Iterator[dict[str, str | None]]:
    try:
        yield from cast(Iterator[dict[str, str | None]], reader)
    except csv.Error as error:  # a quotation mark that is never closed
        raise InputError(f"cannot be read as a table ({error})", table, reader.line_num) from error


def _read_row(row: dict[str, str | None], table: Path, line: int, config: ManyConfig) -> PairTask:
    cells = {name: unguard_cell((row.get(name) or "").strip()) for name in _COLUMNS}
    for name in _REQUIRED:
        if not cells[name]:
            raise InputError(f"has no {name} in this row", table, line)
    film = table.parent / cells["film"]
    name = cells["name"] or film.stem
    if Path(name).name != name or name.startswith("."):
        raise InputError(f"{name!r} cannot be the name of a folder", table, line)
    return PairTask(
        name=name,
        book=table.parent / cells["book"],
        film=film,
        subtitles=cells["subtitles"] or None,
        config=config,
    )


def _keep(folder: Path, outcome: Outcome[PairTask, dict[str, bytes]]) -> PairOutcome:
    """Write the results of a pair, `alignment.json` last."""
    name = outcome.item.name
    try:
        files = outcome.get()
    except FolioReelError as error:
        return PairOutcome(name=name, status="failed", reason=str(error))
    make_folder(folder)
    for file, data in sorted(files.items(), key=lambda item: item[0] == _LAST):
        write_whole(folder / file, data)
    return _describe(folder, name, "aligned")


def _is_done(folder: Path, task: PairTask) -> bool:
    """Whether an earlier run of this version aligned the same files with the same options."""
    if not (folder / _LAST).is_file():
        return False
    try:
        data = _read_alignment(folder)
    except InputError:
        if task.config.force:
            return False  # damaged, and about to be replaced
        raise
    for key, path in (("book", task.book), ("film", task.film)):
        there = path.stat().st_size if path.is_file() else None
        if (data[key].get("path"), data[key].get("bytes")) != (str(path), there):
            return False
    model, config = data["model"], task.config
    given = {"subtitles": task.subtitles}
    given |= {name: getattr(config, name) for name in ("encoder", "shots", "pictures")}
    options = model.get("options") or {}
    same = {name: options.get(name) for name in given} == given
    made_by = (model.get("preset"), model.get("package_version"))
    return same and made_by == (config.preset, __version__)


def _describe(folder: Path, name: str, status: Literal["aligned", "kept"]) -> PairOutcome:
    links = _read_alignment(folder)["links"]
    in_book = sum(bool(link["in_book"]) for link in links)
    return PairOutcome(name=name, status=status, moments=len(links), in_book=in_book)


@dataclass(frozen=True, kw_only=True)
class _InBook:
    in_book: bool


@dataclass(frozen=True, kw_only=True)
class _Alignment:
    """What of an alignment tells whether it is done."""

    book: dict[str, Any]
    film: dict[str, Any]
    model: dict[str, Any]
    links: list[_InBook]


def _read_alignment(folder: Path) -> dict[str, Any]:
    path = folder / _LAST
    try:
        return asdict(parse_json(read_bytes(path), _Alignment))
    except ValueError:
        raise InputError("is damaged; delete it, or use --force", path) from None
