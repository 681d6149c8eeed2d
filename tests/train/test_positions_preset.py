"""The preset `default` learned from two small judged pairs, and judged on the other one."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from conftest import make_book, make_film
from made_pairs import write_dataset, write_pair

from folioreel import Aligner
from folioreel.alignment.positions import film_times
from folioreel.alignment.score import score_cells
from folioreel.config import SEMANTIC, STEPS, CalibrationConfig
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.evaluate.dataset import Pair, load_pair
from folioreel.evaluate.judged_tables import Judgement, SpokenLine
from folioreel.evaluate.report import make_rows
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.presets import load_preset
from folioreel.similarity.tensor import SimilarityRows
from folioreel.train import positions as module
from folioreel.train.judged import fixed_moments
from folioreel.train.position_fit import FitConfig, MeasuredFilm, _film_gradient, fit_positions
from folioreel.train.positions import (
    START,
    STARTS,
    align_measured,
    fit_preset,
    leave_one_out,
    read_judged,
    train_positions,
)

FEW = FitConfig(iterations=4)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="module")
def judged(dataset):
    return read_judged(dataset)


def made_pair(film, *judgements) -> Pair:
    spoken = tuple(
        SpokenLine(index=k, start_s=s.start_s, end_s=s.end_s, text=s.text)
        for k, s in enumerate(film.subtitles)
    )
    return Pair(
        name="made", folder=None, spoken=spoken, judgements=judgements, paragraph_lines=(1,)
    )


def judgement(line, verdict, *passages, times_s=None) -> Judgement:
    return Judgement(line=line, verdict=verdict, how="-", passages=passages, times_s=times_s)


def test_what_the_judges_say_of_moments(film, book):
    """Sentence k of the small book is on line 2 k + 1; moments 0, 1, 3, 4, 5 of the film speak."""
    assert [moment.text != "" for moment in film.moments] == [True, True, False, True, True, True]
    pair = made_pair(
        film,
        judgement(0, "match", (4, 7), (17, 17)),
        judgement(1, "none"),
        judgement(3, "scene", (1, 1)),
        judgement(4, "match", (2, 2)),  # no sentence is there
    )
    found = fixed_moments(pair, film, book)
    assert sorted(found) == [0, 1, 4]
    assert np.flatnonzero(found[0].sentences).tolist() == [2, 3, 8]
    assert found[0].rendered is True
    assert (found[1].sentences, found[1].rendered) == (None, False)
    assert np.flatnonzero(found[4].sentences).tolist() == list(range(7))  # and six after it
    assert found[4].rendered is None


def test_lines_that_no_moment_shares_are_left_out(film, book):
    said = SpokenLine(index=0, start_s=500.0, end_s=501.0, text="Late.")
    pair = Pair(
        name="made",
        folder=None,
        spoken=(said,),
        judgements=(judgement(0, "match", (1, 1)),),
        paragraph_lines=(1,),
    )
    assert fixed_moments(pair, film, book) == {}


def test_an_annotated_time_is_that_of_the_nearest_moment(film, book):
    """The paper's annotators give a time and no length."""
    pair = made_pair(
        film,
        judgement(2, "match", (9, 9), times_s=(9.5, 9.5)),
        judgement(3, "match", (17, 17), times_s=(14.9, 14.9)),
    )
    found = fixed_moments(pair, film, book)
    assert {moment: known.rendered for moment, known in found.items()} == {3: True, 4: True}
    assert np.flatnonzero(found[3].sentences).tolist() == [4]


def test_a_match_where_nobody_speaks_gives_a_place_alone(film, book):
    pair = made_pair(film, judgement(1, "match", (3, 3), times_s=(6.0, 7.0)))
    found = fixed_moments(pair, film, book)
    assert found[2].rendered is None
    assert np.flatnonzero(found[2].sentences).tolist() == [1]


def test_a_book_without_lines_is_refused(film):
    book = make_book()
    bare = tuple(replace(s, line=None, line_end=None) for s in book.sentences)
    with pytest.raises(InputError, match="plain-text book"):
        fixed_moments(
            made_pair(film, judgement(0, "match", (1, 1))), film, replace(book, sentences=bare)
        )


def test_the_pairs_are_measured_once(judged):
    assert [item.pair.name for item in judged] == ["ferry", "garden"]
    for item in judged:
        moments, sentences = len(item.film.moments), len(item.book.sentences)
        assert item.measured.planes.shape == (len(START.measures), moments, sentences)
        # As the aligner itself scores the cells.
        scores = score_cells(SimilarityRows(item.film, item.book, START), START)
        assert item.measured.scores(START) == pytest.approx(scores, abs=1e-4)
        assert len(item.measured.fixed) == len(item.pair.judgements)
    assert judged[0].measured.planes.any(axis=(1, 2)).all()


