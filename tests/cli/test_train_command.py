"""`train sentences` on a few small books: stopped, taken up, refused."""

import json
import re
import shutil
import signal
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import assert_one_line
from corpus.made_books import ALONE, write_novels

from folioreel import __main__ as program
from folioreel.cli import main
from folioreel.corpus.build import build_corpus
from folioreel.corpus.pack import PackConfig, build_vocabulary, pack_corpus
from folioreel.corpus.reader import open_corpus

torch = pytest.importorskip("torch")

SMALL = {
    "--units": 8,
    "--word-units": 6,
    "--vocabulary": 100,
    "--batch": 4,
    "--steps": 12,
    "--device": "cpu",
}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write_novels(folder / "books", range(4), words=1800)
    build_corpus(folder / "books", folder / "corpus", ALONE)
    return folder / "corpus"


def train(corpus, out, *more, **changes):
    options = SMALL | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    flat = [str(part) for option in options.items() for part in option]
    command = ["train", "sentences", str(corpus), "--out", str(out), *flat, *map(str, more)]
    return CliRunner().invoke(main, command)


def state(out):
    return torch.load(out / "checkpoint.pt", weights_only=True)


def assert_same_weights(one, other):
    ours, theirs = state(one), state(other)
    assert ours["step"] == theirs["step"]
    for name, values in ours["network"].items():
        assert torch.equal(values, theirs["network"][name]), name


@pytest.fixture(scope="module")
def straight(corpus, tmp_path_factory):
    """A run that nothing has stopped."""
    out = tmp_path_factory.mktemp("straight") / "run"
    result = train(corpus, out)
    assert result.exit_code == 0, result.output
    return out, result


def test_what_is_written_and_said(straight, corpus):
    out, result = straight
    assert {path.name for path in out.iterdir()} >= {
        *("pack", "data.json", "checkpoint.pt", "encoder", "report.json")
    }
    assert re.search(r"^steps done +12$", result.stdout, re.MULTILINE)
    assert re.search(r"^perplexity, sentence after +\d+\.\d+$", result.stdout, re.MULTILINE)
    assert result.stdout.endswith(f"wrote {out}\n")
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["step"] == report["run"]["steps"] == 12
    assert report["training"]["model"]["units"] == 8
    assert report["vocabulary"]["words"] == 103
    assert report["corpus"]["sentences"] == open_corpus(corpus).sentence_count
    # Untrained, it guesses among 103 words.
    assert 50 < report["log"][-1]["perplexity_after"] < 150


