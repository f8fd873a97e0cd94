"""What the tests know of an operator: an OpSpec, with Samples of its arguments and the ErrorCases it refuses."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import prod

import torch
from torch.utils._pytree import tree_map_only

FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
INTEGRAL = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


@dataclass(frozen=True)
class Sample:
    """Arguments of one valid call."""

    name: str
    args: tuple
    kwargs: dict = field(default_factory=dict)

    def map_tensors(self, transform: Callable[[torch.Tensor], torch.Tensor]) -> "Sample":
        return replace(self, args=tree_map_only(torch.Tensor, transform, self.args))

    def map_argument(self, position: int, transform: Callable[[torch.Tensor], torch.Tensor]) -> "Sample":
        args = list(self.args)
        args[position] = tree_map_only(torch.Tensor, transform, args[position])
        return replace(self, args=tuple(args))


@dataclass(frozen=True)
class ErrorCase:
    """Arguments of one refused call, the class of its error and a pattern that its message must contain."""

    name: str
    error: type[Exception]
    message: str
    args: tuple
    kwargs: dict = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class OpSpec:
    """One operator: how to call it, what it means, and what to try it on.

    ``reference`` is slow and obvious; ``aten`` is the same function composed of differentiable aten operators.
    ``samples(dtype)`` are many small calls, ``workload(dtype, rows, targets, *row_shape)`` is a random one of any size.
    Every operator is linear in one argument, a tensor or a list of tensors, at position ``values``; the result that
    depends on it is ``output`` (None: the only result). ``indices`` are the positions of index arguments that may
    have either index dtype.
    """

    name: str
    reference: Callable
    aten: Callable
    samples: Callable[[torch.dtype], Iterator[Sample]]
    workload: Callable[..., Sample]
    error_cases: Callable[[], Iterator[ErrorCase]]
    values: int
    output: int | None = None
    indices: tuple[int, ...] = ()
    dtypes: tuple[torch.dtype, ...] = INTEGRAL + FLOATING + COMPLEX

    def __repr__(self) -> str:
        return self.name

    @property
    def op(self) -> torch._ops.OpOverload:
        return getattr(torch.ops.torch_sparse_ops, self.name).default

    def expected(self, sample: Sample):
        """The reference computed in 64 bits and rounded once to the values' dtype.

        Sums of int64 wrap, so narrowing them wraps modulo 2^n; narrowing a sum of bools to bool is a logical or.
        """
        dtype = self.value_tensors(sample)[0].dtype
        wide = self.reference(*sample.map_argument(self.values, widen).args, **sample.kwargs)
        if self.output is None:
            return wide.to(dtype)
        return tuple(result.to(dtype) if i == self.output else result for i, result in enumerate(wide))

    def value_tensors(self, sample: Sample) -> list[torch.Tensor]:
        values = sample.args[self.values]
        return list(values) if isinstance(values, list | tuple) else [values]

    def as_function_of_values(self, implementation: Callable, sample: Sample) -> Callable:
        """``f(*value_tensors) -> the result that depends on them``, every other argument fixed."""

        def f(*tensors):
            args = list(sample.args)
            args[self.values] = list(tensors) if isinstance(args[self.values], list) else tensors[0]
            result = implementation(*args, **sample.kwargs)
            return result if self.output is None else result[self.output]

        return f


def widen(values: torch.Tensor) -> torch.Tensor:
    if values.is_complex():
        return values.to(torch.complex128)
    return values.to(torch.float64 if values.is_floating_point() else torch.int64)


def row_major_offsets(indices: torch.Tensor, sizes: tuple[int, ...]) -> torch.Tensor:
    """Row-major offsets of index tuples within ``sizes``; tuples outside point one past the end."""
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    bounds, strides = (torch.tensor(x, dtype=torch.int64, device=indices.device) for x in (sizes, strides))
    inside = ((indices >= 0) & (indices < bounds)).all(-1)
    return torch.where(inside, (indices.long() * strides).sum(-1), prod(sizes))


def random_indices(sizes, *batch):
    """Index tuples ``[*batch, len(sizes)]`` inside ``sizes``."""
    return torch.stack([torch.randint(size, batch) for size in sizes], -1)
