"""scatter_nd: zeros of a shape, with updates added at indices."""

from collections.abc import Iterator
from math import prod

import numpy as np
import torch
from torch.testing import make_tensor

from specs.base import ErrorCase, OpSpec, Sample, random_indices, row_major_offsets


def reference(indices, updates, shape, *, bad_indices_policy="default"):
    result = torch.zeros(tuple(shape), dtype=updates.dtype)
    for place in np.ndindex(*indices.shape[:-1]):
        index = tuple(indices[place].tolist())
        if all(0 <= i < size for i, size in zip(index, shape, strict=False)):
            result[index] += updates[place]
        elif bad_indices_policy != "ignore":
            raise IndexError(f"indices{list(place)} = {index} is outside shape {tuple(shape)}")
    return result


def aten(indices, updates, shape, *, bad_indices_policy="default"):
    depth = indices.shape[-1]
    sizes, row_shape = shape[:depth], shape[depth:]
    offsets = row_major_offsets(indices, sizes).reshape(-1)
    rows = updates.reshape(len(offsets), *row_shape)
    spare_row_for_ignored_updates = 1
    zeros = updates.new_zeros(prod(sizes) + spare_row_for_ignored_updates, *row_shape)
    return zeros.index_add(0, offsets, rows)[:-1].reshape(tuple(shape))


def samples(dtype: torch.dtype) -> Iterator[Sample]:
    def values(*shape):
        return make_tensor(shape, dtype=dtype, device="cpu")

    i = torch.tensor
    yield Sample("elements", (i([[4], [3], [1], [7]]), values(4), (8,)))
    yield Sample("rows", (i([[0], [2]]), values(2, 4, 4), (4, 4, 4)))
    yield Sample("duplicates", (i([[1], [3], [1], [1]]), values(4, 3), (5, 3)))
    yield Sample("full_depth", (i([[0, 1], [2, 3], [0, 1]]), values(3), (3, 4)))
    yield Sample("batched", (random_indices((3, 4), 2, 3), values(2, 3, 5), (3, 4, 5)))
    yield Sample("int32_indices", (random_indices((3, 2), 9).int(), values(9, 3), (3, 2, 3)))
    yield Sample("depth_0", (i([]).long().reshape(3, 0), values(3, 2, 2), (2, 2)))
    yield Sample("depth_0_of_scalar", (i([]).long().reshape(3, 0), values(3), ()))
    yield Sample("rank_1_indices", (i([1]), values(3), (4, 3)))
    yield Sample("rank_1_indices_full_depth", (i([1, 2]), values(), (4, 3)))
    yield Sample("rank_1_indices_depth_0", (i([]).long(), values(2, 3), (2, 3)))
    yield Sample("empty_batch", (i([]).long().reshape(0, 1), values(0, 3), (5, 3)))
    yield Sample("empty_batch_of_rank_2", (i([]).long().reshape(2, 0, 2), values(2, 0), (5, 3)))
    yield Sample("empty_batch_and_result", (i([]).long().reshape(0, 1), values(0, 3), (0, 3)))
    yield Sample("empty_rows", (i([[0], [4]]), values(2, 0), (5, 0)))
    yield Sample("one_target", (torch.zeros(100, 1, dtype=torch.int64), values(100, 2), (1, 2)))
    yield Sample("wide_rows", (random_indices((4,), 20), values(20, 67), (4, 67)))
    yield Sample("many_targets", (random_indices((50, 9), 300), values(300), (50, 9)))
    yield Sample("rank_6", (random_indices((2, 1, 3, 2), 7), values(7, 2, 3), (2, 1, 3, 2, 2, 3)))
    yield Sample(
        "ignored_indices",
        (i([[0, 1], [3, 0], [-1, 2], [2, 2], [0, 4]]), values(5, 2), (3, 4, 2)),
        {"bad_indices_policy": "ignore"},
    )


def workload(dtype: torch.dtype, rows: int, targets: int, *row_shape: int) -> Sample:
    indices = torch.randint(targets, (rows, 1))
    return Sample(
        "workload", (indices, make_tensor((rows, *row_shape), dtype=dtype, device="cpu"), (targets, *row_shape))
    )


