"""Train the student of a sentence encoder on a bare GPU machine with `transformers`.

    PYTHONPATH=src python training/student.py PACK TEACHER OUT --seconds 250

PACK is a folder of packed sentences with a large vocabulary (60,000 words), TEACHER the folder of
a Sentence-Transformers model. The student reads the corpus's most frequent words and the whole
words of the teacher's own vocabulary, which holds modern words that old novels lack. Those are
learned from sentences of the corpus in which words were exchanged at random: the teacher is asked
what they mean then. Writes half-precision weights to OUT, in files below 16 MiB.
"""

import argparse
import json
import re
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from teacher import Teacher, join_tokens

from folioreel.models.vocabulary import SPECIAL_TOKENS, UNKNOWN, Vocabulary
from folioreel.train.student import (
    Student,
    StudentConfig,
    StudentTraining,
    StudentTrainingConfig,
    TaughtSentences,
)
from skip_thoughts import load_books

SEED = 5


def main() -> None:
    """Encode with the teacher, train the student, save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--frequent", type=int, default=30_000, help="words of the corpus")
    parser.add_argument("--sentences", type=int, default=2_200_000)
    parser.add_argument("--exchanged", type=int, default=900_000)
    parser.add_argument("--seconds", type=float, nargs="+", default=[250], help="for each")
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--word-units", type=int, default=256)
    parser.add_argument("--layers", type=int, nargs="+", default=[2], help="a student for each")
    parser.add_argument("--inner-units", type=int, default=512)
    parser.add_argument("--held-out", type=int, default=8192)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    began = time.perf_counter()

    def tell(*words: object) -> None:
        print(f"{time.perf_counter() - began:6.1f} s", *words, flush=True)

    corpus = Vocabulary.load(arguments.pack / "vocabulary.txt")
    teacher = Teacher(arguments.teacher, device)
    vocabulary = student_words(corpus, arguments.frequent, teacher.tokenizer.get_vocab())
    tell(f"{len(vocabulary.words):,} words")
    sentences = choose_sentences(arguments.pack, corpus, arguments.sentences)
    sentences += exchange_words(sentences[: arguments.exchanged], vocabulary)
    sentences += [[word] for word in vocabulary.words[len(SPECIAL_TOKENS) :]]
    # What is held out is the end, which must be like the rest; the single words come first.
    sentences = sentences[::-1]
    singles = len(vocabulary.words) - len(SPECIAL_TOKENS)
    order = np.random.default_rng(SEED).permutation(len(sentences) - singles) + singles
    sentences = sentences[:singles] + [sentences[k] for k in order]
    tell(f"{len(sentences):,} sentences")
    vectors = teacher.vectors([join_tokens(tokens) for tokens in sentences])
    tell("the teacher's vectors are there")
    del teacher
    ids = vocabulary.ids
    numbers = [[ids.get(token, UNKNOWN) for token in tokens] for tokens in sentences]
    taught = TaughtSentences(
        ids=np.array([number for row in numbers for number in row], dtype=np.uint16),
        offsets=np.concatenate([[0], np.cumsum([len(row) for row in numbers])]),
        vectors=vectors,
    )
    tell("training")
    start = first_words(vectors[:singles][::-1], arguments.word_units)
    reports: dict[str, dict] = {}
    for layers, seconds in zip(arguments.layers, arguments.seconds, strict=True):
        config = StudentTrainingConfig(
            model=StudentConfig(
                vocabulary=len(vocabulary),
                word_units=arguments.word_units,
                layers=layers,
                inner_units=arguments.inner_units,
                units=vectors.shape[1],
            ),
            batch=arguments.batch,
            steps=10**6,
            held_out=arguments.held_out,
            seed=SEED,
        )
        training = StudentTraining(config, taught, device, words=start)
        report = training.fit(seconds=seconds)
        report["held_out_cosine"] = report["log"][-1]["held_out_cosine"]
        for entry in report["log"][:: max(1, len(report["log"]) // 8)]:
            tell(entry)
        tell({key: value for key, value in report.items() if key != "log"})
        save(training.network, arguments.out, f"student{layers}")
        reports[f"student{layers}"] = report | {"sentences": len(sentences)}
    vocabulary.save(arguments.out / "student-vocabulary.txt")
    (arguments.out / "student.json").write_text(json.dumps(reports, indent=1) + "\n")


def student_words(corpus: Vocabulary, frequent: int, pieces: dict[str, int]) -> Vocabulary:
    """The corpus's frequent words, then the teacher's own whole words."""
    count = len(SPECIAL_TOKENS) + frequent
    words, counts = list(corpus.words[:count]), list(corpus.counts[:count])
    known = set(words)
    rest = dict(zip(corpus.words[count:], corpus.counts[count:], strict=True))
    for piece in sorted(pieces, key=lambda piece: pieces[piece]):
        if re.fullmatch("[a-z]{3,}", piece) and piece not in known:
            words.append(piece)
            counts.append(rest.get(piece, 0))
    return Vocabulary(words=tuple(words), counts=tuple(counts))


def choose_sentences(pack: Path, corpus: Vocabulary, count: int) -> list[list[str]]:
    """Sentences of 2 to 45 words, all known, none twice, in a random order."""
    books = load_books(pack, len(corpus), torch.device("cpu"))
    unknown = np.concatenate([[0], np.cumsum(books.tokens == UNKNOWN)])[books.offsets]
    good = (np.diff(unknown) == 0) & (books.lengths >= 2) & (books.lengths <= 45)
    order = np.random.default_rng(SEED).permutation(np.flatnonzero(good))
    chosen: list[list[str]] = []
    seen: set[bytes] = set()
    words = corpus.words
    for sentence in order:
        if len(chosen) == count:
            break
        ids = books.tokens[books.offsets[sentence] : books.offsets[sentence + 1]]
        if (key := ids.tobytes()) not in seen:
            seen.add(key)
            chosen.append([words[number] for number in ids.tolist()])
    return chosen


def exchange_words(sentences: list[list[str]], vocabulary: Vocabulary) -> list[list[str]]:
    """Short sentences with one to three words put in place of others, rare ones above all."""
    rng = np.random.default_rng(SEED + 1)
    common = set(vocabulary.words[:150])
    exchanged = []
    for sentence in sentences:
        places = [k for k, word in enumerate(sentence) if word.isalpha() and word not in common]
        if not places or len(sentence) > 24:
            continue
        changed = list(sentence)
        for place in rng.choice(places, min(len(places), rng.integers(1, 4)), replace=False):
            changed[place] = vocabulary.words[int(rng.integers(1000, len(vocabulary)))]
        exchanged.append(changed)
    return exchanged


def first_words(vectors: NDArray[np.float16], units: int) -> NDArray[np.float32]:
    """The teacher's vector of each single word, reduced by principal components."""
    values = vectors.astype(np.float32)
    values -= values.mean(axis=0)
    _, directions = np.linalg.eigh(values.T @ values)
    reduced = values @ directions[:, ::-1][:, :units]
    reduced *= 0.5 / reduced.std()
    special = np.zeros((len(SPECIAL_TOKENS), reduced.shape[1]), dtype=np.float32)
    return np.concatenate([special, reduced])


def save(student: Student, out: Path, name: str) -> None:
    """The weights of a student."""
    out.mkdir(parents=True, exist_ok=True)
    state = {key: value.half().cpu().numpy() for key, value in student.state_dict().items()}
    for part, rows in enumerate(np.array_split(state.pop("words.weight"), 2)):
        np.save(out / f"{name}-words-{part}.npy", rows)
    np.savez(out / f"{name}-layers.npz", **state)


if __name__ == "__main__":
    main()
