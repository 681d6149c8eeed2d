"""The cast: bodies, clothes and poses; everyone is drawn facing right, feet at (0, 0)."""

from __future__ import annotations

from dataclasses import dataclass

from heads import draw_head
from pen import Pen, Point, shade

HIP, SHOULDER, HEAD = -190.0, -322.0, -388.0
SEAT = 88.0
"""How much lower the trunk of a sitting person is."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """How one of the cast looks; the outline says what, this says it in shapes."""

    size: float = 1.0
    broad: float = 1.0
    skin: str = "#eec3a0"
    hair: str = "#1d1a1c"
    style: str = "parted"
    face: str = ""
    """Extra features of the face: beard, moustache, droop, spectacles, pencil, freckles."""
    clothes: str = "jersey"
    coat: str = "#555b66"
    under: str = "#ffffff"
    legs: str = "#4a3a30"
    shoes: str = "#2a2320"


@dataclass(frozen=True, kw_only=True)
class Act:
    """What a person does in one drawing."""

    pose: str = "stand"
    mouth: int = 0
    blink: bool = False
    gesture: bool = False
    step: int = 0
    """Phase of the walk, 0 to 3."""


CAST: dict[str, Look] = {
    "petra": Look(
        style="fringe",
        face="pencil",
        clothes="raincoat",
        coat="#e0a526",
        under="#3f7d4e",
        legs="#6b4a34",
        broad=0.9,
        skin="#f0c8a8",
    ),
    "petra-june": Look(
        style="fringe",
        face="pencil",
        clothes="jersey",
        coat="#3f7d4e",
        under="#37704a",
        legs="#6b4a34",
        broad=0.9,
        skin="#f0c8a8",
    ),
    "tolly": Look(
        size=0.74,
        broad=0.95,
        style="tuft",
        hair="#d9692a",
        face="freckles",
        clothes="stripes",
        coat="#f4efe6",
        under="#c8372f",
        legs="#f3c8a6",
        shoes="#4b3526",
        skin="#f6cfae",
    ),
    "hobday": Look(
        broad=1.28,
        size=0.99,
        style="seacap",
        hair="#f1efe8",
        face="beard",
        clothes="jersey",
        coat="#22345c",
        under="#1a2848",
        legs="#20242e",
        shoes="#15161a",
        skin="#dfa583",
    ),
    "ruben": Look(
        broad=1.62,
        size=1.07,
        style="bald",
        hair="#1b1718",
        face="moustache",
        clothes="apron",
        coat="#eba0a8",
        under="#fbf7ee",
        legs="#5a5a66",
        skin="#f0bd9c",
    ),
    "sprake": Look(
        size=1.1,
        broad=0.86,
        style="parted",
        hair="#17161b",
        clothes="suit",
        coat="#83888f",
        under="#c22d2d",
        legs="#767b82",
        skin="#efd3bd",
        face="long",
    ),
    "farrow": Look(
        size=0.92,
        broad=0.86,
        style="bob",
        hair="#cdd1d8",
        face="spectacles",
        clothes="bedjacket",
        coat="#7d4a98",
        under="#e6d6ee",
        legs="#4c3a5c",
        skin="#f2cfb8",
    ),
    "thrupp": Look(
        size=0.93,
        broad=1.5,
        style="curls",
        hair="#a4a4a9",
        face="rosy",
        clothes="dress",
        coat="#e57b2c",
        under="#fffaf0",
        legs="#c99a80",
        shoes="#5a3020",
        skin="#f3c5a5",
    ),
    "roe": Look(
        size=1.0,
        broad=0.94,
        style="plait",
        hair="#6b4128",
        clothes="labcoat",
        coat="#f7f7f4",
        under="#2f8f8f",
        legs="#c48d6c",
        shoes="#4a3a36",
        skin="#c68f6b",
    ),
    "lusty": Look(
        size=0.96,
        broad=1.06,
        style="parkcap",
        hair="#f2f1ec",
        face="droop",
        clothes="uniform",
        coat="#22573e",
        under="#d9b64a",
        legs="#1d4934",
        skin="#e8b595",
    ),
    "boy-sprake": Look(
        size=0.78,
        broad=0.8,
        style="parted",
        hair="#17161b",
        clothes="blazer",
        coat="#7c8189",
        under="#c22d2d",
        legs="#efd3bd",
        skin="#f1d8c4",
        face="long",
    ),
}
PLAYERS = (
    Look(clothes="band", coat="#2450b8", style="bob", hair="#7c4a26", legs="#22284a"),
    Look(
        clothes="band",
        coat="#2450b8",
        style="parted",
        hair="#30231c",
        skin="#a9714d",
        legs="#22284a",
        size=1.06,
        broad=1.1,
    ),
    Look(
        clothes="band",
        coat="#2450b8",
        style="bald",
        hair="#777777",
        face="moustache",
        legs="#22284a",
        broad=1.25,
    ),
    Look(clothes="band", coat="#2450b8", style="plait", hair="#e0b040", legs="#22284a", size=0.96),
)
BARE_LEGS = ("tolly", "boy-sprake")


def draw_person(pen: Pen, slug: str, act: Act) -> None:
    """Draw one of the cast in a pose."""
    look = CAST[slug]
    local = pen.at(0, 0, look.size)
    if act.pose == "lie":
        draw_lying(local, look, act)
        return
    if act.pose != "bed":
        local.ellipse(0, 2, 78 * look.broad**0.5, 13, "#00000038")
    if act.pose == "sit":
        draw_seat(local, slug)
    drop = SEAT if act.pose == "sit" else 0.0
    if act.pose != "bed":
        draw_legs(local, look, act, bare=slug in BARE_LEGS)
    trunk = local.at(0, drop)
    if act.pose == "bend":
        trunk = local.at(0, HIP, turn=32).at(0, -HIP)
    draw_trunk(trunk, look, act)
    if act.pose == "sit" and slug == "farrow":
        front_wheel(local)


def draw_trunk(pen: Pen, look: Look, act: Act) -> None:
    """Draw everything above the hips: far arm, clothes, head, near arm."""
    far, near = arm_paths(look, act)
    draw_arm(pen, look, far, 0.82)
    draw_clothes(pen, look, act)
    pen.rect(-15, SHOULDER - 26, 17, SHOULDER + 3, shade(look.skin, 0.86), 6)
    draw_collar(pen, look)
    draw_head(pen.at(4, HEAD), look, act.mouth, blink=act.blink)
    draw_arm(pen, look, near, 1.0)
    if act.pose == "call":
        pen.line([(-40, HEAD - 20), (-46, HEAD + 10), (-20, HEAD + 46)], 15, "#1b1a1f")
        pen.ellipse(-36, HEAD - 18, 17, 13, "#1b1a1f")
        pen.ellipse(-12, HEAD + 46, 17, 12, "#1b1a1f")


def arm_paths(look: Look, act: Act) -> tuple[list[Point], list[Point]]:
    """Return shoulder, elbow and hand of the far and the near arm."""
    wide = 56 * look.broad
    far_top, near_top = (wide - 8, SHOULDER + 22), (-wide + 4, SHOULDER + 22)
    reach = wide * 0.62
    if act.pose == "point":
        return (
            [far_top, (wide + 52, SHOULDER + 22), (wide + 116, SHOULDER - 2)],
            [near_top, (-wide - 14, -240), (-wide, -180)],
        )
    if act.pose == "call":
        return (
            [far_top, (wide + 14, -246), (wide * 0.6, -214)],
            [near_top, (-wide - 34, -296), (-52, HEAD + 22)],
        )
    if act.pose in ("hold", "bend"):
        return (
            [far_top, (wide + 20, -248), (reach, -232)],
            [near_top, (-wide - 12, -240), (-reach * 0.4, -214)],
        )
    if act.pose == "walk":
        swing = (26, 0, -26, 0)[act.step % 4]
        return (
            [far_top, (wide + swing, -252), (wide + 14 + swing * 1.6, -190)],
            [near_top, (-wide - swing, -252), (-wide + 8 - swing * 1.6, -190)],
        )
    if act.pose in ("sit", "bed"):
        rest = [near_top, (-wide - 6, -244), (-reach * 0.3, -204)]
        far_hand = (wide + 44, -262) if act.gesture else (reach + 6, -206)
        return [far_top, (wide + 14, -238), far_hand], rest
    far = [far_top, (wide + 10, -246), (wide + 6, -180)]
    if act.gesture:
        far = [far_top, (wide + 26, -250), (wide + 58, -292)]
    return far, [near_top, (-wide - 10, -246), (-wide - 4, -180)]


def draw_arm(pen: Pen, look: Look, path: list[Point], light: float) -> None:
    """Draw a sleeve and a hand."""
    sleeve = look.coat
    if look.clothes == "apron":
        sleeve = shade(look.coat, 1.05)
    width = 26 + 6 * look.broad
    cuff = (
        path[1][0] + (path[2][0] - path[1][0]) * 0.82,
        path[1][1] + (path[2][1] - path[1][1]) * 0.82,
    )
    tone = shade(sleeve, light * 0.93)
    pen.line([path[0], path[1], cuff], width, tone)
    if look.clothes == "stripes":
        for share in (0.25, 0.6, 0.95):
            x = path[0][0] + (path[1][0] - path[0][0]) * share
            y = path[0][1] + (path[1][1] - path[0][1]) * share
            pen.rect(x - width / 2, y - 6, x + width / 2, y + 6, shade(look.under, light))
    wrist = (path[2][0] * 0.6 + cuff[0] * 0.4, path[2][1] * 0.6 + cuff[1] * 0.4)
    if look.clothes in ("suit", "blazer"):
        pen.ellipse(*wrist, width * 0.44, width * 0.44, "#f4f4f0")
    pen.ellipse(
        path[2][0] * 1.05 - wrist[0] * 0.05,
        path[2][1] + 2,
        14.5,
        14.5,
        shade(look.skin, max(light, 0.92)),
    )


def draw_legs(pen: Pen, look: Look, act: Act, *, bare: bool) -> None:
    """Draw legs and shoes for the pose; bare legs get shorts."""
    gap, width = 24 * look.broad**0.6, 30 + 8 * look.broad
    if act.pose == "sit":
        paths = [
            [(gap - 6, HIP + SEAT), (gap + 62, HIP + SEAT + 4), (gap + 60, -14)],
            [(-gap + 4, HIP + SEAT), (gap + 34, HIP + SEAT + 8), (gap + 26, -10)],
        ]
    elif act.pose == "walk":
        spread = (40, 8, -40, 8)[act.step % 4]
        paths = [
            [(8, HIP), (spread * 0.7 + 8, -100), (spread, -14)],
            [(-8, HIP), (-spread * 0.7, -100), (-spread, -12)],
        ]
    else:
        paths = [
            [(gap, HIP), (gap + 2, -100), (gap, -14)],
            [(-gap, HIP), (-gap, -100), (-gap - 2, -12)],
        ]
    for tone, path in zip((0.82, 1.0), paths, strict=True):
        slim = 0.62 if bare or look.clothes == "dress" or look.style == "plait" else 1.0
        pen.line(path, width * slim, shade(look.legs, tone))
        if bare:
            knee = path[1]
            shorts = "#33589c" if look.clothes == "stripes" else shade(look.coat, 0.85)
            pen.line([path[0], (knee[0], knee[1] - 22)], width * 1.05, shade(shorts, tone))
        foot = path[2]
        boot = 46 if look.clothes in ("jersey", "stripes") else 14
        pen.rect(
            foot[0] - 17,
            foot[1] - boot,
            foot[0] + 17,
            foot[1] + 12,
            shade(look.shoes, 1.08 if tone < 1 else 1.0),
            7,
        )
        pen.ellipse(foot[0] + 14, foot[1] + 3, 27, 12, look.shoes)


def trunk_shape(look: Look, hem: float, flare: float) -> list[Point]:
    """Return the outline from the shoulders to a hem, with sloping shoulders."""
    top, belly = 58 * look.broad, 50 * look.broad * (1.12 if look.broad > 1.2 else 1.0)
    return [
        (-20, SHOULDER - 10),
        (22, SHOULDER - 10),
        (top - 8, SHOULDER + 6),
        (top, SHOULDER + 26),
        (belly, HIP - 40),
        (belly + flare, hem),
        (-belly - flare, hem),
        (-belly, HIP - 40),
        (-top, SHOULDER + 26),
        (-top + 8, SHOULDER + 6),
    ]


def draw_clothes(pen: Pen, look: Look, act: Act) -> None:
    """Draw the garment on the trunk."""
    low = act.pose in ("sit", "bed")
    hems = {
        "raincoat": (-92.0, 22.0),
        "labcoat": (-96.0, 14.0),
        "dress": (-84.0, 20.0),
        "uniform": (-136.0, 8.0),
        "suit": (-150.0, 4.0),
        "blazer": (-160.0, 4.0),
    }
    hem, flare = hems.get(look.clothes, (HIP + 12, 0.0))
    if low:
        hem, flare = max(HIP + 16, -176.0), min(flare, 6.0)
    outline = trunk_shape(look, hem, flare)
    pen.poly(outline, look.coat)
    half = [(x, y) for x, y in outline if x < 0]
    pen.poly(
        [*half, (-8 * look.broad, SHOULDER - 10), (-26 * look.broad, hem)][::1],
        shade(look.coat, 0.93),
    )
    details = {
        "raincoat": open_coat,
        "labcoat": open_coat,
        "suit": open_suit,
        "blazer": open_suit,
        "apron": draw_apron,
        "stripes": draw_stripes,
        "uniform": draw_buttons,
        "band": draw_buttons,
    }
    if look.clothes in details:
        details[look.clothes](pen, look, hem)
    if look.clothes == "jersey":
        pen.line([(-44 * look.broad, HIP + 8), (46 * look.broad, HIP + 8)], 12, look.under)


def open_coat(pen: Pen, look: Look, hem: float) -> None:
    """Show the jumper or dress in the opening of a long coat; pockets and lapels."""
    pen.poly([(-4, SHOULDER - 8), (26, SHOULDER - 8), (30, hem), (-2, hem)], look.under)
    dark = shade(look.coat, 0.8)
    pen.poly(
        [(-20, SHOULDER - 10), (-4, SHOULDER - 8), (2, SHOULDER + 56), (-22, SHOULDER + 22)], dark
    )
    pen.poly(
        [(26, SHOULDER - 8), (36, SHOULDER - 4), (40, SHOULDER + 24), (26, SHOULDER + 56)], dark
    )
    pen.rect(-44 * look.broad, HIP - 8, -14, HIP + 4, dark, 3)


def open_suit(pen: Pen, look: Look, hem: float) -> None:
    """Draw shirt, tie, lapels and buttons."""
    pen.poly([(-12, SHOULDER - 10), (28, SHOULDER - 10), (12, SHOULDER + 76)], "#f4f4f0")
    pen.poly(
        [
            (4, SHOULDER - 2),
            (16, SHOULDER - 2),
            (19, SHOULDER + 48),
            (11, SHOULDER + 68),
            (3, SHOULDER + 48),
        ],
        look.under,
    )
    dark = shade(look.coat, 0.78)
    pen.poly(
        [(-22, SHOULDER - 10), (-12, SHOULDER - 10), (12, SHOULDER + 80), (-28, SHOULDER + 36)],
        dark,
    )
    pen.poly(
        [(28, SHOULDER - 10), (36, SHOULDER - 6), (40, SHOULDER + 36), (12, SHOULDER + 80)], dark
    )
    for y in (SHOULDER + 92, SHOULDER + 116):
        pen.ellipse(10, y, 4, 4, shade(look.coat, 0.5))
    pen.line([(12, SHOULDER + 80), (14, hem)], 3, dark)


def draw_apron(pen: Pen, look: Look, hem: float) -> None:
    """Draw a white apron with its bib and strings."""
    wide = 38 * look.broad
    pen.line([(-wide * 0.7, SHOULDER + 4), (-wide * 0.5, SHOULDER + 48)], 8, look.under)
    pen.line([(wide * 0.8, SHOULDER + 4), (wide * 0.6, SHOULDER + 48)], 8, look.under)
    pen.poly(
        [
            (-wide * 0.62, SHOULDER + 40),
            (wide * 0.72, SHOULDER + 40),
            (wide * 1.05, HIP - 34),
            (wide * 1.3, hem + 84),
            (-wide * 1.1, hem + 84),
            (-wide, HIP - 34),
        ],
        look.under,
    )
    pen.line([(-wide * 1.3, HIP - 32), (wide * 1.36, HIP - 32)], 7, shade(look.under, 0.86))
    for x, y in ((-20, -250), (26, -226), (-4, -150), (36, -170)):
        pen.ellipse(x, y, 9, 5, shade(look.under, 0.9))


def draw_stripes(pen: Pen, look: Look, hem: float) -> None:
    """Draw the bars of a striped jersey."""
    for k in range(5):
        y = SHOULDER + 12 + k * 27
        half = 56 * look.broad if k else 50 * look.broad
        half -= 2.0 * k
        pen.poly([(-half, y), (half, y), (half - 1, y + 13), (-half + 1, y + 13)], look.under)


def draw_buttons(pen: Pen, look: Look, hem: float) -> None:
    """Draw a uniform's placket, buttons and belt or braid."""
    pen.line([(16, SHOULDER), (18, hem)], 3, shade(look.coat, 0.7))
    gold = "#e3c050"
    for k in range(4):
        pen.ellipse(24, SHOULDER + 26 + k * 32, 5, 5, gold)
    if look.clothes == "uniform":
        pen.rect(-50 * look.broad, HIP - 34, 52 * look.broad, HIP - 18, "#1a1a18")
        pen.rect(12, HIP - 36, 34, HIP - 16, gold, 3)
    else:
        pen.line([(-52 * look.broad, SHOULDER + 16), (-26, SHOULDER + 6)], 7, gold)
        pen.line([(34, SHOULDER + 4), (54 * look.broad, SHOULDER + 16)], 7, gold)


