"""Books and subtitles in many languages: sentences, headings, matter, credits."""

import re
import tomllib
from pathlib import Path

import pytest
from drawn_films import DrawnTrack, draw_film, shots_of
from hypothesis import given
from hypothesis import strategies as st

from folioreel.errors import ConfigError
from folioreel.ingest.book import load_book
from folioreel.ingest.books.titles import is_strong_heading, matter_kind, titles_in
from folioreel.ingest.film import load_film
from folioreel.ingest.subtitles.dialogue import read_subtitles
from folioreel.language import decide_language, described_languages, words_of
from folioreel.sentences import split_sentences

TEXTS = tomllib.loads((Path(__file__).parent / "texts.toml").read_text(encoding="utf-8"))
ENCODER = "ar de en es fr it ja ko nl pl pt ru th tr zh".split()


def joined(language: str, sentences: list[str]) -> str:
    return ("" if language in ("zh", "ja") else " ").join(sentences)


def cases(key: str) -> list[tuple[str, str]]:
    return [(language, text) for language, texts in TEXTS.items() for text in texts[key]]


def test_all_languages_of_the_multilingual_encoder_are_here_and_more():
    assert {*ENCODER, "fi", "hu", "ca", "sv"} == set(TEXTS) <= set(described_languages())
    assert all(len(texts["sentences"]) >= 10 for texts in TEXTS.values())


@pytest.mark.parametrize("language", TEXTS)
def test_sentences_are_split_where_they_end(language):
    sentences = TEXTS[language]["sentences"]
    text = joined(language, sentences)
    assert [text[a:b] for a, b in split_sentences(text, language)] == sentences


@pytest.mark.parametrize("language", TEXTS)
@given(data=st.data())
def test_any_order_of_sentences_is_split_alike(language, data):
    sentences = data.draw(st.lists(st.sampled_from(TEXTS[language]["sentences"]), min_size=1))
    if language == "en":  # "etc." and a number's full stop depend on what follows
        sentences = [sentence for sentence in sentences if "etc" not in sentence] or ["She left."]
    text = joined(language, sentences)
    spans = split_sentences(text, language)
    assert "".join(text[a:b] for a, b in spans).replace(" ", "") == text.replace(" ", "")
    # A speech may join the words before or after it, but no sentence is cut in two.
    starts = {a for a, _ in spans}
    position = 0
    whole = {0}
    for sentence in sentences:
        whole.add(position)
        position += len(sentence) + (0 if language in ("zh", "ja") else 1)
    assert starts <= whole


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_is_detected(language):
    assert decide_language(joined(language, TEXTS[language]["sentences"])) == language


@pytest.mark.parametrize(("language", "text"), cases("headings"))
def test_headings(language, text):
    with titles_in(language):
        assert is_strong_heading(text)
        assert matter_kind(text) is None


@pytest.mark.parametrize(("language", "text"), cases("others"))
def test_sentences_are_no_headings(language, text):
    with titles_in(language):
        assert not is_strong_heading(text)


@pytest.mark.parametrize(("language", "text"), cases("contents"))
def test_contents(language, text):
    with titles_in(language):
        assert matter_kind(text) == "contents"


@pytest.mark.parametrize(("language", "text"), cases("pages"))
def test_pages_of_matter(language, text):
    with titles_in(language):
        assert matter_kind(text) == "page"


def test_words_of_one_language_do_not_count_in_another():
    with titles_in("en"):
        assert not is_strong_heading("Tom III")  # a volume in Polish, a person in English
        assert matter_kind("Fine") is None
    with titles_in("pl"):
        assert is_strong_heading("Tom III")
        assert is_strong_heading("CHAPTER III")  # English is read everywhere


@pytest.mark.parametrize("language", TEXTS)
def test_a_whole_book(tmp_path, language):
    """Contents are left out, however long; each chapter is found; the sentences are the story's."""
    texts = TEXTS[language]
    story = joined(language, texts["sentences"])
    chapters = [heading for heading in texts["headings"] if re.search(r"\w", heading)][:3]
    entries = "\n".join(chapters)
    told = "\n\n\n\n".join(f"{chapter}\n\n{story}\n\n{story}" for chapter in chapters)
    path = tmp_path / "book.txt"
    path.write_text(f"{texts['contents'][0]}\n\n{entries}\n\n\n\n{told}\n", encoding="utf-8")
    book = load_book(path)
    assert book.language == language
    assert [chapter.title for chapter in book.chapters] == chapters
    assert [sentence.text for sentence in book.sentences] == 6 * texts["sentences"]


