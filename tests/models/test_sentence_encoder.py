"""Sentence encoders: PyTorch's numbers, whatever the batch; the cache; encoders by name."""

from dataclasses import replace

import numpy as np
import pytest
from made_encoders import by_pytorch, made_model

from folioreel import Aligner
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models import folders, sentence_encoder, word_encoder
from folioreel.models.folders import ModelFolder
from folioreel.models.sentence_encoder import encode_cached, load_encoder
from folioreel.models.vocabulary import UNKNOWN
from folioreel.models.word_encoder import EncoderPart, WordEncoder

TEXTS = (
    "The ferry crossed the river at dawn.",
    "",
    "Petra read the dial, and wrote the figure down.",
    "Kilos.",
    "   ",
    "He looked at the water -- and said nothing at all in the evening. " * 3,
    "Zyx.",
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def encoder():
    return made_model()


class Counting:
    """An encoder that gives each text its length, and counts what it is asked for."""

    name, units, fingerprint = "counting", 3, "a fingerprint"

    def __init__(self):
        self.asked = []

    def encode(self, texts, progress=None):
        self.asked += texts
        rows = [[len(text), 1 / 3, -1.0] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 3)


def test_the_vectors_are_those_of_pytorch(encoder):
    found = encoder.encode(TEXTS)
    assert found.shape == (len(TEXTS), 48)
    assert found.dtype == np.float32
    for text, vector in zip(TEXTS, found, strict=True):
        ids = encoder.vocabulary.encode(text)[: encoder.longest]
        expected = by_pytorch(ids) if ids else np.zeros(48)
        assert vector == pytest.approx(expected, abs=1e-5)


def test_a_text_has_one_vector_whatever_its_batch(encoder, rng):
    words = np.array("the ferry crossed river at dawn petra zyx , .".split())
    texts = [" ".join(rng.choice(words, rng.integers(0, 30))) for _ in range(100)]
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(encoder.encode(texts[::-1])[::-1] - together).max() < 1e-5


def test_nothing_to_encode(encoder):
    assert encoder.encode([]).shape == (0, 48)
    assert not encoder.encode(["", " \n"]).any()


def test_long_texts_are_cut(encoder):
    text = "the ferry crossed the river at dawn and petra read the dial"  # twelve words
    cut, whole = encoder.encode([text + " down" * 50_000, text])
    assert cut == pytest.approx(whole, abs=1e-6)
    longer = replace(encoder, longest=13)
    assert np.abs(longer.encode([text + " down"])[0] - whole).max() > 1e-2


def test_each_part_to_length_1(encoder):
    plain = encoder.encode(TEXTS)
    found = replace(encoder, normalize=True).encode(TEXTS)
    for part in (slice(0, 24), slice(24, 48)):
        for k in (0, 2, 3, 5):
            expected = plain[k, part] / np.linalg.norm(plain[k, part])
            assert found[k, part] == pytest.approx(expected, abs=1e-6)
    assert not found[[1, 4]].any()


def test_padding_is_zeros_whatever_the_table_says(encoder, monkeypatch):
    parts = []
    for part in encoder.parts:
        words = part.words.copy()
        words[0] = 99
        parts.append(EncoderPart(name=part.name, graph=part.graph, words=words, scales=part.scales))
    fed = []
    changed = replace(encoder, parts=tuple(parts))
    assert changed.units == encoder.units
    session = changed.parts[0]._session

    class Watching:
        def run(self, names, feed):
            fed.append(feed["words"])
            return session.run(names, feed)

    monkeypatch.setitem(vars(changed.parts[0]), "_session", Watching())
    assert np.abs(changed.encode(TEXTS) - encoder.encode(TEXTS)).max() < 1e-6
    assert not fed[0][-1, 1:].any()  # only the longest sentence has a last word


def test_unknown_words_are_read_as_known_ones(encoder):
    with_, without = replace(encoder, back_off=True), encoder
    known = encoder.vocabulary.ids
    assert with_.word_ids("ferries sixty-one zyx") == [
        known["ferry"],
        known["sixty"],
        known["one"],
        UNKNOWN,
    ]
    assert without.word_ids("ferries sixty-one zyx") == [UNKNOWN] * 3
    assert with_.fingerprint != without.fingerprint


def test_the_fingerprint_follows_the_content(encoder):
    part = encoder.parts[0]
    words = part.words.copy()
    words[5, 5] += 1
    other_words = EncoderPart(name=part.name, graph=part.graph, words=words, scales=part.scales)
    others = [
        changed.fingerprint
        for changed in (
            replace(encoder, longest=11),
            replace(encoder, normalize=True),
            replace(encoder, parts=encoder.parts[::-1]),
            replace(encoder, parts=(other_words, encoder.parts[1])),
        )
    ]
    assert len({encoder.fingerprint, *others}) == 5
    assert made_model().fingerprint == encoder.fingerprint


def test_progress_ends_at_the_total(encoder):
    seen = []
    encoder.encode(TEXTS * 30, seen.append)
    assert len(seen) > 1
    assert seen[-1].done == seen[-1].total
    assert [step.done for step in seen] == sorted(step.done for step in seen)


def test_a_run_can_be_stopped(encoder):
    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoder.encode(TEXTS * 300, stop)


def test_the_cache_and_equal_texts(tmp_path):
    texts = ["one", "two", "", "three", "one", "two"]
    first, second = Counting(), Counting()
    found = encode_cached(first, texts)
    assert first.asked == ["one", "two", "", "three"]
    assert found[:, 0].tolist() == [3, 3, 0, 5, 3, 3]
    assert found.dtype == np.float32
    (stored,) = (tmp_path / "cache").iterdir()
    assert np.load(stored).dtype == np.float16
    again = encode_cached(second, texts)
    assert second.asked == []
    assert np.array_equal(again, found)  # to the last bit, though the disk holds half precision


def test_the_cache_tells_encoders_and_texts_apart():
    first, second, third = Counting(), Counting(), Counting()
    second.fingerprint = "another"
    encode_cached(first, ["one", "two"])
    encode_cached(second, ["one", "two"])
    encode_cached(third, ["onetwo"])
    assert (second.asked, third.asked) == (["one", "two"], ["onetwo"])
    assert encode_cached(third, []).shape == (0, 3)


def test_an_encoder_by_folder(encoder, tmp_path):
    encoder.save(tmp_path / "mine")
    found = load_encoder(str(tmp_path / "mine"))
    assert (found.name, found.units) == ("made", 48)
    assert np.array_equal(found.encode(TEXTS), encoder.encode(TEXTS))


def test_built_in_encoders_and_their_parts(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "DATA", tmp_path)
    replace(encoder, name="skip-thought").save(tmp_path / "skip-thought")
    whole = load_encoder("skip-thought").encode(TEXTS)
    uni, bi = load_encoder("uni-skip"), load_encoder("bi-skip")
    assert (uni.name, uni.units) == ("uni-skip", 24)
    assert np.array_equal(np.hstack([uni.encode(TEXTS), bi.encode(TEXTS)]), whole)
    with pytest.raises(ModelFolderError, match="pip install --force-reinstall folioreel"):
        load_encoder("student")


def test_an_encoder_is_loaded_and_hashed_once_until_it_changes(encoder, tmp_path, monkeypatch):
    encoder.save(tmp_path / "mine")
    read, opened, hashed = [], [], []
    count_calls(monkeypatch, ModelFolder, "read", read)
    count_calls(monkeypatch, word_encoder, "open_session", opened)
    count_calls(monkeypatch, word_encoder, "hash_pieces", hashed)
    first = load_encoder(str(tmp_path / "mine"))
    assert first.fingerprint == load_encoder(str(tmp_path / "mine")).fingerprint
    counts = (len(read), len(opened), len(hashed))
    assert counts == (5, 2, 1)  # two graphs, words, vocabulary, card
    assert load_encoder(tmp_path / "mine") is first
    monkeypatch.chdir(tmp_path)
    assert load_encoder("mine").fingerprint == first.fingerprint
    assert WordEncoder.load(tmp_path / "mine") is WordEncoder.load(tmp_path / "mine")
    replace(encoder, longest=3).save(tmp_path / "mine", replace=True)
    assert load_encoder(str(tmp_path / "mine")).fingerprint != first.fingerprint
    (tmp_path / "mine" / "vocabulary.txt").unlink()
    with pytest.raises(ModelFolderError, match="is missing"):
        load_encoder(str(tmp_path / "mine"))


def test_a_second_alignment_loads_no_encoder(film, book, monkeypatch):
    Aligner.load().align(film, book)
    opened = []
    count_calls(monkeypatch, word_encoder, "open_session", opened)
    count_calls(monkeypatch, word_encoder, "hash_pieces", opened)
    count_calls(monkeypatch, WordEncoder, "__post_init__", opened)
    Aligner.load().align(film, book)
    load_encoder("student")
    assert opened == []


def count_calls(monkeypatch, owner, name, calls):
    function = getattr(owner, name)

    def counted(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, counted)


class Plain:
    """An encoder of a user's own, with nothing but the method."""

    def encode(self, texts):
        return [[len(text), 1.5] for text in texts]


def test_an_encoder_object_is_used_as_it_is(encoder):
    assert load_encoder(encoder) is encoder
    counting = Counting()
    assert load_encoder(counting) is counting


def test_any_object_that_encodes_texts_will_do():
    found = load_encoder(Plain())
    assert (found.name, found.units, found.fingerprint) == ("Plain", 2, "")
    told = []
    vectors = found.encode(["one", " ", "three"], told.append)
    assert vectors.tolist() == [[3, 1.5], [0, 0], [5, 1.5]]
    assert vectors.dtype == np.float32
    assert (told[-1].done, told[-1].total) == (2, 2)
    assert found.encode([]).shape == (0, 2)


def test_objects_that_are_no_encoders():
    with pytest.raises(ConfigError, match=r"int is not a sentence encoder; give .*encode"):
        load_encoder(3)
    flat = Plain()
    flat.encode = lambda texts: [1.0 for _ in texts]
    with pytest.raises(ConfigError, match=r"shape \(1,\) for 1 texts"):
        load_encoder(flat)


def test_only_vectors_with_a_fingerprint_are_kept_on_disk(tmp_path):
    plain, named = Plain(), Plain()
    named.name, named.fingerprint = "mine", "v1"
    kept = encode_cached(load_encoder(named), ["one", "two", "one"])
    (stored,) = (tmp_path / "cache").iterdir()
    found = encode_cached(load_encoder(plain), ["one", "two", "one"])
    assert np.array_equal(found, kept)  # half precision in both cases
    assert list((tmp_path / "cache").iterdir()) == [stored]


def test_encoders_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"choose from skip-thought.*sentence-transformers"):
        load_encoder("skipthought")
    with pytest.raises(ModelFolderError, match="no such folder"):
        load_encoder(str(tmp_path / "missing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFolderError, match="holds no sentence encoder"):
        load_encoder(str(tmp_path / "empty"))


def test_a_graph_of_other_word_vectors(encoder):
    part = encoder.parts[0]
    narrow = EncoderPart(
        name=part.name, graph=part.graph, words=part.words[:, :8], scales=part.scales
    )
    with pytest.raises(ModelFolderError, match="does not fit"):
        replace(encoder, parts=(narrow,)).encode(TEXTS)
    assert sentence_encoder.BUILT_IN["student"] == "student"
