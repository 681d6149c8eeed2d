"""The page in a browser: playing, following, clicking, the keyboard, and what a reload keeps."""

import re
from pathlib import Path

import pytest


def sentence(page, number: int):
    return page.locator(f".sentence[data-sentence='{number}']")


def now(page) -> int | None:
    """The sentence that glows, if one does."""
    glowing = page.locator(".sentence.now")
    return int(glowing.get_attribute("data-sentence")) if glowing.count() else None


def time_s(page) -> float:
    minutes, seconds = page.locator(".time").inner_text().split(" / ")[0].split(":")
    return int(minutes) * 60 + int(seconds)


def is_in_view(page, number: int) -> bool:
    box, view = sentence(page, number).bounding_box(), page.locator(".book-scroll").bounding_box()
    return view["y"] <= box["y"] and box["y"] + box["height"] <= view["y"] + view["height"]


def wait_until_still(page) -> None:
    page.wait_for_function(
        """() => new Promise((done) => {
            const scroller = document.querySelector(".book-scroll");
            const before = scroller.scrollTop;
            setTimeout(() => done(scroller.scrollTop === before), 120);
        })"""
    )


def test_it_opens_at_the_start_with_the_book_s_head(small):
    assert small.title() == "The Weighbridge – folioreel"
    assert small.get_by_role("heading", name="The Weighbridge", exact=True).is_visible()
    assert small.get_by_role("heading", name="Chapter 1 The Ferry").is_visible()
    assert time_s(small) == 0


def test_playing_moves_the_time_the_subtitle_and_the_glow(small):
    small.get_by_role("button", name="Play (space)").click()
    small.get_by_label("Speed").select_option("3")
    small.locator(".sentence.now[data-sentence='3']").wait_for()
    assert small.locator(".subtitle").inner_text() == "Line 1 is said of the river."
    assert small.locator(".place-chapter").inner_text() == "Chapter 1: The Ferry"
    assert small.locator(".place-sure").inner_text() == "Sure: 90 % within three paragraphs"
    small.get_by_role("button", name="Pause (space)").click()
    stopped = time_s(small)
    small.wait_for_timeout(400)
    assert time_s(small) == stopped


def test_the_page_follows_softly_until_the_reader_scrolls_away(small):
    for _ in range(40):
        small.keyboard.press(".")
    wait_until_still(small)
    assert now(small) == 39 * 3
    assert is_in_view(small, 39 * 3)
    back = small.get_by_role("button", name="Back to the film’s place")
    assert back.is_hidden()
    small.locator(".book-scroll").hover()
    small.mouse.wheel(0, -4000)
    back.wait_for()
    top = small.evaluate("document.querySelector('.book-scroll').scrollTop")
    small.keyboard.press("ArrowRight")
    wait_until_still(small)
    assert now(small) is None or not is_in_view(small, now(small))
    assert small.evaluate("document.querySelector('.book-scroll').scrollTop") == top
    back.click()
    back.wait_for(state="hidden")
    small.wait_for_timeout(100)  # until the page begins to move
    wait_until_still(small)
    assert is_in_view(small, now(small))


def test_a_click_on_a_linked_sentence_moves_the_film_there(small):
    sentence(small, 9).click()
    # Moment 3: a line in the fourth shot, which begins at 12 s.
    assert time_s(small) == 12
    assert now(small) == 9
    assert small.locator(".subtitle").inner_text() == "Line 3 is said of the kilos."


def test_a_click_on_a_sentence_without_a_link_only_picks_it(small):
    sentence(small, 4).click()
    assert time_s(small) == 0
    assert "picked" in sentence(small, 4).get_attribute("class")


def test_selecting_text_does_not_move_the_film(small):
    box = sentence(small, 9).bounding_box()
    small.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    small.mouse.down()
    small.mouse.move(box["x"] + 150, box["y"] + box["height"] / 2, steps=4)
    small.mouse.up()
    assert small.evaluate("getSelection().toString()") != ""
    assert time_s(small) == 0


def test_a_moment_that_is_not_in_the_book_says_so(small):
    for _ in range(7):
        small.keyboard.press(".")
    assert small.locator(".place-chapter").inner_text() == "Not in the book"
    assert now(small) is None
    small.keyboard.press("n")
    assert now(small) == 21
    small.keyboard.press("b")
    assert now(small) == 15


def test_the_strip_can_be_clicked_zoomed_and_walked(small):
    board = small.get_by_role("slider", name="Alignment strip")
    box = board.bounding_box()
    small.mouse.click(box["x"] + box["width"] / 2, box["y"] + 6)
    assert abs(time_s(small) - 120) <= 2
    board.press("ArrowRight")
    assert board.get_attribute("aria-valuetext").startswith("2:0")
    before = board.screenshot()
    small.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    small.mouse.wheel(0, -400)
    small.wait_for_timeout(100)
    assert board.screenshot() != before
    # Zoomed in around the middle, the left edge is no longer the film's start.
    small.mouse.click(box["x"] + 2, box["y"] + 6)
    assert time_s(small) > 10
    small.keyboard.press("0")
    small.mouse.click(box["x"] + 2, box["y"] + 6)
    assert time_s(small) <= 1


