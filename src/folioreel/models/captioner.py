"""A sentence for a picture, as users run it: NumPy alone.

The network, an LSTM that sees the picture's features at every word, and its training are in
train/captioner.py; here it writes by beam search. The folder: `weights.safetensors`,
`vocabulary.txt`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from folioreel.models.folders import CARD, VOCABULARY, Content, ModelFormat
from folioreel.models.vocabulary import END, PADDING, UNKNOWN, Vocabulary, training_tokens
from folioreel.progress import Progress, ProgressCallback, ignore_progress

FORMAT = ModelFormat(name="folioreel-captioner", version=1, what="captioner")
WEIGHTS = "weights.safetensors"

# What the tokenizer splits off a word, to be joined to it again.
_SPLIT_OFF = re.compile(r" ('(?:s|ll|re|ve|d|m)|n't)\b")
# Pictures that are searched at a time. The scores of all words for all their beams are in memory
# at once: 64 pictures, a beam of 5 and 10,000 words take 13 MB.
_BATCH_SIZE = 64
# Words after which a sentence is cut. Captions have ten or so, so that hardly one gets there.
_LONGEST = 24
Floats = NDArray[np.float32]
_Ended = tuple[float, NDArray[np.int64]]  # a finished sentence: its score and its words


def caption_tokens(text: str) -> list[str]:
    """The words of a caption for training, writing and comparing: without punctuation."""
    return [token for token in training_tokens(text) if any(map(str.isalnum, token))]


@dataclass(frozen=True, kw_only=True)
class Caption:
    """A sentence for a picture."""

    text: str
    score: float  # its log-likelihood, divided by (the number of its words) ** length_power


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Captioner:
    """Writes sentences for pictures, given their features."""

    name: str
    features: tuple[str, ...]  # the kinds of frame features that it takes, concatenated
    vocabulary: Vocabulary
    weights: dict[str, NDArray[Any]]  # a table of bytes has a scale for each row in `<name>.scales`
    beam: int  # the beam's width: sentences that are followed side by side
    length_power: float  # see `Caption.score`; 0 favours short sentences
    training: dict[str, Any]
    card: str

    @classmethod
    def load(cls, name_or_folder: str | Path = "captioner") -> Captioner:
        """The shipped captioner of this name, or the one in a folder (`ModelFormat.open`)."""
        with FORMAT.open(name_or_folder) as folder:
            config = folder.config
            return cls(
                name=str(config["name"]),
                features=tuple(map(str, config["features"])),
                vocabulary=folder.vocabulary(),
                weights=folder.arrays(WEIGHTS),
                beam=int(config["beam"]),
                length_power=float(config["length_power"]),
                training=dict(config["training"]),
                card=folder.card,
            )

    def save(self, folder: Path, *, replace: bool = False) -> None:
        """Write a model folder; `ModelFormat.save` says what is refused."""
        config = {
            "name": self.name,
            "features": list(self.features),
            "beam": self.beam,
            "length_power": self.length_power,
            "training": self.training,
        }
        words: dict[str, Content] = {VOCABULARY: self.vocabulary, CARD: self.card}
        FORMAT.save(folder, config, {WEIGHTS: self.weights, **words}, replace=replace)

    def caption(
        self, features: Floats, progress: ProgressCallback = ignore_progress
    ) -> list[Caption]:
        """The likeliest sentence that the beam finds for each picture: (N, D) → N captions."""
        return [found[0] for found in self.captions(features, 1, progress)]

    def captions(
        self, features: Floats, count: int, progress: ProgressCallback = ignore_progress
    ) -> list[list[Caption]]:
        """The `count` likeliest sentences for each picture; fewer where no more are found."""
        units = self.weights["picture.weight"].shape[1]
        if features.ndim != 2 or features.shape[1] != units or count < 1:
            raise ValueError(f"{self.name} takes {units} features per picture, and count from 1")
        found: list[list[Caption]] = []
        for first in range(0, len(features), _BATCH_SIZE):
            batch = np.asarray(features[first : first + _BATCH_SIZE], dtype=np.float32)
            found += self._search(batch, count)
            progress(Progress(stage="writing captions", done=len(found), total=len(features)))
        return found

    @cached_property
    def _network(self) -> _Network:
        weights = {name: value.astype(np.float32) for name, value in self.weights.items()}
        for name in [name for name in weights if f"{name}.scales" in weights]:
            weights[name] *= weights.pop(f"{name}.scales")[:, None]
        return _Network(weights)

    def _search(self, features: Floats, wanted: int) -> list[list[Caption]]:
        """Beam search over all pictures of a batch at once."""
        count, beam = len(features), max(self.beam, wanted)
        state = self._network.start(features).take(np.repeat(np.arange(count), beam))
        words = np.full((count * beam, 1), END, dtype=np.int64)
        # All beams of a picture start equal; only one may go on, or they would stay copies.
        scores = np.where(np.arange(count * beam) % beam == 0, 0.0, -np.inf)
        ended: list[list[_Ended]] = [[] for _ in range(count)]  # of each picture, the best first
        for length in range(1, _LONGEST + 1):
            likelihoods, state = self._network.step(state, words[:, -1])  # (N · beam, V)
            likelihoods[:, [PADDING, UNKNOWN]] = -np.inf
            totals = (scores[:, None] + likelihoods).reshape(count, -1)  # (N, beam · V)
            # Twice the beam: should every one of them end here, as many others go on.
            chosen = _largest(totals, 2 * beam)
            rows, ids = np.divmod(chosen, likelihoods.shape[1])
            rows += np.arange(count)[:, None] * beam
            values = np.take_along_axis(totals, chosen, axis=1)
            keep = np.zeros((count, beam), dtype=np.int64)
            for picture, over in enumerate(ids == END):
                for place in np.flatnonzero(over[:beam]):
                    score = values[picture, place] / length**self.length_power
                    ended[picture].append((float(score), words[rows[picture, place]]))
                ended[picture] = _best(ended[picture], wanted)
                keep[picture] = np.flatnonzero(~over)[:beam]
            rows, ids, values = (np.take_along_axis(v, keep, axis=1) for v in (rows, ids, values))
            words = np.hstack([words[rows.ravel()], ids.reshape(-1, 1)])
            scores, state = values.ravel(), state.take(rows.ravel())
            # Scores only fall: no beam can overtake what has ended, once all are below it.
            hope = values[:, 0] / _LONGEST**self.length_power
            worst = [done[-1][0] if len(done) == wanted else -np.inf for done in ended]
            if (hope <= np.array(worst)).all():
                break
        for done, score, ids in zip(ended, scores[::beam], words[::beam], strict=True):
            if not done:  # no sentence has ended: cut the best
                done += _best([(float(score / _LONGEST**self.length_power), ids)], 1)
        return [[self._caption(*found) for found in done] for done in ended]

    def _caption(self, score: float, ids: NDArray[np.int64]) -> Caption:
        """Words as a sentence; the first id is what all sentences start from."""
        text = _SPLIT_OFF.sub(r"\1", self.vocabulary.decode(ids[1:].tolist()))
        return Caption(text=f"{text[:1].upper()}{text[1:]}." if text else "", score=score)


def _best(ended: list[_Ended], wanted: int) -> list[_Ended]:
    possible = [entry for entry in ended if np.isfinite(entry[0])]
    return sorted(possible, key=lambda entry: -entry[0])[:wanted]


class _State(NamedTuple):
    """The state of the network after the words so far, for some sentences."""

    seen: Floats  # the picture, as the network sees it: (B, units)
    state: Floats
    cell: Floats

    def take(self, rows: NDArray[np.int64]) -> _State:
        """The state for some of the sentences, in any order."""
        return _State(*(values[rows] for values in self))


class _Network:
    """The network of train/captioner.py, one word at a time."""

    def __init__(self, weights: dict[str, Floats]) -> None:
        self._weights = weights

    def start(self, features: Floats) -> _State:
        """The state before the first word, by the features: (B, D)."""
        # As in training: square roots keep the few largest features from outweighing the rest.
        seen = np.maximum(self._linear("picture", np.sqrt(np.maximum(features, 0))), 0)
        state, cell = np.split(np.tanh(self._linear("first", seen)), 2, axis=1)
        return _State(seen=seen, state=state, cell=cell)

    def step(self, before: _State, ids: NDArray[np.int64]) -> tuple[Floats, _State]:
        """The log-likelihood of each next word, given the last ones: (B,) → (B, V)."""
        weights = self._weights
        given = np.concatenate([weights["words.weight"][ids], before.seen], axis=1)
        gates = given @ weights["lstm.weight_ih_l0"].T + weights["lstm.bias_ih_l0"]
        gates += before.state @ weights["lstm.weight_hh_l0"].T + weights["lstm.bias_hh_l0"]
        i, f, a, o = np.split(gates, 4, axis=1)  # PyTorch's order: input, forget, cell, output
        cell = _sigmoid(f) * before.cell + _sigmoid(i) * np.tanh(a)
        state = _sigmoid(o) * np.tanh(cell)
        narrow = self._linear("narrow", np.concatenate([state, before.seen], axis=1))
        logits = narrow @ weights["words.weight"].T + weights["bias"]
        # The log-softmax; without the maximum taken off first, exp would overflow.
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits, _State(seen=before.seen, state=state, cell=cell)

    def _linear(self, name: str, values: Floats) -> Floats:
        found: Floats = values @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found


def _largest(values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The columns of the largest values of each row, the largest first."""
    if count < values.shape[1]:
        places = np.argpartition(-values, count - 1, axis=1)[:, :count]
        places.sort(axis=1)  # so that among equal values the first comes first
    else:
        places = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    order = np.argsort(-np.take_along_axis(values, places, axis=1), axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1)


def _sigmoid(values: Floats) -> Floats:
    found: Floats = 0.5 * (1 + np.tanh(0.5 * values))
    return found
