"""Groups, losses and confused sentences of the encoder's training against plain loops."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from folioreel.config import WINDOW
from folioreel.train.paraphrase import (
    Lesson,
    Marks,
    ParaphraseConfig,
    ParaphraseTraining,
    Pieces,
    recall,
    window_means,
)

MARKS = Marks(first=1, last=2, padding=0)
FIRST_WORD = 3


class Sums(nn.Module):
    """The unit sum of a table's rows: an encoder that can be worked out by hand."""

    def __init__(self, pieces, units=6):
        super().__init__()
        self.table = nn.Embedding(pieces, units)

    def forward(self, ids, real):
        vectors = (self.table(ids) * real[:, :, None]).sum(dim=1)
        return nn.functional.normalize(vectors, dim=1)


def made_lesson(rng, lines=12, sentences=40, new=(3, 7), name="film", source="made"):
    """Random texts; each line renders up to two sentences, lines 0 and 5 none."""
    texts = [
        Pieces.join([rng.integers(FIRST_WORD, 30, rng.integers(1, 7)).tolist() for _ in range(n)])
        for n in (lines, sentences)
    ]
    targets = [
        () if k in (0, 5) else tuple(rng.choice(sentences, rng.integers(1, 3), replace=False))
        for k in range(lines)
    ]
    places = [place for one in targets for place in sorted(one)]
    return Lesson(
        name=name,
        source=source,
        lines=texts[0],
        sentences=texts[1],
        starts=np.cumsum([0, *map(len, targets)]),
        places=np.array(places, dtype=np.int32),
        shares=rng.uniform(0.1, 0.5, len(places)).astype(np.float32),
        new=np.isin(np.arange(lines), new),
    )


def made_training(lessons, **settings):
    torch.manual_seed(5)
    config = ParaphraseConfig(
        **{"steps": 4, "groups": 2, "lines": 5, "confused": 2, "random_windows": 2, **settings}
    )
    return ParaphraseTraining(config, Sums(30), lessons, MARKS)


def encode_one_by_one(training, texts):
    """Each text alone, with its marks."""
    table = training.network.encoder.table.weight.detach().double().numpy()
    vectors = []
    for a, b in zip(texts.starts[:-1], texts.starts[1:], strict=True):
        row = table[[MARKS.first, *texts.ids[a:b], MARKS.last]].sum(axis=0)
        vectors.append(row / np.linalg.norm(row))
    return np.array(vectors)


def targets_of(lesson, line):
    span = range(lesson.starts[line], lesson.starts[line + 1])
    return {int(lesson.places[k]): float(lesson.shares[k]) for k in span}


@pytest.fixture
def lesson(rng):
    return made_lesson(rng)


@pytest.fixture
def training(lesson):
    return made_training([lesson])


def test_texts_are_encoded_as_if_alone(training, lesson):
    for batch in (3, 2048):
        found = training.encode(lesson.sentences, batch=batch).numpy()
        assert found == pytest.approx(encode_one_by_one(training, lesson.sentences), abs=1e-5)


@pytest.mark.parametrize("kept", [3, 24])
def test_confused_sentences_by_brute_force(training, lesson, kept):
    """The most similar ones, without those that are right and their neighbours."""
    training.find_confused(kept)
    (found,) = training.confused
    assert found.shape == (len(lesson.lines), kept)
    lines = encode_one_by_one(training, lesson.lines)
    sentences = encode_one_by_one(training, lesson.sentences)
    for line, row in enumerate(found):
        right = targets_of(lesson, line)
        wrong = [
            j for j in range(len(lesson.sentences)) if all(abs(j - place) > 1 for place in right)
        ]
        wrong.sort(key=lambda j, line=line: -float(lines[line] @ sentences[j]))
        assert set(row) == set(wrong[:kept])


def test_a_book_shorter_than_the_list_of_confused_sentences(rng):
    training = made_training([made_lesson(rng, sentences=3)])
    training.find_confused()
    assert training.confused[0].shape == (12, 3)
    loss = training.loss(next(training.batches()))
    assert math.isfinite(float(loss.detach()))


def test_confused_sentences_of_one_source_alone(rng):
    lessons = [made_lesson(rng, source=source) for source in ("films", "written")]
    training = made_training(lessons)
    training.find_confused()
    films, written = training.confused
    with torch.no_grad():
        for parameter in training.network.encoder.parameters():
            parameter.copy_(torch.randn_like(parameter))
    training.find_confused(sources=("written",))
    assert training.confused[0] is films
    assert not np.array_equal(training.confused[1], written)


