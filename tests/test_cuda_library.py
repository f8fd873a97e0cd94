"""The CUDA library as a file: what it is built for, what it needs, and that it loads beside any torch. Needs no GPU."""

import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from op_specs import each_operator
from torch_sparse_ops._library import library_path

ROOT = Path(__file__).resolve().parent.parent
cuda_build = SimpleNamespace(**runpy.run_path(str(ROOT / "cuda_build.py")))  # a script of the sources, not installed
needs_library = pytest.mark.skipif("cuda" not in library_path(), reason="the CUDA library is not built")


@needs_library
@each_operator
def test_every_operator_has_a_cuda_kernel(spec):
    torch.ops.load_library(library_path()["cuda"])
    assert torch._C._dispatch_has_kernel_for_dispatch_key(f"torch_sparse_ops::{spec.name}", "CUDA")


@needs_library
def test_it_needs_nothing_of_torch_but_its_stable_interface():
    symbols = subprocess.check_output(["nm", "-D", "--undefined-only", library_path()["cuda"]], text=True).split("\n")
    names = [line.split()[-1].split("@")[0] for line in symbols if line]
    of_torch = [name for name in names if "torch" in name or "c10" in name or "Py" in name]
    assert of_torch and all(name.startswith(("aoti_torch_", "torch_")) for name in of_torch)
    assert not any(name.startswith(("cuda", "cu")) or "_cuda_" in name for name in names)  # else no CPU torch loads it


@pytest.mark.parametrize(
    "environment, said",
    [
        ({"FORCE_CUDA": "0"}, "not built: FORCE_CUDA=0"),
        ({"FORCE_CUDA": "1", "CUDA_HOME": "/nowhere"}, "nvcc is neither in CUDA_HOME nor on the PATH"),
        ({"CUDA_HOME": "/nowhere"}, "not built: no nvcc"),
    ],
)
def test_the_build_says_what_it_did_and_why(environment, said, tmp_path, monkeypatch):
    for name in ("FORCE_CUDA", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    program = f"import cuda_build, pathlib; cuda_build.build(pathlib.Path({str(tmp_path / '_cuda.so')!r}))"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert said in result.stdout + result.stderr
    assert (result.returncode != 0) == ("neither" in said)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "targets, flags",
    [
        ("9.0", ["-gencode=arch=compute_90,code=sm_90"]),
        ("12.0+PTX", ["-gencode=arch=compute_120,code=[sm_120,compute_120]"]),
        ("8.0;9.0", ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"]),
        ("8.6 9.0a", ["-gencode=arch=compute_86,code=sm_86", "-gencode=arch=compute_90a,code=sm_90a"]),
    ],
)
def test_torch_cuda_arch_list_is_honoured(targets, flags):
    assert cuda_build.target_flags(targets) == flags


def test_a_target_that_nvcc_does_not_know_is_named():
    with pytest.raises(SystemExit, match="'Hopper'"):
        cuda_build.target_flags("9.0;Hopper")
