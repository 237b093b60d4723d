"""Statements that are right, a function for each kind. A maker writes one statement, or raises Reject."""

import numpy as np

import elementwise as ew
from choices import (call, from_data, infix, operand, some_axes, some_index, some_number, some_shape,
                     some_values)
from program import Arg, axes_arg, count_arg, flag_arg, index_arg, number_arg, shape_arg, type_arg, view_of
from tracked import BOOL, TYPES, Reject, Tracked, check_assignment, fresh

MAKERS = []


def maker(weight):
    def keep(f):
        MAKERS.append((weight, f))
        return f
    return keep


# --- new arrays -------------------------------------------------------------------------------------------------

@maker(4)
def array(p):
    shape = some_shape(p)
    if np.prod(shape, dtype=int) > 500 and not p.chance.percent(10):
        raise Reject("long")
    from_data(p, some_values(p, shape, p.chance.pick(p.types)))


@maker(3)
def constant(p):
    shape, dtype = shape_arg(some_shape(p)), type_arg(p.chance.pick(p.types))
    name = p.chance.pick(["zeros", "ones", "empty"])
    val = np.ones(shape.what, dtype.what) if name == "ones" else np.zeros(shape.what, dtype.what)
    p.bind(name, [shape, dtype], call("zeros" if name == "empty" else name, [shape, dtype]), fresh(val))


@maker(3)
def full(p):
    shape = shape_arg(some_shape(p))
    number = number_arg(some_number(p, "bifc"))
    if p.chance.percent(50):
        p.bind("full", [shape, number], call("full", [shape, number]), fresh(np.full(shape.what, number.what)))
        return
    dtype = type_arg(p.chance.pick(TYPES))
    check_assignment(dtype.what, number.what)
    p.bind("full", [shape, number, dtype], call("full", [shape, number, dtype]),
           fresh(np.full(shape.what, number.what, dtype.what)))


@maker(2)
def like(p):
    """In C order, whatever the order of the other one: as all new arrays are here."""
    a = p.arg(p.name())
    name = p.chance.pick(["zeros_like", "ones_like", "empty_like", "full_like"])
    if name != "full_like":
        val = np.ones_like(a.what.val) if name == "ones_like" else np.zeros_like(a.what.val)
        p.bind(name, [a], call("zeros_like" if name == "empty_like" else name, [a]), fresh(val))
        return
    number = number_arg(some_number(p, "bifc"))
    check_assignment(a.what.val.dtype, number.what)
    p.bind(name, [a, number], call(name, [a, number]), fresh(np.full_like(a.what.val, number.what)))


@maker(4)
def arange(p):
    """Bounds are such that no element is rounded, so that it does not matter how they are computed."""
    c = p.chance
    n = p.lengths[-1] if not p.large else int(np.prod(p.lengths))
    if c.percent(40):
        args = [number_arg(n if c.percent(70) else float(n))]
    else:
        step = c.pick([1, 2, 3, -1, -2, 0.5, 0.125, -0.25])
        start = c.between(-8, 8) if c.percent(60) else c.between(-32, 32) / 8
        stop = start + step * n if c.percent(80) else start - step
        args = [number_arg(x) for x in (start, stop, step)]
    val = np.arange(*(a.what for a in args))
    if len(p.lengths) > 1 and p.large:
        v = p.bind("arange", args, call("arange", args), fresh(val))
        shaped = shape_arg(p.lengths)
        if val.size == n:
            p.bind("reshape", [p.arg(v), shaped], f"{v}.reshape({shaped.text})",
                   p.names[v].moved(lambda a: a.reshape(shaped.what)))
    else:
        p.bind("arange", args, call("arange", args), fresh(val))


@maker(2)
def linspace(p):
    c = p.chance
    count, endpoint = c.pick([0, 1, 2, 5, 9, 17, p.lengths[-1]]), c.percent(70)
    start, stop = (float(c.between(-8, 8)), float(c.between(-8, 8))) if c.percent(60) else \
        (c.uniform(-5, 5), c.uniform(-5, 5))
    val = np.linspace(start, stop, count, endpoint)
    steps = count - 1 if endpoint else count
    tol = np.full(val.shape, 4 * np.spacing(max(abs(start), abs(stop))))
    if count < 2 or (steps & (steps - 1) == 0 and start == int(start) and stop == int(stop)):
        tol[...] = 0
    args = [number_arg(start), number_arg(stop), count_arg(count), flag_arg(endpoint)]
    p.bind("linspace", args, call("linspace", args), fresh(val, tol))


@maker(2)
def eye(p):
    c = p.chance
    n, m, k = c.between(0, 6), c.pick([-1, 0, 1, 4, 6]), c.between(-3, 3)
    args = [count_arg(n), count_arg(m), count_arg(k), type_arg(c.pick(TYPES))]
    p.bind("eye", args, f"np.eye({n}, {None if m == -1 else m}, {k}, {args[3].text})",
           fresh(np.eye(n, None if m == -1 else m, k, args[3].what)))


# --- views ------------------------------------------------------------------------------------------------------

