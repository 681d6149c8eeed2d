"""Titles of chapters that only their places show, and lines that merely look like headings."""

import zipfile

import pytest

from folioreel.ingest.book import load_book
from folioreel.ingest.books.titles import is_imprint, is_strong_heading, matter_kind, titles_in

DE = (
    "Der alte Kapitän trat ans Fenster und sah lange in den Regen hinaus. Der Fluss stand schon "
    "bis an die Brücke, aber die Fähre war noch nicht zurück. Niemand am Ufer sagte ein Wort."
)
FI = (
    "Vanha kapteeni astui ikkunan ääreen ja katseli kauan sadetta. Joki oli noussut jo siltaan "
    "asti, mutta lautta ei ollut vielä palannut. Kukaan rannalla ei uskaltanut sanoa mitään."
)


def chapters_of(tmp_path, text):
    (tmp_path / "book.txt").write_text(text, encoding="utf-8")
    return [chapter.title for chapter in load_book(tmp_path / "book.txt").chapters]


def written(openings, prose):
    return "\n\n".join(
        "\n\n".join([*opening, *[f"{prose} {k}."] * 8]) for k, opening in enumerate(openings)
    )


def test_titles_that_end_with_a_stop_below_numbers(tmp_path):
    names = ["Saaliin jäljissä.", "Naarassusi.", "Mikä siellä?", "Taistelu.", "Luola."]
    openings = [(f"{k} LUKU.", name) for k, name in enumerate(names, 1)]
    assert chapters_of(tmp_path, written(openings, FI)) == [
        f"{number.rstrip('.')}: {name}" for number, name in openings
    ]


def test_a_short_first_sentence_below_some_numbers_is_told(tmp_path):
    openings = [("I. LUKU.", "Satoi."), ("II. LUKU.",), ("III. LUKU.",), ("IV. LUKU.", "Tuuli.")]
    assert chapters_of(tmp_path, written(openings, FI)) == [o[0] for o in openings]


def test_speech_below_every_number_is_told(tmp_path):
    openings = [(f"{number}. LUKU.", "– Kuka siellä?") for number in "I II III IV".split()]
    assert chapters_of(tmp_path, written(openings, FI)) == [o[0] for o in openings]


TITLES = [
    "Am Fluss", "Die Fähre kommt nicht", "Im Haus des Kapitäns", "Was der Müller sagte",
    "Das Licht am anderen Ufer", "Heimkehr",
]  # fmt: skip


def test_titles_in_small_letters_without_numbers(tmp_path):
    assert chapters_of(tmp_path, written([(title,) for title in TITLES], DE)) == TITLES


def test_lines_of_small_letters_that_open_nothing(tmp_path):
    # Each is one of three below one another, as verse or the lines of a letter are.
    openings = [(title, title, title) for title in TITLES]
    found = chapters_of(tmp_path, f"{DE}\n\n" + written(openings, DE))
    assert found == [""]


def test_a_number_of_eight_characters(tmp_path):
    openings = [(f"{number}.",) for number in "XXXVI XXXVII XXXVIII XXXIX".split()]
    assert chapters_of(tmp_path, written(openings, FI)) == [o[0] for o in openings]


@pytest.mark.parametrize(
    ("language", "text"),
    [("nl", "DE BRIEF IS ONDERSCHEPT"), ("en", "LETTER IN A BOTTLE"), ("de", "Buch im Regen")],
)
def test_a_word_for_chapters_without_a_number_is_no_heading(language, text):
    with titles_in(language):
        assert not is_strong_heading(text)


def test_a_title_with_such_a_word_stays_below_its_number(tmp_path):
    openings = [(f"{n} HOOFDSTUK.", "DE BRIEF IS ONDERSCHEPT") for n in ("EERSTE", "TWEEDE")]
    prose = (
        "De oude kapitein ging naar het raam en keek lang naar de regen. Het water stond al tot "
        "aan de brug, maar de veerpont was nog niet terug en niemand durfde iets te zeggen."
    )
    assert chapters_of(tmp_path, written(openings, prose)) == [
        "EERSTE HOOFDSTUK: DE BRIEF IS ONDERSCHEPT",
        "TWEEDE HOOFDSTUK: DE BRIEF IS ONDERSCHEPT",
    ]


