"""Files that are made to break readers: read or refused, soon, and without filling the memory."""

import time
from pathlib import Path

import nasty_files
import pytest
from fuzzed_readers import refusal

from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film

# What takes a quadratic reader minutes takes a linear one a fraction of a second. The larger files
# are for `make fuzz`.
LARGEST, LIMIT_S = 60_000, 3.0
FILES = [
    *((name, data, load_book) for name, data in nasty_files.books()),
    *((name, data, load_film) for name, data in nasty_files.subtitles()),
]


@pytest.mark.parametrize(
    ("name", "data", "read"),
    [pytest.param(*file, id=file[0]) for file in FILES if len(file[1]) <= LARGEST],
)
def test_a_nasty_file_is_read_or_refused_soon(tmp_path, name, data, read):
    path = Path(tmp_path, name)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    begin = time.process_time()
    assert "\n" not in refusal(read, path)
    assert time.process_time() - begin < LIMIT_S


def test_half_a_hundred_thousand_of_each(tmp_path):
    """The instances that once took minutes, one after the other in well under a minute."""
    named = {
        "dots.txt", "blank lines.md", "rules.md", "heading.html", "doctypes.html", "less-than.srt",
        "voices.vtt", "all at one time.srt", "syncs.smi", "text.ass", "lines in a cue.srt",
        "dashes in a cue.srt", "a sentence without an end.srt", "dots in lines.sub",
        "a voice of blanks.vtt", "a voice of tabs.vtt", "document types.html",
        "pictures in a heading.html", "attributes.html", "two combining marks.txt",
    }  # fmt: skip
    begin = time.process_time()
    for name, data, read in FILES:
        if name in named:
            path = Path(tmp_path, name)
            path.write_text(data[: len(data) // 2], encoding="utf-8")
            assert "\n" not in refusal(read, path)
    assert time.process_time() - begin < 20
