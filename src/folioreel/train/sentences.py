"""Fitting skip-thoughts: batches out of packed books, the loop, checkpoints (paper, section 4.1).

Imports nothing but NumPy and PyTorch beside this package's light modules, so that it runs on a bare
training machine.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import END
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.train.checkpoints import load_checkpoint, save_checkpoint
from folioreel.train.skip_thought import Ragged, SkipThought, SkipThoughtConfig, Triples

_EVALUATED_EVERY = 1000
_TOLD_EVERY = 100
_TOLD_EVERY_S = 2.0
"""Progress is told after so many steps or seconds, whichever comes first."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How a model is fitted."""

    model: SkipThoughtConfig
    batch: int = 512
    """Sentences a step."""
    steps: int = 100_000
    learning_rate: float = 1e-3
    warm_up: int = 500
    """Steps until the full learning rate; it then falls to a twentieth along a cosine.

    In a short run no more than a tenth of the steps, and one at least.
    """
    largest_gradient: float = 10.0
    """Norm that gradients are clipped to, as in the skip-thoughts paper."""
    longest: int = 40
    """Words of a sentence that are read and written; the rest is cut."""
    pool: int = 256
    """Batches that are drawn together and sorted by length, so that little is padding."""
    held_out_books: int = 10
    """Books, the last ones, whose sentences are never trained on."""
    seed: int = 0


class Books:
    """Packed sentences, and triples of neighbours out of them for the training device."""

    def __init__(
        self,
        tokens: NDArray[np.uint16],
        offsets: NDArray[np.int64],
        book_of: NDArray[np.int64],
        device: torch.device,
    ) -> None:
        """Take up sentences.

        Args:
            tokens: The ids of all sentences, one after the other.
            offsets: Where each sentence begins, and at the end their number of tokens.
            book_of: The book of each sentence.
            device: Where training happens.
        """
        self.tokens = tokens
        self.offsets = offsets
        self.lengths = np.diff(offsets)
        self.book_of = book_of
        self.device = device

    def middles(self, books: range) -> NDArray[np.int64]:
        """Sentences that have words and both neighbours in their own book, in some books."""
        inner = (self.book_of[:-2] == self.book_of[1:-1]) & (self.book_of[1:-1] == self.book_of[2:])
        chosen = (self.book_of >= books.start) & (self.book_of < books.stop)
        return np.flatnonzero(inner & chosen[1:-1] & (self.lengths[1:-1] > 0)) + 1

    def triples(self, middles: NDArray[np.int64], longest: int) -> Triples:
        """The batch of some sentences with their neighbours."""
        return Triples(
            middle=self._ragged(middles, longest, written=False),
            before=self._ragged(middles - 1, longest, written=True),
            after=self._ragged(middles + 1, longest, written=True),
        )

    def _ragged(self, sentences: NDArray[np.int64], longest: int, *, written: bool) -> Ragged:
        """Sentences as they are read, or as they are written: END, words → words, END."""
        lengths = np.minimum(self.lengths[sentences], longest) + written
        order = np.argsort(-lengths, kind="stable")
        steps = np.arange(lengths[order[0]])
        real = steps[:, None] < lengths[order]  # (T, B)
        step, place = np.nonzero(real)
        row = order[place]  # (N,)
        at = self.offsets[sentences[row]] + step
        # One word beyond the corpus's end is looked up, and replaced by END, after the last book.
        words = self.tokens.take(at, mode="clip").astype(np.int64)
        targets = np.empty(0, dtype=np.int64)
        if written:
            targets = np.where(step == lengths[row] - 1, END, words)
            words = np.where(step == 0, END, self.tokens.take(at - 1, mode="clip"))
        return Ragged(
            words=self._send(words),
            targets=self._send(targets),
            sentences=self._send(row),
            order=self._send(order),
            places=self._send(np.argsort(order)),
            sizes=torch.from_numpy(real.sum(axis=1)),
        )

    def _send(self, values: NDArray[np.int64]) -> Tensor:
        """Numbers on their way to the device, without waiting for it."""
        ids = torch.from_numpy(values.astype(np.int64, copy=False))
        return ids.pin_memory().to(self.device, non_blocking=True) if self._on_gpu else ids

    @property
    def _on_gpu(self) -> bool:
        return self.device.type == "cuda"


def batches(
    books: Books, middles: NDArray[np.int64], config: TrainingConfig, first: int
) -> Iterator[Triples]:
    """Endless batches of like lengths; the order depends on the seed and the step alone."""
    step = first - first % config.pool
    while True:
        rng = np.random.default_rng((config.seed, step))
        drawn = rng.choice(middles, (config.pool * config.batch,))
        order = np.argsort(_lengths_key(books, drawn, config.longest), kind="stable")
        pool = drawn[order].reshape(config.pool, config.batch)[rng.permutation(config.pool)]
        for row in pool[max(0, first - step) :]:
            yield books.triples(row, config.longest)
        step += config.pool
        first = step


def _lengths_key(books: Books, drawn: NDArray[np.int64], longest: int) -> NDArray[np.int64]:
    """Sort by the longer neighbour first, since decoding costs most."""
    before, middle, after = (np.minimum(books.lengths[drawn + k], longest) for k in (-1, 0, 1))
    return np.maximum(before, after) // 4 * (longest + 1) + middle


def prepare_ahead(source: Iterator[Triples], count: int = 16) -> Iterator[Triples]:
    """The same batches, made in a thread while the device works on those before."""
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, source) for _ in range(count))
        while True:
            batch = waiting.popleft().result()
            waiting.append(thread.submit(next, source))
            yield batch


