"""The page in a browser: correcting links, over the real server and in the one-file page."""

import json
import re
import shutil
import subprocess
import sys
import time

import pytest
from made_pages import make_alignment, open_session, serving
from made_payloads import small_payload

from folioreel.export.alignment_json import read_alignment
from folioreel.export.page_html import write_page


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    """A drawn film and its book, aligned once; each test works on a copy."""
    return make_alignment(tmp_path_factory.mktemp("aligned") / "pair").parent


@pytest.fixture
def served(aligned, tmp_path, new_page):
    """The page over the real server, with the film; yields the page and the results' folder."""
    shutil.copytree(aligned, tmp_path / "pair")
    with serving(tmp_path / "pair" / "result") as server:
        page = new_page()
        page.goto(server.origin + server.address.path)
        yield page, tmp_path / "pair" / "result"


def sentence(page, number: int):
    return page.locator(f".sentence[data-sentence='{number}']")


def place(page) -> str:
    return page.locator(".place-state").inner_text()


def judged(result) -> list[dict]:
    lines = (result / "judged" / "journal.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def glowing(page) -> str:
    return page.locator(".sentence.now").inner_text()


def test_a_film_that_the_browser_cannot_play_goes_on_a_clock(served):
    """The drawn film is MPEG-4 part 2, which Chromium does not decode."""
    page, _ = served
    page.get_by_text("The browser cannot play this video.").wait_for()
    page.get_by_role("button", name="Play (space)").click()
    page.locator(".subtitle", has_text="Who opened the").wait_for()
    assert "hoarding" in glowing(page)


def test_a_link_is_confirmed_moved_and_undone_and_kept_on_disk(served):
    page, result = served
    page.keyboard.press("n")
    assert "Sixty-one kilos" in glowing(page)
    right = sentence(page, int(page.locator(".sentence.now").get_attribute("data-sentence")))
    page.get_by_role("button", name="Right").click()
    page.get_by_text("You confirmed it").wait_for()
    assert judged(result)[-1]["judgement"]["verdict"] == "match"
    page.get_by_role("button", name="Not in the book").click()
    page.get_by_text("You said so").wait_for()
    assert page.locator(".sentence.now").count() == 0
    # By keyboard: two sentences on from the one that was right, “Link here”.
    right.click()
    page.keyboard.press("j")
    page.keyboard.press("l")
    page.get_by_text("You linked it here").wait_for()
    moved = glowing(page)
    assert "water" in moved
    for words in ("You said so", "You confirmed it"):
        page.keyboard.press("u")
        page.get_by_text(words).wait_for()
    page.keyboard.press("Control+z")
    page.get_by_role("button", name="Undo", disabled=True).wait_for()
    assert "Sixty-one kilos" in glowing(page)
    page.keyboard.press("y")
    page.get_by_text("You confirmed it").wait_for()
    page.reload()
    page.get_by_text("You confirmed it").wait_for()


def test_a_moved_link_is_told_from_a_confirmed_one_after_a_reload(served):
    page, result = served
    page.keyboard.press("n")
    sentence(page, 0).click()
    page.keyboard.press("l")
    page.get_by_text("You linked it here").wait_for()
    page.reload()
    page.locator(".place-sure", has_text="You linked it here").wait_for()
    assert page.locator(".other").first.inner_text().startswith("1")  # still to choose from
    # The file that follows from it no longer knows what it was: it does not say “confirmed”.
    write_page(read_alignment(result / "judged"), result / "page.html")
    time = page.evaluate("() => document.querySelector('.time').textContent.split(' ')[0]")
    page.goto(f"{(result / 'page.html').as_uri()}#t={time}.5")
    page.locator(".place-sure", has_text="You found it in the book").wait_for()


def test_what_is_shared_from_the_server_holds_no_secret(served):
    page, _ = served
    secret = page.url.rstrip("/").rsplit("/", 1)[1]
    page.keyboard.press("n")
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog")
    address = dialog.get_by_label("Link to this moment").input_value()
    assert re.fullmatch(r"page\.html#t=[\d.]+", address)
    assert "works on this computer only, while folioreel view runs" in dialog.inner_text()
    assert len(secret) > 10
    assert secret not in dialog.inner_html()


def drag(page, start, end) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=3)
    page.mouse.move(*end, steps=3)


