"""The figures of an adaptation against counts by hand, brute force and simulation."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from conftest import make_book, make_film
from hypothesis import given
from hypothesis import strategies as st
from made_reports import SPOKEN_TEN, align_by_hand, make_long_book

import folioreel
from folioreel.apps.adaptation import measure_adaptation, scene_starts
from folioreel.apps.moved import longest_rising, measure_order
from folioreel.apps.rendering import (
    CONFUSION,
    HOWS,
    Reader,
    common_words,
    expected_shares,
    measure_renderings,
)
from folioreel.evaluate.dataset import load_pair
from folioreel.evaluate.metrics import judge_links, placed_links
from folioreel.export.estimates import FILM_ERROR, estimate_share
from folioreel.types import Annotation


def test_a_share_is_the_sum_of_the_chances():
    share = estimate_share([1, 1, 2], [1.0, 0.5, 0.25], [False, False, False])
    assert share.value == pytest.approx((1 + 0.5 + 0.5) / 4)
    assert 0 <= share.low < share.value < share.high <= 1
    assert estimate_share([], [], []) is None
    assert estimate_share([0.0], [0.5], [False]) is None


def test_what_a_reader_judged_is_certain():
    share = estimate_share([1, 3], [1.0, 0.0], [True, True])
    assert (share.low, share.value, share.high) == (0.25, 0.25, 0.25)
    half = estimate_share([1, 1], [1.0, 0.5], [True, False])
    assert half.low >= 0.5


def test_chances_at_the_ends_leave_some_doubt():
    nothing = estimate_share([1] * 50, [0.0] * 50, [False] * 50)
    assert nothing.low == nothing.value == 0
    assert 0 < nothing.high < 0.1


def test_intervals_hold_what_they_should():
    """Films are drawn as the estimate assumes: a shift for each, then every line."""
    generator = np.random.default_rng(3)
    chances = generator.beta(0.5, 0.5, size=300)
    safe = np.clip(chances, 0.01, 0.99)
    odds = np.log(safe / (1 - safe))
    share = estimate_share(np.ones(300), chances, np.zeros(300, bool))
    shifts = generator.normal(scale=FILM_ERROR, size=2000)
    means = [(generator.random(300) < 1 / (1 + np.exp(-odds - s))).mean() for s in shifts]
    inside = np.mean([share.low <= mean <= share.high for mean in means])
    assert 0.93 <= inside <= 0.985


@given(st.lists(st.integers(0, 6), max_size=9))
def test_the_longest_rising_run(values):
    found = longest_rising(values)
    run = [values[k] for k in found]
    assert found == sorted(set(found))
    assert run == sorted(run)
    longest = max(
        (n for n in range(len(values) + 1) for c in combinations(values, n) if [*c] == sorted(c)),
        default=0,
    )
    assert len(found) == longest


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_words_in_common(first, second):
    def subsequences(text):
        return {c for n in range(len(text) + 1) for c in combinations(text, n)}

    both = subsequences(first) & subsequences(second)
    assert common_words(list(first), list(second)) == max(map(len, both))


def test_figures_by_hand():
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    book = make_book()  # 12 sentences, two to a paragraph, three paragraphs to a chapter
    alignment = align_by_hand(film, book, [0, 0, 1, 2, 3, 6, 6, 7, 11, 11], [0.9] * 5 + [0.4] * 5)
    found = measure_adaptation(alignment)
    assert found.lines.share().value == pytest.approx(0.65)
    assert sum(found.minutes.weights) == pytest.approx(100 / 60)  # the first begins at 0:00
    # Paragraph 0 has three lines of 0.9, paragraph 3 three of 0.4, paragraph 5 two of 0.4.
    expected = [1 - 0.1**3, 1 - 0.1**2, 0, 1 - 0.6**3, 0, 1 - 0.6**2]
    assert found.paragraphs.chances == pytest.approx(expected)
    assert [use.lines.value for use in found.chapters] == pytest.approx([4.5, 2.0])
    # Links below 0.5 do not claim to be right, but leave paragraphs 3 and 5 in doubt.
    gaps = {(gap.paragraphs.start, gap.paragraphs.stop): gap.chance for gap in found.gaps}
    assert gaps == {(2, 3): 1, (4, 5): 1}


@given(st.lists(st.sampled_from([0.0, 0.05, 0.15, 0.3, 0.49, 0.9]), min_size=10, max_size=10))
def test_passages_that_are_left_out_are_likely_and_end_at_doubtful_paragraphs(scores):
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    found = measure_adaptation(align_by_hand(film, make_long_book(10), range(10), scores))
    inside = {k for gap in found.gaps for k in gap.paragraphs}
    for gap in found.gaps:
        chance = np.prod([1 - scores[k] for k in gap.paragraphs])
        assert gap.chance == pytest.approx(chance)
        assert chance >= 0.8
    # Nothing that is likely on its own is lost next to something else that is.
    assert {k for k, score in enumerate(scores) if score == 0} <= inside
    assert not {k for k, score in enumerate(scores) if score > 0.2} & inside
    assert [gap.words for gap in found.gaps] == sorted((g.words for g in found.gaps), reverse=True)


def test_a_judged_passage_counts_with_all_its_paragraphs():
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    alignment = align_by_hand(film, make_long_book(20), [0] * 10, [0.1] * 10)
    said = Annotation(moments=(0, 0), sentences=(3, 5), kind="dialogue")
    first = replace(
        alignment.links[0], sentence=3, score=1.0, in_book=True, judged="match", annotation=said
    )
    found = measure_adaptation(replace(alignment, links=(first, *alignment.links[1:])))
    assert [k for k, chance in enumerate(found.paragraphs.chances) if chance == 1] == [3, 4, 5]
    assert not {3, 4, 5} & {k for gap in found.gaps for k in gap.paragraphs}


def test_renderings_are_counted_in_languages_that_are_hard_to_tell_apart():
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    alignment = align_by_hand(film, make_book(), list(range(10)), [0.9] * 10)

    def measure(spoken, written):
        film, book = alignment.film, alignment.book
        return measure_renderings(
            replace(
                alignment,
                film=replace(film, language=spoken),
                book=replace(book, language=written),
            )
        )

    assert measure("nb", "da") is not None
    assert measure(None, "da") is not None
    assert measure("en", "da") is None


def test_speech_in_a_language_without_spaces():
    texts = ("“你好吗？”他问。", "他走了。", "“再见！”", "他看着河水，没有说话。")
    reader = Reader(make_book(texts, 4))
    assert [reader.is_speech(k) for k in range(4)] == [True, False, True, False]


def test_judged_links_count_as_judged():
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    alignment = align_by_hand(film, make_book(), list(range(10)), [0.5] * 10)
    judged = tuple(
        replace(link, judged="match" if k < 3 else "none", in_book=k < 3, score=float(k < 3))
        for k, link in enumerate(alignment.links)
    )
    share = measure_adaptation(replace(alignment, links=judged)).lines.share()
    assert (share.low, share.value, share.high) == (0.3, 0.3, 0.3)


def test_the_order_of_the_book_and_its_reverse():
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    forward = align_by_hand(film, make_book(), list(range(10)), [0.99] * 10)
    order = measure_order(forward)
    assert (order.tau.value, order.inversions, order.moved) == (1, 0, ())
    backward = align_by_hand(film, make_book(), list(range(9, -1, -1)), [0.99] * 10)
    order = measure_order(backward)
    assert (order.tau.value, order.inversions) == (-1, 1)


def test_a_moved_stretch_is_found():
    book = make_long_book(60)
    places = [0, 2, 4, 50, 51, 52, 6, 8, 10, 12]  # lines 3 to 5 come from far ahead
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    (stretch,) = measure_order(align_by_hand(film, book, places, [0.9] * 10)).moved
    assert [link.moment for link in stretch.links] == [3, 4, 5]
    assert stretch.paragraphs == 52 - 6


@pytest.mark.parametrize(
    "quoted",
    ["“{}” said he.", '"{}" said he.', "«{}» said he.", "‘{}’ said he.", "— {}"],
)
def test_speech_in_the_ways_that_books_mark_it(quoted):
    told = "The old man looked at the water for an hour."
    book = make_book([quoted.format("Who opened it, man?"), told, quoted.format("Not I."), told], 1)
    reader = Reader(book)
    assert [reader.is_speech(k) for k in range(4)] == [True, False, True, False]
    assert reader.how("Who opened it, man?", 0) == "verbatim"
    assert reader.how("Tell me whose hand did that.", 0) == "paraphrase"
    assert reader.how("I looked out there all afternoon.", 1) == "reported"


def test_a_book_that_does_not_mark_speech():
    assert not Reader(make_book(["I went out.", "It rained."], 1)).marks_speech


def test_renderings_are_corrected_by_what_judges_say():
    shares = expected_shares(["verbatim"] * 100)
    row = np.array(CONFUSION["verbatim"]) + 0.5
    for how, part in zip(HOWS, row / row.sum(), strict=True):
        assert shares[how].value == pytest.approx(part, abs=0.01)
        assert shares[how].low <= shares[how].value <= shares[how].high


def test_scenes_begin_at_the_longest_pauses():
    times = [*range(0, 100, 5), *range(130, 230, 5), *range(232, 350, 5)]
    film = make_film([(float(t), t + 4.0, "Yes.") for t in times], duration_s=360.0, shots=False)
    starts = [film.moments[k].start_s for k in scene_starts(film)]
    assert starts == [0.0, 130.0, 232.0]


@pytest.mark.slow
def test_a_judged_film(shared):
    """The share of lines that judges found is inside the interval."""
    folder = shared / "benchmark" / "first-and-last"
    pair = load_pair(folder)
    alignment = folioreel.align(pair.book, folder / "film.srt")
    judged = np.mean(judge_links(pair, placed_links(alignment)).verdicts == "match")
    share = measure_adaptation(alignment).lines.share()
    assert share.low <= judged <= share.high
    assert share.high - share.low < 0.35
