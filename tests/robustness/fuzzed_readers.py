"""Every reader of users' files, small valid files for it, and how to make bad ones of them."""

from __future__ import annotations

import io
import json
import math
import random
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from drawn_films import DrawnTrack, draw_film, shots_of
from fuzzed_folders import Reader, folder_readers
from nasty_files import CUE, FB2, HUGE, LONG, PROSE, TTML, XHTML, make_epub, make_pdf
from PIL import Image

from folioreel import __version__
from folioreel.apps.align_many import read_table
from folioreel.config import AlignConfig
from folioreel.corpus.readings import find_reading
from folioreel.corpus.shards import is_packed, load_shard, read_pack
from folioreel.corpus.sources import BookFolder
from folioreel.errors import FolioReelError
from folioreel.evaluate.dataset import read_film_json
from folioreel.evaluate.judged_tables import read_gold
from folioreel.evaluate.sentences import _load_pairs
from folioreel.export.alignment_json import read_document
from folioreel.ingest.book import load_book
from folioreel.ingest.descriptions import read_clip_table
from folioreel.ingest.film import load_film
from folioreel.ingest.picture import read_picture
from folioreel.models.frame_features import _read_description
from folioreel.models.presets import load_preset
from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary
from folioreel.models.vocabulary_expansion import open_word_vectors
from folioreel.train.written import _read_adaptation
from folioreel.types import Book, Film

STORY = (
    "CHAPTER I\n\n“Come in!” he said. She came.\n\n* * *\n\n" + PROSE + "\n\nCHAPTER II\n\n" + PROSE
)
CUES = (
    CUE + "- Hello there.\n- Who's that?\n\n"
    "2\n00:00:03,500 --> 00:00:05,000\n<i>JOHN: Good</i>bye...\n\n"
    "3\n00:00:05,000 --> 00:00:07,000\n...and [sighs] (door) ♪ la ♪ farewell, my {\\i1}dear.\n"
)
ASS = (
    "[Script Info]\nScriptType: v4.00+\n\n[Events]\nFormat: Layer, Start, End, Style, Name, "
    "MarginL, MarginR, MarginV, Effect, Text\n"
    "Dialogue: 0,0:00:01.00,0:00:02.00,Default,John,0,0,0,,{\\b1}Hello{\\b0} there.\n"
    "Dialogue: 0,0:00:03.50,0:00:05.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1{\\p0}Goodbye.\\Nyou\n"
)
MARKDOWN = (
    "---\ntitle: The Ferry\n---\n\n# Chapter I\n\n*Come* **in**, [he](b) said.[^1]\n\n> A `quote`\n"
    "\n- a list\n\n| a | b |\n|---|---|\n| c | d |\n\n---\n\n<div>html</div>\n\n[^1]: note\n\n"
    + PROSE
)
BODY = (
    f'<h2>I</h2><p>{PROSE}</p><p>See<a href="#n1"><sup>1</sup></a>. <i>It</i><br/>was.</p>'
    f'<div class="poem"><p>One</p><p>Two</p></div><hr/><h2>II</h2><p>{PROSE}&amp;&#8212;</p>'
    '<p id="n1"><a href="#r1">[1]</a> A note.</p><table><tr><td>x</td></tr></table>'
)
SAMI = (
    "<SAMI><BODY><SYNC Start=1000><P Class=ENCC>Hello&nbsp;there.<SYNC Start=2000><P>&nbsp;"
    "<SYNC Start=3500><P Class=ENCC>Goodbye.</BODY></SAMI>"
)
WHISPER = {"text": "", "segments": [{"id": 0, "start": 1.0, "end": 2.0, "text": " Hello there."}]}
YOUTUBE = {
    "wireMagic": "pb3",
    "events": [
        {"tStartMs": 0, "id": 1},
        {"tStartMs": 1000, "dDurationMs": 2000, "segs": [{"utf8": "Hello"}, {"utf8": " there."}]},
    ],
}
SAVED = {
    "info": {},
    "styles": {},
    "events": [{"start": 1000, "end": 2000, "text": "Hello there.", "style": "Default"}],
}
FILM = {
    "format": "folioreel-film",
    "version": 1,
    "title": "The Ferry",
    "duration_s": 9.0,
    "video": None,
    "sha256": None,
    "shots": [[0.0, 4.0], [4.0, 9.0]],
    "subtitles": [[1.0, 2.0, "Hello there."]],
}
FILM_IN_PARTS = FILM | {
    "parts": [
        {"title": f"CD{k}", "start_s": 4.5 * k, "duration_s": 4.5, "video": None, "sha256": None}
        for k in range(2)
    ]
}
SICK = "sentence_A\tsentence_B\trelatedness_score\nHe runs.\tShe runs.\t3.5\nA\tB\t1\n"
ADAPTATION = (
    "# gutenberg 10008; The Mystery; White, Stewart Edward; first sentence 14; sha256 of the 95 "
    f"sentences joined by newlines {'0' * 64}; manner: terse\n"
    "They made their gold.\tverbatim\t14,15\nWhere is it?\tnew\t\n"
)
VECTORS = "2 3\nthe 0.1 0.2 0.3\nof 1 2 3\n"
BINARY_VECTORS = b"2 3\nthe " + bytes(12) + b"\nof " + bytes(12) + b"\n"
READING = {"version": 2, "package_version": __version__, "title": "T", "problem": "is empty"}


