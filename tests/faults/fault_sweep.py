#!/usr/bin/env python3
"""Goal: one call to the system that fails, whichever it is, ends no command in a crash, a file half
written or a wrong exit code.

Method: fault_injector.cc lets the n-th read, write or allocation fail, a clock jump, or a signal
come, and n grows until nothing fails any more. Each run is compared with one without faults.
Allocations are many, and most of them come from the same places: --stacks lets one fail of each
distinct stack of calls that leads to an allocation, and the last one of each; a command leaves out
the stacks of those before it.

usage: fault_sweep.py [--short] [--stacks] [--command NAME] [--kind KIND] [--from N] [--to N]
                      [--step N] PROGRAM INJECTOR
  --short    a sample of n that takes about a minute in all, for continuous integration
  --stacks   of allocations: the first and the last of each stack; from, to, step count those
"""
import argparse
import array
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KINDS = ("read", "write", "memory", "back", "ahead", "thread", "signal")
# The kernel, which wakes sleepers, has another clock than one that jumps.
KINDS_OF_THREADS = tuple(kind for kind in KINDS if kind not in ("back", "ahead"))
SECONDS_MAX = 60  # Of one run.
SHORT_SECONDS = 1.2  # Of one command and kind.
GROWTH = 1.25  # Of n, in the short form, beyond the first ones.
FIRST = 8

WORKLOADS = """- name: Case
  workloadTemplate:
  - {opcode: createNodes, count: 3}
  - {opcode: createPods, count: 5, collectMetrics: true}
  workloads:
  - name: A
  - name: B
"""


class Command:
    """A command line, the files that it writes, and what it prints when nothing fails."""

    def __init__(self, name, arguments, folder, is_steady=True, has_threads=False, kinds=KINDS,
                 shown=None, is_slow=False):
        self.name = name
        self.arguments = arguments
        self.folder = folder  # Of its outputs; None: it writes none.
        self.is_steady = is_steady  # Prints the same each time.
        self.has_threads = has_threads
        self.expected = None
        self.kinds = kinds
        self.shown = shown  # Although memory runs out half way.
        self.is_slow = is_slow  # It waits for threads on two cores, which other work takes.


