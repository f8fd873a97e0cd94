"""The machine: threads pinned to one number for every library, its name and its caches."""

import importlib.metadata
import os
import platform
from pathlib import Path


def pin_threads(threads: int) -> None:
    """Give every library ``threads`` threads. Call before any of them is imported: most ask once, how many cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC"):  # NPROC is XLA's
        os.environ[variable] = str(threads)
    os.environ["TF_NUM_INTRAOP_THREADS"] = os.environ["TF_NUM_INTEROP_THREADS"] = str(threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def describe(device: str, cores: int, threads: int, libraries) -> dict:
    """What a reader needs to compare a run with another."""
    import torch

    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        name, cache = f"{properties.name}, CUDA {torch.version.cuda}", properties.L2_cache_size
    else:
        name, cache = f"{_processor()}, {cores} cores, {threads} threads", _last_cache_bytes()
    return {
        "device": device,
        "name": name,
        "cache_bytes": cache,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "versions": _versions(libraries),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _last_cache_bytes() -> int:
    try:
        return os.sysconf("SC_LEVEL3_CACHE_SIZE") or 32 << 20
    except (OSError, ValueError):
        return 32 << 20


def _versions(libraries) -> dict[str, str]:
    names = {"tensorflow": ("tensorflow", "tensorflow_cpu")}
    found = {}
    for library in libraries:
        for distribution in names.get(library, (library,)):
            try:
                found[library] = importlib.metadata.version(distribution)
            except importlib.metadata.PackageNotFoundError:
                continue
    return found
