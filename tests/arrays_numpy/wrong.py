"""Statements that are wrong: NumPy raises an error of a known class, and nothing is changed."""

import numpy as np

import elementwise as ew
from arranging import list_arg
from choices import call, from_data, infix, some_values
from makers import ARITHMETIC, BITS
from program import Arg, axes_arg, count_arg, flag_arg, index_arg, number_arg, shape_arg, type_arg, view_of
from tracked import BOOL, C128, F64, I32, I64, Reject

WRONG = []


def wrong(f):
    WRONG.append(f)
    return f


def new(p, shape, dtype=F64, values=None):
    """A new array to be wrong with."""
    return p.arg(from_data(p, some_values(p, shape, dtype) if values is None else np.array(values, dtype)))


def with_dims(p, low=1, high=3, accept=lambda t: True):
    return p.arg(p.exact(lambda t: low <= t.val.ndim <= high and accept(t)))


def misfit(p, a):
    """A new array that does not go together with a."""
    n = a.what.val.shape[-1]
    if n == 1:
        raise Reject("fits")
    return new(p, (n + 1 if n else 2,), a.what.val.dtype)


@wrong
def operands(p):
    a = with_dims(p, accept=lambda t: t.val.shape[-1] > 1 and t.val.dtype != BOOL)
    b = misfit(p, a)
    name = p.chance.pick(ARITHMETIC + ["less", "maximum", "logical_and", "not_equal"])
    p.fails("ValueError", name, [a, b], infix(name, a, b), lambda: ew.BINARY[name](a.what.val, b.what.val))


@wrong
def where_operands(p):
    a = with_dims(p, accept=lambda t: t.val.shape[-1] > 1)
    b = misfit(p, a)
    p.fails("ValueError", "where", [a, b, number_arg(1)], f"np.where({a.text}, {b.text}, 1)",
            lambda: np.where(a.what.val, b.what.val, 1))


def writable_real(t):
    return t.val.flags.writeable and t.val.dtype.kind in "if"


NO_INDEX = Arg("[]", "", ())


@wrong
def in_place_shape(p):
    a = with_dims(p, 1, 2, accept=writable_real)
    shape = (2,) + a.what.val.shape if p.chance.percent(50) else None
    b = new(p, shape, a.what.val.dtype) if shape else misfit(p, a)
    p.fails("ValueError", "in_place_add", [a, NO_INDEX, b, NO_INDEX], f"{a.text} += {b.text}",
            lambda: np.add(a.what.val, b.what.val, out=a.what.val))


@wrong
def set_shape(p):
    a = with_dims(p, accept=lambda t: t.val.flags.writeable and t.val.shape[0] > 1 and t.val.shape[-1] > 1)
    b = misfit(p, a)
    index = index_arg([slice(None)])
    p.fails("ValueError", "set", [a, index, b, NO_INDEX], f"{a.text}[:] = {b.text}",
            lambda: a.what.val.__setitem__(slice(None), b.what.val))


@wrong
def position(p):
    c = p.chance
    a = with_dims(p)
    n = a.what.val.shape[0]
    at = [c.pick([n, n + 3, -n - 1])]
    if c.percent(30):
        at = [slice(None)] * a.what.val.ndim + [0]
    elif c.percent(30):
        n = a.what.val.shape[-1]
        at = [Ellipsis, c.pick([n, -n - 2])]
    index = index_arg(at)
    p.fails("IndexError", "view", [a, index], a.text + index.text, lambda: view_of(a.what.val, at))


@wrong
def set_position(p):
    a = with_dims(p, accept=lambda t: t.val.flags.writeable)
    index = index_arg([a.what.val.shape[0]])
    p.fails("IndexError", "set", [a, index, number_arg(1), NO_INDEX], f"{a.text}{index.text} = 1",
            lambda: view_of(a.what.val, index.what).fill(1))


