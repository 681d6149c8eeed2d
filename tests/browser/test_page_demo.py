"""The demo in a browser: from disk and over the server, and the pictures of the documents."""

import os
from pathlib import Path

import pytest
from made_pages import serving

from folioreel.apps.demo import demo_folder

DOCS = Path(__file__).parents[2] / "docs" / "images"


def at_the_fence(page) -> None:
    """Ten minutes into the film, at a line that is in the book."""
    page.get_by_role("combobox", name="Search").fill("don't put a fence")
    page.keyboard.press("Enter")
    page.locator(".sentence.now").wait_for()


def wait_for_picture(page) -> None:
    page.wait_for_function(
        "() => { const film = document.querySelector('video');"
        " return film?.readyState >= 2 && !film.seeking }"
    )


def test_the_single_file_from_disk_without_a_network(demo, new_page):
    page = new_page(offline=True)
    page.goto((demo / "page.html").as_uri())
    assert page.get_by_role("heading", name="Sixty-One Kilos").is_visible()
    at_the_fence(page)
    assert page.locator(".time").inner_text().startswith("10:1")
    assert "fence" in page.locator(".sentence.now").inner_text()
    assert page.locator(".place-chapter").inner_text() == "CHAPTER SIX: Tarpaulin"
    assert page.locator(".still").get_attribute("src").startswith("data:image/jpeg")
    # The reader gives the film: it takes over at the same time, and plays.
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose “film.mp4”").click()
    chooser.value.set_files(demo_folder() / "film.mp4")
    wait_for_picture(page)
    started = page.evaluate("() => document.querySelector('video').currentTime")
    assert abs(started - 611) < 2
    page.get_by_role("button", name="Play (space)").click()
    page.wait_for_function(
        "(t) => document.querySelector('video').currentTime > t", arg=started + 1
    )
    assert page.locator(".still").is_hidden()


def test_over_the_server_seeking_works_in_the_middle_of_the_film(demo, new_page):
    with serving(demo) as server:
        page = new_page()
        page.goto(server.origin + server.address.path)
        wait_for_picture(page)
        at_the_fence(page)
        wait_for_picture(page)
        assert abs(page.evaluate("() => document.querySelector('video').currentTime") - 611) < 2
        page.keyboard.press(" ")
        page.wait_for_function("() => document.querySelector('video').currentTime > 612")
        page.keyboard.press(" ")
        page.get_by_role("button", name="Play (space)").wait_for()


def test_one_link_astray_does_not_lead_the_book_to_its_end(demo, new_page):
    """At 9:41 “I beg your pardon, sir?” is linked to chapter 10 (74 %); nothing near it is."""
    page = new_page(offline=True)
    page.goto(f"{(demo / 'page.html').as_uri()}#t=9:41.6")
    chapter = page.locator(".contents-now")
    assert chapter.inner_text().startswith("CHAPTER TEN")  # who stops there may look at it
    for time in ("9:43", "9:50", "10:00", "10:09"):
        page.evaluate(f"location.hash = '#t={time}'")
        page.locator(".time", has_text=f"{time} /").wait_for()
        page.wait_for_timeout(700)
        assert page.locator(".place-chapter").inner_text() == "Not in the book"
        assert chapter.inner_text().startswith("CHAPTER FIVE"), time
    # Nor does it while the film plays over it.
    page.evaluate("location.hash = '#t=9:40.5'")
    page.keyboard.press(" ")
    page.locator(".place-chapter", has_text="CHAPTER TEN").wait_for()
    page.wait_for_timeout(700)
    assert chapter.inner_text().startswith("CHAPTER FIVE")
    page.keyboard.press(" ")


def test_one_link_astray_does_not_lift_the_veil(demo, new_page):
    page = new_page(offline=True)
    page.goto(f"{(demo / 'page.html').as_uri()}#t=10:00")
    page.keyboard.press("s")
    page.keyboard.press("h")
    page.keyboard.press("c")
    rows = page.get_by_role("dialog", name="Chapters").locator(".row-label").all_inner_texts()
    assert [row.split(":")[0] for row in rows] == [
        f"CHAPTER {number}" for number in ("ONE", "THREE", "FOUR", "FIVE")
    ]
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Search").fill("I beg your pardon")
    assert "CHAPTER TEN" not in page.locator(".found").inner_text()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("page", {}),
        ("page-dark", {"color_scheme": "dark"}),
        ("page-phone", {"width": 390, "height": 844, "is_mobile": True, "has_touch": True,
                        "device_scale_factor": 2}),
    ],
)  # fmt: skip
def test_pictures_of_the_page(demo, new_page, tmp_path, name, options):
    """With FOLIOREEL_PICTURES=1 the docs' pictures are made anew; else into a scratch folder."""
    page = new_page(**options)
    page.goto((demo / "page.html").as_uri())
    page.locator("input[type=file]").set_input_files(demo_folder() / "film.mp4")
    wait_for_picture(page)
    at_the_fence(page)
    wait_for_picture(page)
    page.get_by_role("combobox", name="Search").fill("")
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(1200)
    folder = DOCS if os.environ.get("FOLIOREEL_PICTURES") else tmp_path
    picture = page.screenshot(path=folder / f"{name}.png")
    assert len(picture) > 50_000
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
