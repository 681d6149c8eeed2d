"""Settings on land: the park, the green and the telephone box."""

from __future__ import annotations

from pen import Pen, shade
from props import pineapple, telephone
from riverside import Mood, cobbles, cottage, poplars, river
from structures import bandstand, notice


def tree(pen: Pen, x: float, base: float, tone: str) -> None:
    """Draw a chestnut tree with white candles."""
    pen.poly(
        [(x - 26, base), (x - 16, base - 260), (x + 18, base - 260), (x + 32, base)], "#6a4a33"
    )
    for k, (dx, dy, r) in enumerate(
        ((-120, -300, 110), (110, -310, 120), (0, -400, 150), (-70, -230, 80), (90, -230, 76))
    ):
        pen.ellipse(x + dx, base + dy, r, r * 0.8, shade(tone, (1.0, 0.9, 1.1)[k % 3]))
    for k in range(9):
        cx, cy = x - 170 + (k * 83) % 340, base - 460 + (k * 67) % 260
        pen.poly([(cx - 7, cy), (cx + 7, cy), (cx, cy - 26)], shade(tone, 1.7))


def fairhithe_park(pen: Pen, mood: Mood) -> None:
    """Draw the park with the eight-sided hoarding; by night, before it, with the bandstand."""
    if mood.night:
        park_night(pen)
        return
    pen.gradient((0, 0, 1600, 430), "#8cc6e6", "#dcefe6")
    pen.rect(0, 420, 1600, 900, "#86b552")
    for x in (60, 250, 1330, 1520):
        pen.ellipse(x, 410, 150, 90, "#6d9e4a")
    pen.poly([(0, 730), (1600, 690), (1600, 830), (0, 870)], "#e0cfa6")
    fence = pen.at(830, 660)
    plank_fence(fence)
    notice(fence.at(0, -180, 0.72))
    tree(pen, 210, 690, "#4f8a42")
    flower_bed(pen, 1260, 690)
    bench(pen.at(1430, 650))


def plank_fence(pen: Pen) -> None:
    """Draw the hoarding: three of its eight sides, taller than a man."""
    for x0, x1, light in ((-400, -210, 0.78), (210, 400, 0.86), (-210, 210, 1.0)):
        tone = shade("#2a5a40", light)
        for k in range(round((x1 - x0) / 42)):
            x = x0 + k * 42
            step = 0.0 if light == 1.0 else -26 * (abs(x + 21) - 210) / 190
            lean = tone if k % 2 else shade(tone, 0.93)
            pen.rect(x, -400 + (6 if k % 3 == 0 else 0), x + 42, step, lean)
            pen.line([(x, -396), (x, step)], 3, shade(tone, 0.78), ends=False)
        pen.rect(x0, -350, x1, -332, shade(tone, 0.75))


def flower_bed(pen: Pen, x: float, y: float) -> None:
    """Red and yellow flowers in an oval bed."""
    pen.ellipse(x, y, 170, 34, "#6b4d33")
    for k in range(18):
        cx, cy = x - 150 + k * 17.5, y - 18 + (k * 11) % 26
        pen.line([(cx, cy), (cx, cy + 18)], 4, "#4c8a3c")
        pen.ellipse(cx, cy, 13, 12, "#d8392f" if k % 2 else "#f3c832")


def bench(pen: Pen) -> None:
    """Draw a park bench."""
    for y in (-110, -82, -52):
        pen.rect(-120, y, 120, y + 16, "#9a6a3c", 4)
    for x in (-100, 92):
        pen.rect(x, -112, x + 9, 0, "#33383a")


def park_night(pen: Pen) -> None:
    """Draw the flashback: dark blue, rain, the bandstand where it used to stand."""
    pen.gradient((0, 0, 1600, 560), "#0d1836", "#25386a")
    pen.ellipse(1320, 150, 60, 60, "#cfd8ee")
    pen.ellipse(1344, 138, 54, 54, "#16244c")
    pen.rect(0, 540, 1600, 900, "#182c3c")
    for x in (80, 300, 1290, 1500):
        pen.ellipse(x, 530, 170, 130, "#10203a")
    pen.poly([(0, 730), (1600, 690), (1600, 830), (0, 870)], "#39486a")
    bandstand(pen.at(800, 690))
    pineapple(pen.at(800, 122, 0.6))
    pen.rect(460, 90, 1140, 700, "#0e1a4052")
    for k in range(60):
        x, y = (k * 211) % 1600, (k * 137) % 880
        pen.line([(x, y), (x - 10, y + 34)], 2.5, "#7f93c460", ends=False)


