"""Every operator computes what its reference does, for every dtype and at every size."""

import pytest
import torch

import torch_sparse_ops
from numerics import as_tuple, assert_rounded_once
from op_specs import OP_SPECS, SCATTER_ND, SEGMENT_SUM, SEGMENT_SUM_BACKWARD, each_operator, each_sample
from specs.base import FLOATING, widen

# Rows, targets and the shape of a row: few and many targets, narrow and wide rows, one giant target.
LARGE = [
    (500_000, 300_000),
    (500_000, 100),
    (300_000, 1),
    (100_000, 20_000, 3),
    (100_000, 1, 8),
    (20_000, 50, 67),
    (5_000, 5_000, 256),
]


@each_sample()
def test_value(spec, sample):
    assert_rounded_once(spec.op(*sample.args, **sample.kwargs), spec.expected(sample))


@each_sample(torch.float32)
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64], ids=str)
def test_value_for_each_index_dtype(spec, sample, index_dtype):
    for position in spec.indices:
        sample = sample.map_argument(position, lambda indices: indices.to(index_dtype))
    assert_rounded_once(spec.op(*sample.args, **sample.kwargs), spec.expected(sample))


@each_operator
@pytest.mark.parametrize("size", LARGE, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int16], ids=str)
def test_value_of_large_inputs(spec, size, dtype):
    sample = spec.workload(dtype, *size)
    exact = spec.aten(*sample.map_argument(spec.values, widen).args)
    terms = size[0] / size[1]
    tolerance = {"rtol": 0, "atol": 0}
    if dtype.is_floating_point:  # numbers below 10, added in order at worst
        tolerance = {"rtol": torch.finfo(dtype).eps, "atol": 1e-3 + 10 * terms * torch.finfo(torch.float32).eps}
    for i, (ours, theirs) in enumerate(zip(as_tuple(spec.op(*sample.args)), as_tuple(exact), strict=True)):
        depends_on_values = i == (spec.output or 0)
        torch.testing.assert_close(ours, theirs.to(dtype) if depends_on_values else theirs, **tolerance)


def test_scatter_into_a_result_beyond_every_cache():
    indices, updates, shape = SCATTER_ND.workload(torch.int32, 100_000, 80_000_000).args
    result = SCATTER_ND.op(indices, updates, shape)
    targets, place = indices.unique(return_inverse=True)
    sums = torch.zeros(len(targets), dtype=torch.int32).index_add(0, place[:, 0], updates)
    assert torch.equal(result[targets], sums)
    assert result.count_nonzero() == sums.count_nonzero()


@each_sample(torch.float32)
def test_aten_twin_means_the_same_as_the_reference(spec, sample):
    assert_rounded_once(spec.aten(*sample.args, **sample.kwargs), spec.expected(sample))


PUBLIC = [spec for spec in OP_SPECS if spec is not SEGMENT_SUM_BACKWARD]


@each_sample(torch.float32, operators=PUBLIC)
def test_python_function_is_the_operator(spec, sample):
    arguments, keywords = sample.args, sample.kwargs
    function = getattr(torch_sparse_ops, spec.name)
    torch.testing.assert_close(function(*arguments, **keywords), spec.op(*arguments, **keywords), rtol=0, atol=0)


SUMS = [SCATTER_ND, SEGMENT_SUM, SEGMENT_SUM_BACKWARD]


def sum_of(spec, terms: torch.Tensor) -> torch.Tensor:
    """The sum of all ``terms`` as the operator computes it."""
    zeros = torch.zeros(len(terms), dtype=torch.int64)
    if spec is SCATTER_ND:
        return spec.op(zeros[:, None], terms, (1,))[0]
    if spec is SEGMENT_SUM:
        return spec.op(terms, None, zeros, 1)[0]
    return spec.op(terms, zeros, torch.arange(len(terms)), 1)[0]


def each_sum(test):
    return pytest.mark.parametrize("spec", SUMS, ids=lambda spec: spec.name)(test)


@each_sum
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_16_bit_floats_accumulate_in_float32(spec, dtype):
    assert sum_of(spec, torch.ones(10_000, dtype=dtype)) == torch.tensor(10_000.0).to(dtype)
    many_roundings = torch.tensor([2048.0] + [0.5] * 2048, dtype=dtype)
    assert sum_of(spec, many_roundings) == torch.tensor(3072.0).to(dtype)


def test_error_of_a_long_segment_grows_like_that_of_a_blocked_sum():
    terms = torch.rand(1_000_000)
    exact = terms.double().sum()
    assert abs(sum_of(SEGMENT_SUM, terms) - exact) < 1e-6 * exact  # in order: about 1e-5
    wide = terms.reshape(-1, 8)
    total = SEGMENT_SUM.op(wide, None, torch.zeros(len(wide), dtype=torch.int64), 1)
    torch.testing.assert_close(total[0].double(), wide.double().sum(0), rtol=1e-6, atol=0)


@each_sum
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_integers_wrap(spec, dtype):
    largest = torch.iinfo(dtype).max
    wrapped = torch.tensor(largest, dtype=dtype) + 2
    assert sum_of(spec, torch.tensor([largest, 1, 1], dtype=dtype)) == wrapped


@each_sum
def test_bool_sum_is_a_logical_or(spec):
    assert sum_of(spec, torch.tensor([True, True])).item() is True
    assert sum_of(spec, torch.tensor([False, True, False])).item() is True
    assert sum_of(spec, torch.tensor([False, False])).item() is False


@each_sum
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_nan_and_infinity_spread(spec, dtype):
    inf = float("inf")
    assert sum_of(spec, torch.tensor([1, inf, 2], dtype=dtype)) == inf
    assert sum_of(spec, torch.tensor([1, -inf, 2], dtype=dtype)) == -inf
    assert sum_of(spec, torch.tensor([inf, -inf], dtype=dtype)).isnan()
    assert sum_of(spec, torch.tensor([1, float("nan")], dtype=dtype)).isnan()
