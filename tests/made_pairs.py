"""Small judged pairs, which several tests share: a book, a film that quotes it, the judgements."""

from pathlib import Path

import numpy as np

_PLACES = "harbour cellar orchard chapel attic kitchen market mill quarry tower".split()
_THINGS = "lantern kettle violin ladder basket mirror saddle anchor candle barrel".split()
_DEEDS = "carried painted mended buried borrowed stole polished dropped hid weighed".split()
_NAMES = "Martha Edgar Lucille Osbert Wilma Horace Agnes Bertram".split()
WORDS = tuple(word.lower() for word in (*_PLACES, *_THINGS, *_DEEDS, *_NAMES))
SENTENCES = 60
LINES = 12
"""Nine lines that are in the book, one of its scene alone, two that are not in it."""


def write_pair(folder: Path, seed: int) -> Path:
    """A book of sixty paragraphs, a sentence each, on lines 1, 3, 5 …; and twelve judged lines."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    sentences = [_sentence(rng) for _ in range(SENTENCES)]
    (folder / "book.txt").write_text("\n\n".join(sentences) + "\n")
    places = np.sort(rng.choice(SENTENCES, LINES, replace=False))
    spoken, gold = [], []
    for line, place in enumerate(places):
        verdict = {3: "none", 7: "scene", 9: "none"}.get(line, "match")
        number = 2 * place + 1
        words = sentences[place].rstrip(".").split()
        if verdict == "match":
            text = " ".join(words[1:]).capitalize() + "."  # without the name of who did it
        else:
            text = ("Well, I never did hear that.", "Good night to you all.")[line % 2]
        spoken.append(text)
        where = ("-", "-") if verdict == "none" else (number, number)
        gold.append(f"{line}\t{verdict}\tverbatim\t{where[0]}\t{where[1]}\t-\t")
    head = "id\tverdict\thow\tline_from\tline_to\talternates\tnote"
    (folder / "gold.tsv").write_text("\n".join([head, *gold]) + "\n")
    rows = [f"{k}\t{10 * k}.0\t{10 * k + 4}.0\t{text}" for k, text in enumerate(spoken)]
    table = "\n".join(["id\tstart_s\tend_s\ttext", *rows]) + "\n"
    (folder / "film_sentences.tsv").write_text(table)
    cues = [
        f"{k + 1}\n{_stamp(10 * k)} --> {_stamp(10 * k + 4)}\n{text}\n"
        for k, text in enumerate(spoken)
    ]
    (folder / "film.srt").write_text("\n".join(cues))
    return folder


def write_dataset(folder: Path) -> Path:
    """Two pairs."""
    write_pair(folder / "ferry", seed=1)
    write_pair(folder / "garden", seed=2)
    return folder


def _sentence(rng: np.random.Generator) -> str:
    name, deed, thing, place, other = (
        rng.choice(words) for words in (_NAMES, _DEEDS, _THINGS, _PLACES, _PLACES)
    )
    return f"{name} {deed} the {thing} from the {place} behind the {other}."


def _stamp(second: int) -> str:
    return f"00:{second // 60:02}:{second % 60:02},000"
