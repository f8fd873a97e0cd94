"""Every set of CPU kernels that the processor has computes the same bits."""

import os
import subprocess
import sys

import pytest

import torch_sparse_ops

SETS = ("baseline", "avx2", "avx512")

# Sums of many row widths, over tiles, tails and the lanes of single columns, in every accumulator.
DIGEST = """
import hashlib, torch, torch_sparse_ops as ops
digest = hashlib.sha256()
for dtype in (torch.bool, torch.int8, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64):
    for width in (1, 2, 3, 7, 16, 33, 64, 300):
        generator = torch.Generator().manual_seed(width)
        data = (torch.randn(3000, width, generator=generator) * 100).to(dtype)
        rows = torch.randint(0, 3000, (5000,), generator=generator)
        ids = torch.randint(0, 90, (5000,), generator=generator).sort().values
        for result in (
            ops.segment_sum(data, rows, ids, 100),
            ops.segment_sum(data, None, ids[:3000], 100),
            ops.scatter_nd(ids[:3000, None], data, [100, width]),
        ):
            digest.update(result.view(torch.uint8).numpy().tobytes())
print(ops.instruction_set(), digest.hexdigest())
"""


def digest_with(instruction_set):
    environment = os.environ | {"TORCH_SPARSE_OPS_ISA": instruction_set}
    command = [sys.executable, "-c", DIGEST]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("instruction_set", SETS[: SETS.index(torch_sparse_ops.instruction_set())])
def test_an_older_set_computes_the_same_bits(instruction_set):
    used, digest = digest_with(instruction_set)
    assert used == instruction_set
    assert digest == digest_with(torch_sparse_ops.instruction_set())[1]
