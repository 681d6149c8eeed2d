"""Make the embeddings and the captioner that ship with the package out of what visual.py left.

    PYTHONPATH=src python training/ship_visual.py TRAINED OUT

TRAINED holds the files of visual.py. The networks are those that do best on the dev split within
the size that the package has for them, not all that the report would choose.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from folioreel.models.captioner import Captioner
from folioreel.models.frame_features import load_frame_features
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.models.vocabulary import Vocabulary
from folioreel.models.word_encoder import WordEncoder
from folioreel.train.captioner import stored_weights
from folioreel.train.onnx import embedding_model
from folioreel.train.visual_semantic import (
    VisualSemanticConfig,
    VisualSemanticNetwork,
    begin_with_student,
)

SHIPPED = {"visual": ("visual-attention-0",), "scene": ("scene-attention-1",)}
CARDS = Path(__file__).parent / "cards"


def main() -> None:
    """Write the model folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    student = WordEncoder.load("student")
    for kind in SHIPPED:
        read_embedding(arguments.trained, kind, student).save(arguments.out / kind, replace=True)
    read_captioner(arguments.trained).save(arguments.out / "captioner", replace=True)


def read_embedding(folder: Path, kind: str, student: WordEncoder) -> VisualSemantic:
    """The embedding of one kind of features."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    fitted = {name: report["embeddings"][name] for name in SHIPPED[kind]}
    networks = {}
    for name, entry in fitted.items():
        network = VisualSemanticNetwork(VisualSemanticConfig(**entry["config"]["model"]))
        begin_with_student(network, student)
        state = np.load(folder / f"{name}.npz")
        network.load_state_dict(
            {key: torch.from_numpy(value).float() for key, value in state.items()}, strict=False
        )
        networks[name] = network.eval()
    return embedding_model(kind, kind, networks, student, fitted | seen_by(), read_card(kind))


def read_captioner(folder: Path) -> Captioner:
    """The captioner, with the beam that does best on the dev split."""
    weights = {k: v.astype(np.float32) for k, v in np.load(folder / "captioner.npz").items()}
    return Captioner(
        name="captioner",
        features=("visual", "scene"),
        vocabulary=Vocabulary.load(folder / "caption-words.txt"),
        weights=stored_weights(weights),
        beam=5,
        length_power=0.0,
        training=seen_by(),
        card=read_card("captioner"),
    )


def seen_by() -> dict:
    """Which network saw the pictures."""
    network = load_frame_features()
    return {"frame_features": network.name, "fingerprint": network.fingerprint}


def read_card(name: str) -> str:
    """What is said of a model."""
    return (CARDS / f"{name}.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
