"""New encoders from existing ones: with more words, or several joined into one.

`expand_vocabulary` adds words that a model was not trained on, from other word vectors. As in the
skip-thoughts paper, to which the paper's section 4.1 points: an unregularised linear regression
from the other space to the model's, fitted on the words that both know, gives a vector to every
word of the other space. It has a constant term, as in the published code; words that the model
knows keep their own vectors. `combine_encoders` makes combine-skip out of uni- and bi-skip.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError, InputError
from folioreel.models.onnx_graphs import quantize_rows
from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary, training_tokens
from folioreel.models.word_encoder import EncoderModel, EncoderPart
from folioreel.models.word_vectors import WordVector, WordVectors, open_word_vectors
from folioreel.progress import Progress, ProgressCallback, ignore_progress

_BLOCK = 4096
"""Words that are mapped at a time."""
_HELD_OUT = 10
"""One shared word in so many is kept from the fit that is judged."""


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """A model with more words, and how that went."""

    model: EncoderModel
    known: int
    """Words that both knew, on which the map was fitted."""
    added: int
    """Words that the model did not know and now does."""
    cosine: float
    """Mean cosine of mapped and true vectors, the parts' joined, on a held-out tenth of those."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Survey:
    """What a first reading finds."""

    shared: NDArray[np.int64]
    """The model's ids of the words that both know: (N,)."""
    vectors: NDArray[np.float32]
    """Their vectors in the other space: (N, other units)."""
    new: dict[str, int]
    """Each word to add → the entry that its vector is taken from."""
    read: int
    """How many entries there are."""


def expand_vocabulary(
    model: EncoderModel,
    vectors: Path | Iterable[WordVector],
    limit: int | None = None,
    progress: ProgressCallback = ignore_progress,
) -> Expansion:
    """Give a model the words of a file of word vectors.

    The file is read twice. What is held beside the new model is bounded by the model's own
    vocabulary: the vectors of the words that both know.

    Args:
        model: The model; it is left as it is.
        vectors: A file of word vectors, or the words with their vectors, to go through twice.
        limit: At most how many words are added: the first ones, which in most files are the most
            frequent.
        progress: Told how many words were read, in each of the two readings.

    Raises:
        InputError: The file cannot be read, or shares too few words with the model.
    """
    source = vectors if isinstance(vectors, Path) else None
    entries = open_word_vectors(vectors) if isinstance(vectors, Path) else vectors
    if isinstance(entries, Iterator):
        raise ValueError("the vectors are gone through twice: give a list or a path")
    promised = entries.promised if isinstance(entries, WordVectors) else None
    first_reading = _told(entries, "finding shared words", promised or 0, progress)
    survey = _survey(model.vocabulary, first_reading, limit)
    needed = math.ceil((survey.vectors.shape[1] + 1) * _HELD_OUT / (_HELD_OUT - 1))
    if len(survey.shared) <= needed:
        raise InputError(
            f"shares {len(survey.shared)} words with the model, and a map between them needs more "
            f"than {needed}; is it of the model's language, with words in lower case?",
            source,
        )
    truth = np.concatenate([_rows(part)[survey.shared] for part in model.parts], axis=1)
    cosine = _held_out_cosine(survey.vectors, truth)
    # One solution for all parts: its columns belong to them in turn.
    ends = np.cumsum([part.word_units for part in model.parts])[:-1]
    maps = np.split(_fit(survey.vectors, truth), ends, axis=1)
    second_reading = _told(entries, "adding words", survey.read, progress)
    parts = _with_new_rows(model.parts, maps, _chosen(second_reading, survey.new))
    known, added = len(survey.shared), len(survey.new)
    note = {"known": known, "added": added, "held_out_cosine": round(cosine, 4)}
    expanded = replace(
        model,
        vocabulary=Vocabulary(
            words=(*model.vocabulary.words, *survey.new),
            counts=(*model.vocabulary.counts, *[0] * added),
        ),
        parts=parts,
        training={**model.training, "expansion": note},
        card=f"{model.card.rstrip()}\n\n{_card(note)}\n",
    )
    return Expansion(model=expanded, known=known, added=added, cosine=cosine)


def _survey(vocabulary: Vocabulary, entries: Iterable[WordVector], limit: int | None) -> _Survey:
    """Gather the shared words' vectors, and where those of the new words stand."""
    ids = vocabulary.ids
    shared: dict[int, NDArray[np.float32]] = {}
    new: dict[str, int] = {}
    lower: set[str] = set()
    number = -1
    for number, (name, vector) in enumerate(entries):
        word = name.lower()
        # A word's own vector is that of its lower-case form; `Paris` serves where that is missing.
        exact = word == name
        if (known := ids.get(word)) is not None:
            if exact and known >= len(SPECIAL_TOKENS):
                shared.setdefault(known, vector)
        elif word in new:
            if exact and word not in lower:
                new[word] = number
                lower.add(word)
        elif (limit is None or len(new) < limit) and training_tokens(word) == [word]:
            new[word] = number
            if exact:
                lower.add(word)
    units = len(next(iter(shared.values()))) if shared else 0
    gathered = np.array(list(shared.values()), dtype=np.float32).reshape(len(shared), units)
    ids_shared = np.array(list(shared), dtype=np.int64)
    return _Survey(shared=ids_shared, vectors=gathered, new=new, read=number + 1)