class Training:
    """One run: model, optimiser, step count; it can be saved and taken up again."""

    def __init__(self, config: TrainingConfig, device: torch.device) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.device = device
        self.model = SkipThought(config.model).to(device)
        fused = device.type == "cuda"
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=fused)
        self.step = 0
        self.log: list[dict[str, float]] = []

    def save(self, path: Path) -> None:
        """Everything that is needed to go on as if nothing had happened.

        Raises:
            InputError: The disk is full, or the folder cannot be written; what was there stays.
        """
        state = {
            "config": asdict(self.config),
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "log": self.log,
        }
        save_checkpoint(path, state)

    def load(self, path: Path) -> None:
        """Take up a run; a checkpoint of another configuration is refused.

        Raises:
            BadZipFile: The file is damaged; PyTorch itself does not look at the checksums.
            ConfigError: It is of another configuration.
        """
        state = load_checkpoint(path, asdict(self.config), self.device)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.log = state["step"], state["log"]

    def rate(self) -> float:
        """The learning rate of the present step."""
        config = self.config
        warm_up = max(1, min(config.warm_up, config.steps // 10))
        if self.step < warm_up:
            return config.learning_rate * (self.step + 1) / warm_up
        done = (self.step - warm_up) / max(1, config.steps - warm_up)
        return config.learning_rate * (0.05 + 0.95 * (1 + math.cos(math.pi * min(1.0, done))) / 2)

    def _mixed_precision(self) -> torch.autocast:
        """Half-width products on a GPU; a CPU is slower with them."""
        on_gpu = self.device.type == "cuda"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=on_gpu)

    def learn(self, triples: Triples) -> Tensor:
        """One step down the sum of both negative log-likelihoods."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        with self._mixed_precision():
            before, after = self.model(triples)
        self.optimizer.zero_grad(set_to_none=True)
        loss: Tensor = before + after
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.largest_gradient)
        self.optimizer.step()
        self.step += 1
        return loss.detach()

    @torch.no_grad()
    def perplexity(self, books: Books, middles: NDArray[np.int64]) -> tuple[float, float]:
        """Of both decoders on held-out sentences."""
        self.model.eval()
        sums, words = torch.zeros(2, device=self.device), np.zeros(2)
        for row in np.array_split(middles, max(1, len(middles) // self.config.batch)):
            triples = books.triples(row, self.config.longest)
            counts = [side.targets.numel() for side in (triples.before, triples.after)]
            with self._mixed_precision():
                losses = self.model(triples)
            sums += torch.stack([loss * n for loss, n in zip(losses, counts, strict=True)])
            words += counts
        self.model.train()
        before, after = np.exp(sums.cpu().numpy() / words)
        return float(before), float(after)


def train(
    training: Training,
    books: Books,
    *,
    seconds: float,
    checkpoint: Path | None = None,
    checkpoint_every_s: float = 300.0,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train until the steps are done or the time is over; returns what was measured.

    Args:
        training: The run, new or taken up.
        books: What it learns from, and is judged by.
        seconds: How long it may take.
        checkpoint: Where the run is saved, now and then and at the end.
        checkpoint_every_s: Seconds of work that a killed run loses at most, or little more.
        progress: Told of the steps that are done, every few seconds.
    """
    config = training.config
    count = int(books.book_of[-1]) + 1
    middles = books.middles(range(count - config.held_out_books))
    held_out = books.middles(range(count - config.held_out_books, count))[::7][:8192]
    # Sorted by length, as batches are in training.
    held_out = held_out[np.argsort(_lengths_key(books, held_out, config.longest), kind="stable")]
    started, first = time.perf_counter(), training.step
    told = saved = started
    losses: list[Tensor] = []
    for triples in prepare_ahead(batches(books, middles, config, training.step)):
        losses.append(training.learn(triples))
        now = time.perf_counter()
        over = training.step >= config.steps or now - started > seconds
        if training.step % _EVALUATED_EVERY == 0 or over:
            before, after = training.perplexity(books, held_out)
            training.log.append(
                {
                    "step": training.step,
                    "loss": float(torch.stack(losses).mean()),
                    "perplexity_before": before,
                    "perplexity_after": after,
                    "seconds": time.perf_counter() - started,
                }
            )
            losses.clear()
        # The count is known here without waiting for the device.
        if training.step % _TOLD_EVERY == 0 or now - told >= _TOLD_EVERY_S or over:
            progress(Progress(stage="training", done=training.step, total=config.steps))
            told = now
        if checkpoint is not None and (now - saved >= checkpoint_every_s or over):
            training.save(checkpoint)
            saved = time.perf_counter()
        if over:
            break
    if books.device.type == "cuda":
        torch.cuda.synchronize()
    elapsed = time.perf_counter() - started
    done = training.step - first
    mean_length = float(np.minimum(books.lengths[middles], config.longest).mean())
    return {
        "steps": done,
        "seconds": elapsed,
        "words_per_second": done * config.batch * mean_length / elapsed,
        "passes": training.step * config.batch / len(middles),
        "log": training.log,
    }


def choose_device(name: str) -> torch.device:
    """`cpu`, `cuda`, or with `auto` the GPU where there is one."""
    on_gpu = torch.cuda.is_available()
    if name == "cuda" and not on_gpu:
        raise ConfigError("PyTorch finds no GPU here; give --device cpu, or mend the driver")
    if name == "auto":
        name = "cuda" if on_gpu else "cpu"
    return torch.device(name)
