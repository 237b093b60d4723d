"""Functions of elements: which of them are exact, and the values of those that are not.

Those that are not come from long double, rounded: nearer to the truth than NumPy's own loops, which differ between
processors. That NumPy's agree with them is checked here.
"""

import numpy as np

from tracked import (F32, F64, ULPS, Reject, Tracked, check_cast, fresh, lift, need_exact, tolerance, value,
                     zero_signs)

BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide,
    "remainder": np.remainder, "floor_divide": np.floor_divide, "power": np.power,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
    "bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "maximum": np.maximum, "minimum": np.minimum, "arctan2": np.arctan2, "hypot": np.hypot,
}
INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%", "floor_divide": "//",
         "power": "**", "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
         "greater_equal": ">=", "bit_and": "&", "bit_or": "|", "bit_xor": "^"}
UNARY = {
    "negative": np.negative, "positive": np.positive, "invert": np.invert, "logical_not": np.logical_not,
    "abs": np.abs, "sign": np.sign, "square": np.square, "reciprocal": np.reciprocal, "sqrt": np.sqrt,
    "cbrt": np.cbrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "arcsin": np.arcsin,
    "arccos": np.arccos, "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "real": np.real, "imag": np.imag, "conj": np.conj,
}
TRANSCENDENTAL = {"cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
                  "arccos", "arctan", "sinh", "cosh", "tanh", "arctan2", "hypot"}
EXPONENTIAL = {"exp", "exp2", "expm1", "sinh", "cosh", "tanh"}
# Ours have loops of complex numbers for these only.
COMPLEX_UNARY = {"negative", "positive", "logical_not", "abs", "square", "reciprocal", "sqrt", "exp", "log", "log2",
                 "log10", "sin", "cos", "tan", "isnan", "isinf", "isfinite", "real", "imag", "conj"}
# NumPy 1.24 makes floating-point numbers of integers here, later ones and ours do not.
WHOLE = {"floor", "ceil", "trunc", "rint"}


def is_inexact(name, dtype):
    """Of operands of the (common) type."""
    if dtype.kind == "c":
        return name in TRANSCENDENTAL | {"multiply", "divide", "power", "square", "reciprocal", "sqrt", "abs"}
    return name in TRANSCENDENTAL or (name == "power" and dtype.kind == "f")


def check_arguments(name, dtype, operands):
    """Rejects where NumPy's result is its own affair, or too near to the end of a range to be sure of."""
    first = np.asarray(operands[0])
    last = np.asarray(operands[-1])
    if dtype.kind == "b" and (name in TRANSCENDENTAL | WHOLE or
                              name in {"sqrt", "power", "sign", "square", "reciprocal"}):
        raise Reject("float16 or int8")
    if dtype.kind == "i":
        if name == "reciprocal" and (first == 0).any():
            raise Reject("1 / 0 of integers")
        if name == "power" and (last < 0).any():
            raise Reject("negative powers of integers")
        if name in WHOLE:
            raise Reject("whole numbers of integers")
        if name in {"floor_divide", "remainder"} and (last == -1).any():
            raise Reject("the quotient may not fit")
    if dtype.kind == "c" and len(operands) == 1 and name not in COMPLEX_UNARY:
        raise Reject("no loop of complex numbers")
    if not is_inexact(name, dtype):
        return
    for v in (first, last):
        finite = np.abs(v[np.isfinite(v)]) if v.dtype.kind != "b" else np.zeros(0)
        if finite.size and finite.max() > (80 if name in EXPONENTIAL or dtype.kind == "c" else 1e5):
            raise Reject("a large argument")
        if name == "power" and finite.size != v.size:
            raise Reject("powers of infinity")
    if dtype.kind == "c" and name in {"exp", "power", "sin", "cos", "tan"}:
        if any(np.abs(np.asarray(v)).max(initial=0) > 6 for v in operands):
            raise Reject("a large argument")


