"""The cosine of sentence vectors by brute force."""

import math

import numpy as np
import pytest
from conftest import make_book, make_film
from made_encoders import made_model

from folioreel.config import SEMANTIC, WINDOW, AlignConfig
from folioreel.similarity import sentence as module
from folioreel.similarity.sentence import SentenceMeasure
from folioreel.similarity.tensor import SimilarityRows
from folioreel.text import tokenize


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def encoder():
    return made_model()


def by_brute_force(encoder, film, book):
    values = np.zeros((len(film.moments), len(book.sentences)))
    for i, moment in enumerate(film.moments):
        for j, sentence in enumerate(book.sentences):
            said, written = encoder.encode([moment.text, sentence.text]).astype(np.float64)
            if said.any() and written.any():
                values[i, j] = said @ written / np.linalg.norm(said) / np.linalg.norm(written)
    return values


def rows(measure, first, last, sentences):
    out = np.full((1, last - first, sentences), np.nan, dtype=np.float32)
    measure.rows(first, last, out)
    return out[0]


def planes(encoder, film, book, names):
    """The planes of some measures: (names, I, J)."""
    measure = SentenceMeasure(names, encoder, film, book)
    assert measure.names == names
    found = np.full((len(names), len(film.moments), len(book.sentences)), np.nan, np.float32)
    measure.rows(0, len(film.moments), found)
    assert np.isfinite(found).all()
    return found


def named_planes(encoder, film, book, names=SEMANTIC):
    return dict(zip(names, planes(encoder, film, book, names), strict=True))


def window_vectors(encoder, texts):
    """The unit means of unit vectors, by slices."""
    vectors = encoder.encode(texts).astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    near = [vectors[max(0, k - WINDOW) : k + WINDOW + 1].sum(axis=0) for k in range(len(texts))]
    return np.array([row / max(np.linalg.norm(row), 1e-9) for row in near])


class Letters:
    """Vectors that can be worked out by hand: a text has one unit for each of its letters."""

    name, units, fingerprint = "letters", 4, ""

    def encode(self, texts, progress=None):
        return np.array([[text.count(letter) for letter in "abcd"] for text in texts], np.float32)


class LoudLetters(Letters):
    """An encoder that says something about an empty text, too, as foreign ones may."""

    def encode(self, texts, progress=None):
        return super().encode(texts) + np.array([[0.5 * (text == "")] for text in texts])


def letter_film(letters, duration_s=20.0):
    """One line for each letter; some shots are silent."""
    spoken = tuple((0.5 + k, 0.9 + k, text) for k, text in enumerate(letters))
    return make_film(spoken=spoken, duration_s=duration_s)


def test_against_brute_force(encoder, film):
    texts = ("The ferry crossed the river at dawn.", "", "Sixty-one kilos.", "She said nothing.")
    book = make_book(texts)
    measure = SentenceMeasure(("sentence",), encoder, film, book)
    found = rows(measure, 0, len(film.moments), 4)
    # The vectors are kept in half precision, of which 11 bits are left.
    assert found == pytest.approx(by_brute_force(encoder, film, book), abs=2e-3)
    assert not found[:, 1].any()
    silent = [moment.index for moment in film.moments if not moment.text]
    assert silent
    assert not found[silent].any()
    spoken = next(moment.index for moment in film.moments if moment.text == "Sixty-one kilos.")
    assert found[spoken, 2] == pytest.approx(1, abs=1e-6)


def test_blocks_of_rows_are_those_of_the_whole(encoder, film, book):
    measure = SentenceMeasure(("sentence",), encoder, film, book)
    moments, sentences = len(film.moments), len(book.sentences)
    assert measure.names == ("sentence",)
    whole = rows(measure, 0, moments, sentences)
    parts = [rows(measure, k, min(k + 2, moments), sentences) for k in range(0, moments, 2)]
    assert np.concatenate(parts) == pytest.approx(whole, abs=1e-6)
    assert rows(measure, 2, 2, sentences).shape == (0, sentences)


