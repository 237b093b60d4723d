"""What repetitions say of a median, whatever their distribution."""

import math


def interval(samples):
    """The sign test's interval for the median: the order statistics that enclose it in 95% of cases."""
    ordered, n = sorted(samples), len(samples)
    outside, rank = 0.0, 0
    while rank < n // 2:
        outside += 2 * math.comb(n, rank) / 2**n
        if outside > 0.05:
            break
        rank += 1
    return (ordered[rank - 1], ordered[n - rank]) if rank else (-math.inf, math.inf)
