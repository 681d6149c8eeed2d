"""Films made from parallel books: what teaches the presets for other languages.

    python training/parallel_films.py BOOKS --out PAIRS
    folioreel train positions PAIRS --out preset

BOOKS is a folder with a folder for each book, which holds its text in several languages: `en.txt`,
`fr.txt` and so on. What is spoken in one language becomes a film (`film.srt`) of the book in
another. The two are aligned sentence by sentence, by the multilingual encoder and the position
model, so that the place of every line is known: the pairs are written as judged ones.

The films take the liberties that real ones take: they leave out scenes and lines, split and shorten
lines, change their order, speak some of the narration, move scenes, and add lines and whole scenes
that are not in the book. Those come from the next book in the language of the film.
"""

from __future__ import annotations

import argparse
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.positions import follow_book
from folioreel.config import StepsConfig
from folioreel.files import write_text
from folioreel.ingest.book import load_book
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import MULTILINGUAL, encode_cached, load_encoder
from folioreel.text import squeeze
from folioreel.times import format_timestamp
from folioreel.types import Book

_WORDS = 20_000  # of each book, from its beginning: enough for a film, and quick to encode
_SCENES = (6, 24)  # lines of a scene, at least and at most
_KEPT_SCENES, _KEPT_LINES = 0.6, 0.85
_MOST_LINES = 300  # about; books that are nearly all dialogue would give films of a thousand
_MOVED, _ADDED_SCENES = 0.08, 0.25  # of the scenes that are kept
_ADDED_LINES, _SPLIT, _SHORTENED, _NARRATED = 0.15, 0.5, 0.25, 0.12  # of all lines
_DISORDER = 0.7  # the standard deviation of where a line is spoken, in lines
_JUDGED = 0.1
"""Of all lines: with the 36 books at hand, about as many as the judged pairs in English have, from
which the preset learns how real films move through their books."""
_SURE = 0.9  # the posterior of the place of a line that is used

# A translation goes through the book in order, sentence by sentence, and leaves out a few.
_TRANSLATION = StepsConfig(
    **{"stay": 0.2, "next": 0.6, "near": 0.15, "far": 0.02, "farther": 0.005},
    **{"back": 0.02, "far_back": 0.004, "anywhere": 0.001},
    **{"timeline": 2.0, "free": -6.0, "leave": 0.01, "come_back": 0.05},
)

_QUOTED = re.compile(r"“([^”]+)”|„([^“”]+)[“”]|»([^«]+)«|«([^»]+)»|\"([^\"]+)\"")
_DASH = re.compile(r"(?:--?|[—–])\s*")
# What a French, Spanish, Italian, Portuguese, Dutch or Polish book says between two speeches.
_TAG = re.compile(
    r"(?:(?<=\s)|(?<=[.,!?…]))(?:--?|—|–)\s?[a-zà-ÿ].*?(?:(?:--?|—|–)(?=[.,;:\s])|$)"
    r"|[,.?!…]*\s+(?:dit|demanda|répondit|s'écria|reprit|fit|murmura|ajouta|continua|répliqua)\b.*$"
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a film; `passage` has the first and the last sentence that it renders."""

    text: str
    verdict: str  # match, scene or none
    passage: tuple[int, int] | None


def main() -> None:
    """Make every pair."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("books", type=Path, help="folder of parallel books")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pairs")
    parser.add_argument("--without", nargs="*", default=[], help="books and languages to leave out")
    parser.add_argument(
        "--judged", type=float, default=_JUDGED, help="share of the lines that are judged"
    )
    options = parser.parse_args()
    folders = [path for path in sorted(options.books.iterdir()) if path.name not in options.without]
    for turn, folder in enumerate(folders):
        languages = [path.stem for path in sorted(folder.glob("*.txt"))]
        languages = [code for code in languages if code not in options.without]
        for spoken, written in _pairs(languages, turn):
            pair = options.out / f"{folder.name}-{spoken}-{written}"
            later = [*folders[turn + 1 :], *folders[:turn]]
            others = [path for path in later if (path / f"{spoken}.txt").exists()]
            if others:
                make_pair(folder, spoken, written, others[0], pair, options.judged)
            print(pair.name if others else f"{pair.name}: no other book in {spoken}", flush=True)


def _pairs(languages: list[str], turn: int) -> Iterator[tuple[str, str]]:
    """From English or to it, in turn, and between neighbours among the others."""
    others = [code for code in languages if code != "en"]
    for number, code in enumerate(others, turn):
        yield ("en", code) if number % 2 else (code, "en")
    yield from pairwise(others)


def make_pair(
    folder: Path, spoken: str, written: str, other: Path, out: Path, judged: float = _JUDGED
) -> None:
    """Write a film in one language and the book in another as a judged pair."""
    random = np.random.default_rng(zlib.crc32(out.name.encode()))
    source, book = _read(folder, spoken), _read(folder, written)
    added = [text for _, text in _speeches(_read(other, spoken), random)]
    lines = _make_film(source, _place(source, book), added, random)
    numbers = _write_book(book, out / "book.txt")
    _write_film(lines, numbers, random, out, judged)


def _read(folder: Path, language: str) -> Book:
    """The beginning of a book, cut at the same share of each of its translations."""
    words = [len(path.read_text(encoding="utf-8").split()) for path in folder.glob("*.txt")]
    book = load_book(folder / f"{language}.txt")
    last = int(len(book.paragraphs) * min(1.0, _WORDS / max(words)))
    return replace(
        book,
        paragraphs=book.paragraphs[:last],
        sentences=book.sentences[: book.paragraphs[last - 1].sentences.stop],
    )