def test_the_three_forms_of_semantic(encoder, film, book):
    """Standard scores by hand, and the length of the line as a factor."""
    found = planes(encoder, film, book, ("semantic", "semantic_z", "semantic_long"))
    spoken = [k for k, moment in enumerate(film.moments) if moment.text]
    for i in spoken:
        cosines = found[0, i].astype(np.float64)
        scores = (cosines - cosines.mean()) / cosines.std()
        assert found[1, i] == pytest.approx(scores / 3, abs=1e-3)
        words = len(tokenize(film.moments[i].text))
        assert found[2, i] == pytest.approx(found[1, i] * np.log(1 + words) / 3, abs=1e-5)
    silent = [k for k, moment in enumerate(film.moments) if not moment.text]
    assert silent
    assert not found[:, silent].any()


def test_windows_by_hand():
    """The window of a line skips the silent shot; at the ends there are fewer neighbours."""
    spoken = zip((1.0, 3.0, 9.0, 11.0, 15.0, 17.0), "aabcdd", strict=True)
    film = make_film(spoken=tuple((start, start + 1, text) for start, text in spoken))
    assert [moment.text for moment in film.moments] == ["a", "a", "", "b", "c", "d", "d"]
    book = make_book(("a", "b", "a", "c", "d"))
    (found,) = planes(Letters(), film, book, ("window",))
    # The line b with a a and c d around it; the sentences a b a, a b a c, and all five.
    line = np.array([2, 1, 1, 1]) / np.sqrt(7)
    assert found[3, 0] == pytest.approx(line @ [2, 1, 0, 0] / np.sqrt(5), abs=1e-3)
    assert found[3, 1] == pytest.approx(line @ [2, 1, 1, 0] / np.sqrt(6), abs=1e-3)
    assert found[3, 2] == pytest.approx(1, abs=1e-3)
    assert found[0, 4] == pytest.approx(
        np.array([2, 1, 0, 0]) @ [1, 0, 1, 1] / np.sqrt(5 * 3), abs=1e-3
    )
    assert not found[2].any()


def test_windows_by_brute_force(encoder, film, book):
    found = named_planes(encoder, film, book)
    spoken = [k for k, moment in enumerate(film.moments) if moment.text]
    lines = window_vectors(encoder, [film.moments[k].text for k in spoken])
    sentences = window_vectors(encoder, [sentence.text for sentence in book.sentences])
    assert found["window"][spoken] == pytest.approx(lines @ sentences.T, abs=2e-3)
    for i in spoken:
        cosines = found["window"][i].astype(np.float64)
        scores = (cosines - cosines.mean()) / max(cosines.std(), 1e-3) / 3
        assert found["window_z"][i] == pytest.approx(scores, abs=1e-3)
        words = len(tokenize(film.moments[i].text))
        long = found["window_z"][i] * np.log(1 + words) / 3
        assert found["window_long"][i] == pytest.approx(long, abs=1e-5)


@pytest.fixture(autouse=True)
def no_filling_up(monkeypatch, request):
    """Tests have short films; all but one ask what their own lines say."""
    if "short_film" not in request.node.name:
        monkeypatch.setattr(module, "_RIVALS", 1)


def test_short_film_is_filled_up_with_average_lines():
    """Two lines and two sentences, cosines 1 and 0: 298 more lines of the average cosine 0.5."""
    found = named_planes(Letters(), letter_film("ab"), make_book(("a", "b")), ("semantic_in_film",))
    mean = (math.exp(20) + 1 + 298 * math.exp(10)) / 300
    expected = (20 - math.log(mean)) / 6, (0 - math.log(mean)) / 6
    assert found["semantic_in_film"][0] == pytest.approx(expected, abs=1e-3)
    assert expected[0] > 0.9  # with its own two lines alone it would be 0.1


