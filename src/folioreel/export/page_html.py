"""The page: film and book side by side, as one self-contained HTML document.

The front end (frontend/, built into page/) is inlined, and the content security policy admits these
two files alone. The data is JSON in a block that no browser executes, with every character escaped
that could end the block.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from folioreel.errors import FolioReelError, InputError
from folioreel.export.estimates import paragraph_words
from folioreel.files import write_text
from folioreel.ingest.picture import FilmStills
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.types import Alignment, Annotation, Book, Film, Link

PAYLOAD_VERSION = 1  # of the data: the counterpart is frontend/src/payload.ts
WIDTH_PX = 160
_MOST = 1200
"""The most pictures in a page; of a film with more shots every second (third …) gets one."""
_BUDGET_BYTES = 5_500_000
"""Their total size: a page of some 7 MB, as base64 adds a third, can still be sent to a friend."""
_QUALITIES = (60, 40, 20)

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript, which your browser has switched off.</noscript>
<script type="application/json" id="payload">{payload}</script>
<script>{script}</script>
</body>
</html>
"""
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def write_page(
    alignment: Alignment, path: Path, progress: ProgressCallback = ignore_progress
) -> None:
    """Write the page as one file that works from disk, offline."""
    judgements = [_page_judgement(link) for link in alignment.links if _is_first_judged(link)]
    payload = make_payload(alignment, inline_thumbnails(alignment.film, progress), judgements)
    write_text(path, render_page(payload)[0])


def _is_first_judged(link: Link) -> bool:
    """Whether a link was judged, and is the first of those that were judged with it."""
    if link.annotation is None:
        return link.judged is not None
    return link.judged is not None and link.moment == link.annotation.moments[0]


def _page_judgement(link: Link) -> dict[str, Any]:
    """The judgement of a link in the page's form."""
    said = link.annotation or Annotation(moments=(link.moment, link.moment))
    first, last = said.sentences or (link.sentence, link.sentence)
    is_match = link.judged == "match"
    judgement = {
        "moment": link.moment,
        "verdict": link.judged,
        "sentence": first if is_match else None,
        "moment_to": said.moments[1],
        "sentence_to": last if is_match else None,
        "kind": said.kind,
        "note": said.note or None,
    }
    usual = {"moment_to": link.moment, "sentence_to": judgement["sentence"]}
    usual |= {"kind": None, "note": None}
    return {
        name: value
        for name, value in judgement.items()
        if name not in usual or value != usual[name]
    }


def render_page(payload: dict[str, Any]) -> tuple[str, str]:
    """The page's HTML, and its content security policy for a header.

    Args:
        payload: What `make_payload` gives; with a server the page may talk to its own origin.
    """
    script, style = _front_end("page.js"), _front_end("page.css")
    own = " 'self'" if payload["server"] is not None else ""
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            f"img-src data: blob:{own}",
            f"media-src blob:{own}",
            "connect-src" + (own or " 'none'"),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    text = _TEMPLATE.format(
        policy=policy,
        title=html.escape(f"{payload['book']['title']} – folioreel"),
        style=style,
        payload=escape_json(payload),
        script=script,
    )
    return text, policy


def escape_json(value: Any) -> str:
    """JSON that is safe inside a script element, whatever the texts contain."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half of a surrogate pair, which a broken book may contain, cannot be encoded as UTF-8.
    whole = text.translate(_ESCAPES).encode("utf-8", errors="replace")
    return whole.decode("utf-8")


def _front_end(name: str) -> str:
    """A built file of the front end."""
    try:
        text = resources.files("folioreel.export").joinpath("page", name).read_text("utf-8")
    except OSError as error:
        raise FolioReelError(
            f"the page's {name} is missing from the installed package; install folioreel again"
        ) from error
    if "</script" in text.lower() or "</style" in text.lower() or "<!--" in text:
        raise ValueError(f"{name} cannot be inlined")
    return text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def make_payload(
    alignment: Alignment,
    thumbnails: Sequence[str | None] = (),
    judgements: Sequence[dict[str, Any]] = (),
    revision: int = 0,
    server: dict[str, str | None] | None = None,
) -> dict[str, Any]:
    """The page's data as plain values.

    Args:
        alignment: What is shown.
        thumbnails: One URL per shot, or nothing.
        judgements: The reader's judgements so far, in the page's form.
        revision: How often the judgements have changed.
        server: Where the page asks for the film and posts judgements; None for the one-file page.
    """
    return {
        "version": PAYLOAD_VERSION,
        "id": _identity(alignment),
        "book": _book(alignment.book),
        "film": _film(alignment.film),
        "moments": [
            {
                "start_s": round(moment.start_s, 3),
                "end_s": round(moment.end_s, 3),
                "text": moment.text,
                "shot": moment.shot,
            }
            for moment in alignment.film.moments
        ],
        "links": [page_link(link) for link in alignment.links],
        "warnings": list(alignment.warnings),
        "thumbnails": list(thumbnails),
        "judgements": list(judgements),
        "revision": revision,
        "server": server,
    }


def _identity(alignment: Alignment) -> str:
    """The key under which a browser stores settings; judgements do not change it."""
    book, film = alignment.book, alignment.film
    parts = [
        (book.title, book.sha256, len(book.sentences)),
        (film.title, film.sha256, len(film.moments)),
        alignment.signature,
    ]
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()[:16]


def page_link(link: Link) -> dict[str, Any]:
    """A link in the page's form."""
    others = [[other.sentence, other.score] for other in link.alternatives]
    return {
        "sentence": link.sentence,
        "score": round(link.score, 4),
        "in_book": link.in_book,
        **({"alternatives": others} if others else {}),
    }