def near(name, dtype, function, operands, theirs):
    """The values of an inexact function and how near a result must be."""
    wide = np.clongdouble if dtype.kind == "c" else np.longdouble
    if dtype.kind in "bi":
        dtype = F64
    operands = [np.asarray(v).astype(dtype).astype(wide) for v in operands]
    result = np.asarray(function(*operands)).astype(theirs.dtype)
    size = np.abs(result.astype(wide)).astype(result.real.dtype)
    finite = np.isfinite(result)
    if not (finite == np.isfinite(theirs)).all() or not (np.isnan(result) == np.isnan(theirs)).all():
        raise Reject("NumPy is of another opinion about what is finite")
    most = 1e30 if result.dtype == F32 else 1e250
    if ((size[finite] > most) | ((size[finite] < 1 / most) & (size[finite] != 0))).any():
        raise Reject("near the end of the range")
    if name == "power" and (finite & (result == 0) & (operands[0] != 0)).any():
        raise Reject("underflow")
    ulps = np.full(result.shape, float(ULPS))
    if dtype.kind == "c" and name == "tan":
        ulps = 2 * ulps  # NumPy's own, which is the C library's, is off by more than 4 now and then.
    if dtype.kind == "c" and name == "power":
        # exp(b log a): what the logarithm lacks, the exponential multiplies.
        if (operands[0] == 0).any():
            raise Reject("powers of a complex zero")
        ulps = ulps * (1 + np.abs(operands[1] * np.log(operands[0]))).astype(np.float64)
    tol = ulps * np.spacing(np.where(finite, size, 1))
    tol = np.where(finite, tol, 0).astype(np.float64)
    off = np.abs(np.where(finite, theirs, 0) - np.where(finite, result, 0))
    if (off > 3 * tol).any():
        raise Reject("NumPy is inaccurate")
    return result, tol


def elementwise(name, *operands):
    """The Tracked result of a function of one or two operands."""
    need_exact(*operands)
    function = BINARY[name] if len(operands) == 2 else UNARY[name]
    lifted, shape = lift(operands)
    dtype = np.result_type(*lifted)
    check_arguments(name, dtype, lifted)
    result = np.array(function(*lifted))
    tol = np.zeros(result.shape)
    if is_inexact(name, dtype):
        result, tol = near(name, dtype, function, lifted, result)
    elif name in {"maximum", "minimum"}:
        tol = zero_signs(result, *operands)
    return fresh(result.reshape(shape), tol.reshape(shape))


def clip(a, low, high):
    need_exact(a, low, high)
    for bound in (low, high):
        if not isinstance(bound, Tracked) and np.isnan(bound):
            raise Reject("a plain NaN is no bound for NumPy 1.24, and will be one")
    (x, l, h), shape = lift((a, low, high))
    result = np.array(np.clip(x, l, h))
    if result.dtype != np.result_type(x, l, h):
        raise Reject("promoted otherwise")
    return fresh(result.reshape(shape), zero_signs(result, a, low, high).reshape(shape))


def where(condition, b, c):
    need_exact(condition)
    (w, x, y), shape = lift((condition, b, c))
    result = np.where(w, x, y)
    tol = np.where(value(condition), tolerance(b), tolerance(c))
    return fresh(result.reshape(shape), np.broadcast_to(tol, shape))


def in_place(name, target, operand):
    """target op= operand, on a view. Errors are NumPy's."""
    need_exact(target, operand)
    v = value(operand)
    shape = np.broadcast_shapes(target.val.shape, v.shape if isinstance(v, np.ndarray) else ())
    if shape != target.val.shape:
        raise ValueError("non-broadcastable output operand")
    x, t = (target.val.reshape(1), target.tol.reshape(1)) if target.val.ndim == 0 else (target.val, target.tol)
    if isinstance(v, np.ndarray) and v.ndim == 0:
        v = v.reshape(1)
    dtype = np.result_type(x, v)
    function = BINARY[name]
    if is_inexact(name, dtype) and dtype != target.val.dtype:
        raise Reject("a cast of what is not exact")
    check_arguments(name, dtype, [x, v])
    if is_inexact(name, dtype):
        result, tol = near(name, dtype, function, [x, v], function(x, v))
        x[...], t[...] = result, tol
    else:
        function(x, v.copy() if isinstance(v, np.ndarray) else v, out=x, casting="same_kind")
    Tracked(target.val, target.tol)


def astype(a, dtype):
    if not a.exact and a.val.dtype != dtype:
        raise Reject("a cast of what is not exact")
    check_cast(a.val, dtype)
    return fresh(a.val.astype(dtype), a.tol)
