"""Builds csrc/**/*.cu into the CUDA library. For setup.py, or by hand into the package: ``python cuda_build.py``.

One call of nvcc does it. torch's own build helper would refuse where torch has no CUDA; the stable headers need none.

Read from the environment: FORCE_CUDA (1: build wherever nvcc is, 0: never; unset: where nvcc and a GPU are),
CUDA_HOME, TORCH_CUDA_ARCH_LIST (such as "8.0;9.0+PTX"; default: the GPU present, else all of DEFAULT_TARGETS),
MAX_JOBS (compilers at a time).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent
DEFAULT_TARGETS = "8.0 9.0 10.0 12.0+PTX"
FLAGS = [
    *("-std=c++20", "-O3", "-shared", "-cudart=static", "-DUSE_CUDA", "-DTORCH_STABLE_ONLY"),
    *("-DTORCH_TARGET_VERSION=0x020b000000000000", "-Xcompiler=-fPIC,-fvisibility=hidden,-Wall"),
    "-Xlinker=--exclude-libs,ALL",
]


def build(library: Path) -> None:
    """Builds ``library`` if it is wanted here, and says in one line what was built, or not, and why."""
    nvcc, gpu, forced = find_nvcc(), capability_of_gpu(), os.environ.get("FORCE_CUDA")
    if forced == "0":
        return report("not built: FORCE_CUDA=0")
    if nvcc is None and forced == "1":
        raise stop("FORCE_CUDA=1, but nvcc is neither in CUDA_HOME nor on the PATH")
    if nvcc is None:
        return report("not built: no nvcc in CUDA_HOME or on the PATH")
    if gpu is None and forced != "1":
        return report("not built: no GPU here (FORCE_CUDA=1 builds it nevertheless)")
    targets = os.environ.get("TORCH_CUDA_ARCH_LIST") or gpu or DEFAULT_TARGETS
    run_nvcc(nvcc, targets, library)
    report(f"built for {targets} by {nvcc}, {'FORCE_CUDA=1' if forced == '1' else f'for a GPU of {gpu} is here'}")


def run_nvcc(nvcc: str, targets: str, library: Path) -> None:
    torch_path = Path(torch.__file__).parent
    library.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(nvcc, "--threads", os.environ.get("MAX_JOBS", str(os.cpu_count())), *FLAGS, *target_flags(targets)),
        *(f"-I{torch_path}/include", *sorted(map(str, ROOT.glob("csrc/**/*.cu")))),
        *(f"-L{torch_path}/lib", "-ltorch_cpu", "-lc10", "-o", str(library)),
    ]
    subprocess.run(command, check=True)


def target_flags(targets: str) -> list[str]:
    """nvcc's flags for a TORCH_CUDA_ARCH_LIST.

    >>> target_flags("8.0;9.0a+PTX")
    ['-gencode=arch=compute_80,code=sm_80', '-gencode=arch=compute_90a,code=[sm_90a,compute_90a]']
    """
    flags = []
    for target in re.split(r"[;,\s]+", targets.strip()):
        match = re.fullmatch(r"(\d+)\.(\d+)([af]?)(\+PTX)?", target)
        if not match:
            raise stop(f"TORCH_CUDA_ARCH_LIST has {target!r}, which is not like 9.0 or 9.0+PTX")
        number = "".join(match.groups("")[:3])
        code = f"[sm_{number},compute_{number}]" if match[4] else f"sm_{number}"
        flags.append(f"-gencode=arch=compute_{number},code={code}")
    return flags


def find_nvcc() -> str | None:
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    return shutil.which("nvcc", path=f"{home}/bin") if home else shutil.which("nvcc")


def capability_of_gpu() -> str | None:
    """That of the first GPU, as "9.0". Asks the driver: the torch that builds may have no CUDA."""
    try:
        answer = subprocess.check_output(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.split()[0] if answer.strip() else None


def stop(problem: str) -> SystemExit:
    return SystemExit(f"\ntorch_sparse_ops cannot be built: {problem}.\n")


def report(what: str) -> None:
    print(f"torch_sparse_ops: CUDA library {what}", flush=True)


if __name__ == "__main__":
    build(ROOT / "torch_sparse_ops" / "_cuda.so")
