"""Every command says in its help what it does, with examples, and the docs cover it."""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import assert_one_line, run

from folioreel.cli import main
from folioreel.cli.evaluate import evaluate_pairs
from folioreel.errors import ConfigError, InputError

GENERATOR = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "generate_commands.py"))


def walk(group, words=()):
    """Every command and group below a group, by the words that call it."""
    for name, command in group.commands.items():
        if command.hidden:  # another name of a command that is listed
            continue
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from walk(command, (*words, name))


COMMANDS = dict(walk(main))
LEAVES = {words: c for words, c in COMMANDS.items() if not isinstance(c, click.Group)}


def help_of(words, command):
    # Commands keep the first help option that they make: it must be the one with -h, of `main`.
    settings = main.context_settings
    return command.get_help(click.Context(command, info_name=" ".join(words), **settings))


def section_of(words):
    """The part of the docs below the heading of a command."""
    heading = f"## folioreel {' '.join(words)}\n"
    text = GENERATOR["commands_reference"]()
    assert heading in text
    return text.split(heading, 1)[1].split("\n## ", 1)[0]


def test_all_commands_are_there():
    names = {" ".join(words) for words in LEAVES}
    assert names >= {
        *("align", "demo", "inspect", "corpus build", "corpus stats"),
        *("evaluate sentences", "train sentences", "train vocabulary", "train combine"),
    }


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_help_explains_every_option_and_has_two_examples(words):
    text = help_of(words, COMMANDS[words])
    assert len(re.findall(rf"^ +folioreel {' '.join(words)}\b", text, re.MULTILINE)) >= 2
    assert "\\b" not in text
    for parameter in COMMANDS[words].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{words} {parameter.name}"


@pytest.mark.parametrize(
    "name",
    [
        *("--json", "--force", "--preset", "--subtitles", "--shortlist", "--engine", "--workers"),
        *("--no-shots", "--film", "--minutes", "--device", "--speech-model", "--no-sync"),
    ],
)
def test_a_shared_option_is_the_same_everywhere(name):
    options = {
        words: parameter
        for words, command in [*LEAVES.items(), (("evaluate", "DATASET"), evaluate_pairs)]
        for parameter in command.params
        if name in parameter.opts
    }
    assert len(options) > 1
    if name == "--preset":  # one preset aligns the pairs that an encoder learns from
        assert options.pop(("train", "encoder")).default == "default"
    found = {(option.help, option.metavar, str(option.default)) for option in options.values()}
    assert len(found) == 1


@pytest.mark.parametrize("width", [50, 80, 200])
def test_no_summary_is_cut(width):
    """The whole first sentence of each command is in its group's list, however it is wrapped."""
    for words, group in {(): main, **COMMANDS}.items():
        if not isinstance(group, click.Group):
            continue
        context = click.Context(group, info_name=" ".join(words), terminal_width=width)
        listed = " ".join(group.get_help(context).split())
        assert "…" not in listed
        shown = {name: c for name, c in group.commands.items() if not c.hidden}
        for name, command in shown.items():
            summary = " ".join((command.help or "").split("\n\n")[0].split())
            first, _, _ = summary.partition(". ")
            assert f"{name} {first}" in listed


def test_the_main_job_is_listed_first():
    assert next(iter(main.commands)) == "align"
    assert {name for names in main.sections.values() for name in names} == set(main.commands)


def examples():
    for words, command in {**COMMANDS, ("evaluate",): evaluate_pairs}.items():
        for line in re.findall(r"^ +folioreel (.+)$", help_of(words, command), re.MULTILINE):
            yield line.split(" > ")[0]


@pytest.mark.parametrize("line", sorted(set(examples())))
def test_the_examples_are_right(line, monkeypatch):
    """They are parsed as the shell and click would, up to the call."""
    called = []
    monkeypatch.setattr(click.Command, "invoke", lambda self, context: called.append(self))
    main.main(shlex.split(line), standalone_mode=False)
    assert not isinstance(called[-1], click.Group)


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_the_docs_name_every_option(words):
    section = section_of(words)
    for parameter in LEAVES[words].params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in section, parameter.opts[0]


def test_the_docs_speak_of_judged_pairs():
    section = section_of(("evaluate",))
    help_text = help_of(("evaluate",), main.commands["evaluate"])
    for parameter in evaluate_pairs.params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in section, parameter.opts[0]
            assert parameter.help
            assert parameter.opts[0] in help_text
    assert "sentences" in help_text.split("Commands:")[1]


def test_the_generated_reference_covers_every_command():
    page = GENERATOR["commands_reference"]()
    for words, command in COMMANDS.items():
        heading = f"\n## folioreel {' '.join(words)}\n"
        assert page.count(heading) == 1
        section = page.split(heading)[1].split("\n## ")[0]
        assert f"Usage: folioreel {' '.join(words)} " in section
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.opts[0] in section


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "folioreel", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Align a film with the book" in result.stdout


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("is empty", "a.txt"), "folioreel: a.txt: is empty\n"),
        (
            PermissionError(13, "Permission denied", "a.txt"),
            "folioreel: a.txt: Permission denied\n",
        ),
        (OSError(28, "No space left on device"), "folioreel: No space left on device\n"),
        (ConfigError("unknown preset 'x';\n  choose"), "folioreel: unknown preset 'x'; choose\n"),
    ],
)
def test_errors_are_one_line_and_exit_1(monkeypatch, error, line):
    def fail(path, **settings):
        raise error

    monkeypatch.setattr("folioreel.evaluate.statistics.inspect_file", fail)
    result = run("inspect", "a.txt")
    assert_one_line(result)
    assert result.stderr == line


def test_other_errors_are_bugs_and_keep_their_traceback(monkeypatch):
    def fail(path, **settings):
        raise ZeroDivisionError

    monkeypatch.setattr("folioreel.evaluate.statistics.inspect_file", fail)
    assert isinstance(run("inspect", "a.txt").exception, ZeroDivisionError)


def test_a_wrong_value_is_not_echoed_without_end():
    result = run("describe", "result", "--at", "\x1b" + "9" * 100_000)
    assert result.exit_code == 2
    assert len(result.stderr) < 2000
    assert "\x1b" not in result.stderr