def test_both_directions_trained_and_combined(straight, corpus, tmp_path):
    """The paper's combine-skip, from the books to one encoder."""
    from folioreel.models.sentence_encoder import load_encoder

    assert train(corpus, tmp_path / "bi", "--bidirectional").exit_code == 0
    folders = [str(run / "encoder") for run in (straight[0], tmp_path / "bi")]
    command = ["train", "combine", *folders, "--out", str(tmp_path / "combined")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    uni, bi, both = map(load_encoder, (*folders, str(tmp_path / "combined")))
    assert (uni.name, bi.name, both.units) == ("uni-skip", "bi-skip", 16)
    text = ["The old man said nothing at all."]
    assert np.array_equal(both.encode(text), np.hstack([uni.encode(text), bi.encode(text)]))


def test_a_limited_run_is_taken_up_with_the_same_end(straight, corpus, tmp_path):
    out = tmp_path / "run"
    limited = train(corpus, out, minutes=1e-9)
    assert limited.exit_code == 0, limited.output
    assert "run the same command again" in limited.stdout
    assert state(out)["step"] == 1
    packed = (out / "pack" / "pack.json").stat().st_mtime_ns
    rest = train(corpus, out, "--json")
    assert rest.exit_code == 0, rest.output
    report = json.loads(rest.stdout)
    assert (report["step"], report["run"]["steps"]) == (12, 11)
    assert (out / "pack" / "pack.json").stat().st_mtime_ns == packed, "packed once"
    assert_same_weights(out, straight[0])
    again = train(corpus, out, "--json")
    assert json.loads(again.stdout)["run"]["steps"] == 0
    assert_same_weights(out, straight[0])


def test_a_finished_run_keeps_its_report(straight, corpus, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(straight[0], out)
    whole = {path: path.read_bytes() for path in (out / "report.json", out / "encoder/config.json")}
    assert train(corpus, out).exit_code == 0
    assert {path: path.read_bytes() for path in whole} == whole
    (out / "report.json").unlink()
    assert train(corpus, out).exit_code == 0
    assert json.loads((out / "report.json").read_bytes())["step"] == 12


@pytest.fixture
def stopped_by_signals():
    """Signals do what they do in the program."""
    before = {number: signal.getsignal(number) for number in program._stopping()}
    program._stop_by_signals([])
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("stopped_by_signals")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_keeps_the_steps_that_were_done(
    straight, corpus, tmp_path, monkeypatch, stop
):
    from folioreel.train.skip_thought import SkipThoughtTraining as Training

    learn = Training.learn

    def learn_five(training, triples):
        if training.step == 5:
            signal.raise_signal(stop)
        return learn(training, triples)

    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Training, "learn", learn_five)
        assert_one_line(train(corpus, out), "stopped", "same command again", code=130)
    assert state(out)["step"] == 5
    assert train(corpus, out).exit_code == 0
    assert_same_weights(out, straight[0])


def test_ctrl_c_while_packing(straight, corpus, tmp_path, monkeypatch):
    from folioreel.corpus import pack

    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(
            pack, "encode_shard", lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert_one_line(train(corpus, out), "stopped", code=130)
    assert not (out / "pack" / "pack.json").exists()
    assert train(corpus, out).exit_code == 0
    assert_same_weights(out, straight[0])


def test_another_configuration_is_refused_with_the_difference(straight, corpus):
    out, _ = straight
    before = (out / "checkpoint.pt").read_bytes()
    assert_one_line(train(corpus, out, batch=8), "batch: 4 there, 8 here")
    assert_one_line(
        train(corpus, out, units=10), "(model.units: 8 there, 10 here)", "another --out"
    )
    assert_one_line(train(corpus, out, vocabulary=90), "vocabulary: 100 there, 90 here")
    assert (out / "checkpoint.pt").read_bytes() == before


def test_other_books_are_refused_once_training_began(corpus, tmp_path):
    other, out = tmp_path / "other", tmp_path / "run"
    write_novels(tmp_path / "books", range(5, 8), words=1800)
    build_corpus(tmp_path / "books", other, ALONE)
    assert train(corpus, out, minutes=1e-9).exit_code == 0
    assert_one_line(train(other, out), "other books", "--out")
    (out / "checkpoint.pt").unlink()
    report = json.loads(train(other, out, "--json").stdout)
    assert report["corpus"]["books"] == 3
    assert json.loads((out / "pack" / "pack.json").read_bytes())["sentences"] == (
        open_corpus(other).sentence_count
    )


@pytest.mark.parametrize("part", ["shard-0000.npz", "vocabulary.txt", "pack.json"])
def test_a_pack_that_lost_a_part_is_made_again(straight, corpus, tmp_path, part):
    shutil.copytree(straight[0], tmp_path / "run")
    whole = (tmp_path / "run" / "pack" / part).read_bytes()
    (tmp_path / "run" / "pack" / part).unlink()
    assert train(corpus, tmp_path / "run").exit_code == 0
    assert (tmp_path / "run" / "pack" / part).read_bytes() == whole


def test_a_flipped_bit_in_the_checkpoint(straight, corpus, tmp_path):
    shutil.copytree(straight[0], tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.pt"
    weights = state(tmp_path / "run")["network"]["words.weight"].numpy().tobytes()
    data = bytearray(path.read_bytes())
    data[data.index(weights)] ^= 1
    path.write_bytes(data)
    assert_one_line(train(corpus, tmp_path / "run"), "checkpoint.pt: is damaged; remove it")


def test_a_run_is_no_encoder_but_holds_one(straight, tmp_path):
    run = straight[0]
    command = ["train", "combine", str(run), "uni-skip", "--out", str(tmp_path / "combined")]
    result = CliRunner().invoke(main, command)
    assert_one_line(result, f"give {run / 'encoder'}")


def test_a_limit_of_no_words_is_refused(tmp_path):
    command = ["train", "vocabulary", "student", str(tmp_path / "x"), "--out", str(tmp_path / "y")]
    result = CliRunner().invoke(main, [*command, "--limit", "0"])
    assert result.exit_code == 2
    assert "--limit" in result.stderr


@pytest.mark.parametrize("damage", [b"", b"nonsense", None], ids=["empty", "nonsense", "cut"])
def test_a_damaged_checkpoint(straight, corpus, tmp_path, damage):
    shutil.copytree(straight[0], tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.pt"
    path.write_bytes(path.read_bytes()[:-500] if damage is None else damage)
    assert_one_line(train(corpus, tmp_path / "run"), "checkpoint.pt: is damaged; remove it")


def test_bad_folders(corpus, tmp_path):
    assert_one_line(train(tmp_path / "nothing", tmp_path / "run"), "is not a corpus")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.json").write_text("mine", encoding="utf-8")
    assert_one_line(train(corpus, tmp_path / "mine"), "no training run")
    assert (tmp_path / "mine" / "report.json").read_text(encoding="utf-8") == "mine"
    assert_one_line(train(corpus, tmp_path / "mine" / "report.json" / "x"), "cannot be created")
    assert_one_line(train(corpus, tmp_path / "mine" / "report.json"), "cannot be created")


def test_a_corpus_of_one_book_is_too_small(tmp_path):
    write_novels(tmp_path / "books", range(1), words=1800)
    build_corpus(tmp_path / "books", tmp_path / "one", ALONE)
    assert_one_line(train(tmp_path / "one", tmp_path / "run"), "fewer than two books")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"units": 0}, "units"),
        ({"vocabulary": 70_000}, "vocabulary"),
        ({"steps": 0}, "steps"),
        ({"minutes": 0}, "minutes"),
        ({"minutes": "nan"}, "minutes"),
    ],
)
def test_settings_out_of_range(corpus, tmp_path, changes, says):
    assert_one_line(train(corpus, tmp_path / "run", **changes), says)
    assert not (tmp_path / "run").exists()


