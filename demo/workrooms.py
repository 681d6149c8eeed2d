"""Settings of work by lamplight: the maltings and the bakery."""

from __future__ import annotations

from pen import Pen, shade
from props import lantern
from riverside import Mood
from structures import GOLD, IRON, bandstand, tarpaulin


def bricks(pen: Pen, box: tuple[int, int, int, int], tone: str) -> None:
    """Fill a rectangle with a wall of bricks, most of them only hinted at."""
    x0, y0, x1, y1 = box
    pen.rect(x0, y0, x1, y1, tone)
    for row, y in enumerate(range(y0, y1, 36)):
        for k, x in enumerate(range(x0 - (row % 2) * 45, x1, 90)):
            if (row * 5 + k * 3) % 4 == 0:
                left, right = max(x0, x + 3), min(x1, x + 85)
                if right > left:
                    pen.rect(
                        left, y + 3, right, min(y1, y + 32), shade(tone, 1.1 if k % 2 else 0.86)
                    )


def maltings(pen: Pen, mood: Mood) -> None:
    """Draw the malt-house: beams, lanterns, the bandstand, half built at first."""
    bricks(pen, (0, 0, 1600, 660), "#5a3526")
    pen.rect(0, 650, 1600, 900, "#3a2619")
    for x in (110, 1440):
        pen.rect(x, 0, x + 54, 700, "#3f2a1a")
    for y in (60, 150):
        pen.rect(0, y, 1600, y + 34, "#4a3220")
    if mood.roofed:
        bandstand(pen.at(830, 700))
    else:
        half_bandstand(pen.at(830, 700))
    tarpaulin(pen.at(270, 720, 0.8))
    tarpaulin(pen.at(1400, 730, 0.66))
    for x, y in ((440, 250), (830, 210), (1230, 260)):
        pen.line([(x, 90), (x, y)], 4, "#1c120c", ends=False)
        pen.glow(x, y + 60, 330, "#ff9c3a", 0.6 if mood.phase % 2 else 0.54)
        lantern(pen.at(x, y + 120, 0.7))


def half_bandstand(pen: Pen) -> None:
    """Draw the bandstand with its posts up and only ribs for a roof."""
    pen.rect(-290, -46, 290, 0, shade(IRON, 0.9), 6)
    pen.rect(-300, -58, 300, -40, shade(IRON, 1.3), 6)
    for x in (-276, -180, -70, 70, 180, 276):
        pen.rect(x - 8, -340, x + 8, -46, shade(IRON, 1.15), 3)
        pen.rect(x - 12, -342, x + 12, -326, GOLD, 3)
    for k in range(13):
        pen.line([(-270 + k * 23, -130), (-270 + k * 23, -56)], 4, shade(IRON, 1.2))
    pen.rect(-284, -140, 10, -128, GOLD, 4)
    pen.line([(-310, -340), (310, -340)], 10, shade(IRON, 1.25))
    for x in (-300, -110, 110):
        pen.line([(x, -340), (0, -520)], 11, shade(IRON, 1.2))
    pen.line([(-150, -430), (60, -470)], 7, shade(IRON, 1.2))


def maltings_back(pen: Pen, mood: Mood) -> None:
    """Draw the malt-house towards its great doors: lamplit planks, ladder, heaps."""
    bricks(pen, (0, 0, 1600, 660), "#a8622f")
    pen.rect(0, 650, 1600, 900, "#6d4426")
    pen.rect(560, 130, 1060, 690, "#4a2f1c", 6)
    for k in range(6):
        pen.rect(572 + k * 82, 142, 646 + k * 82, 690, "#5e3d24")
    pen.rect(804, 130, 816, 690, "#2c1b10")
    for y in (250, 540):
        pen.rect(560, y, 1060, y + 22, "#2c2522")
    pen.rect(0, 40, 1600, 84, "#5b3a20")
    for x in (1240, 1330):
        pen.line([(x, 700), (x + 60, 120)], 12, "#c08a4a")
    for k in range(8):
        pen.line([(1246 + k * 7, 640 - k * 66), (1336 + k * 7, 640 - k * 66)], 9, "#c08a4a")
    tarpaulin(pen.at(240, 730, 1.0))
    pen.glow(400, 260, 480, "#ffc46a", 0.6 if mood.phase % 2 else 0.55)
    lantern(pen.at(400, 330, 0.8))


