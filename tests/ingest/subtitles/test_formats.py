"""Subtitle files of every format and encoding, broken ones too, against hand-worked cues."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from folioreel.errors import FolioReelError, InputError, UnknownFormatError
from folioreel.ingest.subtitles.dialogue import Dialogue, read_subtitles
from folioreel.ingest.subtitles.pysubs2_formats import parse_substation


def read(
    tmp_path: Path, content: str | bytes, name: str = "film.srt", frame_rate: float | None = None
) -> Dialogue:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_subtitles(path, frame_rate)


def texts_of(dialogue: Dialogue) -> list[str]:
    return [subtitle.text for subtitle in dialogue.subtitles]


def times_of(dialogue: Dialogue) -> list[tuple[float, float]]:
    return [(round(s.start_s, 3), round(s.end_s, 3)) for s in dialogue.subtitles]


SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n2\n00:00:03,500 --> 00:00:05,000\nGoodbye.\n"
)
EXPECTED = [(1.0, 2.0), (3.5, 5.0)]

SUBRIP_VARIANTS = {
    "plain": SRT,
    "byte-order mark": "\ufeff" + SRT,
    "windows line ends": SRT.replace("\n", "\r\n"),
    "old mac line ends": SRT.replace("\n", "\r"),
    "doubled line ends": SRT.replace("\n", "\r\r\n"),
    "dots": SRT.replace(",", "."),
    "no numbers": SRT.replace("1\n00:00:01", "00:00:01").replace("2\n00:00:03", "00:00:03"),
    "no blank lines": SRT.replace("\n\n", "\n"),
    "blank lines of spaces": SRT.replace("\n\n", "\n  \n"),
    "no hours": SRT.replace("00:00:", "00:"),
    "short fields": SRT.replace("00:00:01,000", "0:0:1,0").replace("05,000", "5,0"),
    "bad arrows": SRT.replace("-->", "->"),
    "em-dash arrows": SRT.replace("-->", "—>"),
    "no spaces": SRT.replace(" --> ", "-->"),
    "spaces in times": SRT.replace(":0", ": 0"),
    "coordinates": SRT.replace("02,000", "02,000 X1:100 X2:200 Y1:10 Y2:20"),
    "text before the first cue": "Some header\n\n" + SRT,
    "number on the line of the times": SRT.replace("1\n00", "1 00").replace("2\n00", "2 00"),
    "colons": SRT.replace(",", ":"),
    "SubViewer": "[INFORMATION]\n[TITLE]x\n[END INFORMATION]\n00:00:01.00,00:00:02.00\n"
    "Hello[br]there.\n\n"
    "00:00:03.50,00:00:05.00\nGoodbye.\n",
    "SBV": "0:00:01.000,0:00:02.000\nHello there.\n\n0:00:03.500,0:00:05.000\nGoodbye.\n",
    "Whisper": "[00:00:01.000 --> 00:00:02.000]  Hello there.\n[00:03.500 -> 00:05.000] Goodbye.\n",
}


@pytest.mark.parametrize("variant", SUBRIP_VARIANTS)
def test_subrip_variants(tmp_path: Path, variant: str) -> None:
    dialogue = read(tmp_path, SUBRIP_VARIANTS[variant])
    assert dialogue.format == "srt"
    assert texts_of(dialogue) == ["Hello there.", "Goodbye."]
    assert times_of(dialogue) == EXPECTED


def test_spoken_numbers_are_no_cue_numbers(tmp_path: Path) -> None:
    text = SRT.replace("Hello there.", "How many?\n42").replace("Goodbye.", "1984.")
    assert texts_of(read(tmp_path, text)) == ["How many?", "42 1984."]


def test_negative_times_keep_their_sign(tmp_path: Path) -> None:
    text = "1\n-00:00:03,000 --> -00:00:01,000\nBefore.\n\n" + SRT
    assert texts_of(read(tmp_path, text)) == ["Hello there.", "Goodbye."]


RUSSIAN = [
    "Где ты оставил ключ?", "Я положил его на стол у окна.", "Не знаю, что сказать.",
    "Может быть, завтра будет лучше.", "Здравствуйте, как вы поживаете?", "Спасибо большое.",
]  # fmt: skip
GERMAN = ["Wo haben Sie den Schlüssel hingelegt?", "Ich weiß es nicht.", "Können Sie mir helfen?"]
CHINESE = [
    "你把钥匙放在哪里了？",
    "我把它放在窗边的桌子上。",
    "我不知道该说什么，也许明天会好一些。",
]


@pytest.mark.parametrize(
    ("encoding", "sentences"),
    [("utf-8", RUSSIAN), ("utf-8-sig", GERMAN), ("utf-16", RUSSIAN), ("cp1251", RUSSIAN),
     ("koi8-r", RUSSIAN), ("cp1252", GERMAN), ("gb18030", CHINESE)],
)  # fmt: skip
def test_encodings(tmp_path: Path, encoding: str, sentences: list[str]) -> None:
    body = "".join(
        f"{n}\r\n00:00:{2 * n:02},000 --> 00:00:{2 * n + 1:02},000\r\n- {said}\r\n\r\n"
        for n, said in enumerate(sentences * 3, start=1)
    )
    assert texts_of(read(tmp_path, body.encode(encoding))) == sentences * 3


WEBVTT = """WEBVTT - a film
Kind: captions
X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000