def _book(book: Book) -> dict[str, Any]:
    return {
        "title": book.title,
        "sentences": [sentence.text for sentence in book.sentences],
        "paragraphs": [paragraph.sentences.start for paragraph in book.paragraphs],
        "chapters": [
            {"title": chapter.title, "paragraph": chapter.paragraphs.start}
            for chapter in book.chapters
        ],
        "words": paragraph_words(book),
        "verse": {str(s.index): _units(s.text, s.breaks) for s in book.sentences if s.breaks},
        "italics": {
            str(s.index): _units(s.text, chain(*s.emphasis)) for s in book.sentences if s.emphasis
        },
        **_language(book),
    }


def _units(text: str, places: Iterable[int]) -> list[int]:
    """Places in a text as JavaScript counts them: characters beyond U+FFFF are two."""
    beyond = [k for k, character in enumerate(text) if character > "\uffff"]
    return [place + bisect_left(beyond, place) for place in places]


def _language(source: Book | Film) -> dict[str, str]:
    """The language, if it is known."""
    return {"language": source.language} if source.language else {}


def _film(film: Film) -> dict[str, Any]:
    parts = [
        {
            "title": part.title,
            "file_name": part.video.name if part.video is not None else None,
            "start_s": round(part.start_s, 3),
            "duration_s": round(part.duration_s, 3),
        }
        for part in film.parts
    ]
    return {
        "title": film.title,
        "duration_s": round(film.duration_s, 3),
        "file_name": film.video.name if film.video is not None else None,
        "shots": [[round(shot.start_s, 3), round(shot.end_s, 3)] for shot in film.shots],
        **_language(film),
        **({"parts": parts} if parts else {}),
    }


def encode_jpeg(
    picture: NDArray[np.uint8],
    most_bytes: int | None = None,
    qualities: Sequence[int] = _QUALITIES,
) -> bytes | None:
    """A picture as JPEG, at lower quality if it would be too large; None if that is not enough."""
    for quality in qualities:
        stream = io.BytesIO()
        Image.fromarray(picture).save(stream, format="JPEG", quality=quality, optimize=True)
        if most_bytes is None or stream.tell() <= most_bytes:
            return stream.getvalue()
    return None


def inline_thumbnails(film: Film, progress: ProgressCallback = ignore_progress) -> list[str | None]:
    """One `data:` URL per shot, or None; empty if no shot has a picture."""
    if not film.has_video or not film.shots:
        return []
    every = -(-len(film.shots) // _MOST)
    # All pictures get the same share of the budget.
    share = _BUDGET_BYTES * every // len(film.shots)
    found: list[str | None] = [None] * len(film.shots)
    for shot, picture in _pictures(film, every, progress):
        if (jpeg := encode_jpeg(picture, share)) is not None:
            found[shot] = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    return found if any(found) else []


def _pictures(
    film: Film, every: int, progress: ProgressCallback
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Shots, each with a picture; shots that cannot be decoded are skipped."""
    with FilmStills(film, WIDTH_PX) as stills:
        for shot in track(film.shots[::every], "taking stills", progress):
            try:
                picture = stills.picture(shot)
            except InputError:
                continue  # the page works without pictures
            if picture is not None:
                yield shot.index, picture
