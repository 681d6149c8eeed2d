"""Progress: one report for each item, after it is done."""

from folioreel.progress import Progress, track


def test_an_item_is_reported_when_it_is_done():
    told = []
    for item in track("abc", "spelling", told.append):
        assert told[-1].done == "abc".index(item)
    assert told == [Progress(stage="spelling", done=n, total=3) for n in range(4)]


def test_what_has_no_length_is_given_a_total():
    told = []
    assert list(track(iter("ab"), "spelling", told.append, total=2)) == ["a", "b"]
    assert [(report.done, report.total) for report in told] == [(0, 2), (1, 2), (2, 2)]
