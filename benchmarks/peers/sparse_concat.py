"""Competitors in sparse_concat. Everyone receives matrices in its own format; only ours is made of plain tensors."""

from functools import partial

import torch

from frameworks import NotApplicable, Program

from .registry import OURS, peer

peer = partial(peer, "sparse_concat")


@peer(OURS, OURS)
def _(indices, values, shapes, dim):
    from torch_sparse_ops import sparse_concat

    return Program(
        lambda *values: sparse_concat(indices, values, shapes, dim),
        tuple(values),
        differentiable=lambda result: result[1],
        comparable=lambda result: result[:2],
    )


@peer("torch.cat", "torch", complete=False)
def _(indices, values, shapes, dim):
    matrices = _coo_matrices(indices, shapes)
    return Program(
        lambda *values: torch.cat(matrices(values), dim),
        tuple(values),
        differentiable=_not_differentiable,
        comparable=lambda result: _entries(result.coalesce()),
    )


@peer("torch.sort of linear keys", "torch", reference=True)
def _(indices, values, shapes, dim):
    """What is left to those who need gradients: torch.cat of sparse tensors has none."""
    ends = torch.stack(list(shapes))[:, dim].cumsum(0)
    starts = [0, *ends[:-1].tolist()]
    columns = int(ends[-1] if dim == 1 else shapes[0][1])

    def call(*values):
        shifted = [entries.clone() for entries in indices]
        for entries, start in zip(shifted, starts):
            entries[:, dim] += start
        entries = torch.cat(shifted)
        order = torch.argsort(entries[:, 0] * columns + entries[:, 1], stable=True)
        return entries[order], torch.cat(values)[order]

    return Program(call, tuple(values), differentiable=lambda result: result[1])


@peer("torch.cat + coalesce", "torch")
def _(indices, values, shapes, dim):
    matrices = _coo_matrices(indices, shapes)
    return Program(
        lambda *values: torch.cat(matrices(values), dim).coalesce(),
        tuple(values),
        differentiable=_not_differentiable,
        comparable=_entries,
    )


@peer("tf.sparse.concat", "tensorflow")
def _(indices, values, shapes, dim):
    import tensorflow as tf

    shapes = [shape.tolist() for shape in shapes]

    def call(*arguments):
        values, indices = arguments[: len(shapes)], arguments[len(shapes) :]
        return tf.sparse.concat(dim, [tf.SparseTensor(*parts) for parts in zip(indices, values, shapes)])

    return Program(
        call,
        tuple(values),
        tuple(indices),
        differentiable=lambda result: result.values,
        comparable=lambda result: (result.indices, result.values),
    )


@peer("jax bcoo_concatenate", "jax", complete=False)
def _(indices, values, shapes, dim):
    from jax.experimental import sparse

    shapes = [tuple(shape.tolist()) for shape in shapes]

    def call(*arguments):
        values, indices = arguments[: len(shapes)], arguments[len(shapes) :]
        matrices = [sparse.BCOO((v, i), shape=shape) for v, i, shape in zip(values, indices, shapes)]
        return sparse.bcoo_concatenate(matrices, dimension=dim)

    return Program(
        call,
        tuple(values),
        tuple(indices),
        differentiable=_not_differentiable,
        comparable=lambda result: (lambda ordered: (ordered.indices, ordered.data))(result.sort_indices()),
    )


@peer("scipy CSR stack", "scipy")
def _(indices, values, shapes, dim):
    return _scipy_stack(indices, values, shapes, dim, "csr")


@peer("scipy COO stack", "scipy", complete=False)
def _(indices, values, shapes, dim):
    return _scipy_stack(indices, values, shapes, dim, "coo")


def _scipy_stack(indices, values, shapes, dim, layout):
    import scipy.sparse

    if values[0].dtype == torch.bfloat16:
        raise NotApplicable("has no bfloat16")
    parts = [(v.numpy(), (i[:, 0].numpy(), i[:, 1].numpy())) for i, v in zip(indices, values)]
    matrices = [
        scipy.sparse.coo_matrix(part, shape=tuple(shape.tolist())).asformat(layout)
        for part, shape in zip(parts, shapes)
    ]
    stack = scipy.sparse.vstack if dim == 0 else scipy.sparse.hstack

    def entries(result):
        ordered = result.tocsr().sorted_indices().tocoo()
        return torch.stack([torch.from_numpy(ordered.row), torch.from_numpy(ordered.col)], dim=1), ordered.data

    return Program(lambda: stack(matrices, format=layout), (), comparable=entries)


def _coo_matrices(indices, shapes):
    """``values -> matrices``; without gradients they are made only once, since its users hold them already."""
    indices = [entries.T.contiguous() for entries in indices]
    sizes = [tuple(shape.tolist()) for shape in shapes]
    make = partial(torch.sparse_coo_tensor, check_invariants=False, is_coalesced=True)
    made = []

    def matrices(values):
        if made and not values[0].requires_grad:
            return made
        made[:] = [make(*parts) for parts in zip(indices, values, sizes)]
        return made

    return matrices


def _entries(matrix):
    return matrix.indices().T, matrix.values()


def _not_differentiable(result):
    raise NotApplicable("has no gradient, or in another order")
