"""A film without subtitles: it is listened to, or the user is told what to do."""

import pytest
from command_line import assert_one_line, run
from drawn_films import DrawnTrack, draw_film, shots_of
from made_sound import CodedWords, spoken_film

from folioreel.config import SpeechConfig
from folioreel.ingest.film import load_film
from folioreel.ingest.speech import model_files, whisper
from folioreel.ingest.subtitles.dialogue import read_subtitles

TIMES = {7: 1.0, 8: 20.0, 9: 62.0}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def film(tmp_path):
    return spoken_film(tmp_path, TIMES, 70.0)


@pytest.fixture
def recogniser(tmp_path, monkeypatch):
    """The extra is installed, and has a model that hears our words."""
    coded = CodedWords()
    monkeypatch.setattr(model_files, "is_installed", lambda: True)
    monkeypatch.setattr(model_files, "find_model", lambda name=None: (name or "base", tmp_path))
    monkeypatch.setattr(whisper, "load_whisper", lambda name, folder: coded)
    return coded


@pytest.fixture
def no_extra(monkeypatch):
    monkeypatch.setattr(model_files, "is_installed", lambda: False)


def test_a_film_without_subtitles_is_listened_to(film, recogniser):
    loaded = load_film(film, shots=False)
    assert [subtitle.text for subtitle in loaded.subtitles] == ["w7.", "w8.", "w9."]
    starts_s = [subtitle.start_s for subtitle in loaded.subtitles]
    assert starts_s == pytest.approx(list(TIMES.values()), abs=0.01)
    assert loaded.notes == ("subtitles: speech recognised by coded words (English)",)


def test_subtitles_beside_the_film_come_first(film, recogniser):
    beside = film.with_suffix(".srt")
    beside.write_text("1\n00:00:01,000 --> 00:00:02,000\nWho opened the hoarding?\n")
    assert load_film(film, shots=False).subtitles[0].text == "Who opened the hoarding?"
    assert load_film(film, subtitles="speech", shots=False).subtitles[0].text == "w7."


def test_forced_subtitles_are_better_than_nothing(tmp_path, recogniser):
    track = DrawnTrack(cues=[(200, 1400, "Who is there?")], title="Forced")
    silent = draw_film(tmp_path / "forced.mkv", shots_of([50]), tracks=[track])
    assert [said.text for said in load_film(silent, shots=False).subtitles] == ["Who is there?"]


def test_nobody_speaks(tmp_path, recogniser):
    loaded = load_film(spoken_film(tmp_path, {}, 5.0), shots=False)
    assert loaded.subtitles == ()
    assert "hears nobody speak" in loaded.notes[0]
    assert "--subtitles FILE" in loaded.notes[0]
    assert_one_line(run("transcribe", loaded.path), "hears nobody speak")
    assert not loaded.path.with_suffix(".srt").exists()


def test_without_the_extra_the_note_says_how_to_install_it(film, no_extra):
    loaded = load_film(film, shots=False)
    assert loaded.subtitles == ()
    assert 'pip install "folioreel[speech]"' in loaded.notes[0]
    assert "--subtitles FILE" in loaded.notes[0]


def test_without_sound_there_is_nothing_to_install(tmp_path, no_extra):
    silent = draw_film(tmp_path / "silent.mkv", shots_of([25]))
    note = load_film(silent, shots=False).notes[0]
    assert "no sound" in note
    assert "pip" not in note


def test_the_command_writes_subtitles_that_are_read_back(film, recogniser, tmp_path):
    result = run("transcribe", film)
    assert result.exit_code == 0, result.output
    assert "3 sentences: speech recognised by coded words (English)" in result.stdout
    for suffix in (".srt", ".vtt"):
        back = read_subtitles(film.with_suffix(suffix)).subtitles
        assert [subtitle.text for subtitle in back] == ["w7.", "w8.", "w9."]
        assert [subtitle.start_s for subtitle in back] == pytest.approx(
            list(TIMES.values()), abs=0.01
        )


def test_the_command_overwrites_nothing(film, recogniser, tmp_path):
    film.with_suffix(".vtt").write_text("mine")
    assert_one_line(run("transcribe", film), "already exists", "--force")
    assert recogniser.calls == 0
    assert film.with_suffix(".vtt").read_text() == "mine"
    assert not film.with_suffix(".srt").exists()
    assert run("transcribe", film, "--out", tmp_path / "out").exit_code == 0
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".srt", ".vtt"]
    assert run("transcribe", film, "--force").exit_code == 0
    assert film.with_suffix(".vtt").read_text() != "mine"


def test_the_command_says_what_is_missing(film, no_extra):
    assert_one_line(run("transcribe", film), "folioreel[speech]")


def test_a_film_without_sound(tmp_path, recogniser):
    silent = draw_film(tmp_path / "silent.mkv", shots_of([25]))
    assert_one_line(run("transcribe", silent), "no sound", "give its subtitles")


@pytest.mark.parametrize(
    ("language", "says"), [("Klingon", "is not a language"), ("fr", "does not understand French")]
)
def test_a_language_that_nobody_understands(film, recogniser, language, says):
    assert_one_line(run("transcribe", film, "--speech-language", language), says)


def test_another_model_is_suggested_only_where_it_helps(film, recogniser):
    one = run("transcribe", film, "--speech-language", "ga")
    assert_one_line(one, "understand Irish", "--speech-model base")
    recogniser.languages = ("en", "no", "nn")
    several = run("transcribe", film, "--speech-language", "ga")
    assert_one_line(several, "understand Irish", "--subtitles")
    assert "base" not in several.output
    load_film(film, subtitles="speech", shots=False, speech=SpeechConfig(language="nb"))


def test_the_options_reach_the_recogniser(film, recogniser, monkeypatch, tmp_path):
    named = []
    monkeypatch.setattr(
        model_files, "find_model", lambda name=None: named.append(name) or ("small", tmp_path)
    )
    load_film(film, subtitles="speech", shots=False, speech=SpeechConfig(model="small"))
    assert named == ["small"]
    assert recogniser.asked == ["language"]
    run("transcribe", film, "--speech-model", "small", "--speech-language", "English")
    assert recogniser.asked == ["language"]
