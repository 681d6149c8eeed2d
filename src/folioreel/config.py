"""The settings of an alignment, as frozen dataclasses with the paper's defaults (section 4)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from folioreel.errors import ConfigError

BLEU = ("bleu1", "bleu2", "bleu3", "bleu4", "bleu5")
SEMANTIC = (
    *("semantic", "semantic_z", "semantic_long", "semantic_in_book", "semantic_in_film"),
    *("window", "window_z", "window_long", "window_in_book", "window_in_film"),
)
MEASURES = (
    *("prior", "tfidf", *BLEU),
    *("rare", "covered", "covers", "phrase", "phrase3", "nearby", "nearby_covered"),
    *("letters", "letters_long", "letters_in_film", "letters_window_in_film"),
    *("cognates", "cognates_nearby", "cognates_window"),
    *("sentence", *SEMANTIC),
    *("visual", "scene"),
)
"""All measures, in the order in which the tensor stacks them."""
WINDOW = 2
"""Neighbours on each side of a line or sentence that share its window: encoders are trained with
windows of this size (train/paraphrase.py), and `window` compares them."""
STEPS = ("stay", "next", "near", "far", "farther", "back", "far_back", "anywhere")
"""The kinds of steps through the book from one moment of the film to the next."""

_LARGEST = 1e6
"""No weight that makes sense is near this, and sums of such do not overflow."""


def _check_numbers(what: str, *values: float) -> None:
    if not all(abs(value) <= _LARGEST for value in values):  # not so of NaN
        raise ConfigError(f"{what} must be finite numbers, at most {_LARGEST:,.0f}")


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
    sigmoid: bool = False
    """Whether a moment's own score is the probability of the context CNN, as in the paper, instead
    of its logit."""
    reach: float | None = None
    """Sentences further than this share of the book from the uniform timeline are pruned; the
    paper's is a third. None: none are."""

    def __post_init__(self) -> None:
        """Refuse weights that would turn the chain upside down."""
        if self.reach is not None and not 0 < self.reach <= 1:
            raise ConfigError("chain.reach must be above 0 and at most 1")
        for name in ("unary", "pace", "stay", "sigma"):
            weight = float(getattr(self, name))  # an int would compile another kernel
            _check_numbers(f"chain.{name}", weight)
            object.__setattr__(self, name, weight)
        if self.sigma <= 0 or self.unary <= 0:
            raise ConfigError("chain.sigma and chain.unary must be above 0")
        if min(self.pace, self.stay) < 0:
            raise ConfigError("the chain's weights must not be negative")


@dataclass(frozen=True, kw_only=True)
class StepsConfig:
    """How a film moves through its book and quotes from it (see alignment/positions.py).

    The first eight are the shares of the kinds of steps.
    """

    stay: float = 0.25
    next: float = 0.1
    """Exactly one sentence forward."""
    near: float = 0.35
    """A few sentences forward: 2 on average."""
    far: float = 0.05
    """About 7 sentences forward on average."""
    farther: float = 0.05
    """About 40 sentences forward on average."""
    back: float = 0.1
    """About 3 sentences back on average."""
    far_back: float = 0.03
    """About 20 sentences back on average."""
    anywhere: float = 0.07
    timeline: float = 0.0
    """How strongly each moment is pulled towards its place on the uniform timeline."""
    free: float = -3.0
    """Added to the logit of a rendering in passages where the film departs from the book."""
    leave: float = 0.05
    """P(free passage | the moment before was in a faithful one)."""
    come_back: float = 0.05
    """P(faithful passage | the moment before was in a free one)."""
    elsewhere: float = 0.0
    """How likely quotes from anywhere in the book are, which leave the film where it is. The odds
    of a quote are this number times the root mean square of all sentences' odds; 0: none."""

    def __post_init__(self) -> None:
        """Check that the shares are valid."""
        shares = [float(getattr(self, name)) for name in (*STEPS, "timeline")]
        _check_numbers("the shares of steps", *shares, self.free)
        if min(shares) < 0 or not self.anywhere:
            raise ConfigError(
                "the shares of steps must not be negative, and `anywhere` must be above 0"
            )
        if not (0 < self.leave < 1 and 0 < self.come_back < 1):
            raise ConfigError("steps.leave and steps.come_back must lie between 0 and 1")
        if not 0 <= self.elsewhere < 1:
            raise ConfigError("steps.elsewhere must be at least 0 and below 1")


