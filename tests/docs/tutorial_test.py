#!/usr/bin/env python3
"""Goal: what a document shows of the program is what the program prints.

Method: every fenced block `console` of the documents is run, command by command, in one temporary
folder for each document, and compared with what stands below the command.

usage: tutorial_test.py --program SCHEDQ [--update] DOCUMENT...
       tutorial_test.py --canary
  --program SCHEDQ  the program that the commands run as `schedq`
  --update          write what was printed into the documents where it differs
  --canary          check that a planted wrong line, a wrong exit code and a lost line are caught

In a block, a line `$ COMMAND` is a command of bash; lines behind a trailing backslash belong to it.
What it prints, on stdout and stderr, stands below. A line `…` stands for any number of lines, `…`
in a line for any text. Columns may be as wide as their contents want: two or more spaces stand for
two or more. A command that fails must be followed by a last line `[exit code N]`.
A fenced block with a file's name behind its language (```yaml mine.yaml) becomes that file.
Exit 0: as shown, 1: differences, 2: wrong usage.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ANY = "…"
SECONDS_MAX = 300
FENCE = re.compile(r"(?m)^```(\S*)[ ]*(\S*)\n(.*?)^```$", re.DOTALL)


class Step:
    """A command and the lines that stand below it."""

    def __init__(self, command):
        self.command = command
        self.shown = []

    def run(self, folder, program):
        environment = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
                       "PATH": f"{program.parent}:{os.environ['PATH']}"}
        environment.pop("COLUMNS", None)
        result = subprocess.run(
            ["bash", "-c", self.command.replace("\\\n", " ")], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=SECONDS_MAX, text=True, check=False)
        lines = [line.rstrip() for line in result.stdout.rstrip("\n").split("\n")]
        lines = [] if lines == [""] else lines
        return lines + ([f"[exit code {result.returncode}]"] if result.returncode else [])


def pattern_of_text(text):
    return r" {2,}".join(map(re.escape, re.split(" {2,}", text)))


def pattern_of(shown):
    """A regular expression for the lines shown, each with its line end."""
    parts = []
    for line in shown:
        if line.strip() == ANY:
            parts.append(r"(?:[^\n]*\n)*")
        else:
            parts.append(r"[^\n]*".join(map(pattern_of_text, line.rstrip().split(ANY))) + r"\n")
    return "".join(parts)


def matches(shown, printed):
    return re.fullmatch(pattern_of(shown), "".join(line + "\n" for line in printed)) is not None


def steps_of(block):
    steps = []
    for line in block.split("\n")[:-1]:
        if steps and not steps[-1].shown and steps[-1].command.endswith("\\"):
            steps[-1].command += "\n" + line
        elif line.startswith("$ "):
            steps.append(Step(line[2:]))
        elif steps:
            steps[-1].shown.append(line)
        else:
            raise ValueError(f"a block begins with {line!r}, expected $ and a command")
    return steps


def difference(shown, printed):
    return "\n".join(difflib.unified_diff(shown, printed, "shown", "printed", lineterm="", n=1))


class Document:
    """Runs the blocks of one document in their order."""

    def __init__(self, text, program, update):
        self.text = text
        self.program = program
        self.update = update
        self.problems = []
        self.commands = 0

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            return FENCE.sub(lambda block: self.run_block(block, folder), self.text)

    def run_block(self, block, folder):
        language, file, content = block.groups()
        if file:
            (Path(folder) / file).write_text(content)
        if language != "console":
            return block.group()
        lines = []
        for step in steps_of(content):
            self.commands += 1
            printed = step.run(folder, self.program)
            is_as_shown = matches(step.shown, printed)
            if not is_as_shown and not self.update:
                self.problems.append(f"$ {step.command}\n{difference(step.shown, printed)}")
            lines += ["$ " + step.command, *(step.shown if is_as_shown else printed)]
        return f"```{language}\n" + "\n".join(lines) + "\n```"


def run_documents(program, update, names):
    failed = False
    for name in names:
        text = Path(name).read_text()
        document = Document(text, Path(program).resolve(), update)
        updated = document.run()
        for problem in document.problems:
            print(f"{name}: {problem}\n")
        failed = failed or bool(document.problems) or document.commands == 0
        if document.commands == 0:
            print(f"{name}: no block is a console's")
        if update and updated != text:
            Path(name).write_text(updated)
            print(f"{name}: updated")
        print(f"{name}: {document.commands} commands, {len(document.problems)} differ")
    return 1 if failed else 0


CLEAN = """# A page

```text words.txt
one
two
```

```console
$ cat words.txt
one
two
$ printf 'a 17 b   1  c\\nmiddle\\nend\\n'
a … b  1   c
…
end
$ echo left \\
    right; exit 3
left right
[exit code 3]
```
"""
PLANTED = {
    "a wrong line": ("one\ntwo\n$ printf", "one\nthree\n$ printf"),
    "a line too many": ("one\ntwo\n$ printf", "one\ntwo\ntwo\n$ printf"),
    "a lost line": ("one\ntwo\n$ printf", "one\n$ printf"),
    "a wrong rest of a line": ("a … b", "a … c"),
    "a lost column": ("b  1   c", "b 1   c"),
    "a wrong end": ("…\nend", "…\nnever"),
    "a wrong exit code": ("code 3", "code 4"),
    "no exit code": ("left right\n[exit code 3]", "left right"),
}


def run_canary():
    def problems_of(text):
        document = Document(text, Path("/bin/true"), False)
        document.run()
        return document.problems

    if problems_of(CLEAN):
        print("the clean page was refused:", *problems_of(CLEAN), sep="\n")
        return 1
    for fault, (right, wrong) in PLANTED.items():
        if CLEAN.count(right) != 1 or len(problems_of(CLEAN.replace(right, wrong))) != 1:
            print(f"{fault} was planted and not caught once")
            return 1
    updated = Document(CLEAN.replace("one\ntwo\n$ p", "other\n$ p"), Path("/bin/true"), True).run()
    if updated != CLEAN:
        print("an update did not restore what was printed, or touched what matched")
        return 1
    print(f"caught {len(PLANTED)} planted faults")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--canary", action="store_true")
    parser.add_argument("documents", nargs="*")
    arguments = parser.parse_args()
    if arguments.canary:
        return run_canary()
    if arguments.program is None or not arguments.documents:
        parser.error("expected --program and a document, or --canary")
    return run_documents(arguments.program, arguments.update, arguments.documents)


if __name__ == "__main__":
    sys.exit(main())
