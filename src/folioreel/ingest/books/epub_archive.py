"""The archive that an EPUB is: opened with care, because it comes from anywhere."""

from __future__ import annotations

import io
import lzma
import struct
import unicodedata
import zipfile
import zlib
from pathlib import Path
from urllib.parse import unquote

from folioreel.errors import InputError
from folioreel.ingest.books.html_rules import tag_of
from folioreel.ingest.books.trees import parse_xml
from folioreel.ingest.source import read_bytes

_LARGEST_DOCUMENT = 64 * 2**20
_LARGEST_TOTAL = 512 * 2**20
"""Bytes of markup that are unpacked at most; the longest novels need 10 MB."""
BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    IndexError,
    KeyError,
)
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_LICENCES = {
    "META-INF/rights.xml": "Adobe DRM",
    "META-INF/sinf.xml": "Apple FairPlay",
    "META-INF/license.lcpl": "Readium LCP",
}


class Archive:
    """A ZIP archive whose members are found by the paths that people write."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            InputError: It is missing, no archive, cut short, or behind a password.
        """
        self.path = path
        data = read_bytes(path)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            members = self._zip.infolist()
        except BROKEN_ZIP as error:
            if data.startswith(b"PK"):
                message = "is cut short or damaged; download or copy it again"
            else:
                message = "is not an EPUB (no ZIP archive); was another file renamed?"
            raise InputError(message, path) from error
        if any(member.flag_bits & 1 for member in members):
            raise InputError("is behind a password; unpack it and pack it without one", path)
        self._names: dict[str, str] = {}
        names = self._zip.namelist()
        folder = _outer_folder(names)
        for name in names:
            self._names.setdefault(_folded(name.removeprefix(folder)), name)
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        """Whether there is such a member."""
        return _folded(name) in self._names

    @property
    def names(self) -> list[str]:
        """The paths of all members."""
        return list(self._names.values())

    def read(self, name: str) -> bytes:
        """A member's bytes.

        Raises:
            InputError: The member is damaged, or far larger than any book.
        """
        try:
            with self._zip.open(self._names[_folded(name)]) as member:
                data = member.read(_LARGEST_DOCUMENT + 1)
        except BROKEN_ZIP as error:
            message = f"is damaged ({name} cannot be unpacked); download or copy it again"
            raise InputError(message, self.path) from error
        self._unpacked += len(data)
        if len(data) > _LARGEST_DOCUMENT or self._unpacked > _LARGEST_TOTAL:
            raise InputError(
                f"unpacks to far more than a book holds ({name}); is it sound?", self.path
            )
        return data


def _outer_folder(names: list[str]) -> str:
    """The folder that was packed with the book in it, instead of the book alone."""
    containers = [name for name in names if name.endswith("META-INF/container.xml")]
    return containers[0].removesuffix("META-INF/container.xml") if len(containers) == 1 else ""


def _folded(name: str) -> str:
    """A path under which its variants meet: capitals, backslashes, escapes, accents."""
    return unicodedata.normalize("NFC", unquote(name).replace("\\", "/")).casefold()


def refuse_protected(archive: Archive) -> None:
    """Say so if the publisher's protection (DRM) keeps the text from us.

    Obfuscated fonts are no protection of the text.

    Raises:
        InputError: The text is encrypted, or a licence of a known scheme is there.
    """
    schemes = [scheme for name, scheme in _LICENCES.items() if name in archive]
    if not schemes and not _encrypts_text(archive):
        return
    scheme = schemes[0] if schemes else "DRM"
    raise InputError(
        f"is protected ({scheme}); give a copy without protection, as some shops sell them",
        archive.path,
    )


def _encrypts_text(archive: Archive) -> bool:
    if "META-INF/encryption.xml" not in archive:
        return False
    tree = parse_xml(archive.read("META-INF/encryption.xml"), archive.path)
    for entry in tree.iter():
        if tag_of(entry) == "encrypteddata":
            methods = [node for node in entry.iter() if tag_of(node) == "encryptionmethod"]
            if not any(node.get("Algorithm") in _FONT_ALGORITHMS for node in methods):
                return True
    return False