@dataclass(frozen=True, kw_only=True)
class PicturesConfig:
    """Weights that turn the pictures of a silent shot into the logit of P(sentence fits it)."""

    visual: float
    """Weight of the measure `visual`."""
    scene: float
    """Weight of the measure `scene`."""
    bias: float
    """Added to the weighted sum."""

    def __post_init__(self) -> None:
        """Check that the weights are finite."""
        _check_numbers("the weights of pictures", self.visual, self.scene, self.bias)


@dataclass(frozen=True, kw_only=True)
class CalibrationConfig:
    """Weights that turn what is known of a spoken moment's link into the logit of its score."""

    link: float = 1.0
    """Weight of the logit of the posterior that the link is right."""
    evidence: float = 0.0
    """Weight of the best score of a sentence near the link."""
    around: float = 0.0
    """Weight of the logit of how much of the film around the moment is in the book."""
    bias: float = 0.0
    """Added to the weighted sum."""

    def __post_init__(self) -> None:
        """Check that the weights are finite."""
        weights = [getattr(self, field.name) for field in fields(self)]
        _check_numbers("the weights of the calibration", *weights)


@dataclass(frozen=True, kw_only=True)
class AlignConfig:
    """The measures, their weights, the models behind them, and how the chain smooths the scores."""

    weights: dict[str, float] = field(
        default_factory=lambda: (
            {"prior": 0.1, "tfidf": 1.0} | {f"bleu{n}": 0.1 for n in range(1, 6)}
        )
    )
    """Measure → its weight in the sum that scores a cell."""
    bias: float = 0.0
    """Added to that sum."""
    context: str | None = None
    """A context model (name or folder) that replaces the weighted sum."""
    context_pictures: str | None = None
    """The same for watched films; it reads `visual` and `scene` as well."""
    steps: StepsConfig | None = None
    """If given, the position model is used (alignment/positions.py), else the paper's chain."""
    calibration: CalibrationConfig = field(default_factory=CalibrationConfig)
    """How a link's posterior becomes its score."""
    sentence_encoder: str = "skip-thought"
    """The encoder behind `sentence`: a name or a folder that `load_encoder` accepts."""
    semantic_encoder: str = "student"
    """The encoder behind `semantic` and `window`."""
    whitened: bool = False
    """Whether its vectors are centred and half whitened (similarity/whitening.py)."""
    visual_embedding: str = "visual"
    """The video-sentence embedding behind `visual`: a name or a folder."""
    scene_embedding: str = "scene"
    """The embedding behind `scene`."""
    frame_features: str = "efficientnet-lite0"
    """The network that computes frame features; the embeddings must be trained on them."""
    pictures: PicturesConfig | None = None
    """If given, silent shots of watched films are scored by their pictures."""
    prior_width: float = 0.2
    """Half-width of the uniform timeline's band, as a fraction of the book."""
    chain: ChainConfig = field(default_factory=ChainConfig)
    in_book_from: float = 0.5
    """Links below this probability are reported as not in the book."""

    def __post_init__(self) -> None:
        """Check the measures and their weights."""
        unknown = sorted(set(self.weights) - set(MEASURES))
        if unknown:
            raise ConfigError(
                f"unknown measure {', '.join(unknown)}; choose from {', '.join(MEASURES)}"
            )
        _check_numbers("all weights", *self.weights.values(), self.bias)
        _check_numbers("prior_width and in_book_from", self.prior_width, self.in_book_from)
        if self.prior_width <= 0:
            raise ConfigError("prior_width must be above 0")
        if not self.weights:
            raise ConfigError("no measure was chosen; choose at least one")

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures in use, in stacking order."""
        return tuple(name for name in MEASURES if name in self.weights)

    @property
    def compares_meaning(self) -> bool:
        """Whether vectors of `semantic_encoder` are compared."""
        return any(name in SEMANTIC for name in self.weights)

    @property
    def looks(self) -> bool:
        """Whether the pictures of a film are used."""
        uses = self.pictures is not None or self.context_pictures is not None
        return uses or bool({"visual", "scene"} & set(self.weights))

    def with_pictures(self) -> AlignConfig:
        """The settings for a watched film."""
        if self.context_pictures is None:
            return self
        weights = self.weights | {"visual": 1.0, "scene": 1.0}
        return replace(self, weights=weights, context=self.context_pictures)


@dataclass(frozen=True, kw_only=True)
class SpeechConfig:
    """How a film is listened to, where its words are recognised from its sound."""

    model: str | None = None
    """A Whisper model by name, or its folder; None for the best one on this machine."""
    language: str | None = None
    """The language that is spoken, by code or name; None to detect it."""
    unasked: bool = True
    """Whether a film without subtitles is listened to though nobody asked for it."""
