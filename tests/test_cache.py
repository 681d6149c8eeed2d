"""The cache: hit, miss, damage, eviction, a kill in the middle, no place to write."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from folioreel import cache
from folioreel.cache import cached_array

KEY = hashlib.sha256(b"one").hexdigest()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    def __init__(self, array):
        self.array = array
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.array


def key_of(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
@pytest.mark.parametrize("shape", [(3, 4), (0, 5), (7,)])
def test_made_once(folder, rng, dtype, shape):
    make = Maker((rng.standard_normal(shape) * 10).astype(dtype))
    for _ in range(3):
        found = cached_array(KEY, make)
        assert found.dtype == dtype
        assert np.array_equal(found, make.array)
    assert make.calls == 1
    assert [path.name for path in folder.iterdir()] == [f"{KEY}.npy"]
    assert np.array_equal(np.load(folder / f"{KEY}.npy"), make.array)  # any NumPy can read it


def test_another_key_is_another_array():
    cached_array(KEY, Maker(np.zeros(3)))
    assert np.array_equal(cached_array(key_of("two"), Maker(np.ones(3))), np.ones(3))


def test_keys_are_hashes():
    with pytest.raises(ValueError, match="is not a hash"):
        cached_array("../../elsewhere", Maker(np.zeros(3)))


@pytest.mark.parametrize("damage", ["cut", "empty", "bit", "text", "folder"])
def test_damage(folder, damage):
    make = Maker(np.arange(1000.0))
    cached_array(KEY, make)
    path = folder / f"{KEY}.npy"
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[:-500])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "bit":
        data[3000] ^= 1
        path.write_bytes(data)
    elif damage == "text":
        path.write_bytes(b"no array" + hashlib.sha256(b"no array").digest())
    else:
        path.unlink()
        path.mkdir()
    assert np.array_equal(cached_array(KEY, make), make.array)
    assert make.calls == 2
    cached_array(KEY, make)
    assert make.calls == (3 if damage == "folder" else 2)


def test_arrays_of_objects_are_never_read(folder):
    folder.mkdir()
    stored = folder / f"{KEY}.npy"
    np.save(stored, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    data = stored.read_bytes()
    stored.write_bytes(data + hashlib.sha256(data).digest())
    assert np.array_equal(cached_array(KEY, Maker(np.ones(2))), np.ones(2))


def test_what_was_longest_unused_goes(folder):
    for number in range(4):
        cached_array(key_of(number), Maker(np.zeros(1000)))
        os.utime(folder / f"{key_of(number)}.npy", (1000 + number, 1000 + number))
    never = Maker(np.zeros(1000))
    cached_array(key_of(0), never)  # used again: now the youngest
    assert never.calls == 0
    cached_array(key_of(4), Maker(np.zeros(1000)), limit_bytes=3 * 8200)
    kept = {path.stem for path in folder.iterdir()}
    assert kept == {key_of(0), key_of(3), key_of(4)}


def test_other_files_are_left_alone(folder):
    folder.mkdir()
    (folder / "theirs.txt").write_text("dear diary")
    cached_array(KEY, Maker(np.zeros(1000)), limit_bytes=0)
    assert [path.name for path in folder.iterdir()] == ["theirs.txt"]


def test_a_kill_in_the_middle(folder):
    code = (
        "import os, pathlib, numpy as np\n"
        "from folioreel.cache import cached_array\n"
        "pathlib.Path.replace = lambda *paths: os._exit(9)\n"
        f"cached_array({KEY!r}, lambda: np.zeros(1000))\n"
    )
    source = str(Path(cache.__file__).parents[1])
    killed = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source}, check=False
    )
    assert killed.returncode == 9
    assert [path.name for path in folder.iterdir()] == [f".{KEY}.npy.part"]
    make = Maker(np.ones(1000))
    for _ in range(2):
        assert np.array_equal(cached_array(KEY, make), make.array)
    assert make.calls == 1
    assert [path.name for path in folder.iterdir()] == [f"{KEY}.npy"]


def test_what_a_kill_left_is_evicted(folder):
    folder.mkdir()
    left = folder / f".{key_of('left')}.npy.part"
    left.write_bytes(b"half" * 1000)
    os.utime(left, (1000, 1000))
    cached_array(KEY, Maker(np.zeros(1000)), limit_bytes=9000)
    assert [path.name for path in folder.iterdir()] == [f"{KEY}.npy"]


def test_no_place_to_write(folder):
    folder.write_text("a file where the folder should be")
    make = Maker(np.ones(3))
    for _ in range(2):
        assert np.array_equal(cached_array(KEY, make), make.array)
    assert make.calls == 2


def test_a_make_that_fails_leaves_nothing(folder):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached_array(KEY, fail)
    assert not folder.exists()


def test_where_it_lies(monkeypatch):
    monkeypatch.delenv("FOLIOREEL_CACHE")
    assert cache.cache_folder().is_absolute()
    assert "folioreel" in cache.cache_folder().parts
    monkeypatch.setenv("FOLIOREEL_CACHE", "~/elsewhere")
    assert cache.cache_folder() == Path.home() / "elsewhere"
