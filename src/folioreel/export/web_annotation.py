"""W3C Web Annotation: each link as an annotation of a stretch of the film with a passage.

The target is a media fragment of the film, the body a quotation from the book, with the words
around it, so that other tools find it in any edition. Moments that are not in the book are left
out. A reader's note is a second body. Probability, judgement and kind are properties of our own,
which other programs ignore.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from folioreel.export.places import book_place, film_place, passage_ends
from folioreel.files import write_text
from folioreel.text import join_sentences, sentence_joint
from folioreel.types import Alignment, Book, Link

_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_OURS = {"folioreel": "urn:folioreel:"}
_MEDIA_FRAGMENTS = "http://www.w3.org/TR/media-frags/"
_LINES = "http://tools.ietf.org/rfc/rfc5147"
_AROUND = 32  # characters before and after a quotation, as Hypothesis stores


def write_web_annotation(alignment: Alignment, path: Path) -> None:
    """Write the links as one annotation collection in JSON-LD."""
    links = [link for link in alignment.links if link.in_book]
    name = f"{alignment.book.sha256}{alignment.film.sha256}{alignment.film.title}"
    root = uuid.uuid5(uuid.NAMESPACE_URL, name)
    document = {
        "@context": [_CONTEXT, _OURS],
        "id": root.urn,
        "type": "AnnotationCollection",
        "label": alignment.title,
        "total": len(links),
        "first": {
            "id": uuid.uuid5(root, "page").urn,
            "type": "AnnotationPage",
            "startIndex": 0,
            "items": [_annotation(alignment, link, root, path) for link in links],
        },
    }
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    write_text(path, text.encode("utf-8", errors="replace").decode("utf-8") + "\n")


def _annotation(alignment: Alignment, link: Link, root: uuid.UUID, out: Path) -> dict[str, Any]:
    film = film_place(alignment, link, out)
    spoken, written = alignment.film.language, alignment.book.language
    annotation: dict[str, Any] = {
        "id": uuid.uuid5(root, str(link.moment)).urn,
        "type": "Annotation",
        "motivation": "linking",
        "target": {
            "type": "SpecificResource",
            "source": film.address,
            **({"language": spoken} if spoken else {}),
            "selector": {
                "type": "FragmentSelector",
                "conformsTo": _MEDIA_FRAGMENTS,
                "value": f"t={film.start_s:.3f},{film.end_s:.3f}",
            },
        },
        "body": {
            "type": "SpecificResource",
            "source": book_place(alignment.book, link.sentences, out).address,
            **({"language": written} if written else {}),
            "selector": _passage_selectors(alignment.book, link.sentences, out),
        },
        "folioreel:moment": link.moment,
        "folioreel:sentence": link.sentence,
        "folioreel:score": round(link.score, 4),
    }
    if link.judged is not None:
        annotation["folioreel:judged"] = link.judged
    said = link.annotation
    kind = said.kind if said else None
    annotation["folioreel:kind"] = kind or alignment.film.moments[link.moment].kind
    if said is not None:
        annotation["folioreel:moments"] = list(said.moments)
        annotation["folioreel:sentences"] = list(said.sentences or ())
        if said.note:
            note = {"type": "TextualBody", "value": said.note, "purpose": "commenting"}
            annotation["body"] = [annotation["body"], note]
    return annotation


def _passage_selectors(book: Book, passage: range, out: Path) -> list[dict[str, Any]]:
    """The quotation, and its place in the file."""
    place = book_place(book, passage, out)
    exact = join_sentences(book.sentences[j].text for j in passage)
    quotation: dict[str, Any] = {"type": "TextQuoteSelector", "exact": exact}
    if passage.start > 0:
        before = book.sentences[passage.start - 1].text
        quotation["prefix"] = (before + sentence_joint(before, exact))[-_AROUND:]
    if passage.stop < len(book.sentences):
        after = book.sentences[passage.stop].text
        quotation["suffix"] = (sentence_joint(exact, after) + after)[:_AROUND]
    if place.fragment is None:
        return [quotation]
    first, last = passage_ends(book, passage)
    fragment: dict[str, Any] = {"type": "FragmentSelector", "value": place.fragment}
    if place.is_line:
        fragment["conformsTo"] = _LINES
    elif first.char_start is not None:
        position = {"start": first.char_start, "end": last.char_end}
        fragment["refinedBy"] = {"type": "TextPositionSelector", **position}
    return [quotation, fragment]
