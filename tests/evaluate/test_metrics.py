"""Our figures against a hand count and against the benchmark's own script."""

import ast
import json
import subprocess
import sys

from folioreel.evaluate.dataset import find_pairs, load_pair
from folioreel.evaluate.metrics import (
    MatchScores,
    PlacedLink,
    judge_links,
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
