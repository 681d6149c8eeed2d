"""Training: the networks in PyTorch, one file each, and the commands `folioreel train …`.

`loop.py` trains them all. `clips.py`, `sentences.py`, `paper.py` and `positions.py` are the
commands: they read the data, train, and write the model that users run without PyTorch.
"""

from importlib.util import find_spec

from folioreel.errors import ConfigError


def check_pytorch() -> None:
    """Check that PyTorch is installed, before a module that imports it is imported."""
    if find_spec("torch") is None:
        raise ConfigError('training needs PyTorch; run: pip install "folioreel[train]"')
