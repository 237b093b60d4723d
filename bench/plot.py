#!/usr/bin/python3
"""Draws the figures of docs/performance.md from the records of the benchmarks.

Usage: bench/plot.py RESULTS.json [--to docs/figures]

One SVG file per figure; a figure whose records are not there is left as it was, with a line that says so.
Needs python3-matplotlib.
"""

import argparse
import collections
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({
    "svg.hashsalt": "refrain", "svg.fonttype": "none", "font.size": 9, "axes.grid": True,
    "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
})
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen before)

MARKERS = "os^Dvp<>*hXPd8"
PERFECT = ("sequential", "")


def name_of(system, variant, threads):
    text = system + (f" ({variant})" if variant else "")
    return f"{text}, {threads} thread{'' if threads == 1 else 's'}"


def series(records, benchmark, metric):
    """{(system, variant, threads): [(size, record)] by size}; size 0 stands for a summary."""
    found = collections.defaultdict(list)
    for r in records:
        if (r["benchmark"], r["metric"]) == (benchmark, metric) and r["size"] > 0:
            if r["value"] is not None:
                found[r["system"], r["variant"], r["threads"]].append((r["size"], r))
    return {key: sorted(points, key=lambda p: p[0]) for key, points in sorted(found.items())}


def error_bars(records):
    values = [r["value"] for r in records]
    below = [max(0, r["value"] - r["min"]) for r in records]
    above = [max(0, r["max"] - r["value"]) for r in records]
    return values, [below, above]


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"plot: {path}")


def task_overhead(records, folder):
    """ns per task against the size of the graph, one panel per number of threads."""
    curves = series(records, "task_overhead", "ns_per_task")
    threads = sorted({key[2] for key in curves})
    if not curves:
        return False
    figure, panels = plt.subplots(1, len(threads), figsize=(4.2 * len(threads), 3.6), sharey=True,
                                  squeeze=False)
    for panel, count in zip(panels[0], threads):
        chosen = [key for key in curves if key[2] == count]
        for marker, key in zip(MARKERS, chosen):
            values, bars = error_bars([r for _, r in curves[key]])
            panel.errorbar([size for size, _ in curves[key]], values, yerr=bars, marker=marker,
                           capsize=2, label=key[0] + (f" ({key[1]})" if key[1] else ""))
        panel.set(xscale="log", yscale="log", xlabel="tasks per graph",
                  title=f"{count} thread{'' if count == 1 else 's'}")
    panels[0][0].set_ylabel("ns per task")
    panels[0][-1].legend(fontsize=7)
    save(figure, folder / "task_overhead.svg")
    return True


def efficiency(records, folder, workload):
    """Efficiency against granularity, with the 50% line and each system's METG."""
    benchmark = "metg_" + workload
    grains = series(records, benchmark, "granularity")
    shares = series(records, benchmark, "efficiency")
    if not shares:
        return False
    summary = {(r["system"], r["variant"], r["threads"]): r["value"] for r in records
               if (r["benchmark"], r["metric"]) == (benchmark, "metg50")}
    figure, panel = plt.subplots(figsize=(5.2, 3.6))
    for marker, key in zip(MARKERS, shares):
        label = name_of(*key)
        if summary.get(key) is not None:
            label += f": METG(50%) {summary[key] / 1000:.3g} µs"
        values, bars = error_bars([r for _, r in shares[key]])
        points = sorted(zip((r["value"] / 1000 for _, r in grains[key]), values, *bars))
        x, y, below, above = zip(*points)
        panel.errorbar(x, y, yerr=[below, above], marker=marker, capsize=2, label=label,
                       linestyle=":" if key[:2] == PERFECT else "-")
    panel.axhline(0.5, color="grey", linewidth=0.8)
    panel.set(xscale="log", ylim=(0, None), xlabel="task granularity, µs", ylabel="efficiency",
              title=workload)
    panel.legend(fontsize=7)
    save(figure, folder / f"efficiency_{workload}.svg")
    return True


def trace_overhead(records, folder):
    """Figure 11 of the dynamic tracing paper: improvement, and ns per task, against the length of a trace."""
    improvements = series(records, "trace_overhead_chains", "improvement")
    traces = series(records, "trace_overhead_chains", "ns_per_trace")
    if not traces:
        return False
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    for panel, curves, unit in ((left, improvements, "untraced time / time"),
                                (right, traces, "ns per task")):
        for marker, (key, points) in zip(MARKERS, curves.items()):
            values, bars = error_bars([r for _, r in points])
            scale = [size if panel is right else 1 for size, _ in points]
            values = [v / s for v, s in zip(values, scale)]
            bars = [[v / s for v, s in zip(bar, scale)] for bar in bars]
            panel.errorbar([size for size, _ in points], values, yerr=bars, marker=marker,
                           capsize=2, label=name_of(*key))
        panel.set(xscale="log", ylim=(0, None), xlabel="tasks of a trace, S x N", ylabel=unit)
        panel.legend(fontsize=7)
    save(figure, folder / "trace_overhead.svg")
    return True


