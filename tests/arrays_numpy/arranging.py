"""More statements that are right: reductions, products, other arrangements, arrays of positions."""

import math

import numpy as np

import sums
from choices import call, from_data, operand, some_axes, some_number, some_values
from makers import maker, place
from program import Arg, count_arg, flag_arg, number_arg, shape_arg
from tracked import (BOOL, C128, F32, F64, I32, I64, Reject, Tracked, check_assignment, fresh, lift, need_exact, value,
                     zero_signs)


# --- reductions -------------------------------------------------------------------------------------------------

@maker(16)
def reduction(p):
    c = p.chance
    name = c.pick(["sum", "sum", "sum", "prod", "mean", "min", "max", "any", "all"])
    a = p.arg(p.exact(lambda t: t.val.ndim > 0))
    axes, keep = some_axes(p, a.what.val.ndim), flag_arg(c.percent(40))
    args = [a, axes, keep]
    text = f"np.{name}({a.text}, {axes.text}, keepdims={keep.text})"
    kind = a.what.val.dtype.kind
    try:
        if name in ("sum", "prod", "mean") and (kind in "fc" or name == "mean"):
            result = sums.reduce_float(name, a.what, axes.what, keep.what)
        else:
            r = np.asarray(getattr(np, name)(a.what.val, axis=axes.what, keepdims=keep.what))
            result = fresh(r, zero_signs(r, a.what) if name in ("min", "max") else None)
    except ValueError as e:
        raise Reject("of nothing") from e
    p.bind(name, args, text, result)


@maker(4)
def position(p):
    c = p.chance
    name = c.pick(["argmin", "argmax"])
    a = p.arg(p.exact(lambda t: t.val.size > 0))
    axis, keep = some_axes(p, a.what.val.ndim, several=False), flag_arg(c.percent(30))
    r = getattr(np, name)(a.what.val, axis=axis.what, keepdims=keep.what)
    p.bind(name, [a, axis, keep], f"np.{name}({a.text}, {axis.text}, keepdims={keep.text})", fresh(np.asarray(r)))


@maker(4)
def cumsum(p):
    a = p.arg(p.exact())
    axis = some_axes(p, a.what.val.ndim, several=False)
    if a.what.val.dtype.kind in "fc":
        if a.what.val.size > 3000:
            raise Reject("long")
        result = sums.running_sums(a.what, axis.what)
    else:
        result = fresh(np.cumsum(a.what.val, axis=axis.what))
    p.bind("cumsum", [a, axis], call("cumsum", [a, axis]), result)


# --- products ---------------------------------------------------------------------------------------------------

@maker(8)
def product(p):
    c = p.chance
    name = c.pick(["dot", "matmul"])
    a = p.arg(p.exact(lambda t: 1 <= t.val.ndim <= 2))
    n = a.what.val.shape[-1]
    matching = lambda t: t.exact and 1 <= t.val.ndim <= 2 and t.val.shape[max(0, t.val.ndim - 2)] == n
    if c.percent(50) or not any(matching(t) for t in p.names.values()):
        shape = (n,) if c.percent(30) else (n, c.between(1, 6))
        b = p.arg(from_data(p, some_values(p, shape, c.pick(p.types))))
    else:
        b = p.arg(p.name(matching))
    theirs = np.asarray(getattr(np, name)(a.what.val, b.what.val))
    result = sums.product(a.what, b.what, theirs) if theirs.dtype.kind in "fc" else fresh(theirs)
    p.bind(name, [a, b], call(name, [a, b]), result)


@maker(2)
def scaled_dot(p):
    """With a number: the product element by element."""
    a = p.arg(p.exact(lambda t: t.val.ndim > 0 and t.val.dtype != C128))
    b = number_arg(some_number(p, "if"))
    result = np.dot(a.what.val, b.what)
    if result.dtype != np.multiply(a.what.val, b.what).dtype:
        raise Reject("promoted otherwise")
    p.bind("dot", [a, b], call("dot", [a, b]), fresh(np.multiply(a.what.val, b.what)))


@maker(3)
def outer(p):
    a = p.arg(p.exact(lambda t: t.val.dtype != C128 and t.val.ndim > 0))
    b = p.arg(p.exact(lambda t: t.val.dtype != C128 and t.val.ndim > 0 and t.val.size * a.what.val.size < 3000))
    p.bind("outer", [a, b], call("outer", [a, b]), fresh(np.outer(a.what.val, b.what.val)))


@maker(4)
def diagonal(p):
    c = p.chance
    name = c.pick(["diag", "tril", "triu"])
    a = p.arg(p.name(lambda t: t.val.ndim == 2 or (t.val.ndim == 1 and t.val.size < 40)))
    k = count_arg(c.pick([0, 0, 0, 1, -1, 2, -3]))
    f = getattr(np, name)
    p.bind(name, [a, k], call(name, [a, k]), fresh(f(a.what.val, k.what), f(a.what.tol, k.what)))


