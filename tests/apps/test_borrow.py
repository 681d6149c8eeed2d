"""Passages of other books: handed out as brute force would, and found where they were planted."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from conftest import SPOKEN, make_film
from corpus.made_books import make_novel
from drawn_films import draw_film
from made_embedding import ColourEyes, ColourWords

from folioreel.alignment.aligner import Aligner
from folioreel.apps.borrow import BorrowConfig, assign, borrow
from folioreel.config import AlignConfig, PicturesConfig, StepsConfig
from folioreel.errors import AlignmentError, ConfigError, InputError
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.similarity import tensor
from folioreel.types import Film

ALONE = BorrowConfig(workers=1)


def brute_force(scores):
    """Most moments served, then the highest sum; `scores` has NaN where there is no offer."""
    passages = scores.shape[1]
    best = (-1, -np.inf)
    choices = [[None, *(p for p in range(passages) if not np.isnan(row[p]))] for row in scores]
    for chosen in itertools.product(*choices):
        taken = [p for p in chosen if p is not None]
        if len(set(taken)) == len(taken):
            total = sum(scores[i, p] for i, p in enumerate(chosen) if p is not None)
            best = max(best, (len(taken), total))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_handed_out_as_brute_force_would(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 3, size=(rng.integers(1, 6), rng.integers(1, 6)))
    scores[rng.random(scores.shape) < 0.4] = np.nan
    moments, passages = np.nonzero(~np.isnan(scores))
    values = scores[moments, passages]
    taken = assign(moments, passages, values)
    assert len(set(moments[taken])) == len(taken) == len(set(passages[taken]))
    count, total = brute_force(scores)
    assert len(taken) == count
    assert values[taken].sum() == pytest.approx(total if count else 0.0)


@pytest.fixture
def spoken():
    return make_film(shots=False)


@pytest.fixture
def folder(tmp_path):
    """Novels with two planted paragraphs that say what the film says, one of them in two books."""
    for seed in range(3):
        text = make_novel(seed, words=2000, author=seed)
        if seed < 2:
            text += "\n\n“Who opened that hoarding last night?” the constable asked her.\n"
        if seed == 1:
            text += "\n\nA band was playing in the malt-house, and everybody could hear it.\n"
        (tmp_path / f"novel-{seed}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "broken.epub").write_bytes(b"PK\x03\x04")
    return tmp_path


def test_planted_passages_are_found_and_none_is_given_twice(folder, spoken):
    # The same question once more: one of the two must do with something else.
    again = (*SPOKEN, (19.2, 19.8, "Who opened the hoarding?"))
    borrowing = borrow(make_film(again, shots=False), folder, ALONE)
    loans = {loan.moment: loan for loan in borrowing.loans}
    assert len(loans) == 6
    texts = [loan.passage.text for loan in loans.values()]
    assert len(set(texts)) == len(texts)
    assert "malt-house" in loans[2].passage.text
    assert loans[2].book == "novel-1.txt"
    asked = [i for i in (3, 5) if "opened that hoarding" in loans[i].passage.text]
    assert len(asked) == 1
    assert {loan.moment for loan in borrowing.best(2)} == {2, *asked}
    assert [failure.path for failure in borrowing.failures] == ["broken.epub"]


def test_a_book_can_be_left_out(folder, spoken):
    config = replace(ALONE, without=("novel-1.txt",))
    borrowing = borrow(spoken, folder, config)
    assert borrowing.books == ("novel-0.txt", "novel-2.txt")
    with pytest.raises(InputError, match=r"no book nothing to leave out; .* such as novel-0.txt"):
        borrow(spoken, folder, replace(ALONE, without=("nothing",)))
    whole = tuple(f"novel-{k}.txt" for k in range(3))
    with pytest.raises(InputError, match="all are left out"):
        borrow(spoken, folder, replace(ALONE, without=whole))


def test_pictures_count_too(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tensor.VisualSemantic, "load", ColourWords)
    told = ("A red barn.", "Nobody came.", "The green grass grew.", "He stood at a red gate.")
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "colours.txt").write_text("\n\n".join(told), encoding="utf-8")
    shades = ((220, 10, 10), (10, 200, 10), (210, 10, 10))
    pictures = [np.full((120, 160, 3), shade, np.uint8) for shade in shades for _ in range(37)]
    film = load_film(draw_film(tmp_path / "film.mp4", pictures), encoder=ColourEyes())
    pictured = PicturesConfig(visual=20.0, scene=20.0, bias=-34.0)
    settings = AlignConfig(weights={"rare": 9.0}, steps=StepsConfig(), pictures=pictured)
    loans = borrow(film, tmp_path / "books", ALONE, aligner=Aligner(settings)).loans
    assert [loan.kind for loan in loans] == ["visual"] * 3
    assert "green" in loans[1].passage.text
    assert {loans[0].passage.text, loans[2].passage.text} == {told[0], told[3]}


def test_what_cannot_be_told(folder, spoken, tmp_path_factory):
    with pytest.raises(AlignmentError, match="neither dialogue nor pictures"):
        borrow(Film(title="Nothing", duration_s=1.0), folder, ALONE)
    with pytest.raises(ConfigError, match="at least 1"):
        BorrowConfig(shortlist=0)
    with pytest.raises(InputError, match="holds no book"):
        borrow(spoken, tmp_path_factory.mktemp("empty"), ALONE)


def test_the_papers_cnn_scores_and_unwatched_shots_get_nothing(folder):
    film, aligner = make_film(shots=True), Aligner.load("paper")
    assert any(not moment.text for moment in film.moments)
    loans = borrow(film, folder, ALONE, aligner=aligner).loans
    assert loans
    assert all(loan.said for loan in loans)
    for loan in loans:
        row = aligner.score(film, load_book(folder / loan.book))[loan.moment]
        assert np.isclose(row, loan.score, atol=1e-4).any()
