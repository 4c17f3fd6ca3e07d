#!/usr/bin/env python3
"""Checks a SPIN model: it holds as it is, and with each planted fault the checker finds an error.

usage: tests/spin/check_model.py MODEL [FAULT...]
  MODEL   a .pml file
  FAULT   a macro that plants a fault in it
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MEGABYTES_MAX = 2000


def errors_of(model, folder, macros):
    """How many errors the checker finds in all states; it stops at the first."""
    subprocess.run(["spin", *macros, "-a", str(model)], cwd=folder, check=True,
                   capture_output=True)
    subprocess.run(["cc", "-O2", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEGABYTES_MAX}",
                    "-o", "pan", "pan.c"], cwd=folder, check=True)
    # -E: a process may stop anywhere. -m: deep enough for all.
    ended = subprocess.run(["./pan", "-E", "-m200000"], cwd=folder, check=True,
                           capture_output=True, text=True)
    found = re.search(r"errors: (\d+)", ended.stdout)
    states = re.search(r"(\d+) states, stored", ended.stdout)
    is_cut_off = "not completed" in ended.stdout and found and found[1] == "0"
    if not found or not states or is_cut_off or "search depth too small" in ended.stdout:
        sys.exit(f"spin: the search was not complete:\n{ended.stdout}")
    print(f"{model.name} {' '.join(macros) or 'as it is'}: {states[1]} states, {found[1]} errors")
    return int(found[1])


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    if shutil.which("spin") is None:
        sys.exit("spin: not installed; run ci/setup")
    model = pathlib.Path(arguments[0]).resolve()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        if errors_of(model, folder, []) != 0:
            wrong.append("the model has an error")
        for fault in arguments[1:]:
            if fault not in model.read_text():
                wrong.append(f"the model knows no {fault}")
            elif errors_of(model, folder, [f"-D{fault}"]) == 0:
                wrong.append(f"{fault} is not found")
    for line in wrong:
        print(f"{model.name}: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