def test_an_odd_bidirectional_encoder(corpus, tmp_path):
    assert_one_line(train(corpus, tmp_path / "run", "--bidirectional", units=7), "even")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_no_gpu(corpus, tmp_path):
    assert_one_line(train(corpus, tmp_path / "run", device="cuda"), "no GPU", "--device cpu")
    assert not (tmp_path / "run").exists()


def test_without_pytorch_it_says_what_to_install(corpus, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("folioreel.train.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    result = train(corpus, tmp_path / "run")
    assert_one_line(result, 'pip install "folioreel[train]"')
    assert not (tmp_path / "run").exists()


def test_a_pack_of_many_shards_reads_as_one(corpus, tmp_path):
    """Books that are larger than a shard go on in the next one; compared with the books' texts."""
    from folioreel.corpus.shards import read_pack

    opened = open_corpus(corpus)
    vocabulary = build_vocabulary(opened, 100)
    pack_corpus(opened, vocabulary, tmp_path / "pack", PackConfig(shard_mb=0.002))
    assert len(list((tmp_path / "pack").glob("shard-*.npz"))) > 8
    tokens, offsets, book_of = read_pack(tmp_path / "pack")
    expected = [
        (number, vocabulary.encode(text)[:60])
        for number, book in enumerate(opened.read_books())
        for text in book.text.texts
    ]
    pieces = np.split(tokens, offsets[1:-1])
    found = [(int(n), piece.tolist()) for n, piece in zip(book_of, pieces, strict=True)]
    assert found == expected
    assert offsets[-1] == len(tokens)
