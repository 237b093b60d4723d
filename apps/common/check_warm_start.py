#!/usr/bin/env python3
"""Checks that an application replays nearly all of its calls once it has begun to, if it starts with the file of an
earlier run (--refrain:record, --refrain:warm-start), and that this changes nothing it computes.

Usage: check_warm_start.py PROGRAM

The program judges its own result. It runs so long that its loops come often, in several settings: with and without worker threads, and in orders that a
seed decides. Calls are counted from its last program's log of automatic tracing.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

RUNS = {
    "black-scholes": "--n 50 --iterations 3000",
    "cfd": "--n 13 --pressure-iterations 5 --iterations 800",
    "circuit": "--pieces 6 --nodes 40 --wires 100 --steps 150 --substeps 2",
    "conjugate-gradient": "--n 16 --iterations 4000 --warm-up 0",
    "jacobi": "--n 80 --blocks 5 --iterations 400",
    "jacobi-arrays": "--n 32 --iterations 900",
    "logistic-regression": "--n 100 --iterations 300",
    "maestro-like": "--high 8 --high-pieces 3 --low 4 --samples 3 --steps 60",
    "patterns": "--pattern stencil_1d,fft --width 6 --steps 1200",
    "pennant": "--zones 12,12 --mesh random --chunk 100 --cycles 300",
    "s3d-like": "--n 24 --tiles 2,3 --iterations 60",
    "shallow-water": "--n 16 --iterations 300",
    "stencil": "--n 60 --tiles 3,5 --iterations 300",
}
LEAST_REPLAYED = 0.95  # of the calls after the first recording
SETTINGS = [["--refrain:workers", "0"], ["--refrain:workers", "1"], ["--refrain:workers", "3"],
            ["--refrain:schedule", "1"], ["--refrain:schedule", "2", "--refrain:check"]]


def run(command):
    """Standard error of a command that succeeds; else the end."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


def replayed_once_begun(log):
    """The share of the calls after the first recording, the number of that call, and all calls."""
    stretches, begun = [], None
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["context"] != 0:
            continue
        if event["event"] in ("analysed", "replayed"):
            if stretches and event["from"] < stretches[-1]["to"]:
                stretches, begun = [], None  # the next program of the same process
            stretches.append(event)
        elif event["event"] == "recorded" and begun is None:
            begun = event["at"]
    if begun is None:
        return 0.0, None, 0
    counts = {"analysed": 0, "replayed": 0}
    for stretch in stretches:
        counts[stretch["event"]] += max(0, stretch["to"] - max(stretch["from"], begun))
    calls = sum(counts.values())
    return counts["replayed"] / calls if calls else 0.0, begun, stretches[-1]["to"]


def main():
    program = [sys.argv[1], *RUNS[pathlib.Path(sys.argv[1]).name].split()]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        record, log = pathlib.Path(folder, "run"), pathlib.Path(folder, "log")
        for setting in SETTINGS:
            run(program + setting + ["--refrain:record", str(record)])
            told = run(program + setting + ["--refrain:warm-start", str(record), "--refrain:autotrace-log", str(log)])
            share, begun, calls = replayed_once_begun(log)
            print(f"{' '.join(setting)}: {share:.2%} replayed after call {begun} of {calls}")
            if share < LEAST_REPLAYED or told:
                print(f"  at least {LEAST_REPLAYED:.0%} should be, and nothing be told: {told}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
