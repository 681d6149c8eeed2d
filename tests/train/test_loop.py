"""The training loop with the smallest of networks: what is kept, and when a run may stop."""

import math
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from folioreel.errors import ConfigError, InputError
from folioreel.train.loop import Training, check_least, choose_device, epoch_generator


@dataclass(frozen=True, kw_only=True)
class Config:
    epochs: int = 4
    learning_rate: float = 0.1
    seed: int = 0


class Line(Training[torch.Tensor]):
    """Fits a line to y = 2 x; metrics are given, one for each epoch."""

    best_metric = "recall"

    def __init__(self, config=None, metrics=(), unit_steps=3):
        self.metrics = list(metrics)
        config = config or Config()
        torch.manual_seed(config.seed)
        network = nn.ModuleDict({"line": nn.Linear(1, 1), "frozen": nn.Linear(1, 1)})
        network["frozen"].requires_grad_(False)
        optimizer = torch.optim.SGD(network["line"].parameters())
        super().__init__(config, network, optimizer, total=config.epochs, unit_steps=unit_steps)

    def batches(self):
        for epoch in range(self.done, self.total):
            generator = epoch_generator(self.config.seed, epoch)
            for _ in range(self.unit_steps):
                yield torch.rand(5, 1, generator=generator)

    def loss(self, batch):
        return (self.network["line"](batch) - 2 * batch).square().mean()

    def learning_rate(self, done):
        return self.config.learning_rate * (1 - done)

    def validate(self):
        assert not self.network.training
        return {"recall": self.metrics.pop(0)} if self.metrics else {}

    @property
    def weight(self):
        return self.network["line"].weight.item()


def test_the_best_weights_are_left_and_frozen_ones_not_kept_twice():
    weights = []
    training = Line(metrics=[1.0, 3.0, math.nan, 2.0])
    report = training.fit(progress=lambda _: weights.append(training.weight))
    assert training.weight == weights[1] != weights[3]
    assert report["best"] == {"recall": 3.0, "epoch": 2}
    assert [entry["epoch"] for entry in report["log"]] == [1, 2, 3, 4]
    assert set(training.best["weights"]) == {"line.weight", "line.bias"}
    assert not training.network.training


def test_a_metric_that_is_never_a_number_leaves_the_last_weights():
    training = Line(metrics=[math.nan] * 4)
    report = training.fit()
    assert (report["best"], report["steps"]) == ({}, 12)


def test_lower_may_be_better(monkeypatch):
    monkeypatch.setattr(Line, "higher_is_better", False)
    assert Line(metrics=[2.0, 1.0, 3.0, 4.0]).fit()["best"]["epoch"] == 2


def test_the_learning_rate_falls_with_each_step_by_the_share_of_the_group():
    training = Line()
    training.optimizer.param_groups[0]["share"] = 0.5
    rates = []
    for batch in training.batches():
        training.learn(batch)
        rates.append(training.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.05 * (1 - step / 12) for step in range(12)])


def test_a_run_stops_between_epochs_and_ends_as_one_that_never_stopped(tmp_path):
    path = tmp_path / "run.pt"
    whole = Line()
    whole.fit()
    for done in (1, 2, 3, 4):
        part = Line()
        part.fit(seconds=0, checkpoint=path)
        assert (part.step, part.done) == (3 * done, done)
    assert part.weight == whole.weight
    assert Line().fit(checkpoint=path)["steps"] == 0


def test_ctrl_c_during_validation_saves_nothing(tmp_path, monkeypatch):
    training, path = Line(), tmp_path / "run.pt"

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "validate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        training.fit(checkpoint=path)
    assert training.step > 0
    assert not path.exists()


@pytest.mark.parametrize(("stopped_at", "kept"), [(6, 6), (7, None)])
def test_ctrl_c_saves_between_epochs_only(tmp_path, monkeypatch, stopped_at, kept):
    training, path = Line(), tmp_path / "run.pt"
    learn = training.learn

    def interrupted(batch):
        if training.step == stopped_at:
            raise KeyboardInterrupt
        return learn(batch)

    monkeypatch.setattr(training, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        training.fit(checkpoint=path)
    assert path.exists() == (kept is not None)
    if kept:
        again = Line()
        again.load(path)
        assert again.step == kept


@pytest.mark.parametrize(
    ("message", "expected"),
    [("CUDA out of memory", ConfigError), ("CUDA error: launch failure", RuntimeError)],
)
def test_too_little_memory_is_told_from_other_failures(monkeypatch, message, expected):
    training = Line()

    def fail(_):
        raise RuntimeError(message)

    monkeypatch.setattr(training, "loss", fail)
    with pytest.raises(expected, match=r"out of memory|launch failure"):
        training.fit()


def test_a_checkpoint_of_other_settings_changes_nothing(tmp_path):
    Line().save(tmp_path / "run.pt")
    other = Line(Config(seed=1))
    before = other.weight
    with pytest.raises(ConfigError, match=r"other settings \(seed: 0 there, 1 here\)"):
        other.fit(checkpoint=tmp_path / "run.pt")
    assert other.weight == before


def test_something_else_than_a_checkpoint(tmp_path):
    torch.save({"weights": 1}, tmp_path / "other.pt")
    with pytest.raises(InputError, match="is damaged; remove it"):
        Line().load(tmp_path / "other.pt")


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_numbers_out_of_range(value):
    with pytest.raises(ConfigError, match="epochs must be at least 1, not"):
        check_least(Config(epochs=value), 1, "epochs")


def test_the_device():
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda")
