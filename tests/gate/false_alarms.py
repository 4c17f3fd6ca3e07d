#!/usr/bin/env python3
"""Goal: a gate raises no alarm about a build that is the same, however busy the machine is.

Method: compares a program with itself, tier by tier, beside processes that spin, and counts what
each tier says. Semantic and instructions may raise no alarm at all; time at most one in 300.

usage: false_alarms.py SCHEDQ [--comparisons N] [--busy N] [--tiers TIERS]
       false_alarms.py --canary
  --comparisons N   of each tier (1000)
  --busy N          processes that spin meanwhile (2)
  --tiers TIERS     comma-separated (semantic,instructions,time)
  --canary          check that an alarm is counted as one

A thousand comparisons take hours; a row is printed for each tier. Exit 0: as few as promised, 1:
more, 2: wrong usage.
"""
import argparse
import subprocess
import sys
import time

# What each tier plays: enough to see an alarm, in a second or two.
FLAGS = {
    "semantic": ["--name", "^(Basic/10Nodes|BackoffHeavy/50Pods$)"],
    "instructions": ["--name", "^(assembly assembled/add|Basic/10Nodes)"],
    "time": ["--name", "^Basic/500Nodes_2000Pods$", "--pairs", "8"],
}
ALLOWED = {"semantic": 0.0, "instructions": 0.0, "time": 1 / 300}
SECONDS_MAX = 600


def verdict_of(program, tier):
    """0 pass, 1 alarm, 2 refused, 4 cannot tell."""
    ended = subprocess.run(
        [*program, "gate", "--base", program[-1], "--tier", tier, "--strict", *FLAGS[tier]],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=SECONDS_MAX, text=True, check=False)
    if ended.returncode not in (0, 4):
        print(ended.stdout, file=sys.stderr, flush=True)
    return ended.returncode


def try_tier(program, tier, comparisons):
    """Whether the tier raised as few alarms as it may."""
    counts = {}
    began = time.monotonic()
    for _ in range(comparisons):
        code = verdict_of(program, tier)
        counts[code] = counts.get(code, 0) + 1
    others = sum(count for code, count in counts.items() if code not in (0, 1, 4))
    print(f"| {tier} | {comparisons} | {counts.get(1, 0)} | {counts.get(4, 0)} | "
          f"{time.monotonic() - began:.0f} s |", flush=True)
    # One alarm in few comparisons says nothing of the rate.
    allowed = max(1 if ALLOWED[tier] > 0 else 0, int(comparisons * ALLOWED[tier]))
    return others == 0 and counts.get(1, 0) <= allowed


def run_canary():
    alarm = ["/bin/sh", "-c", "exit 1", "x"]
    passes = ["/bin/sh", "-c", "exit 0", "x"]
    broken = ["/bin/sh", "-c", "exit 2", "x"]
    if try_tier(alarm, "semantic", 2) or try_tier(broken, "semantic", 2):
        print("an alarm, or a gate that refuses, was not counted")
        return 1
    return 0 if try_tier(passes, "semantic", 2) else 1


def main(arguments):
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--canary", action="store_true")
    parser.add_argument("program", nargs="?")
    parser.add_argument("--comparisons", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=2)
    parser.add_argument("--tiers", default=",".join(FLAGS))
    options = parser.parse_args(arguments)
    if options.help or (not options.program and not options.canary):
        print(__doc__)
        return 0 if options.help else 2
    if options.canary:
        return run_canary()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(options.busy)]
    try:
        print("| tier | comparisons | alarms | cannot tell | took |\n|---|--:|--:|--:|--:|")
        good = [try_tier([options.program], tier, options.comparisons)
                for tier in options.tiers.split(",")]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
