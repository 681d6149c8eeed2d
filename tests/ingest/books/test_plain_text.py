"""Plain text in every layout, against hand-made books."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from folioreel.errors import InputError
from folioreel.ingest.book import assemble_book, load_book
from folioreel.ingest.books.plain_text import parse_plain_text
from folioreel.ingest.books.titles import is_break, is_strong_heading, is_weak_heading
from folioreel.ingest.source import SourceFile


def paragraphs_of(book):
    return [" ".join(book.sentences[j].text for j in p.sentences) for p in book.paragraphs]


def read(tmp_path: Path, text: str, name: str = "book.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load_book(path)


FIRST = "It was a dark night on the river, and the ferry had stopped for want of anyone to carry."
SECOND = "“Who is there?” said the clerk. Nobody answered him, and the rain went on falling softly."
THIRD = "Then the bell rang twice, which it never did, and the old man put down his cup at once."


def wrap(text: str, width: int = 40, first: str = "", rest: str = "") -> str:
    import textwrap

    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest)


LAYOUTS = {
    "blank lines": "\n\n".join(wrap(text) for text in (FIRST, SECOND, THIRD)),
    "blank lines, crlf": "\r\n\r\n".join(
        wrap(text).replace("\n", "\r\n") for text in (FIRST, SECOND, THIRD)
    ),
    "a line each": "\n".join(text * 3 for text in (FIRST + " ", SECOND + " ", THIRD + " ")),
    "a line each, blank between": "\n\n".join((FIRST, SECOND, THIRD)),
    "indented": "\n".join(wrap(text * 2, first="  ") for text in (FIRST, SECOND, THIRD)),
    "indented by tabs": "\n".join(
        "\t" + wrap(text * 2) for text in (FIRST + " ", SECOND + " ", THIRD + " ")
    ),
    "short last lines": "\n".join(
        wrap(f"{text} {text} {text} {text}", 48) for text in (FIRST, SECOND, THIRD)
    ),
    "double-spaced": "\n\n\n".join(
        wrap(text * 2).replace("\n", "\n\n") for text in (FIRST + " ", SECOND + " ", THIRD + " ")
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_is_detected(tmp_path, layout):
    book = read(tmp_path, LAYOUTS[layout])
    assert len(book.paragraphs) == 3
    assert paragraphs_of(book)[0].startswith("It was a dark night")
    assert paragraphs_of(book)[1].startswith("“Who is there?” said the clerk.")
    assert paragraphs_of(book)[2].startswith("Then the bell rang twice")


def test_lines_are_those_of_the_file(tmp_path):
    text = LAYOUTS["blank lines"]
    book = read(tmp_path, text)
    lines = text.split("\n")
    for sentence in book.sentences:
        passage = " ".join(lines[sentence.line - 1 : sentence.line_end])
        assert sentence.text in passage
    assert book.sentences[0].line == 1


STRONG = [
    "CHAPTER I",
    "Chapter 1",
    "Chapter One.",
    "CHAPTER THE FIRST",
    "Chapter Twenty-One: The Road",
    "CHAPTER XIV. THE RIVER",
    "STAVE I:  MARLEY'S GHOST",
    "Part Two",
    "BOOK THE SECOND",
    "BOOK II. The Golden Thread",
    "PROLOGUE",
    "Epilogue",
    "EPILOGUE: Ten Years Later",
    "The First Chapter",
    "Chapitre IV",
    "Kapitel 3",
    "Глава 7",
    "Capítulo 12",
    "Letter 4",
    "VOLUME III",
]


@pytest.mark.parametrize("text", STRONG)
def test_strong_headings(text):
    assert is_strong_heading(text)


PROSE = [
    "Part of it was gone.",
    "part in the conversation with this extraordinary and apparently",
    "Book in hand, he left.",
    "Chapter and verse were given.",
    "Letter from home, he thought.",
    "I went to the door.",
    "The conclusion was plain to all.",
    "Chapter One was the part of the story that she had always liked best, she told them, of all",
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_no_heading(text):
    assert not is_strong_heading(text)
    assert not is_weak_heading(text, blank_before=1, indented=False, new_page=False)


@pytest.mark.parametrize(
    ("text", "blank", "indented", "new_page", "expected"),
    [
        ("IV", 2, False, False, True),
        ("IV.", 4, False, False, True),
        ("12", 2, False, False, True),
        ("III. The Road Home", 2, False, False, True),
        ("THE CUSTOM-HOUSE", 3, False, False, True),
        ("IV", 1, False, False, False),
        ("STOP!", 1, False, False, False),
        # The paper: indented, on a new page, without an end symbol.
        ("The Road Home", 0, True, True, True),
        ("The Road Home", 5, True, False, True),
        ("The Road Home.", 0, True, True, False),
        ("The Road Home", 0, False, True, False),
        ("The Road Home", 1, True, False, False),
        ("* * *", 2, True, False, False),
    ],
)
def test_weak_headings(text, blank, indented, new_page, expected):
    found = is_weak_heading(text, blank_before=blank, indented=indented, new_page=new_page)
    assert found == expected


@pytest.mark.parametrize("text", ["* * *", "***", "*", "-----", "# # #", "~~~", "⁂", "— — —"])
def test_breaks(text):
    assert is_break(text)


@pytest.mark.parametrize("text", ["O", "*note", "I", "—Yes", "a"])
def test_no_breaks(text):
    assert not is_break(text)


def chapter(number: str, title: str = "") -> str:
    head = f"{number}\n\n{title}\n\n" if title else f"{number}\n\n"
    return f"\n\n\n{head}{wrap(FIRST)}\n\n{wrap(SECOND)}\n"


@pytest.mark.parametrize(
    ("headings", "titles"),
    [
        ([("CHAPTER I", ""), ("CHAPTER II", "")], ["CHAPTER I", "CHAPTER II"]),
        ([("CHAPTER ONE", "Sixty-One"), ("CHAPTER TWO", "The Doorstop")],
         ["CHAPTER ONE: Sixty-One", "CHAPTER TWO: The Doorstop"]),
        ([("I", ""), ("II", ""), ("III", "")], ["I", "II", "III"]),
        ([("1.", "THE RIVER"), ("2.", "THE ROAD")], ["1: THE RIVER", "2: THE ROAD"]),
        ([("PART ONE\n\nCHAPTER 1", ""), ("CHAPTER 2", "")],
         ["PART ONE: CHAPTER 1", "CHAPTER 2"]),
        ([("PROLOGUE", ""), ("Chapter 1", ""), ("EPILOGUE", "")],
         ["PROLOGUE", "Chapter 1", "EPILOGUE"]),
        ([("STAVE I:  MARLEY'S GHOST", ""), ("STAVE II:  THE SPIRIT", "")],
         ["STAVE I: MARLEY'S GHOST", "STAVE II: THE SPIRIT"]),
    ],
)  # fmt: skip
def test_chapters(tmp_path, headings, titles):
    book = read(tmp_path, "".join(chapter(*heading) for heading in headings))
    assert [c.title for c in book.chapters] == titles
    assert [len(c.paragraphs) for c in book.chapters] == [2] * len(titles)


def test_chapter_lines_need_no_blank_lines(tmp_path):
    text = "".join(f"CHAPTER {n}\n{wrap(FIRST)}\n\n{wrap(SECOND)}\n" for n in ("I", "II", "III"))
    book = read(tmp_path, text)
    assert [c.title for c in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert paragraphs_of(book) == [FIRST, SECOND] * 3


@pytest.mark.parametrize(
    "headings",
    [
        ("I", "II", "III"),
        ("1. Black Monday", "2. A Grand Scene"),
        ("One - A TRAVELLER", "Two - AN APPEAL"),
    ],
)
def test_numbers_head_chapters_where_all_gaps_are_alike(tmp_path, headings):
    body = f"{FIRST}\n\n{SECOND}\n\n" * 40
    book = read(tmp_path, "THE FERRY\n\n" + "".join(f"{h}\n\n{body}" for h in headings))
    assert [c.title for c in book.chapters] == list(headings)


def test_a_chapter_may_be_called_the_end(tmp_path):
    story = "".join(chapter(f"CHAPTER {n}") for n in ("I", "II", "III"))
    book = read(tmp_path, story + chapter("CHAPTER IV", "THE END"))
    assert paragraphs_of(book) == [FIRST, SECOND] * 4


def test_heading_with_its_text_right_below(tmp_path):
    text = "".join(f"\n\nCHAPTER {n}\n{wrap(FIRST)}\n" for n in ("I", "II", "III"))
    book = read(tmp_path, text)
    assert [c.title for c in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert paragraphs_of(book) == [FIRST] * 3


def test_gutenberg_header_and_licence_are_left_out(tmp_path):
    head = (
        "The Project Gutenberg eBook of The Ferry\n\nTitle: The Ferry\n\nAuthor: Nobody\n\n"
        "*** START OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n\n"
        "Produced by some volunteers\n\n\n\nTHE FERRY\n\nby Nobody\n\n"
    )
    tail = "\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n\nSection 1. Licence.\n"
    book = read(tmp_path, head + chapter("CHAPTER I") + chapter("CHAPTER II") + tail)
    assert book.title == "The Ferry"
    assert paragraphs_of(book) == [FIRST, SECOND] * 2
    assert (
        book.sentences[0].line
        == (head + chapter("CHAPTER I")).split("\n").index("It was a dark night on the river, and")
        + 1
    )
    assert any("Gutenberg" in note for note in book.notes)


def test_a_licence_longer_than_the_tale(tmp_path):
    head = "*** START OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n\n"
    terms = "\n\n".join(f"1.{k}. You may copy it, give it away or use it." for k in range(1, 40))
    tail = f"\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n\n{terms}\n"
    book = read(tmp_path, head + chapter("CHAPTER I") + chapter("CHAPTER II") + tail)
    assert paragraphs_of(book) == [FIRST, SECOND] * 2


MATTER = {
    "contents": "CONTENTS\n\nCHAPTER I. The River 3\n\nCHAPTER II. The Road 15\n\n",
    "contents in one block": "CONTENTS\n\nI. The River 3\nII. The Road 15\nIII. The Hill 30\n\n",
    "transcriber's note": "Transcriber’s Note: Obvious errors have been corrected.\n\n",
    "illustration": "[Illustration: THE FERRY AT NIGHT.]\n\n",
    "preface": f"\n\nPREFACE\n\n{wrap(THIRD)}\n\n",
    "title page": "THE FERRY\n\nBY\n\nA. NOBODY\n\nLONDON\n1901\n\n",
    "dedication": "\n\nDEDICATION\n\nTo my mother.\n\n",
}


@pytest.mark.parametrize("matter", MATTER)
def test_matter_is_left_out(tmp_path, matter):
    chapters = chapter("CHAPTER I") + chapter("CHAPTER II") + chapter("CHAPTER III")
    book = read(tmp_path, MATTER[matter] + chapters)
    assert paragraphs_of(book) == [FIRST, SECOND] * 3
    assert [c.title for c in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


def test_footnotes_and_their_marks_are_left_out(tmp_path):
    text = chapter("CHAPTER I").replace("river,", "river,[1]") + "\n[1] The Wend.\n"
    assert paragraphs_of(read(tmp_path, text)) == [FIRST, SECOND]


def test_adverts_after_the_end_are_left_out(tmp_path):
    story = "".join(chapter(f"CHAPTER {n}") for n in ("I", "II", "III", "IV"))
    book = read(tmp_path, story + "\n\n\nTHE END\n\n\nOTHER GREAT BOOKS\n\nBuy them now.\n")
    assert paragraphs_of(book) == [FIRST, SECOND] * 4


def test_a_story_of_short_lines_is_not_taken_for_a_title_page(tmp_path):
    dialogue = "\n\n".join(f"“Line {n}?” said he.\n\n“No.”" for n in range(40))
    book = read(tmp_path, f"THE TALK\n\n{wrap(FIRST)}\n\n{dialogue}\n\n\nII\n\n{wrap(SECOND)}\n")
    assert len(book.paragraphs) == 82


def test_verse_is_one_paragraph(tmp_path):
    verse = "    The ferry goes over,\n    The ferry comes back,\n    And all of it\n    Goes down."
    text = f"{wrap(FIRST, 70)}\n\n{verse}\n\n{wrap(SECOND, 70)}\n"
    blocks = parse_plain_text(text).blocks
    assert [block.kind for block in blocks] == ["paragraph", "verse", "paragraph"]
    lines = ["The ferry goes over,", "The ferry comes back,", "And all of it", "Goes down."]
    starts = (*blocks[1].verse_lines, None)
    assert [blocks[1].text[a:b].strip() for a, b in pairwise(starts)] == lines
    assert blocks[0].verse_lines == ()
    assert blocks[1].text == "The ferry goes over, The ferry comes back, And all of it Goes down."


def test_verse_keeps_its_lines(tmp_path):
    # Set in from the margin, it may have lines as long as those of prose.
    verse = [
        "Oh, Fairhithe has the sunshine and Coldhithe has the rain,",
        "And what you lend to Fairhithe you’ll not see home again;",
        "I lent my girl an umbrella. I lent my girl a chair.",
    ]
    text = "\n".join(f"    {line}" for line in verse)
    # Two short lines are prose if the first breaks off.
    prose = "“You were a good friend,” said\nScrooge to the ghost, and meant it."
    book = read(tmp_path, f"{wrap(FIRST, 70)}\n\n{text}\n\n{wrap(SECOND, 70)}\n\n{prose}\n")
    lines = []
    for sentence in (book.sentences[j] for j in book.paragraphs[1].sentences):
        if not sentence.breaks or sentence.breaks[0]:
            lines[-1] += f" {sentence.text[: sentence.breaks[0] if sentence.breaks else None]}"
        ends = (*sentence.breaks, None)
        lines += [sentence.text[a:b].strip() for a, b in pairwise(ends)]
    assert lines == verse
    others = [p for p in book.paragraphs if p.index != 1]
    assert all(not book.sentences[j].breaks for p in others for j in p.sentences)


def test_section_breaks_are_no_sentences(tmp_path):
    book = read(tmp_path, f"{wrap(FIRST)}\n\n* * *\n\n{wrap(SECOND)}\n")
    assert paragraphs_of(book) == [FIRST, SECOND]


def test_emphasis_marks_go(tmp_path):
    book = read(tmp_path, f"He was _very_ sure of it, and snake_case too. {FIRST}")
    assert book.sentences[0].text == "He was very sure of it, and snake_case too."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-32"])
def test_latin_encodings(tmp_path, encoding):
    text = "“Café,” said the señor — and wept. " * 20
    (tmp_path / "book.txt").write_bytes(text.encode(encoding))
    assert load_book(tmp_path / "book.txt").sentences[0].text == (
        "“Café,” said the señor — and wept."
    )


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "utf-16"])
def test_cyrillic_encodings(tmp_path, encoding):
    text = "Однажды весною, в час небывало жаркого заката, в Москве появились двое граждан. " * 20
    (tmp_path / "book.txt").write_bytes(text.encode(encoding))
    assert load_book(tmp_path / "book.txt").sentences[0].text == text.strip().split(". ")[0] + "."


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.txt", b"", "empty"),
        ("blank.txt", b"  \n\n\n ", "no text"),
        ("binary.txt", bytes(range(256)) * 40, "binary"),
        ("marks.txt", b"*** --- *** \n\n ???\n", "no text"),
        ("book.mobi", b"\0" * 60 + b"BOOKMOBI" + b"\0" * 80, "Kindle"),
        ("book.jpg", b"\xff\xd8\xff\xe0" + b"\0" * 80, "JPEG"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says) as error:
        load_book(tmp_path / name)
    assert "\n" not in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_book(tmp_path / "none.txt")


def test_folder(tmp_path):
    with pytest.raises(InputError, match="folder"):
        load_book(tmp_path)


WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=8)
SENTENCES = st.lists(WORDS, min_size=8, max_size=30).map(
    lambda words: " ".join(words).capitalize() + "."
)


@given(st.lists(SENTENCES, min_size=1, max_size=8))
def test_no_word_of_a_story_is_lost(sentences):
    text = "\n\n".join(wrap(sentence, 60) for sentence in sentences)
    file = SourceFile(path=Path("book.txt"), data=text.encode())
    book = assemble_book(parse_plain_text(text), file)
    assert paragraphs_of(book) == sentences


@given(st.text(max_size=400))
def test_any_text_parses(text):
    blocks = parse_plain_text(text).blocks
    for block in blocks:
        assert block.text == " ".join(block.text.split())
        assert list(block.lines) == sorted(block.lines)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Je n'ai pas été à l'école, dit-il. Où êtes-vous allée, ma chère?"),
        ("cp1252", "Não é possível, disse ela. A canção já começou."),
        ("cp1252", "Det var en mörk kväll på ön. Någon gick över ån."),
        ("cp1252", "Perché no? È così. La verità è già là."),
        (
            "cp1250",
            "Była sobie żółta łódź, która pływała po jeziorze. Gdzieś daleko słyszał głosy.",
        ),
    ],
)
def test_short_files_in_old_encodings(tmp_path, encoding, text):
    (tmp_path / "book.txt").write_bytes(text.encode(encoding))
    book = load_book(tmp_path / "book.txt")
    assert " ".join(sentence.text for sentence in book.sentences) == text


PROSE = "They went on through the rain, and nobody spoke until the inn was in sight. " * 8


def chapters_of(titles):
    text = "\n\n".join(f"{title}\n\n{PROSE}\n\n{PROSE}" for title in titles)
    return [block.text for block in parse_plain_text(text).blocks if block.kind == "heading"]


@pytest.mark.parametrize(
    "form",
    [
        "{} OÙ LE FACTEUR TRAVERSE TROIS FOIS LA RIVIÈRE, PERD SA CASQUETTE DANS LE BROUILLARD, "
        "ET NE TROUVE PERSONNE QUI VEUILLE DE SA LETTRE",
        "{}. The Ferry That Never Came.",
        "{} THE INN",
        "Chapter {}. Where much is said of the ferry and of those who cross the river in it, "
        "little of its master, and nothing at all of the war.",
    ],
)
def test_long_titles_that_count(form):
    titles = [form.format(number) for number in ("I", "II", "III", "IV", "V", "VI")]
    assert chapters_of(titles) == titles


def test_the_pronoun_is_no_number():
    titles = [f"{number} THE INN" for number in ("I", "II", "III", "IV", "V")]
    assert chapters_of(["I THINK it rained.", *titles]) == titles


def test_a_list_is_no_chapters():
    rules = "\n\n".join(f"{k}. Never cross the river on day {k} of a month." for k in range(1, 9))
    text = f"{PROSE}\n\n{rules}\n\n{PROSE}"
    assert not any(block.kind == "heading" for block in parse_plain_text(text).blocks)
