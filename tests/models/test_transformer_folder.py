"""Model folders of transformers: the graph against its network, saving, loading and damage."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import tokenizers

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models import folders, sentence_encoder
from folioreel.models.sentence_encoder import load_encoder, open_word_encoder
from folioreel.models.transformer_encoder import FORMAT, load_transformer, save_transformer

torch = pytest.importorskip("torch")

from folioreel.train.onnx import transformer_graph  # noqa: E402
from folioreel.train.transformer import Transformer, TransformerConfig  # noqa: E402

PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "ferry", "cross", "##ed", "river", "at", "dawn"),
    *(".", ",", "she", "read", "a", "letter", "##s", "old", "man"),
)
TEXTS = (
    "The ferry crossed the river at dawn.",
    "She read a letter.",
    "",
    "Old letters, zyx",
    "the " * 40,
)
LONGEST = 12


def made_tokenizer():
    """Word pieces with marks at both ends, as BERT has them."""
    numbers = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    marks = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=marks
    )
    return tokenizer


def made_network():
    """A tiny network by chance that has seen some texts, so that it knows its bounds."""
    torch.manual_seed(11)
    config = TransformerConfig(
        vocabulary=len(PIECES), units=32, layers=2, heads=4, inner_units=64, longest=LONGEST
    )
    network = Transformer(config)
    torch.nn.init.normal_(network.places, std=0.3)
    ids = torch.randint(len(PIECES), (64, LONGEST))
    with torch.no_grad():
        network(ids, torch.ones_like(ids, dtype=torch.bool))
    return network.eval()


@pytest.fixture(scope="module")
def made():
    network = made_network()
    graph = transformer_graph(network).SerializeToString()
    tokenizer = made_tokenizer().to_str().encode()
    return SimpleNamespace(
        network=network,
        files={"graph": graph, "tokenizer": tokenizer, "longest": LONGEST},
        words={"card": "# Made\n\nBy chance — for tests.\n", "training": {"seed": 11}},
    )


@pytest.fixture
def folder(made, tmp_path):
    save_transformer(tmp_path / "tiny", **made.files, **made.words)
    return tmp_path / "tiny"


def by_pytorch(network, text):
    tokenizer = made_tokenizer()
    tokenizer.enable_truncation(max_length=LONGEST)
    ids = torch.tensor([tokenizer.encode(text).ids])
    with torch.no_grad():
        return network(ids, torch.ones_like(ids, dtype=torch.bool))[0].numpy()


def test_the_vectors_are_those_of_the_network_in_bytes(made, folder):
    encoder = load_encoder(str(folder))
    assert (encoder.name, encoder.units) == ("tiny", 32)
    found = encoder.encode(TEXTS)
    assert found.dtype == np.float32
    assert not found[2].any()
    made.network.round_to_bytes()
    try:
        for text, vector in zip(TEXTS, found, strict=True):
            if text:
                assert vector @ by_pytorch(made.network, text) > 1 - 1e-2
                assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    finally:
        made.network.round_to_bytes(False)
    # Texts differ by more than the rounding does.
    assert (found[[0, 0, 1]] * found[[1, 3, 3]]).sum(axis=1).max() < 1 - 2e-2


def test_a_text_has_one_vector_whatever_its_batch(folder):
    encoder = load_encoder(folder)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert encoder.encode(TEXTS) == pytest.approx(alone, abs=1e-5)
    longer = encoder.encode(["the " * 400])
    assert longer[0] == pytest.approx(alone[4], abs=1e-6), "texts are cut"


def test_what_is_written(folder, made):
    config = json.loads((folder / "config.json").read_text("utf-8"))
    assert (config["format"], config["version"]) == (FORMAT.name, 1)
    assert (config["longest"], config["units"], config["training"]) == (LONGEST, 32, {"seed": 11})
    assert sorted(config["sha256"]) == ["README.md", "model.onnx", "tokenizer.json"]
    assert (folder / "README.md").read_text("utf-8") == made.words["card"]
    assert (folder / "model.onnx").read_bytes() == made.files["graph"]


def test_the_fingerprint_is_that_of_what_counts(folder, made, tmp_path):
    fingerprint = load_encoder(folder).fingerprint
    save_transformer(tmp_path / "twin", **made.files, card="# Other\n", training={})
    assert load_encoder(tmp_path / "twin").fingerprint == fingerprint
    save_transformer(tmp_path / "short", **made.files | {"longest": 5}, **made.words)
    assert load_encoder(tmp_path / "short").fingerprint != fingerprint
    assert load_encoder(folder) is load_encoder(folder)


def test_a_shipped_transformer_is_loaded_by_its_name(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(folders, "DATA", tmp_path)
    monkeypatch.setitem(sentence_encoder.BUILT_IN, "tiny", "tiny")
    monkeypatch.setattr(sentence_encoder, "_NAMES", ("tiny",))
    assert load_encoder("tiny").encode(["dawn"]).shape == (1, 32)
    assert FORMAT.shipped() == ("tiny",)
    for name in ("tiny", str(folder)):
        with pytest.raises(ConfigError, match="has no word vectors; give one of skip-thought"):
            open_word_encoder(name)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelFolderError, match=r"tokenizer\.json is missing.*--force-reinstall"):
        load_encoder("tiny")
    shutil.rmtree(folder)
    with pytest.raises(ModelFolderError, match=r"config\.json is missing.*--force-reinstall"):
        load_encoder("tiny")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damaged_files(folder, name):
    load_encoder(folder)
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelFolderError, match=f"{name} is damaged"):
        load_encoder(folder)


@pytest.mark.parametrize(
    "change",
    [{"longest": None}, {"longest": 0}, {"longest": "many"}, {"units": 31}, {"sha256": {}}],
)
def test_damaged_settings(folder, change):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(ModelFolderError, match=r"config\.json is damaged"):
        load_encoder(folder)


def test_a_newer_format_and_another_kind(folder):
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(config | {"version": 2}), "utf-8")
    with pytest.raises(ModelFolderError, match="newer folioreel"):
        load_encoder(folder)
    with pytest.raises(ModelFolderError, match="is not a transformer sentence encoder"):
        load_transformer(folders.builtin_folder("student"))


def test_what_saving_refuses(made, folder, tmp_path):
    with pytest.raises(ModelFolderError, match="already holds"):
        save_transformer(folder, **made.files, **made.words)
    save_transformer(folder, **made.files, card="# New\n", training={}, replace=True)
    assert (folder / "README.md").read_text("utf-8") == "# New\n"
    for changes, error, says in (
        ({"longest": LONGEST + 1}, ValueError, "cannot read 13 tokens"),
        ({"longest": 2}, ValueError, "at least 3"),
        ({"graph": b"no graph"}, ModelFolderError, "cannot read a graph"),
        ({"tokenizer": b"{}"}, ModelFolderError, "is not a tokenizer"),
    ):
        with pytest.raises(error, match=says):
            save_transformer(tmp_path / "new", **made.files | changes, **made.words)
        assert not (tmp_path / "new").exists()
