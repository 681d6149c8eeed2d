"""Long work in small: memory stays flat over many pairs, and a corpus survives many kills.

`benchmarks/many_hours.py` does the same at length.
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

MANY_HOURS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "many_hours.py"))
many_hours = SimpleNamespace(**MANY_HOURS)
pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


def test_memory_is_flat_over_many_pairs(tmp_path):
    found = many_hours.align_pairs(tmp_path, pairs=12)
    assert found.failed == 0
    # The first pairs load models; after these, nothing more may stay. A leak of one film or book
    # would be a few megabytes each.
    assert found.grown_mb < 20


def test_memory_is_flat_while_somebody_judges(tmp_path):
    found = many_hours.use_page(tmp_path, seconds=2, fewest=60)
    assert found.requests >= 60
    assert found.grown_mb < 20


def test_a_corpus_that_is_killed_again_and_again(tmp_path):
    found = many_hours.kill_builds(tmp_path, books=40, kills=2, seed=1)
    assert found.kills == 2
    assert found.is_same
