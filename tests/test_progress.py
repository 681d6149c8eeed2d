"""Progress: one report for each item, after it is done; names of what is worked on."""

from dataclasses import replace

from folioreel.progress import Progress, name_progress, nest_progress, track


def test_an_item_is_reported_when_it_is_done():
    told = []
    for item in track("abc", "spelling", told.append):
        assert told[-1].done == "abc".index(item)
    assert told == [Progress(stage="spelling", done=n, total=3) for n in range(4)]


def test_what_has_no_length_is_given_a_total():
    told = []
    assert list(track(iter("ab"), "spelling", told.append, total=2)) == ["a", "b"]
    assert [(report.done, report.total) for report in told] == [(0, 2), (1, 2), (2, 2)]


def test_items_have_names_until_the_last_is_done():
    told = []
    for item in track("ab", "spelling", told.append, name=str.upper):
        assert told[-1].name == item.upper()
    assert [(report.done, report.name) for report in told] == [
        (0, ""), (0, "A"), (1, "A"), (1, "B"), (2, ""),
    ]  # fmt: skip


def test_names_are_added_and_stages_nested():
    told = []
    named = name_progress(told.append, "film.mkv")
    named(Progress(stage="reading", done=1, total=2))
    named(Progress(stage="reading", done=2, total=2, name="track 3"))
    assert [report.name for report in told] == ["film.mkv", "track 3"]
    told.clear()
    whole = Progress(stage="evaluating", done=3, total=9, name="ferry")
    nested = nest_progress(told.append, whole)
    nested(Progress(stage="comparing", done=7, total=8))
    assert told == [whole, replace(whole, name="ferry, comparing")]