# --- the same elements, arranged otherwise ------------------------------------------------------------------------

def list_arg(args):
    return Arg(",".join(a.token for a in args), "[" + ", ".join(a.text for a in args) + "]", [a.what for a in args])


@maker(6)
def join(p):
    c = p.chance
    name = c.pick(["concatenate", "concatenate", "stack"])
    first = p.arg(p.name(lambda t: t.val.ndim > 0 or name == "stack"))
    dims = first.what.val.ndim
    axis = c.between(0, dims - (name == "concatenate"))

    def fits(t):
        if name == "stack":
            return t.val.shape == first.what.val.shape
        return t.val.ndim == dims and all(x == y for d, (x, y) in enumerate(zip(t.val.shape, first.what.val.shape))
                                          if d != axis)
    parts = list_arg([first] + [p.arg(p.name(fits)) for _ in range(c.below(3))])
    if c.percent(30):
        axis -= dims + (name == "stack")
    args = [parts, count_arg(axis)]
    f = getattr(np, name)
    p.bind(name, args, call(name, args),
           fresh(f([t.val for t in parts.what], axis), f([t.tol for t in parts.what], axis)))


@maker(5)
def repeated(p):
    c = p.chance
    name = c.pick(["tile", "repeat", "roll"])
    a = p.arg(p.name())
    if name == "tile":
        args = [a, shape_arg([c.between(0 if c.percent(10) else 1, 3) for _ in range(c.between(1, 3))])]
    elif name == "repeat":
        args = [a, count_arg(c.between(0, 3)), some_axes(p, a.what.val.ndim, several=False)]
    else:
        args = [a, count_arg(c.between(-9, 9)), some_axes(p, a.what.val.ndim, several=False)]
    f = getattr(np, name)
    rest = [x.what for x in args[1:]]
    p.bind(name, args, call(name, args), fresh(f(a.what.val, *rest), f(a.what.tol, *rest)))


@maker(5)
def sorting(p):
    c = p.chance
    a = p.arg(p.exact(lambda t: t.val.ndim > 0))
    axis = c.between(-a.what.val.ndim, a.what.val.ndim - 1)
    args = [a, count_arg(axis)]
    if c.percent(50):
        r = np.sort(a.what.val, axis)
        p.bind("sort", args, call("sort", args), fresh(r, zero_signs(r, a.what)))
    else:
        r = np.argsort(a.what.val, axis, kind="stable")
        p.bind("argsort", args, f"np.argsort({a.text}, {axis}, kind='stable')", fresh(r))


@maker(4)
def bincount(p):
    c = p.chance
    counts = lambda t: t.val.ndim == 1 and t.val.dtype.kind == "i" and t.val.max(initial=0) < 50 and \
        t.val.min(initial=0) >= 0
    if c.percent(60) or not any(counts(t) for t in p.names.values()):
        n = c.between(0, 40) if not p.large else 3000
        a = p.arg(from_data(p, np.array([c.below(8) for _ in range(n)], c.pick([I32, I64])).reshape(n)))
    else:
        a = p.arg(p.name(counts))
    least = count_arg(c.pick([0, 0, 3, 12]))
    if c.percent(50):
        p.bind("bincount", [a, least], f"np.bincount({a.text}, minlength={least.text})",
               fresh(np.bincount(a.what.val, minlength=least.what)))
        return
    if a.what.val.size == 0:
        raise Reject("NumPy's weighted counts of nothing are integers")
    fits = lambda t: t.val.shape == a.what.val.shape and t.val.dtype.kind in "bif" and np.isfinite(t.val).all()
    if c.percent(50) and not p.large:
        w = p.arg(from_data(p, some_values(p, a.what.val.shape, c.pick([F32, F64, F64]))))
    else:
        w = p.arg(p.exact(fits))
    if not fits(w.what):
        raise Reject("sums of infinities")
    theirs = np.bincount(a.what.val, w.what.val, least.what).astype(F64)
    result, tol = grouped(np.zeros(theirs.shape), a.what.val, w.what.val.astype(F64), theirs)
    p.bind("bincount", [a, w, least], f"np.bincount({a.text}, {w.text}, {least.text})", fresh(result, tol))


def grouped(start, index, terms, theirs):
    """Sums of the terms with the same position, with what is there before."""
    result, tol = theirs.copy(), np.zeros(theirs.shape)
    for i in np.unique(index):
        row = np.concatenate([start[i:i + 1], terms[index == i]])
        result[i], tol[i] = sums.sum_of(row, theirs[i], theirs.dtype)
        if len(row) == 2:
            result[i], tol[i] = theirs[i], 0  # one addition
    return result, tol


# --- by arrays of positions or truth values -----------------------------------------------------------------------

