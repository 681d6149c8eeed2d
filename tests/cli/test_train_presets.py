"""`train positions` and `evaluate --leave-one-out` on two small judged pairs."""

import json
import subprocess
import sys

import pytest
from command_line import assert_one_line, run
from made_encoders import made_model
from made_pairs import write_dataset

from folioreel.config import STEPS
from folioreel.models.presets import load_preset
from folioreel.train import positions as module


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("judged"))


def test_a_preset_is_learned_and_taken(dataset, tmp_path):
    out = tmp_path / "preset"
    result = run("train", "positions", dataset, "--out", out, "--iterations", 3)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["judged", "lines", "24"] in lines
    config = load_preset(str(out))
    shown = {line[0]: float(line[1]) for line in lines if len(line) == 2 and line[0] in STEPS}
    assert shown == pytest.approx({name: getattr(config.steps, name) for name in STEPS}, abs=1e-4)
    for name, weight in config.weights.items():
        assert [name, f"{round(weight, 4):,}"] in lines
    assert lines[-1] == ["wrote", str(out)]
    evaluated = run("evaluate", dataset, "--preset", out, "--json")
    assert evaluated.exit_code == 0, evaluated.output
    rows = json.loads(evaluated.stdout)
    assert rows[0]["signature"]["config"]["weights"] == pytest.approx(config.weights)
    assert rows[-1]["near"] > 80


def test_a_preset_as_json(dataset, tmp_path):
    out = tmp_path / "preset"
    result = run("train", "positions", dataset, "--out", out, "--iterations", 1, "--json")
    found = json.loads(result.stdout)
    assert found["preset"] == str(out)
    assert found["pairs"] == ["ferry", "garden"]
    assert found["config"]["weights"] == pytest.approx(load_preset(str(out)).weights)


def test_the_iterations_are_passed_on(dataset, tmp_path, monkeypatch):
    seen = []

    def stub(datasets, out, config, progress, **reading):
        seen.append((datasets, out, config.iterations, reading))
        return {"pairs": [], "judged_lines": 0, "config": {"weights": {}, "steps": {}}}

    monkeypatch.setattr(module, "train_positions", stub)
    usual = {"encoder": None, "like": "default", "without": ()}
    choices = (
        ((), 25, {}),
        (("--iterations", 7), 7, {}),
        (("--encoder", "uni-skip"), 25, {"encoder": "uni-skip"}),
        (("--like", "across", "--without", "one"), 25, {"like": "across", "without": ("one",)}),
    )
    pairs = (module.Path("pairs"), module.Path("more"))
    for more, iterations, passed in choices:
        assert run("train", "positions", *pairs, "--out", tmp_path / "p", *more).exit_code == 0
        assert seen[-1] == (pairs, tmp_path / "p", iterations, usual | passed)
    assert run("train", "positions", "pairs", "--out", "p", "--iterations", 0).exit_code == 2
    assert run("train", "positions", "pairs").exit_code == 2
    assert run("train", "positions", "pairs", "--out", "p", "--like", "paper").exit_code == 2
    assert len(seen) == 4
    shown = " ".join(run("train", "positions", "--help").stdout.split())
    assert f"[{'|'.join(module.STARTS)}]" in shown


def test_an_encoder_of_your_own(dataset, tmp_path, monkeypatch):
    """A folder beside oneself is named by its whole path, so that the preset works elsewhere."""
    made_model().save(tmp_path / "made")
    monkeypatch.chdir(tmp_path)
    words = ("--out", "preset", "--iterations", 1, "--encoder", "made", "--json")
    result = run("train", "positions", dataset, *words)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["config"]["semantic_encoder"] == str(tmp_path / "made")
    card = (tmp_path / "preset" / "README.md").read_text("utf-8")
    assert f"Its sentence encoder is `{tmp_path / 'made'}`." in card
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    evaluated = run("evaluate", dataset, "--preset", tmp_path / "preset", "--json")
    assert evaluated.exit_code == 0, evaluated.output
    monkeypatch.setattr(module, "find_pairs", lambda _: pytest.fail("read first"))
    refused = run("train", "positions", dataset, "--out", "p", "--encoder", "./nothing")
    assert_one_line(refused, "nothing", "no such folder")


def test_what_training_refuses(dataset, tmp_path):
    assert_one_line(
        run("train", "positions", tmp_path / "nothing", "--out", tmp_path / "p"), "nothing"
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert_one_line(run("train", "positions", dataset, "--out", tmp_path / "mine"), "mine")
    assert_one_line(
        run("train", "positions", dataset, "--out", tmp_path / "mine" / "notes.txt"), "is a file"
    )
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "p").exists()


