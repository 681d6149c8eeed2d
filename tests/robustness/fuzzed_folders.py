"""Readers of files that lie beside others: parts, pictures of text, results, judgements, the cache.

The file that is made bad is written into a folder of its own; each reader first puts there what
belongs beside it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from unittest import mock

import numpy as np
from conftest import SENTENCES, SPOKEN
from drawn_films import draw_film, shots_of
from drawn_subtitles import Lettering, write_sup, write_vobsub
from made_parts import write_srt
from nasty_files import PROSE

from folioreel import cache
from folioreel.export.alignment_json import read_alignment, write_alignment
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.ingest.ocr.bitmaps import Ink, read_pictures
from folioreel.ingest.ocr.reading import OpenPictures, recognise
from folioreel.ingest.ocr.recognisers import Reading
from folioreel.ingest.speech import listen
from folioreel.ingest.video.tracks import list_tracks, track_packets
from folioreel.progress import ignore_progress
from folioreel.types import Alignment, Link
from folioreel.viewer.judgement import ReaderJudgement
from folioreel.viewer.judgements import FORMAT, VERSION, Judgements
from folioreel.viewer.session import Session

KEY = "0" * 64
SHOWN = [(500, 1500, "Hello there."), (1700, 2500, "Goodbye,\nmy dear.")]
SMALL = Lettering(size=16, outline=1, shades=4)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A reader, the name that its files have, and valid ones to begin with."""

    file: str
    seeds: Sequence[bytes]
    read: Callable[[Path], object]


class _Counting:
    """Reads numbers instead of words: recognising takes long, and has no part in reading files."""

    name = "counting 1"

    def read(self, lines: Sequence[Ink], height: int) -> list[Reading]:
        return [Reading(text=f"Width {line.shape[1]}.", confidence=1.0) for line in lines]


def read_drawn(path: Path) -> int:
    """Read all tracks of a file of pictures of text, as far as the recogniser; count the cues."""
    count = 0
    with OpenPictures(path) as opened, _cache_in(path.parent):
        for track in list_tracks(opened):
            packets = track_packets(opened, track.index, ignore_progress, [])
            cues, _ = recognise(read_pictures(packets), _Counting(), None)
            assert all(0 <= cue.start_s <= cue.end_s for cue in cues), "times that go back"
            count += len(cues)
    return count


def _cache_in(folder: Path) -> mock._patch_dict:
    return mock.patch.dict(os.environ, FOLIOREEL_CACHE=str(folder))


def _read_checkpoint(path: Path) -> None:
    with _cache_in(path.parent):
        cache.store_array(KEY, np.frombuffer(path.read_bytes(), np.uint8))
        heard = listen._recall(KEY)
    assert all(0 <= word.start_s <= word.end_s for word in heard.words), "times that go back"


def _read_array(path: Path) -> None:
    with _cache_in(path.parent):
        cache.find_array(KEY)


@lru_cache(maxsize=1)
def _drawn() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sup(folder / "pgs.sup", SHOWN, SMALL)
        film = draw_film(folder / "plain.mkv", shots_of([50, 50]))
        write_vobsub(folder / "film.idx", film, SHOWN, SMALL)
        sound = np.sin(np.arange(16_000) / 20) * 8000
        heard = folder / "sound.mkv"
        draw_film(heard, shots_of([6, 6]), sound=sound.astype(np.int16))
        files = ("pgs.sup", "film.idx", "film.sub", "sound.mkv")
        return {file: (folder / file).read_bytes() for file in files}


def _with(read: Callable[[Path], object], name: str, data: bytes) -> Callable[[Path], object]:
    """A reader with another file beside its own."""

    def read_both(path: Path) -> object:
        path.with_name(name).write_bytes(data)
        return read(path)

    return read_both


def _write_pair(folder: Path, parts: int = 1) -> Path:
    """A book and a film, and an alignment of them."""
    books, films = [], []
    for part in range(parts):
        books.append(folder / f"Ferry {part + 1}.txt")
        books[-1].write_text("\n\n".join(SENTENCES), encoding="utf-8")
        films.append(write_srt(folder / f"Ferry CD{part + 1}.srt", SPOKEN))
    book, film = load_book(books), load_film(films)
    links = [
        Link(moment=k, sentence=k % len(book.sentences), score=0.5, in_book=True)
        for k in range(len(film.moments))
    ]
    model = {"preset": "default", "measures": ["bleu1"], "package_version": "1", "config": {}}
    path = folder / "alignment.json"
    write_alignment(Alignment(book=book, film=film, links=tuple(links), signature=model), path)
    return path


@lru_cache(maxsize=2)
def _aligned(parts: int) -> tuple[tempfile.TemporaryDirectory[str], Alignment, bytes]:
    """The folder, which lasts as long as the process; the alignment in it, read and as bytes."""
    folder = tempfile.TemporaryDirectory(prefix="folioreel-fuzz-")
    path = _write_pair(Path(folder.name), parts)
    return folder, read_alignment(path), path.read_bytes()


