"""How close is equal."""

import torch


def assert_rounded_once(actual, expected):
    """``expected`` is exact but for its last rounding; sums of 16-bit floats were accumulated in 32 bits."""
    for ours, exact in zip(as_tuple(actual), as_tuple(expected), strict=True):
        if exact.is_floating_point() or exact.is_complex():
            in_16_bits = exact.dtype in (torch.float16, torch.bfloat16)
            accumulated = torch.finfo(torch.float32 if in_16_bits else exact.dtype).eps
            # Up to 200 numbers below 10, added in any order.
            tolerance = {"rtol": max(torch.finfo(exact.dtype).eps, 100 * accumulated), "atol": 1000 * accumulated}
        else:
            tolerance = {"rtol": 0, "atol": 0}
        torch.testing.assert_close(ours, exact, equal_nan=True, **tolerance)


def same_bits(actual, expected) -> bool:
    return all(
        a.dtype == b.dtype and a.shape == b.shape and torch.equal(bits(a), bits(b))
        for a, b in zip(as_tuple(actual), as_tuple(expected), strict=True)
    )


def bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1).view(torch.uint8)


def as_tuple(results) -> tuple[torch.Tensor, ...]:
    return tuple(results) if isinstance(results, tuple | list) else (results,)
