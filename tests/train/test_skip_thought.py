"""Skip-thoughts: equations by hand, learning, resuming, and the same vectors from ONNX Runtime."""

import math
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
import torch

from folioreel.errors import ConfigError, InputError
from folioreel.models.onnx_graphs import quantize_rows
from folioreel.models.vocabulary import END
from folioreel.train.onnx import skip_thought_graph
from folioreel.train.skip_thought import (
    PackedBooks,
    SkipThought,
    SkipThoughtConfig,
    SkipThoughtTraining,
    SkipThoughtTrainingConfig,
    Triples,
    batches,
)

SMALL = SkipThoughtConfig(vocabulary=60, word_units=12, units=32)
CPU = torch.device("cpu")


def made_books(sentences: int = 3000) -> PackedBooks:
    """Sentences that count upwards: each begins one above the one before, so all can be learned."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 15, sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.concatenate([3 + (k + np.arange(n)) % 50 for k, n in enumerate(lengths)])
    return PackedBooks(tokens.astype(np.uint16), offsets, np.arange(sentences) // 250, CPU)


def batch_of(*sentences: list[int]) -> Triples:
    """Sentences as the middles of one batch, each between two copies of itself."""
    written = [words for words in sentences for _ in range(3)]
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in written])])
    tokens = np.array([word for words in written for word in words], dtype=np.uint16)
    books = PackedBooks(tokens, offsets, np.zeros(len(written), dtype=np.int64), CPU)
    return books.triples(3 * np.arange(len(sentences)) + 1, longest=40)


@pytest.fixture(scope="module")
def books():
    return made_books()


def config(**changes) -> SkipThoughtTrainingConfig:
    base = SkipThoughtTrainingConfig(
        model=SMALL, batch=32, steps=200, held_out_books=2, pool=8, warm_up=20, learning_rate=1e-2
    )
    return replace(base, **changes)


def made_training(books, **changes) -> SkipThoughtTraining:
    return SkipThoughtTraining(config(**changes), books, CPU)


def test_the_encoder_by_hand():
    """The paper's gates, with PyTorch's place of the reset gate and sign of the update gate."""
    torch.manual_seed(0)
    model = SkipThought(SMALL)
    for name, parameter in model.encoder.named_parameters():
        if "bias" in name:
            torch.nn.init.uniform_(parameter, -0.5, 0.5)
    ids = [5, 9, 20]
    weights = {k: v.detach().double().numpy() for k, v in model.encoder.named_parameters()}
    words = model.words.weight.detach().double().numpy()
    h = np.zeros(32)
    for word in ids:
        given = weights["weight_ih_l0"][:, :12] @ words[word] + weights["bias_ih_l0"]
        kept = weights["weight_hh_l0"] @ h + weights["bias_hh_l0"]
        r = 1 / (1 + np.exp(-(given[:32] + kept[:32])))
        z = 1 / (1 + np.exp(-(given[32:64] + kept[32:64])))
        h = (1 - z) * np.tanh(given[64:] + r * kept[64:]) + z * h
    found = model.encode(batch_of([7], ids).middle)[1]
    assert found.detach().numpy() == pytest.approx(h, abs=1e-6)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_sentence_has_one_vector_whatever_its_batch(bidirectional):
    torch.manual_seed(0)
    model = SkipThought(replace(SMALL, bidirectional=bidirectional))
    alone = model.encode(batch_of([5, 9, 20]).middle)
    beside = model.encode(batch_of([4], [5, 9, 20], [5, 6, 7, 8, 9]).middle)
    assert torch.allclose(alone[0], beside[1], atol=1e-6)


def test_the_likelihood_by_hand():
    """Each word from the sentence's vector and the words before it, the first from END."""
    torch.manual_seed(0)
    model = SkipThought(SMALL)
    sentences = [[7, 8], [9], [10, 11, 12]]
    triples = batch_of(*sentences)
    vectors = model.encode(triples.middle)
    found, words = 0.0, 0
    for vector, sentence in zip(vectors, sentences, strict=True):
        read = model.words(torch.tensor([END, *sentence]))
        joined = torch.cat([read, vector.expand(len(read), -1), torch.zeros(len(read), 4)], dim=1)
        states, _ = model.after(joined)
        logs = model.vocabulary(states).log_softmax(dim=1)
        found -= sum(logs[k, word] for k, word in enumerate([*sentence, END]))
        words += len(sentence) + 1
    assert model(triples)[1].item() == pytest.approx(found.item() / words, rel=1e-5)


