#!/usr/bin/env python3
"""The program cfd with NumPy: flow through a channel, step 12 of "CFD Python: 12 steps to Navier-Stokes"
(L. A. Barba and G. F. Forsyth). Prints its speed as that does, and the sum of u to compare."""

import argparse
import time

import numpy as np

# Some points of a field, and their neighbours in the west, east, south and north. Between the walls the channel is a
# ring: west of the first column is the last.
INNER = np.s_[1:-1, 1:-1], np.s_[1:-1, :-2], np.s_[1:-1, 2:], np.s_[:-2, 1:-1], np.s_[2:, 1:-1]
FIRST_COLUMN = np.s_[1:-1, 0], np.s_[1:-1, -1], np.s_[1:-1, 1], np.s_[:-2, 0], np.s_[2:, 0]
LAST_COLUMN = np.s_[1:-1, -1], np.s_[1:-1, -2], np.s_[1:-1, 0], np.s_[:-2, -1], np.s_[2:, -1]
EVERYWHERE = INNER, FIRST_COLUMN, LAST_COLUMN

RHO, NU, FORCE, LENGTH, HEIGHT = 1.0, 0.1, 1.0, 2.0, 2.0


def divergence(u, v, dx, dy, dt):
    b = np.zeros_like(u)
    for here, west, east, south, north in EVERYWHERE:
        u_x, u_y = (u[east] - u[west]) / (2 * dx), (u[north] - u[south]) / (2 * dy)
        v_x, v_y = (v[east] - v[west]) / (2 * dx), (v[north] - v[south]) / (2 * dy)
        b[here] = RHO * ((u_x + v_y) / dt - u_x**2 - 2 * (u_y * v_x) - v_y**2)
    return b


def find_pressure(p, b, dx, dy, iterations):
    sides = 2 * (dx**2 + dy**2)
    for _ in range(iterations):
        pn = p.copy()
        for here, west, east, south, north in EVERYWHERE:
            p[here] = (((pn[east] + pn[west]) * dy**2 + (pn[north] + pn[south]) * dx**2) / sides -
                       dx**2 * dy**2 / sides * b[here])
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def moved(f, u, v, points, dx, dy, dt):
    here, west, east, south, north = points
    return (f[here] - u[here] * (dt / dx) * (f[here] - f[west]) -
            v[here] * (dt / dy) * (f[here] - f[south]) +
            NU * dt / dx**2 * (f[east] - 2 * f[here] + f[west]) +
            NU * dt / dy**2 * (f[north] - 2 * f[here] + f[south]))


def step(u, v, p, dx, dy, dt, pressure_iterations):
    un, vn = u.copy(), v.copy()
    find_pressure(p, divergence(un, vn, dx, dy, dt), dx, dy, pressure_iterations)
    for points in EVERYWHERE:
        here, west, east, south, north = points
        u[here] = (moved(un, un, vn, points, dx, dy, dt) -
                   dt / (2 * RHO * dx) * (p[east] - p[west]) + FORCE * dt)
        v[here] = (moved(vn, un, vn, points, dx, dy, dt) -
                   dt / (2 * RHO * dy) * (p[north] - p[south]))
    u[0, :] = u[-1, :] = 0
    v[0, :] = v[-1, :] = 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int)
    parser.add_argument("--nx", type=int, default=41)
    parser.add_argument("--ny", type=int, default=41)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--pressure-iterations", type=int, default=50)
    parser.add_argument("--check-every", type=int, default=10)
    parser.add_argument("--tolerance", type=float, default=0.0)
    parser.add_argument("--swirl", type=float, default=0.0)
    flags = parser.parse_args()
    nx, ny = (flags.n, flags.n) if flags.n else (flags.nx, flags.ny)

    dx, dy = LENGTH / (nx - 1), HEIGHT / (ny - 1)
    fastest = FORCE * HEIGHT**2 / (8 * NU)
    dt = 0.8 / (2 * NU / dx**2 + 2 * NU / dy**2 + fastest / dx + abs(flags.swirl) / dy)

    u, p = np.zeros((ny, nx)), np.zeros((ny, nx))
    x, y = np.arange(nx) / nx, np.linspace(0, 1, ny)
    v = flags.swirl * np.sin(np.pi * y)[:, np.newaxis]**2 * np.sin(4 * np.pi * x)

    change, steps, timed, start = 0.0, 0, -flags.warm_up, time.perf_counter()
    while timed < flags.iterations:
        if timed == 0:
            start = time.perf_counter()
        timed += 1
        steps += 1
        looks = steps % flags.check_every == 0
        before = np.sum(u) if looks else 0.0
        step(u, v, p, dx, dy, dt, flags.pressure_iterations)
        if looks:
            after = np.sum(u)
            change = (after - before) / after
            if abs(change) < flags.tolerance:
                break
    seconds = time.perf_counter() - start
    print(f"  {'numpy':<12} {seconds:8.3f} s  {max(timed, 0) / seconds:10.1f} iterations/s  {nx * ny} elements")
    print(f"  after {steps} steps, the sum of u is {np.sum(u):.15g}, its last change {change:.3e}")


if __name__ == "__main__":
    main()
