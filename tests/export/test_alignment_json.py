"""An alignment opened again: the same book, film, moments and links, without decoding a video."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import SENTENCES

from folioreel.alignment.aligner import Aligner
from folioreel.apps.demo import demo_folder
from folioreel.errors import InputError
from folioreel.export.alignment_json import read_alignment, write_alignment
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.types import Alignment, Film, Link, Shot, Subtitle

SRT = """1
00:00:01,000 --> 00:00:02,000
Sixty-one kilos.

2
00:00:05,500 --> 00:00:07,250
Who opened the hoarding?
"""


@pytest.fixture
def files(tmp_path):
    """A book and a film in one folder, aligned into another beside them."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "novel.txt").write_text("\n\n".join(SENTENCES), encoding="utf-8")
    (folder / "film.srt").write_text(SRT)
    book, film = load_book(folder / "novel.txt"), load_film(folder / "film.srt")
    alignment = Aligner.load().align(film, book)
    (folder / "result").mkdir()
    write_alignment(alignment, folder / "result" / "alignment.json")
    return folder, alignment


def test_it_is_the_same_again(files):
    folder, alignment = files
    for path in (folder / "result", folder / "result" / "alignment.json"):
        found = read_alignment(path)
        assert found.book == alignment.book
        assert found.film == alignment.film
        assert found.signature == json.loads(json.dumps(alignment.signature))
        for new, old in zip(found.links, alignment.links, strict=True):
            assert (new.moment, new.sentence, new.in_book) == (
                old.moment,
                old.sentence,
                old.in_book,
            )
            assert new.score == pytest.approx(old.score, abs=1e-4)
            assert new.alternatives == old.alternatives
            assert new.alternatives[0].sentence == new.sentence


def test_an_older_file_has_no_alternatives_and_those_of_another_book_are_refused(files):
    path = files[0] / "result" / "alignment.json"
    document = json.loads(path.read_text("utf-8"))
    document["links"][0]["alternatives"] = [{"sentence": 99, "score": 0.5}]
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="beyond the book"):
        read_alignment(path)
    for link in document["links"]:
        del link["alternatives"]
    path.write_text(json.dumps(document))
    assert {link.alternatives for link in read_alignment(path).links} == {()}


def test_languages_are_kept_and_may_be_missing(files):
    folder, alignment = files
    path = folder / "result" / "alignment.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["book"]["language"], document["film"]["language"]) == ("en", None)
    document["book"]["language"] = "de"
    document["film"]["language"] = "fr"
    path.write_text(json.dumps(document), encoding="utf-8")
    found = read_alignment(path)
    assert (found.book.language, found.film.language) == ("de", "fr")
    del document["book"]["language"], document["film"]["language"]  # as version 0.1 wrote it
    path.write_text(json.dumps(document), encoding="utf-8")
    assert read_alignment(path).book == alignment.book


def test_a_folder_moved_as_a_whole(files, tmp_path):
    folder, alignment = files
    moved = tmp_path / "elsewhere" / "shelf"
    shutil.move(folder, moved)
    found = read_alignment(moved / "result")
    assert found.book.sentences == alignment.book.sentences
    assert found.book.path == moved / "novel.txt"


def test_relative_paths_are_seen_from_the_alignment(files, tmp_path, monkeypatch):
    folder, _ = files
    monkeypatch.chdir(folder)
    book, film = load_book(Path("novel.txt")), load_film(Path("film.srt"))
    write_alignment(Aligner.load().align(film, book), folder / "result" / "alignment.json")
    monkeypatch.chdir(tmp_path)
    assert read_alignment(folder / "result").book.title == book.title


@pytest.mark.parametrize("what", ["book", "film"])
def test_what_is_gone_is_asked_for(files, tmp_path, what):
    folder, alignment = files
    name = {"book": "novel.txt", "film": "film.srt"}[what]
    kept = tmp_path / "kept.bin"
    shutil.move(folder / name, kept)
    with pytest.raises(InputError, match=f"--{what} FILE"):
        read_alignment(folder / "result")
    named = kept.rename(tmp_path / f"other{Path(name).suffix}")
    found = read_alignment(folder / "result", **{what: named})
    assert found.links[0].sentence == alignment.links[0].sentence
    assert getattr(found, what).path == named


@pytest.mark.parametrize("what", ["book", "film"])
def test_what_has_changed_is_refused(files, tmp_path, what):
    folder, _ = files
    name = {"book": "novel.txt", "film": "film.srt"}[what]
    changed = (folder / name).read_bytes().replace(b"hoarding", b"cupboard")
    (folder / name).write_bytes(changed)
    with pytest.raises(InputError, match="has changed since"):
        read_alignment(folder / "result")
    with pytest.raises(InputError, match="give the file that was aligned"):
        read_alignment(folder / "result", **{what: folder / name})
    with pytest.raises(InputError, match="no such file"):
        read_alignment(folder / "result", **{what: tmp_path / "nothing"})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d["film"].pop("shot_times_s"), "older folioreel"),
        (lambda d: d["links"].pop(), "align again"),
        (lambda d: d["links"].reverse(), "align again"),
        (lambda d: d["links"][0].update(sentence=10**6), "beyond the book"),
        (lambda d: d["book"].update(paragraphs=3), "3 paragraphs"),
        (lambda d: d["book"].update(path=None), "--book FILE"),
    ],
)
def test_a_file_that_does_not_fit(files, change, says):
    path = files[0] / "result" / "alignment.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=says):
        read_alignment(path)


def test_moments_at_odd_times_come_back(files, rng):
    """Cuts and lines a hair apart, overlapping and equal: times are kept to the last digit."""
    folder, alignment = files
    cuts = np.sort(rng.random(300) * 100)
    starts = np.sort(np.concatenate([rng.choice(cuts, 100) + rng.normal(0, 1e-5, 100), cuts[:50]]))
    film = Film(
        title="Film",
        duration_s=100.0,
        shots=tuple(
            Shot(index=k, start_s=float(a), end_s=float(b))
            for k, (a, b) in enumerate(pairwise(cuts))
        ),
        subtitles=tuple(
            Subtitle(index=k, start_s=float(s), end_s=float(s + rng.random()), text=f"Line {k}")
            for k, s in enumerate(np.abs(starts))
        ),
        path=folder / "film.srt",
        sha256=alignment.film.sha256,
    )
    links = tuple(Link(moment=i, sentence=0, score=0.5) for i in range(len(film.moments)))
    path = folder / "result" / "alignment.json"
    write_alignment(
        Alignment(book=alignment.book, film=film, links=links, signature=alignment.signature), path
    )
    assert read_alignment(path).film.moments == film.moments


def test_a_video_is_not_decoded(tmp_path, monkeypatch):
    demo = demo_folder()
    book, film = load_book(demo / "book.txt"), load_film(demo / "film.mp4", shots=False)
    signature = {"preset": "default", "measures": [], "package_version": "0"}
    links = tuple(Link(moment=i, sentence=i, score=0.5) for i in range(len(film.moments)))
    write_alignment(
        Alignment(book=book, film=film, links=links, signature=signature),
        tmp_path / "alignment.json",
    )
    monkeypatch.setattr("av.open", lambda *_, **__: pytest.fail("the video was opened"))
    found = read_alignment(tmp_path)
    assert found.film.moments == film.moments
    assert found.film.video == demo / "film.mp4"