def test_pairs_are_read_with_another_encoder(judged, dataset):
    others = read_judged(dataset, encoder="uni-skip")
    config = replace(START, semantic_encoder="uni-skip")
    assert [item.start for item in (judged[0], others[0])] == [START, config]
    rows = SimilarityRows(others[0].film, others[0].book, config)
    expected = np.moveaxis(rows.block(0, rows.shape[0]).values, -1, 0)
    assert others[0].measured.planes == pytest.approx(expected, abs=1e-4)
    changed = [
        name
        for k, name in enumerate(START.measures)
        if not np.allclose(judged[0].measured.planes[k], expected[k], atol=1e-3)
    ]
    assert changed == [name for name in START.measures if name in SEMANTIC]
    assert {"semantic", "semantic_in_film", "window", "window_in_book"} <= set(changed)
    assert fit_preset(others, FEW).semantic_encoder == "uni-skip"
    with pytest.raises(ValueError, match="one encoder"):
        fit_preset([judged[0], others[1]], FEW)


@pytest.mark.parametrize("like", STARTS)
def test_presets_of_every_kind_are_fitted(like, judged, dataset, tmp_path):
    out = tmp_path / "preset"
    report = train_positions([dataset, dataset / "ferry"], out, FEW, like=like, without=["garden"])
    assert report["pairs"] == ["ferry", "ferry"]
    fitted, shipped = load_preset(out), load_preset(like)
    # What ships was fitted in the same way.
    assert fitted.measures == shipped.measures == STARTS[like].measures
    for name in ("semantic_encoder", "whitened", "pictures", "in_book_from"):
        assert getattr(fitted, name) == getattr(shipped, name)
    card = (out / "README.md").read_text("utf-8")
    assert ("sentence encoder" in card) == fitted.compares_meaning


def test_what_cannot_be_read_is_refused_at_once(dataset, tmp_path):
    with pytest.raises(ConfigError, match="no pair 'forest' to leave out"):
        read_judged(dataset, without=["forest"])
    with pytest.raises(ConfigError, match="keep at least one"):
        read_judged(dataset, without=["ferry", "garden"])
    with pytest.raises(ConfigError, match="words compares no sentence vectors"):
        read_judged(dataset, like="words", encoder="student")


def test_cognates_within_a_language_teach_nothing(dataset):
    """The pairs are in English, in which any two words that look alike are mostly the same."""
    (item, _) = read_judged(dataset, like="across")
    planes = dict(zip(item.start.measures, item.measured.planes, strict=True))
    assert item.film.language == item.book.language == "en"
    for name, plane in planes.items():
        assert plane.any() != name.startswith("cognates"), name


def test_films_of_several_blocks_are_measured_whole(judged, monkeypatch):
    monkeypatch.setattr(SimilarityRows.blocks, "__defaults__", (3, 0))
    item = judged[0]
    found = module._measure_all(SimilarityRows(item.film, item.book, START))
    assert found.flags.c_contiguous
    assert found == pytest.approx(item.measured.planes, abs=1e-5)


