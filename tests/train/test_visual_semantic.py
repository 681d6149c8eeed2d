"""The embedding's networks against plain NumPy, brute force and ONNX Runtime."""

import numpy as np
import pytest
import torch

from folioreel.errors import ConfigError
from folioreel.models.onnx_graphs import quantize_rows
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary
from folioreel.models.word_encoder import WordEncoder
from folioreel.train.onnx import embedding_part
from folioreel.train.student import Student, StudentConfig
from folioreel.train.visual_semantic import (
    PeepholeLstm,
    VisualSemanticConfig,
    VisualSemanticNetwork,
    load_student_layers,
    ranking_loss,
)
from folioreel.train.visual_training import (
    DescribedClips,
    VisualTraining,
    VisualTrainingConfig,
    pad_ids,
    paper_settings,
    recalls,
    start_network,
)

CPU = torch.device("cpu")
THINGS = "dog cat boat tree horse train bird house".split()
WORDS = (*SPECIAL_TOKENS, *THINGS, "a", "the", "with", "and")


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def test_the_lstm_is_the_papers_equations():
    torch.manual_seed(1)
    lstm = PeepholeLstm(5, 4)
    torch.nn.init.normal_(lstm.peepholes)
    words = torch.randn(2, 6, 5)
    found = lstm(words, torch.tensor([6, 3])).detach().numpy()
    weight, bias = lstm.inputs.weight.detach().numpy(), lstm.inputs.bias.detach().numpy()
    w_xi, w_xf, w_xc, w_xo = np.split(weight, 4)
    w_hi, w_hf, w_hc, w_ho = np.split(lstm.states.weight.detach().numpy(), 4)
    b_i, b_f, b_a, b_o = np.split(bias, 4)
    w_ci, w_cf, w_co = lstm.peepholes.detach().numpy()
    for sentence, length in enumerate((6, 3)):
        m = c = np.zeros(4)
        for x in words[sentence, :length].numpy():
            i = sigmoid(w_xi @ x + w_hi @ m + w_ci * c + b_i)
            f = sigmoid(w_xf @ x + w_hf @ m + w_cf * c + b_f)
            a = np.tanh(w_xc @ x + w_hc @ m + b_a)
            c = f * c + i * a
            o = sigmoid(w_xo @ x + w_ho @ m + w_co * c + b_o)
            m = o * np.tanh(c)
        assert found[sentence] == pytest.approx(m, abs=1e-5)


@pytest.mark.parametrize("contrast", ["all", "hardest"])
def test_the_ranking_loss_by_hand(contrast):
    rng = np.random.default_rng(2)
    scores, margin = rng.uniform(-1, 1, (5, 5)), 0.3
    total = 0.0
    for k in range(5):
        others = [j for j in range(5) if j != k]
        sentences = [max(0, margin - scores[k, k] + scores[k, j]) for j in others]
        clips = [max(0, margin - scores[k, k] + scores[j, k]) for j in others]
        pick = sum if contrast == "all" else max
        total += pick(sentences) + pick(clips)
    found = ranking_loss(torch.from_numpy(scores), contrast, margin)
    assert float(found) == pytest.approx(total / 5)


def test_softmax_is_the_likelihood_of_the_right_one():
    scores = np.array([[0.5, 0.1], [0.2, 0.9]])
    odds = np.exp(scores / 0.5)
    right = -np.log(np.diag(odds) / odds.sum(1)).mean() - np.log(np.diag(odds) / odds.sum(0)).mean()
    assert float(ranking_loss(torch.from_numpy(scores), "softmax", 0.5)) == pytest.approx(right)


def test_recalls_by_counting():
    rng = np.random.default_rng(3)
    clip_of = np.repeat(np.arange(30), 3)
    scores = rng.normal(size=(30, 90)) + 2 * (clip_of == np.arange(30)[:, None])
    found = recalls(torch.from_numpy(scores), torch.from_numpy(clip_of))
    for k in (1, 5, 10):
        ranked = np.argsort(-scores, axis=1)[:, :k]
        hits = [any(clip_of[j] == clip for j in row) for clip, row in enumerate(ranked)]
        assert found[f"to_sentence_r{k}"] == pytest.approx(100 * np.mean(hits))
        best = np.argsort(-scores, axis=0)[:k]
        hits = [clip_of[j] in best[:, j] for j in range(90)]
        assert found[f"to_clip_r{k}"] == pytest.approx(100 * np.mean(hits))


