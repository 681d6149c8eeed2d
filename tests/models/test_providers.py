"""What runs the graphs: the processor, unless an environment variable names something else."""

import pytest

from folioreel.errors import ConfigError
from folioreel.models.onnx_graphs import open_session
from folioreel.models.sentence_encoder import load_encoder


@pytest.fixture
def graph() -> bytes:
    return load_encoder("student").parts[0].graph


def test_the_processor_can_be_named(graph, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_PROVIDERS", " CPUExecutionProvider ,")
    assert open_session(graph).get_providers() == ["CPUExecutionProvider"]


@pytest.mark.parametrize("names", ["GraphiteExecutionProvider,CPUExecutionProvider", "", " , "])
def test_providers_that_are_not_there(graph, names, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_PROVIDERS", names)
    with pytest.raises(ConfigError, match=r"this ONNX Runtime has .*CPUExecutionProvider"):
        open_session(graph)
