"""`evaluate`: a folder of judged pairs, or a command, by what stands first."""

import json
import re
import sys
from types import ModuleType

import pytest
from click.testing import CliRunner
from made_encoders import made_model

from folioreel.cli import main
from folioreel.config import AlignConfig
from folioreel.models.presets import save_preset

ROWS = [
    {
        "encoder": "skip-thought",
        "pearson": 0.8123456,
        "spearman": 0.75,
        "mse": 0.3,
        "sentences_per_s": 1234.5,
    },
    {"encoder": "bow", "pearson": 0.7, "spearman": 0.6, "mse": None, "sentences_per_s": 99000.0},
]


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


PAIRS = [{"pair": "a", "near": 1.0, "how": {"verbatim": {"near": 1.0}}}]


@pytest.fixture
def calls(monkeypatch):
    """What the functions behind the commands are called with."""
    seen = []
    report, sentences = ModuleType("report"), ModuleType("sentences")

    def evaluate_system(dataset, align, progress):
        seen.append(("dataset", str(dataset), align.__self__.name))
        return PAIRS

    def evaluate_sentences(sick, encoders, progress):
        seen.append(("sentences", str(sick), encoders and list(encoders)))
        return ROWS

    report.evaluate_system = evaluate_system
    report.table_rows = lambda rows: [{"pair": row["pair"], "near": row["near"]} for row in rows]
    report.write_report = lambda rows, folder: seen.append(("report", rows, folder)) or []
    sentences.evaluate_sentences = evaluate_sentences
    monkeypatch.setitem(sys.modules, "folioreel.evaluate.report", report)
    monkeypatch.setitem(sys.modules, "folioreel.evaluate.sentences", sentences)
    return seen


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["pairs"], ("dataset", "pairs", "default")),
        (["pairs", "--preset", "paper"], ("dataset", "pairs", "paper")),
        (["--preset", "paper", "pairs"], ("dataset", "pairs", "paper")),
        (["--preset=paper", "--json", "pairs"], ("dataset", "pairs", "paper")),
        (["--json", "sentences/"], ("dataset", "sentences", "default")),
        (["./sentences"], ("dataset", "sentences", "default")),
        (["DATASET"], ("dataset", "DATASET", "default")),
        (["dataset"], ("dataset", "dataset", "default")),
        (["sentences", "--sick", "s"], ("sentences", "s", None)),
        (
            ["sentences", "--encoder", "a", "--sick", "s", "--encoder", "b"],
            ("sentences", "s", ["a", "b"]),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_stands_first_decides(calls, arguments, call):
    result = run("evaluate", *arguments)
    assert result.exit_code == 0, result.output
    assert calls == [call]


def test_pairs_as_a_table_and_as_json(calls):
    assert run("evaluate", "pairs").stdout.split() == ["pair", "near", "a", "1.0"]
    assert json.loads(run("evaluate", "pairs", "--json").stdout) == PAIRS


def test_a_folder_for_the_report_is_checked_before_any_work(calls, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    for name in "abcd":
        (tmp_path / "full" / name).write_text("mine")
    (tmp_path / "empty").mkdir()
    for out, says in (("file", "is a file"), ("full", "already holds a, b, c and more")):
        result = run("evaluate", "pairs", "--out", tmp_path / out)
        assert result.exit_code == 1
        assert re.fullmatch(r"folioreel: [^\n]+\n", result.stderr)
        assert says in result.stderr
        assert "--out" in result.stderr
    assert calls == []
    for out, more in (("empty", ()), ("new", ()), ("full", ("--force",))):
        result = run("evaluate", "pairs", "--out", tmp_path / out, *more)
        assert result.exit_code == 0, result.output
        assert calls[-1] == ("report", PAIRS, tmp_path / out)


FIGURES = {"match": 391, "none": 86}


@pytest.fixture
def semantic(tmp_path, monkeypatch):
    """A preset that asks for the meaning of sentences."""
    monkeypatch.chdir(tmp_path)
    config = AlignConfig(weights={"semantic": 1.0, "bleu2": 1.0})
    save_preset(config, tmp_path / "meaning", "", {})


def test_the_demo_with_a_report(tmp_path):
    from folioreel.apps.demo import demo_folder

    out = tmp_path / "report"
    result = run("evaluate", demo_folder(), "--out", out)
    assert result.exit_code == 0, result.output
    head, row, *files = result.stdout.splitlines()
    shown = dict(zip(head.split(), row.split(), strict=True))
    assert {name: int(shown[name]) for name in FIGURES} == FIGURES
    assert {"recall", "near", "strict", "ap", "auroc", "ece"} <= set(shown)
    names = {"report.csv", "report.md", "reliability.png", "coverage.png", "report.json"}
    assert {path.name for path in out.iterdir()} == names
    assert {line.removeprefix("wrote ") for line in files} == {str(out / name) for name in names}
    before = (out / "report.json").read_bytes()
    again = run("evaluate", demo_folder(), "--out", out)
    assert again.exit_code == 1
    assert "--force" in again.stderr
    assert (out / "report.json").read_bytes() == before


def test_another_encoder_for_the_meaning(semantic, tmp_path):
    from folioreel.apps.demo import demo_folder

    made_model().save(tmp_path / "made")
    found = {}
    for encoder in ("student", tmp_path / "made"):
        options = ("--preset", "meaning", "--encoder", encoder, "--json")
        result = run("evaluate", demo_folder(), *options)
        assert result.exit_code == 0, result.output
        (row,) = json.loads(result.stdout)
        assert row["signature"]["preset"] == "meaning"
        assert row["signature"]["config"]["semantic_encoder"] == str(encoder)
        found[str(encoder)] = row["near"]
    # Vectors by chance know less than those that were trained.
    assert found["student"] > found[str(tmp_path / "made")]


def test_an_encoder_that_is_not_there(semantic, calls):
    result = run("evaluate", "pairs", "--preset", "meaning", "--encoder", "./nothing")
    assert result.exit_code == 1
    assert result.stderr == ("folioreel: nothing: no such folder; give one that holds an encoder\n")
    assert calls == []


def test_sentences_as_a_table_and_as_json(calls):
    table = run("evaluate", "sentences", "--sick", "s").stdout.splitlines()
    assert table[0].split() == ["encoder", "pearson", "spearman", "mse", "sentences", "per", "s"]
    assert table[1].split() == ["skip-thought", "0.8123", "0.75", "0.3", "1,234.5"]
    assert table[2].split() == ["bow", "0.7", "0.6", "-", "99,000.0"]
    assert json.loads(run("evaluate", "sentences", "--sick", "s", "--json").stdout) == ROWS


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "DATASET | COMMAND"),
        (["pairs", "more"], "unexpected extra argument"),
        (["--preset", "paper"], "Missing argument 'DATASET'"),
        (["pairs", "--nonsense"], "No such option"),
        (["sentences"], "Missing option '--sick'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_exit_2(arguments, says):
    result = run("evaluate", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "evaluate  " not in result.stderr


def test_a_folder_that_is_not_there(tmp_path):
    result = run("evaluate", tmp_path / "nothing")
    assert result.exit_code == 1
    assert result.stderr.startswith("folioreel: ")


def test_help_of_all_three():
    assert "DATASET | COMMAND" in run("evaluate", "--help").stdout
    assert "evaluate [OPTIONS] DATASET\n" in run("evaluate", "pairs", "--help").stdout
    assert "--sick" in run("evaluate", "sentences", "-h").stdout


def test_a_baseline_in_place_of_a_preset():
    from folioreel.apps.demo import demo_folder

    rows = {}
    for name in ("uniform", "bm25", "encoder-monotone"):
        result = run("evaluate", demo_folder(), "--baseline", name, "--json")
        assert result.exit_code == 0, result.output
        rows[name] = json.loads(result.stdout)[0]
        assert rows[name]["signature"] == {"baseline": name}
    assert rows["uniform"]["near"] < 30 < 50 < rows["bm25"]["near"]
    assert rows["encoder-monotone"]["near"] > 50
    for useless in (("--leave-one-out",), ("--preset", "paper"), ("--encoder", "student")):
        refused = run("evaluate", demo_folder(), "--baseline", "bm25", *useless)
        assert refused.exit_code == 1
        assert re.fullmatch(r"folioreel: [^\n]+\n", refused.stderr)
