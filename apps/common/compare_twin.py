#!/usr/bin/env python3
"""Runs an application and its NumPy twin with the same arguments, and compares the results that both print."""

import argparse
import re
import subprocess
import sys

RESULT = re.compile(r"(sum of [a-z ]*?|mean [a-z]+|loss|squared heights)(?: is)? (-?[\d.]+(?:e[-+]?\d+)?)\b")


def results(command):
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: float(number) for name, number in RESULT.findall(text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("twin")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="relative")
    args, arguments = parser.parse_known_args()
    ours, numpys = results([args.program, *arguments, "--no-check"]), results([sys.executable, args.twin, *arguments])
    both = ours.keys() & numpys.keys()
    wrong = [name for name in both if abs(ours[name] - numpys[name]) > args.tolerance * (abs(numpys[name]) + 1e-3)]
    for name in sorted(both):
        print(f"{name}: {ours[name]!r}, NumPy {numpys[name]!r}{'  DIFFERENT' if name in wrong else ''}")
    if not both or ours.keys() != numpys.keys():
        print(f"not the same results: {ours} and {numpys}")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
