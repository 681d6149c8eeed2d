"""The preset `paper` with pictures: a second context model for films that were watched."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_films import draw_film
from made_embedding import COLOURS, ColourEyes, ColourWords
from made_pairs import write_dataset

from folioreel.alignment import aligner as aligner_module
from folioreel.alignment.aligner import Aligner
from folioreel.errors import InputError
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.presets import load_preset
from folioreel.similarity import tensor
from folioreel.train import paper as module
from folioreel.train.chain import CHAIN_START
from folioreel.train.paper import fit_with_pictures, train_paper

SHADES = {"red": (230, 5, 5), "green": (5, 210, 5), "blue": (5, 5, 230)}
WORDS = "the old ferry lay by the river and nobody came to see what had become of it".split()


@pytest.fixture
def seen_pair(tmp_path, monkeypatch, rng):
    """Thirty shots of one colour each, and a book that names the colours in their order."""
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tensor.VisualSemantic, "load", ColourWords)
    for place in (module, aligner_module):
        monkeypatch.setattr(place, "load_frame_features", lambda name: ColourEyes())
    folder = tmp_path / "seen"
    folder.mkdir()
    order = [COLOURS[k % 3] for k in range(30)]
    pictures = [np.full((48, 64, 3), SHADES[c], np.uint8) for c in order for _ in range(15)]
    draw_film(folder / "film.mp4", pictures)
    lines, rows = [], ["time_s\tline\tkind"]
    for shot, colour in enumerate(order):
        rows.append(f"{shot * 0.6 + 0.3:.2f}\t{len(lines) + 3}\tvisual")
        filler = " ".join(rng.permutation(WORDS))
        lines += [f"{filler.capitalize()}.", "", f"All of it was {colour}.", ""]
    (folder / "book.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "annotations.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_judged_silent_shots_are_learned_from(seen_pair, tmp_path):
    """The same judgements, the second half of them as a table of shots."""
    dataset = write_dataset(tmp_path / "judged")
    table = (seen_pair / "annotations.tsv").read_text(encoding="utf-8").splitlines()
    times = [(float(row.split("\t")[0]), row.split("\t")[1]) for row in table[1:]]
    shots = ["start_s\tend_s\tverdict\tline_from\tline_to"]
    shots += [f"{at - 0.2}\t{at + 0.2}\tmatch\t{line}\t{line}" for at, line in times[15:]]
    before = fit_with_pictures(dataset / "ferry", seen_pair, CHAIN_START)
    (seen_pair / "annotations.tsv").write_text("\n".join(table[:16]), encoding="utf-8")
    (seen_pair / "shots.tsv").write_text("\n".join(shots), encoding="utf-8")
    after = fit_with_pictures(dataset / "ferry", seen_pair, CHAIN_START)
    assert after.training["matches"] == before.training["matches"] > 30
    assert after.graph == before.graph  # one and the same network


def test_a_pair_without_a_video_is_refused_before_the_work(tmp_path, monkeypatch):
    dataset = write_dataset(tmp_path / "judged")
    monkeypatch.setattr("folioreel.train.paper.fit_paper", lambda *_: pytest.fail("has begun"))
    with pytest.raises(InputError, match="has no video to learn from") as error:
        train_paper(dataset / "ferry", tmp_path / "preset", pictures=dataset / "garden")
    assert error.value.path == dataset / "garden"
    assert not (tmp_path / "preset").exists()


@pytest.mark.slow
def test_a_second_model_for_films_that_were_watched(seen_pair, tmp_path):
    dataset = write_dataset(tmp_path / "judged")
    plain = train_paper(dataset / "ferry", tmp_path / "plain")
    config = train_paper(dataset / "ferry", tmp_path / "preset", pictures=seen_pair)
    folder = (tmp_path / "preset").resolve()
    assert config == load_preset(str(folder))
    assert config.context_pictures == str(folder / "context-pictures")
    assert (plain.context_pictures, plain.chain) == (None, config.chain)
    book = load_book(seen_pair / "book.txt")
    film = load_film(seen_pair / "film.mp4", subtitles="none", encoder=ColourEyes())
    watched = Aligner.load(str(folder)).align(film, book)
    assert watched.signature["measures"][-2:] == ["visual", "scene"]
    # Sentences that name a shot's colour are likelier than those that name another.
    scores = Aligner(config.with_pictures()).score(film, book)
    assert len(film.moments) == 30
    own, other = [], []
    for j, sentence in enumerate(book.sentences):
        for k, colour in enumerate(COLOURS):
            if "All of it was" in sentence.text:
                (own if colour in sentence.text else other).extend(scores[k::3, j])
    assert np.mean(own) > np.mean(other) + 1
    # A film that was not watched gets the very numbers of the preset without pictures.
    blind = replace(film, features=None)
    assert (
        Aligner.load(str(folder)).align(blind, book).links
        == Aligner.load(str(tmp_path / "plain")).align(blind, book).links
    )
