"""Paints the frames of one shot: scenery, people in their acts, light; and moves the camera."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from compile_text import Shot
from pen import Box, Pen, shade
from people import CAST, HEAD, SEAT, Act, draw_band, draw_person, draw_trunk
from PIL import Image, ImageChops, ImageFilter
from props import PROPS, last_entry, steamed_ledger
from riverside import Mood
from settings import HOURS, MIST, SETTINGS
from stage import DRIVER, FRAME_H, FRAME_W, Figure, Picture, View, frame_shot, lay_out
from structures import dial, van_door
from titles import draw_title
from workrooms import half_bandstand

FRAME = (FRAME_W, FRAME_H)
SHADE, BRIGHT = (24, 26, 44), (255, 247, 228)
MOUTHS = (1, 2, 0, 1, 3, 2, 1, 0, 2, 1, 3, 0)


@dataclass(frozen=True, kw_only=True)
class Take:
    """Everything needed to paint a shot; small enough to send to another process."""

    number: int
    shot: Shot
    picture: Picture
    view: View
    mood: Mood
    hour: str
    """A key of HOURS."""
    speakers: tuple[str, ...]
    """Cast slug of each row's speaker, or an empty string for one who is not seen."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What differs between two frames of a shot apart from the camera."""

    phase: int
    acts: tuple[tuple[str, Act, int], ...]
    """Slug, act and walked distance of each person."""


class Painter:
    """Paints one take, keeping the scenery and whole pictures it has already drawn."""

    def __init__(self, take: Take, *, width_px: int = FRAME_W * 2) -> None:
        self.take = take
        self.figures = lay_out(take.picture, take.view)
        self.boxes = frame_shot(take.picture, self.figures, take.speakers, take.view)
        first, last = self.boxes
        self.stage: Box = (
            min(first[0], last[0]),
            min(first[1], last[1]),
            max(first[2], last[2]),
            max(first[3], last[3]),
        )
        self.scale = width_px / min(first[2] - first[0], last[2] - last[0])
        self.size = (
            round((self.stage[2] - self.stage[0]) * self.scale),
            round((self.stage[3] - self.stage[1]) * self.scale),
        )
        self.passers = take.picture.setting == "phone-box" and all(
            figure.pose == "walk" for figure in self.figures
        )
        """Whether people walk in front of the box instead of telephoning in it."""
        self.sceneries: dict[int, Image.Image] = {}
        self.pictures: dict[Moment, Image.Image] = {}

    def scenery(self, phase: int) -> Image.Image:
        """Return the background in its light, softened behind close-ups."""
        if phase not in self.sceneries:
            take, setting = self.take, SETTINGS[self.take.picture.setting]
            image = Image.new("RGB", self.size)
            pen = Pen.over(image, self.stage, mirror=take.view.mirror)
            draw = setting.back if take.view.back else setting.front
            draw(pen, replace(take.mood, phase=phase))
            if self.passers:
                self.paint_foreground(image)
            if take.picture.size in ("close", "insert"):
                image = image.filter(ImageFilter.GaussianBlur(self.size[0] / 130))
            self.sceneries[phase] = relight(image, take.view.light)
        return self.sceneries[phase]

    def picture(self, moment: Moment) -> Image.Image:
        """Return the whole stage at one moment, at drawing size."""
        if moment not in self.pictures:
            if len(self.pictures) > 40:
                self.pictures.clear()
            self.pictures[moment] = self.paint(moment)
        return self.pictures[moment]

    def paint(self, moment: Moment) -> Image.Image:
        """Paint the stage: scenery, things behind, people, things in front, light."""
        take, setting = self.take, SETTINGS[self.take.picture.setting]
        if take.picture.size == "title":
            image = Image.new("RGB", self.size)
            draw_title(Pen.over(image, self.stage), end=take.number > 0)
            return image
        image = self.scenery(moment.phase).copy()
        pen = Pen.over(image, self.stage)
        if take.picture.size == "insert":
            paint_insert(pen, take)
        else:
            self.paint_stage(pen, moment)
        if setting.wash:
            pen.rect(-100, -100, 1700, 1000, setting.wash)
        if take.hour != "day":
            tinted = ImageChops.multiply(image, Image.new("RGB", self.size, HOURS[take.hour]))
            painted = None
            if take.hour == "night":
                change = ImageChops.difference(image, self.scenery(moment.phase)).convert("L")
                painted = change.point(lambda v: 255 if v else 0)
            image.paste(tinted, None, painted)
        if take.hour == "mist" and take.picture.size in ("wide", "medium"):
            pen.rect(-100, -100, 1700, 1000, MIST)
        if take.hour == "rain" and take.picture.size != "insert":
            paint_rain(pen, moment.phase)
        return image

    def paint_stage(self, pen: Pen, moment: Moment) -> None:
        """Paint what stands behind, the people, the foreground and what lies on it."""
        take = self.take
        acts = {slug: (act, walked) for slug, act, walked in moment.acts}
        for figure in self.figures:
            if figure.layer == "behind":
                paint_prop(pen, figure, take.mood, acts)
        for figure in self.figures:
            if figure.layer == "people":
                paint_figure(pen, figure, take.mood, *acts[figure.slug])
        if not self.passers:
            self.paint_foreground(pen.image)
        for figure in self.figures:
            if figure.layer == "front":
                paint_prop(pen, figure, take.mood, acts)

    def paint_foreground(self, image: Image.Image) -> None:
        """Paint the table, the blanket or the box that stands before the people."""
        setting, view = SETTINGS[self.take.picture.setting], self.take.view
        if setting.foreground and (setting.both or not view.back):
            setting.foreground(Pen.over(image, self.stage, mirror=view.mirror), self.take.mood)

    def frame(self, moment: Moment, share: float) -> np.ndarray:
        """Return the film frame at a share of the shot, 0 to 1; (240, 426, 3)."""
        first, last = self.boxes
        eased = share * share * (3 - 2 * share) if first != last else 0.0
        box = tuple(a + (b - a) * eased for a, b in zip(first, last, strict=True))
        x0, y0 = self.stage[0], self.stage[1]
        crop = (
            (box[0] - x0) * self.scale,
            (box[1] - y0) * self.scale,
            min((box[2] - x0) * self.scale, self.size[0]),
            min((box[3] - y0) * self.scale, self.size[1]),
        )
        whole = self.picture(moment)
        return np.asarray(
            whole.resize(
                FRAME,
                Image.Resampling.BOX if first == last else Image.Resampling.BILINEAR,
                box=crop,
            )
        )


