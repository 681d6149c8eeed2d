"""Make the encoder `paraphrase` that ships with the package out of what paraphrase.py left.

    PYTHONPATH=src python training/ship_paraphrase.py TRAINED START OUT

TRAINED holds the files of `paraphrase.py distil`; START is the folder of all-MiniLM-L6-v2, whose
tokenizer the encoder has. Writes the model folder OUT/paraphrase.
"""

import argparse
import json
from pathlib import Path

from paraphrase import read_parts

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
    network.load_state_dict(read_parts(arguments.trained))
    save_transformer(
        arguments.out / "paraphrase",
        graph=transformer_graph(network).SerializeToString(),
        tokenizer=(arguments.start / "tokenizer.json").read_bytes(),
        longest=LONGEST,
        card=arguments.card.read_text(encoding="utf-8"),
        training={key: value for key, value in report.items() if key != "log"},
        replace=True,
    )


if __name__ == "__main__":
    main()
