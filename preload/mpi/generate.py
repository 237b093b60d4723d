#!/usr/bin/env python3
"""Writes the MPI functions of librefrain_oracle_mpi.so: for each name of functions.txt the function in C, and those
that Fortran programs call.

Usage: generate.py functions.txt OUT.cpp COMPILER [FLAG...]

Their signatures are those of mpi.h, as COMPILER reads it. In Fortran the arguments are the same, all by reference, with
the error behind them, and behind that the lengths of texts. Open MPI's libraries for Fortran do not call what C
programs call, so their entries are wrapped too: `mpi_send_` (mpif.h, module mpi) and `mpi_send_f08_` (module mpi_f08,
where the error may be left out: a null pointer). MPICH's do call it, and are entries around it.
"""

import collections
import pathlib
import re
import subprocess
import sys

Parameter = collections.namedtuple("Parameter", "text type name")
Function = collections.namedtuple("Function", "name parameters marks flags")

HEADER = """// Generated from functions.txt by generate.py.
#include "mpi/call.hpp"

namespace refrain::preload {
const char* const kFunctions[] = {
%s};
}  // namespace refrain::preload

using refrain::preload::Call;
using refrain::preload::Language;
using refrain::preload::Next;
using refrain::preload::handle;
using refrain::preload::number;

#define EXPORT extern "C" __attribute__((visibility("default")))
"""


def declared(compiler, flags):
    """{name without MPI_: its parameters' text} of all functions in mpi.h that return an error."""
    text = subprocess.run([compiler, "-E", "-P", *flags, "-x", "c", "-"], input="#include <mpi.h>\n",
                          check=True, capture_output=True, text=True).stdout
    return dict(re.findall(r"\bint\s+MPI_(\w+)\s*\(([^()]*)\)", text))


def parameter(text):
    """Of e.g. `const int counts[]`: its type without const and its name."""
    match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[\d*\])*)", text)
    kind = match[1].replace("const", "").replace(" ", "") + "*" * match[3].count("[")
    return Parameter(text, kind, match[2])


def listed(path, known):
    functions = []
    for line in path.read_text().splitlines():
        words = line.partition("#")[0].split()
        if not words or words[0] not in known:
            continue
        marks = [tuple(word.split("=")) for word in words[1:] if "=" in word]
        flags = {word for word in words[1:] if "=" not in word}
        parameters = [parameter(" ".join(part.split())) for part in known[words[0]].split(",")
                      if part.strip() != "void"]
        missing = {name for _, name in marks} - {p.name for p in parameters}
        if missing or not flags <= {"ask", "forget", "last"}:
            sys.exit(f"{path}: MPI_{words[0]} has {flags}, and no {missing}")
        functions.append(Function(words[0], parameters, marks, flags))
    return functions


def event(number, function, language, value):
    """The event's initialiser; value(name, kind) is that argument."""
    of = collections.defaultdict(list)
    for mark, name in function.marks:
        of[mark].append(name)
    fields = [f".function = {number}", f".language = Language::{language}"]
    communicator = next((p.name for p in function.parameters if p.type == "MPI_Comm"), None)
    ranks = [value(name, "number") for name in of["peer"] + of["root"]]
    fields += [".to_peers = true"] if of["peer"] else []
    fields += [f".rank_count = {len(ranks)}", f".ranks = {{{', '.join(ranks)}}}"] if ranks else []
    fields += [f".communicator = {value(communicator, 'handle')}"] if communicator else []
    fields += [f".reduction = {value(of['operator'][0], 'handle')}"] if of["operator"] else []
    return "{" + ", ".join(fields) + "}"


def is_true(number):
    """Fortran's .TRUE. is 1 or -1; how many are done may be MPI_UNDEFINED, which is neither, or more than 0."""
    return f"({number} != 0 && {number} != MPI_UNDEFINED)"


def body(function, number, language, symbol, arguments, value):
    """The wrapper's, which passes the arguments on to what comes after it in the order of libraries."""
    flags = dict(function.marks)
    ask = ", true" if "ask" in function.flags else ""
    happens = f"call.happens({event(number, function, language, value)}{ask});"
    call = f"next({', '.join(arguments)})"
    lines = [f'static Next<decltype(&{symbol})> next("{symbol}");', "Call call;"]
    if "forget" in function.flags:
        lines.append("refrain::preload::forget_communicators();")
    if "if" in flags and language == "c":
        lines += [f"const int error = {call};",
                  f"if (error == MPI_SUCCESS && {is_true('*' + flags['if'])}) {happens}", "return error;"]
    elif "if" in flags:
        lines += [f"{call};", f"if ({is_true(value(flags['if'], 'number'))}) {happens}"]
    else:
        lines += [happens] + (["refrain::preload::write_events();"] if "last" in function.flags else [])
        lines += [("return " if language == "c" else "") + call + ";"]
    return "{\n  " + "\n  ".join(lines) + "\n}\n"


def in_c(function, number):
    symbol = "MPI_" + function.name
    text = ", ".join(p.text for p in function.parameters) or "void"
    value = lambda name, kind: f"{kind}({name})"
    arguments = [p.name for p in function.parameters]
    return f"EXPORT int {symbol}({text}) " + body(function, number, "c", symbol, arguments, value)


def in_fortran(function, number, ending):
    """`ending` of the symbol."""
    symbol = "mpi_" + function.name.lower() + ending
    main = function.name in ("Init", "Init_thread")
    parameters = [p for p in function.parameters if not (main and p.name in ("argc", "argv"))]
    names = [p.name for p in parameters] + ["ierror"]
    lengths = [p.name + "_length" for p in parameters if p.type.startswith("char*")]
    text = ", ".join(["void* " + name for name in names] + ["std::size_t " + n for n in lengths])
    value = lambda name, kind: f"{kind}(*static_cast<const MPI_Fint*>({name}))"
    return f"EXPORT void {symbol}({text}) " + body(function, number, "fortran", symbol,
                                                   names + lengths, value)


def main():
    path, out, compiler, *flags = sys.argv[1:]
    functions = listed(pathlib.Path(path), declared(compiler, flags))
    text = HEADER % "".join(f'    "MPI_{f.name}",\n' for f in functions)
    for number, function in enumerate(functions):
        text += "\n" + in_c(function, number)
        text += "".join(in_fortran(function, number, ending) for ending in ("_", "_f08_"))
    pathlib.Path(out).write_text(text)


if __name__ == "__main__":
    main()
