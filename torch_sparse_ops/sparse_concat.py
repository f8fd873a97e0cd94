"""sparse_concat: sparse tensors joined along a dimension, in row-major order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import _autograd, _composite
from ._sparse_checks import check_sparse_inputs, join_shapes
from ._vmap import to_front

_op = torch.ops.torch_sparse_ops.sparse_concat.default
_gather_nd = torch.ops.torch_sparse_ops.gather_nd.default
_scatter_nd = torch.ops.torch_sparse_ops.scatter_nd.default


def sparse_concat(
    indices: Sequence[torch.Tensor],
    values: Sequence[torch.Tensor],
    shapes: Sequence[torch.Tensor],
    concat_dim: int,
    *,
    expand_nonconcat_dims: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The concatenation of sparse tensors along ``concat_dim``. As ``tensorflow::ops::SparseConcat``, and
    ``tf.sparse.concat``.

    The result is in row-major order of its indices; entries with equal indices keep the order of the input. Inputs
    that are in row-major order are merged in one pass; others are sorted.

    Args:
        indices: per input int64 ``[nnz, R]``, R >= 1.
        values: per input ``[nnz, ...]``, of one dtype: bool, integer, floating or complex. Trailing dimensions are
            dense, and agree. Differentiable.
        shapes: per input int64 ``[R]``; best on the CPU, also for CUDA inputs (elsewhere reading them synchronises).
        concat_dim: in ``[-R, R)``.
        expand_nonconcat_dims: take the largest of each other dimension, rather than require that they agree.

    Returns:
        indices ``[sum of nnz, R]``, values and shape ``[R]`` of the concatenation.

    Raises:
        IndexError: on the CPU, an index is outside its input's shape.
        RuntimeError: shapes, dtypes, devices or list lengths do not fit.

    Anything else, such as strings, is joined by joining positions and permuting it with them:

    >>> i1, i2 = torch.tensor([[0, 2], [1, 0], [1, 1]]), torch.tensor([[0, 1], [0, 2]])
    >>> shapes = [torch.tensor([2, 3]), torch.tensor([2, 4])]
    >>> indices, places, shape = sparse_concat([i1, i2], [torch.arange(3), torch.arange(3, 5)], shapes, 1)
    >>> indices.tolist(), shape.tolist()
    ([[0, 2], [0, 4], [0, 5], [1, 0], [1, 1]], [2, 7])
    >>> ["abcde"[place] for place in places]
    ['a', 'd', 'e', 'b', 'c']

    Reference: https://www.tensorflow.org/api_docs/cc/class/tensorflow/ops/sparse-concat
    """
    return _op(indices, values, shapes, concat_dim, expand_nonconcat_dims)


