"""Train the embeddings and the captioner on a bare GPU machine.

    PYTHONPATH=src python training/visual.py PACK OUT --seconds 500

PACK is what pack_flickr8k.py writes: pictures as features, and captions; the test split is not in
it. Settings are tried one after the other and kept where they do better on the dev split; then
each reader is trained with them for each kind of features, and captioners with some settings.
Writes half-precision weights to OUT, one file each, and report.json. What lies in OUT already is
not trained again.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from folioreel.evaluate.visual import corpus_bleu
from folioreel.ingest.descriptions import find_names, replace_names
from folioreel.models.captioner import Captioner, caption_tokens
from folioreel.models.vocabulary import Vocabulary
from folioreel.models.word_encoder import WordEncoder
from folioreel.train.captioner import (
    CaptionerConfig,
    CaptionTraining,
    CaptionTrainingConfig,
    caption_ids,
    caption_words,
)
from folioreel.train.visual_semantic import VisualSemanticConfig
from folioreel.train.visual_training import (
    DescribedClips,
    VisualTraining,
    VisualTrainingConfig,
    described_clips,
    paper_settings,
    recalls,
    start_network,
)

KINDS = ("visual", "scene")
VIEWS = ("whole", "middle")
TRIED = (
    {"layers": 2},
    {"pretrained_rate": 0.05},
    {"pretrained_rate": 0.5},
    {"learning_rate": 5e-4},
    {"learning_rate": 2e-3},
    {"margin": 0.03},
    {"margin": 0.08},
    {"contrast": "hardest", "margin": 0.2},
    {"clip_dropout": 0.4},
    {"clip_dropout": 0.6},
    {"mixing": 0.0},
    {"mixing": 0.8},
    {"word_dropout": 0.0},
    {"word_dropout": 0.2},
    {"weight_decay": 1e-2},
    {"weight_decay": 1e-1},
    {"batch": 1000},
    {"batch": 256},
)
"""Changes of the settings; each is kept if it improves recall on the dev split."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pack:
    """Pictures as features, and their captions, by split."""

    views: dict[str, dict[str, torch.Tensor]]
    """By kind of features and split: (N, views, D), the whole picture first."""
    captions: dict[str, list[list[str]]]

    def pictures(self, split: str) -> torch.Tensor:
        """Pictures as the captioner sees them, by both kinds of features: (N, D)."""
        return torch.cat([self.views[kind][split][:, 0] for kind in KINDS], dim=1)


def main() -> None:
    """Search settings, train, choose, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=500, help="for all together, about")
    parser.add_argument("--only", choices=["embeddings", "captioners"])
    parser.add_argument("--try-seconds", type=float, default=150, help="of these, for trying")
    parser.add_argument("--try-epochs", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--caption-epochs", type=int, default=25, help="of the captioner")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--pictures", type=int, help="use only this many, to test the script")
    arguments = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    arguments.out.mkdir(parents=True, exist_ok=True)
    run = Run(read_pack(arguments.pack, arguments.pictures), arguments.out, device)
    if arguments.only != "captioners":
        settings = run.search(arguments.try_epochs, arguments.try_seconds)
        run.train_paper(arguments.try_epochs)
        for seed in range(arguments.seeds):
            for kind in KINDS:
                for reader in ("attention", "lstm"):
                    run.train_embedding(
                        kind, reader, seed, arguments.epochs, settings, arguments.seconds
                    )
        run.choose_embeddings()
    if arguments.only != "embeddings":
        for name in CAPTIONERS:
            run.train_captioner(name, arguments.caption_epochs, arguments.seconds)
    run.tell("done")


CAPTIONERS: dict[str, dict] = {
    "captioner": {},
    "captioner-free": {"dropout": 0.3, "smoothing": 0.0},
    "captioner-large": {"dropout": 0.6, "batch": 256, "learning_rate": 2e-3},
}
"""Changes of the captioner's settings."""


def read_pack(folder: Path, limit: int | None) -> Pack:
    """What pack_flickr8k.py wrote; features are stored as bytes on a scale of square roots."""
    captions = json.loads((folder / "captions.json").read_text(encoding="utf-8"))
    count = len(captions["train"])
    kept = limit or count
    views: dict[str, dict[str, torch.Tensor]] = {}
    for kind in KINDS:
        paths = [folder / f"{view}.npz" for view in VIEWS]
        stored = [np.load(path) for path in paths if path.exists()]
        values = np.stack([view[kind] for view in stored if kind in view], axis=1)
        widened = torch.from_numpy(6 * (values.astype(np.float32) / 255) ** 2)
        views[kind] = {"train": widened[:kept], "dev": widened[count:][:kept]}
    names = find_names(text for texts in captions["train"] for text in texts)
    captions["train"] = [
        [replace_names(text, names) for text in texts] for texts in captions["train"][:kept]
    ]
    captions["dev"] = captions["dev"][:kept]
    return Pack(views=views, captions=captions)


