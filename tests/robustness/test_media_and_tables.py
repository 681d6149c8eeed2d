"""Pictures of text, sound, parts, tables and checkpoints that are damaged or made to do harm."""

import os
import struct
import time
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from drawn_films import draw_film, shots_of
from drawn_subtitles import write_sup
from fuzzed_folders import SHOWN, read_drawn
from fuzzed_readers import refusal
from made_sound import CodedWords, add_sound, code_words

from folioreel import cache
from folioreel.errors import ConfigError, InputError
from folioreel.ingest.film import load_film
from folioreel.ingest.ocr import bitmaps
from folioreel.ingest.several import list_files
from folioreel.ingest.speech import listen
from folioreel.ingest.sync import find_timing, parse_rates
from folioreel.ingest.tables import read_rows
from folioreel.ingest.video import container
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.voice import FRAMES_PER_S, find_voice
from folioreel.types import Subtitle

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))


# Pictures of text


def write_screen(path: Path, width: int, height: int, sets: int) -> Path:
    """A PGS file whose display sets are screens of one colour, in a few bytes a row."""
    run = b"\x00" + struct.pack(">H", 0xC000 | width) + b"\x01"
    data = []
    for number in range(sets):
        rows = height - number  # so that no two show the same
        object_data = struct.pack(">HH", width, rows) + (run + b"\x00\x00") * rows
        pieces = [object_data[k : k + 60_000] for k in range(0, len(object_data), 60_000)]
        composition = struct.pack(">HHBHBBBB", width, height, 0x10, number, 0x80, 0, 0, 1)
        segments = [(0x16, composition + struct.pack(">HBBHH", 0, 0, 0, 0, 0))]
        segments.append((0x17, struct.pack(">BBHHHH", 1, 0, 0, 0, width, height)))
        segments.append((0x14, b"\x00\x00" + bytes([1, 235, 128, 128, 255])))
        for k, piece in enumerate(pieces):
            place = 0x80 * (k == 0) | 0x40 * (k == len(pieces) - 1)
            size = len(object_data).to_bytes(3, "big") if k == 0 else b""
            segments.append((0x15, struct.pack(">HBB", 0, 0, place) + size + piece))
        for kind, content in [*segments, (0x80, b"")]:
            head = struct.pack(">2sIIBH", b"PG", 90_000 * (number + 1), 0, kind, len(content))
            data.append(head + content)
    path.write_bytes(b"".join(data))
    return path


@pytest.mark.parametrize(("limit", "count"), [("_MOST_PIXELS", 0), ("_MOST_COVERED", 0), ("", 2)])
def test_pictures_larger_than_any_text_are_left_out(tmp_path, monkeypatch, limit, count):
    path = write_screen(tmp_path / "film.sup", 1000, 600, sets=2)
    if limit:
        monkeypatch.setattr(bitmaps, limit, 1000 * 590)
    assert read_drawn(path) == count


def test_screens_in_few_bytes_are_read_soon(tmp_path):
    path = write_screen(tmp_path / "film.sup", 3840, 2160, sets=5)
    begin = time.process_time()
    assert read_drawn(path) == 0
    assert path.stat().st_size < 80_000
    assert time.process_time() - begin < 3


def test_many_screens_in_few_bytes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bitmaps, "_FREE_PIXELS", 2_000_000)
    with pytest.raises(InputError, match=r"film\.sup: its subtitles are pictures of whole screens"):
        read_drawn(write_screen(tmp_path / "film.sup", 1000, 600, sets=6))


def test_pictures_of_text_may_be_many(tmp_path, monkeypatch):
    monkeypatch.setattr(bitmaps, "_FREE_PIXELS", 0)
    assert read_drawn(write_sup(tmp_path / "film.sup", SHOWN)) > 0


def test_many_large_pictures_do_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(bitmaps, "_LARGEST_TRACK", 2**20)
    with pytest.raises(InputError, match=r"film\.sup: its subtitles are pictures of more than"):
        read_drawn(write_screen(tmp_path / "film.sup", 1000, 600, sets=6))


@needs_pipes
def test_pictures_of_text_through_a_pipe_are_refused(tmp_path):
    data = write_sup(tmp_path / "film.sup", SHOWN).read_bytes()
    reading, writing = os.pipe()
    os.write(writing, data[:60_000])
    os.close(writing)
    with pytest.raises(InputError, match="is a pipe"):
        load_film(Path(f"/dev/fd/{reading}"))
    os.close(reading)


# Sound and times


