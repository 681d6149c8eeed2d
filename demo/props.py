"""The props in scene units: each drawn standing on (0, 0), its height upwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pen import Pen, shade
from people import draw_seat, front_wheel
from structures import (
    BRASS,
    bandstand,
    bylaws,
    dial,
    grass,
    hoarding,
    knothole,
    notice,
    tarpaulin,
    van,
)

INK, PAPER = "#2b2630", "#f6f0dc"


@dataclass(frozen=True, kw_only=True)
class Prop:
    """A drawing with its true size and where it is put: floor, hand, wall or fill (no edges)."""

    draw: Callable[[Pen], None]
    width: float
    height: float
    place: str = "hand"
    held: float = 1.0
    """Scale when it lies in somebody's hands or, on the floor, beside people."""


def open_book(pen: Pen, cover: str, page: str) -> None:
    """Draw the two pages and covers that both ledgers share."""
    pen.poly([(-170, 0), (-176, -176), (0, -190), (176, -176), (170, 0), (0, -8)], cover)
    pen.poly([(-160, -8), (-166, -180), (0, -196), (0, -14)], page)
    pen.poly([(160, -8), (166, -180), (0, -196), (0, -14)], shade(page, 0.96))
    pen.line([(0, -194), (0, -14)], 5, shade(page, 0.75))


def ledger(pen: Pen) -> None:
    """Draw the current ledger, red, open, columns in ink."""
    open_book(pen, "#b3262c", PAPER)
    for k in range(6):
        y = -162 + k * 26
        pen.line([(-150, y), (-12, y - 4)], 1.5, "#9db4c4")
        pen.line([(12, y - 4), (150, y)], 1.5, "#9db4c4")
        pen.text(-112, y - 9, "Thurs.", 15, INK)
        pen.text(-40, y - 12, "1,320", 15, INK)
        pen.text(46, y - 12, "1,241", 15, INK)
        pen.text(118, y - 9, "61", 17, "#b3262c", bold=0.6)
    pen.line([(-76, -176), (-76, -20)], 1.5, "#c9584e")
    pen.line([(84, -178), (84, -18)], 1.5, "#c9584e")


def last_entry(pen: Pen) -> None:
    """Draw the current ledger with the last entry of the story in it."""
    ledger(pen)
    pen.poly([(12, -80), (158, -76), (158, -12), (12, -18)], shade(PAPER, 0.96))
    for k, words in enumerate(("Clerk: 61.", "Cause given: buns.")):
        pen.text(84, -58 + k * 24, words, 16, "#24408a", bold=0.4)


def steamed_ledger(pen: Pen) -> None:
    """Draw the old ledger opened at the ninth of April."""
    open_book(pen, "#5a3d28", "#e6d3a2")
    for x, y, r in ((-120, -150, 34), (110, -50, 40), (-60, -40, 26)):
        pen.ellipse(x, y, r, r * 0.6, "#c9a86a60")
    for k in range(6):
        pen.line([(-146, -160 + k * 24), (-24 - 14 * (k % 2), -164 + k * 24)], 4, "#9a7a4c")
    for k, (words, size) in enumerate(
        (
            ("ON LOAN for one summer", 12),
            ("the Bandstand, iron", 13),
            ("5,133 kilos", 19),
            ("returned ENTIRE", 14),
        )
    ):
        pen.text(84, -162 + k * 27, words, size, "#4a3018", bold=0.3)
    pen.ellipse(120, -42, 17, 17, "#a82a26")
    pen.ellipse(120, -42, 11, 11, "#c8423a")


def old_ledger(pen: Pen) -> None:
    """Draw the swollen, water-stained ledger, pages stuck together."""
    pen.poly([(-180, 0), (-186, -150), (-150, -196), (158, -186), (188, -140), (176, 0)], "#5a3d28")
    for k in range(9):
        y = -26 - k * 13
        wave = 6 * math.sin(k * 1.7)
        pen.line(
            [(-168 + wave, y), (-60, y + wave), (60, y - wave), (170 - wave, y)],
            9,
            "#d9c090" if k % 2 else "#c2a472",
        )
    pen.poly([(-176, -134), (-148, -200), (158, -192), (182, -134)], "#74502f")
    pen.ellipse(60, -164, 64, 20, "#8d6a42")
    pen.ellipse(62, -164, 48, 13, "#74502f")
    pen.rect(-118, -178, -18, -150, "#e2cf9c", 4)
    pen.text(-68, -164, "No. 1", 22, "#5a3d28")