def test_groups_by_loops(training, lesson):
    """Targets of lines in the book, of new ones in their scenes, and which windows are whole."""
    seen_new = seen_part = 0
    training.find_confused()
    for seed in range(20):
        group = training._group(0, np.random.default_rng(seed))
        chosen = group.sentences.tolist()
        assert chosen == sorted(set(chosen))
        assert 0 <= chosen[0] <= chosen[-1] < len(lesson.sentences)
        assert group.lines.tolist() == list(range(group.lines[0], group.lines[0] + 5))
        assert group.targets.shape == group.window_targets.shape == (5, len(chosen) + 1)
        for row, line in enumerate(group.lines):
            right = targets_of(lesson, int(line))
            for column, place in enumerate(chosen):
                share = right.get(place, 0.0)
                assert group.window_targets[row, column] == pytest.approx(share)
                rendered = 0.0 if lesson.new[line] else share
                assert group.targets[row, column] == pytest.approx(rendered)
            for near in (place + away for place in right for away in range(-WINDOW, WINDOW + 1)):
                assert not 0 <= near < len(lesson.sentences) or near in chosen
            seen_new += bool(lesson.new[line] and right)
        assert group.targets.sum(axis=1) == pytest.approx(1)
        assert group.window_targets.sum(axis=1) == pytest.approx(1)
        for whole, place in zip(group.whole, chosen, strict=True):
            window = range(max(0, place - WINDOW), min(len(lesson.sentences), place + WINDOW + 1))
            assert whole == all(near in chosen for near in window)
        seen_part += not group.whole.all()
    assert seen_new
    assert seen_part


def test_shares_above_1_leave_nothing_for_none(training, lesson):
    """A judged line may render several sentences, each for certain."""
    lesson.shares[:] = 1.0
    training.find_confused()
    group = training._group(0, np.random.default_rng(0))
    several = np.diff(lesson.starts)[group.lines] > 0
    assert not group.window_targets[several, -1].any()
    assert (group.window_targets[~several, -1] == 1).all()


def test_windows_of_gaps_by_loops():
    vectors = torch.randn(5, 4, dtype=torch.float64)
    numbers = np.array([0, 1, 4, 6, 20])
    found = window_means(vectors, numbers).numpy()
    for k, number in enumerate(numbers):
        near = [vectors[n].numpy() for n, other in enumerate(numbers) if abs(other - number) <= 2]
        mean = np.sum(near, axis=0)
        assert found[k] == pytest.approx(mean / np.linalg.norm(mean))


def backward_by_loops(cosines, targets, temperature):
    """The mean, over sentences that are rendered, of the cross-entropy with their lines."""
    losses = []
    for column in range(targets.shape[1]):
        mass = sum(targets[:, column])
        if mass <= 0.5:
            continue
        powers = [math.exp(cosine / temperature) for cosine in cosines[:, column]]
        losses.append(
            -sum(
                target / mass * math.log(power / sum(powers))
                for target, power in zip(targets[:, column], powers, strict=True)
            )
        )
    return sum(losses) / max(1, len(losses)), len(losses)


def test_from_sentences_to_lines_by_loops(training, rng):
    cosines = rng.uniform(-1, 1, (6, 9))
    targets = rng.dirichlet(np.full(10, 0.3), 6)[:, :9]
    expected, rendered = backward_by_loops(cosines, targets, 0.05)
    assert 0 < rendered < 9, "some sentences are rendered, some are not"
    found = training._backward_loss(torch.from_numpy(cosines), torch.from_numpy(targets))
    assert float(found) == pytest.approx(expected)


def test_from_sentences_to_lines_by_hand(training):
    """One sentence, two lines as like it as each other, one of them a rendering: ln 2."""
    cosines, targets = torch.tensor([[0.7], [0.7]]), torch.tensor([[0.9], [0.0]])
    assert float(training._backward_loss(cosines, targets)) == pytest.approx(math.log(2))
    # Both lines render it: the same, and no less if one of them were nearer.
    targets = torch.tensor([[0.9], [0.9]])
    assert float(training._backward_loss(cosines, targets)) == pytest.approx(math.log(2))
    nearer = training._backward_loss(torch.tensor([[0.8], [0.7]]), targets)
    assert float(nearer) > math.log(2)


