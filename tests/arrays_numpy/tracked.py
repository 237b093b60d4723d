"""Arrays of NumPy, each with how far from its elements a result may be.

A Tracked is an array `val` and a float64 array `tol` of the same shape and layout. tol is 0 for an element that must
be met bit for bit. What only moves elements is done to both, and a view is a view of both, so that what one name
writes another sees in both. Reject: this statement is not one for a program; try another.
"""

import numpy as np

BOOL, I32, I64, F32, F64, C128 = TYPES = [
    np.dtype(t) for t in ("bool", "int32", "int64", "float32", "float64", "complex128")]
MOST_DIMS = 3
MOST_ELEMENTS = 12000
ULPS = 4
# The difference of zeros of two signs, which is none, is allowed: nothing else.
ZERO_SIGN = 5e-324


class Reject(Exception):
    pass


class Tracked:
    __slots__ = ("val", "tol")

    def __init__(self, val, tol):
        if val.dtype not in TYPES or val.ndim > MOST_DIMS or val.size > MOST_ELEMENTS:
            raise Reject("not an array of ours")
        if val.dtype == C128 and not np.isfinite(val).all():
            raise Reject("what is not finite has many forms in complex numbers")
        if val.shape != tol.shape:
            raise AssertionError(f"{val.shape} with tolerances {tol.shape}")
        self.val, self.tol = val, tol

    @property
    def exact(self):
        return not self.tol.any()

    def moved(self, f):
        """The same view of both."""
        return Tracked(f(self.val), f(self.tol))


def fresh(val, tol=None):
    """A new array in C order, as all new arrays are here. NumPy's own may be in another."""
    val = np.array(val, order="C", copy=True)
    tol = np.zeros(val.shape) if tol is None else np.array(tol, dtype=np.float64, order="C", copy=True)
    return Tracked(val, tol)


def value(operand):
    return operand.val if isinstance(operand, Tracked) else operand


def lift(operands):
    """Operands with which NumPy 1.24 promotes by NEP 50: there an array without dimensions counts as a number, so it
    becomes one of length 1. Returns them with the shape of the result. ValueError when there is none."""
    values = [value(o) for o in operands]
    shape = np.broadcast_shapes(*(v.shape for v in values if isinstance(v, np.ndarray)))
    return [v.reshape(1) if isinstance(v, np.ndarray) and v.ndim == 0 else v for v in values], shape


def need_exact(*operands):
    for o in operands:
        if isinstance(o, Tracked) and not o.exact:
            raise Reject("an inexact operand")


def zero_signs(result, *operands):
    """Tolerances of what picks one of equal elements: 0 and -0 are equal."""
    tol = np.zeros(np.shape(result))
    for o in operands:
        v = np.asarray(value(o))
        if v.dtype.kind == "c":
            parts = (v.real, v.imag)
        elif v.dtype.kind == "f":
            parts = (v,)
        else:
            continue
        if any(((p == 0) & np.signbit(p)).any() for p in parts):
            tol[...] = np.where(result == 0, ZERO_SIGN, 0) if v.dtype.kind == "f" else ZERO_SIGN
    return tol


def check_cast(val, dtype):
    """Rejects what C leaves undefined: floating-point numbers that do not fit an integer."""
    if dtype.kind == "i" and val.dtype.kind in "fc":
        real = val.real
        bound = 2.0 ** (31 if dtype == I32 else 63)
        if not (np.isfinite(real) & (real < bound) & (real > -bound)).all():
            raise Reject("a cast out of range")


def check_assignment(dtype, operand):
    """Of an operand to elements of dtype."""
    v = np.asarray(value(operand))
    check_cast(v, dtype)
    if not isinstance(operand, Tracked) and v.dtype.kind == "c" and dtype.kind != "c":
        raise Reject("a complex number to real elements")
    if isinstance(operand, Tracked) and not operand.exact and v.dtype != dtype:
        if not (v.dtype == F32 and dtype == F64) and dtype != C128:
            raise Reject("a cast of what is not exact")


def tolerance(operand):
    return operand.tol if isinstance(operand, Tracked) else np.float64(0)