def test_the_timeline_shows_shots_and_seeks(small):
    timeline = small.get_by_role("slider", name="Time in the film")
    pictures = timeline.locator(".pictures img[src^='data:image/jpeg']")
    assert pictures.count() >= 5
    box = timeline.bounding_box()
    small.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + 10)
    assert abs(time_s(small) - 180) <= 2


def test_sliders_have_a_value_from_the_start_and_all_their_keys(small):
    board = small.get_by_role("slider", name="Alignment strip")
    assert board.get_attribute("aria-valuenow") == "0"
    assert board.get_attribute("aria-valuetext") == "0:00, no link"
    for key, moment in (("PageUp", 10), ("ArrowUp", 11), ("PageDown", 1), ("ArrowDown", 0)):
        board.press(key)
        assert board.get_attribute("aria-valuenow") == str(moment)
    timeline = small.get_by_role("slider", name="Time in the film")
    timeline.press("Home")
    assert timeline.get_attribute("aria-valuetext") == "0:00"
    for key, words in (("PageUp", "1:00"), ("ArrowUp", "1:05"), ("PageDown", "0:05")):
        timeline.press(key)
        assert timeline.get_attribute("aria-valuetext") == words


def test_a_focused_sentence_that_scrolls_away_leaves_the_focus_in_the_book(small):
    small.keyboard.press("j")
    assert small.evaluate("document.activeElement.className").startswith("sentence")
    small.evaluate("document.querySelector('.book-scroll').scrollTop = 1e9")
    sentence(small, 199).wait_for()
    assert small.evaluate("document.activeElement.className") == "book-scroll"


def test_stepping_is_announced_and_playing_is_not(small):
    spoken = small.locator(".place [aria-live]")
    assert spoken.text_content() == ""
    small.keyboard.press("n")
    sure = "Very sure: 100 % within three paragraphs"
    words = f"0:00. Chapter 1: The Ferry. {sure}. Line 0 is said of the ferry."
    assert spoken.text_content() == words
    small.get_by_label("Speed").select_option("3")
    small.keyboard.press(" ")
    small.locator(".sentence.now[data-sentence='3']").wait_for()
    assert spoken.text_content() == words


def test_a_notice_goes_by_a_click_and_by_escape(small):
    notice = small.locator(".notice")
    for dismiss in (notice.click, lambda: small.keyboard.press("Escape")):
        small.keyboard.press("u")
        small.locator(".notice.on").wait_for()
        dismiss()
        assert notice.get_attribute("class") == "notice"


def write_webm(path: Path, seconds: int) -> None:
    import av
    import numpy as np

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libvpx", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for k in range(seconds * 5):
            grey = np.full((36, 64, 3), k % 200, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(stream.encode())


def test_a_chosen_video_of_another_length_is_asked_about(small, tmp_path):
    """The film is four minutes long."""
    write_webm(tmp_path / "same.webm", 238)
    write_webm(tmp_path / "other.webm", 200)
    choose = small.get_by_label("Choose the film’s file")
    choose.set_input_files(tmp_path / "same.webm")
    small.locator("video").wait_for()
    small.get_by_role("button", name="Mute").wait_for()
    assert small.locator(".notice").inner_text() == ""
    choose.set_input_files(tmp_path / "other.webm")
    small.get_by_text("This video is 3:20 long, the aligned film 4:00").wait_for()


def test_everything_by_keyboard_alone(small):
    """No pointer: reach the controls by Tab, act by keys, and see where the focus is."""
    small.keyboard.press("?")
    assert small.get_by_role("dialog", name="Keys").is_visible()
    small.keyboard.press("Escape")
    small.get_by_role("dialog").wait_for(state="hidden")
    small.locator("dialog :focus").wait_for(state="detached")  # it gets the keys until then
    small.keyboard.press("n")
    # On a busy machine Tab would otherwise pass the buttons before there is a link to judge.
    small.locator("button:enabled").filter(has_text="Right").wait_for()
    names = []
    for _ in range(40):
        small.keyboard.press("Tab")
        names.append(
            small.evaluate(
                "() => { const a = document.activeElement; return a === document.body ? '' :"
                " (a.getAttribute('aria-label') || a.textContent || a.title) }"
            )
        )
    for wanted in ("Search book and subtitles", "No spoilers", "Fidelity", "Play (space)", "Right",
                   "Not in the book", "Time in the film", "Text of the book"):  # fmt: skip
        assert any(wanted in name for name in names), (wanted, names)
    small.evaluate("document.activeElement.blur()")
    small.keyboard.press("j")
    focused = small.evaluate("document.activeElement.dataset.sentence")
    assert focused == str((now(small) or 0) + 1)
    for _ in range(2):
        small.keyboard.press("j")
    small.keyboard.press("Enter")
    assert now(small) == int(focused) + 2
    small.keyboard.press(" ")
    small.get_by_role("button", name="Pause (space)").wait_for()
    small.keyboard.press(" ")


def test_the_document_lists_the_keys_that_the_page_has(small):
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "view.md").read_text("utf-8")
    small.keyboard.press("?")
    rows = small.get_by_role("dialog", name="Keys").locator("dl > div").all()
    shown = [(row.locator("dt").inner_text(), row.locator("dd").inner_text()) for row in rows]
    assert len(shown) > 25
    assert [f"| `{key}` | {does} |" for key, does in shown] == re.findall(
        r"^\| `.*`.*\|$", text, re.M
    )[: len(shown)]


