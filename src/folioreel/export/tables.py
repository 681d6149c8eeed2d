"""The alignment for other tools: tables, WebVTT with JSON payloads, SRT of passages."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from folioreel.errors import ConfigError
from folioreel.export.alignment_json import alignment_to_dict
from folioreel.export.formats import FORMATS
from folioreel.files import replacing, write_text
from folioreel.text import cut_text, guard_cell, join_sentences, wrap_lines
from folioreel.times import format_timestamp
from folioreel.types import Alignment, Book, Link

if TYPE_CHECKING:
    import pandas as pd

_SPANNED = ("moment", "sentence")  # what a judgement can have several of
_SRT_WIDTH = 60  # characters of a subtitle line
_LONGEST_PASSAGE = 240  # characters of a passage that fit on screen as a subtitle: four lines of 60


def table_rows(alignment: Alignment) -> list[dict[str, Any]]:
    """One row per moment: the fields of `alignment.json`, and the words of the passage.

    A cell holds one value, so there are no alternatives.
    """
    rows = [_flatten(link) for link in alignment_to_dict(alignment)["links"]]
    parts, volumes = alignment.film.parts, alignment.book.volumes
    for row, link in zip(rows, alignment.links, strict=True):
        del row["alternatives"]
        row["chapter_title"] = alignment.book.chapters[row["chapter"]].title
        row["passage"] = _words_of(alignment.book, link.sentences)
        if parts:
            row["part_title"] = parts[row["part"]].title
        if volumes:
            row["volume_title"] = volumes[row["volume"]].title
    return rows


def _flatten(link: dict[str, Any]) -> dict[str, Any]:
    """A link with its annotation as columns; empty ones of a link that was not judged."""
    row: dict[str, Any] = {}
    for name, value in link.items():
        if name != "annotation":
            row[name] = value
            continue
        said = value or {}
        row["judged_kind"], row["note"] = said.get("kind"), said.get("note") or None
        row["first_moment"], row["last_moment"] = said.get("moments") or (None, None)
        row["first_sentence"], row["last_sentence"] = said.get("sentences") or (None, None)
    return row


def _words_of(book: Book, sentences: range) -> str:
    return join_sentences(book.sentences[j].text for j in sentences)


def write_csv(alignment: Alignment, path: Path) -> None:
    """The rows as CSV, under a line of column names; see `guard_cell` for lines like `- Yes.`."""
    write_rows(table_rows(alignment), path)


def write_rows(rows: list[dict[str, Any]], path: Path, columns: Sequence[str] = ()) -> None:
    """Rows with the same columns as CSV; `columns` are those of a table without rows."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: guard_cell(cell) for key, cell in row.items()} for row in rows)
    write_text(path, file.getvalue())


def write_jsonl(alignment: Alignment, path: Path) -> None:
    """The rows as JSON, one on each line."""
    rows = table_rows(alignment)
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_parquet(alignment: Alignment, path: Path) -> None:
    """The rows as Parquet.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    FORMATS["parquet"].check_installed()
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = table_rows(alignment)
    # Columns without any value would have no type, and two files could not be joined.
    kinds = {"line": pa.int64(), "line_end": pa.int64(), "href": pa.string()}
    kinds |= {"char_start": pa.int64(), "char_end": pa.int64(), "judged": pa.string()}
    kinds |= {"judged_kind": pa.string(), "note": pa.string()}
    kinds |= {f"{end}_{what}": pa.int64() for end in ("first", "last") for what in _SPANNED}
    columns = {
        name: pa.array([row[name] for row in rows], type=kinds.get(name)) for name in rows[0]
    }
    with replacing(path) as unfinished:
        pq.write_table(pa.table(columns), unfinished)


def write_sentences(alignment: Alignment, path: Path) -> None:
    """The book's sentences as CSV, with how many moments are linked to each.

    A reader who corrects links in a spreadsheet looks up the numbers of sentences here.
    """
    book = alignment.book
    counts = Counter(j for link in alignment.links if link.in_book for j in link.sentences)
    rows = []
    for sentence in book.sentences:
        paragraph = book.paragraph_of[sentence.index]
        chapter = book.chapters[book.chapter_of[paragraph]]
        rows.append(
            {
                "sentence": sentence.index,
                "paragraph": paragraph,
                "chapter": chapter.index,
                "chapter_title": chapter.title,
                "line": sentence.line,
                "href": sentence.href,
                "moments": counts[sentence.index],
                "text": sentence.text,
            }
        )
    write_rows(rows, path)


def to_dataframe(alignment: Alignment) -> pd.DataFrame:
    """The rows as a DataFrame, indexed by moment.

    Raises:
        ConfigError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ConfigError("to_dataframe needs pandas; run: pip install pandas") from None
    return pd.DataFrame(table_rows(alignment)).set_index("moment")


def write_vtt(alignment: Alignment, path: Path, part: int | None = None) -> None:
    """A metadata track: each cue's payload is a moment's link as JSON, with its passage.

    Args:
        alignment: What is written.
        path: The file.
        part: Write only a part of the film, with the times of its own file.
    """
    parts = ["WEBVTT\n\nNOTE folioreel: one cue per moment; each payload is one JSON object\n"]
    for row in table_rows(alignment):
        if part is not None and row["part"] != part:
            continue
        start_s, end_s = row["start_s"], row["end_s"]
        if part is not None:
            start_s, end_s = row["part_start_s"], row["part_end_s"]
        # WebVTT forbids "-->" in a payload; JSON can escape it.
        payload = json.dumps(row, ensure_ascii=False).replace("-->", "--\\u003e")
        end_s = max(end_s, start_s + 0.001)
        times = f"{format_timestamp(start_s, '.')} --> {format_timestamp(end_s, '.')}"
        parts.append(f"{row['moment'] + 1}\n{times}\n{payload}\n")
    write_text(path, "\n".join(parts))


def write_srt(alignment: Alignment, path: Path, part: int | None = None) -> None:
    """The book's passages as subtitles: consecutive moments of one passage share a cue.

    `part` as in `write_vtt`.
    """
    film = alignment.film
    zero_s = 0.0 if part is None else film.parts[part].start_s
    links = [
        link
        for link in alignment.links
        if part is None or film.locate(film.moments[link.moment].start_s)[0] == part
    ]
    cues = []
    for sentences, run in _passages(links):
        moments = [film.moments[link.moment] for link in run]
        start_s, end_s = moments[0].start_s, max(moment.end_s for moment in moments)
        text = _words_of(alignment.book, sentences)
        cues.append((start_s - zero_s, end_s - zero_s, text))
    parts = []
    for number, (start_s, end_s, text) in enumerate(cues, 1):
        if number < len(cues):
            end_s = min(end_s, cues[number][0])
        end_s = max(end_s, start_s + 0.001)
        short = cut_text(text, _LONGEST_PASSAGE)
        body = "\n".join(wrap_lines(_plain(short), _SRT_WIDTH))
        times = f"{format_timestamp(start_s, ',')} --> {format_timestamp(end_s, ',')}"
        parts.append(f"{number}\n{times}\n{body}\n")
    write_text(path, "\n".join(parts))


def _passages(links: Sequence[Link]) -> Iterator[tuple[range, list[Link]]]:
    """Runs of links to one passage; moments that are not in the book are left out."""
    for (passage, in_book), run in groupby(links, key=lambda link: (link.sentences, link.in_book)):
        if in_book:
            yield passage, list(run)


def _plain(text: str) -> str:
    """Text without the characters that a player would take for markup."""
    return re.sub(r"[<>{}]", "", text)
