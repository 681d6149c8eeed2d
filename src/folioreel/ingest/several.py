"""Books and films that come as several files: their order, hash and names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from folioreel.errors import InputError
from folioreel.ingest.file_order import COUNTED, are_numbered, natural_sort, read_number
from folioreel.reading import is_folder
from folioreel.text import printable

Given = Path | str | Sequence[Path | str]
"""One file, a folder of files, or several of either in order."""

_AROUND = " \t-–—_.,:;([#"  # between a shared title and the name of a part
_WORD = re.compile(r"[^\s_–—-]+")


def list_files(given: Given, what: str, choose: Callable[[list[Path]], list[Path]]) -> list[Path]:
    """The files that were given, each folder replaced by its own in natural order.

    Args:
        given: Files and folders.
        what: What one of the files is, in words for an error message.
        choose: Picks those that belong together out of the files of a folder.

    Raises:
        InputError: Nothing was given, a file twice, or a folder cannot be read or holds nothing.
    """
    files: list[Path] = []
    for path in each_given(given):
        files += _list_folder(path, what, choose) if is_folder(path) else [path]
    if not files:
        raise InputError("no file was given")
    seen: set[Path] = set()
    for path in files:
        if path in seen:
            raise InputError("is given twice; give each file once, in order", path)
        seen.add(path)
    return files


def _list_folder(folder: Path, what: str, choose: Callable[[list[Path]], list[Path]]) -> list[Path]:
    try:
        inside = [path for path in folder.iterdir() if path.is_file()]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", folder) from error
    visible = [path for path in inside if not path.name.startswith(".")]
    files = natural_sort(choose(natural_sort(visible)))
    if not files:
        raise InputError(
            f"is a folder with no {what} in it (subfolders are not searched); give the files",
            folder,
        )
    return files


def each_given(given: Given) -> list[Path]:
    """The files and folders that were given."""
    return [Path(given)] if isinstance(given, Path | str) else list(map(Path, given))


def name_files(files: Iterable[Path], what: str) -> str:
    """A note on the order of files: `parts: CD1.avi, CD2.avi`."""
    return f"{what}: {', '.join(printable(path.name) for path in files)}"


def check_order(given: Given, files: Iterable[Path]) -> str | None:
    """A warning if a folder was given, and the names in it do not say in which order they come."""
    inside = list(files)
    for folder in filter(is_folder, each_given(given)):
        if not are_numbered(path for path in inside if path.parent == folder):
            return (
                f"the names of the files in {printable(folder.absolute().name)} have no numbers "
                "that folioreel understands, so they are in alphabetical order; if that is wrong, "
                "give the files one by one, in order"
            )
    return None


def check_distinct(files: Sequence[Path], name_of: Callable[[Path], str]) -> list[Path]:
    """The files of a folder; raises `InputError` if two seem to be the same in other forms."""
    names: dict[str, Path] = {}
    for path in files:
        other = names.setdefault(name_of(path).casefold(), path)
        if other != path:
            message = f"holds both {other.name} and {path.name}; give the files that you mean"
            raise InputError(message, path.parent)
    return list(files)


def join_hashes(hashes: Iterable[str | None]) -> str | None:
    """One hash for several files in their order; None if one of them has none."""
    known = list(hashes)
    if None in known:
        return None
    return hashlib.sha256("\n".join(map(str, known)).encode("ascii")).hexdigest()


def share_title(titles: Sequence[str], files: Sequence[Path]) -> tuple[str, list[str]]:
    """What files have in common, and a name for each that no other has.

    >>> share_title(["Alice CD1", "Alice CD2"], [Path("a1.avi"), Path("a2.avi")])
    ('Alice', ['CD1', 'CD2'])
    """
    stems = [re.sub(r"[._]+", " ", printable(path.stem)) for path in files]
    for names in (titles, stems):
        shared, rests = _split_titles(names)
        if shared:
            return shared, rests
    parents = [printable(path.absolute().parent.name) for path in files]
    inside = [f"{parent}/{stem}" for parent, stem in zip(parents, stems, strict=True)]
    numbers = [str(number) for number in range(1, len(files) + 1)]
    names = next(names for names in (titles, stems, inside, numbers) if _differ(names))
    if len(set(titles)) == 1:
        return titles[0], list(names)
    if len(set(parents)) == 1 and all(map(_counts, names)):  # `Alice/CD1.avi`, `Alice/CD2.avi`
        return parents[0] or names[0], list(names)
    others = len(titles) - 1
    return f"{titles[0]} and {others} other{'s' * (others != 1)}", list(names)


def _split_titles(titles: Sequence[str]) -> tuple[str, list[str]]:
    """The words that titles begin with and what follows; empty unless that counts the files."""
    if not _differ(titles):
        return "", []
    words = [list(_WORD.finditer(title)) for title in titles]
    columns = zip(*([word.group().casefold() for word in row] for row in words), strict=False)
    alike = list(takewhile(lambda column: len(set(column)) == 1, columns))
    while alike and _bare(alike[-1][0]) in COUNTED:
        alike.pop()
    if not alike:
        return "", []
    ends = [row[len(alike) - 1].end() for row in words]
    rests = [title[end:].lstrip(_AROUND) for title, end in zip(titles, ends, strict=True)]
    # `film` and `film 2`: one of them may go without a number.
    if not _differ(rests) or not all(map(_counts, filter(None, rests))):
        return "", []
    shared = titles[0][: ends[0]].strip(_AROUND)
    return shared, [rest or title for rest, title in zip(rests, titles, strict=True)]


def _counts(name: str) -> bool:
    """Whether a name begins like that of a part: with a number, or a word for a number."""
    words = [_bare(word.group()) for word in _WORD.finditer(name)]
    first = next((word for word in words if word not in COUNTED), "")
    return bool(re.match(r"[a-z]{0,7}\d", first)) or read_number(first) is not None


def _bare(word: str) -> str:
    return word.casefold().strip(_AROUND + ")]")


def _differ(names: Sequence[str]) -> bool:
    return len({name.casefold() for name in names}) == len(names)
