"""Pictures told with books: ranked as by hand, found where planted, and what cannot be told."""

import numpy as np
import pytest
from corpus.made_stories import RUSSIAN, SMALL, write_tales
from PIL import Image

from folioreel.apps import caption
from folioreel.apps.caption import (
    PLAIN_CAPTIONS,
    CaptionConfig,
    caption_pictures,
    find_passages,
    rank_passages,
    shift_style,
    unigram_precision,
)
from folioreel.apps.caption_books import NearSentence, open_books
from folioreel.apps.contact_sheet import write_gallery
from folioreel.corpus.build import build_corpus
from folioreel.corpus.index import IndexConfig, index_corpus
from folioreel.corpus.reader import BookText
from folioreel.errors import ConfigError, InputError

ALONE = CaptionConfig(workers=1)
GHOST = "A ghost was walking in the corridor at midnight."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three tales, and a file that is no book."""
    library = write_tales(tmp_path_factory.mktemp("tales"))
    (library / "broken.epub").write_bytes(b"PK\x03\x04")
    return library


@pytest.fixture(scope="module")
def books(folder):
    return open_books(folder, workers=1)


@pytest.fixture(scope="module")
def corpus(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("built") / "corpus"
    build_corpus(folder, out, SMALL)
    index_corpus(out, IndexConfig(workers=1))
    return out


@pytest.fixture
def picture(tmp_path):
    """A drawn one: a green field below a blue sky."""
    pixels = np.zeros((60, 90, 3), dtype=np.uint8)
    pixels[:30], pixels[30:] = (90, 150, 230), (60, 160, 50)
    Image.fromarray(pixels).save(tmp_path / "field <&>.png")
    return tmp_path / "field <&>.png"


@pytest.mark.parametrize(
    ("text", "sentence", "expected"),
    [
        # black dog runs snow: dog, snow
        ("A black dog runs in the snow.", "The dog lay in the snow all night.", 2 / 4),
        # two girls; the sentence has one
        ("A girl and a girl are walking.", "“The Girl!” he cried.", 1 / 3),
        ("A girl is walking.", "A girl, a girl, a girl!", 1 / 2),
        ("He is on it.", "He is on it.", 0.0),
    ],
)
def test_precision_by_hand(text, sentence, expected):
    assert unigram_precision(text, sentence) == pytest.approx(expected)


def test_ranked_by_words_then_by_nearness():
    texts = ("One.", "The dog slept.", "Snow fell.", "A black dog ran.", "So it was.", "End.")
    book = BookText(
        chapter_titles=("I", "II"),
        chapters=(0, 0, 0, 1, 1, 1),
        paragraphs=(0, 0, 1, 2, 2, 3),
        texts=texts,
    )
    near = [
        NearSentence(title="T", path="t.txt", passage=book.passage(index), similarity=similarity)
        for index, similarity in ((4, 0.9), (1, 0.6), (2, 0.7), (3, 0.5))
    ]
    ranked = rank_passages("A black dog runs in the snow.", near)
    # Of black, dog, runs, snow: two, then one each (the nearer first), then none.
    assert [passage.index for passage in ranked] == [3, 2, 1, 4]
    assert [passage.precision for passage in ranked] == [0.5, 0.25, 0.25, 0.0]
    best = ranked[0]
    assert best.chapter == "II"
    assert best.before == "The dog slept.\nSnow fell.\n"
    assert best.after == " So it was.\nEnd."
    assert best.text == "The dog slept.\nSnow fell.\nA black dog ran. So it was.\nEnd."
    assert (ranked[2].before, ranked[2].after) == ("One. ", "\nSnow fell.\nA black dog ran.")


def test_a_caption_finds_its_passage(books):
    found = find_passages([], books, ALONE, captions=[GHOST])
    (story,) = found.stories
    assert story.picture is None
    (passage,) = story.passages
    assert passage.sentence == "At midnight a ghost walked along the gallery."
    assert passage.before == "Nobody had lived in the house for thirty years. "
    assert passage.after.startswith('\n"Who is there?" cried the widow')
    assert (passage.book, passage.path) == ("The Empty House", "ghost.txt")
    assert [failure.path for failure in found.failures] == ["broken.epub"]


@pytest.mark.parametrize("style_shift", [False, True])
def test_a_corpus_answers_as_its_folder_does(books, corpus, style_shift):
    config = CaptionConfig(nearest=5, count=5, style_shift=style_shift, workers=1)
    captions = [GHOST, "Men on a boat look at the waves."]
    found = find_passages([], books, config, captions=captions).stories
    same = find_passages([], corpus, config, captions=captions).stories
    for mine, other in zip(found, same, strict=True):
        assert [p.text for p in mine.passages] == [p.text for p in other.passages]
        for one, two in zip(mine.passages, other.passages, strict=True):
            assert one.similarity == pytest.approx(two.similarity, abs=0.01)
            assert (one.book, one.chapter, one.index) == (two.book, two.chapter, two.index)


def test_nearest_as_brute_force_finds_them(books):
    """Vectors of all sentences, one by one."""
    rng = np.random.default_rng(3)
    queries = rng.normal(size=(4, books.encoder.units)).astype(np.float32)
    texts, cosines = [], []
    for book in books.books:
        for text in book.text.texts:
            vector = books.encoder.encode([text])[0]
            texts.append(text)
            lengths = np.linalg.norm(queries, axis=1) * np.linalg.norm(vector)
            cosines.append(queries @ vector / lengths)
    table = np.array(cosines).T
    for row, found in zip(table, books.nearest(queries, 6), strict=True):
        order = np.argsort(-row)[:6]
        assert [neighbour.similarity for neighbour in found] == pytest.approx(row[order], abs=2e-3)
        assert found[0].passage.sentence.text == texts[order[0]]


def test_style_shift_takes_captions_out_and_puts_the_books_in(books):
    def unit(texts):
        vectors = books.encoder.encode(texts)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    sentences = [text for book in books.books for text in book.text.texts]
    expected = unit([GHOST]) - unit(PLAIN_CAPTIONS).mean(axis=0) + unit(sentences).mean(axis=0)
    shifted = shift_style(books.encoder.encode([GHOST]), books)
    np.testing.assert_allclose(shifted, expected, atol=2e-3)


def test_a_drawn_picture_from_pixels_to_page(books, picture, tmp_path):
    (tmp_path / "notes.jpg").write_text("no picture", encoding="utf-8")
    found = find_passages([tmp_path / "notes.jpg", picture], books, ALONE)
    (story,) = found.stories
    assert story.picture == picture
    assert len(story.caption.split()) > 2
    assert len(story.passages) == 1
    problems = {failure.path: failure.problem for failure in found.failures}
    assert "not a readable picture" in problems[str(tmp_path / "notes.jpg")]
    assert "broken.epub" in problems
    write_gallery(found, tmp_path / "out" / "page.html", title="<b>")
    page = (tmp_path / "out" / "page.html").read_text(encoding="utf-8")
    assert "<b>" not in page
    assert page.count("data:image/jpeg;base64,") == 1
    assert f"<mark>{story.passages[0].sentence}".replace('"', "&quot;") in page
    with pytest.raises(InputError, match="already exists"):
        write_gallery(found, tmp_path / "out" / "page.html")


def test_the_page_escapes_captions(books, picture, tmp_path):
    text = 'A "ghost" <script>alert(1)</script> walks.'
    found = find_passages([picture], books, ALONE, captions=[text])
    write_gallery(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert 'alt="A &quot;ghost&quot; &lt;script&gt;' in page


def test_a_given_caption_needs_no_captioner(books, picture, monkeypatch):
    monkeypatch.setattr(caption, "caption_pictures", None)
    (story,) = find_passages([picture], books, ALONE, captions=[GHOST]).stories
    assert (story.picture, story.caption) == (picture, GHOST)
    assert "ghost" in story.passages[0].sentence


def test_what_cannot_be_told(books, folder, corpus, tmp_path):
    (tmp_path / "notes.jpg").write_text("no picture", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.jpg: is not a readable picture"):
        find_passages([tmp_path / "notes.jpg"], books, ALONE)
    with pytest.raises(
        InputError, match=r"none of the 2 pictures can be used; the first: .*notes\.jpg"
    ):
        find_passages([tmp_path / "notes.jpg", tmp_path / "gone.jpg"], books, ALONE)
    with pytest.raises(InputError, match="has no words"):
        find_passages([], books, ALONE, captions=["?!"])
    with pytest.raises(InputError, match="Cyrillic script and the books are in Latin"):
        find_passages([], books, ALONE, captions=[RUSSIAN])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no books; give a folder"):
        find_passages([], tmp_path / "empty", ALONE, captions=[GHOST])
    with pytest.raises(InputError, match="is not a folder"):
        find_passages([], tmp_path / "gone", ALONE, captions=[GHOST])
    with pytest.raises(ConfigError, match="count must be from 1 to the 10"):
        CaptionConfig(count=11)
    with pytest.raises(ConfigError, match="was indexed with student"):
        find_passages([], corpus, CaptionConfig(encoder="uni-skip"), captions=[GHOST])
    build_corpus(folder, tmp_path / "corpus", SMALL)
    with pytest.raises(InputError, match="run: folioreel corpus index"):
        find_passages([], tmp_path / "corpus", ALONE, captions=[GHOST])
    with pytest.raises(ValueError, match="0 captions for 0 pictures"):
        find_passages([], books, ALONE)


def test_sentences_for_files(tmp_path):
    rng = np.random.default_rng(1)
    files = []
    for name in ("a.jpg", "b.png"):
        files.append(tmp_path / name)
        Image.fromarray(rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)).save(files[-1])
    found = caption_pictures(files, count=3)
    assert [len(captions) for captions in found] == [3, 3]
    for captions in found:
        scores = [caption.score for caption in captions]
        assert scores == sorted(scores, reverse=True)
        assert len({caption.text for caption in captions}) == 3
        assert all(caption.text.endswith(".") for caption in captions)
    assert caption_pictures(files)[1] == found[1][:1]
    assert caption_pictures([]) == []


def test_no_picture_is_told_as_such(tmp_path):
    (tmp_path / "notes.txt").write_text("no picture", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.txt: is not a readable picture"):
        caption_pictures([tmp_path / "notes.txt"])
