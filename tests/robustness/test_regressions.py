"""What once went wrong with files that are not as they should be, instance by instance."""

import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from conftest import make_book, make_film
from hypothesis import given
from hypothesis import strategies as st
from nasty_files import FB2, PROSE, TTML, XHTML, make_epub

from folioreel.cli import output
from folioreel.config import AlignConfig, CalibrationConfig
from folioreel.corpus.sources import BookFolder
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.evaluate.dataset import read_film_json, write_film_json
from folioreel.export.formats import FORMATS, RESULTS
from folioreel.export.results import write_results
from folioreel.export.tables import write_csv
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.ingest.picture import read_picture
from folioreel.ingest.subtitles.dialogue import read_subtitles
from folioreel.json_input import parse_json
from folioreel.models import onnx_graphs
from folioreel.models.vocabulary_expansion import open_word_vectors
from folioreel.text import guard_cell, unguard_cell
from folioreel.types import Alignment, Link

SENTENCES = [f"Sentence number {k} of a long story is told here." for k in range(41)]
PARAGRAPHS = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")


def spoken(text: str) -> list[str]:
    return [sentence.text for sentence in load_book(Path(text)).sentences]


# Silent loss


@pytest.mark.parametrize(
    "opening",
    [
        '<h2><a href="toc.xhtml#ref1">1</a></h2>',
        '<h2><a href="#fn1"><sup>1</sup></a></h2>',
        '<p><a href="#n1">[1]</a></p>',
        '<a href="#note1">1</a>',
    ],
)
@pytest.mark.parametrize(
    "around",
    ["{}", "<section>{}</section>", "<div>{}</div>", "<blockquote><div>{}</div></blockquote>"],
)
def test_a_chapter_that_opens_with_a_mark_is_not_a_note(tmp_path, opening, around):
    page = XHTML.format(around.format(opening + PARAGRAPHS))
    (tmp_path / "book.html").write_text(page, encoding="utf-8")
    (tmp_path / "book.epub").write_bytes(make_epub({"a.xhtml": page}))
    for name in ("book.html", "book.epub"):
        said = " ".join(spoken(tmp_path / name))
        assert [sentence for sentence in SENTENCES if sentence not in said] == []


def test_a_reference_that_is_never_closed_keeps_what_follows(tmp_path):
    page = f'<html><body><p>Once<a epub:type="noteref" href="#n">1 {" ".join(SENTENCES)}</p>'
    (tmp_path / "book.html").write_text(page, encoding="utf-8")
    said = " ".join(spoken(tmp_path / "book.html"))
    assert [sentence for sentence in SENTENCES if sentence not in said] == []


def test_output_that_fits_only_in_parts_is_written_whole(monkeypatch):
    """With `python -u`, a write may take less than it is given."""

    class Narrow(io.RawIOBase):
        written = b""

        def writable(self):
            return True

        def write(self, data):
            self.written += bytes(data[:7])
            return min(7, len(data))

    raw = Narrow()
    stream = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    output.show_line("a line of results that is much longer")
    assert raw.written == b"a line of results that is much longer\n"


# Pipes and devices


def through_pipe(data: bytes) -> Path:
    reading, writing = os.pipe()

    def write():
        with open(writing, "wb") as file:
            file.write(data)

    threading.Thread(target=write, daemon=True).start()
    return Path(f"/dev/fd/{reading}")


@needs_pipes
def test_a_book_through_a_pipe_is_read_whole(tmp_path):
    text = "\n\n".join(
        f"{sentence} {PROSE}" for sentence in SENTENCES * 60
    )  # more than a pipe holds
    (tmp_path / "book.txt").write_text(text, encoding="utf-8")
    pipe = through_pipe(text.encode())
    whole = load_book(tmp_path / "book.txt")
    for _ in range(2):  # the second time, its bytes are remembered
        book = load_book(pipe)
        assert [s.text for s in book.sentences] == [s.text for s in whole.sentences]
        assert book.sha256 == whole.sha256


