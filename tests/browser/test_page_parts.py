"""A film in two files in the browser: the page plays the right one, and goes on with the next."""

import re

import pytest
from made_pages import serving
from made_parts import PLAYED, write_parts

import folioreel

IS_READY = """() => { const film = document.querySelector("video");
    return film?.readyState >= 2 && !film.seeking }"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("parts") / "film", PLAYED)


@pytest.fixture(scope="module")
def result(files):
    folder = files[0].parent / "result"
    folioreel.align(files[0], files[1]).save(folder)
    return folder


def playing(page) -> tuple[str, float]:
    """The file and its own time."""
    return page.evaluate(
        "(({ src, currentTime }) => [src, currentTime])(document.querySelector('video'))"
    )


def wait_for_part(page, name: str) -> None:
    page.locator(".part", has_text=name).wait_for()
    page.wait_for_function(IS_READY)


def test_the_film_goes_on_in_the_next_file(result, new_page):
    with serving(result) as browser:
        page = new_page()
        page.goto(browser.address.geturl())
        wait_for_part(page, "CD1")
        assert playing(page)[0].endswith("/video/0")
        assert page.locator(".time").inner_text() == "0:00 / 0:07"
        page.get_by_label("Speed").select_option("2")
        page.keyboard.press("ArrowRight")
        page.keyboard.press(" ")
        wait_for_part(page, "CD2")
        page.wait_for_function("() => document.querySelector('video').currentTime > 0.5")
        assert playing(page)[0].endswith("/video/1")
        assert page.evaluate("document.querySelector('video').playbackRate") == 2
        assert page.get_by_role("button", name="Pause (space)").is_visible()
        page.keyboard.press(" ")
        page.get_by_role("button", name="Play (space)").wait_for()
        assert page.locator(".time").inner_text().endswith(" / 0:09")


def test_seeking_leads_to_the_right_file_and_time(result, new_page):
    with serving(result) as browser:
        page = new_page()
        page.goto(browser.address.geturl())
        wait_for_part(page, "CD1")
        page.locator(".sentence", has_text="Who opened the hoarding?").click()
        wait_for_part(page, "CD2")
        address, time_s = playing(page)
        assert address.endswith("/video/1")
        assert time_s == pytest.approx(3.22, abs=0.1)
        assert page.locator(".subtitle").inner_text() == "Who opened the hoarding?"
        assert page.evaluate("document.querySelector('video').paused")
        board = page.get_by_role("slider", name="Alignment strip")
        assert board.get_attribute("aria-valuetext").startswith("CD2 0:03, ")
        page.locator(".sentence", has_text="Sixty-one kilos").click()
        wait_for_part(page, "CD1")
        assert playing(page)[1] == pytest.approx(0.42, abs=0.1)
        # The page opens again where the reader was: in the second file.
        page.locator(".sentence", has_text="Who opened the hoarding?").click()
        page.reload()
        wait_for_part(page, "CD2")
        assert playing(page)[1] == pytest.approx(3.22, abs=0.1)


def test_the_one_file_page_asks_for_all_files(files, result, new_page):
    page = new_page(offline=True)
    page.goto((result / "page.html").as_uri())
    assert page.locator(".part").inner_text() == "CD1"
    choose = page.get_by_label("Choose the film’s 2 files")
    choose.set_input_files(files[1][1])
    page.get_by_text(
        "Choose all 2 files of the film at once: Ferry.CD1.mp4, Ferry.CD2.mp4."
    ).wait_for()
    assert page.locator("video").count() == 0
    choose.set_input_files(files[1][::-1])
    page.wait_for_function(IS_READY)
    assert page.evaluate("document.querySelector('video').duration") == pytest.approx(7, abs=0.1)
    page.locator(".sentence", has_text="only trampled grass").click()
    wait_for_part(page, "CD2")
    assert page.evaluate("document.querySelector('video').duration") == pytest.approx(9, abs=0.1)


def test_another_file_as_a_part_is_asked_about(files, result, new_page):
    page = new_page(offline=True)
    page.goto((result / "page.html").as_uri())
    page.get_by_label("Choose the film’s 2 files").set_input_files([files[2], files[1][0]])
    # By their names “Ferry.CD1” comes first and “whole” second.
    page.wait_for_function(IS_READY)
    page.locator(".sentence", has_text="Who opened the hoarding?").click()
    page.get_by_text(re.compile(r"This video is 0:16 long, the aligned CD2 0:09")).wait_for()
