"""Stages a shot: who stands where, how the camera frames them, from which side and how it moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pen import WORLD_W, Box
from people import CAST
from props import PROPS
from settings import BACKDROPS, SETTINGS

FRAME_W, FRAME_H = 426, 240
ASPECT = FRAME_H / FRAME_W
FULL_W = 1596.0
POSES = ("stand", "sit", "walk", "point", "hold", "bend", "lie")
ROOM = {"point": 1.5, "walk": 1.2, "hold": 1.15, "sit": 1.25, "bend": 2.1, "lie": 2.6}
"""How much more room a pose takes than standing."""
SIZES = ("wide", "medium", "close", "insert", "title")
DARK = ("maltings", "phone-box")
LOOK_RIGHT = ("petra", "petra-june", "farrow", "boy-sprake", "van")
"""Who looks right when alone in the picture, so that people seem to face each other."""
MOTIONS = ("still", "pan-left", "pan-right", "push-in", "pull-out")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A cast or prop slug of a picture, with the pose of a person."""

    slug: str
    pose: str = ""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture cell of the screenplay, understood."""

    setting: str
    size: str
    items: tuple[Item, ...]
    motion: str


@dataclass(frozen=True, kw_only=True)
class View:
    """Where the camera stands: which side, mirrored or not, in what light, how near."""

    back: bool = False
    mirror: bool = False
    light: str = "plain"
    near: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A person or prop put in its place on the stage."""

    slug: str
    x: float
    y: float
    pose: str = ""
    flip: bool = False
    holds: str = ""
    layer: str = "people"
    """behind, people or front; shown and backdrop for what the scenery has already."""
    width: float = 180.0
    tall: float = 440.0
    stool: bool = False


def parse_picture(cell: str) -> Picture:
    """Understand `SETTING | SIZE | who and what | motion`.

    Raises:
        ValueError: naming what is not in the outline.
    """
    setting, size, things, motion = (part.strip() for part in cell.split("|"))
    items = []
    for thing in filter(None, (t.strip() for t in things.split(","))):
        slug, _, pose = thing.partition(":")
        if slug not in CAST and slug not in PROPS and slug != "band":
            raise ValueError(f"nobody and nothing called {slug!r}")
        if pose and pose not in POSES:
            raise ValueError(f"no pose called {pose!r}")
        items.append(Item(slug=slug, pose=pose))
    for value, known in ((setting, SETTINGS), (size, SIZES), (motion, MOTIONS)):
        if value not in known:
            raise ValueError(f"unknown word {value!r}")
    has_prop = any(item.slug in PROPS for item in items)
    has_cast = any(item.slug not in PROPS for item in items)
    if size == "insert" and not has_prop:
        size = "close" if has_cast else "wide"
    if size == "close" and not has_cast:
        size = "insert" if has_prop else "wide"
    return Picture(setting=setting, size=size, items=tuple(items), motion=motion)


LAP = ("bun", "ledger", "old-ledger", "letter", "photograph", "pineapple", "coins")
"""What a sitting person keeps in the hands where there is no table."""


def lay_out(picture: Picture, view: View) -> list[Figure]:
    """Put the items of a picture on the stage, left to right."""
    loose: list[Figure] = []
    slugs = [item.slug for item in picture.items]
    for item in picture.items:
        prop = PROPS.get(item.slug)
        if drives(item, picture.setting):
            if "van" not in slugs:
                loose.append(replace(place_prop(Item(slug="van"), picture, view), holds="ruben"))
        elif prop is None:
            loose.append(place_person(item, picture, view))
        elif item.slug == "van":
            driver = any(drives(other, picture.setting) for other in picture.items)
            loose.append(replace(place_prop(item, picture, view), holds="ruben" if driver else ""))
        elif (holder := holder_of(item.slug, loose, picture, view)) is not None:
            loose[holder] = replace(loose[holder], holds=item.slug)
        elif not (
            prop.place == "fill"
            or (item.slug == "wheelchair" and "farrow" in slugs)
            or (item.slug == "telephone" and picture.setting == "phone-box")
        ):
            loose.append(place_prop(item, picture, view))
    spread_out(loose, picture, view)
    return [turn_inwards(figure, loose) for figure in loose]


def drives(item: Item, setting: str) -> bool:
    """Whether the baker sits at the wheel: out of doors he sits nowhere else."""
    return item.slug == "ruben" and item.pose == "sit" and setting.startswith("ferry")


def holder_of(prop: str, figures: Sequence[Figure], picture: Picture, view: View) -> int | None:
    """Return who, listed just before a prop, has it in the hands; scenery between is no matter."""
    if PROPS[prop].place != "hand" and prop != "lifebuoy":
        return None
    real = [k for k, f in enumerate(figures) if f.layer not in ("shown", "backdrop")]
    if not real or figures[real[-1]].holds or figures[real[-1]].slug in PROPS:
        return None
    pose = figures[real[-1]].pose
    table = SETTINGS[picture.setting].table is not None and not view.back
    takes = prop in LAP and not table if pose == "sit" else pose in ("hold", "bend", "walk")
    return real[-1] if takes else None


