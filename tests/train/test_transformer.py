"""Linear layers in bytes against NumPy: rounding, bounds and gradients."""

import numpy as np
import pytest
import torch

from folioreel.errors import ConfigError
from folioreel.train.transformer import ByteLinear, Transformer, TransformerConfig


def made_layer(low, high, inputs=5, outputs=3, seed=0):
    torch.manual_seed(seed)
    layer = ByteLinear(inputs, outputs).eval()
    layer.low.fill_(low)
    layer.high.fill_(high)
    layer.rounds = True
    return layer


def by_numpy(values, layer):
    """What the graph computes: unsigned bytes times signed ones, summed as integers."""
    low, high = float(layer.low), float(layer.high)
    scale = max(high - low, 1e-6) / 255
    zero = np.clip(np.round(-low / scale), 0, 255)
    inputs = np.clip(np.round(values / scale) + zero, 0, 255).astype(np.uint8)
    weight = layer.weight.detach().numpy().astype(np.float64)
    outputs = []
    for row, bias in zip(weight, layer.bias.detach().numpy(), strict=True):
        step = np.abs(row).max() / 127
        bytes_ = np.round(row / step).astype(np.int8)
        assert np.abs(bytes_.astype(int)).max() == 127
        sums = ((inputs.astype(int) - int(zero)) * bytes_.astype(int)).sum(axis=1)
        outputs.append(sums * scale * step + bias)
    return np.stack(outputs, axis=1)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (-0.17, 2.9), (0.0, 1.0), (-3.0, 0.0)])
def test_rounding_against_numpy(low, high, rng):
    layer = made_layer(low, high)
    values = rng.uniform(low - 0.5, high + 0.5, (40, 5)).astype(np.float32)
    with torch.no_grad():
        found = layer(torch.from_numpy(values)).numpy()
        layer.rounds = False
        exact = layer(torch.from_numpy(np.clip(values, low, high))).numpy()
    # A value just between two steps may go either way, by one of 255.
    step = (high - low) / 255 * float(layer.weight.detach().abs().max())
    differences = np.abs(found - by_numpy(values.astype(np.float64), layer))
    assert (differences < 1e-4).mean() > 0.95
    assert differences.max() < 1.5 * step
    assert np.abs(found - exact).max() < 5 * ((high - low) / 255 + 0.01)
    assert np.abs(found - exact).max() > 1e-4, "rounding can be seen"


def test_rounding_by_hand():
    """Steps of 1/85 from -1 to 2, weights in steps of 0.5 and 1/127."""
    layer = made_layer(-1.0, 2.0, inputs=2, outputs=2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[63.5, 10.2], [1.0, 0.0]]))
        layer.bias.copy_(torch.tensor([0.0, 1.0]))
        # 0.304 is 25.84 steps away from 0, rounded to 26; 9 is cut off at 170 steps.
        assert float(layer.input_zero) == 85
        found = layer(torch.tensor([[0.304, 0.0], [9.0, 0.0], [-9.0, 0.0], [0.0, 1.0]]))
    expected = [
        [26 / 85 * 63.5, 26 / 85 + 1],
        [2 * 63.5, 3.0],
        [-63.5, 0.0],
        [10.0, 1.0],
    ]
    assert found.numpy() == pytest.approx(np.array(expected), rel=1e-5)


def test_0_stays_0():
    """Whatever the bounds: padding and values without meaning must not add up."""
    for low, high in ((-0.123, 0.777), (0.0, 0.3), (-2.0, 0.0), (0.0, 0.0)):
        layer = made_layer(low, high)
        with torch.no_grad():
            found = layer(torch.zeros(2, 5))
        assert torch.allclose(found, layer.bias.expand(2, 3), atol=1e-6)


