"""Train the encoder `paraphrase` on a bare GPU machine with `transformers`, in stages.

    PYTHONPATH=src python training/paraphrase.py teach DATA WORK --seconds 300
    PYTHONPATH=src python training/paraphrase.py prepare DATA WORK
    PYTHONPATH=src python training/paraphrase.py vectors DATA WORK
    PYTHONPATH=src python training/paraphrase.py distil DATA WORK --seconds 500 --out OUT

DATA is what pack_paraphrase.py wrote; WORK holds `teacher`, the folder of all-mpnet-base-v2, and
`start`, that of all-MiniLM-L6-v2. `teach` fine-tunes the first on the lessons and leaves it in
WORK. `prepare` splits all texts into the pieces of the second; it needs no GPU, and may run at the
same time. `vectors` computes the teacher's vectors for sentences of novels and of the lessons.
`distil` trains the second to reproduce them, and on the lessons themselves; in its last part it
computes in bytes, as users will. Writes half-precision weights to OUT, in files below 16 MiB.
"""

from __future__ import annotations

import argparse
import json
import lzma
import pickle
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from folioreel.train.paraphrase import (
    Lesson,
    Marks,
    ParaphraseConfig,
    ParaphraseTraining,
    Pieces,
)
from folioreel.train.transformer import Transformer, TransformerConfig

SOURCES = (("written", 0.45), ("films", 0.3), ("translations", 0.2), ("verses", 0.05))
AGAIN = 0.4  # the share of the time after which the teacher looks again for what it confuses
BYTES_FROM = 0.7  # the share of the time after which the student computes in bytes
UNITS = 384  # numbers in a vector of the student
PART = 14 * 2**20  # bytes of a file that is sent back
BEGAN = time.perf_counter()


def tell(*words: object) -> None:
    """Print with the seconds since the start."""
    print(f"{time.perf_counter() - BEGAN:6.1f} s", *words, flush=True)


def read_json(path: Path) -> Any:
    """A packed JSON file."""
    return json.loads(lzma.decompress(path.read_bytes()))


class MeanOfPieces(nn.Module):
    """A transformer of the package `transformers`, with the mean over its pieces."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        from transformers import AutoModel

        self.model: Any = AutoModel.from_pretrained(str(folder), add_pooling_layer=False)

    def forward(self, ids: Tensor, real: Tensor) -> Tensor:
        """The unit vectors of texts: (B, T) → (B, units)."""
        states = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state
        weights = real[:, :, None].float()
        mean = (states.float() * weights).sum(dim=1) / weights.sum(dim=1)
        return functional.normalize(mean, dim=1)


class Words:
    """A tokenizer, and lessons in its pieces."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        first, last = self.tokenizer.encode("").ids
        padding = next(
            number
            for number in map(self.tokenizer.token_to_id, ("[PAD]", "<pad>"))
            if number is not None
        )
        self.marks = Marks(first, last, padding)

    def pieces(self, texts: list[str]) -> Pieces:
        """The pieces of each text."""
        found = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return Pieces.join([encoding.ids for encoding in found])

    def lessons(self, path: Path) -> list[Lesson]:
        """The lessons of a packed file."""
        return [self._lesson(record) for record in read_json(path)]

    def _lesson(self, record: dict[str, Any]) -> Lesson:
        targets = record["targets"]  # for each line [[sentence, share], …]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in targets])]).astype(np.int64)
        flat = np.array([pair for row in targets for pair in row], dtype=np.float64).reshape(-1, 2)
        return Lesson(
            name=record["name"],
            source=record["source"],
            lines=self.pieces(record["lines"]),
            sentences=self.pieces(record["sentences"]),
            starts=starts,
            places=flat[:, 0].astype(np.int32),
            shares=flat[:, 1].astype(np.float32),
            new=np.array(record["new"], dtype=bool),
        )


class Teaching(ParaphraseTraining):
    """The lessons alone; once it has learned something, written lines get harder negatives."""

    harder = False

    def batches(self) -> Iterator[list[Any]]:
        """Runs of lines; after a while with the sentences that are confused with them by then."""
        for batch in super().batches():
            if self.time_used > AGAIN and not self.harder:
                self.harder = True
                # Not for the others: what the aligner missed would pass for a confusion.
                self.find_confused(sources=("written",))
                tell(f"step {self.step}: {self.validate()}; confused sentences are found again")
            yield batch


