"""Competitors in segment_sum. Those without indices in their interface gather the rows first."""

import warnings
from collections.abc import Callable
from functools import partial

import torch
from torch.nn import functional

from frameworks import NotApplicable, Program

from .registry import OURS, peer

peer = partial(peer, "segment_sum")
warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")


@peer(OURS, OURS)
def _(data, indices, segment_ids, num_segments):
    from torch_sparse_ops import segment_sum

    return Program(lambda data: segment_sum(data, indices, segment_ids, num_segments), (data,))


@peer("F.embedding_bag", "torch")
def _(data, indices, segment_ids, num_segments):
    if indices is None:
        raise NotApplicable("needs indices")
    offsets = _offsets(segment_ids, num_segments).to(indices.dtype)
    bag = partial(functional.embedding_bag, mode="sum", include_last_offset=True)
    return Program(lambda data: bag(indices, data, offsets), (data,))


@peer("torch.segment_reduce", "torch")
def _(data, indices, segment_ids, num_segments):
    lengths, rows = _offsets(segment_ids, num_segments).diff(), _rows(indices)
    reduce = partial(torch.segment_reduce, reduce="sum", lengths=lengths, axis=0, unsafe=True)
    return Program(lambda data: reduce(rows(data)), (data,))


@peer("torch.index_add_", "torch", reference=True)
def _(data, indices, segment_ids, num_segments):
    rows, zeros = _rows(indices), _zeros(data, num_segments)
    return Program(lambda data: zeros().index_add_(0, segment_ids, rows(data)), (data,))


@peer("torch.index_add", "torch")
def _(data, indices, segment_ids, num_segments):
    if len(segment_ids) > 1000:
        raise NotApplicable("torch.index_add_ is the same without a copy")
    rows, zeros = _rows(indices), _zeros(data, num_segments)
    return Program(lambda data: zeros().index_add(0, segment_ids, rows(data)), (data,))


@peer("torch CSR @ dense", "torch")
def _(data, indices, segment_ids, num_segments):
    matrix = _selection(data, indices, segment_ids, num_segments)
    return Program(lambda data: matrix @ data, (data,))


@peer("torch_scatter.segment_csr", "torch_scatter")
def _(data, indices, segment_ids, num_segments):
    from torch_scatter import segment_csr

    offsets, rows = _offsets(segment_ids, num_segments), _rows(indices)
    return Program(lambda data: segment_csr(rows(data), offsets, reduce="sum"), (data,))


@peer("torch_scatter.segment_coo", "torch_scatter")
def _(data, indices, segment_ids, num_segments):
    from torch_scatter import segment_coo

    rows = _rows(indices)
    return Program(lambda data: segment_coo(rows(data), segment_ids, dim_size=num_segments, reduce="sum"), (data,))


@peer("tf segment_sum", "tensorflow")
def _(data, indices, segment_ids, num_segments):
    import tensorflow as tf

    if indices is None:
        return Program(tf.math.segment_sum, (data,), (segment_ids,))
    return Program(
        lambda data, indices, ids: tf.sparse.segment_sum(data, indices, ids, num_segments=num_segments),
        (data,),
        (indices, segment_ids),
    )


@peer("jax.ops.segment_sum", "jax")
def _(data, indices, segment_ids, num_segments):
    import jax

    def call(data, segment_ids, *indices):
        rows = data[indices] if indices else data
        return jax.ops.segment_sum(rows, segment_ids, num_segments, indices_are_sorted=True)

    return Program(call, (data,), (segment_ids,) if indices is None else (segment_ids, indices))


@peer("scipy CSR @ dense", "scipy")
def _(data, indices, segment_ids, num_segments):
    import scipy.sparse

    if data.dtype == torch.bfloat16:
        raise NotApplicable("has no bfloat16")
    matrix = _selection(data, indices, segment_ids, num_segments)
    parts = (matrix.values().numpy(), matrix.col_indices().numpy(), matrix.crow_indices().numpy())
    matrix = scipy.sparse.csr_matrix(parts, shape=tuple(matrix.shape))
    return Program(lambda data: matrix @ data, (data,))


def _rows(indices) -> Callable[[torch.Tensor], torch.Tensor]:
    return (lambda data: data) if indices is None else (lambda data: data.index_select(0, indices))


def _zeros(data, num_segments) -> Callable[[], torch.Tensor]:
    return partial(torch.zeros, [num_segments, *data.shape[1:]], dtype=data.dtype, device=data.device)


def _offsets(segment_ids, num_segments):
    """Where each segment begins, and where the last one ends."""
    return torch.searchsorted(segment_ids.long(), torch.arange(num_segments + 1, device=segment_ids.device))


def _selection(data, indices, segment_ids, num_segments):
    """The sparse matrix of ones that ``data`` is multiplied by."""
    offsets = _offsets(segment_ids, num_segments).to(segment_ids.dtype)
    columns = torch.arange(len(data), device=data.device, dtype=offsets.dtype) if indices is None else indices
    ones = torch.ones(len(segment_ids), dtype=data.dtype, device=data.device)
    return torch.sparse_csr_tensor(offsets, columns, ones, (num_segments, len(data)), check_invariants=False)
