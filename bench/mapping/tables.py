#!/usr/bin/env python3
"""The tables of docs/mapping.md: searches by simulation, and beside each other.

Usage: bench/mapping/tables.py BIN search|memory|emulated|custom|fidelity|first

BIN is the folder of the programs. Applications are captured here, and then simulated on described machines, as it says
in each table. `emulated` and `first` are about runs. The ensemble and random have as much time as ccd took; all else
follows from the times of tasks, which are measured here.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import main as bench

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = range(1, 11)
CAPTURED = {
    "stencil": ["stencil", "--no-sequential", "--n", "1024", "--tiles", "8,1", "--iterations", "20"],
    "stencil-large": ["stencil", "--no-sequential", "--n", "8192", "--tiles", "32,1", "--iterations", "10"],
    "circuit-small": ["circuit", "--no-sequential", "--pieces", "4", "--nodes", "200", "--wires", "800",
                      "--steps", "10"],
    "circuit-large": ["circuit", "--no-sequential", "--pieces", "8", "--nodes", "20000", "--wires", "80000",
                      "--steps", "10"],
    "s3d-like": ["s3d-like", "--no-sequential", "--n", "512", "--tiles", "4,4", "--iterations", "12",
                 "--hand-off", "1000000"],
    "s3d-large": ["s3d-like", "--no-sequential", "--n", "2048", "--tiles", "4,4", "--iterations", "12",
                  "--hand-off", "1000000"],
    "pennant": ["pennant", "--no-sequential", "--zones", "2160,2160", "--chunk", "262144", "--cycles", "8"],
    "maestro-like": ["maestro-like", "--no-sequential", "--high", "48", "--high-pieces", "4", "--low", "16",
                     "--steps", "6"],
}


class Tables:
    def __init__(self, programs, folder):
        self.programs, self.folder, self.captured = programs, folder, {}

    def run(self, *words):
        done = subprocess.run([str(self.programs / words[0]), *map(str, words[1:])], cwd=ROOT, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(" ".join(map(str, words)) + ": " + done.stderr.strip().splitlines()[-1])
        return done.stdout

    def capture(self, name, *more):
        key = (name, *more)
        if key not in self.captured:
            path = self.folder / f"{len(self.captured)}.json"
            environment = os.environ | {"REFRAIN_ARGS": f"--refrain:capture={path}"}
            command = CAPTURED[name]
            subprocess.run([str(self.programs / command[0]), *command[1:], *more], env=environment, check=True,
                           capture_output=True, stdin=subprocess.DEVNULL)
            self.captured[key] = path
        return self.captured[key]

    def search(self, captured, machine, *flags):
        return json.loads(self.run("refrain", "map", "--capture", captured, "--simulate", machine, "--json",
                                   "--output", self.folder / "out", *flags))

    def simulate(self, captured, machine, mapping=None):
        flags = ["--mapping", mapping] if mapping else []
        outcome = json.loads(self.run("refrain", "simulate", captured, "--machine", machine, "--json", *flags))
        return outcome["loop"]["iteration_seconds"] if "loop" in outcome else outcome["seconds"]

    def peak(self, captured, machine, mapping=None):
        """The most that is in one framebuffer. Bytes."""
        flags = ["--mapping", mapping] if mapping else []
        whole = json.loads(self.run("refrain", "simulate", captured, "--machine", machine, "--json", *flags))
        return max((each["peak"] for each in whole["memories"] if each["name"].startswith("framebuffer")), default=0)

    def found(self, captured, machine, path):
        """How fast the best mapping is, which is written to the path."""
        result = self.search(captured, machine)
        path.write_bytes((self.folder / "out" / "best-mapping.json").read_bytes())
        return best(result)

    def needed(self, captured, machine, mapping):
        """The least framebuffer with which a mapping is as fast as with all of it, to a thousandth."""
        def seconds(framebuffer):
            try:
                return self.simulate(captured, f"{machine}:framebuffer={framebuffer}", mapping)
            except RuntimeError:
                return float("inf")
        most, least = self.peak(captured, machine, mapping), 0
        fastest = self.simulate(captured, machine, mapping)
        while most - least > most // 1000 + 1:
            middle = (least + most) // 2
            least, most = (least, middle) if seconds(middle) <= 1.01 * fastest else (middle, most)
        return most

    def mapping(self, rules, name="mapping.json"):
        path = self.folder / name
        path.write_text(json.dumps({"refrain_mapping": 1, "rules": rules}))
        return path


def us(seconds):
    return f"{seconds * 1e6:.1f}"


def best(result):
    return result["best"][0]["value"]


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def search(tables):
    """Against all mappings, and the algorithms beside each other."""
    cases = [("stencil", "shepard", "*"), ("stencil", "shepard:nodes=2", "*")]
    cases += [("circuit-small", "shepard", tasks) for tasks in
              ["calculate*", "distribute*", "update*", "distribute*,update*", "calculate*,update*"]]
    rows = []
    for name, machine, tasks in cases:
        captured = tables.capture(name)
        flags = ["--tasks", tasks]
        everything = tables.search(captured, machine, *flags, "--algorithm", "exhaustive")
        optimum = best(everything)
        ccd = tables.search(captured, machine, *flags)
        cd = tables.search(captured, machine, *flags, "--algorithm", "cd")
        budget = f"{max(ccd['seconds'], 1e-3) * 1e6:.0f}us"
        others = {}
        for algorithm in ["ensemble", "random"]:
            values = [best(tables.search(captured, machine, *flags, "--algorithm", algorithm, "--seed", seed,
                                         "--budget", budget)) for seed in SEEDS]
            others[algorithm] = statistics.median(values) / optimum
        rows.append([name, machine, tasks, f"{everything['mappings']:.0f}", us(optimum),
                     f"{best(ccd) / optimum:.3f}", f"{best(cd) / optimum:.3f}",
                     f"{others['ensemble']:.3f}", f"{others['random']:.3f}",
                     f"{ccd['proposed']} and {ccd['evaluated']}", f"{cd['proposed']} and {cd['evaluated']}"])
    table(["program", "machine", "tasks", "mappings", "optimum, us", "ccd", "cd", "ensemble", "random",
           "ccd proposed and evaluated", "cd"], rows)
    rows = []
    for name in ["stencil", "circuit-small", "s3d-like", "maestro-like"]:
        captured = tables.capture(name, *(["--samples", "16"] if name == "maestro-like" else []))
        ccd, cd = (tables.search(captured, "shepard", "--algorithm", each) for each in ["ccd", "cd"])
        budget = f"{max(ccd['seconds'], 1e-3) * 1e6:.0f}us"
        others = [statistics.median(best(tables.search(captured, "shepard", "--algorithm", algorithm, "--seed", seed,
                                                       "--budget", budget)) for seed in SEEDS)
                  for algorithm in ["ensemble", "random"]]
        rows.append([name, ccd["tasks"], ccd["arguments"], f"{ccd['mappings']:.2g}", us(ccd["start"]), us(best(ccd)),
                     us(best(cd)), us(others[0]), us(others[1]), f"{ccd['proposed']} and {ccd['evaluated']}",
                     f"{cd['proposed']} and {cd['evaluated']}"])
    print()
    table(["program", "tasks", "arguments", "mappings", "start, us", "ccd, us", "cd, us", "ensemble, us",
           "random, us", "ccd proposed and evaluated", "cd"], rows)


ZERO_COPY = [{"task": "*", "processor": ["gpu", "cpu"], "arguments": [{"memories": "pinned"}]}]


def memory(tables):
    """Inputs that do not fit: the framebuffers are smaller than what the mapping needs that is found with all of them."""
    rows = []
    for machine in ["shepard", "lassen"]:
        for name in ["pennant", "stencil-large", "circuit-large", "s3d-large"]:
            captured = tables.capture(name)
            zero_copy = tables.mapping(ZERO_COPY, "zero-copy.json")
            fits = tables.folder / "fits.json"
            whole = tables.found(captured, machine, fits)
            needed = tables.needed(captured, machine, fits)
            for larger in [0.013, 0.071, 0.143]:
                smaller = f"{machine}:framebuffer={int(needed / (1 + larger))}"
                zero = tables.simulate(captured, smaller, zero_copy)
                default = tables.simulate(captured, smaller)
                found = best(tables.search(captured, smaller))
                rows.append([name, machine, f"{larger:.1%}", us(whole), us(zero), us(default), us(found),
                             f"{zero / found:.1f}"])
    table(["program", "machine", "larger", "where all fits, us", "zero-copy, us", "default, us", "found, us",
           "times as fast as zero-copy"], rows)


def emulated(tables):
    """The same in runs, on one core and one emulated GPU, whose framebuffer is smaller than the default mapping fills.
    Simulations propose, runs decide; copies and evictions have to be as they were simulated."""
    rows = []
    for name, iterations, flags in [
            ("stencil", 100, ["--n", "1024", "--tiles", "16,1", "--iterations"]),
            ("circuit", 40, ["--pieces", "4", "--nodes", "1000", "--wires", "4000", "--steps"]),
            ("s3d-like", 100, ["--n", "128", "--tiles", "2,1", "--hand-off", "1000000", "--iterations"])]:
        command = [tables.programs / name, "--no-sequential", *flags, iterations]
        machine = "emulated:cpus=1,gpus=1,pinned=512MiB,framebuffer="
        captured = tables.folder / "emulated.json"
        bench.run(command, machine=f"{machine}512MiB", capture=captured)
        zero_copy = tables.mapping(ZERO_COPY, "zero-copy.json")
        most = tables.peak(captured, f"{machine}512MiB")
        for larger in [0.013, 0.071, 0.143]:
            capacity = int(most / (1 + larger))
            smaller = f"{machine}{capacity}"
            output = tables.folder / f"{name}-{capacity}"
            tables.run("refrain", "map", "--machine", smaller, "--simulate-first", "--candidates", "10", "--runs", "3",
                       "--final", "3x9", "--output", output, "--", *command)
            found = output / "best-mapping.json"
            cases = [bench.Case(f"{name} {larger:.1%}", command, smaller, mapping, iterations)
                     for mapping in [zero_copy, None, found]]
            for _ in range(15):
                for case in cases:
                    case.measure(tables.folder)
            for case in cases:
                case.simulate(captured)  # fails where copies, bytes of a link or evictions differ
            peak = max((memory["peak"] for memory in cases[2].told["memories"]
                        if memory["memory"].startswith("framebuffer")), default=0)
            zero, default, best_found = (statistics.median(case.measured) for case in cases)
            rows.append([name, f"{larger:.1%}", capacity, peak, us(zero), us(default), us(best_found),
                         f"{zero / best_found:.2f}", *(case.told["evictions"] for case in cases)])
    table(["program", "larger", "capacity", "most in it", "zero-copy, us", "default, us", "found, us",
           "times as fast as zero-copy", "evictions: zero-copy", "default", "found"], rows)


def custom(tables):
    """Beside the mappings that are written by hand."""
    rows = []
    for machine in ["shepard", "lassen"]:
        for nodes in [1, 2, 4]:
            for name in ["stencil", "stencil-large", "circuit-small"]:
                captured = tables.capture(name)
                described = f"{machine}:nodes={nodes}"
                by_hand = tables.simulate(captured, described, ROOT / "apps" / CAPTURED[name][0] / "mapping.json")
                default = tables.simulate(captured, described)
                found = best(tables.search(captured, described))
                rows.append([name, machine, nodes, us(default), us(by_hand), us(found), f"{by_hand / found:.2f}"])
    table(["program", "machine", "nodes", "default, us", "by hand, us", "found, us", "times as fast as by hand"], rows)


def fidelity(tables):
    """How much the small simulations slow down the large one."""
    rows = []
    strategies = {
        "cpus and system memory": [{"task": "high_*", "processor": "gpu"}, {"task": "low_*", "processor": "cpu"}],
        "gpus and zero-copy": [{"task": "*", "processor": "gpu"},
                               {"task": "low_*", "arguments": [{"memories": "pinned"}]}],
    }
    for machine in ["shepard", "lassen"]:
        for samples in ["8", "16", "32"]:
            alone = tables.simulate(tables.capture("maestro-like", "--samples", "0"), machine)
            captured = tables.capture("maestro-like", "--samples", samples)
            times = [tables.simulate(captured, machine, tables.mapping(rules)) for rules in strategies.values()]
            found = best(tables.search(captured, machine, "--tasks", "low_*"))
            rows.append([machine, samples, us(alone), *(f"{each / alone:.3f}" for each in times),
                         f"{found / alone:.3f}"])
    table(["machine", "samples", "high alone, us", *strategies, "found"], rows)


def first(tables):
    """Real runs: as many as CCD makes, and a tenth of them after simulations. What both find then runs in turns."""
    rows = []
    machine = "emulated:cpus=1,gpus=1"
    for name, flags in [("stencil", ["--n", "1024", "--tiles", "4,1", "--iterations", "60"]),
                        ("circuit", ["--pieces", "4", "--nodes", "1000", "--wires", "4000", "--steps", "30"]),
                        ("s3d-like", ["--n", "96", "--tiles", "2,1", "--iterations", "40"])]:
        command = [tables.programs / name, "--no-sequential", *flags]

        def search(output, *more):
            return json.loads(tables.run("refrain", "map", "--machine", machine, "--json", "--final", "3x15",
                                         "--output", tables.folder / f"{name}-{output}", *more, "--", *command))

        ccd = search("ccd")
        candidates = max(ccd["evaluated"] // 10, 1)
        simulated = search("simulated", "--simulate-first", "--candidates", candidates)
        times = {"ccd": [], "simulated": []}
        for _ in range(31):
            for each, seconds in times.items():
                stats = tables.folder / "stats.json"
                found = tables.folder / f"{name}-{each}" / "best-mapping.json"
                bench.run(command, machine=machine, mapping=found, stats=stats)
                seconds.append(json.loads(stats.read_text())["wall_ns"] * 1e-9)
        medians = {each: statistics.median(seconds) for each, seconds in times.items()}
        rows.append([name, ccd["evaluated"], ccd["runs"], candidates, simulated["runs"], f"{medians['ccd'] * 1e3:.2f}",
                     f"{medians['simulated'] * 1e3:.2f}", f"{medians['simulated'] / medians['ccd']:.3f}"])
    table(["program", "ccd: mappings", "runs", "simulations first: mappings", "runs", "ccd's best, ms",
           "best of simulations first, ms", "ratio"], rows)


def main():
    kinds = {each.__name__: each for each in [search, memory, emulated, custom, fidelity, first]}
    if len(sys.argv) != 3 or sys.argv[2] not in kinds:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        kinds[sys.argv[2]](Tables(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
