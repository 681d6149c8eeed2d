"""Full-text search over the sentences of a corpus by BM25, with Tantivy: `search/words/`.

Sentences are stemmed in their language and stripped of accents, and queries in each language that
the corpus has. For English, and where the language is unknown, Tantivy does it. In other languages
the terms are those of stems.py, marked with the language (`fr:maison`): Tantivy has stemmers for
fewer of them, and none for scripts without spaces. The index stores a book's id and the sentence's
index in it; the text itself is in the corpus.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tantivy

from folioreel.errors import InputError
from folioreel.files import make_folder, scratch_folder
from folioreel.json_input import parse_json
from folioreel.reading import read_whole
from folioreel.stems import drop_accents, find_terms, stem_word

_TOKENIZER = "folioreel"
_PANIC = "PanicException"  # what a crash of Rust code is called in Python; it has no module
# Memory of the writer before it flushes to disk. Tantivy needs 15 MB at least; more only means
# fewer merges later.
_HEAP_BYTES = 64_000_000
# A word in at least this share of all sentences ("the", "said") hardly distinguishes them, and
# its long list of sentences takes most of the time.
_COMMON_FROM = 0.05
# Characters; Tantivy's own default. Longer tokens are web addresses and debris.
_LONGEST_WORD = 40


Place = tuple[str, int]  # a book's id, and the index of a sentence in it


class WordIndex:
    """The full-text index of a corpus, open for searching."""

    def __init__(self, folder: Path, languages: Iterable[str | None] = ()) -> None:
        """Open an existing index; `languages` are those of its books."""
        self._folder = folder
        self._languages = sorted({each for each in languages if each not in (None, "en")} - {None})
        with _explained(folder), _writable(folder) as place:
            _check_files(folder)
            self._index = tantivy.Index.open(str(place))
            # Or a thread of Tantivy would open the files again whenever they change.
            self._index.config_reader(reload_policy="manual")
            self._searcher = self._index.searcher()
        self._analyzer = _make_analyzer()

    @property
    def sentences(self) -> int:
        """The number of sentences in the index."""
        return self._searcher.num_docs

    def count_sentences(self, word: str) -> int:
        """The number of sentences with a word in the form that `split` gives."""
        with _explained(self._folder):
            return self._searcher.doc_freq(_field_of(word), word)

    @property
    def has_stems(self) -> bool:
        """Whether it can hold books in other languages than English; version 0.1 made none."""
        try:
            tantivy.Query.term_query(self._index.schema, "stems", "")
        except ValueError:
            return False
        return True

    def split(self, text: str) -> list[str]:
        """The distinct words of a text in the form in which they are compared."""
        found = self._analyzer.analyze(text)
        for language in self._languages:
            found += _marked_stems(text, language)
        return list(dict.fromkeys(found))

    def search(self, text: str, count: int) -> dict[Place, float]:
        """The sentences that share the rarest words with a text and their BM25, best first."""
        words = self._rare_words(text)
        if not words:
            return {}
        schema = self._index.schema
        with _explained(self._folder):
            # Built term by term instead of parsed: a query may hold AND, quotes or brackets.
            terms = [
                tantivy.Query.term_query(schema, _field_of(word), word, "freq") for word in words
            ]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
            found = self._searcher.search(query, count, count=False)
            hits = {self._place(address): float(score) for score, address in found.hits}
        return dict(sorted(hits.items(), key=lambda hit: (-hit[1], hit[0])))

    def _rare_words(self, text: str) -> list[str]:
        """The words to look for: the common ones are dropped, unless there are no others."""
        counts = {word: self.count_sentences(word) for word in self.split(text)}
        known = [word for word, count in counts.items() if count]
        rare = [word for word in known if counts[word] < _COMMON_FROM * self.sentences]
        return rare or known

    def _place(self, address: tantivy.DocAddress) -> Place:
        document = self._searcher.doc(address)
        return str(document.get_first("book")), int(document.get_first("sentence") or 0)


class WordWriter:
    """The full-text index of a corpus, open for changes; they take effect with `commit`."""

    def __init__(self, folder: Path) -> None:
        """Open an index, or create one."""
        make_folder(folder)
        self._folder = folder
        with _explained(folder, "written"):
            index = tantivy.Index(_make_schema(), path=str(folder))
            index.register_tokenizer(_TOKENIZER, _make_analyzer())
            # One thread, so that sentences keep their order and ties are broken alike each time.
            self._writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)

    def add_book(self, book_id: str, texts: Sequence[str], language: str | None = None) -> None:
        """Add the sentences of a book, replacing those that it already has."""
        self.remove_book(book_id)
        with _explained(self._folder, "written"):
            for sentence, text in enumerate(texts):
                document = tantivy.Document()
                document.add_text("book", book_id)
                document.add_unsigned("sentence", sentence)
                if language in (None, "en"):
                    document.add_text("text", text)
                else:
                    document.add_text("stems", " ".join(_marked_stems(text, str(language))))
                self._writer.add_document(document)

    def remove_book(self, book_id: str) -> None:
        """Remove the sentences of a book, if there are any."""
        with _explained(self._folder, "written"):
            self._writer.delete_documents_by_term("book", book_id)

    def commit(self) -> None:
        """Make all changes permanent, in one step."""
        with _explained(self._folder, "written"):
            self._writer.commit()

    def close(self) -> None:
        """Wait until background merges are finished."""
        with _explained(self._folder, "written"):
            self._writer.wait_merging_threads()


@contextmanager
def _explained(folder: Path, what: str = "searched") -> Iterator[None]:
    """Errors of Tantivy in words for the user, and its panics, which are no `Exception`."""
    try:
        yield
    except BaseException as error:
        is_known = isinstance(error, ValueError | OSError | InputError)
        if not is_known and type(error).__name__ != _PANIC:
            raise
        message = error.message if isinstance(error, InputError) else str(error)
        reason = " ".join(message.split())[:200]
        if what == "written":
            repair = "is the disk full or read-only?"
        else:
            repair = f"index the corpus again: folioreel corpus index {folder.parent.parent}"
        raise InputError(f"cannot be {what} ({reason}); {repair}", folder) from error


@contextmanager
def _writable(folder: Path) -> Iterator[Path]:
    """A folder with the files of an index in which Tantivy can make its lock, to open it."""
    if os.access(folder, os.W_OK):
        yield folder
        return
    with scratch_folder() as scratch:
        for path in folder.iterdir():
            (scratch / path.name).symlink_to(path.absolute())
        yield scratch


@dataclass(frozen=True, kw_only=True)
class _Segment:
    segment_id: str


@dataclass(frozen=True, kw_only=True)
class _Field:
    name: str
    type: str


@dataclass(frozen=True, kw_only=True)
class _Meta:
    """What we need of Tantivy's `meta.json`."""

    segments: list[_Segment]
    schema: list[_Field]


