"""`evaluate`: a folder of judged pairs, or a command, by what stands first."""

import json
import re

import pytest
from click.testing import CliRunner
from made_encoders import made_model
from made_pairs import write_dataset, write_pair

from folioreel.cli import main
from folioreel.config import AlignConfig
from folioreel.evaluate import report, sentences
from folioreel.evaluate.baselines import baseline_links
from folioreel.evaluate.dataset import load_pair_film
from folioreel.ingest.book import load_book
from folioreel.models.presets import save_preset
from folioreel.types import Alignment

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

    def align_pair(pair, *, preset, encoder, shots, pictures, progress):
        seen.append((pair.name, preset, encoder, shots, pictures))
        film, book = load_pair_film(pair), load_book(pair.book)
        return Alignment(book=book, film=film, links=baseline_links("tfidf", film, book))

    def evaluate_sentences(sick, encoders, progress):
        seen.append(("sentences", str(sick), encoders and list(encoders)))
        return ROWS

    monkeypatch.setattr(report, "align_pair", align_pair)
    monkeypatch.setattr(sentences, "evaluate_sentences", evaluate_sentences)
    return seen


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """A folder of two judged pairs, and folders with the names of commands, in the current one."""
    monkeypatch.chdir(tmp_path)
    write_dataset(tmp_path / "pairs")
    for name in ("sentences", "DATASET", "dataset"):
        write_pair(tmp_path / name, seed=3)
    return tmp_path / "pairs"


BOTH = ("ferry", "garden")