CREDITS = {
    "fr": "Sous-titres et traduction par Jean Blanc",
    "de": "Untertitel: Anna Schwarz",
    "es": "Subtítulos por Luis Roca",
    "it": "Sottotitoli a cura di Gino Neri",
    "pt": "Legendas: Rui Costa",
    "nl": "Ondertiteling door Piet Bos",
    "pl": "Tłumaczenie: Jan Kot",
    "ru": "Перевод: Иван Белый",
    "fi": "Tekstitys: Matti Mäki",
    "hu": "Fordította: Kis Éva",
    "tr": "Altyazı: Ali Kaya",
    "zh": "字幕：小王",
    "ja": "字幕翻訳：田中",
    "ko": "자막: 김민수",
    "th": "คำบรรยายไทยโดย สมชาย",
    "ar": "ترجمة: سمير",
    "sv": "Undertexter: Eva Berg",
    "ca": "Subtítols: Joan Puig",
}


@pytest.mark.parametrize("language", CREDITS)
def test_subtitles_keep_what_is_said_and_lose_the_credits(tmp_path, language):
    lines = [CREDITS[language], *TEXTS[language]["sentences"]]
    cues = [
        f"{k + 1}\n00:{k:02}:01,000 --> 00:{k:02}:04,000\n{line}\n" for k, line in enumerate(lines)
    ]
    path = tmp_path / "film.srt"
    path.write_text("\n".join(cues), encoding="utf-8")
    dialogue = read_subtitles(path)
    assert dialogue.language == language
    said = [re.sub(r"^[–—-]\s*", "", line) for line in lines[1:]]  # a dash marks the speaker
    assert [subtitle.text for subtitle in dialogue.subtitles] == said
    assert "1 credits or adverts" in "; ".join(dialogue.notes)


def test_of_several_tracks_that_of_the_book_is_read(tmp_path):
    tracks = [
        DrawnTrack(cues=[(500, 3000, TEXTS[code]["sentences"][3])], language=three)
        for code, three in [("en", "eng"), ("fr", "fre"), ("de", "ger")]
    ]
    film = draw_film(tmp_path / "film.mkv", shots_of([50]), tracks=tracks)
    for said, book, read in [
        (None, None, "en"),
        (None, "fr", "fr"),
        (None, "pl", "en"),
        ("de", "fr", "de"),
    ]:
        found = load_film(film, shots=False, language=said, book_language=book)
        assert found.subtitles[0].text == TEXTS[read]["sentences"][3]
        assert found.language == read


@pytest.mark.parametrize(
    ("name", "language"),
    [("film.fr.srt", "fr"), ("film.french.sdh.srt", "fr"), ("film.srt", None), ("fr.srt", None)],
)
def test_a_file_too_short_to_tell_is_believed_by_its_name(tmp_path, name, language):
    path = tmp_path / name
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nAnna!\n", encoding="utf-8")
    assert load_film(path).language == language


@pytest.mark.parametrize(("declared", "language"), [("en", "fr"), ("fr", "fr"), ("", "fr")])
def test_a_clear_text_is_believed_rather_than_its_file(tmp_path, declared, language):
    story = "".join(f"<p>{joined('fr', TEXTS['fr']['sentences'])}</p>" for _ in range(5))
    path = tmp_path / "livre.html"
    path.write_text(f'<html lang="{declared}"><body>{story}</body></html>', encoding="utf-8")
    assert load_book(path).language == language
    assert load_book(path, language="German").language == "de"
    with pytest.raises(ConfigError, match="not a language"):
        load_book(path, language="tlh")


def test_a_sentence_over_two_cues_in_a_script_without_spaces(tmp_path):
    path = tmp_path / "film.zh.srt"
    path.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\n老人坐在火边，\n\n"
        "2\n00:00:02,100 --> 00:00:03,000\n一句话也\n不说。\n",
        encoding="utf-8",
    )
    dialogue = read_subtitles(path)
    assert [said.text for said in dialogue.subtitles] == ["老人坐在火边，一句话也不说。"]
    assert dialogue.language == "zh"


@pytest.mark.parametrize("language", described_languages())
def test_every_file_has_only_keys_that_are_explained(language):
    folder = Path(__file__).parents[2] / "src" / "folioreel" / "languages"
    explained = set(re.findall(r"`(\w+)`", (folder / "README.md").read_text(encoding="utf-8")))
    words = words_of(language)
    assert words.keys() <= {"book", "text", "subtitles"}
    if language != "en":
        assert {key for section in words.values() for key in section} <= explained
    for word in (word for words in words.get("book", {}).values() for word in words):
        re.compile(word)