class Distillation(ParaphraseTraining):
    """The vectors of a teacher for many sentences, and every few steps the lessons."""

    rounding = False

    def __init__(
        self,
        *arguments: Any,
        texts: Pieces,
        vectors: Tensor,
        batch: int,
        every: int,
        **more: Any,
    ) -> None:
        super().__init__(*arguments, **more)
        self.texts, self.vectors, self.every = texts, vectors, every
        inside = self.config.longest - 2
        lengths = np.minimum(np.diff(texts.starts), inside)
        order = np.lexsort((np.random.default_rng(5).random(len(lengths)), lengths))
        rows = order[: len(order) // batch * batch].reshape(-1, batch)
        self._widths = [int(lengths[row].max()) for row in rows]
        self._rows = torch.from_numpy(rows).to(self.device)
        self._ids = torch.from_numpy(texts.ids).to(self.device)
        self._starts = torch.from_numpy(texts.starts[:-1]).to(self.device)
        self._lengths = torch.from_numpy(lengths).to(self.device)

    def batches(self) -> Iterator[list[Any]]:
        """Groups of the lessons every few steps, nothing in between."""
        lessons = super().batches()
        while True:
            if self.time_used > BYTES_FROM and not self.rounding:
                self.network.encoder.round_to_bytes()
                self.rounding = True
                tell(f"step {self.step}: bytes from here")
            yield next(lessons) if self.step % self.every == 0 else []

    def loss(self, batch: list[Any]) -> Tensor:
        """The loss of the lessons, or the error of vectors and of their similarities."""
        if batch:
            return super().loss(batch)
        number = int(np.random.default_rng((9, self.step)).integers(len(self._rows)))
        rows = self._rows[number]
        ids = self._gather(rows, self._widths[number])
        with self.mixed_precision():
            found = self.network.encoder(ids, ids != self.marks.padding).float()
        expected = self.vectors[rows].float()
        vectors = 1 - (found * expected).sum(dim=1).mean()
        half = len(found) // 2
        ours, theirs = found[:half] @ found[half:].T, expected[:half] @ expected[half:].T
        return 5 * vectors + 25 * functional.mse_loss(ours, theirs)

    def _gather(self, rows: Tensor, width: int) -> Tensor:
        """Texts with their marks, padded: (B, width + 2)."""
        places = torch.arange(width + 2, device=self.device) - 1
        lengths = self._lengths[rows][:, None]
        index = (self._starts[rows][:, None] + places).clamp(0, len(self._ids) - 1)
        ids = self._ids[index].long().masked_fill(places > lengths, self.marks.padding)
        return ids.masked_fill(places == lengths, self.marks.last).masked_fill(
            places == -1, self.marks.first
        )

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Recall, and the mean cosine with the teacher on a few thousand taught sentences."""
        cosines = []
        for number in range(0, len(self._rows), max(1, len(self._rows) // 16)):
            ids = self._gather(self._rows[number], self._widths[number])
            found = self.network.encoder(ids, ids != self.marks.padding).float()
            cosines.append((found * self.vectors[self._rows[number]].float()).sum(dim=1).mean())
        metrics = {**super().validate(), "cosine": float(torch.stack(cosines).mean())}
        tell(self.step, {key: round(value, 4) for key, value in metrics.items()})
        return metrics


def teach(arguments: argparse.Namespace, device: torch.device) -> None:
    """Fine-tune the teacher."""
    folder = arguments.work / "teacher"
    words, encoder = Words(folder), MeanOfPieces(folder).to(device)
    lessons, held_out = read_lessons(words, arguments.data)
    config = ParaphraseConfig(
        steps=10**6 if arguments.steps is None else arguments.steps,
        sources=SOURCES,
        learning_rate=arguments.rate or 2e-5,
        groups=arguments.groups,
    )
    training = Teaching(config, encoder, lessons, words.marks, held_out)
    tell("before:", training.validate())
    training.find_confused()
    tell("confused sentences are found")
    report = training.fit(seconds=arguments.seconds)
    np.savez(arguments.work / "confused.npz", *training.confused)
    for row in report.pop("log"):
        tell(row)
    tell("after:", training.validate(), "nowhere", training.network.nowhere.tolist())
    encoder.model.save_pretrained(str(arguments.work / "taught"))
    Tokenizer.from_file(str(folder / "tokenizer.json")).save(
        str(arguments.work / "taught" / "tokenizer.json")
    )
    tell(json.dumps({**report, "config": asdict(config)}))


def prepare(arguments: argparse.Namespace, device: torch.device) -> None:
    """The student's own pieces of all texts, while another process teaches the teacher."""
    words, texts = Words(arguments.work / "start"), all_texts(arguments)
    pieces = words.pieces(texts)
    np.savez(arguments.work / "pieces.npz", ids=pieces.ids, starts=pieces.starts)
    lessons = read_lessons(words, arguments.data)
    (arguments.work / "prepared.pickle").write_bytes(pickle.dumps((words.marks, *lessons)))
    tell("prepared")


def all_texts(arguments: argparse.Namespace) -> list[str]:
    """Sentences of novels, and all texts of the lessons; none twice."""
    packed = (arguments.data / "sentences.txt.xz").read_bytes()
    texts = lzma.decompress(packed).decode("utf-8").split("\n")
    for record in read_json(arguments.data / "lessons.json.xz"):
        texts += record["lines"] + record["sentences"]
    return [text for text in dict.fromkeys(texts) if text.strip()]


def vectors(arguments: argparse.Namespace, device: torch.device) -> None:
    """The vectors of the teacher, with as many numbers as the student's have."""
    taught = arguments.work / "taught"
    words, texts = Words(taught), all_texts(arguments)
    tell(f"{len(texts):,} sentences")
    found = teacher_vectors(MeanOfPieces(taught).to(device), words, texts)
    torch.save(reduce(found, UNITS), arguments.work / "vectors.pt")
    tell("the teacher's vectors are there")


def distil(arguments: argparse.Namespace, device: torch.device) -> None:
    """Train the student."""
    start = arguments.work / "start"
    found = torch.load(arguments.work / "vectors.pt", map_location=device)
    prepared = pickle.loads((arguments.work / "prepared.pickle").read_bytes())
    marks, lessons, held_out = prepared
    pieces = Pieces(**np.load(arguments.work / "pieces.npz"))
    config = ParaphraseConfig(
        steps=10**6 if arguments.steps is None else arguments.steps,
        sources=SOURCES,
        learning_rate=arguments.rate or 5e-4,
        warm_up=200,
        groups=arguments.groups,
    )
    if arguments.go_on is not None:
        weights = read_parts(arguments.go_on)
        layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))
        net = Transformer(TransformerConfig(layers=layers))
        net.load_state_dict(weights)
    else:
        net = Transformer.from_bert(load_file(str(start / "model.safetensors")))
    if arguments.layers is not None:
        net = net.with_layers(arguments.layers)
    net = net.to(device)
    training = Distillation(
        config,
        net,
        lessons,
        marks,
        held_out=held_out,
        texts=pieces,
        vectors=found,
        batch=arguments.batch,
        every=arguments.every,
    )
    training.confused = list(np.load(arguments.work / "confused.npz").values())
    training.vectors = turn(training)
    training.validate()
    report = training.fit(seconds=arguments.seconds)
    arguments.out.mkdir(parents=True, exist_ok=True)
    summary = {
        **{key: value for key, value in report.items() if key != "best"},
        "nowhere": training.network.nowhere.tolist(),
        "config": asdict(config),
        "every": arguments.every,
        "layers": len(net.layers),
        "sentences": len(found),
    }
    (arguments.out / "report.json").write_text(json.dumps(summary), encoding="utf-8")
    save_parts(net.state_dict(), arguments.out)
    tell("saved")


