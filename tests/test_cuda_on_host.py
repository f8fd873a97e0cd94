"""The CUDA backend, run on the host: see cuda_on_host/cuda_on_host.h for what that can and cannot show."""

import pytest
import torch
from torch.testing import make_tensor

import cuda_on_host
from numerics import assert_rounded_once, same_bits
from op_specs import SCATTER_ND, SEGMENT_SUM, SPARSE_CONCAT, each_sample
from specs.base import COMPLEX, Sample
from test_layouts import SAME_VALUES, column_of_wider, conjugated, expanded, negated, offset

ROWS = [0, 1, 31, 32, 33, 1023, 1024, 1025]
WIDTHS = [1, 3, 4, 7, 64, 1000]
DTYPES = [torch.bool, torch.uint8, torch.int16, torch.int64, torch.bfloat16, torch.float32, torch.complex128]
IDS = {
    "many_segments": lambda rows: torch.randint(2 * rows + 1, (rows,)).sort().values,
    "few_segments": lambda rows: torch.randint(3, (rows,)).sort().values,
    "giant_segment": lambda rows: torch.randint(100, (rows,)).sub(70).clamp(min=0).sort().values,
    "one_segment": lambda rows: torch.full((rows,), 5),
    "all_ignored": lambda rows: torch.full((rows,), 1 << 40),
    "some_ignored": lambda rows: torch.randint(-rows, 3 * rows + 1, (rows,)).sort().values,
}


@pytest.fixture(autouse=True)
def _no_memory_is_zero_by_chance():
    torch.use_deterministic_algorithms(True)  # fills what torch.empty returns
    yield
    torch.use_deterministic_algorithms(False)


def call(spec, sample):
    return getattr(cuda_on_host.operators(), spec.name)(*sample.args, **sample.kwargs)


def segment_sum(*args):
    return cuda_on_host.operators().segment_sum(*args)


def without_bad_rows(data, indices, ids, num_segments):
    good = (ids >= 0) & (ids < num_segments) & (indices >= 0) & (indices < len(data))
    return Sample("good", (data, indices[good], ids[good], num_segments))


@each_sample()
def test_every_operator_and_dtype(spec, sample):
    assert_rounded_once(call(spec, sample), spec.expected(sample))


@each_sample(torch.float32, torch.bool)
@pytest.mark.parametrize("layout", SAME_VALUES, ids=lambda layout: layout.__name__)
def test_any_layout(spec, sample, layout):
    assert_rounded_once(call(spec, sample.map_tensors(layout)), spec.expected(sample))


@each_sample(torch.float32, torch.bfloat16)
@pytest.mark.parametrize("layout", [expanded, negated], ids=lambda layout: layout.__name__)
def test_any_layout_of_values(spec, sample, layout):
    sample = sample.map_argument(spec.values, layout)
    assert_rounded_once(call(spec, sample), spec.expected(sample))


@each_sample(*COMPLEX)
def test_conjugated_values(spec, sample):
    sample = sample.map_argument(spec.values, conjugated)
    assert_rounded_once(call(spec, sample), spec.expected(sample))


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("width", WIDTHS)
def test_segment_sum_of_any_size(rows, width, ids):
    segment_ids = IDS[ids](rows)
    num_segments = 2 * rows + 1 if ids == "many_segments" else 30
    dtype = DTYPES[(rows + width) % len(DTYPES)]
    data = make_tensor((rows, width), dtype=dtype, device="cpu", low=0, high=3)
    args = data, torch.randint(-1, rows + 1, (rows,)), segment_ids, num_segments
    assert_rounded_once(segment_sum(*args), SEGMENT_SUM.expected(without_bad_rows(*args)))