def _told(
    entries: Iterable[WordVector], stage: str, total: int, progress: ProgressCallback
) -> Iterator[WordVector]:
    """The entries, while progress is told of them now and then."""
    done = 0
    for done, entry in enumerate(entries, 1):
        if done % _BLOCK == 0:
            progress(Progress(stage=stage, done=done, total=max(total, done)))
        yield entry
    progress(Progress(stage=stage, done=done, total=done))


def _chosen(
    entries: Iterable[WordVector], new: dict[str, int]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """The vectors of the new words in blocks, each with its places among the new words."""
    place_of = {number: place for place, number in enumerate(new.values())}
    places: list[int] = []
    block: list[NDArray[np.float32]] = []
    for number, (_, vector) in enumerate(entries):
        if (place := place_of.get(number)) is not None:
            places.append(place)
            block.append(vector)
        if len(block) == _BLOCK:
            yield np.array(places), np.stack(block)
            places, block = [], []
    if block:
        yield np.array(places), np.stack(block)


def _with_new_rows(
    parts: tuple[EncoderPart, ...],
    maps: list[NDArray[np.float64]],
    chosen: Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]],
) -> tuple[EncoderPart, ...]:
    # Blocks come in the order of the entries, which is nearly that of the places, but not quite.
    order: list[NDArray[np.int64]] = []
    words: list[list[NDArray[np.int8]]] = [[] for _ in parts]
    scales: list[list[NDArray[np.float32]]] = [[] for _ in parts]
    for places, vectors in chosen:
        order.append(places)
        for k, map_ in enumerate(maps):
            rows, row_scales = quantize_rows(_apply(map_, vectors))
            words[k].append(rows)
            scales[k].append(row_scales)
    if not order:
        return parts
    sorting = np.argsort(np.concatenate(order))
    return tuple(
        replace(
            part,
            words=np.concatenate([part.words, np.concatenate(words[k])[sorting]]),
            scales=np.concatenate([part.scales, np.concatenate(scales[k])[sorting]]),
        )
        for k, part in enumerate(parts)
    )


def _held_out_cosine(vectors: NDArray[np.float32], truth: NDArray[np.float32]) -> float:
    """How well a fit on nine tenths does on the last."""
    held_out = np.arange(len(vectors)) % _HELD_OUT == _HELD_OUT - 1
    mapped = _apply(_fit(vectors[~held_out], truth[~held_out]), vectors[held_out])
    products = np.sum(mapped * truth[held_out], axis=1)
    lengths = np.linalg.norm(mapped, axis=1) * np.linalg.norm(truth[held_out], axis=1)
    return float(np.mean(products / np.maximum(lengths, 1e-12)))


def _fit(vectors: NDArray[np.float32], truth: NDArray[np.float32]) -> NDArray[np.float64]:
    """Least squares: (other units + 1, word units), the constant term last."""
    inputs = np.ones((len(vectors), vectors.shape[1] + 1))
    inputs[:, :-1] = vectors
    solution: NDArray[np.float64] = np.linalg.lstsq(inputs, truth.astype(np.float64), rcond=None)[0]
    return solution


def _apply(map_: NDArray[np.float64], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    mapped: NDArray[np.float64] = vectors @ map_[:-1] + map_[-1]
    return mapped


def _rows(part: EncoderPart) -> NDArray[np.float32]:
    """The word vectors of a part: (V, word units)."""
    return part.words.astype(np.float32) * part.scales[:, None]


def _card(note: dict[str, float]) -> str:
    return (
        f"Its vocabulary was expanded by {note['added']} words: a linear map, fitted on "
        f"{note['known']} words that both knew, brought them from other word vectors. On a "
        f"held-out tenth the mapped vectors have a mean cosine of {note['held_out_cosine']} "
        "with the true ones."
    )


def combine_encoders(models: Sequence[EncoderModel], name: str) -> EncoderModel:
    """One encoder that concatenates the vectors of several: uni- and bi-skip give combine-skip.

    Args:
        models: Encoders with one vocabulary, in the order of their vectors.
        name: The name of the new encoder.

    Raises:
        ConfigError: They cut or read sentences differently, or two have a part of the same name.
    """
    if len(models) < 2:
        raise ValueError("it takes two encoders or more to combine")
    first = models[0]
    for model in models[1:]:
        if model.vocabulary.words != first.vocabulary.words:
            raise ConfigError(
                f"{first.name} and {model.name} know different words ({len(first.vocabulary):,} "
                f"and {len(model.vocabulary):,}); combine encoders of one vocabulary"
            )
        for setting in ("longest", "normalize", "back_off"):
            ours, theirs = getattr(first, setting), getattr(model, setting)
            if ours != theirs:
                raise ConfigError(
                    f"{first.name} and {model.name} differ in {setting} ({ours} and {theirs}); "
                    "combine encoders that read sentences alike"
                )
    parts = tuple(part for model in models for part in model.parts)
    names = [part.name for part in parts]
    twice = next((part for part in names if names.count(part) > 1), None)
    if twice is not None:
        raise ConfigError(f"two of the encoders have a part {twice}; combine different ones")
    # Parts of one built-in model come with one card and one account of their training.
    cards = dict.fromkeys(model.card.strip() for model in models)
    return replace(
        first,
        name=name,
        parts=parts,
        training={"combined": [{"name": m.name, "training": m.training} for m in models]},
        card="\n\n".join([f"# {name}\n\nThe vectors of {_listed(models)}, joined.", *cards]) + "\n",
    )


def _listed(models: Sequence[EncoderModel]) -> str:
    names = [model.name for model in models]
    return f"{', '.join(names[:-1])} and {names[-1]}"