def centre(locator) -> tuple[float, float]:
    # Of its first line: between the lines of a sentence that wraps lies the paragraph.
    box = locator.evaluate("node => node.getClientRects()[0].toJSON()")
    return box["x"] + min(60, box["width"] / 2), box["y"] + box["height"] / 2


def test_a_link_is_moved_by_dragging_it_in_the_book(served):
    page, result = served
    page.keyboard.press("n")
    page.wait_for_timeout(600)
    drag(page, centre(page.locator(".grip")), centre(sentence(page, 0)))
    assert page.locator(".drag-label").inner_text().startswith("The ferry crossed the river")
    page.mouse.up()
    page.get_by_text("You linked it here").wait_for()
    assert glowing(page).startswith("The ferry crossed the river")
    assert judged(result)[-1]["judgement"]["sentence"] == 0


def test_a_drag_from_the_strip_ends_on_a_sentence_and_escape_leaves_all_as_it_was(served):
    page, _ = served
    page.keyboard.press("n")
    page.wait_for_timeout(600)
    number = int(page.locator(".sentence.now").get_attribute("data-sentence"))
    count = page.locator(".sentence").count()
    box = page.locator(".strip-board").bounding_box()
    handle = (box["x"] + (number + 0.5) / count * box["width"], box["y"] + box["height"] - 22)
    drag(page, handle, centre(sentence(page, 1)))
    page.keyboard.press("Escape")
    page.mouse.up()
    assert page.locator(".sentence.now").get_attribute("data-sentence") == str(number)
    drag(page, handle, centre(sentence(page, 1)))
    page.mouse.up()
    page.get_by_text("You linked it here").wait_for()
    assert page.locator(".sentence.now").get_attribute("data-sentence") == "1"


def test_two_windows_one_of_them_behind(served):
    page, _ = served
    other = page.context.new_page()
    other.goto(page.url)
    for window in (page, other):
        window.keyboard.press("n")
    page.keyboard.press("x")
    page.get_by_text("You said so").wait_for()
    other.keyboard.press("y")
    other.get_by_text("Another window was ahead").wait_for()
    other.get_by_text("You said so").wait_for()
    other.keyboard.press("u")
    other.get_by_role("button", name="Undo", disabled=True).wait_for()


def test_judgements_faster_than_the_server_answers_are_all_kept(served):
    page, result = served
    page.keyboard.press("n")
    page.keyboard.press("x")
    for key in "uxux":
        page.keyboard.press(key)
    journal = result / "judged" / "journal.jsonl"
    deadline = time.monotonic() + 10
    while not journal.exists() or len(journal.read_text("utf-8").splitlines()) < 6:
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)
    assert [entry["do"] for entry in judged(result)[1:]] == "judge undo judge undo judge".split()
    page.get_by_text("You said so").wait_for()


def test_judgements_saved_from_the_one_file_page_are_taken_over(aligned, tmp_path, new_page):
    shutil.copytree(aligned, tmp_path / "pair")
    result = tmp_path / "pair" / "result"
    write_page(read_alignment(result / "alignment.json"), tmp_path / "page.html")
    page = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    for key in "nx":
        page.keyboard.press(key)
    page.get_by_text("In this file a judgement changes its own link alone").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save judgements").click()
    download.value.save_as(tmp_path / "judgements.json")
    assert open_session(result).take(tmp_path / "judgements.json") == 1
    assert judged(result)[-1]["judgement"] == {"moment": 0, "verdict": "none", "sentence": None}


def test_the_command_itself_and_what_the_page_says_when_it_has_ended(
    aligned, tmp_path, new_page, problems
):
    shutil.copytree(aligned, tmp_path / "pair")
    command = [sys.executable, "-m", "folioreel", "view", str(tmp_path / "pair" / "result")]
    with subprocess.Popen([*command, "--no-open"], stdout=subprocess.PIPE, text=True) as running:
        page = new_page()
        page.goto(running.stdout.readline().strip())
        page.keyboard.press("n")
        before = place(page)
        running.terminate()
    page.keyboard.press("x")
    page.get_by_text("folioreel does not answer").wait_for()
    assert place(page) == before
    # The browser itself reports what was cut off or refused: that is what this test is about.
    ended = ("ERR_CONNECTION", "ERR_EMPTY_RESPONSE")
    problems[:] = [line for line in problems if not any(name in line for name in ended)]


