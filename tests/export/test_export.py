"""What is written: JSON against its schema, CSV, VTT, SRT, the picture, and never half a file."""

import csv
import json
import os
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pysubs2
import pytest
from conftest import make_book, make_film

from folioreel.alignment.aligner import Aligner
from folioreel.errors import InputError
from folioreel.export.alignment_json import alignment_to_dict, read_document, write_alignment
from folioreel.export.formats import FORMATS, RESULTS, PictureStyle
from folioreel.export.results import check_folder, summarize, write_results
from folioreel.files import replacing, write_text
from folioreel.types import Chapter


@pytest.fixture
def alignment(film, book):
    return Aligner.load().align(film, book)


def test_json_validates_and_reads_back(tmp_path, alignment):
    path = tmp_path / "alignment.json"
    write_alignment(alignment, path)
    document = read_document(path)
    assert document == alignment_to_dict(alignment)
    assert [link["moment"] for link in document["links"]] == list(range(6))
    hoarding = document["links"][4]
    assert (hoarding["text"], hoarding["sentence"]) == ("Who opened the hoarding?", 8)
    assert (hoarding["paragraph"], hoarding["chapter"], hoarding["line"]) == (4, 1, 17)
    assert document["links"][2]["kind"] == "visual"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(version=2), "version"),
        (lambda d: d.pop("links"), "links"),
        (lambda d: d["links"][0].update(score=1.5), "links/0/score"),
        (lambda d: d["links"][0].update(kind="song"), "links/0/kind"),
        (lambda d: d["book"].update(sentences=0), "book/sentences"),
    ],
)
def test_a_broken_alignment_is_refused(tmp_path, alignment, change, says):
    document = alignment_to_dict(alignment)
    change(document)
    path = tmp_path / "alignment.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=says):
        read_document(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_json_has_no_number_for_is_refused(alignment, tmp_path, number):
    text = json.dumps(alignment_to_dict(alignment))
    score = re.search(r'"score": ([\d.e-]+)', text)
    path = tmp_path / "alignment.json"
    path.write_text(text[: score.start(1)] + number + text[score.end(1) :])
    with pytest.raises(InputError, match=f"{number} is not a number"):
        read_document(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00\x01"])
def test_what_is_no_json_is_refused(tmp_path, content):
    path = tmp_path / "alignment.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"not an alignment\.json"):
        read_document(path)


def test_csv_has_a_row_a_moment(tmp_path, alignment):
    write_results(alignment, tmp_path)
    with (tmp_path / "alignment.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert rows[4]["passage"] == "“Who opened the hoarding?” he asked."
    assert rows[4]["chapter_title"] == "Two"


def test_vtt_payloads_are_json(tmp_path):
    spoken = ((1.0, 2.0, "An arrow --> here."), (3.0, 3.0, "No time at all."))
    alignment = Aligner.load().align(make_film(spoken), make_book())
    write_results(alignment, tmp_path)
    text = (tmp_path / "alignment.vtt").read_text(encoding="utf-8")
    cues = [block.split("\n") for block in text.strip().split("\n\n")[2:]]
    assert len(cues) == len(alignment.links)
    payloads = [json.loads(lines[2]) for lines in cues]
    assert payloads[0]["text"] == "An arrow --> here."
    assert all(lines[2].count("-->") == 0 for lines in cues)
    assert payloads[0]["passage"] == alignment.book.sentences[payloads[0]["sentence"]].text


def test_srt_is_read_by_others_and_runs_forward(tmp_path, alignment):
    write_results(alignment, tmp_path)
    events = list(pysubs2.load(str(tmp_path / "book.srt"), encoding="utf-8"))
    assert events
    for before, after in pairwise(events):
        assert before.start < before.end <= after.start


@pytest.mark.parametrize(
    ("count", "title"),
    [
        (3, "One"),
        (80, "CHAPTER {}: IN WHICH MR. PICKWICK TRAVELS TO IPSWICH, AND WHAT BEFELL HIM THERE"),
        (300, "{}"),
        (12, "$100 and {} $"),
        (5, "\u202e{} 第一章 a title with other letters"),
        (1, ""),
    ],
)
@pytest.mark.filterwarnings("ignore:Glyph")  # DejaVu has no Chinese
@pytest.mark.parametrize("size", [(13, 6), (3.5, 2.5)])
def test_titles_of_chapters_neither_overlap_nor_leave_the_picture(alignment, count, title, size):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from folioreel.export.picture import draw_alignment

    paragraphs = max(12, 2 * count)
    book = make_book([f"Sentence {k}." for k in range(paragraphs)], 1)
    # Chapters of one paragraph and of three in turn; the last ones are short.
    starts = [2 * k - k % 2 if k else 0 for k in range(count)]
    chapters = tuple(
        Chapter(index=k, title=title.format(k + 1), paragraphs=range(a, b))
        for k, (a, b) in enumerate(pairwise([*starts, paragraphs]))
    )
    film = replace(alignment.film, title="A film with a long title " * 9)
    figure = draw_alignment(
        replace(alignment, book=replace(book, chapters=chapters), film=film),
        PictureStyle(size_in=size),
    )
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    whole = figure.bbox
    texts = [text for text in (*figure.texts, *figure.axes[0].texts) if text.get_text()]
    for text in texts:
        box = text.get_window_extent(renderer)
        assert box.x0 >= whole.x0, text
        assert box.x1 <= whole.x1, text
        assert box.y0 >= whole.y0, text
    labels = [text for text in texts if text.get_rotation()]
    assert (len(labels) > 0) == bool(title)
    assert len(labels) >= min(count, 30 if size[0] == 13 else 6) or not title
    # Slanted lines are apart if their distance, at a right angle, is a line's height.
    angle = np.radians(40)
    for left, right in pairwise(labels):
        (x0, _), (x1, _) = (
            label.get_transform().transform(label.get_position()) for label in (left, right)
        )
        height = renderer.get_text_width_height_descent("Hg", left.get_fontproperties(), False)[1]
        assert (x1 - x0) * np.sin(angle) >= height


def test_a_picture_has_the_title_that_is_given(tmp_path, alignment):
    from folioreel.export.results import write_format, write_results

    figure = PictureStyle(title="Figure 1: $5 & more")
    write_format(alignment, "svg", tmp_path / "a.svg", style=figure)
    assert "Figure 1: $5 &amp; more" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    style = PictureStyle(title="Figure 2")
    write_results(alignment, tmp_path, formats=["svg", "csv"], style=style)
    assert "Figure 2" in (tmp_path / "alignment.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_the_picture_is_the_same_twice(tmp_path, alignment, name):
    from folioreel.export.picture import write_picture

    write_picture(alignment, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    write_picture(alignment, tmp_path / name)
    assert len(first) > 2000
    assert (tmp_path / name).read_bytes() == first


def test_all_files_are_the_same_twice(tmp_path, film, book):
    contents = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        write_results(Aligner.load().align(film, book), folder)
        contents.append([(folder / FORMATS[name].file).read_bytes() for name in RESULTS])
    assert contents[0] == contents[1]


def test_results_are_not_overwritten(tmp_path, alignment):
    check_folder(tmp_path, force=False)
    write_results(alignment, tmp_path)
    with pytest.raises(InputError, match="--force"):
        check_folder(tmp_path, force=False)
    check_folder(tmp_path, force=True)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "result.txt"
    write_text(path, "old")

    def write_half():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.txt"]


def test_a_folder_that_cannot_be_made(tmp_path, alignment):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError):
        write_results(alignment, tmp_path / "file" / "folder")
    with pytest.raises(InputError, match="is a file"):
        check_folder(tmp_path / "file", force=False)


def test_summary_names_both_and_shows_links(alignment):
    text = summarize(alignment)
    assert "The Ferry: 6 moments (5 spoken sentences, 4 shots)" in text
    assert "Behind the planks there was only trampled grass." in text
