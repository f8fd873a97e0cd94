"""The same input gives the same bits, run after run, for any number of threads."""

import pytest
import torch

from numerics import same_bits
from op_specs import SEGMENT_SUM, each_operator

# Rows, targets and the shape of a row: scalars and wide rows, few and many targets, one giant target.
SIZES = [
    (500_000, 300_000),
    (500_000, 1000),
    (300_000, 1),
    (100_000, 1, 8),
    (100_000, 30_000, 17),
    (100_000, 7, 64),
    (10_000, 3_000, 256),
]


@each_operator
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_same_bits_for_any_number_of_threads(spec, size, dtype, num_threads):
    args = spec.workload(dtype, *size).args
    num_threads(1)
    expected = spec.op(*args)
    for threads in (1, 2, 4):
        num_threads(threads)
        assert same_bits(spec.op(*args), expected), f"{threads} threads"


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_same_bits_without_indices(size, num_threads):
    data, _, segment_ids, num_segments = SEGMENT_SUM.workload(torch.float32, *size).args
    num_threads(1)
    expected = SEGMENT_SUM.op(data, None, segment_ids, num_segments)
    for threads in (2, 4):
        num_threads(threads)
        assert same_bits(SEGMENT_SUM.op(data, None, segment_ids, num_segments), expected)


@each_operator
def test_same_bits_of_the_gradient(spec, num_threads):
    sample = spec.workload(torch.float32, 200_000, 3000, 4)
    inputs = [values.requires_grad_() for values in spec.value_tensors(sample)]
    f = spec.as_function_of_values(spec.op, sample)
    cotangent = torch.randn_like(f(*inputs))
    num_threads(1)
    expected = torch.autograd.grad(f(*inputs), inputs, cotangent)
    for threads in (2, 4):
        num_threads(threads)
        assert same_bits(torch.autograd.grad(f(*inputs), inputs, cotangent), expected)


@each_operator
def test_layout_does_not_change_the_bits(spec):
    sample = spec.workload(torch.float32, 100_000, 500, 6)
    strided = sample.map_argument(spec.values, lambda x: x.t().contiguous().t())
    assert same_bits(spec.op(*strided.args), spec.op(*sample.args))
