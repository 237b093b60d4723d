#!/usr/bin/env python3
"""As little traffic as by hand? The stencil and the circuit on four ranks beside their versions in plain MPI with the
same blocks: what each rank sends each other one in an iteration, counted by a library that is preloaded into both.

Usage: bench_traffic --out FILE

Beside it, in the same folder, are the applications and the programs peer_*_mpi. An iteration is the difference of two
runs of different lengths, so set-up and the last sums are not in it. An all-reduce of MPI counts as the messages of
recursive doubling, and the control determinism check, which compares once in 256 calls, is switched off. The bars: at
most one message more between two ranks, and at most a tenth more bytes in all.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

RANKS = 4
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
LENGTHS = (10, 30)
FLAGS = ["--refrain:workers=0", "--refrain:check-determinism=off"]

# By name: the commands for a number of iterations. The four blocks of the stencil are those of the four ranks; the pieces
# of the circuit go to the ranks in runs.
PROGRAMS = {
    "stencil": {
        "refrain": lambda n: ["stencil", "--n", "2000", "--tiles", "2,2", "--iterations", str(n), "--no-sequential",
                              *FLAGS],
        "mpi": lambda n: ["peer_stencil_mpi", "2000", "2", str(n)],
    },
    "circuit": {
        "refrain": lambda n: ["circuit", "--pieces", "8", "--nodes", "4000", "--wires", "16000", "--steps", str(n),
                              "--substeps", "2", "--no-sequential", *FLAGS],
        "mpi": lambda n: ["peer_circuit_mpi", "8", "4000", "16000", str(n), "2"],
    },
}


def sends(bin_dir, library, command, folder):
    """{(from, to): (messages, bytes)} of a run."""
    path = folder / "sends"
    environment = os.environ | ENVIRONMENT | {"COUNT_SENDS": str(path)}
    launch = ["mpirun.openmpi", "-n", str(RANKS), "env", f"LD_PRELOAD={library}", str(bin_dir / command[0]), *command[1:]]
    done = subprocess.run(launch, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stdout + done.stderr)[-800:]}")
    counted = {}
    for rank in range(RANKS):
        for line in pathlib.Path(f"{path}.{rank}").read_text().splitlines():
            to, messages, size = map(int, line.split())
            counted[rank, to] = (messages, size)
    return counted


def per_iteration(bin_dir, library, command_for, folder):
    few, many = (sends(bin_dir, library, command_for(n), folder) for n in LENGTHS)
    length = LENGTHS[1] - LENGTHS[0]
    pairs = {(a, b) for a in range(RANKS) for b in range(RANKS) if a != b}
    return {pair: tuple((m - f) / length for m, f in zip(many.get(pair, (0, 0)), few.get(pair, (0, 0))))
            for pair in pairs}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    arguments, _ = parser.parse_known_args()
    bin_dir = pathlib.Path(sys.argv[0]).absolute().parent
    library = bin_dir / "libcount_sends.so"
    records = []

    def add(name, system, metric, unit, value):
        records.append({"benchmark": "traffic", "system": system, "variant": name, "threads": RANKS, "size": RANKS,
                        "metric": metric, "unit": unit, "value": value, "min": value, "max": value})

    with tempfile.TemporaryDirectory() as folder:
        for name, systems in PROGRAMS.items():
            counted = {system: per_iteration(bin_dir, library, command, pathlib.Path(folder))
                       for system, command in systems.items()}
            print(f"\n{name}: messages and bytes of an iteration, Refrain | plain MPI")
            for pair in sorted(counted["mpi"]):
                own, peer = counted["refrain"][pair], counted["mpi"][pair]
                print(f"  {pair[0]} to {pair[1]}:  {own[0]:6.2f} {own[1]:10.1f}  | {peer[0]:6.2f} {peer[1]:10.1f}")
            more = max(counted["refrain"][pair][0] - counted["mpi"][pair][0] for pair in counted["mpi"])
            total = {system: sum(size for _, size in pairs.values()) for system, pairs in counted.items()}
            ratio = total["refrain"] / total["mpi"]
            print(f"  at most {more:+.2f} messages between two ranks  bar +1  {'met' if more <= 1 else 'missed'}")
            print(f"  {ratio:.3f} times the bytes  bar 1.10  {'met' if ratio <= 1.1 else 'missed'}")
            for system, pairs in counted.items():
                add(name, system, "most_messages", "", max(messages for messages, _ in pairs.values()))
                add(name, system, "bytes", "B", total[system])
            add(name, "refrain", "most_messages_more", "", more)
    pathlib.Path(arguments.out).write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
