"""The training loop of every network here: epochs, validation, checkpoints, resuming, best weights.

A network's own file subclasses `Training` and says what a batch is, what it costs, and how the
network is validated. All else happens here, so that each run can be stopped at any time, continues
where it was, and ends with the same weights as a run that was never stopped.

Imports nothing but PyTorch besides this package's light modules, so that it runs on a bare GPU
machine (training/).
"""

from __future__ import annotations

import math
import time
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, ClassVar, Generic, Literal, TypeVar

import torch
from torch import Tensor, nn

from folioreel.errors import ConfigError, InputError
from folioreel.files import replacing
from folioreel.progress import Progress, ProgressCallback, ignore_progress

Batch = TypeVar("Batch")

# What PyTorch and zipfile raise for a file that is cut short, overwritten or not a checkpoint.
_DAMAGE = (
    *(OSError, EOFError, LookupError, RuntimeError, ValueError),
    *(UnpicklingError, zipfile.BadZipFile),
)


class Training(ABC, Generic[Batch]):
    """One run: a network, its optimiser and the steps taken so far.

    Steps are counted in units, either epochs or single steps. A run is validated, saved and stopped
    between units only: there, the state of the network and the optimiser is all there is to save.
    The random numbers of a unit must therefore depend on the seed and the unit alone.
    """

    network: nn.Module
    unit: ClassVar[Literal["epoch", "step"]] = "epoch"
    best_metric: ClassVar[str | None] = None
    """The validation metric whose best weights are kept; None keeps the last weights."""
    higher_is_better: ClassVar[bool] = True
    clip_norm: float | None = None  # the norm that gradients are clipped to
    validate_every: int = 1  # units between validations; the last unit of a run is always validated
    checkpoint_every_s: float = 60.0
    """Seconds of work that a killed run loses at most, or one unit if that takes longer."""

    def __init__(
        self,
        config: Any,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        total: int,
        unit_steps: int = 1,
    ) -> None:
        # A dataclass of all that the result depends on, besides the data: a checkpoint only fits a
        # run with an equal one.
        self.config = config
        self.optimizer = optimizer  # its parameter groups may have a `share` of the learning rate
        self.total = total  # units
        self.unit_steps = unit_steps  # steps in each unit
        self.step = 0
        self.best: dict[str, Any] = {}
        self.log: list[dict[str, float]] = []
        self.network = network
        self._started, self._seconds = time.perf_counter(), math.inf

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """The batches from the present step on, at least up to the last step."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """What is minimised."""

    @abstractmethod
    def learning_rate(self, done: float) -> float:
        """The learning rate once a share of the run, from 0 to 1, is done."""

    def warm_up_and_fall(self, done: float) -> float:
        """A schedule for `learning_rate`: `warm_up` steps of rising, then a cosine down to 0.

        It ends with the steps or the time, whichever ends first.
        """
        rate = self.config.learning_rate * min(1.0, (self.step + 1) / self.config.warm_up)
        done = min(1.0, max(done, self.time_used))
        return float(rate * (1 + math.cos(math.pi * done)) / 2)

    def validate(self) -> dict[str, float]:
        """Metrics on held-out examples; the network is in evaluation mode."""
        return {}

    @property
    def done(self) -> int:
        """Units that are finished."""
        return self.step // self.unit_steps

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    @property
    def time_used(self) -> float:
        """The share of the time limit of `fit` that has passed."""
        return (time.perf_counter() - self._started) / self._seconds

    def mixed_precision(self) -> torch.autocast:
        """Products in bfloat16 on a GPU, where they are several times as fast; not on a CPU."""
        on_gpu = self.device.type == "cuda"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=on_gpu)

    def set_learning_rate(self) -> None:
        """Set the learning rate of the present step."""
        inside = self.step % self.unit_steps / self.unit_steps
        rate = self.learning_rate((self.done + inside) / self.total)
        for group in self.optimizer.param_groups:
            group["lr"] = group.get("share", 1.0) * rate

    def learn(self, batch: Batch) -> Tensor:
        """One step of the optimiser; returns the loss."""
        self.set_learning_rate()
        loss = self.loss(batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.clip_norm)
        self.optimizer.step()
        self.step += 1
        return loss.detach()

    def fit(
        self,
        *,
        seconds: float = math.inf,
        checkpoint: Path | None = None,
        progress: ProgressCallback = ignore_progress,
    ) -> dict[str, Any]:
        """Train to the end, or until `seconds` are over; the network gets its best weights.

        A checkpoint that exists is continued, and the run is saved to it regularly.

        Returns the best metrics, the steps and seconds of this call, and the whole run's log.
        """
        if checkpoint is not None and checkpoint.exists():
            self.load(checkpoint)
        first = self.step
        self._started, self._seconds = time.perf_counter(), seconds
        self._settled_at = self.step  # the last step after which nothing was left to do
        self.network.train()
        try:
            if self.done < self.total:
                self._fit(checkpoint, progress)
        except KeyboardInterrupt:
            # Within an epoch, validation included, no run could continue from exactly this state.
            if checkpoint is not None and self.step == self._settled_at:
                self.save(checkpoint)
            raise
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            raise ConfigError("out of memory; use a smaller --batch or --units") from error
        if self.best:
            self.network.load_state_dict(self.best["weights"], strict=False)
        self.network.eval()
        return {
            "best": {key: value for key, value in self.best.items() if key != "weights"},
            "steps": self.step - first,
            "seconds": time.perf_counter() - self._started,
            "log": self.log,
        }

    def _fit(self, checkpoint: Path | None, progress: ProgressCallback) -> None:
        losses: list[Tensor] = []  # left on the device: reading each one would wait for the GPU
        saved = self._started
        for batch in self.batches():
            losses.append(self.learn(batch))
            if self.step % self.unit_steps:
                continue
            now = time.perf_counter()
            over = self.done >= self.total or now - self._started > self._seconds
            if over or self.done % self.validate_every == 0:
                self._validate(float(torch.stack(losses).mean()))
                losses.clear()
            self._settled_at = self.step
            if checkpoint is not None and (over or now - saved >= self.checkpoint_every_s):
                self.save(checkpoint)
                saved = time.perf_counter()
            progress(Progress(stage="training", done=self.done, total=self.total))
            if over:
                return

    @torch.no_grad()
    def _validate(self, loss: float) -> None:
        """Log the metrics, and keep the weights if they are the best so far."""
        self.network.eval()
        metrics = self.validate()
        self.network.train()
        if not metrics:
            return
        seconds = time.perf_counter() - self._started
        self.log.append({self.unit: self.done, "loss": loss, **metrics, "seconds": seconds})
        if self.best_metric is None:
            return
        sign = 1 if self.higher_is_better else -1
        best = sign * self.best[self.best_metric] if self.best else -math.inf
        if sign * metrics[self.best_metric] > best:
            # Frozen weights, such as a large table of word vectors, need not be kept twice.
            frozen = {k for k, v in self.network.named_parameters() if not v.requires_grad}
            state = self.network.state_dict()
            weights = {k: v.detach().clone() for k, v in state.items() if k not in frozen}
            self.best = {**metrics, self.unit: self.done, "weights": weights}

    def save(self, path: Path) -> None:
        """Write all that is needed to continue the run; if that fails, the old file stays."""
        state = {
            "config": asdict(self.config),
            "step": self.step,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "log": self.log,
        }
        with replacing(path) as unfinished:
            try:
                torch.save(state, unfinished)
            except RuntimeError as error:
                # PyTorch's name for a failed write; other errors, of the GPU for example, are not
                # for the user to solve by freeing disk space.
                if "inline_container" not in str(error):
                    raise
                raise InputError("cannot be written; free some disk space", path) from error

    def load(self, path: Path) -> None:
        """Continue from a checkpoint."""
        try:
            # PyTorch does not check the checksums of its own files.
            with zipfile.ZipFile(path) as archive:
                if archive.testzip() is not None:
                    raise zipfile.BadZipFile
            state = torch.load(path, map_location=self.device, weights_only=True)
            differences = _differences(state["config"], asdict(self.config))
            if not differences:
                self.network.load_state_dict(state["network"])
                self.optimizer.load_state_dict(state["optimizer"])
                self.step, self.best, self.log = state["step"], state["best"], state["log"]
        except _DAMAGE as error:
            raise InputError("is damaged; remove it to start over", path) from error
        if differences:
            raise ConfigError(
                f"{path} is a checkpoint of other settings ({'; '.join(differences)}); "
                "repeat those settings, choose another --out, or remove it"
            )


def _differences(theirs: dict[str, Any], ours: dict[str, Any], inside: str = "") -> list[str]:
    """Each setting that differs, as `model.units: 32 there, 64 here`."""
    found: list[str] = []
    for key, value in ours.items():
        other = theirs.get(key)
        if isinstance(value, dict) and isinstance(other, dict):
            found += _differences(other, value, f"{inside}{key}.")
        elif value != other:
            found.append(f"{inside}{key}: {other} there, {value} here")
    return found


def check_least(config: Any, least: float, *names: str) -> None:
    """Check that some fields of a configuration are finite numbers of at least `least`."""
    for name in names:
        value = getattr(config, name)
        if not least <= value < math.inf:
            raise ConfigError(f"{name} must be at least {least:g}, not {value}")


def check_shares(config: Any, *names: str, below_one: bool = False) -> None:
    """Check that some fields of a configuration are between 0 and 1, or at least 0 and below 1."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value <= 1 or (below_one and value == 1):
            limits = "at least 0 and below 1" if below_one else "between 0 and 1"
            raise ConfigError(f"{name} must be {limits}, not {value}")


def epoch_generator(seed: int, epoch: int) -> torch.Generator:
    """The random numbers of an epoch, which depend on nothing before it; dropout is seeded too."""
    seed = seed * 100_003 + epoch  # a prime above any number of epochs: no two runs share a seed
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)


def choose_device(name: str) -> torch.device:
    """`cpu`, `cuda`, or for `auto` the GPU if there is one."""
    on_gpu = torch.cuda.is_available()
    if name == "cuda" and not on_gpu:
        raise ConfigError("PyTorch finds no GPU; use --device cpu, or check the driver")
    automatic = "cuda" if on_gpu else "cpu"
    return torch.device(automatic if name == "auto" else name)
