"""The large things of the story, which settings and props share: each standing on (0, 0)."""

from __future__ import annotations

import math

from pen import Pen, shade

IRON, GOLD, BRASS = "#1f4a38", "#d9ae45", "#d8a53a"
INK = "#2b2630"


def van(pen: Pen) -> None:
    """Ruben's bread van, pale blue."""
    blue = "#a9cfe4"
    pen.ellipse(0, 2, 310, 18, "#00000040")
    pen.rect(-300, -310, 150, -40, blue, 26)
    pen.poly([(130, -286), (222, -276), (268, -156), (302, -140), (304, -40), (120, -40)], blue)
    pen.poly([(148, -268), (212, -260), (250, -156), (148, -156)], "#dff0f4")
    pen.rect(-290, -296, 140, -284, shade(blue, 1.35), 6)
    pen.text(-82, -190, "CATCHPOLE", 66, "#ffffff", bold=2.5)
    pen.text(-82, -128, "BREAD  &  BUNS", 28, "#ffffff", bold=0.5)
    van_door(pen)


def van_door(pen: Pen) -> None:
    """Draw the van below its windows, also in front of a driver: door, lamps, wheels."""
    blue = "#a9cfe4"
    pen.poly([(120, -156), (266, -156), (302, -140), (304, -60), (120, -60)], blue)
    pen.rect(-300, -78, 304, -40, shade(blue, 0.78), 10)
    pen.poly([(212, -262), (222, -276), (268, -156), (252, -156)], blue)
    pen.rect(130, -286, 148, -78, blue)
    pen.line([(140, -276), (140, -60)], 4, shade(blue, 0.75))
    pen.rect(156, -136, 182, -126, "#5b6f7a", 4)
    pen.ellipse(292, -104, 12, 18, "#fff3c4")
    for x in (-190, 210):
        pen.ellipse(x, -40, 56, 56, shade(blue, 0.6))
        pen.ellipse(x, -38, 46, 46, "#26262c")
        pen.ellipse(x, -38, 22, 22, "#d9dcdc")
        pen.ellipse(x, -38, 8, 8, "#7a8086")


def dial(pen: Pen, kilos: int = 1241) -> None:
    """Draw the round white dial on its brass pillar; the one black hand points at the kilos."""
    pen.rect(-26, -130, 26, 0, "#b98a2e", 4)
    pen.rect(-14, -130, -2, 0, "#e6c465")
    pen.rect(-60, -18, 60, 0, "#9a7022", 6)
    pen.ellipse(0, -260, 150, 150, "#a87a24")
    pen.ellipse(0, -260, 142, 142, "#e6c465")
    pen.ellipse(0, -260, 128, 128, "#fbfaf2")
    for k in range(80):
        turn = pen.at(0, -260, turn=k * 4.5)
        turn.line([(0, -122), (0, -106 if k % 10 == 0 else -115)], 4 if k % 10 == 0 else 2, INK)
    for k in range(8):
        t = math.radians(k * 45 - 90)
        pen.text(84 * math.cos(t), -260 + 84 * math.sin(t), f"{k * 250:,}", 20, INK)
    pen.text(0, -218, "KILOS", 16, "#8a2a22")
    hand = pen.at(0, -260, turn=kilos / 2000 * 360)
    hand.poly([(-5, 34), (5, 34), (2.5, -112), (-2.5, -112)], "#16141a")
    hand.ellipse(0, 0, 12, 12, "#16141a")


def bylaws(pen: Pen) -> None:
    """Draw the green board of by-laws in cream letters; number 14 matters."""
    pen.rect(-150, -360, 150, 0, "#5e3f24", 6)
    pen.rect(-138, -348, 138, -12, "#1f5a41")
    cream = "#f3e6bd"
    pen.text(0, -322, "BY-LAWS", 32, cream, bold=1)
    pen.line([(-100, -300), (100, -300)], 2, cream)
    for k in range(5):
        y = -278 + k * 24
        pen.text(-116, y, str(k + 9), 16, cream)
        pen.line([(-92, y), (112 - 30 * (k % 2), y)], 6, "#9fb894")
    pen.rect(-128, -162, 128, -40, "#2b7053", 5)
    pen.text(-106, -140, "14", 24, "#ffe9a0", bold=0.8)
    for k, words in enumerate(("GOODS LENT ACROSS", "THE RIVER, RETURNED", "ENTIRE, PASS FREE")):
        pen.text(14, -138 + k * 28, words, 17, cream)
    pen.line([(-90, -26), (90, -26)], 5, "#9fb894")


def hoarding(pen: Pen) -> None:
    """Dark-green planks close to."""
    pen.rect(-360, -430, 356, 0, "#17301f")
    for k in range(9):
        x = -360 + k * 80
        tone = shade("#234d36", (1.0, 0.9, 1.06)[k % 3])
        pen.rect(x, -430, x + 76, 0, tone)
        pen.line([(x + 26, -400 + 20 * (k % 3)), (x + 30, -40)], 3, shade(tone, 0.85))
        pen.ellipse(x + 38, -390, 4, 4, "#10231a")
        pen.ellipse(x + 38, -60, 4, 4, "#10231a")
    pen.rect(-360, -360, 356, -338, "#1a3a29")


