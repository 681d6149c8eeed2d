"""Many items over processes: each has its outcome, and a crash costs one."""

import pickle
import tempfile
import time
from pathlib import Path

import pytest
from made_work import pause, square

from folioreel.engines.batch import Outcome, count_cores, run_many
from folioreel.errors import ConfigError, InputError, WorkError


@pytest.mark.parametrize("workers", [1, 2, None])
def test_all_items_are_done(workers: int | None) -> None:
    outcomes = list(run_many(square, range(7), workers=workers))
    assert sorted((each.item, each.get()) for each in outcomes) == [(k, k * k) for k in range(7)]


def test_a_crash_costs_one_item() -> None:
    outcomes = {each.item: each for each in run_many(square, range(20), workers=2)}
    assert sorted(outcomes) == list(range(20))
    assert {k for k, each in outcomes.items() if each.failure is not None} == {7, 8, 9}
    assert isinstance(outcomes[7].failure, WorkError)
    assert "crashed or was killed" in str(outcomes[7].failure)
    with pytest.raises(WorkError):
        outcomes[7].get()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_an_outcome(workers: int, caplog) -> None:
    outcomes = {each.item: each.failure for each in run_many(square, [1, 8, 9], workers=workers)}
    assert outcomes[1] is None
    assert isinstance(outcomes[8], InputError)
    assert str(outcomes[8]) == "eight.txt:8: cannot be read"
    assert isinstance(outcomes[9], WorkError)
    assert str(outcomes[9]) == "failed unexpectedly (ValueError: nobody foresaw nine)"


def test_items_are_drawn_as_they_are_needed() -> None:
    drawn = []

    def items():
        for number in range(10, 60):
            drawn.append(number)
            yield number

    run = run_many(square, items(), workers=2)
    next(run)
    assert len(drawn) <= 6
    assert len(list(run)) == 49


def test_what_cannot_be() -> None:
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        run_many(square, [1], workers=0)
    with pytest.raises(ConfigError, match="unknown engine 'spark'; choose from local, ray"):
        run_many(square, [1], engine="spark")  # type: ignore[arg-type]


def test_a_failure_survives_the_way_back() -> None:
    outcome = Outcome(item=1, failure=InputError("is damaged", "a.txt", 3))
    assert str(pickle.loads(pickle.dumps(outcome)).failure) == "a.txt:3: is damaged"


def test_there_is_a_core() -> None:
    assert count_cores() >= 1


def test_work_that_is_stopped_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run = run_many(pause, [0.0, 300.0, 300.0], workers=2)
    assert Path(next(run).get()).parent == tmp_path
    begin = time.monotonic()
    run.close()
    assert time.monotonic() - begin < 60
    assert list(tmp_path.iterdir()) == []
