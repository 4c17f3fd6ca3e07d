#!/usr/bin/env python3
"""Each installed header compiles alone, and includes nothing of ours but installed headers.

usage: headers_test.py ROOT COMPILER[,COMPILER...] HEADER...

The headers are linked into a folder of their own, which is all of ours that the compilers see. C
headers (those without #pragma once) compile as C11 too.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
# Libraries that a user of our headers need not have.
FORBIDDEN = ("folly/", "fmt/", "prometheus/", "oneapi/", "tbb/", "glog/")


def commands(root, folder, compilers, headers):
    for header in headers:
        (folder / header).parent.mkdir(parents=True, exist_ok=True)
        (folder / header).symlink_to(root / header)
        is_c = "#pragma once" not in (root / header).read_text()
        for compiler in compilers:
            source = f"#include <{header}>\n"
            yield [compiler, "-std=c++20", "-x", "c++"], source
            if is_c:
                c_compiler = compiler.replace("clang++", "clang").replace("g++", "gcc")
                yield [c_compiler, "-std=c11", "-x", "c"], source


def check(job, folder):
    command, source = job
    command = command + WARNINGS + ["-I", str(folder), "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else f"{' '.join(command)}\n{source}{run.stderr}"


def main():
    root, compilers, headers = Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    faults = [f"{header} includes {library}" for header in headers for library in FORBIDDEN
              if f"#include <{library}" in (root / header).read_text()]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(2) as pool:
        folder = Path(directory)
        jobs = list(commands(root, folder, compilers, headers))
        faults += filter(None, pool.map(lambda job: check(job, folder), jobs))
    print("\n".join(faults) or f"{len(headers)} headers, {len(jobs)} compilations")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
