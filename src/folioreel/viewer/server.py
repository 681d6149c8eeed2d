"""The local server of the page: for one reader on this machine, and for no file but the film.

It serves one page, one film and two kinds of POST requests on the loopback interface. A request
must carry the token in its path, name this server as its Host (against DNS rebinding), and, if it
is a POST, come from the page itself.

The standard library's server does it, within the limits of `connections.py`. Of uvicorn and
Starlette little would be used: they too let a request drip in for ever, and neither checks the file
that it opened.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import os
import re
import secrets
import textwrap
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from folioreel.errors import FolioReelError, InputError
from folioreel.export.page_html import WIDTH_PX, encode_jpeg, render_page
from folioreel.ingest.picture import FilmStills
from folioreel.json_input import parse_json
from folioreel.viewer.connections import BoundedHandler, BoundedServer
from folioreel.viewer.film_file import FilmFile
from folioreel.viewer.session import Session, StaleError

HOST = "127.0.0.1"
_LARGEST_POST = 2**20  # bytes; a judgement has about 100, with the longest note up to 4,000
_LONGEST_MESSAGE = 300  # characters; some messages quote what was sent
# No file has more bytes than 18 digits can count, and `int` refuses more than 4,300.
_MOST_DIGITS = 18
_OWN_PORTS = range(49152, 65536)  # the dynamic ports of RFC 6335
_ERROR_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>folioreel</title><h1>folioreel</h1><p>{}.</p></html>
"""
# No film has more shots than eight digits can count: longer numbers are not worth parsing.
_THUMBNAIL = re.compile(r"/thumbnails/([0-9]{1,8})\.jpg")
# The film, or one of its parts by number.
_VIDEO = re.compile(r"/video(?:/([0-9]{1,4}))?")
_CHUNK = 1 << 18  # bytes of video per write
_RANGE = re.compile(r"bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*", re.IGNORECASE)
_VIDEO_TYPES = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".avi": "video/x-msvideo",
    ".ogv": "video/ogg",
    ".mpg": "video/mpeg",
    ".mpeg": "video/mpeg",
    ".ts": "video/mp2t",
}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class PageServer(BoundedServer):
    """Serves one session at `address`."""

    allow_reuse_address = os.name != "nt"  # on Windows two servers would share the port

    def __init__(self, session: Session, port: int = 0) -> None:
        """Bind to a loopback port: by default the alignment's own, else a free one."""
        self.session = session
        self.when_opened: Callable[[], None] = lambda: None  # called when the page was sent
        self.token = secrets.token_urlsafe(24)
        videos = [file.video for file in session.alignment.film.files]
        self.files = [None if video is None else FilmFile(video) for video in videos]
        self.pictures = _Pictures(session, self.files)
        ports = (port,) if port else (own_port(session.judgements.folder), 0)
        for choice in ports:
            try:
                super().__init__((HOST, choice), _Handler)
            except OSError as error:
                if choice != ports[-1]:
                    continue
                problem = f"port {choice} cannot be used ({error.strerror})"
                raise InputError(f"{problem}; give another with --port, or none") from error
            break
        # Browsers omit the default port from the Host header.
        end = "" if self.server_port == 80 else f":{self.server_port}"
        self.names = (HOST + end, "localhost" + end)

    @property
    def address(self) -> str:
        """The page's address, with the token."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def server_close(self) -> None:
        """Stop listening, and close the film."""
        super().server_close()
        self.pictures.close()


def own_port(folder: Path) -> int:
    """The port for an alignment, derived from the folder of its judgements.

    Browsers store a page's settings by origin, which includes the port: with a new port each time
    they would be lost.
    """
    digest = hashlib.sha256(os.fsencode(folder.absolute())).digest()
    return _OWN_PORTS[int.from_bytes(digest[:8], "big") % len(_OWN_PORTS)]


class _Pictures:
    """Thumbnails of shots, decoded on first request."""

    def __init__(self, session: Session, files: Sequence[FilmFile | None]) -> None:
        self._film = session.alignment.film
        self._lock = threading.Lock()

        def open_file(number: int) -> BinaryIO:
            file = files[number]
            assert file is not None  # there are stills of videos only
            return file.open()

        self._stills = FilmStills(self._film, WIDTH_PX, open_file)
        self.jpeg = lru_cache(maxsize=4096)(self._make)

    def addresses(self) -> list[str | None]:
        """One address per shot of a video."""
        shots = self._film.shots if self._film.has_video else ()
        return [f"thumbnails/{shot.index}.jpg" for shot in shots]

    def close(self) -> None:
        """Close the film, if any picture was made."""
        with self._lock:
            self._stills.close()

    def _make(self, shot: int) -> bytes | None:
        if shot >= len(self._film.shots):
            return None
        with self._lock:
            picture = self._stills.picture(self._film.shots[shot])
        return None if picture is None else encode_jpeg(picture)


class _RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Handler(BoundedHandler, BaseHTTPRequestHandler):
    """One request."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # what cannot be read is answered with a status line, too
    server_version = "folioreel"
    sys_version = ""
    _policy: ClassVar[str] = "default-src 'none'; frame-ancestors 'none'"

    def do_GET(self) -> None:
        """The page, the film, or a thumbnail."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # nobody reads it, and it must not pass for a request
        try:
            where = self._admit()
            if where == "":  # the page's own addresses are relative to the slash
                self.close_connection = True
                self._send(HTTPStatus.FOUND, b"", {"Location": f"/{self.server.token}/"})
            elif where == "/":
                self._send_page()
            elif found := _VIDEO.fullmatch(where):
                self._send_video(int(found.group(1) or 0))
            elif found := _THUMBNAIL.fullmatch(where):
                self._send_thumbnail(int(found.group(1)))
            else:
                raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")
        except _RefusedError as error:
            self._send_error(error.code, str(error))

    def do_HEAD(self) -> None:
        """The same without the body."""
        self.do_GET()

    def do_POST(self) -> None:
        """A judgement, or an undo."""
        session = self.server.session
        try:
            where, body = self._admit(), self._read_post()
            if where == "/judge":
                answer = session.judge(body.get("revision"), *_judgements_in(body))
            elif where == "/undo":
                answer = session.undo(body.get("revision"))
            else:
                raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")
            self._send_json(HTTPStatus.OK, answer)
        except _RefusedError as error:
            self._send_error(error.code, str(error))
        except StaleError:
            self._send_json(HTTPStatus.CONFLICT, session.state())
        except ValueError as error:
            self._send_error(HTTPStatus.BAD_REQUEST, str(error))
        except FolioReelError as error:
            self._send_error(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        except (ConnectionError, TimeoutError):
            raise  # there is nobody to tell
        except Exception as error:  # a reader can do nothing with a traceback
            message = f"the judgement was not kept ({type(error).__name__}: {error})"
            self._send_error(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    def _admit(self) -> str:
        """The path below the token; raises an error for a request that we do not answer."""
        # Against DNS rebinding: a foreign page may resolve its own name to our address.
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0] not in self.server.names:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "use the address that folioreel printed")
        path = self.path.partition("?")[0]
        start = f"/{self.server.token}"
        given = path[: len(start)].encode("utf-8", errors="replace")
        rest = path[len(start) :]
        # In constant time, so that the token cannot be guessed letter by letter.
        if not hmac.compare_digest(given, start.encode("ascii")) or rest[:1] not in ("", "/"):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "open the address that folioreel printed")
        self.trust()
        return rest

    def _read_post(self) -> dict[str, Any]:
        """The JSON body of a POST; raises an error if it does not come from the page."""
        # Browsers set the origin themselves, so other pages cannot pretend to be ours.
        origins = self.headers.get_all("Origin", [])
        if len(origins) != 1 or origins[0] not in [f"http://{name}" for name in self.server.names]:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "only the page itself may judge")
        if self.headers.get_content_type() != "application/json":
            code = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
            raise _RefusedError(code, "a judgement must be sent as JSON")
        length, *others = self.headers.get_all("Content-Length", [""])
        # `isdigit` alone would accept digits of other scripts, which `int` reads, too.
        is_number = length.isascii() and length.isdigit()
        if not is_number or others or "Transfer-Encoding" in self.headers:
            code = HTTPStatus.LENGTH_REQUIRED
            raise _RefusedError(code, "one Content-Length header is needed")
        size = _read_number(length)
        if size > _LARGEST_POST:
            code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            raise _RefusedError(code, "the request is too large for a judgement")
        data = self.rfile.read(size)
        try:
            body = parse_json(data) if len(data) == size else None
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "a judgement must be a JSON object")
        return body

    def _send_page(self) -> None:
        """Send the page, or one line about what went wrong."""
        session = self.server.session
        video = "video" if session.alignment.film.has_video else None
        addresses = {"video": video, "judge": "judge", "undo": "undo"}
        try:
            text, policy = render_page(session.payload(self.server.pictures.addresses(), addresses))
        except Exception as error:  # a reader can do nothing with a traceback
            message = f"the page cannot be made ({type(error).__name__}: {error}); align again"
            raise _RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, message) from error
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            # Browsers ignore this one in the page's own meta element.
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        }
        self._send(HTTPStatus.OK, text.encode("utf-8"), headers)
        self.server.when_opened()

    def _send_thumbnail(self, shot: int) -> None:
        try:
            jpeg = self.server.pictures.jpeg(shot)
        except InputError:
            jpeg = None
        if jpeg is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no such picture")
        # The token changes with every start, so a day is never too long.
        headers = {"Content-Type": "image/jpeg", "Cache-Control": "private, max-age=86400"}
        self._send(HTTPStatus.OK, jpeg, headers)

    def _send_video(self, part: int) -> None:
        files = self.server.files
        film = files[part] if part < len(files) else None
        if film is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no film")
        try:
            file = film.open()
        except InputError as error:
            raise _RefusedError(HTTPStatus.NOT_FOUND, error.message) from None
        with file:
            self._send_file(film.path, file)

    def _send_file(self, path: Path, file: BinaryIO) -> None:
        status = os.fstat(file.fileno())
        tag = f'"{status.st_size:x}-{status.st_mtime_ns:x}"'
        headers = {
            "Accept-Ranges": "bytes",
            "ETag": tag,
            "Content-Type": _VIDEO_TYPES.get(path.suffix.lower(), "application/octet-stream"),
        }
        asked = self.headers.get("Range") if self.command == "GET" else None
        if self.headers.get("If-Range", tag) != tag:
            asked = None  # the file has changed since, so the range no longer applies
        try:
            part = parse_range(asked, status.st_size)
        except UnsatisfiableError:
            headers["Content-Range"] = f"bytes */{status.st_size}"
            self._send(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, b"", headers)
            return
        code = HTTPStatus.OK if part is None else HTTPStatus.PARTIAL_CONTENT
        if part is None:
            part = range(status.st_size)
        else:
            headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{status.st_size}"
        self._send_head(code, len(part), headers)
        if self.command == "HEAD":
            return
        file.seek(part.start)
        left = len(part)
        while left and (data := file.read(min(left, _CHUNK))):
            self.wfile.write(data)
            left -= len(data)
        if left:
            self.close_connection = True  # the file has shrunk: fewer bytes than announced

    def _send_json(self, code: HTTPStatus, value: dict[str, Any]) -> None:
        # A broken book may contain half of a surrogate pair, which UTF-8 cannot encode.
        data = json.dumps(value, ensure_ascii=False).encode("utf-8", errors="replace")
        self._send(code, data, {"Content-Type": "application/json"})

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors raised by the standard library, in our own form."""
        self._send_error(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def _send_error(self, code: HTTPStatus, message: str) -> None:
        self.close_connection = True  # an unread request body may still be in the stream
        message = textwrap.shorten(message, _LONGEST_MESSAGE, placeholder=" …")
        headers = getattr(self, "headers", {})  # missing if they could not be parsed
        if self.command == "GET" and "text/html" in headers.get("Accept", ""):
            text = _ERROR_PAGE.format(html.escape(message[:1].upper() + message[1:]))
            self._send(code, text.encode("utf-8"), {"Content-Type": "text/html; charset=utf-8"})
            return
        self._send_json(code, {"error": message})

    def _send(self, code: HTTPStatus, data: bytes, headers: dict[str, str]) -> None:
        self._send_head(code, len(data), headers)
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_head(self, code: HTTPStatus, length: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        common = {
            **_HEADERS,
            "Cache-Control": "no-store",
            "Content-Security-Policy": self._policy,
            "Content-Length": str(length),
        }
        if self.close_connection:
            common["Connection"] = "close"
        for name, value in (common | headers).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: what a reader looks at is private."""


class UnsatisfiableError(Exception):
    """The range begins beyond the file's end (status 416)."""


def parse_range(header: str | None, size: int) -> range | None:
    """The bytes that a Range header asks for; None for the whole file.

    A header that is malformed or names several ranges is passed over, as the RFC allows.

    Raises:
        UnsatisfiableError: No byte of the file lies in it.
    """
    found = _RANGE.fullmatch(header.strip()) if header else None
    if found is None or found.group(1) == found.group(2) == "":
        return None
    first, last = found.groups()
    if not first:  # a suffix range: the last N bytes
        count = min(_read_number(last), size)
        if count == 0:
            raise UnsatisfiableError
        return range(size - count, size)
    start, end = _read_number(first), _read_number(last) if last else size
    if end < start and last:
        return None
    if start >= size:
        raise UnsatisfiableError
    return range(start, min(end, size - 1) + 1)


def _judgements_in(body: dict[str, Any]) -> list[Any]:
    """The `judgements` of a request that are made, and undone, at once; or its one `judgement`."""
    several = body.get("judgements")
    return several if isinstance(several, list) else [body.get("judgement")]


def _read_number(digits: str) -> int:
    """A number of any length, as large as any file at most."""
    shown = digits.lstrip("0")
    return int(shown or "0") if len(shown) <= _MOST_DIGITS else 10**_MOST_DIGITS