@maker(12)
def view(p):
    a = p.arg(p.name())
    index = some_index(p, a.what.val.shape)
    p.bind("view", [a, index], a.text + index.text, a.what.moved(lambda x: view_of(x, index.what)))


@maker(3)
def alias(p):
    a = p.arg(p.name())
    p.bind("alias", [a], a.text, a.what)


@maker(5)
def reshape(p):
    c = p.chance
    a = p.arg(p.name())
    size = a.what.val.size
    divisors = [d for d in range(1, size + 1) if size % d == 0][:12] if size else [0, 1, 3]
    shape = []
    rest = size
    for _ in range(c.between(0, 2)):
        d = c.pick(divisors)
        if size and rest % d:
            continue
        shape.append(d)
        rest = rest // d if size else 0
    if not size or rest != 1 or c.percent(50):
        shape.insert(c.below(len(shape) + 1), rest)
    if shape and size and c.percent(40):
        shape[c.below(len(shape))] = -1
    s = shape_arg(shape)
    try:
        val, tol = a.what.val.reshape(s.what), a.what.tol.reshape(s.what)
    except ValueError as e:
        raise Reject("no such shape") from e
    if np.shares_memory(val, a.what.val) != np.shares_memory(tol, a.what.tol):
        raise AssertionError("a view of the one, a copy of the other")
    p.bind("reshape", [a, s], f"{a.text}.reshape({s.text})", Tracked(val, tol))


@maker(5)
def transpose(p):
    c = p.chance
    a = p.arg(p.name())
    if c.percent(60):
        p.bind("transpose", [a], a.text + ".T", a.what.moved(lambda x: x.T))
        return
    left = list(range(a.what.val.ndim))
    if not left:
        raise Reject("no axes")
    axes = tuple(left.pop(c.below(len(left))) - (a.what.val.ndim if c.percent(20) else 0)
                 for _ in range(a.what.val.ndim))
    x = axes_arg(axes)
    p.bind("transpose", [a, x], f"{a.text}.transpose({axes})", a.what.moved(lambda v: v.transpose(axes)))


@maker(4)
def flip(p):
    a = p.arg(p.name())
    if a.what.val.ndim == 0:
        raise Reject("NumPy's is a number, not a view")
    axes = some_axes(p, a.what.val.ndim)
    p.bind("flip", [a, axes], call("flip", [a, axes]), a.what.moved(lambda v: np.flip(v, axes.what)))


@maker(4)
def broadcast_to(p):
    c = p.chance
    a = p.arg(p.name(lambda t: t.val.size < 600))
    shape = [n if n != 1 or c.percent(30) else c.pick([1, 2, 3, p.lengths[-1]]) for n in a.what.val.shape]
    while len(shape) < 3 and c.percent(40):
        shape.insert(0, c.between(0 if c.percent(10) else 1, 4))
    s = shape_arg(shape)
    p.bind("broadcast_to", [a, s], call("broadcast_to", [a, s]), a.what.moved(lambda v: np.broadcast_to(v, s.what)))


# --- elements ---------------------------------------------------------------------------------------------------

ARITHMETIC = ["add", "subtract", "multiply", "divide"]
COMPARISON = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
BITS = ["bit_and", "bit_or", "bit_xor"]


@maker(44)
def binary(p):
    c = p.chance
    names = c.pick([ARITHMETIC] * 5 + [COMPARISON] * 2 + [BITS, ["remainder", "floor_divide"], ["maximum", "minimum"],
                   ["logical_and", "logical_or", "logical_xor"], ["power", "arctan2", "hypot"]])
    name = c.pick(names)
    bits = name in BITS
    accept = (lambda t: t.val.dtype.kind in "bi") if bits else (lambda t: True)
    a = p.arg(p.exact(accept))
    if name == "power" and c.percent(60):
        b = number_arg(c.pick([2, 3, 0, 1, 0.5, 2.0, -1.0, 1.5]))
    elif bits and c.percent(30):
        b = number_arg(some_number(p, "bi"))
    else:
        b = operand(p, a.what, 0 if bits else 30, accept)
    if c.percent(35) and name != "power":
        a, b = b, a
    elif name == "power" and c.percent(10):
        a, b = b, a
    try:
        p.bind(name, [a, b], infix(name, a, b), ew.elementwise(name, a.what, b.what))
    except TypeError as e:
        raise Reject("not of these types") from e


@maker(34)
def unary(p):
    c = p.chance
    name = c.pick(sorted(ew.UNARY))
    a = p.arg(p.exact())
    try:
        sign = {"negative": "-", "positive": "+", "invert": "~"}.get(name)
        text = sign + a.text if sign else call(name, [a])
        p.bind(name, [a], text, ew.elementwise(name, a.what))
    except TypeError as e:
        raise Reject("not of these types") from e


@maker(4)
def clip(p):
    a = p.arg(p.exact())
    low, high = operand(p, a.what, 70), operand(p, a.what, 70)
    if a.what.val.dtype.kind in "bc":
        raise Reject("not of these types")
    p.bind("clip", [a, low, high], call("clip", [a, low, high]), ew.clip(a.what, low.what, high.what))