def _read_result(path: Path) -> object:
    """The alignment with its book and film, wherever they are."""
    return read_alignment(path).film


def _judge(folder: Path) -> Judgements:
    alignment = _aligned(1)[1]
    made = Judgements(alignment, folder)
    made.add(ReaderJudgement(moment=0, verdict="match", sentence=2))
    made.add(ReaderJudgement(moment=1, verdict="none", sentence=None))
    made.undo()
    return made


def _journal() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _judge(Path(folder, "judged"))
        return Path(folder, "judged", "journal.jsonl").read_bytes()


def _other_journal() -> bytes:
    """Judgements of other moments of the same film, which are placed by their times and words."""
    header, *lines = _journal().splitlines(keepends=True)
    return b"".join((json.dumps({**json.loads(header), "moments": 99}).encode(), b"\n", *lines))


def _annotations() -> bytes:
    return b"time_s\tend_s\tline\tline_to\tkind\tnote\n0.5\t2\t1\t2\tvisual\tseen\n"


def _read_revised(path: Path) -> None:
    """A session after a session; the file is the corrected alignment of the first."""
    data = path.read_bytes()
    path.unlink()
    _judge(path.parent)
    path.write_bytes(data)
    alignment = _aligned(1)[1]
    session = Session(alignment, path.parent)
    links = session._links
    assert all(0 <= link.sentence < len(alignment.book.sentences) for link in links), "no sentence"


def _revised() -> bytes:
    document = json.loads(_aligned(1)[2])
    document["model"]["revision"] = 3
    return json.dumps(document).encode()


def _take_judgements(path: Path) -> None:
    session = Session(_aligned(1)[1], path.parent / "judged")
    session._prepared.set()  # no links are revised here
    session.take(path)


def _saved_judgements() -> bytes:
    alignment = _aligned(1)[1]
    document = {"format": FORMAT, "version": VERSION}
    document |= {"book": alignment.book.title, "film": alignment.film.title}
    entries = [{"moment": 0, "verdict": "match", "sentence": 1}]
    return json.dumps({**document, "judgements": entries}).encode()


def _checkpoint() -> bytes:
    words = (listen.Word(0.5, 1.0, " Hello"), listen.Word(1.0, 1.5, " there."))
    return json.dumps(asdict(listen.Heard(words=words, language="en", until_s=2.0))).encode()


def folder_readers() -> dict[str, Reader]:
    """The readers by name."""
    drawn, second = _drawn(), b"1\n00:00:01,000 --> 00:00:02,000\nAnd then?\n"
    many = "".join(
        f"{k}\n00:00:00,{k:03} --> 00:00:01,{k:03}\nHello there, number {k}.\n\n"
        for k in range(1, 30)
    )

    def reader(file: str, read: Callable[[Path], object], *seeds: bytes) -> Reader:
        return Reader(file=file, read=read, seeds=seeds)

    return {
        "pgs": reader("drawn/film.sup", read_drawn, drawn["pgs.sup"]),
        "vobsub index": reader(
            "drawn/film.idx", _with(read_drawn, "film.sub", drawn["film.sub"]), drawn["film.idx"]
        ),
        "vobsub": reader(
            "drawn/film.sub", _with(read_drawn, "film.idx", drawn["film.idx"]), drawn["film.sub"]
        ),
        "parts": reader(
            "parts/Ferry CD1.srt",
            _with(lambda path: load_film(path.parent), "Ferry CD2.srt", second),
            second,
        ),
        "volumes": reader(
            "volumes/Ferry 1.txt",
            _with(lambda path: load_book(path.parent), "Ferry 2.txt", PROSE.encode() * 3),
            PROSE.encode() * 3,
        ),
        "sound": reader(
            "sound/film.mkv", _with(load_film, "film.srt", many.encode()), drawn["sound.mkv"]
        ),
        "late subtitles": reader(
            "sound/film.srt",
            _with(
                lambda path: load_film(path.with_suffix(".mkv"), subtitles=path),
                "film.mkv",
                drawn["sound.mkv"],
            ),
            many.encode(),
        ),
        "result": reader("result/alignment.json", _read_result, _aligned(1)[2], _aligned(2)[2]),
        "journal": reader(
            "judged/journal.jsonl", lambda p: Judgements(_aligned(1)[1], p.parent), _journal()
        ),
        "corrected": reader("judged/alignment.json", _read_revised, _revised()),
        "other journal": reader(
            "judged/journal.jsonl", lambda p: Judgements(_aligned(1)[1], p.parent), _other_journal()
        ),
        "annotations": reader("taken/annotations.tsv", _take_judgements, _annotations()),
        "judgements": reader("taken/judgements.json", _take_judgements, _saved_judgements()),
        "speech checkpoint": reader("cache/heard.json", _read_checkpoint, _checkpoint()),
        "cached array": reader(f"cache/{KEY}.npy", _read_array, cache._pack(np.arange(5.0))),
    }