def test_the_one_file_page_keeps_judgements_in_the_browser_and_saves_them(small):
    small.keyboard.press("n")
    small.keyboard.press("x")
    small.get_by_text("You said so").wait_for()
    small.keyboard.press("n")
    small.keyboard.press("j")
    small.keyboard.press("l")
    small.get_by_text("You linked it here").wait_for()
    small.reload()
    small.get_by_text("You linked it here").wait_for()
    with small.expect_download() as download:
        small.get_by_role("button", name="Save judgements").click()
    assert download.value.suggested_filename == "judgements.json"
    saved = json.loads(download.value.path().read_text("utf-8"))
    assert saved["judgements"] == [
        {"moment": 0, "verdict": "none", "sentence": None},
        {"moment": 1, "verdict": "match", "sentence": 4},
    ]
    small.keyboard.press("u")
    small.get_by_text("Undone at 0:04.").wait_for()
    small.keyboard.press("u")
    small.get_by_role("button", name="Undo", disabled=True).wait_for()
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "0"


def test_judgements_of_another_book_do_not_come_along(new_page, write_page):
    from made_payloads import make_book

    page = new_page()
    page.goto(write_page(small_payload(), "one.html"))
    page.keyboard.press("n")
    page.keyboard.press("x")
    page.get_by_text("You said so").wait_for()
    page.goto(write_page(small_payload(make_book(200, "Another Book")), "two.html"))
    page.keyboard.press("n")
    assert "Very sure: 100 %" in place(page)


def kept(page) -> list[dict]:
    """What the one-file page has kept in the browser."""
    return page.evaluate(
        "() => { const key = Object.keys(localStorage).find((k) => k.endsWith(':judgements'));"
        " return key ? JSON.parse(localStorage.getItem(key)) : [] }"
    )


def notice(page) -> str:
    return page.locator(".notice").inner_text()


def test_a_drag_while_the_film_plays_judges_the_moment_where_it_began(small):
    small.keyboard.press("n")
    small.wait_for_timeout(300)
    small.get_by_label("Speed").select_option("3")
    small.get_by_role("button", name="Play (space)").click()
    drag(small, centre(small.locator(".grip")), centre(sentence(small, 5)))
    small.locator(".sentence.now[data-sentence='3']").wait_for()
    small.mouse.up()
    small.get_by_text("Linked.").wait_for()
    assert kept(small) == [{"moment": 0, "verdict": "match", "sentence": 5}]


def test_a_drag_ends_on_what_has_scrolled_under_the_pointer(small):
    small.set_viewport_size({"width": 1200, "height": 600})
    small.keyboard.press("n")
    small.wait_for_timeout(600)
    start = sentence(small, 1)
    drag(small, centre(small.locator(".grip")), centre(start))
    scroller = start.evaluate_handle(
        "node => { while (node.scrollHeight <= node.clientHeight) node = node.parentElement;"
        " return node }"
    )
    x, y = centre(start)
    scroller.evaluate("node => { node.scrollTop += 60 }")
    small.wait_for_timeout(300)
    under = small.evaluate(
        "([x, y]) => document.elementFromPoint(x, y)?.closest('.sentence')?.dataset.sentence",
        [x, y],
    )
    assert under not in (None, "1")
    assert small.locator(".sentence.target").get_attribute("data-sentence") == under
    small.mouse.up()
    small.get_by_text("Linked.").wait_for()
    assert kept(small)[-1]["sentence"] == int(under)


def test_the_grip_stays_when_the_book_is_laid_out_anew(small):
    small.keyboard.press("n")
    small.locator(".grip").wait_for()
    small.set_viewport_size({"width": 1000, "height": 800})
    small.wait_for_timeout(600)
    assert small.locator(".grip").count() == 1
    small.get_by_role("button", name="Larger text").click()
    small.wait_for_timeout(600)
    assert small.locator(".grip").count() == 1


