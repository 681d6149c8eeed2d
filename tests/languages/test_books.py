"""Whole books in other languages as their files come: layouts, chapters, titles, Aozora Bunko."""

import random

import pytest

from folioreel.apps.rendering import Reader
from folioreel.ingest.book import load_book
from folioreel.ingest.books.titles import is_part, is_strong_heading, titles_in
from folioreel.sentences import split_sentences

ZH = [
    "老船长走到窗前，看着外面的雨。",
    "“你为什么不早一点告诉我？”她问道。",
    "河水已经涨到了桥下，可是渡船还没有回来，岸上的人越聚越多，谁也不敢先开口。",
    "“今天晚上谁也走不了。”",
    "他们在火炉旁边坐了一夜，听着风声，想着心事。天亮的时候，雨终于停了，远处传来了钟声。",
]
JA = [
    "　老船長は窓のそばへ行き、外の雨を眺めていた。",
    "「どうしてもっと早く教えてくれなかったの」と彼女は尋ねた。",
    "　川の水はもう橋の下まで来ていたが、渡し船はまだ戻らず、岸の人々は誰も口を開かなかった。",
    "「今夜は誰も帰れない」",
    "　二人は一晩中、火のそばに座っていた。夜が明けるころ、ようやく雨がやみ、遠くで鐘が鳴った。",
]
HU = (
    "Az öreg kapitány az ablakhoz lépett, és sokáig nézte az esőt. A folyó "
    "már a hídig ért, de a komp "
    "még nem tért vissza a túlsó partról. Senki sem mert megszólalni a parton."
)
UK = (
    "Старий капітан підійшов до вікна і довго дивився на дощ. Річка вже дійшла до мосту, але пором "
    "ще не повернувся з того берега. Ніхто на березі не наважився заговорити."
)


