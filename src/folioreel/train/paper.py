"""Judged pairs → the models of the preset `paper`: the context CNN and the chain's weights.

The chain must not learn from scores that the network gives to its own examples, which are surer
than any it gives to another film. So the judged films are cut into parts, and each part is scored
by a network that was fitted to the others (paper, sections 4.3 and 4.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.score import context_scores
from folioreel.config import AlignConfig, ChainConfig
from folioreel.errors import ConfigError
from folioreel.evaluate.dataset import load_pair, load_pair_film
from folioreel.ingest.book import load_book
from folioreel.models.chain import make_chain, time_steps
from folioreel.models.context_cnn import ContextModel
from folioreel.models.frame_features import load_frame_features
from folioreel.models.presets import check_replaceable, save_preset
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.similarity.tensor import SimilarityRows
from folioreel.train.chain import WEIGHTS, Learned, fit_chain, make_lesson
from folioreel.train.judged import JudgedMoment, judged_moments
from folioreel.types import Film

if TYPE_CHECKING:
    from folioreel.train.context_cnn import ContextConfig, ContextNetwork

PAPER_MEASURES = (
    *("prior", "tfidf", "bleu1", "bleu2", "bleu3", "bleu4", "bleu5"),
    "sentence",
)
"""The paper's measures of dialogue; those of the picture need a video."""
CHAIN_START = ChainConfig(unary=1.0, pace=1.0, stay=1.0, sigma=0.02)
"""Where the search for the chain's weights begins."""
_PARTS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingPair:
    """A film and a book as measures, and what was judged of them."""

    film: Film
    rows: SimilarityRows
    judged: tuple[JudgedMoment, ...]


def train_paper(
    folder: Path,
    out: Path,
    progress: ProgressCallback = ignore_progress,
    pictures: Path | None = None,
) -> AlignConfig:
    """Fit both models to one judged pair, as the paper does, and write them as a preset.

    Args:
        folder: The judged pair.
        out: The preset, with the context model in it.
        progress: Told of the steps.
        pictures: A judged pair with a video. With it, a second context model is fitted to both
            pairs, which reads `visual` and `scene` too, for films that were watched.

    Returns:
        The preset's settings.

    Raises:
        ConfigError: PyTorch is missing.
        ModelFolderError: `out` holds something else than a preset.
    """
    if find_spec("torch") is None:
        raise ConfigError('training needs PyTorch; run: pip install "folioreel[train]"')
    check_replaceable(out)
    model, chain = fit_paper(folder, progress)
    context = out.resolve() / "context"
    config = AlignConfig(
        weights=dict.fromkeys(PAPER_MEASURES, 1.0), context=str(context), chain=chain
    )
    if pictures is not None:
        seeing = fit_with_pictures(folder, pictures, chain, progress)
        config = replace(config, context_pictures=str(out.resolve() / "context-pictures"))
    card = "# The paper's method\n\nSee `context/README.md`, of the context model in here.\n"
    save_preset(config, out, card, {"pairs": [folder.name], "date": date.today().isoformat()})
    model.save(context, replace=True)
    if pictures is not None:
        seeing.save(out.resolve() / "context-pictures", replace=True)
    return config


def fit_paper(
    folder: Path, progress: ProgressCallback = ignore_progress
) -> tuple[ContextModel, ChainConfig]:
    """A context model fitted to one judged pair, and the chain's weights for its scores."""
    from folioreel.train.context_cnn import ContextConfig

    training = _measured(folder, PAPER_MEASURES, progress)
    config = ContextConfig(measures=PAPER_MEASURES)
    model = train_context(config, [training], progress=progress)
    learned = train_chain(config, [training], progress=progress)
    return _described(model, [folder], [training], learned.config), learned.config


def fit_with_pictures(
    folder: Path, pictures: Path, chain: ChainConfig, progress: ProgressCallback = ignore_progress
) -> ContextModel:
    """A context model that reads `visual` and `scene` too, fitted to two pairs.

    The first may be a film without pictures, in which both are 0: it teaches what dialogue is
    worth. The chain's weights stay those of dialogue.
    """
    from folioreel.train.context_cnn import ContextConfig

    measures = (*PAPER_MEASURES, "visual", "scene")
    pairs = [_measured(path, measures, progress) for path in (folder, pictures)]
    model = train_context(
        ContextConfig(measures=measures), pairs, "context-pictures", progress=progress
    )
    return _described(model, [folder, pictures], pairs, chain)