@pytest.mark.parametrize("base", ["semantic", "window"])
def test_rivals_by_brute_force(base, encoder, film, book):
    """exp(20 · cosine) over its mean among the sentences, and among the lines; log / 6."""
    found = named_planes(encoder, film, book)
    spoken = [k for k, moment in enumerate(film.moments) if moment.text]
    count = len(book.sentences)
    powers = {(i, j): math.exp(20 * float(found[base][i, j])) for i in spoken for j in range(count)}
    for (i, j), power in powers.items():
        in_book = power / (sum(powers[i, k] for k in range(count)) / count)
        in_film = power / (sum(powers[k, j] for k in spoken) / len(spoken))
        assert found[f"{base}_in_book"][i, j] == pytest.approx(math.log(in_book) / 6, abs=1e-4)
        assert found[f"{base}_in_film"][i, j] == pytest.approx(math.log(in_film) / 6, abs=1e-4)


def test_rivals_by_hand():
    """Lines a, a, b and sentences a, b, c: all cosines are 0 or 1."""
    film, book = letter_film("aab"), make_book(("a", "b", "c"))
    names = ("semantic_in_book", "semantic_in_film")
    found = {
        name: plane[:3] * 6 for name, plane in named_planes(Letters(), film, book, names).items()
    }
    # Each line is like one sentence of three: e^20 against a mean of (e^20 + 2) / 3.
    like, unlike = math.log(3), math.log(3) - 20
    expected = [[like, unlike, unlike], [like, unlike, unlike], [unlike, like, unlike]]
    assert found["semantic_in_book"] == pytest.approx(np.array(expected), abs=1e-5)
    # Two of three lines are like the sentence a, one is like b, and none is like c.
    two, one = math.log(1.5), math.log(3)
    expected = [[two, one - 20, 0], [two, one - 20, 0], [two - 20, one, 0]]
    assert found["semantic_in_film"] == pytest.approx(np.array(expected), abs=1e-5)


def test_lines_are_added_up_block_by_block(encoder, film, book, monkeypatch):
    names = ("semantic_in_film", "window_in_film")
    whole = planes(encoder, film, book, names)
    monkeypatch.setattr(module, "_ROWS", 2)
    assert planes(encoder, film, book, names) == pytest.approx(whole, abs=1e-6)


def test_rows_of_rivals_do_not_depend_on_the_block(encoder, film, book):
    measure = SentenceMeasure(SEMANTIC, encoder, film, book)
    whole = planes(encoder, film, book, SEMANTIC)
    for i in range(len(film.moments)):
        out = np.full((len(SEMANTIC), 1, len(book.sentences)), np.nan, np.float32)
        measure.rows(i, i + 1, out)
        assert out[:, 0] == pytest.approx(whole[:, i], abs=1e-5)


@pytest.mark.parametrize("made", [Letters, LoudLetters])
def test_silent_moments_are_0_in_all_measures(made, film):
    book = make_book(("abc", "a", "dd", "", "bcd"))
    silent = [k for k, moment in enumerate(film.moments) if not moment.text]
    assert silent
    found = planes(made(), film, book, SEMANTIC)
    assert not found[:, silent].any()
    assert found[:, [k for k in range(len(film.moments)) if k not in silent]].any(axis=(1, 2)).all()
    (found,) = planes(made(), film, book, ("sentence",))
    assert not found[silent].any()


def test_silent_moments_are_no_rivals():
    """More silent shots do not change what lines are worth."""
    book = make_book(("ab", "b", "c"))
    spoken = tuple((0.5 + k, 0.9 + k, text) for k, text in enumerate("abc"))
    with_shots, without = make_film(spoken=spoken), make_film(spoken=spoken, shots=False)
    assert len(with_shots.moments) > len(without.moments) == 3
    found = planes(LoudLetters(), with_shots, book, SEMANTIC)
    lines = [k for k, moment in enumerate(with_shots.moments) if moment.text]
    assert found[:, lines] == pytest.approx(planes(Letters(), without, book, SEMANTIC), abs=1e-6)


def test_a_film_with_one_line():
    """It has no rivals in the film; in the book there are two other sentences."""
    found = named_planes(Letters(), letter_film("a"), make_book(("a", "b", "ab")))
    for name in ("semantic_in_film", "window_in_film"):
        assert found[name] == pytest.approx(0, abs=1e-6)
    expected = np.array([20, 0, 20 / math.sqrt(2)])
    expected -= math.log(np.exp(expected).mean())
    assert found["semantic_in_book"][0] * 6 == pytest.approx(expected, abs=1e-2)


