"""Skip-thoughts: equations by hand, learning, resuming, and the same vectors from ONNX Runtime."""

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
import torch

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import END, PADDING
from folioreel.train.onnx import encoder_graph, quantize_rows
from folioreel.train.sentences import Books, Training, TrainingConfig, batches, train
from folioreel.train.skip_thought import SkipThought, SkipThoughtConfig, Triples

SMALL = SkipThoughtConfig(vocabulary=60, word_units=16, units=32)
CPU = torch.device("cpu")


def made_books(sentences: int = 3000) -> Books:
    """Sentences that count upwards: each begins one above the one before, so all can be learned."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 15, sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.concatenate([3 + (k + np.arange(n)) % 50 for k, n in enumerate(lengths)])
    return Books(tokens.astype(np.uint16), offsets, np.arange(sentences) // 250, CPU)


@pytest.fixture(scope="module")
def books():
    return made_books()


def config(**changes) -> TrainingConfig:
    base = TrainingConfig(
        model=SMALL, batch=32, steps=200, held_out_books=2, pool=8, warm_up=20, learning_rate=1e-2
    )
    return replace(base, **changes)


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
        given = weights["weight_ih_l0"] @ words[word] + weights["bias_ih_l0"]
        kept = weights["weight_hh_l0"] @ h + weights["bias_hh_l0"]
        r = 1 / (1 + np.exp(-(given[:32] + kept[:32])))
        z = 1 / (1 + np.exp(-(given[32:64] + kept[32:64])))
        h = (1 - z) * np.tanh(given[64:] + r * kept[64:]) + z * h
    padded = torch.tensor([[*ids, PADDING, PADDING]])
    found = model.encode(padded, torch.tensor([3]))[0]
    assert found.detach().numpy() == pytest.approx(h, abs=1e-6)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_changes_nothing(bidirectional):
    torch.manual_seed(0)
    model = SkipThought(replace(SMALL, bidirectional=bidirectional))
    alone = model.encode(torch.tensor([[5, 9, 20]]), torch.tensor([3]))
    padded = model.encode(torch.tensor([[5, 9, 20, 0, 0], [1, 2, 3, 4, 5]]), torch.tensor([3, 5]))
    assert torch.allclose(alone[0], padded[0], atol=1e-6)


def test_the_likelihood_counts_real_words_alone():
    torch.manual_seed(0)
    model = SkipThought(SMALL)
    one = Triples(
        middle=torch.tensor([[5, 6]]),
        lengths=torch.tensor([2]),
        before=torch.tensor([[7, END]]),
        after=torch.tensor([[8, 9, END]]),
    )
    longer = replace(one, after=torch.tensor([[8, 9, END, PADDING, PADDING]]))
    assert torch.allclose(torch.stack(model(one)), torch.stack(model(longer)), atol=1e-6)


def test_triples_are_neighbours_of_one_book(books):
    middles = books.middles(range(12))
    assert 249 not in middles  # the last of a book has no sentence after it
    assert 250 not in middles
    assert 251 in middles
    triples = books.triples(np.array([251, 300]), longest=40)
    for row, k in enumerate((251, 300)):
        for ids, sentence in ((triples.before, k - 1), (triples.after, k + 1)):
            words = [i for i in ids[row].tolist() if i != PADDING]
            expected = books.tokens[books.offsets[sentence] : books.offsets[sentence + 1]].tolist()
            assert words == [*expected, END]
        expected = books.tokens[books.offsets[k] : books.offsets[k + 1]].tolist()
        assert triples.middle[row, : triples.lengths[row]].tolist() == expected


def test_long_sentences_are_cut(books):
    triples = books.triples(books.middles(range(12))[:50], longest=6)
    assert triples.middle.shape[1] <= 6
    assert triples.before.shape[1] <= 7
    assert (triples.before == END).sum(dim=1).eq(1).all()


@pytest.mark.slow
@pytest.mark.parametrize("bidirectional", [False, True])
def test_it_learns(books, bidirectional):
    training = Training(config(model=replace(SMALL, bidirectional=bidirectional)), CPU)
    report = train(training, books, seconds=120)
    last = report["log"][-1]
    # Guessing among 50 words would give 50; the neighbours follow from the sentence.
    assert last["perplexity_before"] < 8
    assert last["perplexity_after"] < 8


def test_resuming_gives_the_same_weights(books, tmp_path):
    settings = config()
    middles = books.middles(range(10))
    straight = Training(settings, CPU)
    drawn = batches(books, middles, settings, 0)
    for step in range(14):
        straight.learn(next(drawn))
        if step == 9:
            straight.save(tmp_path / "checkpoint.pt")
    resumed = Training(settings, CPU)
    resumed.load(tmp_path / "checkpoint.pt")
    drawn = batches(books, middles, settings, resumed.step)
    for _ in range(4):
        resumed.learn(next(drawn))
    pairs = zip(straight.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_checkpoint_of_another_configuration_is_refused(tmp_path):
    Training(config(), CPU).save(tmp_path / "checkpoint.pt")
    other = Training(config(batch=64), CPU)
    with pytest.raises(ConfigError, match="batch: 32 there, 64 here"):
        other.load(tmp_path / "checkpoint.pt")


@pytest.mark.parametrize("bidirectional", [False, True])
def test_onnx_gives_the_vectors_of_pytorch(bidirectional):
    torch.manual_seed(3)
    model = SkipThought(replace(SMALL, bidirectional=bidirectional)).eval()
    for name, parameter in model.encoder.named_parameters():
        if "bias" in name:
            torch.nn.init.uniform_(parameter, -0.5, 0.5)
    # What is stored is rounded; the same rounded weights must give the same vectors.
    rounded, scales = quantize_rows(model.words.weight.detach().numpy())
    model.words.weight.data = torch.from_numpy(rounded * scales[:, None])
    for parameter in model.encoder.parameters():
        parameter.data = parameter.data.half().float()
    graph = encoder_graph(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    ids = torch.tensor([[5, 9, 20, 0, 0], [7, 8, 9, 10, 11], [4, 0, 0, 0, 0]])
    lengths = torch.tensor([3, 5, 1])
    with torch.no_grad():
        expected = model.encode(ids, lengths).numpy()
    feed = {"ids": ids.T.contiguous().numpy(), "lengths": lengths.int().numpy()}
    (found,) = session.run(None, feed)
    assert np.abs(found - expected).max() < 1e-5


@pytest.mark.parametrize("sizes", [{"units": 0}, {"units": 31, "bidirectional": True}])
def test_bad_sizes(sizes):
    with pytest.raises(ConfigError):
        replace(SMALL, **sizes)
