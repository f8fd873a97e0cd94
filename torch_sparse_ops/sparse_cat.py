"""sparse_cat: sparse_concat for torch's own sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .sparse_concat import sparse_concat


def sparse_cat(tensors: Sequence[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """``torch.cat(tensors, dim).coalesce()`` of sparse COO tensors, without a sort if they are coalesced.

    Args:
        tensors: sparse COO tensors with equal sizes but along ``dim``, equal numbers of sparse and of dense dimensions,
            and one dtype. Those that are not coalesced are coalesced first. Differentiable.
        dim: a sparse dimension to join along, in ``[-tensor.dim(), tensor.dim())``.

    Returns:
        A coalesced sparse COO tensor.

    Raises:
        RuntimeError: the tensors are not sparse COO tensors, do not fit together, or ``dim`` is a dense dimension.

    >>> a, b = torch.eye(2).to_sparse(), torch.ones(2, 1).to_sparse()
    >>> sparse_cat([a, b], dim=1).to_dense()
    tensor([[1., 0., 1.],
            [0., 1., 1.]])

    Reference: https://docs.pytorch.org/docs/stable/generated/torch.cat.html
    """
    if not tensors:
        raise RuntimeError("sparse_cat(): tensors is an empty list, expected at least one tensor")
    for i, tensor in enumerate(tensors):
        if tensor.layout != torch.sparse_coo:
            raise RuntimeError(f"sparse_cat(): tensors[{i}] has layout {tensor.layout}, expected torch.sparse_coo")
    first = tensors[0]
    rank, sparse_dim = first.dim(), first.sparse_dim()
    if not -rank <= dim < rank:
        raise RuntimeError(f"sparse_cat(): dim = {dim} is outside [-{rank}, {rank})")
    dim %= rank
    if dim >= sparse_dim:
        raise RuntimeError(
            f"sparse_cat(): dim = {dim} is a dense dimension of tensors[0], not one of its {sparse_dim} sparse ones"
        )
    for i, tensor in enumerate(tensors):
        if (tensor.sparse_dim(), tensor.shape[sparse_dim:]) != (sparse_dim, first.shape[sparse_dim:]):
            raise RuntimeError(
                f"sparse_cat(): tensors[{i}] has {tensor.sparse_dim()} sparse dimensions of shape "
                f"{tuple(tensor.shape)}, expected {sparse_dim} and dense dimensions {tuple(first.shape[sparse_dim:])}"
            )
        expected = [*first.shape[:dim], tensor.shape[dim], *first.shape[dim + 1 :]]
        if list(tensor.shape) != expected or tensor.dtype != first.dtype:
            raise RuntimeError(
                f"sparse_cat(): tensors[{i}] has shape {tuple(tensor.shape)} and dtype {tensor.dtype}, expected "
                f"those of tensors[0], {tuple(first.shape)} and {first.dtype}, but for dim = {dim}"
            )
    coalesced = [tensor.coalesce() for tensor in tensors]
    indices, values, shape = sparse_concat(
        [tensor.indices().t() for tensor in coalesced],
        [tensor.values() for tensor in coalesced],
        [torch.tensor(tensor.shape[:sparse_dim]) for tensor in coalesced],
        dim,
    )
    size = [*shape.tolist(), *first.shape[sparse_dim:]]
    return torch.sparse_coo_tensor(indices.t(), values, size, is_coalesced=True)
