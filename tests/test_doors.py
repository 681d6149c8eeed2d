"""One pair, one alignment: a watched film gives the same links through every door."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import SENTENCES
from drawn_films import DrawnTrack, draw_film, shots_of

import folioreel
from folioreel.apps import demo
from folioreel.cli import main
from folioreel.export.alignment_json import FILE_NAME
from folioreel.models.folders import builtin_folder
from folioreel.models.sentence_encoder import load_encoder
from folioreel.viewer.judgements import judgements_folder
from folioreel.viewer.session import Session

CUES = [
    (200, 1400, "Sixty-one kilos."),
    (4200, 5400, "Did you hear the band in the malt-house?"),
    (8200, 9600, "Who opened the hoarding?"),
]
GOLD = "id\tverdict\thow\tline_from\tline_to\talternates\tnote\n0\tmatch\tverbatim\t5\t5\t-\t-\n"


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Path:
    """A book and a film of six shots, three of them silent, as a judged pair."""
    folder = tmp_path_factory.mktemp("doors") / "pair"
    folder.mkdir()
    (folder / "book.txt").write_text("\n\n".join(SENTENCES), encoding="utf-8")
    draw_film(
        folder / "film.mp4", shots_of([50] * 6), tracks=[DrawnTrack(cues=CUES, codec="mov_text")]
    )
    rows = [f"{k}\t{a / 1000}\t{b / 1000}\t{text}" for k, (a, b, text) in enumerate(CUES)]
    (folder / "film_sentences.tsv").write_text("\n".join(["id\tstart_s\tend_s\ttext", *rows]))
    (folder / "gold.tsv").write_text(GOLD)
    return folder


@pytest.fixture(scope="module")
def alignment(pair):
    return folioreel.align(pair / "book.txt", pair / "film.mp4")


def run(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result


def test_the_film_is_watched(alignment):
    assert alignment.signature["pictures"] is True
    assert alignment.film.features is not None
    assert [moment.kind for moment in alignment.film.moments].count("visual") == 3


def test_loaded_objects(pair, alignment):
    book, film = folioreel.load_book(pair / "book.txt"), folioreel.load_film(pair / "film.mp4")
    assert film.features is None
    assert folioreel.align(book, film).links == alignment.links
    assert folioreel.align(book, alignment.film).links == alignment.links


def test_without_pictures_a_loaded_film_is_as_a_path(pair, alignment):
    book = folioreel.load_book(pair / "book.txt")
    for options in ({"pictures": False}, {"shots": False}):
        by_path = folioreel.align(book, pair / "film.mp4", **options)
        by_object = folioreel.align(book, alignment.film, **options)
        assert by_object.links == by_path.links
        assert by_object.signature == by_path.signature
        assert by_path.signature["pictures"] is False


def test_align(pair, alignment, tmp_path):
    run("align", pair / "book.txt", pair / "film.mp4", "--out", tmp_path / "out")
    alignment.save(tmp_path / "saved")
    names = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "out").iterdir())
    for name in names:
        written = (tmp_path / "out" / name).read_bytes()
        assert written == (tmp_path / "saved" / name).read_bytes(), name


def test_align_many(pair, alignment, tmp_path):
    (tmp_path / "pairs.csv").write_text(f"book,film\n{pair / 'book.txt'},{pair / 'film.mp4'}\n")
    run("align-many", tmp_path / "pairs.csv", "--out", tmp_path / "out")
    alignment.save(tmp_path / "saved")
    written = (tmp_path / "out" / "film" / FILE_NAME).read_bytes()
    assert written == (tmp_path / "saved" / FILE_NAME).read_bytes()


def test_evaluate(pair, alignment):
    row = json.loads(run("evaluate", pair, "--json").stdout)[0]
    assert row["signature"] == json.loads(json.dumps(alignment.signature))


def test_demo(pair, alignment, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "demo_folder", lambda: pair)
    assert demo.run_demo(tmp_path / "out").alignment.links == alignment.links


def test_view_solves_it_again(pair, alignment, tmp_path):
    shutil.copytree(pair, tmp_path / "pair")
    alignment.save(tmp_path / "pair" / "result")
    path = tmp_path / "pair" / "result" / FILE_NAME
    complaints = []
    session = Session(folioreel.Alignment.load(path), judgements_folder(path))
    session.prepare(complaints.append)
    session.judge(0, {"moment": 1, "verdict": "none", "sentence": None})
    session.undo(1)
    session.close()
    assert complaints == []
    # What changed is what the page is told; scores have four digits in the file.
    for new, old in zip(session.payload([], {})["links"], alignment.links, strict=True):
        assert (new["sentence"], new["in_book"]) == (old.sentence, old.in_book)
        assert new["score"] == pytest.approx(old.score, abs=0.0021)


def test_an_encoder_is_a_name_a_folder_or_an_object(pair, alignment):
    name = "paraphrase"  # the encoder of the preset
    folder = builtin_folder(name)
    for encoder, recorded in (
        (name, name),
        (folder, str(folder)),
        (load_encoder(name), f"{name} (an object)"),
    ):
        found = folioreel.align(pair / "book.txt", alignment.film, encoder=encoder)
        assert found.links == alignment.links
        assert found.signature["options"]["encoder"] == recorded


def test_any_object_that_encodes_will_do(pair, alignment):
    class Lengths:
        def encode(self, texts):
            return np.array([[len(text), 1.0] for text in texts])

    found = folioreel.align(pair / "book.txt", alignment.film, encoder=Lengths())
    assert found.links != alignment.links
    assert found.signature["options"]["encoder"] == "Lengths (an object)"


def test_vectors_that_are_not_finite_are_refused(pair, alignment):
    class Broken:
        def encode(self, texts):
            return np.full((len(texts), 2), np.nan)

    with pytest.raises(folioreel.ConfigError, match="not finite"):
        folioreel.align(pair / "book.txt", alignment.film, encoder=Broken())


def test_a_film_where_the_book_should_be_is_told(pair, alignment):
    with pytest.raises(TypeError, match="the book comes first"):
        folioreel.align(alignment.film, alignment.book)


def test_notes_are_shown_before_an_alignment_fails(pair, tmp_path):
    book = "CONTENTS\n\nChapter 1 .... 1\n\nCHAPTER 1\n\n" + "\n\n".join(SENTENCES)
    (tmp_path / "book.txt").write_text(book, encoding="utf-8")
    srt = "1\n00:00:01,000 --> 00:00:02,000\n[wind]\n"
    (tmp_path / "film.srt").write_text(srt, encoding="utf-8")
    result = CliRunner().invoke(main, ["align", *map(str, sorted(tmp_path.iterdir()))])
    assert result.exit_code == 1
    note, error = result.stderr.splitlines()
    assert note.startswith("book.txt: skipped as front or back matter")
    assert "film.srt" in error
