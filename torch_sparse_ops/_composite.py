"""What the composites share: the operators out of aten ones, for devices without a kernel of ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from . import _autograd


def register(name: str, composite: Callable[..., object]) -> None:
    """Serves every backend that has no kernel of its own for the operator."""
    _autograd.LIBRARY.impl(name, composite, "CompositeExplicitAutograd")


def linear_index(indices: torch.Tensor, sizes: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Row-major positions ``[tuples]`` of the index tuples ``[..., K]``, 0 where one is outside ``sizes``, and which
    are inside."""
    tuples = indices.reshape(math.prod(indices.shape[:-1]), len(sizes)).long()
    bounds = torch.tensor(sizes, dtype=torch.int64, device=indices.device)
    valid = ((tuples >= 0) & (tuples < bounds)).all(dim=-1)
    steps = torch.tensor(
        [math.prod(sizes[k + 1 :]) for k in range(len(sizes))], dtype=torch.int64, device=indices.device
    )
    return torch.where(valid, (tuples * steps).sum(dim=-1), 0), valid


def raise_invalid_tuple(
    op: str, indices: torch.Tensor, valid: torch.Tensor, sizes: Sequence[int], name: str = "indices"
) -> None:
    if bool(valid.all()):
        return
    first = int((~valid).nonzero()[0])
    batch_sizes = indices.shape[:-1]
    position = list(torch.unravel_index(torch.tensor(first), batch_sizes)) if batch_sizes else []
    where = f"[{', '.join(str(int(p)) for p in position)}]" if position else ""
    value = tuple(indices.reshape(-1, len(sizes))[first].tolist())
    raise IndexError(f"{op}(): {name}{where} = {value} is outside shape {tuple(sizes)}")


def raise_invalid_value(op: str, name: str, values: torch.Tensor, limit: int) -> None:
    bad = (values < 0) | (values >= limit)
    if bool(bad.any()):
        first = int(bad.nonzero()[0])
        raise IndexError(f"{op}(): {name}[{first}] = {int(values[first])} is outside [0, {limit})")


def sum_rows(
    source: torch.Tensor,
    rows: torch.Tensor,
    valid: torch.Tensor,
    row_sizes: Sequence[int],
    slice_sizes: Sequence[int],
) -> torch.Tensor:
    """Zeros ``[*row_sizes, *slice_sizes]`` with ``source[i]`` added at row ``rows[i]`` where ``valid[i]``."""
    num_rows, width = math.prod(row_sizes), math.prod(slice_sizes)
    dtype = source.dtype
    if dtype in (torch.float16, torch.bfloat16):
        accumulator = torch.float32
    else:
        accumulator = torch.int64 if dtype == torch.bool else dtype
    result = torch.zeros(num_rows + 1, width, dtype=accumulator, device=source.device)  # the last row: ignored ones
    rows = torch.where(valid, rows, num_rows)
    result.index_add_(0, rows, source.reshape(rows.shape[0], width).to(accumulator))
    return result[:num_rows].to(dtype).view([*row_sizes, *slice_sizes]).contiguous()
