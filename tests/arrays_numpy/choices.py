"""What statements are made of: shapes, values, operands, indices."""

import numpy as np

import elementwise as ew
from program import Arg, axes_arg, index_arg, number_arg, shape_arg, type_arg
from tracked import BOOL, C128, fresh


def some_shape(p):
    """The program's lengths, or the last of them, some of them 1: so most shapes go together."""
    c = p.chance
    if c.percent(6) and not p.large:
        return tuple(c.pick([0, 1, 2, 3, 5]) for _ in range(c.between(1, 3)))
    shape = list(p.lengths)
    if c.percent(35):
        shape = shape[c.below(len(shape) + 1):]
    return tuple(1 if c.percent(12) else n for n in shape)


def some_number(p, kinds="bifc", exactly=False):
    c = p.chance
    kind = c.pick(kinds)
    if kind == "b":
        return c.percent(50)
    if kind == "i":
        return c.between(-9, 9)
    real = lambda: c.between(-40, 40) / 8 if exactly or c.percent(70) else c.uniform(-4, 4)
    if kind == "f":
        return float(c.pick([np.inf, -np.inf, np.nan])) if c.percent(1) and not exactly else real()
    return complex(real(), real())


def some_values(p, shape, dtype):
    c = p.chance
    n = int(np.prod(shape, dtype=int))
    special = p.special and c.percent(50)
    whole = c.percent(50)

    def real():
        if special and c.percent(12):
            return c.pick([np.inf, -np.inf, np.nan, -0.0, 0.0, 1e10, -1e-10])
        return float(c.between(-20, 20)) / c.pick([1, 2, 8]) if whole else c.uniform(-5, 5)

    if dtype == BOOL:
        values = [c.percent(50) for _ in range(n)]
    elif dtype.kind == "i":
        most = c.pick([3, 9, 9, 1000])
        extreme = np.iinfo(dtype)
        values = [c.pick([int(extreme.max), int(extreme.min), int(extreme.max) // 3])
                  if special and c.percent(12) else c.between(-most, most) for _ in range(n)]
    elif dtype == C128:
        values = [complex(c.between(-16, 16) / 4, c.between(-16, 16) / 4) if whole else
                  complex(c.uniform(-3, 3), c.uniform(-3, 3)) for _ in range(n)]
    else:
        values = [real() for _ in range(n)]
    return np.array(values, dtype=dtype).reshape(shape)


def data_arg(val):
    text = str(val.reshape(-1).tolist()) if val.size <= 40 else f"({val.size} values)"
    return Arg("d:" + np.ascontiguousarray(val).tobytes().hex(), text, val)


def from_data(p, val):
    args = [type_arg(val.dtype), shape_arg(val.shape), data_arg(val)]
    return p.bind("array", args, f"np.array({args[2].text}, {args[0].text}).reshape({args[1].text})", fresh(val),
                  anew=True)


def operand(p, fit=None, numbers=30, accept=lambda t: True, exact=True):
    """A name, or a number; `fit`: with which it can be broadcast."""
    if p.chance.percent(numbers):
        return number_arg(some_number(p))

    def fits(t):
        if not accept(t) or (exact and not t.exact):
            return False
        try:
            return fit is None or np.broadcast_shapes(t.val.shape, fit.val.shape) is not None
        except ValueError:
            return False
    return p.arg(p.name(fits))


def call(name, args):
    return f"np.{name}({', '.join(a.text for a in args)})"


def some_index(p, shape, may_add=True):
    c = p.chance
    entries = []
    for n in shape:
        if c.percent(20) and n > 0:
            entries.append(c.between(-n, n - 1))
        elif c.percent(35):
            entries.append(slice(None))
        else:
            bound = lambda: None if c.percent(40) else c.between(-n - 2, n + 2)
            entries.append(slice(bound(), bound(), c.pick([None, None, 1, 2, 3, -1, -2])))
            if c.percent(50):
                entries[-1] = c.pick([slice(1, None), slice(None, -1), slice(1, -1), slice(None, None, -1),
                                      slice(None, None, 2), slice(0, max(1, n // 2))])
    if c.percent(20):
        cut = c.below(len(entries) + 1)
        entries = entries[:cut]
    elif c.percent(20):
        first = c.below(len(entries) + 1)
        entries[first:c.between(first, len(entries))] = [Ellipsis]
    if may_add and c.percent(15):
        entries.insert(c.below(len(entries) + 1), None)
    if not entries:
        entries = [Ellipsis]
    return index_arg(entries)


def some_axes(p, dims, several=True):
    c = p.chance
    if dims == 0 or c.percent(25):
        return axes_arg(None)
    left = list(range(dims))
    count = c.between(1, dims) if several and c.percent(40) else 1
    axes = tuple(left.pop(c.below(len(left))) - (dims if c.percent(30) else 0) for _ in range(count))
    return axes_arg(axes if count > 1 else axes[0])


def infix(name, a, b):
    return f"{a.text} {ew.INFIX[name]} {b.text}" if name in ew.INFIX else f"np.{name}({a.text}, {b.text})"
