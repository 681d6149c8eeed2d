"""The page in a browser: judgements of several moments and sentences, with a kind and a note."""

import json
import shutil
from pathlib import Path

import pytest
from made_pages import make_alignment, serving
from made_payloads import small_payload

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


def sentence(page, number: int):
    return page.locator(f".sentence[data-sentence='{number}']")


def wait_for_state(page, words: str) -> None:
    """What the page says of the current moment; screen readers hear it from another element."""
    page.locator(".place-sure", has_text=words).wait_for()


def selected(page) -> list[int]:
    """The sentences that are marked as the passage."""
    marked = page.locator(".sentence.in-span").all()
    return [int(span.get_attribute("data-sentence")) for span in marked]


def saved(page) -> list[dict]:
    """The judgements in the file that the page saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save judgements").click()
    return json.loads(download.value.path().read_text("utf-8"))["judgements"]


def strip_point(page, time_s: float, height: float, duration_s: float) -> dict:
    box = page.locator(".strip-board").bounding_box()
    return {"x": time_s / duration_s * box["width"], "y": height * box["height"]}


def test_a_span_with_its_kind_and_note_is_kept_on_disk_and_undone_at_once(tmp_path, new_page):
    result = make_alignment(tmp_path / "pair")
    with serving(result) as server:
        page = new_page()
        page.goto(server.origin + server.address.path)
        page.keyboard.press("n")
        before = page.locator(".place-sure").inner_text()
        for _ in range(2):
            page.keyboard.press("Shift+ArrowRight")
        assert page.locator(".span-what").inner_text().startswith("3 moments")
        assert page.locator(".strip-board .span-band").is_visible()
        sentence(page, 2).click(modifiers=["Shift"])
        sentence(page, 5).click(modifiers=["Shift"])
        assert selected(page) == [2, 3, 4, 5]
        kinds = page.get_by_role("group", name="Kind of link")
        assert kinds.locator("[aria-pressed=true]").inner_text() == "dialogue"
        kinds.get_by_role("button", name="visual").click()
        page.get_by_label("Note on this moment").fill("the weighing, without words")
        page.get_by_label("Note on this moment").press("Enter")
        wait_for_state(page, "You confirmed it (3 moments, 4 sentences, visual: the weighing")
        journal = (result / "judged" / "journal.jsonl").read_text("utf-8").splitlines()
        assert json.loads(journal[-1])["judgement"] == {
            "moment": 0,
            "moment_to": 2,
            "verdict": "match",
            "sentence": 2,
            "sentence_to": 5,
            "kind": "visual",
            "note": "the weighing, without words",
        }
        # The judged moments have their kind and note; the passage is marked.
        page.keyboard.press(".")
        assert selected(page) == [2, 3, 4, 5]
        assert page.get_by_label("Note on this moment").input_value().startswith("the weighing")
        page.keyboard.press("y")
        page.get_by_text("You have judged this already.").wait_for()
        page.keyboard.press("u")
        page.get_by_role("button", name="Undo", disabled=True).wait_for()
        page.keyboard.press("n")
        page.keyboard.press("b")
        assert page.locator(".place-sure").inner_text() == before
        assert selected(page) == []


def test_a_span_by_mouse_in_the_strip_and_by_keys_in_the_book(small):
    small.keyboard.press("n")
    # Moment 3 begins at 12.5 s of 240 s; the upper half of the strip is the film.
    small.locator(".strip-board").click(
        position=strip_point(small, 13.5, 0.3, 240), modifiers=["Shift"]
    )
    assert small.locator(".span-what").inner_text() == "4 moments"
    assert small.locator(".span-what").get_attribute("title") == "0:00 to 0:15"
    for _ in range(3):
        small.keyboard.press("Shift+ArrowDown")
    small.keyboard.press("Shift+ArrowUp")
    assert selected(small) == [0, 1, 2]
    small.keyboard.press("l")
    wait_for_state(small, "You confirmed it (4 moments, 3 sentences)")
    small.reload()
    wait_for_state(small, "You confirmed it (4 moments, 3 sentences)")
    for key in "...":
        small.keyboard.press(key)
    wait_for_state(small, "You linked it here (4 moments, 3 sentences)")
    # One of them is taken out again, and the file tells what holds.
    small.keyboard.press(",")
    small.keyboard.press("x")
    wait_for_state(small, "You said so")
    assert [(j["moment"], j.get("moment_to"), j["verdict"]) for j in saved(small)] == [
        (0, 1, "match"),
        (2, None, "none"),
        (3, None, "match"),
    ]


def test_each_of_several_moments_is_right_by_its_own_link(small):
    """Without sentences; moment 6 is not in the book."""
    for _ in range(6):
        small.keyboard.press("n")
    for _ in range(3):
        small.keyboard.press("Shift+ArrowRight")
    small.get_by_label("Note on this moment").fill("as read")
    small.get_by_label("Note on this moment").press("Enter")
    small.get_by_text("Confirmed: 3 moments. Unchanged: 1 without a link.").wait_for()
    wait_for_state(small, "You confirmed it (as read)")
    one = {"verdict": "match", "note": "as read"}
    assert saved(small) == [{"moment": i, "sentence": 3 * i, **one} for i in (5, 7, 8)]
    # Again, with one moment more: what was judged stays as it is.
    for _ in range(4):
        small.keyboard.press("Shift+ArrowRight")
    small.keyboard.press("y")
    small.get_by_text(
        "Confirmed: 1 moment. Unchanged: 1 without a link, 3 judged before."
    ).wait_for()
    assert [judged["moment"] for judged in saved(small)] == [5, 7, 8, 9]
    small.reload()
    small.keyboard.press("u")
    small.get_by_text("Undone at").wait_for()
    assert [judged["moment"] for judged in saved(small)] == [5, 7, 8]
    small.keyboard.press("u")
    small.get_by_role("button", name="Undo", disabled=True).wait_for()


def test_links_that_the_slider_hides_are_not_confirmed(small):
    """Links have 100 %, 90 % and so on, down to 70 % for moment 3."""
    small.keyboard.press("n")
    for _ in range(3):
        small.keyboard.press("Shift+ArrowRight")
    small.get_by_label("Show only links at least this sure").fill("85")
    small.get_by_role("button", name="Right").click()
    small.get_by_text("Confirmed: 2 moments. Unchanged: 2 without a link.").wait_for()
    assert [judged["moment"] for judged in saved(small)] == [0, 1]


def test_several_confirmed_moments_of_the_demo_keep_their_own_lines(demo, tmp_path, new_page):
    """At 14:43, where the links of six moments lead to both ends of the book."""
    result = tmp_path / "result"
    shutil.copytree(demo, result)
    with serving(result) as server:
        before = server.payload()["links"]
        page = new_page()
        page.goto(server.origin + server.address.path + "#t=14:43")
        for _ in range(5):
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("y")
        page.get_by_text("Confirmed: ").wait_for()
        wait_for_state(page, "You confirmed it")
        judgements = server.payload()["judgements"]
        assert len(judgements) > 1
        for judged in judgements:
            assert set(judged) == {"moment", "verdict", "sentence"}
            assert judged["sentence"] == before[judged["moment"]]["sentence"]
        page.keyboard.press("u")
        page.get_by_role("button", name="Undo", disabled=True).wait_for()
        assert server.payload()["judgements"] == []
        after = server.payload()["links"]
        assert [link["sentence"] for link in after] == [link["sentence"] for link in before]


def test_moments_first_then_link_here_asks_for_the_sentence(small):
    small.keyboard.press("n")
    small.keyboard.press("Shift+ArrowRight")
    small.keyboard.press("l")
    sentence(small, 5).click()
    wait_for_state(small, "You linked it here (2 moments)")
    assert small.locator(".sentence.now").get_attribute("data-sentence") == "5"


def test_a_note_stays_with_its_moment_while_the_film_plays_on(small):
    small.keyboard.press("n")
    note = small.get_by_label("Note on this moment")
    note.fill("what a line")
    small.get_by_role("button", name="Play (space)").click()
    small.locator(".subtitle", has_text="Line 1 ").wait_for()
    note.press("Enter")
    small.get_by_text("Confirmed.").wait_for()
    small.get_by_role("button", name="Pause (space)").click()
    small.keyboard.press(",")
    wait_for_state(small, "You confirmed it (what a line)")
    # A better note, and the same verdict.
    note.fill("what a first line")
    note.press("Enter")
    wait_for_state(small, "You confirmed it (what a first line)")


def test_escape_selects_nothing_and_shift_does_not_select_text(small):
    small.keyboard.press("n")
    small.keyboard.press("Shift+ArrowRight")
    sentence(small, 4).click(modifiers=["Shift"])
    assert selected(small) == [0, 1, 2, 3, 4]
    assert small.evaluate("() => getSelection().isCollapsed")
    small.keyboard.press("Escape")
    assert selected(small) == []
    assert small.locator(".strip-board .span-band").is_hidden()
    small.keyboard.press("y")
    small.get_by_text("Confirmed.").wait_for()


def test_what_is_hidden_is_not_selected(small):
    for key in "ns":
        small.keyboard.press(key)
    small.keyboard.press("Shift+ArrowRight")
    small.get_by_text("still hidden").wait_for()
    assert small.locator(".span-what").inner_text() == "Shift-click selects several"


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: `npm ci` in frontend/")
@pytest.mark.parametrize(
    "options",
    [{}, {"color_scheme": "dark"}, {"width": 390, "height": 844, "has_touch": True}],
)
def test_no_faults_with_a_selection(new_page, write_page, options):
    page = new_page(**options)
    page.goto(write_page(small_payload()))
    if "width" in options:
        page.keyboard.press("v")  # a phone is for reading, unless all tools are asked for
    page.keyboard.press("n")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.evaluate(AXE.read_text("utf-8"))
    page.wait_for_timeout(500)
    assert page.locator(".span").is_visible()
    assert [fault["id"] for fault in page.evaluate("() => axe.run()")["violations"]] == []
    assert (
        page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]
    )
