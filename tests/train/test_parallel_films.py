"""Films made from parallel books: the places of their lines, against translations that we wrote."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from folioreel.evaluate.dataset import load_pair
from folioreel.ingest.book import load_book
from folioreel.train.positions import read_judged

PATH = Path(__file__).parents[2] / "training" / "parallel_films.py"
SPEC = importlib.util.spec_from_file_location("training_parallel_films", PATH)
films = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = films  # dataclasses look their module up
SPEC.loader.exec_module(films)

# An English paragraph and a French one; what is in quotes is spoken.
FERRY = """
“Who left the gate open?” asked the miller.|— Qui a laissé la porte ouverte ? demanda le meunier.
Nobody answered him for a long while.|Personne ne lui répondit pendant longtemps.
“The ferry has sunk in the storm,” said the boy.|— Le bac a coulé dans la tempête, dit le garçon.
“Then my brother is drowned.”|— Alors mon frère s'est noyé.
The old dog lay down beside the stove.|Le vieux chien se coucha près du poêle.
“We must send a letter to the doctor in town.”|— Il faut envoyer une lettre au médecin de la ville.
“I have neither paper nor ink in this house.”|— Je n'ai ni papier ni encre dans cette maison.
He took his hat and went out into the rain.|Il prit son chapeau et sortit sous la pluie.
“Wait, take the lantern with you!” cried his wife.|— Attends, emporte la lanterne ! cria sa femme.
“How many horses are left in the stable?”|— Combien de chevaux reste-t-il dans l'écurie ?
“Only the grey mare, and she is lame.”|— Seulement la jument grise, et elle boite.
In the morning snow covered the whole valley.|Au matin, la neige couvrait toute la vallée.
“My daughter will marry the captain in spring.”|— Ma fille épousera le capitaine au printemps.
“He has not a penny, but he is honest.”|— Il n'a pas un sou, mais il est honnête.
The church bell rang seven times.|La cloche de l'église sonna sept coups.
“Give me back the key of the cellar.”|— Rends-moi la clef de la cave.
"""
PAIRS = [line.split("|") for line in FERRY.strip().splitlines()]
OTHER = ["“The king of Spain has bought a ship full of gold.”", "“Paint the wall green, Thomas.”"]


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parallel")
    for name, languages in (
        ("ferry", {"en": [pair[0] for pair in PAIRS], "fr": [pair[1] for pair in PAIRS]}),
        ("ship", {"en": OTHER * 8, "fr": OTHER * 8}),
    ):
        (folder / name).mkdir()
        for code, paragraphs in languages.items():
            text = "\n\n".join(paragraphs) + "\n"
            (folder / name / f"{code}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def all_kept(monkeypatch):
    """Films that leave nothing out."""
    for name in ("_KEPT_SCENES", "_KEPT_LINES"):
        monkeypatch.setattr(films, name, 1.0)
    monkeypatch.setattr(films, "_SURE", 0.6)  # a book of sixteen sentences tells little


def written(out: Path, code: str = "film.srt") -> str:
    return (out / code).read_text("utf-8")


@pytest.mark.parametrize(("spoken", "in_book"), [("en", "fr"), ("fr", "en")])
def test_lines_are_where_their_translation_is(spoken, in_book, books, tmp_path, all_kept):
    films.make_pair(books / "ferry", spoken, in_book, books / "ship", tmp_path / "pair", 1.0)
    pair = load_pair(tmp_path / "pair")
    assert len(pair.judgements) == len(pair.spoken)
    lines = (tmp_path / "pair" / "book.txt").read_text("utf-8").splitlines()
    own, other = (0, 1) if spoken == "en" else (1, 0)
    found = []
    for judgement in pair.judgements:
        said = pair.spoken[judgement.line].text
        if judgement.verdict == "match":
            number = next(k for k, texts in enumerate(PAIRS) if said in texts[own])
            first, last = judgement.passages[0]
            found.append(PAIRS[number][other] in lines[first - 1 : last])
        else:
            assert any(said in text for text in OTHER)
            assert (judgement.verdict == "none") == (judgement.passages == ())
    assert len(found) >= 8
    assert np.mean(found) > 0.9
    assert "demanda" not in written(tmp_path / "pair")
    assert "asked" not in written(tmp_path / "pair")


def test_the_same_books_give_the_same_film(books, tmp_path):
    for out in (tmp_path / "a" / "pair", tmp_path / "b" / "pair"):
        films.make_pair(books / "ferry", "en", "fr", books / "ship", out)
    for name in ("film.srt", "gold.tsv", "book.txt", "film_sentences.tsv"):
        assert written(tmp_path / "a" / "pair", name) == written(tmp_path / "b" / "pair", name)


def test_the_pairs_can_be_learned_from(books, tmp_path, all_kept):
    films.make_pair(books / "ferry", "en", "fr", books / "ship", tmp_path / "pair", 1.0)
    (item,) = read_judged(tmp_path / "pair", like="across")
    assert (item.film.language, item.book.language) == ("en", "fr")
    assert item.measured.planes.any(axis=(1, 2)).all()  # cognates, too: captain and capitaine
    assert len(load_book(tmp_path / "pair" / "book.txt").sentences) == len(item.book.sentences)


def test_both_directions_in_turn():
    assert list(films._pairs(["de", "en", "fr"], 0)) == [("de", "en"), ("en", "fr"), ("de", "fr")]
    assert list(films._pairs(["en", "fr"], 1)) == [("en", "fr")]
