"""A corpus as numbers: every sentence comes back, in order, with NumPy alone."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_books import snapshot, write_novels

from folioreel.corpus.build import CorpusConfig, build_corpus
from folioreel.corpus.pack import PackConfig, build_vocabulary, pack_corpus
from folioreel.corpus.reader import Corpus, open_corpus
from folioreel.corpus.shards import load_shard
from folioreel.errors import ConfigError, InputError
from folioreel.models.vocabulary import Vocabulary


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    write_novels(tmp_path / "library", range(5), words=800)
    odd = "CHAPTER I\n\n" + "No. " + "one two three four five six seven " * 20 + "eight.\n\nGo\n"
    (tmp_path / "library" / "odd.txt").write_text(odd, encoding="utf-8")
    build_corpus(tmp_path / "library", tmp_path / "corpus", CorpusConfig(min_words=0, workers=1))
    return open_corpus(tmp_path / "corpus")


@pytest.fixture
def vocabulary(corpus: Corpus) -> Vocabulary:
    return build_vocabulary(corpus, 300)


@pytest.mark.parametrize("shard_mb", [100, 0.005, 0.0005])
def test_every_sentence_comes_back(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path, shard_mb: float
) -> None:
    out = tmp_path / "packed"
    config = PackConfig(shard_mb=shard_mb)
    report = pack_corpus(corpus, vocabulary, out, config)
    found = []
    for packed in report.shards:
        shard = load_shard(out / packed.file)
        assert shard.tokens.nbytes + shard.lengths.nbytes <= shard_mb * 1e6
        assert (len(shard.lengths), len(shard.tokens)) == (packed.sentences, packed.tokens)
        for k, book_id in enumerate(shard.book_ids):
            places = range(int(shard.books[k]), int(shard.books[k + 1]))
            found += [
                (str(book_id), int(shard.firsts[k]) + number, shard.sentence(place).tolist())
                for number, place in enumerate(places)
            ]
    expected = [
        (book.record.id, s.index, vocabulary.encode(s.text)[:60])
        for book in corpus.read_books()
        for s in book.text.sentences()
    ]
    assert found == expected
    assert report.sentences == corpus.sentence_count
    assert report.tokens == sum(len(ids) for _, _, ids in expected)
    assert report.unknown_tokens == sum(ids.count(2) for _, _, ids in expected)
    assert report.cut_sentences == 1
    assert min(len(ids) for _, _, ids in expected) == 1
    assert Vocabulary.load(out / "vocabulary.txt") == vocabulary
    assert json.loads((out / "pack.json").read_bytes())["tokens"] == report.tokens


def test_books_are_whole_where_they_fit(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    report = pack_corpus(corpus, vocabulary, tmp_path / "packed", PackConfig(shard_mb=0.005))
    assert len(report.shards) > 1
    assert sum(shard.books for shard in report.shards) == len(corpus.books)


def test_packing_is_deterministic_and_removes_older_shards(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    pack_corpus(corpus, vocabulary, tmp_path / "packed", PackConfig(shard_mb=0.0005))
    pack_corpus(corpus, vocabulary, tmp_path / "packed")
    pack_corpus(corpus, vocabulary, tmp_path / "second")
    assert snapshot(tmp_path / "packed") == snapshot(tmp_path / "second")
    plain = pack_corpus(corpus, vocabulary, tmp_path / "plain", PackConfig(compress=False))
    assert plain.shards[0].bytes > 1.5 * (tmp_path / "packed" / "shard-0000.npz").stat().st_size


ONLY_NUMPY = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in sys.stdlib_module_names and top not in ("numpy", "folioreel"):
            raise ImportError(f"not on this machine: {name}")

sys.meta_path.insert(0, Refuse())
from folioreel.corpus.shards import load_shard
from folioreel.models.vocabulary import Vocabulary
from pathlib import Path
shard = load_shard(sys.argv[1])
print(Vocabulary.load(Path(sys.argv[2])).decode(shard.sentence(0)))
"""


def test_a_machine_with_numpy_alone_reads_it(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    out = tmp_path / "packed"
    pack_corpus(corpus, vocabulary, out)
    paths = [str(out / "shard-0000.npz"), str(out / "vocabulary.txt")]
    command = [sys.executable, "-c", ONLY_NUMPY, *paths]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    first = next(corpus.read_books()).text.texts[0]
    assert printed.strip() == vocabulary.decode(vocabulary.encode(first))


def test_damaged_shards(corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path) -> None:
    pack_corpus(corpus, vocabulary, tmp_path)
    path = tmp_path / "shard-0000.npz"
    whole = path.read_bytes()
    for data in (b"", b"nothing", whole[: len(whole) // 2]):
        path.write_bytes(data)
        with pytest.raises(InputError, match="cannot be read as a shard"):
            load_shard(path)
    np.savez(path, tokens=np.zeros(3, dtype=np.uint16))
    with pytest.raises(InputError, match="cannot be read as a shard"):
        load_shard(path)
    np.savez(
        path,
        tokens=np.zeros(3, dtype=np.uint16),
        lengths=np.ones(2, dtype=np.uint16),
        books=np.array([0, 2]),
        book_ids=np.array(["a"]),
        firsts=np.array([0]),
    )
    with pytest.raises(InputError, match="do not fit one another"):
        load_shard(path)


@pytest.mark.parametrize("setting", [{"max_tokens": 0}, {"max_tokens": 70_000}, {"shard_mb": 1e-6}])
def test_settings_out_of_range(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        PackConfig(**setting)


def test_the_vocabulary_must_fit(corpus: Corpus, tmp_path: Path) -> None:
    words = tuple(str(number) for number in range(70_000))
    large = Vocabulary(words=words, counts=(1,) * len(words))
    with pytest.raises(ConfigError, match="16 bits"):
        pack_corpus(corpus, large, tmp_path)
