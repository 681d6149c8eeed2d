"""Connections that cannot be held open for long: limits for a server of the standard library.

The standard library limits each read from a connection, so a client that sends a byte now and then
could hold its thread for ever. Here a whole request must arrive in time, and there are only so many
connections.
"""

from __future__ import annotations

import io
import logging
import re
import socket
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# A browser has six connections per server; each of ours costs a thread.
_MOST_CONNECTIONS = 64
# Seconds for a whole request to arrive, from its first byte on. It has a few hundred bytes.
_REQUEST_S = 10.0
# Seconds between two requests of a browser that has shown the token, or to take what it was sent:
# a film that is paused is not taken for a while.
_PATIENCE_S = 120.0

# A request is refused unless everybody would read it alike: `Host : x`, for one, some take for a
# Host and others do not. Python's parser splits the first line at any white space, and takes names
# of headers as they come.
_REQUEST_LINE = re.compile(rb"[A-Z]{1,16} /(?:[!-.0-~][!-~]*)? HTTP/1\.[01]\r?\n")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

_log = logging.getLogger(__name__)


class BoundedServer(ThreadingHTTPServer):
    """A thread per connection, and a limit on their number."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 2 * _MOST_CONNECTIONS  # a crowd must not keep the reader's browser out

    def __init__(self, *arguments: Any) -> None:
        self._connections: dict[Any, bool] = {}  # the oldest first: whether it is trusted
        self._lock = threading.Lock()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread; if there are too many, hang up on the oldest stranger."""
        with self._lock:
            if len(self._connections) >= _MOST_CONNECTIONS:
                strangers = (one for one, is_trusted in self._connections.items() if not is_trusted)
                self._hang_up(next(strangers, request))
            self._connections[request] = False
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread was started that would forget it
            self._forget(request)
            raise

    def trust(self, connection: Any) -> None:
        """Remember that a connection has sent a request that was answered."""
        with self._lock:
            if connection in self._connections:
                self._connections[connection] = True

    def _hang_up(self, connection: Any) -> None:
        """End a connection, whose thread then reads nothing more, and closes it."""
        self._connections.pop(connection, None)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def _forget(self, connection: Any) -> None:
        with self._lock:
            self._connections.pop(connection, None)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection until it is closed."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._forget(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say in a line what went wrong; a connection that ends early is not an error."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            _log.warning("a request failed (%s: %s)", type(error).__name__, error)


class BoundedHandler(BaseHTTPRequestHandler):
    """Requests that arrive in time, or not at all."""

    timeout = _PATIENCE_S
    raw_requestline: bytes
    server: BoundedServer
    is_trusted = False  # whether this connection has sent a request that was answered

    def setup(self) -> None:
        """Read through `_RequestReader`."""
        super().setup()
        self.rfile.close()
        self._reader = _RequestReader(self.connection)
        self.rfile = self._buffer = io.BufferedReader(self._reader)

    def trust(self) -> None:
        """The client has shown that it may ask, so it may keep its connection."""
        self.is_trusted = True
        self.server.trust(self.connection)

    def handle_one_request(self) -> None:
        """Wait for a request for some time, and for the rest of it for a short time."""
        self._reader.wait(_PATIENCE_S if self.is_trusted else _REQUEST_S)
        try:
            if not self._buffer.peek(1):
                self.close_connection = True
                return
        except (ConnectionError, TimeoutError):
            self.close_connection = True
            return
        self._reader.wait(_REQUEST_S)
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Read the head of a request; refuse what is malformed, without repeating it."""
        if _REQUEST_LINE.fullmatch(self.raw_requestline):
            if not super().parse_request():
                return False
            is_sound = not self.headers.defects and all(
                _HEADER_NAME.fullmatch(name) and not _CONTROL.search(value)
                for name, value in self.headers.items()
            )
            if is_sound:
                return True
        else:  # as `super` leaves it
            self.command, self.requestline = "", ""
            self.request_version = self.default_request_version
        self.close_connection = True
        self.send_error(HTTPStatus.BAD_REQUEST, "the request is malformed")
        return False


class _RequestReader(io.RawIOBase):
    """Reads from a connection until a time is over, in however many pieces the bytes come."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._until_s = 0.0

    def wait(self, seconds: float) -> None:
        """Give the client so many seconds from now."""
        self._until_s = time.monotonic() + seconds

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what there is; raises TimeoutError when the time is over."""
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the request took too long")
        self._connection.settimeout(left_s)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(_PATIENCE_S)  # for what is sent
