"""Students: the same vectors from ONNX Runtime as from PyTorch, and learning from made taught."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import onnxruntime
import pytest
import torch
from made_encoders import WORDS, made_vocabulary, rounded
from torch import nn

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import PADDING, SPECIAL_TOKENS, UNKNOWN
from folioreel.models.word_encoder import WordEncoder
from folioreel.train import loop
from folioreel.train.onnx import encoder_part, student_graph
from folioreel.train.student import (
    Student,
    StudentConfig,
    StudentTraining,
    StudentTrainingConfig,
    TaughtSentences,
)

SMALL = StudentConfig(
    vocabulary=40, word_units=16, layers=2, heads=4, inner_units=24, units=12, longest=9
)
CPU = torch.device("cpu")
FIRST = len(SPECIAL_TOKENS)


def made_student(config: StudentConfig = SMALL) -> Student:
    """A student by chance, whose matrices are what bytes and scales can hold."""
    torch.manual_seed(5)
    student = Student(config).eval()
    nn.init.normal_(student.places, std=0.5)
    for module in student.modules():
        if isinstance(module, nn.Linear):
            module.weight.data = rounded(module.weight.data * 2)
            nn.init.uniform_(module.bias, -0.5, 0.5)
        elif isinstance(module, nn.LayerNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
    student.words.weight.data = rounded(student.words.weight.data)
    student.words.weight.data[PADDING] = 0
    return student


def by_onnx(student: Student, sentences: list[list[int]], filling: int = 0) -> np.ndarray:
    graph = student_graph(student).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    longest = max(map(len, sentences)) + filling
    padded = np.array([ids + [PADDING] * (longest - len(ids)) for ids in sentences])
    feed = {
        "words": student.words.weight.detach().numpy()[padded.T],
        "lengths": np.array([len(ids) for ids in sentences], dtype=np.int32),
    }
    (found,) = session.run(["vectors"], feed)
    return found


def alone(student: Student, ids: list[int]) -> np.ndarray:
    """PyTorch's vector of one sentence without any filling."""
    with torch.no_grad():
        return student(torch.tensor([ids]))[0].numpy()


def test_a_student_by_hand():
    """The equations in plain NumPy, one sentence, one head at a time."""
    student = made_student()
    weights = {name: p.detach().double().numpy() for name, p in student.named_parameters()}

    def norm(values, name):
        centred = values - values.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt(centred.var(axis=1, keepdims=True) + 1e-5)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(values, name):
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    ids = [7, 30, 3, UNKNOWN, 7]
    words = weights["words.weight"][ids] + weights["places"][:5]  # (T, 16)
    for layer in ("layers.0", "layers.1"):
        joined = linear(norm(words, f"{layer}.attention_norm"), f"{layer}.queries_keys_values")
        heads = []
        for head in range(4):
            queries, keys, values = (
                joined[:, 16 * third + 4 * head : 16 * third + 4 * head + 4] for third in range(3)
            )
            shares = np.exp(queries @ keys.T / 2)
            heads.append(shares / shares.sum(axis=1, keepdims=True) @ values)
        words = words + linear(np.concatenate(heads, axis=1), f"{layer}.mix")
        inner = np.maximum(linear(norm(words, f"{layer}.inner_norm"), f"{layer}.widen"), 0)
        words = words + linear(inner, f"{layer}.narrow")
    expected = linear(norm(words, "norm").mean(axis=0)[None], "map")[0]
    assert alone(student, ids) == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


@pytest.mark.parametrize("filling", [0, 1, 3])
def test_onnx_gives_the_vectors_of_pytorch(filling, rng):
    student = made_student()
    for lengths in ([1], [6], [1, 6, 3, 2], [5, 5, 1], rng.integers(1, 7, 20)):
        sentences = [rng.integers(UNKNOWN, 40, n).tolist() for n in lengths]
        found = by_onnx(student, sentences, filling)
        expected = np.stack([alone(student, ids) for ids in sentences])
        assert np.abs(found - expected).max() < 1e-5


