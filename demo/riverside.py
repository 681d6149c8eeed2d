"""Settings by the river: the slip and the ferry; and what all outdoor settings share."""

from __future__ import annotations

from dataclasses import dataclass

from pen import Pen, shade


@dataclass(frozen=True, kw_only=True)
class Mood:
    """What changes in a setting: the beat of its small motions, the hour, the story so far."""

    phase: int = 0
    night: bool = False
    crowned: bool = False
    """The pineapple is on the bandstand."""
    roofed: bool = True
    """The bandstand has its whole roof."""
    opened: bool = False
    """The oldest ledger has been steamed open."""
    kilos: int = 1241
    """What the dial shows."""


def river(pen: Pen, top: float, bottom: float, colour: str, phase: int) -> None:
    """Fill a band of water; its glints move with the phase."""
    pen.gradient((-50, top, 1650, bottom), shade(colour, 1.25), colour)
    rows = max(2, round((bottom - top) / 34))
    for row in range(rows):
        y = top + 14 + row * (bottom - top - 18) / rows
        for k in range(6):
            x = (k * 290 + row * 137 + phase % 2 * 36) % 1640
            pen.line([(x, y), (x + 60 + 10 * row, y)], 4, shade(colour, 1.45), ends=False)


def poplars(pen: Pen, base: float, tone: str, xs: tuple[int, ...]) -> None:
    """Draw a row of poplars."""
    for k, x in enumerate(xs):
        tall = 150 + (k * 53) % 60
        pen.rect(x - 5, base - 40, x + 5, base + 6, shade(tone, 0.6))
        pen.ellipse(x, base - tall / 2 - 20, 24, tall / 2 + 6, tone if k % 2 else shade(tone, 0.88))