class Run:
    """All that is trained, and what was measured."""

    def __init__(self, pack: Pack, out: Path, device: torch.device) -> None:
        self.pack, self.out, self.device = pack, out, device
        self.began = time.perf_counter()
        self.student = WordEncoder.load("student")
        self.report: dict = {
            "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu"
        }
        path = out / "report.json"
        if path.exists():
            self.report = json.loads(path.read_text(encoding="utf-8"))
        self.clips = {kind: self._clips(kind) for kind in KINDS}
        self.scores: dict[str, torch.Tensor] = {}
        self.tell("read")

    def tell(self, *words: object) -> None:
        """A line of the log."""
        print(f"{self.seconds():6.1f} s", *words, flush=True)

    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.began

    def save_report(self) -> None:
        """What was measured so far."""
        text = json.dumps(self.report, indent=1)
        (self.out / "report.json").write_text(text + "\n", encoding="utf-8")

    def _clips(self, kind: str) -> dict[str, DescribedClips]:
        word_ids = self.student.word_ids
        found = {}
        for split, views in self.pack.views[kind].items():
            ids = [[word_ids(text) for text in texts] for texts in self.pack.captions[split]]
            kept = views if split == "train" else views[:, :1]
            found[split] = described_clips(kept.numpy(), ids, 48).to(self.device)
        return found

    def base(self, kind: str, reader: str, epochs: int) -> VisualTrainingConfig:
        """The settings to begin with."""
        model = VisualSemanticConfig(
            clip_units=self.clips[kind]["train"].features.shape[1],
            vocabulary=len(self.student.vocabulary),
            reader=reader,
        )
        batch = min(512, len(self.clips[kind]["train"]))
        return VisualTrainingConfig(model=model, epochs=epochs, batch=batch)

    def fit(
        self, config: VisualTrainingConfig, kind: str, seconds: float = 120, name: str = ""
    ) -> tuple[VisualTraining, dict]:
        """One network, starting from the student's word vectors and layers."""
        training = self.start(config, kind)
        checkpoint = self.out / f"{name}.pt" if name else None
        report = training.fit(seconds=seconds, checkpoint=checkpoint)
        if checkpoint is not None:
            checkpoint.unlink()
        return training, report

    def start(self, config: VisualTrainingConfig, kind: str) -> VisualTraining:
        """A run that has not begun."""
        network = start_network(config, self.device, self.student)
        return VisualTraining(config, network, self.clips[kind]["train"], self.clips[kind]["dev"])

    def search(self, epochs: int, seconds: float) -> dict:
        """Settings that do best on the dev split, changed one at a time."""
        if "settings" in self.report:
            return dict(self.report["settings"])
        base = self.base("visual", "attention", epochs)
        changes: dict = {}
        tried = []
        _, report = self.fit(base, "visual")
        best = report["best"]["recall"]
        self.tell("base", report["best"], f"{report['seconds']:.0f} s")
        until = self.seconds() + seconds
        for change in TRIED:
            if self.seconds() > until:
                break
            config = changed(base, changes | change)
            if config.batch > len(self.clips["visual"]["train"]):
                continue
            _, report = self.fit(config, "visual")
            found = report["best"]["recall"]
            tried.append({**change, **report["best"]})
            self.tell("tried", change, report["best"], f"{report['seconds']:.0f} s")
            if found > best:
                best, changes = found, changes | change
        self.report |= {"settings": changes, "tried": tried}
        self.save_report()
        self.tell("settings", changes)
        return changes

    def train_paper(self, epochs: int) -> None:
        """The paper's own settings, for comparison."""
        if "paper" in self.report:
            return
        for rate in (0.5, 2.0):
            model = self.base("visual", "lstm", 1).model
            size = len(self.clips["visual"]["train"])
            config = replace(
                paper_settings(model), epochs=epochs, learning_rate=rate, batch=min(128, size)
            )
            _, report = self.fit(config, "visual", seconds=30)
            self.tell("paper", rate, report["best"])
            if report["best"]["recall"] > self.report.get("paper", {}).get("recall", -1):
                self.report["paper"] = {"learning_rate": rate, **report["best"]}
        self.save_report()

    def train_embedding(
        self, kind: str, reader: str, seed: int, epochs: int, settings: dict, seconds: float
    ) -> None:
        """One network for one kind of features, saved."""
        name = f"{kind}-{reader}-{seed}"
        path = self.out / f"{name}.npz"
        if self.seconds() > 0.75 * seconds and not path.exists():
            self.tell(name, "is skipped: no time left")
            return
        config = changed(self.base(kind, reader, epochs), settings | {"seed": seed})
        if path.exists():
            training = self.start(config, kind)
            state = {k: torch.from_numpy(v).float() for k, v in np.load(path).items()}
            training.network.load_state_dict(state, strict=False)
        else:
            training, report = self.fit(config, kind, name=name)
            self.report.setdefault("embeddings", {})[name] = {
                "config": asdict(config),
                **{key: report[key] for key in ("best", "seconds")},
            }
            self.tell(name, report["best"], f"{report['seconds']:.0f} s")
            state = training.network.state_dict()
            state.pop("reader.words.weight")
            np.savez(path, **{key: value.half().cpu().numpy() for key, value in state.items()})
            self.save_report()
        self.scores[name] = training.scores(self.clips[kind]["dev"])

    def choose_embeddings(self) -> None:
        """Which networks together do best on the dev split: for each kind, and for both kinds."""
        clip_of = self.clips["visual"]["dev"].clip_of
        chosen: dict = {}
        for kind in (*KINDS, ""):
            names = [name for name in self.scores if name.startswith(kind)]
            parts: list[str] = []
            best: dict = {"recall": -1.0}
            while names:
                figures = {
                    name: recalls(sum(self.scores[n] for n in [*parts, name]), clip_of)
                    for name in names
                }
                name = max(names, key=lambda name: figures[name]["recall"])
                if figures[name]["recall"] <= best["recall"]:
                    break
                parts.append(name)
                names.remove(name)
                best = figures[name]
                self.tell(kind or "both", parts, best)
            chosen[kind or "both"] = {"parts": parts, **best}
        self.report["chosen"] = chosen
        self.save_report()

    def train_captioner(self, name: str, epochs: int, seconds: float) -> None:
        """One captioner, saved; how well it does with some beams."""
        path = self.out / f"{name}.npz"
        if path.exists() or self.seconds() > seconds:
            self.tell(name, "exists already" if path.exists() else "is skipped: no time left")
            return
        vocabulary = caption_words(self.pack.captions["train"])
        units = self.pack.pictures("dev").shape[1]
        model = CaptionerConfig(vocabulary=len(vocabulary), picture_units=units)
        config = replace(CaptionTrainingConfig(model=model, epochs=epochs), **CAPTIONERS[name])
        pictures, held_out = (self._captioned(split, vocabulary) for split in ("train", "dev"))
        training = CaptionTraining(config, pictures, held_out)
        checkpoint = self.out / f"{name}.pt"
        rest = seconds - self.seconds() + 30
        report = training.fit(checkpoint=checkpoint, seconds=rest)
        checkpoint.unlink()
        self.tell(name, report["best"], f"{report['seconds']:.0f} s")
        weights = {
            key: value.astype(np.float16) for key, value in training.network.weights().items()
        }
        np.savez(path, **weights)
        vocabulary.save(self.out / "caption-words.txt")
        entry = {"config": asdict(config), "best": report["best"], "bleu": []}
        self.report.setdefault("captioners", {})[name] = entry
        for beam, power in ((3, 0.7), (5, 0.7), (5, 1.0)):
            entry["bleu"].append(self._bleu(weights, vocabulary, beam, power))
        self.save_report()

    def _captioned(self, split: str, vocabulary: Vocabulary) -> DescribedClips:
        captions = self.pack.captions[split]
        ids = [[caption_ids(text, vocabulary) for text in texts] for texts in captions]
        views = self.pack.pictures(split)[:, None].numpy()
        return described_clips(views, ids, 24).to(self.device)

    def _bleu(self, weights: dict, vocabulary: Vocabulary, beam: int, power: float) -> dict:
        """BLEU on the dev split."""
        writer = Captioner(
            name="",
            features=KINDS,
            vocabulary=vocabulary,
            weights=weights,
            beam=beam,
            length_power=power,
            training={},
            card="",
        )
        found = writer.caption(self.pack.pictures("dev").numpy())
        bleu = corpus_bleu(
            [caption_tokens(caption.text) for caption in found],
            [[caption_tokens(text) for text in texts] for texts in self.pack.captions["dev"]],
        )
        self.tell(f"beam {beam}, power {power}:", [round(value, 1) for value in bleu])
        self.tell("   ", [caption.text for caption in found[:4]])
        return {"beam": beam, "length_power": power, "bleu": bleu}


def changed(base: VisualTrainingConfig, changes: dict) -> VisualTrainingConfig:
    """Other settings of the network or of its training."""
    inner = {key: value for key, value in changes.items() if hasattr(base.model, key)}
    outer = {key: value for key, value in changes.items() if key not in inner}
    return replace(base, model=replace(base.model, **inner), **outer)


if __name__ == "__main__":
    main()
