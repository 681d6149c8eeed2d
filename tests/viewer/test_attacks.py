"""What a stranger, or a broken client, may try on the running server; on 127.0.0.1 only."""

import json
import os
import socket
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from made_pages import head, open_session, raw, serving

from folioreel.errors import InputError
from folioreel.viewer.film_file import FilmFile
from folioreel.viewer.handover import PrivatePage
from folioreel.viewer.server import parse_range

LONG = "9" * 5000


@pytest.fixture
def quiet(caplog, capfd):
    """Nothing was logged, and no traceback printed."""
    yield
    assert caplog.records == []
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("line", [b"GET / HTTP/9.9", b"GET / FTP/1.1", b" / HTTP/1.1", b"GET"])
def test_requests_that_cannot_be_read_get_a_status_line(browser, line):
    assert raw(browser, line + b"\r\n\r\n").startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    ("header", "status", "size"),
    [
        (f"bytes=0-{LONG}", 206, None),
        (f"bytes=-{LONG}", 206, None),
        (f"bytes={LONG}-", 416, 0),
        (f"bytes={LONG}-{LONG}", 416, 0),
        (f"bytes={'0' * 5000}1-{'0' * 5000}3", 206, 3),
        ("bytes=٣-٥", 200, None),
    ],
)
def test_ranges_of_thousands_of_digits(browser, result, header, status, size):
    length = (result.parent / "film.mp4").stat().st_size
    answer = raw(
        browser,
        head(browser, "GET", "video", "Connection: close").replace(
            b"\r\n\r\n", b"\r\nRange: " + header.encode() + b"\r\n\r\n"
        ),
    )
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert len(answer.partition(b"\r\n\r\n")[2]) == (length if size is None else size)


def test_numbers_are_those_of_the_header():
    assert parse_range("bytes=007-9", 100) == range(7, 10)
    assert parse_range(f"bytes=9-{'0' * 5000}8", 100) is None


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Length": LONG}, 413),
        ({"Content-Length": "٣"}, 411),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_lengths_that_cannot_be(browser, result, headers, status):
    lines = [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Origin: {browser.origin}", "Content-Type: application/json"]
    if "Content-Length" not in headers:
        lines.append("Content-Length: 2")
    data = head(browser, "POST", "judge").replace(
        b"\r\n\r\n", "\r\n".join(["", *lines, "", "{}"]).encode()
    )
    assert raw(browser, data).startswith(f"HTTP/1.1 {status} ".encode())
    assert not (result / "judged").exists()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 30_000,
        b'{"a":' * 10_000,
        b'{"revision": 0, "judgement": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"revision": ' + LONG.encode() + b"}",
        b'{"revision": 0, "judgement": {"moment": "' + b"x" * 60_000 + b'"}}',
        b'{"revision": 0, "judgement": {"moment": ' + b"[" * 800 + b"]" * 800 + b"}}",
        b'{"revision": 0, "judgement": {"moment": NaN, "verdict": "none"}}',
    ],
)
def test_json_that_is_deep_or_long(browser, body):
    response = browser.ask("POST", "judge", body)
    assert response.status == 400
    assert len(json.loads(response.data)["error"]) < 400


@pytest.mark.usefixtures("quiet")
def test_a_body_does_not_pass_for_a_request(browser):
    """A GET has none: what follows its head must not be answered."""
    inner = head(browser, "GET", "video")
    data = head(browser, "GET", "thumbnails/0.jpg", f"Content-Length: {len(inner)}") + inner
    assert raw(browser, data).count(b"HTTP/1.1 ") == 1


