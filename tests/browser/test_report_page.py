"""The report in a browser: on a screen, a phone and paper, in both colours, without faults."""

from pathlib import Path

import pypdfium2
import pytest
from conftest import make_book, make_film
from made_reports import SPOKEN_TEN, align_by_hand

from folioreel.apps.report import make_report
from folioreel.apps.report_pages import to_html

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture
def address(tmp_path) -> str:
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    places, scores = [0, 0, 1, 2, 3, 6, 6, 7, 11, 11], [0.9] * 5 + [0.4] * 5
    path = tmp_path / "report.html"
    path.write_text(to_html(make_report(align_by_hand(film, make_book(), places, scores))), "utf-8")
    return path.as_uri()


@pytest.mark.parametrize(
    "options",
    [{}, {"color_scheme": "dark"}, {"width": 390, "height": 800}],
    ids=["screen", "dark", "phone"],
)
def test_the_page_fits_and_has_no_faults(new_page, address, options):
    page = new_page(**options)
    page.goto(address)
    width = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]
    if not AXE.is_file():
        pytest.skip("needs axe-core: `npm ci` in frontend/")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("() => axe.run()")["violations"]
    assert [(fault["id"], [n["target"] for n in fault["nodes"]]) for fault in found] == []


def test_it_prints(new_page, address, tmp_path):
    page = new_page(color_scheme="dark")
    page.goto(address)
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    document = pypdfium2.PdfDocument(tmp_path / "report.pdf")
    assert "In short" in document[0].get_textpage().get_text_range()
    # White paper, whatever the colours of the screen.
    assert document[0].render(scale=0.2).to_pil().getpixel((2, 2)) == (255, 255, 255)
