"""Errors carry their place and survive a worker pool."""

import pickle

from folioreel.errors import InputError, UnknownFormatError


def test_the_place_stands_before_the_message():
    assert str(InputError("is empty", "a.txt", 3)) == "a.txt:3: is empty"
    assert str(InputError("is empty")) == "is empty"


def test_errors_pickle():
    error = pickle.loads(pickle.dumps(UnknownFormatError("is odd", "a.bin", 7)))
    assert (type(error), str(error), error.line) == (UnknownFormatError, "a.bin:7: is odd", 7)
