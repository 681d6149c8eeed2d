"""A pen over a Pillow image: flat shapes in scene units, under a camera and local transforms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

Point = tuple[float, float]
Box = tuple[float, float, float, float]

WORLD_W = 1600.0
"""Width of every setting in scene units; 16:9 like the film."""
WORLD_H = 900.0


def shade(colour: str, factor: float) -> str:
    """Darken (factor < 1) or lighten towards white (factor > 1) a #rrggbb colour."""
    red, green, blue = ImageColor.getrgb(colour)[:3]
    if factor <= 1:
        mixed = [round(c * factor) for c in (red, green, blue)]
    else:
        mixed = [round(c + (255 - c) * (factor - 1)) for c in (red, green, blue)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)


@lru_cache(maxsize=64)
def font(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return Pillow's own built-in font, so that the drawing is the same on every machine."""
    return ImageFont.load_default(size_px)


class Pen:
    """Draws in local units; `at` gives a pen moved, scaled, turned or mirrored on the same image.

    The matrix (a, b, c, d, e, f) maps (x, y) to pixels (a x + c y + e, b x + d y + f).
    """

    def __init__(self, image: Image.Image, matrix: tuple[float, ...]) -> None:
        self.image = image
        self.draw = ImageDraw.Draw(image, "RGBA")
        self.matrix = matrix

    @classmethod
    def over(cls, image: Image.Image, box: Box, *, mirror: bool = False) -> Pen:
        """Return the pen whose camera sees the scene rectangle `box`; mirrored left to right."""
        scale = image.width / (box[2] - box[0])
        if mirror:
            matrix = (-scale, 0.0, 0.0, scale, (WORLD_W - box[0]) * scale, -box[1] * scale)
        else:
            matrix = (scale, 0.0, 0.0, scale, -box[0] * scale, -box[1] * scale)
        return cls(image, matrix)

    def at(
        self, x: float, y: float, scale: float = 1.0, *, flip: bool = False, turn: float = 0.0
    ) -> Pen:
        """Return a pen with its origin at (x, y), scaled, flipped in x, turned by degrees."""
        a, b, c, d, e, f = self.matrix
        cos, sin = math.cos(math.radians(turn)) * scale, math.sin(math.radians(turn)) * scale
        across = -1.0 if flip else 1.0
        matrix = (
            across * (a * cos + c * sin),
            across * (b * cos + d * sin),
            c * cos - a * sin,
            d * cos - b * sin,
            a * x + c * y + e,
            b * x + d * y + f,
        )
        pen = Pen.__new__(Pen)
        pen.image, pen.draw, pen.matrix = self.image, self.draw, matrix
        return pen

    @property
    def scale(self) -> float:
        """Pixels for each local unit."""
        a, b, c, d, _, _ = self.matrix
        return math.sqrt(abs(a * d - b * c))

    def pixels(self, points: Iterable[Point]) -> list[Point]:
        """Map local points to pixels."""
        a, b, c, d, e, f = self.matrix
        return [(a * x + c * y + e, b * x + d * y + f) for x, y in points]

    def poly(self, points: Iterable[Point], fill: str) -> None:
        """Fill a polygon."""
        self.draw.polygon(self.pixels(points), fill=fill)

    def rect(
        self, x0: float, y0: float, x1: float, y1: float, fill: str, radius: float = 0.0
    ) -> None:
        """Fill a rectangle, with round corners where a radius is given."""
        if radius <= 0:
            self.poly([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], fill)
            return
        corners = [
            (x1 - radius, y0 + radius, -90),
            (x1 - radius, y1 - radius, 0),
            (x0 + radius, y1 - radius, 90),
            (x0 + radius, y0 + radius, 180),
        ]
        points: list[Point] = []
        for cx, cy, start in corners:
            points += arc_points(cx, cy, radius, radius, start, start + 90, 6)
        self.poly(points, fill)

    def ellipse(self, cx: float, cy: float, rx: float, ry: float, fill: str) -> None:
        """Fill an ellipse."""
        self.poly(arc_points(cx, cy, rx, ry, 0, 360, 36), fill)

    def line(self, points: Sequence[Point], width: float, fill: str, *, ends: bool = True) -> None:
        """Draw a thick line with round joints, and round ends unless told not to."""
        half = width / 2
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            length = math.hypot(x1 - x0, y1 - y0) or 1.0
            nx, ny = (y0 - y1) / length * half, (x1 - x0) / length * half
            self.poly(
                [(x0 + nx, y0 + ny), (x1 + nx, y1 + ny), (x1 - nx, y1 - ny), (x0 - nx, y0 - ny)],
                fill,
            )
        # An alpha colour must not be laid twice, so joints are only for opaque ones.
        if half * self.scale > 1.2 and len(fill) == 7:
            for x, y in points if ends else points[1:-1]:
                self.ellipse(x, y, half, half, fill)

    def arc(
        self,
        cx: float,
        cy: float,
        rx: float,
        ry: float,
        span: tuple[float, float],
        width: float,
        fill: str,
    ) -> None:
        """Draw a thick arc between two angles in degrees (0 is right, 90 is down)."""
        steps = max(8, round(abs(span[1] - span[0]) / 9))
        self.line(arc_points(cx, cy, rx, ry, *span, steps), width, fill)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        fill: str,
        *,
        anchor: str = "mm",
        bold: float = 0.0,
    ) -> None:
        """Write upright text; too small to read, it becomes a bar of the same length."""
        ((px, py),) = self.pixels([(x, y)])
        size_px = round(size * self.scale)
        if size_px < 5:
            half = len(words) * size * 0.22
            self.rect(x - half, y - size * 0.2, x + half, y + size * 0.2, fill[:7] + "90")
            return
        stroke = round(bold * self.scale)
        self.draw.text(
            (px, py),
            words,
            font=font(size_px),
            fill=fill,
            anchor=anchor,
            stroke_width=stroke,
            stroke_fill=fill,
        )

    def gradient(self, box: Box, top: str, bottom: str) -> None:
        """Fill a rectangle with a vertical gradient."""
        corners = self.pixels([(box[0], box[1]), (box[2], box[3])])
        (x0, x1), (y0, y1) = (sorted(axis) for axis in zip(*corners, strict=True))
        left, right = max(0, round(x0)), min(self.image.width, round(x1))
        upper, lower = max(0, round(y0)), min(self.image.height, round(y1))
        if right <= left or lower <= upper:
            return
        share = ((np.arange(upper, lower) + 0.5 - y0) / (y1 - y0))[:, None]  # (rows, 1)
        ends = [np.array(ImageColor.getrgb(colour)[:3]) for colour in (top, bottom)]
        column = (ends[0] * (1 - share) + ends[1] * share).round().astype(np.uint8)
        strip = Image.fromarray(column[:, None, :]).resize((right - left, lower - upper))
        self.image.paste(strip, (left, upper))

    def glow(self, cx: float, cy: float, radius: float, colour: str, strength: float) -> None:
        """Lay a soft round light over what is there; strength 0 to 1."""
        ((px, py),) = self.pixels([(cx, cy)])
        size = max(2, round(2 * radius * self.scale))
        light = soft_disc().resize((size, size)).point(lambda v: round(v * strength))
        self.image.paste(
            ImageColor.getrgb(colour)[:3], (round(px - size / 2), round(py - size / 2)), light
        )


@lru_cache(maxsize=1)
def soft_disc() -> Image.Image:
    """Return a round mask that falls smoothly from 255 in the middle to 0 at the rim."""
    axis = np.linspace(-1, 1, 128)
    distance = np.sqrt(axis[:, None] ** 2 + axis[None, :] ** 2)
    return Image.fromarray((np.clip(1 - distance, 0, 1) ** 1.6 * 255).astype(np.uint8))


def arc_points(
    cx: float, cy: float, rx: float, ry: float, start: float, end: float, steps: int
) -> list[Point]:
    """Return points of an ellipse between two angles in degrees."""
    angles = [math.radians(start + (end - start) * k / steps) for k in range(steps + 1)]
    return [(cx + rx * math.cos(t), cy + ry * math.sin(t)) for t in angles]
