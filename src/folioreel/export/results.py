"""The files that `folioreel align --out DIR` writes, and the summary that it prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sized
from pathlib import Path

from folioreel.export.estimates import describe_share
from folioreel.export.formats import FORMATS, RESULTS, USUAL_STYLE, PictureStyle
from folioreel.files import check_output_folder, make_folder, writing_together
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.text import cut_text
from folioreel.types import Alignment, Link

PARTS = "parts"
"""The folder of what is written for each part, if the film has several."""
_OF_PART = re.compile(r"[0-9]+ .*\.(?:srt|vtt|eaf)")
_LONGEST_NAME = 50
"""Characters of a title in a file name: file systems allow 255 bytes."""
_EXAMPLES = 5
_EXAMPLE_WIDTH = 58
"""Characters of a line; with its time and score it fits a terminal of 80 columns."""


def check_folder(folder: Path, formats: Iterable[str] = RESULTS, *, force: bool) -> None:
    """Stop before any work is done if results in a folder would be overwritten."""
    check_output_folder(folder, _names(formats), force=force)


def _names(formats: Iterable[str]) -> list[str]:
    return [*(FORMATS[name].file for name in formats), PARTS]


def write_results(
    alignment: Alignment,
    folder: Path,
    progress: ProgressCallback = ignore_progress,
    formats: Iterable[str] = RESULTS,
    style: PictureStyle = USUAL_STYLE,
) -> list[Path]:
    """Write some formats into a folder; returns the files.

    Raises:
        ConfigError: A format needs a package that is not installed; nothing is written then.
    """
    chosen = [name for name in FORMATS if name in set(formats)]
    for name in chosen:
        FORMATS[name].check_installed()
    with writing_together(folder, _names(chosen)):
        files = _write_parts(alignment, folder / PARTS, chosen)
        for name in chosen:
            files.append(folder / FORMATS[name].file)
            write_format(alignment, name, files[-1], progress, style)
    return files


def write_format(
    alignment: Alignment,
    name: str,
    path: Path,
    progress: ProgressCallback = ignore_progress,
    style: PictureStyle = USUAL_STYLE,
) -> None:
    """Write one format into a file."""
    write = FORMATS[name].load_writer()
    if name == "page":  # its thumbnails take a while, so it reports progress
        write(alignment, path, progress)
    elif FORMATS[name].is_picture:
        write(alignment, path, style)
    else:
        write(alignment, path)


def _write_parts(alignment: Alignment, folder: Path, formats: list[str]) -> list[Path]:
    """Files for whoever plays the parts of a film: the times are those of each file."""
    files: list[Path] = []
    parts = alignment.film.parts
    formats = [name for name in formats if FORMATS[name].has_parts]
    if folder.is_dir():  # of an earlier result, which is being overwritten
        for path in folder.iterdir():
            if _OF_PART.fullmatch(path.name) and path.suffix[1:] in formats:
                path.unlink()
    for k, part in enumerate(parts if formats else ()):
        make_folder(folder)
        # Numbered, so that they are in order in any list; without what names may not have.
        title = re.sub(r'[\x00-\x1f<>:"/\\|?*]+', " ", part.title)[:_LONGEST_NAME].strip(" .")
        for name in formats:
            files.append(folder / f"{k + 1:0{len(str(len(parts)))}} {title}.{name}")
            FORMATS[name].load_writer()(alignment, files[-1], k)
    return files


def summarize(alignment: Alignment) -> str:
    """What was aligned, how much of it is in the book, and some of the surest links."""
    book, film = alignment.book, alignment.film
    lines = [
        f"{film.title}: {_count(film.moments, 'moment')} "
        f"({_count(film.subtitles, 'spoken sentence')}, {_count(film.shots, 'shot')})",
        f"{book.title}: {_count(book.sentences, 'sentence')}, "
        f"{_count(book.paragraphs, 'paragraph')}, {_count(book.chapters, 'chapter')}",
        describe_share(alignment),
    ]
    if film.parts:
        lines[0] += f" in {len(film.parts)} parts"
    if book.volumes:
        lines[1] += f" in {len(book.volumes)} volumes"
    examples = _examples(alignment)
    if examples:
        lines[-1] += "; for example:"
        lines.append("")
    for link in examples:
        moment = film.moments[link.moment]
        lines.append(f"  {film.clock(moment.start_s)}  {_short(moment.text)}")
        lines.append(f"   {link.score:7.0%}  {_short(book.sentences[link.sentence].text)}")
    return "\n".join(lines)


def _count(things: Sized, what: str) -> str:
    return f"{len(things)} {what}{'s' * (len(things) != 1)}"


def _examples(alignment: Alignment) -> list[Link]:
    """The surest spoken link of each fifth of the film that says more than a few words."""
    spoken = [
        link
        for link in alignment.links
        if link.in_book and len(alignment.film.moments[link.moment].text.split()) >= 5
    ]
    parts = [
        spoken[k * len(spoken) // _EXAMPLES : (k + 1) * len(spoken) // _EXAMPLES]
        for k in range(_EXAMPLES)
    ]
    return [max(part, key=lambda link: link.score) for part in parts if part]


def _short(text: str) -> str:
    return cut_text(text, _EXAMPLE_WIDTH)
