"""What sparse_concat checks of its lists of inputs: the messages are those of the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from . import _checks

_OP = "sparse_concat"


def check_sparse_inputs(
    indices: Sequence[torch.Tensor],
    values: Sequence[torch.Tensor],
    shapes: Sequence[torch.Tensor],
    concat_dim: int,
) -> int:
    """Raises unless lists, shapes, dtypes and devices fit together; returns R."""
    _checks.check(len(indices) > 0, _OP, "indices is an empty list, expected at least one input")
    _checks.check(
        len(indices) == len(values) == len(shapes),
        _OP,
        f"indices, values and shapes have {len(indices)}, {len(values)} and {len(shapes)} entries, "
        "expected equal numbers",
    )
    _checks.check_dtype(_OP, "values[0]", values[0], _checks.VALUE_DTYPES)
    for i in range(len(indices)):
        _check_input(i, indices, values, shapes)
    rank = int(indices[0].shape[1])
    _checks.check(-rank <= concat_dim < rank, _OP, f"concat_dim = {concat_dim} is outside [-{rank}, {rank})")
    return rank


def _check_input(
    i: int,
    indices: Sequence[torch.Tensor],
    values: Sequence[torch.Tensor],
    shapes: Sequence[torch.Tensor],
) -> None:
    for name, tensor in (("indices", indices[i]), ("values", values[i]), ("shapes", shapes[i])):
        layout = tensor.layout
        _checks.check(layout == torch.strided, _OP, f"{name}[{i}] has layout {layout}, expected torch.strided")
    for name, tensor, rank, expected in (
        ("indices", indices[i], 2, "[nnz, R]"),
        ("shapes", shapes[i], 1, "[R]"),
    ):
        _checks.check(tensor.dtype == torch.int64, _OP, f"{name}[{i}] has dtype {tensor.dtype}, expected torch.int64")
        _checks.check(tensor.dim() == rank, _OP, f"{name}[{i}] has shape {tuple(tensor.shape)}, expected {expected}")
    rank = int(indices[0].shape[1])
    _checks.check(1 <= rank <= 64, _OP, f"indices[0] has {rank} columns, expected R in [1, 64]")
    columns, sizes = indices[i].shape[1], shapes[i].shape[0]
    _checks.check(columns == rank, _OP, f"indices[{i}] has {columns} columns, expected R = {rank} as indices[0] has")
    _checks.check(sizes == rank, _OP, f"shapes[{i}] has {sizes} sizes, expected R = {rank}")
    _checks.check(
        values[i].dtype == values[0].dtype,
        _OP,
        f"values[{i}] has dtype {values[i].dtype}, expected that of values[0], {values[0].dtype}",
    )
    _checks.check(values[i].dim() >= 1, _OP, f"values[{i}] has shape (), expected [nnz, ...]")
    _checks.check(
        values[i].shape[0] == indices[i].shape[0],
        _OP,
        f"values[{i}] has {values[i].shape[0]} entries, expected nnz = {indices[i].shape[0]} as indices[{i}] has",
    )
    why = f"the dense dimensions of values[0], whose shape is {tuple(values[0].shape)}"
    message = f"values[{i}] has shape {tuple(values[i].shape)}, expected {why}"
    _checks.check(values[i].dim() == values[0].dim(), _OP, message)
    for a, b in zip(values[i].shape[1:], values[0].shape[1:]):
        _checks.check(a == b, _OP, message)
    device = values[0].device
    _checks.check(
        indices[i].device == device and values[i].device == device,
        _OP,
        f"indices[{i}] and values[{i}] must be on the device of values[0]",
    )
    _checks.check(
        shapes[i].device in (torch.device("cpu"), device),
        _OP,
        f"shapes[{i}] must be on the CPU or on the device of values[0]",
    )


def join_shapes(shapes: torch.Tensor, dim: int, expand: bool) -> list[int]:
    """The result's shape from the inputs' ``[inputs, R]``, on the CPU."""
    joined: list[int] = shapes[0].tolist()
    for i, shape in enumerate(shapes.tolist()):
        for k, size in enumerate(shape):
            _checks.check(size >= 0, _OP, f"shapes[{i}][{k}] = {size} is negative; sizes are in [0, 2^63)")
            if i and k == dim:
                joined[k] += size
                message = f"the sizes along concat_dim = {k} sum to more than 2^63 - 1 at shapes[{i}][{k}] = {size}"
                _checks.check(joined[k] < 2**63, _OP, message)
            elif i:
                _checks.check(
                    expand or size == joined[k],
                    _OP,
                    f"shapes[{i}][{k}] = {size}, expected {joined[k]} as shapes[0] has; only concat_dim = {dim} may "
                    "differ unless expand_nonconcat_dims is true",
                )
                joined[k] = max(joined[k], size)
    return joined
