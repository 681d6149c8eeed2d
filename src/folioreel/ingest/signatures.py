"""What a file seems to be, from its first bytes: for messages about files that we do not read."""

from __future__ import annotations

import re

_MAGIC = (
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x89PNG", "a PNG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"Rar!", "a RAR archive (unpack it first)"),
    (b"7z\xbc\xaf", "a 7-Zip archive (unpack it first)"),
    (b"\x1f\x8b", "a gzip archive (unpack it first)"),
    (b"ID3", "an MP3 recording"),
    (b"fLaC", "a FLAC recording"),
    (b"{\\rtf", "an RTF document"),
    (b"\xd0\xcf\x11\xe0", "an old Microsoft Office document"),
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a database"),
    (b"TPZ", "a Kindle book (Topaz)"),
    (b"ITSF", "a Windows help file (CHM)"),
    (b"AT&TFORM", "a DjVu scan"),
)
_VIDEO_MAGIC = (
    (4, b"ftyp", "an MP4 video"),
    (4, b"moov", "a QuickTime video"),
    (0, b"\x1aE\xdf\xa3", "a Matroska video"),
    (8, b"AVI ", "an AVI video"),
    (0, b"FLV\x01", "a Flash video"),
    (0, b"0&\xb2u\x8ef\xcf\x11", "a Windows Media video"),
    (0, b"\x00\x00\x01\xba", "an MPEG video"),
    (0, b"OggS", "an Ogg file"),
)
_BITMAP_SUBTITLES = (
    (b"PG", "a PGS stream (.sup)"),
    (b"\x00\x00\x01\xba", "a VobSub stream (.sub)"),
    (b"# VobSub index", "a VobSub index (.idx)"),
)


def describe_bitmap_subtitles(data: bytes) -> str | None:
    """The kind of subtitle file that holds pictures of text, or None."""
    for magic, name in _BITMAP_SUBTITLES:
        if data.lstrip(b"\xef\xbb\xbf").startswith(magic):
            return name
    return None


def describe_video(data: bytes) -> str | None:
    """The kind of video whose first bytes these are, or None."""
    for offset, magic, name in _VIDEO_MAGIC:
        if data[offset : offset + len(magic)] == magic:
            return name
    return None


def describe_file(data: bytes) -> str:
    """What a file that is not what was asked for seems to be, in words."""
    if (known := describe_known(data)) is not None:
        return known
    if data[3:6] == b"STL" and data[6:8].isdigit():
        return "EBU STL subtitles (convert them with Subtitle Edit)"
    if b"\x00" in data[:4096]:
        return "a binary file of unknown kind"
    return _describe_text(data[:4096])


def describe_known(data: bytes) -> str | None:
    """The kind of file that shows itself by its first bytes, or None."""
    if (video := describe_video(data)) is not None:
        return video
    if data.startswith(b"PK\x03\x04"):
        return _describe_zip(data)
    if data[60:68] == b"BOOKMOBI":
        return "a Kindle book (MOBI or AZW)"
    if data[:4] == b"RIFF":
        return {b"WEBP": "a WebP picture", b"WAVE": "a WAV recording"}.get(
            data[8:12], "a RIFF file"
        )
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    return None


def _describe_zip(data: bytes) -> str:
    if b"application/epub+zip" in data[:200]:
        return "an EPUB book"
    if b"word/" in data[:4096]:
        return "a Word document"
    return "a ZIP archive (unpack it first)"


def _describe_text(head: bytes) -> str:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "a web page (was it saved instead of the file behind it?)"
    if start.startswith(b"<?xml") or re.match(rb"<\w+[\s>]", start):
        return "an XML document"
    if start.startswith((b"{", b"[")):
        return "a JSON document"
    return "plain text without times"