def _link(moment: int) -> dict[str, Any]:
    times = {"moment": moment, "start_s": 1.0, "end_s": 2.0, "kind": "dialogue", "text": "Hello."}
    places = {"sentence": 0, "paragraph": 0, "chapter": 0, "line": 1, "line_end": 1}
    return {**times, "in_book": True, "score": 0.9, **places}


ALIGNMENT = {
    "format": "folioreel-alignment",
    "version": 1,
    "book": {"title": "T", "path": None, "sha256": None}
    | {"sentences": 2, "paragraphs": 1, "chapters": 1},
    "film": {"title": "F", "path": None, "sha256": None, "duration_s": 9.0, "is_video": False}
    | {"moments": 1, "shots": 0, "subtitles": 1}
    | {"shot_times_s": [], "subtitle_times_s": [[1.0, 2.0]]},
    "model": {"preset": "default", "measures": ["bleu1"], "package_version": "1"},
    "links": [_link(0)],
}


def _picture(kind: str) -> bytes:
    stream = io.BytesIO()
    pixels = (np.arange(16 * 12 * 3) % 251).astype(np.uint8).reshape(12, 16, 3)
    Image.fromarray(pixels).save(stream, kind)
    return stream.getvalue()


def _videos() -> list[bytes]:
    track = DrawnTrack(cues=[(100, 600, "Hello there."), (700, 900, "Goodbye.")])
    ass, text = replace(track, codec="ass"), replace(track, codec="mov_text")
    with tempfile.TemporaryDirectory() as folder:
        paths = [
            draw_film(Path(folder, name), shots_of([6, 6]), tracks=tracks, metadata={"title": "F"})
            for name, tracks in (("a.mkv", [track, ass]), ("a.mp4", [text]), ("a.avi", []))
        ]
        return [path.read_bytes() for path in paths]


