"""The paragraphs of one book on disk, any of them one short read away.

The corpus keeps a book as one compressed file (book_file.py), which has to be unpacked as a whole:
too slow for ten answers out of ten books. `search/passages/<key>.bin` holds

```
places    N × 8 bytes   for each sentence where the line of its paragraph begins, little-endian
lines     JSON          one line a paragraph: chapter, its title, paragraph, first sentence, texts
digest    32 bytes      SHA-256 of all that is before it
```
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from folioreel.corpus.book_file import BookText
from folioreel.corpus.reader import CorpusSentence, Passage
from folioreel.corpus.records import BookRecord
from folioreel.corpus.vectors import MEND, has_digest, with_digest
from folioreel.errors import InputError

_PLACE_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class PassageFile:
    """Where the paragraphs of one book lie."""

    path: Path

    def is_whole(self) -> bool:
        """Whether all of it is there, as it was written."""
        return has_digest(self.path)

    def read(self, book: BookRecord, index: int) -> Passage:
        """The paragraph in which a sentence of the book stands.

        Raises:
            InputError: The file is missing or damaged.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(index * _PLACE_BYTES)
                file.seek(int.from_bytes(file.read(_PLACE_BYTES), "little"))
                chapter, title, paragraph, first, texts = json.loads(file.readline())
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror}); {MEND}", self.path) from error
        except (ValueError, TypeError) as error:
            raise InputError(f"is damaged; {MEND}", self.path) from error
        sentences = tuple(
            CorpusSentence(
                book=book, index=first + k, chapter=chapter, paragraph=paragraph, text=text
            )
            for k, text in enumerate(texts)
        )
        return Passage(book=book, chapter_title=title, centre=index, sentences=sentences)


def pack_passages(text: BookText) -> bytes:
    """The bytes of a book's file."""
    places = np.empty(len(text.texts), dtype="<u8")
    lines: list[bytes] = []
    begin = places.nbytes
    for paragraph, group in groupby(range(len(text.texts)), key=text.paragraphs.__getitem__):
        inside = list(group)
        chapter = text.chapters[inside[0]]
        texts = [text.texts[k] for k in inside]
        row = [chapter, text.chapter_titles[chapter], paragraph, inside[0], texts]
        lines.append(json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n")
        places[inside] = begin
        begin += len(lines[-1])
    return with_digest(places.tobytes() + b"".join(lines))
