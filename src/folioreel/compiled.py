"""Functions compiled by numba, and kept on disk wherever that can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from folioreel.cache import cache_folder

Function = TypeVar("Function", bound=Callable[..., Any])
_config: Any = numba.config


def njit(**options: Any) -> Callable[[Function], Function]:
    """`numba.njit`, cached beside the module, in the user's cache, in ours, or else not at all.

    numba itself refuses to compile what it cannot keep, as where the package and the home folder
    are both read-only.
    """

    def compile_function(function: Function) -> Function:
        try:
            compiled: Function = numba.njit(cache=True, **options)(function)
            return compiled
        except RuntimeError:  # no locator available
            _config.CACHE_DIR = str(cache_folder() / "numba")
        try:
            compiled = numba.njit(cache=True, **options)(function)
        except RuntimeError:
            _config.CACHE_DIR = ""
            compiled = numba.njit(**options)(function)
        return compiled

    return compile_function
