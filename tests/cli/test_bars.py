"""Progress bars on terminals of any width, and lines elsewhere."""

import contextlib
import io
import os
import re

import pytest

from folioreel.cli import bars, output
from folioreel.progress import Progress


class Screen(io.StringIO):
    """A terminal that knows carriage returns: what a person sees."""

    def isatty(self):
        return True

    def lines(self):
        shown = []
        for line in self.getvalue().split("\n"):
            cells = ""
            for text in line.split("\r"):
                cells = text + cells[len(text) :]
            shown.append(cells.rstrip())
        return [line for line in shown if line]


def run(work):
    """What a piece of work leaves on the screen."""
    screen = Screen()
    with contextlib.redirect_stderr(screen), output.show_progress() as progress:
        work(progress)
    return screen


def tell(progress, stage, done, total, name=""):
    progress(Progress(stage=stage, done=done, total=total, name=name))


def names(screen):
    return [re.split(r" +\d+%", line)[0] for line in screen.lines()]


def test_a_stage_that_is_done_leaves_its_bar():
    def work(progress):
        for stage in ("reading", "aligning"):
            for done in range(3):
                tell(progress, stage, done, 2, "novel.epub")

    screen = run(work)
    first, second = screen.lines()
    assert first.startswith("reading: novel.epub ")
    assert second.startswith("aligning: novel.epub ")
    assert first.index("100%|") == second.index("100%|")
    assert screen.getvalue().endswith("\n")


def test_the_same_stage_for_another_file_is_another_bar():
    def work(progress):
        for name in ("a.mkv", "b.mkv"):
            for done in (0, 5, 10):
                tell(progress, "finding shots", done, 10, name)

    assert names(run(work)) == ["finding shots: a.mkv", "finding shots: b.mkv"]


def test_one_bar_for_many_items():
    def work(progress):
        for done, name in enumerate(["ferry", "garden", ""]):
            tell(progress, "aligning pairs", done, 2, name)

    screen = run(work)
    assert names(screen) == ["aligning pairs"]
    assert "aligning pairs: ferry" in screen.getvalue()
    assert "aligning pairs: garden" in screen.getvalue()


def test_what_is_printed_meanwhile_has_its_own_line():
    def work(progress):
        tell(progress, "reading", 1, 2)
        output.show_note("the book has no chapters")
        tell(progress, "reading", 2, 2)

    assert names(run(work)) == ["the book has no chapters", "reading"]


def test_work_that_fails_shows_how_far_it_came():
    def work(progress):
        tell(progress, "reading", 30, 100)
        raise KeyboardInterrupt

    screen = Screen()
    with contextlib.redirect_stderr(screen):
        with pytest.raises(KeyboardInterrupt), output.show_progress() as progress:
            work(progress)
        output.show_note("after")
    assert " 30%|" in screen.lines()[0]
    assert screen.lines()[1] == "after"


def test_a_stage_that_is_left_unfinished_is_wiped():
    def work(progress):
        tell(progress, "training", 1, 9)
        tell(progress, "judging", 1, 1)
        tell(progress, "training", 2, 9)

    assert names(run(work)) == ["judging"]


def test_nothing_to_do_draws_nothing():
    def work(progress):
        tell(progress, "aligning pairs", 0, 0)

    assert run(work).getvalue() == ""


@pytest.mark.parametrize("columns", [200, 80, 40, 20, 6])
@pytest.mark.parametrize("name", ["a" * 300, "長い題名" * 40, "x\x1b[2J\ny"])
def test_a_bar_never_takes_two_lines(columns, name):
    """In a real terminal of this width, of which a pseudo-terminal is the driver."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    keeper, worker = pty.openpty()
    termios.tcsetwinsize(worker, (24, columns))
    with open(worker, "w", encoding="utf-8") as terminal:
        with contextlib.redirect_stderr(terminal), output.show_progress() as progress:
            for done in range(3):
                tell(progress, "reading", done, 2, name)
        terminal.write("END")
        terminal.flush()
        shown = b""
        while not shown.endswith(b"END"):
            shown += os.read(keeper, 1000)
    os.close(keeper)
    from tqdm.utils import disp_len

    lines = shown.decode().removesuffix("END").split("\n")
    assert lines[1:] == [""]
    assert "\x1b[2J" not in lines[0]
    assert max(disp_len(part) for part in lines[0].split("\r")) <= columns


def test_a_file_gets_a_line_now_and_then(capsys, monkeypatch):
    seconds = iter(range(100_000))
    monkeypatch.setattr(bars.time, "monotonic", lambda: next(seconds))
    with output.show_progress() as progress:
        for done in range(3601):  # an hour, with a report every second
            tell(progress, "finding shots", done, 3600, "film.mkv")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "finding shots: film.mkv: 0% after 0:00:10"
    assert 30 <= len(lines) <= 60
    assert all(re.fullmatch(r"finding shots: film\.mkv: \d+% after \S+", line) for line in lines)


def test_quick_work_says_nothing_in_a_file(capsys):
    with output.show_progress() as progress:
        for done in range(100):
            tell(progress, "reading", done, 99)
    assert capsys.readouterr().err == ""
