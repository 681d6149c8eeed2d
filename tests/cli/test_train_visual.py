"""`train visual` and `train caption` on drawn pictures and clips: stopped, taken up, refused."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import assert_one_line
from drawn_films import draw_film, scene
from made_flickr8k import COLOURS, write_flickr8k

from folioreel.apps.caption import caption_pictures
from folioreel.cli import main
from folioreel.models.captioner import caption_tokens
from folioreel.models.frame_features import load_frame_features
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.models.vocabulary import UNKNOWN

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def flickr8k(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flickr8k")
    write_flickr8k(folder, train=12)
    return folder


def train(what, data, out, *more):
    command = ["train", what, data, "--out", out, "--device", "cpu", *more]
    return CliRunner().invoke(main, [str(part) for part in command])


def see(colour):
    picture = np.full((1, 224, 224, 3), COLOURS[colour], dtype=np.uint8)
    return load_frame_features().encode(picture)


def test_an_embedding_learns_the_colours(flickr8k, tmp_path):
    out = tmp_path / "run"
    result = train("visual", flickr8k, out, "--reader", "lstm", "--epochs", 8, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report == json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert (report["data"]["clips"], report["data"]["held_out_clips"], report["epoch"]) == (
        12,
        4,
        8,
    )
    assert report["training"]["batch"] == 12
    model = VisualSemantic.load(out / "embedding")
    assert "sentences: 36" in model.sentences.card
    texts = model.embed_sentences(["A red wall.", "A blue lake."])
    for row, colour in enumerate(("red", "blue")):
        found = model.embed_clips(see(colour)["visual"]) @ texts.T
        assert found[0].argmax() == row


def test_a_run_in_two_parts_ends_as_one(flickr8k, tmp_path):
    settings = ("--features", "scene", "--reader", "lstm", "--epochs", 3)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train("visual", flickr8k, whole, *settings).exit_code == 0
    first = train("visual", flickr8k, parts, *settings, "--minutes", 1e-9)
    assert "not finished; run the same command again to continue" in first.stdout
    assert json.loads((parts / "report.json").read_text(encoding="utf-8"))["epoch"] == 1
    assert train("visual", flickr8k, parts, *settings).exit_code == 0
    (one, other) = (VisualSemantic.load(folder / "embedding") for folder in (whole, parts))
    assert one.features == "scene"
    assert one.fingerprint == other.fingerprint
    assert np.array_equal(one.clips[0].weight, other.clips[0].weight)


def test_the_papers_settings(flickr8k, tmp_path):
    result = train("visual", flickr8k, tmp_path / "run", "--paper", "--epochs", 1, "--json")
    settings = json.loads(result.stdout)["training"]
    assert (settings["optimizer"], settings["contrast"]) == ("sgd", "all")
    assert (settings["model"]["reader"], settings["epochs"]) == ("lstm", 1)


def test_the_paper_has_no_attention(flickr8k, tmp_path):
    refused = train("visual", flickr8k, tmp_path / "run", "--paper", "--reader", "attention")
    assert_one_line(refused, "the paper's settings have an LSTM")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, 512), ({"paper": True}, 128), ({"paper": True, "batch": 64}, 64), ({"batch": 7}, 7)],
)
def test_the_paper_has_a_batch_of_its_own(given, expected):
    from folioreel.train.clips import TrainVisualConfig, visual_config
    from folioreel.train.visual_training import DescribedClips

    features = torch.ones(1000, 3)
    ids = torch.full((1000, 2), UNKNOWN)
    clips = DescribedClips(features=features, ids=ids, clip_of=torch.arange(1000))
    assert visual_config(TrainVisualConfig(**given), clips, 10).batch == expected


def test_a_captioner_learns_the_colours_and_is_taken_up(flickr8k, tmp_path):
    out = tmp_path / "run"
    settings = ("--epochs", 25, "--batch", 4)
    first = train("caption", flickr8k, out, *settings, "--minutes", 1e-9)
    assert first.exit_code == 0, first.output
    assert "not finished" in first.stdout
    result = train("caption", flickr8k, out, *settings, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["epoch"] == 25
    pictures = [flickr8k / "images" / f"test{number}.png" for number in range(4)]
    found = caption_pictures(pictures, captioner=out / "captioner")
    for number, (caption,) in enumerate(found):
        assert ("red", "blue")[number % 2] in caption_tokens(caption.text)


def write_clips(folder, count=10):
    rows = []
    (folder / "film").mkdir(parents=True)
    for number in range(count):
        draw_film(folder / "film" / f"clip.{number}.mp4", [scene(number % 2)] * 10)
        rows.append(f"clip.{number}\t00:01\tScene {'one two'.split()[number % 2]}.\n")
    (folder / "table.tsv").write_text("".join(rows), encoding="utf-8")
    return folder / "table.tsv"


def test_a_table_of_clips(tmp_path):
    table = write_clips(tmp_path / "clips")
    out = tmp_path / "run"
    result = train("visual", table, out, "--reader", "lstm", "--epochs", 1, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)["data"]
    assert (data["clips"], data["sentences"], data["held_out_clips"]) == (9, 9, 1)
    (tmp_path / "clips" / "film" / "clip.3.mp4").unlink()
    assert_one_line(train("visual", table, out), "names the clip clip.3", "(1 missing)")


def test_what_cannot_be_trained_is_one_line(flickr8k, tmp_path):
    few = tmp_path / "few.tsv"
    few.write_text("a\tA dog.\n", encoding="utf-8")
    assert_one_line(train("visual", few, tmp_path / "a"), "names 1 clips; at least 10 are needed")
    assert_one_line(train("visual", tmp_path, tmp_path / "b"), "has no captions.tsv")
    assert_one_line(train("caption", tmp_path / "none", tmp_path / "c"), "none: no such file")
    assert_one_line(
        train("visual", flickr8k, tmp_path / "d", "--minutes", 0), "minutes must be above 0"
    )
    assert_one_line(train("visual", flickr8k, tmp_path / "e", "--frame-features", "eyes"), "eyes")
    full = tmp_path / "full"
    full.mkdir()
    (full / "novel.txt").write_text("mine", encoding="utf-8")
    assert_one_line(train("caption", flickr8k, full), "is not empty and no training run")
    assert [path.name for path in full.iterdir()] == ["novel.txt"]


def test_other_data_or_settings_are_refused(flickr8k, tmp_path):
    out = tmp_path / "run"
    assert train("caption", flickr8k, out, "--epochs", 1).exit_code == 0
    assert_one_line(train("caption", flickr8k, out, "--epochs", 2), "epochs: 1 there, 2 here")
    other = tmp_path / "other"
    write_flickr8k(other, train=14)
    assert_one_line(train("caption", other, out, "--epochs", 1), "other sentences")
    (out / "checkpoint.pt").write_bytes(b"broken")
    assert_one_line(train("caption", flickr8k, out, "--epochs", 1), "is damaged; remove it")