def test_a_drag_ends_on_a_sentence_between_its_lines(small):
    small.set_viewport_size({"width": 1000, "height": 800})
    small.keyboard.press("n")
    small.wait_for_timeout(600)
    gap = small.evaluate(
        """() => { for (const node of document.querySelectorAll('.sentence')) {
          const [a, b] = node.getClientRects();
          if (!b || b.top <= a.bottom || node.classList.contains('now')) continue;
          const [x, y] = [Math.max(a.left, b.left) + 10, (a.bottom + b.top) / 2];
          if (!document.elementFromPoint(x, y)?.closest('.sentence'))
            return [x, y, Number(node.dataset.sentence)];
        } }"""
    )
    assert gap
    drag(small, centre(small.locator(".grip")), gap[:2])
    assert small.locator(".sentence.target").get_attribute("data-sentence") == str(gap[2])
    small.mouse.up()


@pytest.mark.parametrize("key", [".", "ArrowRight", "n"])
def test_a_picked_sentence_is_let_go_when_the_film_is_moved(small, key):
    small.keyboard.press("n")
    sentence(small, 4).click()
    small.keyboard.press(key)
    assert small.locator(".picked").count() == 0
    small.keyboard.press("l")
    assert "Click the right sentence" in notice(small)
    assert kept(small) == []


def test_a_link_that_is_not_shown_cannot_be_confirmed(small):
    for _ in range(4):
        small.keyboard.press("n")  # the fourth is 70 % sure
    small.get_by_label("Show only links at least this sure").fill("75")
    assert small.get_by_role("button", name="Right").is_disabled()
    small.keyboard.press("y")
    assert "not shown" in notice(small)
    small.keyboard.press("0")
    small.keyboard.press("s")
    small.get_by_role("slider", name="Alignment strip").press("End")
    for key in "yxl":
        small.keyboard.press(key)
        assert "still hidden" in notice(small)
    assert kept(small) == []


def test_a_held_key_judges_once_and_the_same_is_not_kept_twice(small):
    small.keyboard.press("n")
    for _ in range(3):
        small.keyboard.down("x")
    small.keyboard.up("x")
    small.get_by_text("You said so").wait_for()
    small.keyboard.press("x")
    small.get_by_role("button", name="Not in the book").click()
    assert len(kept(small)) == 1
    small.keyboard.press("y")
    small.keyboard.press(".")
    small.keyboard.press("x")
    small.get_by_role("button", name="Undo").focus()
    for _ in range(3):
        small.keyboard.down("Enter")
    small.keyboard.up("Enter")
    small.get_by_text("Undone at").wait_for()
    assert len(kept(small)) == 1


def test_a_moment_is_linked_by_clicks_to_a_sentence_that_has_a_link(small):
    for _ in range(7):
        small.keyboard.press(".")
    assert place(small).startswith("Not in the book")
    assert "Sentence 18 speaks" in small.locator(".other").first.inner_text()
    here = small.get_by_role("button", name="Link here")
    here.click()
    assert "Click the sentence for 0:24" in place(small)
    small.keyboard.press("Escape")
    assert here.get_attribute("aria-pressed") == "false"
    here.click()
    sentence(small, 15).click()
    small.get_by_text("You linked it here").wait_for()
    assert kept(small) == [{"moment": 6, "verdict": "match", "sentence": 15}]
    assert small.locator(".picked").count() == 0
    sentence(small, 21).click()  # and a click moves the film again
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "21"


def judged_pixels(page) -> list[int]:
    """How much of the strip, line by line from above, has the colour of judgements."""
    page.wait_for_timeout(100)
    return page.evaluate(
        """() => {
            const canvas = document.querySelector(".strip-board canvas");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const colour = [0xa6, 0xd9, 0x8c, 255];
            return Array.from({ length: height }, (_, y) =>
                Array.from({ length: width }, (_, x) => 4 * (y * width + x))
                    .filter((k) => colour.every((part, c) => Math.abs(data[k + c] - part) < 3))
                    .length);
        }"""
    )


def test_judgements_stand_out_on_the_strip(small):
    for _ in range(20):
        small.keyboard.press(".")
    assert sum(judged_pixels(small)) == 0
    small.keyboard.press("y")
    small.get_by_text("You confirmed it").wait_for()
    lines = judged_pixels(small)
    assert sum(count > 0 for count in lines) > len(lines) / 2
    small.keyboard.press("x")
    small.get_by_text("You said so").wait_for()
    assert [y for y, count in enumerate(judged_pixels(small)) if count] == list(range(18, 26))


