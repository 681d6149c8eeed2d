"""Descriptions of a small alignment worked out by hand, and contact sheets read back."""

import base64
import io
import re
from dataclasses import replace

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium_c
import pytest
from conftest import make_book, make_film
from drawn_films import draw_film, scene, shots_of
from lxml import html as lxml_html
from PIL import Image

from folioreel.apps.contact_sheet import frame_of, make_sheet, write_sheet
from folioreel.apps.describe import (
    best_of_shots,
    describe_passage,
    describe_range,
    describe_shot,
    describe_time,
    find_passage,
    place_of,
)
from folioreel.errors import InputError
from folioreel.types import Alignment, Link

# Moments: 1.0 "Sixty-one kilos.", 2.5 "It's the damp.", 5.0 silent, 9.0 "…band…", 15.0 "Who…", 18.0
LINKS = (
    Link(moment=0, sentence=2, score=0.9),
    Link(moment=1, sentence=3, score=0.2, in_book=False),
    Link(moment=2, sentence=3, score=0.1, in_book=False),
    Link(moment=3, sentence=4, score=0.8),
    Link(moment=4, sentence=8, score=0.95),
    Link(moment=5, sentence=9, score=0.97),
)


@pytest.fixture
def alignment(film, book):
    return Alignment(book=book, film=film, links=LINKS)


def moments_of(descriptions):
    return [description.moment for description in descriptions]


def test_a_time_gives_its_moment_and_passage(alignment, book):
    found = describe_time(alignment, 9.5)
    assert found.said == "Did you hear the band in the malt-house?"
    assert (found.moment, found.in_book, found.score) == (3, True, 0.8)
    texts = [sentence.text for sentence in book.sentences]
    assert found.passage.before == f"{texts[2]} {texts[3]}"
    assert found.passage.text == f"{texts[4]} {texts[5]}"
    assert found.passage.after == f"{texts[6]} {texts[7]}"
    assert found.passage.sentence == texts[4]
    assert (found.passage.chapter, found.passage.place) == ("One", "lines 9–11")


def test_between_moments_the_nearer_is_meant(alignment):
    assert describe_time(alignment, 2.1).moment == 0
    assert describe_time(alignment, 2.4).moment == 1
    assert describe_time(alignment, 20.0).moment == 5
    assert describe_time(alignment, 3.0).in_book is False


def test_shots_and_ranges(alignment):
    assert moments_of(describe_shot(alignment, 0)) == [0, 1]
    assert moments_of(describe_shot(alignment, 1)) == [2]
    assert moments_of(describe_range(alignment, 3.0, 9.1)) == [1, 2, 3]
    assert moments_of(describe_range(alignment, 10.5, 15.1)) == [4]


def test_the_ends_of_the_book_have_one_neighbour(alignment):
    first = replace(alignment, links=(Link(moment=0, sentence=0, score=0.5), *LINKS[1:]))
    assert describe_time(first, 1.0).passage.before is None
    last = replace(alignment, links=(Link(moment=0, sentence=11, score=0.5), *LINKS[1:]))
    assert describe_time(last, 1.0).passage.after is None


def test_what_is_not_in_the_film(alignment):
    with pytest.raises(InputError, match=r"00:00:21\.000 is not .* 00:00:20\.000 long"):
        describe_time(alignment, 21)
    with pytest.raises(InputError, match="shots 1 to 4"):
        describe_shot(alignment, 4)
    with pytest.raises(InputError, match="must end after it starts"):
        describe_range(alignment, 5, 5)
    spoken = replace(alignment, film=make_film(shots=False), links=LINKS[:5])
    with pytest.raises(InputError, match="no shots"):
        describe_shot(spoken, 0)
    with pytest.raises(InputError, match="there are no moments"):
        describe_range(spoken, 5, 8)


def test_passages_by_line_paragraph_and_words(book):
    assert find_passage(book, "9") == range(4, 5)
    assert find_passage(book, "2:2") == range(8, 10)
    assert find_passage(book, "the TRAMPLED grass") == range(9, 10)
    assert find_passage(book, "sixty-one") == range(2, 3)  # of two, the shorter sentence
    for wrong, words in {
        "2": "no sentence on line 2",
        "3:1": "no chapter 3",
        "1:9": "paragraph 9 in chapter 1; it has 1 to 3",
        "quantum": "no sentence of the book",
        "…": "no sentence of the book",
    }.items():
        with pytest.raises(InputError, match=words):
            find_passage(book, wrong)