@torch.inference_mode()
def teacher_vectors(teacher: nn.Module, words: Words, texts: list[str]) -> Tensor:
    """The teacher's vectors of all texts, in half precision: (N, units)."""
    pieces, marks = words.pieces(texts), words.marks
    tell("pieces")
    order = np.argsort(np.diff(pieces.starts), kind="stable")
    found = None
    for first in range(0, len(order), 4096):
        rows = order[first : first + 4096]
        cut = [pieces.ids[pieces.starts[r] : pieces.starts[r + 1]][:62] for r in rows]
        width = max(len(text) for text in cut) + 2
        ids = np.full((len(rows), width), marks.padding, dtype=np.int64)
        for row, text in zip(ids, cut, strict=True):
            row[0], row[1 : len(text) + 1], row[len(text) + 1] = marks.first, text, marks.last
        given = torch.from_numpy(ids).to(next(teacher.parameters()).device)
        with torch.autocast(given.device.type, torch.bfloat16):
            vectors = teacher(given, given != marks.padding).half()
        if found is None:
            found = torch.empty(
                len(order), vectors.shape[1], dtype=torch.half, device=vectors.device
            )
        found[torch.from_numpy(rows).to(vectors.device)] = vectors
    assert found is not None
    return found


def reduce(vectors: Tensor, units: int) -> Tensor:
    """Vectors in the directions in which they vary most, of unit length again."""
    sample = vectors[:: max(1, len(vectors) // 200_000)].float()
    _, directions = torch.linalg.eigh(sample.T @ sample)
    chosen = directions.flip(1)[:, :units]
    parts = [
        functional.normalize(part.float() @ chosen, dim=1).half() for part in vectors.split(65_536)
    ]
    kept = (sample @ chosen).norm(dim=1).mean()
    tell(f"reduced to {units} directions; length kept {float(kept):.4f}")
    return torch.cat(parts)


def turn(training: Distillation) -> Tensor:
    """The teacher's vectors, turned as a whole so that they are nearest to the student's own.

    Similarities do not change, and the student keeps most of what it knows.
    """
    rows = np.arange(0, len(training.texts), max(1, len(training.texts) // 60_000))
    texts = training.texts
    chosen = [texts.ids[texts.starts[row] : texts.starts[row + 1]].tolist() for row in rows]
    own = training.encode(Pieces.join(chosen), batch=1024)
    theirs = training.vectors[torch.from_numpy(rows).to(own.device)].float()
    left, _, right = torch.linalg.svd(theirs.T @ own)
    rotation = left @ right
    return torch.cat([(part.float() @ rotation).half() for part in training.vectors.split(65_536)])


def read_lessons(words: Words, data: Path) -> tuple[list[Lesson], list[Lesson]]:
    """The lessons, and those that are held out."""
    lessons = words.lessons(data / "lessons.json.xz")
    held_out = words.lessons(data / "held-out.json.xz")
    tell(f"{len(lessons)} lessons, {sum(len(lesson.lines) for lesson in lessons):,} lines")
    return lessons, held_out


def save_parts(state: dict[str, Tensor], out: Path) -> None:
    """Weights in files that are small enough to be sent."""
    part: dict[str, Tensor] = {}
    size = number = 0
    for key, value in state.items():
        for k, rows in enumerate(
            value.half().cpu().split(12_000) if value.ndim == 2 else [value.half().cpu()]
        ):
            if part and size + rows.nbytes > PART:
                save_file(part, str(out / f"weights-{number}.safetensors"))
                part, size, number = {}, 0, number + 1
            part[f"{key}@{k}"] = rows.contiguous()
            size += rows.nbytes
    save_file(part, str(out / f"weights-{number}.safetensors"))


def read_parts(folder: Path) -> dict[str, Tensor]:
    """The weights that `save_parts` wrote, each put together from its parts NAME@NUMBER."""
    parts: dict[str, dict[int, Tensor]] = defaultdict(dict)
    for path in sorted(folder.glob("weights-*.safetensors")):
        for key, value in load_file(str(path)).items():
            name, number = key.rsplit("@", 1)
            parts[name][int(number)] = value.float()
    return {
        name: torch.cat([found[k] for k in sorted(found)]) if len(found) > 1 else found[0]
        for name, found in parts.items()
    }


def main() -> None:
    """Run a stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    stages = {"teach": teach, "prepare": prepare, "vectors": vectors, "distil": distil}
    parser.add_argument("stage", choices=tuple(stages))
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rate", type=float, help="learning rate")
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--layers", type=int, help="of the student (default: as `start`)")
    parser.add_argument("--go-on", type=Path, help="a folder that an earlier `distil` wrote")
    parser.add_argument("--every", type=int, default=8, help="steps from lessons to lessons")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    stages[arguments.stage](arguments, device)


if __name__ == "__main__":
    main()
