"""The one-file page: its data escaped, its policy strict, its pictures small."""

import base64
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from conftest import make_book, make_film
from drawn_films import draw_film, scene, shots_of
from PIL import Image

from folioreel.errors import InputError
from folioreel.export.page_html import (
    escape_json,
    inline_thumbnails,
    make_payload,
    render_page,
    write_page,
)
from folioreel.ingest.picture import Stills
from folioreel.types import Alignment, Film, Link, Shot

NASTY = (
    "</script><script>alert(1)</script>",
    "<!-- <script> -->",
    "]]> &amp; <img src=x onerror=alert(1)>",
    "line\u2028separator\u2029and \x00 \x1b control",
    "“quotes” \\ \" ' `${1}` {braces}",
    "half a pair \ud83d of surrogates",
    "平仮名 😀 é",
)


@pytest.fixture
def alignment():
    film, book = make_film(), make_book(NASTY)
    links = tuple(Link(moment=i, sentence=i, score=i / 7, in_book=i > 3) for i in range(6))
    return Alignment(book=replace(book, title="<i>Kilos</i>"), film=film, links=links)


def read_payload(text: str):
    start = text.index('id="payload">') + len('id="payload">')
    return json.loads(text[start : text.index("</script>", start)])


def test_the_data_comes_through_whole(alignment, tmp_path):
    write_page(alignment, tmp_path / "page.html")
    payload = read_payload((tmp_path / "page.html").read_text(encoding="utf-8"))
    whole = [text.replace("\ud83d", "?") for text in NASTY]
    assert payload["book"]["sentences"] == whole
    assert payload["book"]["paragraphs"] == [0, 2, 4, 6]
    assert payload["book"]["chapters"] == [
        {"title": "One", "paragraph": 0},
        {"title": "Two", "paragraph": 2},
    ]
    assert payload["film"]["shots"] == [[0.0, 5.0], [5.0, 8.0], [8.0, 14.0], [14.0, 20.0]]
    assert payload["film"]["file_name"] is None
    assert payload["moments"][2] == {"start_s": 5.0, "end_s": 8.0, "text": "", "shot": 1}
    assert payload["links"][5] == {"sentence": 5, "score": 0.7143, "in_book": True}
    assert payload["server"] is None
    assert payload["thumbnails"] == []


def test_nothing_of_the_book_is_markup(alignment):
    text = render_page(make_payload(alignment))[0]
    assert text.count("<script") == text.count("</script>") == 2
    assert "<img" not in text.split("<script>")[0]
    assert "<title>&lt;i&gt;Kilos&lt;/i&gt; – folioreel</title>" in text
    assert not re.search(r"\son\w+=|style=|javascript:", text.split("<style>")[0])


def test_the_policy_of_the_single_file_knows_no_network(alignment):
    text, policy = render_page(make_payload(alignment))
    assert f'content="{policy}"' in text
    assert "connect-src 'none'" in policy
    assert "'self'" not in policy
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)
    served = render_page(make_payload(alignment, server={"video": None, "judge": "j", "undo": "u"}))
    assert "connect-src 'self'" in served[1]
    for part in (policy, served[1]):
        assert "unsafe" not in part
        assert part.startswith("default-src 'none'")


def test_escapes():
    found = escape_json({"a": "<>&\u2028\u2029"})
    assert found == '{"a":"\\u003c\\u003e\\u0026\\u2028\\u2029"}'
    with pytest.raises(ValueError, match="Out of range"):
        escape_json(float("nan"))


def film_of(video, lengths) -> Film:
    cuts = np.cumsum([0, *lengths]) / 25
    shots = tuple(
        Shot(index=k, start_s=float(cuts[k]), end_s=float(cuts[k + 1])) for k in range(len(lengths))
    )
    return Film(title="Drawn", duration_s=float(cuts[-1]), shots=shots, video=video, path=video)


def test_each_shot_has_its_own_picture(tmp_path):
    lengths = [30, 7, 60, 12]
    film = film_of(draw_film(tmp_path / "film.mp4", shots_of(lengths)), lengths)
    addresses = inline_thumbnails(film)
    for k, address in enumerate(addresses):
        head, data = address.split(",")
        assert head == "data:image/jpeg;base64"
        picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))).astype(float)
        assert picture.shape == (120, 160, 3)
        differences = []
        for seed in range(len(lengths)):
            # The blocks move to the right, a pixel a frame.
            moved = (np.roll(scene(seed), step, axis=1) for step in range(lengths[seed]))
            differences.append(min(np.abs(picture - other).mean() for other in moved))
        assert int(np.argmin(differences)) == k


def test_a_film_of_many_shots_stays_small(tmp_path, monkeypatch):
    monkeypatch.setattr("folioreel.export.page_html._MOST", 4)
    lengths = [5] * 10
    film = film_of(draw_film(tmp_path / "film.mp4", shots_of(lengths)), lengths)
    assert [address is not None for address in inline_thumbnails(film)] == [
        *[True, False, False] * 3,
        True,
    ]
    large = max(len(address) for address in inline_thumbnails(film) if address)
    # Room for four fifths of that size in each of the four: coarser pictures are taken.
    budget = large * 3 // 4 * 4 // 5 * 10 // 3
    monkeypatch.setattr("folioreel.export.page_html._BUDGET_BYTES", budget)
    small = [address for address in inline_thumbnails(film) if address]
    assert len(small) == 4
    assert max(map(len, small)) < large
    monkeypatch.setattr("folioreel.export.page_html._BUDGET_BYTES", 100)
    assert inline_thumbnails(film) == []


def test_a_video_that_is_gone_or_broken(tmp_path):
    film = film_of(tmp_path / "gone.mp4", [10])
    assert inline_thumbnails(film) == []
    with pytest.raises(InputError):
        Stills(tmp_path / "gone.mp4", 160)
    whole = draw_film(tmp_path / "film.mkv", shots_of([50, 50])).read_bytes()
    (tmp_path / "cut.mkv").write_bytes(whole[: len(whole) // 3])
    pictures = inline_thumbnails(film_of(tmp_path / "cut.mkv", [50, 50]))
    assert pictures[0] is not None