def draw_collar(pen: Pen, look: Look) -> None:
    """Draw what closes the neck."""
    if look.clothes in ("jersey", "raincoat", "stripes"):
        tone = {"jersey": look.under, "raincoat": look.under}.get(look.clothes, look.coat)
        pen.rect(-20, SHOULDER - 16, 24, SHOULDER + 4, shade(tone, 0.9), 8)
    elif look.clothes in ("dress", "bedjacket"):
        pen.ellipse(-10, SHOULDER + 2, 24, 13, look.under)
        pen.ellipse(26, SHOULDER + 2, 20, 13, look.under)
        if look.clothes == "bedjacket":
            pen.line([(10, SHOULDER + 6), (4, SHOULDER + 34)], 5, look.under)
            pen.line([(10, SHOULDER + 6), (24, SHOULDER + 32)], 5, look.under)
    elif look.clothes in ("uniform", "band"):
        pen.rect(-20, SHOULDER - 16, 26, SHOULDER + 2, shade(look.coat, 0.78), 5)
    elif look.clothes == "apron":
        pen.poly(
            [(-20, SHOULDER - 8), (6, SHOULDER - 8), (-2, SHOULDER + 18)], shade(look.coat, 1.3)
        )
        pen.poly(
            [(34, SHOULDER - 8), (6, SHOULDER - 8), (16, SHOULDER + 18)], shade(look.coat, 1.3)
        )


