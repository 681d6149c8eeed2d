"""Described clips: Flickr8k, tables of clips and sentences, and names → `someone` (section 4.2).

No list of names could have those of every film and book. A name is recognised by its spelling: with
a capital inside a sentence, and never without one in the same texts.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

from folioreel.errors import InputError
from folioreel.ingest.tables import TableRow, read_rows
from folioreel.reading import read_rest, read_utf8, read_whole

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
SOMEONE = "someone"

_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_START = re.compile(r"(?:^|[.!?:…]|--|—)[\s\"“”‘’'«»()\[\]-]*$")
_OWNER = re.compile(r"[’']s?$")
_TITLES = frozenset(
    "mr mrs ms miss dr sir lady lord captain colonel professor aunt uncle madame".split()
)
_AFTER_TITLE = re.compile(rf"\b(?:{'|'.join(sorted(_TITLES))})\.?\s+$", re.IGNORECASE)
# Capitalised words that are not names of people; the last line has breeds of dogs (Flickr8k).
_NO_NAMES = frozenset(
    """
    i i'm i'd i'll i've monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december christmas easter halloween
    english french german italian spanish russian american british irish scottish african asian
    indian chinese japanese mexican european australian canadian christian jewish muslim catholic
    god tv cd dvd suv ok usa uk us atv bmx nike frisbee santa american-football caucasian hispanic
    labrador retriever shepherd terrier dalmatian rottweiler poodle collie husky chihuahua dachshund
    """.split()
)
_FAR = 100  # characters from a word, beyond which nothing tells what it is
_LONGEST_GAP = re.compile(r"[\s.]*")


@dataclass(frozen=True, kw_only=True)
class DescribedClip:
    """A clip or picture and what people wrote about it."""

    clip: str  # the id of a picture, or the file of a clip
    texts: tuple[str, ...]


def is_flickr8k(folder: Path) -> bool:
    """Whether a folder looks like the Flickr8k data set."""
    return (folder / "captions.tsv").is_file()


def read_flickr8k(folder: Path, split: Split) -> list[DescribedClip]:
    """The pictures of one part of the standard split, with their captions.

    The folder has `captions.tsv` (id, tab, caption), and `train.txt`, `dev.txt`, `test.txt`.
    """
    table = folder / "captions.tsv"
    lines = enumerate(_read_lines(table), 1)
    rows = (TableRow(line=number, cells=tuple(line.split("\t"))) for number, line in lines)
    captions = _group_sentences(rows, table)
    path = folder / f"{split}.txt"
    ids = _read_lines(path)
    missing = [name for name in ids if name not in captions]
    if missing or not ids:
        reason = f"names {missing[0]}, which has no caption" if missing else "is empty"
        raise InputError(reason, path)
    return [DescribedClip(clip=name, texts=tuple(captions[name])) for name in ids]


def read_pictures(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All pictures of Flickr8k, id and content, from `images-*.tar` or `images/`."""
    archives = sorted(folder.glob("images-*.tar"))
    files = sorted((folder / "images").glob("*.*"))
    if not archives and not files:
        reason = "has neither images-*.tar nor images/; give the folder of Flickr8k"
        raise InputError(reason, folder)
    for path in files:
        yield path.stem, read_whole(path)
    for archive in archives:
        try:
            with tarfile.open(archive) as opened:
                for member in opened:
                    found = opened.extractfile(member)
                    if found is not None:
                        yield Path(member.name).stem, read_rest(cast(BinaryIO, found), archive)
        except (tarfile.TarError, EOFError, OSError) as error:
            raise InputError("is damaged; copy it again", archive) from error


def read_clip_table(path: Path) -> list[DescribedClip]:
    """A table of clips and sentences, such as those of LSMDC and MPII-MD: clip, tab, sentence.

    It may be CSV, too. Clips are files beside the table, or names of such files without their
    suffix. Columns between the first and the last, such as LSMDC's times, are ignored.
    """
    table = _group_sentences(read_rows(path, quoted_tabs=False), path)
    if not table:
        raise InputError("holds no clips", path)
    return [DescribedClip(clip=clip, texts=tuple(texts)) for clip, texts in table.items()]


def _group_sentences(rows: Iterable[TableRow], path: Path) -> dict[str, list[str]]:
    """First column → the last column of all its rows, in order."""
    found: dict[str, list[str]] = {}
    for row in rows:
        name, *others = row.cells
        if not name or not others or not others[-1].strip():
            raise InputError("should be a name, a tab and a sentence", path, row.line)
        found.setdefault(name, []).append(others[-1].strip())
    return found


def _read_lines(path: Path) -> list[str]:
    if not path.exists():
        raise InputError("is missing; give the folder of Flickr8k", path)
    return [line for line in read_utf8(path).splitlines() if line.strip()]


def find_names(texts: Iterable[str]) -> frozenset[str]:
    """The words that are spelled as names in some texts, in lower case.

    These are words with a capital where only a name has one, which never occur without. Texts in
    capitals only are ignored.
    """
    capital: set[str] = set()
    small: set[str] = set()
    for text in texts:
        if text == text.upper():
            continue
        for match in _WORD.finditer(text):
            word = _OWNER.sub("", match.group())
            if word[:1].islower():
                small.add(word.lower())
            elif word[1:].islower() and not _starts_sentence(
                text[max(0, match.start() - _FAR) : match.start()]
            ):
                capital.add(word.lower())
    return frozenset(capital - small - _NO_NAMES - _TITLES)


def replace_names(text: str, names: frozenset[str]) -> str:
    """A text with `someone` in place of each name, however many words it has.

    `Mr. Harry Potter's owl` becomes `someone's owl`.
    """
    found: list[str] = []
    at = 0
    inside = False  # whether the word before was part of a name
    for match in _WORD.finditer(text):
        word = match.group()
        owner = _OWNER.search(word)
        bare = word[: owner.start()] if owner else word
        gap = text[at : match.start()]
        name = word[:1].isupper() and (
            bare.lower() in names
            or _is_title_of_name(bare, text[match.end() : match.end() + _FAR], names)
        )
        if name and inside and _LONGEST_GAP.fullmatch(gap):
            found[-1] = SOMEONE + (owner.group() if owner else "")
        else:
            found += [gap, SOMEONE + (owner.group() if owner else "") if name else word]
        inside = name and owner is None
        at = match.end()
    return "".join([*found, text[at:]])


def _starts_sentence(before: str) -> bool:
    """Whether any word would be capitalised after some text."""
    return bool(_START.search(before)) and not _AFTER_TITLE.search(before)


def _is_title_of_name(word: str, rest: str, names: frozenset[str]) -> bool:
    """Whether a word is a title (`Mr`, `Aunt`) that a name follows."""
    following = _WORD.search(rest)
    return (
        word.lower() in _TITLES
        and following is not None
        and _LONGEST_GAP.fullmatch(rest[: following.start()]) is not None
        and _OWNER.sub("", following.group()).lower() in names
    )
