#!/usr/bin/env python3
"""What is installed works for its users.

usage: install_test.py BUILD EXAMPLES CMAKE CXX

Installs BUILD into a temporary prefix. Configures and builds EXAMPLES outside of the tree against
it, runs each program and compares what it prints with expected/; builds one of each language by
pkg-config; loads the plugins by run, profile and replay; and loads libraries that must be refused.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
FAULTS = Path(__file__).resolve().parent / "plugins"

# A pod that a plugin gates, and one that waits for a claim of its own.
# Pods of one gathering of three, for examples/gather_plugin.cc; five leave two that wait in vain.
NODE = """apiVersion: v1
kind: Node
metadata: {name: n}
status: {capacity: {cpu: '4', memory: 32Gi, pods: '110'}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {generateName: p-, labels: {gather: g, gather-size: '3'}}
spec: {containers: [{name: c, image: i}]}
"""
GATHER = """- name: Gather
  workloadTemplate:
  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: COUNT, podTemplatePath: pod.yaml, collectMetrics: true}
  workloads:
  - name: W
"""
TRACE = [
    {"schedq_trace": 1, "start": "2026-01-01T00:00:00.3Z", "gates": {},
     "pod_initial_backoff_ms": 1000, "pod_max_backoff_ms": 10000,
     "pod_max_in_unschedulable_ms": 300000,
     "plugins": [{"name": "Other", "events": []}]},
    {"op": "add", "t": 0, "pod": {"namespace": "ns", "name": "a", "uid": "1",
                                  "labels": {"license": "none", "hold": "yes"}},
     "want": {"changed": {"a": "gated:License"}}},
    {"op": "end", "t": 1},
]


def fail(what, text=""):
    sys.exit(f"install_test: {what}\n{text}")


def run(*command, code=0, env=None):
    """Runs a command, which must exit with `code`; what it printed on stdout and stderr."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, env=env)
    if done.returncode != code:
        fail(f"{' '.join(str(part) for part in command)}: exit {done.returncode}, expected {code}",
             done.stdout + done.stderr)
    return done.stdout, done.stderr