@wrong
def axis(p):
    c = p.chance
    a = with_dims(p)
    dims = a.what.val.ndim
    at = c.pick([dims, dims + 1, -dims - 1])
    name = c.pick(["sum", "mean", "min", "any", "argmax", "cumsum", "sort", "argsort", "flip", "concatenate",
                   "repeat", "roll", "gather", "stack", "transpose"])
    x, n = axes_arg(at), count_arg(at)
    f = getattr(np, name, None)
    v = a.what.val
    if name in ("sum", "mean", "min", "any", "argmax"):
        p.fails("AxisError", name, [a, x, flag_arg(False)], f"np.{name}({a.text}, {at})", lambda: f(v, at))
    elif name in ("sort", "argsort"):
        p.fails("AxisError", name, [a, n], f"np.{name}({a.text}, {at})", lambda: f(v, at))
    elif name in ("cumsum", "flip"):
        p.fails("AxisError", name, [a, x], f"np.{name}({a.text}, {at})", lambda: f(v, at))
    elif name in ("concatenate", "stack"):
        at = dims + 1 if name == "stack" else at
        n = count_arg(at)
        p.fails("AxisError", name, [list_arg([a, a]), n], f"np.{name}([{a.text}, {a.text}], {at})",
                lambda: f([v, v], at))
    elif name in ("repeat", "roll"):
        p.fails("AxisError", name, [a, count_arg(2), x], f"np.{name}({a.text}, 2, {at})", lambda: f(v, 2, at))
    elif name == "gather":
        i = new(p, (1,), I64, [0])
        p.fails("AxisError", name, [a, i, n], f"{a.text}.take({i.text}, axis={at})",
                lambda: v.take(i.what.val, at))
    else:
        axes = (at,) + tuple(range(1, dims))
        p.fails("AxisError", name, [a, axes_arg(axes)], f"{a.text}.transpose({axes})", lambda: v.transpose(axes))


@wrong
def axis_twice(p):
    c = p.chance
    a = with_dims(p)
    dims = a.what.val.ndim
    axes = c.pick([(0, 0), (0, -dims), (dims - 1, -1)])
    x = axes_arg(axes)
    name = c.pick(["sum", "max", "flip", "transpose"])
    v = a.what.val
    if name == "flip":
        p.fails("ValueError", name, [a, x], f"np.flip({a.text}, {axes})", lambda: np.flip(v, axes))
    elif name == "transpose":
        if dims != 2:
            axes = (0,) * (dims + 1)
        x = axes_arg(axes)
        p.fails("ValueError", name, [a, x], f"{a.text}.transpose({axes})", lambda: v.transpose(axes))
    else:
        p.fails("ValueError", name, [a, x, flag_arg(True)], f"np.{name}({a.text}, {axes}, keepdims=True)",
                lambda: getattr(np, name)(v, axes, keepdims=True))


@wrong
def types(p):
    c = p.chance
    name, dtype = c.pick([(b, t) for b in BITS for t in (F64, C128)] + [("subtract", BOOL)] +
                         [(f, C128) for f in ("remainder", "floor_divide", "arctan2", "hypot")])
    a, b = new(p, (3,), dtype), new(p, (3,), dtype)
    p.fails("TypeError", name, [a, b], infix(name, a, b), lambda: ew.BINARY[name](a.what.val, b.what.val))


@wrong
def types_of_one(p):
    c = p.chance
    name, dtype = c.pick([("invert", F64), ("invert", C128), ("negative", BOOL), ("cbrt", C128), ("floor", C128),
                          ("ceil", C128), ("trunc", C128)])
    a = new(p, (2,), dtype)
    p.fails("TypeError", name, [a], call(name, [a]), lambda: ew.UNARY[name](a.what.val))


@wrong
def types_in_place(p):
    c = p.chance
    name, dtype, number = c.pick([("add", I32, 0.5), ("multiply", I64, 2.5), ("divide", I64, 2), ("divide", I32, 1),
                                  ("add", BOOL, 1), ("subtract", F64, 1j), ("add", F64, 2 + 1j),
                                  ("bit_and", F64, 1), ("subtract", BOOL, True), ("remainder", C128, 2.0)])
    a, b = new(p, (c.between(1, 5),), dtype), number_arg(number)
    p.fails("TypeError", "in_place_" + name, [a, NO_INDEX, b, NO_INDEX], f"{a.text} {ew.INFIX[name]}= {b.text}",
            lambda: ew.BINARY[name](a.what.val, number, out=a.what.val, casting="same_kind"))


