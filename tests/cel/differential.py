#!/usr/bin/env python3
"""Evaluates generated expressions with our CEL and with npm's @bufbuild/cel, and compares.

usage: differential.py [--count N] [--seed S] [--npm FOLDER] [--sample FILE] PROGRAM
  --count N      expressions (1,000)
  --npm FOLDER   where node_modules/@bufbuild/cel lies (~/.cache/schedq/cel)
  --sample FILE  writes the short expressions on which both agree, with their values
  PROGRAM        the program of cel_values.cc

Values must be equal; of errors, only that both are errors. EXCLUDED says which disagreements are
known, by which rule, and why the other side is wrong; each is counted, and all others fail.
"""
import argparse
import pathlib
import re
import subprocess
import sys

from generate import expressions

HERE = pathlib.Path(__file__).parent

# Name, and whether a disagreement (expression, ours, theirs) falls under the rule.
EXCLUDED = [
    ("indexOf and lastIndexOf from beyond the end: cel-go gives -1 or the end, theirs fails",
     lambda line, ours, theirs: re.search(r"ndexOf\(.*, \d\)", line)
     and theirs.startswith("error: ")),
    ("replace of an empty text, or with a negative limit: cel-go replaces as Go does, theirs does"
     " neither", lambda line, ours, theirs: re.search(r"\.replace\((''|v\d|.*, -1\))", line)),
    ("split with a limit: cel-go's last part is the rest, theirs drops it",
     lambda line, ours, theirs: re.search(r"\.split\(.*, [1-6]\)", line)),
    ("a number of a text that is none: an error, theirs gives 0 or NaN",
     lambda line, ours, theirs: re.search(r"\b(double|uint|int)\(", line)),
    ("code points beyond 16 bits: theirs counts halves of them",
     lambda line, ours, theirs: "\\U0001F600" in line),
    ("types that do not fit an empty list's: cel-go's checker refuses them, theirs has none",
     lambda line, ours, theirs: ("[]" in line or "{}" in line) and ours.startswith("refused: ")),
    ("NaN has no order: an error in cel-go, theirs gives false",
     lambda line, ours, theirs: ours == "error: NaN values cannot be ordered"),
    ("overflow of -(-9223372036854775808) and of % -1: an error in cel-go, not theirs",
     lambda line, ours, theirs: ours == "error: integer overflow"
     and "-9223372036854775808" in line and ("-(" in line or "%" in line)),
    ("quotients of large uints: theirs takes them for ints",
     lambda line, ours, theirs: theirs.startswith("error: int overflow during divide by")),
    ("2^63 and 2^64 as doubles: cel-go compares them with integers as doubles, theirs exactly",
     lambda line, ours, theirs: re.search(r"9223372036854775808\.0|18446744073709551616\.0",
                                          line)),
]


def values(command, lines):
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True,
                         check=True)
    return run.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--npm", type=pathlib.Path,
                        default=pathlib.Path.home() / ".cache/schedq/cel")
    parser.add_argument("--sample", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    lines = list(expressions(options.seed, options.count))
    ours = values([options.program], lines)
    theirs = values(["node", HERE / "bufbuild_values.mjs", options.npm], lines)
    if not len(ours) == len(theirs) == len(lines):
        print(f"{len(lines)} expressions, {len(ours)} and {len(theirs)} values")
        return 1
    excluded = dict.fromkeys([name for name, _ in EXCLUDED], 0)
    failures, agreed, errors = [], [], 0
    for line, mine, other in zip(lines, ours, theirs):
        both_fail = mine.startswith("error: ") and other.startswith("error: ")
        if mine == other or both_fail:
            agreed.append((line, "error" if both_fail else mine))
            errors += both_fail
        else:
            rule = next((name for name, falls in EXCLUDED if falls(line, mine, other)), None)
            if rule:
                excluded[rule] += 1
            else:
                failures.append((line, mine, other))
    for line, mine, other in failures[:20]:
        print(f"{line}\n  ours:   {mine}\n  theirs: {other}")
    print(f"{len(lines):,} expressions, seed {options.seed}: {len(agreed):,} agree"
          f" ({errors:,} of them errors), {len(failures):,} disagree")
    for name, count in excluded.items():
        print(f"{count:8,} excluded: {name}")
    if options.sample:
        short = [pair for pair in agreed if len(pair[0]) <= 80]
        options.sample.write_text("".join(f"{line}\t{value}\n" for line, value in short))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
