#!/usr/bin/env python3
"""The oracle and MPI programs: how well a run is predicted from one of another size (the paper's Figure 8), and what
recording costs (its Table I).

Usage: bench_oracle_mpi --out FILE [--all] [--only NAME]

Beside it, in the same folder, are the tool `refrain` and the programs peer_*_mpi; HPCC and LAMMPS are Debian's, and
left out where they are not installed. Each program is recorded with its small working set, and the run with each
working set is followed from that: at the entry of each wait and each blocking collective the events at the distances 1
to 128 are predicted. Without --all the large ones are left out, and so are the times of whole runs.

What recording costs is so little that runs differ by more. So it is told twice: as events times the ns that a call
takes longer when it is recorded, measured with calls that do nothing; and of pairs of runs, one recorded and one not,
that take turns: as the median of their differences, and as the difference of the fastest of each kind, which is what
is left where others use the machine.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 2
PAIRS = 10
NULL_CALLS = 1_000_000
DISTANCES = [1, 2, 4, 8, 16, 32, 64, 128]
SETS = ["small", "medium", "large"]
# For containers, whose user is root, and for machines with few processors, which others use, too: a rank that waits
# yields its own.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def lammps(name):
    def command(size, steps):
        return ["lmp", "-in", str(HERE / name), "-v", "size", size, "-v", "steps", steps, "-log", "none",
                "-screen", "none"]
    return command


def hpcc(n):
    """It reads its input in the folder that it runs in."""
    text = (HERE / "hpccinf.txt").read_text().replace("@N@", n)
    return ["sh", "-c", 'printf %s "$1" > hpccinf.txt; rm -f hpccoutf.txt; exec hpcc', "sh", text]


# By name: the program, its command for the arguments of a working set, and those of small, medium and large.
PROGRAMS = {
    "stencil": ("peer_stencil_mpi", lambda *a: ["peer_stencil_mpi", *a],
                [("500", "2", "100"), ("800", "2", "200"), ("1200", "2", "400")]),
    "circuit": ("peer_circuit_mpi", lambda *a: ["peer_circuit_mpi", "4", *a],
                [("250", "1000", "50", "10"), ("500", "2000", "100", "20"), ("1000", "4000", "300", "40")]),
    "hpcc": ("hpcc", hpcc, [("200",), ("400",), ("800",)]),
    "lammps melt": ("lmp", lammps("in.melt"), [("6", "100"), ("8", "200"), ("12", "400")]),
    "lammps rebuild": ("lmp", lammps("in.rebuild"), [("6", "100"), ("8", "200"), ("12", "400")]),
}


class Bench:
    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        self.records = []

    def add(self, benchmark, system, variant, size, metric, unit, values):
        self.records.append({
            "benchmark": benchmark, "system": system, "variant": variant, "threads": RANKS, "size": size,
            "metric": metric, "unit": unit, "value": statistics.median(values), "min": min(values),
            "max": max(values)})

    def run(self, command):
        """Seconds, and what it says on stdout and on stderr."""
        begin = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)[:200]}: {done.stderr.strip()[-500:]}")
        return seconds, done.stdout, done.stderr

    def mpirun(self, program, arguments, ranks=RANKS):
        # The ranks of a run that do the same in each: HPCC's input is written by each of them alike.
        return ["mpirun", "-n", str(ranks), *PROGRAMS[program][1](*arguments)]

    def record(self, name, command):
        return self.run(["refrain", "oracle", "record", "-o", name, "--", *command])

    # ---- What a call costs ----

    def null_calls(self):
        """ns that a recorded call takes longer, of as many repetitions as make a median."""
        command = ["mpirun", "-n", "1", "null_calls_mpi", str(NULL_CALLS)]
        library = pathlib.Path(shutil.which("refrain", path=self.environment["PATH"])).resolve().parent.parent
        preloaded = ["env", f"LD_PRELOAD={library}/lib/librefrain_oracle_mpi.so", *command]
        ns = {"alone": [], "preloaded": [], "recorded": [], "followed": []}
        for _ in range(3):
            ns["alone"].append(float(self.run(command)[1]))
            ns["preloaded"].append(float(self.run(preloaded)[1]))
            ns["recorded"].append(float(self.record("null", command)[1]))
            ns["followed"].append(float(self.run(["refrain", "oracle", "run", "null", "--", *command])[1]))
        print(f"\nns for a call of MPI that does nothing (median of 3), {NULL_CALLS} calls:")
        for way, values in ns.items():
            print(f"  {way:<10} {statistics.median(values):6.1f}  ({min(values):.1f} - {max(values):.1f})")
            self.add("oracle_mpi_call", way, "", 1, "ns_per_call", "ns", values)
        return statistics.median(ns["recorded"]) - statistics.median(ns["alone"])

    # ---- What is right ----

    def accuracy(self, program, sets):
        """Records the small one, and follows all."""
        reference = self.folder / "reference"
        self.record(str(reference), self.mpirun(program, sets[0]))
        for name, arguments in zip(SETS, sets):
            report = self.run(["refrain", "oracle", "run", str(reference), "--",
                               *self.mpirun(program, arguments)])[2]
            line = re.search(r"^ *percent(.*)$", report, re.MULTILINE)[1].split()
            events = re.search(r"^([0-9']+) events.*: ([0-9.]+)% expected", report, re.MULTILINE)
            percents = [float(word) if word != "-" else None for word in line]
            print(f"  {program:<16} {name:<7} {events[1]:>10} {events[2]:>9}  " +
                  "".join(f"{'-' if p is None else f'{p:.1f}':>7}" for p in percents), flush=True)
            for distance, percent in zip(DISTANCES, percents):
                if percent is not None:
                    self.add("oracle_mpi_accuracy", program, name, distance, "right", "%", [percent])

    # ---- What recording costs ----

    def overhead(self, program, arguments, ns):
        command = self.mpirun(program, arguments)
        vanilla, recorded, differences = [], [], []
        summary = ""
        for pair in range(PAIRS):
            for way in (["vanilla", "recorded"], ["recorded", "vanilla"])[pair % 2]:
                if way == "vanilla":
                    vanilla.append(self.run(command)[0])
                else:
                    seconds, _, summary = self.record("overhead", command)
                    recorded.append(seconds)
            differences.append(100 * (recorded[-1] / vanilla[-1] - 1))
        numbers = re.search(r"([0-9']+) events? in .*: ([0-9']+) rules?", summary)
        events, rules = (int(number.replace("'", "")) for number in numbers.groups())
        seconds = statistics.median(vanilla)
        computed = 100 * events / RANKS * ns * 1e-9 / seconds
        fastest = 100 * (min(recorded) / min(vanilla) - 1)
        spread = f"{statistics.median(differences):+.1f} ({min(differences):+.1f} to {max(differences):+.1f})"
        print(f"  {program:<16} {seconds:8.2f} {statistics.median(recorded):8.2f} {computed:9.4f} {fastest:+8.2f} "
              f"{spread:>24} {events:>8} {rules / RANKS:>6.0f}", flush=True)
        self.add("oracle_mpi_overhead", program, "vanilla", 1, "seconds", "s", vanilla)
        self.add("oracle_mpi_overhead", program, "recorded", 1, "seconds", "s", recorded)
        self.add("oracle_mpi_overhead", program, "computed", 1, "overhead", "%", [computed])
        self.add("oracle_mpi_overhead", program, "fastest", 1, "overhead", "%", [fastest])
        self.add("oracle_mpi_overhead", program, "pairs", 1, "overhead", "%", differences)
        self.add("oracle_mpi_overhead", program, "recorded", 1, "events", "", [events])
        self.add("oracle_mpi_overhead", program, "recorded", 1, "rules", "", [rules / RANKS])


def main():
    parser = argparse.ArgumentParser(description="Predicts MPI programs, and says what recording them costs.")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true", help="large working sets too, and pairs of runs")
    parser.add_argument("--only", help="this program")
    wanted = parser.parse_args()

    programs = pathlib.Path(sys.argv[0]).absolute().parent
    environment = {**os.environ, **ENVIRONMENT, "PATH": f"{programs}:{os.environ['PATH']}"}
    there = {name: values for name, values in PROGRAMS.items()
             if shutil.which(values[0], path=environment["PATH"]) and wanted.only in (None, name)}
    for name in PROGRAMS.keys() - there.keys():
        print(f"without {name}" + ("" if wanted.only else ": it is not installed"))

    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), environment)
        ns = bench.null_calls()
        print(f"\nPercent right at the distances 1 to 128, {RANKS} ranks; recorded with the small working set.")
        print(f"  {'program':<16} {'run':<7} {'events':>10} {'% expected':>9} " +
              "".join(f"{distance:>7}" for distance in DISTANCES))
        for program, (_, _, sets) in there.items():
            bench.accuracy(program, sets if wanted.all else sets[:2])
        if wanted.all:
            print(f"\nRecording the large working set: seconds (median of {PAIRS}), overhead in % as events x "
                  f"{ns:.0f} ns, of the fastest and of pairs, events of all ranks, rules of one.")
            print(f"  {'program':<16} {'vanilla':>8} {'recorded':>8} {'computed':>9} {'fastest':>8} "
                  f"{'of pairs':>24} {'events':>8} {'rules':>6}")
            for program, (_, _, sets) in there.items():
                bench.overhead(program, sets[-1], ns)
    wanted.out.write_text(json.dumps(bench.records, indent=1) + "\n")


if __name__ == "__main__":
    main()
