"""segment_sum_backward: the transpose of segment_sum, and so its derivative; segment_sum is the derivative of it."""

from __future__ import annotations

from typing import Any

import torch

from . import _autograd, _checks, _composite
from ._vmap import to_back, to_front

_op = torch.ops.torch_sparse_ops.segment_sum_backward.default
_segment_sum = torch.ops.torch_sparse_ops.segment_sum.default


def check_segment_indices(
    op: str, values: torch.Tensor, indices: torch.Tensor | None, segment_ids: torch.Tensor
) -> None:
    """What both operators ask of indices and segment_ids: dtype, device, rank and length."""
    for name, tensor in (("segment_ids", segment_ids), ("indices", indices)):
        if tensor is None:
            continue
        _checks.check_dtype(op, name, tensor, _checks.INDEX_DTYPES)
        _checks.check_device(op, name, tensor, "the values", values)
        _checks.check(tensor.dim() == 1, op, f"{name} has shape {tuple(tensor.shape)}, expected rank 1")
    if indices is not None:
        n, expected = indices.shape[0], segment_ids.shape[0]
        _checks.check(n == expected, op, f"indices has length {n}, expected that of segment_ids, {expected}")


def _check(grad: torch.Tensor, indices: torch.Tensor | None, segment_ids: torch.Tensor, num_rows: int) -> None:
    op = "segment_sum_backward"
    _checks.check_dtype(op, "grad", grad, _checks.VALUE_DTYPES)
    _checks.check(grad.dim() >= 1, op, "grad has shape (), expected rank >= 1")
    check_segment_indices(op, grad, indices, segment_ids)
    _checks.check(num_rows >= 0, op, f"num_rows = {num_rows} is negative; it is in [0, 2^63)")
    if indices is None:
        n = segment_ids.shape[0]
        message = f"segment_ids has length {n}, expected num_rows = {num_rows} since indices is None"
        _checks.check(n == num_rows, op, message)
    _checks.check_shape(op, "the result's shape", [num_rows, *grad.shape[1:]], grad.itemsize)


@torch.library.register_fake("torch_sparse_ops::segment_sum_backward")
def _fake(grad: torch.Tensor, indices: torch.Tensor | None, segment_ids: torch.Tensor, num_rows: int) -> torch.Tensor:
    _check(grad, indices, segment_ids, num_rows)
    return grad.new_empty([num_rows, *grad.shape[1:]])


def composite(
    grad: torch.Tensor, indices: torch.Tensor | None, segment_ids: torch.Tensor, num_rows: int
) -> torch.Tensor:
    """The operator out of aten ones, for devices without a kernel."""
    _check(grad, indices, segment_ids, num_rows)
    segments = grad.shape[0]
    if grad.device.type == "cpu":
        _composite.raise_invalid_value("segment_sum_backward", "segment_ids", segment_ids, segments)
        if indices is not None:
            _composite.raise_invalid_value("segment_sum_backward", "indices", indices, num_rows)
    if indices is None:
        indices = torch.arange(num_rows, device=segment_ids.device)
    valid = (segment_ids >= 0) & (segment_ids < segments) & (indices >= 0) & (indices < num_rows)
    slices = grad.shape[1:]
    rows = grad[torch.where(valid, segment_ids, 0)] if segments else grad.new_zeros(len(segment_ids), *slices)
    return _composite.sum_rows(rows, indices, valid, [num_rows], slices)


def _save(
    ctx: Any,
    _output: Any,
    grad: torch.Tensor,
    indices: torch.Tensor | None,
    segment_ids: torch.Tensor,
    num_rows: int,
) -> None:
    ctx.save_for_backward(indices, segment_ids)
    ctx.save_for_forward(indices, segment_ids)
    ctx.num_segments, ctx.num_rows = grad.shape[0], num_rows


def _backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    return _segment_sum(grad, *ctx.saved_tensors, ctx.num_segments)


def _jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
    return _op(tangent, *ctx.saved_tensors, ctx.num_rows)


def vmap_rule(op: torch._ops.OpOverload) -> Any:
    """The batching rule of ``op``: segment_sum and its transpose batch alike."""

    def rule(
        info: Any,
        in_dims: tuple[int | None, ...],
        values: torch.Tensor,
        indices: torch.Tensor | None,
        segment_ids: torch.Tensor,
        *rest: Any,
    ) -> tuple[torch.Tensor, int]:
        if in_dims[1] is None and in_dims[2] is None:  # the batch is one more dimension of the rows
            result = op(to_back(values, in_dims[0]), indices, segment_ids, *rest)
            return result, result.dim() - 1
        batches = [
            [None] * info.batch_size if t is None else list(to_front(t, dim, info.batch_size))
            for t, dim in zip((values, indices, segment_ids), in_dims)
        ]
        results = [op(*arguments, *rest) for arguments in zip(*batches)]
        if len({r.shape for r in results}) > 1:
            raise RuntimeError(
                "segment_sum(): under vmap over segment_ids, num_segments=None gives results of different sizes; "
                "pass num_segments"
            )
        return torch.stack(results), 0

    return rule


_autograd.make_differentiable(_op, 0, save=_save, backward=_backward, jvp=_jvp)
torch.library.register_vmap("torch_sparse_ops::segment_sum_backward", vmap_rule(_op))
_composite.register("segment_sum_backward", composite)
