#!/usr/bin/env python3
"""Runs clang-tidy over the sources of a build, in parallel, and remembers what was clean.

usage: check_tidy.py ROOT BUILD CACHE JOBS [FILE...]

BUILD is a build directory with compile_commands.json; its batches (cmake/batches.py) are checked as
such, in a quarter of the time that their files take one by one. A file or batch is clean for as
long as its content, the headers of ours that it reaches, its command, .clang-tidy and clang-tidy
itself stay the same; CACHE holds one empty file for each such state. Without FILE every file of the
product is checked; tests are checked when given (which `ci/lint --changed` does): a first full run
has half an hour for everything. A header given as FILE stands for every file that reaches it.

The build may be one by GCC: clang reads its commands, and its own errors and warnings count.
Exit 0: clean, 1: findings, 2: wrong usage.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BATCHES = "batches"
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class Tree:
    """Reads each file of ours once: its hash, and the files that it reaches through includes."""

    def __init__(self, root):
        self.root = root
        self.read = {}

    def file(self, path):
        if path not in self.read:
            content = (self.root / path).read_bytes()
            included = [found.decode() for found in INCLUDE.findall(content)]
            self.read[path] = (hashlib.sha256(content).hexdigest(),
                               [name for name in included if (self.root / name).is_file()])
        return self.read[path]

    def reached(self, path):
        found = set()
        waiting = [path]
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting.extend(self.file(current)[1])
        return found


class Job:
    """One file or batch of the build with what decides its result."""

    def __init__(self, tree, entry, constants):
        path = Path(entry["file"])
        self.path = path.relative_to(tree.root).as_posix()
        self.files = [self.path]
        if path.parent.name == BATCHES:
            self.files = [self._original(tree, path.parent, found.decode())
                          for found in INCLUDE.findall(path.read_bytes())]
        self.reached = set().union(*(tree.reached(file) for file in self.files))
        command = entry.get("command") or shlex.join(entry["arguments"])
        parts = [self.path, command.replace(str(tree.root), ""), *constants]
        parts += [f"{name} {tree.file(name)[0]}" for name in sorted(self.reached)]
        self.key = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @staticmethod
    def _original(tree, batches, included):
        """The file of ours behind what a batch includes, which may be a copy of it."""
        path = Path(os.path.normpath(batches / included))
        base = batches / "named" if path.is_relative_to(batches / "named") else tree.root
        return path.relative_to(base).as_posix()


def load_jobs(root, build):
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True,
                             check=True).stdout
    constants = [version, (root / ".clang-tidy").read_text()]
    entries = json.loads((build / "compile_commands.json").read_text())
    tree = Tree(root)
    ours = [entry for entry in entries
            if Path(entry["file"]).is_relative_to(root) and Path(entry["file"]).is_file()
            and (not Path(entry["file"]).is_relative_to(build)
                 or Path(entry["file"]).parent == build / BATCHES)]
    return [Job(tree, entry, constants) for entry in ours]


def tidy(root, build, cache, job):
    """Checks one file; returns its findings, each with the lines that show it."""
    result = subprocess.run(
        ["clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option", "-p", str(build),
         str(root / job.path)],
        capture_output=True, text=True, check=False)
    if result.returncode == 0:
        (cache / job.key).touch()
        return []
    text = re.sub(rf"\S*/view/[^/]+/|\S*/{BATCHES}/(?:\.\./)+", "",
                  result.stdout.replace(f"{root}/", ""))
    findings = re.split(r"^(?=\S+:\d+:\d+: (?:error|warning): )", text, flags=re.MULTILINE)
    return [finding for finding in findings if finding] or [result.stderr]


def main(arguments):
    if len(arguments) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    root, build, cache = (Path(name).resolve() for name in arguments[:3])
    wanted = set(arguments[4:])
    cache.mkdir(parents=True, exist_ok=True)
    jobs = [job for job in load_jobs(root, build)
            if (job.reached & wanted if wanted else
                not all(file.startswith("tests/") for file in job.files))]
    waiting = [job for job in jobs if not (cache / job.key).exists()]
    kind = "changed" if wanted else "product"
    print(f"clang-tidy: {len(jobs)} {kind} files, {len(waiting)} not known to be clean", flush=True)
    with ThreadPoolExecutor(int(arguments[3])) as pool:
        results = pool.map(lambda job: tidy(root, build, cache, job), waiting)
        # A header's finding shows up in every file that reaches it; once is enough.
        findings = sorted({finding for result in results for finding in result})
    for finding in findings:
        print(finding, end="")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