def _archive(members: dict[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _shard() -> bytes:
    stream = io.BytesIO()
    np.savez(
        stream,
        tokens=np.arange(5, dtype=np.uint16),
        lengths=np.array([2, 3], dtype=np.uint16),
        books=np.array([0, 2]),
        book_ids=np.array(["a"]),
        firsts=np.array([0]),
    )
    return stream.getvalue()


def _vocabulary() -> bytes:
    words = [*SPECIAL_TOKENS, "the", "of"]
    return "".join(f"{word}\t{9 - k}\n" for k, word in enumerate(words)).encode()


def _preset() -> bytes:
    document = {"format": "folioreel-preset", "version": 1, "config": asdict(AlignConfig())}
    return json.dumps({**document, "sha256": {}}).encode()


def _read_library(path: Path) -> None:
    for _ in BookFolder.open(path.parent).read():
        pass


def _read_pack(path: Path) -> None:
    if is_packed(path.parent):
        read_pack(path.parent)


@lru_cache(maxsize=1)
def all_readers() -> dict[str, Reader]:
    """The readers by name."""
    page = XHTML.format(BODY)
    epub = make_epub(
        {"a.xhtml": page, "b.xhtml": page},
        toc='<ncx><navMap><navPoint><navLabel><text>I</text></navLabel><content src="a.xhtml#n1"/>'
        "</navPoint></navMap></ncx>",
    )
    shown = b"BT /F1 10 Tf 12 TL 50 500 Td " + b"(%s) Tj T* " % PROSE.encode() * 9 + b"ET"
    fb2 = FB2.format(title="The Ferry", body=f"<title><p>I</p></title><p>{PROSE}</p><empty-line/>")
    ttml = TTML.format(
        '<p begin="00:00:01.000" end="2s">Hello <span tts:color="red">there.</span></p>'
        '<p begin="3500ms" dur="30f">Good<br/>bye.</p>'
    )
    gold = (
        "id\tverdict\tline_from\tline_to\thow\talternates\n"
        "0\tmatch\t1\t2\tverbatim\t3-4\n1\tnone\t\t\n"
    )

    def reader(file: str, read: Callable[[Path], object], *seeds: str | bytes | dict) -> Reader:
        texts = [json.dumps(seed) if isinstance(seed, dict) else seed for seed in seeds]
        data = [text.encode() if isinstance(text, str) else text for text in texts]
        return Reader(file=file, seeds=data, read=read)

    return {
        "plain text": reader("book.txt", load_book, STORY, STORY.encode("utf-16")),
        "markdown": reader("book.md", load_book, MARKDOWN),
        "html": reader("book.html", load_book, page, f"<html><body>{BODY}"),
        "epub": reader("book.epub", load_book, epub),
        "fb2": reader("book.fb2", load_book, fb2, _archive({"a.fb2": fb2})),
        "pdf": reader("book.pdf", load_book, make_pdf(shown, pages=3)),
        "subrip": reader("film.srt", load_film, CUES, CUES.encode("utf-16")),
        "webvtt": reader("film.vtt", load_film, "WEBVTT\n\nNOTE x\n\n" + CUES.replace(",", ".")),
        "substation": reader("film.ass", load_film, ASS),
        "ttml": reader("film.ttml", load_film, ttml),
        "sami": reader("film.smi", load_film, SAMI),
        "microdvd": reader(
            "film.sub", load_film, "{1}{1}25\n{25}{50}Hello there.\n{90}{}Bye|you.\n"
        ),
        "mpl2": reader("film.mpl", load_film, "[10][20]Hello there.\n[35][50]/Bye|you.\n"),
        "tmp": reader("film.tmp", load_film, "00:00:01:Hello there.\n00:00:03:Goodbye.\n"),
        "json subtitles": reader("film.json", load_film, WHISPER, YOUTUBE, SAVED),
        "video": reader("film.mkv", load_film, *_videos()),
        "picture": reader("a.png", read_picture, *map(_picture, ("PNG", "JPEG", "GIF", "WEBP"))),
        "clip table": reader(
            "clips.tsv",
            read_clip_table,
            "a.mp4\tHe opens a door.\nb\tx\tShe runs.\n",
            'a.mp4;"He; opens ""a"" door."\nb;She runs.\n',
        ),
        "alignment.json": reader("alignment.json", read_document, ALIGNMENT),
        "film.json": reader("film.json", read_film_json, FILM, FILM_IN_PARTS),
        "preset": reader("config.json", lambda path: load_preset(path.parent), _preset()),
        "network": reader(
            "net.json",
            lambda path: _read_description(path.with_suffix(".onnx")),
            {"size_px": 224, "mean": [0.1, 0.2, 0.3], "outputs": {"visual": "a"}},
        ),
        "reading": reader("readings/a.json", lambda p: find_reading(p.parent.parent, "a"), READING),
        "shard": reader("shard-0.npz", load_shard, _shard()),
        "pack": reader("pack.json", _read_pack, {"shards": [{"file": "shard-0.npz", "bytes": 9}]}),
        "pairs": reader(
            "pairs.csv",
            lambda p: read_table(p, None),
            "book,film,name\nb.txt,f.srt,x\n",
            "sep=;\nBook;Film;Name;Subtitles\n1.txt|2.txt;a.avi | b.avi;'-x;en\n",
            'book\tfilm\n"b.txt"\tf.srt\n'.encode("utf-16"),
        ),
        "gold": reader("gold.tsv", lambda path: read_gold(path, 2, 9), gold),
        "related sentences": reader("SICK.txt", _load_pairs, SICK),
        "adaptation": reader("10008-1.tsv", _read_adaptation, ADAPTATION),
        "vocabulary": reader("vocabulary.txt", Vocabulary.load, _vocabulary()),
        "word vectors": reader("v.txt", lambda p: [*open_word_vectors(p)], VECTORS, BINARY_VECTORS),
        "library": reader("books.zip", _read_library, _archive({"a.txt": STORY, "b/c.epub": epub})),
        **folder_readers(),
    }


def refusal(read: Callable[..., object], *arguments: object) -> str:
    """What the user is told if a file is refused; empty if it is read."""
    try:
        read(*arguments)
    except FolioReelError as error:
        return str(error)
    return ""


def read(reader: Reader, data: bytes, folder: Path) -> object:
    """What a reader makes of some bytes; what it returns is checked as well."""
    path = folder / reader.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    try:
        found = reader.read(path)
    finally:
        path.unlink()
        if path.parent != folder:
            shutil.rmtree(path.parent)
    if isinstance(found, Film):
        times = [time_s for s in found.subtitles for time_s in (s.start_s, s.end_s)]
        assert all(map(math.isfinite, [*times, found.duration_s])), "an infinite time"
        assert all(0 <= s.start_s <= s.end_s for s in found.subtitles), "times that go back"
    if isinstance(found, Book):
        assert all(sentence.text.strip() for sentence in found.sentences), "an empty sentence"
        "".join([found.title, *(s.text for s in found.sentences)]).encode()  # no half characters
    return found


_TOKENS = [
    *(b"\x00", b"\xff", b"\xed\xa0\xbd", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\x1b[2J", b"\x85"),
    *(
        b"&#55357;",
        b"&#xD83D;",
        b"&#0;",
        b"&",
        b"&amp;",
        b"&x;",
        b"<",
        b">",
        b"</",
        b"<!--",
        b"-->",
    ),
    *(b"<![CDATA[", b"]]>", b"<!DOCTYPE x [", b"<?xml", b"<p>", b"<div>", b"</body>", b"<br/>"),
    *(
        b"{",
        b"}",
        b"{\\p1}",
        b"[",
        b"]",
        b"(",
        b")",
        b'"',
        b"'",
        b"\\",
        b"|",
        b"\t",
        b",",
        b":",
        b"#",
    ),
    *(
        b"-1",
        b"0",
        b"1e999",
        b"-1e999",
        b"NaN",
        b"Infinity",
        b"null",
        b"true",
        b"1.5",
        b"[]",
        b"{}",
    ),
    *(HUGE.encode(), LONG.encode(), b"\xe0\xa4\x83", "é".encode("utf-16"), b"-->", b" " * 300),
]
_VALUES = [None, True, -1, 0, 1, 10**30, 1.5, -1e300, "", "x", [], [[]], {}, {"a": 1}, "9" * 5000]


def mutate(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """A file with one to four faults."""
    for _ in range(rng.randint(1, 4)):
        if data[:2] == b"PK" and rng.random() < 0.7:
            data = _mutate_member(data, rng)
        elif data[:1] in (b"{", b"[") and rng.random() < 0.7:
            data = _mutate_json(data, rng)
        else:
            data = _mutate_bytes(data, others, rng)
    return data


def _mutate_bytes(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    begin, length = rng.randint(0, len(data)), rng.choice([1, 1, 2, 8, 64, 1024])
    end = min(len(data), begin + length)
    match rng.randrange(8):
        case 0:  # other bits
            return (
                data[:begin]
                + bytes(b ^ 1 << rng.randrange(8) for b in data[begin:end])
                + data[end:]
            )
        case 1:  # a hole
            return data[:begin] + data[end:]
        case 2:  # a repetition
            return data[:begin] + data[begin:end] * rng.choice([2, 3, 300]) + data[end:]
        case 3:  # something that means something, here
            return data[:begin] + rng.choice(_TOKENS) * rng.choice([1, 1, 2, 50]) + data[begin:]
        case 4:  # or in place of something
            return data[:begin] + rng.choice(_TOKENS) + data[end:]
        case 5:  # cut short
            return data[:begin] or data
        case 6:  # another number
            numbers = [*re.finditer(rb"\d+", data)]
            if not numbers:
                return data
            place = rng.choice(numbers)
            return data[: place.start()] + rng.choice(_TOKENS) + data[place.end() :]
        case _:  # the end of another file
            other = rng.choice(others)
            return data[:begin] + other[rng.randint(0, len(other)) :]


def _mutate_member(data: bytes, rng: random.Random) -> bytes:
    """An archive in which one file has a fault."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return _mutate_bytes(data, [data], rng)
    if not members:
        return data
    name = rng.choice(sorted(members))
    members[name] = _mutate_bytes(members[name], list(members.values()), rng)
    return _archive(members)


def _mutate_json(data: bytes, rng: random.Random) -> bytes:
    """A document in which one value is another one, missing or there twice."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _mutate_bytes(data, [data], rng)
    places: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        node = waiting.pop()
        keys = node.keys() if isinstance(node, dict) else range(len(node))
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], dict | list):
                waiting.append(node[key])
    if places:
        node, key = rng.choice(places)
        if rng.random() < 0.2:
            del node[key]
        else:
            node[key] = rng.choice(_VALUES)
    text = json.dumps(document)
    return (text.replace("-1e+300", "1e999") if rng.random() < 0.3 else text).encode()
