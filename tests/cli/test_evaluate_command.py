"""`evaluate`: a folder of judged pairs, or a command, by what stands first."""

import json
import sys
from types import ModuleType

import pytest
from click.testing import CliRunner

from folioreel.cli import main

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


@pytest.fixture
def calls(monkeypatch):
    """What the functions behind the commands are called with."""
    seen = []
    report, sentences = ModuleType("report"), ModuleType("sentences")

    def evaluate_dataset(dataset, preset, progress):
        seen.append(("dataset", str(dataset), preset))
        return [{"pair": "a", "near": 1.0}]

    def evaluate_sentences(sick, encoders, progress):
        seen.append(("sentences", str(sick), encoders and list(encoders)))
        return ROWS

    report.evaluate_dataset = evaluate_dataset
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
