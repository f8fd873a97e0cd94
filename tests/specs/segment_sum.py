"""segment_sum: sums of runs of rows, and its transpose segment_sum_backward."""

from collections.abc import Iterator

import torch
from torch.testing import make_tensor

from specs.base import ErrorCase, OpSpec, Sample


def reference(data, indices, segment_ids, num_segments=None):
    rows = range(len(data)) if indices is None else indices.tolist()
    ids = segment_ids.tolist()
    if num_segments is None:
        num_segments = ids[-1] + 1 if ids else 0
    result = torch.zeros(num_segments, *data.shape[1:], dtype=data.dtype)
    for row, segment in zip(rows, ids, strict=True):
        result[segment] += data[row]
    return result


def aten(data, indices, segment_ids, num_segments=None):
    if num_segments is None:
        num_segments = int(segment_ids[-1]) + 1 if len(segment_ids) else 0
    rows = data if indices is None else data.index_select(0, indices)
    return data.new_zeros(num_segments, *data.shape[1:]).index_add(0, segment_ids, rows)


def backward_reference(grad, indices, segment_ids, num_rows):
    rows = range(num_rows) if indices is None else indices.tolist()
    result = torch.zeros(num_rows, *grad.shape[1:], dtype=grad.dtype)
    for row, segment in zip(rows, segment_ids.tolist(), strict=True):
        result[row] += grad[segment]
    return result


def backward_aten(grad, indices, segment_ids, num_rows):
    rows = grad.index_select(0, segment_ids)
    return rows if indices is None else grad.new_zeros(num_rows, *grad.shape[1:]).index_add(0, indices, rows)


def samples(dtype: torch.dtype) -> Iterator[Sample]:
    def values(*shape):
        return make_tensor(shape, dtype=dtype, device="cpu")

    def some_rows(num_rows, count):
        return torch.randint(num_rows, (count,))

    def ascending(num_segments, count):
        return torch.randint(num_segments, (count,)).sort().values

    i = torch.tensor
    none = i([]).long()
    yield Sample("every_row", (values(4, 3), None, i([0, 0, 1, 2]), 3))
    yield Sample("chosen_rows", (values(3, 4), i([2, 0, 2, 1]), i([0, 0, 1, 1]), 2))
    yield Sample("missing_ids", (values(3, 4), i([0, 1]), i([0, 2]), 4))
    yield Sample("first_id_missing", (values(3, 2), None, i([2, 2, 4]), 5))
    yield Sample("more_segments_than_rows", (values(2, 2), None, i([1, 1]), 9))
    yield Sample("segment_count_from_last_id", (values(3, 4), None, i([0, 2, 2])))
    yield Sample("segment_count_from_last_id_of_chosen_rows", (values(3, 4), i([1, 1]), i([0, 3])))
    yield Sample("segment_count_from_no_id", (values(3, 4), none, none))
    yield Sample("no_rows_chosen", (values(3, 4), none, none, 3))
    yield Sample("no_rows", (values(0, 4), None, none, 2))
    yield Sample("no_rows_no_segments", (values(0, 4), None, none, 0))
    yield Sample("empty_rows", (values(3, 0), None, i([0, 1, 1]), 2))
    yield Sample("rank_1", (values(7), None, i([0, 0, 0, 1, 1, 3, 3]), 4))
    yield Sample("rank_1_chosen", (values(5), i([4, 0, 4, 4, 2]), i([0, 0, 0, 2, 2]), 3))
    yield Sample("rank_4", (values(6, 2, 3, 2), i([5, 1, 1, 0]), i([0, 1, 1, 1]), 2))
    yield Sample("int32_indices", (values(5, 3), some_rows(5, 8).int(), ascending(4, 8).int(), 4))
    yield Sample("int32_indices_int64_ids", (values(5, 3), some_rows(5, 8).int(), ascending(4, 8), 4))
    yield Sample("int64_indices_int32_ids", (values(5, 3), some_rows(5, 8), ascending(4, 8).int(), 4))
    yield Sample("one_segment", (values(200, 2), None, torch.zeros(200, dtype=torch.int64), 1))
    yield Sample("wide_rows", (values(20, 67), some_rows(20, 30), ascending(4, 30), 4))
    yield Sample("many_segments", (values(50, 3), some_rows(50, 300), ascending(90, 300), 90))


def backward_samples(dtype: torch.dtype) -> Iterator[Sample]:
    """The transpose takes segments where segment_sum takes rows, so that the shapes follow from those above."""
    for sample in samples(dtype):
        data, indices, segment_ids, *num_segments = sample.args
        if num_segments:
            grad = make_tensor((num_segments[0], *data.shape[1:]), dtype=dtype, device="cpu")
            yield Sample(sample.name, (grad, indices, segment_ids, len(data)))


def workload(dtype: torch.dtype, rows: int, targets: int, *row_shape: int) -> Sample:
    data = make_tensor((rows, *row_shape), dtype=dtype, device="cpu")
    return Sample(
        "workload", (data, torch.randint(rows, (rows,)), torch.randint(targets, (rows,)).sort().values, targets)
    )


def backward_workload(dtype: torch.dtype, rows: int, targets: int, *row_shape: int) -> Sample:
    grad = make_tensor((targets, *row_shape), dtype=dtype, device="cpu")
    return Sample("workload", (grad, torch.randint(rows, (rows,)), torch.randint(targets, (rows,)).sort().values, rows))


