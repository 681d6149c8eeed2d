"""Commands that are killed, or stopped with Ctrl-C, at a change of a file, and started again.

Some changes are tried here; all of them with FOLIOREEL_EVERY_CHANGE=1, which takes minutes.
"""

import importlib
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus.made_books import write_novels
from corpus.made_stories import write_tales
from made_pages import open_session
from stopping import EVERY_CHANGE, Command, content, count_changes, run_stopped

from folioreel import files
from folioreel.corpus.words import WordIndex
from folioreel.ingest.speech import transcribe as speech
from folioreel.ingest.speech.listen import Word
from folioreel.ingest.speech.sentences import split_words

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore"),  # of forks in a process that has threads
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Temporary files of our own, which are swept at once."""
    for name in ("apps.report", "apps.report_pages", "corpus.build", "corpus.index", "cli.export"):
        importlib.import_module(f"folioreel.{name}")  # here, and not in each child
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(files, "_SWEPT_AFTER_S", -1.0)
    return tmp_path


def chosen(changes: int, count: int) -> list[int]:
    """Some of the changes, the first and the last among them; all if that is asked for."""
    if os.environ.get(EVERY_CHANGE):
        return list(range(1, changes + 1))
    if count == 1:
        return [changes // 2]
    return sorted({1 + round(k * (changes - 1) / (count - 1)) for k in range(count)})


def check_stops(
    place: Path,
    words: list[object],
    out: Path,
    prepare: Callable[[], object],
    seen: Callable[[Path], object] = content,
    kills: int = 4,
) -> None:
    """Stop a command at changes of files; the same command again gives what one run gives."""
    work = Command(*words)
    prepare()
    changes = count_changes(work)
    whole = seen(out)
    stops = [(change, signal.SIGKILL) for change in chosen(changes, kills)]
    stops += [(change, signal.SIGINT) for change in chosen(changes - 1, max(1, kills // 3))]
    for change, how in stops:
        what = f"{how.name} at change {change} of {changes}"
        shutil.rmtree(out)
        prepare()
        work.said()
        ended = run_stopped(work, change, how)
        if how is signal.SIGKILL:
            assert ended == -signal.SIGKILL, what
        else:
            said = work.said()
            lines = [line for line in said.splitlines() if line.startswith("folioreel: stopped")]
            assert (ended, len(lines)) == (130, 1), f"{what}: {said}"
            left = [path.name for path in out.rglob("*.part")]
            assert set(left) <= {".results.part"}, what
        assert run_stopped(work) == 0, f"{what}: {work.said()}"
        assert seen(out) == whole, what
        assert not list((place / "tmp").glob("folioreel*")), what


def test_export(place, result):
    out = place / "out"
    words = ["export", result, "--as", "csv", "--as", "tei", "--as", "eaf", "--out", out]
    check_stops(place, words, out, lambda: None)


def test_report(place, result):
    out = place / "out"
    check_stops(place, ["report", result, "--out", out], out, lambda: None, kills=3)


def test_frames(place, result):
    """Several files whose names are known late."""
    out = place / "out"
    words = ["describe", result, "--range", "0:00-0:04", "--out", out]
    check_stops(place, words, out, lambda: None)


def test_one_file(place, result):
    """The last change is the one that completes it: after that, it would need --force."""
    out = place / "out"
    words = ["export", result, "--as", "csv", "--out", out / "table.csv"]
    check_stops(place, words, out, out.mkdir)


def test_corpus_build(place):
    out = place / "corpus"
    write_novels(place / "books", range(3), words=1600)
    words = ["corpus", "build", place / "books", "--out", out, "--min-words", 1500, "--workers", 1]
    check_stops(place, words, out, lambda: None)


def test_corpus_index(place):
    write_tales(place / "books")
    built, out = place / "built", place / "corpus"
    build = ["corpus", "build", place / "books", "--out", built, "--min-words", 20, "--workers", 1]
    assert run_stopped(Command(*build)) == 0

    def found(corpus: Path) -> object:
        """The files of the word index have random names: what it finds counts."""
        others = {name: data for name, data in content(corpus).items() if "/words/" not in name}
        words = WordIndex(corpus / "search" / "words")
        return others, [words.search(word, 5) for word in ("captain", "ghost", "money")]

    words = ["corpus", "index", out, "--workers", 1]
    check_stops(place, words, out, lambda: shutil.copytree(built, out), found, kills=6)


def test_transcribe(place, result, monkeypatch):
    heard = [Word(start_s=0.2, end_s=0.9, text=" Sixty-one kilos.")]
    transcript = speech.Transcript(sentences=split_words(heard, "en"), language="en", model="tiny")
    monkeypatch.setattr(speech, "transcribe", lambda *_: transcript)
    out = place / "out"
    words = ["transcribe", result.parent / "film.mp4", "--out", out]
    check_stops(place, words, out, lambda: None, kills=6)


def test_training(place):
    """It goes on at its last checkpoint, and ends with the same weights."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # a fork has one thread
    write_novels(place / "books", range(3), words=1600)
    build = ["corpus", "build", place / "books", "--out", place / "corpus", "--min-words", 1500]
    assert run_stopped(Command(*build, "--workers", 1)) == 0
    out = place / "run"
    sizes = ["--units", 8, "--word-units", 6, "--vocabulary", 100, "--batch", 4, "--steps", 4]
    words = ["train", "sentences", place / "corpus", "--out", out, *sizes, "--device", "cpu"]

    def trained(run: Path) -> dict[str, bytes]:
        names = ("words.safetensors", "vocabulary.txt")
        return {name: (run / "encoder" / name).read_bytes() for name in names}

    check_stops(place, words, out, lambda: None, trained, kills=1)


