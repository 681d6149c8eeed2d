"""EfficientNet-Lite: a safely read checkpoint, and the numbers of its makers' network."""

import io
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet

from folioreel.models import frame_features
from folioreel.models.efficientnet import read_checkpoint
from folioreel.models.frame_features import load_frame_features
from folioreel.packages import check_package_file, locate_in_package


@pytest.fixture(scope="module")
def weights() -> bytes:
    package = frame_features._PACKAGES["efficientnet-lite0"]
    path = locate_in_package("the network", package.package, package.path)
    check_package_file(path, package.sha256, package.package)
    return path.read_bytes()


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


def test_same_numbers_as_the_network_of_its_makers(weights):
    features = load_frame_features()
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
