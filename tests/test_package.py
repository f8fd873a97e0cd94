"""What a user meets before the first call: import, load errors, documentation, the self-test."""

import doctest
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import torch_sparse_ops

PACKAGE = Path(torch_sparse_ops.__file__).parent


def run(*arguments: str, package: Path = PACKAGE) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=package.parent)


def test_import_takes_under_a_tenth_of_a_second():
    timed = (
        "import time, torch; start = time.perf_counter(); import torch_sparse_ops; print(time.perf_counter() - start)"
    )
    assert any(float(run("-c", timed).stdout) < 0.1 for _ in range(5))


@pytest.mark.parametrize(
    "module",
    sorted(m.name for m in pkgutil.iter_modules([str(PACKAGE)]) if m.name not in ("__main__", "_cpu", "_cuda")),
)
def test_documentation_examples(module):
    results = doctest.testmod(importlib.import_module(f"torch_sparse_ops.{module}"))
    assert results.failed == 0
    assert results.attempted > 0 or module.startswith("_") or module == "segment_sum_backward"


@pytest.mark.parametrize("name", torch_sparse_ops.__all__)
def test_public_names_are_documented(name):
    if name != "__version__":
        assert getattr(torch_sparse_ops, name).__doc__


def test_self_test_succeeds():
    finished = run("-m", "torch_sparse_ops")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    lines = finished.stdout.splitlines()
    assert lines[-1] == "all checks ok"
    assert sum(line.endswith(": ok") for line in lines) >= 24  # values, gradients and compiled calls of 8 examples


@pytest.fixture
def one_example(monkeypatch):
    """The self-test cut down to its first example."""
    self_test = importlib.import_module("torch_sparse_ops.__main__")
    example = next(self_test.examples(torch.device("cpu")))
    monkeypatch.setattr(self_test, "examples", lambda device: [example])
    monkeypatch.setattr(self_test, "devices", lambda: [torch.device("cpu")])
    monkeypatch.setattr(sys, "argv", ["torch_sparse_ops", "--json"])
    return self_test, example


def test_self_test_reports_in_json(one_example, capsys):
    self_test, example = one_example
    assert self_test.main() == 0
    report = json.loads(capsys.readouterr().out)
    assert report["failures"] == 0
    assert report["environment"]["torch"] == torch.__version__
    assert report["checks"] == [
        {"device": "cpu", "example": example.name, "value": "ok", "gradient": "ok", "compiled": "ok"}
    ]


def test_self_test_fails_where_a_value_is_wrong(one_example, capsys):
    self_test, example = one_example
    example.expected[3] += 1
    assert self_test.main() == 1
    report = json.loads(capsys.readouterr().out)
    assert report["failures"] == 1
    assert report["checks"][0]["value"].startswith("FAILED")


@pytest.fixture
def copied_package(tmp_path):
    return Path(shutil.copytree(PACKAGE, tmp_path / "torch_sparse_ops", ignore=shutil.ignore_patterns("__pycache__")))


def import_error(package: Path) -> str:
    finished = run("-c", "import torch_sparse_ops", package=package)
    assert finished.returncode == 1
    return finished.stderr[finished.stderr.rindex("ImportError: ") :]


def test_a_missing_library_says_what_is_missing_where_and_what_to_do(copied_package):
    library = copied_package / torch_sparse_ops.library_path()["cpu"].name
    library.unlink()
    message = import_error(copied_package)
    assert "not found" in message and str(library) in message and "pip install" in message


def test_a_corrupt_library_says_why_it_does_not_load_and_what_to_do(copied_package):
    library = copied_package / torch_sparse_ops.library_path()["cpu"].name
    library.write_bytes(b"not a library")
    message = import_error(copied_package)
    assert "could not be loaded" in message and str(library) in message and "pip install" in message
    assert torch.__version__ in message


def test_a_stale_library_says_so(copied_package):
    source = copied_package / "_library.py"
    source.write_text(re.sub(r"SCHEMA_VERSION = \d+", "SCHEMA_VERSION = 999", source.read_text()))
    message = import_error(copied_package)
    assert "stale" in message and "999" in message and "pip install" in message


@pytest.mark.parametrize("backend", torch_sparse_ops.library_path())
@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm (binutils)")
def test_library_needs_only_the_stable_abi_of_torch(backend):
    library = torch_sparse_ops.library_path()[backend]
    nm = ["nm", "--dynamic", "--demangle", "--undefined-only", library]
    table = subprocess.run(nm, capture_output=True, text=True, check=True).stdout
    symbols = [line.split(maxsplit=1)[1] for line in table.splitlines() if line.split()[0] == "U"]
    # Symbols of the C and C++ libraries carry a version (name@GLIBC_2.17); torch's, and CUDA's run-time's, do not.
    unversioned = [name for name in symbols if "@" not in name and not name.startswith("std::")]
    assert [name for name in unversioned if not name.startswith(("aoti_torch_", "torch_", "cuda"))] == []
    assert unversioned and not any("Py" in name for name in unversioned)
