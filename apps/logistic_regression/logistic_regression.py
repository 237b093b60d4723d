#!/usr/bin/env python3
"""The NumPy twin of logistic-regression."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import twin

args = twin.flags(__doc__, n=100000, iterations=1000, check_every=(0, "look at the loss"),
                  features=(32, "of a sample, the first being 1"),
                  rate=(1.0, "how far a step goes along the gradient"))
n, features = args.n, args.features
random = twin.Random()
X = random.uniform((n, features), -1.0, 1.0)
X[:, 0] = 1.0
plane = random.uniform(features, -2.0, 2.0)
noise = random.uniform(n, -1.0, 1.0)
y = (np.dot(X, plane) + noise > 0.0).astype(float)
weights = np.zeros(features)


def loss():
    margins = np.dot(X, weights)
    return np.mean(np.maximum(margins, 0.0) + np.log1p(np.exp(-np.abs(margins))) - y * margins)


def step(i):
    global weights
    probabilities = 1.0 / (1.0 + np.exp(-np.dot(X, weights)))
    weights -= args.rate / n * np.dot(X.T, probabilities - y)
    if args.check_every and (i + 1) % args.check_every == 0:
        loss()


twin.run(args, n * features, step)
print(f"loss {loss():.12g}, sum of weights {np.sum(weights):.12g}")
