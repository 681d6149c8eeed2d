"""Everything that `folioreel align --out DIR` writes."""

from __future__ import annotations

from pathlib import Path

from folioreel.export.alignment_json import write_alignment
from folioreel.export.page_html import write_page
from folioreel.export.picture import write_picture
from folioreel.export.tables import write_csv, write_srt, write_vtt
from folioreel.files import check_output_folder, make_folder
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.types import Alignment

PAGE = "page.html"
WRITERS = {
    "alignment.csv": write_csv,
    "alignment.vtt": write_vtt,
    "book.srt": write_srt,
    "alignment.png": write_picture,
    PAGE: write_page,
    # Last: where it is, all of it is.
    "alignment.json": write_alignment,
}
"""File name → its writer, in the order of writing."""


def check_folder(folder: Path, *, force: bool) -> None:
    """Stop before any work is done if results in a folder would be overwritten."""
    check_output_folder(folder, WRITERS, force=force)


def write_results(
    alignment: Alignment, folder: Path, progress: ProgressCallback = ignore_progress
) -> list[Path]:
    """Write every format into a folder; returns the files."""
    make_folder(folder)
    for name, write in WRITERS.items():
        if name == PAGE:  # it has pictures out of the video, which take their time
            write_page(alignment, folder / name, progress)
        else:
            write(alignment, folder / name)
    return [folder / name for name in WRITERS]
