"""The report in a browser: on a screen, a phone and paper, in both colours, without faults."""

import io
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest
from conftest import make_book, make_film
from made_reports import SPOKEN_TEN, align_by_hand, make_long_book
from PIL import Image

from folioreel.apps.contact_sheet import COLUMNS, ROWS, Card, Sheet, write_sheet_html
from folioreel.apps.describe import describe_time
from folioreel.apps.many_summary import PairOutcome, write_summary
from folioreel.apps.report import make_report
from folioreel.apps.report_pages import to_html
from folioreel.types import Chapter

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
    # On a phone tables scroll; their words are not broken into columns of single letters.
    cells = page.locator("td.text").evaluate_all("nodes => nodes.map((node) => node.offsetWidth)")
    assert min(cells) >= 100


@pytest.mark.parametrize("width", [360, 768, 900, 1366])
def test_a_wide_table_scrolls_by_itself(new_page, tmp_path, width):
    reason = "/a/long/path/to/a/folder/of/films/and/books/of/somebody/nothing.txt: no such file"
    outcome = PairOutcome(name="A pair of a long name", status="failed", reason=reason)
    index, _ = write_summary([outcome], tmp_path)
    page = new_page(width=width)
    page.goto(index.as_uri())
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
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


def test_a_drawing_may_end_a_page_so_that_none_is_half_empty(new_page, tmp_path):
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    book = make_long_book(60)
    chapters = tuple(
        Chapter(index=k, title=f"Chapter {k + 1}", paragraphs=range(6 * k, 6 * k + 6))
        for k in range(10)
    )
    alignment = align_by_hand(film, replace(book, chapters=chapters), range(10), [0.9] * 10)
    (tmp_path / "a.html").write_text(to_html(make_report(alignment)), "utf-8")
    page = new_page()
    page.goto((tmp_path / "a.html").as_uri())
    page.pdf(path=tmp_path / "a.pdf", format="Letter")
    first = pypdfium2.PdfDocument(tmp_path / "a.pdf")[0].get_textpage().get_text_range()
    assert "The chapters" in first


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("size", [(320, 180), (320, 240), (240, 320)])
def test_a_sheet_prints_on_its_pages(new_page, tmp_path, paper, size):
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, "JPEG")
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    alignment = align_by_hand(film, make_book(), range(10), [0.9] * 10)
    description = describe_time(alignment, 5.0)
    long = replace(description, said="He said it again and again. " * 10)
    passage = replace(long.passage, chapter="A Chapter of Many Words " * 5)
    card = Card(
        description=replace(long, passage=passage),
        clock="1:02:03",
        sentence="The ferry crossed the river at dawn. " * 6,
        jpeg=buffer.getvalue(),
    )
    page = new_page()
    for pages in (1, 3):
        sheet = Sheet(
            title="A Film",
            subtitle="of 72 shots",
            cards=(card,) * (COLUMNS * ROWS * pages),
            film_language="en",
            book_language="en",
        )
        write_sheet_html(sheet, tmp_path / "a.html")
        page.goto((tmp_path / "a.html").as_uri())
        page.pdf(path=tmp_path / "a.pdf", format=paper, prefer_css_page_size=True)
        assert len(pypdfium2.PdfDocument(tmp_path / "a.pdf")) == pages


def test_headings_stay_with_their_tables_on_paper(new_page, tmp_path):
    page = new_page()
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    for paragraphs in range(20, 40):  # the tables before it push the last sections down
        book = make_long_book(2 * paragraphs)
        chapters = tuple(
            Chapter(index=k, title=f"Chapter {k + 1}", paragraphs=range(2 * k, 2 * k + 2))
            for k in range(paragraphs)
        )
        alignment = align_by_hand(film, replace(book, chapters=chapters), range(10), [0.9] * 10)
        (tmp_path / "a.html").write_text(to_html(make_report(alignment)), "utf-8")
        page.goto((tmp_path / "a.html").as_uri())
        page.pdf(path=tmp_path / "a.pdf", format="A4")
        document = pypdfium2.PdfDocument(tmp_path / "a.pdf")
        pages = [sheet.get_textpage().get_text_range() for sheet in document]
        (text,) = [text for text in pages if "Not in the film" in text]
        assert "The sentence of the paragraph" in text.partition("Not in the film")[2], paragraphs
