"""Subtitles in scripts without capitals, and credits that no English rule knows."""

import pytest

from folioreel.ingest.subtitles.credits import is_credit
from folioreel.ingest.subtitles.cues import Cue, ParsedCues
from folioreel.ingest.subtitles.dialogue import build_dialogue
from folioreel.ingest.subtitles.subtitle_words import subtitle_words


def heard(language, cues, gap_s=0.2):
    timed = [
        Cue(start_s=k * (2 + gap_s), end_s=k * (2 + gap_s) + 2, text=text)
        for k, text in enumerate(cues)
    ]
    return build_dialogue(ParsedCues(cues=tuple(timed)), language).subtitles


FEW_STOPS = [
    "誰だい？",
    "ただの雨さ",
    "もう寝なさい。",
    "船長",
    "橋へ行かなくちゃ",
    "本気か？",
    "この雨じゃ",
    "誰も渡れない",
]


def test_cues_without_full_stops_are_sentences():
    assert [said.text for said in heard("ja", FEW_STOPS)] == FEW_STOPS


def test_a_comma_or_an_arrow_goes_on():
    cues = [*FEW_STOPS, "雨がやんだら、", "帰ろう", "夜が→", "明ける"]
    said = [said.text for said in heard("ja", cues)]
    assert said == [*FEW_STOPS, "雨がやんだら、帰ろう", "夜が明ける"]


def test_a_file_with_full_stops_is_joined():
    cues = [
        "老人坐在火边",
        "一句话也不说。",
        "雨停了。",
        "他们走到桥上",
        "等着渡船。",
        "没有人来。",
        "天亮了。",
    ]
    said = [said.text for said in heard("zh", cues)]
    assert said == [
        "老人坐在火边一句话也不说。",
        "雨停了。",
        "他们走到桥上等着渡船。",
        "没有人来。",
        "天亮了。",
    ]


@pytest.mark.parametrize("colon", ["：", ":", ": "])
def test_speakers_before_a_colon(colon):
    lines = [
        ("安娜", "你为什么不走？"),
        ("船长", "雨太大了。"),
        ("安娜", "我等不了。"),
        ("船长", "再等一夜。"),
    ] * 2
    said = heard("zh", [f"{name}{colon}{text}" for name, text in lines])
    assert [(one.speaker, one.text) for one in said] == lines


def test_a_clause_before_a_colon_is_said():
    cues = [
        "他只对我说了一句话：快走！",
        "雨停了。",
        "天亮了。",
        "没有人来。",
        "我们走吧。",
        "好。",
    ]
    assert heard("zh", cues)[0].text == "他只对我说了一句话：快走！"


@pytest.mark.parametrize(
    ("text", "credit"),
    [
        ("Untertitelung des ZDF, 2020", True),
        ("Untertitelung im Auftrag des NDR", True),
        ("Copyright WDR 2021", True),
        ("Copyright, was ist das?", False),
        ("Untertitelung ist mein Beruf.", False),
    ],
)
def test_german_credits(text, credit):
    assert is_credit(text, subtitle_words("de")) == credit


@pytest.mark.parametrize(
    ("language", "text", "credit"),
    [
        ("fr", "Sous-titres réalisés par AlphaSub", True),
        ("fr", "Sous-titrage Société Radio-Canada", True),
        ("fr", "Sous-titrage difficile, ce film !", False),
        ("de", "ARD Text im Auftrag von Funk (2019)", True),
        ("de", "Untertitel im Auftrag des ZDF für funk, 2017", True),
        ("es", "Corrección y resincronización: María", True),
        ("it", "Sottotitoli creati dalla comunità", True),
        ("pt", "Legendas pela comunidade", True),
        ("pl", "Napisy stworzone przez społeczność", True),
        ("sv", "Text: Gunnar Ström, SDI Media", True),
        ("sv", "Texten var svår att läsa.", False),
        ("da", "Danske undertekster: SDI Media", True),
        ("no", "Norske tekster: NRK", True),
        ("cs", "Přeložil a načasoval Ondřej", True),
        ("cs", "Přeložil jsem ten dopis.", False),
        ("hu", "Magyar szöveg: Őrsi Pál", True),
        ("ro", "Traducerea și adaptarea: Ana", True),
        ("ro", "Traducerea a fost grea.", False),
        ("ru", "Редактор субтитров А. Сёмкин", True),
        ("ru", "Редактор газеты умер.", False),
        ("uk", "Переклад: Гуртом", True),
        ("uk", "Переклад був поганий.", False),
        ("el", "Απόδοση διαλόγων: Μαρία", True),
        ("he", "תורגם וסונכרן על ידי משה כהן", True),
        ("he", "התרגום היה גרוע.", False),
        ("fa", "ترجمه و زیرنویس: علی", True),
        ("vi", "Dịch phụ đề: Minh", True),
        ("zh", "本字幕由人人影视制作", True),
        ("ko", "싱크 수정: 박민수", True),
    ],
)
def test_credits_by_language(language, text, credit):
    assert is_credit(text, subtitle_words(language)) == credit


def test_a_verb_before_a_quotation_is_no_speaker():
    cues = ["ANNA: Gdzie jest moja siostra?", "Powiedział: „Wrócę.”", "Jaki piękny dzień!"]
    said = heard("pl", cues)
    assert [(one.speaker, one.text) for one in said] == [
        ("ANNA", "Gdzie jest moja siostra?"),
        (None, "Powiedział: „Wrócę.”"),
        (None, "Jaki piękny dzień!"),
    ]


def test_speakers_with_vowels_above_and_below_their_letters():
    lines = [("ผู้ชาย", "หยุดนะ"), ("แม่", "ฉันจะอยู่ที่นี่"), ("ผู้ชาย", "ไปกันเถอะ")] * 2
    said = heard("th", [f"{name}: {text}" for name, text in lines])
    assert [(one.speaker, one.text) for one in said] == lines


def test_a_greek_question_ends_a_sentence():
    said = heard("el", ["ΑΝΝΑ: Πού είναι η αδερφή μου;", "Είπε ότι θα γυρίσει.", "Καλά."])
    assert [(one.speaker, one.text) for one in said] == [
        ("ΑΝΝΑ", "Πού είναι η αδερφή μου;"),
        (None, "Είπε ότι θα γυρίσει."),
        (None, "Καλά."),
    ]