def read(tmp_path, text, name="book.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load_book(path)


def titles_of(book):
    return [chapter.title for chapter in book.chapters]


def told(lines, count, seed):
    """So many paragraphs, each of one to four of the lines, as real ones differ in length."""
    rng = random.Random(seed)
    indent = "　" if lines is JA else ""
    return [
        line if lines is JA else indent + line + "".join(rng.sample(lines[::2], rng.randrange(3)))
        for line in rng.choices(lines, k=count)
    ]


@pytest.mark.parametrize("indent", ["", "　　", "  "])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_chinese_with_a_paragraph_a_line(tmp_path, indent, gap):
    chapters = [(f"第{n}章 雨夜", told(ZH, 30, seed)) for seed, n in enumerate("一二三四五")]
    text = "\n".join(
        head + gap + "\n".join(indent + line for line in lines) for head, lines in chapters
    )
    book = read(tmp_path, text)
    assert titles_of(book) == [head for head, _ in chapters]
    assert len(book.paragraphs) == 150
    assert not any("paragraph" in note for note in book.notes)


def test_japanese_with_speech_that_is_not_set_in(tmp_path):
    chapters = [(f"第{n}章 雨", told(JA, 40, seed)) for seed, n in enumerate("一二三")]
    book = read(tmp_path, "\n".join("\n".join([head, *lines]) for head, lines in chapters))
    assert titles_of(book) == [head for head, _ in chapters]
    assert len(book.paragraphs) == 120


def test_broken_lines_of_chinese_are_still_joined(tmp_path):
    wrapped = []
    for line in told(ZH, 60, 1):
        line = "　　" + line * 2
        wrapped += [line[k : k + 36] for k in range(0, len(line), 36)]
    book = read(tmp_path, "\n".join(wrapped))
    assert len(book.paragraphs) == 60


def test_one_paragraph_is_noted(tmp_path):
    book = read(tmp_path, " ".join(f"Nobody came on day {k}." for k in range(250)))
    assert len(book.paragraphs) == 1
    assert any("all 250 sentences are in one paragraph" in note for note in book.notes)


@pytest.mark.parametrize(
    "heads",
    [["一、来信", "二、灯塔", "三、归来"], ["一", "二", "三"], ["（一）", "（二）", "（三）"]],
)
def test_chinese_numbers_alone_open_chapters(tmp_path, heads):
    text = "\n\n".join("\n\n".join([head, *told(ZH, 20, 3)]) for head in heads)
    assert titles_of(read(tmp_path, text)) == heads


@pytest.mark.parametrize("head", ["Подорож {}", "Оповідь {}. Ріка"])
def test_any_word_that_counts_opens_chapters(tmp_path, head):
    text = "\n\n".join(f"{head.format(k)}\n\n" + f"{UK}\n\n" * 5 for k in range(1, 8))
    heads = [head.format(k) for k in range(1, 8)]
    assert titles_of(read(tmp_path, text)) == heads


def test_a_word_with_numbers_in_a_list_is_no_chapter(tmp_path):
    listed = "\n\n".join(f"Подорож {k}" for k in range(1, 8))
    assert titles_of(read(tmp_path, f"{UK}\n\n{listed}\n\n" + f"{UK}\n\n" * 20)) == [""]


@pytest.mark.parametrize(
    ("language", "heading"),
    [
        ("uk", "Розділ 4"),
        ("uk", "РОЗДІЛ ПЕРШИЙ"),
        ("he", "פרק ראשון"),
        ("he", "פרק י״ב"),
        ("fa", "فصل دوم"),
        ("fa", "فصل ۱۲"),
        ("vi", "Chương 3: Ngọn hải đăng"),
        ("ro", "Capitolul al doilea"),
        ("la", "CAPUT IV"),
        ("hi", "अध्याय १२"),
        ("nl", "EEN EN TWINTIGSTE HOOFDSTUK."),
        ("nl", "VYFDE HOOFDSTUK"),
        ("fi", "YHDESKOLMATTA LUKU."),
    ],
)
def test_headings(language, heading):
    with titles_in(language):
        assert is_strong_heading(heading)


def test_long_titles_of_two_parts_are_found_by_their_count(tmp_path):
    long = (
        "Donde se cuenta la industria que el viejo barquero tuvo para cruzar "
        "el río crecido, y de otros"
        " sucesos tan extraños como verdaderos que le pasaron"
    )
    body = (
        "El viejo capitán se acercó a la ventana y miró la lluvia. El río "
        "había subido hasta el puente, "
        "y la barca no volvía de la otra orilla. Nadie quería hablar primero.\n\n"
    ) * 5
    parts = [f"Capítulo {n}. {long}\n\n{body}" for n in ["I", "II", "III", "IV", "V", "VI"] * 2]
    book = read(tmp_path, "\n".join(parts))
    assert [title.split(".")[0] for title in titles_of(book)] == [
        f"Capítulo {n}" for n in ["I", "II", "III", "IV", "V", "VI"] * 2
    ]


def test_titles_in_capitals_open_chapters(tmp_path):
    heads = ["A KOMP.", "AZ ESŐ.", "A HÍD ALATT.", "ADIEU!", "A KAPITÁNY LÁNYA.", "REGGEL."]
    text = "ELSŐ RÉSZ.\n\n" + "".join(f"{head}\n\n" + f"{HU}\n\n" * 6 for head in heads)
    assert titles_of(read(tmp_path, text)) == [f"ELSŐ RÉSZ: {heads[0]}", *heads[1:]]


def test_signs_in_capitals_do_not(tmp_path):
    """In a book with numbered chapters, and where they stand close together."""
    sign = "ITT NEM SZABAD ÁTKELNI."
    numbered = "".join(
        f"{n}. FEJEZET\n\n{HU}\n\n{sign}\n\n" + f"{HU}\n\n" * 6
        for n in ["I", "II", "III", "IV", "V"]
    )
    assert len(titles_of(read(tmp_path, numbered))) == 5
    close = f"{HU}\n\n" * 30 + f"{sign}\n\n{HU}\n\n" * 8
    assert titles_of(read(tmp_path, close)) == [""]


def test_initials_are_no_heading(tmp_path):
    text = f"I. FEJEZET\n\n{HU}\n\n\n\nC. B.\n\n\n{HU}\n\n\nII. FEJEZET\n\n{HU}\n"
    assert titles_of(read(tmp_path, text)) == ["I. FEJEZET", "II. FEJEZET"]


def test_a_heading_stays_above_short_speeches(tmp_path):
    talk = "„Tom!“\n\nKeine Antwort.\n\n„Tom!“\n\nAlles still.\n\n"
    body = (
        "Die alte Dame schob ihre Brille herunter und sah darüber hinweg im "
        "ganzen Zimmer umher, dann schob "
        "sie die Brille hinauf und sah darunter hervor, aber der Junge war nicht zu finden.\n\n"
    )
    book = read(tmp_path, f"Erstes Kapitel.\n\n{talk}{body}Zweites Kapitel.\n\n{body}")
    assert titles_of(book) == ["Erstes Kapitel.", "Zweites Kapitel."]
    assert book.sentences[0].text == "„Tom!“"


@pytest.mark.parametrize(
    ("language", "text", "part"),
    [("de", "Zweiter Teil", True), ("hu", "ELSŐ RÉSZ.", True), ("de", "Zweites Kapitel", False)],
)
def test_parts(language, text, part):
    with titles_in(language):
        assert is_part(text) == part


FR = (
    "Le vieux capitaine s’approcha de la fenêtre et regarda la pluie. La "
    "rivière était montée jusqu’au "
    "pont, et le bac ne revenait pas de l’autre rive. Personne ne voulait parler le premier."
)
DE = (
    "Der alte Kapitän trat an das Fenster und sah lange in den Regen "
    "hinaus. Der Fluss stand schon an der "
    "Brücke, und die Fähre kam nicht vom anderen Ufer zurück. Niemand wollte zuerst reden."
)


@pytest.mark.parametrize(
    ("opening", "body", "title"),
    [
        ("LE SECRET DU VIEUX PONT", FR, "Le secret du vieux pont"),
        ("DAS GEHEIMNIS DER BRÜCKE", DE, "Das Geheimnis der Brücke"),
        ("I", FR, "book"),
        ("雨夜的渡船", "".join(ZH), "雨夜的渡船"),
        ("雨の夜の渡し船\n山田太郎", "".join(JA), "雨の夜の渡し船"),
        ("一", "".join(ZH), "book"),
    ],
)
def test_titles(tmp_path, opening, body, title):
    assert read(tmp_path, f"{opening}\n\n\n{body}\n\n{body}\n").title == title


@pytest.mark.parametrize("end", ["FIN\n\n", ""])
def test_contents_at_the_end(tmp_path, end):
    entries = ["I. La lettre", "II. Le phare", "III. Le retour"]
    table = "TABLE\n\n" + "".join(f"{entry}.......... {k}\n" for k, entry in enumerate(entries))
    chapters = "".join(f"{n}\n\n{FR}\n\n{FR}\n\n" for n in ["I", "II", "III"])
    book = read(tmp_path, chapters + end + table)
    assert len(book.sentences) == 18


def test_russian_contents_at_the_end(tmp_path):
    body = (
        "Старый капитан подошёл к окну и долго смотрел на дождь. Река уже "
        "поднялась до моста, а паром "
        "всё не возвращался с того берега. Никто не хотел говорить первым."
    )
    chapters = "".join(f"Глава {n}\n\n{body}\n\n{body}\n\n" for n in (1, 2, 3))
    book = read(tmp_path, f"{chapters}Содержание\n\nГлава 1\n\nГлава 2\n\nГлава 3\n")
    assert titles_of(book) == ["Глава 1", "Глава 2", "Глава 3"]
    assert len(book.sentences) == 18


AOZORA = """雨の夜の渡し船
山田太郎

-------------------------------------------------------
【テキスト中に現れる記号について】

《》：ルビ
（例）船長《せんちょう》

［＃］：入力者注　主に外字の説明や、傍点の位置の指定
-------------------------------------------------------

［＃３字下げ］一［＃「一」は中見出し］

　老｜船長《せんちょう》は窓《まど》のそばへ行き、※［＃「てへん＋劣」、第3水準1-84-77］る雨を眺めていた。
「どうして」と彼女は尋ねた。
「今夜は誰［＃「誰」に傍点］も帰れない」

［＃３字下げ］［＃中見出し］二　朝［＃中見出し終わり］

　夜が明けるころ、ようやく雨がやみ、《遠くで》鐘が鳴った。



底本：「渡し船」灯台書房
　　　1950（昭和25）年発行
入力：鈴木
"""


def test_aozora_bunko(tmp_path):
    book = read(tmp_path, AOZORA)
    assert (book.title, book.language) == ("雨の夜の渡し船", "ja")
    assert titles_of(book) == ["一", "二 朝"]
    assert [sentence.text for sentence in book.sentences] == [
        "老船長は窓のそばへ行き、" + b"\xf4\xed".decode("euc_jis_2004") + "る雨を眺めていた。",
        "「どうして」と彼女は尋ねた。",
        "「今夜は誰も帰れない」",
        "夜が明けるころ、ようやく雨がやみ、《遠くで》鐘が鳴った。",
    ]
    assert len(book.paragraphs) == 4
    lines = AOZORA.split("\n")
    assert all(s.text[-4:-1] in lines[s.line - 1] for s in book.sentences if "誰" not in s.text)


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("fr", ["Elle lut : « Viens, il sera trop tard. »", "Son cœur battit."]),
        ("fr", ["« Viens, il sera trop tard\u202f! »", "Son cœur battit.", "« Non. »", "Il rit."]),
        ("fr", ["Il dit : « Viens. »", "« Non. »", "Elle rit."]),
        ("fr", ["« Non ! » dit-elle.", "Il partit."]),
        ("de", ["»Komm.", "Es ist spät.«", "Sie ging.", "»Nein!« rief er.", "Es schneite."]),
        ("sv", ["»Kom.", "Det är sent.»", "Hon gick.", "»Nej!» ropade han."]),
    ],
)
@pytest.mark.parametrize("space", [" ", "\xa0", "\u202f"])
def test_closing_quotes_stay_with_what_they_close(language, sentences, space):
    sentences = [s.replace(" »", f"{space}»").replace("« ", f"«{space}") for s in sentences]
    text = " ".join(sentences)
    assert [text[a:b] for a, b in split_sentences(text, language)] == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("fr", ["Ta cape?", "--Je l'ai perdue, dit Gringoire.", "--Ton chapeau?"]),
        ("nl", ["„Ik zwijg.”", "--„Maar ik spreek!” riep hij.", "--De man zweeg."]),
        ("es", ["¿No hay nadie?--dijo el caballero.", "--No lo sé."]),
    ],
)
def test_a_dash_right_after_a_sentence_opens_the_next(language, sentences):
    text = sentences[0] + "".join(sentences[1:])
    assert [text[a:b] for a, b in split_sentences(text, language)] == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("ca", ["—Véns?", "—No.", "Em quedo aquí."]),
        ("de", ["Er sprach auf seine Art.", "Niemand hörte zu."]),
        ("es", ["Bien.", "Vamos a casa."]),
        ("it", ["Mai.", "Non lo dirò a nessuno."]),
        ("hu", ["Ki jön?", "Mi.", "Várunk rátok."]),
        ("tr", ["Kim o?", "Sen.", "Bunu biliyorum."]),
    ],
)
def test_words_that_look_like_abbreviations_end_sentences(language, sentences):
    text = " ".join(sentences)
    assert [text[a:b] for a, b in split_sentences(text, language)] == sentences


@pytest.mark.parametrize(
    ("text", "speech"),
    [
        ("老船长走到窗前。「今天晚上谁也走不了。」天亮了。", "「今天晚上谁也走不了。」"),
        ("הגשם פסק. ״הלילה איש לא יצא מכאן.״ ד״ר לוי שתק.", "״הלילה איש לא יצא מכאן.״"),
    ],
)
def test_speech_in_the_marks_of_its_language(tmp_path, text, speech):
    book = read(tmp_path, f"{text}\n\n" * 4)
    reader = Reader(book)
    assert reader.marks_speech
    spoken = {said.text for said in book.sentences if reader.is_speech(said.index)}
    assert spoken == {speech}