def test_filling_changes_nothing_in_pytorch():
    student = made_student()
    filled = torch.tensor([[7, 9, 30, PADDING, PADDING], [4, PADDING, PADDING, PADDING, PADDING]])
    with torch.no_grad():
        found = student(filled).numpy()
    assert found[0] == pytest.approx(alone(student, [7, 9, 30]), abs=1e-6)
    assert found[1] == pytest.approx(alone(student, [4]), abs=1e-6)


def test_words_beyond_the_longest_are_cut():
    """The saved encoder reads as many words as the student has places, and no more."""
    vocabulary = made_vocabulary()
    config = replace(SMALL, vocabulary=len(vocabulary), longest=5)
    student = made_student(config)
    model = WordEncoder(
        name="student",
        vocabulary=vocabulary,
        parts=(encoder_part("student", student_graph(student), student.words.weight),),
        longest=config.longest,
        normalize=False,
        training={},
        card="# Student\n",
    )
    words = [word for word in WORDS if word.isalpha()]
    long, cut, other = (" ".join(part) for part in (words[:15], words[:5], words[1:6]))
    found = model.encode([long, cut, other])
    assert np.abs(found[0] - found[1]).max() < 1e-6
    assert np.abs(found[0] - found[2]).max() > 0.01
    assert found[1] == pytest.approx(alone(student, vocabulary.encode(cut)), abs=1e-5)


def made_sentences(count: int = 3000, longest: int = 9, seed: int = 1) -> TaughtSentences:
    """The teacher adds up a vector for each word, the first words counting most."""
    rng = np.random.default_rng(seed)
    meaning = rng.normal(size=(40, 12))
    lengths = rng.integers(1, longest + 1, count)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = rng.integers(FIRST, 40, offsets[-1])
    vectors = np.empty((count, 12))
    for k, (first, last) in enumerate(pairwise(offsets)):
        shares = 1 / (1 + np.arange(last - first))
        vectors[k] = shares @ meaning[ids[first:last]]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return TaughtSentences(
        ids=ids.astype(np.uint16), offsets=offsets, vectors=vectors.astype(np.float16)
    )


def settings(**changes) -> StudentTrainingConfig:
    base = StudentTrainingConfig(
        model=SMALL, batch=64, steps=400, learning_rate=1e-2, warm_up=20, held_out=256
    )
    return replace(base, **changes)


def train_student(config, taught, device, words=None, **options):
    """A trained student, and what was measured."""
    training = StudentTraining(config, taught, device, words)
    report = training.fit(**options)
    return training.network, {**report, **report["log"][-1], "seconds": report["seconds"]}


def held_out_cosine(student: Student, taught: TaughtSentences, count: int) -> float:
    """One sentence at a time, the last ones."""
    found = []
    for k in range(len(taught.vectors) - count, len(taught.vectors)):
        ids = taught.ids[taught.offsets[k] : taught.offsets[k + 1]].astype(int).tolist()
        found.append(alone(student, ids[: student.config.longest]) @ taught.vectors[k])
    return float(np.mean(found))


def test_it_learns_what_the_teacher_says():
    taught = made_sentences()
    start, begun = train_student(settings(steps=1, learning_rate=0.0), taught, CPU)
    student, report = train_student(settings(), taught, CPU)
    assert abs(begun["held_out_cosine"]) < 0.3
    assert report["held_out_cosine"] > 0.8
    assert report["steps"] == 400
    assert report["epochs"] == pytest.approx(400 * 64 / (3000 - 256))
    for fitted, told in ((start, begun), (student, report)):
        found = held_out_cosine(fitted, taught, 256)
        assert found == pytest.approx(told["held_out_cosine"], abs=1e-4)


def test_the_same_seed_gives_the_same_student():
    taught = made_sentences(400)
    few = settings(steps=5, held_out=64)
    one, other, third = (train_student(c, taught, CPU)[0] for c in (few, few, replace(few, seed=1)))
    assert torch.equal(one.map.weight, other.map.weight)
    assert not torch.equal(one.map.weight, third.map.weight)


