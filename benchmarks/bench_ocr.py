"""Reading pictures of subtitles: time beside RapidOCR alone, and character errors.

The subtitles of the demo are drawn and written as PGS, VobSub or DVB tracks, so that what they say
is known. RapidOCR alone is given the same bitmaps in two ways: the lines that folioreel cuts out,
to be read only, and a few whole bitmaps, white on black, which it searches for text first.

Run: python benchmarks/bench_ocr.py [--quality [SRT…]] [--burned VIDEO SRT]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import av
import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import folioreel
from folioreel.ingest.ocr.bitmaps import TextPicture, line_height, read_pictures, split_lines
from folioreel.ingest.ocr.burned import find_burned_cues
from folioreel.ingest.ocr.reading import recognise
from folioreel.ingest.ocr.recognisers import choose_recogniser, draw_line
from folioreel.ingest.subtitles.cues import Cue, repair_cues
from folioreel.ingest.subtitles.formats import read_cues
from folioreel.ingest.video.container import OpenVideo

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from drawn_films import draw_film, shots_of
from drawn_subtitles import Lettering, add_bitmaps, write_sup

DEMO = Path(folioreel.__file__).parent / "demo"
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
SEARCHED = 3
"""Whole bitmaps that RapidOCR searches: it takes seconds for each."""
STYLES = {
    "PGS, sans": ("pgssub", Lettering(font=str(FONTS / "DejaVuSans.ttf"))),
    "PGS, sans italic": ("pgssub", Lettering(font=str(FONTS / "DejaVuSans-Oblique.ttf"))),
    "PGS, serif italic": ("pgssub", Lettering(font=str(FONTS / "STIXGeneralItalic.ttf"))),
    "PGS, no outline": ("pgssub", Lettering(font=str(FONTS / "DejaVuSans.ttf"), outline=0)),
    "VobSub, sans": (
        "dvdsub",
        Lettering(font=str(FONTS / "DejaVuSans.ttf"), size=22, outline=1),
    ),
    "VobSub, serif italic": (
        "dvdsub",
        Lettering(font=str(FONTS / "STIXGeneralItalic.ttf"), size=26, outline=2),
    ),
    "DVB, yellow on a box": (
        "dvbsub",
        Lettering(
            font=str(FONTS / "DejaVuSans-Bold.ttf"), size=20, fill=(235, 235, 16), box=True
        ),
    ),
}  # fmt: skip


def known_cues(path: Path, count: int) -> list[Cue]:
    """The first cues of a subtitle file, without markup."""
    return repair_cues(read_cues(path).cues)[0][:count]


def in_milliseconds(cues: Sequence[Cue]) -> list[tuple[int, int, str]]:
    """Cues as the module that draws them wants them."""
    return [(round(cue.start_s * 1000), round(cue.end_s * 1000), cue.text) for cue in cues]


def edits(first: str, second: str) -> int:
    """The fewest letters to insert, delete or replace (Levenshtein)."""
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, 1):
        above, row = row, [number]
        for place, other in enumerate(second, 1):
            row.append(min(above[place] + 1, row[-1] + 1, above[place - 1] + (letter != other)))
    return row[-1]


def straight(text: str) -> str:
    """Quotes and dots as the recogniser writes them; the readers of folioreel treat them alike."""
    return text.translate(str.maketrans("“”‘’", "\"\"''")).replace("…", "...")


def error_rate(known: Sequence[Cue], read: Sequence[Cue]) -> float:
    """Wrong characters per known character; cues are matched by their start."""
    starts = {round(cue.start_s, 1): cue.text for cue in read}
    wrong = [edits(straight(c.text), straight(starts.get(round(c.start_s, 1), ""))) for c in known]
    return sum(wrong) / sum(len(cue.text) for cue in known)


def read_track(path: Path) -> list[Cue]:
    """What folioreel reads from the first track of a file, without what it read before."""
    with tempfile.TemporaryDirectory() as empty:
        os.environ["FOLIOREEL_CACHE"] = empty
        return recognise(pictures_of(path), choose_recogniser("en"), None)[0]


def pictures_of(path: Path) -> list[TextPicture]:
    """The bitmaps of the first track of a file."""
    with av.open(str(path)) as container:
        packets = container.demux(container.streams.subtitles[0])
        timed = ((p, float(p.pts * p.time_base)) for p in packets if p.size and p.pts is not None)
        return read_pictures(timed)


def read_alone(engine: Any, pictures: Sequence[NDArray[np.uint8]], **how: bool) -> list[str]:
    """What RapidOCR reads by itself."""
    colour = [np.repeat(picture[..., None], 3, axis=2) for picture in pictures]
    return ["\n".join(engine(picture, **how).txts or ()) for picture in colour]


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock, and of all cores."""
    begin = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