def bakery(pen: Pen, mood: Mood) -> None:
    """Draw the bakery before dawn: the oven's glowing mouth, racks, one bulb."""
    pen.gradient((0, 0, 1600, 660), "#d99a58", "#c47f42")
    pen.rect(0, 650, 1600, 900, "#a8794c")
    bricks(pen, (300, 120, 900, 680), "#b5583a")
    pen.poly([(300, 120), (380, 40), (820, 40), (900, 120)], "#9a4830")
    pen.rect(430, 330, 770, 560, "#2c1510", 100)
    pen.ellipse(600, 500, 140, 60, "#ff8a26")
    pen.ellipse(600, 520, 100 + 8 * (mood.phase % 2), 40, "#ffd35c")
    pen.glow(600, 480, 430, "#ff9a3c", 0.5)
    racks(pen, 1010)
    pen.rect(1330, 140, 1560, 420, "#f3e3c2", 4)
    pen.rect(1348, 158, 1542, 402, "#1d2b5c")
    pen.rect(1440, 158, 1450, 402, "#f3e3c2")
    pen.line([(960, 0), (960, 110)], 4, "#3a2619", ends=False)
    pen.glow(960, 140, 260, "#fff0c0", 0.75)
    pen.ellipse(960, 136, 20, 26, "#fffbe6")


def racks(pen: Pen, x: float) -> None:
    """Shelves of loaves."""
    for side in (x, x + 250):
        pen.rect(side, 190, side + 14, 700, "#7a4f2c")
    for row in range(4):
        y = 290 + row * 112
        pen.rect(x, y, x + 264, y + 12, "#7a4f2c")
        for k in range(4):
            pen.ellipse(x + 44 + k * 58, y - 20, 30, 24, "#c9853c" if (k + row) % 2 else "#dca052")


def bakery_front(pen: Pen, mood: Mood) -> None:
    """Draw the long floury table."""
    pen.rect(120, 716, 1480, 748, "#efdcb8", 6)
    pen.rect(120, 742, 1480, 766, "#b98a56")
    pen.rect(160, 766, 200, 900, "#94683c")
    pen.rect(1400, 766, 1440, 900, "#94683c")
    for x, w in ((320, 90), (760, 130), (1180, 80)):
        pen.ellipse(x, 718, w, 10, "#fffaf0")
    for x in (500, 580):
        pen.ellipse(x, 704, 38, 24, "#f0d6a4")


def bakery_back(pen: Pen, mood: Mood) -> None:
    """Draw the bakery towards the yard: dark-blue window, dresser, sacks."""
    pen.gradient((0, 0, 1600, 660), "#7d5a4c", "#6b4638")
    pen.rect(0, 650, 1600, 900, "#5a3a28")
    pen.rect(540, 110, 980, 470, "#e3cfa8", 4)
    pen.gradient((560, 130, 960, 450), "#101a44", "#33497f")
    pen.rect(754, 130, 766, 450, "#e3cfa8")
    pen.rect(560, 284, 960, 296, "#e3cfa8")
    pen.rect(1080, 160, 1500, 700, "#8a5a34", 6)
    for y in (300, 430):
        pen.rect(1100, y, 1480, y + 14, "#5f3b20")
        for k in range(5):
            pen.rect(
                1116 + k * 74,
                y - 74 + (k * 13) % 24,
                1170 + k * 74,
                y,
                ("#c9d2d6", "#c23a2e", "#e3c050")[k % 3],
                6,
            )
    for x, y in ((170, 720), (330, 730), (250, 620)):
        pen.rect(x - 86, y - 150, x + 86, y, "#e8dcc2", 34)
        pen.text(x, y - 70, "FLOUR", 30, "#a8794c", bold=0.6)
    pen.glow(1000, 120, 420, "#ffc987", 0.35)