def test_measured_pairs_are_aligned_as_others_are(judged):
    item = judged[0]
    found = align_measured(item, START)
    expected = Aligner(START).align(item.film, item.book)
    assert [link.sentence for link in found.links] == [link.sentence for link in expected.links]
    for one, other in zip(found.links, expected.links, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
    assert found.signature["config"] == expected.signature["config"]


def test_a_preset_is_likelier_than_its_start(judged):
    fitted = fit_preset(judged, FEW)
    before, after = (
        sum(_film_gradient(item.measured, config)[0] for item in judged)
        for config in (START, fitted)
    )
    assert after > before
    assert fitted.measures == START.measures
    assert fitted.calibration != CalibrationConfig()
    assert sum(getattr(fitted.steps, name) for name in STEPS) == pytest.approx(1)


def test_training_writes_a_preset(dataset, tmp_path):
    out = tmp_path / "preset"
    stages = []
    report = train_positions(dataset, out, FEW, lambda progress: stages.append(progress.stage))
    assert report["pairs"] == ["ferry", "garden"]
    assert report["judged_lines"] == 24
    json.dumps(report)
    assert {"measuring", "fitting"} <= set(stages)
    aligner = Aligner.load(str(out))
    assert aligner.config.weights == pytest.approx(report["config"]["weights"])
    card = (out / "README.md").read_text()
    assert "24 judged lines of 2 pairs: ferry, garden" in card
    for name in (*START.measures, *STEPS, "elsewhere"):
        assert f"| {name} |" in card
    pair = load_pair(dataset / "ferry")
    film, book = load_film(pair.film), load_book(pair.book)
    links = aligner.align(film, book).links
    matches = {j.line: j.passages[0][0] for j in pair.judgements if j.verdict == "match"}
    near = [abs(book.sentences[links[i].sentence].line - line) <= 4 for i, line in matches.items()]
    assert np.mean(near) > 0.8
    # The same command again replaces a preset, and nothing else.
    train_positions(dataset, out, FitConfig(iterations=1))
    assert load_preset(str(out)) != aligner.config


def test_nothing_else_is_replaced_and_nothing_is_read_before(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "read_judged", lambda *_, **__: pytest.fail("read first"))
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "paper"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text("mine")
        with pytest.raises(ModelFolderError):
            train_positions(dataset, (tmp_path / name).relative_to(tmp_path), FEW)
        assert [path.name for path in (tmp_path / name).iterdir()] == ["notes.txt"]
    with pytest.raises(InputError, match="is a file"):
        train_positions(dataset, tmp_path / "mine" / "notes.txt", FEW)


def test_each_pair_is_judged_by_what_the_others_taught(judged, monkeypatch):
    taught = []

    def recording(others, config=None, *more):
        taught.append([item.pair.name for item in others])
        return fit_preset(others, config, *more)

    monkeypatch.setattr(module, "fit_preset", recording)
    rows = make_rows(leave_one_out(judged, FEW))
    assert taught == [["garden"], ["ferry"]]
    assert [row["pair"] for row in rows] == ["ferry", "garden", "mean"]
    for row, others in zip(rows, (judged[1:], judged[:1]), strict=False):
        expected = fit_preset(others, FEW)
        assert row["signature"]["config"]["weights"] == pytest.approx(expected.weights)
    assert rows[2]["near"] == pytest.approx((rows[0]["near"] + rows[1]["near"]) / 2, abs=0.01)
    assert rows[2]["match"] == rows[0]["match"] + rows[1]["match"] == 18
    json.dumps(rows)


def test_three_pairs_teach_in_twos(judged, tmp_path, monkeypatch):
    third = read_judged(write_pair(tmp_path / "third", seed=5))[0]
    taught = []
    monkeypatch.setattr(
        module,
        "fit_preset",
        lambda others, *_: taught.append([item.pair.name for item in others]) or START,
    )
    rows = make_rows(leave_one_out([*judged, third]))
    assert taught == [["garden", "third"], ["ferry", "third"], ["ferry", "garden"]]
    assert len(rows) == 4


def test_films_of_one_book_do_not_teach_each_other(judged, tmp_path, monkeypatch):
    """`remake` has ferry's book, byte for byte, in a folder of its own."""
    folder = shutil.copytree(judged[0].pair.folder, tmp_path / "remake")
    remake = read_judged(folder)[0]
    taught = []
    monkeypatch.setattr(
        module,
        "fit_preset",
        lambda others, *_: taught.append([item.pair.name for item in others]) or START,
    )
    rows = make_rows(leave_one_out([*judged, remake]))
    assert taught == [["garden"], ["ferry", "remake"], ["garden"]]
    assert [row["pair"] for row in rows] == ["ferry", "garden", "remake", "mean"]
    with pytest.raises(InputError, match="all pairs have the same book"):
        leave_one_out([judged[0], remake])


def test_a_film_with_shots_can_be_learned_from(judged):
    """Silent moments have no score, judged or not."""
    film, book = make_film(), make_book()
    pair = made_pair(film, judgement(1, "match", (3, 3), times_s=(6.0, 7.0)))
    rows = SimilarityRows(film, book, START)
    measured = MeasuredFilm(
        planes=np.moveaxis(rows.block(0, rows.shape[0]).values, -1, 0),
        silent=np.array([moment.text == "" for moment in film.moments]),
        times=film_times(film),
        fixed=fixed_moments(pair, film, book),
    )
    assert np.isfinite(_film_gradient(measured, START)[0])
    fitted = fit_positions([judged[0].measured, measured], START, FitConfig(iterations=2))
    assert np.isfinite(list(fitted.weights.values())).all()


def test_judged_silent_shots_do_not_calibrate_dialogue(judged):
    """Nothing is said in them, so the logits of their links are infinite."""
    item = judged[0]
    spoken = module._judged_evidence(item, item.start)
    silent = item.measured.silent.copy()
    silent[:3] = True
    quiet = replace(item, measured=replace(item.measured, silent=silent))
    known, right = module._judged_evidence(quiet, item.start)
    assert np.isfinite(known).all()
    assert len(known) == len(right) == len(spoken[0]) - 3