def test_the_film_of_a_passage(alignment):
    assert moments_of(describe_passage(alignment, range(8, 9))) == [4]
    assert moments_of(describe_passage(alignment, range(8, 10))) == [4, 5]
    assert moments_of(describe_passage(alignment, range(5, 6))) == [3]  # its paragraph
    assert moments_of(describe_passage(alignment, range(6, 7))) == [0, 3, 4, 5]  # three around
    nothing = replace(alignment, links=tuple(replace(link, in_book=False) for link in LINKS))
    assert describe_passage(nothing, range(8, 9)) == ()


def test_a_sheet_has_the_surest_moment_of_each_shot(alignment):
    assert moments_of(best_of_shots(alignment)) == [0, 3, 5]
    spoken = replace(
        alignment,
        film=make_film(shots=False),
        links=(*LINKS[:2], *(replace(link, moment=link.moment - 1) for link in LINKS[3:])),
    )
    assert moments_of(best_of_shots(spoken)) == [0, 2, 4]  # 3 and 4 are in one paragraph


@pytest.fixture
def filmed(alignment, tmp_path):
    video = draw_film(tmp_path / "film.mp4", shots_of([125, 75, 150, 150]))
    return replace(alignment, film=replace(alignment.film, video=video))


def test_a_frame_shows_its_shot(filmed):
    picture = read_jpeg(frame_of(filmed, describe_time(filmed, 9.5)))
    assert picture.shape == (240, 320, 3)
    # The blocks wander to the right as the shot goes on; their colours stay.
    means = [np.abs(colours(picture) - colours(scene(k))).mean() for k in range(4)]
    assert np.argmin(means) == 2
    assert frame_of(replace(filmed, film=make_film()), describe_time(filmed, 9.5)) is None