def test_short_paragraphs_below_every_number_are_told(tmp_path):
    short = ["Satoi.", "Hän odotti.", "Kukaan ei tullut.", "Tuuli yltyi."] * 6
    openings = [(f"{number} LUKU.", *short) for number in "I II III IV V".split()]
    assert chapters_of(tmp_path, written(openings, FI)) == [o[0].rstrip() for o in openings]


def test_contents_end_at_a_chapter_that_begins_with_short_sentences(tmp_path):
    heads = [f"Capítulo {k}" for k in range(1, 6)]
    told = "Que frio! O capitão Moura saiu. — Em casa. Não! Era tarde. Ana riu. Ninguém falou."
    chapters = "\n\n".join("\n\n".join([head, *[told] * 9]) for head in heads)
    listed = "\n".join(heads)
    assert chapters_of(tmp_path, f"O rio\n\nÍndice\n\n{listed}\n\n{chapters}") == heads


TITLED = [
    ("I", "AM FLUSS"), ("II", "DIE FÄHRE"), ("III", "IM REGEN"),
    ("ZWEITER TEIL", "I", "DER MÜLLER"), ("II", "DAS LICHT"), ("III", "HEIMKEHR"),
]  # fmt: skip
CONTAINER = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
HTML = "<html><body>{}</body></html>"
FB2 = "<FictionBook><body>{}</body></FictionBook>"


def marked_up(folder, text):
    """The same text as HTML, FB2 and EPUB, in which every line is a paragraph."""
    lines = [f"<p>{line}</p>" for line in text.split("\n\n")]
    for name, form in [("b.html", HTML), ("b.fb2", FB2)]:
        (folder / name).write_text(form.format("".join(lines)), encoding="utf-8")
        yield folder / name
    items = "".join(f'<item id="i{k}" href="{k}.html" media-type="text/html"/>' for k in (0, 1))
    spine = '<itemref idref="i0"/><itemref idref="i1"/>'
    with zipfile.ZipFile(folder / "b.epub", "w") as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr(
            "p.opf", f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>"
        )
        # Converters cut anywhere.
        archive.writestr("0.html", HTML.format("".join(lines[:30])))
        archive.writestr("1.html", HTML.format("".join(lines[30:])))
    yield folder / "b.epub"


@pytest.mark.parametrize("openings", [TITLED, [(title,) for title in TITLES]])
def test_titles_that_no_markup_shows_are_those_of_plain_text(tmp_path, openings):
    text = written(openings, DE)
    expected = chapters_of(tmp_path, text)
    assert len(expected) == 6
    for path in marked_up(tmp_path, text):
        assert [chapter.title for chapter in load_book(path).chapters] == expected


def test_numbers_of_pages_are_no_chapters_where_chapters_are_called_so(tmp_path):
    pages = [(f"{k}. Kapitel", *[f"{DE} {n}." for n in range(3)], str(k)) for k in range(1, 6)]
    for path in marked_up(tmp_path, written(pages, DE)):
        assert len(load_book(path).chapters) == 5


FRONT = ["Die Fähre", "Roman", "Aus dem Schwedischen übersetzt", "Leipzig", "Inhalt", *TITLES]


@pytest.mark.parametrize("style", [str, str.upper])
def test_a_title_page_and_contents_above_chapters_without_numbers(tmp_path, style):
    story = written([(style(title), *[f"{DE} Ja."] * 12) for title in TITLES], DE)
    front = "\n\n".join(map(style, FRONT))
    assert chapters_of(tmp_path, f"{front}\n\n{story}") == [style(title) for title in TITLES]


@pytest.mark.parametrize(
    ("language", "title", "imprint"),
    [
        ("es", "PRÓLOGO DEL TRADUCTOR", "Es propiedad."),
        ("it", "Prologo del traduttore", "Proprietà letteraria."),
        ("pt", "Prólogo do tradutor", "Propriedade do editor."),
        ("ca", "Pròleg del traductor", "Tots els drets reservats."),
    ],
)
def test_title_pages_and_prologues_of_translators(language, title, imprint):
    with titles_in(language):
        assert matter_kind(title) == "preface"
        assert matter_kind(title.split()[0]) is None  # may be the story's
        assert is_imprint(imprint)
