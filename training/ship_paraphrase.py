"""Make the encoder `paraphrase` that ships with the package out of what paraphrase.py left.

    PYTHONPATH=src python training/ship_paraphrase.py TRAINED START OUT

TRAINED holds the files of `paraphrase.py distil`; START is the folder of all-MiniLM-L6-v2, whose
tokenizer the encoder has. Writes the model folder OUT/paraphrase.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from folioreel.models.transformer_encoder import save_transformer
from folioreel.train.onnx import transformer_graph
from folioreel.train.transformer import Transformer, TransformerConfig

LONGEST = 64  # pieces that it reads of a text, as in training
CARDS = Path(__file__).parent / "cards"


def main() -> None:
    """Write the model folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("trained", "start", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--card", type=Path, default=CARDS / "paraphrase.md")
    arguments = parser.parse_args()
    report = json.loads((arguments.trained / "report.json").read_text(encoding="utf-8"))
    network = Transformer(TransformerConfig(layers=report["layers"]))
    network.load_state_dict(read_weights(arguments.trained))
    save_transformer(
        arguments.out / "paraphrase",
        graph=transformer_graph(network).SerializeToString(),
        tokenizer=(arguments.start / "tokenizer.json").read_bytes(),
        longest=LONGEST,
        card=arguments.card.read_text(encoding="utf-8"),
        training={key: value for key, value in report.items() if key != "log"},
        replace=True,
    )


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights by name, each put together from its parts NAME@NUMBER."""
    parts: dict[str, dict[int, Tensor]] = defaultdict(dict)
    for path in sorted(folder.glob("weights-*.safetensors")):
        for key, value in load_file(str(path)).items():
            name, number = key.rsplit("@", 1)
            parts[name][int(number)] = value.float()
    return {
        name: torch.cat([found[k] for k in sorted(found)]) if len(found) > 1 else found[0]
        for name, found in parts.items()
    }


if __name__ == "__main__":
    main()
