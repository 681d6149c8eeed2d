"""SICK: the softmax against scikit-learn's, the figures against SciPy's, the files against us."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression

from folioreel.errors import InputError
from folioreel.evaluate import sentences
from folioreel.evaluate.sentences import (
    FILES,
    FitConfig,
    agreement,
    fit_relatedness,
    load_sick,
    pair_features,
    pearson_correlation,
    score_shares,
)

HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
ROWS = (
    "1\tA dog runs\tA cat sleeps\t1.5\tNEUTRAL\n2\tA man sings\tA man is singing\t5\tENTAILMENT\n"
)


def write_sick(folder, train=HEADER + ROWS):
    folder.mkdir(exist_ok=True)
    for part, name in FILES.items():
        text = train if part == "train" else HEADER + ROWS
        (folder / name).write_bytes(text.encode("utf-8"))
    return folder


def test_shares_by_hand():
    shares = score_shares(np.array([1, 3.4, 4, 4.9, 5]))
    assert shares == pytest.approx(
        np.array(
            [
                [1, 0, 0, 0, 0],
                [0, 0, 0.6, 0.4, 0],
                [0, 0, 0, 1, 0],
                [0, 0, 0, 0.1, 0.9],
                [0, 0, 0, 0, 1],
            ]
        ),
        abs=1e-6,
    )


@given(st.lists(st.floats(1, 5), min_size=1))
def test_the_mean_of_the_shares_is_the_score(scores):
    shares = score_shares(np.array(scores))
    assert shares @ np.arange(1, 6) == pytest.approx(np.array(scores), abs=1e-5)
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert (shares >= 0).all()
    assert ((shares > 0).sum(axis=1) <= 2).all()


def test_features_by_hand():
    first, second = np.array([[1, -2]], np.float32), np.array([[3, 2]], np.float32)
    assert pair_features(first, second).tolist() == [[2, 4, 3, -4]]


@pytest.mark.parametrize("digits", [0, 1, 9])  # few digits make many equal values
def test_correlations_as_scipy_has_them(rng, digits):
    first = np.round(rng.normal(3, 1, 200), digits)
    second = np.round(first + rng.normal(0, 2, 200), digits)
    found = agreement(first, second)
    assert found["pearson"] == pytest.approx(stats.pearsonr(first, second)[0], abs=1e-12)
    assert found["spearman"] == pytest.approx(stats.spearmanr(first, second)[0], abs=1e-12)
    assert found["mse"] == pytest.approx(float(((first - second) ** 2).mean()))


def test_a_constant_tells_nothing():
    assert pearson_correlation(np.full(4, 3.3), np.arange(4.0)) == 0


def test_the_optimum_is_that_of_scikit_learn(rng):
    """Soft targets are the same as each pair five times, weighed by its shares."""
    features = rng.normal(size=(80, 3)).astype(np.float32)
    scores = np.clip(3 + features[:, 0] - 0.5 * features[:, 1] + rng.normal(0, 0.7, 80), 1, 5)
    shares = score_shares(scores)
    config = FitConfig(max_epochs=2000, batch_size=80, learning_rate=0.02)
    *_, ours = sentences._fitting(features, shares, config)
    theirs = LogisticRegression(C=1e7, tol=1e-8, max_iter=10_000)
    repeated = np.repeat(features.astype(np.float64), 5, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(repeated, np.tile(np.arange(1, 6), 80), sample_weight=shares.ravel())
    wanted = theirs.predict_proba(features.astype(np.float64)) @ np.arange(1, 6)
    assert ours.predict(features) == pytest.approx(wanted, abs=5e-3)


def made_features(rng, pairs, units=20):
    """Pairs of vectors whose cosine people follow, with some noise."""
    first = rng.normal(size=(pairs, units))
    near = rng.uniform(-1, 1, (pairs, 1))
    second = near * first + np.sqrt(1 - near**2) * rng.normal(size=(pairs, units))
    scores = np.clip(3 + 2 * near[:, 0] + rng.normal(0, 0.2, pairs), 1, 5)
    return pair_features(first.astype(np.float32), second.astype(np.float32)), scores


def test_it_learns_what_is_there_and_nothing_else(rng):
    train, trial, test = (made_features(rng, pairs) for pairs in (1000, 200, 500))
    model = fit_relatedness(*train, *trial)
    found = agreement(model.predict(test[0]), test[1])
    assert found["pearson"] > 0.9
    assert found["mse"] < 0.4
    blind = fit_relatedness(train[0], rng.permutation(train[1]), *trial)
    assert abs(agreement(blind.predict(test[0]), test[1])["pearson"]) < 0.3


def test_the_best_weights_of_the_trial_set_are_kept(rng):
    """Few pairs and many features: it over-fits, so the last weights are not the best."""
    train, trial = made_features(rng, 60, 100), made_features(rng, 300, 100)
    config = FitConfig(max_epochs=400, check_every=5, patience=4)
    reached = [
        pearson_correlation(model.predict(trial[0]), trial[1])
        for model in sentences._fitting(train[0], score_shares(train[1]), config)
    ]
    kept = pearson_correlation(fit_relatedness(*train, *trial, config).predict(trial[0]), trial[1])
    best, waited = reached[0], 0
    for pearson in reached[1:]:
        best, waited = (pearson, 0) if pearson > best else (best, waited + 1)
        if waited == 4:
            break
    assert kept == best
    assert kept > reached[-1]
    assert waited == 4  # it did stop before the passes ran out


def test_the_seed_decides(rng):
    train, trial = made_features(rng, 100), made_features(rng, 50)
    one, same, other = (
        fit_relatedness(*train, *trial, FitConfig(seed=seed)).weights for seed in (3, 3, 4)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_files_are_read(tmp_path):
    reordered = (
        "\ufeffrelatedness_score\tsentence_B\tsentence_A\r\n"
        '2.5\tThe "cat" sleeps\t A dog runs \r\n\r\n1\tb\ta\r\n'
    )
    data = load_sick(write_sick(tmp_path / "sick", reordered))
    assert data.train.first == ("A dog runs", "a")
    assert data.train.second == ('The "cat" sleeps', "b")
    assert data.train.scores.tolist() == [2.5, 1]
    assert data.test.scores.tolist() == [1.5, 5]
    assert data.sentences() == [
        *("A dog runs", "a", 'The "cat" sleeps', "b"),
        *("A man sings", "A cat sleeps", "A man is singing"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", None, "the file is empty"),
        ("\n", 1, "sentence_A"),
        (ROWS, 1, "relatedness_score"),
        (HEADER, None, "no rows"),
        (HEADER + ROWS.splitlines()[0], None, "too few"),
        (HEADER + ROWS + "3\tone sentence\t2.0\tNEUTRAL\n", 4, "NEUTRAL"),
        (HEADER + "3\ta\t \t2.0\tNEUTRAL\n", 2, "sentence is missing"),
        (HEADER + "3\ta\tb\tNA\tNEUTRAL\n", 2, "'NA'"),
        (HEADER + "3\ta\tb\t5.1\tNEUTRAL\n", 2, "1 to 5"),
        (HEADER + "3\ta\tb\t0\tNEUTRAL\n", 2, "1 to 5"),
        (HEADER + "3\ta\tb\tnan\tNEUTRAL\n", 2, "1 to 5"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, line, says):
    with pytest.raises(InputError, match=says) as caught:
        load_sick(write_sick(tmp_path / "sick", text))
    assert (caught.value.path.name, caught.value.line) == ("SICK_train.txt", line)


def test_a_file_is_missing_or_no_text(tmp_path):
    with pytest.raises(InputError, match=r"SICK_train.txt: is missing"):
        load_sick(tmp_path)
    folder = write_sick(tmp_path / "sick")
    (folder / FILES["test"]).write_bytes(b"\x00\x01\x02\xff\xfe" * 20)
    with pytest.raises(InputError, match=r"SICK_test_annotated\.txt: is not a text file"):
        load_sick(folder)


def test_the_real_files(shared):
    data = load_sick(shared / "sick")
    assert [len(part.scores) for part in data] == [4500, 500, 4927]
    assert data.train.scores[0] == 4.5