def test_triples_are_neighbours_of_one_book(books):
    middles = books.middles(range(12))
    assert 249 not in middles  # the last of a book has no sentence after it
    assert 250 not in middles
    assert 251 in middles
    triples = books.triples(np.array([251, 300]), longest=40)
    for row, k in enumerate((251, 300)):
        assert words_of(triples.middle, row) == tokens_of(books, k)
        for side, sentence in ((triples.before, k - 1), (triples.after, k + 1)):
            assert words_of(side, row) == [END, *tokens_of(books, sentence)]
            assert words_of(side, row, side.targets) == [*tokens_of(books, sentence), END]


def words_of(ragged, row, ids=None):
    """The words of one sentence of a batch, in their order."""
    ids = ragged.words if ids is None else ids
    return ids[ragged.sentences == row].tolist()


def tokens_of(books, sentence):
    return books.tokens[books.offsets[sentence] : books.offsets[sentence + 1]].tolist()


def test_long_sentences_are_cut(books):
    triples = books.triples(books.middles(range(12))[:50], longest=6)
    assert len(triples.middle.sizes) == 6
    assert len(triples.before.sizes) == 7
    assert (triples.before.targets == END).sum() == 50


def test_the_corpus_may_end_with_a_neighbour(books):
    last = len(books.lengths) - 2
    triples = books.triples(np.array([last]), longest=40)
    assert words_of(triples.after, 0, triples.after.targets) == [*tokens_of(books, last + 1), END]


@pytest.mark.slow
@pytest.mark.parametrize("bidirectional", [False, True])
def test_it_learns(books, bidirectional):
    training = made_training(books, model=replace(SMALL, bidirectional=bidirectional))
    report = training.fit(seconds=900)
    last = report["log"][-1]
    # Guessing among 50 words would give 50; the neighbours follow from the sentence.
    assert last["perplexity_before"] < 8
    assert last["perplexity_after"] < 8


def test_resuming_gives_the_same_weights(books, tmp_path):
    settings = config()
    middles = books.middles(range(10))
    straight = SkipThoughtTraining(settings, books, CPU)
    drawn = batches(books, middles, settings, 0)
    for step in range(14):
        straight.learn(next(drawn))
        if step == 9:
            straight.save(tmp_path / "checkpoint.pt")
    resumed = SkipThoughtTraining(settings, books, CPU)
    resumed.load(tmp_path / "checkpoint.pt")
    drawn = batches(books, middles, settings, resumed.step)
    for _ in range(4):
        resumed.learn(next(drawn))
    pairs = zip(straight.network.parameters(), resumed.network.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_checkpoint_of_another_configuration_is_refused(books, tmp_path):
    made_training(books).save(tmp_path / "checkpoint.pt")
    other = made_training(books, batch=64)
    with pytest.raises(ConfigError, match="batch: 32 there, 64 here"):
        other.load(tmp_path / "checkpoint.pt")


def test_a_difference_in_the_model_is_told_alone(books, tmp_path):
    made_training(books).save(tmp_path / "checkpoint.pt")
    other = made_training(books, model=replace(SMALL, units=64))
    with pytest.raises(ConfigError, match=r"\(model\.units: 32 there, 64 here\); repeat those"):
        other.load(tmp_path / "checkpoint.pt")


def test_one_flipped_bit_in_a_weight_is_found(books, tmp_path):
    path = tmp_path / "checkpoint.pt"
    training = made_training(books)
    training.save(path)
    data = bytearray(path.read_bytes())
    data[data.index(training.network.words.weight.detach().numpy().tobytes()) + 9] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="is damaged; remove it"):
        made_training(books).load(path)