@torch.library.register_fake("torch_sparse_ops::sparse_concat")
def _fake(
    indices: Sequence[torch.Tensor],
    values: Sequence[torch.Tensor],
    shapes: Sequence[torch.Tensor],
    concat_dim: int,
    expand_nonconcat_dims: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rank = check_sparse_inputs(indices, values, shapes, concat_dim)
    nnz = sum(i.shape[0] for i in indices)
    if all(type(shape) is torch.Tensor and shape.device.type == "cpu" for shape in shapes):  # those of meta inputs
        shape = torch.tensor(join_shapes(torch.stack(list(shapes)), concat_dim % rank, expand_nonconcat_dims))
    else:
        shape = shapes[0].new_empty(rank)
    return (
        indices[0].new_empty(nnz, rank),
        values[0].new_empty(nnz, *values[0].shape[1:]),
        shape,
    )


def composite(
    indices: Sequence[torch.Tensor],
    values: Sequence[torch.Tensor],
    shapes: Sequence[torch.Tensor],
    concat_dim: int,
    expand_nonconcat_dims: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The operator out of aten ones, for devices without a kernel."""
    rank = check_sparse_inputs(indices, values, shapes, concat_dim)
    dim = concat_dim % rank
    host_shapes = torch.stack([shape.cpu() for shape in shapes])
    joined = join_shapes(host_shapes, dim, expand_nonconcat_dims)
    if values[0].device.type == "cpu":
        for j, (tuples, shape) in enumerate(zip(indices, host_shapes)):
            valid = ((tuples >= 0) & (tuples < shape)).all(dim=1)
            _composite.raise_invalid_tuple("sparse_concat", tuples, valid, shape.tolist(), name=f"indices[{j}]")
    offset, moved = 0, []
    for tuples, shape in zip(indices, host_shapes[:, dim].tolist()):
        step = torch.zeros(rank, dtype=torch.int64, device=tuples.device)
        step[dim] = offset
        moved.append(tuples + step)
        offset += shape
    merged = torch.cat(moved)
    order = torch.arange(merged.shape[0], device=merged.device)
    for k in reversed(range(rank)):  # stable, so the last column sorted by is the first in rank
        order = order[torch.sort(merged[order, k], stable=True).indices]
    shape = torch.tensor(joined, dtype=torch.int64, device=shapes[0].device)
    return merged[order], torch.cat(list(values))[order], shape


def _save(
    ctx: Any,
    outputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    indices: Sequence[torch.Tensor],
    values: Sequence[torch.Tensor],
    shapes: Sequence[torch.Tensor],
    concat_dim: int,
    expand_nonconcat_dims: bool,
) -> None:
    ctx.mark_non_differentiable(outputs[0], outputs[2])
    ctx.save_for_backward(*indices, *shapes)
    ctx.save_for_forward(*indices, *shapes)
    ctx.nnz = [v.shape[0] for v in values]
    ctx.like = [(v.dtype, v.device, v.shape) for v in values]
    ctx.options = (concat_dim, expand_nonconcat_dims)


def _sources(ctx: Any) -> torch.Tensor:
    """Where each row of the result comes from, among the rows of all inputs: the same merge, of positions.

    A single tensor: the derivatives index with it, since torch's batched gradients do not look into lists of tensors.
    """
    saved, inputs = ctx.saved_tensors, len(ctx.nnz)
    # Counted from 1, since a row of zeros stands for an entry that was ignored: it comes from nowhere, -1.
    positions = torch.arange(1, sum(ctx.nnz) + 1, device=saved[0].device).split(ctx.nnz)
    return _op(saved[:inputs], positions, saved[inputs:], *ctx.options)[1][:, None] - 1


def _backward(ctx: Any, _indices: Any, grad: torch.Tensor, _shape: Any) -> Sequence[torch.Tensor]:
    return _scatter_nd(_sources(ctx), grad, grad.shape).split(ctx.nnz)


def _jvp(ctx: Any, tangents: list[torch.Tensor | None]) -> tuple[None, torch.Tensor, None]:
    filled = [
        torch.zeros(shape, dtype=dtype, device=device) if tangent is None else tangent
        for tangent, (dtype, device, shape) in zip(tangents, ctx.like)
    ]
    return None, _gather_nd(torch.cat(filled), _sources(ctx)), None


def _vmap(
    info: Any,
    in_dims: tuple[Any, ...],
    indices: Sequence[torch.Tensor],
    values: Sequence[torch.Tensor],
    shapes: Sequence[torch.Tensor],
    *options: Any,
) -> tuple[tuple[torch.Tensor, ...], tuple[int | None, ...]]:
    batch = info.batch_size
    if all(d is None for d in (*in_dims[0], *in_dims[2])):  # the batch is one more dense dimension
        values = [to_front(v, d, batch).movedim(0, -1) for v, d in zip(values, in_dims[1])]
        outputs = _op(indices, values, shapes, *options)
        return outputs, (None, outputs[1].dim() - 1, None)
    batches = [
        list(zip(*(to_front(t, d, batch) for t, d in zip(tensors, dims))))
        for tensors, dims in zip((indices, values, shapes), in_dims)
    ]
    results = [_op(*arguments, *options) for arguments in zip(*batches)]
    return tuple(torch.stack(r) for r in zip(*results)), (0, 0, 0)


_autograd.make_differentiable(_op, 1, save=_save, backward=_backward, jvp=_jvp)
torch.library.register_vmap("torch_sparse_ops::sparse_concat", _vmap)
_composite.register("sparse_concat", composite)
