"""One random program: its names, its statements, and how both are written.

A line of the file is a statement as tokens for the C++ side, a tab, and the statement as one would write it for NumPy.
Tokens: $a (a name), b:1 i:-3 f:0x1.8p+1 c:RE,IM (numbers), s:2,3 (a shape), x:0,-1 x:all (axes), n:5 (a count or
position), k:1 (a flag), t:int32 (a type), d:HEX (elements), [1:-1,0,newaxis,...] (an index), $a,$b (a list).
"""

import random

import numpy as np

from tracked import BOOL, C128, F32, F64, I64, Reject


class Chance:
    """Random choices from Random.random() alone, the one that Python promises not to change."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def below(self, n):
        return int(self.source.random() * n)

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def percent(self, chance):
        return self.source.random() * 100 < chance

    def pick(self, items):
        if not items:
            raise Reject("nothing to choose from")
        return items[self.below(len(items))]

    def uniform(self, low, high):
        return low + self.source.random() * (high - low)


def real_text(x):
    return f"np.{x}" if x in (np.inf,) or x != x else "-np.inf" if x == -np.inf else repr(x)


class Arg:
    """An argument: its token, its text, and what it stands for."""

    def __init__(self, token, text, what):
        self.token, self.text, self.what = token, text, what


def number_arg(x):
    if isinstance(x, bool):
        return Arg(f"b:{int(x)}", repr(x), x)
    if isinstance(x, int):
        return Arg(f"i:{x}", repr(x), x)
    if isinstance(x, float):
        return Arg(f"f:{x.hex()}", real_text(x), x)
    return Arg(f"c:{x.real.hex()},{x.imag.hex()}", repr(x), x)


def shape_arg(shape):
    shape = tuple(shape)
    return Arg("s:" + ",".join(map(str, shape)), str(shape), shape)


def axes_arg(axes):
    if axes is None:
        return Arg("x:all", "None", None)
    listed = axes if isinstance(axes, tuple) else (axes,)
    return Arg("x:" + ",".join(map(str, listed)), str(axes), axes)


def count_arg(n):
    return Arg(f"n:{n}", str(n), n)


def flag_arg(flag):
    return Arg(f"k:{int(flag)}", str(bool(flag)), bool(flag))


def type_arg(dtype):
    return Arg(f"t:{dtype.name}", f"np.{'bool_' if dtype == BOOL else dtype.name}", dtype)


def index_arg(entries):
    words = []
    for e in entries:
        if e is None:
            words.append("newaxis")
        elif e is Ellipsis:
            words.append("...")
        elif isinstance(e, slice):
            words.append(":".join("" if x is None else str(x) for x in (e.start, e.stop)) +
                         ("" if e.step is None else f":{e.step}"))
        else:
            words.append(str(e))
    return Arg("[" + ",".join(words) + "]", "[" + ", ".join(words) + "]", tuple(entries))


def view_of(array, entries):
    """Always a view, also of one element."""
    return array[tuple(entries) if Ellipsis in entries else tuple(entries) + (Ellipsis,)]


NAMES = [chr(ord("a") + i) for i in range(26)] + [f"a{i}" for i in range(60)]


class Program:
    def __init__(self, seed, number):
        self.chance = Chance(seed * 1000003 + number)
        self.names = {}
        self.lines = []
        self.last = []
        c = self.chance
        self.large = c.percent(2)
        if self.large:
            self.lengths = c.pick([(4096,), (5003,), (2500,), (60, 70), (17, 211), (3, 1500), (12, 20, 15),
                                   (2, 9, 300)])
        else:
            some = [1, 2, 3, 4, 5, 7, 8, 13] + ([0, 0] if c.percent(15) else []) + \
                ([20, 33, 70] if c.percent(20) else [])
            self.lengths = tuple(c.pick(some) for _ in range(c.pick([1, 1, 2, 2, 2, 3, 3])))
        self.special = c.percent(15)
        self.types = [F64, F64] + [c.pick([BOOL, np.dtype("int32"), I64, F32, F64, C128]) for _ in range(3)]

    # --- choosing among names -------------------------------------------------------------------------------

    def name(self, accept=lambda t: True):
        found = [n for n, t in self.names.items() if accept(t)]
        # What was bound last is chosen more often, so that statements build on each other.
        if found and self.chance.percent(40):
            return found[-1]
        return self.chance.pick(found)

    def exact(self, accept=lambda t: True):
        return self.name(lambda t: t.exact and accept(t))

    def arg(self, name):
        return Arg("$" + name, name, self.names[name])

    def new_name(self):
        if len(self.names) > 2 and self.chance.percent(25):
            return self.chance.pick(list(self.names))
        return next(n for n in NAMES if n not in self.names)

    # --- writing --------------------------------------------------------------------------------------------

    def bind(self, op, args, text, *results, anew=False):
        """names = op(args); `anew`: not a name that there is, as others of the statement may be meant."""
        names = []
        for result in results:
            name = self.new_name() if len(results) == 1 and not anew else \
                next(n for n in NAMES if n not in self.names and n not in names)
            names.append(name)
        self.write("let", ",".join(names) + " " + op, args, ", ".join(names) + " = " + text)
        for name, result in zip(names, results):
            self.names.pop(name, None)
            self.names[name] = result
        self.last = names
        return names[0]

    def do(self, op, args, text):
        self.write("do", op, args, text)

    def fails(self, error, op, args, text, thunk):
        """A statement that must raise, and change nothing."""
        try:
            thunk()
        except Reject:
            raise
        except Exception as raised:
            # NumPy derives classes of its own from TypeError.
            names = [t.__name__ for t in type(raised).__mro__]
            if error not in (names if error == "TypeError" else names[:1]):
                raise AssertionError(f"{text} raises {raised!r}, not {error}") from raised
        else:
            raise AssertionError(f"{text} raises nothing")
        self.write("raises", error + " " + op, args, text + f"  # {error}")

    def write(self, kind, head, args, text):
        tokens = " ".join([kind, head] + [a.token for a in args])
        self.lines.append(tokens + "\t" + text)

    # --- the state, to go back to ---------------------------------------------------------------------------

    def state(self):
        copies = [(t.val, t.val.copy(), t.tol, t.tol.copy()) for t in self.names.values()]
        return dict(self.names), len(self.lines), list(self.last), copies

    def restore(self, state):
        names, lines, last, copies = state
        self.names, self.last = dict(names), last
        del self.lines[lines:]
        for val, old, tol, old_tol in copies:
            if val.flags.writeable:
                val[...] = old
                tol[...] = old_tol

    # --- results --------------------------------------------------------------------------------------------

    def check(self, name):
        t = self.names[name]
        val = np.ascontiguousarray(t.val).astype(t.val.dtype.newbyteorder("<"))
        how = "exact"
        if not t.exact:
            # Rounded up to fewer bits: the last ones depend on NumPy's loops.
            mantissa, exponent = np.frexp(np.ascontiguousarray(t.tol))
            tol = np.ldexp(np.ceil(mantissa * (2.0 ** 20 + 2.0 ** -10)) / 2.0 ** 20, exponent)
            how = "near " + tol.astype("<f8").tobytes().hex()
        shape = ",".join(map(str, t.val.shape))
        self.lines.append(f"check {name} {val.dtype.name} s:{shape} d:{val.tobytes().hex()} {how}")
