"""A small transformer with weights by chance and its tokenizer, in a folder as encoders have it."""

import torch
from made_pairs import WORDS
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from folioreel.train.onnx import transformer_graph
from folioreel.train.transformer import Transformer, TransformerConfig

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "from", "behind", ".", ",", "'", *WORDS)
LONGEST = 24


def made_transformer(seed=0):
    """A network that has seen some texts, so that its activations have bounds."""
    torch.manual_seed(seed)
    config = TransformerConfig(
        vocabulary=len(PIECES), units=16, layers=2, heads=2, inner_units=24, longest=LONGEST
    )
    network = Transformer(config)
    torch.nn.init.normal_(network.places, std=0.1)
    network.train()
    for _ in range(3):
        ids = torch.randint(4, len(PIECES), (8, 10))
        network(ids, torch.ones_like(ids, dtype=torch.bool))
    return network.eval()


def made_tokenizer():
    numbers = {word: number for number, word in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def write_transformer(folder, seed=0):
    """The folder of an encoder: graph and tokenizer."""
    folder.mkdir(parents=True)
    graph = transformer_graph(made_transformer(seed)).SerializeToString()
    (folder / "model.onnx").write_bytes(graph)
    made_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "sentence_bert_config.json").write_text(f'{{"max_seq_length": {LONGEST}}}')
    return folder