def test_letter_keys_can_be_turned_off(small):
    small.keyboard.press("?")
    small.get_by_label("Letter keys act").uncheck()
    small.keyboard.press("Escape")
    small.get_by_role("dialog").wait_for(state="hidden")
    small.locator("dialog :focus").wait_for(state="detached")  # it gets the keys until then
    small.keyboard.press("n")
    assert time_s(small) == 0
    small.keyboard.press("ArrowRight")
    assert time_s(small) == 5


def test_a_reload_keeps_the_place_the_theme_the_slider_and_the_veil(small):
    sentence(small, 9).click()
    small.keyboard.press("]")
    small.keyboard.press("s")
    small.get_by_role("button", name=re.compile("^Colours")).click()
    small.reload()
    assert time_s(small) == 12
    assert now(small) == 9
    assert small.locator("html").get_attribute("data-theme") == "light"
    assert small.locator(".slider-value").inner_text() == "≥ 55 %"
    assert small.get_by_role("button", name="No spoilers").get_attribute("aria-pressed") == "true"
    assert sentence(small, 40).count() == 0


def test_dark_colours_come_from_the_system_and_by_the_switch(new_page, write_page):
    from made_payloads import small_payload

    page = new_page(color_scheme="dark")
    page.goto(write_page(small_payload()))
    colour = "getComputedStyle(document.querySelector('.book')).backgroundColor"
    dark = page.evaluate(colour)
    for system in ("light", "dark"):
        page.emulate_media(color_scheme=system)
        page.locator(f"html[data-theme='{system}']").wait_for()
    page.keyboard.press("t")
    light = page.evaluate(colour)
    assert dark != light
    page.keyboard.press("t")
    assert page.evaluate(colour) == dark


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_following_glides_unless_the_reader_asked_for_less_motion(new_page, write_page, motion):
    from made_payloads import small_payload

    page = new_page(reduced_motion=motion)
    page.goto(write_page(small_payload()))
    top = "document.querySelector('.book-scroll').scrollTop"
    board = page.get_by_role("slider", name="Alignment strip")
    board.press("End")
    at_once = page.evaluate(top)
    wait_until_still(page)
    at_last = page.evaluate(top)
    assert at_last > 500
    assert (at_once == at_last) == (motion == "reduce")


def test_the_light_stays_between_two_passages_and_does_not_flicker(small):
    """Moment 6, at 24 s, is not in the book; moments 5 and 7 are."""
    sentence(small, 15).click()
    small.evaluate(
        """() => {
            window.lights = [];
            const look = () => {
                const lit = document.querySelector(".sentence.now, .sentence.was");
                const name = lit && `${lit.dataset.sentence} ${lit.classList.contains("now")}`;
                if (window.lights.at(-1) !== name) window.lights.push(name);
                requestAnimationFrame(look);
            };
            look();
        }"""
    )
    small.get_by_label("Speed").select_option("3")
    small.get_by_role("button", name="Play (space)").click()
    small.locator(".sentence.now[data-sentence='21']").wait_for()
    assert small.evaluate("window.lights") == ["15 true", "15 false", "21 true"]
    # A leap leaves no light behind.
    sentence(small, 15).click()
    small.keyboard.press(" ")
    small.keyboard.press(".")
    assert small.locator(".was").count() == 0


def test_a_title_card_is_not_called_absent(new_page, write_page):
    """The first shot is silent and not in the book."""
    from dataclasses import replace

    from made_payloads import small_alignment

    from folioreel.export.page_html import make_payload

    alignment = small_alignment()
    links = tuple(
        replace(link, in_book=False, score=0.001, alternatives=()) if link.moment == 4 else link
        for link in alignment.links
    )
    page = new_page()
    page.goto(write_page(make_payload(replace(alignment, links=links))))
    for _ in range(5):
        page.keyboard.press(".")
    assert page.locator(".place-state").inner_text().strip() == "Nobody speaks"
    assert page.locator(".other").count() == 0
