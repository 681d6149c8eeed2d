"""The same work on a real Ray cluster of two worker processes, one of which is killed."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from made_pairs import write_pair
from made_work import digest_slowly, square
from ray_processes import kill_a_ray_worker

from folioreel.apps.align_many import ManyConfig, align_many
from folioreel.engines.batch import run_many
from folioreel.errors import ConfigError, InputError, WorkError

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does"),
    # Ray leaves sockets and threads of its own to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'folioreel[ray]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # What the driver can import, its workers must be able to import.
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=100_000_000,
        )
        yield ray
        ray.shutdown()


def kill_the_first(folder: Path, killed: list[int]) -> None:
    """Kill the process that works on item 0, while it does."""
    for _ in range(1200):
        begun = list(folder.glob("0-*"))
        if begun:
            killed.append(int(begun[0].name.removeprefix("0-")))
            os.kill(killed[0], signal.SIGKILL)
            return
        time.sleep(0.05)


def test_a_killed_worker_changes_nothing(cluster, tmp_path: Path) -> None:
    killed: list[int] = []
    folder = tmp_path / "begun"
    folder.mkdir()
    thread = threading.Thread(target=kill_the_first, args=(folder, killed))
    thread.start()
    items = [(folder, number) for number in range(12)]
    outcomes = list(run_many(digest_slowly, items, engine="ray", workers=2))
    thread.join()
    assert len(killed) == 1
    processes = {path.name.split("-")[1] for path in folder.iterdir()}
    assert len(processes) >= 2
    # The item whose process died was begun once more, by another process.
    assert len(list(folder.glob("0-*"))) == 2
    by_ray = sorted(outcome.get() for outcome in outcomes)
    assert by_ray == sorted(outcome.get() for outcome in run_many(digest_slowly, items, workers=2))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes in /proc")
def test_many_pairs_on_ray_are_the_same_to_the_byte(cluster, tmp_path: Path) -> None:
    lines = ["name,book,film"]
    for number in range(4):
        write_pair(tmp_path / f"pair-{number}", seed=number)
        lines.append(f"pair-{number},pair-{number}/book.txt,pair-{number}/film.srt")
    (tmp_path / "pairs.csv").write_text("\n".join(lines), encoding="utf-8")
    over, killed = threading.Event(), []

    def kill_one() -> None:
        killed.append(kill_a_ray_worker(os.getpid(), lambda: not over.is_set()))

    thread = threading.Thread(target=kill_one)
    thread.start()
    config = ManyConfig(engine="ray", workers=2)
    by_ray = align_many(tmp_path / "pairs.csv", tmp_path / "ray", config)
    over.set()
    thread.join()
    assert killed[0] is not None
    here = align_many(tmp_path / "pairs.csv", tmp_path / "here", ManyConfig(workers=1))
    assert by_ray == here
    assert {result.status for result in here} == {"aligned"}
    files = {path.relative_to(tmp_path / "here") for path in (tmp_path / "here").glob("*/*")}
    assert len(files) == 4 * 6
    for file in files:
        assert (tmp_path / "ray" / file).read_bytes() == (tmp_path / "here" / file).read_bytes()


def test_failures_are_outcomes(cluster) -> None:
    outcomes = {each.item: each for each in run_many(square, range(12), engine="ray")}
    assert {k: each.get() for k, each in outcomes.items() if each.failure is None} == {
        k: k * k for k in range(12) if k not in (7, 8, 9)
    }
    assert isinstance(outcomes[7].failure, WorkError)
    assert "crashed or was killed" in str(outcomes[7].failure)
    assert isinstance(outcomes[8].failure, InputError)
    assert "ValueError: nobody foresaw nine" in str(outcomes[9].failure)


def test_without_ray_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'folioreel\[ray\]'"):
        run_many(square, [1], engine="ray")
