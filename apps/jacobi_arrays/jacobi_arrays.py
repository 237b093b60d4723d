#!/usr/bin/env python3
"""The NumPy twin of jacobi-arrays."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import twin

args = twin.flags(__doc__, n=1000, iterations=1000, check_every=(0, "look at the residual"))
random = twin.Random()
n = args.n
A = random.uniform((n, n)) + n * np.eye(n)
b = random.uniform(n)
x = np.zeros(n)
d = np.diag(A)
R = A - np.diag(d)


def residual():
    return np.max(np.abs((b - np.dot(R, x)) / d - x))


def step(i):
    global x
    x = (b - np.dot(R, x)) / d
    if args.check_every and (i + 1) % args.check_every == 0:
        residual()


twin.run(args, n * n, step)
print(f"residual {residual():.2e}, sum of x {np.sum(x):.12g}")