def test_a_full_disk_keeps_the_old_checkpoint(books, tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "checkpoint.pt"
    training = made_training(books)
    training.save(path)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(InputError, match="cannot be written; free some disk space"):
            training.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_another_failure_is_not_laid_to_the_disk(books, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("CUDA error: unspecified launch failure")

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(RuntimeError, match="CUDA"):
        made_training(books).save(tmp_path / "checkpoint.pt")


@pytest.mark.parametrize(("every_s", "expected"), [(0.0, [1, 2, 3, 4]), (300.0, [4])])
def test_checkpoints_come_with_time(books, tmp_path, monkeypatch, every_s, expected):
    saved = []
    training = made_training(books, steps=4)
    monkeypatch.setattr(training, "save", lambda path: saved.append(training.step))
    training.checkpoint_every_s = every_s
    training.fit(seconds=600, checkpoint=tmp_path / "checkpoint.pt")
    assert saved == expected


def test_progress_is_told_between_evaluations(books, monkeypatch):
    training = made_training(books, steps=250)

    def learn(_):
        training.step += 1
        return torch.zeros(())

    monkeypatch.setattr(training, "learn", learn)
    told = []
    report = training.fit(seconds=600, progress=lambda step: told.append(step.done))
    assert set(told) >= {100, 200, 250}
    assert [entry["step"] for entry in report["log"]] == [250]


@pytest.mark.parametrize(
    ("steps", "warm_up", "expected"), [(5, 500, 1), (100, 500, 10), (100_000, 500, 500)]
)
def test_a_short_run_leaves_the_warm_up(books, steps, warm_up, expected):
    training = made_training(books, steps=steps, warm_up=warm_up, learning_rate=1.0)

    def rate_at(step):
        training.step = step
        training.set_learning_rate()
        return training.optimizer.param_groups[0]["lr"]

    assert rate_at(expected - 1) == 1.0
    assert rate_at(0) == pytest.approx(1 / expected)
    done = (steps - 1 - expected) / (steps - expected)
    assert rate_at(steps - 1) == pytest.approx(0.05 + 0.475 * (1 + math.cos(math.pi * done)))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_onnx_gives_the_vectors_of_pytorch(bidirectional):
    torch.manual_seed(3)
    model = SkipThought(replace(SMALL, bidirectional=bidirectional)).eval()
    for name, parameter in model.encoder.named_parameters():
        if "bias" in name:
            torch.nn.init.uniform_(parameter, -0.5, 0.5)
    # What is stored is rounded; the same rounded weights must give the same vectors.
    for name, parameter in model.encoder.named_parameters():
        if "weight_ih" in name:
            parameter.data[:, 12:] = 0  # what meets the zeros that fill the input
        if "weight" in name:
            rows, scales = quantize_rows(parameter.detach().numpy())
            parameter.data = torch.from_numpy(rows * scales[:, None])
    graph = skip_thought_graph(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    sentences = [[5, 9, 20], [7, 8, 9, 10, 11], [4]]
    with torch.no_grad():
        expected = model.encode(batch_of(*sentences).middle).numpy()
        padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(words) for words in sentences])
        words = model.words(padded).numpy()
    feed = {"words": words, "lengths": np.array([3, 5, 1], dtype=np.int32)}
    (found,) = session.run(None, feed)
    assert np.abs(found - expected).max() < 1e-5


@pytest.mark.parametrize("sizes", [{"units": 0}, {"units": 31, "bidirectional": True}])
def test_bad_sizes(sizes):
    with pytest.raises(ConfigError):
        replace(SMALL, **sizes)
