"""Functions compiled by numba, and kept on disk wherever that can be written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
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
            compiled: Function = _forgiving(numba.njit(cache=True, **options)(function))
            return compiled
        except RuntimeError:  # no locator available
            _config.CACHE_DIR = str(cache_folder() / "numba")
        try:
            compiled = _forgiving(numba.njit(cache=True, **options)(function))
        except RuntimeError:
            _config.CACHE_DIR = ""
            compiled = numba.njit(**options)(function)
        return compiled

    return compile_function


def _forgiving(compiled: Any) -> Any:
    """A function that also works if it cannot be kept after all, as on a full disk."""
    cache: Any = getattr(compiled, "_cache", None)
    if hasattr(cache, "save_overload"):
        save = cache.save_overload

        def save_if_possible(*arguments: Any) -> None:
            with suppress(OSError):
                save(*arguments)

        cache.save_overload = save_if_possible
    return compiled
