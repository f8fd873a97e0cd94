"""sparse_concat: sparse tensors joined along a dimension, in row-major order."""

from collections.abc import Iterator

import torch
from torch.testing import make_tensor

from specs.base import ErrorCase, OpSpec, Sample


def reference(indices, values, shapes, concat_dim, expand_nonconcat_dims=False):
    shape = [max(sizes) for sizes in zip(*[s.tolist() for s in shapes], strict=True)]
    dim = concat_dim % len(shape)
    entries, shift = [], 0
    for some_indices, some_values, some_shape in zip(indices, values, shapes, strict=True):
        for index, value in zip(some_indices.tolist(), some_values, strict=True):
            index[dim] += shift
            entries.append((index, value))
        shift += some_shape[dim].item()
    shape[dim] = shift
    entries.sort(key=lambda entry: entry[0])  # sort is stable: equal indices keep their order
    return (
        torch.tensor([index for index, _ in entries], dtype=torch.int64).reshape(-1, len(shape)),
        torch.stack([value for _, value in entries]) if entries else values[0],
        torch.tensor(shape),
    )


def aten(indices, values, shapes, concat_dim, expand_nonconcat_dims=False):
    stacked = torch.stack(list(shapes))
    ends = stacked[:, concat_dim].cumsum(0)
    shape = stacked.amax(0)
    shape[concat_dim] = ends[-1]
    shifts = torch.zeros_like(stacked)
    shifts[1:, concat_dim] = ends[:-1]
    keys = torch.cat([some + shift for some, shift in zip(indices, shifts, strict=True)])
    order = torch.arange(len(keys), device=keys.device)
    for column in reversed(keys.unbind(1)):
        order = order[column[order].argsort(stable=True)]
    return keys[order], torch.cat(list(values)).index_select(0, order), shape


def samples(dtype: torch.dtype) -> Iterator[Sample]:
    def values(*shape):
        return make_tensor(shape, dtype=dtype, device="cpu")

    def sparse(shape, nnz, *dense):
        """Sorted, distinct indices of ``nnz`` entries."""
        size = torch.Size(shape).numel()
        offsets = torch.randperm(size)[:nnz].sort().values
        indices = torch.stack(torch.unravel_index(offsets, shape), -1) if shape else offsets
        return indices, values(nnz, *dense), torch.tensor(shape)

    def shuffled(indices, some_values, shape):
        return indices.flip(0), some_values, shape

    def sample(name, tensors, *options, **keywords):
        indices, some_values, shapes = (list(column) for column in zip(*tensors, strict=True))
        return Sample(name, (indices, some_values, shapes, *options), keywords)

    def entries(indices, shape, *dense):
        return torch.tensor(indices).long().reshape(-1, len(shape)), values(len(indices), *dense), torch.tensor(shape)

    seed = [entries([[0, 2], [1, 0], [1, 1]], (2, 3)), entries([[0, 1], [0, 2]], (2, 4))]
    yield sample("columns", seed, 1)
    yield sample("rows", [sparse((3, 4), 5), sparse((2, 4), 3), sparse((4, 4), 7)], 0)
    yield sample("negative_dim", [sparse((3, 4), 5), sparse((3, 1), 2)], -1)
    yield sample("one_input", [sparse((3, 4), 5)], 0)
    yield sample("rank_1", [sparse((3,), 2), sparse((5,), 4)], 0)
    yield sample("rank_3_middle", [sparse((2, 3, 4), 9), sparse((2, 1, 4), 3), sparse((2, 2, 4), 8)], 1)
    yield sample("rank_5", [sparse((2, 1, 2, 3, 2), 9), sparse((2, 1, 2, 1, 2), 5)], 3)
    yield sample("some_empty", [sparse((3, 2), 4), sparse((3, 4), 0), sparse((3, 0), 0)], 1)
    yield sample("first_empty", [sparse((3, 0), 0), sparse((3, 2), 4)], 1)
    yield sample("all_empty", [sparse((3, 4), 0), sparse((3, 2), 0)], 1)
    yield sample("unsorted", [shuffled(*sparse((3, 4), 6)), sparse((3, 2), 3), shuffled(*sparse((3, 3), 5))], 1)
    yield sample("duplicates", [entries([[0, 1], [0, 1], [1, 0]], (2, 2)), entries([[1, 0], [1, 0]], (2, 2))], 1)
    yield sample("unsorted_duplicates", [entries([[1, 0], [0, 1], [1, 0], [0, 1]], (2, 2)), sparse((2, 2), 3)], 0)
    yield sample("hybrid", [sparse((3, 4), 5, 2, 3), sparse((3, 2), 2, 2, 3)], 1)
    yield sample("hybrid_wide", [sparse((6, 5), 20, 67), shuffled(*sparse((6, 5), 9, 67))], 1)
    yield sample("hybrid_empty_rows", [sparse((3, 4), 5, 0), sparse((3, 2), 2, 0)], 1)
    yield sample("expanded", [sparse((3, 4), 5), sparse((5, 2), 4)], 1, expand_nonconcat_dims=True)
    yield sample("expanded_rank_3", [sparse((1, 4, 2), 5), sparse((5, 2, 3), 4)], 0, expand_nonconcat_dims=True)
    vast = (2**40, 2**40)
    yield sample("more_cells_than_int64", [entries([[0, 7], [2**39, 1]], vast), entries([[1, 2**40 - 1]], vast)], 1)
    yield sample("unsorted_more_cells_than_int64", [entries([[2**39, 1], [0, 7]], vast), entries([[1, 0]], vast)], 1)
    yield sample("many_inputs", [sparse((7, 3), 4) for _ in range(20)], 1)
    yield sample("many_entries", [sparse((40, 30), 300), sparse((40, 10), 200)], 1)


