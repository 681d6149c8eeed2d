"""Real requests to the real server: the page, the film's bytes, and who may not ask."""

import hashlib
import json
import re
import socket
import threading
from base64 import b64encode
from dataclasses import replace

import pytest
from made_pages import PARAGRAPHS, SILENT, Browser, open_session, serving

from folioreel.errors import InputError
from folioreel.viewer.server import PageServer, own_port


def test_the_page(browser):
    response = browser.ask("GET", "")
    text = response.data.decode("utf-8")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = response.headers["Content-Security-Policy"]
    script = re.search(r"<script>(.*)</script>\n</body>", text, re.DOTALL).group(1)
    digest = b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    assert "Python" not in response.headers["Server"]


def test_the_payload(browser):
    payload = browser.payload()
    assert payload["version"] == 1
    assert " ".join(payload["book"]["sentences"]) == " ".join(PARAGRAPHS)
    assert payload["film"]["file_name"] == "film.mp4"
    assert len(payload["film"]["shots"]) == len(payload["thumbnails"]) == 4
    assert payload["moments"][SILENT]["text"] == ""
    assert [link["sentence"] for link in payload["links"]][::2] == [2, 9]
    assert payload["server"] == {"video": "video", "judge": "judge", "undo": "undo"}
    assert (payload["judgements"], payload["revision"]) == ([], 0)


def test_a_book_cannot_break_out_of_its_data(browser):
    text = browser.ask("GET", "").data.decode("utf-8")
    assert text.count("<script") == 2
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert any("<script>alert(1)</script>" in s for s in browser.payload()["book"]["sentences"])


def test_byte_ranges_are_the_files_bytes(browser, result):
    data = (result.parent / "film.mp4").read_bytes()
    whole = browser.ask("GET", "video")
    assert (whole.status, whole.data) == (200, data)
    assert whole.headers["Accept-Ranges"] == "bytes"
    assert whole.headers["Content-Type"] == "video/mp4"
    for header, part in (
        ("bytes=0-0", slice(0, 1)),
        ("bytes=100-299", slice(100, 300)),
        ("bytes=1000-", slice(1000, None)),
        ("bytes=-77", slice(-77, None)),
        (f"bytes=5-{10**12}", slice(5, None)),
    ):
        response = browser.ask("GET", "video", Range=header)
        assert (response.status, response.data) == (206, data[part])
        first = part.indices(len(data))[0]
        last = first + len(response.data) - 1
        assert response.headers["Content-Range"] == f"bytes {first}-{last}/{len(data)}"
        assert response.headers["Content-Length"] == str(len(response.data))


def test_ranges_that_cannot_be(browser, result):
    size = (result.parent / "film.mp4").stat().st_size
    response = browser.ask("GET", "video", Range=f"bytes={size}-")
    assert (response.status, response.data) == (416, b"")
    assert response.headers["Content-Range"] == f"bytes */{size}"
    assert browser.ask("GET", "video", Range="bytes=0-1,5-6").status == 200
    assert browser.ask("GET", "video", Range="nonsense").status == 200


def test_head_and_if_range(browser, result):
    size = (result.parent / "film.mp4").stat().st_size
    head = browser.ask("HEAD", "video", Range="bytes=0-5")
    # A range is for GET alone.
    assert (head.status, head.data, head.headers["Content-Length"]) == (200, b"", str(size))
    tag = head.headers["ETag"]
    assert browser.ask("GET", "video", Range="bytes=0-5", If_Range=tag).status == 206
    assert browser.ask("GET", "video", Range="bytes=0-5", If_Range='"other"').status == 200
    page = browser.ask("HEAD", "")
    assert (page.status, page.data) == (200, b"")
    assert int(page.headers["Content-Length"]) > 1000


def test_thumbnails(browser):
    pictures = {browser.ask("GET", f"thumbnails/{k}.jpg").data for k in range(4)}
    assert len(pictures) == 4
    assert all(data.startswith(b"\xff\xd8") and data.endswith(b"\xff\xd9") for data in pictures)
    for name in (
        "4.jpg",
        "-1.jpg",
        "x.jpg",
        "0.png",
        "..%2f..%2ffilm.srt",
        "²3.jpg".encode().hex(),
    ):
        assert browser.ask("GET", f"thumbnails/{name}").status == 404


@pytest.mark.parametrize(
    "where",
    [
        "/",
        "/video",
        "/wrong-token-wrong-token-wrong-to/",
        "../alignment.json",
        "..%2falignment.json",
        "video/../../film.srt",
        "//etc/passwd",
        "alignment.json",
        "judge",
        "%00",
        "/" + "x" * 2000,
    ],
)
def test_nothing_else_is_served(browser, where):
    response = browser.ask("GET", where)
    assert response.status == (400 if where.startswith("//") else 404)  # some take it for a host
    assert "error" in json.loads(response.data)


