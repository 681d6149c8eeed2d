"""What several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.errors import ConfigError

if TYPE_CHECKING:
    from folioreel.alignment.aligner import Aligner

FILE = click.Path(path_type=Path, readable=False)
"""A file or a folder; that it is there and can be read is for the library to say."""

preset_option = click.option(
    "--preset", default="default", show_default=True, help="default, paper, or a folder."
)
encoder_option = click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    help="What gives the sentence vectors in place of the preset's own, such as minilm.",
)
force_option = click.option(
    "--force", is_flag=True, help="Replace results that are already in --out."
)
engine_option = click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where the work is done: on this machine, or on a Ray cluster (folioreel[ray]).",
)
workers_option = click.option(
    "--workers", type=int, metavar="N", help="Pieces of work at once; one a core if not given."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def load_aligner(preset: str, encoder: str | None) -> Aligner:
    """The aligner of a preset, with another encoder for its sentence vectors where one is named.

    Raises:
        ConfigError: There is no such preset or encoder, or the preset has no use for it.
        ModelFolderError: The encoder's folder is missing or damaged.
    """
    from dataclasses import replace

    from folioreel.alignment.aligner import Aligner
    from folioreel.models.sentence_encoder import load_encoder

    aligner = Aligner.load(preset)
    if encoder is None:
        return aligner
    measures = aligner.config.measures
    if any(name.startswith("semantic") for name in measures):
        config = replace(aligner.config, semantic_encoder=encoder)
    elif "sentence" in measures:
        config = replace(aligner.config, sentence_encoder=encoder)
    else:
        raise ConfigError(
            f"the preset {preset} takes no sentence vectors, so that --encoder would change "
            "nothing; leave it out, or choose another --preset"
        )
    load_encoder(encoder)  # a wrong one is refused before the film is looked at, which takes long
    if config != aligner.config:
        click.echo(
            f"the preset {preset} was learned with another encoder than {encoder}; its links may "
            "be surer than they should",
            err=True,
        )
    return Aligner(config, aligner.name)