def test_two_hosts_are_none(browser):
    data = head(browser, "GET", "", "Host: evil.example")
    assert raw(browser, data).startswith(b"HTTP/1.1 403 ")


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    "change",
    [
        (b" HTTP/1.1", b"\tHTTP/1.1"),
        (b" HTTP/1.1", b"  HTTP/1.1"),
        (b" HTTP/1.1", b" HTTP/2.0"),
        (b" HTTP/1.1", b""),
        (b"GET /", b"GET //"),
        (b"GET /", b"GET http://127.0.0.1/"),
        (b"GET /", b"get /"),
        (b"GET /", b"\r\nGET /"),
        (b"Host:", b"Host :"),
        (b"\r\nHost:", b"\r\nContent-Length : 5\r\nHost:"),
        (b"\r\nHost:", b"\r\nTransfer-Encoding\x0b: chunked\r\nHost:"),
        (b"\r\nHost:", b"\r\nno colon\r\nHost:"),
        (b"\r\nHost:", b"\r\nX: a\r\n b\r\nHost:"),
        (b"\r\nHost:", b"\r\nX: a\x00b\r\nHost:"),
        (b"\r\nHost:", b"\r\n: a\r\nHost:"),
    ],
)
def test_heads_that_could_be_read_in_two_ways_are_refused(browser, change):
    """Neither they nor what follows them is answered, and the token is not repeated."""
    data = head(browser, "GET", "")
    assert raw(browser, data[:-2] + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    answer = raw(browser, data.replace(*change, 1) + data)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert browser.address.path.encode() not in answer


def post(browser, *lines: str, body: bytes, length: int | None = None) -> bytes:
    size = f"Content-Length: {len(body) if length is None else length}"
    return head(browser, "POST", "judge", "Content-Type: application/json", size, *lines) + body


def test_two_origins_are_none(browser, result):
    body = b'{"revision": 0, "judgement": {"moment": 0, "verdict": "none"}}'
    own, other = f"Origin: {browser.origin}", "Origin: http://evil.example"
    for origins in ((own, other), (other, own), (other,), ()):
        answer = raw(browser, post(browser, *origins, body=body))
        assert answer.startswith(b"HTTP/1.1 403 ")
    assert not (result / "judged").exists()


def test_a_body_that_is_cut_short_is_no_judgement(browser, result):
    body = b'{"revision": 0, "judgement": {"moment": 0, "verdict": "none"}}'
    data = post(browser, f"Origin: {browser.origin}", body=body, length=500)
    address = (browser.address.hostname, browser.address.port)
    with socket.create_connection(address, timeout=5) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")
    assert not (result / "judged").exists()


@pytest.mark.parametrize("revision", ["true", "1.0", '"1"', "null", "[1]"])
def test_a_revision_is_a_whole_number(browser, revision):
    assert browser.judge(0, 0, None)[0] == 200
    body = f'{{"revision": {revision}, "judgement": {{"moment": 2, "verdict": "none"}}}}'
    assert browser.ask("POST", "judge", body.encode()).status == 409


def put_fifo(film: Path) -> None:
    os.mkfifo(film)


def put_folder(film: Path) -> None:
    film.mkdir()


def put_link(film: Path) -> None:
    secret = film.parent / "secret.txt"
    secret.write_text("secret" * 1000)
    film.symlink_to(secret)


def put_hard_link(film: Path) -> None:
    put_link(film)
    film.unlink()
    os.link(film.parent / "secret.txt", film)


def put_loop(film: Path) -> None:
    film.symlink_to(film)


def put_nothing(film: Path) -> None:
    pass


@pytest.mark.usefixtures("quiet")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(
    "put", [put_fifo, put_folder, put_link, put_hard_link, put_loop, put_nothing]
)
def test_what_takes_the_film_s_place_is_not_served(browser, result, put):
    film = result.parent / "film.mp4"
    film.unlink()
    put(film)
    for where in ("video", "thumbnails/0.jpg"):
        response = browser.ask("GET", where)
        assert response.status == 404
        assert b"secret" not in response.data
        assert json.loads(response.data)["error"]
    assert browser.ask("GET", "").status == 200


def test_a_film_that_was_a_link_from_the_start(result, tmp_path):
    film = result.parent / "film.mp4"
    data = film.read_bytes()
    film.rename(tmp_path / "real.mp4")
    film.symlink_to(tmp_path / "real.mp4")
    with serving(result) as browser:
        assert browser.ask("GET", "video").data == data
        assert browser.ask("GET", "thumbnails/1.jpg").status == 200
        film.unlink()
        film.symlink_to(result / "alignment.json")
        assert browser.ask("GET", "video").data == data  # the link was followed at the start
        (tmp_path / "real.mp4").write_bytes(b"other")
        assert browser.ask("GET", "video").status == 404


def test_a_film_that_is_no_file(tmp_path):
    with pytest.raises(InputError, match="moved or deleted"):
        FilmFile(tmp_path / "nowhere.mp4")
    with pytest.raises(InputError, match="no longer a file"):
        FilmFile(tmp_path)


def test_the_address_is_handed_over_in_private(tmp_path, monkeypatch):
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with PrivatePage("http://127.0.0.1:5/to&ken/") as page:
        path = Path(urlsplit(page.uri).path)
        assert runtime in path.parents
        assert "to&amp;ken" in path.read_text(encoding="utf-8")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert "to&ken" not in page.uri
    assert list(runtime.iterdir()) == []
    runtime.chmod(0o755)  # others can look into it
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with PrivatePage("http://127.0.0.1:5/token/") as page:
        folder = Path(urlsplit(page.uri).path).parent
        assert folder.parent == tmp_path
        page.remove()
        assert not folder.exists()


def test_the_file_is_gone_once_the_page_is_open(result):
    with serving(result) as browser:
        opened = threading.Event()
        browser.server.when_opened = opened.set
        assert browser.ask("GET", "/wrong/").status == 404
        assert not opened.is_set()
        browser.ask("GET", "")
        assert opened.wait(5)


def save_together(sessions, revision: int, sentence: int) -> list[int | str]:
    """What two sessions answer to judgements that come at the same moment."""
    barrier = threading.Barrier(len(sessions))

    def save(moment: int) -> int | str:
        judgement = {"moment": moment, "verdict": "match", "sentence": sentence}
        sessions[moment]._prepared.wait()
        barrier.wait()
        try:
            return sessions[moment].judge(revision, judgement)["revision"]
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(len(sessions)) as threads:
        return list(threads.map(save, range(len(sessions))))


def test_two_programs_cannot_save_one_revision(result, monkeypatch):
    look = os.fstat

    def look_slowly(descriptor: int) -> os.stat_result:
        """Leave time between the check of the journal's size and the writing."""
        found = look(descriptor)
        time.sleep(0.05)
        return found

    for number in range(3):
        sessions = [open_session(result) for _ in range(3)]
        with monkeypatch.context() as patch:
            patch.setattr(os, "fstat", look_slowly)
            outcomes = save_together(sessions, number, number)
        assert [outcome for outcome in outcomes if isinstance(outcome, int)] == [number + 1]
    lines = (result / "judged" / "journal.jsonl").read_text().splitlines()[1:]
    assert [json.loads(line)["revision"] for line in lines] == [1, 2, 3]


@pytest.mark.skipif(os.name != "posix", reason="needs limits on the size of files")
def test_a_disk_that_is_full_after_the_journal(result, caplog):
    """The journal is small and fits; the corrected alignment does not."""
    import resource

    with serving(result) as browser:
        assert browser.judge(0, 0, None)[0] == 200
        session = browser.server.session
        folder = result / "judged"
        old = (folder / "alignment.json").read_bytes()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(old) // 2, before[1]))
        try:
            status, answer = browser.judge(1, 2, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert (status, answer["revision"]) == (200, 2)
        assert "your corrections are safe" in caplog.text
        assert (folder / "alignment.json").read_bytes() == old
        assert not list(folder.glob("*.part"))
        session.close()  # Ctrl-C, with room on the disk again
    document = json.loads((folder / "alignment.json").read_text(encoding="utf-8"))
    assert document["model"]["revision"] == 2
    assert document["links"][2]["sentence"] == 3


def test_newer_files_of_another_program_are_left_alone(result):
    first = open_session(result)
    first.judge(0, {"moment": 0, "verdict": "none"})
    second = open_session(result)
    second._is_behind = True  # as after a full disk
    first.judge(1, {"moment": 2, "verdict": "none"})
    newer = (result / "judged" / "alignment.json").read_bytes()
    second.close()
    assert (result / "judged" / "alignment.json").read_bytes() == newer


def test_files_that_a_kill_left_behind_are_written_at_the_next_start(result):
    with serving(result) as browser:
        browser.judge(0, 0, None)
        old = (result / "judged" / "alignment.json").read_bytes()
        browser.judge(1, 2, 3)
        expected = browser.payload()["links"]
    (result / "judged" / "alignment.json").write_bytes(old)
    (result / "judged" / "gold.tsv").unlink()
    with serving(result) as browser:
        browser.server.session._prepared.wait(30)
        document = json.loads((result / "judged" / "alignment.json").read_text(encoding="utf-8"))
        assert document["model"]["revision"] == 2
        assert (result / "judged" / "gold.tsv").exists()
        found = browser.payload()["links"]
        assert [link["sentence"] for link in found] == [link["sentence"] for link in expected]
        for link, whole in zip(found, expected, strict=True):
            assert link["score"] == pytest.approx(whole["score"], abs=3e-3)
