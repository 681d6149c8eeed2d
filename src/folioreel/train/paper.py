"""`folioreel train context`: a judged pair → the preset `paper`, its context CNN and its chain.

The chain must not be fitted to the scores that the network gives to its own training examples,
which are surer than those of any other film. So the film is cut into parts, and each part is scored
by a network that was trained on the others; of several films, each by a network of all others
(paper, sections 4.3 and 4.4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.score import context_scores
from folioreel.config import AlignConfig, ChainConfig
from folioreel.errors import InputError
from folioreel.evaluate.dataset import load_pair, load_pair_film
from folioreel.ingest.book import load_book
from folioreel.models.chain import make_chain, time_steps
from folioreel.models.context_cnn import ContextModel
from folioreel.models.frame_features import load_frame_features
from folioreel.models.presets import check_replaceable, save_preset
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.progress import ProgressCallback, ignore_progress, name_progress
from folioreel.similarity.tensor import SimilarityRows
from folioreel.train.chain import (
    CHAIN_START,
    LITERAL_START,
    WEIGHTS,
    FittedChain,
    clamp_chain,
    fit_chain,
)
from folioreel.train.context_cnn import ContextConfig, context_examples, fit_context
from folioreel.train.judged import TrainingPair, judged_moments
from folioreel.train.kept_rows import PAPER_MEASURES
from folioreel.train.onnx import context_graph

# Parts of a film for cross-fitting: each network still sees two thirds of its judgements.
_PARTS = 3
# Of several films, how many the chain is fitted to, each scored by a network of all others.
_MOST_FILMS = 3


def train_paper(
    folder: Path,
    out: Path,
    progress: ProgressCallback = ignore_progress,
    pictures: Path | None = None,
    *,
    literal: bool = False,
    embeddings: Mapping[str, str] | None = None,
) -> AlignConfig:
    """Train both models on one judged pair, as the paper does, and write them as a preset.

    Args:
        folder: The judged pair.
        out: The preset's folder, which will also hold the context model.
        progress: Called with the progress of each stage.
        pictures: A judged pair with a video. If given, a second context model is trained on both
            pairs for films whose pictures are used; it also reads `visual` and `scene`.
        literal: Whether the chain is the paper's to the letter: probabilities instead of logits,
            and sentences pruned that are far from the uniform timeline.
        embeddings: `visual` or `scene` → an embedding to use instead of the shipped one.
    """
    check_replaceable(out)  # before the work, not after it
    base = _base_config(embeddings or {})
    if pictures is not None:
        _check_pictures(pictures, base, progress)
    start = LITERAL_START if literal else CHAIN_START
    model, chain = fit_paper(folder, progress, start)
    context = out.resolve() / "context"
    weights = dict.fromkeys(PAPER_MEASURES, 1.0)
    config = replace(base, weights=weights, context=str(context), chain=chain)
    if pictures is not None:
        seeing = fit_with_pictures(folder, pictures, chain, progress, base)
        config = replace(config, context_pictures=str(out.resolve() / "context-pictures"))
    card = "# The paper's method\n\nSee `context/README.md`, of the context model in here.\n"
    save_preset(config, out, card, {"pairs": [folder.name], "date": date.today().isoformat()})
    model.save(context, replace=True)
    if pictures is not None:
        seeing.save(out.resolve() / "context-pictures", replace=True)
    return config


def _check_pictures(folder: Path, base: AlignConfig, progress: ProgressCallback) -> None:
    """Refuse a pair without pictures before the work; a watched film is kept in the cache."""
    encoder = load_frame_features(base.frame_features)
    if load_pair_film(load_pair(folder), progress, encoder).features is None:
        raise InputError(
            "has no video to learn from; give --pictures a judged pair with one", folder
        )


def _base_config(embeddings: Mapping[str, str]) -> AlignConfig:
    """The settings with other embeddings; a folder that is none is refused, before the work."""
    for name in embeddings.values():
        VisualSemantic.load(name)
    found = {kind: str(Path(name).resolve()) for kind, name in embeddings.items()}
    base = AlignConfig()
    return replace(
        base,
        visual_embedding=found.get("visual", base.visual_embedding),
        scene_embedding=found.get("scene", base.scene_embedding),
    )


def fit_paper(
    folder: Path, progress: ProgressCallback = ignore_progress, start: ChainConfig = CHAIN_START
) -> tuple[ContextModel, ChainConfig]:
    """A context model trained on one judged pair, and the chain's weights for its scores."""
    training = _measured(folder, PAPER_MEASURES, progress, AlignConfig())
    config = ContextConfig(measures=PAPER_MEASURES)
    model = fit_context_model(config, [training], progress=progress)
    chain = fit_paper_chain(config, [training], start=start, progress=progress).config
    return _described(model, [folder], [training], chain), chain


def fit_with_pictures(
    folder: Path,
    pictures: Path,
    chain: ChainConfig,
    progress: ProgressCallback = ignore_progress,
    base: AlignConfig | None = None,
) -> ContextModel:
    """A context model that also reads `visual` and `scene`, trained on two pairs.

    The first may be a film without pictures, in which both are 0: it shows the network what
    dialogue is worth. The chain's weights stay those for dialogue. `base` names the embeddings.
    """
    measures = (*PAPER_MEASURES, "visual", "scene")
    base = base or AlignConfig()
    pairs = [_measured(path, measures, progress, base) for path in (folder, pictures)]
    model = fit_context_model(
        ContextConfig(measures=measures), pairs, "context-pictures", progress=progress
    )
    return _described(model, [folder, pictures], pairs, chain)


