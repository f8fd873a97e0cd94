"""The package loads however it is imported, says so when it cannot, and survives a torch without its private names."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

import torch_sparse_ops

PACKAGE = Path(torch_sparse_ops.__file__).parent
CALL = "assert torch_sparse_ops.scatter_nd(torch.tensor([[1]]), torch.tensor([5]), [3]).tolist() == [0, 5, 0]"


def run(script: str, package: Path = PACKAGE) -> subprocess.CompletedProcess[str]:
    """In a new process, in a folder from which the package is imported."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, capture_output=True, text=True, cwd=package.parent, timeout=120)


def assert_runs(script: str, package: Path = PACKAGE) -> str:
    finished = run(script, package)
    assert finished.returncode == 0, finished.stderr
    return finished.stderr


IMPORTS = {
    "before_torch": "import torch_sparse_ops, torch",
    "after_torch": "import torch, torch_sparse_ops",
    "twice": "import torch, torch_sparse_ops, importlib; importlib.reload(torch_sparse_ops)",
    "after_its_library": "import torch; torch.ops.load_library({library!r}); import torch_sparse_ops",
}


@pytest.mark.parametrize("imports", IMPORTS.values(), ids=IMPORTS.keys())
def test_import(imports):
    library = str(torch_sparse_ops.library_path()["cpu"])
    assert "Warning" not in assert_runs(f"{imports.format(library=library)}\n{CALL}")


def test_import_in_many_threads_at_once():
    assert_runs(f"""
        import torch
        from concurrent.futures import ThreadPoolExecutor
        from threading import Barrier
        barrier = Barrier(8)
        def call(_):
            barrier.wait()
            import torch_sparse_ops
            {CALL}
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(call, range(8)))
    """)


class SegmentSums(torch.utils.data.Dataset):
    """Item i is the sum of i + 1 rows of ones, large enough to be computed in parallel where that is allowed."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        rows = torch.ones(50_000 * (i + 1), 4)
        return torch_sparse_ops.segment_sum(rows, None, torch.zeros(len(rows), dtype=torch.int64), 1)


@pytest.mark.skipif(sys.platform != "linux", reason="fork is the way to start workers on Linux")
def test_workers_after_a_fork():
    torch_sparse_ops.segment_sum(torch.ones(200_000, 4), None, torch.zeros(200_000, dtype=torch.int64), 1)
    loader = DataLoader(SegmentSums(), num_workers=2, batch_size=None, multiprocessing_context="fork")
    assert [item.tolist() for item in loader] == [[[50_000.0 * (i + 1)] * 4] for i in range(4)]


def test_a_library_of_another_copy_in_the_process_is_refused_by_name(tmp_path):
    other = tmp_path / "other" / torch_sparse_ops.library_path()["cpu"].name
    other.parent.mkdir()
    other.write_bytes(torch_sparse_ops.library_path()["cpu"].read_bytes())
    finished = run(f"import torch; torch.ops.load_library({str(other)!r}); import torch_sparse_ops")
    assert finished.returncode == 1
    assert "another copy" in finished.stderr and str(other) in finished.stderr


def test_the_first_of_two_copies_on_the_path_is_used_whole(tmp_path):
    copy = tmp_path / PACKAGE.name
    copy.mkdir()
    for path in (*PACKAGE.glob("*.py"), *torch_sparse_ops.library_path().values()):
        (copy / path.name).write_bytes(path.read_bytes())
    assert_runs(
        f"""
        import sys; sys.path.insert(1, {str(PACKAGE.parent)!r})
        import torch, torch_sparse_ops
        from torch_sparse_ops import scatter_nd
        assert all(path.parent.samefile({str(copy)!r}) for path in torch_sparse_ops.library_path().values())
        {CALL}
        """,
        package=copy,
    )


def test_library_paths_are_what_torch_loads():
    assert {str(path) for path in torch_sparse_ops.library_path().values()} & torch.ops.loaded_libraries


@pytest.mark.parametrize("library", torch_sparse_ops.library_path().values(), ids=torch_sparse_ops.library_path())
@pytest.mark.skipif(shutil.which("readelf") is None, reason="needs readelf (binutils)")
def test_the_library_takes_the_torch_that_is_there(library):
    dynamic = subprocess.run(["readelf", "--dynamic", library], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    assert "PATH)" not in dynamic
    assert {name for name in needed if "torch" in name or "c10" in name} <= {
        "libtorch.so",
        "libtorch_cpu.so",
        "libc10.so",
    }
    assert not any("python" in name or "cuda" in name for name in needed)


@pytest.fixture
def torch_without_private_names():
    """Code after which torch lacks a name that the derivatives in every mode are built on."""
    return """
        import warnings, torch, torch._functorch.utils
        del torch._functorch.utils.enable_single_level_autograd_function
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import torch_sparse_ops
    """


def test_a_torch_without_the_private_names_is_told_once_which_modes_are_lost(torch_without_private_names):
    assert_runs(f"""{torch_without_private_names}
        (warning,) = [str(w.message) for w in caught if "torch_sparse_ops" in str(w.message)]
        for part in ("enable_single_level_autograd_function", "forward-mode", "torch.func"):
            assert part in warning, warning
        {CALL}
    """)


def test_a_torch_without_the_private_names_still_has_backward_and_double_backward(torch_without_private_names):
    assert_runs(f"""{torch_without_private_names}
        import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
        from op_specs import OP_SPECS, samples_of
        for spec in OP_SPECS:
            samples = [s for s in samples_of(spec, torch.float64) if sum(v.numel() for v in spec.value_tensors(s)) < 30]
            assert samples, spec.name
            for sample in samples:
                f = spec.as_function_of_values(spec.op, sample)
                values = [v.clone().requires_grad_() for v in spec.value_tensors(sample)]
                assert torch.autograd.gradcheck(f, values)
                assert torch.autograd.gradgradcheck(f, values)
    """)
