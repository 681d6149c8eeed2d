"""A command that is killed at any change of a file, and started again, gives the same result."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from conftest import SENTENCES, SPOKEN
from made_parts import write_srt
from stopping import content, run_stopped

from folioreel import files
from folioreel.apps import align_many as many
from folioreel.errors import InputError
from folioreel.export.alignment_json import write_alignment
from folioreel.export.results import check_folder, write_results
from folioreel.export.tables import write_csv, write_vtt
from folioreel.files import (
    check_output_file,
    check_output_folder,
    scratch_folder,
    write_text,
    writing_together,
)
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.presets import load_preset, save_preset
from folioreel.train.runs import open_run
from folioreel.types import Alignment, Link

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def align_quickly(book: object, film: object, **_: object) -> Alignment:
    """An alignment of the right files; what it says does not matter here."""
    read_book, read_film = load_book(book), load_film(film)
    links = (
        Link(moment=k, sentence=k, score=0.5, in_book=True) for k in range(len(read_film.moments))
    )
    options = {
        "preset": "auto",
        "subtitles": None,
        "encoder": None,
        "shots": True,
        "pictures": True,
    }
    model = {"preset": "default", "measures": ["bleu1"], "package_version": many.__version__}
    signature = {**model, "options": options}
    return Alignment(book=read_book, film=read_film, links=tuple(links), signature=signature)


def write_some(alignment: Alignment, folder: Path) -> list[Path]:
    """What `write_results` does, with fewer files: no picture has to be drawn each time."""
    (folder / "parts").mkdir()
    paths = [folder / "alignment.csv", folder / "parts" / "1.vtt", folder / "alignment.json"]
    write_csv(alignment, paths[0])
    write_vtt(alignment, paths[1])
    write_alignment(alignment, paths[2])
    return paths


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A book, a film and a table, and temporary files of our own that are swept at once."""
    (tmp_path / "book.txt").write_text("\n\n".join(SENTENCES), encoding="utf-8")
    write_srt(tmp_path / "film.srt", SPOKEN)
    (tmp_path / "pairs.csv").write_text("book,film,name\nbook.txt,film.srt,one\n", encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(files, "_SWEPT_AFTER_S", -1.0)
    monkeypatch.setattr(many, "align", align_quickly)
    monkeypatch.setattr(many, "write_results", write_some)
    monkeypatch.setattr(many.Aligner, "load", lambda *_: None)
    return tmp_path


@pytest.mark.filterwarnings("ignore")  # of forks in a process that has threads
@pytest.mark.parametrize("command", ["align-many", "align"])
def test_a_run_that_was_killed_is_taken_up(place, command):
    out = place / "out"

    def run_many() -> None:
        (outcome,) = many.align_many(place / "pairs.csv", out)
        assert outcome.status in ("aligned", "kept"), outcome.reason

    def run_align() -> None:
        check_folder(out, force=False)
        write_results(align_quickly(place / "book.txt", place / "film.srt"), out)

    work = run_many if command == "align-many" else run_align
    work()  # here, so that the children need not import all that it takes
    whole = content(out)
    assert "alignment.json" in {Path(name).name for name in whole}
    after = 0
    while True:
        after += 1
        for path in sorted(out.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        if (ended := run_stopped(work, after)) == 0:
            break
        assert ended == -signal.SIGKILL
        assert run_stopped(work) == 0, f"after change {after}"
        assert content(out) == whole, f"after change {after}"
        assert not list((place / "tmp").iterdir()), f"after change {after}"
    assert after > 2 * len(whole)  # each is written and then renamed


def stop_at_every_change(work, out: Path) -> int:
    """Kill it at each change of a file, and run it again; returns how many changes there are."""
    work()
    whole = content(out)
    after = 0
    while True:
        after += 1
        shutil.rmtree(out)
        if (ended := run_stopped(work, after)) == 0:
            return after
        assert ended == -signal.SIGKILL
        assert run_stopped(work) == 0, f"after change {after}"
        assert content(out) == whole, f"after change {after}"


@pytest.mark.filterwarnings("ignore")
def test_a_preset_that_was_being_written_is_written_again(place):
    config = load_preset("words")

    def work() -> None:
        save_preset(config, place / "preset", "# A preset", {"pairs": ["one"]})

    assert stop_at_every_change(work, place / "preset") > 6


@pytest.mark.filterwarnings("ignore")
def test_a_training_run_that_was_being_begun_is_begun_again(place):
    assert stop_at_every_change(lambda: open_run(place / "run", {"books": 3}), place / "run") > 3


@pytest.mark.filterwarnings("ignore")
def test_a_folder_of_which_nothing_else_may_be_in_the_way(place):
    """As that of `evaluate --out`, which takes an empty folder only."""

    def work() -> None:
        check_output_folder(place / "out")
        with writing_together(place / "out", ["a.txt", "b.txt"]):
            write_text(place / "out" / "a.txt", "a")
            write_text(place / "out" / "b.txt", "b")

    assert stop_at_every_change(work, place / "out") > 6


def test_results_that_were_finished_are_not_overwritten(place):
    alignment = align_quickly(place / "book.txt", place / "film.srt")
    write_results(alignment, place / "out", formats=["csv"])
    with pytest.raises(InputError, match="already holds"):
        check_folder(place / "out", ["csv"], force=False)
    # Nor if others, beside them, were not.
    (place / "out" / "film.vtt").write_text("x", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt), files.writing_together(place / "out", ["film.vtt"]):
        raise KeyboardInterrupt
    with pytest.raises(InputError, match=r"already holds alignment\.csv;"):
        check_output_folder(place / "out")
    check_output_folder(place / "out", ["film.vtt"])
    check_output_file(place / "out" / "film.vtt", force=False)


def test_a_scratch_folder_in_use_is_left_alone(place):
    with scratch_folder() as first:
        files._sweep_scratch.cache_clear()
        with scratch_folder() as second:
            assert first.is_dir()
            assert second != first
    assert not list((place / "tmp").iterdir())


def test_strangers_links_are_not_swept(place):
    (place / "mine").mkdir()
    (place / "mine" / "book.txt").write_text("x", encoding="utf-8")
    link = place / "tmp" / "folioreel-scratch-1"
    link.symlink_to(place / "mine")
    files._sweep_scratch.cache_clear()
    with scratch_folder():
        pass
    assert content(place / "mine") == {"book.txt": b"x"}


# Places that cannot be written


@pytest.mark.parametrize("check", [check_output_folder, check_output_file])
def test_an_output_that_cannot_be_written_is_noticed_before_the_work(tmp_path, monkeypatch, check):
    def refuse(dir: Path) -> None:
        raise OSError(30, "Read-only file system", str(dir))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(InputError, match=r"cannot be written \(Read-only file system"):
        check(tmp_path / "new" / "out")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_noticed_before_the_work(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written"):
        check_output_folder(tmp_path / "out")
    tmp_path.chmod(0o700)
