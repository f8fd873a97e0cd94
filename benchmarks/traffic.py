"""What an operator's arguments mean for the memory: the bytes that must move, and the extra bytes that may be used."""

from dataclasses import dataclass

import torch

MIB = 1 << 20


@dataclass(frozen=True)
class Traffic:
    """``rows`` slices of ``row_bytes`` are processed; any implementation reads and writes ``bytes`` at least."""

    rows: int
    row_bytes: int
    bytes: int
    output_bytes: int
    extra_bytes_allowed: int


def of(op: str, args: tuple, threads: int) -> Traffic:
    return {
        "scatter_nd": _scatter_nd,
        "gather_nd": _gather_nd,
        "segment_sum": _segment_sum,
        "sparse_concat": _sparse_concat,
    }[op](*args, threads=threads)


def _scatter_nd(indices, updates, shape, *, threads):
    output = torch.Size(shape).numel() * updates.itemsize
    extra = 2 * indices.nbytes + 16 * MIB
    if updates.itemsize == 2:  # these accumulate in float32
        extra += 2 * output
    moved = indices.nbytes + updates.nbytes + output
    return Traffic(len(indices), updates.nbytes // len(indices), moved, output, extra)


def _gather_nd(params, indices, *, threads):
    row_bytes = params[0].nbytes
    output = len(indices) * row_bytes
    read = len(indices.unique(dim=0)) * row_bytes if indices.shape[1] > 1 else _distinct(indices) * row_bytes
    return Traffic(len(indices), row_bytes, indices.nbytes + read + output, output, _per_thread(threads))


def _segment_sum(data, indices, segment_ids, num_segments, *, threads):
    row_bytes = data[0].nbytes
    output = num_segments * row_bytes
    moved = segment_ids.nbytes + output
    moved += data.nbytes if indices is None else indices.nbytes + _distinct(indices) * row_bytes
    return Traffic(len(segment_ids), row_bytes, moved, output, _per_thread(threads))


def _sparse_concat(indices, values, shapes, dim, *, threads):
    output = sum(tensor.nbytes for tensor in [*indices, *values])
    rows = sum(map(len, indices))
    return Traffic(rows, output // rows, 2 * output, output, output)


def _distinct(indices):
    return len(indices.unique())


def _per_thread(threads):
    return threads * 4 * MIB  # stacks and pages that the allocator keeps count too