@needs_pipes
def test_subtitles_through_a_pipe(tmp_path):
    cues = "".join(
        f"{k}\n00:{k // 60:02}:{k % 60:02},000 --> 00:{k // 60:02}:{k % 60:02},900\n{PROSE}\n\n"
        for k in range(1, 1200)
    )
    (tmp_path / "film.srt").write_text(cues, encoding="utf-8")
    film, whole = load_film(through_pipe(cues.encode())), load_film(tmp_path / "film.srt")
    assert film.subtitles == whole.subtitles
    assert film.sha256 == whole.sha256


@needs_pipes
def test_a_pipe_without_a_writer_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("folioreel.reading._WRITER_S", 0.2)
    pipe = tmp_path / "book.txt"
    os.mkfifo(pipe)
    begin = time.monotonic()
    for read in (load_book, load_film, read_picture):
        with pytest.raises(InputError, match="nothing comes out of"):
            read(pipe)
    assert time.monotonic() - begin < 10
    (found,) = BookFolder.open(tmp_path).read()
    assert "not a file" in found.problem


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize("read", [load_book, load_film, read_picture, read_subtitles])
def test_a_device_is_refused(read):
    with pytest.raises(InputError, match="is a device"):
        read(Path("/dev/zero"))


# Limits


@pytest.mark.parametrize("read", [load_book, read_picture])
def test_a_file_beyond_the_limit_is_refused(tmp_path, read):
    path = tmp_path / "book.pdf"
    with path.open("wb") as file:
        file.write(b"%PDF-1.4\n")
        file.truncate(300 * 2**20)  # takes no room on the disk
    with pytest.raises(InputError, match="larger than 200 MB"):
        read(path)


def test_a_library_of_bombs(tmp_path):
    zeros = bytes(30 * 2**20)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("book.txt", zeros)
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("book.txt")
        member.size = len(zeros)
        archive.addfile(member, io.BytesIO(zeros))
    with tarfile.open(tmp_path / "c.tar", "w") as archive:
        header = tarfile.TarInfo("book.txt")
        header.type, header.size = tarfile.GNUTYPE_LONGNAME, 7 * 2**30
        archive.addfile(header)
    problems = {found.path: found.problem for found in BookFolder.open(tmp_path).read()}
    assert "times its size" in problems["a.zip/book.txt"]
    assert "times its size" in problems["b.tar.gz"]
    assert "damaged" in problems["c.tar"]


# Numbers and shapes


@pytest.mark.parametrize("times", [[-1.0, 2.0], [3.0, 2.0], [1.0, 1e300]])
def test_impossible_times_in_a_film(tmp_path, times):
    path = tmp_path / "film.json"
    write_film_json(make_film(), path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["shots"][0] = times
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match="no time of a film"):
        read_film_json(path)


@pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", "[" * 5000, "9" * 5000, "9" * 30, "{"])
def test_json_that_cannot_be_used_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"number|nested|Expecting"):
        parse_json(text)


def test_json_of_another_shape_names_the_place():
    with pytest.raises(ValueError, match=r"\$\.chain\.pace"):
        parse_json(json.dumps(asdict(AlignConfig()) | {"chain": {"pace": "fast"}}), AlignConfig)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_weights_that_make_no_sense(value):
    with pytest.raises(ConfigError):
        AlignConfig(bias=value)
    with pytest.raises(ConfigError):
        CalibrationConfig(evidence=value)


# Text


def test_halves_of_characters(tmp_path):
    halves = "&#55357;&#56832;"
    page = XHTML.format(f"<p>{halves} {PROSE}</p>")
    (tmp_path / "a.epub").write_bytes(make_epub({"a.xhtml": page}, title=halves))
    (tmp_path / "a.fb2").write_text(FB2.format(title=halves, body=f"<p>{halves} {PROSE}</p>"))
    for name in ("a.epub", "a.fb2"):
        book = load_book(tmp_path / name)
        assert book.title == "😀"
        assert book.sentences[0].text.startswith("😀 The ferry")
    cue = f'<p begin="1s" end="2s">{halves} Hello there.</p>'
    (tmp_path / "a.ttml").write_text(TTML.format(cue), encoding="utf-8")
    assert load_film(tmp_path / "a.ttml").subtitles[0].text == "😀 Hello there."


@pytest.mark.parametrize("half", ["&#{}55357;&#{}56832;", "&#x{}D83D;&#x{}DE00;"])
def test_halves_of_characters_after_thousands_of_zeros(tmp_path, half):
    halves = half.replace("{}", "0" * 5000)
    (tmp_path / "a.html").write_text(f"<html><body><p>{halves} {PROSE}</p></body></html>")
    assert spoken(tmp_path / "a.html")[0].startswith("😀 The ferry")


def test_a_text_that_begins_like_an_archive(tmp_path):
    for begin in ("PK", "MZ", "RIFF", "Rar!", "PG", "ID3", "GIF8"):
        path = tmp_path / "book.txt"
        path.write_text(f"{begin} was what they called him. {PROSE}", encoding="utf-8")
        assert load_book(path).sentences[0].text == f"{begin} was what they called him."


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are no text")
def test_names_that_are_not_utf_8(tmp_path):
    book_path, film_path = (tmp_path / os.fsdecode(name) for name in (b"b\xff.txt", b"f\xff.srt"))
    book_path.write_text(PROSE * 3, encoding="utf-8")
    film_path.write_text("1\n00:00:01,000 --> 00:00:02,000\nThe ferry crossed.\n", encoding="utf-8")
    book, film = load_book(book_path), load_film(film_path)
    link = Link(moment=0, sentence=0, score=0.9, in_book=True)
    model = {"preset": "x", "measures": [], "package_version": "1"}
    alignment = Alignment(book=book, film=film, links=(link,), signature=model)
    write_results(alignment, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        FORMATS[name].file for name in RESULTS
    }
    document = json.loads((tmp_path / "out" / "alignment.json").read_text(encoding="utf-8"))
    assert Path(document["book"]["path"]) == book_path


# What is printed


def test_an_endless_value_is_cut(capsys):
    output.show_error(f"book.txt: is {'9' * 100_000}; give another")
    line = capsys.readouterr().err
    assert len(line) < 1100
    assert line.startswith("folioreel: book.txt: is 999")
    assert line.endswith("999; give another\n")
    assert len(str(InputError("is " + "9" * 100_000, "book.txt"))) < 1100


def test_no_escape_reaches_the_terminal(capsys):
    nasty = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt\udcff"
    output.show_line(nasty)
    output.show_error(nasty)
    shown = capsys.readouterr()
    for text in shown:
        assert not set(text) & set("\x1b\x07\x9b\u202e\udcff")
        assert "owned" in text


def make_small_alignment(*texts: str) -> Alignment:
    spoken = [(float(k), k + 0.5, text) for k, text in enumerate(texts, 1)]
    film = replace(make_film(spoken, shots=False), path=None)
    links = [Link(moment=k, sentence=0, score=0.5, in_book=True) for k in range(len(texts))]
    return Alignment(book=make_book(), film=film, links=tuple(links), signature={})


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    texts = ["=1+1", "+1", "-Yes.", "@me", "Plain."]
    write_csv(make_small_alignment(*texts), tmp_path / "a.csv")
    written = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert all(f",'{text}," in written for text in texts[:4])
    assert ",Plain.," in written


@given(st.text())
def test_a_guarded_cell_can_be_read_back(text):
    guarded = guard_cell(text)
    assert unguard_cell(guarded) == text
    assert not guarded.startswith(("=", "+", "-", "@"))


def test_numbers_of_a_table_stay_numbers():
    assert guard_cell(-0.5) == -0.5


def test_onnx_runtime_reports_to_nobody(monkeypatch):
    called = []
    monkeypatch.setattr(
        onnx_graphs.onnxruntime, "disable_telemetry_events", lambda: called.append(True)
    )
    with pytest.raises(ModelFolderError):
        onnx_graphs.open_session(b"no graph")
    assert called


@needs_pipes
def test_word_vectors_in_a_pipe_or_a_device(tmp_path):
    os.mkfifo(tmp_path / "vectors.txt")
    with pytest.raises(InputError, match="a pipe that nothing comes out of"):
        open_word_vectors(tmp_path / "vectors.txt")
    with pytest.raises(InputError, match="is a device"):
        open_word_vectors(Path("/dev/zero"))


def test_logs_of_other_packages_are_not_printed():
    program = (
        "import logging; from folioreel.cli import output; output.show_log(logging.WARNING);"
        "logging.getLogger('another').warning('A circular bookmark reference was detected.')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stderr == b""
