"""The header that runs device code on the host finds barriers that threads miss."""

import subprocess

import pytest

import cuda_on_host

MISUSES = {
    "others never reach": "if (threadIdx.x == 3) __syncthreads(); else __ballot_sync(~0u, true);",
    "lane that has exited": "if (threadIdx.x == 3) return; __ballot_sync(~0u, true);",
    "leaves it out": "__ballot_sync(~1u, true);",
}


@pytest.mark.parametrize("message", MISUSES)
def test_a_misused_barrier_aborts(message, tmp_path):
    program = f"void kernel() {{ {MISUSES[message]} }}\nint main() {{ cuda_on_host::launch(kernel, 1, 64); }}\n"
    (tmp_path / "program.cpp").write_text(program)
    command = [cuda_on_host.COMPILER, "-std=c++20", "-include", cuda_on_host.HERE / "cuda_on_host.h", "program.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = subprocess.run("./a.out", cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode != 0 and message in result.stderr
