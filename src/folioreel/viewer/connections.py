"""Connections that cannot be held open for long: limits for a server of the standard library.

The standard library limits each read from a connection, so a client that sends a byte now and then
could hold its thread for ever. Here a whole request must arrive in time, and there are only so many
connections.
"""

from __future__ import annotations

import io
import logging
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# A browser has six connections per server; each of ours costs a thread.
_MOST_CONNECTIONS = 64
# Seconds for a whole request to arrive, from its first byte on. It has a few hundred bytes.
_REQUEST_S = 10.0
# Seconds between two requests of a browser that has shown the token, or to take what it was sent:
# a film that is paused is not taken for a while.
_PATIENCE_S = 120.0

_log = logging.getLogger(__name__)


class BoundedServer(ThreadingHTTPServer):
    """A thread per connection, and a limit on their number."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *arguments: Any) -> None:
        self._slots = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread, or hang up if there are too many."""
        if not self._slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # the thread that gives the place back was not started
            self._slots.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection until it is closed."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say in a line what went wrong; a connection that ends early is not an error."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            _log.warning("a request failed (%s: %s)", type(error).__name__, error)


class BoundedHandler(BaseHTTPRequestHandler):
    """Requests that arrive in time, or not at all."""

    timeout = _PATIENCE_S
    is_trusted = False  # whether this connection has sent a request that was answered

    def setup(self) -> None:
        """Read through `_RequestReader`."""
        super().setup()
        self.rfile.close()
        self._reader = _RequestReader(self.connection)
        self.rfile = self._buffer = io.BufferedReader(self._reader)

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
