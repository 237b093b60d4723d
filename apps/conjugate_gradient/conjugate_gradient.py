#!/usr/bin/env python3
"""The NumPy twin of conjugate-gradient."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import twin

args = twin.flags(__doc__, n=512, iterations=2000, check_every=(50, "look at the residual"),
                  tolerance=(1e-10, "a smaller residual is a solution, and a new start"),
                  dense=(False, "a random dense matrix"))
n = args.n
tiny = np.finfo(float).tiny

if args.dense:
    random = twin.Random()
    G = random.uniform((n, n))
    A = 0.5 * (G + G.T) + np.diag(n * np.linspace(1.0, 10.0, n))
    diagonal = np.diag(A).copy()
    b = random.uniform(n, -1.0, 1.0)
    p = np.zeros(n)
else:
    b = np.zeros((n, n))
    b[n * 3 // 10, n // 4] += 1.0
    b[n * 6 // 10, n * 7 // 10] -= 1.0
    b[n * 8 // 10, n * 2 // 5] += 0.5
    b[n // 5, n * 4 // 5] += 0.25
    diagonal = 4.0
    framed_p = np.zeros((n + 2, n + 2))
    p = framed_p[1:-1, 1:-1]
x = np.zeros(b.shape)


def A_times_p():
    if args.dense:
        return np.dot(A, p)
    u = framed_p
    return 4.0 * p - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]


def start():
    global r, rz, first_rz, since_start
    x[...] = 0.0
    r = b.copy()
    p[...] = r / diagonal
    rz = first_rz = np.sum(r * p)
    since_start = 0


def iterate():
    global x, r, p, rz
    Ap = A_times_p()
    alpha = rz / (np.sum(p * Ap) + tiny)
    x += alpha * p
    r -= alpha * Ap
    z = r / diagonal
    next_rz = np.sum(r * z)
    beta = next_rz / (rz + tiny)
    p *= beta
    p += z
    rz = next_rz


solved = needed = 0
solution = None


def step(i):
    global since_start, solved, needed, solution
    iterate()
    since_start += 1
    if since_start % args.check_every == 0 and np.sqrt(rz / first_rz) <= args.tolerance:
        solved += 1
        needed = since_start
        solution = x.copy()
        start()


start()
twin.run(args, n * n, step)
print(f"solved {solved} times, in {needed} iterations each")
print(f"relative residual {np.sqrt(rz / first_rz):.2e}, "
      f"sum of x {np.sum(x if solution is None else solution):.12g}")
