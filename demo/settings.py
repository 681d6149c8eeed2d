"""The table of settings: both sides of each, what stands in front, where people stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import indoors
import riverside
import village
import workrooms
from pen import Pen
from riverside import Mood

Scenery = Callable[[Pen, Mood], None]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One place of the film."""

    front: Scenery
    back: Scenery
    """The reverse angle: the same place seen from its other side."""
    foreground: Scenery | None = None
    """Drawn over the people, on the front side only unless `both`."""
    both: bool = False
    floor: float = 800.0
    middle: float = 800.0
    """Where people gather (x)."""
    table: float | None = None
    """Height of the foreground table's top, if it has one."""
    surface: str = "#8a6038"
    """What lies under a prop that fills the frame."""
    wash: str = ""
    """A thin colour over everything, people too."""
    has: dict[str, float] = field(default_factory=dict)
    """Props that the front side already shows, and where (x)."""
    place: dict[str, float] = field(default_factory=dict)
    """Poses with a fixed place (x): the bed, the telephone box."""
    lively: bool = False
    """Small motions in the scenery, on two beats a second."""


SETTINGS: dict[str, Setting] = {
    "ferry-slip": Setting(
        front=riverside.ferry_slip, back=riverside.ferry_slip_back, surface="#7d8286", lively=True
    ),
    "weigh-hut": Setting(
        front=indoors.weigh_hut,
        back=indoors.weigh_hut_back,
        floor=830,
        surface="#8a5a30",
        has={"dial": 610, "bylaws": 1130},
        middle=950,
    ),
    "ferry-deck": Setting(
        front=riverside.ferry_deck,
        back=riverside.ferry_deck_back,
        floor=820,
        surface="#8f9190",
        lively=True,
    ),
    "ferry-deck-fog": Setting(
        front=riverside.ferry_deck_fog,
        back=riverside.ferry_deck_fog_back,
        floor=820,
        surface="#a9adae",
        wash="#eef1f138",
        lively=True,
    ),
    "sprake-office": Setting(
        front=indoors.sprake_office,
        back=indoors.sprake_office_back,
        foreground=indoors.sprake_office_front,
        floor=850,
        table=702,
        surface="#6f5a4a",
        has={"pineapple": 222},
    ),
    "thrupp-parlour": Setting(
        front=indoors.thrupp_parlour,
        back=indoors.thrupp_parlour_back,
        foreground=indoors.thrupp_parlour_front,
        floor=830,
        table=736,
        surface="#a8523a",
        wash="#ffb04018",
    ),
    "hospital-ward": Setting(
        front=indoors.hospital_ward,
        back=indoors.hospital_ward_back,
        foreground=indoors.hospital_ward_front,
        both=True,
        floor=820,
        surface="#dfe9e0",
        place={"farrow": 420},
    ),
    "fairhithe-park": Setting(
        front=village.fairhithe_park,
        back=village.fairhithe_park_back,
        floor=810,
        surface="#86b552",
        has={"hoarding": 830, "notice": 830, "bandstand": 800},
    ),
    "maltings": Setting(
        front=workrooms.maltings,
        back=workrooms.maltings_back,
        floor=820,
        surface="#4a3220",
        wash="#ff8a2020",
        has={"bandstand": 830, "tarpaulin": 270},
        lively=True,
    ),
    "bakery": Setting(
        front=workrooms.bakery,
        back=workrooms.bakery_back,
        foreground=workrooms.bakery_front,
        floor=840,
        table=716,
        surface="#e3cda4",
        wash="#ffb04018",
        lively=True,
    ),
    "coldhithe-green": Setting(
        front=village.coldhithe_green,
        back=village.coldhithe_green_back,
        floor=820,
        surface="#7cc043",
        has={"bandstand": 800},
        lively=True,
    ),
    "phone-box": Setting(
        front=village.phone_box,
        back=village.phone_box_back,
        foreground=village.phone_box_front,
        floor=820,
        surface="#d9a95a",
        place={"petra": 800},
    ),
}
HOURS: dict[str, tuple[int, int, int]] = {
    "day": (255, 255, 255),
    "rain": (212, 222, 232),
    "mist": (244, 248, 250),
    "evening": (255, 212, 164),
    "lamp": (242, 204, 168),
    "night": (150, 166, 222),
}
"""The light that an hour or a weather throws on a setting; colours are multiplied by it.
Settings are drawn dark for the night already, so that one falls on people and props only."""
MIST = "#e6ecee34"
BACKDROPS = ("bandstand", "hoarding", "tarpaulin")
"""Large things of a setting: people stand before them, not beside them."""
