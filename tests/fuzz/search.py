#!/usr/bin/env python3
"""Searches for inputs that a fuzzed function does not survive, until each program has run so many.

Each program starts from the files of corpus/ that are its reader's; that of single lines starts
from the lines of traces. What it finds interesting is kept in FOLDER, and so are the sums, so that
a search that was ended goes on where it was. A failing input is FOLDER/NAME/failed-*.

usage: search.py [--runs N] [--jobs N] BUILD FOLDER [NAME...]
  --runs N   executions of each program, together with earlier searches in FOLDER (10,000,000)
  --jobs N   programs that run at the same time (2)
  NAME       trace_line, trace_file, ...; none: all
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROUND_SECONDS = 240  # Of one run of a program, after which the sums are written.
SECONDS_AN_INPUT = 1  # The limit, of processor time: one that takes longer is run again by itself.
SECONDS_BESIDE_OTHERS = 300  # Until then a machine with other work is no finding.
MEGABYTES_AN_INPUT = 1024

# Program, files of corpus/, dictionary, and the longest input: what the corpus needs, hardly more.
SEARCHES = {
    "cel_selector": ("cel_fuzz_selector", "cel-", "cel", 256),
    "trace_line": ("trace_fuzz_line", "trace-", "json", 768),
    "trace_file": ("trace_fuzz_file", "trace-", "json", 2048),
    "results_data_items": ("results_fuzz_data_items", "data_items-", "json", 256),
    "results_file": ("results_fuzz_file", "results-", "json", 2560),
    "results_pattern": ("results_fuzz_pattern", "pattern-", "pattern", 96),
    "workload_file": ("workload_fuzz_file", "workload-", "yaml", 1792),
    "workload_template": ("workload_fuzz_template", "template-", "yaml", 512),
    "workload_yaml": ("workload_fuzz_yaml", "yaml-", "yaml", 512),
}
# No stacks of allocations, and little freed memory kept: both take half of the time. Leaks are
# looked for by the corpus tests under asan.
SANITIZER = ("malloc_context_size=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64:"
             "detect_leaks=0:max_free_fill_size=0")


class Search:
    def __init__(self, name, build, folder):
        program, self.corpus, dictionary, self.bytes_max = SEARCHES[name]
        self.name = name
        self.program = build / "tests" / "fuzz" / program
        self.dictionary = HERE / "dictionaries" / f"{dictionary}.dict"
        self.folder = folder / name
        self.inputs = self.folder / "inputs"
        self.sums = self.folder / "sums.json"
        self.seeds()

    def seeds(self):
        self.inputs.mkdir(parents=True, exist_ok=True)
        for path in sorted((HERE / "corpus").glob(self.corpus + "*.input")):
            data = path.read_bytes()
            parts = data.splitlines() if self.name == "trace_line" else [data]
            for number, part in enumerate(parts):
                (self.inputs / f"{path.stem}-{number}").write_bytes(part)

    def read(self):
        if self.sums.exists():
            return json.loads(self.sums.read_text())
        return {"executions": 0, "seconds": 0, "covered": 0, "features": 0, "rounds": 0}

    def run(self, *arguments):
        """How the program ended, what it said, and the processor time that it took."""
        with open(self.folder / "said", "w+b") as said:
            program = subprocess.Popen(
                [self.program, f"-timeout={SECONDS_BESIDE_OTHERS}", *arguments], stderr=said,
                stdout=said, env=dict(os.environ, ASAN_OPTIONS=SANITIZER))
            _, status, usage = os.wait4(program.pid, 0)
            program.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read().decode(errors="replace")
        return program.returncode, text, usage.ru_utime + usage.ru_stime

    def round(self, runs):
        """Runs the program once. Returns whether it found nothing."""
        sums = self.read()
        status, said, seconds = self.run(
            f"-dict={self.dictionary}", f"-max_len={self.bytes_max}",
            f"-report_slow_units={SECONDS_AN_INPUT}", f"-rss_limit_mb={MEGABYTES_AN_INPUT}",
            f"-max_total_time={ROUND_SECONDS}", f"-runs={runs}", "-entropic=0", "-reload=0",
            "-print_final_stats=1", f"-seed={sums['rounds'] + 1}",
            f"-artifact_prefix={self.folder}/failed-", self.inputs)
        (self.folder / "last.log").write_text(said)
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
        covered = re.findall(r"cov: (\d+) ft: (\d+)", said)
        sums["rounds"] += 1
        sums["executions"] += int(executed[1]) if executed else 0
        sums["seconds"] += round(seconds, 1)
        if covered:
            sums["covered"], sums["features"] = map(int, covered[-1])
        counters = re.search(r"\((\d+) inline 8-bit counters\)", said)
        sums["counters"] = int(counters[1]) if counters else 0
        self.sums.write_text(json.dumps(sums))
        ended_by_time = any(self.folder.glob("failed-timeout-*"))
        good = self.slow_ones_are_quick_alone() and (status == 0 or ended_by_time)
        if not good or any(self.folder.glob("failed-*")):
            print(f"{self.name}: see {self.folder}/failed-* and last.log", flush=True)
            return False
        return True

    def slow_ones_are_quick_alone(self):
        for path in [*self.folder.glob("failed-slow-*"), *self.folder.glob("failed-timeout-*")]:
            status, _, seconds = self.run(f"-artifact_prefix={self.folder}/alone-", path)
            if status != 0 or seconds > SECONDS_AN_INPUT:
                return False
            path.unlink()
        return True

    def search(self, runs):
        while (left := runs - self.read()["executions"]) > 0:
            if not self.round(left):
                return False
        return True

    def row(self):
        sums = self.read()
        rate = sums["executions"] / max(sums["seconds"], 1)
        return (f"{self.name:20} {sums['executions']:12,} {sums['seconds']:10,.0f} {rate:10,.0f}"
                f" {sums['covered']:8} {sums.get('counters', 0):8} {sums['features']:9}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in SEARCHES]
    if unknown:
        parser.error(f"unknown {unknown}, expected some of {', '.join(SEARCHES)}")
    searches = [Search(name, options.build, options.folder) for name in options.names or SEARCHES]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        good = list(pool.map(lambda search: search.search(options.runs), searches))
    print(f"{'':20} {'executions':>12} {'seconds':>10} {'a second':>10} {'covered':>8} "
          f"{'of':>8} {'features':>9}")
    for search in searches:
        print(search.row())
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
