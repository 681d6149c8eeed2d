"""Reports as HTML and Markdown: sections of text, drawings and tables, each written once."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from folioreel.export.estimates import Estimate, spaced_percent
from folioreel.export.tables import write_rows
from folioreel.files import check_output_folder, write_text, writing_together
from folioreel.language import html_language
from folioreel.text import squeeze

_PAGE = Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))


class Linked(str):
    """Text of a cell that is a link on a page."""

    href: str

    def __new__(cls, text: str, href: str) -> Linked:
        """The text, and the address that it leads to."""
        linked = super().__new__(cls, text)
        linked.href = href
        return linked


TAU = "Kendall’s_τ"
"""The name of a column of coefficients, which have two digits after the point."""
Cell = str | int | float | Estimate | None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows with the same columns; a column's name says its unit."""

    name: str  # of its CSV file
    rows: tuple[dict[str, Cell], ...]
    columns: tuple[str, ...] = ()
    """What its CSV file has if there are no rows."""
    most: int | None = None
    """How many rows a page shows; the CSV file has all."""
    languages: Mapping[str, str | None] = field(default_factory=dict)
    """The language of each column that quotes the film or the book."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading with what stands below it."""

    title: str
    text: str = ""
    figures: tuple[tuple[str, str], ...] = ()  # a figure in words, and what it says
    drawing: tuple[str, str] | None = None  # the name of its file, and the SVG
    table: Table | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """A whole report."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]


def write_report_files(report: Report, folder: Path, stem: str, *, force: bool) -> list[Path]:
    """Write a report as HTML and Markdown, its tables as CSV and its drawings as SVG."""
    tables = [section.table for section in report.sections if section.table]
    drawings = [section.drawing for section in report.sections if section.drawing]
    names = [f"{stem}.html", f"{stem}.md", *(f"{table.name}.csv" for table in tables)]
    names += [f"{name}.svg" for name, _ in drawings]
    check_output_folder(folder, names, force=force)
    with writing_together(folder, names):
        for table in tables:
            write_rows(flat_rows(table), folder / f"{table.name}.csv", table.columns)
        for name, svg in drawings:
            write_text(folder / f"{name}.svg", svg)
        write_text(folder / f"{stem}.md", to_markdown(report))
        write_text(folder / f"{stem}.html", to_html(report))
    return [folder / name for name in names]


def percent(share: Estimate | None) -> str:
    """A share and its interval, as `72 % (58–86 %)`."""
    return "–" if share is None else share.percent()


def number(value: Estimate, digits: int = 0) -> str:
    """A number and its interval."""
    return f"{value.value:,.{digits}f} ({value.low:,.{digits}f}–{value.high:,.{digits}f})"


def coefficient(value: Estimate) -> str:
    """A number from -1 to 1 and its interval, as `0.62 (0.55 to 0.70)`."""
    return _minus(f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})")


def _minus(text: str) -> str:
    """Numbers as they are printed: with a minus sign instead of a hyphen."""
    return text.replace("-", "−")


def to_html(report: Report) -> str:
    """The report as one page that needs nothing else, for the screen and for paper."""
    return _PAGE.substitute(
        title=html.escape(report.title),
        subtitle=html.escape(report.subtitle),
        sections="\n".join(map(_section_html, report.sections)),
    )


def _section_html(section: Section) -> str:
    parts = [f"<section><h2>{html.escape(section.title)}</h2>"]
    if section.text:
        parts.append(f"<p>{html.escape(section.text)}</p>")
    if section.figures:
        tiles = (
            f"<div><strong>{html.escape(figure)}</strong><span>{html.escape(says)}</span></div>"
            for figure, says in section.figures
        )
        parts.append(f'<div class="figures">{"".join(tiles)}</div>')
    if section.drawing:
        parts.append(f'<figure tabindex="0">{section.drawing[1]}</figure>')
    if section.table and section.table.rows:
        parts.append(_table_html(section.table))
    if section.note:
        parts.append(f'<p class="note">{html.escape(section.note)}</p>')
    return "".join([*parts, "</section>"])


def _table_html(table: Table) -> str:
    shown = table.rows[: table.most]
    kinds = {name: _kind(name, cell) for name, cell in table.rows[0].items()}
    head = "".join(
        f'<th class="{kind}">{html.escape(_heading(name))}</th>' for name, kind in kinds.items()
    )
    body = ""
    for row in shown:
        cells = (
            f'<td class="{kinds[name]}"{html_language(table.languages.get(name))}>'
            f"{_cell_html(name, cell)}</td>"
            for name, cell in row.items()
        )
        body += f"<tr>{''.join(cells)}</tr>"
    return (
        '<div class="table" tabindex="0"><table>'  # a keyboard scrolls what can have the focus
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{_more(table)}"
    )


def _cell_html(name: str, cell: Cell) -> str:
    text = html.escape(_cell(name, cell))
    return f'<a href="{html.escape(cell.href)}">{text}</a>' if isinstance(cell, Linked) else text


def _kind(name: str, cell: Cell) -> str:
    """The class of a column: numbers stand to the right, times and places are not broken."""
    if not isinstance(cell, str):
        return "number"
    return "short" if name in ("from", "film", "place") else "text"


def _more(table: Table) -> str:
    left = len(table.rows) - len(table.rows[: table.most])
    return f'<p class="note">{left} more in {table.name}.csv.</p>' if left else ""


def to_markdown(report: Report) -> str:
    """The report as Markdown, with its drawings beside it."""
    lines = [f"# {report.title}", "", report.subtitle, ""]
    for section in report.sections:
        lines += [f"## {section.title}", ""]
        if section.text:
            lines += [section.text, ""]
        lines += [f"- **{figure}** {says}" for figure, says in section.figures]
        if section.figures:
            lines.append("")
        if section.drawing:
            lines += [f"![{section.title}]({section.drawing[0]}.svg)", ""]
        if section.table and section.table.rows:
            lines += _table_markdown(section.table)
        if section.note:
            lines += [section.note, ""]
    return "\n".join(lines)


def _table_markdown(table: Table) -> list[str]:
    shown = table.rows[: table.most]
    names = list(table.rows[0])
    rule = ["---" if isinstance(table.rows[0][name], str) else "---:" for name in names]
    cells = [[_cell(name, cell).replace("|", "\\|") for name, cell in row.items()] for row in shown]
    rows = [" | ".join(row) for row in [list(map(_heading, names)), rule, *cells]]
    left = len(table.rows) - len(shown)
    more = [f"{left} more in `{table.name}.csv`.", ""] if left else []
    return [*(f"| {row} |" for row in rows), "", *more]


def _heading(name: str) -> str:
    return name.replace("_", " ")


def _cell(name: str, cell: Cell) -> str:
    """A cell as people read it: shares in percent, numbers with few digits."""
    if cell is None:
        return "–"
    if isinstance(cell, Estimate):
        if name == TAU:
            return coefficient(cell)
        is_share = "share" in name or name.startswith("kept")
        return percent(cell) if is_share else number(cell, 1 if cell.high < 100 else 0)
    if isinstance(cell, float):
        return spaced_percent(cell) if "chance" in name else _minus(f"{cell:,.0f}")
    return _minus(f"{cell:,}") if isinstance(cell, int) else squeeze(cell)


def flat_rows(table: Table) -> list[dict[str, Any]]:
    """The rows for CSV and JSON: an estimate takes three columns."""
    wide = {name for row in table.rows for name, cell in row.items() if isinstance(cell, Estimate)}
    return [_flat(row, wide) for row in table.rows]


def _flat(row: dict[str, Cell], wide: set[str]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, cell in row.items():
        if name in wide:
            known = (cell.value, cell.low, cell.high) if isinstance(cell, Estimate) else [None] * 3
            for end, value in zip(("", "_low", "_high"), known, strict=True):
                flat[name + end] = None if value is None else round(value, 4)
        else:
            flat[name] = round(cell, 4) if isinstance(cell, float) else cell
    return flat


def as_json(sections: Sequence[Section]) -> dict[str, Any]:
    """All tables of a report, for --json."""
    tables = [section.table for section in sections if section.table]
    return {table.name: flat_rows(table) for table in tables}
