"""Names in descriptions are told by how they are written."""

import pytest

from folioreel.ingest.descriptions import find_names, replace_names

TEXTS = (
    "Harry opens the door of the Burrow.",
    "Then Mr. Harry Potter's owl flies to Ron and Hermione, who smile.",
    "On Monday the old man walks, and Will sits with his will.",
    "POTTER SITS.",
    "Slowly Potter sits. Ron-Weasley waves at the French girl.",
)


def test_what_a_name_is():
    names = find_names(TEXTS)
    assert names >= {"harry", "potter", "ron", "hermione"}
    # Written small elsewhere, at the start alone, or with a capital that names no one.
    assert not names & {"will", "slowly", "then", "monday", "french", "mr", "on", "owl"}
    assert find_names([]) == find_names(["all small", "ALL LARGE HERE"]) == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Harry opens the door.", "someone opens the door."),
        ("Mr. Harry Potter's owl sees Ron.", "someone's owl sees someone."),
        ("“Ron!” Harry cries.", "“someone!” someone cries."),
        ("Ron, Harry and Hermione wait.", "someone, someone and someone wait."),
        ("the potter makes a pot", "the potter makes a pot"),
        ("Mr. Speaker nods to Potter", "Mr. Speaker nods to someone"),
        ("", ""),
    ],
)
def test_someone_takes_their_place(text, expected):
    assert replace_names(text, find_names(TEXTS)) == expected


def test_nothing_changes_without_names():
    for text in TEXTS:
        assert replace_names(text, frozenset()) == text