def _measured(folder: Path, measures: tuple[str, ...], progress: ProgressCallback) -> TrainingPair:
    """A judged pair and its measures; its video is watched where they need that."""
    config = AlignConfig(weights=dict.fromkeys(measures, 1.0))
    pair = load_pair(folder)
    encoder = load_frame_features(config.frame_features) if config.looks else None
    film, book = load_pair_film(pair, progress, encoder), load_book(pair.book)
    return TrainingPair(
        film=film,
        rows=SimilarityRows(film, book, config, progress),
        judged=judged_moments(pair, film, book),
    )


def _described(
    model: ContextModel, folders: list[Path], pairs: list[TrainingPair], chain: ChainConfig
) -> ContextModel:
    """The model with its card."""
    about = {
        "pairs": [folder.resolve().name for folder in folders],
        "matches": sum(map(_matches, pairs)),
        "date": date.today().isoformat(),
        "chain": {name: getattr(chain, name) for name in WEIGHTS},
    }
    model = replace(model, training=model.training | about)
    return replace(model, card=_card(model))


def _card(model: ContextModel) -> str:
    """The card of a model's folder."""
    training = model.training
    rows, columns = training["window"]
    weights = ", ".join(f"{name} {value:.4g}" for name, value in training["chain"].items())
    lines = [
        f"# {model.name}",
        "",
        "The context-aware similarity of “Aligning Books and Movies” (ICCV 2015), section 4.3:"
        f" {training['layers']} convolutions of {rows} moments × {columns} sentences with"
        f" {training['channels']} channels over the measures {', '.join(model.measures)}. It gives"
        " the log-odds that a moment renders a sentence.",
        "",
        f"Fitted on {training['date']} with `folioreel train context` to the {training['matches']}"
        f" judged matches, and the lines judged not to be in the book, of"
        f" {'one film and its book' if len(training['pairs']) == 1 else 'films and their books'}:"
        f" {', '.join(training['pairs'])}. Seed {training['seed']}.",
        "",
        f"The weights of the chain for its scores, learned from {training['pairs'][0]}: {weights}.",
    ]
    return "\n".join(lines) + "\n"


def train_context(
    config: ContextConfig,
    pairs: Sequence[TrainingPair],
    name: str = "context",
    progress: ProgressCallback = ignore_progress,
) -> ContextModel:
    """A context model fitted to the judged moments of some pairs, as users run it."""
    from folioreel.train.context_cnn import fit_context, make_lessons

    lessons = [make_lessons(pair.rows, pair.judged, config) for pair in pairs]
    return _as_model(fit_context(config, lessons, progress), name)


def train_chain(
    config: ContextConfig,
    pairs: Sequence[TrainingPair],
    *,
    start: ChainConfig = CHAIN_START,
    evaluations: int = 30,
    most_films: int = 3,
    progress: ProgressCallback = ignore_progress,
) -> Learned:
    """The chain's weights over the scores that such a network gives to films it has not seen.

    Args:
        config: The network's shape and how it is fitted.
        pairs: One pair is cut into parts; of several, some are held out from the network.
        start: Where the search begins.
        evaluations: How often the likelihood is computed at most.
        most_films: How many of several pairs are held out: those with the most matches.
        progress: Told of the steps of the search.
    """
    if len(pairs) == 1:
        scored = [(pairs[0], _scores_of_parts(config, pairs[0]))]
    else:
        ranked = sorted(pairs, key=_matches, reverse=True)
        held_out, others = ranked[:most_films], ranked[most_films:]
        if not others:
            held_out, others = ranked[::2], ranked[1::2]
        model = train_context(config, others)
        scored = [(pair, context_scores(pair.rows, model)) for pair in held_out]
    lessons = [
        make_lesson(make_chain(scores, time_steps(pair.film), start), pair.judged)
        for pair, scores in scored
    ]
    return fit_chain(lessons, start, evaluations=evaluations, progress=progress)


def _scores_of_parts(config: ContextConfig, pair: TrainingPair) -> NDArray[np.float32]:
    """Log-odds of one film, each third by a network fitted to the two others: (I, J)."""
    moments = pair.rows.shape[0]
    scores = np.empty(pair.rows.shape, dtype=np.float32)
    for part in range(_PARTS):
        first, last = part * moments // _PARTS, (part + 1) * moments // _PARTS
        kept = tuple(judged for judged in pair.judged if not first <= judged.moment < last)
        model = train_context(config, [replace(pair, judged=kept)])
        scores[first:last] = context_scores(pair.rows, model)[first:last]
    return scores


def _matches(pair: TrainingPair) -> int:
    return sum(judged.verdict == "match" for judged in pair.judged)


def _as_model(network: ContextNetwork, name: str) -> ContextModel:
    from folioreel.train.context_cnn import context_graph, training_settings

    config = network.config
    return ContextModel(
        name=name,
        measures=config.measures,
        halo=config.halo,
        graph=context_graph(network),
        training=training_settings(config),
    )
