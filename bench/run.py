#!/usr/bin/env python3
"""Runs benchmarks, merges what they write, prints a table.

Usage: bench/run.py BIN_DIR --out FILE [--only NAME] [--all] [--seconds N]

Without --only and --all: an overview of all benchmarks that a bar judges, not of those that give figures alone. The
programs make half of their repetitions and judge nothing. Each has --seconds (180; without a bound with --all) for
itself, several times what it needs, so that a slow one takes nothing from the others.
Each program BIN_DIR/bench_NAME writes records (see support/records.hpp) to a file of its own. They
are merged into FILE; a benchmark's records replace those that an earlier run left there under the
same `benchmark`. A program that fails, writes a record twice or does not end in time makes the run
fail, after the others have had their turn.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

FIGURES_ONLY = {"bench_metg", "bench_metg_ranks", "bench_own_share_apps", "bench_replication"}
SCRIPTS = {"bench_mapping", "bench_oracle_mpi", "bench_own_share_apps", "bench_traffic"}  # they have no repetitions to halve
SECONDS = 180  # for one benchmark
NAME_KEYS = ("benchmark", "system", "variant", "threads", "size", "metric")
KEYS = NAME_KEYS + ("unit", "value", "min", "max")


def check(records, origin):
    """Raises ValueError where the records are not what results are made of."""
    seen = set()
    for record in records:
        if set(record) != set(KEYS):
            raise ValueError(f"{origin}: a record has the keys {sorted(record)}")
        name = tuple(record[key] for key in NAME_KEYS)
        if name in seen:
            raise ValueError(f"{origin}: two records are called {name}")
        seen.add(name)


def run(program, out, flags, seconds):
    """The records that `program` wrote. At the end of its time it ends with all that it started."""
    out.unlink(missing_ok=True)
    command = [str(program), "--out", str(out)] + flags
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        status = process.wait(seconds)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if status:
        raise subprocess.CalledProcessError(status, command)
    records = json.loads(out.read_text())
    check(records, out)
    return records


def merge(old, new):
    replaced = {record["benchmark"] for record in new}
    return [record for record in old if record["benchmark"] not in replaced] + new


def number(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table(records):
    rows = [("benchmark", "system", "threads", "size", "metric", "median", "min", "max", "unit")]
    for r in records:
        system = r["system"] + ("/" + r["variant"] if r["variant"] else "")
        rows.append((r["benchmark"], system, str(r["threads"]), str(r["size"]), r["metric"],
                     number(r["value"]), number(r["min"]), number(r["max"]), r["unit"]))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    right = {2, 3, 5, 6, 7}
    for row in rows:
        cells = [cell.rjust(width) if column in right else cell.ljust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def arguments():
    parser = argparse.ArgumentParser(description="Run benchmarks and merge their records.")
    parser.add_argument("bin", type=pathlib.Path, help="where the programs bench_NAME are")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the merged records")
    parser.add_argument("--only", metavar="NAME", help="this benchmark only")
    parser.add_argument("--all", action="store_true", help="also what gives figures alone")
    parser.add_argument("--seconds", type=float, help="for each (180; unbounded with --all)")
    return parser.parse_args()


def main():
    wanted = arguments()
    programs = sorted(path for path in wanted.bin.glob("bench_*") if path.is_file())
    if wanted.only:
        programs = [path for path in programs if path.name == "bench_" + wanted.only]
    elif not wanted.all:
        programs = [path for path in programs if path.name not in FIGURES_ONLY]
    if not programs:
        print(f"bench: no program {wanted.bin}/bench_{wanted.only or '*'}", file=sys.stderr)
        return 1
    seconds = wanted.seconds or (None if wanted.all else SECONDS)
    overview = not (wanted.only or wanted.all)
    wanted.out.parent.mkdir(parents=True, exist_ok=True)

    new, failures, took = [], [], {}
    for program in programs:
        print(f"--- {program.name}", flush=True)
        begin = time.monotonic()
        try:
            flags = ["--all"] if wanted.all else ["--half"] if overview and program.name not in SCRIPTS else []
            new += run(program, wanted.out.parent / (program.name + ".json"), flags, seconds)
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            failures.append(f"{program.name}: {error}")
        took[program.name.removeprefix("bench_")] = time.monotonic() - begin
    check(new, "all benchmarks together")
    old = json.loads(wanted.out.read_text()) if wanted.out.exists() else []
    wanted.out.write_text(json.dumps(merge(old, new), indent=1) + "\n")
    table(new)
    for failure in failures:
        print(f"bench: {failure}", file=sys.stderr)
    if overview:
        print("bench: half of the repetitions; make bench-NAME makes all, and judges the bars by them")
    print("bench: " + ", ".join(f"{name} {time_s:.0f} s" for name, time_s in took.items()))
    print(f"bench: {len(new)} records in {wanted.out}, {sum(took.values()):.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