def draw_seat(pen: Pen, slug: str) -> None:
    """Draw what a sitting person sits on: wheelchair, folding chair or plain chair."""
    if slug == "farrow":
        pen.rect(-62, -270, -44, -60, "#8a5a30", 6)
        pen.rect(-56, -262, -20, -110, "#d9b67a", 6)
        pen.rect(-60, -108, 66, -88, "#8a5a30", 6)
        pen.line([(70, -96), (84, -20), (112, -14)], 8, "#5a3a22")
        return
    wood = "#2f5d46" if slug == "lusty" else "#7a4a2a"
    pen.rect(-64, -238, -50, 0, shade(wood, 0.85), 5)
    pen.rect(-64, -238, -50, -130, wood, 5)
    pen.rect(-62, -106, 52, -90, wood, 5)
    if slug == "lusty":
        pen.line([(-56, -98), (44, 0)], 9, wood)
        pen.line([(48, -98), (-56, 0)], 9, shade(wood, 0.8))
    else:
        pen.rect(38, -96, 50, 0, shade(wood, 0.8), 4)


def front_wheel(pen: Pen) -> None:
    """Draw the wheel and arm-rest of the wheelchair in front of its rider."""
    pen.arc(-8, -62, 62, 62, (0, 360), 9, "#3c2a1e")
    for turn in range(0, 180, 30):
        pen.at(-8, -62, turn=turn).line([(-58, 0), (58, 0)], 2.5, "#7a6248")
    pen.ellipse(-8, -62, 9, 9, "#c9a04a")
    pen.line([(-50, -160), (50, -160), (56, -100)], 9, "#8a5a30")
    pen.arc(100, -18, 18, 18, (0, 360), 6, "#3c2a1e")