def write_jump(path: Path, seconds_ahead: int) -> Path:
    """A film of two seconds of sound, the second of which comes much later."""
    with av.open(str(path), "w") as out:
        video = out.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt = 32, 32, "yuv420p"
        audio = out.add_stream("pcm_s16le", rate=8000, layout="mono")
        for k in range(3):
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), "rgb24")
            frame.pts = k
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
        for second in (0, seconds_ahead):
            samples = np.full((1, 8000), 1000, np.int16)
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = 8000, second * 8000, Fraction(1, 8000)
            out.mux(audio.encode(frame))
        out.mux(audio.encode(None))
    return path


def test_sound_of_next_year_ends_soon(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "_LONGEST_FILM_S", 600.0)
    path = write_jump(tmp_path / "film.mkv", 300 * 24 * 3600)
    with OpenVideo(path) as video:
        assert video.file_length_s > 1e7
        voice = find_voice(video, "0" * 64)
        heard = listen.listen(video, 1, CodedWords())
    assert 600 * FRAMES_PER_S <= len(voice) <= 603 * FRAMES_PER_S
    assert heard.finished


def test_a_cue_of_next_year_does_not_fill_the_memory():
    cues = [Subtitle(index=k, start_s=k, end_s=k + 0.5, text="x") for k in range(30)]
    late = Subtitle(index=30, start_s=1e15, end_s=1e15 + 1, text="x")
    voice = np.zeros(40 * FRAMES_PER_S, np.bool_)
    voice[::3] = True
    assert find_timing([*cues, late], voice) is None


@pytest.mark.parametrize("rates", ["inf:25", "25:inf", "nan:25", "1e400:1", "9" * 400 + ":1"])
def test_frame_rates_that_are_no_numbers(rates):
    with pytest.raises(ConfigError):
        parse_rates(rates)


# Checkpoints


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"\xff" * 40,
        b"[" * 5000,
        b"[]",
        b"{}",
        b'{"words": [[0.5, 1.0, 7]], "finished": true}',
        b'{"words": [[2.0, 1.0, "x"]], "finished": true}',
        b'{"words": [], "until_s": 1e300, "finished": true}',
        b'{"words": [], "until_s": -1, "finished": true}',
        b'{"words": 3, "finished": true}',
    ],
)
def test_a_checkpoint_of_speech_that_makes_no_sense(tmp_path, stored):
    """It is heard again, and what was stored is replaced."""
    film = draw_film(tmp_path / "film.mkv", shots_of([50, 50]))
    path = add_sound(film, [(code_words({3: 0.5, 4: 2.0}, 4.0), 0.0)])
    with OpenVideo(path) as video:
        recogniser = CodedWords()
        key = listen._cache_key(video.sha256, 1, recogniser, None)
        cache.store_array(key, np.frombuffer(stored, np.uint8))
        heard = listen.listen(video, 1, recogniser)
        assert [word.text for word in heard.words] == [" w3.", " w4."]
        assert listen._recall(key) == heard


# Tables and folders


def test_a_guarded_cell_of_a_table_is_read_as_it_was(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,text\n'=x,'-Yes.\n", encoding="utf-8")
    assert read_rows(path)[1].cells == ("=x", "-Yes.")
    path.write_text("name\ttext\nx\t'-Yes.'\n", encoding="utf-8")
    assert read_rows(path, quoted_tabs=False)[1].cells == ("x", "'-Yes.'")  # as it is said


def test_a_cell_without_an_end_names_its_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\nx,y\n" + "z" * 200_000 + ",w\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.csv:3: is not a table"):
        read_rows(path)


@pytest.mark.parametrize("line", ["sep=\t", "sep=;", '"sep=|"'])
def test_a_delimiter_that_is_announced(tmp_path, line):
    path, mark = tmp_path / "a.csv", line.strip('"')[-1]
    path.write_text(f"{line}\na{mark}b\n1{mark}2\n", encoding="utf-8")
    assert [row.cells for row in read_rows(path)] == [("a", "b"), ("1", "2")]


@pytest.mark.parametrize("line", ["sep=\0", 'sep="', "sep=a", "sep=\x85"])
def test_a_delimiter_that_cannot_be_one(tmp_path, line):
    path = tmp_path / "a.csv"
    path.write_text(f"{line}\na,b\n", encoding="utf-8")
    assert "\n" not in refusal(read_rows, path)


def test_thousands_of_files_are_listed_soon(tmp_path):
    files = [tmp_path / f"film {k}.srt" for k in range(50_000)]
    begin = time.process_time()
    assert len(list_files(files, "a film", list)) == 50_000
    assert time.process_time() - begin < 5


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(InputError, match="too long"):
        load_film(tmp_path / ("x" * 5000))
