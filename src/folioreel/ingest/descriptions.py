"""Clips that people have described: the Flickr8k folder, and tables of clips and sentences."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from folioreel.errors import InputError

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Described:
    """A clip or picture and what people wrote about it."""

    clip: str
    """The id of a picture, or the file of a clip."""
    texts: tuple[str, ...]


def is_flickr8k(folder: Path) -> bool:
    """Whether a folder looks like the Flickr8k data set."""
    return (folder / "captions.tsv").is_file()


def read_flickr8k(folder: Path, split: Split) -> list[Described]:
    """The pictures of one part of the standard split, with their captions.

    Args:
        folder: Holds `captions.tsv` (id, tab, caption), and `train.txt`, `dev.txt`, `test.txt`.
        split: Which part.

    Raises:
        InputError: A file is missing or broken, or a picture has no caption.
    """
    captions = _read_table(folder / "captions.tsv")
    path = folder / f"{split}.txt"
    ids = _read_lines(path)
    missing = [name for name in ids if name not in captions]
    if missing or not ids:
        reason = f"names {missing[0]}, which has no caption" if missing else "is empty"
        raise InputError(reason, path)
    return [Described(clip=name, texts=tuple(captions[name])) for name in ids]


def read_pictures(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All pictures of Flickr8k: id and file, out of `images-*.tar` or of `images/`.

    Raises:
        InputError: There are none, or an archive is damaged.
    """
    archives = sorted(folder.glob("images-*.tar"))
    files = sorted((folder / "images").glob("*.*"))
    if not archives and not files:
        raise InputError(
            "has neither images-*.tar nor images/; give the folder of Flickr8k", folder
        )
    for path in files:
        yield path.stem, path.read_bytes()
    for archive in archives:
        try:
            with tarfile.open(archive) as opened:
                for member in opened:
                    found = opened.extractfile(member)
                    if found is not None:
                        yield Path(member.name).stem, found.read()
        except (tarfile.TarError, EOFError, OSError) as error:
            raise InputError("is damaged; copy it again", archive) from error


def read_clip_table(path: Path) -> list[Described]:
    """A table of clips and descriptions as of LSMDC and MPII-MD: clip, tab, sentence.

    Clips are files beside the table, or the names of such files without their ending. Columns
    between the first and the last, as LSMDC's times are, are passed over.

    Raises:
        InputError: The file is missing or broken, or holds nothing.
    """
    table = _read_table(path)
    if not table:
        raise InputError("holds no clips", path)
    return [Described(clip=clip, texts=tuple(texts)) for clip, texts in table.items()]


def _read_table(path: Path) -> dict[str, list[str]]:
    """First column → the last column of all its rows, in order."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(_read_lines(path), 1):
        name, *_, text = [*line.split("\t"), ""] if "\t" not in line else line.split("\t")
        if not name or not text.strip():
            raise InputError("should be a name, a tab and a sentence", path, number)
        found.setdefault(name, []).append(text.strip())
    return found


def _read_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{reason}; give the folder of Flickr8k", path) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", path) from error
    return [line for line in text.splitlines() if line.strip()]