def error_cases() -> Iterator[ErrorCase]:
    i, ones = torch.tensor, torch.ones

    def deep(*batch):
        return torch.zeros(*batch, dtype=torch.int64)

    yield ErrorCase("index_beyond", IndexError, r"indices\[1\] = \(4,?\) .*\(4,?\)", (i([[0], [4]]), ones(2), (4,)))
    yield ErrorCase("negative_index", IndexError, r"indices\[0\] = \(-1,?\) .*\(4,?\)", (i([[-1]]), ones(1), (4,)))
    yield ErrorCase(
        "index_of_rank_2", IndexError, r"indices\[2\] = \(3, 9\) .*\(4, 8\)",
        (i([[0, 0], [3, 7], [3, 9]], dtype=torch.int32), ones(3), (4, 8)),
    )  # fmt: skip
    yield ErrorCase(
        "index_in_batch", IndexError, r"indices\[1, 2\] = \(0, 5\) .*\(4, 5\)",
        (i([[[0, 0], [1, 1], [2, 2]], [[3, 3], [3, 4], [0, 5]]]), ones(2, 3, 2), (4, 5, 2)),
    )  # fmt: skip
    yield ErrorCase("index_of_rank_1", IndexError, r"indices = \(2,?\) .*\(2,?\)", (i([2]), ones(3), (2, 3)))
    yield ErrorCase("extreme_index", IndexError, rf"\({2**63 - 1},?\)", (i([[2**63 - 1]]), ones(1), (4,)))
    yield ErrorCase("most_negative_index", IndexError, rf"\({-(2**63)},?\)", (i([[-(2**63)]]), ones(1), (4,)))
    yield ErrorCase("empty_result", IndexError, r"indices\[0\] = \(0,?\) .*\(0,?\)", (deep(1, 1), ones(1, 3), (0, 3)))
    yield ErrorCase(
        "explicit_policy", IndexError, r"indices\[0\] = \(4,?\)", (i([[4]]), ones(1), (4,)),
        {"bad_indices_policy": "error"},
    )  # fmt: skip
    yield ErrorCase(
        "unknown_policy", RuntimeError, r"bad_indices_policy.*drop", (i([[0]]), ones(1), (4,)),
        {"bad_indices_policy": "drop"},
    )  # fmt: skip
    yield ErrorCase("row_size", RuntimeError, r"updates.*\(2, 4\).*\(2, 3\)", (deep(2, 1), ones(2, 4), (5, 3)))
    yield ErrorCase("batch_size", RuntimeError, r"updates.*\(3,?\).*\(2,?\)", (deep(2, 1), ones(3), (5,)))
    yield ErrorCase(
        "extra_rank_of_indices", RuntimeError, r"updates.*\(4,?\).*\(4, 1\)", (deep(4, 1, 1), ones(4), (3,))
    )
    yield ErrorCase("extra_rank_of_updates", RuntimeError, r"updates.*\(2, 1\)", (deep(2, 1), ones(2, 1), (3,)))
    yield ErrorCase("missing_rank_of_updates", RuntimeError, r"updates.*\(\)", (deep(2, 1), ones(()), (3,)))
    yield ErrorCase("too_deep", RuntimeError, r"indices has 3 .* 2$", (deep(2, 3), ones(2), (5, 3)))
    yield ErrorCase("too_deep_for_scalar", RuntimeError, r"indices has 1 .* 0$", (deep(1, 1), ones(1), ()))
    yield ErrorCase("rank_0_indices", RuntimeError, r"indices", (i(0), ones(()), (3,)))
    yield ErrorCase("negative_size", RuntimeError, r"shape.*-2", (deep(1, 1), ones(1, 3), (-2, 3)))
    yield ErrorCase(
        "negative_size_and_empty_batch", RuntimeError, r"shape.*-2", (deep(0, 1), ones(0, 3), (-2, 3))
    )  # fmt: skip
    yield ErrorCase("elements_overflow", RuntimeError, r"shape.*\(4611686018427387904, 4\)",
                    (deep(1, 2), ones(1), (2**62, 4)))  # fmt: skip
    yield ErrorCase("bytes_overflow", RuntimeError, r"shape.*\(2305843009213693952,?\)",
                    (deep(1, 1), ones(1), (2**61,)))  # fmt: skip
    yield ErrorCase("rank_65", RuntimeError, r"shape.*6[45]", (deep(1, 1), ones(1, *[1] * 64), (1,) * 65))
    yield ErrorCase("float_indices", RuntimeError, r"indices.*(?i:float)", (ones(1, 1), ones(1), (4,)))
    yield ErrorCase(
        "indices_that_require_grad", RuntimeError, r"indices", (ones(1, 1, requires_grad=True), ones(1), (4,))
    )  # fmt: skip
    yield ErrorCase("value_dtype", RuntimeError, r"updates.*(?i:float8)",
                    (deep(1, 1), ones(1).to(torch.float8_e5m2), (4,)))  # fmt: skip
    yield ErrorCase("devices", RuntimeError, r"indices|updates", (deep(1, 1), ones(1, device="meta"), (4,)))


SCATTER_ND = OpSpec("scatter_nd", reference, aten, samples, workload, error_cases, values=1, indices=(0,))
