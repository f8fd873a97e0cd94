"""Compiles the reduction for every default GPU and checks that it keeps its values in registers.

    python tests/check_ptxas.py [8.0 ...]

Fails on a register spill or another use of local memory that ptxas reports for a kernel of segment_sum.
"""

import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
BUILD = runpy.run_path(str(ROOT / "cuda_build.py"))
NVCC = BUILD["find_nvcc"]()
COMPILE_FLAGS = [flag for flag in BUILD["FLAGS"] if not flag.startswith(("-shared", "-cudart", "-X"))]
REPORT = re.compile(
    r"Compiling entry function '(?P<kernel>\w+)' for '(?P<gpu>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads.*?"
    r"Used (?P<registers>\d+) registers",
    re.DOTALL,
)


def compile_reduction(target: str) -> str:
    """What ptxas says."""
    with tempfile.TemporaryDirectory() as directory:
        command = [
            *(NVCC, *BUILD["target_flags"](target), "-cubin", "-Xptxas=-v", "-o", f"{directory}/cubin"),
            *(*COMPILE_FLAGS, f"-I{torch.__path__[0]}/include", "csrc/segment_sum/cuda.cu"),
        ]
        result = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return result.stderr


def main(targets: list[str]) -> None:
    failed = False
    for target in targets:
        kernels = [match.groupdict() for match in REPORT.finditer(compile_reduction(target))]
        in_local_memory = [k for k in kernels if any(int(k[use]) for use in ("stack", "stores", "loads"))]
        most = max(int(kernel["registers"]) for kernel in kernels)
        print(f"{target}: {len(kernels)} kernels, up to {most} registers, {len(in_local_memory)} in local memory")
        for kernel in in_local_memory:
            print("  {kernel}: stack {stack}, spill stores {stores}, loads {loads} bytes".format(**kernel))
        failed |= bool(in_local_memory)
    sys.exit("Local memory is slow: see the kernels above." if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:] or BUILD["DEFAULT_TARGETS"].replace("+PTX", "").split())
