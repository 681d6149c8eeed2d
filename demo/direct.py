"""Directs the film: chooses the camera of every shot, and what people do in every frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from compile_text import Cue, ScreenplayError, Shot
from people import Act
from PIL import Image
from props import PROPS
from render import MOUTHS, Moment, Painter, Take
from riverside import Mood
from settings import SETTINGS
from stage import Picture, View, parse_picture, views_for

FPS = 12
CUT_CONTENT = 34.0
"""How much two frames must differ across a cut; shot detectors ask for 27."""
HOURS_OF_SCENES = {
    (1, "ferry-slip"): "rain",
    (6, "weigh-hut"): "lamp",
    (10, "weigh-hut"): "lamp",
    (18, "fairhithe-park"): "evening",
    (19, "fairhithe-park"): "mist",
    (22, "fairhithe-park"): "night",
    (24, "ferry-slip"): "evening",
    (24, "weigh-hut"): "evening",
}
KILOS_OF_SCENES = {23: 9, 24: 61}
ROOFED_FROM = 22
"""The scene in which the bandstand in the maltings is whole."""
JUNE = ("coldhithe-green",)
OUT_OF_SIGHT = ("GRETA", "MISS ABLE")


def make_takes(shots: Sequence[Shot]) -> list[Take]:
    """Understand every picture and choose its camera so that each cut can be seen.

    Raises:
        ScreenplayError: naming every shot whose picture is not understood.
    """
    takes: list[Take] = []
    crowned = opened = False
    problems = []
    for number, shot in enumerate(shots):
        try:
            picture = parse_picture(shot.picture)
        except ValueError as error:
            problems.append(f"screenplay.tsv:{shot.rows[0].line}: {error}")
            continue
        things = {item.slug for item in picture.items}
        takes.append(make_take(number, shot, picture, Mood(crowned=crowned, opened=opened)))
        crowned |= picture.setting in JUNE and {"pineapple", "bandstand"} <= things
        opened |= picture.setting == "bakery" and "old-ledger" in things
    if problems:
        raise ScreenplayError(problems)
    return takes


def make_take(number: int, shot: Shot, picture: Picture, story: Mood) -> Take:
    """Return a take with its hour, its props' state and its speakers, seen from the front."""
    hour = HOURS_OF_SCENES.get((shot.scene, picture.setting), "day")
    walks = any(item.pose == "walk" for item in picture.items)
    if picture.setting == "phone-box" and walks:
        hour = "night"
    mood = replace(
        story,
        night=hour in ("night", "lamp"),
        roofed=picture.setting != "maltings" or shot.scene >= ROOFED_FROM,
        kilos=KILOS_OF_SCENES.get(shot.scene, 1241),
    )
    speakers = tuple(
        "" if row.speaker in OUT_OF_SIGHT else row.speaker.lower() for row in shot.rows
    )
    if picture.setting in JUNE or shot.scene == 24:  # her raincoat is on its nail by then
        items = tuple(
            replace(item, slug="petra-june") if item.slug == "petra" else item
            for item in picture.items
        )
        picture = replace(picture, items=items)
        speakers = tuple("petra-june" if slug == "petra" else slug for slug in speakers)
    return Take(
        number=number,
        shot=shot,
        picture=picture,
        view=View(),
        mood=mood,
        hour=hour,
        speakers=speakers,
    )


def choose_cameras(takes: Sequence[Take]) -> list[Take]:
    """Pick for each shot the first view that differs enough from the frame before the cut."""
    chosen: list[Take] = []
    before: np.ndarray | None = None
    habits: dict[tuple[object, ...], View] = {}
    for take in takes:
        key = (take.shot.scene, take.picture.setting, take.picture.size, take.picture.items)
        choices = views_for(take.picture, night=take.mood.night)
        habit = [habits[key]] if key in habits else []
        views = list(dict.fromkeys([*habit, *choices]))
        best, best_content = take, -1.0
        for view in views:
            trial = replace(take, view=view)
            content = 255.0 if before is None else content_between(before, sketch(trial, 0.0))
            if content > best_content:
                best, best_content = trial, content
            if content >= CUT_CONTENT:
                break
        habits[key] = best.view
        chosen.append(best)
        before = sketch(best, 1.0)
    return chosen


def sketch(take: Take, share: float) -> np.ndarray:
    """Return a small first or last frame of a take as hue, saturation and value; (60, 106, 3)."""
    painter = Painter(take, width_px=213)
    frame = painter.frame(moment_at(take, 0), share)
    small = Image.fromarray(frame).resize((106, 60), Image.Resampling.BOX)
    hsv = np.asarray(small.convert("HSV")).astype(np.float64)
    hsv[..., 0] *= 180 / 256  # as OpenCV counts hue
    return hsv


def content_between(a: np.ndarray, b: np.ndarray) -> float:
    """Return the mean change of hue, saturation and value, as content detectors measure it."""
    return float(np.abs(a - b).mean())


def moment_at(take: Take, frame: int) -> Moment:
    """Return what everybody does in one frame of a shot, counted from its first."""
    shot, picture = take.shot, take.picture
    if picture.size in ("title", "insert"):
        return Moment(phase=0, acts=())
    now_s = (shot.first_frame + frame) / FPS
    speaker, cue_number = speaker_at(take, now_s)
    length = shot.end_frame - shot.first_frame
    acts = []
    for place, item in enumerate(picture.items):
        if item.slug in PROPS:
            continue
        speaks = item.slug == speaker
        mouth = MOUTHS[(frame // 2 + take.number * 5) % len(MOUTHS)] if speaks else 0
        walks = item.pose == "walk"
        act = Act(
            pose=item.pose or "stand",
            mouth=mouth,
            blink=(frame + take.number * 17 + place * 23) % (41 + 6 * place) in (8, 9),
            gesture=speaks and cue_number % 2 == 1,
            step=frame // 3 % 4 if walks else 0,
        )
        if item.slug == "band":
            act = Act(mouth=mouth, gesture=picture.setting in JUNE)
        walked = round((frame / max(length, 1) - 0.5) * min(length * 7, 420)) if walks else 0
        acts.append((item.slug, act, walked))
    phase = frame // 6 % 2 if SETTINGS[picture.setting].lively or take.hour == "rain" else 0
    return Moment(phase=phase, acts=tuple(acts))


def speaker_at(take: Take, now_s: float) -> tuple[str, int]:
    """Return the cast slug of who speaks at a time, and the number of the cue in its shot."""
    for number, cue in enumerate(take.shot.cues):
        if cue.start_s <= now_s < cue.end_s:
            return take.speakers[row_at(cue, now_s)], number
    return "", 0


def row_at(cue: Cue, now_s: float) -> int:
    """Return which of a cue's rows is being said; sentences that share it share its time."""
    share = (now_s - cue.start_s) / (cue.end_s - cue.start_s)
    return cue.rows[min(int(share * len(cue.rows)), len(cue.rows) - 1)]


def paint_take(take: Take) -> tuple[list[bytes], list[int]]:
    """Paint every frame of a take; returns the different frames and their order."""
    painter = Painter(take)
    length = take.shot.end_frame - take.shot.first_frame
    still = painter.boxes[0] == painter.boxes[1]
    frames: list[bytes] = []
    order: list[int] = []
    seen: dict[object, int] = {}
    for frame in range(length):
        moment = moment_at(take, frame)
        key = moment if still else frame
        if key not in seen:
            seen[key] = len(frames)
            frames.append(painter.frame(moment, frame / max(1, length - 1)).tobytes())
        order.append(seen[key])
    return frames, order