def test_the_best_guess_is_shown_and_linked(small):
    for _ in range(7):
        small.keyboard.press(".")
    small.locator(".other").first.click()
    assert "picked" in sentence(small, 18).get_attribute("class")
    small.get_by_role("button", name="Link here").click()
    small.get_by_text("You linked it here").wait_for()
    assert kept(small) == [{"moment": 6, "verdict": "match", "sentence": 18}]


def test_undo_names_the_moment_that_it_undid_and_goes_there(served):
    page, _ = served
    page.keyboard.press("n")
    page.keyboard.press("x")
    page.get_by_text("You said so").wait_for()
    page.keyboard.press(".")
    page.keyboard.press("y")
    page.keyboard.press(",")
    page.keyboard.press("y")  # holds already
    page.keyboard.press(".")
    page.keyboard.press(".")
    time = page.locator(".time")
    for moment, shown in (("0:01", "0:01"), ("0:00", "0:00")):
        page.keyboard.press("u")
        page.get_by_text(f"Undone at {moment}.").wait_for()
        assert time.inner_text().startswith(shown)


def test_what_a_reader_set_is_there_at_the_next_start(aligned, tmp_path, new_page):
    shutil.copytree(aligned, tmp_path / "pair")
    command = [sys.executable, "-m", "folioreel", "view", str(tmp_path / "pair" / "result")]
    page = new_page()
    for words in ("≥ 50 %", "≥ 60 %"):
        with subprocess.Popen(
            [*command, "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as running:
            page.goto(running.stdout.readline().strip())
            assert page.locator(".slider-value").inner_text() == words
            page.keyboard.press("]")
            page.keyboard.press("]")
            page.goto("about:blank")
            running.terminate()


def test_guesses_are_shown_below_one_half_and_accepted_by_one_key(small):
    """Moment 6 is a guess with 0.4, moment 13 one with 0.5, moment 20 one with 0.6."""
    slider = small.get_by_label("Show only links at least this sure")
    assert small.locator(".linked.guess").count() == 0
    slider.fill("45")
    assert "at least 45 %, guesses too" in slider.get_attribute("aria-valuetext")
    assert sentence(small, 18).get_attribute("class") == "sentence"
    slider.fill("40")
    assert "guess" in sentence(small, 18).get_attribute("class")
    style = "node => getComputedStyle(node).textDecorationStyle"
    assert sentence(small, 18).evaluate(style) == "dotted"
    assert sentence(small, 15).evaluate(style) == "solid"
    sentence(small, 18).click()
    assert small.locator(".place-sure").inner_text() == "Guess: 40 % within three paragraphs"
    small.evaluate("document.activeElement.blur()")
    small.keyboard.press("y")
    small.get_by_text("Accepted.").wait_for()
    assert kept(small) == [{"moment": 6, "verdict": "match", "sentence": 18}]
    assert sentence(small, 18).evaluate(style) == "solid"
    slider.fill("50")
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "18"


def test_a_key_chooses_among_the_best_passages(small):
    for _ in range(4):
        small.keyboard.press("n")  # the fourth: 70 % for sentence 9, 15 % for sentence 49
    others = small.locator(".other").all_inner_texts()
    assert [text.split("\n")[:2] for text in others] == [["1", "70 %"], ["2", "15 %"]]
    small.keyboard.press("3")
    assert "no alternative 3" in notice(small)
    small.keyboard.press("2")
    small.get_by_text("You linked it here").wait_for()
    assert kept(small) == [{"moment": 3, "verdict": "match", "sentence": 49}]
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "49"
    # The alternatives stay for a reader who thinks again.
    small.keyboard.press("1")
    small.get_by_text("You confirmed it").wait_for()
    assert kept(small)[-1] == {"moment": 3, "verdict": "match", "sentence": 9}


def test_over_the_server_a_passage_is_chosen_by_its_key_and_kept(served):
    page, result = served
    page.keyboard.press("n")
    page.locator(".other").first.wait_for()
    page.keyboard.press("1")
    page.get_by_text("You confirmed it").wait_for()
    assert judged(result)[-1]["judgement"]["verdict"] == "match"
    assert page.locator(".other").count() >= 1
