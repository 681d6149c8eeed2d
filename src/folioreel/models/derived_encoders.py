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
from folioreel.models.word_encoder import EncoderPart, WordEncoder
from folioreel.models.word_vectors import WordVector, WordVectors, open_word_vectors
from folioreel.progress import Progress, ProgressCallback, ignore_progress

_BLOCK = 4096
"""Words that are mapped at a time: a file may have millions, and is never held whole."""
_HELD_OUT = 10
"""One shared word in ten is held out from the fit that is reported on."""


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """A model with more words, and how well the map fits."""

    model: WordEncoder
    known: int
    """Words in both vocabularies, on which the map was fitted."""
    added: int
    cosine: float
    """Mean cosine of mapped and true vectors, over a held-out tenth of the known words."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Survey:
    """What the first reading finds."""

    shared: NDArray[np.int64]
    """The model's ids of the words in both vocabularies: (N,)."""
    vectors: NDArray[np.float32]
    """Their vectors in the other space: (N, other units)."""
    new: dict[str, int]
    """Each word to add → the number of the entry that its vector is taken from."""
    read: int
    """How many entries there are."""


def expand_vocabulary(
    model: WordEncoder,
    vectors: Path | Iterable[WordVector],
    limit: int | None = None,
    progress: ProgressCallback = ignore_progress,
) -> Expansion:
    """Give a model the words of a file of word vectors.

    The file is read twice, and only the vectors of the words that both know are held in memory.

    Args:
        model: The model; it is left as it is.
        vectors: A file of word vectors, or the words with their vectors.
        limit: The most words to add: the first ones, which in most files are the most frequent.
        progress: Told how many words were read, in each of the two readings.

    Raises:
        InputError: The file cannot be read, or shares too few words with the model.
    """
    source = vectors if isinstance(vectors, Path) else None
    entries = open_word_vectors(vectors) if isinstance(vectors, Path) else vectors
    if isinstance(entries, Iterator):
        raise ValueError("the vectors are read twice: give a list or a path")
    promised = (entries.promised if isinstance(entries, WordVectors) else None) or 0
    first_reading = _tell_progress(entries, "finding shared words", promised, progress)
    survey = _survey(model.vocabulary, first_reading, limit)
    # Each column of the regression has `other units + 1` unknowns: below that it fits anything.
    needed = math.ceil((survey.vectors.shape[1] + 1) * _HELD_OUT / (_HELD_OUT - 1))
    if len(survey.shared) <= needed:
        raise InputError(
            f"shares {len(survey.shared)} words with the model, and a map between them needs more "
            f"than {needed}; is it of the model's language, with words in lower case?",
            source,
        )
    truth = np.concatenate([_rows(part)[survey.shared] for part in model.parts], axis=1)
    cosine = _held_out_cosine(survey.vectors, truth)
    second_reading = _tell_progress(entries, "adding words", survey.read, progress)
    blocks = _select(second_reading, survey.new)
    parts = _with_new_rows(model.parts, _fit(survey.vectors, truth), blocks, len(survey.new))
    expanded = _with_words(model, parts, survey, round(cosine, 4))
    return Expansion(model=expanded, known=len(survey.shared), added=len(survey.new), cosine=cosine)


def _with_words(
    model: WordEncoder, parts: tuple[EncoderPart, ...], survey: _Survey, cosine: float
) -> WordEncoder:
    """The model with the new words, and with where they come from in its card."""
    known, added = len(survey.shared), len(survey.new)
    note = {"known": known, "added": added, "held_out_cosine": cosine}
    # How often the new words occur in the training corpus is not known; as good as never.
    vocabulary = Vocabulary(
        words=(*model.vocabulary.words, *survey.new),
        counts=(*model.vocabulary.counts, *[0] * added),
    )
    return replace(
        model,
        parts=parts,
        vocabulary=vocabulary,
        training={**model.training, "expansion": note},
        card=f"{model.card.rstrip()}\n\nIts vocabulary was expanded by {added} words: a linear map,"
        f" fitted on {known} words that both knew, brought them from other word vectors. On a"
        f" held-out tenth the mapped vectors have a mean cosine of {cosine} with the true ones.\n",
    )


