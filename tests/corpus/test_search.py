"""Searching a corpus: by meaning against brute force, by words, and both joined."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_stories import RUSSIAN, SMALL, build_tales, write_tales

from folioreel.corpus.build import CorpusConfig, build_corpus
from folioreel.corpus.index import IndexConfig, index_corpus
from folioreel.corpus.reader import open_corpus
from folioreel.corpus.search import SearchStore, join_ranks, nearest_by_signs
from folioreel.corpus.store import RECORD, pack_signs, store_folder
from folioreel.errors import ConfigError, InputError
from folioreel.models.sentence_encoder import load_encoder

HERE = IndexConfig(workers=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    tmp_path = tmp_path_factory.mktemp("search")
    library = write_tales(tmp_path / "library")
    demo = Path(index_corpus.__code__.co_filename).parents[1] / "demo" / "book.txt"
    (library / "demo.txt").write_bytes(demo.read_bytes())
    build_corpus(library, tmp_path / "corpus", SMALL)
    index_corpus(tmp_path / "corpus", HERE)
    return tmp_path / "corpus"


@pytest.fixture(scope="module")
def store(folder: Path) -> SearchStore:
    return SearchStore.open(folder)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("a phantom was walking in the corridor at night", "ghost.txt"),
        ("Who stole the rich man's fortune?", "money.txt"),
        ("seamen drowned in the ocean", "sea.txt"),
    ],
)
def test_by_meaning_other_words_are_found(store: SearchStore, query: str, path: str) -> None:
    (found,) = store.search(query, 1, by="meaning")
    assert found.book.path == path
    assert (found.scores.score, found.scores.words) == (1.0, None)


def test_by_words_the_rarest_count(store: SearchStore) -> None:
    (found,) = store.search("nine hundred guineas", 1, by="words")
    assert found.sentence.text == "He had nine hundred guineas."
    assert (found.scores.score, found.scores.meaning) == (1.0, None)
    assert store.search("xylophone", by="words") == ()


def test_an_answer_has_its_place(store: SearchStore) -> None:
    found = store.search("Who is there? cried the widow, and her candle went out.", 1)[0]
    assert (found.book.title, found.book.path) == ("The Empty House", "ghost.txt")
    assert found.passage.chapter_title == "CHAPTER 1"
    assert "Who is there" in found.sentence.text
    assert found.passage.text.endswith("There was no answer but the wind.")
    data = json.loads(json.dumps(found.to_dict()))
    assert data["score"] == 1.0  # first by meaning and by words
    assert data["meaning"] > 0.9
    assert data["words"] > 0
    assert (data["chapter"], data["paragraph"]) == (0, 1)
    assert data["passage"] == found.passage.text


def test_the_nearest_are_those_of_brute_force(folder: Path, store: SearchStore) -> None:
    """The scan over signs and bytes against float32 over all: recall@10 of the vectors."""
    corpus = open_corpus(folder)
    books = list(corpus.read_books())
    places = [(book.record.id, each.index) for book in books for each in book.text.sentences()]
    texts = [text for book in books for text in book.text.texts]
    encoder = load_encoder("student")
    vectors = encoder.encode(texts)
    queries = texts[::40]
    hits = 0
    for query, vector in zip(queries, encoder.encode(queries), strict=True):
        exact = vectors @ vector
        best = {places[k] for k in np.argsort(-exact, kind="stable")[:10]}
        found = store.nearest(query, 10)
        hits += len(best & set(found))
        for place, cosine in found.items():
            assert cosine == pytest.approx(exact[places.index(place)], abs=0.01)
    assert hits / (10 * len(queries)) >= 0.97


def test_both_lists_are_joined_by_rank() -> None:
    a, b, c = ("x", 1), ("x", 2), ("y", 1)
    joined = dict(join_ranks([[a, b], [b, c]]))
    assert joined[a] == pytest.approx(0.5)
    assert joined[b] == pytest.approx(0.5 * 61 / 62 + 0.5)
    assert joined[c] == pytest.approx(0.5 * 61 / 62)
    assert list(joined) == [b, a, c]
    assert join_ranks([]) == []
    assert join_ranks([[c], [a]]) == [(a, 0.5), (c, 0.5)]  # equal ones by place


def test_the_count_is_kept(store: SearchStore) -> None:
    assert len(store.search("the night", 3)) == 3
    many = store.search("the night", 500)
    assert 100 < len(many) <= 500
    assert [each.scores.score for each in many] == sorted(
        (each.scores.score for each in many), reverse=True
    )


def test_queries_that_cannot_be_answered(store: SearchStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cyrillic script and the books are in Latin script"):
        store.search("Кто украл деньги?")
    for nothing in ("", "  ", "?! …"):
        with pytest.raises(InputError, match="has no words"):
            store.search(nothing)
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        store.search("night", 0)
    with pytest.raises(ConfigError, match="by must be one of both, meaning, words"):
        store.search("night", by="luck")  # type: ignore[arg-type]


def test_words_that_no_book_has(store: SearchStore) -> None:
    query = "Où est le capitaine? The captain, xylofone, GHOSTS, the captain’s guineas"
    assert store.missing_words(query) == ["où", "est", "le", "capitaine", "xylofone"]
    assert store.missing_words("the ghost") == []


def test_a_corpus_in_several_scripts(tmp_path: Path) -> None:
    library = write_tales(tmp_path / "library")
    (library / "russian.txt").write_text(RUSSIAN, encoding="utf-8")
    build_corpus(library, tmp_path / "corpus", SMALL)
    index_corpus(tmp_path / "corpus", HERE)
    store = SearchStore.open(tmp_path / "corpus")
    assert store.search("привидения", 1)[0].book.path == "russian.txt"
    with pytest.raises(InputError, match="Greek script and the books are in Cyrillic and Latin"):
        store.search("Ποιος έκλεψε τα χρήματα;")


def test_stores_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a corpus"):
        SearchStore.open(tmp_path)
    corpus = build_tales(tmp_path)
    with pytest.raises(InputError, match="cannot be searched yet; run: folioreel corpus index"):
        SearchStore.open(corpus)
    index_corpus(corpus, HERE)
    path = store_folder(corpus) / RECORD
    whole = json.loads(path.read_bytes())
    for changes, says in (
        ({"version": 99}, "has version 99, but this folioreel reads version 1"),
        ({"format": "other"}, "is not a folioreel-search file"),
        ({"fingerprint": "0"}, "with another student; run: folioreel corpus index"),
        ({"units": "384"}, "is damaged"),
        ({"books": [{}]}, "is damaged"),
    ):
        path.write_text(json.dumps(whole | changes), encoding="utf-8")
        with pytest.raises(InputError, match=says):
            SearchStore.open(corpus)


def test_a_corpus_that_was_built_again(tmp_path: Path) -> None:
    corpus = build_tales(tmp_path)
    index_corpus(corpus, HERE)
    (tmp_path / "library" / "sea.txt").unlink()
    build_corpus(tmp_path / "library", corpus, SMALL)
    store = SearchStore.open(corpus)
    assert store.waiting == 0
    paths = {found.book.path for found in store.search("the captain and the storm at sea")}
    assert paths == {"ghost.txt", "money.txt"}  # the book that is gone is not found


def test_a_long_paragraph_is_cut_around_the_sentence(store: SearchStore) -> None:
    passage = store.search("nine hundred guineas", 1)[0].passage
    assert passage.excerpt(500) == passage.text
    assert passage.excerpt(30) == "… He had nine hundred guineas."
    first = store.search("counted his money every evening", 1)[0].passage
    assert first.excerpt(10) == "Mr. Pratt counted his money every evening before he went to bed. …"


def count_by_hand(signs, query):
    return [
        sum(bin(int(a) ^ int(b)).count("1") for a, b in zip(row, query, strict=True))
        for row in signs
    ]


@settings(deadline=None)  # the kernel is compiled in the first one
@given(st.integers(1, 40), st.integers(1, 7), st.integers(1, 12), st.integers(0, 2**32))
def test_the_nearest_rows(rows: int, words: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2**64, (rows, words), dtype=np.uint64)
    query = rng.integers(0, 2**64, words, dtype=np.uint64)
    distances = count_by_hand(signs, query)
    furthest = sorted(distances)[min(count, rows) - 1]
    expected = [row for row in range(rows) if distances[row] <= furthest]
    found = nearest_by_signs(signs, query, count)
    if len(expected) <= 2 * count:
        assert found.tolist() == expected


def test_long_ties_are_cut() -> None:
    signs = np.zeros((1000, 6), dtype=np.uint64)
    signs[500] = 1  # further away
    signs[[7, 9], 0] = 2
    query = np.array([2, 0, 0, 0, 0, 0], dtype=np.uint64)
    found = nearest_by_signs(signs, query, 10)
    assert len(found) == 20
    assert {7, 9} <= set(found.tolist())
    assert 500 not in found


def test_nothing_to_scan() -> None:
    assert len(nearest_by_signs(np.empty((0, 6), np.uint64), np.zeros(6, np.uint64), 5)) == 0


@pytest.mark.parametrize("units", [64, 100, 384])
def test_fewer_signs_differ_the_nearer_a_vector_is(units: int) -> None:
    """By the angle: the share of signs that differ is the angle over 180 degrees."""
    rng = np.random.default_rng(3)
    base = rng.standard_normal((2000, units)).astype(np.float32)
    other = (base + 0.5 * rng.standard_normal((2000, units))).astype(np.float32)
    cosines = np.sum(base * other, 1) / np.linalg.norm(base, axis=1) / np.linalg.norm(other, axis=1)
    differing = pack_signs(base) ^ pack_signs(other)
    differ = np.unpackbits(differing.view(np.uint8), axis=1).sum(1) / units
    assert differ.mean() == pytest.approx(np.mean(np.arccos(cosines) / np.pi), abs=0.005)


def test_the_language_of_a_book_is_recorded_and_searched(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    lines = [
        "Le vieil homme continua son chemin sans se retourner une seule fois vers sa maison.",
        "Les émirs arrivèrent le soir, et personne ne leur ouvrit la grande porte de la ville.",
    ]
    tale = "\n\n".join(f"{line} C'était la nuit numéro {k}." for k in range(8) for line in lines)
    (library / "conte.txt").write_text(tale, encoding="utf-8")
    report = build_corpus(library, tmp_path / "corpus", SMALL)
    assert [book.language for book in report.books] == ["fr"]
    index_corpus(tmp_path / "corpus", HERE)
    opened = SearchStore.open(tmp_path / "corpus")
    (found,) = opened.search("un emir arrive", 1, by="words")
    assert found.sentence.text == lines[1]
    assert opened.missing_words("l'emir arrivant xylophone") == ["xylophone"]


TALES = {
    "fr": (
        "Le vieux pêcheur répara son filet devant la cabane.",
        "Par une tempête pareille, même les mouettes ne volent pas.",
        "La jeune fille ouvrit la lettre et lut qu'on l'attendait au phare avant minuit.",
    ),
    "ru": (
        "Старый доктор долго искал свои очки под диваном в гостиной.",
        "Лошадь упала на льду, и кучер громко ругался посреди улицы.",
        "Мальчик спрятал украденное яблоко за спину и покраснел.",
    ),
    "ja": (
        "アンナは朝早く手紙を受け取った。",
        "料理人は大きな鍋でスープを作っていた。",
        "兵士たちは橋を渡って北へ進んだ。",
    ),
    "fi": (
        "Vanha seppä takoi hevosenkenkiä koko pitkän talvi-illan.",
        "Tyttö juoksi metsän läpi järven rantaan veljeään etsimään.",
        "Isäntä antoi rengille leipää ja lämpimän turkin matkaa varten.",
    ),
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> SearchStore:
    """Books in French, Russian, Japanese and Finnish, of which the encoder knows three."""
    tmp_path = tmp_path_factory.mktemp("mixed")
    (tmp_path / "library").mkdir()
    for code, lines in TALES.items():
        # Repeated, so that the language is clear and no book too short.
        text = "\n\n".join(4 * lines)
        (tmp_path / "library" / f"{code}.txt").write_text(text, encoding="utf-8")
    report = build_corpus(tmp_path / "library", tmp_path / "corpus", CorpusConfig(min_words=1))
    assert sorted(str(book.language) for book in report.kept) == ["fi", "fr", "ja", "ru"]
    indexed = index_corpus(tmp_path / "corpus", HERE)
    assert (indexed.encoder, indexed.by_words) == ("use-multilingual", {"fi": 1})
    return SearchStore.open(tmp_path / "corpus")


@pytest.mark.parametrize(
    ("query", "code", "line"),
    [
        ("même les mouettes ne volent pas", "fr", 1),
        ("Elle devait venir au phare avant douze heures du soir.", "fr", 2),
        ("Даже чайки не летают в такую бурю.", "fr", 1),
        ("The boy blushed and hid the apple that he had stolen.", "ru", 2),
        ("Das Pferd stürzte auf dem Eis.", "ru", 1),
        ("Los soldados cruzaron el puente hacia el norte.", "ja", 2),
        ("アンナに手紙が届いた。", "ja", 0),
    ],
)
def test_other_languages_are_found_by_meaning(mixed, query, code, line) -> None:
    (found,) = mixed.search(query, 1, by="meaning")
    assert found.sentence.text == TALES[code][line]


def test_a_language_that_the_encoder_does_not_know_is_found_by_words(mixed) -> None:
    assert mixed.by_words == ("fi",)
    assert mixed.sentences == 48
    found = mixed.search("seppä takoi hevosenkengän talvella", 3)
    assert found[0].sentence.text == TALES["fi"][0]
    assert all(each.scores.meaning is None for each in found)
    near = mixed.search("A blacksmith was forging horseshoes.", 20, by="meaning")
    assert {each.book.language for each in near} <= {"fr", "ru", "ja"}
    assert not mixed.understands("Ο γέρος σιδεράς")  # nor Greek, by its script


def test_half_width_letters_are_letters(mixed) -> None:
    assert mixed.search("ｱﾝﾅ", 1, by="words")[0].sentence.text == TALES["ja"][0]
    assert mixed.missing_words("ｱﾝﾅ xylophone") == ["xylophone"]


def test_books_in_english_keep_their_encoder(folder: Path) -> None:
    report = index_corpus(folder, HERE)
    assert (report.encoder, report.by_words, report.added) == ("student", {}, 0)


def test_a_named_encoder_is_used(tmp_path: Path) -> None:
    """Of books in a language that it does not know, it says nothing."""
    (tmp_path / "library").mkdir()
    text = "\n\n".join(4 * TALES["fr"])
    (tmp_path / "library" / "fr.txt").write_text(text, encoding="utf-8")
    build_corpus(tmp_path / "library", tmp_path / "corpus", CorpusConfig(min_words=1))
    report = index_corpus(tmp_path / "corpus", IndexConfig(workers=1, encoder="student"))
    assert (report.encoder, report.by_words) == ("student", {"fr": 1})
    store = SearchStore.open(tmp_path / "corpus")
    assert store.search("the gulls", 1, by="meaning") == ()
    for by in ("both", "meaning"):
        (found,) = store.search("les mouettes ne volent pas", 1, by=by)
        assert found.sentence.text == TALES["fr"][1]
        assert found.scores.meaning is None
