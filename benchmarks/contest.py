"""One workload: every competitor prepared, checked against a reference in float64, then timed side by side."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

import frameworks
import measure
import peers
import traffic
from record import Result, Timing
from workloads import FORWARD, INFERENCE, TRAINING, Workload

# Of the largest value in the reference. Sums that round to bfloat16 at each step pass while they are short.
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 3e-2}


@dataclass(frozen=True)
class Effort:
    """How long to measure: for every competitor ``seconds``, and ``min_rounds`` rounds at least."""

    seconds: float
    min_rounds: int


@dataclass(frozen=True)
class Contestant:
    peer: peers.Peer
    deterministic: bool = False  # under torch.use_deterministic_algorithms

    @property
    def name(self) -> str:
        return f"{self.peer.name} (deterministic)" if self.deterministic else self.peer.name


def hold(
    workload: Workload,
    device: str,
    threads: int,
    effort: Effort,
    report: Callable[[str], None],
) -> Result:
    """Run ``workload``; ``report`` is told what is being done."""
    report("making inputs")
    args = workload.inputs()
    moved = traffic.of(workload.op, args, threads)
    if device == "cuda":
        args = _to_cuda(workload.op, args)
    with _grad_context(workload.mode):
        calls, contestants, skipped = {}, {}, {}
        expected = _reference(workload, args)
        for contestant in _contestants(workload, device):
            report(f"checking {contestant.name}")
            try:
                calls[contestant.name] = _checked_call(contestant, workload, args, expected)
                contestants[contestant.name] = contestant
            except Exception as error:  # whatever a library raises for what it does not support
                skipped[contestant.name] = _first_line(error)
        del expected
        report("timing")
        bandwidth = measure.copy_bandwidth(device)
        clock = measure.clock_of(device, small=workload.group.startswith("tiny"))
        samples = measure.rounds(calls, clock, effort.seconds, effort.min_rounds) if calls else {}
        extra = None
        if workload.mode == FORWARD and peers.OURS in calls:
            extra = measure.extra_bytes(calls[peers.OURS], moved.output_bytes, device)
    times = {name: _timing(contestants[name], seconds, device) for name, seconds in samples.items()}
    return Result(
        **{field: getattr(workload, field) for field in ("name", "op", "group", "mode", "dtype", "twin", "size")},
        rows=moved.rows,
        row_bytes=moved.row_bytes,
        bytes=moved.bytes * (2 if workload.mode == TRAINING else 1),
        copy_bandwidth=bandwidth,
        extra_bytes=extra,
        extra_bytes_allowed=moved.extra_bytes_allowed,
        times=times,
        skipped=skipped,
    )


def _to_cuda(op: str, args: tuple) -> tuple:
    moved = tree_map_only(torch.Tensor, torch.Tensor.cuda, args)
    if op != "sparse_concat":
        return moved
    return (*moved[:2], args[2], *moved[3:])  # its shapes are best on the CPU


def _contestants(workload: Workload, device: str) -> list[Contestant]:
    """On CUDA torch's own and ours; torch's twice, since its fast sums are not deterministic."""
    able = [peer for peer in peers.peers_of(workload.op) if frameworks.supports(peer.library, workload.mode)]
    if device == "cpu":
        return [Contestant(peer) for peer in able]
    native = [peer for peer in able if peer.library in (peers.OURS, "torch", "torch_scatter")]
    deterministic = [Contestant(peer, True) for peer in native if peer.library == "torch"]
    return [Contestant(peer) for peer in native] + deterministic


def _checked_call(contestant: Contestant, workload: Workload, args: tuple, expected: list) -> Callable:
    peer = contestant.peer
    if not frameworks.is_installed(peer.library):
        raise frameworks.NotApplicable("not installed")
    with _determinism(contestant.deterministic):
        call, to_torch = frameworks.prepare(peer.library, peer.program(*args), workload.mode, workload.dtype)
        _compare(tree_leaves(to_torch(call())), expected, TOLERANCE[workload.dtype])
    return partial(_call_deterministically, call) if contestant.deterministic else call


def _reference(workload: Workload, args: tuple) -> list[torch.Tensor]:
    wide = tree_map_only(torch.Tensor, lambda t: t.double() if t.is_floating_point() else t, args)
    reference = peers.reference_of(workload.op)
    program = reference.program(*wide)
    call, to_torch = frameworks.prepare(reference.library, program, workload.mode, workload.dtype)
    return tree_leaves(to_torch(call()))


def _compare(actual: list[torch.Tensor], expected: list[torch.Tensor], tolerance: float) -> None:
    if [tuple(t.shape) for t in actual] != [tuple(t.shape) for t in expected]:
        raise ValueError(f"has shape {tuple(actual[0].shape)}, not {tuple(expected[0].shape)}")
    for a, e in zip(actual, expected):
        error = (a.to(e) - e).abs_().max().item() / max(e.abs().max().item(), 1e-30)
        if not error <= (tolerance if e.is_floating_point() else 0):
            raise ValueError(f"result is wrong by {error:.1%} of the largest value")


def _timing(contestant: Contestant, seconds: list[float], device: str) -> Timing:
    ours = contestant.peer.library == peers.OURS
    return Timing(
        library=contestant.peer.library,
        complete=contestant.peer.complete,
        deterministic=ours or contestant.deterministic,
        **measure.summary(seconds),
    )


def _grad_context(mode: str):
    return {FORWARD: torch.no_grad, INFERENCE: torch.inference_mode}.get(mode, nullcontext)()


@contextmanager
def _determinism(enabled: bool) -> Iterator[None]:
    torch.utils.deterministic.fill_uninitialized_memory = False  # a debugging aid that costs time
    torch.use_deterministic_algorithms(enabled)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def _call_deterministically(call: Callable):
    with _determinism(True):
        return call()


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:160]
