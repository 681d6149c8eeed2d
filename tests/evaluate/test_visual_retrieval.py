"""`evaluate visual`: ranks against brute force, and a made Flickr8k seen by the real models."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from made_flickr8k import write_flickr8k

from folioreel.cli import main
from folioreel.evaluate.visual import retrieval_figures
from folioreel.ingest.clip_features import picture_features
from folioreel.ingest.descriptions import read_flickr8k, read_pictures
from folioreel.models.frame_features import load_frame_features
from folioreel.models.visual_semantic import VisualSemantic

WAYS = ("image_to_sentence", "sentence_to_image")


def brute_force(scores, picture_of):
    """Everything sorted, one list after the other; among equals the right one comes last."""
    to_sentence, to_image = [], []
    for picture, row in enumerate(scores):
        order = sorted(range(len(row)), key=lambda s: (-row[s], picture_of[s] == picture))
        own = [rank for rank, s in enumerate(order, 1) if picture_of[s] == picture]
        to_sentence.append(own[0])
    for sentence, picture in enumerate(picture_of):
        column = scores[:, sentence]
        order = sorted(range(len(column)), key=lambda p: (-column[p], p == picture))
        to_image.append(order.index(picture) + 1)
    found = {}
    for way, ranks in zip(WAYS, (to_sentence, to_image), strict=True):
        found[way] = {f"r{k}": 100 * sum(r <= k for r in ranks) / len(ranks) for k in (1, 5, 10)}
        found[way]["median"] = float(np.median(ranks))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_ranks_as_by_sorting_everything(seed):
    rng = np.random.default_rng(seed)
    picture_of = np.repeat(np.arange(20), rng.integers(1, 6, 20))
    scores = rng.normal(size=(20, len(picture_of))).astype(np.float32)
    scores[picture_of, np.arange(len(picture_of))] += 1
    if seed % 2:
        scores = np.round(scores)  # many are equal
    found = retrieval_figures(scores, picture_of)
    for way, figures in brute_force(scores, picture_of).items():
        assert found[way] == pytest.approx(figures, abs=0.006), way


def test_scores_that_tell_nothing_find_nothing():
    found = retrieval_figures(np.zeros((50, 50), dtype=np.float32), np.arange(50))
    for way in WAYS:
        assert found[way] == {"r1": 0, "r5": 0, "r10": 0, "median": 50}


@pytest.fixture(scope="module")
def flickr8k(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flickr8k")
    write_flickr8k(folder)
    return folder


def run(*arguments):
    return CliRunner().invoke(main, ["evaluate", "visual", *map(str, arguments)])


def test_the_command_says_what_the_models_give(flickr8k):
    result = run("--flickr8k", flickr8k, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["pictures"], found["sentences"]) == (6, 18)
    described = read_flickr8k(flickr8k, "test")
    names = [picture.clip for picture in described]
    seen = picture_features(read_pictures(flickr8k), names, load_frame_features())
    texts = [text for picture in described for text in picture.texts]
    total = 0
    for kind in ("visual", "scene"):
        model = VisualSemantic.load(kind)
        scores = model.embed_clips(seen[kind]) @ model.embed_sentences(texts).T
        expected = brute_force(scores, np.repeat(np.arange(6), 3))
        for way in WAYS:
            assert found["each"][kind][way] == pytest.approx(expected[way], abs=0.006)
        total = total + scores
    expected = brute_force(total, np.repeat(np.arange(6), 3))
    for way in WAYS:
        assert found[way] == pytest.approx(expected[way], abs=0.006)
    assert set(found["captions"]) == {"bleu1", "bleu2", "bleu3", "bleu4"}
    assert all(0 <= value <= 100 for value in found["captions"].values())


def test_the_table_has_the_published_figures_beside_ours(flickr8k):
    result = run("--flickr8k", flickr8k, "--embedding", "visual")
    assert result.exit_code == 0, result.output
    assert "image to sentence, 6 pictures" in result.stdout
    assert "22.3" in result.stdout
    assert "visual + scene" not in result.stdout
    assert "Show and Tell" in result.stdout


def test_bad_input_is_one_line(flickr8k, tmp_path):
    for arguments, says in (
        (("--flickr8k", tmp_path), "captions.tsv: is missing; give the folder of Flickr8k"),
        (("--flickr8k", flickr8k, "--embedding", "student"), "not a visual-semantic embedding"),
        (("--flickr8k", flickr8k, "--captioner", tmp_path), "config.json is missing"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert result.stderr.startswith("folioreel: ")
        assert result.stderr.count("\n") == 1
        assert says in result.stderr
