"""A run as a Markdown page: a summary by group of workloads, then every workload.

``python benchmarks/report.py benchmarks/results/cpu.json`` writes page and charts again from a run's JSON.
"""

import math
import sys
from pathlib import Path

from record import OURS, Result, Run
from requirements import Check, checks


def markdown(run: Run) -> str:
    versions = ", ".join(f"{library} {version}" for library, version in run.machine["versions"].items())
    bandwidths = sorted(result.copy_bandwidth for result in run.results)
    lines = [
        f"# Benchmarks on {run.machine['name']}",
        "",
        f"{run.machine['system']}; Python {run.machine['python']}; {versions}.",
        f"Copy bandwidth {bandwidths[len(bandwidths) // 2] / 1e9:.1f} GB/s (reads and writes counted), measured before "
        "each workload. Times are medians of interleaved rounds; ratios are ours / theirs, so below 1 is faster.",
        "",
        *_table(SUMMARY_HEADER, [_summary_row(group, run) for group in _groups(run)]),
    ]
    for group in _groups(run):
        results = [result for result in run.results if result.group == group]
        lines += ["", f"## {group}", "", *_table(HEADER, [_row(result, run) for result in results])]
    skipped = _skipped(run)
    if skipped:
        lines += ["", "## Skipped", "", *skipped]
    return "\n".join(lines) + "\n"


SUMMARY_HEADER = ["group", "workloads", "ours / best peer (geometric mean)", "requirements met"]
HEADER = ["workload", "ours", "best peer", "ratio", "of copy bandwidth", "extra memory", "required"]


def _summary_row(group: str, run: Run) -> list[str]:
    results = [result for result in run.results if result.group == group]
    ratios = [ratio for result in results if (ratio := _ratio(result))]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    required = [check for result in results for check in checks(result, run) if check.limit is not None]
    met = f"{sum(check.passed for check in required)} of {len(required)}" if required else ""
    return [group, str(len(results)), f"{mean:.2f}" if mean else "", met]


def _row(result: Result, run: Run) -> list[str]:
    best = result.best_peer()
    ratio = _ratio(result)
    return [
        result.name,
        _milliseconds(result.ours) if result.ours else result.skipped.get(OURS, ""),
        f"{best} {_milliseconds(result.times[best].median)}" if best else "",
        f"{ratio:.2f}" if ratio else "",
        f"{result.floor / result.ours:.0%}" if result.ours and not result.group.startswith("tiny") else "",
        "" if result.extra_bytes is None else f"{result.extra_bytes / 2**20:.1f} MiB",
        "; ".join(map(_verdict, checks(result, run))),
    ]


def _verdict(check: Check) -> str:
    bound = f"aim {check.aim:.3g}" if check.limit is None else f"limit {check.limit:.3g}"
    reached = check.ratio <= check.aim if check.limit is None else check.passed
    return f"{'✓' if reached else '✗'} {check.ratio:.3g} x {check.against} ({bound})"


def _ratio(result: Result) -> float | None:
    best = result.best_peer()
    return result.ours / result.times[best].median if best and result.ours else None


def _milliseconds(value: float) -> str:
    return f"{value * 1e3:.3g} µs" if value < 0.1 else f"{value:.3g} ms"


def _groups(run: Run) -> list[str]:
    return list(dict.fromkeys(result.group for result in run.results))


def _skipped(run: Run) -> list[str]:
    """Each competitor's reasons, once, with the number of workloads."""
    reasons: dict[tuple[str, str], int] = {}
    for result in run.results:
        for name, reason in result.skipped.items():
            key = (f"{name}, {result.op}", reason)
            reasons[key] = reasons.get(key, 0) + 1
    return [f"- {who} ({count} workloads): {reason}" for (who, reason), count in sorted(reasons.items())]


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    """Padded, so that it also reads well in a terminal."""
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    padded = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in [header, *rows]]
    return [f"| {padded[0]} |", f"| {' | '.join('-' * width for width in widths)} |"] + [
        f"| {row} |" for row in padded[1:]
    ]


if __name__ == "__main__":
    import charts

    source = Path(sys.argv[1])
    source.with_suffix(".md").write_text(markdown(Run.read(source)))
    charts.draw(Run.read(source), source.with_suffix(""))
