"""A film and its book out of Flickr8k pictures and a novel's prose: real pixels with known truth.

Each picture is a shot of two seconds, panned a little, with hard cuts, in H.264. One caption of
each picture stands among the sentences of a paragraph of the novel; paragraphs with and without
one alternate at random. The film keeps the book's order but for some leaps. A mixed film also has
dialogue in half of its shots, in runs: a sentence of the caption's paragraph, some words changed.

Run: python benchmarks/built_film.py FLICKR8K PROSE… --out PAIR: the mixed film as a judged pair,
out of dev pictures, for `folioreel train context --pictures PAIR`
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tarfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from folioreel.ingest.book import load_book

WIDTH, HEIGHT, RATE = 320, 240, 12
SHOT_S = 2.0
_SHOWN = 0.92  # of the largest window of the film's shape that a picture has


@dataclass(frozen=True, kw_only=True)
class BuiltPair:
    """Where the film and the book lie, and what is true of them."""

    film: Path
    subtitles: Path
    """Dialogue of half of the shots; the film is also complete without it."""
    book: Path
    lines: tuple[tuple[int, int], ...]
    """First and last line of the paragraph that each shot renders."""
    captions: tuple[str, ...]
    """The sentence of that paragraph that describes each shot."""
    spoken: tuple[bool, ...]
    """Whether somebody speaks in a shot."""


def build_pair(
    flickr8k: Path,
    split: str,
    prose: Sequence[Path],
    out: Path,
    *,
    pictures: int = 1000,
    seed: int = 0,
) -> BuiltPair:
    """Write `film.mp4`, `dialogue/film.srt` and `book.txt` into a folder.

    Args:
        flickr8k: The folder with captions.tsv, the split's ids and the pictures.
        split: `train`, `dev` or `test`.
        prose: Novels in plain text, together with two paragraphs a picture.
        out: The folder.
        pictures: How many shots the film has at most.
        seed: Of all that is drawn at random.
    """
    rng = np.random.default_rng(seed)
    ids = (flickr8k / f"{split}.txt").read_text(encoding="utf-8").split()
    chosen = [ids[k] for k in rng.permutation(len(ids))[:pictures]]
    captions = _captions(flickr8k / "captions.tsv")
    told = [captions[name][rng.integers(5)] for name in chosen]
    out.mkdir(parents=True, exist_ok=True)
    paragraphs, homes = _paragraphs(told, prose, rng)
    lines = _write_book(out / "book.txt", [" ".join(part) for part in paragraphs])
    order = _leaps(len(chosen), rng)
    _write_film(out / "film.mp4", _pictures(flickr8k, [chosen[k] for k in order]))
    spoken = _runs(len(order), rng)
    said = [
        _said(paragraphs[homes[k]], told[k], rng) if speaks else None
        for k, speaks in zip(order, spoken, strict=True)
    ]
    # Not beside the film under its name: it would be taken for its subtitles.
    subtitles = out / "dialogue" / "film.srt"
    subtitles.parent.mkdir(exist_ok=True)
    subtitles.write_text(_subrip(said), encoding="utf-8")
    return BuiltPair(
        film=out / "film.mp4",
        subtitles=subtitles,
        book=out / "book.txt",
        lines=tuple(lines[homes[k]] for k in order),
        captions=tuple(told[k] for k in order),
        spoken=spoken,
    )


def write_judged(pair: BuiltPair) -> Path:
    """Make the folder of a mixed film a judged pair, as `folioreel train context` takes it.

    A silent shot is judged to be the caption's lines, one with dialogue the whole paragraph.
    """
    folder = pair.film.parent
    captions = {s.text: (s.line, s.line_end) for s in load_book(pair.book).sentences}
    (folder / "film.srt").write_bytes(pair.subtitles.read_bytes())
    rows = ["time_s\tend_s\tline\tline_to\tkind"]
    for shot, (first, last) in enumerate(pair.lines):
        kind = "dialogue" if pair.spoken[shot] else "visual"
        if kind == "visual":
            first, last = captions.get(pair.captions[shot], (first, last))
        begin_s = SHOT_S * shot + 0.4
        rows.append(f"{begin_s:.1f}\t{begin_s + 1.2:.1f}\t{first}\t{last}\t{kind}")
    (folder / "annotations.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def _captions(path: Path) -> dict[str, list[str]]:
    """The five captions of each picture, as sentences."""
    found: dict[str, list[str]] = {}
    for row in path.read_text(encoding="utf-8").splitlines():
        name, text = row.split("\t")
        text = re.sub(r"\s+([.,!?;])", r"\1", text.strip().strip('"').strip())
        text = text if text.endswith((".", "!", "?")) else f"{text}."
        found.setdefault(name, []).append(text[:1].upper() + text[1:])
    return found


def _paragraphs(
    told: list[str], prose: Sequence[Path], rng: np.random.Generator
) -> tuple[list[list[str]], list[int]]:
    """Paragraphs of novels as sentences, captions among them, and where each caption went."""
    texts = [
        [book.sentences[j].text for j in paragraph.sentences]
        for book in map(load_book, prose)
        for paragraph in book.paragraphs
    ]
    texts = [part for part in texts if 2 <= len(part) <= 8]
    if len(texts) < 2 * len(told):
        sys.exit(
            f"{len(told)} pictures need {2 * len(told)} paragraphs, the prose has {len(texts)}"
        )
    texts = [list(part) for part in texts[: 2 * len(told)]]
    homes = sorted(rng.choice(len(texts), len(told), replace=False).tolist())
    for caption, home in zip(told, homes, strict=True):
        texts[home].insert(int(rng.integers(1, len(texts[home]) + 1)), caption)
    return texts, homes


def _write_book(path: Path, paragraphs: list[str]) -> list[tuple[int, int]]:
    """Plain text with an empty line between paragraphs; the lines of each, counted from 1."""
    written: list[str] = []
    lines = []
    for text in paragraphs:
        wrapped = textwrap.wrap(text, 78)
        lines.append((len(written) + 1, len(written) + len(wrapped)))
        written += [*wrapped, ""]
    path.write_text("\n".join(written), encoding="utf-8")
    return lines


def _leaps(count: int, rng: np.random.Generator) -> list[int]:
    """The book's order in passages of some forty shots, one in five of which is elsewhere."""
    ends = [*np.flatnonzero(rng.random(count) < 1 / 40).tolist(), count]
    passages = [list(range(a, b)) for a, b in zip([0, *ends[:-1]], ends, strict=True) if a < b]
    for k in range(len(passages)):
        if rng.random() < 0.2:
            passages.insert(int(rng.integers(len(passages))), passages.pop(k))
    return [shot for passage in passages for shot in passage]


