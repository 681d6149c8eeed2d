"""Italics keep their places while text is cleaned, joined and cut, in each format with italics."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from folioreel.ingest.book import load_book
from folioreel.ingest.books.emphasis import (
    END,
    START,
    count_emphasis,
    cut_emphasis,
    place_emphasis,
    strip_marks,
)
from folioreel.ingest.books.trees import clean_text

FB2 = (
    '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body><section>{}</section>'
    "</body></FictionBook>"
)
# The same paragraphs in each format; what is in italics is between asterisks in `SAID`.
SAID = [
    "He was *very* late for the *Evening Star*.",
    "*I will not go,* she thought.",
    "*Not today.*",
    "“*You!*” cried the old man.",
    "Nothing here is in italics, and nobody was *un*willing.",
]
HTML = (
    "<p>He was <i> very</i> late for the <cite>Evening\n Star</cite>. <em>I will not go,</em> she "
    "thought. <span class='italic'>Not <b>to</b>day.</span></p>\n"
    "<p>“<a href='#x'><span style='font-style:italic'>You!</span></a>”"
    "<sup><a href='#fn1'>1</a></sup> cried the old man. Nothing here is in italics, "
    "and nobody was <dfn>un</dfn>willing.</p>"
)
MARKDOWN = (
    "He was *very* late for the _Evening\nStar_. *I will not go,* she thought. "
    "<i>Not **to**day.</i>\n\n“*You!*”[^1] cried the old man.\n"
    "Nothing here is in italics, and nobody was *un*willing.\n"
)
PLAIN = (
    "He was _very_ late for the _Evening\nStar_. _I will not go,_ she thought. _Not today._\n\n"
    "“_You!_”[1] cried the old man.\nNothing here is in italics, and nobody was *un*willing.\n"
)


def italics(book) -> list[str]:
    """Each sentence with asterisks around its italics."""
    found = []
    for sentence in book.sentences:
        text = sentence.text
        for start, end in reversed(sentence.emphasis):
            text = f"{text[:start]}*{text[start:end]}*{text[end:]}"
        found.append(text)
    return found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("book.html", HTML),
        ("book.md", MARKDOWN),
        ("book.fb2", FB2.format(re.sub("(</?)(?:i|cite|em|dfn)>", r"\1emphasis>", HTML))),
    ],
)
def test_italics_of_a_book(tmp_path, name, text):
    if name == "book.fb2":  # which has neither classes nor styles
        text = text.replace(
            "<span class='italic'>Not <b>to</b>day.</span>", "<emphasis>Not today.</emphasis>"
        )
        text = re.sub("<a.*?</sup>", "<emphasis>You!</emphasis>”", text, flags=re.DOTALL)
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert italics(load_book(tmp_path / name)) == SAID


def test_underscores_in_plain_text(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text(PLAIN, encoding="utf-8")
    assert italics(load_book(path)) == SAID
    # One that is never closed says nothing of where the italics end.
    path.write_text("He said that _he would come home. And then he did not come.", encoding="utf-8")
    assert not any(sentence.emphasis for sentence in load_book(path).sentences)


def test_italics_in_verse_and_over_paragraphs(tmp_path):
    path = tmp_path / "book.html"
    path.write_text(
        "<p>He sang to them all the way home that evening.</p>"
        "<div class='poem'><p>Oh, the <i>river runs down</i></p>"
        "<p><i>And away</i> to the sea.</p></div>"
        "<div class='italics'><p>She wrote a letter.</p><p>He read it.</p></div><p>They met.</p>"
        "<p><i>One</i><br/><br/>two <i>three</i><br/><br/><i>four</i></p>",
        encoding="utf-8",
    )
    assert italics(load_book(path))[1:] == [
        "Oh, the *river runs down And away* to the sea.",
        "*She wrote a letter.*",
        "*He read it.*",
        "They met.",
        "*One*",
        "two *three*",
        "*four*",
    ]


@given(st.lists(st.tuples(st.sampled_from(["", START, END]), st.text(" \n\u00adab“é", max_size=5))))
def test_places_against_a_walk_over_characters(pieces):
    marked = "".join(mark + text for mark, text in pieces)
    emphasised: list[bool] = []  # of each visible character
    depth = 0
    for character in marked:
        if character in (START, END):
            depth = max(0, depth + (1 if character == START else -1))
        elif clean_text(character):
            emphasised.append(depth > 0)
    text = clean_text(strip_marks(marked))
    ranges = place_emphasis(count_emphasis(marked), text)
    inside = {k for start, end in ranges for k in range(start, end)}
    assert [k in inside for k in range(len(text)) if text[k] != " "] == emphasised
    assert all(text[start] != " " != text[end - 1] for start, end in ranges)
    for start in range(0, len(text), 3):
        part = {k for a, b in cut_emphasis(ranges, start, start + 4) for k in range(a, b)}
        assert part == {k - start for k in inside if start <= k < start + 4}