def test_a_trained_student_is_taken_over_from_its_graph():
    model = WordEncoder.load("student")
    (part,) = model.parts
    student = Student(
        StudentConfig(vocabulary=len(model.vocabulary), layers=4, inner_units=1024, units=99)
    )
    first_map = student.map.weight.detach().clone()
    load_student_layers(student, part.graph)
    assert torch.equal(student.map.weight, first_map)
    student.words.weight.data = torch.from_numpy(part.words * part.scales[:, None])
    texts = ["A dog runs over the sand.", "Two men are talking."]
    ids = torch.from_numpy(pad_ids([model.word_ids(text) for text in texts], 48))
    # The map differs, so we compare what goes into it: ONNX's vectors lie in the span of its map.
    words = student.words(ids) + student.places[: ids.shape[1]]
    real = ids != 0
    for layer in student.layers:
        words = layer(words, real)
    mean = (student.norm(words) * real[:, :, None]).sum(1) / real.sum(1, keepdim=True)
    weight, bias = last_map(part.graph)
    mapped = mean.detach().numpy() @ weight.T + bias
    mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
    assert mapped == pytest.approx(model.encode(texts), abs=1e-4)


def last_map(graph):
    import onnx
    from onnx import numpy_helper

    stored = onnx.load_model_from_string(graph).graph.initializer
    weight, scales, bias = (numpy_helper.to_array(value) for value in stored[-3:])
    return weight * scales, bias


def made_clips(rng, count=64):
    """Clips that show one or two things; each thing has features of its own."""
    shown = [rng.choice(len(THINGS), 2, replace=False) for _ in range(count)]
    looks = np.random.default_rng(0).uniform(0, 2, (len(THINGS), 12))
    features = np.stack([looks[a] + looks[b] for a, b in shown]) + rng.uniform(0, 0.1, (count, 12))
    ids = {word: number for number, word in enumerate(WORDS)}
    texts = [
        f"{x} {THINGS[a]} and {y} {THINGS[b]}" for a, b in shown for x, y in ("a the".split(),)
    ]
    texts = [text for text in texts for text in (text, text.replace("and", "with"))]
    sentences = [[ids[word] for word in text.split()] for text in texts]
    return DescribedClips(
        features=torch.tensor(features, dtype=torch.float32),
        views=torch.tensor(features[:, None] * [[[0.9], [1.1]]], dtype=torch.float32),
        ids=torch.from_numpy(pad_ids(sentences, 10)),
        clip_of=torch.arange(count).repeat_interleave(2),
    )


def made_config(reader="lstm", **changes):
    model = VisualSemanticConfig(
        clip_units=12,
        vocabulary=len(WORDS),
        word_units=16,
        units=24,
        reader=reader,
        longest=10,
        layers=2,
        inner_units=32,
    )
    settings = {"batch": 16, "epochs": 40, "learning_rate": 1e-2, "word_dropout": 0.0}
    return VisualTrainingConfig(model=model, **settings | changes)


def made_training(config, clips, held_out=None):
    return VisualTraining(config, start_network(config, CPU), clips, held_out or clips)


@pytest.mark.parametrize("reader", ["lstm", "attention"])
def test_it_learns_and_onnx_gives_the_same_numbers(reader, tmp_path):
    clips = made_clips(np.random.default_rng(4))
    judged = made_clips(np.random.default_rng(5), 28)
    training = made_training(made_config(reader), clips, judged)
    with torch.no_grad():
        before = training.validate()["recall"]
    report = training.fit()
    assert report["best"]["recall"] > before + 20
    network = training.network.eval()
    # Weights that bytes can hold exactly, so that only the computing is compared.
    for name, parameter in network.named_parameters():
        if parameter.ndim == 2 and "peepholes" not in name and "places" not in name:
            rows, scales = quantize_rows(parameter.detach().numpy())
            parameter.data = torch.from_numpy(rows * scales[:, None])
    network.spread.fill_(1)
    model = as_model(network, tmp_path)
    texts = ["a dog and the boat", "the house", "a bird with a cat and a horse"]
    ids = [[WORDS.index(word) for word in text.split()] for text in texts]
    with torch.no_grad():
        sentences = network.embed_sentences(torch.from_numpy(pad_ids(ids, 10))).numpy()
        vectors = network.embed_clips(judged.features).numpy()
    assert model.embed_sentences(texts) == pytest.approx(sentences, abs=1e-5)
    assert model.embed_clips(judged.features.numpy()) == pytest.approx(vectors, abs=1e-5)


