"""Makes the bundled film: `python demo/make_film.py` draws it and compiles its texts.

Reads demo/book.txt and demo/screenplay.tsv; writes src/folioreel/demo/. Needs NumPy, Pillow and
PyAV. `--text-only` leaves the video as it is.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import av
import numpy as np
from compile_text import (
    Row,
    ScreenplayError,
    Shot,
    build_cues,
    group_shots,
    judge_rows,
    read_screenplay,
    time_shots,
)
from direct import FPS, choose_cameras, make_takes, paint_take
from render import Take
from stage import FRAME_H, FRAME_W
from tables import write_sentences, write_shots, write_srt
from titles import TITLE

DEMO = Path(__file__).resolve().parent
OUTPUT = DEMO.parent / "src" / "folioreel" / "demo"
WORKERS = 2
AHEAD = 6
"""Shots painted ahead of the encoder."""
KEYFRAME_EVERY = 4 * FPS
ENCODER = {
    "crf": "29",
    "preset": "slower",
    "tune": "animation",
    "x264-params": f"keyint={KEYFRAME_EVERY}:min-keyint=1:scenecut=0:threads=1",
}
log = logging.getLogger("make_film")


def title_shot(line: int, scene: int, words: str) -> Shot:
    """Return a shot that is a card: nobody speaks and nothing of it is in the book."""
    row = Row(
        line=line,
        scene=scene,
        shot="",
        picture=words,
        speaker="",
        text="",
        verdict="none",
        how="-",
        passage="",
        alternates=(),
        note="-",
    )
    return Shot(scene=scene, picture=words, rows=[row])


def read_film(folder: Path) -> tuple[list[Shot], list[Row]]:
    """Read the screenplay into timed shots with their cues, between two title cards."""
    rows = read_screenplay(folder / "screenplay.tsv")
    shots = group_shots(rows)
    opening = title_shot(0, 0, "ferry-slip | title | | still")
    closing = title_shot(-1, shots[-1].scene + 1, "coldhithe-green | title | | still")
    shots = [opening, *shots, closing]
    build_cues(shots)
    time_shots(shots, FPS)
    return shots, [row for shot in shots for row in shot.rows]


def painted(takes: Sequence[Take]) -> Iterator[tuple[list[bytes], list[int]]]:
    """Paint takes in other processes, a few ahead, and give them back in order."""
    with ProcessPoolExecutor(WORKERS) as pool:
        waiting: deque[Future[tuple[list[bytes], list[int]]]] = deque()
        for take in takes:
            waiting.append(pool.submit(paint_take, take))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def encode(path: Path, takes: Sequence[Take]) -> None:
    """Encode the takes as H.264, a keyframe at each cut and every four seconds."""
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), "w", options=options) as container:
        container.metadata["title"] = TITLE
        stream = container.add_stream("libx264", rate=FPS, options=ENCODER)
        stream.width, stream.height, stream.pix_fmt = FRAME_W, FRAME_H, "yuv420p"
        stream.codec_context.thread_count = 1  # the same bytes on every run
        number = 0
        for k, (frames, order) in enumerate(painted(takes)):
            pictures = [np.frombuffer(f, np.uint8).reshape(FRAME_H, FRAME_W, 3) for f in frames]
            for position, which in enumerate(order):
                frame = av.VideoFrame.from_ndarray(pictures[which], format="rgb24")
                frame.pts = number
                if position == 0:
                    frame.pict_type = av.video.frame.PictureType.I
                container.mux(stream.encode(frame))
                number += 1
            if k % 20 == 0:
                log.info("shot %d of %d, %.0f s of film", k, len(takes), number / FPS)
        container.mux(stream.encode())


def main() -> int:
    """Build everything; bad rows of the screenplay are listed and end the build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text-only", action="store_true", help="write only the text files")
    parser.add_argument("--source", type=Path, default=DEMO, help="folder of the screenplay")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder to write into")
    choices = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        shots, rows = read_film(choices.source)
        found = judge_rows(rows, (choices.source / "book.txt").read_text(encoding="utf-8"))
        takes = make_takes(shots)
    except ScreenplayError as error:
        log.error("%s", error)
        return 1
    choices.output.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(choices.source / "book.txt", choices.output / "book.txt")
    cues = write_srt(choices.output / "film.srt", shots)
    write_sentences(choices.output, shots, found)
    write_shots(choices.output / "shots.tsv", shots, found, FPS)
    log.info("%d shots, %d cues, %.1f min", len(shots), cues, shots[-1].end_frame / FPS / 60)
    if not choices.text_only:
        takes = choose_cameras(takes)
        encode(choices.output / "film.mp4", takes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