def draw_lying(pen: Pen, look: Look, act: Act) -> None:
    """Draw someone in bed, head on a pillow to the left, looking up."""
    pen.rect(-300, -150, 330, -20, "#efe6d2", 16)
    pen.rect(-310, -260, -290, 0, "#6b4224", 6)
    pen.rect(-286, -206, -120, -140, "#ffffff", 28)
    flat = pen.at(190, -190, turn=-90)
    draw_trunk(flat, look, Act(pose="stand", mouth=act.mouth, blink=act.blink))
    pen.rect(-70, -262, 330, -60, "#c46a4a", 40)
    pen.rect(-78, -262, -20, -62, "#fbf3e2", 24)


def draw_band(pen: Pen, mouth: int, *, playing: bool) -> None:
    """Draw four players of the Silver Band, instruments up when playing."""
    for k, look in enumerate(PLAYERS):
        place = pen.at(-255 + 170 * k, (-22, 0, -22, 0)[k])
        local = place.at(0, 0, look.size, flip=k >= 2)
        local.ellipse(0, 2, 78, 13, "#00000038")
        act = Act(pose="hold", mouth=0 if playing else mouth, blink=False)
        draw_legs(local, look, act, bare=False)
        draw_trunk(local, look, act)
        draw_brass(local, k, raised=playing)


def draw_brass(pen: Pen, kind: int, *, raised: bool) -> None:
    """Draw a silver horn in the hands: cornet, trombone, tuba or cornet."""
    silver, dark = "#e3e6ea", "#9aa2ad"
    lift = -118 if raised else 0
    horn = pen.at(24, -238 + lift)
    if kind == 2:
        horn = pen.at(10, -250)
        horn.rect(-34, -60, 40, 70, silver, 30)
        horn.poly([(-20, -50), (36, -50), (84, -150), (-30, -150)], silver)
        horn.ellipse(26, -150, 60, 20, dark)
        horn.arc(4, 20, 22, 34, (0, 360), 6, dark)
        return
    length = 150 if kind == 1 else 84
    horn.line([(0, 0), (length, 6)], 10, silver)
    horn.poly([(length - 20, 0), (length + 34, -34), (length + 34, 44), (length - 20, 12)], silver)
    horn.ellipse(length + 34, 5, 10, 40, dark)
    horn.arc(length * 0.45, 16, length * 0.26, 16, (0, 360), 6, dark)
    for k in range(3):
        horn.rect(26 + k * 12, -18, 33 + k * 12, 4, dark, 2)