def colours(picture):
    """Each channel's values in order, whatever their places."""
    small = picture[:: len(picture) // 60, :: picture.shape[1] // 80].astype(float)
    return np.quantile(small.reshape(-1, 3), np.linspace(0, 1, 30), axis=0)


def read_jpeg(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def test_the_sheet_as_html(filmed, tmp_path):
    (path,) = write_sheet(filmed, tmp_path / "new" / "sheet.html")
    page = lxml_html.document_fromstring(path.read_text(encoding="utf-8"))
    cards = page.xpath("//article")
    assert [card.xpath("string(.//blockquote)") for card in cards] == [
        description.passage.sentence for description in best_of_shots(filmed)
    ]
    for card, description in zip(cards, make_sheet(filmed).cards, strict=True):
        (address,) = card.xpath(".//img/@src")
        assert base64.b64decode(address.partition(",")[2]) == description.jpeg


def test_the_sheet_as_pdf(filmed, tmp_path):
    paths = write_sheet(filmed, tmp_path / "sheet")
    assert [path.name for path in paths] == ["sheet.html", "sheet.pdf"]
    page = pypdfium2.PdfDocument(paths[1])[0]
    text = " ".join(page.get_textpage().get_text_bounded().split())
    for description in best_of_shots(filmed):
        assert description.passage.sentence in text
        assert description.said in text
    images = [item for item in page.get_objects() if item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE]
    assert len(images) == 3
    with pytest.raises(InputError, match=r"sheet\.html: already exists"):
        write_sheet(filmed, tmp_path / "sheet")
    before = paths[1].read_bytes()
    write_sheet(filmed, tmp_path / "sheet", force=True)
    assert paths[1].read_bytes() == before


@pytest.mark.parametrize(
    "sentence",
    [
        "<script>alert(1)</script> & <b>bold</b>",
        "Он вошёл в дом и сел у окна.",
        "Ο άνθρωπος μπήκε στο σπίτι.",
        "他走进了屋子，坐在窗边。",
        "彼は家に入って窓のそばに座った。",
        "그는 집에 들어가 창가에 앉았다.",
    ],
)
def test_any_text_is_shown_as_it_is(alignment, sentence, tmp_path):
    told = (*alignment.book.sentences[:4], replace(alignment.book.sentences[4], text=sentence))
    book = replace(alignment.book, sentences=(*told, *alignment.book.sentences[5:]))
    paths = write_sheet(replace(alignment, book=book), tmp_path / "sheet")
    page = lxml_html.document_fromstring(paths[0].read_text(encoding="utf-8"))
    assert sentence in [quote.text for quote in page.xpath("//blockquote")]
    assert not page.xpath("//script | //article//b | //img")
    text = pypdfium2.PdfDocument(paths[1])[0].get_textpage().get_text_bounded()
    assert re.sub(r"\s", "", sentence) in re.sub(r"\s", "", text)


def make_long(moments=100):
    """A film of many lines, each with a long sentence of its own; the last one of four is sure."""
    book = make_book([f"Sentence {k} " + "goes on and on " * 30 + "." for k in range(moments)], 1)
    spoken = [(10.0 * k, 10.0 * k + 3, f"Line {k}: " + "so it goes " * 20) for k in range(moments)]
    film = make_film(spoken, 10.0 * moments, shots=False)
    links = (Link(moment=k, sentence=k, score=0.9 if k % 4 == 3 else 0.6) for k in range(moments))
    return Alignment(book=book, film=film, links=tuple(links))


def test_a_sheet_is_a_page_unless_more_are_wanted(tmp_path):
    alignment = make_long()
    sheet = make_sheet(alignment)
    assert len(sheet.cards) == 24
    assert "24 of 100 passages" in sheet.subtitle
    moments = [card.description.moment for card in sheet.cards]
    # Evenly over the film, and the surest of each stretch of four or five.
    assert all(a // 4 <= moment <= a for a, moment in zip(range(4, 101, 4), moments, strict=False))
    assert all(moment % 4 == 3 for moment in moments)
    assert max(len(card.sentence) for card in sheet.cards) <= 240
    for pages, expected in ((1, 1), (2, 2), (None, 5)):
        (path,) = write_sheet(alignment, tmp_path / "sheet.pdf", pages=pages, force=True)
        document = pypdfium2.PdfDocument(path)
        assert len(document) == expected
    # Nothing overlaps or leaves the page: a cell's text is cut where the next row begins.
    text = document[0].get_textpage().get_text_bounded()
    assert text.count("Sentence ") == 24
    assert text.count("…") >= 24


def test_a_sheet_of_a_range(filmed, tmp_path):
    sheet = make_sheet(filmed, span=(8.0, 14.0))
    assert [card.description.moment for card in sheet.cards] == [3]
    assert "0:00:08 to 0:00:14" in sheet.subtitle
    with pytest.raises(InputError, match="in this range"):
        write_sheet(filmed, tmp_path / "sheet", span=(5.0, 8.0))


def test_places_are_words(book):
    def placed(**place):
        sentences = (replace(s, line=None, line_end=None, **place) for s in book.sentences)
        return replace(book, sentences=tuple(sentences))

    # Chapter Two begins with the fourth paragraph.
    epub = placed(href="EPUB/text/ch007.xhtml", char_start=3)
    assert place_of(epub, range(3, 4)) == "paragraph 1"
    assert place_of(epub, range(4, 6)) == "paragraphs 2–3"
    assert place_of(placed(href="#page=12"), range(4, 6)) == "page 12"
    assert place_of(book, range(4, 6)) == "lines 17–23"
    assert place_of(book, range(4, 5)) == "lines 17–19"


def test_no_sheet_of_nothing(alignment, tmp_path):
    links = tuple(replace(link, in_book=False) for link in LINKS)
    with pytest.raises(InputError, match="would be empty"):
        write_sheet(replace(alignment, links=links), tmp_path / "sheet")
    assert list(tmp_path.iterdir()) == []


def test_the_sheet_says_what_language_it_quotes(alignment, tmp_path):
    book, film = replace(alignment.book, language="fa"), replace(alignment.film, language="it")
    told = replace(alignment, book=book, film=film)
    (path,) = write_sheet(told, tmp_path / "sheet.html")
    page = lxml_html.document_fromstring(path.read_text(encoding="utf-8"))
    assert set(page.xpath("//blockquote/@lang")) == {"fa"}
    assert set(page.xpath("//blockquote/@dir")) == {"rtl"}
    assert set(page.xpath("//p[@class='said']/@lang")) == {"it"}
