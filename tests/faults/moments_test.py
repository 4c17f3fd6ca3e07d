#!/usr/bin/env python3
"""Goal: whenever a signal comes, each command ends within two seconds with the signal's exit code,
and leaves no process, temporary file or file half written.

Method: starts each command, sends SIGINT or SIGTERM after a random time, from before main to amid
the work, and looks at what is there. One seed gives the same times.

usage: moments_test.py [--trials N] [--seed N] [--command NAME] PROGRAM
  --trials N   signals a command (4)
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SECONDS_MAX = 2.0  # From the signal to the end.
EARLY = 0.05  # Seconds; half of the signals come before.
LATE = 2.0

CHURN = ["--suite", "storms", "--name", "^EndlessChurn/10Nodes$"]


def commands_of(folder):
    """Name, arguments, and whether it ends by itself within LATE or so."""
    out = str(folder / "out")
    return [
        ("run", ["run", "--out", out]),
        ("storms", ["run", "--suite", "storms", "--out", out]),
        ("kep", ["run", "--suite", "kep", "--out", out]),
        ("real", ["run", "--clock", "real", "--suite", "storms", "--out", out]),
        ("real-threads", ["run", "--clock", "real", "--schedulers", "8", "--out", out]),
        ("duration", ["run", "--clock", "real", *CHURN, "--engine", "lockfree", "--duration", "1h",
                      "--listen", "127.0.0.1:0", "--out", out]),
        ("write-costs", ["run", "--clock", "real", "--engine", "lockfree", "--name",
                         "^BackoffHeavy/500Pods$", "--repeat", "1000", "--write-costs",
                         out + "/costs.yaml"]),
        ("record", ["run", "--suite", "storms", "--name", "^GatesOpen/100000Gated$", "--record",
                    out + "/run.jsonl"]),
        ("gate", ["gate", "--base", None, "--junit", out + "/gate.xml"]),
        ("profile", ["profile", "requeue", "--json", out + "/profile.json"]),
        ("groups", ["profile", "groups", "--json", out + "/profile.json"]),
        ("bench", ["bench", "--json", out + "/bench.json"]),
        ("bars", ["bench", "--bars", "--json", out + "/bars.json"]),
        ("scale", ["scale", "--json", out + "/scale.json"]),
        ("floor", ["floor", "--json", out + "/floor.json"]),
        ("replay", ["replay", "-"]),
    ]


def processes_of(session):
    processes = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # Behind the name, which may hold blanks: state, parent, group, session.
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            processes.append(int(path.parent.name))
    return processes


class Moments:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.faults = []

    def check(self, name, arguments, number, delay):
        text = f"{name}: {signal.Signals(number).name} after {delay * 1000:.1f} ms"
        # Empty, and never ends: what reads standard input waits.
        reading, writing = os.pipe()
        child = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdin=reading,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=dict(os.environ, TMPDIR=str(self.temporary)),
                                 start_new_session=True)
        os.close(reading)
        time.sleep(delay)
        begin = time.monotonic()
        child.send_signal(number)
        try:
            out, err = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.faults.append(f"{text}: still runs after a minute")
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return
        finally:
            os.close(writing)
        took = time.monotonic() - begin
        # The program ends by the signal itself until it has its handlers, and may be done before.
        if child.returncode not in (128 + number, -number, 0):
            self.faults.append(f"{text}: exit code {child.returncode}: {err[:200]}")
        if took > SECONDS_MAX:
            self.faults.append(f"{text}: ended {took:.2f} s after it")
        self.check_left(text, child.pid)
        self.check_files(text)

    def check_left(self, text, session):
        for path in self.temporary.iterdir():
            self.faults.append(f"{text}: left in the folder for temporary files: {path.name}")
            os.rename(path, self.folder / f"left-{path.name}")
        for process in processes_of(session):
            self.faults.append(f"{text}: a process that it started is left")
            os.kill(process, signal.SIGKILL)

    def check_files(self, text):
        out = self.folder / "out"
        for path in sorted(out.rglob("*")) if out.exists() else []:
            if not path.is_file():
                continue
            content = path.read_text()
            if path.name.startswith("."):
                self.faults.append(f"{text}: a temporary file is left: {path.name}")
            if path.suffix == ".json":
                try:
                    json.loads(content)
                except ValueError:
                    self.faults.append(f"{text}: half written: {path.name}")
            elif not content.endswith("\n"):
                self.faults.append(f"{text}: half written: {path.name}")
            path.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command")
    parser.add_argument("program")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory(prefix="schedq-moments-") as name:
        moments = Moments(program, pathlib.Path(name))
        count = 0
        for command, arguments in commands_of(moments.folder):
            if options.command not in (None, command):
                continue
            arguments = [program if argument is None else argument for argument in arguments]
            chance = random.Random(f"{options.seed} {command}")
            for trial in range(options.trials):
                delay = chance.uniform(0, EARLY if trial % 2 == 0 else LATE)
                number = chance.choice((signal.SIGINT, signal.SIGTERM))
                moments.check(command, arguments, number, delay)
                count += 1
        for fault in moments.faults:
            print(fault)
        print(f"{count} signals, {len(moments.faults)} faults")
        return 1 if moments.faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
