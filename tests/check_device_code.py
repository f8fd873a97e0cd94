"""Runs the device code's tests on the host twice: with AddressSanitizer, and measuring which lines they run.

    python tests/check_device_code.py

Fails on an access out of bounds, or where less than 95 % of an operator's device code is run.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENOUGH = 0.95


def run_tests(flags: str, **environment: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", HERE / "test_cuda_on_host.py"]
    subprocess.run(command, check=True, env={**os.environ, "ON_HOST_FLAGS": flags, **environment})


def check_memory() -> None:
    files = ["libasan.so", "libstdc++.so"]
    paths = [subprocess.check_output(["g++", f"-print-file-name={file}"], text=True).strip() for file in files]
    run_tests("-fsanitize=address", LD_PRELOAD=" ".join(paths), ASAN_OPTIONS="detect_leaks=0")


def check_coverage() -> bool:
    with tempfile.TemporaryDirectory() as directory:
        run_tests("--coverage -O0", ON_HOST_DIRECTORY=directory)
        [data] = Path(directory).glob("*.gcda")
        report = subprocess.check_output(["gcov", "--json-format", "--stdout", data], cwd=HERE / "cuda_on_host")
    enough = True
    for path, counts in sorted(runs_by_line(json.loads(report)).items()):
        missed = [line for line, count in sorted(counts.items()) if count == 0]
        share = 1 - len(missed) / len(counts)
        print(f"{share:7.1%} of {len(counts):4} lines  {path}", f"not run: {missed}" if missed else "")
        enough &= share >= ENOUGH or path.startswith("csrc/common/")
    return enough


def runs_by_line(report: dict) -> dict[str, dict[int, int]]:
    """How often each line of each device header ran, over all the functions that a template became."""
    runs: dict[str, dict[int, int]] = {}
    for file in report["files"]:
        path = (HERE / "cuda_on_host" / file["file"]).resolve()
        if path.suffix == ".cuh" and path.is_relative_to(HERE.parent / "csrc"):
            counts = runs.setdefault(str(path.relative_to(HERE.parent)), {})
            for line in file["lines"]:
                counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
    return runs


if __name__ == "__main__":
    check_memory()
    sys.exit(0 if check_coverage() else "The tests leave device code unrun.")