class Sweep:
    def __init__(self, program, injector, work):
        self.program = program
        self.injector = injector
        self.work = work
        self.mark = work / "mark"
        self.temporary = work / "tmp"
        self.temporary.mkdir()
        self.tried = set()  # Stacks of allocations.
        self.faults = []

    def run(self, arguments, fault=None):
        environment = dict(os.environ, TMPDIR=str(self.temporary))
        if fault:
            environment.update(LD_PRELOAD=self.injector, SCHEDQ_FAULT=fault,
                               SCHEDQ_FAULT_MARK=str(self.mark))
        self.mark.unlink(missing_ok=True)
        return subprocess.run([self.program, *arguments], env=environment, cwd=self.work,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS_MAX,
                              check=False)

    def wrong(self, command, kind, ended):
        """What is wrong with this end; empty: nothing."""
        code = ended.returncode
        # Where --listen listens, and what RE2 itself says when it is left by an exception.
        lines = [line for line in ended.stderr.decode(errors="replace").splitlines()
                 if not line.startswith(("schedq run: http://", "./re2/"))]
        # The C library itself aborts where it has no memory for a thread's destructor.
        if code == 3 and any(line.startswith("Fatal glibc error: failed to register TLS")
                             for line in lines):
            return ""
        # google-benchmark ends the program where the kernel does not tell of the processor.
        if code == 1 and any(line.startswith("Failed ") and "/sys/devices/" in line
                             for line in lines):
            return ""
        if kind == "signal":
            return self.wrong_interrupt(command, ended)
        if code not in (0, 1, 2):
            return f"exit code {code}"
        # The line itself may be the write that failed.
        if code == 2 and len(lines) != 1 and not (kind == "write" and not lines):
            return f"{len(lines)} lines on stderr, expected one"
        if code == 1 and not any("memory ran out" in line for line in lines):
            return "exit code 1: a fault is no answer"
        if code == 0 and command.is_steady and ended.stdout != command.expected:
            return "exit code 0, but another output than without a fault"
        return self.left() or self.wrong_files(command, code)

    def left(self):
        names = [path.name for path in self.temporary.iterdir()]
        return f"left in the folder for temporary files: {names}" if names else ""

    def wrong_interrupt(self, command, ended):
        # The program ends by the signal itself until it has its handlers. A gate's child that is
        # interrupted is none.
        is_child = command.name == "gate-run" and ended.returncode == 2
        # At the last call all is done.
        is_done = ended.returncode == 0 and ended.stdout == command.expected
        if (ended.returncode not in (128 + signal.SIGINT, -signal.SIGINT) and not is_child
                and not is_done):
            return f"exit code {ended.returncode}"
        for path in command.folder.rglob("results.json") if command.folder else []:
            results = json.loads(path.read_text())
            if not any(workload["repetitions"] for workload in results["workloads"]):
                return "results.json, but nothing was measured"
        return self.left() or self.wrong_files(command, ended.returncode)

    def wrong_files(self, command, code):
        if command.folder is None:
            return ""
        files = [path for path in command.folder.rglob("*") if path.is_file()]
        for path in files:
            if path.name.startswith("."):
                return f"temporary file left: {path.name}"
            if path.suffix == ".json":
                try:
                    json.loads(path.read_text())
                except ValueError:
                    return f"half written: {path.name}"
            elif (path.suffix in (".jsonl", ".prom", ".xml", ".yaml")
                  and not path.read_text().endswith("\n")):
                return f"half written: {path.name}"
        if code == 0 and not files:
            return "exit code 0, but no file"
        return ""

    def stacks(self, command):
        """A run without faults, by process: the hash of the stack of each allocation."""
        self.clear(command)
        self.run(command.arguments, "stacks:0")
        of_processes = []
        for path in sorted(self.work.glob("mark.*")):
            hashes = array.array("Q")
            with open(path, "rb") as file:
                while chunk := file.read(1 << 16):
                    if not any(chunk):
                        break
                    hashes.frombytes(chunk)
            path.unlink()
            while hashes and hashes[-1] == 0:
                hashes.pop()
            of_processes.append(hashes)
        return of_processes

    def faults_of_stacks(self, command):
        """Of each stack that no command had before the first and the last allocation."""
        of_processes = self.stacks(command)
        all_stacks = set().union(*of_processes)
        stacks = all_stacks - self.tried
        self.tried |= stacks
        print(f"{command.name}: {sum(map(len, of_processes)):,} allocations of "
              f"{len(all_stacks):,} stacks, {len(stacks):,} of them new", flush=True)
        # In threads the n-th allocation is another one each time.
        if command.has_threads:
            return [f"stack:{stack}" for stack in sorted(stacks)]
        numbers = set()
        for hashes in of_processes:
            last = {stack: number for number, stack in enumerate(hashes, 1)}
            first = {stack: len(hashes) - number
                     for number, stack in enumerate(reversed(hashes))}
            for numbers_of in (first, last):
                numbers.update(numbers_of[stack] for stack in numbers_of.keys() & stacks)
        return [f"memory:{number}" for number in sorted(numbers)]

    def clear(self, command):
        if command.folder is not None:
            shutil.rmtree(command.folder, ignore_errors=True)

    def try_one(self, command, kind, fault):
        """Returns whether the fault came."""
        self.clear(command)
        try:
            ended = self.run(command.arguments, fault)
        except subprocess.TimeoutExpired:
            self.faults.append(f"{command.name} {fault}: ran for more than {SECONDS_MAX} s")
            print(self.faults[-1], flush=True)
            return True
        if not self.mark.exists():
            return False
        why = self.wrong(command, kind, ended)
        if why:
            text = ended.stderr.decode(errors="replace").strip()
            self.faults.append(f"{command.name} {fault}: {why}; stderr: {text[:200]}")
            print(self.faults[-1], flush=True)
            for path in self.temporary.iterdir():
                shutil.rmtree(path, ignore_errors=True)
        return True

    def sweep_stacks(self, command, options):
        """Lets an allocation of each stack fail. Returns how many did."""
        begin = time.monotonic()
        faults = self.faults_of_stacks(command)[options.first - 1:options.last:options.step]
        came = 0
        for tried, fault in enumerate(faults, 1):
            came += self.try_one(command, "memory", fault)
            if tried % 500 == 0:
                print(f"{command.name}: {tried:,} of {len(faults):,}, at {fault}", flush=True)
        print(f"{command.name}: {came:,} of {len(faults):,} faults came, "
              f"{time.monotonic() - begin:,.0f} s", flush=True)
        return came

    def run_without_fault(self, command):
        ended = self.run(command.arguments)
        assert ended.returncode == 0, (command.name, ended.stderr)
        command.expected = ended.stdout

    def check_shown(self, command):
        middle = sum(map(len, self.stacks(command))) // 2
        self.clear(command)
        ended = self.run(command.arguments, f"memory:{middle}")
        if command.shown not in ended.stdout:
            self.faults.append(f"{command.name} memory:{middle}: what was measured is not shown")
            print(self.faults[-1], flush=True)

    def numbers(self, options):
        number = options.first
        while number <= options.last:
            yield number
            is_sparse = options.short and number >= FIRST
            following = number + options.step
            number = max(following, int(number * GROWTH)) if is_sparse else following

    def sweep(self, command, kind, options):
        """Lets each n-th call fail, until none does. Returns the last n that failed."""
        start = time.monotonic()
        last = 0
        for number in self.numbers(options):
            if options.short and time.monotonic() - start > SHORT_SECONDS:
                break
            if not self.try_one(command, kind, f"{kind}:{number}"):
                break
            last = number
            if len(self.faults) >= 20:
                break
        return last


