"""segment_sum: sums of rows that share a segment id, with an optional gather."""

from __future__ import annotations

from typing import Any

import torch

from . import _autograd, _checks, _composite
from .segment_sum_backward import check_segment_indices, vmap_rule

_op = torch.ops.torch_sparse_ops.segment_sum.default
_backward_op = torch.ops.torch_sparse_ops.segment_sum_backward.default


def segment_sum(
    data: torch.Tensor,
    indices: torch.Tensor | None,
    segment_ids: torch.Tensor,
    num_segments: int | None = None,
    *,
    sparse_gradient: bool = False,
) -> torch.Tensor:
    """Sums of the rows ``data[indices]`` over runs of equal ``segment_ids``. As ``tf.sparse.segment_sum``, and without
    indices as ``tf.math.segment_sum``.

    The same input gives the same bits on any number of threads. float16 and bfloat16 accumulate in float32 and round
    once, floats sum in blocks, integers wrap, bool is a logical or.

    Args:
        data: ``[N, ...]``: bool, integer, floating or complex. Differentiable.
        indices: int32 or int64 ``[E]``, rows of ``data``; None for rows 0..E-1, and then ``E == N``.
        segment_ids: int32 or int64 ``[E]``, ascending. Segments without a row sum to zero.
        num_segments: first size of the result. None for the last id + 1, or 0 if E is 0; on CUDA finding it
            synchronises, and under torch.compile it is an unbacked size.
        sparse_gradient: make the gradient of ``data`` a coalesced sparse COO tensor with one row per distinct index, as
            ``torch.nn.Embedding(sparse=True)`` does, for ``torch.optim.SparseAdam``. That gradient is not
            differentiable again. Under torch.func transforms gradients are dense.

    Returns:
        A contiguous tensor ``[num_segments, ...]``, with the dtype and device of ``data``.

    Raises:
        IndexError: on the CPU, an index outside ``[0, N)`` or an id outside ``[0, num_segments)``. On CUDA such
            entries are ignored, and ids that do not ascend give sums of some of the rows.
        RuntimeError: on the CPU, ids that do not ascend; shapes, dtypes, devices or ``num_segments`` that do not fit.

    >>> c = torch.tensor([[1, 2, 3, 4], [-1, -2, -3, -4], [5, 6, 7, 8]])
    >>> segment_sum(c, torch.tensor([0, 1]), torch.tensor([0, 2]), num_segments=4)
    tensor([[ 1,  2,  3,  4],
            [ 0,  0,  0,  0],
            [-1, -2, -3, -4],
            [ 0,  0,  0,  0]])

    Reference: https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sum
    """
    return _op(data, indices, segment_ids, num_segments, sparse_gradient)


def _check(
    data: torch.Tensor,
    indices: torch.Tensor | None,
    segment_ids: torch.Tensor,
    num_segments: int | None,
) -> None:
    op = "segment_sum"
    _checks.check_dtype(op, "data", data, _checks.VALUE_DTYPES)
    _checks.check(data.dim() >= 1, op, "data has shape (), expected rank >= 1")
    check_segment_indices(op, data, indices, segment_ids)
    if indices is None:
        n, expected = segment_ids.shape[0], data.shape[0]
        _checks.check(
            n == expected,
            op,
            f"segment_ids has length {n}, expected data.shape[0] = {expected} since indices is None",
        )
    if num_segments is not None:
        message = f"num_segments = {num_segments} is negative; it is in [0, 2^63)"
        _checks.check(num_segments >= 0, op, message)
        _checks.check_shape(op, "the result's shape", [num_segments, *data.shape[1:]], data.itemsize)


@torch.library.register_fake("torch_sparse_ops::segment_sum")
def _fake(
    data: torch.Tensor,
    indices: torch.Tensor | None,
    segment_ids: torch.Tensor,
    num_segments: int | None = None,
    sparse_gradient: bool = False,
) -> torch.Tensor:
    _check(data, indices, segment_ids, num_segments)
    size = torch.library.get_ctx().new_dynamic_size() if num_segments is None else num_segments
    return data.new_empty([size, *data.shape[1:]])