def speed(folder: Path, count: int, rounds: int) -> None:
    """Seconds for a minute of film, ours and RapidOCR's, in turn."""
    from rapidocr import RapidOCR

    known = known_cues(DEMO / "film.srt", count)
    minutes = known[-1].end_s / 60
    how = STYLES["PGS, sans"][1]
    sup = write_sup(folder / "film.sup", in_milliseconds(known), how)
    engine = RapidOCR(params={"Global.log_level": "error"})
    pictures = pictures_of(sup)
    height = line_height(picture.ink for picture in pictures)
    lines = [draw_line(line, height) for p in pictures for line in split_lines(p.ink, height)]
    whole = [np.pad(picture.ink, 20) for picture in pictures[:SEARCHED]]
    works = {
        "folioreel": (lambda: read_track(sup), 1),
        "rapidocr, lines": (lambda: read_alone(engine, lines, use_det=False, use_cls=False), 1),
        "rapidocr, search": (
            lambda: read_alone(engine, whole, use_det=True, use_cls=True),
            len(pictures) / len(whole),
        ),
    }
    read_track(sup)  # warms up
    read_alone(engine, lines[:2])
    times = {}
    for _ in range(rounds):  # in turn, so that what else the machine does falls on all alike
        for name, (work, scale) in works.items():
            now = np.multiply(measured(work), scale / minutes)
            times[name] = np.minimum(times.get(name, now), now)
    for name, (clock_s, cores_s) in times.items():
        ratio = times["folioreel"] / times[name]
        print(
            f"{name:16} {clock_s:6.2f} s a minute of film, {cores_s:6.2f} s of all cores;"
            f" folioreel takes {ratio[0]:.2f} times as long, {ratio[1]:.2f} of all cores"
        )
    print(
        f"{len(known)} cues in {minutes:.1f} minutes, PGS at 1080p, {os.cpu_count()} cores;"
        f" whole bitmaps: {SEARCHED} of them, scaled up"
    )


def quality(folder: Path, files: Sequence[Path], count: int) -> None:
    """Character errors in each way of drawing the cues of each file."""
    film = draw_film(folder / "film.mkv", shots_of([20]))
    print(f"{'drawn as':22} " + " ".join(f"{path.parent.name[:12]:>12}" for path in files))
    for name, (codec, how) in STYLES.items():
        rates = []
        for path in files:
            known = known_cues(path, count)
            video = add_bitmaps(folder / "drawn.mkv", film, in_milliseconds(known), codec, how)
            rates.append(error_rate(known, read_track(video)))
        print(f"{name:22} " + " ".join(f"{rate:12.2%}" for rate in rates), flush=True)


def burn(source: Path, cues: Sequence[Cue], out: Path, length_s: float) -> Path:
    """The beginning of a video at 480p with cues drawn on its pictures."""

    def pictures(container: Any) -> Iterator[Image.Image]:
        for frame in container.decode(video=0):
            if frame.time > length_s:
                return
            image = frame.reformat(854, 480, "rgb24").to_image()
            for cue in cues:
                if cue.start_s <= frame.time < cue.end_s:
                    ImageDraw.Draw(image).multiline_text(
                        (427, 462), cue.text, (240, 240, 240), font, "md",
                        align="center", stroke_width=2, stroke_fill=(0, 0, 0),
                    )  # fmt: skip
            yield image

    font: Any = ImageFont.truetype(str(FONTS / "DejaVuSans.ttf"), 22)
    with av.open(str(source)) as container, av.open(str(out), "w") as target:
        stream: Any = target.add_stream("libx264", rate=container.streams.video[0].average_rate)
        stream.width, stream.height, stream.pix_fmt = 854, 480, "yuv420p"
        for image in pictures(container):
            target.mux(stream.encode(av.VideoFrame.from_image(image)))
        target.mux(stream.encode(None))
    return out


def burned(folder: Path, source: Path, srt: Path, length_s: float) -> None:
    """Character errors, cues missed and cues invented in a film with burned-in subtitles."""
    first_s = max(0.0, known_cues(srt, 1)[0].start_s - 3.0)
    every = known_cues(srt, 1000)
    moved = [Cue(start_s=c.start_s - first_s, end_s=c.end_s - first_s, text=c.text) for c in every]
    known = [cue for cue in moved if cue.end_s < length_s]
    video = burn(source, known, folder / "burned.mp4", length_s)
    found: list[Cue] = []

    def work() -> None:
        with OpenVideo(video) as opened:
            found.extend(find_burned_cues(opened))

    clock_s, cores_s = measured(work)
    left, wrong, missed = list(found), 0, 0
    for cue in known:
        near = [other for other in left if abs(other.start_s - cue.start_s) < 0.5]
        texts = [straight(other.text) for other in near]
        wrong += min((edits(straight(cue.text), text) for text in texts), default=len(cue.text))
        missed += not near
        left = [other for other in left if other not in near]
    letters = sum(len(cue.text) for cue in known)
    print(
        f"{source.name}: {wrong / letters:.2%} of {letters} characters wrong,"
        f" {missed} of {len(known)} cues missed, {len(left)} invented;"
        f" {60 * clock_s / length_s:.0f} s a minute of film,"
        f" {60 * cores_s / length_s:.0f} s of all cores"
    )


def main() -> None:
    """Print the times, or with an option the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", nargs="*", type=Path, metavar="SRT")
    parser.add_argument("--burned", nargs=2, type=Path, metavar=("VIDEO", "SRT"))
    parser.add_argument("--cues", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FOLIOREEL_CACHE"] = str(Path(folder) / "cache")
        if arguments.quality is not None:
            quality(Path(folder), arguments.quality or [DEMO / "film.srt"], arguments.cues)
        elif arguments.burned:
            burned(Path(folder), *arguments.burned, arguments.seconds)
        else:
            speed(Path(folder), arguments.cues, arguments.rounds)


if __name__ == "__main__":
    main()