@maker(6)
def where(p):
    c = p.chance
    w = p.arg(p.exact(lambda t: t.val.dtype == BOOL) if c.percent(70) else p.exact())
    b, d = operand(p, w.what, 30, exact=False), operand(p, w.what, 30, exact=False)
    p.bind("where", [w, b, d], call("where", [w, b, d]), ew.where(w.what, b.what, d.what))


@maker(3)
def astype(p):
    a, t = p.arg(p.name()), type_arg(p.chance.pick(TYPES))
    p.bind("astype", [a, t], f"{a.text}.astype({t.text})", ew.astype(a.what, t.what))


@maker(2)
def copy(p):
    a = p.arg(p.name())
    p.bind("copy", [a], f"{a.text}.copy()", fresh(a.what.val, a.what.tol))


# --- in place ---------------------------------------------------------------------------------------------------

def place(p):
    """A name, with an index or without: argument, index, text, and the elements."""
    a = p.arg(p.name(lambda t: t.val.flags.writeable))
    if p.chance.percent(45):
        return a, Arg("[]", "", ()), a.text, a.what
    index = some_index(p, a.what.val.shape, may_add=False)
    return a, index, a.text + index.text, a.what.moved(lambda x: view_of(x, index.what))


def right_side(p, target, numbers=35):
    """An operand that can be broadcast to the target: often another view of the same elements."""
    c = p.chance
    if c.percent(numbers):
        return [number_arg(some_number(p)), Arg("[]", "", ())]
    for _ in range(8):
        b = p.arg(p.name())
        index = Arg("[]", "", ())
        t = b.what
        if c.percent(50):
            index = some_index(p, t.val.shape)
            try:
                t = t.moved(lambda x: view_of(x, index.what))
            except Reject:
                continue
        try:
            if np.broadcast_shapes(t.val.shape, target.val.shape) == target.val.shape:
                return [Arg(b.token, b.text + index.text, t), index]
        except ValueError:
            pass
    raise Reject("nothing fits")


@maker(12)
def set_view(p):
    a, index, text, target = place(p)
    b, other = right_side(p, target)
    check_assignment(target.val.dtype, b.what)
    if index.what:
        op, line = "set", f"{text} = {b.text}"
    else:
        op, line = "fill", f"{text}[...] = {b.text}"
    old = b.what.val.copy() if isinstance(b.what, Tracked) else b.what
    off = b.what.tol.copy() if isinstance(b.what, Tracked) else 0
    target.val[...] = old
    target.tol[...] = off
    Tracked(target.val, target.tol)
    p.do(op, [a, index, b, other], line)


@maker(16)
def in_place(p):
    a, index, text, target = place(p)
    name = p.chance.pick(["add", "add", "subtract", "subtract", "multiply", "multiply", "divide", "remainder",
                          "bit_and", "bit_or", "bit_xor"])
    b, other = right_side(p, target)
    try:
        ew.in_place(name, target, b.what)
    except TypeError as e:
        raise Reject("not of these types") from e
    p.do("in_place_" + name, [a, index, b, other], f"{text} {ew.INFIX[name]}= {b.text}")


@maker(6)
def overlap(p):
    """Elements from their neighbours: a[1:] += a[:-1], also through another name for the same elements."""
    c = p.chance
    a = p.arg(p.exact(lambda t: t.val.flags.writeable and t.val.ndim > 0 and max(t.val.shape) > 1))
    others = [n for n, t in p.names.items() if t.val.shape == a.what.val.shape and t.val.dtype == a.what.val.dtype
              and np.shares_memory(t.val, a.what.val)]
    b = p.arg(c.pick(others))
    axis = c.pick([d for d, n in enumerate(a.what.val.shape) if n > 1])
    k = c.between(1, min(3, a.what.val.shape[axis] - 1))
    sides = [slice(k, None), slice(None, -k)]
    if c.percent(50):
        sides.reverse()
    if c.percent(25):
        sides = [slice(None), slice(None, None, -1)]
    to, by = [index_arg([slice(None)] * axis + [side]) for side in sides]
    target, source = a.what.moved(lambda x: view_of(x, to.what)), b.what.moved(lambda x: view_of(x, by.what))
    name = c.pick(["set", "set", "add", "subtract", "multiply"])
    if name == "set":
        target.val[...] = source.val.copy()
        p.do(name, [a, to, b, by], f"{a.text}{to.text} = {b.text}{by.text}")
        return
    try:
        ew.in_place(name, target, source)
    except TypeError as e:
        raise Reject("not of these types") from e
    p.do("in_place_" + name, [a, to, b, by], f"{a.text}{to.text} {ew.INFIX[name]}= {b.text}{by.text}")


@maker(2)
def delete(p):
    if len(p.names) < 3:
        raise Reject("few names")
    name = p.chance.pick(list(p.names)[:-1])
    p.do("del", [p.arg(name)], f"del {name}")
    del p.names[name]


@maker(2)
def look(p):
    """The values in the middle of a program."""
    name = p.name(lambda t: t.val.size <= 40)
    p.check(name)