def cobbles(pen: Pen, top: float, tone: str, *, step: int = 58) -> None:
    """Dot the ground with rows of stones, larger towards the front."""
    y, row = top, 0
    while y < 900:
        size = 12 + (y - top) * 0.055
        for x in range(-30 + (row % 2) * step // 2, 1640, step):
            light = 1.12 if (x * 7 + row * 13) % 5 < 2 else 0.93
            pen.ellipse(x, y, size * 1.15, size * 0.42, shade(tone, light))
        y += size * 2.1
        row += 1


def cottage(
    pen: Pen, x: float, base: float, wide: float, colours: tuple[str, str], *, lit: bool = False
) -> None:
    """Draw a cottage: wall and roof colours, a door, two windows, a chimney."""
    wall, roof = colours
    tall = wide * 0.52
    pen.rect(x + wide * 0.74, base - tall * 1.95, x + wide * 0.86, base - tall, shade(wall, 0.7))
    pen.rect(x, base - tall, x + wide, base, wall)
    pen.poly(
        [
            (x - 14, base - tall),
            (x + wide * 0.14, base - tall * 1.7),
            (x + wide * 0.86, base - tall * 1.7),
            (x + wide + 14, base - tall),
        ],
        roof,
    )
    glass = "#ffd777" if lit else shade(wall, 0.55)
    pen.rect(x + wide * 0.12, base - tall * 0.75, x + wide * 0.32, base - tall * 0.35, glass)
    pen.rect(x + wide * 0.68, base - tall * 0.75, x + wide * 0.88, base - tall * 0.35, glass)
    pen.rect(x + wide * 0.42, base - tall * 0.72, x + wide * 0.58, base, shade(roof, 0.75))


def ferry_slip(pen: Pen, mood: Mood) -> None:
    """Draw the Coldhithe landing, looking over the river."""
    pen.gradient((0, 0, 1600, 400), "#a9c0d0", "#e3e8e2")
    for x, y, r in ((300, 120, 120), (420, 140, 90), (1150, 90, 130), (1290, 110, 90)):
        pen.ellipse(x, y, r, r * 0.24, "#ecf0ee")
    pen.rect(0, 372, 1600, 420, "#8fa085")
    poplars(pen, 384, "#7f9478", (560, 620, 690, 860, 930, 1010, 1270, 1330, 1410, 1500))
    river(pen, 408, 800, "#767d5c", mood.phase)
    pen.poly([(0, 560), (880, 566), (1600, 760), (1600, 900), (0, 900)], "#8e9296")
    pen.poly([(880, 566), (1600, 760), (1600, 786), (860, 580)], "#6d7175")
    for row in range(8):
        y = 600 + row * 38
        for k in range(24):
            x = k * 66 + (row % 2) * 33 - 20
            if y > 572 + max(0, x - 880) * 0.27 + 26:
                pen.ellipse(x, y, 23, 8, "#9da1a4" if (k * 3 + row) % 4 else "#7f8387")
    weigh_plate(pen)
    hut(pen.at(270, 640))
    for k in range(15):
        pen.ellipse(1130 + k * 25, 706 + k * 8, 13, 7, "#5c4636" if k % 2 else "#7a5e46")
    bell_post(pen.at(1080, 640))


def weigh_plate(pen: Pen) -> None:
    """Draw the square iron plate in the ground."""
    pen.poly([(560, 690), (1010, 690), (1080, 800), (500, 800)], "#4d5358")
    pen.poly([(574, 698), (998, 698), (1058, 792), (522, 792)], "#6a7278")
    for k in range(1, 6):
        pen.line([(574 + k * 70, 698), (522 + k * 89, 792)], 3, "#596066", ends=False)


def hut(pen: Pen) -> None:
    """Draw the small white hut with window and black chimney, around (0, 0) at its foot."""
    pen.rect(70, -420, 104, -270, "#26262a")
    pen.rect(62, -430, 112, -414, "#26262a", 4)
    pen.rect(-170, -280, 170, 0, "#f4f1e8")
    for k in range(8):
        pen.line([(-170, -246 + k * 34), (170, -246 + k * 34)], 3, "#d9d6cb", ends=False)
    pen.poly([(-200, -270), (-130, -350), (130, -350), (200, -270)], "#4a4f57")
    pen.rect(-10, -220, 140, -96, "#3d4a52", 4)
    pen.rect(0, -210, 130, -106, "#9fb9c0")
    pen.line([(65, -210), (65, -106)], 6, "#f4f1e8", ends=False)
    pen.rect(-20, -98, 150, -84, "#b58550", 3)
    pen.rect(-140, -200, -50, 0, "#3f6b58", 3)
    pen.ellipse(-66, -96, 6, 6, "#d9b64a")
    pen.text(-95, -238, "No. 7", 28, "#2b3a44", bold=0.6)


def bell_post(pen: Pen) -> None:
    """Draw a post with a bell."""
    pen.rect(-9, -250, 9, 0, "#5a4232", 3)
    pen.rect(-9, -250, 62, -236, "#5a4232", 3)
    pen.poly([(34, -228), (54, -228), (68, -190), (20, -190)], "#c79a35")
    pen.ellipse(44, -188, 6, 6, "#8a6820")


def ferry_slip_back(pen: Pen, mood: Mood) -> None:
    """Draw the same landing, looking up the lane to the village and the maltings."""
    pen.gradient((0, 0, 1600, 420), "#d6dfe0", "#f1ead8")
    pen.poly(
        [(0, 330), (420, 250), (900, 290), (1300, 230), (1600, 280), (1600, 640), (0, 640)],
        "#86a46c",
    )
    pen.rect(980, 130, 1420, 470, "#9c5a44")
    pen.poly([(960, 140), (1080, 30), (1320, 30), (1440, 140)], "#5b4a48")
    for k in range(5):
        pen.rect(1020 + k * 80, 220, 1056 + k * 80, 290, "#5d342c", 16)
    for k, x in enumerate((60, 270, 690)):
        cottage(pen, x, 430 + 10 * k, 190, ("#f3efe2", "#a5674a" if k % 2 else "#7b6a62"))
    pen.poly([(600, 480), (860, 300), (930, 300), (1050, 480), (1400, 640), (300, 640)], "#b9b3a4")
    pen.rect(0, 560, 1600, 900, "#aaa595")
    cobbles(pen, 590, "#b3aea0", step=74)
    pen.poly([(480, 700), (1060, 700), (1130, 806), (420, 806)], "#5b6167")
    pen.poly([(494, 708), (1046, 708), (1106, 798), (444, 798)], "#79817f")
    for x in (120, 1480):
        pen.rect(x - 26, 560, x + 26, 680, "#3e444a", 10)
        pen.ellipse(x, 562, 34, 16, "#565d64")


def deck_parts(pen: Pen, *, fog: bool) -> None:
    """Planks, railings, wheelhouse and chain wheel; dulled by fog."""
    plank, white = ("#b9bdbe", "#eef0f0") if fog else ("#9a9c9b", "#fbfaf5")
    red = "#b98b8b" if fog else "#c23a2e"
    pen.rect(0, 640, 1600, 900, plank)
    for k in range(7):
        pen.line(
            [(0, 660 + k * 12 + k * k * 4), (1600, 660 + k * 12 + k * k * 4)],
            4,
            shade(plank, 0.86),
            ends=False,
        )
    for x in range(20, 1640, 130):
        pen.rect(x - 7, 470, x + 7, 650, white)
    for y in (470, 550):
        pen.rect(0, y - 8, 1600, y + 8, white)
    pen.rect(1150, 190, 1400, 700, red, 6)
    pen.rect(1130, 168, 1420, 200, shade(red, 0.75), 8)
    pen.rect(1180, 240, 1370, 370, "#cfd9da" if fog else "#bcdbe0", 4)
    pen.line([(1275, 240), (1275, 370)], 8, red, ends=False)
    pen.text(1275, 480, "7", 150, white, bold=5)
    pen.line([(1180, 580), (1370, 580)], 5, shade(red, 0.8), ends=False)
    rust = "#a98d80" if fog else "#8a4e2e"
    pen.ellipse(170, 600, 112, 112, shade(rust, 0.7))
    pen.ellipse(170, 600, 86, 86, plank)
    for turn in range(0, 180, 45):
        pen.at(170, 600, turn=turn).line([(-96, 0), (96, 0)], 14, shade(rust, 0.8))
    for k in range(13):
        pen.ellipse(
            -10 + k * 30, 500 - min(k, 12 - k) * 3, 17, 9, rust if k % 2 else shade(rust, 1.2)
        )


def ferry_deck(pen: Pen, mood: Mood) -> None:
    """Draw the deck of No. 7 by day, looking across the river."""
    pen.gradient((0, 0, 1600, 360), "#c4dbe3", "#f0f1e4")
    pen.rect(0, 338, 1600, 372, "#93a878")
    poplars(pen, 350, "#86a06e", (90, 160, 420, 500, 560, 800, 880, 1000))
    river(pen, 366, 660, "#7b8059", mood.phase)
    deck_parts(pen, fog=False)


def ferry_deck_back(pen: Pen, mood: Mood) -> None:
    """Draw the deck looking forward: ramp, chain going down, the bank coming near."""
    pen.gradient((0, 0, 1600, 330), "#7fb0c9", "#cfe3e2")
    pen.poly(
        [(0, 300), (400, 240), (800, 262), (1250, 220), (1600, 270), (1600, 360), (0, 360)],
        "#5f8a55",
    )
    for k, x in enumerate((150, 330, 1040, 1240, 1420)):
        pen.ellipse(x, 250 - 20 * (k % 2), 100, 74, "#4d7847" if k % 2 else "#5a8750")
    pen.poly([(700, 356), (880, 356), (960, 420), (620, 420)], "#b3afa2")
    river(pen, 352, 900, "#66704e", mood.phase)
    deck_bow(pen, "#8b8f92", "#f7f5ee", "#c23a2e")


def deck_bow(pen: Pen, plank: str, white: str, red: str) -> None:
    """Planks running forward, side rails, ramp chains and the edge of the wheelhouse."""
    pen.poly([(330, 560), (1270, 560), (1700, 900), (-100, 900)], plank)
    for k in range(11):
        pen.line([(330 + k * 94, 560), (-100 + k * 180, 900)], 5, shade(plank, 0.85), ends=False)
    pen.rect(560, 470, 1040, 566, shade(plank, 0.72))
    for k in range(6):
        pen.line([(580 + k * 88, 474), (570 + k * 92, 562)], 5, shade(plank, 0.6), ends=False)
    for side in (1, -1):
        rail = pen.at(800, 0, flip=side < 0)
        rail.line([(250, 430), (860, 560)], 16, white)
        rail.line([(250, 490), (860, 690)], 12, white)
        for k in range(5):
            x = 260 + k * 140
            rail.line([(x, 430 + k * 31), (x, 570 + k * 74)], 13, white)
        rail.line([(240, 380), (250, 560)], 18, shade(red, 0.9))
    pen.rect(-60, 120, 170, 900, red)
    pen.rect(-60, 100, 190, 132, shade(red, 0.75), 6)
    pen.rect(20, 200, 140, 380, shade(white, 0.85), 4)
    pen.text(86, 540, "7", 140, white, bold=5)


def ferry_deck_fog(pen: Pen, mood: Mood) -> None:
    """Draw the deck in thick fog: nothing beyond the railings."""
    pen.gradient((0, 0, 1600, 900), "#f6f7f6", "#e3e6e6")
    for k in range(5):
        x = (k * 420 + mood.phase % 4 * 26) % 1900 - 150
        pen.ellipse(x, 160 + (k * 97) % 320, 300, 46, "#ffffffb0")
    deck_parts(pen, fog=True)
    pen.glow(420, 500, 700, "#f6f7f7", 0.75)


def ferry_deck_fog_back(pen: Pen, mood: Mood) -> None:
    """Draw the bow in fog, greyer, the chain going down into whiteness."""
    pen.gradient((0, 0, 1600, 900), "#aeb6ba", "#8f989c")
    for k in range(4):
        x = (k * 520 + mood.phase % 4 * 26) % 1900 - 150
        pen.ellipse(x, 120 + (k * 117) % 330, 340, 52, "#c3cacc90")
    deck_bow(pen, "#7c8488", "#c9cfd0", "#96706f")
    pen.glow(800, 420, 520, "#c9d0d2", 0.8)
