"""What the NumPy twins of the applications share: flags, the timed loop, and the random numbers of refrain::arrays."""

import argparse
import time

import numpy as np


def flags(description, n, iterations, warm_up=100, **others):
    """The flags that all twins have, and others, given as name=(default, help)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--n", type=int, default=n)
    parser.add_argument("--iterations", type=int, default=iterations, help="timed iterations")
    parser.add_argument("--warm-up", type=int, default=warm_up, help="iterations before them")
    for name, (default, what) in others.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(default, bool):
            parser.add_argument(flag, action="store_true", help=what)
        else:
            parser.add_argument(flag, type=type(default), default=default, help=what)
    return parser.parse_args()


def run(args, elements, step):
    """step(0), step(1) ...; prints the speed without the warm-up."""
    for i in range(args.warm_up):
        step(i)
    start = time.perf_counter()
    for i in range(args.warm_up, args.warm_up + args.iterations):
        step(i)
    seconds = time.perf_counter() - start
    print(f"  {'numpy':12} {seconds:8.3f} s  {args.iterations / seconds:10.1f} iterations/s  "
          f"{elements} elements", flush=True)


class Random:
    """Random::uniform of refrain::arrays, bit for bit: Philox 4x32-10 (Salmon et al., SC'11), counters from 0, one
    stream per call. A twin gets the data of its application so, and can be compared with it."""

    def __init__(self):
        self.stream = 0

    def uniform(self, shape, low=0.0, high=1.0):
        count = int(np.prod(shape))
        block = np.arange((count + 1) // 2, dtype=np.uint64)
        stream, self.stream = self.stream, self.stream + 1
        half = np.uint64(32)
        mask = np.uint64(0xFFFFFFFF)
        c = [block & mask, block >> half, np.full_like(block, stream), np.zeros_like(block)]
        for turn in range(10):
            key = [np.uint64(turn * w & 0xFFFFFFFF) for w in (0x9E3779B9, 0xBB67AE85)]
            first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
            c = [(second >> half) ^ c[1] ^ key[0], second & mask,
                 (first >> half) ^ c[3] ^ key[1], first & mask]
        bits = np.stack([c[0] | c[1] << half, c[2] | c[3] << half], axis=1).ravel()[:count]
        unit = (bits >> np.uint64(11)) * 2.0 ** -53
        return (low + (high - low) * unit).reshape(shape)
