"""A run as pictures: every competitor's time relative to ours, and time against size."""

from pathlib import Path

from record import OURS, Result, Run

# Colours that also the colour-blind tell apart (Okabe and Ito).
LIBRARIES = {
    OURS: ("torch_sparse_ops", "#D55E00"),
    "torch": ("torch", "#0072B2"),
    "torch_scatter": ("torch_scatter", "#56B4E9"),
    "jax": ("JAX", "#009E73"),
    "tensorflow": ("TensorFlow", "#E69F00"),
    "scipy": ("SciPy", "#999999"),
    "numpy": ("NumPy", "#444444"),
}
SPARSE_CONCAT = ("sparse_concat dim 0", "sparse_concat dim 1")
COLUMNS = (("scatter_nd", "sparse_concat"), ("segment_sum", "segment_sum with indices"))
RELATIVE_GROUPS = ("scatter_nd", "segment_sum", "segment_sum with indices", *SPARSE_CONCAT)


def draw(run: Run, stem: Path) -> list[Path]:
    """PNG files named after ``stem``, as many as the run has data for; none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        print("no charts: matplotlib is not installed")
        return []
    matplotlib.use("agg")
    matplotlib.rcParams.update(
        {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.titleweight": "bold"}
    )
    drawn = []
    for name, figure in (("relative", _relative(run)), ("growth", _growth(run))):
        if figure is not None:
            path = stem.with_name(f"{stem.name}-{name}.png")
            figure.savefig(path, dpi=150)
            drawn.append(path)
    return drawn


def _relative(run: Run):
    """One panel an operator, one cluster of bars a workload, one bar a library: its best complete competitor.

    Bars start at the time of ours, so those that point to the left are faster.
    """
    panels = {}
    for result in run.results:
        if result.group in RELATIVE_GROUPS and result.ours and result.best_peer():
            panels.setdefault(result.group.split(" dim ")[0], []).append(result)
    if not panels:
        return None
    from matplotlib import pyplot

    columns = [kept for column in COLUMNS if (kept := [title for title in column if title in panels])]
    bars = {title: sum(len(_fastest(result)) for result in results) for title, results in panels.items()}
    tallest = max(sum(bars[title] for title in column) for column in columns)
    figure = pyplot.figure(figsize=(5.4 * len(columns), 0.16 * tallest + 1.8), layout="constrained")
    for subfigure, column in zip(figure.subfigures(1, len(columns), squeeze=False).flat, columns):
        axes = subfigure.subplots(len(column), height_ratios=[bars[t] for t in column], sharex=True, squeeze=False)
        for panel, title in zip(axes.flat, column):
            _draw_bars(panel, title, panels[title])
        axes.flat[-1].set_xlabel("time / time of torch_sparse_ops (that in ms on the left)")
    _legend(figure, [result for results in panels.values() for result in results], without=OURS)
    figure.suptitle(f"Time relative to torch_sparse_ops on {run.machine['name']}")
    return figure


def _draw_bars(panel, title: str, results: list[Result]) -> None:
    position, ticks = 0, []
    for result in results:
        peers = sorted((time, library) for library, time in _fastest(result).items() if library != OURS)
        ticks.append(position + (len(peers) - 1) / 2)
        for milliseconds, library in peers:
            ratio = milliseconds / result.ours
            panel.barh(position, ratio - 1, left=1, height=0.85, color=LIBRARIES[library][1])
            side, align = (1.05, "left") if ratio >= 1 else (1 / 1.05, "right")
            digits = 2 if ratio < 1 else 1 if ratio < 10 else 0
            panel.text(ratio * side, position, f"{ratio:.{digits}f}", va="center", ha=align)
            position += 1
        position += 1
    labels = [f"{result.name.removeprefix(result.op).strip()}\n{result.ours:.3g} ms" for result in results]
    panel.set_yticks(ticks, labels)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.axvline(1, color=LIBRARIES[OURS][1], linewidth=1.5)
    panel.set_xscale("log")
    panel.margins(x=0.12, y=0.01)
    panel.xaxis.set_major_formatter("{x:g}x")
    panel.invert_yaxis()
    panel.set_title(title, loc="left")


def _growth(run: Run):
    """One panel an operator, both axes logarithmic, one line a library."""
    panels = {}
    for result in run.results:
        if result.size is not None:
            panels.setdefault(result.group.removeprefix("growth "), []).append(result)
    if not panels:
        return None
    from matplotlib import pyplot

    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(3.6 * columns, 3 * rows + 0.8), layout="constrained", squeeze=False
    )
    for panel, (title, results) in zip(axes.flat, panels.items()):
        for library in LIBRARIES:
            points = [(r.size, times[library]) for r in results if library in (times := _fastest(r))]
            if points:
                width = 2.2 if library == OURS else 1.2
                panel.loglog(*zip(*points), marker="o", ms=3, lw=width, color=LIBRARIES[library][1])
        panel.set_title(title, loc="left")
        panel.grid(which="major", color="#DDDDDD", linewidth=0.6)
        panel.set_xlabel("rows")
    for panel in axes[:, 0]:
        panel.set_ylabel("milliseconds")
    for panel in axes.flat[len(panels) :]:
        panel.set_visible(False)
    _legend(figure, [result for results in panels.values() for result in results])
    figure.suptitle(f"Time against size on {run.machine['name']}")
    return figure


def _fastest(result: Result) -> dict[str, float]:
    """Milliseconds of each library's best way that gives the complete result."""
    fastest: dict[str, float] = {}
    for timing in result.times.values():
        if timing.complete:
            fastest[timing.library] = min(timing.median, fastest.get(timing.library, float("inf")))
    return fastest


def _legend(figure, results: list[Result], without: str = "") -> None:
    from matplotlib.patches import Patch

    present = {timing.library for result in results for timing in result.times.values() if timing.complete}
    handles = [
        Patch(color=colour, label=label)
        for library, (label, colour) in LIBRARIES.items()
        if library in present - {without}
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