def _survey(vocabulary: Vocabulary, entries: Iterable[WordVector], limit: int | None) -> _Survey:
    """Gather the shared words' vectors, and where those of the new words are."""
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
            continue
        if word not in new:
            # Only what the tokenizer leaves in one piece can ever be looked up.
            if (limit is not None and len(new) >= limit) or training_tokens(word) != [word]:
                continue
        elif not exact or word in lower:
            continue
        new[word] = number
        if exact:
            lower.add(word)
    units = len(next(iter(shared.values()))) if shared else 0
    gathered = np.array(list(shared.values()), dtype=np.float32).reshape(len(shared), units)
    ids_shared = np.array(list(shared), dtype=np.int64)
    return _Survey(shared=ids_shared, vectors=gathered, new=new, read=number + 1)


def _tell_progress(
    entries: Iterable[WordVector], stage: str, total: int, progress: ProgressCallback
) -> Iterator[WordVector]:
    done = 0
    for done, entry in enumerate(entries, 1):
        if done % _BLOCK == 0:
            progress(Progress(stage=stage, done=done, total=max(total, done)))
        yield entry
    progress(Progress(stage=stage, done=done, total=done))


Block = tuple[list[int], NDArray[np.float32]]
"""Places among the new words, and the vectors for them."""


def _select(entries: Iterable[WordVector], new: dict[str, int]) -> Iterator[Block]:
    """The vectors of the new words, a block at a time."""
    place_of = {number: place for place, number in enumerate(new.values())}
    places: list[int] = []
    block: list[NDArray[np.float32]] = []
    for number, (_, vector) in enumerate(entries):
        if (place := place_of.get(number)) is not None:
            places.append(place)
            block.append(vector)
        if len(block) == _BLOCK:
            yield places, np.stack(block)
            places, block = [], []
    if block:
        yield places, np.stack(block)


def _with_new_rows(
    parts: Sequence[EncoderPart],
    solution: NDArray[np.float64],
    blocks: Iterator[Block],
    added: int,
) -> tuple[EncoderPart, ...]:
    """The parts with a row for each new word; the solution's columns are theirs in turn."""
    ends = np.cumsum([part.word_units for part in parts])[:-1]
    maps = np.split(solution, ends, axis=1)
    words = [np.zeros((added, part.word_units), dtype=np.int8) for part in parts]
    scales = [np.zeros(added, dtype=np.float32) for _ in parts]
    for places, vectors in blocks:
        for k, map_ in enumerate(maps):
            words[k][places], scales[k][places] = quantize_rows(_apply(map_, vectors))
    return tuple(
        replace(
            part,
            words=np.concatenate([part.words, words[k]]),
            scales=np.concatenate([part.scales, scales[k]]),
        )
        for k, part in enumerate(parts)
    )


def _held_out_cosine(vectors: NDArray[np.float32], truth: NDArray[np.float32]) -> float:
    """How well a fit on nine tenths does on the last."""
    held_out = np.arange(len(vectors)) % _HELD_OUT == _HELD_OUT - 1
    mapped = _apply(_fit(vectors[~held_out], truth[~held_out]), vectors[held_out])
    products = np.sum(mapped * truth[held_out], axis=1)
    lengths = np.linalg.norm(mapped, axis=1) * np.linalg.norm(truth[held_out], axis=1)
    return float(np.mean(products / np.maximum(lengths, 1e-12)))  # a word may map to zero


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


def combine_encoders(models: Sequence[WordEncoder], name: str) -> WordEncoder:
    """One encoder that concatenates the vectors of several, in their order.

    Raises:
        ConfigError: They do not read sentences alike, or two have a part of the same name.
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
    *others, last = (model.name for model in models)
    title = f"# {name}\n\nThe vectors of {', '.join(others)} and {last}, joined."
    # Parts of one shipped model have the same card.
    cards = dict.fromkeys(model.card.strip() for model in models)
    return replace(
        first,
        name=name,
        parts=parts,
        training={"combined": [{"name": m.name, "training": m.training} for m in models]},
        card="\n\n".join([title, *cards]) + "\n",
    )
