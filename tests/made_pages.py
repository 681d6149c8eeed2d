"""A small film and book, aligned into a folder, and the page's server over them."""

import json
import socket
import threading
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

from drawn_films import draw_film, shots_of

from folioreel.alignment.aligner import Aligner
from folioreel.export.alignment_json import read_alignment, write_alignment
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.viewer.judgements import judgements_folder
from folioreel.viewer.server import PageServer
from folioreel.viewer.session import Session

PARAGRAPHS = (
    "The ferry crossed the river at dawn. Petra read the dial and wrote the figure down.",
    "“Sixty-one kilos,” she said to the old ferryman. He looked at the water.",
    "In the evening the band played in the malt-house. Somebody dropped a heavy iron bolt.",
    "Nobody spoke of it in the morning. </script><script>alert(1)</script> & <b>so on</b>.",
    "The inspector came on the noon bus with a letter. “Who opened the hoarding?” he asked.",
    "Behind the planks there was only trampled grass. The pineapple held the door.",
)
SRT = """1
00:00:00,200 --> 00:00:00,900
Sixty-one kilos.

2
00:00:02,200 --> 00:00:02,900
Who opened the <<hoarding>>?

3
00:00:03,100 --> 00:00:03,900
Only trampled grass behind the planks.
"""
SILENT = 1
"""The moment of the silent shot among the spoken ones."""


def make_alignment(folder: Path, book_name: str = "novel.txt") -> Path:
    """A film of four shots, one of them silent, aligned with a book: the folder of the results."""
    folder.mkdir(parents=True)
    if book_name.endswith(".html"):
        text = "".join(f"<p>{p.replace('&', '&amp;').replace('<', '&lt;')}</p>" for p in PARAGRAPHS)
        text = f"<html><head><title>Kilos</title></head><body><h1>One</h1>{text}</body></html>"
    else:
        text = "\n\n".join(PARAGRAPHS) + "\n"
    (folder / book_name).write_text(text, encoding="utf-8")
    draw_film(folder / "film.mp4", shots_of([25, 25, 25, 25]))
    (folder / "film.srt").write_text(SRT)
    film, book = load_film(folder / "film.mp4"), load_book(folder / book_name)
    (folder / "result").mkdir()
    write_alignment(Aligner.load().align(film, book), folder / "result" / "alignment.json")
    return folder / "result"


def open_session(result: Path) -> Session:
    path = result / "alignment.json"
    session = Session(read_alignment(path), judgements_folder(path))
    session.prepare(lambda message: (_ for _ in ()).throw(AssertionError(message)))
    return session


class Browser:
    """Sends real requests to a running server."""

    def __init__(self, address: str) -> None:
        self.address = urlsplit(address)
        self.origin = f"http://{self.address.netloc}"

    def ask(self, method: str, where: str, body: object = None, **headers: str) -> HTTPResponse:
        """One request below the token (or from the root, with a leading slash), read whole."""
        connection = HTTPConnection(self.address.hostname, self.address.port, timeout=30)
        path = where if where.startswith("/") else self.address.path + where
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if method == "POST":
            named = {"Origin": self.origin, "Content-Type": "application/json"} | named
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, path, data, named)
        response = connection.getresponse()
        response.data = response.read()
        connection.close()
        return response

    def judge(self, revision: int, moment: int, sentence: int | None):
        verdict = "none" if sentence is None else "match"
        judgement = {"moment": moment, "verdict": verdict, "sentence": sentence}
        return self.post("judge", {"revision": revision, "judgement": judgement})

    def undo(self, revision: int):
        return self.post("undo", {"revision": revision})

    def post(self, where: str, body: object):
        response = self.ask("POST", where, body)
        return response.status, json.loads(response.data)

    def payload(self):
        text = self.ask("GET", "").data.decode("utf-8")
        start = text.index('id="payload">') + len('id="payload">')
        return json.loads(text[start : text.index("</script>", start)])


@contextmanager
def serving(result: Path):
    """A browser on a server that runs in a thread."""
    with PageServer(open_session(result)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        browser = Browser(server.address)
        browser.server = server
        try:
            yield browser
        finally:
            server.shutdown()
            thread.join()


def raw(browser, data: bytes, wait_s: float = 5.0) -> bytes:
    """The answer to some bytes, until the server hangs up."""
    address = (browser.address.hostname, browser.address.port)
    with socket.create_connection(address, timeout=wait_s) as connection:
        connection.sendall(data)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def head(browser, method: str, where: str, *lines: str) -> bytes:
    first = [f"{method} {browser.address.path}{where} HTTP/1.1", f"Host: {browser.address.netloc}"]
    return "\r\n".join([*first, *lines, "", ""]).encode("latin-1")
