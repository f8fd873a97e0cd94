"""What every workload must reach, and whether a run reached it. All ratios are times: below 1 is faster."""

from collections.abc import Callable
from dataclasses import dataclass

from record import Result, Run

TINY_OPS = ("scatter_nd", "segment_sum")


@dataclass(frozen=True)
class Check:
    """``ratio`` to ``against``: at most ``limit`` is required, at most ``aim`` is hoped for."""

    against: str
    ratio: float
    limit: float | None
    aim: float | None

    @property
    def passed(self) -> bool:
        return self.limit is None or self.ratio <= self.limit


@dataclass(frozen=True)
class Requirement:
    """``ratio(result, run)`` is None where the workload has nothing to be compared with."""

    applies: Callable[[Result], bool]
    against: str
    ratio: Callable[[Result, Run], float | None]
    limit: float | None = None
    aim: float | None = None


def checks(result: Result, run: Run) -> list[Check]:
    requirements = CUDA if run.machine["device"] == "cuda" else CPU
    if result.ours is None:
        return []
    found = []
    for requirement in requirements:
        ratio = requirement.ratio(result, run) if requirement.applies(result) else None
        if ratio is not None:
            found.append(Check(requirement.against, ratio, requirement.limit, requirement.aim))
    return found


def _in(*groups: str) -> Callable[[Result], bool]:
    return lambda result: result.group in groups


def _to_best(result: Result, run: Run) -> float | None:
    best = result.best_peer()
    return result.ours / result.times[best].median if best else None


def _to_best_deterministic(result: Result, run: Run) -> float | None:
    best = result.best_peer(deterministic=True)
    return result.ours / result.times[best].median if best else None


def _to_peer(name: str) -> Callable[[Result, Run], float | None]:
    return lambda result, run: result.ours / result.times[name].median if name in result.times else None


def _to_floor(result: Result, run: Run) -> float:
    return result.ours / result.floor


def _to_twin_per_row(result: Result, run: Run) -> float | None:
    twin = run.by_name(result.twin)
    return (result.ours / result.rows) / (twin.ours / twin.rows) if twin and twin.ours else None


def _to_float32(result: Result, run: Run) -> float | None:
    """Only where float32 is bound by bandwidth, and the values, which halve, outweigh the indices, which do not."""
    twin = run.by_name(result.twin)
    if not twin or not twin.ours or twin.floor < 0.5 * twin.ours or result.bytes > 0.6 * twin.bytes:
        return None
    return result.ours / twin.ours


def _to_best_of_sweep(result: Result, run: Run) -> float | None:
    """Of the largest size, by row, to the best size whose data is beyond the last cache."""
    sweep = [other for other in run.results if other.group == result.group and other.ours]
    beyond = [other for other in sweep if other.bytes > run.machine["cache_bytes"]]
    if not beyond or result.size != max(other.size for other in sweep):
        return None
    return (result.ours / result.rows) / min(other.ours / other.rows for other in beyond)


def _memory(result: Result, run: Run) -> float | None:
    if result.extra_bytes is None or not result.extra_bytes_allowed:
        return None
    return result.extra_bytes / result.extra_bytes_allowed


def _tiny(mode: str) -> Callable[[Result], bool]:
    return lambda result: result.group == f"tiny {mode}" and result.op in TINY_OPS


def _large(result: Result) -> bool:
    return not result.group.startswith(("tiny", "growth"))


def _wide(result: Result) -> bool:
    return _large(result) and result.row_bytes >= 64


CPU = [
    Requirement(_in("scatter_nd"), "best peer", _to_best, 0.95, 0.7),
    Requirement(_in("segment_sum"), "best peer", _to_best, 0.9),
    Requirement(_in("segment_sum"), "copy time", _to_floor, None, 1.25),
    Requirement(_in("segment_sum with indices"), "best peer", _to_best, 1.0, 0.9),
    Requirement(_in("backward"), "best peer", _to_best, 0.9, 0.6),
    Requirement(_in("sparse_concat dim 0"), "torch.cat", _to_peer("torch.cat"), 1.5, 1.1),
    Requirement(_in("sparse_concat dim 1"), "scipy CSR stack", _to_peer("scipy CSR stack"), 0.8),
    Requirement(_in("sparse_concat dim 1"), "tf.sparse.concat", _to_peer("tf.sparse.concat"), 0.05),
    Requirement(_in("sparse_concat dim 1"), "torch.cat", _to_peer("torch.cat"), None, 2.0),
    Requirement(_in("bfloat16"), "our float32", _to_float32, 0.6, 0.55),
    Requirement(_in("skewed"), "uniform twin", _to_twin_per_row, 1 / 0.7),
    Requirement(lambda r: r.group.startswith("growth"), "best size", _to_best_of_sweep, 1.5),
    Requirement(_tiny("no_grad"), "torch.index_add", _to_peer("torch.index_add"), 2.0),
    Requirement(_tiny("grad-forward"), "torch.index_add", _to_peer("torch.index_add"), 2.5),
    Requirement(_tiny("forward+backward"), "torch.index_add", _to_peer("torch.index_add"), 1.8),
    Requirement(_tiny("inference_mode"), "torch.index_add", _to_peer("torch.index_add"), 1.2),
    Requirement(_large, "memory allowed", _memory, 1.0),
]

CUDA = [
    Requirement(_large, "best deterministic peer", _to_best_deterministic, 1.0),
    Requirement(_wide, "best peer", _to_best, 1.0),
    Requirement(_in("scatter_nd", "segment_sum", "segment_sum with indices"), "copy time", _to_floor, 1 / 0.7),
]
