"""scatter_nd: slices added into a zero tensor at index tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import _autograd, _checks, _composite
from ._vmap import leading_index, to_back, to_front

_op = torch.ops.torch_sparse_ops.scatter_nd.default
_gather_nd = torch.ops.torch_sparse_ops.gather_nd.default


def scatter_nd(
    indices: torch.Tensor,
    updates: torch.Tensor,
    shape: Sequence[int],
    *,
    bad_indices_policy: str = "default",
) -> torch.Tensor:
    """Zeros of ``shape`` with ``updates[i]`` added at ``indices[i]``; duplicates add up. As ``tf.scatter_nd``.

    Sums in order of the input, so the same input gives the same bits on any number of threads. float16 and bfloat16
    accumulate in float32 and round once, integers wrap, bool is a logical or.

    Args:
        indices: int32 or int64 ``[..., K]`` with ``K <= len(shape)``; its last dimension holds index tuples.
        updates: ``[*indices.shape[:-1], *shape[K:]]``: bool, integer, floating or complex. Differentiable.
        shape: sizes of the result.
        bad_indices_policy: what an index outside ``shape`` does. ``"error"`` raises (on CUDA this synchronises),
            ``"ignore"`` adds nothing, ``"default"`` is ``"error"`` on the CPU and ``"ignore"`` elsewhere. Negative
            indices are outside.

    Returns:
        A contiguous tensor of ``shape``, with the dtype and device of ``updates``.

    Raises:
        IndexError: an index is outside ``shape``.
        RuntimeError: shapes, dtypes, devices or the policy do not fit.

    >>> scatter_nd(torch.tensor([[4], [3], [1], [7]]), torch.tensor([9, 10, 11, 12]), [8])
    tensor([ 0, 11,  0, 10,  9,  0,  0, 12])

    Reference: https://www.tensorflow.org/api_docs/python/tf/scatter_nd
    """
    return _op(indices, updates, shape, bad_indices_policy=bad_indices_policy)


def _check(indices: torch.Tensor, updates: torch.Tensor, shape: Sequence[int], policy: str) -> int:
    op = "scatter_nd"
    _checks.check_dtype(op, "indices", indices, _checks.INDEX_DTYPES)
    _checks.check_dtype(op, "updates", updates, _checks.VALUE_DTYPES)
    _checks.check_device(op, "indices", indices, "updates", updates)
    _checks.check_policy(op, policy)
    _checks.check_shape(op, "shape", shape, updates.itemsize)
    _checks.check(indices.dim() >= 1, op, "indices has shape (), expected rank >= 1")
    depth = int(indices.shape[-1])
    _checks.check(
        depth <= len(shape),
        op,
        f"indices has {depth} components in its last dimension, expected at most len(shape) = {len(shape)}",
    )
    expected = [*indices.shape[:-1], *shape[depth:]]
    _checks.check_same_sizes(op, "updates", updates.shape, expected, f"= indices.shape[:-1] + shape[{depth}:]")
    return depth


@torch.library.register_fake("torch_sparse_ops::scatter_nd")
def _fake(
    indices: torch.Tensor, updates: torch.Tensor, shape: Sequence[int], *, bad_indices_policy: str = "default"
) -> torch.Tensor:
    _check(indices, updates, shape, bad_indices_policy)
    return updates.new_empty(shape)


def composite(
    indices: torch.Tensor, updates: torch.Tensor, shape: Sequence[int], *, bad_indices_policy: str = "default"
) -> torch.Tensor:
    """The operator out of aten ones, for devices without a kernel."""
    depth = _check(indices, updates, shape, bad_indices_policy)
    rows, valid = _composite.linear_index(indices, shape[:depth])
    if _checks.raises_on_bad_indices(bad_indices_policy, updates):
        _composite.raise_invalid_tuple("scatter_nd", indices, valid, shape[:depth])
    return _composite.sum_rows(updates, rows, valid, shape[:depth], shape[depth:])


def _save(ctx: Any, _output: Any, indices: torch.Tensor, _updates: Any, shape: Sequence[int], policy: str) -> None:
    ctx.save_for_backward(indices)
    ctx.save_for_forward(indices)
    ctx.shape, ctx.policy = shape, policy


def _backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    return _gather_nd(grad, *ctx.saved_tensors, bad_indices_policy=ctx.policy)


def _jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
    return _op(*ctx.saved_tensors, tangent, ctx.shape, bad_indices_policy=ctx.policy)


def _vmap(
    info: Any,
    in_dims: tuple[int | None, ...],
    indices: torch.Tensor,
    updates: torch.Tensor,
    shape: Sequence[int],
    *,
    bad_indices_policy: str = "default",
) -> tuple[torch.Tensor, int]:
    batch = info.batch_size
    if in_dims[0] is None:  # one set of indices: the batch is one more dimension of the slices
        updates = to_back(updates, in_dims[1])
        result = _op(indices, updates, [*shape, batch], bad_indices_policy=bad_indices_policy)
        return result, result.dim() - 1
    indices = leading_index(to_front(indices, in_dims[0], batch))
    updates = to_front(updates, in_dims[1], batch)
    return _op(indices, updates, [batch, *shape], bad_indices_policy=bad_indices_policy), 0


_autograd.make_differentiable(_op, 1, save=_save, backward=_backward, jvp=_jvp)
torch.library.register_vmap("torch_sparse_ops::scatter_nd", _vmap)
_composite.register("scatter_nd", composite)
