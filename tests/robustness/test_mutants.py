"""Mutants of valid files of every format: read, or refused with one line. A fixed small budget."""

import random

import pytest
from fuzzed_readers import all_readers, mutate, read, refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("name", list(all_readers()))
def test_the_valid_files_are_read(tmp_path, name):
    for seed in all_readers()[name].seeds:
        read(all_readers()[name], seed, tmp_path)


@pytest.mark.filterwarnings("ignore")  # of NumPy and Pillow, on damaged files
@pytest.mark.parametrize("name", list(all_readers()))
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(number=st.integers(0, 2**32))
def test_a_mutant_is_read_or_refused_in_one_line(tmp_path_factory, name, number):
    rng, seeds = random.Random(number), all_readers()[name].seeds
    folder = tmp_path_factory.getbasetemp() / "mutants"
    mutant = mutate(rng.choice(seeds), seeds, rng)
    assert "\n" not in refusal(read, all_readers()[name], mutant, folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(all_readers()))
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.binary(min_size=1, max_size=200) | st.text(min_size=1).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory, name, data):
    folder = tmp_path_factory.getbasetemp() / "mutants"
    assert "\n" not in refusal(read, all_readers()[name], data, folder)
