"""Terms and stems by language: what two texts are compared by."""

import pytest

from folioreel.similarity.base import number_tokens
from folioreel.similarity.rare_words import RareWordsMeasure
from folioreel.stems import common_language, drop_accents, find_terms, stem_word
from folioreel.text import tokenize, word_stem
from folioreel.types import Book, Chapter, Film, Paragraph, Sentence, Subtitle


@pytest.mark.parametrize("language", [None, "en"])
def test_english_is_as_it_was(language):
    text = "The Emir's d'Artagnan walked, naïve and re-elected, to l'Opéra."
    assert find_terms(text, language) == tokenize(text)
    assert [stem_word(word, language) for word in tokenize(text)] == list(
        map(word_stem, tokenize(text))
    )


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("fr", "L’émir et d'Artagnan, qu'il aima", ["émir", "et", "artagnan", "il", "aima"]),
        ("it", "dell'uomo c'è l’Opera", ["uomo", "è", "opera"]),
        ("ca", "L'home d'ací", ["home", "ací"]),
        ("de", "Die Straße für Übungen", ["die", "straße", "für", "übungen"]),
        ("fi", "Äiti lähti Åboon", ["äiti", "lähti", "åboon"]),
        ("tr", "IŞIK İzmir", ["ışık", "izmir"]),
        ("zh", "老人坐在火边", ["老人", "人坐", "坐在", "在火", "火边"]),
        ("zh", "我有3本book。", ["我有", "3", "本", "book"]),
        ("ja", "東京へ。", ["東京", "京へ"]),
        ("ko", "학교에서 왔다", ["학교", "교에", "에서", "왔다"]),
        ("th", "เด็กชาย", ["เด็ก", "กชา", "ชาย"]),
        ("hi", "हिन्दी किताबें", ["हिन्दी", "किताबें"]),
        ("ta", "தமிழ் புத்தகம்", ["தமிழ்", "புத்தகம்"]),
        ("ar", "كَتَبَ الدَّرْسَ", ["كتب", "الدرس"]),
        ("he", "שָׁלוֹם לָךְ", ["שלום", "לך"]),
        ("ru", "за́мок, ёлка, йод", ["замок", "ёлка", "йод"]),
    ],
)
def test_terms(language, text, terms):
    assert find_terms(text, language) == terms


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("fr", "continuer continua continuait"),
        ("fr", "arrivèrent arrivant ARRIVE"),
        ("es", "canción CANCION"),
        ("de", "Häuser Hauses"),
        ("es", "hablaron hablando"),
        ("fi", "talossa talosta talon"),
        ("ru", "книга книги книгу"),
        ("pl", "kobieta kobiety kobietą"),
        ("hu", "házban háznak"),
    ],
)
def test_forms_of_a_word_have_one_stem(language, forms):
    stems = {stem_word(term, language) for term in find_terms(forms, language)}
    assert len(stems) == 1, stems


def test_a_language_without_a_stemmer_keeps_its_words():
    assert stem_word("ngôi", "vi") == "ngôi"


def test_accents_are_dropped_and_letters_stay():
    assert drop_accents("œuvre élève Łódź") == "œuvre eleve Łodz"


def test_two_texts_are_compared_in_the_language_of_both():
    assert common_language("fr", "fr") == "fr"
    assert common_language("fr", None) == common_language(None, "fr") == "fr"
    assert common_language("fr", "en") is None


def make_pair(said: str, written: str, language: str) -> tuple[Film, Book]:
    film = Film(
        title="film",
        duration_s=2.0,
        subtitles=(Subtitle(index=0, start_s=0.0, end_s=2.0, text=said),),
        language=language,
    )
    book = Book(
        title="book",
        sentences=(Sentence(index=0, text=written), Sentence(index=1, text="Rien du tout.")),
        paragraphs=(Paragraph(index=0, sentences=range(2)),),
        chapters=(Chapter(index=0, title="", paragraphs=range(1)),),
        language=language,
    )
    return film, book


def test_rare_words_are_found_in_another_form():
    film, book = make_pair("Où est l'émir ?", "Les émirs arrivèrent.", "fr")
    tokens = number_tokens(film, book)
    assert tokens.language == "fr"
    found = rows(tokens)
    assert found[0, 0, 0] > found[0, 0, 1] == 0
    english = number_tokens(*make_pair("Où est l'émir ?", "Les émirs arrivèrent.", "en"))
    assert rows(english)[0, 0, 0] == 0  # there, `l'émir` is a word of its own


def rows(tokens):
    import numpy as np

    measure = RareWordsMeasure(tokens)
    out = np.zeros((len(measure.names), 1, 2), dtype=np.float32)
    measure.rows(0, 1, out)
    return out
