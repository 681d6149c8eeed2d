"""Listening: every word once, at its time in the film, however often the run was stopped."""

import numpy as np
import pytest
from made_sound import LEVEL, WORD_S, CodedWords, spoken_film

from folioreel.ingest.speech.listen import RATE, WINDOW_S, find_pieces, listen
from folioreel.ingest.video.audio import BLOCK_S
from folioreel.ingest.video.container import OpenVideo

# Every second for four minutes, across each end of a block too, and a silence at the end.
TIMES = {k: k - 0.2 for k in range(1, 240)}
LENGTH_S = 300.0
SPOKEN_S = len(TIMES) * (WORD_S + 0.1)  # with what the detector adds at both ends


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return spoken_film(tmp_path_factory.mktemp("film"), TIMES, LENGTH_S)


def hear(film, recogniser, language=None, progress=None):
    with OpenVideo(film) as video:
        return listen(video, 1, recogniser, language, progress)


def assert_all_heard(heard):
    found = {int(word.text.strip(" w.")): word.start_s for word in heard.words}
    assert len(found) == len(heard.words)
    assert found == pytest.approx(TIMES, abs=0.01)


def test_words_are_heard_at_their_time(film):
    heard = hear(film, CodedWords())
    assert_all_heard(heard)
    assert heard.language == "en"
    assert all(word.end_s - word.start_s == pytest.approx(WORD_S, abs=0.01) for word in heard.words)


def test_windows_are_full_but_never_longer(film):
    recogniser = CodedWords()
    hear(film, recogniser)
    assert max(recogniser.lengths_s) <= WINDOW_S
    assert len(recogniser.lengths_s) == -(-SPOKEN_S // WINDOW_S)


def test_a_stopped_run_goes_on(film):
    stopped = CodedWords(stop_at=2)
    with pytest.raises(KeyboardInterrupt):
        hear(film, stopped)
    resumed = CodedWords()
    assert_all_heard(hear(film, resumed))
    at_once = CodedWords(fingerprint="another cache entry")
    hear(film, at_once)
    # What was finished before the stop is not heard again.
    assert sum(stopped.lengths_s) > 0
    assert [*stopped.lengths_s, *resumed.lengths_s] == pytest.approx(at_once.lengths_s, abs=0.1)
    assert resumed.asked == [], "the language is known"


def test_the_same_film_is_not_heard_twice(film):
    hear(film, CodedWords())
    again = CodedWords()
    assert_all_heard(hear(film, again))
    assert again.calls == 0
    other = CodedWords(fingerprint="another model")
    hear(film, other)
    assert other.calls > 0


def test_a_given_language_is_not_detected(film):
    recogniser = CodedWords()
    assert hear(film, recogniser, "fr").language == "fr"
    assert recogniser.asked == []


def test_progress_in_seconds_of_film(film):
    reports = []
    hear(film, CodedWords(), progress=reports.append)
    done = [report.done for report in reports]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0.0, pytest.approx(LENGTH_S, abs=0.1))
    assert {report.stage for report in reports} == {"listening"}


def test_nobody_speaks(tmp_path):
    recogniser = CodedWords()
    heard = hear(spoken_film(tmp_path, {}, 70.0), recogniser)
    assert (heard.words, heard.language, heard.finished) == ((), None, True)
    assert recogniser.calls == 0


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_speech_across_the_end_of_a_block_is_one_piece(blocks):
    size = round(BLOCK_S * RATE)
    sound = np.zeros(blocks * size, np.float32)
    sound[size - RATE : size + RATE] = LEVEL
    (piece,) = find_pieces(sound.reshape(blocks, size), 0.0, CodedWords())
    assert piece.start_s == pytest.approx(BLOCK_S - 1.05)
    assert len(piece.samples) / RATE == pytest.approx(2.1 if blocks > 1 else 1.05)