def _runs(count: int, rng: np.random.Generator) -> tuple[bool, ...]:
    """About half of the shots, in runs of eight on average, as scenes have dialogue or none."""
    changes = rng.random(count) < 1 / 8
    return tuple(bool(number % 2) for number in np.cumsum(changes) + rng.integers(2))


def _said(paragraph: list[str], caption: str, rng: np.random.Generator) -> str:
    """A sentence of the paragraph, as a screenwriter leaves it: one word in four is gone."""
    others = [text for text in paragraph if text != caption]
    words = others[rng.integers(len(others))].split()[:16]
    kept = [word for word in words if rng.random() > 0.25] or words
    return " ".join(kept)


def _subrip(said: list[str | None]) -> str:
    cues = []
    for shot, text in enumerate(said):
        if text is not None:
            start_s = SHOT_S * shot + 0.3
            cues.append(f"{len(cues) + 1}\n{_stamp(start_s)} --> {_stamp(start_s + 1.4)}\n{text}\n")
    return "\n".join(cues)


def _stamp(time_s: float) -> str:
    minutes, seconds = divmod(time_s, 60)
    stamp = f"{int(minutes) // 60:02}:{int(minutes) % 60:02}:{seconds:06.3f}"
    return stamp.replace(".", ",")


def _pictures(flickr8k: Path, names: list[str]) -> list[NDArray[np.uint8]]:
    """The pictures of some ids, in their order."""
    found: dict[str, NDArray[np.uint8]] = {}
    wanted = {f"{name}.webp": name for name in names}
    for archive in sorted(flickr8k.glob("images-*.tar")):
        with tarfile.open(archive) as tar:
            for entry in tar:
                file = tar.extractfile(entry) if Path(entry.name).name in wanted else None
                if file is not None:
                    with av.open(io.BytesIO(file.read())) as container:
                        picture = next(container.decode(video=0)).to_ndarray(format="rgb24")
                    found[wanted[Path(entry.name).name]] = picture
    return [found[name] for name in names]


def _write_film(path: Path, pictures: list[NDArray[np.uint8]]) -> None:
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(
            "libx264", rate=RATE, options={"preset": "veryfast", "crf": "23"}
        )
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        frames = round(SHOT_S * RATE)
        for shot, picture in enumerate(pictures):
            for number in range(frames):
                frame = _panned(picture, shot, number / (frames - 1))
                frame.pts, frame.time_base = shot * frames + number, Fraction(1, RATE)
                container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _panned(picture: NDArray[np.uint8], shot: int, share: float) -> av.VideoFrame:
    """A window on a picture that moves from a third of what it leaves to two thirds, or back."""
    height, width = picture.shape[:2]
    scale = _SHOWN * min(width / WIDTH, height / HEIGHT)
    across, down = int(WIDTH * scale), int(HEIGHT * scale)
    place = 1 / 3 + share / 3 if shot % 2 else 2 / 3 - share / 3
    left, top = int((width - across) * place), int((height - down) * place)
    window = np.ascontiguousarray(picture[top : top + down, left : left + across])
    frame = av.VideoFrame.from_ndarray(window, format="rgb24")
    return frame.reformat(width=WIDTH, height=HEIGHT, format="yuv420p")


def main() -> None:
    """Write a judged pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flickr8k", type=Path)
    parser.add_argument("prose", type=Path, nargs="+", help="novels in plain text, for the book")
    parser.add_argument("--out", type=Path, required=True, help="the pair's folder")
    parser.add_argument("--split", default="dev", choices=("train", "dev", "test"))
    parser.add_argument("--pictures", type=int, default=500)
    arguments = parser.parse_args()
    write_judged(
        build_pair(
            arguments.flickr8k,
            arguments.split,
            arguments.prose,
            arguments.out,
            pictures=arguments.pictures,
        )
    )


if __name__ == "__main__":
    main()
