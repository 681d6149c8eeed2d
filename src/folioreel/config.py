"""What a run is told: frozen settings with the defaults of each preset (paper, section 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from folioreel.errors import ConfigError

MEASURES = (
    *("prior", "tfidf", "bleu1", "bleu2", "bleu3", "bleu4", "bleu5"),
    *("rare", "covered", "covers", "phrase", "phrase3", "nearby", "nearby_covered"),
    *("sentence", "semantic", "semantic_z", "semantic_long"),
    *("visual", "scene"),
)
"""Every measure that there is, in the order in which they are stacked."""
STEPS = ("stay", "next", "near", "far", "farther", "back", "far_back", "anywhere")
"""The kinds of steps that a film takes through its book from one moment to the next."""


@dataclass(frozen=True, kw_only=True)
class ChainConfig:
    """The chain that keeps neighbouring links together (paper, section 4.4)."""

    unary: float = 10.0
    """Weight ω_u of a moment's own score."""
    pace: float = 2.0
    """Weight ω_p of ψ_p: the book should advance as the film does."""
    stay: float = 2.0
    """Weight ω_q of ψ_q: neighbours should lie close together."""
    sigma: float = 0.01
    """Robustness σ: displacements far beyond it all cost the same."""
    absent: bool = False
    """Whether a moment may be in no sentence at all: the state "not in the book"."""
    enter: float = 2.0
    """What it costs to leave the book."""
    leave: float = 2.0
    """What it costs to come back, to any sentence."""

    def __post_init__(self) -> None:
        """Refuse weights that would turn the chain upside down."""
        for name in ("unary", "pace", "stay", "sigma", "enter", "leave"):
            weight = float(getattr(self, name))  # an int would compile another kernel
            if not math.isfinite(weight):
                raise ConfigError(f"chain.{name} must be a finite number, not {weight}")
            object.__setattr__(self, name, weight)
        if self.sigma <= 0 or self.unary <= 0:
            raise ConfigError("chain.sigma and chain.unary must be above 0")
        if min(self.unary, self.pace, self.stay, self.enter, self.leave) < 0:
            raise ConfigError("the chain's weights must not be negative")


@dataclass(frozen=True, kw_only=True)
class StepsConfig:
    """How a film moves through its book: the share of each kind of step (see positions.py)."""

    stay: float = 0.25
    next: float = 0.1
    """Exactly one sentence on."""
    near: float = 0.35
    """A few sentences on: 2 on average."""
    far: float = 0.05
    """Some 7 sentences on."""
    farther: float = 0.05
    """Some 40 sentences on."""
    back: float = 0.1
    """Some 3 sentences back."""
    far_back: float = 0.03
    """Some 20 sentences back."""
    anywhere: float = 0.07
    timeline: float = 0.0
    """How strongly each moment is drawn to its place on the uniform timeline."""
    free: float = -3.0
    """What is added to the log odds of a rendering where the film is free of its book."""
    leave: float = 0.05
    """How often a faithful passage of the film turns into a free one, from moment to moment."""
    come_back: float = 0.05
    """How often a free passage turns into a faithful one."""

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        shares = [float(getattr(self, name)) for name in (*STEPS, "timeline")]
        if not all(math.isfinite(share) and share >= 0 for share in shares) or not self.anywhere:
            raise ConfigError("steps must have shares of 0 or more, `anywhere` above 0")
        if not (0 < self.leave < 1 and 0 < self.come_back < 1 and math.isfinite(self.free)):
            raise ConfigError("steps.leave and steps.come_back must lie between 0 and 1")


@dataclass(frozen=True, kw_only=True)
class PicturesConfig:
    """What the pictures of a shot in which nobody speaks are worth, as log odds."""

    visual: float
    """Weight of the measure `visual`."""
    scene: float
    """Weight of the measure `scene`."""
    bias: float
    """What is added to the weighted sum."""

    def __post_init__(self) -> None:
        """Refuse what is no number."""
        if not all(map(math.isfinite, (self.visual, self.scene, self.bias))):
            raise ConfigError("pictures must have finite weights")


@dataclass(frozen=True, kw_only=True)
class AlignConfig:
    """Which measures are taken, how they are weighed, and how the chain smooths them."""

    weights: dict[str, float] = field(
        default_factory=lambda: {
            "prior": 0.1,
            "tfidf": 1.0,
            "bleu1": 0.1,
            "bleu2": 0.1,
            "bleu3": 0.1,
            "bleu4": 0.1,
            "bleu5": 0.1,
        }
    )
    """Measure → weight in the sum that gives a cell's score."""
    bias: float = 0.0
    """What is added to that sum."""
    context: str | None = None
    """The context model that takes the place of the sum: a name or a folder."""
    context_pictures: str | None = None
    """The one that does so where the film was watched; it reads `visual` and `scene` too."""
    steps: StepsConfig | None = None
    """With these, positions are followed (alignment/positions.py); without, the paper's chain."""
    calibration: tuple[float, float] = (1.0, 0.0)
    """Slope and offset that turn a link's log odds into calibrated ones."""
    sentence_encoder: str = "skip-thought"
    """What gives the vectors of `sentence`: a name or a folder that `load_encoder` takes."""
    semantic_encoder: str = "student"
    """What gives the vectors of `semantic`."""
    visual_embedding: str = "visual"
    """What places shots and sentences for `visual`: a name or a folder."""
    scene_embedding: str = "scene"
    """The same for `scene`."""
    frame_features: str = "efficientnet-lite0"
    """The network that looks at the shots; the embeddings must know it."""
    pictures: PicturesConfig | None = None
    """With these, silent shots that were looked at have scores too."""
    prior_width: float = 0.2
    """Half-width of the uniform timeline's band, as a share of the book."""
    chain: ChainConfig = field(default_factory=ChainConfig)
    in_book_from: float = 0.5
    """A link below this probability is reported as not in the book."""

    def __post_init__(self) -> None:
        """Refuse measures that do not exist."""
        unknown = sorted(set(self.weights) - set(MEASURES))
        if unknown:
            raise ConfigError(
                f"unknown measure {', '.join(unknown)}; choose from {', '.join(MEASURES)}"
            )
        if self.prior_width <= 0 or not all(map(math.isfinite, self.weights.values())):
            raise ConfigError("prior_width must be above 0, and all weights finite")
        if not self.weights:
            raise ConfigError("no measure was chosen; name at least one")

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that are used, in their stacking order."""
        return tuple(name for name in MEASURES if name in self.weights)

    @property
    def looks(self) -> bool:
        """Whether the pictures of a film make a difference."""
        uses = self.pictures is not None or self.context_pictures is not None
        return uses or bool({"visual", "scene"} & set(self.weights))

    def with_pictures(self) -> AlignConfig:
        """What holds for a film that was watched."""
        if self.context_pictures is None:
            return self
        weights = self.weights | {"visual": 1.0, "scene": 1.0}
        return replace(self, weights=weights, context=self.context_pictures)