def test_it_begins_with_the_words_that_it_is_given(rng):
    words = rng.normal(size=(40, 16)).astype(np.float32)
    few = settings(steps=1, learning_rate=0.0, held_out=64)
    student, _ = train_student(few, made_sentences(400), CPU, words=words)
    found = student.words.weight.detach().numpy()
    assert np.array_equal(found[1:], words[1:])
    assert not found[PADDING].any()


def test_word_dropout_words_teach_the_unknown_word():
    """No lesson has an unknown word: only words that are word_dropout can move its vector."""
    words = np.ones((40, 16), dtype=np.float32)
    taught = made_sentences(400)
    moved = {}
    for share in (0.0, 0.3):
        few = settings(steps=10, word_dropout=share, held_out=64)
        student, _ = train_student(few, taught, CPU, words=words)
        moved[share] = np.abs(student.words.weight.detach().numpy()[UNKNOWN] - 1).max()
        assert not student.words.weight[PADDING].detach().numpy().any()
    assert moved[0.0] == 0
    assert moved[0.3] > 1e-3


def test_with_every_word_word_dropout_nothing_but_the_length_is_seen():
    taught = made_sentences()
    student, report = train_student(settings(steps=100, word_dropout=1.0), taught, CPU)
    assert report["held_out_cosine"] < 0.4
    fresh, _ = train_student(settings(steps=1, learning_rate=0.0), taught, CPU)
    assert torch.equal(student.words.weight[FIRST:], fresh.words.weight[FIRST:])


def test_lessons_are_cut_at_the_longest():
    """TaughtSentences that differ only beyond the last place make the same student."""
    taught = made_sentences(400, longest=20)
    ids = taught.ids.copy()
    for first, last in pairwise(taught.offsets):
        ids[first + SMALL.longest : last] = FIRST
    assert not np.array_equal(ids, taught.ids)
    few = settings(steps=8, held_out=64)
    one, other = (train_student(few, some, CPU)[0] for some in (taught, replace(taught, ids=ids)))
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def test_time_that_is_over_ends_it():
    _, report = train_student(
        settings(steps=10**6, held_out=64), made_sentences(400), CPU, seconds=0.3
    )
    assert 0 < report["steps"] < 10**5
    assert report["seconds"] < 5


@pytest.mark.parametrize(("seconds", "steps"), [(5.0, 3), (1.5, 1), (1000.0, 7)])
def test_the_steps_that_were_taken_are_counted(monkeypatch, seconds, steps):
    """A clock that is read twice in each step, and a second later each time."""
    few = settings(steps=7, held_out=64)
    training = StudentTraining(few, made_sentences(400), CPU)
    learned, learn = [], training.learn
    monkeypatch.setattr(training, "learn", lambda batch: learned.append(batch) or learn(batch))
    clock = iter(range(1000))
    monkeypatch.setattr(loop.time, "perf_counter", lambda: next(clock))
    report = training.fit(seconds=seconds)
    assert report["steps"] == len(learned) == steps


def test_a_few_lessons_can_judge():
    student, report = train_student(settings(steps=2, held_out=3), made_sentences(400), CPU)
    expected = held_out_cosine(student, made_sentences(400), 3)
    assert report["held_out_cosine"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"steps": 0}, "steps"),
        ({"steps": -1}, "steps"),
        ({"held_out": 0}, "held_out"),
        ({"warm_up": 0}, "warm_up"),
        ({"batch": 1}, "batch"),
        ({"word_dropout": -0.1}, "word_dropout"),
        ({"word_dropout": 1.1}, "word_dropout"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"learning_rate": -1e-3}, "learning_rate"),
        ({"similarities": float("inf")}, "similarities"),
    ],
    ids=str,
)
def test_nonsense_is_refused(changes, says):
    with pytest.raises(ConfigError, match=says):
        settings(**changes)


def test_what_is_refused():
    with pytest.raises(ConfigError, match="multiple of its heads"):
        replace(SMALL, heads=3)
    with pytest.raises(ConfigError, match="too few"):
        train_student(settings(), made_sentences(300), CPU)
    for seconds in (0.0, -1.0, float("nan")):
        with pytest.raises(ConfigError, match="seconds"):
            train_student(settings(), made_sentences(400), CPU, seconds=seconds)