@pytest.mark.parametrize("dtype", SEGMENT_SUM.dtypes, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("layout", [torch.clone, offset], ids=["aligned", "misaligned"])
def test_segment_sum_of_any_dtype_and_alignment(dtype, width, layout):
    data = layout(make_tensor((600, width), dtype=dtype, device="cpu", low=0, high=3))
    sample = Sample("rows", (data, None, IDS["giant_segment"](600), 30))
    assert_rounded_once(segment_sum(*sample.args), SEGMENT_SUM.expected(sample))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("width", WIDTHS)
def test_scatter_nd_of_any_size(rows, width):
    dtype = DTYPES[(rows + width) % len(DTYPES)]
    updates = make_tensor((rows, width), dtype=dtype, device="cpu", low=0, high=3)
    indices = torch.stack([torch.randint(-1, 8, (rows,)), torch.randint(-1, 6, (rows,))], -1)
    sample = Sample("ignore", (indices, updates, (7, 5, width)), {"bad_indices_policy": "ignore"})
    assert_rounded_once(call(SCATTER_ND, sample), SCATTER_ND.expected(sample))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("width", [1, 3, 64])
def test_gather_nd_of_any_size_and_alignment(rows, dtype, width):
    params = make_tensor((6, 5, width), dtype=dtype, device="cpu")
    indices = torch.stack([torch.randint(6, (rows,)), torch.randint(5, (rows,))], -1)
    expected = params[indices[:, 0], indices[:, 1]]
    for layout in (torch.clone, offset):
        assert same_bits(cuda_on_host.operators().gather_nd(layout(params), indices), expected)


def test_rows_too_wide_for_one_dimension_of_the_grid():
    params = torch.randint(256, (2, 2**20 + 77), dtype=torch.uint8)
    assert torch.equal(cuda_on_host.operators().gather_nd(params, torch.tensor([[1]])), params[1:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("width", [8, 60, 520])
def test_layout_does_not_change_the_bits(width, dtype):
    data, ids = torch.randn(3000, width, dtype=torch.float64).to(dtype), torch.randint(9, (3000,)).sort().values
    expected = segment_sum(data, None, ids, 9)
    for layout in (column_of_wider, offset):
        assert same_bits(segment_sum(layout(data), None, ids, 9), expected)
    padded = torch.cat([data, data[:, :1]], 1)[:, :width]  # rows that do not begin at multiples of 16 bytes
    assert same_bits(segment_sum(padded, None, ids, 9), expected)


@pytest.mark.parametrize("width", [1, 16])
def test_long_segments_take_several_passes(width):
    data, ids = torch.randint(100, (30_000, width)), torch.randint(4, (30_000,)).sort().values
    expected = torch.zeros(4, width, dtype=torch.int64).index_add(0, ids, data)
    assert torch.equal(segment_sum(data, None, ids, 4), expected)


def test_many_empty_segments_are_zero():
    expected = torch.zeros(100_000, 2)
    expected[70_000], expected[99_998] = 3, 4
    data, ids = torch.tensor([[1.0] * 2, [2.0] * 2, [4.0] * 2]), torch.tensor([70_000, 70_000, 99_998])
    assert torch.equal(segment_sum(data, None, ids, 100_000), expected)


def test_error_of_a_long_segment_grows_like_that_of_a_blocked_sum():
    terms = torch.rand(100_000)
    total = segment_sum(terms, None, torch.zeros(100_000, dtype=torch.int64), 1)
    assert abs(total.double() - terms.double().sum()) < 1e-6 * terms.sum()  # in order: about 1e-5


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_16_bit_floats_accumulate_in_float32_and_round_once(dtype):
    every_value = torch.arange(1 << 16).to(torch.int32).to(torch.int16).view(dtype)
    alone = segment_sum(every_value, None, torch.arange(1 << 16), 1 << 16)
    torch.testing.assert_close(alone, every_value, rtol=0, atol=0, equal_nan=True)
    pairs = make_tensor((4096, 2), dtype=dtype, device="cpu")
    sums = segment_sum(pairs.reshape(-1), None, torch.arange(8192) // 2, 4096)
    assert torch.equal(sums, pairs.float().sum(1).to(dtype))
    many_roundings = torch.tensor([2048.0] + [0.5] * 2048, dtype=dtype)
    total = segment_sum(many_roundings, None, torch.zeros(2049, dtype=torch.int64), 1)
    assert torch.equal(total, torch.tensor([3072.0], dtype=dtype))


@pytest.mark.parametrize("width", [1, 40])
@pytest.mark.parametrize("rows, segments", [(2000, 200), (300, 5000), (20_000, 30_000)])
def test_unsorted_ids_write_every_row_and_only_rows(width, rows, segments):
    ids = torch.randint(-50, segments + 50, (rows,))
    sums = segment_sum(torch.ones(rows, width, dtype=torch.int64), None, ids, segments)
    assert sums.min() >= 0 and sums.max() <= rows  # and AddressSanitizer sees no access out of bounds


def test_unsorted_ids_that_are_noticed_give_zeros():
    ids = torch.arange(5000).flip(0)
    assert not segment_sum(torch.ones(5000), None, ids, 5000).any()


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_without_num_segments_the_last_id_counts(dtype):
    def sums(*ids):
        return segment_sum(torch.ones(len(ids)), None, torch.tensor(ids, dtype=dtype)).tolist()

    assert sums() == []
    assert sums(0, 2, 2) == [1, 0, 2]
    assert sums(-3, 1) == [0, 1]
    assert sums(-3, -1) == []


def test_int64_keys_give_the_same_bits():
    updates, indices = torch.randn(3000), torch.randint(-1, 40, (3000, 1))
    narrow = cuda_on_host.operators().scatter_nd(indices, updates, (39,))
    assert same_bits(cuda_on_host.operators().scatter_nd_of_int64_keys(indices, updates, 39), narrow)


def test_extreme_indices_are_ignored():
    ops, extremes = cuda_on_host.operators(), [2**63 - 1, -(2**63), 2**31, 1, 2**32 + 1]
    indices = torch.tensor(extremes)
    expected = torch.tensor([0.0, 1.0, 0.0])
    assert torch.equal(ops.scatter_nd(indices[:, None], torch.ones(5), (3,)), expected)
    assert torch.equal(ops.gather_nd(torch.ones(3), indices[:, None]), (indices == 1).float())
    assert torch.equal(segment_sum(torch.ones(5), None, indices.sort().values, 3), expected)
    ones = torch.ones(5, dtype=torch.int64)
    assert torch.equal(ops.segment_sum_backward(torch.ones(3), ones, indices, 3), expected)
    assert torch.equal(ops.segment_sum_backward(torch.ones(3), indices, ones, 3), expected)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_bad_indices_raise_if_asked_to(dtype):
    ops, error = cuda_on_host.operators(), {"bad_indices_policy": "error"}
    indices = torch.randint(4, (50, 20, 2), dtype=dtype)
    ops.gather_nd(torch.ones(4, 5), indices, **error)
    ops.scatter_nd(indices, torch.ones(50, 20), (4, 5), **error)
    indices[49, 19, 0], indices[30, 7, 1] = -1, 5
    message = rf"indices\[30, 7\] = \({indices[30, 7, 0]}, 5\) is outside shape \(4, 5\)"
    with pytest.raises(IndexError, match=rf"gather_nd\(\): {message}"):
        ops.gather_nd(torch.ones(4, 5), indices, **error)
    with pytest.raises(IndexError, match=rf"scatter_nd\(\): {message}"):
        ops.scatter_nd(indices, torch.ones(50, 20), (4, 5), **error)


def concat_inputs(count, shape, nnz, *dense):
    sizes = torch.tensor(shape)
    indices = [(torch.rand(nnz, len(shape)) * sizes).long() for _ in range(count)]
    values = [make_tensor((nnz, *dense), dtype=torch.int64, device="cpu") for _ in range(count)]
    return indices, values, [sizes] * count, len(shape) - 1


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((150, (4, 3), 7), id="more_inputs_than_a_launch_takes"),
        pytest.param((3, (1 << 40, 5, 1 << 40), 400), id="more_cells_than_int64"),
        pytest.param((2, (3,) * 50, 300), id="rank_50"),
        pytest.param((20, (2,) * 64, 20), id="rank_64"),
        pytest.param((2, (50, 20), 1000, 3, 7), id="hybrid"),
    ],
)
def test_sparse_concat_of_any_size(arguments):
    sample = Sample("random", concat_inputs(*arguments))
    assert_rounded_once(call(SPARSE_CONCAT, sample), SPARSE_CONCAT.expected(sample))


def test_invalid_entries_come_last_with_zero_values():
    indices = [torch.tensor([[0, 9], [1, 1]]), torch.tensor([[-1, 0], [0, 0], [2, 3]])]
    values, shapes = [torch.tensor([1, 2]), torch.tensor([3, 4, 5])], [torch.tensor([2, 4]), torch.tensor([2, 3])]
    out_indices, out_values, _ = cuda_on_host.operators().sparse_concat(indices, values, shapes, 1)
    assert out_indices.tolist() == [[0, 4], [1, 1], [1, 6], [1, 6], [1, 6]]
    assert out_values.tolist() == [4, 2, 0, 0, 0]
