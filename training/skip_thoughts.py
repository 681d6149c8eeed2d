"""Train a skip-thought encoder on a bare GPU machine: NumPy and PyTorch are all it needs.

    PYTHONPATH=src python training/skip_thoughts.py PACK OUT --seconds 400 [--bidirectional]

PACK is a folder that `folioreel train sentences` packs (shards may be xz-compressed for the way).
Writes the encoder's half-precision weights and what was measured to OUT, in files below 16 MiB.
"""

import argparse
import io
import json
import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from folioreel.models.vocabulary import UNKNOWN
from folioreel.progress import Progress
from folioreel.train.skip_thought import (
    PackedBooks,
    SkipThoughtConfig,
    SkipThoughtTraining,
    SkipThoughtTrainingConfig,
)


def main() -> None:
    """Train as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--name", default="uni")
    parser.add_argument("--units", type=int, default=1024)
    parser.add_argument("--word-units", type=int, default=320)
    parser.add_argument("--vocabulary", type=int, default=20_000)
    parser.add_argument("--bidirectional", action="store_true")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--held-out", type=int, default=10, help="books at the end")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    words = arguments.vocabulary + 3
    books = load_books(arguments.pack, words, device)
    config = SkipThoughtTrainingConfig(
        model=SkipThoughtConfig(
            vocabulary=words,
            word_units=arguments.word_units,
            units=arguments.units,
            bidirectional=arguments.bidirectional,
        ),
        batch=arguments.batch,
        learning_rate=arguments.rate,
        held_out_books=arguments.held_out,
        seed=1,
    )
    config = replace(config, steps=steps_in(config, books, arguments.seconds))
    training = SkipThoughtTraining(config, books, device)

    def show(step: Progress) -> None:
        if step.done % training.validate_every == 0:
            print(training.log[-1], flush=True)

    report = training.fit(progress=show)
    print({key: value for key, value in report.items() if key != "log"}, flush=True)
    save(training, report, arguments.out, arguments.name)


def steps_in(config: SkipThoughtTrainingConfig, books: PackedBooks, seconds: float) -> int:
    """How many steps fit into a time, which the learning rate schedule needs to know in advance."""
    SkipThoughtTraining(replace(config, steps=60), books, books.device).fit()  # warm up the GPU
    report = SkipThoughtTraining(replace(config, steps=150), books, books.device).fit()
    return max(1, int(150 * (seconds - 2 * report["seconds"]) / report["seconds"]))


def load_books(pack: Path, words: int, device: torch.device) -> PackedBooks:
    """All shards of a pack as one; words beyond the vocabulary become the unknown word."""
    tokens, lengths, books = [], [], []
    count = 0
    for path in sorted(pack.glob("shard-*.npz*")):
        data = path.read_bytes()
        if path.suffix == ".xz":
            data = lzma.decompress(data)
        shard = np.load(io.BytesIO(data))
        tokens.append(np.where(shard["tokens"] < words, shard["tokens"], UNKNOWN))
        lengths.append(shard["lengths"].astype(np.int64))
        sizes = np.diff(shard["books"])
        books.append(count + np.repeat(np.arange(len(sizes)), sizes))
        count += len(sizes)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    ids = np.concatenate(tokens).astype(np.uint16)
    return PackedBooks(ids, offsets, np.concatenate(books), device)


def save(training: SkipThoughtTraining, report: dict, out: Path, name: str) -> None:
    """The encoder's weights, halved, and the report."""
    network = training.network
    weights = {"words": network.words.weight, **dict(network.encoder.named_parameters())}
    halves = {key: value.detach().half().cpu().numpy() for key, value in weights.items()}
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / f"{name}-words.npy", halves.pop("words"))
    np.savez(out / f"{name}-gru.npz", **halves)
    (out / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
