"""Subtitles that say everything twice, in two languages."""

import time

import pytest

from folioreel.ingest.subtitles.bilingual import _halves
from folioreel.ingest.subtitles.dialogue import read_subtitles

SAID = {
    "en": [
        "Are you coming, Anna?", "I am staying here.", "Where is my sister?", "Stop right there!",
        "What a beautiful day it is!", "Tomorrow is another day.", "I don't know where he is.",
        "The captain went to the window.", "Nobody dared to speak.", "The rain has stopped.",
    ],
    "fr": [
        "Tu viens, Anna ?", "Je reste ici.", "Où est ma sœur ?", "Arrêtez-vous tout de suite !",
        "Quelle belle journée !", "Demain est un autre jour.", "Je ne sais pas où il est.",
        "Le capitaine alla à la fenêtre.", "Personne n'osait parler.", "La pluie a cessé.",
    ],
    "zh": [
        "你来吗，安娜？", "我留在这里。", "我妹妹在哪里？", "站住！", "多么美好的一天！",
        "明天又是新的一天。", "我不知道他在哪里。", "船长走到窗前。", "谁也不敢说话。", "雨停了。",
    ],
}  # fmt: skip


def write_film(tmp_path, upper, lower, *, apart=False):
    """A film of twenty cues, each with both, or with two cues at the same time."""
    blocks = []
    for k, pair in enumerate(2 * list(zip(SAID[upper], SAID[lower], strict=True))):
        time = f"00:00:{2 * k:02},000 --> 00:00:{2 * k + 1:02},500"
        blocks += [f"{time}\n{text}\n" for text in (pair if apart else ["\n".join(pair)])]
    path = tmp_path / "film.srt"
    path.write_text("\n".join(f"{n}\n{block}" for n, block in enumerate(blocks, 1)), "utf-8")
    return path


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("upper", "lower"), [("zh", "en"), ("fr", "en"), ("en", "fr")])
@pytest.mark.parametrize("lower_wanted", [False, True])
def test_one_language_is_kept(tmp_path, upper, lower, apart, lower_wanted):
    wanted, other = (lower, upper) if lower_wanted else (upper, lower)
    dialogue = read_subtitles(write_film(tmp_path, upper, lower, apart=apart), preferred=wanted)
    assert dialogue.language == wanted
    assert [said.text for said in dialogue.subtitles] == 2 * SAID[wanted]
    names = {"zh": "Chinese", "en": "English", "fr": "French"}
    assert any(f"what is in {names[other]} was left out" in note for note in dialogue.notes)


def test_the_upper_language_if_neither_is_wanted(tmp_path):
    dialogue = read_subtitles(write_film(tmp_path, "fr", "zh"), preferred="en")
    assert dialogue.language == "fr"


def test_two_lines_in_one_language_stay(tmp_path):
    dialogue = read_subtitles(write_film(tmp_path, "en", "en"))
    assert len(dialogue.subtitles) == 40
    assert not any("two languages" in note for note in dialogue.notes)


def test_a_cue_of_many_lines_is_halved_in_a_moment() -> None:
    text = "\n".join(["Hello there."] * 80_000)
    started = time.process_time()
    upper, lower = _halves(text)
    assert time.process_time() - started < 5
    assert upper == lower