def _place(source: Book, book: Book) -> NDArray[np.float32]:
    """The posterior of the place of each sentence of a translation in the other: (I, J)."""
    encoder = load_encoder(MULTILINGUAL)
    sides = [
        unit_rows(encode_cached(encoder, [sentence.text for sentence in side.sentences]))
        for side in (source, book)
    ]
    moments, sentences = sides
    around = [unit_rows(_with_neighbours(side)) for side in sides]
    # Of translations most cosines are above 0.5, and those of other sentences below 0.4.
    scores = 8 * (moments @ sentences.T - 0.45) + 12 * (around[0] @ around[1].T - 0.55)
    times = np.linspace(0, 1, len(moments), dtype=np.float32)
    return follow_book(scores.astype(np.float32), times, _TRANSLATION).position


def _with_neighbours(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    padded = np.pad(vectors, ((1, 1), (0, 0)))
    return padded[:-2] + padded[1:-1] + padded[2:]


def _speeches(book: Book, random: np.random.Generator) -> list[tuple[int, str]]:
    """What is spoken, and a little of the narration: the number of each sentence and its words."""
    found = []
    for paragraph in book.paragraphs:
        texts = [book.sentences[j].text for j in paragraph.sentences]
        whole = " ".join(texts)
        for j, text in zip(paragraph.sentences, texts, strict=True):
            if _DASH.match(whole):
                said = _TAG.sub("", _DASH.sub("", text, count=1))
            elif _QUOTED.match(whole):
                # A speech of several sentences has its marks in the first and the last only.
                inside = ["".join(groups) for groups in _QUOTED.findall(text)]
                said = " ".join(inside) or text.strip('"“”„»«')
            else:
                said = text if random.random() < _NARRATED else ""
            found.append((j, said.strip(' "“”„»«')))
    return [(j, said) for j, said in found if re.search(r"\w", said)]


def _make_film(
    source: Book, places: NDArray[np.float32], added: list[str], random: np.random.Generator
) -> list[Line]:
    """The lines of a film, scene by scene."""
    lines = []
    for j, said in _speeches(source, random):
        best = int(places[j].argmax())
        first, last = max(0, best - 1), min(places.shape[1], best + 2)
        if places[j, first:last].sum() < _SURE or random.random() > _KEPT_LINES:
            continue
        inside = first + np.flatnonzero(places[j, first:last] > 1 - _SURE)
        passage = (int(inside[0]), int(inside[-1]))
        for text in _retell(said, random):
            lines.append(Line(text=text, verdict="match", passage=passage))
        if random.random() < _ADDED_LINES:
            text = added[random.integers(len(added))]
            lines.append(Line(text=text, verdict="scene", passage=passage))
    scenes: list[list[Line]] = []
    kept = min(_KEPT_SCENES, _MOST_LINES / max(1, len(lines)))
    while lines:
        length = int(random.integers(*_SCENES))
        scene, lines = lines[:length], lines[length:]
        if random.random() < kept:
            order = np.argsort(np.arange(len(scene)) + random.normal(0, _DISORDER, len(scene)))
            scene = [scene[k] for k in order]
            where = len(scenes) if random.random() > _MOVED else random.integers(len(scenes) + 1)
            scenes.insert(int(where), scene)
        if random.random() < _ADDED_SCENES * kept:
            begin = int(random.integers(len(added)))
            new = added[begin : begin + length]
            scenes.append([Line(text=text, verdict="none", passage=None) for text in new])
    return [line for scene in scenes for line in scene]


def _retell(text: str, random: np.random.Generator) -> list[str]:
    """The text as one line, cut into several, or only a part of it."""
    parts = re.split(r"(?<=[,;:—])\s+", text)
    chance = random.random()
    if len(parts) == 1 or chance > _SPLIT + _SHORTENED:
        return [text]
    middle = 1 + int(random.integers(len(parts) - 1))
    halves = [" ".join(parts[:middle]), " ".join(parts[middle:])]
    return halves if chance < _SPLIT else [halves[int(random.integers(2))]]


def _write_book(book: Book, path: Path) -> list[int]:
    """Write a book with a line for each sentence; returns the number of each one's line."""
    lines, numbers = [], []
    for paragraph in book.paragraphs:
        for j in paragraph.sentences:
            lines.append(squeeze(book.sentences[j].text))
            numbers.append(len(lines))
        lines.append("")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, "\n".join(lines))
    return numbers


def _write_film(
    lines: list[Line], numbers: list[int], random: np.random.Generator, out: Path, judged: float
) -> None:
    cues, spoken = [], ["id\tstart_s\tend_s\ttext"]
    gold = ["id\tverdict\thow\tline_from\tline_to\talternates"]
    time_s = 10.0
    for number, line in enumerate(lines):
        end_s = time_s + max(1.0, len(line.text) / 15)  # 15 characters a second, as subtitles have
        times = [format_timestamp(at_s, ",") for at_s in (time_s, end_s)]
        cues.append(f"{number + 1}\n{times[0]} --> {times[1]}\n{line.text}\n")
        spoken.append(f"{number}\t{time_s:.3f}\t{end_s:.3f}\t{line.text}")
        if random.random() < judged:
            first, last = (numbers[j] for j in line.passage) if line.passage else ("-", "-")
            gold.append(f"{number}\t{line.verdict}\t-\t{first}\t{last}\t-")
        time_s = end_s + 0.2
    write_text(out / "film.srt", "\n".join(cues))
    write_text(out / "film_sentences.tsv", "\n".join(spoken) + "\n")
    write_text(out / "gold.tsv", "\n".join(gold) + "\n")


if __name__ == "__main__":
    main()