NOTE
A comment with an arrow --> inside
and <v Nobody>a voice.

STYLE
::cue(.loud) { color: red }

REGION
id:fred

intro - the first
00:01.000 --> 00:02.000 align:start position:0% line:90%
<v.loud Mary Ann>Hello <b>there</b>.

NOTE one line

00:00:03.500 --> 00:00:05.000
<v Mary Ann>Where are <v John>Here I
<v John>am.
"""


def test_webvtt(tmp_path: Path) -> None:
    dialogue = read(tmp_path, WEBVTT, "film.srt")
    assert dialogue.format == "vtt"
    assert texts_of(dialogue) == ["Hello there.", "Where are", "Here I am."]
    assert times_of(dialogue)[0] == (1.0, 2.0)
    assert dialogue.subtitles[-1].end_s == 5.0


def test_webvtt_segments_of_a_stream_are_put_in_line(tmp_path: Path) -> None:
    segment = (
        "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:{},LOCAL:00:00:00.000\n\n00:01.000 --> 00:02.000\n{}\n\n"
    )
    text = segment.format(900_000, "One.") + segment.format(900_000 + 90_000 * 10, "Two.")
    assert times_of(read(tmp_path, text)) == [(1.0, 2.0), (11.0, 12.0)]


def test_youtube_rolling_webvtt(tmp_path: Path) -> None:
    text = (
        "WEBVTT\nKind: captions\nLanguage: en\n\n"
        "00:00:00.000 --> 00:00:02.000 align:start position:0%\n \n"
        "so<00:00:00.320><c> today</c>\n\n"
        "00:00:02.000 --> 00:00:02.010 align:start position:0%\nso today\n \n\n"
        "00:00:02.010 --> 00:00:04.000 align:start position:0%\nso today\n"
        "we<00:00:02.400><c> talk</c>\n\n"
        "00:00:04.000 --> 00:00:04.010 align:start position:0%\nwe talk\n \n\n"
    )
    assert " ".join(texts_of(read(tmp_path, text))) == "so today we talk"


ASS = """[Script Info]
Title: x
[V4+ Styles]
Format: Name, Fontname
Style: Default,Arial,broken,fields
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,A comment
Dialogue: 0,0:00:01.00,0:00:02.00,Default,Mary,0,0,0,,{\\i1}Hello{\\i0},\\Nthere.
Dialogue: 1,0:00:01.00,0:00:02.00,Default,Mary,0,0,0,,{\\bord3}Hello,\\Nthere.
Dialogue: 0,0:00:01.00,0:00:09.00,Signs,,0,0,0,,{\\pos(10,10)}BANK
Dialogue: 0,0:00:03.50,0:00:05.00,Default,John,0,0,0,,{\\p1}m 0 0 l 100 0{\\p0}Goodbye.
Dialogue: 0,oops,0:00:05.00,Default,,0,0,0,,Broken
"""


def test_substation(tmp_path: Path) -> None:
    dialogue = read(tmp_path, ASS, "film.txt")
    assert dialogue.format == "ass"
    assert texts_of(dialogue) == ["Hello, there.", "Goodbye."]
    assert times_of(dialogue) == EXPECTED
    notes = " ".join(dialogue.notes)
    assert "1 dialogue lines could not be read" in notes
    assert "1 cues in styles for signs and songs" in notes


def test_old_substation(tmp_path: Path) -> None:
    text = (
        "[Script Info]\n[V4 Styles]\n[Events]\n"
        "Dialogue: Marked=0,0:00:01.00,0:00:02.00,Default,NTP,0000,0000,0000,!Effect,Hello there.\n"
    )
    dialogue = read(tmp_path, text)
    assert (dialogue.format, texts_of(dialogue)) == ("ssa", ["Hello there."])


TTML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<tt xmlns="http://www.w3.org/ns/ttml" '
    'xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xmlns:tts="http://www.w3.org/ns/ttml#styling" '
    'xmlns:ttm="http://www.w3.org/ns/ttml#metadata" {}><head><ttm:title>x</ttm:title></head>'
)
TTML = {
    "clock": (
        "",
        '<p begin="00:00:01.000" end="00:00:02.000" tts:color="red">Hello<br/>there.</p>'
        '<p begin="00:00:03.5" end="00:00:05">Good<span tts:fontStyle="italic">bye</span>.</p>',
    ),
    "offsets": (
        "",
        '<p begin="1s" dur="1000ms">Hello\n   there.</p><p begin="3.5s" end="5s">Goodbye.</p>',
    ),
    "ticks": (
        'ttp:tickRate="10000000"',
        '<p begin="10000000t" end="20000000t">Hello there.</p>'
        '<p begin="35000000t" end="50000000t">Goodbye.</p>',
    ),
    "frames": (
        'ttp:frameRate="24"',
        '<p begin="24f" end="00:00:02:00">Hello there.</p>'
        '<p begin="00:00:03:12" end="00:00:05:00">Goodbye.</p>',
    ),
    "nested times": (
        "",
        '<div begin="1s"><p begin="0s" end="1s">Hello there.</p>'
        '<div begin="2.5s"><p end="1.5s">Goodbye.</p></div></div>',
    ),
    "timed spans": (
        "",
        '<p begin="1s" end="5s"><span begin="0s" end="1s">Hello <span>there.</span></span>'
        '<span begin="2.5s" end="4s">Goodbye.</span></p>',
    ),
    "in turn": (
        "",
        '<div timeContainer="seq"><p begin="1s" dur="1s">Hello there.</p>'
        '<p begin="1.5s" dur="1.5s">Goodbye.</p></div>',
    ),
    "sounds": (
        "",
        '<p begin="1s" end="2s">Hello there.</p><p begin="2s" end="3s" ttm:role="sound">Boom</p>'
        '<p begin="3.5s" end="5s">Goodbye.</p>',
    ),
}


def ttml(variant: str) -> str:
    attributes, content = TTML[variant]
    return TTML_HEAD.format(attributes) + f"<body><div>{content}</div></body></tt>"


@pytest.mark.parametrize("variant", TTML)
def test_ttml(tmp_path: Path, variant: str) -> None:
    dialogue = read(tmp_path, ttml(variant), "film.xml")
    assert dialogue.format == "ttml"
    assert texts_of(dialogue) == ["Hello there.", "Goodbye."]
    assert times_of(dialogue) == EXPECTED


def test_ttml_of_the_oldest_namespace_with_prefixes(tmp_path: Path) -> None:
    text = (
        '<t:tt xmlns:t="http://www.w3.org/2006/10/ttaf1"><t:body><t:div>'
        '<t:p begin="00:00:01.00" end="00:00:02.00">Hello there.</t:p></t:div></t:body></t:tt>'
    )
    assert texts_of(read(tmp_path, text)) == ["Hello there."]


LONG = "9" * 5000  # more digits than int() converts


def test_a_ttml_time_of_thousands_of_digits_is_outside_the_film(tmp_path: Path) -> None:
    shown = "".join(
        f'<p begin="{begin}" dur="1s">{word} is said.</p>'
        for begin, word in [("1s", "One"), (f"{LONG}:00:00", "Two"), (f"{LONG}t", "Three")]
    )
    rates = f'frameRate="{LONG}" tickRate="{LONG}" frameRateMultiplier="{LONG} 1001"'
    text = TTML_HEAD.format(rates) + f"<body><div>{shown}</div></body></tt>"
    dialogue = read(tmp_path, text)
    assert texts_of(dialogue) == ["One is said."]
    assert times_of(dialogue) == [(1.0, 2.0)]
    assert dialogue.notes == ("subtitle cues left out: 2 outside the film",)


@pytest.mark.parametrize(
    "text",
    [
        '{"segments": [{"start": "x", "end": 2, "text": "Hello."}]}',
        '{"events": [{"tStartMs": 1, "segs": [3]}]}',
        '{"events": [{"strange": 1}]}',
    ],
)
def test_numbers_that_are_none_are_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="not as"):
        read(tmp_path, text, "film.txt")


@pytest.mark.parametrize(
    ("text", "start_s"),
    [
        (f"{{1}}{{1}}25\n{{25}}{{{LONG}}}Hello.\n{{50}}{{60}}Goodbye.\n", 1.0),
        (f"[10][{LONG}]Hello.\n[50][60]Goodbye.\n", 1.0),
        (
            f"1\n00:00:01,000 --> {LONG}:00:00,000\nHello.\n\n"
            "2\n00:00:05,000 --> 00:00:06,000\nBye.",
            1,
        ),
    ],
)
def test_a_cue_whose_end_has_thousands_of_digits_never_ended(
    tmp_path: Path, text: str, start_s: float
) -> None:
    dialogue = read(tmp_path, text, "film.txt")
    assert texts_of(dialogue)[0] == "Hello."
    assert times_of(dialogue)[0][0] == start_s
    assert any("1 that never ended" in note for note in dialogue.notes)


def test_sami_and_hls_times_of_thousands_of_digits(tmp_path: Path) -> None:
    sami = f"<SAMI><BODY><SYNC Start=1000><P>Hello.<SYNC Start={LONG}><P>Lost.</BODY></SAMI>"
    assert texts_of(read(tmp_path, sami, "film.smi")) == ["Hello."]
    clock = f"X-TIMESTAMP-MAP=MPEGTS:{LONG},LOCAL:00:00:00.000"
    vtt = f"WEBVTT\n{clock}\n\n00:01.000 --> 00:02.000\nHello."
    assert texts_of(read(tmp_path, vtt, "film.vtt")) == ["Hello."]


def test_ttml_of_pictures(tmp_path: Path) -> None:
    text = (
        TTML_HEAD.format('xmlns:smpte="x"')
        + '<body><div begin="1s" end="2s" smpte:backgroundImage="#img1"/></body></tt>'
    )
    with pytest.raises(InputError, match="pictures of text"):
        read(tmp_path, text)


def test_sami_reads_one_language_and_real_ends(tmp_path: Path) -> None:
    text = (
        '<SAMI><HEAD><STYLE TYPE="text/css"><!-- P {} .ENCC {Name: x;} --></STYLE></HEAD><BODY>'
        "<SYNC Start=1000><P Class=KRCC>안녕하세요<P Class=ENCC>Hello<br>there.\n"
        "<SYNC Start=2000><P Class=KRCC>&nbsp;<P Class=ENCC>&nbsp;\n"
        "<SYNC Start='3500'><P Class=ENCC>Goodbye.</P></SYNC>"
        "<SYNC Start=5000><P Class=ENCC>&nbsp;\n"
        "</BODY></SAMI>"
    )
    dialogue = read(tmp_path, text, "film.smi")
    assert (dialogue.format, texts_of(dialogue)) == ("sami", ["Hello there.", "Goodbye."])
    assert times_of(dialogue) == EXPECTED
    for language, words in [("ko", ["안녕하세요"]), ("fr", ["Hello there.", "Goodbye."])]:
        chosen = read_subtitles(tmp_path / "film.smi", preferred=language)
        assert texts_of(chosen) == words


def test_sami_classes_by_their_style_sheet(tmp_path: Path) -> None:
    path = tmp_path / "film.smi"
    path.write_text(
        "<SAMI><HEAD><STYLE><!-- .ONE {Name: x; lang: fr-FR;} .TWO {lang:de;} --></STYLE></HEAD>"
        "<BODY><SYNC Start=1000><P Class=ONE>Bonjour, monsieur.<P Class=TWO>Guten Tag."
        "<SYNC Start=2000><P Class=ONE>&nbsp;<P Class=TWO>&nbsp;</BODY></SAMI>",
        encoding="utf-8",
    )
    assert texts_of(read_subtitles(path, preferred="de")) == ["Guten Tag."]
    assert texts_of(read_subtitles(path, preferred="fr")) == ["Bonjour, monsieur."]


MICRODVD = "{25}{50}Hello|there.\n{88}{125}{Y:i}Goodbye.\n{130}{}Again.\n"


def test_microdvd_takes_its_rate_from_the_header_the_video_or_the_default(tmp_path: Path) -> None:
    stated = read(tmp_path, "{1}{1}25.000\n" + MICRODVD, "film.sub", frame_rate=30.0)
    assert texts_of(stated) == ["Hello there.", "Goodbye.", "Again."]
    assert times_of(stated)[0] == (1.0, 2.0)
    assert "state 25" in stated.notes[0]
    video = read(tmp_path, MICRODVD, "film.sub", frame_rate=50.0)
    assert times_of(video)[0] == (0.5, 1.0)
    assumed = read(tmp_path, MICRODVD, "film.sub")
    assert times_of(assumed)[0] == (1.043, 2.085)
    assert "23.976 was assumed" in assumed.notes[0]


def test_the_other_formats(tmp_path: Path) -> None:
    mpl2 = read(tmp_path, "[10][20]/Hello|there.\n[35][50]Goodbye.\n", "film.txt")
    assert (mpl2.format, times_of(mpl2)) == ("mpl2", EXPECTED)
    tmp = read(tmp_path, "00:00:01:Hello|there.\n00:00:03=Goodbye.\n", "film.txt")
    assert (tmp.format, texts_of(tmp)) == ("tmp", ["Hello there.", "Goodbye."])
    whisper = (
        '{"segments": [{"start": 1, "end": 2, "text": " Hello there."}, '
        '{"start": 3.5, "end": 5, "text": "Goodbye."}]}'
    )
    assert times_of(read(tmp_path, whisper, "film.json")) == EXPECTED
    json3 = (
        '{"events": [{"tStartMs": 1000, "dDurationMs": 1000, '
        '"segs": [{"utf8": "Hello "}, {"utf8": "there."}]}]}'
    )
    assert texts_of(read(tmp_path, json3, "film.json")) == ["Hello there."]


@pytest.mark.parametrize("text", ["♪ la ♪", "[music]", "(SIGHS)"])
def test_a_file_of_music_alone_has_no_sentence(tmp_path: Path, text: str) -> None:
    dialogue = read(tmp_path, SRT.replace("Hello there.", text).replace("Goodbye.", text))
    assert dialogue.subtitles == ()
    assert dialogue.cue_count == 2
    assert "2 notes or songs" in dialogue.notes[0]


BAD_FILES = {
    "plain text": (b"Once upon a time.\nThere was a king.\n", UnknownFormatError, "plain text"),
    "web page": (b"<!DOCTYPE html><html><body>Hi</body></html>", UnknownFormatError, "web page"),
    "no cues": (b"WEBVTT\n\nNOTE nothing\n", InputError, "no cues"),
    "empty": (b"", InputError, "empty"),
    "VobSub index": (b"# VobSub index file, v7\nsize: 720x576\n", InputError, "pictures of text"),
    "VobSub": (b"\x00\x00\x01\xba" + bytes(100), InputError, "pictures of text"),
    "PGS": (b"PG" + bytes(100), InputError, "pictures of text"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files_are_named(tmp_path: Path, kind: str) -> None:
    data, error, words = BAD_FILES[kind]
    with pytest.raises(error, match=words) as caught:
        read(tmp_path, data)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_subtitles(tmp_path / "none.srt")


SAMPLES = [
    *(SRT, WEBVTT, ASS, MICRODVD),
    *map(ttml, TTML),
]


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(SAMPLES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), st.binary(max_size=6)), max_size=6),
)
def test_damaged_files_end_in_sentences_or_in_one_clear_line(
    tmp_path: Path, sample: str, damage: list[tuple[float, int, bytes]]
) -> None:
    data = bytearray(sample.encode())
    for place, lost, added in damage:
        position = int(place * len(data))
        data[position : position + lost] = added
    message, subtitles = "", ()
    try:
        subtitles = read(tmp_path, bytes(data)).subtitles
    except FolioReelError as error:
        message = str(error)
    assert "\n" not in message
    assert all(subtitle.start_s < subtitle.end_s for subtitle in subtitles)


@pytest.mark.parametrize(
    "line",
    [
        " " * 5000,
        "\t" * 5000,
        "1" * 5000,
        "1" * 5000 + ":00:01,000 --> 00:00:02,000",
        "00:00:01,000 -->" + " " * 5000 + "x",
        "00:00:01,000" + " " * 5000 + "x",
        "00:00:01,000 --> 00:00:02,000" + " " * 5000 + "]x",
        "00:00:01,000 --> 00:00:02,000 " + "a:b" * 200 + " x",
        "00:00:01,000 --> 00:00:02,000 " + "a:b " * 2000 + "x",
        "{" + " " * 5000,
    ],
)
def test_no_line_takes_long(tmp_path: Path, line: str) -> None:
    started = time.perf_counter()
    assert "Goodbye." in " ".join(texts_of(read(tmp_path, f"{SRT}\n{line}\n")))
    assert time.perf_counter() - started < 1


SPOILT_TIMES = {
    "no digit": ("00:00:0x,500 --> 00:00:0y,000", 1.0),
    "a letter for a zero": ("00:OO:03,500 --> 00:00:05,000", 1.0),
    "no start": ("--> 00:00:05,000", 1.0),
    "no end": ("00:00:03,500 -->", 3.5),
    "no arrow": ("00:00:03,500 00:00:05,000", 3.5),
    "an arrow of a web page": ("00:00:03,500 --&gt; 00:00:05,000", 3.5),
    "hyphens": ("00-00-03,500 --> 00-00-05,000", 1.0),
    "seconds alone": ("3.500 --> 5.000", 1.0),
}


@pytest.mark.parametrize("line", SPOILT_TIMES)
@pytest.mark.parametrize("head", ["", "WEBVTT\n\n"])
def test_spoilt_times_are_not_spoken(tmp_path: Path, line: str, head: str) -> None:
    spoilt, start_s = SPOILT_TIMES[line]
    text = SRT.replace("00:00:03,500 --> 00:00:05,000", spoilt) + "\n3\n00:00:07,000 --> "
    dialogue = read(tmp_path, head + text + "00:00:08,000\nGood night.\n")
    assert texts_of(dialogue)[0].startswith("Hello there.")
    assert " ".join(texts_of(dialogue)) == "Hello there. Goodbye. Good night."
    noted = any("1 cue has no readable time" in note for note in dialogue.notes)
    assert noted == (start_s == 1.0)
    assert noted or times_of(dialogue)[1][0] == start_s


@pytest.mark.parametrize("said", ["Press --> to go on.", "--> Look here!", "At 9:15: 1:2: no."])
def test_arrows_and_colons_may_be_said(tmp_path: Path, said: str) -> None:
    assert said.split()[-1] in " ".join(texts_of(read(tmp_path, SRT.replace("Goodbye.", said))))


@pytest.mark.parametrize("new_line", ["\v", "\f", "\x1e", "\x85", "\u2028", "\u2029"])
def test_other_ends_of_lines(tmp_path: Path, new_line: str) -> None:
    assert times_of(read(tmp_path, SRT.replace("\n", new_line))) == EXPECTED
    text = SRT.replace("Hello there", f"Hello{new_line}there")
    assert texts_of(read(tmp_path, text))[0] == "Hello there."
    document = f'{{"segments": [{{"start": 1, "end": 2, "text": "Hello{chr(0x2028)}there."}}]}}'
    assert texts_of(read(tmp_path, document)) == ["Hello there."]


LRC = "[ti:x]\n[00:01.00]Hello there.\n[00:02.00]\n[00:03.50]Goodbye.\n[00:05.00]\n"
SUBVIEWER_1 = (
    "[TITLE]\nx\n[DELAY]\n0\n[BEGIN]\n******** START SCRIPT ********\n[00:00:01]\nHello|there.\n"
    "[00:00:02]\n\n[00:00:03]\nGoodbye.\n[00:00:05]\n\n[end]\n******** END SCRIPT ********\n"
)


def test_lrc(tmp_path: Path) -> None:
    dialogue = read(tmp_path, LRC)
    assert (texts_of(dialogue), times_of(dialogue)) == (["Hello there.", "Goodbye."], EXPECTED)
    sung = read(tmp_path, "[00:01.00][00:09.00]La la la.\n[00:04.00]Goodbye.\n[00:12.00]\n")
    assert texts_of(sung) == ["La la la.", "Goodbye.", "La la la."]


def test_the_first_subviewer(tmp_path: Path) -> None:
    dialogue = read(tmp_path, SUBVIEWER_1)
    assert texts_of(dialogue) == ["Hello there.", "Goodbye."]
    assert times_of(dialogue) == [(1.0, 2.0), (3.0, 5.0)]


def test_verses_in_brackets_are_no_subtitles(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormatError, match="plain text"):
        read(tmp_path, "[3:16] For God so loved the world.\n[3:17] For God sent not his Son.\n")


SUBSTATION_COLUMNS = {
    "few": ("Start, End, Text", "0:00:01.00,0:00:02.00,Hello, there."),
    "another order": (
        "Layer, Style, Start, End, Actor, Text",
        "0,Default,0:00:01.00,0:00:02.00,John,Hello, there.",
    ),
    "no fraction": (
        "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
        "0,0:00:01,0:00:02,Default,,0,0,0,,Hello, there.",
    ),
}


@pytest.mark.parametrize("columns", SUBSTATION_COLUMNS)
def test_substation_with_columns_of_its_own(tmp_path: Path, columns: str) -> None:
    names, line = SUBSTATION_COLUMNS[columns]
    text = f"[Script Info]\n\n[Events]\nFormat: {names}\nDialogue: {line}\n"
    dialogue = read(tmp_path, text)
    assert (texts_of(dialogue), times_of(dialogue)) == (["Hello, there."], [(1.0, 2.0)])
    assert parse_substation(text).cues[0].speaker == ("John" if "Actor" in names else None)