@dataclass(frozen=True, kw_only=True)
class _Footer:
    """What Tantivy writes after the content of each file."""

    crc: int


def _check_files(folder: Path) -> None:
    """Raise `ValueError` unless all files are as Tantivy wrote them.

    It only looks at the checksums that it writes if it is asked to, for which Python has no way,
    and on damaged files it may end the whole process.
    """
    meta = parse_json(read_whole(folder / "meta.json"), _Meta)
    if [(field.name, field.type) for field in meta.schema] != _FIELDS:
        raise ValueError("meta.json is damaged")
    for segment in meta.segments:
        if not re.fullmatch(r"[0-9a-f-]{36}", segment.segment_id):
            raise ValueError("meta.json is damaged")
        for path in folder.glob(f"{segment.segment_id.replace('-', '')}.*"):
            if not _is_whole(path):
                raise ValueError(f"{path.name} is damaged")


def _is_whole(path: Path) -> bool:
    """Whether a file has the checksum that stands in its footer.

    That is JSON, followed by its length and a magic number, four bytes each.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little")
        left = size - 8 - length
        if left < 0:
            return False
        file.seek(left)
        expected = parse_json(file.read(length), _Footer).crc
        file.seek(0)
        crc = 0
        while left:
            piece = file.read(min(left, 2**20))
            crc, left = zlib.crc32(piece, crc), left - len(piece)
    return crc == expected


_FIELDS = [("book", "text"), ("sentence", "u64"), ("text", "text"), ("stems", "text")]


def _make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # One term, unsplit, by which a book can be removed.
    builder.add_text_field("book", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("sentence", stored=True)
    # Frequencies without positions: BM25 needs no more, and phrases are not searched.
    builder.add_text_field("text", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field("stems", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _field_of(word: str) -> str:
    return "stems" if ":" in word else "text"  # no English word has a colon


def _marked_stems(text: str, language: str) -> list[str]:
    words = (stem_word(term, language) for term in find_terms(text, language))
    return [f"{language}:{bare}" for word in words if (bare := drop_accents(word))]


def _make_analyzer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(_LONGEST_WORD),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()