def _measured(
    folder: Path, measures: tuple[str, ...], progress: ProgressCallback, base: AlignConfig
) -> TrainingPair:
    """A judged pair and its measures; its video is read if they need it."""
    config = replace(base, weights=dict.fromkeys(measures, 1.0))
    pair = load_pair(folder)
    encoder = load_frame_features(config.frame_features) if config.looks else None
    film, book = load_pair_film(pair, progress, encoder), load_book(pair.book)
    return TrainingPair(
        film=film,
        rows=SimilarityRows(film, book, config, progress),
        # Of a silent shot, the measures of dialogue say nothing.
        judged=judged_moments(pair, film, book, shots=config.looks),
    )


def _described(
    model: ContextModel, folders: list[Path], pairs: list[TrainingPair], chain: ChainConfig
) -> ContextModel:
    """The model with its card."""
    about = {
        "pairs": [folder.resolve().name for folder in folders],
        "matches": sum(pair.matches for pair in pairs),
        "date": date.today().isoformat(),
        "chain": {name: getattr(chain, name) for name in WEIGHTS},
    }
    training = model.training | about
    rows, columns = training["window"]
    weights = ", ".join(f"{name} {value:.4g}" for name, value in training["chain"].items())
    card = [
        f"# {model.name}",
        "",
        "The context-aware similarity of “Aligning Books and Movies” (ICCV 2015), section 4.3:"
        f" {training['layers']} convolutions of {rows} moments × {columns} sentences with"
        f" {training['channels']} channels over the measures {', '.join(model.measures)}. It gives"
        " the logit of the probability that a moment renders a sentence.",
        "",
        f"Trained on {training['date']} with `folioreel train context` on the {training['matches']}"
        f" judged matches, and what was judged not to be in the book, of"
        f" {'one film and its book' if len(training['pairs']) == 1 else 'films and their books'}:"
        f" {', '.join(training['pairs'])}. Seed {training['seed']}.",
        "",
        f"The weights of the chain for its scores, fitted to {training['pairs'][0]}: {weights}.",
    ]
    return replace(model, training=training, card="\n".join(card) + "\n")


def fit_context_model(
    config: ContextConfig,
    pairs: Sequence[TrainingPair],
    name: str = "context",
    progress: ProgressCallback = ignore_progress,
) -> ContextModel:
    """A context model trained on the judged moments of some pairs, as users run it."""
    examples = [context_examples(pair.rows, pair.judged, config, progress) for pair in pairs]
    settings = asdict(config) | {"window": list(config.sizes)}
    del settings["measures"]  # the model has them already
    return ContextModel(
        name=name,
        measures=config.measures,
        halo=config.halo,
        graph=context_graph(fit_context(config, examples, progress)),
        training=settings,
    )


def fit_paper_chain(
    config: ContextConfig,
    pairs: Sequence[TrainingPair],
    *,
    start: ChainConfig = CHAIN_START,
    evaluations: int = 30,
    progress: ProgressCallback = ignore_progress,
) -> FittedChain:
    """The chain's weights for the scores that a context model gives to films it was not trained on.

    Of many pairs, the chain is fitted to a few; the context model still learns from all others.
    """
    # The chain has few weights. Films with many matches say most about them, and the time that
    # a film takes grows with its moments × sentences.
    ranked = sorted(pairs, key=lambda pair: pair.matches / math.prod(pair.rows.shape))[::-1]
    chains = []
    for number, pair in enumerate(ranked[:_MOST_FILMS]):
        others = ranked[:number] + ranked[number + 1 :]
        scores = _unseen_scores(config, pair, others, progress)
        chain = make_chain(scores, time_steps(pair.film), start)
        chains.append(clamp_chain(chain, pair.judged))
    return fit_chain(chains, start, evaluations=evaluations, progress=progress)


def _unseen_scores(
    config: ContextConfig,
    pair: TrainingPair,
    others: Sequence[TrainingPair],
    progress: ProgressCallback,
) -> NDArray[np.float32]:
    """The scores of one film by networks that were not trained on what they score: (I, J).

    A network of the other films, if they can teach it all that it needs. A single film is cut into
    parts, and so is the only one with pictures: without it, the network's weights of pictures
    would be random, and the chain would learn to ignore its scores.
    """
    alone = pair.watched and not any(other.watched for other in others)
    if others and not alone:
        model = fit_context_model(config, others, progress=progress)
        return context_scores(pair.rows, model, progress)
    moments = pair.rows.shape[0]
    scores = np.empty(pair.rows.shape, dtype=np.float32)
    for part in range(_PARTS):
        first, last = part * moments // _PARTS, (part + 1) * moments // _PARTS
        kept = tuple(judged for judged in pair.judged if not first <= judged.moment < last)
        named = name_progress(progress, f"part {part + 1} of {_PARTS}, for the chain")
        model = fit_context_model(config, [*others, replace(pair, judged=kept)], progress=named)
        scores[first:last] = context_scores(pair.rows, model, named, range(first, last))
    return scores
