#!/usr/bin/env python3
"""Kills a rank of a program at a random moment, again and again: each run has to end soon, and to say that it was killed.

kill_a_rank.py PROGRAM COUNT SEED MPIEXEC...: the launchers start PROGRAM for-ever on three ranks, in turn. Moments are
between the start and two seconds later: while the ranks connect, too. A run that is there after five seconds more is
wrong, and so is one that leaves a process. (Open MPI 4.1's launcher itself stays where a process is killed just while it
connects with it, after it has ended all others: one in 100.)"""

import os
import random
import re
import signal
import subprocess
import sys
import time

RANKS = 3
SECONDS = 5
# As root in a container, on fewer cores than ranks.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def ranks_of(program, mark):
    """The processes of the run with this mark, by rank."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") != program:
                continue
            with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
                variables = dict(line.split("=", 1) for line in file.read().split("\0") if "=" in line)
        except OSError:
            continue  # it has ended, or is another user's
        rank = variables.get("OMPI_COMM_WORLD_RANK", variables.get("PMI_RANK"))
        if variables.get("REFRAIN_TEST_MARK") == mark and rank is not None:
            found[int(rank)] = int(pid)
    return found


def tells_of(text, rank, found):
    """Open MPI says which rank, or of one that was not connected yet that there was one. MPICH names a process, which may
    be one of those that it kills then."""
    if re.search(rf"process rank {rank} .*exited on signal 9|1 process returned\na non-zero exit code", text):
        return True
    process = re.search(r"PID (\d+) RUNNING AT", text)
    return process is not None and int(process[1]) in found.values() and "Killed (signal 9)" in text


def kill_one(program, launcher, rank, delay, mark):
    """What is wrong with the run; empty: nothing."""
    run = subprocess.Popen([launcher, "-n", str(RANKS), program, "for-ever"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env={**os.environ, **ENVIRONMENT, "REFRAIN_TEST_MARK": mark})
    begin = time.monotonic()
    found = {}
    while run.poll() is None and (time.monotonic() < begin + delay or len(found) < RANKS):
        time.sleep(0.005)
        found = ranks_of(program, mark)
        if time.monotonic() > begin + 60:
            run.kill()
            return "the ranks did not start"
    if run.poll() is not None:
        return f"the run ended by itself: {run.communicate()[0]}"
    os.kill(found[rank], signal.SIGKILL)
    killed = time.monotonic()
    try:
        text = run.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        left = ranks_of(program, mark)
        for pid in left.values():
            os.kill(pid, signal.SIGKILL)
        run.kill()
        text = run.communicate()[0]
        if not left and "PMIX ERROR" in text and tells_of(text, rank, found):
            print(f"{os.path.basename(launcher)}: rank {rank}, process {found[rank]}, after {delay:.2f} s: it was connecting "
                  "with the launcher, which has told of it and ended all ranks, and stays", flush=True)
            return ""
        return f"after {SECONDS} s there are the launcher and ranks {sorted(left)}: {text}"
    took = time.monotonic() - killed
    print(f"{os.path.basename(launcher)}: rank {rank}, process {found[rank]}, after {delay:.2f} s: "
          f"ended {took:.2f} s later with status {run.returncode}", flush=True)
    if not tells_of(text, rank, found):
        return f"nothing says that rank {rank}, process {found[rank]}, was killed: {text}"
    if left := ranks_of(program, mark):
        return f"ranks are left: {left}"
    return "" if run.returncode != 0 else "the status is 0"


def main():
    program, count, seed, *launchers = sys.argv[1:]
    program = os.path.realpath(program)
    draw = random.Random(int(seed))
    wrong = 0
    for i in range(int(count)):
        fault = kill_one(program, launchers[i % len(launchers)], draw.randrange(RANKS), draw.uniform(0, 2),
                         f"{os.getpid()}.{i}")
        if fault:
            print(f"kill {i} of seed {seed}: {fault}", flush=True)
            wrong += 1
    print(f"{count} kills, {wrong} of them wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
