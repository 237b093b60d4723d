#!/usr/bin/env python3
"""Runs an application alone and as several ranks: it has to say the same, but for times and the number of threads.

check_ranks.py PROGRAM TESTS.TXT MPIEXEC...: the arguments are those of the file's first line, without --refrain:workers.
Each MPIEXEC in turn starts 1, 2, 3, 4 and 8 ranks, with 0 and 1 workers."""

import os
import re
import subprocess
import sys

RANKS = (1, 2, 3, 4, 8)
# As root in a container, on fewer cores than ranks.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


TIMES = re.compile(r"\d s  ")
PROGRESS = re.compile(r": \d+ of \d+ \(\d+%\)$")  # of a run that takes longer than two seconds (progress.hpp)


def first_line(path):
    with open(path, encoding="utf-8") as file:
        line = next(line for line in file if not line.startswith("#"))
    return re.sub(r"--refrain:workers \S+", "", line).split()


def said(command):
    """What a run prints, without what differs from run to run."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=240, env={**os.environ, **ENVIRONMENT})
    lines = [line for line in done.stdout.splitlines() if not TIMES.search(line) and not PROGRESS.search(line)]
    return done.returncode, "\n".join(lines)


def main():
    program, tests, *launchers = sys.argv[1:]
    arguments = first_line(tests)
    status, expected = said([program, *arguments])
    print(expected, flush=True)
    wrong = status != 0
    for i, (ranks, workers) in enumerate((ranks, workers) for ranks in RANKS for workers in (0, 1)):
        launcher = launchers[i // 2 % len(launchers)]
        command = [launcher, "-n", str(ranks), program, *arguments, f"--refrain:workers={workers}"]
        status, text = said(command)
        if status == 0 and text == expected:
            continue
        wrong = True
        print(f"status {status}, not as above: {' '.join(command)}\n{text}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
