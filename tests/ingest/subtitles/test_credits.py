"""Credits at the end of a film's subtitles are left out, and nothing that anybody says."""

import pytest

from folioreel.ingest.subtitles.cues import Cue, ParsedCues
from folioreel.ingest.subtitles.dialogue import build_dialogue

TALK = [
    "You came back.",
    "I said that I would.",
    "And the letter?",
    "I burned it,\nMr. Darcy.",
    "Then nobody knows.",
    "Nobody but you and me.",
    "It is late.",
    "Go home, Elizabeth.",
    "I am at home.",
]


def said(texts):
    """The sentences of a film that has an hour of talk before these cues."""
    all_texts = [*TALK * 10, *texts]
    cues = tuple(
        Cue(start_s=40.0 * k, end_s=40.0 * k + 3.0, text=text) for k, text in enumerate(all_texts)
    )
    found = build_dialogue(ParsedCues(cues=cues)).subtitles
    talk = build_dialogue(ParsedCues(cues=cues[: len(TALK) * 10])).subtitles
    assert found[: len(talk)] == talk
    return [subtitle.text for subtitle in found[len(talk) :]]


@pytest.mark.parametrize(
    "texts",
    [
        ["CAST", "Ebenezer Scrooge\nAlastair Sim", "Bob Cratchit\nMervyn Johns", "Mrs. Dilber"],
        ["Directed by\nBrian Desmond Hurst", "Alastair Sim", "Kathleen Harrison\nJack Warner"],
        ["Scrooge ..... Alastair Sim\nMarley's Ghost..... Michael Hordern", "Jack Warner"],
        ["Elizabeth Bennet  Jennifer Ehle\nMr. Darcy  Colin Firth", "Jane\nSusannah Harker"],
        ["The Cast in Order of Appearance", "George Cole as Young Scrooge"],
        ["THE END", "Produced by\nJ. Arthur Rank", "Subtitles by Anna K."],
        ["Director of Photography\nC. M. Pennington-Richards", "Film Editor\nClive Donner"],
        ['"Barbara Allen"\nPerformed by Kathleen Ferrier', "Courtesy of Decca Records"],
        ["Casting by Maude Spector", "Costume Designer", "Doris Lee", "All Rights Reserved"],
        ["Suomennos: Matti Virtanen"],
        ["Sous-titres : Jeanne Martin"],
    ],
)
def test_credits_are_left_out(texts):
    assert said(texts) == []


@pytest.mark.parametrize(
    "texts",
    [
        ["Rosebud."],
        ["Rosebud"],
        ["Elizabeth", "Mr. Darcy"],
        ["Bob Cratchit\nTiny Tim"],
        ["The end"],
        ["Was written by me on a paper\nwhich by accident bore a name."],
        ["It was performed by that rare", "Italian Master."],
        ["You must either be directed by\nsome that know."],
        ["The director is here.", "Tell the producer:\nI quit."],
        ["Cast off!", "Cast me not away."],
        ["- Elizabeth\n- Darcy", "- Jane\n- Bingley"],
        ["The End", "Mr. Darcy"],
        ["The End", "Mr. Darcy", "Miss Bennet"],
        ["John Thornton\nMargaret Hale\nNicholas Higgins"],
        ["Camera...", "Action", "Cut"],
    ],
)
def test_speech_stays(texts):
    spoken = " ".join(said(texts))
    words = " ".join(texts).replace("\n", " ").replace("- ", "")
    assert spoken.split() == words.split()


def test_speech_after_the_credits_stays():
    texts = ["Directed by\nJohn Ford", "John Wayne\nMaureen O'Hara", "Wait! Come back!", "John"]
    assert said(texts) == ["Wait!", "Come back!", "John"]


def test_the_same_words_before_the_end_stay():
    cast = ["CAST", "Alastair Sim\nMervyn Johns", "Jack Warner\nGeorge Cole"]
    found = said([*cast, *TALK * 10])
    assert "Jack Warner George Cole" in " ".join(found)


def test_names_without_full_stops_around_them_stay():
    """Where no cue ends with a full stop, a name in a cue of its own may be called by somebody."""
    texts = ["go home " + word for word in "now then there here again once twice".split()] * 12
    texts += ["directed by John Ford", "Elizabeth\nMary Jane", "Mr Darcy"]
    cues = tuple(Cue(start_s=9.0 * k, end_s=9.0 * k + 3, text=t) for k, t in enumerate(texts))
    found = " ".join(subtitle.text for subtitle in build_dialogue(ParsedCues(cues=cues)).subtitles)
    assert found.endswith("Elizabeth Mary Jane Mr Darcy")
