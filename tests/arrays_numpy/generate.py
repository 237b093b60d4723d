#!/usr/bin/env python3
"""Random programs of arrays and what NumPy makes of them, for tests_arrays_numpy.

  generate.py [--count N] [--seed S] OUTPUT      writes N programs (6000)
  generate.py --show NUMBER [--seed S]           prints one as one would write it for NumPy

A program is a few statements that bind names to arrays, views, or the same array again, and change arrays through
them; at its end, and now and then between, the values of several names are written down: type, shape, elements, and how
near to them a result must be. Program i depends on the seed, i and the version of NumPy alone. The tokens of
a line are explained in program.py.

What is covered: arrays of bool, int32, int64, float32, float64 and complex128 with none to three dimensions, of no,
one, some and (2 programs in 100) several thousand elements; all functions of arrays' headers but random numbers. One
program in 10 or so has wrong statements, of which the class of the error counts, and that no array is changed.

How near a result must be is kept for each element beside it (tracked.py), moved as it is moved, and:
  - exact, bit for bit (a NaN is as good as another): + - * / sqrt and the like of real numbers, comparisons, all of
    integers, casts, selections, arrangements, and reductions in which order does not matter;
    so are linspace and arange where no element is rounded; other linspaces are within 4 ulp of their larger bound;
  - zeros of either sign where one of two equal elements is picked (minimum, max, sort) and both are there;
  - within 4 ulp: exponentials, logarithms, powers, trigonometry, and complex products and quotients, where it is the
    ulp of the magnitude (complex tan: 8; complex powers: more, as their exponents are large). The values are those of
    long double, and programs in which NumPy's own are far from them are left out;
  - within n eps sum|terms| of the exact value: sums, products, means, inner products (sums.py).
What is not exact is only moved from there on, so that errors do not pile up.

Where NumPy 1.24 and arrays differ on purpose, or C leaves the result undefined, no program goes: float16, int8 and
complex64 (functions of bool arrays, float32 with a complex number), floor of integers, integers to powers in an
array of negative ones, casts out of range, sign of complex numbers, complex numbers that are not finite, scatter of
complex numbers, 1 / 0 of integers by reciprocal, weighted bincount of nothing. Arrays without dimensions count as
arrays (NEP 50), for which NumPy is given one dimension more. Warnings are silent.
"""

import argparse
import collections
import sys
import warnings

sys.dont_write_bytecode = True
try:
    import numpy as np
except ImportError:
    sys.exit(f"generate.py: {sys.executable} has no NumPy; install python3-numpy (scripts/setup test), or configure "
             "with -DREFRAIN_NUMPY_PYTHON=... for another interpreter")

from program import Program  # noqa: E402
from tracked import Reject  # noqa: E402
from makers import MAKERS, array  # noqa: E402
import arranging  # noqa: E402, F401 (adds to MAKERS)
from wrong import WRONG  # noqa: E402

TOTAL = sum(weight for weight, _ in MAKERS)
MOST_CHECKED = 20000


def pick_maker(chance):
    at = chance.below(TOTAL)
    for weight, maker in MAKERS:
        at -= weight
        if at < 0:
            return maker
    raise AssertionError("no maker")


def attempt(p, maker, why):
    state = p.state()
    try:
        maker(p)
        return True
    except Reject as e:
        why[maker.__name__, str(e)] += 1
    except (ValueError, IndexError, TypeError) as e:
        why[maker.__name__, f"{type(e).__name__}: {e}"] += 1
    p.restore(state)
    return False


def generate(seed, number, why):
    p = Program(seed, number)
    c = p.chance
    for _ in range(c.between(1, 2)):
        while not attempt(p, array if not p.large and c.percent(70) else pick_maker(c), why):
            pass
    errors = c.percent(10)
    wanted = c.between(2, 11)
    tries = 0
    while wanted > 0 and tries < 60:
        tries += 1
        maker = c.pick(WRONG) if errors and c.percent(30) else pick_maker(c)
        wanted -= attempt(p, maker, why)
    if errors:
        for _ in range(10):
            if attempt(p, c.pick(WRONG), why):
                break
    for name in checked(p):
        p.check(name)
    return p


def checked(p):
    """What was bound last and all that it may have changed: as many names as are not too long."""
    left = MOST_CHECKED
    for name in reversed(list(p.names)):
        left -= p.names[name].val.size
        if left >= 0:
            yield name


def kind_of(line):
    words = line.split("\t")[0].split(" ")
    if words[0] == "check":
        return f"check {words[2]} {words[5]}"
    return {"let": words[2], "do": words[1], "raises": " ".join(words[:3])}[words[0]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int)
    parser.add_argument("--statistics", action="store_true", help="what the programs consist of, on standard error")
    parser.add_argument("output", nargs="?")
    args = parser.parse_args()
    if np.__version__.split(".")[0] != "1":
        sys.exit(f"generate.py: NumPy {np.__version__}; the rules are those of 1.24")
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    why = collections.Counter()
    if args.show is not None:
        for line in generate(args.seed, args.show, why).lines:
            print(line.split("\t")[-1][:300])
        return
    if args.output is None:
        parser.error("where to?")
    used = collections.Counter()
    with open(args.output, "w", encoding="ascii") as out:
        out.write(f"programs {args.count} seed {args.seed} numpy {np.__version__}\n")
        for number in range(1, args.count + 1):
            p = generate(args.seed, number, why)
            out.write(f"program {number}\n" + "\n".join(p.lines) + "\n")
            used.update(kind_of(line) for line in p.lines)
        out.write("end\n")
    if args.statistics:
        for what, count in sorted(used.items(), key=lambda x: -x[1]):
            print(f"{count:7} {what}", file=sys.stderr)
        print(file=sys.stderr)
        for (maker, reason), count in why.most_common(80):
            print(f"{count:7} {maker}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
