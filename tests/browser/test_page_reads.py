"""The page in a browser: reading mode, phones, chapters, transcript, names, sharing, languages."""

import io
import re
from dataclasses import replace

import pytest
from made_payloads import make_book, picture, small_alignment, small_payload
from PIL import Image

from folioreel.export.page_html import make_payload
from folioreel.ingest.book import load_book
from folioreel.types import Alignment, Book

PHONE = {"is_mobile": True, "has_touch": True, "device_scale_factor": 2}
UPRIGHT = {"width": 360, "height": 640, **PHONE}
SIDEWAYS = {"width": 640, "height": 360, **PHONE}


def with_texts(book: Book, texts: list[str]) -> Book:
    pairs = zip(book.sentences, texts, strict=True)
    return replace(book, sentences=tuple(replace(s, text=text) for s, text in pairs))


def text_px(page) -> float:
    return page.locator(".book-scroll").bounding_box()["height"]


def targets(page) -> list[str]:
    """The buttons and fields in view that are too small for a finger."""
    return page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [role=slider]")]
            .filter((node) => node.offsetParent && getComputedStyle(node).clipPath === "none")
            .map((node) => [node, node.getBoundingClientRect()])
            .filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < 44)
            .map(([node, box]) => `${node.outerHTML} ${box.width} × ${box.height}`)"""
    )


@pytest.mark.parametrize(("size", "least_px"), [(UPRIGHT, 280), (SIDEWAYS, 240)])
def test_a_phone_is_for_reading(new_page, write_page, size, least_px):
    page = new_page(**size)
    page.goto(write_page(small_payload()))
    assert text_px(page) >= least_px
    for part in (".strip", ".actions", ".others", ".transcript", ".timeline"):
        assert page.locator(part).is_hidden()
    assert targets(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= size["width"]
    full, film = (
        part.bounding_box()
        for part in (page.get_by_role("button", name="Full screen"), page.locator(".film"))
    )
    assert full["x"] + full["width"] <= film["x"] + film["width"]
    page.get_by_role("button", name="Next moment in the book").tap()
    assert page.locator(".sentence.now").get_attribute("data-sentence") == "0"
    page.get_by_role("button", name="Tools").tap()
    assert targets(page) == []
    # All tools, for who wants them; and it is remembered.
    page.get_by_role("button", name="Read").tap()
    assert page.locator(".actions").is_visible()
    page.reload()
    assert page.locator(".actions").is_visible()


def fits(page, part: str) -> bool:
    """Whether a part is whole within the window, to a fraction of a pixel."""
    box, size = page.locator(part).bounding_box(), page.viewport_size
    return (
        min(box["x"], box["y"]) >= 0
        and box["x"] + box["width"] < size["width"] + 0.5
        and box["y"] + box["height"] < size["height"] + 0.5
    )


def test_an_upright_phone_with_all_tools(new_page, write_page):
    page = new_page(**UPRIGHT)
    page.goto(write_page(small_payload()))
    page.keyboard.press("n")
    page.keyboard.press("v")
    for part in (
        ".controls .share",
        ".controls > :last-child",
        ".actions",
        ".strip-board",
        ".zoom",
    ):
        assert fits(page, part), part
    boxes = [page.locator(part).bounding_box() for part in (".strip-board", ".strip-foot")]
    assert boxes[0]["height"] >= 60
    assert boxes[1]["height"] <= 48  # one row
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    assert text_px(page) >= 150
    assert targets(page) == []
    # On its side the tools scroll beside the book.
    page.set_viewport_size({"width": 640, "height": 360})
    assert fits(page, ".controls > :last-child")
    page.locator(".zoom").scroll_into_view_if_needed()
    assert fits(page, ".zoom")
    assert text_px(page) >= 240


def test_small_screens_cover_and_cut_nothing(new_page, write_page):
    page = new_page(**UPRIGHT)
    page.goto(write_page(small_payload()))
    search = page.get_by_role("combobox")
    assert search.get_attribute("placeholder") == "Search"
    # The button is as high as a finger needs, and leaves the lines of the text to be read.
    page.evaluate("document.querySelector('.book-scroll').scrollTop = 3000")
    back, text = page.get_by_role("button", name="Back to the film’s place"), page.locator(".sheet")
    back.wait_for()
    box, sheet = back.bounding_box(), text.bounding_box()
    assert box["height"] <= 46
    assert box["x"] > sheet["x"] + 0.85 * sheet["width"]
    back.tap()
    # On its side: nothing is left empty below the controls, and Share is there.
    page.set_viewport_size({"width": 640, "height": 360})
    page.get_by_placeholder(
        "Search book and film"
    ).wait_for()  # the page hears of it a little later
    assert fits(page, ".controls .share")
    controls, film = (page.locator(part).bounding_box() for part in (".controls", ".film"))
    assert controls["y"] + controls["height"] == film["y"] + film["height"]


LONG_LINE = (
    "Why did I walk through crowds of fellow beings with my eyes turned down, and never raise "
    "them to that blessed Star which led the wise men to a poor abode?"
)


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, UPRIGHT, SIDEWAYS])
def test_without_a_picture_the_words_are_not_covered(new_page, write_page, size):
    payload = small_payload()
    payload["thumbnails"] = []
    payload["moments"][0]["text"] = LONG_LINE
    page = new_page(**size)
    page.goto(f"{write_page(payload)}#t=1.0")
    card, choose = page.locator(".title-card"), page.locator(".picker button")
    assert card.inner_text() == LONG_LINE
    assert card.evaluate("node => node.scrollHeight <= node.clientHeight")
    box = card.bounding_box()
    assert box["y"] >= page.locator(".screen").bounding_box()["y"]
    assert box["y"] + box["height"] <= choose.bounding_box()["y"]
    assert page.get_by_text("or play without it").is_visible()
    assert fits(page, ".picker")
    if size is UPRIGHT:  # with all tools, too
        page.keyboard.press("v")
        assert box["y"] + box["height"] <= choose.bounding_box()["y"]


def test_reading_is_not_correcting(small):
    small.keyboard.press("n")
    small.keyboard.press("l")  # asks for a sentence, which reading ends
    small.keyboard.press("v")
    assert small.locator("body.linking").count() == 0
    for part in (".span", ".actions", ".others", ".strip", ".grip", ".links-slider"):
        assert small.locator(part).first.is_hidden(), part
    before = small.locator(".place-state").inner_text()
    for key in ("x", "y", "1", "2", "3", "l", "u", "Control+z", "Shift+ArrowRight"):
        small.keyboard.press(key)
    small.locator(".sentence[data-sentence='3']").click(modifiers=["Shift"])
    small.get_by_text("Links are not corrected while reading: V shows all tools.").wait_for()
    assert small.locator(".sentence.in-span").count() == 0
    small.keyboard.press("b")
    small.keyboard.press("n")
    small.keyboard.press("?")
    assert small.get_by_role("heading", name="Correct (not while reading)").is_visible()
    small.keyboard.press("Escape")
    small.locator("dialog :focus").wait_for(state="detached")
    small.keyboard.press("v")
    assert small.locator(".span").is_visible()
    assert small.get_by_role("button", name="Undo").is_disabled()
    small.keyboard.press(",")
    assert small.locator(".place-state").inner_text() == before
    small.keyboard.press("x")
    small.locator(".place-sure", has_text="You said so").wait_for()


def test_on_a_laptop_all_tools_are_in_view_and_the_chapter_is_whole(new_page, write_page):
    payload = small_payload()
    payload["book"]["chapters"][0]["title"] = "CHAPTER SEVEN: Four in the Morning, and After"
    payload["moments"][0]["text"] = ""
    page = new_page(width=1280, height=800)
    page.goto(write_page(payload))
    page.keyboard.press(".")
    assert "nobody speaks" in page.locator(".place-sure").inner_text()
    for part in (".place-chapter", ".place-sure"):
        assert page.locator(part).evaluate("node => node.scrollWidth <= node.clientWidth")
    assert fits(page, ".zoom")
    # The strip stays where it is, whatever the card says.
    tops = set()
    for _ in range(9):
        tops.add(round(page.locator(".strip-board").bounding_box()["y"]))
        page.keyboard.press(".")
    assert len(tops) == 1


def test_a_turned_phone_and_a_laptop(new_page, write_page):
    page = new_page(**UPRIGHT)
    page.goto(write_page(small_payload()))
    film, book = page.locator(".film"), page.locator(".book")
    assert film.bounding_box()["y"] < book.bounding_box()["y"]
    page.set_viewport_size({"width": 640, "height": 360})
    assert film.bounding_box()["x"] < book.bounding_box()["x"]
    page.set_viewport_size({"width": 1366, "height": 768})
    page.locator(".strip").wait_for()
    page.keyboard.press("v")
    assert page.locator(".strip").is_hidden()
    assert page.get_by_role("button", name="Read").get_attribute("aria-pressed") == "true"
    assert page.locator(".transcript").is_visible()


def test_the_transcript_follows_and_leads(small):
    small.keyboard.press("v")
    for _ in range(30):
        small.keyboard.press(".")
    now = small.locator(".line.now")
    assert "Line 28 is said" in now.inner_text()  # 29 is silent
    box, view = now.bounding_box(), small.locator(".transcript").bounding_box()
    assert view["y"] <= box["y"] <= view["y"] + view["height"] - box["height"]
    small.locator(".transcript").hover()
    small.mouse.wheel(0, -5000)
    small.locator(".line", has_text="Line 2 is said").click()
    assert small.locator(".time").inner_text().startswith("0:08")
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "6"
    # What has not been seen is not in it.
    small.keyboard.press("s")
    small.locator(".transcript").hover()
    small.mouse.wheel(0, 9000)
    assert small.locator(".line").all_inner_texts()[-1].endswith("Line 2 is said of the dial.")


def test_chapters_are_listed_with_their_times(small):
    small.get_by_role("button", name="Chapter 1: The Ferry").click()
    dialog = small.get_by_role("dialog", name="Chapters")
    rows = dialog.get_by_role("button").filter(has_text="Chapter")
    # Chapter 3 begins with sentence 80; the first link in it is moment 28, sentence 84, at 1:52.
    assert rows.nth(2).inner_text().split("\n") == ["Chapter 3: The Dial", "1:52"]
    assert rows.nth(0).get_attribute("aria-current") == "true"
    rows.nth(2).click()
    assert small.get_by_role("heading", name="Chapter 3 The Dial").is_visible()
    assert small.locator(".contents-now").inner_text() in (
        "Chapter 2: The River",
        "Chapter 3: The Dial",
    )
    small.get_by_role("slider", name="Alignment strip").press("Home")
    small.keyboard.press("s")
    small.keyboard.press("c")
    assert "4 more, which the film has not told yet" in dialog.inner_text()
    assert "Chapter 3" not in dialog.inner_text()


def test_the_text_grows_and_shrinks_and_stays_so(small):
    size = "parseFloat(getComputedStyle(document.querySelector('.sheet')).fontSize)"
    before = small.evaluate(size)
    for _ in range(2):
        small.get_by_role("button", name="Larger text").click()
    larger = small.evaluate(size)
    assert larger == pytest.approx(1.26 * before, rel=0.01)
    small.reload()
    assert small.evaluate(size) == larger
    for _ in range(7):
        if small.get_by_role("button", name="Smaller text").is_enabled():
            small.get_by_role("button", name="Smaller text").click()
    assert small.evaluate(size) == pytest.approx(0.8 * before, rel=0.01)
    assert small.get_by_role("button", name="Smaller text").is_disabled()


def test_names_of_what_the_film_has_not_told_go_when_it_is_hidden(new_page, write_page):
    book = make_book(200)
    texts = ["It rained all day, and nobody in the town had brought a coat."] * 200
    for j in range(4):
        texts[j] = "In the morning old Petra went down to Fairhithe with the others."
    for j in range(10, 20):
        texts[j] = "In the evening old Ludmila came back to the town by the river."
    page = new_page()
    page.goto(write_page(small_payload(with_texts(book, texts))))
    page.keyboard.press("n")
    names = page.get_by_role("navigation", name="People and places")
    names.get_by_role("button", name="Ludmila").wait_for()
    page.keyboard.press("s")
    page.get_by_text("The book is hidden beyond").wait_for()
    assert names.get_by_role("button").all_inner_texts() == ["Petra", "Fairhithe"]
    page.keyboard.press("s")
    names.get_by_role("button", name="Ludmila").wait_for()


@pytest.mark.parametrize("width", [360, 820, 1366])
def test_search_shows_the_whole_name_of_a_chapter(new_page, write_page, width):
    book = make_book(200)
    title = "CHAPTER THREE: A Great Deal of Percussion"
    chapters = tuple(replace(chapter, title=title) for chapter in book.chapters)
    page = new_page(width=width, height=800)
    page.goto(write_page(small_payload(replace(book, chapters=chapters))))
    page.keyboard.press("/")
    page.keyboard.type("sentence")
    place = page.locator(".found-place").first
    place.wait_for()
    assert title in place.inner_text()
    assert place.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_names_of_a_passage_lead_to_where_else_they_are(new_page, write_page):
    book = make_book(200)
    texts = [
        "It rained all day, and nobody in the whole of the town had thought to bring a coat."
    ] * 200
    for j in (0, 21, 40, 90):
        texts[j] = "In the morning old Petra went down to Fairhithe with the others."
    page = new_page()
    page.goto(write_page(small_payload(with_texts(book, texts))))
    page.keyboard.press("n")
    names = page.get_by_role("navigation", name="People and places")
    names.get_by_role("button", name="Petra").wait_for()
    assert names.get_by_role("button").all_inner_texts() == ["Petra", "Fairhithe"]
    names.get_by_role("button", name="Petra").click()
    assert page.locator(".found-status").inner_text() == (
        "4 sentences of the book, 0 lines of the film"
    )
    places = page.locator(".found-place").all_inner_texts()
    # Sentence 21 is moment 7, at 28 s; of sentence 40 only the paragraph is filmed, at 0:56.
    assert places[1].startswith("0:28 · Chapter 1")
    assert places[2].startswith("about 0:56 · Chapter 2")


def test_a_link_opens_at_its_moment(new_page, write_page):
    address = write_page(small_payload())
    page = new_page()
    page.goto(f"{address}#t=1:24.6")
    assert page.locator(".time").inner_text().startswith("1:24")
    assert page.locator(".sentence.now").get_attribute("data-sentence") == "63"
    assert page.locator(".sentence.now").is_visible()
    page.evaluate("location.hash = '#t=12.6'")
    page.locator(".sentence.now[data-sentence='9']").wait_for()
    page.goto(f"{address}#t=nonsense")
    page.reload()
    assert page.locator(".time").inner_text().startswith("0:12")


def test_a_moment_is_shared_as_a_link_and_a_picture(small):
    for _ in range(4):
        small.keyboard.press("n")
    small.get_by_role("button", name="Share this moment").click()
    dialog = small.get_by_role("dialog", name="This moment, 0:12")
    address = dialog.get_by_label("Link to this moment").input_value()
    assert address == f"{small.url}#t=12.5"
    with small.expect_download() as download:
        dialog.get_by_role("button", name="Save the picture").click()
    assert download.value.suggested_filename == "The-Weighbridge-0-12.png"
    image = Image.open(io.BytesIO(download.value.path().read_bytes())).convert("RGB")
    assert image.width == 1080
    # The frame on top, as wide as the card, in the colours of the shot; the passage below it.
    shot = Image.open(io.BytesIO(load_picture(picture(3)))).convert("RGB").getpixel((16, 9))
    seen = image.getpixel((540, 200))
    assert all(abs(a - b) < 12 for a, b in zip(seen, shot, strict=True))
    below = image.crop((0, 1080 * 18 // 32, 1080, image.height)).convert("L")
    low, high = below.getextrema()
    assert low < 80 < 240 < high
    assert "Sentence 9 speaks" in dialog.get_by_role("img").get_attribute("aria-label")


def load_picture(address: str) -> bytes:
    import base64

    return base64.b64decode(address.partition(",")[2])


def test_full_screen_has_a_seek_bar_and_the_passage(small):
    for _ in range(4):
        small.keyboard.press("n")
    assert small.locator(".passage").is_hidden()
    small.keyboard.press("f")
    small.wait_for_function("() => document.fullscreenElement !== null")
    passage = small.locator(".passage")
    assert passage.inner_text().startswith("Sentence 9 speaks")
    seek = small.get_by_role("slider", name="Seek")
    assert seek.input_value() == "13"
    seek.fill("84")
    assert passage.is_hidden() or passage.inner_text().startswith("Sentence 6")
    assert small.locator(".time").inner_text().startswith("1:24")
    seek.fill("85")
    assert passage.inner_text().startswith("Sentence 63 ")
    small.evaluate("document.activeElement.blur()")
    small.keyboard.press("p")
    assert passage.is_hidden()
    small.keyboard.press("f")
    small.wait_for_function("() => document.fullscreenElement === null")


def test_languages_give_direction_and_hyphens(new_page, write_page):
    payload = small_payload()
    payload["book"] |= {"language": "he"}
    payload["book"]["sentences"][0] = "הספינה חצתה את הנהר עם שחר."
    payload["film"] |= {"language": "fr"}
    page = new_page()
    page.goto(write_page(payload))
    assert page.locator(".sheet").get_attribute("lang") == "he"
    assert page.locator(".subtitle").get_attribute("lang") == "fr"
    first = page.locator(".item p").first
    assert first.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert first.evaluate("node => getComputedStyle(node).hyphens") == "auto"


def test_italics_of_a_book(new_page, write_page, tmp_path):
    (tmp_path / "book.html").write_text(
        "<p>The 🎬 was <i>dark</i>, and <i>The</i> <cite>Evening\nStar</cite> was late.</p>"
        "<div class='poem'><p>Oh, <i>the river</i></p><p><i>runs</i> down.</p></div>",
        encoding="utf-8",
    )
    book = load_book(tmp_path / "book.html")
    small = small_alignment()
    links = tuple(replace(link, sentence=0, alternatives=()) for link in small.links)
    page = new_page()
    page.goto(write_page(make_payload(Alignment(book=book, film=small.film, links=links))))
    assert page.locator(".sentence").all_inner_texts() == [
        "The 🎬 was dark, and The Evening Star was late.",
        "Oh, the river\nruns down.",
    ]
    slanted = page.locator(".sentence i")
    assert slanted.all_inner_texts() == ["dark", "The Evening Star", "the river", "runs"]
    assert slanted.first.evaluate("node => getComputedStyle(node).fontStyle") == "italic"


def test_verse_and_marked_headings_of_a_book(new_page, write_page, tmp_path):
    song = (
        "Oh, the river runs down to the sea,\n"
        "And the sea runs down to the sky,\n"
        "And nobody asks me why."
    )
    prose = (
        "He went down to the river and waited there for the ferry until it was nearly dark outside."
    )
    (tmp_path / "book.txt").write_text(
        f"## CHAPTER I\n\n{prose}\n\n{song}\n\n{prose}\n\n## CHAPTER II\n\n{prose}\n",
        encoding="utf-8",
    )
    book = load_book(tmp_path / "book.txt")
    small = small_alignment()
    links = tuple(replace(link, sentence=0, alternatives=()) for link in small.links)
    page = new_page()
    page.goto(write_page(make_payload(Alignment(book=book, film=small.film, links=links))))
    heads = page.get_by_role("heading", level=2).all_inner_texts()
    assert heads == ["CHAPTER I", "CHAPTER II"]
    lines = page.locator(".verse").inner_text().split("\n")
    assert [line.strip() for line in lines] == song.split("\n")
    assert not re.search("#", page.locator(".sheet").inner_text())


@pytest.mark.parametrize(
    "size", [UPRIGHT, SIDEWAYS, {"width": 768, "height": 1024}, {"width": 1366, "height": 768}]
)
def test_full_screen_is_full_of_the_film(new_page, write_page, size):
    page = new_page(**size)
    page.goto(write_page(small_payload()))
    page.keyboard.press("n")
    page.keyboard.press("f")
    page.locator(".stage:fullscreen").wait_for()
    page.locator(".stage:fullscreen .passage").wait_for()
    screen, passage, said, seek = (
        page.locator(part).bounding_box() for part in (".screen", ".passage", ".subtitle", ".seek")
    )
    assert screen["width"] == size["width"]
    assert screen["height"] > size["height"] - 130  # all but the seek bar and the buttons
    assert screen["y"] <= passage["y"]
    assert passage["y"] + passage["height"] <= said["y"]
    assert said["y"] + said["height"] <= seek["y"]
    page.keyboard.press("p")
    assert page.locator(".passage").is_hidden()


def test_a_tablet_has_room_for_fingers(new_page, write_page):
    page = new_page(width=768, height=1024, is_mobile=True, has_touch=True)
    payload = small_payload()
    payload["film"]["duration_s"] = 5057
    page.goto(write_page(payload))
    page.evaluate("document.querySelector('.mute').hidden = false")  # as with a film
    assert page.locator(".actions").is_visible()
    assert targets(page) == []
    film = page.locator(".film").bounding_box()
    for part in (".controls .share", ".controls > :last-child", ".actions > :last-child", ".zoom"):
        box = page.locator(part).bounding_box()
        assert box["x"] + box["width"] <= film["x"] + film["width"], part
    tops = {round(b.bounding_box()["y"]) for b in page.locator(".actions > button:visible").all()}
    assert len(tops) == 1


def test_the_margin_has_the_first_time_of_a_paragraph(new_page, write_page):
    payload = small_payload()
    first, second = payload["book"]["paragraphs"][1:3]
    assert second - first > 1
    for link in payload["links"]:
        link |= {"sentence": 0, "in_book": True, "score": 0.9, "alternatives": []}
    payload["links"][5] |= {"sentence": first + 1}
    payload["links"][20] |= {"sentence": first}
    page = new_page()
    page.goto(write_page(payload))
    paragraph = page.locator(".item", has=page.locator(f"[data-sentence='{first}']"))
    start_s = payload["moments"][5]["start_s"]
    assert paragraph.get_attribute("data-time") == f"{int(start_s // 60)}:{int(start_s % 60):02}"


@pytest.mark.parametrize(
    "size", [UPRIGHT, SIDEWAYS, {"width": 768, "height": 1024}, {"width": 1366, "height": 768}]
)
def test_long_titles_push_nothing_out(new_page, write_page, size):
    payload = small_payload()
    long = "The Extraordinarily Long and Quite Unabbreviated Title of a Victorian Novel " * 2
    payload["book"]["title"] = payload["film"]["title"] = long
    payload["book"]["chapters"][0]["title"] = long
    page = new_page(**size)
    page.goto(write_page(payload))
    for part in (".bar", ".film", ".book", ".contents-now", ".controls > :last-child"):
        box = page.locator(part).bounding_box()
        assert box["x"] + box["width"] <= size["width"], part
    assert page.locator(".search input").bounding_box()["width"] >= 100


def test_times_of_hours_are_whole_on_a_phone(new_page, write_page):
    payload = small_payload()
    payload["film"]["duration_s"] = 6826
    page = new_page(**UPRIGHT)
    page.goto(f"{write_page(payload)}#t=5700")
    time = page.locator(".time")
    assert time.inner_text() == "1:35:00 / 1:53:46"
    assert time.evaluate("node => node.scrollWidth <= node.clientWidth")
