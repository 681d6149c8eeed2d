"""Progress: one report for each item, after it is done."""

from folioreel.progress import Progress, track


def test_an_item_is_reported_when_it_is_done():
    told = []
    for item in track("abc", "spelling", told.append):
        assert len(told) == "abc".index(item)
    assert told == [Progress(stage="spelling", done=n, total=3) for n in (1, 2, 3)]
    assert list(track([], "spelling", told.append)) == []
