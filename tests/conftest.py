"""A small book and a small film that several tests share, and where the shared data lies."""

import json
import os
import shutil
import signal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from folioreel.types import Book, Chapter, Film, Paragraph, Sentence, Shot, Subtitle

settings.register_profile("folioreel", deadline=None)  # a busy machine is no error
settings.load_profile("folioreel")
# Where the tests run in the background, Ctrl-C may be switched off; some of them press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

SENTENCES = (
    "The ferry crossed the river at dawn.",
    "Petra read the dial and wrote the figure down.",
    "“Sixty-one kilos,” she said to the old ferryman.",
    "He looked at the water and said nothing at all.",
    "In the evening the band played in the malt-house.",
    "Somebody dropped a heavy iron bolt on the stones.",
    "Nobody spoke of it in the morning.",
    "The inspector came on the noon bus with a letter.",
    "“Who opened the hoarding?” he asked.",
    "Behind the planks there was only trampled grass.",
    "The pineapple stood on his desk and held the door.",
    "She stepped on the plate and the hand went round to sixty-one.",
)
SPOKEN = (
    (1.0, 2.0, "Sixty-one kilos."),
    (2.5, 4.0, "It's the damp."),
    (9.0, 10.5, "Did you hear the band in the malt-house?"),
    (15.0, 16.0, "Who opened the hoarding?"),
    (18.0, 19.0, "Only trampled grass behind the planks."),
)


def make_book(sentences=SENTENCES, per_paragraph: int = 2) -> Book:
    starts = range(0, len(sentences), per_paragraph)
    paragraphs = tuple(
        Paragraph(index=k, sentences=range(first, min(first + per_paragraph, len(sentences))))
        for k, first in enumerate(starts)
    )
    half = (len(paragraphs) + 1) // 2
    chapters = [Chapter(index=0, title="One", paragraphs=range(half))]
    if half < len(paragraphs):
        chapters.append(Chapter(index=1, title="Two", paragraphs=range(half, len(paragraphs))))
    return Book(
        title="Sixty-One",
        sentences=tuple(
            Sentence(index=k, text=text, line=2 * k + 1, line_end=2 * k + 1)
            for k, text in enumerate(sentences)
        ),
        paragraphs=paragraphs,
        chapters=tuple(chapters),
    )


def make_film(spoken=SPOKEN, duration_s: float = 20.0, shots: bool = True) -> Film:
    cuts = (0.0, 5.0, 8.0, 14.0, duration_s)
    return Film(
        title="The Ferry",
        duration_s=duration_s,
        subtitles=tuple(
            Subtitle(index=k, start_s=a, end_s=b, text=text)
            for k, (a, b, text) in enumerate(spoken)
        ),
        shots=tuple(Shot(index=k, start_s=a, end_s=b) for k, (a, b) in enumerate(pairwise(cuts)))
        if shots
        else (),
    )


@pytest.fixture
def book() -> Book:
    return make_book()


@pytest.fixture
def film() -> Film:
    return make_film()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20150612)


@pytest.fixture
def shared() -> Path:
    """The folder of real data that developers have beside the checkout."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs the shared data beside the checkout")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    """Tests neither read nor fill the user's cache."""
    os.environ["FOLIOREEL_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def aligned_once(tmp_path_factory):
    from made_pages import make_alignment

    return make_alignment(tmp_path_factory.mktemp("aligned") / "library").parent


@pytest.fixture
def result(aligned_once, tmp_path):
    """The folder of an aligned film and book, which lie beside it: a fresh copy."""
    folder = shutil.copytree(aligned_once, tmp_path / "library") / "result"
    path = folder / "alignment.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    for part in ("book", "film"):
        document[part]["path"] = Path(document[part]["path"]).name
    path.write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.fixture
def browser(result):
    """Sends requests to a server over `result`."""
    from made_pages import serving

    with serving(result) as found:
        yield found
