"""An alignment as the page reads it: the counterpart of frontend/src/payload.ts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from folioreel.types import Alignment, Book, Film, Link

VERSION = 1


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
        "version": VERSION,
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
    return {"sentence": link.sentence, "score": round(link.score, 4), "in_book": link.in_book}


def _book(book: Book) -> dict[str, Any]:
    return {
        "title": book.title,
        "sentences": [sentence.text for sentence in book.sentences],
        "paragraphs": [paragraph.sentences.start for paragraph in book.paragraphs],
        "chapters": [
            {"title": chapter.title, "paragraph": chapter.paragraphs.start}
            for chapter in book.chapters
        ],
    }


def _film(film: Film) -> dict[str, Any]:
    return {
        "title": film.title,
        "duration_s": round(film.duration_s, 3),
        "file_name": film.video.name if film.video is not None else None,
        "shots": [[round(shot.start_s, 3), round(shot.end_s, 3)] for shot in film.shots],
    }
