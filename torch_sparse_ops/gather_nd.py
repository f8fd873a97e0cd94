"""gather_nd: slices of a tensor at index tuples; the derivative of scatter_nd, and the other way round."""

from __future__ import annotations

from typing import Any

import torch

from . import _autograd, _checks, _composite
from ._vmap import leading_index, to_back, to_front

_op = torch.ops.torch_sparse_ops.gather_nd.default
_scatter_nd = torch.ops.torch_sparse_ops.scatter_nd.default


def gather_nd(params: torch.Tensor, indices: torch.Tensor, *, bad_indices_policy: str = "default") -> torch.Tensor:
    """The slices ``params[indices[i]]``. As ``tf.gather_nd``.

    Args:
        params: bool, integer, floating or complex, of any shape. Differentiable.
        indices: int32 or int64 ``[..., K]`` with ``K <= params.dim()``; its last dimension holds index tuples.
        bad_indices_policy: what an index outside ``params`` gives. ``"error"`` raises (on CUDA this synchronises),
            ``"ignore"`` gives zeros, ``"default"`` is ``"error"`` on the CPU and ``"ignore"`` elsewhere. Negative
            indices are outside.

    Returns:
        A contiguous tensor ``[*indices.shape[:-1], *params.shape[K:]]``.

    Raises:
        IndexError: an index is outside ``params``.
        RuntimeError: shapes, dtypes, devices or the policy do not fit.

    >>> gather_nd(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 0], [0, 1]]))
    tensor([3, 2])

    Reference: https://www.tensorflow.org/api_docs/python/tf/gather_nd
    """
    return _op(params, indices, bad_indices_policy=bad_indices_policy)


def _check(params: torch.Tensor, indices: torch.Tensor, policy: str) -> tuple[int, list[int]]:
    op = "gather_nd"
    _checks.check_dtype(op, "params", params, _checks.VALUE_DTYPES)
    _checks.check_dtype(op, "indices", indices, _checks.INDEX_DTYPES)
    _checks.check_device(op, "indices", indices, "params", params)
    _checks.check_policy(op, policy)
    _checks.check(indices.dim() >= 1, op, "indices has shape (), expected rank >= 1")
    depth = int(indices.shape[-1])
    _checks.check(
        depth <= params.dim(),
        op,
        f"indices has {depth} components in its last dimension, expected at most the rank of params, {params.dim()}",
    )
    result = [*indices.shape[:-1], *params.shape[depth:]]
    _checks.check_shape(op, "the result's shape", result, params.itemsize)
    return depth, result


@torch.library.register_fake("torch_sparse_ops::gather_nd")
def _fake(params: torch.Tensor, indices: torch.Tensor, *, bad_indices_policy: str = "default") -> torch.Tensor:
    _, result = _check(params, indices, bad_indices_policy)
    return params.new_empty(result)


def composite(params: torch.Tensor, indices: torch.Tensor, *, bad_indices_policy: str = "default") -> torch.Tensor:
    """The operator out of aten ones, for devices without a kernel."""
    depth, result = _check(params, indices, bad_indices_policy)
    sizes, slice_sizes = params.shape[:depth], params.shape[depth:]
    rows, valid = _composite.linear_index(indices, sizes)
    if _checks.raises_on_bad_indices(bad_indices_policy, params):
        _composite.raise_invalid_tuple("gather_nd", indices, valid, sizes)
    if 0 in sizes:  # nothing to look up: all indices are outside
        return params.new_zeros(result)
    slices = params.reshape(sizes.numel(), *slice_sizes)[rows]
    valid = valid.view(-1, *([1] * len(slice_sizes)))
    return torch.where(valid, slices, torch.zeros((), dtype=params.dtype, device=params.device)).view(result)


def _save(ctx: Any, _output: Any, params: torch.Tensor, indices: torch.Tensor, policy: str) -> None:
    ctx.save_for_backward(indices)
    ctx.save_for_forward(indices)
    ctx.shape, ctx.policy = params.shape, policy


def _backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    return _scatter_nd(*ctx.saved_tensors, grad, ctx.shape, bad_indices_policy=ctx.policy)


def _jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
    return _op(tangent, *ctx.saved_tensors, bad_indices_policy=ctx.policy)


def _vmap(
    info: Any,
    in_dims: tuple[int | None, ...],
    params: torch.Tensor,
    indices: torch.Tensor,
    *,
    bad_indices_policy: str = "default",
) -> tuple[torch.Tensor, int]:
    params_dim, indices_dim = in_dims[:2]
    if indices_dim is None:  # one set of indices: the batch is one more dimension of the slices
        result = _op(to_back(params, params_dim), indices, bad_indices_policy=bad_indices_policy)
        return result, result.dim() - 1
    indices = to_front(indices, indices_dim, info.batch_size)
    if params_dim is not None:
        params, indices = to_front(params, params_dim, info.batch_size), leading_index(indices)
    return _op(params, indices, bad_indices_policy=bad_indices_policy), 0


_autograd.make_differentiable(_op, 0, save=_save, backward=_backward, jvp=_jvp)
torch.library.register_vmap("torch_sparse_ops::gather_nd", _vmap)
_composite.register("gather_nd", composite)
