"""Silent shots between real dialogue: where they are placed, and which are said to be in the book.

Takes judged pairs of the benchmark. Beside judged lines, silent shots are put into the film, which
show Flickr8k's dev pictures, and one caption of each into the book, at most two paragraphs from the
passage of that line. A share of the pictures is exchanged for others, of which the book does not
tell. `alone` is the film without pictures. `shots` and `lines` are all silent shots and all judged
lines: how many are near the truth, + only with pictures, - only without them.

Run: python benchmarks/silent_shots.py FLICKR8K BENCHMARK PAIR… [--preset NAME]
"""

from __future__ import annotations

import argparse
import tempfile
import textwrap
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from built_film import _captions
from numpy.typing import NDArray

from folioreel.alignment.aligner import Aligner
from folioreel.evaluate.dataset import Pair, load_pair, load_pair_film
from folioreel.evaluate.metrics import judge_links, placed_links
from folioreel.ingest.book import load_book
from folioreel.ingest.clip_features import ClipFeatures, picture_features
from folioreel.ingest.descriptions import read_pictures
from folioreel.models.frame_features import FrameFeatures
from folioreel.types import Book, Film, Shot, ShotFeatures

SHOT_S = 3.0
MOST = 60  # silent shots in a film
SHARES = (0.0, 0.1, 0.3, 1.0)  # of silent shots whose picture the book tells of
Judged = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]  # see `judge`
REACH = 3  # paragraphs between a link and the truth that count as right, as in the paper


@dataclass(frozen=True, kw_only=True)
class BuiltFilm:
    """A film of a pair with silent shots, and the sentence of the book that each belongs to."""

    film: Film
    book: Book
    shots: NDArray[np.int64]  # the silent shots among all: (N,)
    truth: NDArray[np.int64]  # (N,)
    pictures: tuple[str, ...]
    pair: Pair  # the judged lines, as they are in the film and the book that were made


def build(pair: Pair, captions: dict[str, list[str]], ids: list[str], folder: Path) -> BuiltFilm:
    """Put silent shots beside judged lines, and their captions into the book."""
    rng = np.random.default_rng(0)
    book = load_book(pair.book)
    starts = [book.sentences[p.sentences.start].line or 0 for p in book.paragraphs]
    lines = [j for j in pair.judgements if j.verdict == "match"]
    lines = [lines[k] for k in rng.permutation(len(lines))[:MOST]]
    told: dict[int, list[str]] = {}
    shots: list[tuple[float, str, str]] = []  # time, picture, caption
    for judgement, picture in zip(lines, ids, strict=False):
        side = int(rng.integers(2))  # before the line, or after it, in film and book
        hops = int(rng.integers(3)) * (1 if side else -1)
        line = judgement.passages[0][side]
        home = int(np.searchsorted(starts, line, side="right")) - 1 + hops
        caption = captions[picture][rng.integers(5)]
        told.setdefault(min(max(home, 0), len(starts) - 1), []).append(caption)
        said = pair.spoken[judgement.line]
        shots.append((said.end_s if side else said.start_s - 0.01, picture, caption))
    paragraphs = []
    for paragraph in book.paragraphs:
        texts = [book.sentences[j].text for j in paragraph.sentences]
        for caption in told.get(paragraph.index, []):
            texts.insert(int(rng.integers(1, len(texts) + 1)), caption)
        paragraphs.append(textwrap.fill(" ".join(texts), 90))
    path = folder / f"{pair.name}.txt"
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")
    begins = 1 + np.cumsum([0, *(text.count("\n") + 2 for text in paragraphs)])

    def moved(line: int) -> int:
        return int(begins[max(0, int(np.searchsorted(starts, line, side="right")) - 1)])

    judgements = tuple(
        replace(j, passages=tuple((moved(first), moved(last)) for first, last in j.passages))
        for j in pair.judgements
    )
    judged = replace(pair, judgements=judgements, paragraph_lines=tuple(begins[:-1].tolist()))
    return _cut(judged, load_book(path), sorted(shots))


def _cut(pair: Pair, book: Book, shots: list[tuple[float, str, str]]) -> BuiltFilm:
    """Make room for the silent shots; their captions must be sentences of the book."""
    film = load_pair_film(pair)
    where = {sentence.text: sentence.index for sentence in book.sentences}
    shots = [shot for shot in shots if shot[2] in where]
    times = np.array([time_s for time_s, *_ in shots])

    def later(time_s: float) -> float:
        return time_s + SHOT_S * int((times <= time_s).sum())

    said = [
        replace(s, start_s=later(s.start_s), end_s=later(s.start_s) + s.end_s - s.start_s)
        for s in film.subtitles
    ]
    begins = [time_s + SHOT_S * k for k, time_s in enumerate(times.tolist())]
    # A line may run into a silent shot, which would then not be silent.
    said = [replace(s, end_s=min([s.end_s, *(b for b in begins if b > s.start_s)])) for s in said]
    cuts, silent = [0.0], []
    for begin_s in begins:
        if begin_s > cuts[-1]:
            cuts.append(begin_s)
        silent.append(len(cuts) - 1)
        cuts.append(begin_s + SHOT_S)
    cuts.append(max(later(film.duration_s), cuts[-1] + 1))
    made = [Shot(index=k, start_s=a, end_s=b) for k, (a, b) in enumerate(pairwise(cuts))]
    spoken = tuple(
        replace(s, start_s=later(s.start_s), end_s=later(s.start_s) + s.end_s - s.start_s)
        for s in pair.spoken
    )
    return BuiltFilm(
        pair=replace(pair, spoken=spoken),
        film=Film(title=film.title, duration_s=cuts[-1], shots=tuple(made), subtitles=tuple(said)),
        book=book,
        shots=np.array(silent),
        truth=np.array([where[caption] for *_, caption in shots]),
        pictures=tuple(picture for _, picture, _ in shots),
    )