@wrong
def of_nothing(p):
    c = p.chance
    name = c.pick(["min", "max", "argmin", "argmax"])
    shape = c.pick([(0,), (0, 3), (2, 0)])
    a = new(p, shape)
    axes = axes_arg(None if c.percent(40) else shape.index(0))
    p.fails("ValueError", name, [a, axes, flag_arg(False)], f"np.{name}({a.text}, {axes.text})",
            lambda: getattr(np, name)(a.what.val, axes.what))


@wrong
def bincount(p):
    c = p.chance
    kind = c.pick(["negative", "floating", "matrix", "weights", "least"])
    good = [0, 2, 1]
    v = {"negative": np.array([1, -1, 3]), "floating": np.array([1.0, 2.0]), "matrix": np.array([[1, 2]])}
    a = new(p, (3,), v[kind].dtype, v[kind]) if kind in v else new(p, (3,), I64, good)
    args, text = [a, count_arg(0)], f"np.bincount({a.text})"
    thunk = lambda: np.bincount(a.what.val)
    if kind == "weights":
        w = new(p, (4,), F64)
        args, text = [a, w, count_arg(0)], f"np.bincount({a.text}, {w.text})"
        thunk = lambda: np.bincount(a.what.val, w.what.val)
    elif kind == "least":
        args, text = [a, count_arg(-1)], f"np.bincount({a.text}, minlength=-1)"
        thunk = lambda: np.bincount(a.what.val, minlength=-1)
    p.fails("TypeError" if kind == "floating" else "ValueError", "bincount", args, text, thunk)


@wrong
def reshape(p):
    a = p.arg(p.name(lambda t: t.val.size > 1))
    n = a.what.val.size
    s = shape_arg(p.chance.pick([(n + 1,), (n, 2), (-1, n + 1), (-1, -1), ()]))
    p.fails("ValueError", "reshape", [a, s], f"{a.text}.reshape({s.text})", lambda: a.what.val.reshape(s.what))


@wrong
def gather(p):
    c = p.chance
    a = with_dims(p, accept=lambda t: t.val.size)
    n = a.what.val.shape[0]
    if c.percent(30):
        i = new(p, (n + 1,), BOOL)
        p.fails("IndexError", "gather", [a, i, count_arg(0)], f"{a.text}[{i.text}]", lambda: a.what.val[i.what.val])
        return
    i = new(p, (2,), I64, [0 if n else 5, c.pick([n, -n - 1])])
    p.fails("IndexError", "gather", [a, i, count_arg(0)], f"{a.text}.take({i.text}, axis=0)",
            lambda: a.what.val.take(i.what.val, 0))


@wrong
def scatter(p):
    c = p.chance
    a = with_dims(p, accept=lambda t: writable_real(t) and t.val.size)
    n = a.what.val.shape[0]
    i = new(p, (2,), I64, [0 if n else 5, c.pick([n, -n - 1])])
    args = [a, NO_INDEX, i, number_arg(1)]
    if c.percent(50):
        p.fails("IndexError", "scatter", args, f"{a.text}[{i.text}] = 1",
                lambda: a.what.val.__setitem__(i.what.val, 1))
    else:
        p.fails("IndexError", "scatter_add", args, f"np.add.at({a.text}, {i.text}, 1)",
                lambda: np.add.at(a.what.val, i.what.val, 1))


@wrong
def scatter_shape(p):
    a = with_dims(p, 1, 1, accept=lambda t: writable_real(t) and t.val.size > 2)
    i, b = new(p, (2,), I64, [0, 1]), new(p, (3,), a.what.val.dtype)
    p.fails("ValueError", "scatter", [a, NO_INDEX, i, b], f"{a.text}[{i.text}] = {b.text}",
            lambda: a.what.val.__setitem__(i.what.val, b.what.val))


