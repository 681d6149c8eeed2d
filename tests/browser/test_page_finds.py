"""The page in a browser: search, sure links, the fidelity report, and no spoilers."""

import json
import re
from dataclasses import replace

import pytest
from made_payloads import make_book, make_film, small_alignment

from folioreel.apps.adaptation import measure_adaptation
from folioreel.apps.report_pages import percent
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


def test_the_page_s_shares_are_those_of_the_report(small):
    """The same figures, computed by Python and by the page."""
    found = measure_adaptation(small_alignment())
    small.keyboard.press("r")
    dialog = small.get_by_role("dialog", name="Fidelity")
    text = dialog.inner_text()
    lines = percent(found.lines.share())
    assert f"{lines} of the film’s lines are in the book." in text
    words = percent(found.book_words.share())
    assert f"{words} of the book’s words are in paragraphs that the film renders." in text
    shares = dialog.locator(".chapters .row-share").all_inner_texts()
    assert shares == [percent(chapter.share) for chapter in found.chapters]
    shares = dialog.locator(".scenes .row-share").all_inner_texts()
    assert shares == [percent(scene.share) for scene in found.scenes]
    assert dialog.get_by_role("img").count() == 2
    dialog.get_by_role("button", name="Chapter 4").click()
    assert dialog.is_hidden()
    assert small.get_by_role("heading", name="Chapter 4 The Kilos").is_visible()


def test_a_judgement_makes_the_share_surer(small):
    def text() -> str:
        small.keyboard.press("r")
        dialog = small.get_by_role("dialog", name="Fidelity")
        words = re.search(r"(\d+) % \(\d+–\d+ %\) of the film", dialog.inner_text())
        small.keyboard.press("Escape")
        small.get_by_role("dialog").wait_for(state="hidden")
        small.locator("dialog :focus").wait_for(state="detached")  # it gets the keys until then
        return int(words[1])

    before = text()
    for _ in range(7):
        small.keyboard.press("n")
        small.keyboard.press("x")
    small.get_by_text("You said so").wait_for()
    # Seven sure lines of 48 are none any longer.
    assert text() < before - 5


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
    # The whole paragraph of what was told, and nothing after it.
    assert "Sentence 30 " in text
    assert "Sentence 31 " in text
    assert "Sentence 32 " not in text
    assert "Chapter 2" not in text
    search(small, "sentence 32 ")
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
    assert small.locator(".gap").count() == 0
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


def shown_sentences(page) -> set[int]:
    """The numbers of all sentences that the book shows, from its start to its end."""
    return {int(number) for number in re.findall(r"Sentence (\d+) ", scroll_through(page))}


@pytest.fixture
def leaping(new_page, write_page):
    """Moment 2 surely shows what stands near the end of the book; moment 3 is not in the book."""
    alignment = small_alignment()
    links = list(alignment.links)
    links[2] = replace(links[2], sentence=180, score=0.96)
    links[3] = replace(links[3], sentence=120, score=0.4, in_book=False)
    page = new_page()
    page.goto(write_page(make_payload(replace(alignment, links=tuple(links)))))
    return page


def test_a_flash_forward_lifts_its_own_passage_alone(leaping):
    for _ in range(5):
        leaping.keyboard.press(".")
    leaping.keyboard.press("s")
    # Moments 0, 1, 4: sentences 0, 3 and 12, and the paragraphs between; moment 2: sentence 180.
    assert shown_sentences(leaping) == {*range(16), *range(180, 184)}
    assert leaping.get_by_role("heading", level=2).count() == 2
    assert leaping.locator(".gap").count() == 1


def test_what_was_watched_is_not_hidden_and_a_guess_tells_nothing(leaping):
    for _ in range(4):
        leaping.keyboard.press(".")
    leaping.keyboard.press("s")
    assert leaping.locator(".place-chapter").inner_text() == "Not in the book"
    assert leaping.locator(".other").count() == 0  # it would give away sentence 120
    for threshold in ("0", "50"):
        leaping.get_by_label("Show only links at least this sure").fill(threshold)
        assert 120 not in shown_sentences(leaping)


def test_seen_to_changes_the_veil_at_once(leaping):
    for _ in range(9):
        leaping.keyboard.press(".")
    leaping.keyboard.press("s")
    before = shown_sentences(leaping)
    leaping.keyboard.press("Home")
    leaping.get_by_role("slider", name="Alignment strip").press("Home")
    leaping.get_by_role("button", name="seen to").click()
    assert shown_sentences(leaping) == {0, 1, 2, 3} < before
    leaping.get_by_role("slider", name="Alignment strip").press("PageUp")
    assert leaping.locator(".place-chapter").inner_text() == "Hidden: not seen yet"
    leaping.get_by_role("button", name="seen to").click()
    assert leaping.locator(".place-chapter").inner_text() == "Chapter 1: The Ferry"
    assert shown_sentences(leaping) > before


def test_of_the_demo_nothing_that_was_watched_stays_hidden(demo, new_page):
    links = json.loads((demo / "alignment.json").read_text("utf-8"))["links"]
    page = new_page()
    page.goto((demo / "page.html").as_uri())
    page.get_by_role("slider", name="Alignment strip").press("End")
    page.keyboard.press("s")
    absent = [link["moment"] for link in links if not link["in_book"] and link["text"]]
    board = page.get_by_role("slider", name="Alignment strip")
    for moment in absent[:: len(absent) // 12]:
        page.evaluate(f"location.hash = '#t={links[moment]['start_s'] + 0.05}'")
        page.wait_for_function(
            "(i) => document.querySelector('.strip-board').ariaValueNow === String(i)", arg=moment
        )
        assert page.locator(".place-chapter").inner_text() == "Not in the book"
    told = {link["paragraph"] for link in links if link["in_book"]}
    assert len(told) > 200
    assert board.get_attribute("aria-valuemax") == str(len(links) - 1)
    text = everything(page) + scroll_through(page)
    assert "By-law 10 said that the clerk" in text


@pytest.mark.parametrize("chapters", [0, 1])
def test_a_book_without_chapters_and_a_film_without_shots(new_page, write_page, chapters):
    """Subtitles alone and a text without heads: the page still works, on a clock."""
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
