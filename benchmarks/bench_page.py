"""How fast the page is with a long book, in a real browser (needs the extra `dev` and chromium).

The same book and film as in tests/browser: 15,000 sentences, 2,400 moments.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser.conftest import ARGUMENTS
from browser.test_page_whole import frame_times_ms
from made_payloads import large_payload

from folioreel.export.page_html import render_page

LOADS = 5


def frames_a_second(page: Any, act: str) -> float:
    """The median rate over three seconds."""
    return 1000 / median(frame_times_ms(page, act, 3.0))


def main() -> None:
    """Print load time, elements in the document, and frames a second."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(render_page(large_payload())[0], encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        loads_s = []
        for _ in range(LOADS):
            page.goto(path.as_uri())
            timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
            loads_s.append(page.evaluate(timing) / 1000)
        print(f"file: {path.stat().st_size / 1e6:.1f} MB")
        print(f"load, median of {LOADS}: {median(loads_s):.2f} s")
        print("elements:", page.evaluate("document.querySelectorAll('*').length"))
        scrolled = frames_a_second(page, "scroller.scrollTop += 40")
        print(f"scrolling, frames a second: {scrolled:.0f}")
        page.keyboard.press("g")
        page.keyboard.press(" ")
        print(f"playing, frames a second: {frames_a_second(page, ''):.0f}")
        browser.close()


if __name__ == "__main__":
    main()
