"""Times calls in interleaved rounds; measures copy bandwidth, and the memory that a call needs beyond its output."""

import ctypes
import gc
import random
import statistics
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch

SAMPLE_SECONDS = 1e-3  # a sample repeats a shorter call for this long
MAX_ROUNDS = 51
FLUSH_BYTES = 256 << 20  # more than any GPU's L2


def rounds(calls: dict[str, Callable], clock: Callable, seconds_each: float, min_rounds: int) -> dict[str, list[float]]:
    """Seconds of each call, sampled in rounds of all of them in random order, so that drift hits them alike.

    Each call has ``seconds_each`` and at least ``min_rounds`` rounds; slow ones leave after fewer.
    """
    expected = {name: min(clock(call, 1), clock(call, 1)) for name, call in calls.items()}
    repeats = {name: max(1, round(SAMPLE_SECONDS / seconds)) for name, seconds in expected.items()}
    fastest = min(expected.values())
    wanted = {
        name: max(
            min_rounds if seconds < max(0.2, 10 * fastest) else 2,  # who is far behind needs no precision
            min(MAX_ROUNDS, int(seconds_each / (seconds * repeats[name]))),
        )
        for name, seconds in expected.items()
    }
    samples: dict[str, list[float]] = {name: [] for name in calls}
    order = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        for number in range(max(wanted.values())):
            present = [name for name in calls if number < wanted[name]]
            for name in order.sample(present, len(present)):
                samples[name].append(clock(calls[name], repeats[name]))
    finally:
        gc.enable()
    return samples


def summary(samples: list[float]) -> dict:
    """Milliseconds: the median and the quartiles."""
    low, median, high = (1e3 * q for q in statistics.quantiles(samples, n=4, method="inclusive"))
    return {"median": median, "quartiles": [low, high], "samples": len(samples)}


def clock_of(device: str, *, small: bool = False) -> Callable[[Callable, int], float]:
    """``clock(call, repeats)``: mean seconds of a call. On CUDA, ``small`` calls are timed as the host sees them."""
    if device == "cpu":
        return _wall_seconds
    return _synchronised_seconds if small else _event_seconds


def _wall_seconds(call: Callable, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def _synchronised_seconds(call: Callable, repeats: int) -> float:
    def all_calls():
        for _ in range(repeats):
            call()
        torch.cuda.synchronize()

    torch.cuda.synchronize()
    return _wall_seconds(all_calls, 1) / repeats


def _event_seconds(call: Callable, repeats: int) -> float:
    """Time on the device, each call after its L2 has been overwritten; that write also hides the launch."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    pairs = []
    for _ in range(repeats):
        flush.zero_()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        pairs.append((start, end))
    torch.cuda.synchronize()
    return sum(start.elapsed_time(end) for start, end in pairs) / len(pairs) / 1e3


def copy_bandwidth(device: str, samples: int = 5) -> float:
    """Bytes a second, those read and those written both counted, of copying a buffer larger than any cache."""
    source, target = _copy_buffers(device)
    clock = clock_of(device)
    return 2 * source.nbytes / statistics.median(clock(lambda: target.copy_(source), 1) for _ in range(samples))


@cache
def _copy_buffers(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.ones(256 << 20 if device == "cpu" else 1 << 30, dtype=torch.int8, device=device)
    return source, torch.ones_like(source)


def extra_bytes(call: Callable, output_bytes: int, device: str) -> int | None:
    """The peak of memory during ``call`` above what was there before, less its output; None where unknown."""
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        return max(0, torch.cuda.max_memory_allocated() - before - output_bytes)
    try:
        ctypes.CDLL(None).malloc_trim(0)  # else freed pages that are still resident hide what is allocated
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM to VmRSS
        before = _resident_bytes("VmRSS")
        call()
        return max(0, _resident_bytes("VmHWM") - before - output_bytes)
    except (OSError, AttributeError):  # not Linux with glibc
        return None


def _resident_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field))
