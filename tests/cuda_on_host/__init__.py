"""The CUDA backend on the host: ``operators()`` are those of torch.ops.torch_sparse_ops, run by its device code.

Read from the environment: ON_HOST_FLAGS, more flags for the compiler, and ON_HOST_DIRECTORY, where to build.
"""

import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import torch

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX", "g++")
TORCH = Path(torch.__file__).parent
FLAGS = [
    *("-std=c++20", "-O1", "-g1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-Bsymbolic"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-parameter"),
    *("-DTORCH_STABLE_ONLY", "-DTORCH_TARGET_VERSION=0x020b000000000000", "-isystem", f"{TORCH}/include"),
    *("-include", "cuda_on_host.h"),
]
LIBRARIES = [f"-L{TORCH}/lib", "-ltorch_cpu", "-lc10"]


@cache
def operators():
    library = Path(os.environ.get("ON_HOST_DIRECTORY") or tempfile.mkdtemp()) / "backend.so"
    flags = [*FLAGS, *os.environ.get("ON_HOST_FLAGS", "").split()]
    subprocess.run([COMPILER, *flags, "backend.cpp", "-o", str(library), *LIBRARIES], cwd=HERE, check=True)
    torch.ops.load_library(library)
    return torch.ops.torch_sparse_ops_on_host
