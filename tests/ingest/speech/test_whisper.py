"""Whisper hears a real voice."""

import re
from pathlib import Path

import av
import numpy as np
import pytest
from drawn_films import draw_film, shots_of
from made_sound import add_sound

from folioreel.config import SpeechConfig
from folioreel.ingest.film import load_film
from folioreel.ingest.speech import model_files
from folioreel.ingest.speech.listen import RATE


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    """Three sentences by two voices of flite, 0.8 s to 5.6 s and 7.1 s to 9.4 s; then a film."""
    path = Path(__file__).with_name("spoken.ogg")
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(str(path)) as file:
        frames = [part for frame in file.decode(audio=0) for part in resampler.resample(frame)]
    sound = np.concatenate([frame.to_ndarray()[0] for frame in frames]).astype(np.float32) / 32768
    film = draw_film(tmp_path_factory.mktemp("spoken") / "film.mkv", shots_of([25, 25]))
    # Across the end of the first block of a minute.
    return add_sound(film, [(np.zeros(55 * RATE, np.float32), 0.0), (sound, 55.0)])


@pytest.mark.parametrize("name", ["tiny.en", "base"])
def test_a_real_voice_is_recognised(speech, name):
    if not model_files.is_installed() or model_files._find_local(name) is None:
        pytest.skip(f"needs faster-whisper and its model {name}")
    film = load_film(speech, shots=False, speech=SpeechConfig(model=name))
    assert f"Whisper {name} (English)" in film.notes[0]
    text = " ".join(re.findall(r"[a-z]+", " ".join(s.text for s in film.subtitles).lower()))
    expected = (
        "did you hear the band in the old house by the river they were playing all night "
        "no i slept like a stone"
    )
    assert text == expected
    assert film.subtitles[0].start_s == pytest.approx(55.8, abs=0.5)
    assert film.subtitles[-1].start_s == pytest.approx(62.1, abs=0.5)
    assert film.subtitles[-1].end_s == pytest.approx(64.4, abs=0.5)