def test_judging(place, result):
    """What was acknowledged stays, and the files follow from it at the next start."""
    folder = result / "judged"
    steps = [(0, None), (2, 3), (2, 5), None, (1, 4)]  # (moment, sentence), or undo
    receiving, sending = os.pipe()

    def judge() -> None:
        session = open_session(result)
        done = session.judgements.revision
        for step in steps[done:]:
            if step is None:
                session.undo(session.judgements.revision)
            else:
                verdict = "none" if step[1] is None else "match"
                judgement = {"moment": step[0], "verdict": verdict, "sentence": step[1]}
                session.judge(session.judgements.revision, judgement)
            os.write(sending, b".")
        session.close()

    def heard() -> int:
        """How many judgements were acknowledged since this was last asked."""
        os.write(sending, b"|")
        return os.read(receiving, 100).count(b".")

    def kept() -> tuple[list[dict], dict[str, bytes], list[dict]]:
        """The journal without its times, the links, and all other files."""
        files = content(folder)
        entries = [json.loads(line) for line in files.pop("journal.jsonl").splitlines()]
        for entry in entries:
            entry.pop("time", None)
        links = json.loads(files.pop("alignment.json"))["links"]
        for link in links:
            link.pop("alternatives", None)
        return entries, files, links

    assert run_stopped(judge) == 0  # fills the cache
    shutil.rmtree(folder)
    heard()
    changes = count_changes(judge)
    whole = kept()
    assert heard() == len(steps)
    for change in chosen(changes, 8):
        shutil.rmtree(folder)
        assert run_stopped(judge, change) == -signal.SIGKILL
        acknowledged = heard()
        if acknowledged:
            assert open_session(result).judgements.revision >= acknowledged, change
        assert run_stopped(judge) == 0, change
        heard()
        entries, derived, links = kept()
        assert (entries, derived) == whole[:2], change
        for link, other in zip(links, whole[2], strict=True):
            # Solved for the whole film, and not step by step, scores differ by less than is shown.
            assert link.pop("score") == pytest.approx(other["score"], abs=3e-3), change
            assert link == {name: value for name, value in other.items() if name != "score"}, change
