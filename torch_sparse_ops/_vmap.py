"""Where the batch dimension of an argument goes under vmap."""

from __future__ import annotations

import torch


def to_front(tensor: torch.Tensor, batch_dim: int | None, batch_size: int) -> torch.Tensor:
    """The batch as the first dimension; a tensor without one is expanded."""
    return tensor.expand(batch_size, *tensor.shape) if batch_dim is None else tensor.movedim(batch_dim, 0)


def to_back(tensor: torch.Tensor, batch_dim: int | None) -> torch.Tensor:
    return tensor if batch_dim is None else tensor.movedim(batch_dim, -1)


def leading_index(indices: torch.Tensor) -> torch.Tensor:
    """Index tuples ``[batch, ..., K]`` that begin with the position in the batch."""
    batch = torch.arange(indices.shape[0], dtype=indices.dtype, device=indices.device)
    batch = batch.view(-1, *([1] * (indices.dim() - 1))).expand(*indices.shape[:-1], 1)
    return torch.cat([batch, indices], dim=-1)
