"""Make the encoders that ship with the package out of what the training scripts left.

    PYTHONPATH=src python training/ship.py PACK TEACHER TRAINED OUT

PACK and TEACHER as for student.py; TRAINED holds the files of skip_thoughts.py and student.py.
The skip-thought encoder's vocabulary is expanded with the words that only the student knows.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary
from folioreel.models.vocabulary_expansion import expand_vocabulary
from folioreel.models.word_encoder import WordEncoder
from folioreel.train.onnx import encoder_part, skip_thought_graph, student_graph
from folioreel.train.skip_thought import SkipThought, SkipThoughtConfig
from folioreel.train.student import Student, StudentConfig
from student import student_words

FREQUENT = 30_000
"""Words of the corpus that the student knows; beyond them, those of its teacher."""
CARDS = Path(__file__).parent / "cards"


def main() -> None:
    """Write both model folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("pack", "teacher", "trained", "out"):
        parser.add_argument(name, type=Path)
    arguments = parser.parse_args()
    corpus = Vocabulary.load(arguments.pack / "vocabulary.txt")
    pieces = Tokenizer.from_file(str(arguments.teacher / "tokenizer.json")).get_vocab()
    student = read_student(arguments.trained, student_words(corpus, FREQUENT, pieces))
    student.save(arguments.out / "student", replace=True)
    skip_thought = read_skip_thought(arguments.trained, corpus)
    expansion = expand_vocabulary(skip_thought, word_vectors(student, skip_thought.vocabulary))
    print(f"expansion: {expansion.known:,} known, {expansion.added:,} added,")
    print(f"mean cosine {expansion.cosine:.3f} on words held out")
    expansion.model.save(arguments.out / "skip-thought", replace=True)


def word_vectors(student: WordEncoder, known: Vocabulary) -> list[tuple[str, np.ndarray]]:
    """The student's vectors of words that both know, and of those that the corpus hardly has."""
    (part,) = student.parts
    vectors = part.words * part.scales[:, None]
    words = student.vocabulary.words
    return [
        (words[k], vectors[k])
        for k in range(len(SPECIAL_TOKENS), len(words))
        if words[k] in known.ids or k >= len(SPECIAL_TOKENS) + FREQUENT
    ]


def read_student(folder: Path, vocabulary: Vocabulary) -> WordEncoder:
    """The student as it ships."""
    words = np.concatenate([np.load(folder / f"student4-words-{k}.npy") for k in (0, 1)])
    model = Student(StudentConfig(vocabulary=len(vocabulary), layers=4, inner_units=1024))
    state = {
        k: torch.from_numpy(v).float() for k, v in np.load(folder / "student4-layers.npz").items()
    }
    report = json.loads((folder / "student.json").read_text(encoding="utf-8"))["student4"]
    model.load_state_dict(state | {"words.weight": torch.from_numpy(words).float()})
    return WordEncoder(
        name="student",
        vocabulary=vocabulary,
        parts=(encoder_part("student", student_graph(model), model.words.weight),),
        longest=model.config.longest,
        normalize=False,
        back_off=True,  # on SICK it gains 0.003 here, and loses as much with skip-thoughts
        training=report,
        card=(CARDS / "student.md").read_text(encoding="utf-8"),
    )


def read_skip_thought(folder: Path, corpus: Vocabulary) -> WordEncoder:
    """Both directions of reading as one encoder, with the words it was trained on."""
    parts = []
    reports = {}
    for name in ("uni", "bi"):
        words = np.load(folder / f"{name}-words.npy")
        config = SkipThoughtConfig(
            vocabulary=len(words), word_units=words.shape[1], units=1024, bidirectional=name == "bi"
        )
        model = SkipThought(config)
        weights = np.load(folder / f"{name}-gru.npz")
        for key, parameter in model.encoder.named_parameters():
            parameter.data = torch.from_numpy(weights[key]).float()
        parts.append(
            encoder_part(f"{name}-skip", skip_thought_graph(model), torch.from_numpy(words))
        )
        reports[name] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    count = len(words)
    known = Vocabulary(words=corpus.words[:count], counts=corpus.counts[:count])
    return WordEncoder(
        name="skip-thought",
        vocabulary=known,
        parts=tuple(parts),
        longest=40,
        normalize=True,
        training=reports,
        card=(CARDS / "skip-thought.md").read_text(encoding="utf-8"),
    )


if __name__ == "__main__":
    main()
