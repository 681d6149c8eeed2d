"""Sentences and words against hand-made cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from folioreel.sentences import split_sentences
from folioreel.text import (
    cut_label,
    cut_text,
    dominant_script,
    join_sentences,
    place_sentences,
    tokenize,
    wrap_lines,
)

# Each case is the sentences as they should come out; joined by a space they are the input.
CASES = [
    # A tag stays with its speech.
    ['"Go!" he said.', "Then he left."],
    ["“Go!” he said.", "“Now.”", "She went."],
    ['"What are you doing?" Mr. J. R. Jones asked.', '"I--"'],
    ["“Will you?” asked Tom, rising.", "“I will.”"],
    ["“Never!” The old man cried.", "He sat."],
    ["“Yes!” I said.", "It was so."],
    ["“Who are you?” the girl asked, and sat."],
    ["“Come in,” said Mr. Holt.", "Nobody did."],
    ["'Oh! my God!' said he.", "'What now?'"],
    ["“Hush!” she whispered."],
    ["“Is that all?” Mrs. Thrupp demanded.", "“It is.”"],
    ["“Damp,” said Ruben.", "“It's the damp.”"],
    ["“I thought,” he began, “that you knew.”"],
    ["“Really?” Petra said slowly.", "Nobody answered."],
    ["_“Go!”_ he said."],
    # A new sentence after speech is its own.
    ['"Is it you?"', "She turned.", '"Yes!" I said.'],
    ["“No!”", "The old man shook his head."],
    ["“Stop it!”", "Tom went to the door."],
    ["She said, “I won’t.”", "“Why?”", "“Because!” cried he."],
    ["“Well?”", "“Well.”", "“Is that all?”", "“Yes.”"],
    ["He saw “The Mill.”", "She did not."],
    # Speech is split inside its quotes.
    ["“I came here.", "I saw nothing.", "I left,” he said, “and that is all.", "Nothing more.”"],
    ['He cried out, "Stop!', 'You there!"', "Nobody stopped."],
    ["“An unclosed paragraph of speech.", "It goes on."],
    ["“Mrs. Rapkin!", "Mrs. Rapkin!” he called—“are you there?”"],
    ["“He threw the spear.”", "And as I remarked, it fell."],
    # Interruptions, dashes, ellipses.
    ["“I will not—” Tom began.", "“You will.”"],
    ["“I will—”", "She stopped."],
    ["He waited--and waited--and then he slept."],
    ["It was no use. . . .", "He slept."],
    ["Well… perhaps.", "Or not."],
    ["“I… I don't know,” she said."],
    ["“If only…”", "He fell silent."],
    ["... and so to bed.", "The end."],
    # Abbreviations and initials.
    ["He met Dr. Smith at 5 p.m. on Jan. 3.", "It rained."],
    ["Mr. and Mrs. Brown lived at No. 7.", "They were happy."],
    ["And there he stood—Mr. Smith himself.", "Nobody--Dr. Roe least of all--had known."],
    ["J. R. R. Tolkien wrote it.", "I read it."],
    ["Prof. A. B. Cee, Ph.D., came at 9 a.m. with a stick."],
    ["They left at 6 p.m.", "It was dark."],
    ["It stood in St. John’s Wood, i.e. in London."],
    ["He lives in the U.S.", "He is old."],
    ["Capt. Hagberd, Esq., came.", "Lt. Gray went."],
    ["See vol. ii. of it.", "Then sleep."],
    ["It cost $3.50 in all.", "She paid."],
    ["Version 2.5 was better.", "He knew."],
    ["Everyone was kind to me.", "Dazed as I was, I ate."],
    ["He said no.", "Dazed, he left."],
    ["“No.", "I won't go.”"],
    ["No.", "Nobody came to No. 7."],
    ["She was taller than I.", "Nobody minded."],
    ["Messrs. Hook and Eye, etc.", "Nobody came."],
    # Outcries that go on.
    ["O Captain! my Captain! our fearful trip is done."],
    ["What! he cried.", "You here!"],
    ["“Oh!” she cried, “how lovely!”"],
    ["Alas! the day was lost.", "Night fell."],
    ["Was it? he wondered.", "It was."],
    # Single quotes and apostrophes.
    ["He didn't.", "'Tis true.", "The boys' hats fell."],
    ["'I came.", "I saw nothing.'", "He sat."],
    ["‘No,’ said he, ‘I won’t.’", "‘Why?’"],
    ["The girls’ room was locked.", "’Twas late."],
    # Brackets, colons, lists.
    ["He went (she stayed).", "Then it rained."],
    ["This is what he said: nothing.", "Not a word."],
    ["He bought: bread; milk; and a goose.", "It was dear."],
    # Verse on one line.
    ["The ferry goes over, the ferry comes back, And all that it carries goes down in the book."],
    # Other languages and scripts.
    ["— Non, dit-il.", "— Si."],
    ["„Geh!“ sagte er.", "„Nein.“"],
    ["«Иди!» — сказал он.", "Она ушла."],
    ["Он пришёл.", "Она ушла!"],
    # Plain.
    ["It was late.", "Was it?", "It was!"],
    ["One sentence without an end"],
]


@pytest.mark.parametrize("sentences", CASES, ids=lambda case: case[0][:40])
def test_split_sentences(sentences):
    text = " ".join(sentences)
    assert [text[a:b] for a, b in split_sentences(text)] == sentences


def test_chinese_has_no_spaces():
    text = "他来了。她走了。“走！”他说。"
    assert [text[a:b] for a, b in split_sentences(text)][:2] == ["他来了。", "她走了。"]


def test_lower_case_subtitles_are_still_split():
    text = "i said it. and left. so what?"
    assert len(split_sentences(text)) == 3


@given(st.text(alphabet="abc .!?\"'“”‘’—-…()ABC1_*\n", max_size=200))
def test_spans_are_ordered_trimmed_and_lose_nothing(text):
    spans = split_sentences(text)
    last = 0
    for start, end in spans:
        assert last <= start < end
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t go, Mr. Holt!", ["don't", "go", "mr", "holt"]),
        ("'Tis the boys' hat", ["tis", "the", "boys", "hat"]),
        ("a well-known café", ["a", "well", "known", "café"]),
        ("61 kilos—No. 7", ["61", "kilos", "no", "7"]),
        ("_so_ it goes", ["so", "it", "goes"]),
        ("ＦＵＬＬ width ﬁt", ["full", "width", "fit"]),
        ("他来了 ok", ["他", "来", "了", "ok"]),
        ("...", []),
    ],
)
def test_tokenize(text, words):
    assert tokenize(text) == words


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("hello", "LATIN"),
        ("привет, world", "CYRILLIC"),
        ("他来了", "CJK"),
        ("ひらがなの山", "CJK"),
        ("123 …", None),
    ],
)
def test_dominant_script(text, script):
    assert dominant_script(text) == script


@given(st.text(), st.integers(2, 60))
def test_a_cut_text_is_no_longer_than_wanted(text, most):
    cut = cut_text(text, most)
    whole = " ".join(text.split())
    assert len(cut) <= max(most, 2)
    if len(whole) <= most:
        assert cut == whole
    else:
        assert whole.startswith(cut.removesuffix(" …").removesuffix("…"))
        assert 2 * len(cut) >= most - 4  # not much is lost, with or without spaces


@pytest.mark.parametrize(
    ("sentences", "whole"),
    [
        (["He left.", "“So?” she said."], "He left. “So?” she said."),
        (["他走了。", "她留下了。"], "他走了。她留下了。"),
        (["“你好。”", "“再见！”他说。"], "“你好。”“再见！”他说。"),
        (["彼は笑った。", "「そう」"], "彼は笑った。「そう」"),
        (["他说OK.", "Then he left."], "他说OK. Then he left."),
        (["เขาเดินไปที่แม่น้ำ", "เธออยู่ที่บ้าน"], "เขาเดินไปที่แม่น้ำ เธออยู่ที่บ้าน"),  # Thai sets spaces
        (["…", "…"], "… …"),
        (["One."], "One."),
        ([], ""),
    ],
)
def test_sentences_are_joined_as_their_language_does(sentences, whole):
    text, starts = place_sentences(sentences)
    assert text == join_sentences(sentences) == whole
    assert [text[a : a + len(s)] for a, s in zip(starts, sentences, strict=True)] == sentences


def test_a_label_is_cut_in_mid_word():
    assert cut_label("Chapter One", 11) == "Chapter One"
    assert cut_label("Chapter One", 10) == "Chapter O…"
    assert cut_label("Chapter One", 9) == "Chapter…"


def test_chinese_and_japanese_are_broken_between_characters():
    text = (
        "老船長は窓のそばへ行き、雨を眺めていた。「どうして教えてくれなかったの」と彼女は尋ねた。"
    )
    lines = wrap_lines(text, 20)
    assert "".join(lines) == text
    assert all(len(line) <= 10 for line in lines)
    assert not any(line[0] in "、。」っ" or line[-1] == "「" for line in lines)


def test_words_between_chinese_characters_stay_whole():
    assert wrap_lines("他读 The Brass Bottle 这本书", 12) == [
        "他读 The",
        "Brass",
        "Bottle 这本",
        "书",
    ]


@given(st.text(alphabet="ab 雨が。「」", max_size=60), st.integers(4, 30))
def test_no_character_is_lost_by_breaking_lines(text, width):
    kept = "".join(wrap_lines(text, width)).replace(" ", "")
    assert kept == "".join(text.split())