@wrong
def products(p):
    c = p.chance
    name = c.pick(["dot", "matmul"])
    a = with_dims(p, 1, 2)
    if name == "matmul" and c.percent(30):
        b = number_arg(2)
    else:
        b = new(p, (a.what.val.shape[-1] + 2,), a.what.val.dtype)
    thing = b.what if b.token.startswith("i:") else b.what.val
    p.fails("ValueError", name, [a, b], call(name, [a, b]), lambda: getattr(np, name)(a.what.val, thing))


@wrong
def broadcast(p):
    c = p.chance
    a = with_dims(p, accept=lambda t: t.val.shape[-1] > 1 and t.val.ndim < 3)
    if c.percent(50):
        s = shape_arg((2, a.what.val.shape[-1] + 1))
        p.fails("ValueError", "broadcast_to", [a, s], call("broadcast_to", [a, s]),
                lambda: np.broadcast_to(a.what.val, s.what))
        return
    s = shape_arg((3,) + a.what.val.shape)
    b = p.arg(p.bind("broadcast_to", [a, s], call("broadcast_to", [a, s]),
                     a.what.moved(lambda v: np.broadcast_to(v, s.what)), anew=True))
    one = number_arg(1)
    if c.percent(50) or b.what.val.dtype == BOOL:
        p.fails("ValueError", "set", [b, index_arg([slice(None)]), one, NO_INDEX], f"{b.text}[:] = 1",
                lambda: b.what.val.__setitem__(slice(None), 1))
    else:
        p.fails("ValueError", "in_place_add", [b, NO_INDEX, one, NO_INDEX], f"{b.text} += 1",
                lambda: np.add(b.what.val, 1, out=b.what.val))


@wrong
def creation(p):
    c = p.chance
    kind = c.pick(["array", "zeros", "linspace", "item", "power", "repeat", "diag"])
    if kind == "array":
        val = np.zeros(6)
        args = [type_arg(F64), shape_arg((4, 2)), Arg("d:" + val.tobytes().hex(), "", val)]
        p.fails("ValueError", kind, args, "np.array([0.0] * 6).reshape((4, 2))", lambda: val.reshape(4, 2))
    elif kind == "zeros":
        p.fails("ValueError", kind, [shape_arg((2, -3)), type_arg(F64)], "np.zeros((2, -3))",
                lambda: np.zeros((2, -3)))
    elif kind == "linspace":
        p.fails("ValueError", kind, [number_arg(0.0), number_arg(1.0), count_arg(-2), flag_arg(True)],
                "np.linspace(0.0, 1.0, -2)", lambda: np.linspace(0, 1, -2))
    elif kind == "item":
        a = p.arg(p.name(lambda t: t.val.size != 1))
        p.fails("ValueError", kind, [a], f"{a.text}.item()", lambda: a.what.val.item())
    elif kind == "power":
        a, b = new(p, (3,), I64, [1, 2, 3]), number_arg(-1)
        p.fails("ValueError", kind, [a, b], f"{a.text} ** -1", lambda: np.power(a.what.val, -1))
    elif kind == "repeat":
        a = with_dims(p, accept=lambda t: t.val.size)
        p.fails("ValueError", kind, [a, count_arg(-1), axes_arg(0)], f"np.repeat({a.text}, -1, 0)",
                lambda: np.repeat(a.what.val, -1, 0))
    else:
        a = new(p, (2, 1, 2))
        p.fails("ValueError", kind, [a, count_arg(0)], f"np.diag({a.text})", lambda: np.diag(a.what.val))


@wrong
def joining(p):
    c = p.chance
    kind = c.pick(["none", "dims", "lengths", "stack"])
    a = with_dims(p, 2, 2, accept=lambda t: t.val.shape[1] > 1) if kind != "none" else None
    if kind == "none":
        args, arrays = [Arg("$", "[]", []), count_arg(0)], []
    else:
        shape = (3,) if kind == "dims" else (a.what.val.shape[0], a.what.val.shape[1] + 1)
        b = new(p, shape, F64)
        args, arrays = [list_arg([a, b]), count_arg(0)], [a.what.val, b.what.val]
    name = "stack" if kind == "stack" else "concatenate"
    p.fails("ValueError", name, args, call(name, args), lambda: getattr(np, name)(arrays, 0))
