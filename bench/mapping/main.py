#!/usr/bin/env python3
"""Whether simulations foretell runs: the time of an iteration, and all that is copied and evicted.

Usage: bench_mapping --out FILE [--all] [--only APP]

Beside it, in the same folder, are the tool `refrain` and the applications. Each application is run, captured and
simulated on a machine whose cores and emulated GPUs are at most two threads: captured on its GPU and on its core, run
and simulated under the default mapping and under random ones. All runs take turns. Without --all one size and two
random mappings are measured.

What the simulation says of copies, of the bytes over each link, and of evictions has to equal what a run says, else the
program ends with status 1. Times are judged by people: the last lines say by how much they differ, the median of that,
and Kendall's tau over the pairs of mappings whose measured times differ by more than 5%: by their medians, and where the
runs, which took turns, show it with 95% confidence.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from sign_test import interval

HERE = pathlib.Path(__file__).absolute().parent
ROUNDS, ROUNDS_ALL = 6, 15
MAPPINGS, MAPPINGS_ALL = 2, 5
ALLOWED = 1.05
MACHINES = {
    "gpu1": "emulated:cpus=1,gpus=1,framebuffer=512MiB,pinned=512MiB",
}
# Of each application: its machine, what all sizes share, and of each size its name, its flags and its iterations.
APPLICATIONS = {
    "stencil": ("gpu1", ["--no-sequential"], [
        ("512", ["--n", "512", "--tiles", "4,1"], 1000),
        ("1024", ["--n", "1024", "--tiles", "4,1"], 250),
        ("2048", ["--n", "2048", "--tiles", "8,1"], 60)]),
    "circuit": ("gpu1", ["--no-sequential"], [
        ("1k", ["--pieces", "4", "--nodes", "500", "--wires", "1000"], 150),
        ("4k", ["--pieces", "4", "--nodes", "1000", "--wires", "4000"], 50),
        ("16k", ["--pieces", "4", "--nodes", "2500", "--wires", "16000"], 12)]),
    "s3d-like": ("gpu1", ["--no-sequential", "--hand-off", "1000000"], [
        ("64", ["--n", "64", "--tiles", "2,1"], 400),
        ("128", ["--n", "128", "--tiles", "2,1"], 100),
        ("256", ["--n", "256", "--tiles", "4,1"], 25)]),
    "cfd": ("gpu1", ["--no-check", "--check-every", "1000000"], [
        ("41", ["--n", "41"], 100),
        ("101", ["--n", "101"], 50),
        ("201", ["--n", "201"], 20)]),
    "jacobi": ("gpu1", ["--no-sequential"], [
        ("512", ["--n", "512", "--blocks", "4"], 2000),
        ("1024", ["--n", "1024", "--blocks", "4"], 600),
        ("2048", ["--n", "2048", "--blocks", "8"], 150)]),
}
ITERATIONS = {"circuit": "--steps"}
MEMORIES = {"cpu": ["system", "pinned"], "gpu": ["framebuffer", "pinned"]}


def run(command, **flags):
    """Its standard output; RuntimeError with its last line, where it fails."""
    words = " ".join(f"--refrain:{name}={value}" for name, value in flags.items() if value)
    done = subprocess.run([str(word) for word in command], env=os.environ | {"REFRAIN_ARGS": words},
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} {words}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return done.stdout


def random_mapping(captured, seed):
    """A rule for each task: any processor that it has a body for, and for each argument any memory of that."""
    draw = random.Random(seed)
    arguments = {}
    for call in captured["calls"]:
        if call["call"] == "launch":
            name = captured["tasks"][call["task"]]["name"]
            arguments[name] = min(arguments.get(name, len(call["arguments"])), len(call["arguments"]))
    variants = {task["name"]: task["variants"] for task in captured["tasks"]}
    rules = []
    for name in sorted(arguments):
        kind = draw.choice([kind for kind in variants[name] if kind in MEMORIES])
        rules.append({"task": name, "processor": kind,
                      "arguments": [{"argument": i, "memories": draw.choice(MEMORIES[kind])}
                                    for i in range(arguments[name])]})
    return {"refrain_mapping": 1, "rules": rules}


def traffic(links):
    return sorted((link["from"], link["to"], link["copies"], link["bytes"]) for link in links)


def seconds_of(output):
    """Of the timed iterations, as the applications print it."""
    return float(re.search(r"refrain\s+([0-9.]+) s", output).group(1))


class Case:
    """An application of one size under one mapping."""

    def __init__(self, variant, command, machine, mapping, iterations):
        self.variant, self.iterations = variant, iterations
        self.command, self.machine, self.mapping = command, machine, mapping
        self.measured, self.told = [], None

    def measure(self, folder):
        stats = folder / "stats.json"
        output = run(self.command, machine=self.machine, mapping=self.mapping, stats=stats)
        self.measured.append(seconds_of(output) / self.iterations)
        self.told = json.loads(stats.read_text())

    def simulate(self, captured):
        tool = [self.command[0].parent / "refrain", "simulate", captured, "--machine", self.machine, "--json"]
        self.outcome = json.loads(run(tool + (["--mapping", self.mapping] if self.mapping else [])))
        timed = max(self.outcome["phases"], key=lambda phase: phase["tasks"])
        self.simulated = (timed["end"] - timed["begin"]) / self.iterations
        told = self.told
        wanted = {"copies": told["copies"], "evictions": told["evictions"], "links": traffic(told["links"])}
        found = {"copies": self.outcome["copies"], "evictions": self.outcome["evictions"],
                 "links": traffic(self.outcome["links"])}
        if wanted != found:
            raise RuntimeError(f"{self.variant}: a run has {wanted}, its simulation {found}")

    def error(self):
        return self.simulated / statistics.median(self.measured) - 1

    def records(self):
        def record(system, values):
            return {"benchmark": "mapping", "system": system, "variant": self.variant, "threads": 2,
                    "size": self.iterations, "metric": "us_per_iteration", "unit": "us",
                    "value": statistics.median(values) * 1e6, "min": min(values) * 1e6, "max": max(values) * 1e6}
        return [record("measured", self.measured), record("simulated", [self.simulated])]


def order_of(a, b, shown):
    """-1: the first takes less by more than 5%, 1: more, 0: neither. `shown`: by the sign test's interval of 95% for the
    ratio of runs that were made in turns, else by the medians."""
    if shown:
        low, high = interval([x / y for x, y in zip(a.measured, b.measured)])
    else:
        low = high = statistics.median(a.measured) / statistics.median(b.measured)
    return -1 if high < 1 / ALLOWED else 1 if low > ALLOWED else 0


def kendall(groups, shown):
    """Of pairs of mappings of one program that differ: those in the same order less those in the other (some come to the
    same in a simulation), and how many there are."""
    agreement = pairs = 0
    for cases in groups:
        for a, b in itertools.combinations(cases, 2):
            if order := order_of(a, b, shown):
                pairs += 1
                if a.simulated != b.simulated:
                    agreement += 1 if (order < 0) == (a.simulated < b.simulated) else -1
    return agreement, pairs


def measure(name, size, all_of_it, folder):
    machine_name, shared, sizes = APPLICATIONS[name]
    label, flags, iterations = sizes[size]
    machine = MACHINES[machine_name]
    command = [HERE / name, *shared, *flags, ITERATIONS.get(name, "--iterations"), iterations]
    captured, cores = folder / "captured.json", folder / "cores.json"
    cores.write_text(json.dumps({"refrain_mapping": 1, "rules": [{"task": "*", "processor": "cpu"}]}))
    run(command, machine=machine, capture=captured)
    program = json.loads(captured.read_text())
    mappings = [("default", None)]
    for i in range(MAPPINGS_ALL if all_of_it else MAPPINGS):
        path = folder / f"random{i}.json"
        path.write_text(json.dumps(random_mapping(program, f"{name} {label} {i}")))
        mappings.append((f"random{i}", path))
    cases = [Case(f"{name}-{label}/{machine_name}/{mapping}", command, machine, path, iterations)
             for mapping, path in mappings]
    # What is captured, and what is measured, takes turns: the machine is not as fast all the time.
    runs = []
    for turn in range(ROUNDS_ALL if all_of_it else ROUNDS):
        for mapping in [None, cores]:
            runs.append(folder / f"run{len(runs)}.json")
            run(command, machine=machine, mapping=mapping, capture=runs[-1])
        for case in cases:
            case.measure(folder)
    run([HERE / "refrain", "capture", "merge", *runs, "--output", captured])
    for case in cases:
        case.simulate(captured)
    return cases


def main():
    parser = argparse.ArgumentParser(description="Compare simulations with runs.")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true", help="three sizes, five random mappings, 15 rounds")
    parser.add_argument("--only", choices=sorted(APPLICATIONS), help="this application")
    wanted = parser.parse_args()
    groups, beyond, status = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in [wanted.only] if wanted.only else APPLICATIONS:
            for size in range(3) if wanted.all else [1]:
                try:
                    measured = measure(name, size, wanted.all, pathlib.Path(folder))
                except RuntimeError as error:
                    print(f"bench_mapping: {error}", file=sys.stderr)
                    status = 1
                    continue
                for case in measured:
                    low, high = min(case.measured), max(case.measured)
                    spread = (high - low) / statistics.median(case.measured)
                    print(f"{case.variant:36} measured {statistics.median(case.measured) * 1e6:9.1f} us "
                          f"(spread {spread:4.0%}), simulated {case.simulated * 1e6:9.1f} us, {case.error():+.1%}",
                          flush=True)
                    if abs(case.error()) > max(0.1, spread):
                        beyond += 1
                groups.append(measured)
    cases = [case for group in groups for case in group]
    if cases:
        errors = [abs(case.error()) for case in cases]
        print(f"error: median {statistics.median(errors):.1%}, most {max(errors):.1%}; beyond 10% and the spread: "
              f"{beyond} of {len(cases)}")
        for shown in [False, True]:
            agreement, pairs = kendall(groups, shown)
            if pairs:
                print(f"Kendall's tau over {pairs} pairs that differ by more than 5% "
                      f"{'with 95% confidence' if shown else 'by their medians'}: {agreement / pairs:.2f}")
    wanted.out.write_text(json.dumps([record for case in cases for record in case.records()], indent=1) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
