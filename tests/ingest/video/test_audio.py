"""The sound of a film: on its own clock, in blocks, and which of several tracks."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from av.stream import Disposition
from drawn_films import draw_film, shots_of
from made_sound import add_sound, code_words

from folioreel.ingest.speech.listen import RATE
from folioreel.ingest.video.audio import BLOCK_S, choose_audio, read_blocks
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.voice import FRAMES_PER_S, find_voice


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return draw_film(tmp_path / "film.mkv", shots_of([25, 25]))


def blocks_of(path: Path, start_s: float = 0.0) -> list[np.ndarray]:
    with OpenVideo(path) as video:
        return list(read_blocks(video, choose_audio(video).index, RATE, start_s))


def loud_s(sound: np.ndarray) -> list[float]:
    """When sound begins, to a tenth of a second."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.abs(sound) > 0.01])) > 0)
    return [round(edge / RATE, 1) for edge in edges]


def test_the_samples_are_those_that_were_written(film):
    sound = code_words({500: 1.0, 900: 2.5}, 4.0)
    (block,) = blocks_of(add_sound(film, [(sound, 0.0)]))
    assert block.dtype == np.float32
    assert np.abs(block - sound).max() < 1e-3


def test_blocks_of_a_minute_and_a_rest(film):
    path = add_sound(film, [(code_words({500: 61.0}, 130.0), 0.0)])
    blocks = blocks_of(path)
    assert [len(block) / RATE for block in blocks] == [BLOCK_S, BLOCK_S, 10.0]
    assert loud_s(np.concatenate(blocks)) == [61.0]


def test_from_a_time_on(film):
    path = add_sound(film, [(code_words({500: 61.0, 600: 100.0}, 130.0), 0.0)])
    assert loud_s(np.concatenate(blocks_of(path, 70.0))) == [30.0]
    assert blocks_of(path, 200.0) == []


def test_late_sound_and_gaps_keep_the_film_time(film):
    word = code_words({500: 0.0}, 1.0)
    path = add_sound(film, [(word, 2.0), (word, 130.0)])
    assert loud_s(np.concatenate(blocks_of(path))) == [2.0, 130.0]


def test_a_jump_of_the_clock_takes_no_memory(film):
    word = code_words({500: 0.0}, 1.0)
    path = add_sound(film, [(word, 0.0), (word, 3600.0)])
    seen = []
    with OpenVideo(path) as video:
        tracemalloc.start()
        voice = find_voice(video, path.name, seen.append)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(voice) == pytest.approx(3601 * FRAMES_PER_S, abs=FRAMES_PER_S)
    assert peak < 20e6  # the silence alone would take 58 MB
    assert len(seen) == 61


TRACKS = (
    ("eng", "Director's commentary", Disposition.default),
    ("fra", "", Disposition(0)),
    ("eng", "", Disposition(0)),
    ("eng", "", Disposition.visual_impaired),
)


@pytest.mark.parametrize(("language", "expected"), [(None, 4), ("fr", 3), ("de", 1)])
def test_the_film_before_commentaries_and_the_language_that_is_wanted(film, language, expected):
    sound = [(np.zeros(RATE, np.float32), 0.0)]
    path = add_sound(film, sound, language="ger", more=TRACKS)
    with OpenVideo(path) as video:
        assert choose_audio(video, language).index == expected


def test_no_sound(film):
    with OpenVideo(film) as video:
        assert choose_audio(video) is None
