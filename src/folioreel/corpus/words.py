"""Full-text search over the sentences of a corpus by BM25, with Tantivy: `search/words/`.

Queries and sentences are stemmed (English) and stripped of accents alike. The index stores a book's
id and the sentence's index in it; the text itself is in the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tantivy

from folioreel.errors import InputError
from folioreel.files import make_folder

_TOKENIZER = "folioreel"
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

    def __init__(self, folder: Path) -> None:
        """Open an existing index."""
        self._folder = folder
        try:
            self._index = tantivy.Index.open(str(folder))
            self._searcher = self._index.searcher()
        except (ValueError, OSError) as error:
            raise self._damaged(error) from error
        self._analyzer = _make_analyzer()

    @property
    def sentences(self) -> int:
        """The number of sentences in the index."""
        return self._searcher.num_docs

    def count_sentences(self, word: str) -> int:
        """The number of sentences with a word in the form that `split` gives."""
        return self._searcher.doc_freq("text", word)

    def split(self, text: str) -> list[str]:
        """The distinct words of a text in the form in which they are compared."""
        return list(dict.fromkeys(self._analyzer.analyze(text)))

    def search(self, text: str, count: int) -> dict[Place, float]:
        """The sentences that share the rarest words with a text and their BM25, best first."""
        words = self._rare_words(text)
        if not words:
            return {}
        schema = self._index.schema
        # Built term by term instead of parsed: a query may hold AND, quotes or brackets as text.
        query = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word, "freq"))
                for word in words
            ]
        )
        try:
            found = self._searcher.search(query, count, count=False)
            hits = {self._place(address): float(score) for score, address in found.hits}
        except (ValueError, OSError) as error:
            raise self._damaged(error) from error
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

    def _damaged(self, error: Exception) -> InputError:
        reason = " ".join(str(error).split())[:200]
        return InputError(f"cannot be searched ({reason}); index the corpus again", self._folder)


class WordWriter:
    """The full-text index of a corpus, open for changes; they take effect with `commit`."""

    def __init__(self, folder: Path) -> None:
        """Open an index, or create one."""
        make_folder(folder)
        try:
            index = tantivy.Index(_make_schema(), path=str(folder))
            index.register_tokenizer(_TOKENIZER, _make_analyzer())
            # One thread, so that sentences keep their order and ties are broken alike each time.
            self._writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        except (ValueError, OSError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"cannot be written ({reason})", folder) from error

    def add_book(self, book_id: str, texts: Sequence[str]) -> None:
        """Add the sentences of a book, replacing those that it already has."""
        self.remove_book(book_id)
        for sentence, text in enumerate(texts):
            document = tantivy.Document()
            document.add_text("book", book_id)
            document.add_unsigned("sentence", sentence)
            document.add_text("text", text)
            self._writer.add_document(document)

    def remove_book(self, book_id: str) -> None:
        """Remove the sentences of a book, if there are any."""
        self._writer.delete_documents_by_term("book", book_id)

    def commit(self) -> None:
        """Make all changes permanent, in one step."""
        self._writer.commit()

    def close(self) -> None:
        """Wait until background merges are finished."""
        self._writer.wait_merging_threads()


def _make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # One term, unsplit, by which a book can be removed.
    builder.add_text_field("book", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("sentence", stored=True)
    # Frequencies without positions: BM25 needs no more, and phrases are not searched.
    builder.add_text_field("text", tokenizer_name=_TOKENIZER, index_option="freq")
    return builder.build()


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
