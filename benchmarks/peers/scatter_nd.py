"""Competitors in scatter_nd."""

from collections.abc import Callable
from functools import partial

import torch

from frameworks import NotApplicable, Program

from .registry import OURS, peer

peer = partial(peer, "scatter_nd")


@peer(OURS, OURS)
def _(indices, updates, shape):
    from torch_sparse_ops import scatter_nd

    return Program(lambda updates: scatter_nd(indices, updates, shape), (updates,))


@peer("torch.index_add_", "torch", reference=True)
def _(indices, updates, shape):
    row, zeros = _linear_row(indices, shape), _zeros(indices, updates, shape)
    return Program(lambda updates: zeros().index_add_(0, row(), updates).view(shape), (updates,))


@peer("torch.index_add", "torch")
def _(indices, updates, shape):
    if len(indices) > 1000:
        raise NotApplicable("torch.index_add_ is the same without a copy")
    row, zeros = _linear_row(indices, shape), _zeros(indices, updates, shape)
    return Program(lambda updates: zeros().index_add(0, row(), updates).view(shape), (updates,))


@peer("torch.scatter_add_", "torch")
def _(indices, updates, shape):
    row, zeros = _linear_row(indices, shape), _zeros(indices, updates, shape)

    def call(updates):
        expanded = row() if updates.dim() == 1 else row()[:, None].expand_as(updates)
        return zeros().scatter_add_(0, expanded, updates).view(shape)

    return Program(call, (updates,))


@peer("torch.index_put_", "torch")
def _(indices, updates, shape):
    columns = indices.unbind(1)
    options = {"dtype": updates.dtype, "device": updates.device}
    return Program(
        lambda updates: torch.zeros(shape, **options).index_put_(columns, updates, accumulate=True), (updates,)
    )


@peer("torch_scatter.scatter_sum", "torch_scatter")
def _(indices, updates, shape):
    from torch_scatter import scatter_sum

    row, size = _linear_row(indices, shape), _row_shape(indices, shape)[0]
    return Program(lambda updates: scatter_sum(updates, row(), 0, dim_size=size).view(shape), (updates,))


@peer("tf.scatter_nd", "tensorflow")
def _(indices, updates, shape):
    import tensorflow as tf

    return Program(lambda updates, indices: tf.scatter_nd(indices, updates, shape), (updates,), (indices,))


@peer("jax .at[].add", "jax")
def _(indices, updates, shape):
    import jax.numpy as jnp

    def call(updates, *columns):
        return jnp.zeros(shape, updates.dtype).at[columns].add(updates)

    return Program(call, (updates,), indices.unbind(1))


@peer("numpy.add.at", "numpy")
def _(indices, updates, shape):
    import numpy

    def call(updates, *columns):
        result = numpy.zeros(shape, updates.dtype)
        numpy.add.at(result, columns, updates)
        return result

    return Program(call, (updates,), indices.unbind(1))


@peer("numpy.bincount", "numpy")
def _(indices, updates, shape):
    import numpy

    if indices.shape[1] > 1 or updates.dim() > 1:
        raise NotApplicable("sums scalars into a vector only")

    def call(updates, row):
        return numpy.bincount(row, updates, minlength=shape[0]).astype(updates.dtype)

    return Program(call, (updates,), (indices[:, 0],))


def _zeros(indices, updates, shape) -> Callable[[], torch.Tensor]:
    return partial(torch.zeros, _row_shape(indices, shape), dtype=updates.dtype, device=updates.device)


def _row_shape(indices, shape):
    """``shape`` with the indexed dimensions as one."""
    depth = indices.shape[1]
    return [torch.Size(shape[:depth]).numel(), *shape[depth:]]


def _linear_row(indices, shape) -> Callable[[], torch.Tensor]:
    """Tuples as numbers of rows: a view where they have one component, computed at each call where they have more."""
    columns = indices.unbind(1)
    if len(columns) == 1:
        return lambda: columns[0]
    strides = [torch.Size(shape[axis + 1 : len(columns)]).numel() for axis in range(len(columns))]
    return lambda: sum(column * stride for column, stride in zip(columns, strides))
