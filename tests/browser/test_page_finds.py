"""The page in a browser: search, sure links, the fidelity report, and no spoilers."""

import pytest
from made_payloads import make_book, make_film, small_payload

from folioreel.export.page_html import make_payload
from folioreel.types import Alignment, Link


def search(page, words: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(words)


def options(page):
    return page.get_by_role("listbox", name="Found").get_by_role("option")


def test_search_finds_sentences_and_lines_together(small):
    search(small, "SENTENCE 57 ")
    # The phrase first, then “157”, which has both words, too.
    assert options(small).count() == 2
    assert "Chapter 2" in options(small).first.inner_text()
    small.keyboard.press("Enter")
    place = small.locator(".sentence[data-sentence='57']")
    assert "picked" in place.get_attribute("class")
    assert place.is_visible()
    small.keyboard.press("Enter")
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "57"
    search(small, "line 21")
    assert (
        small.locator(".found-status").inner_text() == "0 sentences of the book, 1 line of the film"
    )
    assert small.locator("mark").inner_text() == "Line 21"
    small.keyboard.press("ArrowDown")
    assert options(small).get_attribute("aria-selected") == "true"
    small.keyboard.press("Enter")
    assert small.locator(".time").inner_text().startswith("1:24")


def test_search_marks_words_in_any_order_and_says_when_there_is_nothing(small):
    search(small, "bolt 5")
    texts = options(small).locator(".found-text").all_inner_texts()
    assert texts
    assert all("bolt" in text and "5" in text for text in texts)
    small.get_by_role("combobox", name="Search").fill("zeppelin")
    assert small.locator(".found-status").inner_text() == "Nothing found."
    small.keyboard.press("Escape")
    assert small.locator(".found").is_hidden()


def test_only_sure_links(small):
    """Scores go 1.0, 0.9 … 0.3 and begin again: at 75 % three of eight remain."""
    linked = small.locator(".sentence.linked")
    before = linked.count()
    small.get_by_label("Show only links at least this sure").fill("75")
    assert small.locator(".slider-value").inner_text() == "≥ 75 %"
    assert 0 < linked.count() < before
    for _ in range(4):
        small.keyboard.press("n")
    # Moments 0, 1, 2 (scores 1, .9, .8), then 8: 6 is not in the book and 3 … 7 are below.
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "24"
    for _ in range(4):
        small.keyboard.press("[")
    assert small.locator(".slider-value").inner_text() == "≥ 55 %"


def test_the_report_counts_what_is_linked(small):
    payload = small_payload()
    used = {
        next(p for p in range(len(starts)) if starts[p] <= link["sentence"] < starts[p] + 4)
        for starts in [payload["book"]["paragraphs"]]
        for link in payload["links"]
        if link["in_book"]
    }
    small.keyboard.press("r")
    dialog = small.get_by_role("dialog", name="Fidelity")
    first = sum(p in used for p in range(10))
    row = dialog.get_by_role("button", name="Chapter 1: The Ferry")
    assert row.locator(".row-share").inner_text() == f"{first * 10} %"
    total = round(100 * len(used) / len(payload["book"]["paragraphs"]))
    assert f"The film uses {total} % of the book’s paragraphs." in dialog.inner_text()
    in_book = sum(link["in_book"] for link in payload["links"])
    assert (
        f"{round(100 * in_book / 60)} % of the film’s moments are in the book."
        in dialog.inner_text()
    )
    assert dialog.get_by_role("img").count() == 2
    dialog.get_by_role("button", name="Chapter 4").click()
    assert dialog.is_hidden()
    assert small.get_by_role("heading", name="Chapter 4 The Kilos").is_visible()


def everything(page) -> str:
    """All text that is in the document, the page's own data apart."""
    return page.evaluate(
        "() => [...document.body.children].filter((e) => e.tagName !== 'SCRIPT')"
        ".map((e) => e.textContent).join(' ')"
    )


def scroll_through(page) -> str:
    """What the book shows from its start to its end."""
    seen = []
    for share in range(11):
        page.evaluate(
            "(share) => { const s = document.querySelector('.book-scroll');"
            " s.scrollTop = s.scrollHeight * share / 10; }",
            share,
        )
        page.wait_for_timeout(40)
        seen.append(everything(page))
    return " ".join(seen)


def test_no_spoilers_hides_what_has_not_been_seen_everywhere(small):
    small.locator(".sentence[data-sentence='30']").click()  # moment 10, at 40 s
    small.keyboard.press("s")
    assert small.locator(".notice").inner_text() == "The book is hidden beyond 0:40 of the film."
    text = scroll_through(small)
    assert "Sentence 30 " in text
    assert "Sentence 31 " not in text
    assert "Chapter 2" not in text
    search(small, "sentence 31 ")
    assert small.locator(".found-status").inner_text() == "Nothing found in what has been seen."
    small.get_by_role("combobox", name="Search").fill("line 15")
    assert options(small).count() == 0
    small.keyboard.press("Escape")
    small.keyboard.press("Escape")
    small.keyboard.press("r")
    assert "Chapter 2" not in everything(small)
    assert small.get_by_role("button", name="Not seen yet").count() == 4
    small.keyboard.press("Escape")
    small.get_by_role("dialog").wait_for(state="hidden")
    small.locator("dialog :focus").wait_for(state="detached")  # it gets the keys until then
    small.keyboard.press("n")
    small.locator(".notice", has_text="still hidden").wait_for()


def test_playing_on_lifts_the_veil_and_it_can_be_taken_away(small):
    small.locator(".sentence[data-sentence='3']").click()
    small.keyboard.press("s")
    assert small.locator(".sentence").last.get_attribute("data-sentence") == "3"
    small.get_by_label("Speed").select_option("3")
    small.get_by_role("button", name="Play (space)").click()
    small.locator(".sentence[data-sentence='6']").wait_for()
    small.get_by_role("button", name="Pause (space)").click()
    assert small.get_by_role("button", name="seen to").is_visible()
    small.get_by_role("button", name="Show the whole book").click()
    small.locator(".sentence[data-sentence='20']").wait_for()


def test_looking_ahead_while_paused_shows_nothing(small):
    small.keyboard.press("s")
    small.get_by_role("slider", name="Alignment strip").press("End")
    assert small.locator(".place-chapter").inner_text() == "Hidden: not seen yet"
    assert small.locator(".sentence").count() == 0


def test_a_leap_ahead_while_playing_shows_nothing(small):
    small.locator(".sentence[data-sentence='3']").click()
    small.keyboard.press("s")
    small.get_by_role("button", name="Play (space)").click()
    box = small.get_by_role("slider", name="Alignment strip").bounding_box()
    small.mouse.click(box["x"] + box["width"] * 0.825, box["y"] + 6)
    small.wait_for_timeout(400)
    assert small.locator(".time").inner_text().startswith("3:1")
    assert small.locator(".place-chapter").inner_text() == "Hidden: not seen yet"
    assert int(small.locator(".sentence").last.get_attribute("data-sentence")) <= 6
    small.keyboard.press("h")
    assert small.locator(".place-chapter").inner_text() != "Hidden: not seen yet"


@pytest.mark.parametrize("chapters", [0, 1])
def test_a_book_without_chapters_and_a_film_without_shots(new_page, write_page, chapters):
    """Subtitles alone and a text without heads: the page still works, on a clock."""
    from dataclasses import replace

    book, film = make_book(30), make_film(8)
    whole = replace(book.chapters[0], title="", paragraphs=range(len(book.paragraphs)))
    book = replace(book, chapters=(whole,) if chapters else ())
    film = replace(film, shots=())
    links = tuple(Link(moment=i, sentence=i, score=0.9) for i in range(len(film.moments)))
    page = new_page()
    page.goto(write_page(make_payload(Alignment(book=book, film=film, links=links))))
    page.keyboard.press("n")
    assert page.locator(".title-card").inner_text() == "Line 0 is said of the ferry."
    assert page.locator(".sentence.now").get_attribute("data-sentence") == "0"
    assert page.locator(".timeline").is_hidden()
    page.keyboard.press("r")
    assert page.get_by_role("dialog", name="Fidelity").is_visible()