def replace(figure: Figure, **changes: object) -> Figure:
    """Return the figure with some fields changed."""
    return Figure(**{**figure.__dict__, **changes})  # type: ignore[arg-type]


def place_person(item: Item, picture: Picture, view: View) -> Figure:
    """Return a person on the floor, or in the bed or box that is theirs."""
    setting = SETTINGS[picture.setting]
    if item.slug == "band":
        return Figure(slug="band", x=-1, y=setting.floor - 40, pose=item.pose, width=720, tall=470)
    look = CAST[item.slug]
    pose, x = item.pose or "stand", -1.0
    if ("telephone" in {other.slug for other in picture.items} and pose == "hold") or (
        picture.setting == "phone-box" and pose in ("hold", "stand")
    ):
        pose = "call"
    if item.slug in setting.place and pose != "walk" and (not view.back or setting.both):
        x = setting.place[item.slug]
        x = WORLD_W - x if view.mirror else x
        if picture.setting == "hospital-ward":
            pose = "bed"
    if item.slug == "farrow" and pose in ("stand", "walk") and picture.setting != "hospital-ward":
        pose = "sit"  # she cannot walk; the chair comes with her
    tall = 440 * look.size * {"sit": 0.8, "bend": 0.93}.get(pose, 1.0)
    width = 150 * max(look.broad, 0.9) * look.size
    width *= ROOM.get(pose, 1.0)
    return Figure(slug=item.slug, x=x, y=setting.floor, pose=pose, width=width, tall=tall)


def place_prop(item: Item, picture: Picture, view: View) -> Figure:
    """Return a prop on the floor, on the wall, on the table or on a stool."""
    setting, prop = SETTINGS[picture.setting], PROPS[item.slug]
    if item.slug in setting.has and not view.back:
        x = setting.has[item.slug]
        layer = "backdrop" if item.slug in BACKDROPS else "shown"
        return Figure(
            slug=item.slug,
            x=WORLD_W - x if view.mirror else x,
            y=700,
            layer=layer,
            width=prop.width * 0.8,
            tall=prop.height,
        )
    if prop.place == "floor":
        far = 90 if item.slug in ("van", "bandstand", "tarpaulin") else 10
        return Figure(
            slug=item.slug,
            x=-1,
            y=setting.floor - far,
            layer="behind",
            width=prop.width * prop.held * 0.8,
            tall=prop.height * prop.held,
        )
    if prop.place == "wall":
        return Figure(
            slug=item.slug, x=-1, y=560, layer="behind", width=prop.width, tall=prop.height
        )
    on_table = setting.table is not None and not view.back
    y = setting.table + 10 if on_table and setting.table else setting.floor - 130
    return Figure(
        slug=item.slug,
        x=-1,
        y=y,
        layer="front",
        width=prop.width * prop.held + 40,
        tall=prop.height * prop.held,
        stool=not on_table,
    )


def spread_out(figures: list[Figure], picture: Picture, view: View) -> None:
    """Give every figure without a place its x, evenly around the middle of the free room."""
    low, high = free_room(picture, view)
    free = [k for k, f in enumerate(figures) if f.x < 0]
    gap = 70.0 if picture.size == "wide" else 46.0
    total = sum(figures[k].width + gap for k in free)
    squeeze = min(1.0, (high - low) / total) if total else 1.0
    middle = stage_middle(picture, figures, (low + high) / 2)
    cursor = max(low, middle - total * squeeze / 2)
    for k in free:
        step = (figures[k].width + gap) * squeeze
        figures[k] = replace(figures[k], x=cursor + step / 2)
        cursor += step


def free_room(picture: Picture, view: View) -> tuple[float, float]:
    """Return between which x people may stand; in the ward, beside or behind the bed."""
    middle = SETTINGS[picture.setting].middle
    low, high = middle - 650, middle + 650
    if picture.setting == "hospital-ward":
        low, high = (960.0, 1500.0) if picture.size == "wide" else (560.0, 1000.0)
    elif picture.setting == "phone-box" and not view.back:
        low, high = 330.0, 680.0
    return (WORLD_W - high, WORLD_W - low) if view.mirror else (max(low, 60.0), min(high, 1540.0))


def stage_middle(picture: Picture, figures: Sequence[Figure], middle: float) -> float:
    """Stand beside a thing that the setting itself shows, so that both are in the picture."""
    shown = [f.x for f in figures if f.layer == "shown"]
    if not shown or picture.size == "wide":
        return middle
    return shown[0] + (300 if shown[0] < 800 else -300)


def turn_inwards(figure: Figure, figures: Sequence[Figure]) -> Figure:
    """Make a person look at the others; alone, Petra looks right and everyone else left."""
    others = [f.x for f in figures if f is not figure]
    if figure.pose == "bed":
        return replace(figure, flip=figure.x > WORLD_W / 2)
    if figure.slug == "band" or (figure.slug in PROPS and figure.slug != "van"):
        return figure
    if not others:
        return replace(figure, flip=figure.slug not in LOOK_RIGHT)
    return replace(figure, flip=figure.x > sum(others) / len(others))


