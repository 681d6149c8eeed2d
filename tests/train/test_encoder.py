"""`train encoder`: lessons from alignments, runs that are stopped, and what is refused."""

import json

import numpy as np
import pytest
from command_line import assert_one_line, run
from made_adaptations import write_adaptation, write_novel
from made_pairs import SENTENCES, write_dataset, write_pair
from made_transformer import write_transformer

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.positions import film_times, follow_book
from folioreel.errors import ConfigError
from folioreel.models.sentence_encoder import load_encoder
from folioreel.train.encoder import TrainEncoderConfig, train_encoder
from folioreel.train.lessons import align_lesson, find_films_and_books, read_pair

JUDGEMENTS = ("gold.tsv", "film_sentences.tsv")


@pytest.fixture
def pairs(tmp_path):
    """A judged pair and one that nobody judged."""
    folder = write_dataset(tmp_path / "pairs")
    for name in JUDGEMENTS:
        (folder / "garden" / name).unlink()
    return folder


@pytest.fixture
def start(tmp_path):
    return write_transformer(tmp_path / "start")


def settings(start, **changes):
    return TrainEncoderConfig(
        **{"encoder": str(start), "steps": 4, "batch": 2, "rate": 1e-3, "device": "cpu", **changes}
    )


def graph(out):
    return (out / "encoder" / "model.onnx").read_bytes()


def test_lessons_of_pairs(pairs):
    judged, unjudged = map(read_pair, find_films_and_books(pairs))
    aligner = Aligner.load("default")
    lesson = align_lesson(judged, aligner)
    assert lesson.name == "ferry"
    assert len(lesson.sentences) == SENTENCES
    assert [k for k, new in enumerate(lesson.new) if new] == [3, 7, 9]
    assert lesson.targets[3] == lesson.targets[9] == ()
    for one in judged.judged:
        assert [place for place, _ in lesson.targets[one.moment]] == list(one.sentences)
    lesson = align_lesson(unjudged, aligner)
    assert not any(lesson.new)
    scores = aligner.score(unjudged.film, unjudged.book)
    found = follow_book(scores, film_times(unjudged.film), aligner.config.steps).rendered
    for row, targets in zip(found, lesson.targets, strict=True):
        assert [place for place, _ in targets] == list(np.flatnonzero(row > 0.02))
        assert [share for _, share in targets] == pytest.approx(row[row > 0.02], abs=1e-4)
    assert sum(bool(targets) for targets in lesson.targets) >= 9, "nine lines quote the book"


def test_a_run_ends_with_an_encoder_that_runs(pairs, start, tmp_path):
    out = tmp_path / "run"
    report = train_encoder(pairs, out, settings(start, rounds=2))
    assert json.loads(json.dumps(report)) == json.loads((out / "report.json").read_text())
    assert [row["steps"] for row in report["rounds"]] == [4, 4]
    assert report["pairs"] == ["ferry", "garden"]
    assert report["judged_lines"] == 12
    old, new = load_encoder(str(start)), load_encoder(str(out / "encoder"))
    text = ["Martha hid the lantern from the cellar."]
    assert np.isfinite(new.encode(text)).all()
    assert not np.array_equal(old.encode(text), new.encode(text))
    before = graph(out)
    assert train_encoder(pairs, out, settings(start, rounds=2)) == report, "nothing was left to do"
    assert graph(out) == before


def test_rounds_can_be_added_but_not_taken_back(pairs, start, tmp_path):
    both, one_by_one = tmp_path / "both", tmp_path / "one-by-one"
    train_encoder(pairs, both, settings(start, rounds=2))
    first = train_encoder(pairs, one_by_one, settings(start))
    assert graph(one_by_one) != graph(both)
    second = train_encoder(pairs, one_by_one, settings(start, rounds=2))
    assert graph(one_by_one) == graph(both)
    assert second["rounds"][0] == first["rounds"][0], "what the first round measured stays"
    with pytest.raises(ConfigError, match="round-2 already"):
        train_encoder(pairs, both, settings(start))


class Stopped(Exception):
    pass


def test_a_killed_run_ends_with_the_same_weights(pairs, start, tmp_path, monkeypatch):
    monkeypatch.setattr("folioreel.train.loop.Training.checkpoint_every_s", 0.0)
    chosen = settings(start, steps=6, rounds=2)
    train_encoder(pairs, tmp_path / "whole", chosen)
    seen = []

    def stop(progress):
        seen.append(progress)
        trained = [one for one in seen if one.stage == "training" and one.done]
        if len(trained) in (3, 9) and progress.stage == "training":
            raise Stopped

    out = tmp_path / "stopped"
    for _ in range(2):
        with pytest.raises(Stopped):
            train_encoder(pairs, out, chosen, stop)
    train_encoder(pairs, out, chosen)
    assert graph(out) == graph(tmp_path / "whole")


def test_written_adaptations(pairs, start, tmp_path):
    sentences = write_novel(tmp_path / "novels" / "77.txt")
    write_adaptation(tmp_path / "written" / "77-1.tsv", sentences)
    write_adaptation(tmp_path / "written" / "77-2.tsv", sentences, end="; kept for testing")
    write_adaptation(tmp_path / "written" / "78-1.tsv", sentences, number=78)
    result = run(
        *("train", "encoder", pairs, "--out", tmp_path / "run", "--encoder", start),
        *("--steps", 2, "--batch", 2, "--device", "cpu"),
        *("--written", tmp_path / "written", "--novels", tmp_path / "novels"),
    )
    assert result.exit_code == 0, result.output
    assert "steps done" in result.stdout
    assert "recall@10 on novels kept for testing" in result.stdout
    assert "passages skipped" in result.stderr
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["written"] == {"passages": 1, "lines": 3, "kept": 1, "absent": 1, "changed": 0}


def command(pairs, start, out, *more):
    return run(
        *("train", "encoder", pairs, "--out", out, "--encoder", start, "--device", "cpu"),
        *("--steps", 2, "--batch", 2, *more),
    )


def test_errors_are_one_line(pairs, start, tmp_path):
    out = tmp_path / "run"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert_one_line(command(empty, start, out), "holds no pair of a film and a book")
    assert_one_line(command(tmp_path / "nowhere", start, out), "is not a folder")
    assert_one_line(command(pairs, "student", out), "no encoder that can be trained here")
    assert_one_line(command(pairs, start, out, "--preset", "paper"), "gives no posteriors")
    assert_one_line(command(pairs, start, out, "--written", empty), "both --written and --novels")
    assert_one_line(command(pairs, start, out, "--round", 0), "rounds must be at least 1")
    assert_one_line(command(pairs, start, pairs), "is not empty and no training run")
    (start / "model.onnx").write_bytes(b"no graph")
    assert_one_line(command(pairs, start, out), "damaged")
    assert not (out / "encoder").exists()


def test_a_run_is_continued_with_its_own_settings_and_data_alone(pairs, start, tmp_path):
    out = tmp_path / "run"
    assert command(pairs, start, out).exit_code == 0
    before = graph(out)
    assert_one_line(command(pairs, start, out, "--rate", 0.5), "learning_rate: 2e-05 there")
    write_pair(pairs / "third", seed=3)
    assert_one_line(command(pairs, start, out), "other pairs")
    assert_one_line(command(pairs, out, tmp_path / "next"), f"give {out / 'encoder'}")
    assert graph(out) == before
    assert command(pairs, out / "encoder", tmp_path / "next").exit_code == 0
