"""Encoders side by side on a made data set, and the baselines against what they should be."""

import numpy as np
import pytest

from folioreel.errors import ConfigError
from folioreel.evaluate import sentences
from folioreel.evaluate.baselines import MeanWordsEncoder, TfidfEncoder, UntrainedEncoder
from folioreel.evaluate.sentences import (
    BASELINES,
    ENCODERS,
    FILES,
    evaluate_sentences,
    judge_encoder,
)
from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary
from folioreel.models.word_encoder import EncoderPart, WordEncoder

WORDS = tuple("a the man woman dog cat ferry river sings runs sleeps walks old red wet .".split())
VOCABULARY = Vocabulary(words=(*SPECIAL_TOKENS, *WORDS), counts=(1,) * (3 + len(WORDS)))


def make_model(rng, vocabulary=VOCABULARY):
    parts = tuple(
        EncoderPart(
            name=name,
            graph=b"",
            words=rng.integers(-127, 128, (len(vocabulary), units)).astype(np.int8),
            scales=rng.uniform(0.001, 0.01, len(vocabulary)).astype(np.float32),
        )
        for name, units in (("uni-skip", 6), ("bi-skip", 4))
    )
    return WordEncoder(
        name="skip-thought",
        vocabulary=vocabulary,
        parts=parts,
        longest=5,
        normalize=True,
        training={},
        card="",
    )


@pytest.fixture
def sick(tmp_path, rng):
    """Pairs that are the more related the more words they share."""
    for name, pairs in zip(FILES.values(), (300, 80, 150), strict=True):
        lines = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
        for number in range(pairs):
            first = rng.choice(WORDS[:-1], 4, replace=False)
            kept = int(rng.integers(5))
            rest = rng.choice([word for word in WORDS[:-1] if word not in first], 4 - kept)
            lines.append(f"{number}\t{' '.join(first)}\t{' '.join([*first[:kept], *rest])}\t")
            lines[-1] += f"{1 + kept}\tNEUTRAL"
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


class BagEncoder:
    """Which words a sentence holds: all that the made scores depend on."""

    name, units, fingerprint = "bag", len(WORDS), "bag"

    def encode(self, texts, progress=None):
        return np.array([[word in text.split() for word in WORDS] for text in texts], np.float32)


@pytest.fixture
def made_encoders(monkeypatch, rng):
    """Encoders that need no model; minilm is not installed."""

    def load(name):
        if name == "minilm":
            raise ConfigError("pip install it")
        return BagEncoder()

    monkeypatch.setattr(sentences, "load_encoder", load)
    monkeypatch.setattr(WordEncoder, "load", lambda folder: make_model(rng))
    monkeypatch.setattr(EncoderPart, "units", 12)


@pytest.mark.usefixtures("made_encoders")
def test_the_rows(sick):
    told = []
    rows = evaluate_sentences(sick, progress=told.append)
    assert [row["encoder"] for row in rows] == [
        *ENCODERS,
        *BASELINES,
        "uni-skip (published)",
        "bi-skip (published)",
        "combine-skip (published)",
    ]
    by_name = {row["encoder"]: row for row in rows}
    figures = ["pearson", "spearman", "mse", "trial_pearson", "cosine_pearson"]
    keys = ["encoder", *figures, "sentences_per_s"]
    assert all(list(row) == keys for row in rows)
    assert by_name["uni-skip"]["pearson"] > 0.95
    assert by_name["uni-skip"]["trial_pearson"] > 0.95
    assert by_name["uni-skip"]["cosine_pearson"] > 0.95
    assert by_name["tf-idf"]["pearson"] > 0.8
    assert by_name["word vectors averaged"]["pearson"] > by_name["untrained"]["pearson"] - 0.1
    assert all(row["sentences_per_s"] > 0 for row in rows[:-3])
    assert by_name["combine-skip (published)"]["pearson"] == 0.8584
    assert all(row["sentences_per_s"] is None for row in rows[-3:])
    assert any(value.stage == "judging encoders" for value in told)


