"""Books and subtitles in the encodings of old Windows and Unix files, in many languages."""

import tomllib
from pathlib import Path

import pytest

from folioreel.ingest import encodings
from folioreel.ingest.encodings import decode_text
from folioreel.ingest.subtitles.formats import read_cues

TEXTS = tomllib.loads((Path(__file__).parents[1] / "languages/texts.toml").read_text("utf-8"))
CZECH = [
    "Jiří přišel pozdě večer.", "Žádná řeka není tak široká.", "Kde je moje sestra?",
    "Nevím, kde jsou žluté květiny.",
    "Už šest dní prší a voda stoupá.", "Zítra bude nový den, řekl starosta.",
]  # fmt: skip
HEBREW = [
    "הקפטן הזקן ניגש אל החלון והביט בגשם.", "איפה היית כל הערב?", "הנהר כבר הגיע אל הגשר.",
    "אף אחד לא העז לומר מילה.", "בבוקר פסק הגשם.",
]  # fmt: skip
OLD_FILES = [
    ("he", "cp1255"), ("he", "iso8859-8"), ("cs", "cp1250"), ("cs", "iso8859-2"),
    ("fr", "cp1252"), ("sv", "iso8859-1"), ("pl", "cp1250"), ("pl", "iso8859-2"),
    ("hu", "cp1250"), ("tr", "cp1254"), ("ru", "cp1251"), ("ru", "koi8-r"),
    ("ar", "cp1256"), ("zh", "gb18030"), ("ja", "cp932"), ("ko", "cp949"), ("th", "cp874"),
]  # fmt: skip


def sentences_of(language: str, encoding: str) -> list[str]:
    """What the encoding can write of the sentences."""
    own = {"cs": CZECH, "he": HEBREW}
    said = own[language] if language in own else TEXTS[language]["sentences"]
    return [" ".join(one.encode(encoding, "ignore").decode(encoding).split()) for one in said]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("language", "encoding"), OLD_FILES)
def test_short_subtitle_files(tmp_path: Path, language: str, encoding: str, newline: str) -> None:
    said = sentences_of(language, encoding)
    cues = [
        f"{n}\n00:00:{2 * n:02},000 --> 00:00:{2 * n + 1:02},000\n{text}\n\n"
        for n, text in enumerate(said, start=1)
    ]
    file = tmp_path / "film.srt"
    file.write_bytes("".join(cues).replace("\n", newline).encode(encoding))
    assert [cue.text for cue in read_cues(file).cues] == said


@pytest.mark.parametrize(("language", "encoding"), OLD_FILES)
def test_short_books(language: str, encoding: str) -> None:
    text = "\n".join(sentences_of(language, encoding))
    assert decode_text(text.replace("\n", "\r\n").encode(encoding), Path("book.txt")) == text


@pytest.mark.parametrize(("language", "encoding"), [("ru", "cp1251"), ("zh", "gb18030")])
def test_english_words_around_each_line(tmp_path: Path, language: str, encoding: str) -> None:
    said = sentences_of(language, encoding)
    lines = [
        f"Dialogue: 0,0:00:{2 * n:02}.00,0:00:{2 * n + 1:02}.00,Default,,0,0,0,,{text}"
        for n, text in enumerate(said)
    ]
    file = tmp_path / "film.ass"
    file.write_bytes("\r\n".join(["[Script Info]", "", "[Events]", *lines]).encode(encoding))
    assert [cue.text for cue in read_cues(file).cues] == said


def test_apostrophes_alone_are_not_chinese() -> None:
    text = "I don’t know what he’d say. We’ll see. It’s late, isn’t it? That’s Anna’s coat. " * 9
    assert decode_text(text.encode("cp1252"), Path("book.txt")) == text


def test_text_in_latin_script_costs_no_guess_among_all_encodings(monkeypatch):
    # The guess takes half a minute for the largest files, and would not be believed.
    monkeypatch.setattr(encodings, "from_bytes", lambda *_, **__: pytest.fail("was guessed"))
    text = "L'été, la vieille dame s'asseyait près de la fenêtre et regardait la mer. " * 50
    assert decode_text(text.encode("cp1252"), Path("été.txt")) == text
