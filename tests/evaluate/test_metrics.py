"""Our figures against a hand count and against the benchmark's own script."""

import ast
import json
import subprocess
import sys

import numpy as np
import pytest

from folioreel.evaluate.dataset import find_pairs, load_pair
from folioreel.evaluate.metrics import (
    UNLINKED,
    MatchScores,
    Outcomes,
    PlacedLink,
    calibrate,
    equal_mass_bins,
    judge_links,
    precision_at,
    score_by_how,
    score_by_kind,
    score_links,
)

BOOK = "\n\n".join(f"Paragraph {n} of the book." for n in range(30)) + "\n"


def write_pair(folder, gold):
    folder.mkdir(exist_ok=True)
    (folder / "book.txt").write_text(BOOK)
    (folder / "film.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nLine.\n")
    lines = ["id\tstart_s\tend_s\ttext"] + [f"{k}\t{k}.0\t{k}.9\tLine {k}." for k in range(20)]
    (folder / "film_sentences.tsv").write_text("\n".join(lines) + "\n")
    head = "id\tverdict\thow\tline_from\tline_to\talternates\tnote"
    (folder / "gold.tsv").write_text("\n".join([head, *gold]) + "\n")
    return load_pair(folder)


def links(*places):
    """(sentence, paragraph, score) → links; paragraph p stands on line 2 p + 1."""
    return [
        PlacedLink(start_s=k, end_s=k + 0.9, line=None if p is None else 2 * p + 1, score=score)
        for k, p, score in places
    ]


def test_by_hand(tmp_path):
    pair = write_pair(
        tmp_path / "pair",
        [
            "0\tmatch\tverbatim\t1\t1\t-\t",  # paragraph 0: linked to 0, strict
            "1\tmatch\tparaphrase\t11\t11\t-\t",  # paragraph 5: linked to 8, near
            "2\tmatch\treported\t21\t21\t41-41\t",  # 10, or 20: linked to 20, strict by alternate
            "3\tmatch\tverbatim\t1\t1\t-\t",  # linked to 9: wrong, but line 0 recalls it
            "4\tnone\t-\t-\t-\t-\t",  # linked with 0.7
            "12\tscene\t-\t1\t5\t-\t",  # linked to 2: right within the scene
            "18\tmatch\tverbatim\t1\t1\t-\t",  # nobody linked it
        ],
    )
    scores = score_links(
        pair, links((0, 0, 0.9), (1, 8, 0.8), (2, 20, 0.6), (3, 9, 0.5), (4, 9, 0.7), (12, 2, 0.4))
    )
    assert (scores.match, scores.none) == (5, 1)
    assert scores.strict == 40.0
    assert scores.near == 60.0
    assert scores.recall == 80.0
    # Surest first: right, right, none, right, wrong, right; five matches in all.
    assert scores.ap == round(100 * (1 / 1 + 2 / 2 + 3 / 4 + 4 / 6) / 5, 2)
    # Scores of the matches 0.9 0.8 0.6 0.5 and unlinked, against 0.7.
    assert scores.auroc == round(2 / 5, 3)


def test_the_benchmarks_own_script_agrees(shared, tmp_path, rng):
    script, alignment = shared / "benchmark" / "score.py", tmp_path / "alignment.json"
    for folder in find_pairs(shared / "benchmark"):
        pair = load_pair(folder)
        lines = len((folder / "book.txt").read_text(encoding="utf-8").split("\n"))
        found = []
        for spoken in pair.spoken[:: int(rng.integers(1, 3))]:
            truth = [j for j in pair.judgements if j.line == spoken.index and j.passages]
            near = truth[0].passages[0][0] + int(rng.integers(-30, 30)) if truth else 1
            line = near if rng.random() < 0.6 else int(rng.integers(1, lines))
            found.append(
                PlacedLink(
                    start_s=spoken.start_s,
                    end_s=spoken.end_s,
                    line=max(1, line) if rng.random() < 0.95 else None,
                    score=round(float(rng.random()), 2),
                )
            )
        alignment.write_text(json.dumps({"links": [vars(link) for link in found]}))
        command = [sys.executable, script, folder, alignment]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        theirs = ast.literal_eval(printed.removeprefix(folder.name).strip())
        assert vars(score_links(pair, found)) == theirs, folder.name