def coins(pen: Pen) -> None:
    """Two pennies on a wooden sill."""
    pen.rect(-140, -18, 140, 0, "#b58550", 3)
    pen.rect(-140, -18, 140, -13, "#d0a468", 2)
    for x, y in ((-30, -26), (24, -30)):
        pen.ellipse(x, y + 5, 26, 11, "#6a3b1c")
        pen.ellipse(x, y, 26, 11, "#c07a3e")
        pen.ellipse(x, y, 20, 8, "#a8652f")
        pen.text(x, y, "1 d", 10, "#f0c08a")


def euphonium(pen: Pen) -> None:
    """Draw a silver euphonium, bell up."""
    silver, dark = "#dfe4ea", "#97a2b0"
    pen.poly([(22, -120), (62, -120), (70, -190), (116, -300), (-20, -300), (16, -190)], silver)
    pen.ellipse(48, -300, 70, 18, dark)
    pen.ellipse(48, -298, 58, 12, "#5b6675")
    pen.arc(0, -84, 52, 70, (0, 360), 30, silver)
    pen.arc(-4, -84, 52, 70, (120, 240), 5, "#ffffff")
    pen.arc(0, -84, 24, 40, (0, 360), 11, dark)
    for k in range(3):
        pen.rect(-30 + k * 20, -150, -16 + k * 20, -40, shade(silver, 0.88), 5)
        pen.line([(-23 + k * 20, -152), (-23 + k * 20, -170)], 4, dark)
        pen.ellipse(-23 + k * 20, -172, 8, 5, "#f4f6f8")
    pen.line([(-44, -120), (-70, -170), (-62, -200), (-84, -214)], 9, silver)
    pen.line([(44, -200), (84, -288)], 5, "#ffffff")


def letter(pen: Pen) -> None:
    """Draw a typed County letter with a crest."""
    pen.rect(-112, -300, 120, 6, "#00000030")
    pen.rect(-116, -304, 116, 0, "#fbf8ee", 3)
    pen.poly([(0, -292), (22, -284), (18, -258), (0, -246), (-18, -258), (-22, -284)], "#8c2430")
    pen.line([(-12, -270), (12, -270)], 5, "#f0d27a")
    pen.text(0, -230, "COUNTY OF DUNMARSH", 15, "#3a3a44")
    for k in range(7):
        end = 90 if k != 6 else 10
        pen.line([(-90, -200 + k * 18), (end - 14 * (k % 3), -200 + k * 18)], 5, "#a9a8ac")
    pen.text(0, -66, "61 kilos", 22, INK, bold=0.4)
    pen.line([(18, -34), (36, -44), (46, -28), (62, -42), (84, -32)], 3, "#24408a")


def spanner(pen: Pen) -> None:
    """Draw a big iron spanner lying on its side."""
    iron = "#6e7680"
    pen.line([(-110, -26), (100, -34)], 24, iron)
    pen.line([(-100, -30), (90, -38)], 6, shade(iron, 1.4))
    for x, y, turn in ((-128, -26, 180), (120, -34, 0)):
        jaw = pen.at(x, y, turn=turn)
        jaw.poly(
            [
                (-34, -22),
                (-4, -44),
                (38, -36),
                (44, -14),
                (12, -14),
                (12, 16),
                (44, 16),
                (36, 38),
                (-4, 44),
                (-34, 22),
            ],
            iron,
        )


def photograph(pen: Pen) -> None:
    """Draw a framed brown photograph: the bandstand with the pineapple on top."""
    pen.rect(-130, -200, 130, 0, "#5a3820", 5)
    pen.rect(-118, -188, 118, -12, "#b98a4a", 3)
    pen.rect(-108, -178, 108, -22, "#e6cf9f")
    pen.rect(-108, -62, 108, -22, "#b89663")
    dark = "#6e4a28"
    pen.rect(-56, -62, 56, -50, dark)
    for x in (-50, -20, 20, 50):
        pen.line([(x, -108), (x, -58)], 4, dark, ends=False)
    pen.poly([(-64, -108), (0, -146), (64, -108)], dark)
    pen.ellipse(0, -153, 8, 10, "#f0dba8")
    pen.poly([(-6, -160), (0, -172), (6, -160)], "#f0dba8")
    for k in range(6):
        pen.ellipse(-88 + k * 34, -44, 6, 7, dark)
        pen.rect(-94 + k * 34, -40, -82 + k * 34, -24, dark, 4)