def notice(pen: Pen) -> None:
    """Draw the white board: CLOSED FOR REPAIRS."""
    pen.rect(-150, -190, 150, 0, "#d7d5c8", 4)
    pen.rect(-144, -184, 144, -6, "#fbfaf3", 4)
    pen.text(0, -134, "CLOSED", 54, "#1d2733", bold=2)
    pen.text(0, -82, "FOR REPAIRS", 38, "#1d2733", bold=1.2)
    pen.text(0, -36, "BY ORDER OF THE COUNTY", 17, "#8a2a22")
    for x in (-134, 134):
        for y in (-174, -16):
            pen.ellipse(x, y, 4, 4, "#777777")


def knothole(pen: Pen) -> None:
    """Draw a round hole in a plank, grass seen through it."""
    hoarding(pen.at(0, 40, 1.2))
    pen.ellipse(0, -200, 142, 132, "#142c20")
    pen.ellipse(0, -200, 126, 116, "#bfe0ee")
    pen.poly([(-121, -170), (121, -170), (96, -125), (40, -88), (-40, -88), (-96, -125)], "#7fb24a")
    for k in range(4):
        pen.poly(
            [
                (-84 + k * 46, -152),
                (-56 + k * 46, -152),
                (-60 + k * 46, -140),
                (-90 + k * 46, -140),
            ],
            "#9a7a4c",
        )
    pen.ellipse(0, -200, 150, 140, "#00000018")
    pen.arc(0, -200, 138, 128, (150, 300), 10, "#3f7354")


def grass(pen: Pen) -> None:
    """Trampled grass with eight square bare patches and daisies."""
    pen.rect(-900, -620, 900, 200, "#7cab45")
    for k in range(40):
        x, y = -620.0 + (k * 197) % 1240, -420.0 + (k * 131) % 460
        pen.line([(x, y), (x + 26, y - 5)], 4, "#6a983b" if k % 2 else "#90bd58")
    for k in range(8):
        t = math.radians(k * 45 + 22)
        x, y = 270 * math.cos(t), -190 + 130 * math.sin(t)
        pen.poly(
            [(x - 32, y - 16), (x + 26, y - 18), (x + 34, y + 14), (x - 28, y + 18)], "#8d6b42"
        )
        pen.poly([(x - 26, y - 10), (x + 22, y - 12), (x + 26, y + 6), (x - 22, y + 10)], "#a5825a")
    for k in range(22):
        x, y = -460 + (k * 173) % 930, -372 + (k * 89) % 350
        pen.ellipse(x, y, 9, 8, "#ffffff")
        pen.ellipse(x, y, 4, 3.5, "#f0c23c")


def tarpaulin(pen: Pen) -> None:
    """Draw a brown tarpaulin over something large."""
    pen.ellipse(0, 0, 250, 20, "#00000040")
    cloth = "#7d5a36"
    pen.poly(
        [
            (-240, 0),
            (-206, -130),
            (-120, -190),
            (-66, -270),
            (10, -300),
            (70, -232),
            (150, -196),
            (206, -110),
            (240, 0),
        ],
        cloth,
    )
    for x0, y0, x1 in (
        (-66, -262, -100),
        (10, -296, 16),
        (70, -230, 108),
        (-150, -170, -190),
        (150, -190, 186),
    ):
        pen.poly([(x0, y0), (x0 + 14, y0 + 10), (x1 + 16, 0), (x1 - 8, 0)], shade(cloth, 0.8))
    pen.line([(-226, -60), (-60, -44), (90, -50), (228, -62)], 7, "#d8c49a")


def bandstand(pen: Pen) -> None:
    """Draw the iron bandstand: eight posts, pointed roof, dark green and gold."""
    pen.ellipse(0, 4, 330, 26, "#00000030")
    pen.rect(-300, -46, 300, 0, shade(IRON, 0.8), 6)
    pen.rect(-312, -58, 312, -40, shade(IRON, 1.25), 6)
    for x in (-190, -70, 70, 190):
        pen.rect(x - 5, -330, x + 5, -50, shade(IRON, 0.72))
    for k in range(25):
        x = -276 + k * 23
        pen.line([(x, -130), (x, -56)], 3.5, shade(IRON, 0.9))
    pen.rect(-284, -140, 284, -128, GOLD, 4)
    for x in (-276, -104, 104, 276):
        pen.rect(x - 9, -340, x + 9, -46, IRON, 3)
        pen.rect(x - 13, -342, x + 13, -326, GOLD, 3)
        pen.arc(x + (26 if x < 0 else -26), -318, 24, 26, (180, 360), 6, GOLD)
    pen.poly([(-330, -338), (0, -560), (330, -338)], "#245a43")
    pen.poly([(-110, -338), (0, -560), (110, -338)], shade(IRON, 1.28))
    pen.poly([(-330, -338), (-110, -338), (0, -560)], shade(IRON, 0.86))
    for k in range(22):
        pen.poly([(-330 + k * 30, -340), (-300 + k * 30, -340), (-315 + k * 30, -316)], GOLD)
    pen.line([(-330, -340), (330, -340)], 8, shade(IRON, 1.1))
    pen.rect(-12, -580, 12, -548, GOLD, 5)
