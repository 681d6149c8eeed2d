"""The formats that an alignment can be written in, by name; each is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from folioreel.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class PictureStyle:
    """How the picture is drawn, where that is the user's choice."""

    title: str | None = None
    """What stands above it instead of the titles of film and book; none if it is empty."""
    has_subtitle: bool = True
    """Whether the share of the film that is in the book stands below the title."""
    size_in: tuple[float, float] = (13.0, 6.0)
    """Width and height in inches."""


USUAL_STYLE = PictureStyle()


@dataclass(frozen=True, kw_only=True)
class Format:
    """A way to write an alignment."""

    file: str  # the name of its file in a folder of results
    writer: str  # module.function in folioreel.export
    what: str  # for --help
    has_parts: bool = False
    """Whether a film in several parts also gets a file for each part, with its own times."""
    is_picture: bool = False
    """Whether its writer takes a `PictureStyle`."""
    needs: str = ""
    """A package that is not always installed …"""
    extra: str = ""
    """… and the extra of folioreel that installs it."""

    @property
    def is_installed(self) -> bool:
        """Whether the package that it needs is there."""
        return not self.needs or find_spec(self.needs) is not None

    def check_installed(self) -> None:
        """Stop before anything is written.

        Raises:
            ConfigError: The package that it needs is not installed.
        """
        if not self.is_installed:
            raise ConfigError(
                f'{self.file} needs one more package; run: pip install "folioreel[{self.extra}]"'
            )

    def load_writer(self) -> Callable[..., None]:
        """The function that writes it: `write(alignment, path)`, or `write(…, part)`."""
        module, _, name = self.writer.partition(".")
        found: Callable[..., None] = getattr(import_module(f"folioreel.export.{module}"), name)
        return found


FORMATS = {
    "csv": Format(file="alignment.csv", writer="tables.write_csv", what="a table of the links"),
    "vtt": Format(
        file="alignment.vtt",
        writer="tables.write_vtt",
        what="WebVTT with the links as JSON",
        has_parts=True,
    ),
    "srt": Format(
        file="book.srt",
        writer="tables.write_srt",
        what="the passages as subtitles",
        has_parts=True,
    ),
    "png": Format(
        file="alignment.png", writer="picture.write_picture", what="the picture", is_picture=True
    ),
    "svg": Format(
        file="alignment.svg", writer="picture.write_picture", what="the picture", is_picture=True
    ),
    "pdf": Format(
        file="alignment.pdf", writer="picture.write_picture", what="the picture", is_picture=True
    ),
    "page": Format(file="page.html", writer="page_html.write_page", what="the page"),
    "eaf": Format(file="alignment.eaf", writer="elan.write_eaf", what="ELAN", has_parts=True),
    "tei": Format(file="alignment.tei.xml", writer="tei.write_tei", what="TEI stand-off"),
    "web-annotation": Format(
        file="annotations.jsonld",
        writer="web_annotation.write_web_annotation",
        what="W3C Web Annotation",
    ),
    "jsonl": Format(
        file="alignment.jsonl", writer="tables.write_jsonl", what="the table as JSON Lines"
    ),
    "parquet": Format(
        file="alignment.parquet",
        writer="tables.write_parquet",
        what="the table as Parquet (needs folioreel[parquet])",
        needs="pyarrow",
        extra="parquet",
    ),
    "sentences": Format(
        file="sentences.csv",
        writer="tables.write_sentences",
        what="a table of the book's sentences",
    ),
    # Last: a folder that has it has all the others.
    "json": Format(
        file="alignment.json", writer="alignment_json.write_alignment", what="alignment.json"
    ),
}
"""Name → format, in the order of writing."""
RESULTS = ("csv", "vtt", "srt", "png", "page", "json")
"""What `folioreel align --out` writes."""