def pineapple(pen: Pen) -> None:
    """Draw the brass pineapple, as big as a football."""
    pen.ellipse(0, -2, 44, 9, "#00000040")
    for k, (x, y) in enumerate(((-34, -148), (34, -148), (-20, -166), (20, -166), (0, -178))):
        pen.poly(
            [(x * 0.3 - 9, -100), (x * 0.3 + 9, -100), (x, y)],
            shade(BRASS, (0.72, 0.8, 0.9, 1.0, 1.15)[k]),
        )
    pen.rect(-32, -16, 32, 0, shade(BRASS, 0.7), 5)
    pen.ellipse(0, -58, 46, 54, BRASS)
    for k in range(-3, 4):
        half = math.sqrt(max(0.0, 1 - (k * 14 / 54) ** 2)) * 44
        shift = 14 if k % 2 else 0
        for j in range(-2, 3):
            x = j * 22 + shift - 7
            if abs(x) < half - 4:
                pen.poly(
                    [
                        (x, -68 + k * 14),
                        (x + 9, -58 + k * 14),
                        (x, -48 + k * 14),
                        (x - 9, -58 + k * 14),
                    ],
                    shade(BRASS, 0.78),
                )
                pen.ellipse(x, -59 + k * 14, 3, 3, "#f7dc8a")
    pen.arc(-8, -62, 30, 40, (190, 250), 6, "#fff0bb")


def lifebuoy(pen: Pen) -> None:
    """Draw a ring painted red and white: FERRY No. 7."""
    for k in range(8):
        pen.arc(0, -120, 92, 92, (k * 45 - 22, k * 45 + 23), 46, "#cf3b30" if k % 2 else "#f8f5ec")
    pen.arc(0, -120, 116, 116, (0, 360), 4, "#d9c9a0")
    pen.arc(0, -120, 92, 92, (200, 250), 6, "#ffffff")
    pen.text(0, -212, "FERRY", 24, "#1d2733", bold=0.5)
    pen.text(0, -28, "No. 7", 24, "#1d2733", bold=0.5)


def telephone(pen: Pen) -> None:
    """Draw a black telephone."""
    black = "#1b1a1f"
    pen.poly([(-84, 0), (84, 0), (70, -28), (46, -92), (-46, -92), (-70, -28)], black)
    pen.rect(-108, -134, 108, -104, black, 14)
    pen.rect(-112, -134, -66, -86, black, 14)
    pen.rect(66, -134, 112, -86, black, 14)
    pen.line([(-80, -126), (70, -126)], 5, "#5a5862")
    pen.ellipse(0, -48, 38, 34, "#d9d4c4")
    for k in range(10):
        t = math.radians(k * 32 - 60)
        pen.ellipse(26 * math.cos(t), -48 + 23 * math.sin(t), 5, 5, black)
    pen.ellipse(0, -48, 12, 11, "#f3ead0")
    pen.line([(84, -6), (112, -14), (128, -2), (146, -8)], 6, black)


def bun(pen: Pen) -> None:
    """Draw a currant bun with sugar on top."""
    pen.ellipse(0, -4, 84, 12, "#f4efe4")
    pen.ellipse(0, -44, 70, 44, "#c47a34")
    pen.ellipse(-4, -54, 58, 30, "#dd9a4c")
    for x, y in ((-40, -40), (-16, -66), (22, -56), (44, -38), (4, -34), (-30, -22), (30, -22)):
        pen.ellipse(x, y, 7, 6, "#3a2320")
    for k in range(16):
        pen.rect(
            -44 + (k * 37) % 86,
            -84 + (k * 23) % 34,
            -39 + (k * 37) % 86,
            -79 + (k * 23) % 34,
            "#fffdf6",
        )


def wheelchair(pen: Pen) -> None:
    """Miss Farrow's chair, wood and wicker."""
    pen.ellipse(0, 2, 100, 13, "#00000038")
    draw_seat(pen, "farrow")
    pen.rect(-44, -130, 58, -108, "#d9b67a", 8)
    front_wheel(pen)


