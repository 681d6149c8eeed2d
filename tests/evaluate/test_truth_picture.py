"""Ground truth against prediction: which outcome is drawn where, and what is refused."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from command_line import assert_one_line, run
from made_pairs import write_dataset, write_pair
from PIL import Image

from folioreel.evaluate.dataset import load_pair, load_pair_film
from folioreel.evaluate.truth_picture import JudgedPlace, judged_places, write_truth_picture
from folioreel.ingest.book import load_book
from folioreel.types import Alignment, Link


@pytest.fixture
def pair(tmp_path):
    return load_pair(write_pair(tmp_path / "pair", seed=1))


def aligned(pair, places):
    """An alignment with a link for each line: (sentence, whether it claims to be in the book)."""
    links = [
        Link(moment=moment, sentence=sentence, score=0.9, in_book=in_book)
        for moment, (sentence, in_book) in places.items()
    ]
    return Alignment(
        book=load_book(pair.book),
        film=load_pair_film(pair),
        links=tuple(links),
        signature={"preset": "fast"},
    )


def test_outcomes_by_hand(pair):
    # Sentence k is paragraph k, on line 2 k + 1. Lines 3 and 9 are not in the book, 7 is a scene.
    truth = [j.passages[0][0] if j.passages else None for j in pair.judgements]
    right = (truth[0] - 1) // 2
    far = (truth[1] - 1) // 2
    scene = (truth[7] - 1) // 2
    places = {
        0: (right + 3, True),  # three paragraphs away: right
        1: (far + 4, True),  # four: wrong
        2: ((truth[2] - 1) // 2, False),  # the right place, but not claimed: missed
        3: (5, True),  # not in the book, but claimed
        7: (scene, True),  # a scene at its place is no match: nothing to draw
        9: (5, False),  # not in the book, and not claimed: nothing to draw
        # Nobody linked the other matches: missed.
    }
    found = judged_places(pair, aligned(pair, places))
    at = {round(place.minute * 60 - 2) // 10: place for place in found}  # lines begin every 10 s
    assert len(at) == len(found) == 10
    assert {line: place.outcome for line, place in at.items()} == {
        **dict.fromkeys((2, 4, 5, 6, 8, 10, 11), "missed"),
        **{0: "right", 1: "wrong", 3: "false claim"},
    }
    assert {place.kind for place in found} == {"dialogue"}
    assert at[1] == JudgedPlace(
        outcome="wrong", kind="dialogue", minute=12 / 60, line=2 * (far + 4) + 1, truth=truth[1]
    )
    assert (at[3].line, at[3].truth) == (11, None)
    assert (at[2].line, at[2].truth) == (None, truth[2])


def test_both_formats_and_their_legend(pair, tmp_path):
    alignment = aligned(pair, {0: (3, True), 1: (50, True)})
    for name in ("a.png", "a.svg", "b.svg"):
        write_truth_picture(pair, alignment, tmp_path / name)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 900
    text = "".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())
    counts = [place.outcome for place in judged_places(pair, alignment)]
    for outcome in set(counts):
        assert f"dialogue: {outcome} ({counts.count(outcome)})" in text
    assert "visual" not in text
    assert "pair, preset fast" in text
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_marks_at_the_edges_are_whole(pair, tmp_path):
    write_truth_picture(pair, aligned(pair, {11: (5, True)}), tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    svg = "{http://www.w3.org/2000/svg}"
    cut = [mark for g in root.iter(f"{svg}g") if g.get("clip-path") for mark in g.iter(f"{svg}use")]
    assert cut  # the dots of all links
    assert not [mark for mark in cut if "#e040c0" in mark.get("style", "")]


def test_dialogue_and_pictures_are_told_apart(tmp_path):
    folder = write_pair(tmp_path / "pair", seed=1)
    (folder / "gold.tsv").unlink()
    (folder / "film_sentences.tsv").unlink()
    rows = "time_s\tend_s\tline\tkind\n0\t4\t9\tdialogue\n10\t14\t21\tvisual\n20\t24\t99\tvisual\n"
    (folder / "annotations.tsv").write_text(rows)
    pair = load_pair(folder)
    alignment = aligned(pair, {0: (4, True), 1: (10, True), 2: (10, True)})
    found = [(place.kind, place.outcome) for place in judged_places(pair, alignment)]
    assert found == [("dialogue", "right"), ("visual", "right"), ("visual", "wrong")]
    write_truth_picture(pair, alignment, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    for label in ("dialogue: right (1)", "visual: right (1)", "visual: wrong (1)"):
        assert f">{label}<" in text
    assert {"#e040c0", "#1c3d9e"} <= set(re.findall(r"#[0-9a-f]{6}", text))


def test_the_command(tmp_path):
    pairs = write_dataset(tmp_path / "pairs")
    one, out = pairs / "ferry", tmp_path / "truth.svg"
    options = ("--baseline", "tfidf", "--picture")
    assert_one_line(run("evaluate", pairs, *options, out), "a single pair", str(pairs))
    assert_one_line(run("evaluate", one, *options, tmp_path / "truth.pdf"), ".png or .svg")
    done = run("evaluate", one, *options, out)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == f"wrote {out}"
    assert_one_line(run("evaluate", one, *options, out), "already exists", "--force")
    assert run("evaluate", one, *options, out, "--force").exit_code == 0
