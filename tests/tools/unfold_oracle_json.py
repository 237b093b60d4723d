#!/usr/bin/env python3
"""Prints the streams in what `refrain oracle show --json` says of a file, event by event.

Usage: unfold_oracle_json.py JSON. What it reads is checked: lengths and counts are those of the unfolded streams.
"""

import collections
import json
import sys


def unfolded(rules, rule, counts):
    counts[rule] += 1
    for symbol in rules[rule]["symbols"]:
        for _ in range(symbol["times"]):
            if "rule" in symbol:
                yield from unfolded(rules, symbol["rule"], counts)
            else:
                yield symbol["event"]


def name(entry, member):
    """All bytes of it, also where they are not UTF-8."""
    return bytes.fromhex(entry[member + "_hex"]) if member + "_hex" in entry else entry[member].encode()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    assert (run["format"], run["version"]) == ("refrain oracle run", 1)
    print(name(run, "program"), run["unfinished_bytes"])
    for thread in run["threads"]:
        rules, counts = thread["rules"], collections.Counter()
        stream = list(unfolded(rules, 0, counts))
        assert len(stream) == thread["length"] == rules[0]["length"]
        assert [rule["count"] for rule in rules] == [counts[rule] for rule in range(len(rules))]
        happened = collections.Counter(stream)
        assert [event["count"] for event in thread["events"]] == [
            happened[event] for event in range(len(thread["events"]))]
        assert all(("delay_ns" in symbol) == thread["times"] for rule in rules for symbol in rule["symbols"])
        print(thread["process"], thread["thread"], *(name(thread["events"][event], "name") for event in stream))
        if thread["times"]:
            print(*(round(symbol["delay_ns"]) for rule in rules for symbol in rule["symbols"]), "ns")
        for note in thread["notes"]:
            assert len(name(note, "text")) == note["size"]
            print("note", name(note, "name"), name(note, "text"))


main()
