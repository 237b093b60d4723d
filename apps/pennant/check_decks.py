#!/usr/bin/env python3
"""Writes decks with a mistake each: the program has to end with status 2 and one sentence that names file and line.
Decks that are right have to run.

check_decks.py PROGRAM"""

import pathlib
import subprocess
import sys
import tempfile

# A deck that is right, line by line.
LINES = ["# a blast", "cstop 3", "tstop 1", "meshtype rect", "meshparams 4 3 1.5 0.75", "subregion 0 0.4 0 0.3",
         "einitsub 10", "bcx 0 1.5", "bcy 0 0.75", "ssmin 0.1", "q1 0.1", "q2 1", "dtinit 0.001", "writexy 1",
         "chunksize 16"]

# A line of it, from 1 on (None: one more at the end), what stands there instead, the line that the sentence names, and
# some of the sentence.
WRONG = [
    (2, "cstop ten", 2, "'cstop' has the value 'ten', which is not a number"),
    (2, "cstop 1.5", 2, "no whole number"),
    (2, "cstop 0", 2, "it has to be from 1"),
    (2, "cstop", 2, "'cstop' has no value"),
    (2, "cstop 3 4", 2, "'cstop' has too many values: '4'"),
    (2, "cstopp 3", 2, "there is no key 'cstopp'"),
    (3, "cstop 4", 3, "'cstop' stands in line 2 already"),
    (3, "tstop -1", 3, "'tstop' has the value -1, it has to be above 0"),
    (3, "tstop 1e999", 3, "not a number"),
    (3, "tstop nan", 3, "not a number"),
    (4, "meshtype square", 4, "it has to be rect, pie or hex"),
    (4, "meshtype", 4, "'meshtype' has no value"),
    (4, "", 15, "the deck ends without 'meshtype'"),
    (5, "", 15, "the deck ends without 'meshparams'"),
    (5, "meshparams 0 3", 5, "it has to be from 1"),
    (5, "meshparams 4 -3", 5, "it has to be from 1"),
    (5, "meshparams 4 3 0", 5, "it has to be above 0"),
    (5, "meshparams 4 3 1 1 1", 5, "too many values"),
    (5, "meshparams 100000 100000", 5, "asks for more than"),
    (5, "meshparams 4 3 1.5x", 5, "not a number"),
    (6, "subregion 0 0.4 0", 6, "'subregion' has too few values, the line is cut"),
    (6, "subregion 0.4 0 0 0.3", 6, "ends before it begins"),
    (8, "bcx 0 1.25", 8, "no point of the mesh lies on the line 1.25"),
    (9, "bcy -0.5", 9, "no point of the mesh lies on the line -0.5"),
    (9, "bcy", 9, "'bcy' has no value"),
    (10, "ssmin -1", 10, "at least 0"),
    (11, "gamma 1", 11, "above 1"),
    (13, "dtinit 0", 13, "above 0"),
    (15, "chunksize -1", 15, "it has to be from 0"),
    (None, "dtfac 0.5", 16, "at least 1"),
    (None, "rinit 0", 16, "above 0"),
    (None, "cfl 0", 16, "above 0"),
    (None, "cflv 0x1", 16, "not a number"),
]

WRONG_DECKS = [
    ("meshtype rect\nmeshparams 4\n", ":2: the deck ends without 'cstop' or 'tstop'"),
    ("cstop 1\nmeshtype hex\nmeshparams 1 5\n", ":3: a mesh of hexagons has at least 2 zones"),
    ("cstop 1\nmeshtype pie\nmeshparams 4 4 360\n", ":3: the angle of a pie has to be below 360 degrees"),
    ("cstop 1\nmeshtype pie\nmeshparams 1 4 180\n", ":3: a zone of this pie would have an angle of 180"),
    ("cstop 1\nmesh\x01type\n", ":2: there is no key 'mesh?type'"),
    ("", ":0: the deck ends without 'meshtype'"),
]

RIGHT = [
    "\n".join(LINES),  # its last line has no end
    "cstop 2\nmeshtype hex\nmeshparams 5 4\nuinitradial -1\nbcx 0\nbcy 0\ndtinit 1e-3\n",
    "cstop 2\nmeshtype hex\nmeshparams 2\nuinitradial -1\ndtinit 1e-3\n",
    "cstop 2\nmeshtype pie\nmeshparams 3 2 60\nuinitradial -1\ndtinit 1e-3\n",
    "tstop 0.002\nmeshtype rect\nmeshparams 3\nsubregion 0 0.5 0 0.5\neinitsub 1\ndtinit 1e-3\ndtmax 1e-3\n",
]


def run(program, deck, text):
    deck.write_text(text, encoding="utf-8")
    return subprocess.run([program, "--deck", str(deck), "--refrain:workers", "0"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def main():
    program = sys.argv[1]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        deck = pathlib.Path(folder, "deck.pnt")
        decks = []
        for line, text, place, sentence in WRONG:
            lines = list(LINES)
            lines[line - 1 if line else len(lines):line if line else None] = [text]
            decks.append(("\n".join(lines) + "\n", f":{place}: ", sentence))
        decks += [(text, "", sentence) for text, sentence in WRONG_DECKS]
        for text, place, sentence in decks:
            done = run(program, deck, text)
            told = done.stderr.strip()
            if done.returncode == 2 and f"{deck}{place}" in told and sentence in told and "\n" not in told:
                continue
            wrong += 1
            print(f"status {done.returncode}, not 2 and '{place}...{sentence}':\n{told}\nfor\n{text}")
        for text in RIGHT:
            done = run(program, deck, text)
            if done.returncode != 0:
                wrong += 1
                print(f"status {done.returncode}, not 0:\n{done.stdout}{done.stderr}\nfor\n{text}")
    print(f"{len(decks)} decks with a mistake and {len(RIGHT)} without: {wrong} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
