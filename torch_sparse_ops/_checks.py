"""What fake kernels and composites check of their arguments: the messages are those of the compiled kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

VALUE_DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
)
INDEX_DTYPES = (torch.int32, torch.int64)
POLICIES = ("default", "error", "ignore")


def check(condition: bool | torch.SymBool, op: str, message: str) -> None:
    """Raises RuntimeError unless ``condition``; one on a symbolic size becomes a guard or a run-time assertion."""
    torch._check(condition, lambda: f"{op}(): {message}")


def check_dtype(op: str, name: str, tensor: torch.Tensor, allowed: Sequence[torch.dtype]) -> None:
    names = ", ".join(str(dtype).removeprefix("torch.") for dtype in allowed[:-1])
    last = str(allowed[-1]).removeprefix("torch.")
    check(tensor.dtype in allowed, op, f"{name} has dtype {tensor.dtype}, expected {names} or {last}")
    check(tensor.layout == torch.strided, op, f"{name} has layout {tensor.layout}, expected torch.strided")


def check_device(op: str, name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    check(
        tensor.device == other.device,
        op,
        f"{name} is on {tensor.device}, expected the device of {other_name}, {other.device}",
    )


def check_policy(op: str, policy: str) -> None:
    check(policy in POLICIES, op, f"bad_indices_policy = '{policy}' is not one of 'default', 'error', 'ignore'")


def check_shape(op: str, name: str, shape: Sequence[int], itemsize: int) -> None:
    check(len(shape) <= 64, op, f"{name} has {len(shape)} dimensions, expected at most 64")
    for d, size in enumerate(shape):
        check(size >= 0, op, f"{name}[{d}] = {size} is negative; sizes are in [0, 2^63)")
    if all(isinstance(size, int) for size in shape):  # symbolic sizes are those of real tensors, or small
        bytes_ = itemsize * math.prod(size for size in shape if size > 0)
        check(bytes_ < 2**63, op, f"{name} = {tuple(shape)} overflows: its size in bytes must be below 2^63")


def check_same_sizes(op: str, name: str, actual: Sequence[int], expected: Sequence[int], why: str) -> None:
    message = f"{name} has shape {tuple(actual)}, expected {tuple(expected)} {why}"
    check(len(actual) == len(expected), op, message)
    for a, e in zip(actual, expected):
        check(a == e, op, message)


def raises_on_bad_indices(policy: str, tensor: torch.Tensor) -> bool:
    """Whether bad indices are errors: by default on the CPU, where looking costs no synchronisation."""
    return policy == "error" or (policy == "default" and tensor.device.type == "cpu")