def show(built: BuiltFilm, features: ClipFeatures, rows: list[int], network: FrameFeatures) -> Film:
    """The film with pictures in its silent shots."""
    vectors = {}
    for kind, values in features.items():
        vectors[kind] = np.zeros((len(built.film.shots), values.shape[1]), dtype=values.dtype)
        vectors[kind][built.shots] = values[rows]
    seen = ShotFeatures(network=network.name, fingerprint=network.fingerprint, vectors=vectors)
    return replace(built.film, features=seen)


def judge(built: BuiltFilm, film: Film, is_told: NDArray[np.bool_], aligner: Aligner) -> Judged:
    """Judged shots, near, strict; told shots, right claims; others, false claims.

    The places of told shots are judged; if there is none, those of all: where their scenes are.
    Then which of the judged lines are near, and which of all shots.
    """
    alignment = aligner.align(film, built.book)
    links = alignment.links
    silent = {round(m.start_s, 3): links[m.index] for m in film.moments if not m.text}
    paragraph = np.array(built.book.paragraph_of)
    found, shots_near = np.zeros(7, dtype=np.int64), []
    for shot, truth, told in zip(built.shots, built.truth, is_told, strict=True):
        link = silent.get(round(film.shots[shot].start_s, 3))
        if link is None:
            continue  # somebody speaks in it after all, with pictures or without
        distance = abs(paragraph[link.sentence] - paragraph[truth])
        is_near = distance <= REACH
        shots_near.append(is_near)
        if told or not is_told.any():
            found[:3] += [1, is_near, distance == 0]
        found[3:5] += [told, told and is_near and link.in_book]
        found[5:] += [not told, not told and link.in_book]
    lines = judge_links(built.pair, placed_links(alignment))
    return found, lines.near[lines.verdicts == "match"], np.array(shots_near)


class Tally:
    """The figures of one kind of film, over all pairs."""

    def __init__(self) -> None:
        self.found = np.zeros(7, dtype=np.int64)
        self.lines = np.zeros(4, dtype=np.int64)  # judged, near, gained, lost
        self.shots = np.zeros(4, dtype=np.int64)

    def add(self, judged: Judged, alone: Judged) -> None:
        """Add one film, beside the same without pictures."""
        self.found += judged[0]
        for total, now, before in zip((self.lines, self.shots), judged[1:], alone[1:], strict=True):
            total += [len(now), now.sum(), (now & ~before).sum(), (before & ~now).sum()]

    def __str__(self) -> str:
        judged, near, strict, told, right, others, false = self.found
        parts = [
            f"{judged:4} shots  near {100 * near / judged:.1f} %",
            f"strict {100 * strict / judged:.1f} %",
            f"claimed {right} of {told}, wrongly {false} of {others}",
        ]
        for name, (count, near, gained, lost) in (("shots", self.shots), ("lines", self.lines)):
            parts.append(f"{name} {near} of {count}, +{gained} -{lost}")
        return "  ".join(parts)


def main() -> None:
    """Build, align, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flickr8k", type=Path)
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--preset", default="default")
    arguments = parser.parse_args()
    aligner = Aligner.load(arguments.preset)
    network = aligner.frame_features()
    assert network is not None
    captions = _captions(arguments.flickr8k / "captions.tsv")
    ids = (arguments.flickr8k / "dev.txt").read_text(encoding="utf-8").split()
    ids = [ids[k] for k in np.random.default_rng(0).permutation(len(ids))]
    # The first are told of, the second take the place of some of them.
    used = ids[: 2 * MOST]
    features = picture_features(read_pictures(arguments.flickr8k), used, network)
    names = ["alone", *(f"{100 * share:.0f} % told" for share in SHARES)]
    totals = {name: Tally() for name in names}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.pairs:
            pair = load_pair(arguments.benchmark / name)
            built = build(pair, captions, ids, Path(folder))
            own = [used.index(picture) for picture in built.pictures]
            alone = judge(built, built.film, np.ones(len(own), bool), aligner)
            totals["alone"].add(alone, alone)
            for share, title in zip(SHARES, names[1:], strict=True):
                is_told = np.random.default_rng(1).random(len(own)) < share
                rows = [k if told else k + MOST for k, told in zip(own, is_told, strict=True)]
                film = show(built, features, rows, network)
                totals[title].add(judge(built, film, is_told, aligner), alone)
    for title, total in totals.items():
        print(f"{title:12} {total}")


if __name__ == "__main__":
    main()
