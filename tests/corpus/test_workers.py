"""Tasks over processes: all are done, and a crash costs one."""

import pytest
from made_books import crash_on_seven

from folioreel.corpus.workers import count_cores, run_tasks


@pytest.mark.parametrize("workers", [1, 2])
def test_all_tasks_are_done(workers: int) -> None:
    done = list(run_tasks(crash_on_seven, range(7), workers, pytest.fail))
    assert sorted(done) == list(range(7))


def test_a_crash_costs_one_task() -> None:
    crashed = []
    done = list(run_tasks(crash_on_seven, range(20), 2, crashed.append))
    assert crashed == [7]
    assert sorted(done) == list(range(20))


def test_an_error_ends_the_run() -> None:
    with pytest.raises(ValueError, match="a hundred"):
        list(run_tasks(crash_on_seven, [1, 100, 2], 2, pytest.fail))


def test_tasks_are_drawn_as_they_are_needed() -> None:
    drawn = []

    def tasks():
        for number in range(10, 60):
            drawn.append(number)
            yield number

    run = run_tasks(crash_on_seven, tasks(), 2, pytest.fail)
    next(run)
    assert len(drawn) <= 6
    assert len(list(run)) == 49


def test_there_is_a_core() -> None:
    assert count_cores() >= 1