def error_cases() -> Iterator[ErrorCase]:
    i, data = torch.tensor, torch.ones(3, 2)
    huge = torch.ones(1, 1).expand(3, 2**40)
    unsorted = r"segment_ids\[2\] = 0 .*segment_ids\[1\] = 1"
    yield ErrorCase("ids_descend", RuntimeError, unsorted, (data, None, i([0, 1, 0]), 2))
    yield ErrorCase("ids_of_chosen_rows_descend", RuntimeError, unsorted, (data, i([0, 1, 2]), i([0, 1, 0])))
    yield ErrorCase("negative_id", IndexError, r"segment_ids\[0\] = -1 .*\[0, 2\)", (data, None, i([-1, 0, 1]), 2))
    yield ErrorCase("negative_first_id", IndexError, r"segment_ids\[0\] = -1", (data, None, i([-1, 0, 1])))
    yield ErrorCase("id_beyond", IndexError, r"segment_ids\[1\] = 2 .*\[0, 2\)", (data, i([0, 1]), i([0, 2]), 2))
    yield ErrorCase("id_and_no_segments", IndexError, r"segment_ids\[0\] = 2 .*\[0, 0\)", (data, i([0]), i([2]), 0))
    yield ErrorCase(
        "int32_id_beyond", IndexError, r"segment_ids\[2\] = 9 .*\[0, 4\)",
        (data, None, i([0, 3, 9], dtype=torch.int32), 4),
    )  # fmt: skip
    yield ErrorCase("index_beyond", IndexError, r"indices\[1\] = 3 .*\[0, 3\)", (data, i([0, 3]), i([0, 0])))
    yield ErrorCase("negative_index", IndexError, r"indices\[1\] = -1 .*\[0, 3\)", (data, i([0, -1]), i([0, 0]), 1))
    yield ErrorCase("index_of_no_rows", IndexError, r"indices\[0\] = 0 .*\[0, 0\)", (data[:0], i([0]), i([0]), 1))
    yield ErrorCase("negative_num_segments", RuntimeError, r"num_segments.*-1", (data, i([0]), i([0]), -1))
    yield ErrorCase("rank_0_data", RuntimeError, r"data", (torch.ones(()), None, i([]).long(), 1))
    yield ErrorCase("rank_2_ids", RuntimeError, r"segment_ids.*\(3, 1\)", (data, None, i([[0], [1], [1]]), 2))
    yield ErrorCase("rank_0_ids", RuntimeError, r"segment_ids.*\(\)", (data, None, i(0), 2))
    yield ErrorCase("rank_2_indices", RuntimeError, r"indices.*\(2, 1\)", (data, i([[0], [1]]), i([0, 1]), 2))
    yield ErrorCase("ids_fewer_than_rows", RuntimeError, r"segment_ids.*2.*3", (data, None, i([0, 0]), 2))
    yield ErrorCase("ids_fewer_than_indices", RuntimeError, r"(?s)2.*1|1.*2", (data, i([0, 1]), i([0]), 2))
    yield ErrorCase("num_segments_overflow", RuntimeError, r"result|num_segments", (data, i([0]), i([0]), 2**62))
    yield ErrorCase("result_overflow", RuntimeError, r"num_segments|result", (huge, None, i([0, 0, 0]), 2**40))
    yield ErrorCase("float_ids", RuntimeError, r"segment_ids.*(?i:float)", (data, None, torch.zeros(3), 2))
    yield ErrorCase("float_indices", RuntimeError, r"indices.*(?i:float)", (data, torch.zeros(1), i([0]), 2))
    yield ErrorCase(
        "ids_that_require_grad", RuntimeError, r"segment_ids", (data, None, torch.zeros(3, requires_grad=True), 2)
    )  # fmt: skip
    yield ErrorCase(
        "value_dtype", RuntimeError, r"data.*(?i:float8)", (data.to(torch.float8_e5m2), None, i([0, 0, 1]), 2)
    )  # fmt: skip
    yield ErrorCase("devices", RuntimeError, r"data|segment_ids", (data.to("meta"), None, i([0, 0, 1]), 2))


def backward_error_cases() -> Iterator[ErrorCase]:
    """Only what a direct caller can get wrong: segment_sum has checked the rest before its gradient is asked for."""
    i, grad = torch.tensor, torch.ones(3, 2)
    yield ErrorCase("id_beyond", IndexError, r"segment_ids\[1\] = 3 .*\[0, 3\)", (grad, None, i([0, 3]), 2))
    yield ErrorCase("index_beyond", IndexError, r"indices\[1\] = 5 .*\[0, 4\)", (grad, i([0, 5]), i([0, 1]), 4))
    yield ErrorCase("negative_num_rows", RuntimeError, r"num_rows.*-1", (grad, i([0]), i([0]), -1))
    yield ErrorCase("ids_fewer_than_rows", RuntimeError, r"segment_ids.*2.*4", (grad, None, i([0, 0]), 4))


SEGMENT_SUM = OpSpec("segment_sum", reference, aten, samples, workload, error_cases, values=0, indices=(1, 2))
SEGMENT_SUM_BACKWARD = OpSpec(
    "segment_sum_backward",
    backward_reference,
    backward_aten,
    backward_samples,
    backward_workload,
    backward_error_cases,
    values=0,
    indices=(1, 2),
)
