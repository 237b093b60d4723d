#!/usr/bin/env python3
"""The program shallow-water with NumPy: a dam breaks on a lake (shallow water equations, finite volumes with Rusanov's
flux). Prints its speed as that does, and the sum of the squared heights to compare."""

import argparse
import time

import numpy as np

LENGTH, GRAVITY = 10.0, 9.81
HIGH, LOW, COURANT = 2.0, 1.0, 0.4

INSIDE = np.s_[1:-1, 1:-1]
# Before and behind each face across x, and across y.
ACROSS_X = np.s_[1:-1, :-1], np.s_[1:-1, 1:]
ACROSS_Y = np.s_[:-1, 1:-1], np.s_[1:, 1:-1]


def rusanov(across, flux, quantity, speed):
    before, behind = across
    return 0.5 * (flux[before] + flux[behind] - speed * (quantity[behind] - quantity[before]))


def through(across, h, hu, hv, fluxes, along, gravity_wave):
    before, behind = across
    wave = np.abs(along) + gravity_wave
    speed = np.maximum(wave[before], wave[behind])
    return [rusanov(across, flux, field, speed) for flux, field in zip(fluxes, (h, hu, hv))]


def mirror(field, x, y):
    field[:, 0] = x * field[:, 1]
    field[:, -1] = x * field[:, -2]
    field[0, :] = y * field[1, :]
    field[-1, :] = y * field[-2, :]


def step(h, hu, hv, share):
    mirror(h, 1, 1)
    mirror(hu, -1, 1)
    mirror(hv, 1, -1)
    u, v = hu / h, hv / h
    gravity_wave, pressure = np.sqrt(GRAVITY * h), 0.5 * GRAVITY * h**2
    fluxes_x = through(ACROSS_X, h, hu, hv, (hu, hu * u + pressure, hv * u), u, gravity_wave)
    fluxes_y = through(ACROSS_Y, h, hu, hv, (hv, hu * v, hv * v + pressure), v, gravity_wave)
    for field, x, y in zip((h, hu, hv), fluxes_x, fluxes_y):
        field[INSIDE] -= share * (x[:, 1:] - x[:, :-1] + y[1:, :] - y[:-1, :])


def time_step(h, hu, hv, cell):
    h, hu, hv = h[INSIDE], hu[INSIDE], hv[INSIDE]
    speed = np.maximum(np.abs(hu), np.abs(hv)) / h + np.sqrt(GRAVITY * h)
    return COURANT * cell / np.max(speed)


def lake(nx, ny, dam):
    x = np.arange(nx) - 0.5 * (nx - 1)
    y = (np.arange(ny) - 0.5 * (ny - 1))[:, np.newaxis]
    behind = {"x": x < 0, "y": y < 0, "round": x**2 + y**2 < (0.2 * min(nx, ny))**2}[dam]
    h = np.full((ny + 2, nx + 2), LOW)
    h[INSIDE] = np.where(behind, HIGH, LOW)
    return h, np.zeros_like(h), np.zeros_like(h)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int)
    parser.add_argument("--nx", type=int, default=128)
    parser.add_argument("--ny", type=int, default=128)
    parser.add_argument("--iterations", type=int, default=80)
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--check-every", type=int, default=10)
    parser.add_argument("--dam", choices=["x", "y", "round"], default="x")
    flags = parser.parse_args()
    nx, ny = (flags.n, flags.n) if flags.n else (flags.nx, flags.ny)

    h, hu, hv = lake(nx, ny, flags.dam)
    cell = LENGTH / max(nx, ny)
    passed, start = 0.0, time.perf_counter()
    for steps in range(flags.warm_up + flags.iterations):
        if steps == flags.warm_up:
            start = time.perf_counter()
        if steps % flags.check_every == 0:
            dt = time_step(h, hu, hv, cell)
        step(h, hu, hv, dt / cell)
        passed += dt
    seconds = time.perf_counter() - start
    print(f"  {'numpy':<12} {seconds:8.3f} s  {flags.iterations / seconds:10.1f} iterations/s  {nx * ny} elements")
    print(f"  after {passed:.10g} s, the sum of the squared heights is {np.sum(h[INSIDE]**2):.15g}")


if __name__ == "__main__":
    main()
