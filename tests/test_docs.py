"""The documentation agrees with the program: snippets, links, names, commands and their options."""

import ast
import importlib
import re
import runpy
from pathlib import Path

import click
import pytest
import yaml

import folioreel
from folioreel.apps.demo import demo_folder
from folioreel.cli import main

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
# The changelog also names what is gone.
CURRENT = [page for page in PAGES if page.name != "CHANGELOG.md"]
GENERATED = ROOT / "docs" / "reference" / "commands.md"
COMMANDS = runpy.run_path(str(ROOT / "docs" / "generate_commands.py"))["commands_reference"]()


def page_name(page):
    return str(page.relative_to(ROOT))


def snippets(page, *languages):
    pattern = rf"^```({'|'.join(languages)})\n(.*?)^```"
    return [code for _, code in re.findall(pattern, page.read_text("utf-8"), re.M | re.S)]


def heading_ids(text):
    """The anchors of a page, as MkDocs and code hosts make them of headings."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_the_readme_is_short():
    assert len(README.read_text("utf-8").splitlines()) <= 90


def test_near_and_strict_are_explained_before_they_are_used():
    results = README.read_text("utf-8").split("## Results")[1]
    explanation, table = results.split("\n|", 1)
    assert "`near` if" in explanation
    assert "`strict` if" in explanation
    assert "near" in table


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_python_snippets_parse(page):
    for code in snippets(page, "python"):
        ast.parse(code)


@pytest.mark.parametrize("page", CURRENT, ids=page_name)
def test_what_snippets_import_is_there(page):
    for code in snippets(page, "python"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("folioreel"):
                for alias in node.names:
                    assert hasattr(importlib.import_module(node.module), alias.name), alias.name


def test_the_readme_snippet_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    (code,) = snippets(README, "python")
    code = code.replace("novel.epub", str(demo_folder() / "book.txt"))
    # The subtitles alone: test_doors.py sends a video through.
    code = code.replace("film.mkv", str(demo_folder() / "film.srt")).replace("2467", "1426.5")
    exec(code, {})
    assert "ear like a boot" in capsys.readouterr().out
    assert (tmp_path / "result" / "alignment.json").exists()


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        if linked == GENERATED:
            text = COMMANDS
        else:
            assert linked.exists(), target
            text = linked.read_text("utf-8") if linked.suffix == ".md" else ""
        assert not anchor or anchor in heading_ids(text), target


@pytest.mark.parametrize("page", CURRENT, ids=page_name)
def test_modules_are_there(page):
    for name in set(re.findall(r"`(folioreel(?:\.\w+)+)", page.read_text("utf-8"))):
        parts, found = name.split(".")[1:], folioreel
        for k, part in enumerate(parts, 1):
            try:
                found = importlib.import_module(".".join(["folioreel", *parts[:k]]))
            except ImportError:
                found = getattr(found, part)


@pytest.mark.parametrize("page", CURRENT, ids=page_name)
def test_files_of_the_repository_are_there(page):
    folders = "benchmarks|training|tests|src/folioreel|demo|docs"
    pattern = rf"(?<![\w-])((?:{folders})/[\w/.-]*\w\.(?:py|md|json))\b"
    for name in set(re.findall(pattern, page.read_text("utf-8"))):
        if "jaccard" not in name and "asciidoc" not in name:  # the examples of CONTRIBUTING
            assert (ROOT / name).exists(), name


def shown_commands(page):
    """The command lines of a page: those of code blocks, and those in the text."""
    text = page.read_text("utf-8")
    blocks = "\n".join(re.findall(r"^```(?:text)?\n(.*?)^```", text, re.M | re.S))
    lines = re.findall(r"^(?:\$ )?(?:\w+=\S+ )?(folioreel .+)$", blocks.replace("\\\n", ""), re.M)
    return [
        *lines,
        *(" ".join(found.split()) for found in re.findall(r"`(folioreel [^`]+)`", text)),
    ]


@pytest.mark.parametrize("page", CURRENT, ids=page_name)
def test_commands_and_options_are_there(page):
    for line in shown_commands(page):
        words = line.split("#")[0].split()[1:]
        command = main
        while words and isinstance(command, click.Group) and words[0] in command.commands:
            command = command.commands[words.pop(0)]
        assert command is not main or words[0].startswith("-") or words[0] in ("COMMAND",), line
        section = COMMANDS.split(f"folioreel {command.name}") if command is not main else [COMMANDS]
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", " ".join(words)):
            assert any(option in part for part in section[1:] or section), f"{line}: {option}"


def test_every_command_is_in_the_reference():
    for name, command in main.commands.items():
        assert f"\n## folioreel {name}\n" in COMMANDS
        for child in getattr(command, "commands", {}):
            if not command.commands[child].hidden:
                assert f"\n## folioreel {name} {child}\n" in COMMANDS


def test_every_field_of_an_alignment_is_in_the_reference():
    from folioreel.export.alignment_json import alignment_to_dict

    text = (ROOT / "docs" / "reference" / "formats.md").read_text("utf-8")
    alignment = folioreel.align(demo_folder() / "book.txt", demo_folder() / "film.srt")
    document = alignment_to_dict(alignment)
    objects = [document, document["book"], document["film"], document["model"]]
    objects += [document["model"]["config"], document["model"]["options"], document["links"][0]]
    objects += [document["model"]["config"][name] for name in ("steps", "chain", "pictures")]
    for field in {name for found in objects for name in found}:
        assert f"`{field}`" in text, field


def test_the_site_lists_every_page():
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        assert page.relative_to(ROOT / "docs").as_posix() in text


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == folioreel.__version__
    assert [a["family-names"] for a in citation["references"][0]["authors"]] == [
        *("Zhu", "Kiros", "Zemel", "Salakhutdinov", "Urtasun", "Torralba", "Fidler")
    ]


def test_commits_are_checked_as_make_check_does():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0][
        "hooks"
    ]
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\ncheck:")[1].split("\n\n")[0]
    assert [hook["entry"].removeprefix(".venv/bin/") for hook in hooks] == [
        line.strip().removeprefix("$(BIN)/") for line in recipe.splitlines()[1:]
    ]
