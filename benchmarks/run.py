"""Measures torch_sparse_ops and its competitors side by side, and writes a table, a JSON and charts.

    python benchmarks/run.py                        everything on the CPU, about half an hour
    python benchmarks/run.py --quick                a selection, under 3 minutes
    python benchmarks/run.py --filter scatter_nd    the workloads whose name matches a regular expression
    python benchmarks/run.py --device cuda --quick  on a GPU

Every competitor's result is checked before it is timed. What is not installed is skipped: pip install '.[bench]'
brings most of them, pip install --no-build-isolation torch_scatter the other.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import machine  # imports no other library: the threads must be pinned before


def main() -> None:
    options = _options()
    cores = machine.available_cores()
    machine.pin_threads(options.threads)

    import torch

    import charts
    import contest
    import report
    from peers import LIBRARIES
    from record import Run

    torch.set_num_threads(options.threads)
    selected = _select(options)
    if options.list:
        print(*(workload.name for workload in selected), sep="\n")
        return
    effort = contest.Effort(0.1, 3) if options.quick else contest.Effort(0.6, 5)
    options.output_dir.mkdir(parents=True, exist_ok=True)
    stem = options.output_dir / (options.device + ("-quick" if options.quick else ""))
    run = Run(machine.describe(options.device, cores, options.threads, LIBRARIES), [])
    for workload, tell in _progress(selected):
        run.results.append(contest.hold(workload, options.device, options.threads, effort, tell))
        run.write(stem.with_suffix(".json"))  # each time: an interrupted run is not lost
    stem.with_suffix(".md").write_text(report.markdown(run))
    print(report.markdown(run))
    for path in charts.draw(run, stem):
        print(path)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", help="regular expression: only workloads whose name has a match")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds, and without --filter a selection of the workloads"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=machine.available_cores(), help="of every library")
    parser.add_argument("--output-dir", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--list", action="store_true", help="name the workloads and stop")
    return parser.parse_args()


def _select(options: argparse.Namespace) -> list:
    from workloads import all_workloads

    selected = [
        workload
        for workload in all_workloads()
        if re.search(options.filter, workload.name) and (workload.quick or options.filter or not options.quick)
    ]
    if not selected:
        raise SystemExit(f"no workload's name matches {options.filter!r}; see --list")
    return selected


def _progress(workloads: list) -> Iterator[tuple[object, Callable[[str], None]]]:
    """Each workload, with a function that shows what is being done with it."""
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:  # a machine that has torch and little else
        for number, workload in enumerate(workloads, 1):
            print(f"{number}/{len(workloads)} {workload.name}", flush=True)
            yield workload, lambda activity: None
        return
    columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns) as progress:
        task = progress.add_task("", total=len(workloads))
        for workload in workloads:
            yield workload, partial(_show, progress, task, workload.name)
            progress.advance(task)


def _show(progress, task, name: str, activity: str) -> None:
    progress.update(task, description=f"{name}: {activity}")


if __name__ == "__main__":
    main()