def fairhithe_park_back(pen: Pen, mood: Mood) -> None:
    """Draw the park looking to the river, with bench and chestnut; no hoarding in sight."""
    if mood.night:
        pen.gradient((0, 0, 1600, 420), "#1c2c5c", "#4b5f96")
        river(pen, 400, 560, "#31457c", mood.phase)
        pen.rect(0, 550, 1600, 900, "#142238")
        for x in (40, 240, 1440, 1600):
            pen.ellipse(x, 420, 170, 200, "#0c172e")
        pen.poly([(500, 560), (760, 560), (1100, 900), (300, 900)], "#2c3a5c")
        return
    pen.gradient((0, 0, 1600, 360), "#bfe2ee", "#f7f3dc")
    pen.rect(0, 340, 1600, 376, "#a9b98c")
    poplars(pen, 352, "#9db184", (520, 600, 1100, 1180, 1260))
    river(pen, 370, 520, "#8d976c", mood.phase)
    pen.rect(0, 508, 1600, 900, "#a9cf6a")
    pen.poly([(640, 510), (760, 510), (1250, 900), (300, 900)], "#efe0b8")
    tree(pen, 1330, 680, "#5f9c49")
    bench(pen.at(330, 640, 1.2))
    flower_bed(pen, 1020, 760)
    for k in range(24):
        x, y = (k * 271) % 1600, 560 + (k * 97) % 320
        pen.ellipse(x, y, 7, 5, "#ffffff")


def paper_flags(pen: Pen, x0: float, y0: float, x1: float, y1: float, phase: int) -> None:
    """Draw a string of paper flags, stirring."""
    colours = ("#d8392f", "#f3c832", "#2f6fc0", "#ffffff", "#3f9a55")
    for k in range(14):
        t = (k + 0.5) / 14
        x, y = x0 + (x1 - x0) * t, y0 + (y1 - y0) * t + 90 * t * (1 - t) * 2
        sway = 5 if (k + phase) % 2 else -4
        pen.poly([(x - 20, y), (x + 20, y), (x + sway, y + 44)], colours[k % 5])


def coldhithe_green(pen: Pen, mood: Mood) -> None:
    """Draw the green with the finished bandstand, flags and white cottages."""
    pen.gradient((0, 0, 1600, 470), "#5fb4e8", "#d3eef4")
    for x, y, r in ((240, 110, 100), (340, 128, 70), (1360, 150, 110)):
        pen.ellipse(x, y, r, r * 0.3, "#ffffff")
    for k, x in enumerate((-40, 170, 400, 1010, 1230, 1440)):
        cottage(pen, x, 470, 200, ("#fbf8ef", ("#b5523a", "#8a6a4c", "#6c7480")[k % 3]))
    pen.rect(0, 460, 1600, 900, "#7cc043")
    pen.poly([(0, 640), (1600, 600), (1600, 660), (0, 710)], "#8ccb52")
    bandstand(pen.at(800, 660, 0.95))
    if mood.crowned:
        pineapple(pen.at(800, 118, 0.55))
    paper_flags(pen, -20, 120, 520, 300, mood.phase)
    paper_flags(pen, 1080, 300, 1620, 100, mood.phase)
    pump(pen.at(1420, 700))


def pump(pen: Pen) -> None:
    """Draw the village pump."""
    pen.rect(-26, -200, 26, 0, "#33504a", 8)
    pen.ellipse(0, -206, 34, 18, "#33504a")
    pen.line([(20, -150), (70, -150), (74, -126)], 14, "#33504a")
    pen.line([(-20, -170), (-74, -110)], 10, "#26403a")
    pen.rect(40, -40, 120, 0, "#8f9396", 6)


