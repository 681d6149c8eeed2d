"""How much finding shots costs beside decoding alone: both are measured in one run.

Run: python benchmarks/bench_shots.py VIDEO…
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import av

from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shots import VideoScan, scan_video


def find_shots(path: Path) -> VideoScan:
    """Find the shots, without feature vectors."""
    with OpenVideo(path) as video:
        return scan_video(video)


def decode_alone(video: Path) -> None:
    """Decode each frame with all threads and do nothing with it."""
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for _ in container.decode(stream):
            pass


def seconds(work: Callable[[Path], object], video: Path) -> float:
    """How long a piece of work takes."""
    begin = time.perf_counter()
    work(video)
    return time.perf_counter() - begin


def main() -> None:
    """Print one line for each video."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("videos", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    write = sys.stdout.write
    write(f"{'video':32} {'decode s':>9} {'shots s':>9} {'ratio':>6} {'shots':>6}\n")
    for video in arguments.videos:
        found = len(find_shots(video).shots)  # also warms the file cache and the imports
        # In turn, so that whatever else the machine does falls on both alike.
        pairs = [
            (seconds(decode_alone, video), seconds(find_shots, video))
            for _ in range(arguments.rounds)
        ]
        decode_s, shots_s = (min(times) for times in zip(*pairs, strict=True))
        ratio = shots_s / decode_s
        write(f"{video.name:32} {decode_s:9.3f} {shots_s:9.3f} {ratio:6.2f} {found:6d}\n")


if __name__ == "__main__":
    main()