@pytest.mark.usefixtures("made_encoders")
def test_some_encoders_alone(sick):
    rows = evaluate_sentences(sick, ["tf-idf", "somewhere/model"])
    assert [row["encoder"] for row in rows[:-3]] == ["tf-idf", "somewhere/model"]
    again = evaluate_sentences(sick, ["tf-idf"])[0]
    assert again["pearson"] == rows[0]["pearson"]
    with pytest.raises(ConfigError):
        evaluate_sentences(sick, ["minilm"])


def test_each_sentence_is_encoded_once(sick):
    asked = []

    class Counting(BagEncoder):
        def encode(self, texts, progress=None):
            asked.extend(texts)
            return super().encode(texts)

    data = sentences.load_sick(sick)
    judge_encoder(Counting(), data)
    assert len(asked) == len(set(asked)) == len(data.sentences())


def test_full_tfidf_keeps_the_cosines(rng):
    """With all directions kept, the decomposition turns the space and changes no cosine."""
    texts = [" ".join(rng.choice(WORDS[:-1], 5)) for _ in range(60)]
    encoder = TfidfEncoder(texts)
    assert encoder.units == len(WORDS) - 1
    counts = np.array([[text.split().count(word) for word in WORDS[:-1]] for text in texts])
    weighed = counts * (np.log((1 + 60) / (1 + (counts > 0).sum(axis=0))) + 1)
    weighed /= np.linalg.norm(weighed, axis=1, keepdims=True)
    vectors = encoder.encode(texts).astype(np.float64)
    assert vectors @ vectors.T == pytest.approx(weighed @ weighed.T, abs=1e-5)
    assert not encoder.encode(["zebra", ""]).any()
    assert np.array_equal(TfidfEncoder(texts).encode(texts), encoder.encode(texts))
    # With fewer, what is left of the cosines is their best approximation.
    fewer = TfidfEncoder(texts, units=3).encode(texts).astype(np.float64)
    lengths = np.linalg.svd(weighed, compute_uv=False)
    assert np.linalg.norm(fewer, axis=0) == pytest.approx(lengths[:3], rel=1e-5)


def test_words_averaged_by_hand(rng):
    model = make_model(rng)
    encoder = MeanWordsEncoder(model)
    man, runs = (
        np.concatenate([part.words[row] * part.scales[row] for part in model.parts])
        for row in (3 + WORDS.index("man"), 3 + WORDS.index("runs"))
    )
    found = encoder.encode(["Man xyzzy runs", "xyzzy", "man", ""])
    assert found.shape == (4, encoder.units) == (4, 10)
    assert found[0] == pytest.approx((man + runs) / 2)
    assert found[2] == pytest.approx(man)
    assert not found[[1, 3]].any()


def test_the_untrained_gru_is_pytorchs(rng, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(EncoderPart, "units", 8)
    encoder = UntrainedEncoder(make_model(rng))
    gru = torch.nn.GRU(6, 8)
    with torch.no_grad():
        gru.weight_ih_l0.copy_(torch.from_numpy(encoder._inputs.T.copy()))
        gru.weight_hh_l0.copy_(torch.from_numpy(encoder._recurrent.T.copy()))
        gru.bias_ih_l0.zero_()
        gru.bias_hh_l0.zero_()
        texts = ["a man runs", "cat", "the old red wet dog sleeps .", "", "a xyzzy"]
        found = encoder.encode(texts)
        for text, vector in zip(texts, found, strict=True):
            ids = VOCABULARY.encode(text)[:5]
            if not ids:
                assert not vector.any()
                continue
            last = gru(torch.from_numpy(encoder._words[ids]))[0][-1].numpy()
            assert vector == pytest.approx(last / np.linalg.norm(last), abs=1e-5)
    assert np.array_equal(UntrainedEncoder(make_model(rng)).encode(texts), found)
    other = UntrainedEncoder(make_model(rng), seed=1)
    assert not np.array_equal(other.encode(texts), found)
