#!/usr/bin/env python3
"""Does a shard of an application pay for its own share alone? The circuit (wires to the next pieces alone), PENNANT and a
task graph with constant radix on 4 to 4096 shards (64 without --all), with as many pieces on each, one shard at a time in
a dry run: instructions by callgrind per task of the shard, without traces, with marks, and with traces that are found.

Usage: bench_own_share_apps --out FILE [--all]

Beside it, in the same folder, are the applications. Until the first fence a dry run is whole, so regions are cut by values
that are there. What is counted is the difference of two runs of different lengths, so set-up is not in it. The shard has
neighbours on both sides, and is a leaf of the tree by which ranks reduce. The bar: sizes differ by at most 1.05x.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

FLAGS = ["--no-sequential", "--refrain:workers=0", "--refrain:dry"]
WAYS = {"": ["--refrain:tracing=off"], "-marked": ["--trace", "--refrain:autotrace=off"], "-auto": []}
SIZES = [4, 16, 64, 256, 1024, 4096]


def circuit(shards, steps):
    return ["circuit", "--pieces", 4 * shards, "--nodes", 16, "--wires", 64, "--percent-in-piece", 50, "--neighbours", 4,
            "--substeps", 1, "--warm-up", 1, "--steps", steps]


def pennant(shards, cycles):
    return ["pennant", "--mesh", "rect", "--zones", f"32,{16 * shards}", "--chunk", 128, "--cycles", cycles]


def nearest(shards, steps):
    return ["patterns", "--pattern", "nearest", "--radix", 5, "--width", 4 * shards, "--steps", steps]


# By name: the command, two lengths, and the most shards (a mesh of PENNANT has at most 8192 rows).
PROGRAMS = {"circuit": (circuit, (600, 1000), 4096), "pennant": (pennant, (400, 600), 256),
            "nearest": (nearest, (2000, 3000), 4096)}


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1):  # what a dry run computes is wrong
        raise RuntimeError(f"{command}: {(done.stdout + done.stderr)[-800:]}")
    return done.stdout + done.stderr


def per_task(command):
    """Instructions for each task that the longer of two runs has more; `command(length)`."""
    tasks, instructions = [], []
    for length in (0, 1):
        words = command(length)
        told = run([*words, "--refrain:stats"])
        tasks.append(int(re.search(r"^ +tasks +([0-9']+)$", told, re.MULTILINE)[1].replace("'", "")))
        told = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words])
        instructions.append(int(re.search(r"refs: +([0-9,]+)", told)[1].replace(",", "")))
    return (instructions[1] - instructions[0]) / (tasks[1] - tasks[0])


def main():
    parser = argparse.ArgumentParser(description="Instructions of a shard of applications against their number.")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true", help="up to 4096 shards")
    wanted = parser.parse_args()
    bin_dir = pathlib.Path(sys.argv[0]).absolute().parent
    records = []
    if not shutil.which("valgrind"):
        print("left out: needs valgrind")
        PROGRAMS.clear()
    for name, (command, lengths, most) in PROGRAMS.items():
        for way, flags in WAYS.items():
            found = []
            for shards in SIZES if wanted.all else SIZES[:3]:
                if shards > most:
                    continue
                shard = 1 if shards == 4 else shards // 2 + 1
                found.append(per_task(lambda i: [
                    bin_dir / command(shards, lengths[i])[0], *command(shards, lengths[i])[1:], *FLAGS, *flags,
                    f"--refrain:shard={shard}/{shards}"]))
                records.append({"benchmark": "own_share_apps", "system": "refrain", "variant": name + way, "threads": 1,
                                "size": shards, "metric": "instructions_per_task", "unit": "", "value": found[-1],
                                "min": found[-1], "max": found[-1]})
                print(f"  {name + way:<16} {shards:>5} shards {found[-1]:10.0f} a task", flush=True)
            ratio = max(found) / min(found)
            print(f"  {name + way:<16} differ by {ratio:.3f}x  bar 1.05  {'met' if ratio <= 1.05 else 'missed'}", flush=True)
    wanted.out.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
