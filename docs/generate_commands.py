"""The commands reference of the documentation: what `--help` says, as Markdown.

MkDocs runs this as a hook, so that the page is always up to date. To see it without the site:

    python docs/generate_commands.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from folioreel.cli import main

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

PAGE = "reference/commands.md"
# Code blocks on the site scroll sideways beyond about this many columns.
WIDTH = 88
INTRODUCTION = """\
# Commands

This page is generated from `folioreel COMMAND --help`.

Results go to stdout or to `--out`; progress, notes and errors go to stderr. The exit code is 0 for
success, 1 for an error, explained in one line, 2 for a command that was typed wrongly, and 130 for
one that was stopped with Ctrl-C.
"""


def walk_commands(context: click.Context) -> Iterator[click.Context]:
    """The context of each command below one, groups before their commands, as `--help` lists."""
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        child = click.Context(command, parent=context, info_name=name, terminal_width=WIDTH)
        yield child
        yield from walk_commands(child)


def commands_reference() -> str:
    """The whole page: one section per command."""
    root = click.Context(main, info_name="folioreel", terminal_width=WIDTH, **main.context_settings)
    sections = [
        f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"
        for context in [root, *walk_commands(root)]
    ]
    return "\n".join([INTRODUCTION, *sections])


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to the site; MkDocs calls this by its name."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=commands_reference()))
    return files


if __name__ == "__main__":
    sys.stdout.write(commands_reference())