def workload(dtype: torch.dtype, rows: int, targets: int, *row_shape: int) -> Sample:
    """Three inputs of ``targets`` rows, concatenated by columns."""
    counts = [rows // 2, rows // 3, rows - rows // 2 - rows // 3]
    keys = [torch.randint(targets * 1000, (count,)).sort().values for count in counts]
    indices = [torch.stack([key // 1000, key % 1000], -1) for key in keys]
    values = [make_tensor((count, *row_shape), dtype=dtype, device="cpu") for count in counts]
    return Sample("workload", (indices, values, [torch.tensor([targets, 1000])] * 3, 1))


def error_cases() -> Iterator[ErrorCase]:
    i, ones = torch.tensor, torch.ones
    at, row, size = i([[0, 0]]), ones(1), i([4, 8])
    two = ([at, at], [row, row], [size, size])

    def second(*, indices=at, values=row, shape=size, dim=1):
        return [at, indices], [row, values], [size, shape], dim

    yield ErrorCase(
        "index_beyond", IndexError, r"indices\[1\]\[2\] = \(3, 9\) .*\(4, 8\)",
        second(indices=i([[0, 0], [0, 1], [3, 9]]), values=ones(3)),
    )  # fmt: skip
    yield ErrorCase("negative_index", IndexError, r"indices\[1\]\[0\] = \(-1, 0\) .*\(4, 8\)",
                    second(indices=i([[-1, 0]])))  # fmt: skip
    yield ErrorCase(
        "unsorted_index_beyond", IndexError, r"indices\[1\]\[1\] = \(0, 8\) .*\(4, 8\)",
        second(indices=i([[3, 0], [0, 8], [0, 0]]), values=ones(3)),
    )  # fmt: skip
    yield ErrorCase("index_of_empty_input", IndexError, r"indices\[1\]\[0\] = \(0, 0\) .*\(4, 0\)",
                    second(shape=i([4, 0])))  # fmt: skip
    yield ErrorCase("no_inputs", RuntimeError, r"indices|at least one", ([], [], [], 0))
    yield ErrorCase("fewer_values", RuntimeError, r"values.*1|1.*values", ([at, at], [row], [size, size], 0))
    yield ErrorCase("fewer_shapes", RuntimeError, r"shapes.*1|1.*shapes", ([at, at], [row, row], [size], 0))
    yield ErrorCase("dim_beyond", RuntimeError, r"concat_dim.*2.*\[-2, 2\)", (*two, 2))
    yield ErrorCase("dim_below", RuntimeError, r"concat_dim.*-3.*\[-2, 2\)", (*two, -3))
    yield ErrorCase("sizes_differ", RuntimeError, r"shapes\[1\].*\(5, 8\)|shapes\[1\].*5.*4", second(shape=i([5, 8])))
    yield ErrorCase("negative_size", RuntimeError, r"shapes\[1\].*-2", second(shape=i([-2, 8]), dim=0))
    yield ErrorCase("negative_size_expanded", RuntimeError, r"shapes\[1\].*-2", second(shape=i([-2, 8])),
                    {"expand_nonconcat_dims": True})  # fmt: skip
    yield ErrorCase("sizes_overflow", RuntimeError, r"shapes|concat_dim|overflow",
                    ([at, at], [row, row], [i([2**62, 4])] * 2, 0))  # fmt: skip
    yield ErrorCase("nnz_differ", RuntimeError, r"(values|indices)\[1\].*(1.*2|2.*1)", second(values=ones(2)))
    yield ErrorCase("ranks_differ", RuntimeError, r"(indices|shapes)\[1\]", second(indices=i([[0, 0, 0]]),
                                                                                  shape=i([4, 8, 2])))  # fmt: skip
    yield ErrorCase("rank_of_shape", RuntimeError, r"(indices|shapes)\[1\]", second(shape=i([4, 8, 2])))
    yield ErrorCase("rank_0", RuntimeError, r"indices|shapes", ([i([[]]).long()], [row], [i([]).long()], 0))
    yield ErrorCase("indices_of_rank_1", RuntimeError, r"indices\[1\]", second(indices=i([0, 0])))
    yield ErrorCase("shape_of_rank_2", RuntimeError, r"shapes\[1\]", second(shape=i([[4, 8]])))
    yield ErrorCase("scalar_values", RuntimeError, r"values\[1\]", second(values=ones(())))
    yield ErrorCase("value_dtypes_differ", RuntimeError, r"values\[1\].*(?i:double|float64)",
                    second(values=ones(1).double()))  # fmt: skip
    yield ErrorCase("dense_sizes_differ", RuntimeError, r"values\[1\]", second(values=ones(1, 2)))
    yield ErrorCase("int32_indices", RuntimeError, r"indices\[1\].*(?i:int)", second(indices=at.int()))
    yield ErrorCase("float_shape", RuntimeError, r"shapes\[1\].*(?i:float)", second(shape=size.float()))
    yield ErrorCase("value_dtype", RuntimeError, r"values\[0\].*(?i:float8)",
                    ([at], [row.to(torch.float8_e5m2)], [size], 0))  # fmt: skip
    yield ErrorCase("devices", RuntimeError, r"indices|values", second(values=ones(1, device="meta")))


SPARSE_CONCAT = OpSpec("sparse_concat", reference, aten, samples, workload, error_cases, values=1, output=1)
