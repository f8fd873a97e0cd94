"""A build that lacks something says what, and what to do, before it starts."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

LACKING = {
    "torch": ("import sys; sys.modules['torch'] = None", ["headers of torch", "--no-build-isolation"]),
    "a newer torch": (
        "import torch; torch.__version__ = type(torch.__version__)('2.10.1')",
        ["torch >= 2.11", "this is torch 2.10.1", "Upgrade"],
    ),
    "ninja": (
        "import torch.utils.cpp_extension as extension; extension.is_ninja_available = lambda: False",
        ["ninja is not on the PATH", "pip install ninja"],
    ),
    "a compiler": (
        "import os; os.environ['CXX'] = 'no-such-compiler -O1'",
        ["compiler 'no-such-compiler' is not on the PATH", "apt-get install g++"],
    ),
}


@pytest.mark.parametrize("prelude, parts", LACKING.values(), ids=LACKING.keys())
def test_a_build_without_it_says_so_in_one_paragraph(prelude, parts, tmp_path):
    arguments = ["setup.py", "build_ext", "--build-lib", str(tmp_path), "--build-temp", str(tmp_path)]
    script = f"{prelude}\nimport runpy, sys\nsys.argv = {arguments}\nrunpy.run_path('setup.py', run_name='__main__')"
    finished = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert finished.returncode != 0
    paragraph = finished.stderr.strip().splitlines()[-1]
    assert paragraph.startswith("torch_sparse_ops cannot be built: ")
    for part in parts:
        assert part in paragraph
