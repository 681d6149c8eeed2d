"""Settings under a roof: hut, office, parlour and ward."""

from __future__ import annotations

from pen import Pen, shade
from props import pineapple
from riverside import Mood
from structures import bylaws, dial
from workrooms import bricks


def boards(pen: Pen, tone: str, step: int = 90) -> None:
    """Panel the back wall with upright boards."""
    for x in range(0, 1600, step):
        pen.rect(x, 0, x + step, 660, tone if x // step % 2 else shade(tone, 0.95))
        pen.line([(x, 0), (x, 660)], 3, shade(tone, 0.82), ends=False)


def floor(pen: Pen, top: float, tone: str) -> None:
    """Lay a plank floor."""
    pen.rect(0, top, 1600, 900, tone)
    for k in range(5):
        y = top + 14 + 16 * k + 6 * k * k
        pen.line([(0, y), (1600, y)], 3, shade(tone, 0.86), ends=False)


def weigh_hut(pen: Pen, mood: Mood) -> None:
    """Inside the hut: window, sloping desk, dial, by-laws and ledgers."""
    boards(pen, "#a9784a")
    floor(pen, 650, "#7a5234")
    pen.rect(60, 130, 430, 480, "#6b4527", 4)
    if mood.night:
        pen.gradient((78, 148, 412, 462), "#0f1a40", "#2c3f74")
    else:
        pen.gradient((78, 148, 412, 462), "#dcecf2", "#a9bba4")
        pen.rect(78, 380, 412, 462, "#7f8a68")
        pen.poly([(108, 480), (452, 480), (900, 900), (360, 900)], "#ffe9b028")
    pen.rect(241, 148, 251, 462, "#6b4527")
    pen.rect(50, 478, 440, 500, "#c69a60", 4)
    pen.poly([(40, 590), (420, 564), (456, 640), (40, 680)], "#8a5a30")
    pen.rect(80, 660, 110, 860, "#6b4224")
    pen.rect(400, 640, 430, 850, "#6b4224")
    pen.poly([(120, 588), (260, 578), (280, 610), (130, 622)], "#f6f0dc")
    dial(pen.at(610, 690, 1.05), mood.kilos)
    bylaws(pen.at(1130, 400, 0.95))
    pen.rect(1300, 150, 1590, 170, "#6b4224")
    pen.rect(1300, 330, 1590, 350, "#6b4224")
    for k in range(12):
        for top, bottom in ((186 + (k * 7) % 20, 330), (20 + (k * 5) % 18, 150)):
            spine = shade("#b3262c", 1 - 0.08 * (k % 3))
            pen.rect(1306 + k * 23, top, 1326 + k * 23, bottom, spine)
            pen.rect(1310 + k * 23, top + 26, 1322 + k * 23, top + 46, "#e8c96a")
    stove(pen.at(1440, 740))


def stove(pen: Pen) -> None:
    """Draw a black iron stove with its pipe."""
    pen.rect(-14, -480, 20, -230, "#25242a")
    pen.rect(-90, -240, 96, -20, "#2f2e35", 14)
    pen.rect(-100, -250, 106, -226, "#3a3942", 6)
    pen.rect(-54, -170, 60, -80, "#1b1a1f", 8)
    pen.rect(-46, -162, 52, -88, "#f08a2c", 6)
    pen.rect(-46, -120, 52, -88, "#ffc04a", 6)
    for x in (-76, 72):
        pen.rect(x, -24, x + 16, 0, "#1b1a1f")


def weigh_hut_back(pen: Pen, mood: Mood) -> None:
    """Draw the hut's other wall, in shadow: door, coat nail, lamp, more ledgers."""
    boards(pen, "#5f4128", 110)
    floor(pen, 650, "#4a3220")
    pen.rect(980, 110, 1270, 670, "#345a4a", 4)
    pen.rect(1006, 140, 1244, 360, "#4a7a64", 4)
    pen.rect(1006, 390, 1244, 650, "#2c4d3f", 4)
    pen.ellipse(1010, 400, 10, 10, "#d9b64a")
    pen.rect(120, 250, 640, 268, "#3a2614")
    pen.rect(120, 440, 640, 458, "#3a2614")
    for k in range(20):
        for bottom in (250, 440):
            tall = 130 + (k * 11) % 26
            pen.rect(
                128 + k * 25,
                bottom - tall,
                150 + k * 25,
                bottom,
                shade("#8e1f26", 1 - 0.1 * (k % 3)),
            )
    pen.rect(1390, 210, 1400, 240, "#b9a070")
    pen.glow(800, 200, 330, "#ffcf7a", 0.5)
    pen.rect(792, 0, 800, 150, "#241a10")
    pen.poly([(756, 190), (836, 190), (812, 148), (780, 148)], "#2f5d46")
    pen.ellipse(796, 194, 24, 12, "#fff0b8")


def label(pen: Pen, x: float, y: float, number: int) -> None:
    """Draw a little white number label."""
    pen.rect(x - 24, y - 12, x + 24, y + 12, "#ffffff", 2)
    pen.text(x, y, str(number), 16, "#3a4046")


def sprake_office(pen: Pen, mood: Mood) -> None:
    """Sprake's office: window on a brick wall, steel cabinets, labels on everything."""
    pen.gradient((0, 0, 1600, 660), "#d5dade", "#bcc4c9")
    pen.rect(0, 650, 1600, 900, "#8b949b")
    pen.rect(0, 640, 1600, 656, "#9aa3a9")
    pen.rect(520, 50, 840, 520, "#eef1f3", 4)
    bricks(pen, (542, 72, 818, 498), "#8d6a62")
    pen.rect(672, 72, 688, 498, "#eef1f3")
    pen.rect(542, 270, 818, 284, "#eef1f3")
    label(pen, 680, 538, 4402)
    for k in range(3):
        for row in range(2):
            x, y = 930 + k * 160, 190 + row * 240
            pen.rect(x, y, x + 150, y + 234, "#78828b", 4)
            for drawer in range(2):
                top = y + 12 + drawer * 112
                pen.rect(x + 10, top, x + 140, top + 98, "#8b959e", 4)
                pen.rect(x + 56, top + 66, x + 94, top + 76, "#525b63", 3)
            label(pen, x + 75, y + 40, 4405 + k * 2 + row)
    hat_stand(pen.at(330, 700))
    pen.poly([(60, 110), (190, 150), (190, 720), (60, 800)], "#9aa0a4")
    pen.rect(0, 110, 60, 800, "#e9ecec")
    pineapple(pen.at(222, 760, 0.8))


def hat_stand(pen: Pen) -> None:
    """Draw the hat-stand, number 4417."""
    pen.rect(-7, -430, 7, 0, "#4a4f55")
    for side in (-1, 1):
        pen.line([(0, -400), (side * 50, -430)], 9, "#4a4f55")
        pen.line([(0, -30), (side * 56, 0)], 9, "#4a4f55")
    label(pen, 0, -230, 4417)


def sprake_office_front(pen: Pen, mood: Mood) -> None:
    """Draw the large bare desk, in front of whoever sits at it."""
    pen.rect(430, 700, 1210, 730, "#6f5a4a", 4)
    pen.rect(450, 730, 1190, 900, "#59483b")
    pen.rect(470, 750, 700, 900, "#635145", 4)
    pen.rect(940, 750, 1170, 900, "#635145", 4)
    label(pen, 820, 790, 4401)


def sprake_office_back(pen: Pen, mood: Mood) -> None:
    """Draw the office towards its open door, dark corridor beyond, stopped by the pineapple."""
    pen.gradient((0, 0, 1600, 660), "#8e99a2", "#7c878f")
    pen.rect(0, 650, 1600, 900, "#5c656c")
    pen.rect(930, 90, 1230, 700, "#39424a")
    pen.rect(990, 150, 1170, 660, "#2c343b")
    pen.poly([(1230, 90), (1450, 40), (1450, 790), (1230, 700)], "#b9c0c4")
    pen.ellipse(1252, 400, 10, 12, "#4d565d")
    label(pen, 1350, 170, 4399)
    pineapple(pen.at(1260, 778, 0.95))
    pen.rect(160, 120, 520, 420, "#a7b0b6", 4)
    pen.rect(180, 140, 500, 400, "#dfe4e4")
    pen.line([(200, 330), (280, 300), (360, 320), (480, 180)], 7, "#b3262c")
    label(pen, 340, 446, 4409)
    pen.rect(600, 130, 720, 250, "#e9ecec", 60)
    pen.line([(660, 190), (660, 150)], 6, "#2b3036")
    pen.line([(660, 190), (694, 206)], 6, "#2b3036")
    label(pen, 660, 280, 4410)


def wallpaper(pen: Pen, tone: str, rose: str) -> None:
    """Cover the wall with flowers."""
    pen.rect(0, 0, 1600, 640, tone)
    for row in range(7):
        for k in range(14):
            x, y = k * 124 + (row % 2) * 62, 40 + row * 94
            pen.ellipse(x, y, 22, 20, rose)
            pen.ellipse(x + 3, y - 2, 11, 10, shade(rose, 1.35))
            pen.ellipse(x + 26, y + 16, 12, 6, shade("#7c8a4a", 1.1))


def thrupp_parlour(pen: Pen, mood: Mood) -> None:
    """Mrs. Thrupp's parlour by lamplight."""
    wallpaper(pen, "#f0c98e", "#e58a62")
    pen.rect(0, 560, 1600, 650, "#a8622f")
    pen.rect(0, 640, 1600, 900, "#8a3f2c")
    pen.ellipse(820, 800, 620, 80, "#a8523a")
    pen.rect(440, 150, 640, 310, "#f7deb4")
    pen.ellipse(540, 140, 5, 5, "#6b4224")
    pen.rect(1180, 380, 1420, 760, "#7d4a5c", 50)
    pen.rect(1140, 520, 1460, 800, "#8d566a", 40)
    pen.rect(1190, 560, 1410, 690, "#a06a7e", 30)
    fringed_lamp(pen, 1000)
    pen.glow(1000, 300, 620, "#ffdf8a", 0.55)


def fringed_lamp(pen: Pen, x: float) -> None:
    """Draw a standing lamp with a fringe."""
    pen.rect(x - 6, 320, x + 6, 760, "#6b4224")
    pen.ellipse(x, 764, 60, 14, "#6b4224")
    pen.poly([(x - 56, 180), (x + 56, 180), (x + 110, 330), (x - 110, 330)], "#ffe29a")
    for k in range(12):
        pen.line([(x - 104 + k * 19, 330), (x - 104 + k * 19, 352)], 5, "#c9782c")


def thrupp_parlour_front(pen: Pen, mood: Mood) -> None:
    """Draw the round table with the brown teapot."""
    pen.rect(760, 760, 800, 900, "#5f3820")
    pen.ellipse(780, 744, 300, 44, "#f7ead0")
    pen.ellipse(780, 736, 300, 40, "#fff6e2")
    pen.ellipse(700, 696, 58, 44, "#6b3d22")
    pen.line([(650, 700), (622, 668)], 14, "#6b3d22")
    pen.arc(764, 694, 24, 26, (270, 450), 9, "#6b3d22")
    pen.ellipse(700, 652, 20, 8, "#7f4c2c")
    pen.ellipse(700, 644, 7, 7, "#7f4c2c")
    for x in (860, 960):
        pen.ellipse(x, 738, 44, 10, "#f0c9a0")
        pen.rect(x - 22, 706, x + 22, 736, "#e58a62", 8)


def thrupp_parlour_back(pen: Pen, mood: Mood) -> None:
    """Draw the parlour's fireside: mantelpiece with the paler square, dark curtains."""
    wallpaper(pen, "#b5643c", "#d98458")
    pen.rect(0, 640, 1600, 900, "#6d2f26")
    pen.rect(560, 330, 1040, 680, "#5a3424", 6)
    pen.rect(520, 310, 1080, 346, "#74452e", 6)
    pen.rect(650, 430, 950, 680, "#1f1414", 10)
    pen.glow(800, 640, 250, "#ff8a30", 0.85)
    for x, tall in ((740, 70), (800, 110), (860, 80)):
        flick = 12 if (mood.phase + x // 60) % 2 else 0
        pen.poly([(x - 30, 676), (x + 30, 676), (x + flick - 6, 676 - tall - flick)], "#ffc04a")
    pen.rect(690, 120, 910, 290, "#cf8a5c")
    pen.rect(140, 80, 180, 660, "#4a2030")
    for x in (90, 330):
        pen.poly([(x, 60), (x + 120, 60), (x + 90, 660), (x - 20, 660)], "#7a2f44")
    pen.rect(210, 100, 330, 520, "#1d2748")
    pen.rect(1250, 380, 1480, 700, "#4f2d1e", 8)
    for k in range(4):
        pen.ellipse(1290 + k * 50, 370, 20, 12, "#e9dcc0")


def hospital_ward(pen: Pen, mood: Mood) -> None:
    """Draw the ward: white iron bed, tall window on the river, pulley."""
    pen.gradient((0, 0, 1600, 640), "#d8ecdc", "#c4dfca")
    pen.rect(0, 630, 1600, 900, "#e6e4d6")
    for k in range(9):
        pen.line([(k * 220 - 80, 900), (k * 180 + 60, 636)], 3, "#d3d1c2", ends=False)
    pen.rect(0, 616, 1600, 636, "#f4f8f2")
    pen.rect(960, 40, 1300, 540, "#ffffff", 4)
    pen.gradient((984, 64, 1276, 330), "#bfe0ef", "#eef4ea")
    pen.rect(984, 330, 1276, 380, "#93a878")
    pen.gradient((984, 370, 1276, 516), "#a3aa86", "#868d68")
    pen.rect(1122, 64, 1138, 516, "#ffffff")
    pen.rect(984, 280, 1276, 292, "#ffffff")
    bed_back(pen)


def bed_back(pen: Pen) -> None:
    """Headboard, pillows, pulley and locker: what lies behind the patient."""
    for x in range(200, 400, 38):
        pen.rect(x, 410, x + 8, 660, "#fbfcfa")
    pen.line([(190, 690), (190, 420), (240, 396), (350, 396)], 18, "#fbfcfa")
    pen.rect(230, 470, 480, 690, "#ffffff", 40)
    pen.rect(260, 520, 500, 700, "#eef3f0", 40)
    pen.line([(400, 110), (760, 110), (760, 160)], 12, "#b9c4c0")
    pen.line([(400, 110), (400, 60)], 12, "#b9c4c0")
    pen.ellipse(760, 170, 24, 24, "#8f9c98")
    pen.line([(760, 190), (860, 630)], 5, "#8f9c98")
    pen.rect(40, 560, 170, 800, "#b9d4bf", 8)
    pen.rect(30, 548, 180, 568, "#fbfcfa", 4)
    pen.poly([(80, 490), (124, 490), (118, 548), (86, 548)], "#e6f6fb")
    pen.rect(84, 514, 120, 548, "#bfe3f0")


def hospital_ward_front(pen: Pen, mood: Mood) -> None:
    """Blanket, plastered leg and the foot of the bed, in front of the patient."""
    pen.rect(200, 690, 950, 760, "#f4f6f2", 20)
    pen.poly([(330, 672), (470, 640), (900, 650), (950, 690), (950, 760), (330, 760)], "#9cc7b4")
    pen.poly([(330, 672), (470, 640), (520, 644), (400, 700), (330, 704)], "#ffffff")
    pen.line([(730, 676), (830, 648), (880, 636)], 50, "#fdfdfb")
    pen.line([(878, 634), (886, 600)], 34, "#fdfdfb")
    for x in (215, 940):
        pen.rect(x - 9, 740, x + 9, 850, "#fbfcfa", 4)
    pen.line([(950, 760), (950, 560), (970, 540)], 16, "#fbfcfa")


def hospital_ward_back(pen: Pen, mood: Mood) -> None:
    """Draw the ward towards its door: green screen, chart, evening-cool wall."""
    pen.gradient((0, 0, 1600, 640), "#8fb8a4", "#7ba792")
    pen.rect(0, 630, 1600, 900, "#b4b8a6")
    pen.rect(0, 616, 1600, 636, "#dfe9e0")
    pen.rect(1330, 130, 1570, 690, "#e9efe8", 4)
    pen.rect(1370, 180, 1530, 400, "#a9c9c8", 4)
    pen.ellipse(1352, 430, 11, 11, "#8a9490")
    for k in range(4):
        x = 960 + k * 84
        pen.rect(x, 190, x + 80, 650, "#f5f1e2" if k % 2 else "#e4dfcc", 4)
    pen.rect(560, 150, 700, 330, "#fdfcf6", 4)
    pen.line([(576, 290), (610, 250), (640, 270), (684, 190)], 5, "#c23a2e")
    bed_back(pen)
