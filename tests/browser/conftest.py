"""A real browser, and pages for it made by the same code that makes the users'."""

import contextlib
import os
import shutil

import pytest
from made_payloads import small_payload

from folioreel.export.page_html import render_page

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


@pytest.fixture(scope="package")
def browser():
    """Chromium, for this folder: its event loop must not outlive the tests that need it."""
    api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("needs chromium (`apt install chromium`), or its path in CHROMIUM")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def demo(tmp_path_factory):
    """What `folioreel demo` writes: its folder, with page.html and alignment.json."""
    from folioreel.apps.demo import run_demo

    folder = tmp_path_factory.mktemp("demo")
    run_demo(folder)
    return folder


class Problems(list):
    """What went wrong on a page: errors of scripts, refusals of the policy, requests to outside."""

    def watch(self, page) -> None:
        page.on("pageerror", lambda error: self.append(f"error: {error}"))
        page.on(
            "console",
            lambda message: message.type == "error" and self.append(f"console: {message.text}"),
        )
        page.on("request", lambda request: self._check(request.url))
        page.on(
            "dialog", lambda dialog: (self.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )

    def _check(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:")):
            self.append(f"request: {url}")


@pytest.fixture
def problems():
    """Filled by every page that a test opens; at the end there must be none."""
    found = Problems()
    yield found
    assert found == []


@pytest.fixture
def new_page(browser, problems):
    """Opens pages in contexts of their own: `new_page(width=…, height=…, color_scheme=…)`."""
    with contextlib.ExitStack() as stack:

        def make(width: int = 1440, height: int = 900, **options):
            context = browser.new_context(viewport={"width": width, "height": height}, **options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(8000)
            problems.watch(page)
            return page

        yield make


@pytest.fixture
def write_page(tmp_path):
    """Writes a payload as a one-file page; returns its file:// address."""

    def write(payload: dict, name: str = "page.html") -> str:
        path = tmp_path / name
        path.write_text(render_page(payload)[0], encoding="utf-8")
        return path.as_uri()

    return write


@pytest.fixture
def small(new_page, write_page):
    """The small book and film in a laptop's window, from disk, without a network."""
    page = new_page(offline=True)
    page.goto(write_page(small_payload()))
    return page
