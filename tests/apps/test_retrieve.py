"""Finding the demo's book among made-up novels, and noticing that it is not there."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from corpus.made_books import edit_words, make_novel, write_tar

from folioreel.alignment.aligner import Aligner
from folioreel.apps.demo import demo_folder
from folioreel.apps.library import open_library
from folioreel.apps.retrieve import RetrieveConfig, retrieve, wrong_book_chances
from folioreel.errors import AlignmentError, ConfigError, InputError
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film

ALONE = RetrieveConfig(shortlist=4, workers=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("books")
    for seed in range(5):
        novel = make_novel(seed, words=4000, author=seed)
        (folder / f"novel-{seed}.txt").write_text(novel, encoding="utf-8")
    shutil.copy(demo_folder() / "book.txt", folder / "sixty-one.txt")
    (folder / "unreadable.txt").write_bytes(b"\x00\x01\x02" * 100)
    return folder


@pytest.fixture(scope="module")
def spoken():
    return load_film(demo_folder() / "film.srt")


@pytest.fixture(scope="module")
def found(folder, spoken):
    return retrieve(spoken, folder, ALONE)


def test_the_right_book_comes_first(found):
    best, *others = found.candidates
    assert best.book == "sixty-one.txt"
    assert best.score == 100
    assert best.found
    assert best.p_value < 1e-6
    assert all(other.score < 20 and not other.found for other in others)
    scores = [candidate.score for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True)
    assert len(found.candidates) == ALONE.shortlist
    assert found.books == 6
    assert [failure.path for failure in found.failures] == ["unreadable.txt"]


def test_the_evidence_is_the_chains(found, spoken):
    alignment = Aligner.load("fast").align(spoken, load_book(demo_folder() / "book.txt"))
    moments = len(alignment.links)
    assert found.candidates[0].evidence == pytest.approx(-alignment.signature["energy"] / moments)
    in_book = sum(link.in_book for link in alignment.links) / moments
    assert found.candidates[0].in_book == pytest.approx(in_book)


def test_two_processes_find_the_same(folder, spoken, found):
    assert retrieve(spoken, folder, replace(ALONE, workers=2)) == found


def test_a_book_that_is_not_there_is_told_as_such(folder, spoken):
    library = open_library(folder, workers=1)
    others = tuple(book for book in library.books if book.path != "sixty-one.txt")
    found = retrieve(spoken, replace(library, books=others), ALONE)
    assert not found.found
    assert found.candidates[0].score == 100
    assert found.candidates[0].p_value > 0.05


def test_a_wrong_preset_is_refused_before_the_work(folder, spoken):
    seen = []
    with pytest.raises(ConfigError, match="unknown preset 'nope'"):
        retrieve(spoken, folder, replace(ALONE, preset="nope"), seen.append)
    assert not seen


def test_one_book_alone(spoken, tmp_path):
    shutil.copy(demo_folder() / "book.txt", tmp_path / "book.txt")
    assert retrieve(spoken, tmp_path, ALONE).candidates[0].found
    (tmp_path / "book.txt").write_text(make_novel(1, 4000, author=1), encoding="utf-8")
    assert not retrieve(spoken, tmp_path, ALONE).candidates[0].found


@pytest.mark.parametrize(
    ("chance", "says"),
    [
        (0.0012, "probably made from a.txt: it scores 3.6 times as high as the next book, and"),
        (0.2, "perhaps made from a.txt, or from a book that is not in the folder: it scores 3.6"),
        (0.9, "the film's book is probably not in the folder: a wrong book would score as high"),
    ],
)
def test_the_verdict_says_how_sure_it_is_and_why(found, chance, says):
    best = replace(found.candidates[0], book="a.txt", p_value=chance, found=False)
    other = replace(best, book="b.txt", score=28.1, p_value=1.0)
    several = replace(found, candidates=(best, other)).verdict
    assert several.startswith(says)
    assert several.endswith(f"with probability {chance}")
    assert "next book" not in replace(found, candidates=(best,)).verdict
    assert replace(found, candidates=(replace(best, found=True),)).verdict == "made from a.txt"


@pytest.mark.parametrize("preset", ["paper", "paper-literal"])
def test_the_papers_ranking_is_by_the_energy_of_the_chain(folder, spoken, preset):
    found = retrieve(spoken, folder, replace(ALONE, shortlist=2, preset=preset))
    best, other = found.candidates
    assert (best.book, best.score, best.p_value) == ("sixty-one.txt", 100, None)
    aligner = Aligner.load(preset)
    expected = [
        -aligner.align(spoken, load_book(folder / c.book)).signature["energy"] / len(spoken.moments)
        for c in (best, other)
    ]
    assert [best.evidence, other.evidence] == pytest.approx(expected, abs=1e-6)
    assert other.score == pytest.approx(100 * np.exp(expected[1] - expected[0]), rel=1e-4)
    assert other.score < 90
    assert "sixty-one.txt has the lowest energy" in found.verdict
    # Nothing says that the first is not the film's book.
    assert (best.found, other.found, found.found) == (None, None, ())


def test_another_edition_in_an_archive_is_found_too(folder, spoken, tmp_path):
    shutil.copytree(folder, tmp_path / "books")
    text = (demo_folder() / "book.txt").read_text(encoding="utf-8")
    write_tar(tmp_path / "books" / "more.tar.gz", {"edition.txt": edit_words(text, 0.05).encode()})
    found = retrieve(spoken, tmp_path / "books", ALONE)
    assert [c.book for c in found.found] == ["sixty-one.txt", "more.tar.gz/edition.txt"]


def test_what_cannot_be_looked_for(folder, spoken, tmp_path):
    with pytest.raises(AlignmentError, match="has no dialogue"):
        retrieve(replace(spoken, subtitles=()), folder, ALONE)
    with pytest.raises(InputError, match="holds no books"):
        retrieve(spoken, tmp_path, ALONE)
    with pytest.raises(ConfigError, match="at least 1"):
        RetrieveConfig(shortlist=0)


def test_a_book_in_another_language_is_tried_too(spoken, tmp_path):
    russian = "Он пришёл домой и сел у окна. Была поздняя осень, и шёл дождь.\n\n" * 20
    (tmp_path / "russian.txt").write_text(russian, encoding="utf-8")
    (candidate,) = retrieve(replace(spoken, language="en"), tmp_path, ALONE).candidates
    assert candidate.book == "russian.txt"
    assert not candidate.found


def draw_wrong(rng, count, level=-4.2, scatter=0.4):
    return np.sort(rng.normal(level, scatter, count))[::-1]


@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("level", [-4.6, -4.0])
def test_false_alarms_are_as_rare_as_they_should_be(rng, count, level):
    trials = 600
    least = [wrong_book_chances(draw_wrong(rng, count, level)).min() for _ in range(trials)]
    # Three standard deviations of the count above what is promised.
    for promised in (0.001, 0.05):
        allowed = promised * trials + 3 * np.sqrt(promised * trials)
        assert sum(chance < promised for chance in least) <= allowed


@pytest.mark.parametrize("count", [0, 1, 7, 29])
def test_the_right_book_stands_out(rng, count):
    chances = wrong_book_chances(np.array([0.0, *draw_wrong(rng, count)]))
    assert chances[0] < 0.001
    assert (chances[1:] > 0.05).all()


def test_two_editions_do_not_hide_each_other(rng):
    chances = wrong_book_chances(np.array([1.0, 0.9, 0.0, *draw_wrong(rng, 6)]))
    assert (chances[:3] < 0.001).all()
    assert (chances[3:] > 0.05).all()


def test_more_evidence_is_never_less_sure(rng):
    wrong = draw_wrong(rng, 7)
    before = 1.0
    for value in np.linspace(wrong[0], 1.0, 50):
        chance = wrong_book_chances(np.array([value, *wrong]))[0]
        assert chance <= before
        before = chance
