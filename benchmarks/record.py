"""What a run found, as plain data: written to JSON by run.py, read by requirements.py, report.py and charts.py."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path

OURS = "torch_sparse_ops"


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one competitor's calls."""

    library: str
    complete: bool
    deterministic: bool
    median: float
    quartiles: tuple[float, float]
    samples: int


@dataclass(frozen=True)
class Result:
    """One workload: who took how long, who was skipped and why, and what the memory allows."""

    name: str
    op: str
    group: str
    mode: str
    dtype: str
    twin: str | None
    size: int | None
    rows: int
    row_bytes: int
    bytes: int
    copy_bandwidth: float
    extra_bytes: int | None = None
    extra_bytes_allowed: int | None = None
    times: dict[str, Timing] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def ours(self) -> float | None:
        """Milliseconds, or None where ours was skipped."""
        return self.times[OURS].median if OURS in self.times else None

    @property
    def floor(self) -> float:
        """Milliseconds in which the machine copies the bytes that must move."""
        return 1e3 * self.bytes / self.copy_bandwidth

    def best_peer(self, *, deterministic: bool = False) -> str | None:
        """The fastest competitor whose result is complete; with ``deterministic``, of those that promise equal bits."""
        eligible = {
            name: timing.median
            for name, timing in self.times.items()
            if timing.library != OURS and timing.complete and timing.deterministic >= deterministic
        }
        return min(eligible, key=eligible.get, default=None)


@dataclass(frozen=True)
class Run:
    machine: dict
    results: list[Result]

    def by_name(self, name: str) -> Result | None:
        return next((result for result in self.results if result.name == name), None)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n")

    @staticmethod
    def read(path: Path) -> "Run":
        data = json.loads(path.read_text())
        results = [
            Result(**{**result, "times": {name: Timing(**timing) for name, timing in result["times"].items()}})
            for result in data["results"]
        ]
        return Run(data["machine"], results)