def growth(records, folder, axis):
    """Instructions per task, and time beside the bare walk, against one size of the program."""
    benchmark = "growth_" + axis
    instructions = series(records, benchmark, "instructions_per_task")
    times = series(records, benchmark, "ns_per_task")
    walks = series(records, benchmark, "ns_per_step")
    if not instructions and not times:
        return False
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    for panel, groups, unit in ((left, [instructions], "instructions per task"),
                                (right, [times, walks], "ns per task, ns per step of a walk")):
        curves = [(key, points) for group in groups for key, points in group.items()]
        for marker, (key, points) in zip(MARKERS, curves):
            values, bars = error_bars([r for _, r in points])
            panel.errorbar([size for size, _ in points], values, yerr=bars, marker=marker,
                           capsize=2, label=name_of(*key))
        panel.set(xscale="log", ylim=(0, None), xlabel=axis.replace("_", " "), ylabel=unit)
        if curves:
            panel.legend(fontsize=7)
    save(figure, folder / f"growth_{axis}.svg")
    return True


def own_share(records, folder):
    """Instructions per own point against the number of shards (dynamic control replication, Figures 12 to 14)."""
    curves = {f"stencil, in the {key[1]}{way}": points
              for way, metric in (("", ""), (", marked", "_traced"), (", found", "_automatic"))
              for key, points in series(records, "own_share", "instructions_per_point" + metric).items()}
    for key, points in series(records, "own_share_apps", "instructions_per_task").items():
        curves[key[1]] = points
    if not curves:
        return False
    figure, panel = plt.subplots(figsize=(6.4, 4.8))
    for number, (name, points) in enumerate(curves.items()):
        panel.plot([size for size, _ in points], [r["value"] for _, r in points],
                   marker=MARKERS[number % len(MARKERS)], label=name)
    panel.set(xscale="log", yscale="log", xlabel="shards", ylabel="instructions per own point, or task")
    panel.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    save(figure, folder / "own_share.svg")
    return True


def autotrace(records, folder):
    """Figures 6 and 7 of the automatic tracing paper: iterations per second, as a multiple of untraced."""
    prefix, variants = "autotrace_", ("untraced", "manual", "auto")
    speeds = {name[len(prefix):]: series(records, name, "iterations_per_s")
              for name in sorted({r["benchmark"] for r in records}) if name.startswith(prefix)}
    speeds = {name: curves for name, curves in speeds.items() if curves}
    if not speeds:
        return False
    threads = sorted({key[2] for curves in speeds.values() for key in curves})
    figure, panels = plt.subplots(len(threads), len(speeds), squeeze=False,
                                  figsize=(2.6 * len(speeds), 2.6 * len(threads)))
    for row, count in zip(panels, threads):
        for panel, (name, curves) in zip(row, speeds.items()):
            untraced = {size: r["value"] for size, r in curves.get(("refrain", "untraced", count), [])}
            sizes = sorted({size for points in curves.values() for size, _ in points})
            for i, variant in enumerate(variants):
                points = [p for p in curves.get(("refrain", variant, count), []) if p[0] in untraced]
                values, bars = error_bars([r for _, r in points])
                scale = [untraced[size] for size, _ in points]
                panel.bar([sizes.index(size) + 0.27 * (i - 1) for size, _ in points],
                          [v / s for v, s in zip(values, scale)], width=0.25, label=variant, capsize=2,
                          yerr=[[v / s for v, s in zip(bar, scale)] for bar in bars])
                for size, r in points if variant == "untraced" else []:
                    panel.annotate(f"{r['value']:,.0f}/s", (sizes.index(size) - 0.27, 0.03), rotation=90,
                                   fontsize=6, color="white", ha="center", va="bottom")
            panel.set_xticks(range(len(sizes)), ("small", "medium", "large")[:len(sizes)])
            panel.set_xlim(-0.5, len(sizes) - 0.5)
            panel.set_title(f"{name}, {count} thread{'' if count == 1 else 's'}")
            panel.axhline(1, color="grey", linewidth=0.8)
        row[0].set_ylabel("iterations/s, untraced = 1")
    panels[0][0].legend(fontsize=7, loc="upper right")
    save(figure, folder / "autotrace.svg")
    return True


def mining(records, folder):
    """Time to mine a stream against its length, Algorithm 2 once, with the goals."""
    curves = {variant: points for (system, variant, _), points in series(records, "mining", "ms").items()
              if system == "algorithm_2"}
    if not curves:
        return False
    figure, panel = plt.subplots(figsize=(6, 4))
    shown = ("insertions", "nested", "long_loop", "random_3", "fibonacci", "thue_morse", "one_token", "distinct")
    for marker, name in zip(MARKERS, shown):
        points = curves.get(name, [])
        values, bars = error_bars([r for _, r in points])
        panel.errorbar([size for size, _ in points], values, yerr=bars, marker=marker, capsize=2,
                       label=name, linewidth=1)
    panel.plot([5000, 100000], [1, 50], "kx", markersize=9, label="goals")
    panel.set(xscale="log", yscale="log", xlabel="tokens", ylabel="ms")
    panel.legend(fontsize=7)
    save(figure, folder / "mining.svg")
    return True