def drum(pen: Pen) -> None:
    """Draw a bass drum, blue and white, with its stick."""
    pen.ellipse(0, 2, 120, 12, "#00000038")
    pen.rect(-86, -22, 86, 0, "#6a4a2c", 4)
    pen.ellipse(0, -120, 116, 112, "#2450b8")
    pen.arc(0, -120, 112, 108, (0, 360), 10, "#e6c465")
    pen.ellipse(0, -120, 98, 95, "#f6f1e4")
    pen.text(0, -140, "COLDHITHE", 27, "#2450b8", bold=0.8)
    pen.text(0, -104, "SILVER BAND", 22, "#2450b8", bold=0.6)
    pen.line([(70, -40), (130, -160)], 8, "#a8743c")
    pen.ellipse(132, -166, 19, 19, "#efe6d2")


def lantern(pen: Pen) -> None:
    """Draw an oil lantern, lit."""
    pen.glow(0, -70, 150, "#ffb347", 0.55)
    pen.arc(0, -136, 34, 40, (180, 360), 5, "#2a2a2c")
    pen.rect(-38, -20, 38, 0, "#33302e", 5)
    pen.rect(-32, -112, 32, -18, "#ffdf8e", 10)
    pen.ellipse(0, -56, 13, 24, "#fff7d6")
    pen.ellipse(0, -48, 8, 13, "#ff9a2e")
    for x in (-32, 0, 32):
        pen.line([(x, -112), (x, -18)], 4, "#33302e")
    pen.poly([(-40, -110), (40, -110), (20, -138), (-20, -138)], "#33302e")


def kettle(pen: Pen) -> None:
    """Draw a big black kettle, steaming."""
    black = "#25252b"
    for x, y, r in ((112, -150, 16), (126, -184, 22), (112, -226, 28), (132, -272, 34)):
        pen.ellipse(x, y, r, r * 0.9, "#ffffff70")
    pen.poly([(60, -60), (112, -132), (126, -126), (84, -20)], black)
    pen.rect(-84, -118, 84, 0, black, 44)
    pen.rect(-90, -22, 90, 0, shade(black, 1.1), 10)
    pen.ellipse(0, -116, 48, 12, shade(black, 1.2))
    pen.ellipse(0, -132, 9, 9, "#a06a34")
    pen.arc(0, -112, 76, 84, (195, 345), 9, "#3a3a42")
    pen.arc(-20, -66, 46, 36, (190, 250), 6, "#6b6b76")


PROPS: dict[str, Prop] = {
    "van": Prop(draw=van, width=620, height=320, place="floor", held=1.36),
    "dial": Prop(draw=dial, width=300, height=410, place="floor"),
    "ledger": Prop(draw=ledger, width=352, height=196, held=0.42),
    "old-ledger": Prop(draw=old_ledger, width=372, height=200, held=0.4),
    "bylaws": Prop(draw=bylaws, width=300, height=360, place="wall"),
    "coins": Prop(draw=coins, width=200, height=60, held=0.4),
    "euphonium": Prop(draw=euphonium, width=180, height=320, held=0.6),
    "hoarding": Prop(draw=hoarding, width=640, height=400, place="fill"),
    "notice": Prop(draw=notice, width=300, height=190, place="wall"),
    "knothole": Prop(draw=knothole, width=560, height=360, place="fill"),
    "grass": Prop(draw=grass, width=760, height=400, place="fill"),
    "letter": Prop(draw=letter, width=232, height=304, held=0.36),
    "tarpaulin": Prop(draw=tarpaulin, width=480, height=300, place="floor"),
    "bandstand": Prop(draw=bandstand, width=660, height=590, place="floor"),
    "spanner": Prop(draw=spanner, width=340, height=80, held=0.5),
    "photograph": Prop(draw=photograph, width=260, height=200, held=0.5),
    "pineapple": Prop(draw=pineapple, width=96, height=180, held=0.75),
    "lifebuoy": Prop(draw=lifebuoy, width=240, height=236, place="wall", held=0.7),
    "telephone": Prop(draw=telephone, width=240, height=136, held=0.45),
    "bun": Prop(draw=bun, width=170, height=92, held=0.4),
    "wheelchair": Prop(draw=wheelchair, width=240, height=280, place="floor"),
    "drum": Prop(draw=drum, width=270, height=236, place="floor"),
    "lantern": Prop(draw=lantern, width=90, height=176, held=0.6),
    "kettle": Prop(draw=kettle, width=230, height=230, held=0.5),
}
