"""The file of a book's paragraphs: every sentence leads to its own."""

from pathlib import Path

import pytest
from made_stories import build_tales

from folioreel.corpus.passages import PassageFile, pack_passages
from folioreel.corpus.reader import open_corpus
from folioreel.errors import InputError


def test_every_sentence_leads_to_its_paragraph(tmp_path: Path) -> None:
    for book in open_corpus(build_tales(tmp_path)).read_books():
        path = tmp_path / "book.bin"
        path.write_bytes(pack_passages(book.text))
        file = PassageFile(path=path)
        assert file.is_whole()
        sentences = list(book.sentences())
        for sentence in sentences:
            passage = file.read(book.record, sentence.index)
            assert passage.centre == sentence.index
            assert passage.chapter_title == book.text.chapter_titles[sentence.chapter]
            assert list(passage.sentences) == [
                each for each in sentences if each.paragraph == sentence.paragraph
            ]


def test_damage_is_seen(tmp_path: Path) -> None:
    (book, *_) = open_corpus(build_tales(tmp_path)).read_books()
    path = tmp_path / "book.bin"
    whole = pack_passages(book.text)
    file = PassageFile(path=path)
    assert not file.is_whole()
    with pytest.raises(InputError, match=r"cannot be read .* index the corpus again"):
        file.read(book.record, 0)
    path.write_bytes(whole[:60])
    assert not file.is_whole()
    with pytest.raises(InputError, match="is damaged; index the corpus again"):
        file.read(book.record, 5)
    path.write_bytes(b"\xff" * len(whole))
    with pytest.raises(InputError, match=r"book\.bin: "):
        file.read(book.record, 0)