def test_a_book_with_one_sentence():
    """Likewise: nothing can be told from the book, but which line is most like it can."""
    film = letter_film("ab")
    found = named_planes(Letters(), film, make_book(("a",)))
    for name in ("semantic_z", "semantic_long", "semantic_in_book", "window_in_book"):
        assert not found[name].any()
    expected = math.log(2) / 6, (math.log(2) - 20) / 6
    assert found["semantic_in_film"][:2, 0] == pytest.approx(expected, abs=1e-4)
    alone = planes(Letters(), letter_film("a"), make_book(("a",)), SEMANTIC)
    assert alone[[SEMANTIC.index("semantic"), SEMANTIC.index("window")], 0] == pytest.approx(1)


def test_opposite_vectors_stay_finite():
    """The smallest cosine, -1, is e^-40 of the largest."""

    class Signs(Letters):
        def encode(self, texts, progress=None):
            return np.array([[1 if text == "a" else -1, 0, 0, 0] for text in texts], np.float32)

    found = named_planes(Signs(), letter_film("a"), make_book(("a", "b")))
    assert not found["semantic_in_film"].any()
    assert found["semantic_in_book"][0] * 6 == pytest.approx([math.log(2), math.log(2) - 40])


@pytest.mark.parametrize(
    "names",
    [
        *(("window_long",), ("semantic_z", "window"), SEMANTIC[1:]),
        *(("semantic_in_film",), ("window_in_book",), ("window_in_film", "semantic_in_book")),
    ],
)
def test_some_forms_are_those_of_all(names, encoder, film, book):
    everything = planes(encoder, film, book, SEMANTIC)
    found = planes(encoder, film, book, names)
    for name, plane in zip(names, found, strict=True):
        assert np.array_equal(plane, everything[SEMANTIC.index(name)])


def test_windows_cost_nothing_where_nobody_asks(encoder, film, book, monkeypatch):
    monkeypatch.setattr(module, "window_means", lambda _: pytest.fail("windows were computed"))
    own = tuple(name for name in SEMANTIC if name.startswith("semantic"))
    assert len(own) == 5
    SentenceMeasure(own, encoder, film, book)
    rows = SimilarityRows(film, book, AlignConfig(weights={"semantic_z": 1.0}))
    assert rows.block(0, 2).measures == ("semantic_z",)


def test_rivals_in_the_film_cost_nothing_where_nobody_asks(encoder, film, book, monkeypatch):
    counted = []
    monkeypatch.setattr(
        module, "log_mean_exp", lambda *sides: counted.append(sides) or np.zeros(len(sides[1]))
    )
    others = tuple(name for name in SEMANTIC if not name.endswith("_in_film"))
    planes(encoder, film, book, others)
    planes(encoder, film, book, ("sentence",))
    assert not counted
    planes(encoder, film, book, ("semantic", "window_in_film"))
    assert len(counted) == 1


def test_training_has_the_same_windows(encoder, book):
    torch = pytest.importorskip("torch")
    from folioreel.train import paraphrase

    assert paraphrase.WINDOW == module.WINDOW == WINDOW
    vectors = encoder.encode([sentence.text for sentence in book.sentences])
    trained = paraphrase.window_means(torch.from_numpy(vectors), np.arange(len(vectors)))
    assert module.window_means(vectors) == pytest.approx(trained.numpy(), abs=1e-5)


def test_a_film_in_which_nobody_speaks(encoder, book):
    film = make_film(spoken=())
    measure = SentenceMeasure(("sentence",), encoder, film, book)
    assert not rows(measure, 0, len(film.moments), len(book.sentences)).any()
    assert not planes(encoder, film, book, SEMANTIC).any()


def test_a_second_run_reads_the_cache(encoder, film, book):
    seen = []
    first = SentenceMeasure(("sentence",), encoder, film, book, seen.append)
    assert seen
    told = len(seen)
    again = SentenceMeasure(("sentence",), encoder, film, book, seen.append)
    assert len(seen) == told
    shape = len(film.moments), len(book.sentences)
    assert np.array_equal(rows(first, 0, *shape), rows(again, 0, *shape))
