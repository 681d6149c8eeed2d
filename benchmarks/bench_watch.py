"""How much watching a film costs beside decoding it: shots and features in one pass.

Both are measured in one run, in turn: time on the clock, and time of all cores, which says the same
on a busy machine. Peak memory is measured in processes of their own, for the
whole film and for its first quarter.

Run: python benchmarks/bench_watch.py [VIDEO…]; without any, the demo's film and the open films
that lie in ../shared/video.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
from bench_shots import decode_alone

from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shots import VideoScan, scan_video
from folioreel.models.frame_features import load_frame_features

PAPER_FILMS_A_DAY = 1_440
"""The paper: one minute a film, on a GPU."""
FILM_S = 7_200


def found_videos() -> list[Path]:
    """The demo's film, and what lies beside the checkout."""
    root = Path(__file__).parents[1]
    demo = root / "src" / "folioreel" / "demo" / "film.mp4"
    return [demo, *sorted((root.parent / "shared" / "video").glob("*.mp4"))]


def watch(path: Path) -> VideoScan:
    """Find the shots of a film and look at each."""
    with OpenVideo(path) as video:
        return scan_video(video, encoder=load_frame_features())


def measured(work: Callable[[Path], object], video: Path) -> tuple[float, float]:
    """Seconds on the clock and seconds of all cores."""
    begin = time.perf_counter(), time.process_time()
    work(video)
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


def first_part(video: Path, out: Path, length_s: float) -> Path:
    """The beginning of a film, copied without decoding it."""
    with av.open(str(video)) as source, av.open(str(out), "w") as target:
        stream = source.streams.video[0]
        copy = target.add_stream_from_template(stream)
        for packet in source.demux(stream):
            if packet.dts is None or packet.dts * packet.time_base > length_s:
                break
            packet.stream = copy
            target.mux(packet)
    return out


def peak_megabytes(video: Path) -> int:
    """The peak memory of a process that watches a film."""
    command = [sys.executable, __file__, "--peak", str(video)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(videos: list[Path], rounds: int, show: Callable[[str], object] = print) -> None:
    """Print one line for each video."""
    show(
        f"{'video':26} {'length':>7} {'decode':>7} {'watch':>7} {'ratio':>6} {'cores':>6}"
        f" {'shots':>6} {'films/day':>9} {'peak':>6} {'of ¼':>6} {'kept':>6}"
    )
    for video in videos:
        scan = watch(video)  # also warms the file cache and the imports
        assert scan.features is not None
        kept = sum(rows.nbytes for rows in scan.features.vectors.values())
        kept_film = kept * FILM_S / scan.end_s / 1e6
        # In turn, so that whatever else the machine does falls on both alike.
        pairs = [(measured(decode_alone, video), measured(watch, video)) for _ in range(rounds)]
        (decode_s, decode_cores_s), (watch_s, watch_cores_s) = np.min(pairs, axis=0)
        with tempfile.TemporaryDirectory() as folder:
            quarter = first_part(video, Path(folder) / f"quarter{video.suffix}", scan.end_s / 4)
            peaks = peak_megabytes(video), peak_megabytes(quarter)
        a_day = 86_400 / (watch_s * FILM_S / scan.end_s)
        show(
            f"{video.name[:26]:26} {scan.end_s:6.0f}s {decode_s:6.1f}s {watch_s:6.1f}s"
            f" {watch_s / decode_s:6.2f} {watch_cores_s / decode_cores_s:6.2f}"
            f" {len(scan.shots):6d} {a_day:9,.0f} {peaks[0]:4d}MB {peaks[1]:4d}MB"
            f" {kept_film:4.1f}MB"
        )
    show(
        "ratio and cores: watching against decoding alone, on the clock and of all cores."
        f" films/day: of two hours, like this one; the paper has {PAPER_FILMS_A_DAY:,}, on a GPU."
        " kept: the features of two hours."
    )


def main() -> None:
    """Print the table, or the peak memory of watching one film."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("videos", nargs="*", type=Path, default=found_videos())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak", action="store_true", help="watch, print peak memory in MB")
    arguments = parser.parse_args()
    if arguments.peak:
        watch(arguments.videos[0])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000)
        return
    begin = time.perf_counter()
    table(arguments.videos, arguments.rounds)
    print(f"measured in {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
