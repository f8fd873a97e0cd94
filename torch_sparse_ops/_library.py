"""Finds the compiled libraries and loads them into torch; on failure, says what was tried and what to do."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import torch

# Raised together with the one in csrc/library.cpp whenever a schema changes.
SCHEMA_VERSION = 1

_DIRECTORY = Path(__file__).resolve().parent
_SUFFIX = ".pyd" if sys.platform == "win32" else ".so"
_BUILD_COMMAND = "pip install --force-reinstall --no-deps torch_sparse_ops   (from a checkout: pip install -e .)"


def library_path() -> dict[str, Path]:
    """The compiled libraries that are installed, by backend: ``{"cpu": ..., "cuda": ...}``.

    They need no Python: a C++ program loads them with ``torch::jit``'s or AOTInductor's loaders, or ``dlopen``. They
    register operators without derivatives; those come with ``import torch_sparse_ops``.

    >>> library_path()["cpu"].name.startswith("_cpu")
    True
    """
    candidates = {backend: _DIRECTORY / f"_{backend}{_SUFFIX}" for backend in ("cpu", "cuda")}
    return {backend: path for backend, path in candidates.items() if path.exists()}


def load() -> None:
    """Registers the operators with torch. Called by ``import torch_sparse_ops``; does nothing the second time."""
    paths = library_path()
    if "cpu" not in paths:
        raise ImportError(
            f"torch_sparse_ops: its compiled library was not found. Looked for {_DIRECTORY / f'_cpu{_SUFFIX}'}.\n"
            f"Build it with: {_BUILD_COMMAND}{_checkout_hint()}"
        )
    _refuse_second_copy(paths["cpu"])
    _load(paths["cpu"])
    if "cuda" in paths and torch.version.cuda is not None:
        _load(paths["cuda"])


def instruction_set() -> str:
    """Which of the CPU kernels are in use: ``"baseline"``, ``"avx2"`` or ``"avx512"``.

    >>> instruction_set() in ("baseline", "avx2", "avx512")
    True
    """
    function = ctypes.CDLL(str(library_path()["cpu"])).torch_sparse_ops_instruction_set
    function.restype = ctypes.c_char_p
    return function().decode()


def _checkout_hint() -> str:
    if not (_DIRECTORY.parent / "setup.py").exists():
        return ""
    return (
        "\nThis is a source checkout, which hides an installed package from a Python that starts in it: build in "
        "place, or start Python elsewhere."
    )


def _refuse_second_copy(path: Path) -> None:
    """Two copies of the operators would overwrite each other's kernels, and take the process down."""
    loaded = torch.ops.loaded_libraries
    if str(path) not in loaded and hasattr(torch.ops.torch_sparse_ops, "scatter_nd"):
        raise ImportError(
            f"torch_sparse_ops: {path} cannot be loaded, since another copy of the operators is in this process "
            f"already.\nLibraries that torch has loaded: {', '.join(sorted(loaded))}.\n"
            "Keep one copy installed, and load that one."
        )


def _load(path: Path) -> None:
    try:
        torch.ops.load_library(str(path))
        version = ctypes.CDLL(str(path)).torch_sparse_ops_schema_version()
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"torch_sparse_ops: its compiled library {path} could not be loaded beside torch {torch.__version__} "
            f"(torch >= 2.11 is needed).\nThe loader said: {error}\nLikely causes: a torch that is too old, a library "
            f"built for another platform, or an incomplete copy.\nBuild it again with: {_BUILD_COMMAND}"
        ) from error
    if version != SCHEMA_VERSION:
        raise ImportError(
            f"torch_sparse_ops: the compiled library {path} has schema version {version}, this package needs "
            f"{SCHEMA_VERSION}: the library is stale.\nBuild it again with: {_BUILD_COMMAND}"
        )
