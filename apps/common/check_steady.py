#!/usr/bin/env python3
"""On three ranks, no message is planned after the third iteration, every iteration sends as much as the others, and none
waits for an agreement of all ranks.

check_steady.py MPIEXEC PROGRAM ARGUMENT...: `@` among the arguments is the number of iterations."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from check_ranks import ENVIRONMENT  # noqa: E402

RANKS = 3


def counted(launcher, command, iterations, folder):
    """The statistics of each rank."""
    file = pathlib.Path(folder) / "stats.json"
    arguments = [str(iterations) if word == "@" else word for word in command]
    subprocess.run([launcher, "-n", str(RANKS), *arguments, "--refrain:workers=0", f"--refrain:stats={file}",
                    "--refrain:output=all"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=240, check=True, env={**os.environ, **ENVIRONMENT})
    files = [file] + [file.with_name(f"stats.{rank}.json") for rank in range(1, RANKS)]
    return [json.loads(each.read_text(encoding="utf-8")) for each in files]


def main():
    launcher, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        runs = [counted(launcher, command, iterations, folder) for iterations in (3, 7, 11)]
    wrong = False
    for rank, (first, second, third) in enumerate(zip(*runs)):
        for name in ("messages", "message_bytes", "message_plans", "collectives"):
            values = [each[name] for each in (first, second, third)]
            print(f"rank {rank}: {name} {values}")
            more = [values[1] - values[0], values[2] - values[1]]
            wrong = wrong or more[0] != more[1] or (name in ("message_plans", "collectives") and more[0] != 0)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