@pytest.mark.parametrize("mass", [0.0, 0.4])
def test_where_no_sentence_is_rendered_nothing_is_lost(training, mass):
    cosines = torch.rand(3, 4, requires_grad=True)
    loss = training._backward_loss(cosines, torch.full((3, 4), mass / 3))
    assert float(loss.detach()) == 0
    loss.backward()
    assert not cosines.grad.any()


def loss_by_loops(training, group):
    config = training.config
    lines = encode_one_by_one(training, group.lesson.lines)[group.lines]
    sentences = encode_one_by_one(training, group.lesson.sentences)[group.sentences]

    def forward(cosines, nowhere, targets):
        total = 0.0
        for row, shares in zip(cosines, targets, strict=True):
            logits = np.append(row, nowhere) / config.temperature
            total -= shares @ (logits - math.log(np.exp(logits).sum()))
        return total / len(cosines)

    cosines = lines @ sentences.T
    backward, _ = backward_by_loops(cosines, group.targets[:, :-1], config.temperature)
    means = []
    for vectors, numbers in ((lines, group.lines), (sentences, group.sentences)):
        rows = [vectors[np.abs(numbers - number) <= WINDOW].sum(axis=0) for number in numbers]
        means.append(np.array([row / np.linalg.norm(row) for row in rows]))
    windows = means[0] @ means[1].T
    windows[:, ~group.whole] = -1
    return (
        forward(cosines, 0.4, group.targets)
        + config.backward * backward
        + config.windows * forward(windows, 0.6, group.window_targets)
    )


@pytest.mark.parametrize(("windows", "backward"), [(0.5, 0.5), (0.0, 0.3), (0.7, 0.0)])
def test_the_loss_by_loops(lesson, windows, backward):
    training = made_training([lesson], windows=windows, backward=backward)
    lesson.shares[::2] = 0.8
    batch = next(training.batches())
    expected = sum(loss_by_loops(training, group) for group in batch) / len(batch)
    assert float(training.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)


def test_lessons_in_which_nothing_is_rendered(rng):
    """All lines are new, or none has a target: finite losses and gradients."""
    lesson = made_lesson(rng, new=range(12))
    empty = Lesson(
        name="empty",
        source="made",
        lines=lesson.lines,
        sentences=lesson.sentences,
        starts=np.zeros(13, dtype=np.int64),
        places=np.zeros(0, dtype=np.int32),
        shares=np.zeros(0, dtype=np.float32),
        new=np.ones(12, dtype=bool),
    )
    for one in (lesson, empty):
        training = made_training([one])
        loss = training.loss(next(training.batches()))
        loss.backward()
        assert math.isfinite(float(loss.detach()))
        for parameter in training.network.parameters():
            assert torch.isfinite(parameter.grad).all()


def test_long_texts_are_cut_between_their_marks(lesson):
    training = made_training([lesson], longest=4)
    ids = training._pad([np.arange(10, 19), np.array([7]), np.array([], dtype=np.int32)])
    assert ids.tolist() == [[1, 10, 11, 2], [1, 7, 2, 0], [1, 2, 0, 0]]


def test_sources_have_their_share_of_the_groups(rng):
    lessons = [
        made_lesson(rng, lines=lines, name=name, source=source)
        for lines, name, source in ((12, "a", "films"), (24, "b", "films"), (12, "c", "novels"))
    ]
    chances = made_training(lessons)._chances
    assert chances == pytest.approx([0.25, 0.5, 0.25])
    chances = made_training(lessons, sources=(("films", 0.3), ("novels", 0.9)))._chances
    assert chances == pytest.approx([0.25 / 3, 0.5 / 3, 0.75])
    assert made_training(lessons, sources=(("films", 1.0),))._chances[2] == 0


def test_recall_by_loops(training, lesson):
    found = recall([lesson], training.encode)
    cosines = encode_one_by_one(training, lesson.lines) @ (
        encode_one_by_one(training, lesson.sentences).T
    )
    asked = [k for k in range(12) if targets_of(lesson, k) and not lesson.new[k]]
    ranks = []
    for k in asked:
        order = sorted(range(40), key=lambda j, k=k: -cosines[k, j])
        ranks.append(min(order.index(place) for place in targets_of(lesson, k)))
    assert found["recall@1"] == sum(rank < 1 for rank in ranks) / len(asked)
    assert found["recall@10"] == sum(rank < 10 for rank in ranks) / len(asked)
    assert found["recall@10"] > 0
