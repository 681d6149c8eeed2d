"""A small novel and written adaptations of it, which several tests share."""

import hashlib

from folioreel.ingest.book import load_book

ROWS = ("It was red.\tparaphrase\t3,4", "Go on.\tscene\t5", "Good night.\tnew\t")


def write_novel(path):
    path.parent.mkdir(exist_ok=True)
    text = [f"The {k} carts went down to the river in the evening." for k in range(20)]
    path.write_text("\n\n".join(text) + "\n")
    return [sentence.text for sentence in load_book(path).sentences]


def write_adaptation(path, sentences, number=77, end="", rows=ROWS):
    path.parent.mkdir(exist_ok=True)
    sha256 = hashlib.sha256("\n".join(sentences[2:8]).encode()).hexdigest()
    head = (
        f"# gutenberg {number}; The Carts: A Tale; Doe, Jane; first sentence 2; "
        f"sha256 of the 6 sentences joined by newlines {sha256}; manner: terse{end}"
    )
    path.write_text("\n".join([head, *rows]) + "\n")
