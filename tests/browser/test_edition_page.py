"""The illustrated edition in a browser, as a reader for EPUB shows it."""

import zipfile
from pathlib import Path

import pytest
from conftest import make_book, make_film
from made_reports import align_by_hand

from folioreel.apps.edition_epub import write_edition
from folioreel.apps.illustrate import make_edition

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


def test_lines_and_times_stand_at_the_paragraphs_they_are_of(new_page, tmp_path):
    """Long lines beside short paragraphs: nothing may slide down the page."""
    said = "This is said at length, so that it takes many lines beside the text, and then some."
    film = make_film([(10.0 * k, 10.0 * k + 4, said) for k in range(8)], 100.0, shots=False)
    book = make_book([f"Short {k}." for k in range(8)], 1)
    edition = make_edition(align_by_hand(film, book, range(8), [0.9] * 8))
    write_edition(edition, tmp_path / "a.epub")
    with zipfile.ZipFile(tmp_path / "a.epub") as archive:
        archive.extractall(tmp_path)
    page = new_page(width=600, height=900)
    page.goto((tmp_path / "EPUB" / "chapter0001.xhtml").as_uri())
    found = page.evaluate(
        """() => [...document.querySelectorAll("p")].map((p) =>
          [p, p.querySelector(".time"), p.querySelector(".said")].map((n) =>
            n.getBoundingClientRect().top))"""
    )
    assert len(found) == 4
    for paragraph, time, line in found:
        assert abs(time - paragraph) < 12
        assert abs(line - paragraph) < 12
    left, text = (page.locator(part).first.bounding_box()["x"] for part in (".time", "p"))
    assert 0 <= left < text  # in the margin


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: `npm ci` in frontend/")
def test_axe_finds_no_fault(new_page, tmp_path):
    said = [(10.0 * k, 10.0 * k + 4, "This is said.") for k in range(8)]
    alignment = align_by_hand(make_film(said, 100.0, shots=False), make_book(), range(8), [0.9] * 8)
    write_edition(make_edition(alignment), tmp_path / "a.epub")
    with zipfile.ZipFile(tmp_path / "a.epub") as archive:
        archive.extractall(tmp_path)
    page = new_page(width=600, height=900)
    for name in ("title.xhtml", "nav.xhtml", "chapter0001.xhtml"):
        page.goto((tmp_path / "EPUB" / name).as_uri())
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate("() => axe.run(document, {preload: false})")["violations"]
        assert [(fault["id"], [n["target"] for n in fault["nodes"]]) for fault in found] == []
