#!/usr/bin/env python3
"""The NumPy twin of black-scholes."""

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import twin

args = twin.flags(__doc__, n=1000000, iterations=100, warm_up=10)
n = args.n
random = twin.Random()
spot = random.uniform(n, 10.0, 100.0)
strike = random.uniform(n, 10.0, 100.0)
time = random.uniform(n, 0.1, 2.0)
rate = random.uniform(n, 0.0, 0.08)
volatility = random.uniform(n, 0.05, 0.6)
calls = np.zeros(n)
puts = np.zeros(n)


def polynomial(a, coefficients):
    total = coefficients[0] * a + coefficients[1]
    for c in coefficients[2:]:
        total = total * a + c
    return total


def ratio_of_polynomials(a):
    return (polynomial(a, (3.52624965998911e-02, 0.700383064443688, 6.37396220353165,
                           33.912866078383, 112.079291497871, 221.213596169931,
                           220.206867912376)) /
            polynomial(a, (8.83883476483184e-02, 1.75566716318264, 16.064177579207,
                           86.7807322029461, 296.564248779674, 637.333633378831,
                           793.826512519948, 440.413735824752)))


def continued_fraction(a):
    return 1.0 / (2.506628274631000502 * (a + 1.0 / (a + 2.0 / (a + 3.0 / (a + 4.0 / (a + 0.65))))))


def cumulative_normal(x):
    a = np.abs(x)
    tail = np.exp(-0.5 * a * a) * np.where(a < 7.07106781186547, ratio_of_polynomials(a),
                                           continued_fraction(a))
    return np.where(x > 0.0, 1.0 - tail, tail)


def price(S, K, T, r, sigma):
    deviation = sigma * np.sqrt(T)
    d1 = (np.log(S / K) + (r + 0.5 * sigma * sigma) * T) / deviation
    exercised = cumulative_normal(d1 - deviation)
    delta = cumulative_normal(d1)
    discounted = K * np.exp(-r * T)
    return S * delta - discounted * exercised, discounted * (1.0 - exercised) - S * (1.0 - delta)


def step(scenario):
    global calls, puts
    call, put = price(spot, strike, time, rate,
                      volatility * (1.0 + 0.1 * math.sin(0.7 * scenario)))
    calls += call
    puts += put


twin.run(args, n, step)
scenarios = args.warm_up + args.iterations
print(f"mean call {np.mean(calls) / scenarios:.12g}, mean put {np.mean(puts) / scenarios:.12g}")
