"""Subtitle files against hand-worked sentences: formats, encodings, and every defect we know."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from folioreel.ingest.subtitles import dialogue as dialogue_module
from folioreel.ingest.subtitles.credits import is_credit
from folioreel.ingest.subtitles.cues import Cue, ParsedCues
from folioreel.ingest.subtitles.dialogue import Dialogue, read_subtitles
from folioreel.ingest.subtitles.subtitle_words import subtitle_words


def build_dialogue(cues: list[Cue]) -> Dialogue:
    return dialogue_module.build_dialogue(ParsedCues(cues=tuple(cues)))


def spoken(*texts: str, gap_s: float = 0.1) -> list[str]:
    """The sentences of cues of two seconds each, one after the other."""
    cues = [
        Cue(start_s=n * (2 + gap_s), end_s=n * (2 + gap_s) + 2, text=text)
        for n, text in enumerate(texts)
    ]
    return [subtitle.text for subtitle in build_dialogue(cues).subtitles]


def texts_of(dialogue: Dialogue) -> list[str]:
    return [subtitle.text for subtitle in dialogue.subtitles]


def times_of(dialogue: Dialogue) -> list[tuple[float, float]]:
    return [(round(s.start_s, 3), round(s.end_s, 3)) for s in dialogue.subtitles]


MARKUP = [
    ("<i>Hello there.</i>", ["Hello there."]),
    ("{\\an8}Hello there.", ["Hello there."]),
    ('<font color="#ffff00" size=12>Hello</font> there.', ["Hello there."]),
    ("< i >Hello there.< / i >", ["Hello there."]),
    ("<b><u>Hello</u></b> there.", ["Hello there."]),
    ("Tom &amp; Jerry &lt;3 &quot;cheese&quot;.", ['Tom & Jerry <3 "cheese".']),
    ("&lt;i&gt;Hello there.&lt;/i&gt;", ["Hello there."]),
    ("It&#39;s me &#x2014; John.", ["It's me — John."]),
    ("AT&T is not R&B.", ["AT&T is not R&B."]),
    ("Hello\\Nthere\\hfriend.", ["Hello there friend."]),
    ("Hello<br/>there.", ["Hello there."]),
    ("{\\k25}Hel{\\k30}lo {\\kf10}there.", ["Hello there."]),
    ("\u202b\u200eHello there.\u202c\ufeff", ["Hello there."]),
    ("Hello\u00a0there, my\u00ad friend.", ["Hello there, my friend."]),
    ("Is 3 < 5 and 5 > 3?", ["Is 3 < 5 and 5 > 3?"]),
    ("<font color=red>Hello there.", ["Hello there."]),
    ("Hello there.<font color", ["Hello there."]),
    ("l'm sure l can, and l'll go.", ["I'm sure I can, and I'll go."]),
    ("<ruby>漢<rt>kan</rt></ruby>字。", ["漢字。"]),
    ("<00:00:01.500><c.yellow>Hello</c> there.", ["Hello there."]),
]

NOTES = [
    ("[door slams]", []),
    ("(SIGHS)", []),
    ("(sighs) I don't know.", ["I don't know."]),
    ("I don't (SIGHS) know.", ["I don't know."]),
    ("[door\nslams] Who is there?", ["Who is there?"]),
    ("(That is my brother, by the way.)", ["(That is my brother, by the way.)"]),
    ("[dramatic music", []),
    ("Stay here. [Exit", ["Stay here."]),
    ("continues] Hello there.", ["Hello there."]),
    ("【music】 Hello there.", ["Hello there."]),
    ("*coughs*", []),
    ("You *can't* do that.", ["You *can't* do that."]),
    ("♪ La la la ♪", []),
    ("♪ La la la", []),
    ("la la la ♪", []),
    ("♪♪", []),
    ("â™ª La la â™ª", []),
    ("# Happy birthday to you #", []),
    ("# Happy birthday to you", []),
    ("She is #1 in C# and #winning.", ["She is #1 in C# and #winning."]),
    ("♪ La la ♪ Stop it!", ["Stop it!"]),
    ("- ♪ La la ♪\n- Stop it!", ["Stop it!"]),
    ("Hello , [coughs] there .", ["Hello, there."]),
    ("Yes. [pause] .", ["Yes."]),
]

LABELS = [
    ("JOHN: Hello there.", ["Hello there."]),
    ("JOHN:\nHello there.", ["Hello there."]),
    ("JOHN:Hello there.", ["Hello there."]),
    ("MAN #2: Hello there.", ["Hello there."]),
    ("DR. O'HARA (V.O.): Hello there.", ["Hello there."]),
    ("JOHN (on phone): Hello there.", ["Hello there."]),
    ("Mrs. Smith: Hello there.", ["Hello there."]),
    ("Man on TV: Hello there.", ["Hello there."]),
    ("John: Hello there.", ["Hello there."]),
    ("[John] Hello there.", ["Hello there."]),
    ("Listen: he came.", ["Listen: he came."]),
    ("Remember: We are friends.", ["Remember: We are friends."]),
    ("One thing: never look back.", ["One thing: never look back."]),
    ("He said: never look back.", ["He said: never look back."]),
    ("Previously on Lost:", ["Previously on Lost:"]),
    ("5:30 is too late.", ["5:30 is too late."]),
    ("At 5:30: tea.", ["At 5:30: tea."]),
    (">> Hello there.", ["Hello there."]),
    (">>> Good evening. >> Hello.", ["Good evening.", "Hello."]),
    ("&gt;&gt; Hello there.", ["Hello there."]),
    ("- JOHN: Hello.\n- MARY: Goodbye.", ["Hello.", "Goodbye."]),
    ("JOHN: Hello. MARY: Goodbye.", ["Hello.", "Goodbye."]),
    ("JOHN: [whispers] Hello.", ["Hello."]),
]

SPEAKERS = [
    ("- Yes.\n- No.", ["Yes.", "No."]),
    ("-Yes.\n-No.", ["Yes.", "No."]),
    ("– Yes.\n– No.", ["Yes.", "No."]),
    ("— Yes, I am\n— You are not.", ["Yes, I am", "You are not."]),
    ("Yes.\n- No.", ["Yes.", "No."]),
    ("- Yes. - No.", ["Yes.", "No."]),
    ("- Yes, it is\nas you say.\n- No.", ["Yes, it is as you say.", "No."]),
    ("<i>- Yes.</i>\n<i>- No.</i>", ["Yes.", "No."]),
    ("- yes, I am\n- no, you are not", ["yes, I am", "no, you are not"]),
    ("A well-\nknown man.", ["A well-known man."]),
    ("I was--\nNo, wait.", ["I was-- No, wait."]),
    ("Yes - no - perhaps.", ["Yes - no - perhaps."]),
    ("He said\n- and I agree -\nthat it is late.", ["He said - and I agree - that it is late."]),
]

ADVERTS = [
    "Subtitles by John Doe",
    "Downloaded from www.example.org",
    "Synced and corrected by somebody",
    "Sync & corrections by n17t01",
    "Advertise your product or brand here\ncontact www.OpenSubtitles.org today",
    "Support us and become VIP member\nto remove all ads from www.OpenSubtitles.org",
    "Please rate this subtitle at www.osdb.link/abc",
    "Captioning made possible by the studio",
    "Translated by: Maria",
    "-== [ www.OpenSubtitles.com ] ==-",
    "© 2010 A Company",
    "Directed by John Huston",
    "<font color=#fff>Subtitle: somebody</font>",
]

SPOKEN_ALL_THE_SAME = [
    "It was translated by monks.",
    "He edited the paper, and it was directed by a fool.",
    "The time was created by God, they say.",
    "I downloaded it.",
]


@pytest.mark.parametrize(("text", "expected"), MARKUP + NOTES + LABELS + SPEAKERS)
def test_one_cue(text: str, expected: list[str]) -> None:
    assert spoken(text) == expected


@pytest.mark.parametrize("text", ADVERTS)
def test_adverts_are_left_out(text: str) -> None:
    dialogue = build_dialogue(
        [Cue(start_s=0, end_s=2, text=text), Cue(start_s=3, end_s=5, text="Hello there.")]
    )
    assert texts_of(dialogue) == ["Hello there."]
    assert any("credits or adverts" in note for note in dialogue.notes)


@pytest.mark.parametrize("text", SPOKEN_ALL_THE_SAME)
def test_speech_that_sounds_like_a_credit_stays(text: str) -> None:
    assert spoken(text) == [text]


RUNS = [
    (["I went to", "the market."], ["I went to the market."]),
    (["I went to...", "...the market."], ["I went to the market."]),
    (["I went to…", "…the market."], ["I went to the market."]),
    (["I went to...", "the market."], ["I went to... the market."]),
    (["I went...", "The market was shut."], ["I went...", "The market was shut."]),
    (["I went to -", "- the market."], ["I went to the market."]),
    (["I went to—", "—the market."], ["I went to the market."]),
    (["I went to-", "What?"], ["I went to-", "What?"]),
    (["I went to", "- What?"], ["I went to", "What?"]),
    (["I went to", "MARY: What?"], ["I went to", "What?"]),
    (["I went to", ">> What?"], ["I went to", "What?"]),
    (["I went to", "[Mary] What?"], ["I went to", "What?"]),
    (["I saw Mr.", "Smith there."], ["I saw Mr. Smith there."]),
    (["Yes, Miss.", "No, Miss."], ["Yes, Miss.", "No, Miss."]),
    (["No.", "Goodbye."], ["No.", "Goodbye."]),
    (["I gave it to", "John."], ["I gave it to John."]),
    (["I gave him the book", "The end came soon."], ["I gave him the book", "The end came soon."]),
    (["I came. I saw", "and I won. Then I", "went home."],
     ["I came.", "I saw and I won.", "Then I went home."]),
    (["- Where is", "the book?\n- Here."], ["Where is the book?", "Here."]),
    (["JOHN:", "Hello there."], ["Hello there."]),
    (["...and so it ended."], ["and so it ended."]),
    (["[dramatic music", "continues] Hello."], ["Hello."]),
    (["Yes, go on.", "-before they come."], ["Yes, go on.", "before they come."]),
]  # fmt: skip


@pytest.mark.parametrize(("cues", "expected"), RUNS)
def test_sentences_over_several_cues(cues: list[str], expected: list[str]) -> None:
    assert spoken(*cues) == expected


def test_no_sentence_goes_on_after_a_long_silence() -> None:
    assert spoken("I went to", "the market.", gap_s=2.9) == ["I went to the market."]
    assert spoken("I went to", "the market.", gap_s=3.1) == ["I went to", "the market."]


def test_verse_begins_its_lines_with_capitals_and_runs_on() -> None:
    cues = [
        "Farewell, a long farewell\nTo all my greatness",
        "And so I leave you here\nBut not for ever",
        "In sorrow and in pain\nOr else in joy.",
    ]
    assert len(spoken(*cues)) == 1


def test_files_without_full_stops_keep_their_cues_apart() -> None:
    cues = [
        "Man the lifeboats", "That was a nice ship", "Did you see it?", "See what that was",
        "Look at that fellow go", "he is the biggest\nI ever saw", "Well, I never",
    ]  # fmt: skip
    assert spoken(*cues) == [
        "Man the lifeboats", "That was a nice ship", "Did you see it?", "See what that was",
        "Look at that fellow go he is the biggest I ever saw", "Well, I never",
    ]  # fmt: skip


def test_labels_and_notes_in_a_file_all_in_capitals() -> None:
    cues = [
        "JOHN: WHERE ARE YOU?", "LISTEN: HE CAME.", "JOHN: COME HERE.", "JOHN: NOW.",
        "(THAT IS MY BROTHER.)", "(DOOR OPENS)", "MRS. SMITH: GO AWAY.", "THE RULE: NO NOISE.",
    ]  # fmt: skip
    dialogue = build_dialogue(
        [Cue(start_s=3 * n, end_s=3 * n + 2, text=text) for n, text in enumerate(cues)]
    )
    assert texts_of(dialogue) == [
        "WHERE ARE YOU?", "LISTEN: HE CAME.", "COME HERE.", "NOW.", "(THAT IS MY BROTHER.)",
        "GO AWAY.", "THE RULE: NO NOISE.",
    ]  # fmt: skip
    assert "the subtitles are all in capitals" in dialogue.notes


def test_a_rare_word_before_a_colon_is_no_name_where_names_are_not_written() -> None:
    cues = ["Farewell: I will grow a talker."] + [f"This is sentence {n}." for n in range(20)]
    assert spoken(*cues)[0] == "Farewell: I will grow a talker."


def test_time_is_shared_by_letters() -> None:
    dialogue = build_dialogue([Cue(start_s=10, end_s=20, text="Abcd. Efghij.")])
    assert times_of(dialogue) == [(10.0, 14.0), (14.0, 20.0)]
    dialogue = build_dialogue([Cue(start_s=10, end_s=20, text="- Abcd.\n- Efghij.")])
    assert times_of(dialogue) == [(10.0, 14.0), (14.0, 20.0)]


def test_a_sentence_over_two_cues_begins_and_ends_in_their_middle() -> None:
    dialogue = build_dialogue(
        [Cue(start_s=0, end_s=4, text="Ab. Cd"), Cue(start_s=5, end_s=9, text="ef. Gh.")]
    )
    assert texts_of(dialogue) == ["Ab.", "Cd ef.", "Gh."]
    assert times_of(dialogue) == [(0.0, 2.0), (2.0, 7.0), (7.0, 9.0)]


def mended(*cues: tuple[float, float, str]) -> Dialogue:
    return build_dialogue([Cue(start_s=a, end_s=b, text=text) for a, b, text in cues])


def test_cues_out_of_order_are_sorted() -> None:
    dialogue = mended((5, 6, "Two."), (1, 2, "One."), (8, 9, "Three."))
    assert texts_of(dialogue) == ["One.", "Two.", "Three."]
    assert any("1 out of order" in note for note in dialogue.notes)


def test_cues_without_length_get_one() -> None:
    dialogue = mended((1, 1, "Hello there."), (5, 4, "Goodbye."), (6.0, 7, "Again."))
    assert [round(s.end_s, 2) for s in dialogue.subtitles] == [2.3, 6.0, 7.0]
    assert any("2 without length" in note for note in dialogue.notes)


def test_negative_and_absurd_times() -> None:
    dialogue = mended(
        (-5, -3, "Before."), (-1, 2, "At the start."), (3, 4, "One."),
        (18000, 18002, "Typo here."), (10, 12, "Two."), (20, 7220, "Endless."),
        (90_000, 90_001, "Ad."),
    )  # fmt: skip
    assert texts_of(dialogue) == ["At the start.", "One.", "Typo here.", "Two.", "Endless."]
    start_s, end_s = times_of(dialogue)[2]
    assert 4 <= start_s < end_s <= 10
    assert dialogue.subtitles[-1].end_s < 30
    assert dialogue.subtitles[0].start_s == 0
    notes = " ".join(dialogue.notes)
    for word in (
        "2 outside the film",
        "1 before time zero",
        "1 with an absurd time",
        "never ended",
    ):
        assert word in notes


def test_overlapping_cues_end_where_the_next_begins() -> None:
    dialogue = mended((0, 5, "One."), (3, 6, "Two."), (10, 12, "A."), (10, 12, "B."))
    assert times_of(dialogue) == [(0.0, 3.0), (3.0, 6.0), (10.0, 12.0), (10.0, 12.0)]
    assert any("1 overlapping" in note for note in dialogue.notes)


def test_duplicated_cues_collapse() -> None:
    dialogue = mended((0, 2, "One."), (0, 2, "One."), (2, 3, "One."), (5, 6, "One."))
    assert times_of(dialogue) == [(0.0, 3.0), (5.0, 6.0)]
    assert any("2 duplicate" in note for note in dialogue.notes)


def test_rolling_captions_collapse() -> None:
    dialogue = mended(
        (0, 2, "so today we"), (2, 2.01, "so today we"), (2.01, 4, "so today we\nwill talk about"),
        (4, 4.01, "will talk about"), (4.01, 6, "will talk about\nthe sea"),
    )  # fmt: skip
    assert " ".join(texts_of(dialogue)) == "so today we will talk about the sea"


def test_growing_captions_collapse() -> None:
    dialogue = mended(
        (0, 1, "so"), (1, 2, "so today"), (2, 3, "so today we talk."), (3, 4, "We talk"),
        (4, 5, "We talk about the sea."),
    )  # fmt: skip
    assert texts_of(dialogue) == ["so today we talk.", "We talk about the sea."]


def test_repeated_cries_stay() -> None:
    assert (
        spoken("Let me go! Let me go!", "Let me go!", "Let me go!", gap_s=0.05)
        == ["Let me go!"] * 4
    )


cue_lists = st.lists(
    st.tuples(
        st.floats(-100, 20_000, allow_nan=False),
        st.floats(-5, 100, allow_nan=False),
        st.text(max_size=60) | st.sampled_from([text for text, _ in MARKUP + NOTES + LABELS]),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=150)
@given(cue_lists)
def test_whatever_the_cues_the_sentences_are_ordered_and_in_range(
    rows: list[tuple[float, float, str]],
) -> None:
    cues = [Cue(start_s=start, end_s=start + length, text=text) for start, length, text in rows]
    subtitles = build_dialogue(cues).subtitles
    assert [subtitle.index for subtitle in subtitles] == list(range(len(subtitles)))
    starts = [subtitle.start_s for subtitle in subtitles]
    assert starts == sorted(starts)
    longest_s = max((len(cue.text) for cue in cues), default=0) / 15 + 0.5
    for subtitle in subtitles:
        assert subtitle.start_s < subtitle.end_s
        assert any(character.isalnum() for character in subtitle.text)
        assert subtitle.start_s >= 0
        assert subtitle.end_s <= max(max(cue.end_s, cue.start_s + longest_s) for cue in cues) + 1e-6


plain_words = st.lists(
    st.text(alphabet="abcdefghijkmnopqrstuvwxyzéüж", min_size=1, max_size=9), min_size=1, max_size=8
)
plain_speech = st.builds(
    lambda words, end, comma: (" ".join(words).capitalize() + end).replace(" ", comma, 1),
    plain_words,
    st.sampled_from([".", "!", "?", "...", "", ","]),
    st.sampled_from([" ", ", "]),
)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(plain_speech, st.floats(0.0, 5.0)),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[0],
    )
)
def test_no_letter_of_plain_dialogue_is_lost(rows: list[tuple[str, float]]) -> None:
    assume(not any(is_credit(text, subtitle_words()) for text, _ in rows))
    cues, clock = [], 0.0
    for text, gap_s in rows:
        cues.append(Cue(start_s=clock, end_s=clock + 2, text=text))
        clock += 2.2 + gap_s
    spoken_letters = "".join(s.text for s in build_dialogue(cues).subtitles)
    given_letters = "".join(text for text, _ in rows)
    assert [c for c in spoken_letters if c.isalpha()] == [c for c in given_letters if c.isalpha()]


def speakers(tmp_path, text, name="film.srt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [(said.speaker, said.text) for said in read_subtitles(path).subtitles]


def test_speakers_are_known_where_the_subtitles_name_them(tmp_path):
    srt = (
        "1\n00:00:01,000 --> 00:00:03,000\nPETRA: Sixty-one kilos. He weighs\n\n"
        "2\n00:00:03,100 --> 00:00:04,000\nmore than the bull.\n\n"
        "3\n00:00:10,000 --> 00:00:12,000\nThe ferry is late.\n\n"
        "4\n00:00:14,000 --> 00:00:16,000\nPETRA: Who opened it?\nMR. HOBDAY: Not I.\n\n"
        "5\n00:00:17,000 --> 00:00:18,000\n- Yes.\n- No.\n"
    )
    assert speakers(tmp_path, srt) == [
        ("PETRA", "Sixty-one kilos."),
        ("PETRA", "He weighs more than the bull."),
        (None, "The ferry is late."),  # it may be anybody
        ("PETRA", "Who opened it?"),
        ("MR. HOBDAY", "Not I."),
        (None, "Yes."),
        (None, "No."),
    ]
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Petra>Sixty-one kilos.</v>\n<v Gus>Never.</v>\n"
    assert speakers(tmp_path, vtt, "film.vtt") == [("Petra", "Sixty-one kilos."), ("Gus", "Never.")]
