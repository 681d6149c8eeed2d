"""What vocabulary expansion and back-off do for words an encoder does not know, on SICK.

Run: python benchmarks/unknown_words.py SICK > table.md

Prints the table of docs/explanation/sentences.md as Markdown: the share of unknown tokens, and
Pearson's r on the test and trial pairs, for each shipped encoder and its variants.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from folioreel.evaluate.sentences import judge_encoder, load_sick
from folioreel.models.vocabulary import SPECIAL_TOKENS, UNKNOWN, Vocabulary
from folioreel.models.word_encoder import WordEncoder


def variants() -> Iterator[tuple[str, WordEncoder]]:
    """The shipped encoders, with and without what helps against unknown words."""
    expanded = WordEncoder.load("skip-thought")
    known = expanded.training["expansion"]["known"]
    yield f"`skip-thought` with its {known:,} words", without_expansion(expanded, known)
    yield f"expanded by {expanded.training['expansion']['added']:,}", expanded
    yield "expanded, with back-off", replace(expanded, back_off=True)
    student = WordEncoder.load("student")
    yield "`student`", replace(student, back_off=False)
    yield "with back-off", student


def without_expansion(encoder: WordEncoder, known: int) -> WordEncoder:
    """The encoder with the words it was trained on: expansion appends its words at the end."""
    size = len(SPECIAL_TOKENS) + known
    words, counts = encoder.vocabulary.words[:size], encoder.vocabulary.counts[:size]
    parts = tuple(
        replace(part, words=part.words[:size], scales=part.scales[:size]) for part in encoder.parts
    )
    return replace(encoder, vocabulary=Vocabulary(words=words, counts=counts), parts=parts)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sick", type=Path, help="folder of the SICK dataset")
    data = load_sick(parser.parse_args().sick)
    print("| | unknown tokens | Pearson, test | Pearson, trial |")
    print("|---|---|---|---|")
    for name, encoder in variants():
        ids = [number for text in data.sentences() for number in encoder.word_ids(text)]
        unknown = 100 * sum(number == UNKNOWN for number in ids) / len(ids)
        found = judge_encoder(encoder, data)
        cells = f"{unknown:.1f} % | {found['pearson']:.3f} | {found['trial_pearson']:.3f}"
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