def test_it_needs_no_pytorch(dataset, tmp_path):
    arguments = [
        "train",
        "positions",
        str(dataset),
        "--out",
        str(tmp_path / "p"),
        "--iterations",
        "1",
    ]
    code = (
        "import sys; sys.modules['torch'] = None; from folioreel.cli import main;"
        f"main({arguments!r}, standalone_mode=False)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert load_preset(str(tmp_path / "p")).steps is not None


@pytest.mark.parametrize("first", [True, False])
def test_leaving_one_out(first, dataset, monkeypatch):
    taught = []
    fit_preset = module.fit_preset

    def recording(others, *more):
        taught.append([item.pair.name for item in others])
        return fit_preset(others, module.FitConfig(iterations=2))

    monkeypatch.setattr(module, "fit_preset", recording)
    words = ["--leave-one-out", dataset] if first else [dataset, "--leave-one-out"]
    result = run("evaluate", *words)
    assert result.exit_code == 0, result.output
    assert taught == [["garden"], ["ferry"]]
    head, *rows = [line.split() for line in result.stdout.splitlines()[:4]]
    assert head[:3] == ["pair", "match", "none"]
    assert [row[0] for row in rows] == ["ferry", "garden", "mean"]


def test_leaving_one_out_with_a_report(dataset, tmp_path):
    out = tmp_path / "report"
    result = run("evaluate", dataset, "--leave-one-out", "--json", "--out", out)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert [row["pair"] for row in rows] == ["ferry", "garden", "mean"]
    one, other = (row["signature"]["config"]["weights"] for row in rows[:2])
    assert one != other
    assert json.loads((out / "report.json").read_text())["rows"] == rows
    assert_one_line(run("evaluate", dataset, "--leave-one-out", "--out", out), "--force")


def test_leaving_one_out_with_another_encoder(dataset, monkeypatch):
    fit_preset = module.fit_preset
    monkeypatch.setattr(
        module, "fit_preset", lambda others, *_: fit_preset(others, module.FitConfig(iterations=2))
    )
    found = {}
    for encoder in ("student", "uni-skip"):
        result = run("evaluate", dataset, "--leave-one-out", "--encoder", encoder, "--json")
        assert result.exit_code == 0, result.output
        assert "not trained with" not in result.stderr
        config = json.loads(result.stdout)[0]["signature"]["config"]
        assert config["semantic_encoder"] == encoder
        found[encoder] = config["weights"]["semantic"]
    assert found["student"] != found["uni-skip"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--preset", "paper"), "--preset"),
        (("--preset", "default"), "--preset"),  # even if it is the default
        (("--baseline", "encoder"), "--baseline"),
    ],
)
def test_settings_that_would_change_nothing(options, says, dataset, monkeypatch):
    monkeypatch.setattr(module, "read_judged", lambda *_, **__: pytest.fail("read first"))
    assert_one_line(run("evaluate", dataset, "--leave-one-out", *options), says, "--leave-one-out")


def test_a_single_pair_cannot_be_left_out(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "read_judged", lambda *_, **__: pytest.fail("read first"))
    result = run("evaluate", dataset / "ferry", "--leave-one-out")
    assert_one_line(result, "two or more", str(dataset / "ferry"))
    assert_one_line(run("evaluate", tmp_path / "nothing", "--leave-one-out"), "nothing")


@pytest.mark.slow
def test_the_papers_method_is_learned_from_one_pair(dataset, tmp_path):
    pytest.importorskip("torch")
    out = tmp_path / "paper-preset"
    result = run("train", "context", dataset / "ferry", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["chain"]["unary"] > 0
    assert load_preset(str(out)).context == str(out.resolve() / "context")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("mine", encoding="utf-8")
    refused = run("train", "context", dataset / "ferry", "--out", tmp_path / "other")
    assert refused.exit_code == 1
    assert (tmp_path / "other" / "letter.txt").read_text(encoding="utf-8") == "mine"
    assert (found["chain"]["sigmoid"], found["chain"]["reach"]) == (False, None)
    literal = run("train", "context", dataset / "ferry", "--out", out, "--literal", "--json")
    chain = json.loads(literal.stdout)["chain"]
    assert chain["sigmoid"]
    assert load_preset(str(out)).chain.reach == pytest.approx(1 / 3)
    refused = run("train", "context", dataset / "ferry", "--out", out, "--visual", tmp_path)
    assert (refused.exit_code, "--pictures" in refused.stderr) == (2, True)
    aligned = run("evaluate", dataset / "garden", "--preset", out, "--json")
    assert aligned.exit_code == 0, aligned.output
    assert json.loads(aligned.stdout)[0]["signature"]["config"]["context"]