def positions(p, n, most_dims=1):
    """A new array of positions below n, negative ones among them; with duplicates."""
    c = p.chance
    if n == 0:
        raise Reject("no positions")
    shape = tuple(c.pick([0, 1, 2, 3, 5, 9]) for _ in range(c.between(1, most_dims)))
    return p.arg(from_data(p, np.array([c.between(-n, n - 1) for _ in range(math.prod(shape))],
                                       c.pick([I32, I64, I64])).reshape(shape)))


def mask_for(p, shape):
    """A new mask of the first dimensions, or one that is there."""
    c = p.chance
    found = [n for n, t in p.names.items() if t.val.dtype == BOOL and 0 < t.val.ndim <= len(shape)
             and t.val.shape == shape[:t.val.ndim]]
    if found and c.percent(60):
        return p.arg(c.pick(found))
    return p.arg(from_data(p, some_values(p, shape[:c.between(1, len(shape))], BOOL)))


@maker(7)
def gather(p):
    c = p.chance
    a = p.arg(p.name(lambda t: t.val.ndim > 0))
    if c.percent(45):
        i = mask_for(p, a.what.val.shape)
        p.bind("gather", [a, i, count_arg(0)], f"{a.text}[{i.text}]",
               fresh(a.what.val[i.what.val], a.what.tol[i.what.val]))
        return
    axis = c.below(a.what.val.ndim)
    i = positions(p, a.what.val.shape[axis], 4 - a.what.val.ndim)
    if c.percent(30):
        axis -= a.what.val.ndim
    p.bind("gather", [a, i, count_arg(axis)], f"{a.text}.take({i.text}, axis={axis})",
           fresh(a.what.val.take(i.what.val, axis), a.what.tol.take(i.what.val, axis)))


def indexed(p, accept):
    """A name to be changed at positions or where a mask holds, perhaps through a view, and the index."""
    a, index, text, target = place(p)
    if target.val.ndim == 0 or not accept(target):
        raise Reject("not to be indexed")
    i = mask_for(p, target.val.shape) if p.chance.percent(40) else positions(p, target.val.shape[0])
    need_exact(i.what)
    return a, index, text, target, i


@maker(6)
def scatter(p):
    c = p.chance
    a, index, text, target, i = indexed(p, lambda t: t.val.dtype != C128)
    shape = target.val[i.what.val].shape
    if c.percent(40):
        b = number_arg(some_number(p, "bif"))
    else:
        own = some_values(p, shape[c.below(2) if len(shape) > 1 else 0:], target.val.dtype)
        b = p.arg(from_data(p, own)) if c.percent(70) else operand(p, Tracked(np.zeros(shape), np.zeros(shape)), 0)
    check_assignment(target.val.dtype, b.what)
    if isinstance(b.what, Tracked) and not b.what.exact:
        raise Reject("tolerances of duplicates")
    v = value(b.what)
    v = v.copy() if isinstance(v, np.ndarray) else v
    chosen = i.what.val.copy()
    if np.size(v) == 0 and np.shape(v) != shape:
        raise Reject("NumPy takes nothing for nothing, whatever its shape")
    try:
        target.val[chosen] = v
    except ValueError as e:
        raise Reject("does not fit") from e
    target.tol[chosen] = 0
    p.do("scatter", [a, index, i, b], f"{text}[{i.text}] = {b.text}")


@maker(5)
def scatter_add(p):
    c = p.chance
    a, index, text, target, i = indexed(p, lambda t: t.exact and t.val.dtype != BOOL and (
        t.val.ndim == 1 or t.val.dtype.kind == "i"))
    dtype = target.val.dtype
    shape = target.val[i.what.val].shape
    if c.percent(30):
        b = number_arg(some_number(p, {"i": "i", "f": "if", "c": "ifc"}[dtype.kind]))
    else:
        b = p.arg(from_data(p, some_values(p, shape, dtype)))
    chosen = i.what.val.copy()
    (v,), _ = lift((b.what,))
    v = np.broadcast_to(np.asarray(v, dtype), shape)
    if not np.isfinite(v).all() or not np.isfinite(target.val).all():
        raise Reject("sums of infinities")
    old = target.val.copy()
    np.add.at(target.val, chosen, v)
    if dtype.kind in "fc" and chosen.dtype != BOOL:
        chosen = chosen % target.val.shape[0]
        result, tol = grouped(old, chosen.reshape(-1), v.reshape(-1), target.val)
        target.val[...] = result
        target.tol[...] = tol
    p.do("scatter_add", [a, index, i, b], f"np.add.at({text}, {i.text}, {b.text})")


@maker(3)
def nonzero(p):
    a = p.arg(p.exact(lambda t: t.val.ndim > 0))
    text = call("nonzero", [a]) + ("[0]" if a.what.val.ndim == 1 else "")
    p.bind("nonzero", [a], text, *(fresh(x) for x in np.nonzero(a.what.val)))