def test_gradients_pass_through():
    """As without rounding, apart from inputs beyond the bounds, which get none."""
    layer = made_layer(-1.0, 1.0)
    values = torch.tensor([[0.1, -0.5, 0.9, 3.0, -2.0]], requires_grad=True)
    layer(values).sum().backward()
    # The gradient of an input is its weights as rounded, likewise for a weight.
    steps = layer.weight.detach().abs().amax(dim=1, keepdim=True) / 127
    expected = (torch.round(layer.weight.detach() / steps) * steps).sum(dim=0)
    assert torch.allclose(values.grad[0, :3], expected[:3], atol=1e-6)
    assert not values.grad[0, 3:].any()
    assert torch.equal(layer.bias.grad, torch.ones(3))
    rounded = torch.round(torch.tensor([0.1, -0.5, 0.9]) * 127.5) / 127.5
    for row in layer.weight.grad:
        assert torch.allclose(row[:3], rounded, atol=5e-3)
        assert torch.allclose(row[3:], torch.tensor([1.0, -1.0]), atol=5e-3)


def test_bounds_follow_one_call_in_16():
    layer = ByteLinear(2, 1).train()
    low, high = [], []
    for call in range(40):
        layer(torch.tensor([[-1.0 - call, 2.0 + call]]))
        low.append(float(layer.low))
        high.append(float(layer.high))
    assert (low[0], high[0]) == (-1.0, 2.0), "the first values are the first bounds"
    second = 0.9 * 2 + 0.1 * (2 + 16)
    third = 0.9 * second + 0.1 * (2 + 32)
    expected = [2.0] * 16 + [second] * 16 + [third] * 8
    assert high == pytest.approx(expected)
    assert low == pytest.approx([1 - value for value in expected])


def test_bounds_hold_0_and_stay_in_use():
    """Positive values alone begin at 0; a network in use does not change."""
    layer = ByteLinear(2, 1).train()
    layer(torch.tensor([[3.0, 5.0]]))
    assert (float(layer.low), float(layer.high)) == (0.0, 5.0)
    layer.eval()
    for _ in range(20):
        layer(torch.tensor([[-50.0, 50.0]]))
    assert (float(layer.low), float(layer.high)) == (0.0, 5.0)


def test_loaded_bounds_move_on():
    """They are not thrown away at the first call, as those that nobody has seen are."""
    layer, other = ByteLinear(2, 1).train(), ByteLinear(2, 1).train()
    layer(torch.tensor([[-1.0, 2.0]]))
    other.load_state_dict(layer.state_dict())
    other(torch.tensor([[-2.0, 12.0]]))
    assert float(other.low) == pytest.approx(-1.1)
    assert float(other.high) == pytest.approx(3.0)


def test_padding_changes_nothing():
    torch.manual_seed(3)
    config = TransformerConfig(
        vocabulary=20, units=8, layers=2, heads=2, inner_units=12, longest=10
    )
    network = Transformer(config).eval()
    ids = torch.randint(20, (3, 6))
    padded = torch.cat([ids, torch.randint(20, (3, 4))], dim=1)
    real = torch.arange(10).expand(3, 10) < 6
    with torch.no_grad():
        alone = network(ids, torch.ones_like(ids, dtype=torch.bool))
        found = network(padded, real)
    assert torch.allclose(found, alone, atol=1e-6)
    assert found.norm(dim=1).tolist() == pytest.approx([1.0] * 3)


def test_a_deeper_network_repeats_layers():
    torch.manual_seed(4)
    config = TransformerConfig(
        vocabulary=20, units=8, layers=3, heads=2, inner_units=12, longest=10
    )
    network = Transformer(config)
    deeper = network.with_layers(4)
    assert deeper.config.layers == len(deeper.layers) == 4
    for layer, source in zip(deeper.layers, (0, 0, 1, 2), strict=True):
        own = network.layers[source].state_dict()
        assert all(torch.equal(value, own[name]) for name, value in layer.state_dict().items())
    assert torch.equal(deeper.pieces.weight, network.pieces.weight)
    with pytest.raises(ConfigError, match="3 layers"):
        network.with_layers(2)
