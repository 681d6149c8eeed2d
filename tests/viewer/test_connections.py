"""Connections that are held open, slow or many: the reader's browser is always answered."""

import socket
import time
from contextlib import ExitStack

import pytest
from made_pages import head, serving

from folioreel.viewer import connections


@pytest.mark.parametrize("start", ["", "GET / HTTP/1.1\r\nX: ", "post"])
def test_requests_that_drip_in_are_ended(result, monkeypatch, start):
    """A byte now and then does not prolong a request, whether it is the head or the body."""
    monkeypatch.setattr(connections, "_REQUEST_S", 0.5)
    with serving(result) as browser:
        if start == "post":
            lines = (f"Origin: {browser.origin}", "Content-Type: application/json")
            data = head(browser, "POST", "judge", *lines, "Content-Length: 1000")
        else:
            data = start.encode()
        address = (browser.address.hostname, browser.address.port)
        with socket.create_connection(address, timeout=0.1) as connection:
            connection.sendall(data)
            begin = time.monotonic()
            ended = False
            while not ended and time.monotonic() - begin < 10:
                try:
                    if start or time.monotonic() - begin > 9:
                        connection.sendall(b"x")
                    ended = connection.recv(100) == b""
                except TimeoutError:
                    pass
                except ConnectionError:
                    ended = True
        assert ended
        assert time.monotonic() - begin < 5
        assert browser.ask("GET", "").status == 200


def test_a_browser_may_pause_between_requests(result, monkeypatch):
    monkeypatch.setattr(connections, "_REQUEST_S", 0.3)
    with serving(result) as browser:
        address = (browser.address.hostname, browser.address.port)
        with socket.create_connection(address, timeout=5) as connection:
            for _ in range(3):
                connection.sendall(head(browser, "HEAD", "video"))
                assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
                time.sleep(0.5)


def connect(browser) -> socket.socket:
    return socket.create_connection((browser.address.hostname, browser.address.port), timeout=5)


def ask_on(connection: socket.socket, browser) -> bool:
    """Whether a connection that stays open is still answered."""
    try:
        connection.sendall(head(browser, "HEAD", "video"))
        return connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    except ConnectionError:
        return False


def test_a_crowd_of_strangers_does_not_keep_the_reader_out(result, monkeypatch):
    monkeypatch.setattr(connections, "_MOST_CONNECTIONS", 5)
    with serving(result) as browser, ExitStack() as stack:
        reader = stack.enter_context(connect(browser))
        assert ask_on(reader, browser)
        strangers = [stack.enter_context(connect(browser)) for _ in range(20)]
        assert browser.ask("GET", "").status == 200
        assert ask_on(reader, browser)
        for connection in strangers[:10]:  # the first to come are the first to go
            assert connection.recv(10) == b""
        assert len(browser.server._connections) <= 5


def test_too_many_connections_of_readers_are_refused_and_given_back(result, monkeypatch):
    monkeypatch.setattr(connections, "_MOST_CONNECTIONS", 3)
    with serving(result) as browser:
        with ExitStack() as stack:
            readers = [stack.enter_context(connect(browser)) for _ in range(3)]
            assert all(ask_on(reader, browser) for reader in readers)
            assert not ask_on(stack.enter_context(connect(browser)), browser)
            assert all(ask_on(reader, browser) for reader in readers)
        time.sleep(0.3)
        assert browser.ask("GET", "").status == 200