def commands_of(sweep):
    work = sweep.work
    (work / "w.yaml").write_text(WORKLOADS)
    made = sweep.run(["run", "w.yaml", "--out", "base"])
    assert made.returncode == 0, made.stderr
    made = sweep.run(["run", "w.yaml", "--name", "A$", "--record", "run.jsonl"])
    assert made.returncode == 0, made.stderr
    return [
        Command("run", ["run", "w.yaml", "--out", "out", "--memory", "1G"], work / "out"),
        Command("real", ["run", "--clock", "real", "--schedulers", "3", "--name", "^Basic/10N",
                         "--repeat", "1", "--out", "out"], work / "out", is_steady=False,
                has_threads=True, kinds=KINDS_OF_THREADS),
        Command("live", ["run", "--clock", "real", "--suite", "storms", "--name",
                         "^EndlessChurn/10Nodes$", "--engine", "lockfree", "--duration", "100ms",
                         "--listen", "127.0.0.1:0", "--write-costs", "out/costs.yaml", "--out",
                         "out"], work / "out", is_steady=False, has_threads=True,
                kinds=KINDS_OF_THREADS),
        Command("groups", ["profile", "groups", "--quick", "--only", "lockfree/join/active",
                           "--rounds", "1", "--json", "out/profile.json"], work / "out",
                is_steady=False),
        Command("scale", ["scale", "--quick", "--json", "out/scale.json",
                          "^(pairs/schedq|calls/)"], work / "out", is_steady=False,
                has_threads=True, kinds=KINDS_OF_THREADS, shown=b"pairs", is_slow=True),
        Command("floor", ["floor", "--quick", "--json", "out/floor.json"], work / "out",
                is_steady=False, has_threads=True, kinds=KINDS_OF_THREADS, is_slow=True),
        Command("bench", ["bench", "--quick", "--json", "out/bench.json", "hints/claim_index"],
                work / "out", is_steady=False, has_threads=True, kinds=KINDS_OF_THREADS),
        Command("record", ["run", "w.yaml", "--name", "A$", "--record", "out/run.jsonl"],
                work / "out"),
        Command("replay", ["replay", "run.jsonl"], None),
        Command("compare", ["compare", "base", "base"], None),
        Command("gate", ["gate", "--base", "base", "--new", "base", "--junit", "out/gate.xml",
                         "--markdown", "out/gate.md"], work / "out"),
        Command("gate-run", ["gate", "--base", sweep.program, "--engine", "lockfree", "--name",
                             "^Basic/10", "--junit", "out/gate.xml"], work / "out"),
        Command("profile", ["profile", "requeue", "--quick", "--only", "lockfree/narrowed",
                            "--rounds", "1", "--json", "out/profile.json"], work / "out",
                is_steady=False),
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--command")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--to", type=int, default=sys.maxsize, dest="last")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("program")
    parser.add_argument("injector")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="schedq-faults-") as work:
        sweep = Sweep(os.path.abspath(options.program), os.path.abspath(options.injector),
                      pathlib.Path(work))
        fired = 0
        for command in commands_of(sweep):
            if options.command != command.name and (options.command
                                                    or options.short and command.is_slow):
                continue
            sweep.run_without_fault(command)
            for kind in command.kinds:
                if options.kind not in (None, kind):
                    continue
                if kind == "memory" and command.shown:
                    sweep.check_shown(command)
                if options.stacks and kind == "memory":
                    fired += sweep.sweep_stacks(command, options)
                    continue
                last = sweep.sweep(command, kind, options)
                print(f"{command.name:8} {kind:7} last n that failed: {last}", flush=True)
                fired += last > 0
        if fired == 0:
            print("no fault fired: the injector does not work")
        print(f"{len(sweep.faults)} wrong ends")
        return 1 if sweep.faults or fired == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
