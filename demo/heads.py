"""Heads: faces that blink and speak, hair, hats and beards; facing right around (0, 0)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pen import Pen, arc_points, shade

if TYPE_CHECKING:
    from people import Look

RX, RY = 45.0, 52.0
INK = "#231a1c"


def draw_head(pen: Pen, look: Look, mouth: int, *, blink: bool) -> None:
    """Draw a whole head: what lies behind, the face, then hair and hat in front."""
    tall = 1.08 if "long" in look.face else 1.0
    wide = 1.12 if look.broad > 1.2 else 1.0
    if look.size < 0.85:  # children: large heads
        pen = pen.at(0, -6, 1.14)
    back_hair(pen, look)
    pen.ellipse(-40 * wide, 4, 10, 15, shade(look.skin, 0.88))
    pen.ellipse(0, 0, RX * wide, RY * tall, look.skin)
    shadow = [
        *arc_points(0, 0, RX * wide, RY * tall, 100, 250, 18),
        *arc_points(8, -2, RX * wide, RY * tall, 250, 100, 18),
    ]
    pen.poly(shadow, shade(look.skin, 0.9))
    blush = 0.5 if "rosy" in look.face else 0.28
    for x in (-12, 34):
        pen.ellipse(x, 17, 11, 8, f"#e0605a{round(blush * 200):02x}")
    face = pen.at(10, 0)
    if "beard" in look.face:
        draw_beard(face, look)
    draw_eyes(face, look, blink=blink)
    draw_mouth(face, look, mouth)
    draw_nose(face, look)
    front_hair(pen, look)
    extras(face, look)


def draw_eyes(pen: Pen, look: Look, *, blink: bool) -> None:
    """Draw dot eyes, or closed lids, and the brows."""
    brow = shade(look.hair, 0.8 if look.hair < "#b" else 0.72)
    for x in (-14, 20):
        if blink:
            pen.arc(x, -6, 8, 5, (15, 165), 3.4, INK)
        else:
            pen.ellipse(x, -5, 8.5, 9.5, "#fffdf8")
            pen.ellipse(x + 2, -4, 5.6, 7, INK)
            pen.ellipse(x + 4, -7, 1.9, 2.2, "#ffffff")
        lift = -20 if "long" not in look.face else -21
        tilt = 1.5 if "long" in look.face else -2
        inner = 1 if x < 0 else -1
        pen.line(
            [(x - 9, lift + tilt * inner * -0.5), (x + 9, lift + tilt * inner * 0.5)],
            4.6 if look.face in ("beard", "moustache", "droop") else 3.6,
            brow,
        )


def draw_nose(pen: Pen, look: Look) -> None:
    """Draw the nose as one darker wedge; large ones on the old and the thin."""
    tone = shade(look.skin, 0.84)
    if "long" in look.face:
        pen.poly([(4, -8), (19, 15), (1, 15)], tone)
    elif look.face in ("beard", "moustache", "droop"):
        pen.ellipse(7, 9, 11, 9, shade(look.skin, 0.8))
    else:
        pen.poly([(6, -2), (14, 12), (3, 12)], tone)


def draw_mouth(pen: Pen, look: Look, mouth: int) -> None:
    """Draw the mouth: 0 closed, 1 half open, 2 open, 3 round."""
    y = 31 if "long" in look.face else 28
    if mouth == 0:
        pen.arc(4, y - 6, 13, 8, (30, 150), 3.6, "#7c352f")
        return
    rx, ry = ((0, 0), (10, 5), (12, 10), (7, 9))[mouth]
    pen.ellipse(4, y, rx, ry, "#6b2029")
    if mouth == 2:
        pen.poly(arc_points(4, y + 3, 8, 6, 0, 180, 8), "#d9686a")
        pen.rect(-4, y - 9, 12, y - 5.5, "#fff8f0")


def draw_beard(pen: Pen, look: Look) -> None:
    """Draw a full beard around the jaw."""
    shape = [
        *arc_points(-8, 4, 54, 62, 0, 180, 20),
        (-56, -14),
        (-38, -10),
        (-30, 14),
        (-8, 14),
        (4, 10),
        (18, 14),
        (36, 12),
        (40, -10),
    ]
    pen.poly(shape, look.hair)
    for k in range(5):
        x = -40 + 16 * k
        pen.arc(x, 40, 8, 14, (60, 150), 3, shade(look.hair, 0.86))


def back_hair(pen: Pen, look: Look) -> None:
    """Draw the hair that lies behind the face."""
    hair = look.hair
    if look.style == "fringe":
        pen.rect(-54, -56, 46, 30, hair, 34)
    elif look.style == "bob":
        pen.rect(-58, -58, 52, 46, shade(hair, 0.82), 38)
    elif look.style == "curls":
        for k in range(11):
            t = math.radians(150 + 24 * k)
            pen.ellipse(50 * math.cos(t) - 2, 46 * math.sin(t) - 8, 20, 20, shade(hair, 0.88))
    elif look.style == "plait":
        pen.ellipse(-6, -8, 52, 54, shade(hair, 0.85))
        for k in range(6):
            pen.ellipse(-46 + 2 * k, 24 + 19 * k, 15 - k, 13, hair if k % 2 else shade(hair, 0.85))
        pen.ellipse(-36, 138, 8, 6, "#2f8f8f")
    elif look.style in ("seacap", "parkcap", "bald"):
        side = shade(hair, 0.92) if look.style != "bald" else hair
        pen.ellipse(-42, 6, 12, 24, side)


def front_hair(pen: Pen, look: Look) -> None:
    """Draw the hair over the forehead, or the hat."""
    styles = {
        "fringe": hair_fringe,
        "tuft": hair_tuft,
        "parted": hair_parted,
        "bob": hair_bob,
        "curls": hair_curls,
        "plait": hair_plait,
        "seacap": hat_cap,
        "parkcap": hat_cap,
        "bald": hair_bald,
    }
    styles[look.style](pen, look)


def hair_fringe(pen: Pen, look: Look) -> None:
    """Short black hair with a straight fringe."""
    cap = [
        *arc_points(-3, -6, 51, 56, 176, 364, 24),
        (44, 0),
        (40, -22),
        (-22, -22),
        (-24, 26),
        (-46, 32),
        (-54, 10),
    ]
    pen.poly(cap, look.hair)
    pen.arc(-4, -10, 36, 38, (215, 275), 5, shade(look.hair, 1.22))


def hair_tuft(pen: Pen, look: Look) -> None:
    """Ginger hair that sticks up."""
    spikes = [
        (-46, 4),
        (-58, -22),
        (-46, -26),
        (-60, -50),
        (-38, -50),
        (-42, -80),
        (-16, -62),
        (-8, -92),
        (10, -62),
        (34, -80),
        (30, -54),
        (54, -56),
        (42, -32),
        (48, -14),
        (36, -26),
        (18, -20),
        (4, -30),
        (-16, -20),
        (-30, -28),
        (-36, -4),
    ]
    pen.poly(spikes, look.hair)
    pen.line([(-24, -42), (-28, -60)], 4, shade(look.hair, 1.25))
    pen.line([(6, -44), (6, -64)], 4, shade(look.hair, 1.25))


def hair_parted(pen: Pen, look: Look) -> None:
    """Flat hair, parted in the middle."""
    left = [*arc_points(-2, -8, 48, 52, 176, 286, 16), (12, -44), (-14, -36), (-34, -18), (-40, 8)]
    right = [*arc_points(-2, -8, 48, 52, 288, 358, 12), (42, 0), (40, -20), (28, -34), (13, -44)]
    pen.poly(left, look.hair)
    pen.poly(right, look.hair)
    pen.line([(12, -58), (13, -44)], 2.6, shade(look.skin, 0.9))
    pen.arc(-8, -12, 34, 38, (205, 255), 4, shade(look.hair, 1.25))


def hair_bob(pen: Pen, look: Look) -> None:
    """Draw a bob with a side sweep."""
    pen.poly(
        [
            *arc_points(-3, -8, 54, 54, 170, 366, 24),
            (52, 34),
            (38, 36),
            (42, -8),
            (30, -32),
            (6, -38),
            (-18, -26),
            (-28, 6),
            (-30, 42),
            (-56, 44),
        ],
        look.hair,
    )
    pen.arc(-6, -12, 38, 40, (205, 270), 5, shade(look.hair, 1.4))


def hair_curls(pen: Pen, look: Look) -> None:
    """Grey curls all round the forehead."""
    for k, (x, y) in enumerate(
        (
            (-46, -14),
            (-42, -36),
            (-24, -50),
            (-2, -56),
            (20, -52),
            (38, -38),
            (46, -18),
            (-12, -38),
            (12, -38),
            (-32, -24),
        )
    ):
        pen.ellipse(x, y, 17, 16, look.hair if k % 2 else shade(look.hair, 1.16))


def hair_plait(pen: Pen, look: Look) -> None:
    """Hair drawn back from a side parting."""
    pen.poly(
        [
            *arc_points(-3, -8, 51, 54, 172, 362, 24),
            (44, -10),
            (34, -32),
            (18, -40),
            (-8, -32),
            (-28, -8),
            (-36, 18),
            (-50, 20),
        ],
        look.hair,
    )
    pen.arc(-6, -12, 36, 38, (200, 262), 4, shade(look.hair, 1.2))


def hair_bald(pen: Pen, look: Look) -> None:
    """Draw a shining crown."""
    pen.ellipse(10, -36, 15, 8, shade(look.skin, 1.45))


def hat_cap(pen: Pen, look: Look) -> None:
    """Draw a peaked cap: the ferryman's navy one or the park-keeper's green one with a badge."""
    cloth = "#1c2b4d" if look.style == "seacap" else "#1f5239"
    pen.poly([(-58, -24), (-62, -52), (-30, -78), (24, -80), (58, -56), (54, -22)], cloth)
    pen.poly([(-58, -38), (54, -36), (52, -18), (-56, -18)], shade(cloth, 0.7))
    pen.poly([(-6, -24), (50, -24), (76, -12), (70, -4), (10, -12)], "#14151a")
    if look.style == "parkcap":
        pen.ellipse(20, -46, 11, 12, "#e3c050")
        pen.ellipse(20, -46, 5, 6, cloth)
    else:
        pen.arc(20, -46, 7, 8, (20, 160), 3, "#d9b64a")
        pen.line([(20, -54), (20, -38)], 3, "#d9b64a")


def extras(pen: Pen, look: Look) -> None:
    """Draw moustaches, spectacles, freckles and Petra's pencil."""
    if look.face == "moustache":
        pen.poly(
            [
                (6, 15),
                (24, 17),
                (42, 12),
                (34, 27),
                (16, 28),
                (6, 22),
                (-6, 28),
                (-22, 27),
                (-32, 12),
                (-12, 17),
            ],
            look.hair,
        )
    elif look.face == "droop":
        pen.poly(
            [
                (6, 14),
                (24, 18),
                (34, 34),
                (32, 56),
                (22, 36),
                (6, 24),
                (-10, 36),
                (-22, 56),
                (-24, 34),
                (-12, 18),
            ],
            look.hair,
        )
    elif look.face == "spectacles":
        for x in (-14, 21):
            pen.arc(x, -5, 15, 15, (0, 360), 3, "#6a4a2c")
        pen.line([(1, -7), (6, -7)], 3, "#6a4a2c")
        pen.line([(-29, -7), (-46, -2)], 3, "#6a4a2c")
    elif look.face == "freckles":
        for x, y in ((-16, 14), (-8, 18), (-22, 20), (24, 14), (30, 18), (20, 20)):
            pen.ellipse(x, y, 2.4, 2.4, "#c9733f")
    elif look.face == "pencil":
        pen.line([(-68, -2), (-34, -20)], 7, "#d6452f")
        pen.poly([(-36, -24), (-32, -16), (-22, -26)], "#f1d9ac")