@pytest.mark.parametrize(
    ("arguments", "names", "settings"),
    [
        (["pairs"], BOTH, ("auto", None, True, True)),
        (["pairs", "--preset", "paper"], BOTH, ("paper", None, True, True)),
        (["--preset", "paper", "pairs"], BOTH, ("paper", None, True, True)),
        (["--preset=paper", "--json", "pairs"], BOTH, ("paper", None, True, True)),
        (["pairs", "--no-pictures"], BOTH, ("auto", None, True, False)),
        (["--no-shots", "pairs/ferry"], ["ferry"], ("auto", None, False, True)),
        (["pairs", "--encoder", "student"], BOTH, ("auto", "student", True, True)),
        (["--json", "sentences/"], ["sentences"], ("auto", None, True, True)),
        (["./sentences"], ["sentences"], ("auto", None, True, True)),
        (["DATASET"], ["DATASET"], ("auto", None, True, True)),
        (["dataset"], ["dataset"], ("auto", None, True, True)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_dataset_stands_first(calls, pairs, arguments, names, settings):
    result = run("evaluate", *arguments)
    assert result.exit_code == 0, result.output
    assert calls == [(name, *settings) for name in names]


@pytest.mark.parametrize(
    ("arguments", "encoders"),
    [
        (["--sick", "s"], None),
        (["--encoder", "a", "--sick", "s", "--encoder", "b"], ["a", "b"]),
    ],
)
def test_a_command_stands_first(calls, pairs, arguments, encoders):
    result = run("evaluate", "sentences", *arguments)
    assert result.exit_code == 0, result.output
    assert calls == [("sentences", "s", encoders)]


def test_pairs_as_a_table_and_as_json(calls, pairs):
    lines = run("evaluate", pairs).stdout.splitlines()
    assert lines[0].split()[:4] == ["pair", "match", "none", "recall"]
    assert [line.split()[0] for line in lines[1:4]] == ["ferry", "garden", "mean"]
    assert lines[5] == "95 % intervals, by bootstrap over the judged lines:"
    assert lines[7].startswith("mean ")
    rows = json.loads(run("evaluate", pairs, "--json").stdout)
    assert [row["pair"] for row in rows] == ["ferry", "garden", "mean"]


def test_means_of_groups_and_gains_over_another_system(calls, pairs):
    options = ("--group", "wet", "ferry", "--group", "both", "garden,ferry", "--compare", "uniform")
    result = run("evaluate", pairs, *options)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["ferry", "garden", "wet", "both", "mean"]
    assert [line.split()[0] for line in lines[9:12]] == ["wet", "both", "mean"]
    assert lines[13] == "gain over uniform, with 95 % intervals:"
    assert [line.split()[0] for line in lines[15:]] == ["wet", "both", "mean"]
    found = json.loads(run("evaluate", pairs, *options, "--json").stdout)
    assert found["compared_with"] == "uniform"
    assert [row["gain"] for row in found["gains"]] == ["wet", "both", "mean"]
    assert found["gains"][2]["near"][0] > 0
    assert len(found["rows"]) == 5


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--group", "dry", "desert"), "no pair 'desert'; there are ferry, garden"),
        (("--compare", "./nothing"), "nothing"),
        (("--preset", "./nothing"), "nothing"),
    ],
)
def test_wrong_names_are_refused_before_any_work(calls, pairs, options, says):
    result = run("evaluate", pairs, *options)
    assert result.exit_code == 1
    assert re.fullmatch(r"folioreel: [^\n]+\n", result.stderr)
    assert says in result.stderr
    assert calls == []


def test_a_folder_for_the_report_is_checked_before_any_work(calls, pairs, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    for name in "abcd":
        (tmp_path / "full" / name).write_text("mine")
    (tmp_path / "empty").mkdir()
    for out, says in (("file", "is a file"), ("full", "already holds a, b, c and more")):
        result = run("evaluate", pairs, "--out", tmp_path / out)
        assert result.exit_code == 1
        assert re.fullmatch(r"folioreel: [^\n]+\n", result.stderr)
        assert says in result.stderr
        assert "choose a" in result.stderr
    assert calls == []
    for out, more in (("empty", ()), ("new", ()), ("full", ("--force",))):
        result = run("evaluate", pairs, "--out", tmp_path / out, *more)
        assert result.exit_code == 0, result.output
        assert (tmp_path / out / "report.json").exists()


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
    result = run("evaluate", demo_folder(), "--no-pictures", "--out", out)
    assert result.exit_code == 0, result.output
    head, row, *below = result.stdout.splitlines()
    shown = dict(zip(head.split(), row.split(maxsplit=9), strict=True))
    assert {name: int(shown[name]) for name in FIGURES} == FIGURES
    assert {"recall", "near", "strict", "ap", "auroc", "ece"} <= set(shown)
    assert shown["watched"] == "shots only"
    title = below.index("judged silent shots:")
    assert below[title + 2].split()[:3] == ["demo", "52", "8"]
    files = below[title + 3 :]
    names = {"report.csv", "report.md", "reliability.png", "coverage.png", "report.json"}
    assert {path.name for path in out.iterdir()} == names
    assert {line.removeprefix("wrote ") for line in files} == {str(out / name) for name in names}
    before = (out / "report.json").read_bytes()
    again = run("evaluate", demo_folder(), "--no-shots", "--out", out)
    assert again.exit_code == 1
    assert "--force" in again.stderr
    assert (out / "report.json").read_bytes() == before


def test_another_encoder_for_the_meaning(semantic, tmp_path):
    from folioreel.apps.demo import demo_folder

    made_model().save(tmp_path / "made")
    found = {}
    for encoder in ("student", tmp_path / "made"):
        options = ("--preset", "meaning", "--encoder", encoder, "--no-shots", "--json")
        result = run("evaluate", demo_folder(), *options)
        assert result.exit_code == 0, result.output
        (row,) = json.loads(result.stdout)
        assert row["signature"]["preset"] == "meaning"
        assert row["signature"]["config"]["semantic_encoder"] == str(encoder)
        found[str(encoder)] = row["near"]
    # Vectors by chance know less than those that were trained.
    assert found["student"] > found[str(tmp_path / "made")]


def test_an_encoder_that_is_not_there(semantic, calls, pairs):
    result = run("evaluate", pairs, "--preset", "meaning", "--encoder", "./nothing")
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
        result = run("evaluate", demo_folder(), "--baseline", name, "--no-shots", "--json")
        assert result.exit_code == 0, result.output
        rows[name] = json.loads(result.stdout)[0]
        assert rows[name]["signature"] == {"baseline": name}
    assert rows["uniform"]["near"] < 30 < 50 < rows["bm25"]["near"]
    assert rows["encoder-monotone"]["near"] > 50
    for useless in (("--leave-one-out",), ("--preset", "paper"), ("--encoder", "student")):
        refused = run("evaluate", demo_folder(), "--baseline", "bm25", *useless)
        assert refused.exit_code == 1
        assert re.fullmatch(r"folioreel: [^\n]+\n", refused.stderr)
