"""``python -m torch_sparse_ops``: what is installed, and the documentation's examples at work on each device, checked.

Each line is "ok" or "FAILED"; the exit status is 1 if any failed. ``--json`` prints the same for a bug report.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

import torch_sparse_ops

ops = torch.ops.torch_sparse_ops


@dataclass
class Example:
    """A call on tensors of a device, and the values it must give."""

    name: str
    call: Callable[[], Any]
    expected: list[Any]
    # The same operator on double values, to be differentiated with respect to its argument.
    function: Callable[[torch.Tensor], torch.Tensor]
    argument: list[Any]


def segment_sum(data: torch.Tensor, **arguments: Any) -> torch.Tensor:
    return ops.segment_sum(data, **arguments)


def examples(device: torch.device) -> Iterator[Example]:
    def tensor(values: list[Any]) -> torch.Tensor:
        return torch.tensor(values, device=device)

    points = tensor([[4], [3], [1], [7]])
    yield Example(
        "scatter_nd: four elements into [8]",
        lambda: ops.scatter_nd(points, tensor([9, 10, 11, 12]), [8]),
        [0, 11, 0, 10, 9, 0, 0, 12],
        lambda updates: ops.scatter_nd(points, updates, [8]),
        [9, 10, 11, 12],
    )
    slices, planes = [[[r] * 4 for r in (5, 6, 7, 8)]] * 2, tensor([[0], [2]])
    zeros = [[0] * 4] * 4
    yield Example(
        "scatter_nd: two 4x4 slices into [4, 4, 4]",
        lambda: ops.scatter_nd(planes, tensor(slices), [4, 4, 4]),
        [slices[0], zeros, slices[1], zeros],
        lambda updates: ops.scatter_nd(planes, updates, [4, 4, 4]),
        slices,
    )
    c = [[1, 2, 3, 4], [-1, -2, -3, -4], [5, 6, 7, 8]]
    for rows, ids, segments, expected in (
        ([0, 1], [0, 0], None, [[0, 0, 0, 0]]),
        ([0, 1], [0, 1], None, c[:2]),
        ([0, 1], [0, 2], 4, [c[0], [0] * 4, c[1], [0] * 4]),
        ([0, 1, 2], [0, 0, 1], None, [[0, 0, 0, 0], c[2]]),
        (None, [0, 0, 1], None, [[0, 0, 0, 0], c[2]]),
    ):
        call = partial(
            segment_sum,
            indices=None if rows is None else tensor(rows),
            segment_ids=tensor(ids),
            num_segments=segments,
        )
        name = f"segment_sum: rows {rows}, ids {ids}" + (f", {segments} segments" if segments else "")
        yield Example(name, partial(call, tensor(c)), expected, call, c)

    where = [tensor([[0, 2], [1, 0], [1, 1]]), tensor([[0, 1], [0, 2]])]
    shapes = [torch.tensor([2, 3]), torch.tensor([2, 4])]

    def concat(values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return ops.sparse_concat(where, [values[:3], values[3:]], shapes, 1)

    yield Example(
        "sparse_concat: a, b, c with d, e along dim 1 (order a d e b c)",
        lambda: concat(torch.arange(5, device=device)),
        [[[0, 2], [0, 4], [0, 5], [1, 0], [1, 1]], [0, 3, 4, 1, 2], [2, 7]],
        lambda values: concat(values)[1],
        [1, 2, 3, 4, 5],
    )


def to_lists(result: Any) -> Any:
    return [t.tolist() for t in result] if isinstance(result, (tuple, list)) else result.tolist()


def run_example(example: Example, device: torch.device) -> dict[str, str]:
    """ "ok", or what went wrong, for the value, the gradient and the compiled call."""
    argument = torch.tensor(example.argument, dtype=torch.float64, device=device)

    def value() -> None:
        result = to_lists(example.call())
        assert result == example.expected, f"got {result}, expected {example.expected}"

    def gradient() -> None:
        torch.autograd.gradcheck(example.function, argument.clone().requires_grad_(), check_forward_ad=True)

    def compiled() -> None:
        torch._dynamo.reset()
        with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
            result = torch.compile(example.function, fullgraph=True)(argument)
        torch.testing.assert_close(result, example.function(argument))

    outcomes = {}
    for check in (value, gradient, compiled):
        try:
            check()
            outcomes[check.__name__] = "ok"
        except Exception as error:
            outcomes[check.__name__] = f"FAILED: {type(error).__name__}: {error}"
    return outcomes


def environment() -> dict[str, Any]:
    return {
        "torch_sparse_ops": torch_sparse_ops.__version__,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {backend: str(path) for backend, path in torch_sparse_ops.library_path().items()},
        "cpu kernels": torch_sparse_ops.instruction_set(),
        "threads": torch.get_num_threads(),
        "devices": [str(device) for device in devices()],
    }


def devices() -> list[torch.device]:
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return [torch.device("cpu")] + ([accelerator] if accelerator else [])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torch_sparse_ops", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON, for a bug report")
    as_json = parser.parse_args().json
    report: dict[str, Any] = {"environment": environment(), "checks": []}
    if not as_json:
        for name, value in report["environment"].items():
            print(f"{name:>16}: {value}")
    failures = 0
    for device in devices():
        for example in examples(device):
            outcomes = run_example(example, device)
            report["checks"].append({"device": str(device), "example": example.name, **outcomes})
            failures += sum(outcome != "ok" for outcome in outcomes.values())
            if not as_json:
                print(f"{device}: {example.name}")
                for check, outcome in outcomes.items():
                    print(f"{check:>16}: {outcome}")
    report["failures"] = failures
    summary = "all checks ok" if failures == 0 else f"{failures} checks FAILED"
    print(json.dumps(report, indent=2) if as_json else summary)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
