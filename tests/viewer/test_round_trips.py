"""What `view` writes to annotations.tsv and `import` reads is the same, however often."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.ingest.book import load_book
from folioreel.types import Alignment, Film, Link, Subtitle
from folioreel.viewer.judgement import ReaderJudgement
from folioreel.viewer.judgement_files import read_judgements
from folioreel.viewer.judgements import Judgements

FILES = ("annotations.tsv", "gold.tsv")

# Lines: 1 ends in the middle of the second sentence, and 2 in the middle of the fourth; line 3 has
# the end of that and a whole one.
BOOK = """The ferry crossed. Petra read the dial and
wrote it down. He looked at her. The band played in
the house. Somebody dropped a bolt.

Nobody spoke of it in the
morning. The bus was late.
"""


def make_pair(folder: Path, text: str, times_s: list[tuple[float, float]]) -> Alignment:
    """A book of this text, and a film with a line at each of these times."""
    (folder / "book.txt").write_text(text, encoding="utf-8")
    book = load_book(folder / "book.txt")
    lines = tuple(
        Subtitle(index=i, start_s=start_s, end_s=end_s, text=f"Line {i}.")
        for i, (start_s, end_s) in enumerate(times_s)
    )
    film = Film(title="Film", duration_s=1000.0, shots=(), subtitles=lines)
    links = tuple(Link(moment=i, sentence=0, score=0.5) for i in range(len(film.moments)))
    return Alignment(book=book, film=film, links=links)


def write(alignment: Alignment, made: list[ReaderJudgement], folder: Path) -> list[str]:
    """The files that follow from judgements, as text."""
    judgements = Judgements(alignment, folder)
    for judgement in made:
        judgements.add(judgement)
    judgements.write_pair()
    return [(folder / name).read_text("utf-8") for name in FILES]


@pytest.mark.parametrize(
    ("sentences", "lines"),
    [
        ((0, 0), "1\t1"),
        ((0, 1), "1\t2"),
        ((1, 1), "1\t2"),
        ((2, 2), "2\t2"),
        ((3, 3), "2\t3"),
        ((4, 4), "3\t3"),
        ((2, 5), "2\t6"),
        ((6, 6), "6\t6"),
    ],
)
def test_lines_do_not_widen(tmp_path, sentences, lines):
    alignment = make_pair(tmp_path, BOOK, [(1.0, 2.0), (3.0, 4.0)])
    assert [(s.line, s.line_end) for s in alignment.book.sentences] == [
        *((1, 1), (1, 2), (2, 2), (2, 3), (3, 3)),
        *((5, 6), (6, 6)),
    ]
    first, last = sentences
    made = {"moment": 0, "verdict": "match", "sentence": first, "sentence_to": last}
    judgement = ReaderJudgement.from_dict(made, alignment)
    written = write(alignment, [judgement], tmp_path / "once")
    assert f"\t{lines}\t" in written[0]
    found = read_judgements(tmp_path / "once" / FILES[0], alignment)
    assert write(alignment, found, tmp_path / "twice") == written


def test_a_line_without_a_whole_sentence_has_both_that_share_it(tmp_path):
    text = "The ferry crossed the\nriver. Petra read\nthe dial and wrote.\n"
    alignment = make_pair(tmp_path, text, [(1.0, 2.0)])
    path = tmp_path / "annotations.tsv"
    path.write_text("time_s\tline\n1.5\t2\n", encoding="utf-8")
    (found,) = read_judgements(path, alignment)
    assert (found.sentence, found.sentence_to) == (0, 1)


def test_lines_of_the_film_that_overlap_are_told_apart(tmp_path):
    """The middle of the second line is within the first one; the last two have the same times."""
    times_s = [(1.0, 4.0), (3.0, 4.5), (6.0, 7.0), (6.0, 7.0)]
    alignment = make_pair(tmp_path, BOOK, times_s)
    made = [
        ReaderJudgement(moment=moment, verdict="match", sentence=sentence)
        for moment, sentence in ((0, 0), (2, 3), (3, 5))
    ]
    write(alignment, made, tmp_path / "once")
    found = read_judgements(tmp_path / "once" / FILES[0], alignment)
    assert [list(judgement.moments) for judgement in found] == [[0], [2], [3]]


WORDS = st.lists(st.sampled_from(["ferry", "dial", "bolt", "river"]), min_size=1, max_size=12)
SENTENCES = WORDS.map(lambda words: [*["The", *words][:-1], words[-1] + "."])
PARAGRAPHS = st.lists(st.lists(SENTENCES, min_size=1, max_size=6), min_size=1, max_size=4)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Paragraphs whose lines end after any words, so that sentences share them."""
    paragraphs = []
    for sentences in draw(PARAGRAPHS):
        words = [word for sentence in sentences for word in sentence]
        ends = draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
        joined = "".join(w + ("\n" if e else " ") for w, e in zip(words, ends, strict=True))
        paragraphs.append(joined.strip())
    return "\n\n".join(paragraphs) + "\n"


@st.composite
def times(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Times of lines, in order; some overlap."""
    steps = draw(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 60)), min_size=1))
    start, found = 0, []
    for step, length in steps[:12]:
        start += step
        found.append((start / 7, (start + length) / 7))
    return found


@settings(max_examples=60, deadline=None)
@given(texts(), times(), st.data())
def test_export_import_export_is_the_identity(text, times_s, data):
    with TemporaryDirectory() as name:
        folder = Path(name)
        alignment = make_pair(folder, text, times_s)
        made, free, last = [], 0, len(alignment.book.sentences) - 1
        while free < len(times_s):
            moment = data.draw(st.integers(free, len(times_s) - 1))
            moment_to = data.draw(st.integers(moment, len(times_s) - 1))
            sentence = data.draw(st.integers(0, last))
            values = {"moment": moment, "moment_to": moment_to, "verdict": "match"}
            values |= {"sentence": sentence, "sentence_to": data.draw(st.integers(sentence, last))}
            values |= {"kind": data.draw(st.sampled_from(["dialogue", "visual", "audio"]))}
            made.append(ReaderJudgement.from_dict(values, alignment))
            free = moment_to + 1
        annotations, gold = write(alignment, made, folder / "once")
        found = read_judgements(folder / "once" / FILES[0], alignment)
        again = write(alignment, found, folder / "twice")
        assert again[0] == annotations
        if all(end <= start for (_, end), (start, _) in pairwise(times_s)):
            assert again[1] == gold
