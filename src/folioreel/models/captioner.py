"""A sentence for a picture, as users run it: NumPy alone (train/captioner.py is the network).

The folder: `config.json`, `weights.safetensors`, `vocabulary.txt`, and `README.md`, the card.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.models.folders import CARD, VOCABULARY, Content, ModelFormat
from folioreel.models.vocabulary import END, PADDING, UNKNOWN, Vocabulary, training_tokens
from folioreel.progress import Progress, ProgressCallback, ignore_progress

FORMAT = ModelFormat(name="folioreel-captioner", version=1, what="captioner")
WEIGHTS = "weights.safetensors"

_APART = re.compile(r" ('(?:s|ll|re|ve|d|m)|n't)\b")
_BATCH = 64
_LONGEST = 24
Floats = NDArray[np.float32]


def caption_tokens(text: str) -> list[str]:
    """The words of a caption, as they are learned, written and compared: without punctuation."""
    return [token for token in training_tokens(text) if any(map(str.isalnum, token))]


@dataclass(frozen=True, kw_only=True)
class Caption:
    """A sentence and how likely the captioner holds it.

    The logarithm of its chance, divided by the number of its words to the power `length_power`.
    """

    text: str
    score: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Captioner:
    """All that is needed to write a sentence for a picture."""

    name: str
    features: tuple[str, ...]
    """The kinds of frame features that it sees, one after the other."""
    vocabulary: Vocabulary
    weights: dict[str, NDArray[Any]]
    """By name; a table of bytes comes with `<name>.scales`, one for each row."""
    beam: int
    """Sentences that are followed side by side."""
    length_power: float
    """Likelihoods are divided by the number of words to this power: 0 favours short sentences."""
    training: dict[str, Any]
    card: str

    @classmethod
    def load(cls, name_or_folder: str | Path = "captioner") -> Captioner:
        """The shipped captioner of this name, or the one in a folder.

        Raises:
            ModelFolderError: It is missing, damaged, of a newer version, or something else.
        """
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
        """Write a model folder.

        Raises:
            ModelFolderError: The path is taken, or cannot be written.
        """
        config = {
            "name": self.name,
            "features": list(self.features),
            "beam": self.beam,
            "length_power": self.length_power,
            "training": self.training,
        }
        files: dict[str, Content] = {
            WEIGHTS: self.weights,
            VOCABULARY: self.vocabulary,
            CARD: self.card,
        }
        FORMAT.save(folder, config, files, replace=replace)

    def caption(
        self, features: Floats, progress: ProgressCallback = ignore_progress
    ) -> list[Caption]:
        """The likeliest sentence for each picture that the beam finds: (N, D) → N captions.

        Raises:
            ValueError: The features are of another length than those it was fitted to.
        """
        return [found[0] for found in self.captions(features, 1, progress)]

    def captions(
        self, features: Floats, count: int, progress: ProgressCallback = ignore_progress
    ) -> list[list[Caption]]:
        """So many sentences for each picture, the likeliest first; fewer where no more are found.

        Raises:
            ValueError: The features are of another length than those it was fitted to.
        """
        units = self.weights["picture.weight"].shape[1]
        if features.ndim != 2 or features.shape[1] != units or count < 1:
            raise ValueError(f"{self.name} takes {units} features a picture, and writes 1 or more")
        found: list[list[Caption]] = []
        for first in range(0, len(features), _BATCH):
            batch = np.asarray(features[first : first + _BATCH], dtype=np.float32)
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
        state = self._network.start(features).repeat(beam)
        words = np.full((count * beam, 1), END, dtype=np.int64)
        # At first all beams are the same: one alone may go on.
        scores = np.where(np.arange(count * beam) % beam == 0, 0.0, -np.inf)
        ended = [_Ended(wanted) for _ in range(count)]
        for length in range(1, _LONGEST + 1):
            odds, state = self._network.step(state, words[:, -1])
            odds[:, [PADDING, UNKNOWN]] = -np.inf
            totals = (scores[:, None] + odds).reshape(count, -1)  # (N, beam · V)
            chosen = _largest(totals, 2 * beam)
            rows, ids = chosen // odds.shape[1], chosen % odds.shape[1]
            rows += np.arange(count)[:, None] * beam
            values = np.take_along_axis(totals, chosen, axis=1)
            keep = np.zeros((count, beam), dtype=np.int64)
            for picture, over in enumerate(ids == END):
                for place in np.flatnonzero(over[:beam]):
                    score = values[picture, place] / length**self.length_power
                    ended[picture].add(score, words[rows[picture, place]])
                keep[picture] = np.flatnonzero(~over)[:beam]
            rows, ids, values = (np.take_along_axis(v, keep, axis=1) for v in (rows, ids, values))
            words = np.hstack([words[rows.ravel()], ids.reshape(-1, 1)])
            scores, state = values.ravel(), state.take(rows.ravel())
            # Scores only fall: no beam can overtake what has ended, once all are below it.
            hope = values[:, 0] / _LONGEST**self.length_power
            if all(bound <= done.worst for bound, done in zip(hope, ended, strict=True)):
                break
        for picture, done in enumerate(ended):
            if not done.found:  # nothing has ended: the best so far is cut
                first = picture * beam
                done.add(scores[first] / _LONGEST**self.length_power, words[first])
        return [
            [Caption(text=self._sentence(ids[1:]), score=score) for score, ids in done.found]
            for done in ended
        ]

    def _sentence(self, ids: NDArray[np.int64]) -> str:
        """Words as a sentence is written."""
        text = _APART.sub(r"\1", self.vocabulary.decode(ids.tolist()))
        return f"{text[:1].upper()}{text[1:]}." if text else ""


class _Ended:
    """The best sentences of one picture that have come to their end, the best first."""

    def __init__(self, wanted: int) -> None:
        self.found: list[tuple[float, NDArray[np.int64]]] = []
        self._wanted = wanted

    def add(self, score: float, ids: NDArray[np.int64]) -> None:
        """Keep a sentence if it is good enough."""
        if np.isfinite(score) and score > self.worst:
            self.found.append((float(score), ids))
            self.found.sort(key=lambda entry: -entry[0])
            del self.found[self._wanted :]

    @property
    def worst(self) -> float:
        """What a sentence must be above to be kept."""
        return self.found[-1][0] if len(self.found) == self._wanted else -np.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class _State:
    """Where the writing of some sentences stands."""

    seen: Floats
    """What is kept of the picture: (B, units)."""
    state: Floats
    cell: Floats

    def take(self, rows: NDArray[np.int64]) -> _State:
        """Some of the sentences, in another order."""
        return _State(seen=self.seen[rows], state=self.state[rows], cell=self.cell[rows])

    def repeat(self, count: int) -> _State:
        """Each sentence so many times."""
        return self.take(np.repeat(np.arange(len(self.state)), count))


class _Network:
    """The network of train/captioner.py, one word at a time."""

    def __init__(self, weights: dict[str, Floats]) -> None:
        self._weights = weights

    def start(self, features: Floats) -> _State:
        """Before the first word: (B, D)."""
        seen = np.maximum(self._linear("picture", np.sqrt(np.maximum(features, 0))), 0)
        state, cell = np.split(np.tanh(self._linear("first", seen)), 2, axis=1)
        return _State(seen=seen, state=state, cell=cell)

    def step(self, before: _State, ids: NDArray[np.int64]) -> tuple[Floats, _State]:
        """The log-likelihood of each next word after those before: (B,) → (B, V)."""
        weights = self._weights
        given = np.concatenate([weights["words.weight"][ids], before.seen], axis=1)
        gates = given @ weights["lstm.weight_ih_l0"].T + weights["lstm.bias_ih_l0"]
        gates += before.state @ weights["lstm.weight_hh_l0"].T + weights["lstm.bias_hh_l0"]
        i, f, a, o = np.split(gates, 4, axis=1)
        cell = _sigmoid(f) * before.cell + _sigmoid(i) * np.tanh(a)
        state = _sigmoid(o) * np.tanh(cell)
        narrow = self._linear("narrow", np.concatenate([state, before.seen], axis=1))
        odds = narrow @ weights["words.weight"].T + weights["bias"]
        odds -= odds.max(axis=1, keepdims=True)
        odds -= np.log(np.exp(odds).sum(axis=1, keepdims=True))
        return odds, _State(seen=before.seen, state=state, cell=cell)

    def _linear(self, name: str, values: Floats) -> Floats:
        found: Floats = values @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found


def _largest(values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The places of the largest values of each row, the largest first."""
    if count < values.shape[1]:
        places = np.argpartition(-values, count - 1, axis=1)[:, :count]
        places.sort(axis=1)  # of equal ones the first comes first
    else:
        places = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    order = np.argsort(-np.take_along_axis(values, places, axis=1), axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1)


def _sigmoid(values: Floats) -> Floats:
    found: Floats = 0.5 * (1 + np.tanh(0.5 * values))
    return found
