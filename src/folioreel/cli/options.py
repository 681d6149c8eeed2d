"""What several commands take."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(path_type=Path, readable=False)
"""A file or a folder; that it is there and can be read is for the library to say."""

preset_option = click.option(
    "--preset", default="default", show_default=True, help="default or paper."
)
force_option = click.option(
    "--force", is_flag=True, help="Replace results that are already in --out."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
