"""Words that a teacher is given: written as readers write them."""

import importlib.util
from pathlib import Path

import pytest

from folioreel.models.vocabulary import training_tokens

PATH = Path(__file__).parents[2] / "training" / "teacher.py"
SPEC = importlib.util.spec_from_file_location("training_teacher", PATH)
teacher = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(teacher)
join_tokens = teacher.join_tokens


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("The girl's hand.", "the girl's hand ."),
        ("I didn't, and he can't.", "i didn't , and he can't ."),
        ("They'll say I'm gone; you've won.", "they'll say i'm gone ; you've won ."),
        ("He'd gone -- at 10:30 p.m.", "he'd gone -- at 10:30 p.m."),
        ("", ""),
        ("Kilos", "kilos"),
    ],
)
def test_endings_stand_at_their_word(text, joined):
    found = join_tokens(training_tokens(text))
    assert found == joined
    assert training_tokens(found) == training_tokens(text), "nothing is lost on the way"


def test_an_ending_without_a_word():
    assert join_tokens(["'s", "gone"]) == "'s gone"
    assert join_tokens(["n't"]) == "n't"


def test_quotes_are_no_endings():
    assert join_tokens(["he", "said", "'", "yes", "'"]) == "he said ' yes '"
