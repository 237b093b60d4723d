"""Sums and products: their exact values, and how far from them a result may be.

Sums are formed by math.fsum, of the terms or, for products of two, of each product and its rounding error; products
of many factors by fractions. A result may be off by n eps sum|terms|, as any order of additions is at worst.
"""

import math
from fractions import Fraction

import numpy as np

from tracked import F32, ZERO_SIGN, Reject, fresh, need_exact


def eps_of(dtype):
    return float(np.finfo(dtype).eps)


def check_range(terms):
    finite = np.abs(terms[np.isfinite(terms)])
    if finite.size and (finite.max() > 1e25 or (finite[finite != 0] < 1e-25).any()):
        raise Reject("near the end of the range")


def parts(values):
    """The real numbers of a vector: one or two vectors."""
    return [values.real, values.imag] if values.dtype.kind == "c" else [values]


def sum_of(values, theirs, dtype, more=0):
    """The sum of a vector and its tolerance; theirs where it is not finite."""
    check_range(values)
    if not np.isfinite(values).all():
        return theirs, 0.0
    sums = [math.fsum(p.tolist()) for p in parts(values)]
    sizes = sum(math.fsum(np.abs(p).tolist()) for p in parts(values))
    result = complex(*sums) if len(sums) == 2 else sums[0]
    tol = (len(values) + more) * eps_of(dtype) * sizes
    if abs(complex(theirs) - result) > tol + ZERO_SIGN:
        raise AssertionError(f"NumPy's sum {theirs!r}, but {result!r}")
    return result, max(tol, ZERO_SIGN)


def rows(val, axes):
    """The elements that are reduced together as rows, and the shape of the others."""
    axes = range(val.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    axes = [x % val.ndim for x in axes]
    kept = [d for d in range(val.ndim) if d not in axes]
    shape = tuple(val.shape[d] for d in kept)
    n = math.prod(val.shape[d] for d in axes)
    return np.transpose(val, kept + list(axes)).reshape(math.prod(shape), n), shape


def product_of(values, theirs, dtype):
    if len(values) > 24:
        raise Reject("many factors")
    if not np.isfinite(values).all():
        return theirs, 0.0
    sizes = np.abs(values[values != 0])
    if np.abs(np.log2(sizes)).sum() > (100 if dtype == F32 else 900):
        raise Reject("near the end of the range")
    re, im = Fraction(1), Fraction(0)
    for v in values.tolist():
        x, y = (Fraction(v.real), Fraction(v.imag)) if isinstance(v, complex) else (Fraction(v), 0)
        re, im = re * x - im * y, re * y + im * x
    result = complex(re, im) if values.dtype.kind == "c" else float(re)
    return result, max(2 * (len(values) + 1) * eps_of(dtype) * abs(result), ZERO_SIGN)


def reduce_float(name, a, axes, keep_dims):
    """sum, mean, prod of floating-point and complex numbers, and the mean of integers."""
    need_exact(a)
    theirs = np.asarray(getattr(np, name)(a.val, axis=axes, keepdims=keep_dims))
    dtype = theirs.dtype
    terms, shape = rows(a.val.astype(dtype), axes)
    flat = theirs.reshape(-1)
    result, tol = np.zeros(flat.shape, dtype), np.zeros(flat.shape)
    for i, row in enumerate(terms):
        if len(row) == 0:
            result[i] = flat[i]
        elif name == "prod":
            result[i], tol[i] = product_of(row, flat[i], dtype)
        elif name == "sum":
            result[i], tol[i] = sum_of(row, flat[i], dtype)
        else:
            total, off = sum_of(row, flat[i] * len(row), dtype, more=3)
            result[i], tol[i] = total / len(row), max(off / len(row), ZERO_SIGN)
    return fresh(result.reshape(theirs.shape), tol.reshape(theirs.shape))


def running_sums(a, axis):
    """numpy.cumsum of floating-point and complex numbers."""
    need_exact(a)
    theirs = np.cumsum(a.val, axis=axis)
    line = a.val.reshape(1, -1) if axis is None else np.moveaxis(a.val, axis, -1)
    check_range(line)
    if not np.isfinite(line).all():
        raise Reject("running sums of infinities")
    flat = line.reshape(math.prod(line.shape[:-1]), line.shape[-1])
    result, tol = np.zeros(flat.shape, theirs.dtype), np.zeros(flat.shape)
    for i, row in enumerate(flat):
        exact = [[] for _ in parts(row)]
        size = 0.0
        for j, v in enumerate(row.tolist()):
            pieces = (v.real, v.imag) if isinstance(v, complex) else (v,)
            sums = [grown(terms, piece) for terms, piece in zip(exact, pieces)]
            size += sum(abs(piece) for piece in pieces)
            result[i, j] = complex(*sums) if len(sums) == 2 else sums[0]
            tol[i, j] = max((j + 2) * eps_of(theirs.dtype) * size, ZERO_SIGN)
    shaped = [x.reshape(-1) if axis is None else np.moveaxis(x.reshape(line.shape), -1, axis) for x in (result, tol)]
    return fresh(*shaped)


def grown(terms, x):
    """Adds x to a list of numbers that do not overlap (Shewchuk); returns their sum."""
    kept = []
    for y in terms:
        if abs(x) < abs(y):
            x, y = y, x
        high = x + y
        low = y - (high - x)
        if low:
            kept.append(low)
        x = high
    terms[:] = kept + [x]
    return math.fsum(terms)


def two_product(a, b):
    """a b as the rounded product and its error (Dekker)."""
    high = a * b
    def split(v):
        big = 134217729.0 * v
        top = big - (big - v)
        return top, v - top
    (a1, a2), (b1, b2) = split(a), split(b)
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def inner(a, b, dtype):
    """The inner product of two vectors and its tolerance."""
    wide = [np.asarray(v, dtype=np.complex128 if dtype.kind == "c" else np.float64) for v in (a, b)]
    x, y = (parts(v) for v in wide)
    if len(x) == 1:
        terms = [two_product(x[0], y[0])]
    else:
        terms = [two_product(x[0], y[0]) + two_product(-x[1], y[1]), two_product(x[0], y[1]) + two_product(x[1], y[0])]
    sums = [math.fsum(np.concatenate(t).tolist()) for t in terms]
    sizes = 2 * math.fsum((np.abs(wide[0]) * np.abs(wide[1])).tolist()) if dtype.kind == "c" else \
        math.fsum(np.abs(terms[0][0]).tolist())
    result = complex(*sums) if len(sums) == 2 else sums[0]
    return result, max((len(a) + 2) * eps_of(dtype) * sizes, ZERO_SIGN)


def product(a, b, theirs):
    """dot or matmul of vectors and matrices in floating point."""
    need_exact(a, b)
    for x in (a.val, b.val):
        check_range(x)
        if not np.isfinite(x).all():
            raise Reject("products of infinities")
    left = np.atleast_2d(a.val)
    right = b.val.reshape(-1, 1) if b.val.ndim == 1 else b.val
    left, right = left.astype(theirs.dtype), right.astype(theirs.dtype)
    if left.shape[0] * right.shape[1] > 600:
        raise Reject("too many sums")
    result = np.zeros((left.shape[0], right.shape[1]), theirs.dtype)
    tol = np.zeros(result.shape)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            result[i, j], tol[i, j] = inner(left[i], right[:, j], theirs.dtype)
    if (np.abs(theirs.reshape(result.shape) - result) > tol).any():
        raise AssertionError("NumPy's product")
    return fresh(result.reshape(theirs.shape), tol.reshape(theirs.shape))