def test_a_token_that_is_cut_short(browser):
    whole = browser.address.path
    for path in [whole[:length] or "/" for length in range(len(whole) - 1)] + [whole[:-1] + "x"]:
        assert browser.ask("GET", path).status == 404


def test_a_slash_that_is_missing(browser):
    response = browser.ask("GET", browser.address.path[:-1])
    assert (response.status, response.headers["Location"]) == (302, browser.address.path)


def test_a_browser_is_told_in_a_page(browser):
    response = browser.ask("GET", "/wrong/", Accept="text/html,application/xhtml+xml")
    assert response.status == 404
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<p>Open the address that folioreel printed.</p>" in response.data.decode("utf-8")
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]", ""])
def test_a_host_of_another_name_is_refused(browser, host):
    for method, where in (("GET", ""), ("GET", "video"), ("HEAD", ""), ("POST", "judge")):
        assert browser.ask(method, where, Host=host).status == 403


def test_localhost_is_the_same(browser):
    assert browser.ask("GET", "", Host=f"localhost:{browser.address.port}").status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Length": "1048577"}, 413),
        ({"Content-Length": "-1"}, 411),
    ],
)
def test_who_may_not_judge(browser, result, headers, status):
    body = {"revision": 0, "judgement": {"moment": 0, "verdict": "none", "sentence": None}}
    response = browser.ask("POST", "judge", body, **headers)
    assert response.status == status
    assert browser.payload()["judgements"] == []
    assert not (result / "judged").exists()


@pytest.mark.parametrize(
    "judgement",
    [
        None,
        [],
        {},
        {"moment": 4, "verdict": "none", "sentence": None},
        {"moment": -1, "verdict": "none", "sentence": None},
        {"moment": True, "verdict": "none", "sentence": None},
        {"moment": 0, "verdict": "maybe", "sentence": 1},
        {"moment": 0, "verdict": "match", "sentence": 12},
        {"moment": 0, "verdict": "match", "sentence": None},
        {"moment": 0, "verdict": "match", "sentence": 1.5},
    ],
)
def test_what_is_no_judgement(browser, judgement):
    status, answer = browser.post("judge", {"revision": 0, "judgement": judgement})
    assert status == 400
    assert answer["error"]
    assert browser.payload()["revision"] == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"1"])
def test_what_is_no_json(browser, body):
    assert browser.ask("POST", "judge", body).status == 400


def test_other_methods_are_refused_politely(browser):
    for method in ("PUT", "DELETE", "OPTIONS"):
        response = browser.ask(method, "judge")
        assert response.status == 501
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert json.loads(response.data)["error"]


def test_a_port_that_is_taken(result, browser):
    with pytest.raises(InputError, match="--port"):
        PageServer(open_session(result), browser.address.port)


def test_an_alignment_has_its_own_port_and_another_where_that_is_taken(result):
    port = own_port(result / "judged")
    assert 49152 <= port <= 65535
    assert own_port(result.parent / "judged") != port
    with serving(result) as first:
        assert first.address.port == port
        with serving(result) as second:
            assert second.address.port != port
            assert second.ask("GET", "").status == 200
    with serving(result) as again:
        assert again.address.port == port


def test_the_page_s_name_is_the_alignment_s(browser):
    before = browser.payload()["id"]
    browser.judge(0, 2, 3)
    assert browser.payload()["id"] == before


def test_a_page_that_cannot_be_made_says_so_in_a_line(result, capfd):
    session = open_session(result)
    session.alignment = replace(session.alignment, links=None)
    session._links = None
    with PageServer(session) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        response = Browser(server.address).ask("GET", "")
        server.shutdown()
        thread.join()
    assert response.status == 500
    assert json.loads(response.data)["error"].startswith("the page cannot be made")
    assert "Traceback" not in capfd.readouterr().err


def test_only_this_machine_is_listened_to(result):
    with serving(result) as browser:
        assert browser.address.hostname == "127.0.0.1"
        others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
        for name in others - {"127.0.0.1"}:
            with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
                socket.create_connection((name, browser.address.port), timeout=0.5)
        assert browser.ask("GET", "").status == 200


def test_a_film_that_goes_away(browser, result):
    (result.parent / "film.mp4").unlink()
    assert browser.ask("GET", "video").status == 404
    assert browser.ask("GET", "").status == 200
