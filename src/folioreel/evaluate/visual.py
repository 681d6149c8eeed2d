"""Embeddings and a captioner on the test split of Flickr8k: retrieval both ways, and BLEU.

The protocol of Hodosh et al. (2013): 1,000 pictures and their 5,000 captions, each ranked against
all others. Nothing is fitted here; the training and validation splits are not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError
from folioreel.ingest.clip_features import ClipFeatures, picture_features
from folioreel.ingest.descriptions import DescribedClip, read_flickr8k, read_pictures
from folioreel.models.captioner import Captioner, caption_tokens
from folioreel.models.frame_features import DEFAULT, load_frame_features
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.progress import ProgressCallback, ignore_progress

EMBEDDINGS = ("visual", "scene")
# The embedding that the paper used, with the image features of its time.
PUBLISHED = {
    "Kiros et al. 2014": {"image_to_sentence": {"r1": 18.0}, "sentence_to_image": {"r1": 12.5}},
    "their later code": {"image_to_sentence": {"r1": 22.3}, "sentence_to_image": {"r1": 14.9}},
}
PUBLISHED_BLEU1 = 63.0  # show and Tell (Vinyals et al. 2015).

Tokens = Sequence[str]


def evaluate_visual(
    flickr8k: Path,
    embeddings: Sequence[str],
    captioner: str,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Image-sentence retrieval with the embeddings, and BLEU of the captioner.

    Models are given by name or folder; the scores of several embeddings are added up.

    Returns:
        `image_to_sentence` and `sentence_to_image`, each with `r1`, `r5`, `r10` (percent) and
        `median` (a rank, from 1); `each`, the same for every embedding by itself; `captions` with
        `bleu1` … `bleu4` (percent).
    """
    described = read_flickr8k(flickr8k, "test")
    models = [VisualSemantic.load(name) for name in embeddings]
    writer = Captioner.load(captioner)
    network = _network_of([model.sentences.training for model in models] + [writer.training])
    names = [picture.clip for picture in described]
    pictures = picture_features(
        read_pictures(flickr8k), names, load_frame_features(network), progress=progress
    )
    texts = [text for picture in described for text in picture.texts]
    picture_of = np.repeat(np.arange(len(described)), [len(picture.texts) for picture in described])
    total = np.zeros((len(described), len(texts)), dtype=np.float32)
    each = {}
    for name, model in zip(embeddings, models, strict=True):
        sentences = model.embed_sentences(texts, progress)
        scores = model.embed_clips(_features(pictures, model.features)) @ sentences.T
        each[name] = retrieval_figures(scores, picture_of)
        total += scores
    return {
        "pictures": len(described),
        "sentences": len(texts),
        **retrieval_figures(total, picture_of),
        "each": each,
        "captions": _judge_captions(writer, pictures, described, progress),
    }


def tables(found: dict[str, Any], captioner: str) -> dict[str, list[dict[str, Any]]]:
    """What `evaluate_visual` found as tables with a title, beside the published figures."""
    rows: dict[str, Any] = dict(found["each"])
    if len(rows) > 1:
        rows[" + ".join(rows)] = found
    result = {}
    for way in ("image_to_sentence", "sentence_to_image"):
        columns = dict.fromkeys(found[way])  # what was not published is None
        result[f"{way.replace('_', ' ')}, {found['pictures']:,} pictures"] = [
            {"embedding": name, **columns, **row[way]} for name, row in (rows | PUBLISHED).items()
        ]
    published = {"captioner": "Show and Tell (published)", **dict.fromkeys(found["captions"])}
    result["captions"] = [
        {"captioner": captioner, **found["captions"]},
        {**published, "bleu1": PUBLISHED_BLEU1},
    ]
    return result


def retrieval_figures(
    scores: NDArray[np.float32], picture_of: NDArray[np.int64]
) -> dict[str, dict[str, float]]:
    """Recall at 1, 5 and 10 in percent, and the median rank, both ways.

    A picture's rank is that of the best of its sentences. Among ties the right one is ranked last,
    so that constant scores gain nothing.

    `scores` are pictures by sentences, (N, S); `picture_of` is the picture of each sentence, (S,).
    """
    own = scores[picture_of, np.arange(len(picture_of))]  # (S,)
    to_image = (scores >= own).sum(axis=0)  # its own picture is one of these
    mine = picture_of == np.arange(len(scores))[:, None]  # (N, S)
    best = np.where(mine, scores, -np.inf).max(axis=1)
    to_sentence = 1 + ((scores >= best[:, None]) & ~mine).sum(axis=1)
    return {"image_to_sentence": _figures(to_sentence), "sentence_to_image": _figures(to_image)}


def corpus_bleu(found: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> list[float]:
    """BLEU-1 … BLEU-4 in percent (Papineni et al. 2002), over all captions together.

    `references` are those of the same picture, for each caption in `found`.
    """
    matched, total = [0] * 4, [0] * 4
    length = reference_length = 0
    for words, others in zip(found, references, strict=True):
        length += len(words)
        # The reference length nearest to the caption's counts; of two as near, the shorter.
        reference_length += min((abs(len(r) - len(words)), len(r)) for r in others)[1]
        for n in range(1, 5):
            grams = _grams(words, n)
            most: Counter[tuple[str, ...]] = Counter()
            for other in others:
                most |= _grams(other, n)
            matched[n - 1] += sum((grams & most).values())
            total[n - 1] += sum(grams.values())
    if not length:
        return [0.0] * 4
    brevity = min(0.0, 1 - reference_length / length)
    with np.errstate(divide="ignore"):  # no match at all: the logarithm is -inf, and BLEU 0
        logarithms = np.cumsum(np.log(np.array(matched) / np.maximum(1, total)))
    return [float(x) for x in 100 * np.exp(brevity + logarithms / np.arange(1, 5))]


def _figures(ranks: NDArray[np.int64]) -> dict[str, float]:
    found = {f"r{k}": round(100 * float((ranks <= k).mean()), 2) for k in (1, 5, 10)}
    return {**found, "median": float(np.median(ranks))}


def _judge_captions(
    writer: Captioner,
    pictures: ClipFeatures,
    described: Sequence[DescribedClip],
    progress: ProgressCallback,
) -> dict[str, float]:
    features = np.hstack([_features(pictures, kind) for kind in writer.features])
    found = [caption_tokens(caption.text) for caption in writer.caption(features, progress)]
    references = [[caption_tokens(text) for text in picture.texts] for picture in described]
    bleu = corpus_bleu(found, references)
    return {f"bleu{n}": round(value, 2) for n, value in enumerate(bleu, 1)}


def _features(pictures: ClipFeatures, kind: str) -> NDArray[np.float32]:
    if kind not in pictures:
        raise ConfigError(f"the network has no {kind} features; choose another embedding")
    return pictures[kind].astype(np.float32)


def _network_of(trainings: Sequence[dict[str, Any]]) -> str:
    """The network whose features all models were trained on."""
    names = {str(training.get("frame_features", DEFAULT)) for training in trainings}
    if len(names) > 1:
        found = " and ".join(sorted(names))
        raise ConfigError(f"the models use the features of {found}; evaluate them one at a time")
    return names.pop()


def _grams(words: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))