def arrays(records, folder):
    """Speed of the applications on arrays over NumPy's, against the elements of an array."""
    metric = "_speed_to_numpy"
    names = sorted({r["metric"][:-len(metric)] for r in records
                    if r["benchmark"] == "arrays" and r["metric"].endswith(metric)})
    if not names:
        return False
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axis, variant, title in zip(axes, ("", "untraced"), ("automatic tracing on", "off")):
        for marker, name in zip(MARKERS, names):
            curves = series(records, "arrays", name + metric)
            points = [p for (_, v, _), found in curves.items() if v == variant for p in found]
            if not points:
                continue
            values, errors = error_bars([r for _, r in points])
            axis.errorbar([size for size, _ in points], values, yerr=errors, marker=marker,
                          markersize=4, capsize=2, linewidth=1, label=name.replace("_", "-"))
        axis.axhline(1, color="black", linewidth=0.8)
        axis.set(xscale="log", yscale="log", title=title, xlabel="elements per array")
        axis.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
    axes[0].set_ylabel("iterations per second over NumPy's")
    axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, folder / "arrays.svg")
    return True


def oracle_accuracy(records, folder, benchmark, name):
    """Predictions that are right, against their distance, one panel per working set."""
    curves = series(records, benchmark, "right")
    sets = [s for s in ("small", "medium", "large") if any(key[1] == s for key in curves)]
    if not sets:
        return False
    figure, panels = plt.subplots(1, len(sets), figsize=(3.2 * len(sets), 3.2), sharey=True, squeeze=False)
    for panel, working_set in zip(panels[0], sets):
        for marker, key in zip(MARKERS, [key for key in curves if key[1] == working_set]):
            points = curves[key]
            panel.plot([size for size, _ in points], [r["value"] for _, r in points], marker=marker,
                       markersize=4, linewidth=1, label=key[0])
        panel.set(xscale="log", xlabel="distance in events", title=working_set, ylim=(0, 102))
        panel.set_xticks([1, 2, 4, 8, 16, 32, 64, 128], ["1", "2", "4", "8", "16", "32", "64", "128"])
        panel.minorticks_off()
    panels[0][0].set_ylabel("right, %")
    panels[0][-1].legend(fontsize=7, loc="lower left")
    save(figure, folder / f"{name}.svg")
    return True


def unexpected_events(records, folder):
    """Seconds against the rate of events that did not happen (as in Figure 14 of PYTHIA)."""
    chosen = [r for r in records if (r["benchmark"], r["variant"]) == ("oracle_gomp", "unexpected")]
    curves = collections.defaultdict(list)
    for r in chosen:
        curves[r["system"]].append((r["size"], r))
    if not curves:
        return False
    figure, panel = plt.subplots(figsize=(4.6, 3.4))
    for marker, (system, points) in zip(MARKERS, sorted(curves.items())):
        points.sort(key=lambda p: p[0])
        values, bars = error_bars([r for _, r in points])
        if len(points) == 1:  # it knows nothing of events
            label = {"one": "1 thread", "default": "all threads"}.get(system, system)
            panel.axhline(values[0], color="gray", linestyle="--" if system == "one" else ":",
                          label=label)
        else:
            panel.errorbar([rate for rate, _ in points], values, yerr=bars, marker=marker, capsize=2,
                           label=system)
    panel.set(xlabel="% of unexpected events", ylabel="s", yscale="log")
    panel.legend(fontsize=7)
    save(figure, folder / "unexpected_events.svg")
    return True


def main():
    parser = argparse.ArgumentParser(description="Draw the figures from the benchmarks' records.")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--to", type=pathlib.Path, default=pathlib.Path("docs/figures"))
    wanted = parser.parse_args()
    records = json.loads(wanted.results.read_text())
    wanted.to.mkdir(parents=True, exist_ok=True)
    figures = [("task_overhead", lambda: task_overhead(records, wanted.to)),
               ("trace_overhead_chains", lambda: trace_overhead(records, wanted.to)),
               ("own_share", lambda: own_share(records, wanted.to)),
               ("autotrace", lambda: autotrace(records, wanted.to)),
               ("mining", lambda: mining(records, wanted.to)),
               ("arrays", lambda: arrays(records, wanted.to)),
               ("oracle_mpi", lambda: oracle_accuracy(records, wanted.to, "oracle_mpi_accuracy", "oracle_mpi")),
               ("oracle_launches",
                lambda: oracle_accuracy(records, wanted.to, "oracle_launch_accuracy", "oracle_launches")),
               ("unexpected_events", lambda: unexpected_events(records, wanted.to))]
    for prefix, draw in (("metg_", efficiency), ("growth_", growth)):
        for name in sorted({r["benchmark"] for r in records if r["benchmark"].startswith(prefix)}):
            figures.append((name, lambda d=draw, n=name[len(prefix):]: d(records, wanted.to, n)))
    for name, draw in figures:
        if not draw():
            print(f"plot: no records for {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
