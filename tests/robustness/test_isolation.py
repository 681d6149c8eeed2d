"""Files that make a library crash, hang or fill the memory cost one line, and nothing else."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import harmful_readers as harmful
import pytest
from drawn_films import draw_film, shots_of
from nasty_files import PROSE, make_pdf

from folioreel import isolation
from folioreel.errors import InputError, WorkError
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.frame_features import load_frame_features

FILE = Path("book.pdf")
posix = pytest.mark.skipif(os.name != "posix", reason="needs limits and signals of POSIX")


@pytest.fixture(autouse=True)
def _isolated(monkeypatch):
    monkeypatch.setenv(isolation.SWITCH, "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (harmful.leave, "crashed .*exit code 7"),
        pytest.param(harmful.crash, "crashed .*SIGSEGV", marks=posix),
        pytest.param(harmful.abort, "crashed .*SIGABRT", marks=posix),
        pytest.param(harmful.fill_memory, "more memory than [0-9]+ GB", marks=posix),
    ],
)
def test_a_crash_is_an_error(read, says):
    with pytest.raises(InputError, match=f"^book.pdf: .*{says}"):
        isolation.read_apart(read, FILE)


def is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@posix
def test_what_never_comes_back_is_given_up(monkeypatch):
    monkeypatch.setattr(isolation, "_PATIENCE_S", 3.0)
    seen = []
    with pytest.raises(InputError, match="made no progress for 3 s"):
        isolation.read_apart(harmful.hang, FILE, progress=seen.append)
    assert not is_alive(int(seen[0].stage))


@posix
def test_what_takes_long_with_every_file_is_not(monkeypatch):
    monkeypatch.setattr(isolation, "_PATIENCE_S", 3.0)
    assert isolation.read_apart(harmful.take_long, FILE) == "done"


def test_python_files_beside_a_film_are_not_run(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit(3)")
    (tmp_path / "signal.py").write_text("raise SystemExit(3)")
    page = b"BT /F1 10 Tf 12 TL 50 500 Td (The ferry left in the rain.) Tj ET"
    (tmp_path / "book.pdf").write_bytes(make_pdf(page))
    monkeypatch.chdir(tmp_path)
    assert load_book("book.pdf").sentences


@posix
def test_ctrl_c_ends_the_reader():
    seen = []

    def stop(progress):
        seen.append(progress)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        isolation.read_apart(harmful.hang, FILE, progress=stop)
    assert not is_alive(int(seen[0].stage))


@posix
def test_a_reader_ends_with_who_started_it():
    program = (
        "import harmful_readers as h; from folioreel import isolation; from pathlib import Path;"
        "isolation.read_apart(h.hang, Path('x'), progress=lambda p: print(p.stage, flush=True))"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    reader = int(process.stdout.readline())
    process.kill()
    process.communicate()
    for _ in range(100):
        if not is_alive(reader):
            break
        time.sleep(0.1)
    assert not is_alive(reader)


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
def test_memory_is_limited():
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0.7 * whole < isolation.read_apart(harmful.memory_limit, FILE) < 0.8 * whole


def test_errors_progress_and_log_arrive(caplog):
    with pytest.raises(InputError) as caught:
        isolation.read_apart(harmful.refuse, FILE)
    assert (caught.value.path, caught.value.line) == (FILE, 3)
    with pytest.raises(WorkError, match="who knows"):
        isolation.read_apart(harmful.fail_in_an_odd_way, FILE)
    seen = []
    with caplog.at_level(logging.INFO, "folioreel"):
        number, text = isolation.read_apart(harmful.talk, FILE, "a", "b", progress=seen.append)
    assert number != os.getpid()
    assert text == "ab"
    assert [(p.stage, p.done, p.name) for p in seen] == [("reading", 1, "book.pdf")]
    assert caplog.messages == ["book.pdf is odd"]


def test_what_cannot_be_sent_is_read_here():
    class Local(str):
        """No other process knows it."""

    assert isolation.read_apart(harmful.talk, FILE, Local("a"), "b") == (os.getpid(), "ab")


def test_from_python_files_are_read_here_by_default(monkeypatch):
    monkeypatch.delenv(isolation.SWITCH)
    assert isolation.read_apart(harmful.talk, FILE, "a", "b")[0] == os.getpid()


def test_a_pdf_and_a_video_are_the_same_read_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    page = b"BT /F1 10 Tf 12 TL 50 500 Td " + b"(%s) Tj T* " % PROSE.encode() * 9 + b"ET"
    (tmp_path / "book.pdf").write_bytes(make_pdf(page, pages=2))
    film = draw_film(tmp_path / "film.mp4", shots_of([30, 30]))
    network = load_frame_features()
    apart = load_book(tmp_path / "book.pdf"), load_film(film, encoder=network)
    monkeypatch.setenv(isolation.SWITCH, "0")
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "another"))
    here = load_book(tmp_path / "book.pdf"), load_film(film, encoder=network)
    assert apart[0] == here[0]
    assert apart[1].shots == here[1].shots
    assert apart[1].sha256 == here[1].sha256
    assert (apart[1].features.vectors["visual"] == here[1].features.vectors["visual"]).all()


def test_errors_of_a_pdf_are_the_same_apart(tmp_path):
    (tmp_path / "book.pdf").write_bytes(b"%PDF-1.4\nnot much")
    with pytest.raises(InputError, match=r"book\.pdf: ") as caught:
        load_book(tmp_path / "book.pdf")
    assert "crash" not in str(caught.value)
