#!/usr/bin/env python3
"""The stencil and the circuit on two ranks of one thread beside the same by hand in MPI, at tasks of 1 ms, 200 us and
50 us: iterations per second, and weak and strong scaling.

Usage: bench_replication --out FILE [--half] [--only NAME]

Beside it, in the same folder, are the applications and the programs peer_*_mpi, which share the arithmetic. A rank has
one tile, or one piece. The size of a problem is found first: on one rank the program in MPI computes so long that it
would be tasks of the size wanted, an iteration's time divided by the group launches of an iteration. Each round runs
all systems once, in processes of their own, every other round backwards. `traced` has marks, `automatic` finds the
traces. On one rank: the part of one rank (weak scaling), and the whole problem (strong scaling).
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
RANKS = 2
BARS = {1000: 0.97, 200: 0.9, 50: 0.8}  # of MPI's iterations per second, by the microseconds of a task
ROUNDS, ROUNDS_ON_ONE_RANK = 15, 5
SECONDS = 0.4  # of the iterations of a run
RADIUS, WIRES_PER_NODE, SUBSTEPS = 2, 4, 4


class Stencil:
    """Of n x n points; on one rank of two, of half as many."""
    launches = 2
    first_size = 400.0

    @staticmethod
    def side(size, ranks):
        return round(size * math.sqrt(ranks / RANKS))

    def mpi(self, size, parts, iterations):
        return ["peer_stencil_mpi", self.side(size, parts), RADIUS, iterations]

    def refrain(self, size, parts, ranks, iterations):
        return ["stencil", "--n", self.side(size, parts), "--radius", RADIUS, "--tiles", f"{ranks},1",
                "--iterations", iterations, "--warm-up", 20]

    @staticmethod
    def resized(size, factor):
        return size * math.sqrt(factor)


class Circuit:
    """Of as many nodes in each part."""
    launches = 3
    first_size = 1000.0

    def mpi(self, size, parts, iterations):
        return ["peer_circuit_mpi", parts, round(size), round(size) * WIRES_PER_NODE, iterations, SUBSTEPS]

    def refrain(self, size, parts, ranks, iterations):
        # Parts of the whole problem on one rank are one piece there.
        nodes = round(size) * parts // ranks
        return ["circuit", "--pieces", ranks, "--nodes", nodes, "--wires", nodes * WIRES_PER_NODE, "--steps",
                iterations, "--substeps", SUBSTEPS, "--warm-up", 20]

    @staticmethod
    def resized(size, factor):
        return size * factor


PROGRAMS = {"stencil": Stencil(), "circuit": Circuit()}


def seconds_of(bin_dir, ranks, command):
    """What a run says that its iterations took. It has to find its own results right."""
    words = ["mpirun.openmpi", "-n", str(ranks), str(bin_dir / command[0]), *map(str, command[1:])]
    done = subprocess.run(words, env=os.environ | ENVIRONMENT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    found = re.search(r"([0-9.]+) s[ ,]", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"{' '.join(words)}: {(done.stdout + done.stderr)[-800:]}")
    return float(found[1])


def paired_ratio(a, b):
    """The median of a[i] / b[i], and the interval of the sign test that has it in at least 95% of all cases."""
    ratios = sorted(x / y for x, y in zip(a, b))
    n, low, tail = len(ratios), 0, 1 / 2 ** len(ratios)
    while tail <= 0.025:  # so rarely are at most `low` ratios below the median
        low += 1
        tail += math.comb(n, low) / 2 ** n
    low = max(low - 1, 0)
    return statistics.median(ratios), ratios[low], ratios[n - 1 - low]


class Bench:
    def __init__(self, bin_dir):
        self.bin_dir = bin_dir
        self.records = []

    def add(self, system, variant, ranks, size, rates):
        self.records.append({"benchmark": "replication", "system": system, "variant": variant, "threads": ranks,
                             "size": size, "metric": "iterations_per_s", "unit": "1/s",
                             "value": statistics.median(rates), "min": min(rates), "max": max(rates)})

    def find_size(self, program, us):
        """Of a problem whose tasks take so long."""
        size, wanted = program.first_size, us * 1e-6 * program.launches
        for _ in range(4):
            iterations = max(10, round(SECONDS / 2 / wanted))
            took = statistics.median(
                seconds_of(self.bin_dir, 1, program.mpi(size, 1, iterations)) for _ in range(3)) / iterations
            size = program.resized(size, wanted / took)
        return size

    def measure(self, commands, ranks, iterations, rounds):
        """Iterations per second of each command, round by round."""
        rates = {system: [] for system in commands}
        for turn in range(rounds):
            for system in list(commands)[::1 if turn % 2 == 0 else -1]:
                rates[system].append(iterations / seconds_of(self.bin_dir, ranks, commands[system]))
        return rates

    def commands(self, program, size, parts, ranks, iterations):
        refrain = [*program.refrain(size, parts, ranks, iterations), "--no-sequential", "--refrain:workers=0"]
        return {"traced": [*refrain, "--trace"], "automatic": refrain, "mpi": program.mpi(size, parts, iterations)}

    def run(self, name, us, rounds, rounds_on_one_rank):
        program = PROGRAMS[name]
        size = self.find_size(program, us)
        iterations = max(20, round(SECONDS / (us * 1e-6 * program.launches)))
        rates = {}
        for ranks, parts in ((RANKS, RANKS), (1, 1), (1, RANKS)):
            commands = self.commands(program, size, parts, ranks, iterations)
            found = self.measure(commands, ranks, iterations, rounds if ranks == RANKS else rounds_on_one_rank)
            rates[ranks, parts] = found
            task = us * parts // ranks
            self.add("mpi", name, ranks, task, found["mpi"])
            self.add("refrain", name, ranks, task, found["traced"])
            self.add("refrain", name + "-auto", ranks, task, found["automatic"])
        for system in ("mpi", "traced", "automatic"):
            rate, one, whole = (statistics.median(rates[key][system]) for key in ((RANKS, RANKS), (1, 1), (1, RANKS)))
            line = f"  {name:<8} {us:>5} us  {system:<10} {rate:9.1f}   weak {rate / one:.2f}  strong {rate / whole / RANKS:.2f}"
            if system != "mpi":
                ratio, low, high = paired_ratio(rates[RANKS, RANKS][system], rates[RANKS, RANKS]["mpi"])
                line += f"   {ratio:.3f} of MPI's ({low:.3f} - {high:.3f})"
            if system == "traced":
                line += f"  bar {BARS[us]}  {'met' if high >= BARS[us] else 'missed'}"
            print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description="The stencil and the circuit on two ranks beside MPI by hand.")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--half", action="store_true", help="half of the rounds")
    parser.add_argument("--all", action="store_true", help="the same as without")
    parser.add_argument("--only", choices=PROGRAMS, help="this program")
    wanted = parser.parse_args()
    bench = Bench(pathlib.Path(sys.argv[0]).absolute().parent)
    rounds = ROUNDS // 2 if wanted.half else ROUNDS
    print(f"Iterations per second on {RANKS} ranks of one thread, and of those on one rank, the parts of one rank (weak) "
          "or the whole (strong)")
    for name in [wanted.only] if wanted.only else PROGRAMS:
        for us in BARS:
            bench.run(name, us, rounds, ROUNDS_ON_ONE_RANK)
    wanted.out.write_text(json.dumps(bench.records, indent=1) + "\n")


if __name__ == "__main__":
    main()
