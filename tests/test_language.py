"""Languages: detecting them, and their names."""

import pytest

from folioreel.errors import ConfigError
from folioreel.language import (
    decide_language,
    detect_language,
    html_language,
    join_languages,
    language_code,
    language_name,
)

PROVERBS = {
    "ar": "ذهبت إلى السوق لأشتري بعض الخبز والحليب، ثم عدت إلى البيت مع صديقي القديم.",
    "ca": "Ahir vaig anar al mercat amb la meva germana i vam comprar pa, però no hi havia llet.",
    "de": "Gestern ging ich mit meiner Schwester auf den Markt, und wir kauften Brot und Milch.",
    "en": "Yesterday I went to the market with my sister, and we bought some bread and milk.",
    "es": "Ayer fui al mercado con mi hermana y compramos pan, pero ya no quedaba leche.",
    "fi": "Eilen kävin sisareni kanssa torilla, ja ostimme leipää, mutta maitoa ei enää ollut.",
    "fr": "Hier, je suis allé au marché avec ma sœur et nous avons acheté du pain et du lait.",
    "hu": "Tegnap elmentem a nővéremmel a piacra, és vettünk kenyeret, de tej már nem volt.",
    "it": "Ieri sono andato al mercato con mia sorella e abbiamo comprato il pane e il latte.",
    "ja": "昨日、私は妹と一緒に市場へ行って、パンと牛乳を買いました。とても楽しかったです。",
    "ko": "어제 나는 여동생과 함께 시장에 가서 빵과 우유를 샀습니다. 아주 재미있었어요.",
    "nl": "Gisteren ging ik met mijn zus naar de markt en we kochten brood en een fles melk.",
    "pl": "Wczoraj poszedłem z siostrą na targ i kupiliśmy chleb, ale mleka już nie było.",
    "pt": "Ontem fui ao mercado com a minha irmã e comprámos pão, mas já não havia leite.",
    "ru": "Вчера я ходил с сестрой на рынок, и мы купили хлеба, но молока уже не было.",
    "th": "เมื่อวานนี้ฉันไปตลาดกับน้องสาวและซื้อขนมปังกับนม",
    "tr": "Dün kız kardeşimle pazara gittim ve biraz ekmek aldık, ama süt kalmamıştı.",
    "zh": "昨天我和妹妹一起去了市场，买了面包和牛奶，然后我们就回家了。",
}


@pytest.mark.parametrize("code", PROVERBS)
def test_one_sentence_is_enough(code):
    found = detect_language(PROVERBS[code])
    assert found.code == code
    assert found.confidence > 0.8


def test_a_long_text_is_judged_by_all_of_it():
    """A preface in another language does not decide."""
    found = detect_language(PROVERBS["fr"] * 10 + PROVERBS["en"] * 2000)
    assert found.code == "en"
    assert found.confidence > 0.9


def test_capitals_and_subtitles():
    assert detect_language(PROVERBS["de"].upper()).code == "de"
    assert detect_language("- Où est-il ?\n- Je ne sais pas. Attendez-moi ici !").code == "fr"


def test_texts_that_tell_little():
    assert detect_language("") is None
    assert detect_language(" 12:30 … ?!") is None
    assert detect_language("Oh!").confidence < 0.5


def test_names_and_codes():
    for text in ("en", "eng", "English", "en-US", " EN_gb "):
        assert language_code(text) == "en"
    assert [language_code(text) for text in ("und", "", None, "xx", "fra", "zho")] == [
        None, None, None, None, "fr", "zh",
    ]  # fmt: skip
    assert language_name("de") == "German"
    assert language_name(None) == "unknown language"


FRENCH = "Le vieil homme ferma la porte et s'assit près du feu, sans dire un mot à sa fille. " * 20
ENGLISH = "The old man shut the door and sat down by the fire without a word to his daughter. " * 20


@pytest.mark.parametrize(
    ("text", "given", "declared", "language"),
    [
        (FRENCH, None, None, "fr"),
        (FRENCH, "German", None, "de"),  # the user knows best
        (FRENCH, None, "en-US", "fr"),  # what converters write into every file
        (FRENCH[:90], None, "en", "en"),  # too short to be sure
        ("Ja! Anna! Otto!", None, None, None),
        ("Ja! Anna! Otto!", None, "sv", "sv"),
        ("1, 2, 3", None, "und", None),
        (ENGLISH, None, "eng", "en"),
    ],
)
def test_the_user_comes_first_then_a_clear_text_then_the_file(text, given, declared, language):
    assert decide_language(text, given=given, declared=declared) == language


def test_a_language_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="'Klingon' is not a language"):
        decide_language(FRENCH, given="Klingon")


def test_several_texts_have_a_language_if_they_agree():
    assert join_languages(["fr", None, "fr"]) == "fr"
    assert join_languages(["fr", "de"]) is None
    assert join_languages([]) is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Deutsch", "de"), ("français", "fr"), ("Francais", "fr"), ("русский", "ru"),
        ("日本語", "ja"), ("हिन्दी", "hi"), ("Bahasa  Indonesia", "id"), ("tiếng Việt", "vi"),
        ("Bokmål", "nb"),
    ],
)  # fmt: skip
def test_languages_by_their_own_names(name, code):
    assert language_code(name) == code


def test_a_wrong_name_is_told_with_those_that_are_known():
    with pytest.raises(ConfigError, match=r"Afrikaans, Albanian, Arabic, .* Welsh, Yiddish"):
        decide_language(FRENCH, given="Klingon")


def test_one_paragraph_in_another_script_does_not_decide():
    english = (
        "Anna got a letter early in the morning. The postman knocked and left. On the shore stood "
        "a tall lighthouse. Her father was sitting there."
    )
    russian = "Кто там? — спросила она. Это только ветер, — ответил старый дед Матвей."
    assert decide_language(f"{english}\n\n{russian}") == "en"
    assert decide_language(f"{russian} {PROVERBS['ru']}\n\nAnna and Kate.") == "ru"
    # A character of Chinese or Japanese says more than a letter.
    for code in ("ja", "zh", "ko"):
        assert decide_language(f"{2 * PROVERBS[code]} Yesterday, in town.") == code


def test_a_short_norwegian_text():
    """Danish and Nynorsk are close, so that none of the three is sure; Norwegian it is."""
    text = "Han satte seg ved vinduet og ventet på brevet hennes. Ingen kom den kvelden."
    assert decide_language(text) == "no"


def test_quotations_on_an_english_page():
    assert html_language("fr") == ' lang="fr"'
    assert html_language("ar") == ' lang="ar" dir="rtl"'
    assert html_language("en") == html_language(None) == ""