def test_how_and_kind_apart(tmp_path):
    pair = write_pair(
        tmp_path / "pair",
        [
            "0\tmatch\tverbatim\t1\t1\t-\t",
            "1\tmatch\tverbatim\t11\t11\t-\t",
            "2\tmatch\tparaphrase\t21\t21\t-\t",
            "13\tmatch\tparaphrase\t21\t21\t-\t",
            "14\tnone\tverbatim\t-\t-\t-\t",
            "15\tscene\t-\t1\t1\t-\t",
        ],
    )
    outcomes = judge_links(pair, links((0, 0, 0.9), (1, 7, 0.8), (2, 4, 0.6), (13, 20, 0.1)))
    apart = score_by_how(outcomes)
    assert apart["verbatim"] == MatchScores(match=2, recall=100.0, near=100.0, strict=50.0)
    # Line 2 (paragraph 10, linked to 4) is recalled by line 1, which lies at 7; line 13 by nobody.
    assert apart["paraphrase"] == MatchScores(match=2, recall=50.0, near=0.0, strict=0.0)
    assert apart["reported"] == MatchScores(match=0, recall=None, near=None, strict=None)
    assert list(score_by_kind(outcomes)) == ["dialogue"]
    assert score_by_kind(outcomes)["dialogue"].match == 4


def outcomes_of(scores, right, verdicts=None):
    verdicts = verdicts or ["match"] * len(scores)
    return Outcomes(
        verdicts=np.array(verdicts),
        hows=np.array(["verbatim"] * len(scores)),
        kinds=np.array(["dialogue"] * len(scores)),
        scores=np.array(scores, dtype=np.float64),
        distances=np.where(right, 0, 50),
        recalled=np.array(right, dtype=np.bool_),
    )


def test_calibration_by_hand():
    # Two bins of three: scores 0.1 0.2 0.3 with none right, 0.6 0.8 1.0 with two right.
    scores, right = [0.8, 0.1, 1.0, 0.2, 0.6, 0.3], [1, 0, 1, 0, 0, 0]
    found = calibrate(outcomes_of(scores, right), bins=2)
    assert [b.links for b in found.bins] == [3, 3]
    assert [b.score for b in found.bins] == pytest.approx([0.2, 0.8])
    assert [b.right for b in found.bins] == pytest.approx([0, 2 / 3])
    assert found.ece == pytest.approx(0.5 * 0.2 + 0.5 * (0.8 - 2 / 3), abs=1e-4)


def test_calibration_takes_matches_and_nones_that_are_linked():
    scores, right = [0.9, 0.9, 0.9, UNLINKED], [True, False, True, False]
    found = calibrate(outcomes_of(scores, right, ["match", "none", "scene", "match"]))
    # All scores equal: one bin, of the match and the none.
    assert found.links == 2
    assert len(found.bins) == 1
    assert found.ece == pytest.approx(0.4)
    assert calibrate(outcomes_of([UNLINKED], [False])).ece is None


def test_bins_are_equal_and_do_not_depend_on_order(rng):
    scores = rng.random(100)
    bins = equal_mass_bins(scores, 15)
    assert set(np.bincount(bins)) <= {6, 7}
    order = rng.permutation(100)
    assert np.array_equal(equal_mass_bins(scores[order], 15), bins[order])
    assert np.array_equal(np.argsort(np.lexsort((scores, bins))), np.argsort(np.argsort(scores)))


def test_scores_that_keep_their_promise_have_a_small_error(rng):
    scores = rng.random(20_000)
    honest = calibrate(outcomes_of(scores, rng.random(20_000) < scores)).ece
    boastful = calibrate(outcomes_of(scores, rng.random(20_000) < scores**2)).ece
    assert honest < 0.02
    assert boastful == pytest.approx(1 / 2 - 1 / 3, abs=0.02)


def test_the_error_that_chance_alone_makes():
    # Four tosses of a fair coin: the share of heads is off by 1/2 twice in 16, by 1/4 eight times.
    found = calibrate(outcomes_of([0.5] * 4, [True, True, False, False]))
    assert found.ece == 0
    assert found.by_chance == pytest.approx((2 * 0.5 + 8 * 0.25) / 16, abs=0.02)
    sure = calibrate(outcomes_of([1.0] * 4, [True] * 4))
    assert sure.by_chance == 0


def test_precision_at_coverage_by_hand():
    scores = [0.9, 0.8, 0.8, 0.4, UNLINKED, 0.95]
    right = [True, True, False, True, False, True]
    found = outcomes_of(scores, right, ["match", "match", "none", "match", "match", "scene"])
    # Five lines (the scene is left out): right, two equal of which one is right, right, unlinked.
    assert precision_at(found, (20, 40, 60, 80, 100)) == {
        20: 100.0,
        40: 75.0,
        60: round(200 / 3, 2),
        80: 75.0,
        100: 60.0,
    }
    assert precision_at(outcomes_of([0.5], [True], ["scene"])) == {}