class Install:
    def __init__(self, build, examples, cmake, cxx, folder):
        self.build, self.examples, self.cmake, self.cxx = build, examples, cmake, cxx
        self.cc = cxx.replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")
        self.prefix = folder / "prefix"
        self.out = folder / "examples"
        self.faults = folder / "faults"
        self.faults.mkdir()

    def install(self):
        run(self.cmake, "--install", self.build, "--prefix", self.prefix)
        strange = sorted(path.name for path in (self.prefix / "include").iterdir())
        if strange != ["schedq"]:
            fail(f"include/ holds {strange}, expected schedq only")
        self.program = self.prefix / "bin" / "schedq"
        library = next(self.prefix.glob("lib*/**/libschedq.so"))
        symbols = run("nm", "-D", "--defined-only", library)[0].split("\n")
        strange = [line for line in symbols if line and not line.split()[-1].startswith("schedq_")]
        if strange:
            fail("libschedq.so exports more than the C interface", "\n".join(strange))

    def build_examples(self):
        run(self.cmake, "-S", self.examples, "-B", self.out, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={self.cxx}",
            f"-DCMAKE_C_COMPILER={self.cc}", f"-DCMAKE_C_FLAGS={' '.join(STRICT)}",
            f"-DCMAKE_CXX_FLAGS={' '.join(STRICT)}")
        run(self.cmake, "--build", self.out)
        for expected in sorted((self.examples / "expected").glob("*.txt")):
            self.compare(self.out / expected.stem, expected)

    def compare(self, program, expected):
        libraries = next(self.prefix.glob("lib*/**/libschedq.so")).parent
        printed, _ = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})
        if printed != expected.read_text():
            fail(f"{program.name} prints other than {expected}", printed)

    def build_by_pkg_config(self):
        folder = next(self.prefix.glob("lib*/**/schedq.pc")).parent
        env = {**os.environ, "PKG_CONFIG_PATH": str(folder)}

        def flags(package):
            return run("pkg-config", "--cflags", "--libs", package, env=env)[0].split()

        program = self.out / "by_pkg_config_c"
        run(self.cc, "-std=c11", *STRICT, self.examples / "embed_c.c", "-o", program,
            *flags("schedq"))
        self.compare(program, self.examples / "expected" / "embed_c.txt")
        program = self.out / "by_pkg_config_cc"
        run(self.cxx, "-std=c++20", *STRICT, self.examples / "first_queue.cc", "-o", program,
            *flags("schedq-static"))
        self.compare(program, self.examples / "expected" / "first_queue.txt")

    def library(self, source):
        target = self.faults / f"{source.stem}.so"
        compiler = [self.cxx, "-std=c++20"] if source.suffix == ".cc" else [self.cc, "-std=c11"]
        run(*compiler, *STRICT, "-shared", "-fPIC", "-I", self.prefix / "include" / "schedq",
            source, "-o", target)
        return target

    def load_plugins(self):
        plugins = [self.out / "libplugin.so", self.out / "libplugin_c.so"]
        flags = [part for plugin in plugins for part in ("--plugin", plugin)]
        run(self.program, "run", "--labels", "short", "--name", "Basic/10Nodes", *flags)
        for plugin in plugins + [self.library(FAULTS / "callbacks_throw.cc")]:
            run(self.program, "profile", "requeue", "--quick", "--rounds", "1", "--plugin", plugin)
        trace = self.faults / "trace.jsonl"
        trace.write_text("".join(json.dumps(line) + "\n" for line in TRACE))
        run(self.program, "replay", trace, code=1)  # Without the plugin the pod is not gated.
        printed, _ = run(self.program, "replay", *flags, trace)
        if "0 mismatches" not in printed:
            fail("replay with plugins", printed)

    def wait_at_permit(self):
        plugin = ["--plugin", self.out / "libgather_plugin.so"]
        (self.faults / "node.yaml").write_text(NODE)
        (self.faults / "pod.yaml").write_text(POD)
        for count, code in (("6", 0), ("5", 1)):
            workload = self.faults / f"gather{count}.yaml"
            workload.write_text(GATHER.replace("COUNT", count))
            run(self.program, "run", workload, *plugin, code=code)
        run(self.program, "run", "--clock", "real", "--repeat", "1", self.faults / "gather6.yaml",
            *plugin)
        # A Permit that throws rejects each pod.
        throws = ["--plugin", self.library(FAULTS / "permit_throws.cc")]
        run(self.program, "run", self.faults / "gather6.yaml", *throws, code=1)

    def refuse_plugins(self):
        text = self.faults / "text.so"
        text.write_text("no library")
        entry = "schedq_plugin_library_v1"
        refused = {
            self.faults / "missing.so":
                f"there is no such file, expected a shared library with the symbol {entry}",
            text: f"), expected a shared library with the symbol {entry}",
            self.library(FAULTS / "no_symbol.c"):
                f"it has no symbol {entry}, expected a plugin library for version 1 of the "
                "interface",
            self.library(FAULTS / "later_version.c"):
                "it is for version 7 of the plugin interface, expected version 1",
            self.library(FAULTS / "entry_throws.cc"):
                f"{entry} threw 'no license at all', expected a description of its plugins",
            self.library(FAULTS / "create_throws.cc"):
                "plugin Thrower: create returned nothing, expected a state",
        }
        commands = [["run", "--name", "Basic/10Nodes"], ["profile", "requeue", "--quick"],
                    ["replay", self.faults / "trace.jsonl"]]
        for library, expected in refused.items():
            for command in commands:
                printed, said = run(self.program, *command, "--plugin", library, code=2)
                if printed or len(said.splitlines()) != 1 or expected not in said:
                    fail(f"{command[0]} --plugin {library.name}: expected '{expected}'",
                         printed + said)
                if str(library) not in said:
                    fail(f"{command[0]}: the file is not named", said)


def main():
    build, examples, cmake, cxx = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        test = Install(Path(build), Path(examples), cmake, cxx, Path(folder))
        test.install()
        test.build_examples()
        test.build_by_pkg_config()
        test.load_plugins()
        test.wait_at_permit()
        test.refuse_plugins()
    print("good")


if __name__ == "__main__":
    main()