def composite(
    data: torch.Tensor,
    indices: torch.Tensor | None,
    segment_ids: torch.Tensor,
    num_segments: int | None = None,
    sparse_gradient: bool = False,
) -> torch.Tensor:
    """The operator out of aten ones, for devices without a kernel."""
    _check(data, indices, segment_ids, num_segments)
    count, rows = segment_ids.shape[0], data.shape[0]
    if data.device.type == "cpu":
        _raise_bad_ids(segment_ids, 2**63 - 1 if num_segments is None else num_segments)
        if indices is not None:
            _composite.raise_invalid_value("segment_sum", "indices", indices, rows)
    if num_segments is None:
        num_segments = max(0, int(segment_ids[-1]) + 1) if count else 0
    valid = (segment_ids >= 0) & (segment_ids < num_segments)
    if indices is not None:
        valid = valid & (indices >= 0) & (indices < rows)
        data = data[torch.where(valid, indices, 0)] if rows else data.new_zeros(count, *data.shape[1:])
    return _composite.sum_rows(data, segment_ids, valid, [num_segments], data.shape[1:])


def _raise_bad_ids(segment_ids: torch.Tensor, limit: int) -> None:
    _composite.raise_invalid_value("segment_sum", "segment_ids", segment_ids, limit)
    descents = segment_ids[1:] < segment_ids[:-1]
    if bool(descents.any()):
        i = int(descents.nonzero()[0]) + 1
        previous = int(segment_ids[i - 1])
        raise RuntimeError(
            f"segment_sum(): segment_ids[{i}] = {int(segment_ids[i])} is less than segment_ids[{i - 1}] = {previous}; "
            "they must ascend"
        )


class _SparseGradient(torch.autograd.Function):
    """The gradient of ``data`` as a coalesced sparse tensor: one row per distinct index."""

    @staticmethod
    def forward(
        ctx: Any, grad: torch.Tensor, indices: torch.Tensor | None, segment_ids: torch.Tensor, num_rows: int
    ) -> torch.Tensor:
        if indices is None:
            rows = torch.arange(num_rows, device=grad.device)
            values = _backward_op(grad, None, segment_ids, num_rows)
        else:
            rows, places = torch.unique(indices, return_inverse=True)
            values = _backward_op(grad, places, segment_ids, rows.shape[0])
            bounds = torch.tensor([0, num_rows], dtype=rows.dtype, device=rows.device)
            begin, end = torch.searchsorted(rows, bounds).tolist()  # without the indices that were ignored
            rows, values = rows[begin:end], values[begin:end]
        size = [num_rows, *grad.shape[1:]]
        return torch.sparse_coo_tensor(rows[None], values, size, is_coalesced=True, check_invariants=False)

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> Any:
        raise RuntimeError(
            "segment_sum(): the gradient made by sparse_gradient=True is not differentiable again; use "
            "sparse_gradient=False for higher derivatives"
        )


def _save(
    ctx: Any,
    output: torch.Tensor,
    data: torch.Tensor,
    indices: torch.Tensor | None,
    segment_ids: torch.Tensor,
    _num_segments: int | None,
    sparse_gradient: bool,
) -> None:
    ctx.save_for_backward(indices, segment_ids)
    ctx.save_for_forward(indices, segment_ids)
    ctx.num_rows, ctx.num_segments, ctx.sparse_gradient = data.shape[0], output.shape[0], sparse_gradient


def _backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    indices, segment_ids = ctx.saved_tensors
    if ctx.sparse_gradient and not _autograd.in_functorch():
        return _SparseGradient.apply(grad, indices, segment_ids, ctx.num_rows)
    return _backward_op(grad, indices, segment_ids, ctx.num_rows)


def _jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
    indices, segment_ids = ctx.saved_tensors
    return _op(tangent, indices, segment_ids, ctx.num_segments, ctx.sparse_gradient)


_autograd.make_differentiable(_op, 0, save=_save, backward=_backward, jvp=_jvp)
torch.library.register_vmap("torch_sparse_ops::segment_sum", vmap_rule(_op))
_composite.register("segment_sum", composite)
