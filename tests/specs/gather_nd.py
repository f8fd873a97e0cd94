"""gather_nd: the rows of a tensor at indices."""

from collections.abc import Iterator
from math import prod

import numpy as np
import torch
from torch.testing import make_tensor

from specs.base import ErrorCase, OpSpec, Sample, random_indices, row_major_offsets


def reference(params, indices, *, bad_indices_policy="default"):
    depth = indices.shape[-1]
    result = torch.zeros(indices.shape[:-1] + params.shape[depth:], dtype=params.dtype)
    for place in np.ndindex(*indices.shape[:-1]):
        index = tuple(indices[place].tolist())
        if all(0 <= i < size for i, size in zip(index, params.shape, strict=False)):
            result[place] = params[index]
        elif bad_indices_policy != "ignore":
            raise IndexError(f"indices{list(place)} = {index} is outside shape {tuple(params.shape)}")
    return result


def aten(params, indices, *, bad_indices_policy="default"):
    depth = indices.shape[-1]
    sizes, row_shape = params.shape[:depth], params.shape[depth:]
    offsets = row_major_offsets(indices, sizes).reshape(-1)
    zeros_for_ignored_indices = params.new_zeros(1, *row_shape)
    rows = torch.cat([params.reshape(prod(sizes), *row_shape), zeros_for_ignored_indices])
    return rows.index_select(0, offsets).reshape(indices.shape[:-1] + row_shape)


def samples(dtype: torch.dtype) -> Iterator[Sample]:
    def values(*shape):
        return make_tensor(shape, dtype=dtype, device="cpu")

    i = torch.tensor
    yield Sample("elements", (values(8), i([[4], [3], [1], [7]])))
    yield Sample("rows", (values(4, 4, 4), i([[0], [2]])))
    yield Sample("duplicates", (values(5, 3), i([[1], [3], [1], [1]])))
    yield Sample("full_depth", (values(3, 4), i([[0, 1], [2, 3], [0, 1]])))
    yield Sample("batched", (values(3, 4, 5), random_indices((3, 4), 2, 3)))
    yield Sample("int32_indices", (values(3, 2, 3), random_indices((3, 2), 9).int()))
    yield Sample("depth_0", (values(2, 2), i([]).long().reshape(3, 0)))
    yield Sample("depth_0_of_scalar", (values(), i([]).long().reshape(3, 0)))
    yield Sample("rank_1_indices", (values(4, 3), i([1])))
    yield Sample("rank_1_indices_full_depth", (values(4, 3), i([1, 2])))
    yield Sample("rank_1_indices_depth_0", (values(2, 3), i([]).long()))
    yield Sample("empty_batch", (values(5, 3), i([]).long().reshape(0, 1)))
    yield Sample("empty_batch_of_rank_2", (values(5, 3), i([]).long().reshape(2, 0, 2)))
    yield Sample("empty_batch_and_params", (values(0, 3), i([]).long().reshape(0, 1)))
    yield Sample("empty_rows", (values(5, 0), i([[0], [4]])))
    yield Sample("wide_rows", (values(4, 67), random_indices((4,), 20)))
    yield Sample("many_rows", (values(50, 9), random_indices((50, 9), 300)))
    yield Sample("rank_6", (values(2, 1, 3, 2, 2, 3), random_indices((2, 1, 3, 2), 7)))
    yield Sample(
        "ignored_indices",
        (values(3, 4, 2), i([[0, 1], [3, 0], [-1, 2], [2, 2], [0, 4]])),
        {"bad_indices_policy": "ignore"},
    )
    yield Sample(
        "ignored_indices_of_empty_params",
        (values(0, 2), i([[0], [1]])),
        {"bad_indices_policy": "ignore"},
    )


def workload(dtype: torch.dtype, rows: int, targets: int, *row_shape: int) -> Sample:
    indices = torch.randint(targets, (rows, 1))
    return Sample("workload", (make_tensor((targets, *row_shape), dtype=dtype, device="cpu"), indices))


def error_cases() -> Iterator[ErrorCase]:
    i, ones = torch.tensor, torch.ones

    def deep(*batch):
        return torch.zeros(*batch, dtype=torch.int64)

    yield ErrorCase("index_beyond", IndexError, r"indices\[1\] = \(4,?\) .*\(4,?\)", (ones(4, 2), i([[0], [4]])))
    yield ErrorCase("negative_index", IndexError, r"indices\[0\] = \(-1,?\) .*\(4,?\)", (ones(4), i([[-1]])))
    yield ErrorCase(
        "index_of_rank_2", IndexError, r"indices\[2\] = \(3, 9\) .*\(4, 8\)",
        (ones(4, 8), i([[0, 0], [3, 7], [3, 9]], dtype=torch.int32)),
    )  # fmt: skip
    yield ErrorCase(
        "index_in_batch", IndexError, r"indices\[1, 1\] = \(4,?\) .*\(4,?\)",
        (ones(4, 5), i([[[0], [1]], [[3], [4]]])),
    )  # fmt: skip
    yield ErrorCase("empty_params", IndexError, r"indices\[0\] = \(0,?\) .*\(0,?\)", (ones(0, 3), deep(1, 1)))
    yield ErrorCase(
        "explicit_policy", IndexError, r"indices\[0\] = \(4,?\)", (ones(4), i([[4]])), {"bad_indices_policy": "error"}
    )
    yield ErrorCase(
        "unknown_policy", RuntimeError, r"bad_indices_policy.*drop", (ones(4), i([[0]])),
        {"bad_indices_policy": "drop"},
    )  # fmt: skip
    yield ErrorCase("too_deep", RuntimeError, r"indices has 3 .* 2$", (ones(5, 3), deep(2, 3)))
    yield ErrorCase("too_deep_for_scalar", RuntimeError, r"indices has 1 .* 0$", (ones(()), deep(1, 1)))
    yield ErrorCase("rank_0_indices", RuntimeError, r"indices", (ones(3), i(0)))
    yield ErrorCase("float_indices", RuntimeError, r"indices.*(?i:float)", (ones(4), ones(1, 1)))
    yield ErrorCase(
        "indices_that_require_grad", RuntimeError, r"indices", (ones(4), ones(1, 1, requires_grad=True))
    )  # fmt: skip
    yield ErrorCase("value_dtype", RuntimeError, r"params.*(?i:float8)", (ones(4).to(torch.float8_e5m2), deep(1, 1)))
    yield ErrorCase("result_rank_65", RuntimeError, r"6[45]", (ones([1] * 33), deep(*[1] * 33, 1)))
    yield ErrorCase(
        "result_overflow", RuntimeError, r"overflow|int64|2\^63|too many|exceed",
        (ones(1, 1).expand(1, 2**40), deep(1, 1).expand(2**40, 1)),
    )  # fmt: skip
    yield ErrorCase("devices", RuntimeError, r"indices|params", (ones(4, device="meta"), deep(1, 1)))


GATHER_ND = OpSpec("gather_nd", reference, aten, samples, workload, error_cases, values=0, indices=(1,))
