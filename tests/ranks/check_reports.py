#!/usr/bin/env python3
"""Reports that tell of all ranks: one timeline, in which each message leads from where it is sent to where it comes, and an
explanation of what each rank has waited for.

check_reports.py PROGRAM MPIEXEC...: the launchers start PROGRAM right on three ranks, one after the other."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

RANKS = 3
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def run(launcher, program, folder, output):
    flags = f"--refrain:timeline={folder}/run.json --refrain:explain={folder}/why --refrain:output={output}"
    done = subprocess.run([launcher, "-n", str(RANKS), program, "right"], capture_output=True, text=True,
                          env=os.environ | ENVIRONMENT | {"REFRAIN_ARGS": flags})
    assert done.returncode == 0, done.stdout + done.stderr


def check_timeline(path):
    events = json.loads(path.read_text())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {rank + 1: f"rank {rank}" for rank in range(RANKS)}, names
    assert {e["pid"] for e in events if e.get("cat") == "task"} == set(names)
    begins, ends = ({e["id"]: e for e in events if e["ph"] == phase} for phase in "sf")
    assert begins and begins.keys() == ends.keys(), (len(begins), len(ends))
    for key, begin in begins.items():
        assert begin["pid"] != ends[key]["pid"]
        assert begin["ts"] <= ends[key]["ts"], (begin, ends[key])
    # Viewers fasten the ends of an arrow to the events around them.
    spans = {(e["pid"], e["tid"], e["ts"]) for e in events if e.get("cat") == "message" and e["ph"] == "X"}
    assert all((e["pid"], e["tid"], e["ts"]) in spans for e in begins.values())


def check_explanation(path):
    ranks = json.loads(path.read_text())["ranks"]
    assert [each["rank"] for each in ranks] == list(range(RANKS)), ranks
    waits = [(each["rank"], wait) for each in ranks for wait in each["waited"]]
    assert waits
    for rank, wait in waits:
        assert wait["from"] != rank and wait["from"] < RANKS and wait["times"] > 0, wait


def main():
    program, *launchers = sys.argv[1:]
    for launcher in launchers:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run(launcher, program, folder, "first")
            assert sorted(os.listdir(folder)) == ["run.json", "why.json", "why.txt"], os.listdir(folder)
            check_timeline(folder / "run.json")
            check_explanation(folder / "why.json")
            run(launcher, program, folder, "all")
            assert len(os.listdir(folder)) == 3 + 2 * (RANKS - 1), os.listdir(folder)
            check_timeline(folder / "run.json")


if __name__ == "__main__":
    main()
