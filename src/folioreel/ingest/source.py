"""The user's files as bytes: opened once, unpacked, recognised by their first bytes."""

from __future__ import annotations

import codecs
import hashlib
import io
import lzma
import re
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from folioreel.errors import InputError
from folioreel.ingest.encodings import decode_text
from folioreel.reading import (
    LARGEST_TEXT,
    STRONGEST_PACKING,
    inflates_absurdly,
    megabytes,
    open_file,
    read_rest,
    read_some,
)

# Enough to recognise any format; a video given by mistake is refused before it is read whole.
_HEAD_BYTES = 65536
# Most bytes that are unpacked of one archive; of one member, `LARGEST_TEXT`.
_LARGEST_TOTAL = 2 * LARGEST_TEXT
# What `zipfile` and its decompressors raise on damaged archives.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError)
_BROKEN_ZIP = (*_DAMAGE, OSError, ValueError, ArithmeticError, LookupError, RuntimeError)

# How files begin, and what to call them in a message; what says more comes first.
_Signatures = tuple[tuple[bytes, str], ...]
_VIDEOS: _Signatures = (
    (rb".{4}ftyp", "an MP4 video"),
    (rb".{4}moov", "a QuickTime video"),
    (rb"\x1aE\xdf\xa3", "a Matroska video"),
    (rb".{8}AVI ", "an AVI video"),
    (rb"FLV\x01", "a Flash video"),
    (rb"0&\xb2u\x8ef\xcf\x11", "a Windows Media video"),
    (rb"\x00\x00\x01\xba", "an MPEG video"),
    (rb"OggS", "an Ogg file"),
)
_KNOWN: _Signatures = (
    *_VIDEOS,
    (rb"PK\x03\x04.{0,176}application/epub\+zip", "an EPUB book"),
    (rb"PK\x03\x04.{0,4087}word/", "a Word document"),
    (rb"PK\x03\x04", "a ZIP archive (unpack it first)"),
    (rb".{60}BOOKMOBI", "a Kindle book (MOBI or AZW)"),
    (rb"RIFF.{4}WEBP", "a WebP picture"),
    (rb"RIFF.{4}WAVE", "a WAV recording"),
    (rb"RIFF", "a RIFF file"),
    (rb"\xff\xd8\xff", "a JPEG picture"),
    (rb"\x89PNG", "a PNG picture"),
    (rb"GIF8", "a GIF picture"),
    (rb"Rar!", "a RAR archive (unpack it first)"),
    (rb"7z\xbc\xaf", "a 7-Zip archive (unpack it first)"),
    (rb"\x1f\x8b", "a gzip archive (unpack it first)"),
    (rb"ID3", "an MP3 recording"),
    (rb"fLaC", "a FLAC recording"),
    (rb"\xd0\xcf\x11\xe0", "an old Microsoft Office document"),
    (rb"MZ", "a Windows program"),
    (rb"\x7fELF", "a program"),
    (rb"SQLite format 3", "a database"),
    (rb"TPZ", "a Kindle book (Topaz)"),
    (rb"ITSF", "a Windows help file (CHM)"),
    (rb"AT&TFORM", "a DjVu scan"),
    (rb".{60}TEXtREAd", "a book for Palm (PRC or PDB)"),
    (rb"ITOLITLS", "a book for Microsoft Reader (LIT)"),
    (rb"CONT[\x01\x02]\x00", "a Kindle book (KFX)"),
    (rb"\xffWPC", "a WordPerfect document"),
)
_KNOWN_TEXTS: _Signatures = (
    (rb"%PDF", "a PDF document"),
    (rb"\{\\rtf", "an RTF document"),
    (rb"%!PS", "a PostScript document"),
    (rb"(?:<\?xml.{0,400}>)?\s*<office:document\b", "an OpenDocument text (FODT)"),
)
_BITMAP_SUBTITLES: _Signatures = (
    (rb"PG", "a PGS stream (.sup)"),
    (rb"\x00\x00\x01\xba", "a VobSub stream (.sub)"),
)
_VOBSUB_INDEX: _Signatures = ((rb"# VobSub index", "a VobSub index (.idx)"),)
_TEXTS: _Signatures = (
    (rb"<!doctype html|<html", "a web page (was it saved instead of the file behind it?)"),
    (rb"<\?xml|<\w+[\s>]", "an XML document"),
    (rb"[{\[]\s*(?:[\[{\]}\"]|-?\d[\d.e]*\s*[,\]])", "a JSON document"),
)


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file of the user's, read once; hash, text and archive are made from its bytes on demand."""

    path: Path
    data: bytes

    @cached_property
    def sha256(self) -> str:
        """The hash of the content."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> str:
        """The content decoded as text; raises `InputError` as `decode_text` does."""
        return decode_text(self.data, self.path)

    @cached_property
    def archive(self) -> Archive:
        """The content opened as a ZIP archive; raises `InputError` as `Archive` does."""
        return Archive(self.data, self.path)


def open_source(path: Path, check: Callable[[bytes, Path], None] | None = None) -> SourceFile:
    """Read a whole file, opening it once.

    `check` is given the first bytes, and raises an error if the rest is not worth reading.
    """
    with _opened(path) as (head, file):
        if check is not None:
            check(head, path)
        return SourceFile(path=path, data=head + read_rest(file, path))


def read_bytes(path: Path) -> bytes:
    """The whole file; errors as `open_source` has them."""
    return open_source(path).data


def read_head(path: Path) -> bytes:
    """The first bytes of a file, enough to recognise it; errors as `open_source` has them."""
    with _opened(path) as (head, _):
        return head


@contextmanager
def _opened(path: Path) -> Iterator[tuple[bytes, BinaryIO]]:
    """A file's first bytes, and the file to read on from there."""
    with open_file(path) as file:
        head = read_some(file, _HEAD_BYTES, path)
        if not head:
            raise InputError("the file is empty; was its download or copy cut short?", path)
        yield head, file


