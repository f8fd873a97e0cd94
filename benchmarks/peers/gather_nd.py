"""Competitors in gather_nd."""

from functools import partial

from torch.nn import functional

from frameworks import NotApplicable, Program

from .registry import OURS, peer

peer = partial(peer, "gather_nd")


@peer(OURS, OURS)
def _(params, indices):
    from torch_sparse_ops import gather_nd

    return Program(gather_nd, (params,), (indices,))


@peer("torch indexing", "torch", reference=True)
def _(params, indices):
    columns = indices.unbind(1)
    return Program(lambda params: params[columns], (params,))


@peer("torch.index_select", "torch")
def _(params, indices):
    return Program(lambda params, row: params.index_select(0, row), (params,), (_row(indices),))


@peer("F.embedding", "torch")
def _(params, indices):
    if params.dim() != 2:
        raise NotApplicable("takes rows only")
    return Program(lambda params, row: functional.embedding(row, params), (params,), (_row(indices),))


@peer("tf.gather_nd", "tensorflow")
def _(params, indices):
    import tensorflow as tf

    return Program(tf.gather_nd, (params,), (indices,))


@peer("jax indexing", "jax")
def _(params, indices):
    return Program(lambda params, *columns: params[columns], (params,), indices.unbind(1))


@peer("numpy.take", "numpy")
def _(params, indices):
    return Program(lambda params, row: params.take(row, axis=0), (params,), (_row(indices),))


def _row(indices):
    if indices.shape[1] > 1:
        raise NotApplicable("takes one index a row only")
    return indices[:, 0]