def coldhithe_green_back(pen: Pen, mood: Mood) -> None:
    """Draw the green looking the other way: oak, tea table, church, deeper grass."""
    pen.gradient((0, 0, 1600, 420), "#a8d8f0", "#fdf6dc")
    pen.poly([(0, 400), (500, 330), (1000, 360), (1600, 310), (1600, 520), (0, 520)], "#6aa05a")
    pen.rect(1120, 210, 1210, 440, "#c9c0ae")
    pen.poly([(1110, 214), (1165, 60), (1220, 214)], "#6c6f7c")
    pen.rect(1210, 320, 1400, 440, "#d6cdbb")
    pen.rect(0, 440, 1600, 900, "#549c38")
    pen.poly([(0, 700), (1600, 640), (1600, 700), (0, 770)], "#63ab43")
    tree(pen, 260, 640, "#3d7c3a")
    paper_flags(pen, 300, 90, 1620, 150, mood.phase)
    pen.rect(1180, 560, 1520, 580, "#fdfaf2", 4)
    pen.poly([(1180, 576), (1520, 576), (1530, 640), (1170, 640)], "#efe9da")
    pen.rect(1260, 490, 1330, 562, "#b9bec4", 16)
    for k in range(5):
        pen.ellipse(1370 + k * 30, 556, 11, 8, "#ffffff")


def phone_box(pen: Pen, mood: Mood) -> None:
    """Draw a lane at night: the lit red telephone box, wet cobbles, one lamp."""
    pen.gradient((0, 0, 1600, 600), "#0c1433", "#233163")
    for k, x in enumerate((-30, 230, 480, 1130, 1380)):
        cottage(pen, x, 590 - 16 * (k % 2), 250, ("#1c2850", "#121b3c"), lit=k == 3)
    pen.rect(0, 580, 1600, 900, "#1d2745")
    cobbles(pen, 610, "#2a3659", step=66)
    pen.glow(840, 790, 420, "#f0b450", 0.5)
    pen.rect(296, 250, 310, 760, "#0b0f20")
    pen.poly([(270, 220), (336, 220), (324, 280), (282, 280)], "#ffe7a0")
    pen.glow(303, 250, 260, "#ffd98a", 0.55)
    pen.glow(840, 520, 480, "#f0b450", 0.35)
    pen.rect(680, 216, 1000, 820, "#8e1f1f", 6)
    pen.rect(712, 300, 968, 800, "#ffe6a6")
    pen.rect(712, 560, 968, 800, "#f3cf86")
    telephone(pen.at(900, 520, 0.5))


def phone_box_front(pen: Pen, mood: Mood) -> None:
    """Draw the box's door and glazing bars, in front of whoever telephones."""
    red = "#c4302b"
    pen.rect(668, 200, 1012, 296, red, 12)
    pen.rect(700, 232, 980, 276, "#fff0c8", 4)
    pen.text(840, 254, "TELEPHONE", 40, "#26140f", bold=1)
    for x in (668, 972):
        pen.rect(x, 280, x + 40, 830, red)
    pen.rect(668, 730, 1012, 830, red)
    for x in (768, 906):
        pen.rect(x, 296, x + 8, 740, red)
    for y in (596, 664):
        pen.rect(700, y, 980, y + 9, red)
    pen.poly([(708, 300), (800, 300), (716, 470), (708, 470)], "#ffffff40")


def phone_box_back(pen: Pen, mood: Mood) -> None:
    """Inside the box: warm panel, the instrument, night in the panes."""
    pen.gradient((0, 0, 1600, 900), "#f2d48e", "#d9a95a")
    for x in (0, 1180):
        for k in range(2):
            for row in range(5):
                left = x + 30 + k * 200
                pen.rect(left, 40 + row * 180, left + 170, 190 + row * 180, "#18244c")
        pen.ellipse(x + 110, 300, 26, 26, "#ffd98a")
    for x in (0, 205, 400, 1180, 1385, 1580):
        pen.rect(x - 14, 0, x + 20, 900, "#c4302b")
    for row in range(6):
        pen.rect(0, 14 + row * 180, 414, 40 + row * 180, "#c4302b")
        pen.rect(1180, 14 + row * 180, 1600, 40 + row * 180, "#c4302b")
    pen.rect(960, 260, 1150, 640, "#2a2a30", 10)
    pen.ellipse(1055, 380, 66, 66, "#d9d4c4")
    pen.ellipse(1055, 380, 24, 24, "#2a2a30")
    pen.rect(1000, 520, 1110, 600, "#54545c", 6)
    pen.rect(470, 200, 640, 420, "#fbf4e0")
    for k in range(6):
        pen.line([(490, 234 + k * 30), (620 - 20 * (k % 2), 234 + k * 30)], 6, "#b9a888")