def as_model(network, tmp_path):
    part, clip_map = embedding_part("made", network)
    sentences = WordEncoder(
        name="made",
        vocabulary=Vocabulary(words=WORDS, counts=(1,) * len(WORDS)),
        parts=(part,),
        longest=10,
        normalize=True,
        training={},
        card="# Made\n",
    )
    model = VisualSemantic(
        name="made", features="visual", sentences=sentences, clips=(clip_map,), words_of=None
    )
    model.save(tmp_path / "made")
    return VisualSemantic.load(tmp_path / "made")


def test_a_resumed_run_ends_as_one_that_was_not_stopped(tmp_path):
    clips = made_clips(np.random.default_rng(6))

    def run(*, stop: bool):
        training = made_training(made_config(epochs=8), clips)
        if stop:
            for batch, _ in zip(training.batches(), range(3 * training.unit_steps), strict=False):
                training.learn(batch)
            assert training.done == 3
            training.save(tmp_path / "run.pt")
            training = made_training(made_config(epochs=8), clips)
            training.load(tmp_path / "run.pt")
            assert training.done == 3
        training.fit()
        return training.scores(clips)

    assert torch.equal(run(stop=False), run(stop=True))


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    clips = made_clips(np.random.default_rng(7))
    made_training(made_config(), clips).save(tmp_path / "run.pt")
    other = made_training(made_config(margin=0.1), clips)
    with pytest.raises(ConfigError, match=r"margin: 0\.08 there, 0\.1 here"):
        other.load(tmp_path / "run.pt")


def test_the_papers_settings_learn_too():
    clips = made_clips(np.random.default_rng(8))
    from dataclasses import replace

    config = replace(paper_settings(made_config().model), epochs=60, batch=16)
    training = made_training(config, clips)
    assert config.model.reader == "lstm"
    assert isinstance(training.optimizer, torch.optim.SGD)
    assert training.optimizer.param_groups[0]["momentum"] == 0
    losses = [float(training.learn(batch)) for batch in training.batches()]
    assert len(losses) == 60 * 4
    assert np.mean(losses[-4:]) < 0.7 * np.mean(losses[:4])


def test_words_that_are_given_stay_as_they_are():
    clips = made_clips(np.random.default_rng(9))
    network_words = torch.randn(len(WORDS), 16)
    config = made_config(epochs=2)
    network = start_network(config, CPU)
    network.use_words(network_words)
    training = VisualTraining(config, network, clips, clips)
    training.fit()
    assert torch.equal(training.network.reader.words.weight, network_words)
    assert "reader.words.weight" not in training.best["weights"]


def test_views_are_mixed_between_the_clip_and_its_views():
    clips = made_clips(np.random.default_rng(10))
    generator = torch.Generator().manual_seed(1)
    numbers = torch.arange(len(clips))
    mixed = clips.some_features(numbers, 1.0, generator)
    low, high = clips.views.amin(dim=1), clips.views.amax(dim=1)
    assert ((mixed >= low - 1e-5) & (mixed <= high + 1e-5)).all()
    assert not torch.equal(mixed, clips.features)
    assert torch.equal(clips.some_features(numbers, 0.0, generator), clips.features)


def test_sentences_are_those_of_their_clip():
    clips = made_clips(np.random.default_rng(11))
    generator = torch.Generator().manual_seed(2)
    drawn = clips.some_sentences(torch.arange(len(clips)), generator)
    for clip, ids in enumerate(drawn.tolist()):
        own = clips.ids[clips.clip_of == clip].tolist()
        assert ids in [row[: drawn.shape[1]] for row in own]


def test_what_makes_no_network_is_refused():
    with pytest.raises(ConfigError, match="reader"):
        VisualSemanticConfig(clip_units=3, vocabulary=4, reader="magic")
    with pytest.raises(ConfigError, match="batch"):
        made_config(batch=1)
    with pytest.raises(ConfigError, match="each clip needs"):
        DescribedClips(
            features=torch.zeros(2, 3), ids=torch.ones(1, 2).long(), clip_of=torch.zeros(1).long()
        )
    assert VisualSemanticNetwork(made_config().model).clips.weight.shape == (24, 12)


def test_a_network_that_broke_finds_nothing():
    found = recalls(torch.full((3, 6), torch.nan), torch.tensor([0, 0, 1, 1, 2, 2]))
    assert set(found.values()) == {0.0}
