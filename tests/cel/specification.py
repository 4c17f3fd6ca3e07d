#!/usr/bin/env python3
"""Evaluates the tests of the CEL specification (npm's @bufbuild/cel-spec) with our CEL.

usage: specification.py [--npm FOLDER] PROGRAM
  --npm FOLDER   where node_modules/@bufbuild/cel-spec lies (~/.cache/schedq/cel)
  PROGRAM        the program of cel_values.cc

A test passes with its value, or where we refuse at the same place what cel-go's checker refuses.
The rest must fall under a rule of EXCLUDED.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

# Name, and whether a test (name, expression, ours) falls under the rule.
EXCLUDED = [
    ("not modelled, and said so", lambda name, line, ours: "not modelled" in ours),
    ("literals of several types, which the API server refuses",
     lambda name, line, ours: re.match(r"refused: \S+ expected type", ours)),
    ("messages of protobuf, which selectors cannot name",
     lambda name, line, ours: re.search(r"google\.protobuf|TestAllTypes", line)),
    ("libraries that the API server does not have (math, block, encoders, network)",
     lambda name, line, ours: re.match(r"(math|block|encoders|network|proto2|bindings)_ext", name)),
    ("keys that occur twice: the vendored cel-go takes the last",
     lambda name, line, ours: "repeat" in name),
    ("positions beyond the end: the vendored cel-go gives -1",
     lambda name, line, ours: "indexof_out_of_range" in name),
    ("macros with two variables",
     lambda name, line, ours: name.startswith("macros2")),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--npm", type=pathlib.Path,
                        default=pathlib.Path.home() / ".cache/schedq/cel")
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    printed = subprocess.run(["node", HERE / "spec_tests.mjs", options.npm], capture_output=True,
                             text=True, check=True).stdout
    tests = [json.loads(line) for line in printed.splitlines()]
    lines = "".join(test[1] + "\n" for test in tests)
    values = subprocess.run([options.program], input=lines, capture_output=True, text=True,
                            check=True).stdout.splitlines()
    if len(values) != len(tests):
        print(f"{len(tests)} tests, {len(values)} values")
        return 1
    passed, refused, failed = 0, 0, []
    excluded = dict.fromkeys([name for name, _ in EXCLUDED], 0)
    for (name, line, wanted, refusal), ours in zip(tests, values):
        fails = ours.startswith(("error: ", "refused: "))
        place = re.match(r"ERROR: [^:]*:(\d+:\d+: )", refusal)
        if ours == wanted or (wanted == "error" and fails):
            passed += 1
        elif place and ours.startswith("refused: " + place[1]):
            refused += 1
        else:
            rule = next((rule for rule, falls in EXCLUDED if falls(name, line, ours)), None)
            if rule:
                excluded[rule] += 1
            else:
                failed.append(f"{name}: {line}\n  ours:   {ours}\n  wanted: {wanted} {refusal}")
    print("\n".join(failed))
    print(f"{len(tests):,} tests: {passed:,} values, {refused:,} refused where cel-go refuses them,"
          f" {len(failed):,} disagree")
    for name, count in excluded.items():
        print(f"{count:8,} excluded: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
