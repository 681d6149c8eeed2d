"""Many items over processes: each has its outcome, and a crash costs one."""

import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest
from made_work import pause, square, wait_for

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


@pytest.fixture
def in_time():
    """A test that would wait for ever fails: its processes are killed after a while."""
    late = []

    def kill() -> None:
        late.extend(process.kill() for process in multiprocessing.active_children())

    timer = threading.Timer(60, kill)
    timer.start()
    yield
    timer.cancel()
    assert not late


def waiting(folder: Path, count: int) -> list[int]:
    """The processes that wait for a file of this folder, once they are so many."""
    while len(found := list(folder.glob("file.[0-9]*"))) < count:
        time.sleep(0.02)
    return [int(path.suffix[1:]) for path in found]


def test_the_death_of_an_idle_process_ends_nothing(tmp_path, in_time):
    """It dies with the lock of the queue, for which the other would wait for ever."""
    run = run_many(wait_for, [tmp_path / "first", tmp_path / "file"], workers=2)
    (tmp_path / "first").write_text("done")
    assert next(run).get() == "done"
    (busy,) = waiting(tmp_path, 1)

    def kill() -> None:
        idle = []
        while not idle:  # the second is started late
            idle = [p for p in multiprocessing.active_children() if p.pid != busy]
        time.sleep(2)  # it has come to wait by then
        idle[0].kill()
        waiting(tmp_path, 2)
        (tmp_path / "file").write_text("done, too")

    killer = threading.Thread(target=kill)
    killer.start()
    assert [outcome.get() for outcome in run] == ["done, too"]
    killer.join()


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_work_that_is_stopped_while_it_is_repeated_is_not_waited_for(tmp_path, in_time):
    (tmp_path / "first").write_text("done")
    run = run_many(wait_for, [tmp_path / "first", tmp_path / "file"], workers=2)
    next(run)

    def stop() -> None:
        os.kill(waiting(tmp_path, 1)[0], signal.SIGKILL)
        waiting(tmp_path, 2)
        os.kill(os.getpid(), signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        next(run)
    stopper.join()
    assert multiprocessing.active_children() == []
