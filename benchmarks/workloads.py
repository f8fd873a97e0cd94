"""Every workload, named once. ``all_workloads()`` lists them; to measure a new operator, add a line to BASE."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch

import inputs

K, M = 1_000, 1_000_000

FORWARD = "forward"  # under no_grad
GRAD_FORWARD = "grad-forward"  # the forward call of values that require grad
TRAINING = "forward+backward"
BACKWARD = "backward"  # alone, on a graph that is kept
INFERENCE = "inference_mode"


@dataclass(frozen=True)
class Workload:
    """One row of the report. ``inputs()`` makes the arguments of ``torch_sparse_ops.<op>``.

    ``group`` selects what is required of it; ``twin`` names the workload that it is compared with; ``size`` is its
    number of rows where it belongs to a sweep over sizes.
    """

    name: str
    op: str
    group: str
    inputs: Callable[[], tuple]
    mode: str = FORWARD
    dtype: str = "float32"
    twin: str | None = None
    size: int | None = None
    quick: bool = False


def all_workloads() -> list[Workload]:
    variants = (BASE, _gradients(), _dtypes(), SKEWED, _tiny(), _sweep())
    return [workload for variant in variants for workload in variant]


def _base(name: str, group: str, make: Callable[..., tuple], *sizes) -> Workload:
    return Workload(name, make.__name__, group, partial(make, *sizes), quick=name not in _NOT_QUICK)


_QUICK_VARIANTS = ("scatter_nd 400k x 64 into 100k", "segment_sum 1M x 64 into 100k")
_NOT_QUICK = (
    "scatter_nd 4M scalars into 32M",
    "segment_sum 4M x 8 into 400k",
    "segment_sum 400k of 200k x 256 into 40k",
    "sparse_concat 64 x 40k, dim 1",
    "gather_nd 4M scalars of 1M",
)
SCATTER, SEGMENT, INDEXED = "scatter_nd", "segment_sum", "segment_sum with indices"
BASE = [
    _base("scatter_nd 4M scalars into 1M", SCATTER, inputs.scatter_nd, 4 * M, [M]),
    _base("scatter_nd 4M scalars into 32M", SCATTER, inputs.scatter_nd, 4 * M, [32 * M]),
    _base("scatter_nd 1M scalars into 100k", SCATTER, inputs.scatter_nd, M, [100 * K]),
    _base("scatter_nd 400k x 64 into 100k", SCATTER, inputs.scatter_nd, 400 * K, [100 * K], 64),
    _base("scatter_nd 1M x 32 into 1k", SCATTER, inputs.scatter_nd, M, [K], 32),
    _base("scatter_nd 100k x 256 into 100k", SCATTER, inputs.scatter_nd, 100 * K, [100 * K], 256),
    _base("scatter_nd 2M pairs into 1k x 1k", SCATTER, inputs.scatter_nd, 2 * M, [K, K]),
    _base("segment_sum 1M x 64 into 100k", SEGMENT, inputs.segment_sum, M, 100 * K, 64),
    _base("segment_sum 4M x 8 into 400k", SEGMENT, inputs.segment_sum, 4 * M, 400 * K, 8),
    _base("segment_sum 4M x 1 into 400k", SEGMENT, inputs.segment_sum, 4 * M, 400 * K, 1),
    _base("segment_sum 1M x 64 into 10", SEGMENT, inputs.segment_sum, M, 10, 64),
    _base("segment_sum 1M of 1M x 64 into 100k", INDEXED, inputs.segment_sum, M, 100 * K, 64, M),
    _base("segment_sum 1M of 50k x 64 into 100k", INDEXED, inputs.segment_sum, M, 100 * K, 64, 50 * K),
    _base("segment_sum 1M of 1M x 16 into 50k", INDEXED, inputs.segment_sum, M, 50 * K, 16, M),
    _base("segment_sum 400k of 200k x 256 into 40k", INDEXED, inputs.segment_sum, 400 * K, 40 * K, 256, 200 * K),
    _base("sparse_concat 4 x 500k, dim 0", "sparse_concat dim 0", inputs.sparse_concat, 4, 500 * K, [100 * K, K], 0),
    _base("sparse_concat 4 x 500k, dim 1", "sparse_concat dim 1", inputs.sparse_concat, 4, 500 * K, [100 * K, K], 1),
    _base("sparse_concat 64 x 40k, dim 1", "sparse_concat dim 1", inputs.sparse_concat, 64, 40 * K, [20 * K, 256], 1),
    _base("gather_nd 4M scalars of 1M", "gather_nd", inputs.gather_nd, 4 * M, [M]),
    _base("gather_nd 400k x 64 of 100k", "gather_nd", inputs.gather_nd, 400 * K, [100 * K], 64),
]


def _variant(workload: Workload, label: str, group: str, **changes) -> Workload:
    quick = workload.name in _QUICK_VARIANTS and group in ("backward", "bfloat16")
    return replace(workload, name=f"{workload.name}, {label}", group=group, quick=quick, **changes)


def _gradients() -> Iterator[Workload]:
    for mode in (BACKWARD, TRAINING):
        for workload in BASE:
            yield _variant(workload, mode, mode, mode=mode)


def _dtypes() -> Iterator[Workload]:
    for dtype in (torch.bfloat16, torch.float64):
        label = str(dtype).removeprefix("torch.")
        for workload in BASE:
            make = partial(workload.inputs, dtype=dtype)
            yield _variant(workload, label, label, inputs=make, dtype=label, twin=workload.name)
    for workload in BASE:
        if workload.op != "sparse_concat":  # its indices are int64
            make = partial(workload.inputs, index_dtype=torch.int32)
            yield _variant(workload, "int32 indices", "int32", inputs=make, twin=workload.name)


def _skewed(name: str, make: Callable[..., tuple], *sizes, mode: str = FORWARD) -> Iterator[Workload]:
    """The uniform twin, then its Zipf and half-in-one versions."""
    for spread in ("uniform", "zipf", "half"):
        group, twin = ("uniform", None) if spread == "uniform" else ("skewed", f"{name}, uniform")
        build = partial(make, *sizes, spread=spread)
        yield Workload(f"{name}, {spread}", make.__name__, group, build, mode, twin=twin, quick="300k" in name)


SKEWED = [
    *_skewed("scatter_nd 300k x 32 into 100k", inputs.scatter_nd, 300 * K, [100 * K], 32),
    *_skewed("scatter_nd 4M scalars into 2M", inputs.scatter_nd, 4 * M, [2 * M]),
    *_skewed("segment_sum 300k x 64 into 30k", inputs.segment_sum, 300 * K, 30 * K, 64),
    *_skewed("segment_sum 1M of 200k x 64 into 50k", inputs.segment_sum, M, 50 * K, 64, 200 * K),
    *_skewed(
        "segment_sum 1M of 200k x 32 into 50k, backward",
        *(inputs.segment_sum, M, 50 * K, 32, 200 * K),
        mode=BACKWARD,
    ),
    *_skewed("sparse_concat 8 x 200k, dim 1", inputs.sparse_concat, 8, 200 * K, [50 * K, 50 * K], 1),
    *_skewed("gather_nd 1M x 32 of 200k", inputs.gather_nd, M, [200 * K], 32),
]


def _tiny() -> Iterator[Workload]:
    """8 x 4 values: what a call costs."""
    makers = {
        "scatter_nd": partial(inputs.scatter_nd, 8, [8], 4),
        "segment_sum": partial(inputs.segment_sum, 8, 4, 4),
        "sparse_concat": partial(inputs.sparse_concat, 2, 4, [8, 4], 1),
        "gather_nd": partial(inputs.gather_nd, 8, [8], 4),
    }
    for op, make in makers.items():
        for mode in (FORWARD, GRAD_FORWARD, TRAINING, INFERENCE):
            label = "no_grad" if mode == FORWARD else mode
            yield Workload(f"{op} 8 x 4, {label}", op, f"tiny {label}", make, mode, quick=True)


def _sweep() -> Iterator[Workload]:
    for size in (K, 10 * K, 100 * K, 300 * K, M, 3 * M, 10 * M):
        makers = {
            "scatter_nd": partial(inputs.scatter_nd, size, [size // 4], 8),
            "segment_sum": partial(inputs.segment_sum, size, size // 10, 8),
            "segment_sum with indices": partial(inputs.segment_sum, size, size // 10, 8, size),
            "sparse_concat": partial(inputs.sparse_concat, 4, size // 4, [size // 10, 100], 1),
            "gather_nd": partial(inputs.gather_nd, size, [size // 4], 8),
        }
        for title, make in makers.items():
            op = title.split()[0]
            yield Workload(f"{title}, {size:,} rows", op, f"growth {title}", make, size=size)