DRIVER = (192.0, -196.0)
"""Where the driver's head is in the van's own units."""


def head_of(figure: Figure) -> tuple[float, float]:
    """Return the middle of a person's head."""
    if figure.slug == "band":
        return figure.x, figure.y - 400
    if figure.slug == "van":
        return figure.x + (-1 if figure.flip else 1) * DRIVER[0] * 1.36, figure.y + DRIVER[1] * 1.36
    size = CAST[figure.slug].size
    side = -1 if figure.flip else 1
    rise = {"sit": 300, "bend": 356, "lie": 194}.get(figure.pose, 388)
    lean = {"bend": 108, "bed": -30, "lie": -150}.get(figure.pose, 4)
    return figure.x + side * lean * size, figure.y - rise * size


def frame_shot(
    picture: Picture, figures: Sequence[Figure], speakers: Sequence[str], view: View
) -> tuple[Box, Box]:
    """Return the camera's rectangle at the beginning and at the end of the shot."""
    people = [f for f in figures if f.slug not in PROPS or f.holds == "ruben"]
    if picture.size in ("insert", "title"):
        box = around(800, 450, 1500 * view.near)
    elif picture.size == "close" and people:
        lead = [f for f in people if {f.slug, f.holds} & set(speakers)] or people[:2]
        box = frame_heads(lead, view)
    elif picture.size == "medium" and figures:
        box = frame_group(figures, view)
    else:
        centre = sum(f.x for f in figures) / len(figures) if figures else 800.0
        box = around(
            centre if view.near < 1 else 800, 520 if view.near < 1 else 450, FULL_W * view.near
        )
    return move_camera(box, picture.motion)


def frame_heads(lead: Sequence[Figure], view: View) -> Box:
    """Frame head and shoulders of those who speak."""
    heads = [head_of(f) for f in lead]
    left, right = min(h[0] for h in heads), max(h[0] for h in heads)
    size = max(CAST[f.slug].size if f.slug in CAST else 1.0 for f in lead)
    look = 0.0 if len(lead) > 1 else (-24.0 if lead[0].flip else 24.0)
    top, bottom = min(h[1] for h in heads), max(h[1] for h in heads)
    wide = max(352 * size, right - left + 250, (bottom - top + 190) / ASPECT) * view.near
    middle_y = (top + bottom) / 2 + 24
    return around((left + right) / 2 + look, middle_y, wide)


def frame_group(figures: Sequence[Figure], view: View) -> Box:
    """Frame a group from the heads down to about the waist."""
    people = [f for f in figures if f.slug not in PROPS or f.holds]
    chosen = [f for f in figures if f.layer != "backdrop"] or list(figures)
    centres = [head_of(f)[0] if f in people else f.x for f in chosen]
    halves = [110.0 if f.slug == "van" and f.holds else f.width / 2 for f in chosen]
    left = min(x - half for x, half in zip(centres, halves, strict=True))
    right = max(x + half for x, half in zip(centres, halves, strict=True))
    wide = min(max(right - left + 90, 600), 1180) * view.near
    top = min(f.y - f.tall for f in people or chosen) - 46
    return around((left + right) / 2, max(top, 0) + wide * ASPECT / 2, wide)


def around(x: float, y: float, wide: float) -> Box:
    """Return the frame of a width around a point, pushed back inside the stage."""
    wide = min(wide, FULL_W)
    high = wide * ASPECT
    left = min(max(x - wide / 2, 0.0), WORLD_W - wide)
    top = min(max(y - high / 2, 0.0), 900.0 - high)
    return left, top, left + wide, top + high


def move_camera(box: Box, motion: str) -> tuple[Box, Box]:
    """Return the first and the last frame of a slow pan or zoom."""
    x, y, wide = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0]
    if motion in ("push-in", "pull-out"):
        tight = around(x, y - wide * 0.01, wide * 0.86)
        return (box, tight) if motion == "push-in" else (tight, box)
    if motion in ("pan-left", "pan-right"):
        small = min(wide, FULL_W * 0.88)
        shift = small * 0.065
        left, right = around(x - shift, y, small), around(x + shift, y, small)
        return (right, left) if motion == "pan-left" else (left, right)
    return box, box


def views_for(picture: Picture, *, night: bool = False) -> Iterator[View]:
    """Yield the camera's choices in order of preference."""
    setting = SETTINGS[picture.setting]
    slugs = {item.slug for item in picture.items}
    dark = night or picture.setting in DARK
    lights = ("plain", "shade") if dark or picture.size == "wide" else ("plain", "shade", "bright")
    sides = [False] if slugs & set(setting.has) and picture.size != "insert" else [False, True]
    if any(item.pose == "lie" for item in picture.items) and picture.setting != "hospital-ward":
        sides = [True]
    if picture.setting == "phone-box":
        sides = [False] if picture.size == "wide" else [True, False]
    near = 0.88 if picture.size == "insert" else 0.76
    for light in lights:
        for distance in (1.0, near):
            for mirror in (False, True):
                for back in sides:
                    yield View(back=back, mirror=mirror, light=light, near=distance)