def relight(image: Image.Image, light: str) -> Image.Image:
    """Put the background in shadow or in bright light."""
    if light == "plain":
        return image
    tone, share = (SHADE, 0.62) if light == "shade" else (BRIGHT, 0.58)
    return Image.blend(image, Image.new("RGB", image.size, tone), share)


def paint_rain(pen: Pen, phase: int) -> None:
    """Lay streaks of rain over the picture."""
    for k in range(64):
        x, y = (k * 211 + phase % 2 * 90) % 1640, (k * 137 + phase % 2 * 60) % 900
        pen.line([(x, y), (x - 12, y + 40)], 2.6, "#e6eef480", ends=False)


def draw_object(pen: Pen, slug: str, mood: Mood) -> None:
    """Draw a prop as the story has left it: the reading of the dial, the opened ledger."""
    if slug == "dial":
        dial(pen, mood.kilos)
    elif slug == "bandstand" and not mood.roofed:
        half_bandstand(pen)
    elif slug == "old-ledger" and mood.opened:
        steamed_ledger(pen)
    elif slug == "ledger" and mood.kilos == 61:
        last_entry(pen)
    else:
        PROPS[slug].draw(pen)


def paint_figure(pen: Pen, figure: Figure, mood: Mood, act: Act, walked: int) -> None:
    """Paint a person, or the band, and what the person holds."""
    if figure.slug == "band":
        draw_band(pen.at(figure.x, figure.y), act.mouth, playing=act.gesture)
        return
    act = replace(act, pose=figure.pose)
    x = figure.x + (-walked if figure.flip else walked)
    turn = 0.0
    if figure.pose == "bed":
        turn = 9.0 if figure.flip else -9.0
    local = pen.at(x, figure.y, flip=figure.flip, turn=turn)
    draw_person(local, figure.slug, act)
    if figure.holds:
        look, prop = CAST[figure.slug], PROPS[figure.holds]
        drop = SEAT if figure.pose == "sit" else 0.0
        hands = local.at(20 * look.size, (-212 + drop) * look.size)
        if figure.pose == "bend":
            hands = local.at(96 * look.size, -214 * look.size)
        draw_object(
            hands.at(0, 44 if figure.holds == "euphonium" else 14, prop.held), figure.holds, mood
        )
        for side in (-1, 1):
            hands.ellipse(side * min(prop.width * prop.held * 0.42, 44), -4, 14, 14, look.skin)


def paint_prop(pen: Pen, figure: Figure, mood: Mood, acts: dict[str, tuple[Act, int]]) -> None:
    """Paint a prop where it stands; on a stool if there is no table; Ruben at the van's wheel."""
    prop = PROPS[figure.slug]
    if figure.stool:
        half = figure.width / 2 + 10
        pen.rect(figure.x - half, figure.y, figure.x + half, figure.y + 16, "#8a5a34", 4)
        for side in (-1, 1):
            pen.rect(
                figure.x + side * (half - 14) - 7,
                figure.y + 16,
                figure.x + side * (half - 14) + 7,
                figure.y + 140,
                "#6b4224",
            )
    local = pen.at(figure.x, figure.y, 1.0 if prop.place == "wall" else prop.held, flip=figure.flip)
    draw_object(local, figure.slug, mood)
    if figure.holds:
        seat = local.at(DRIVER[0], DRIVER[1] - HEAD * 0.6, 0.6)
        draw_trunk(seat, CAST[figure.holds], replace(acts[figure.holds][0], pose="bed"))
        van_door(local)


def paint_insert(pen: Pen, take: Take) -> None:
    """Let the props of the picture fill the frame, on a surface or a wall."""
    slugs = [item.slug for item in take.picture.items if item.slug in PROPS][:3]
    lead = PROPS[slugs[0]]
    if lead.place == "fill":
        scale = max(1600 / lead.width, 900 / lead.height) * 1.04
        lead.draw(pen.at(800, 450 + lead.height * scale / 2, scale))
        return
    surface = SETTINGS[take.picture.setting].surface
    if take.view.light != "plain":
        surface = shade(surface, 0.62 if take.view.light == "shade" else 1.45)
    if lead.place != "wall":
        pen.rect(-100, 640, 1700, 1000, surface)
        pen.rect(-100, 640, 1700, 662, shade(surface, 1.18))
    total = sum(PROPS[slug].width for slug in slugs)
    tallest = max(PROPS[slug].height for slug in slugs)
    scale = min(1180 / total, 640 / tallest)
    cursor, base = 800 - total * scale / 2, 450 + tallest * scale / 2 + 10
    for slug in slugs:
        wide = PROPS[slug].width * scale
        local = pen.at(cursor + wide / 2, base, scale)
        if PROPS[slug].place != "wall":
            local.ellipse(0, -2, PROPS[slug].width * 0.52, 12 / scale * 1.6, "#00000038")
        draw_object(local, slug, take.mood)
        cursor += wide