class Archive:
    """A ZIP archive whose members are found under any spelling of their path."""

    def __init__(self, data: bytes, path: Path) -> None:
        """Open it; raises `InputError` if it is no archive, cut short, or behind a password."""
        self.path = path
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            members = self._zip.infolist()
        except _BROKEN_ZIP as error:
            if is_zip(data):
                message = "is cut short or damaged; download or copy it again"
            else:
                message = "is not an EPUB (no ZIP archive); was another file renamed?"
            raise InputError(message, path) from error
        if any(member.flag_bits & 1 for member in members):
            raise InputError("is behind a password; unpack it and pack it without one", path)
        names = self._zip.namelist()
        # An EPUB may have been packed together with the folder that it was in.
        inner = "META-INF/container.xml"
        folders = [name.removesuffix(inner) for name in names if name.endswith(inner)]
        folder = folders[0] if len(folders) == 1 else ""
        # Of names that differ in spelling alone, the first counts; of equal ones, the last.
        self._names = {_folded(name.removeprefix(folder)): name for name in reversed(names)}
        self._size, self._unpacked = len(data), 0
        self._refuse_bomb(sum(member.file_size for member in members))  # as they say

    def __contains__(self, name: str) -> bool:
        """Whether there is such a member."""
        return _folded(name) in self._names

    @property
    def names(self) -> list[str]:
        """The paths of all members."""
        return list(self._names.values())

    def read(self, name: str) -> bytes:
        """A member's bytes; raises `InputError` if it is damaged, or far larger than any book."""
        try:
            with self._zip.open(self._names[_folded(name)]) as member:
                data = member.read(LARGEST_TEXT + 1)
        except _BROKEN_ZIP as error:
            message = f"is damaged ({name} cannot be unpacked); download or copy it again"
            raise InputError(message, self.path) from error
        self._unpacked += len(data)
        if len(data) > LARGEST_TEXT or self._unpacked > _LARGEST_TOTAL:
            message = f"holds more than {megabytes(LARGEST_TEXT)} of text; is it really a book?"
            raise InputError(message, self.path)
        self._refuse_bomb(self._unpacked)
        return data

    def _refuse_bomb(self, unpacked: int) -> None:
        if inflates_absurdly(self._size, unpacked):
            message = f"unpacks to more than {STRONGEST_PACKING} times its size; is it a book?"
            raise InputError(message, self.path)


def _folded(name: str) -> str:
    """One spelling for all of a path: capitals, backslashes, escapes, accents."""
    return unicodedata.normalize("NFC", unquote(name).replace("\\", "/")).casefold()


def _match(data: bytes, signatures: _Signatures) -> str | None:
    found = (name for magic, name in signatures if re.match(magic, data, re.DOTALL))
    return next(found, None)


def _match_binary(data: bytes, signatures: _Signatures) -> str | None:
    """As `_match`, but text is no binary file, even if it begins with `PK`, `MZ` or `RIFF`."""
    return None if _is_plain_text(data[:4096]) else _match(data, signatures)


def _is_plain_text(head: bytes) -> bool:
    """Whether bytes are UTF-8, perhaps cut inside a character, without control characters."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x7f]", head)


def is_zip(data: bytes) -> bool:
    """Whether bytes begin like a ZIP archive, perhaps an empty one."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def describe_bitmap_subtitles(data: bytes) -> str | None:
    """The kind of subtitle file that holds pictures of text, or None."""
    data = data[:_HEAD_BYTES].lstrip(b"\xef\xbb\xbf")
    return _match(data, _VOBSUB_INDEX) or _match_binary(data, _BITMAP_SUBTITLES)


def describe_video(data: bytes) -> str | None:
    """The kind of video whose first bytes these are, or None."""
    return _match_binary(data, _VIDEOS)


def describe_known(data: bytes) -> str | None:
    """The kind of file that these first bytes are the signature of, or None."""
    return _match(data, _KNOWN_TEXTS) or _match_binary(data, _KNOWN)


def describe_file(data: bytes) -> str:
    """What an unexpected file seems to be, in words for an error message."""
    if (known := describe_known(data)) is not None:
        return known
    if data[3:6] == b"STL" and data[6:8].isdigit():
        return "EBU STL subtitles (convert them with Subtitle Edit)"
    if b"\x00" in data[:4096]:
        return "a binary file of unknown kind"
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return _match(start, _TEXTS) or "plain text without times"
