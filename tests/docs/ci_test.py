#!/usr/bin/env python3
"""Goal: the script and the workflow of docs/ci do what they say.

Method: a folder that looks like a checkout, with the built program in it and another program that
does something else; the script runs as any system would run it, and each line of the workflow that
concerns the gate as GitHub would run it.

usage: ci_test.py SCHEDQ DOCS_FOLDER
Exit 0: they do, 1: they do not.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

SECONDS_MAX = 120
FILE = """\
- name: Mine
  workloadTemplate:
  - {opcode: createNodes, count: 2}
  - {opcode: createPods, count: 20, collectMetrics: true}
  workloads: [{name: Small}]
"""


class Checkout:
    def __init__(self, folder, program, docs):
        self.folder = Path(folder)
        (self.folder / "build/release").mkdir(parents=True)
        (self.folder / "build/release/schedq").symlink_to(program)
        shutil.copytree(docs / "ci", self.folder / "docs/ci")
        (self.folder / "mine.yaml").write_text(FILE)
        self.same = self.program("same", f'exec "{program}" "$@"')
        self.other = self.program(
            "other", f'exec "{program}" "$@" --gate SchedulerAsyncAPICalls=false')
        self.broken = self.program("broken", "echo no such flag >&2; exit 2")

    def program(self, name, body):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    def run(self, command, **environment):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
        return subprocess.run(
            ["bash", "-e", "-c", command], cwd=self.folder, env={**clean, **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=SECONDS_MAX, text=True, check=False)


def check_script(checkout, expect):
    gate = "docs/ci/gate.sh"
    passed = checkout.run(f"{gate} {checkout.same} mine.yaml", STORE="figures")
    expect(passed.returncode == 0, "an unchanged program passes", passed.stdout)
    cases = xml.etree.ElementTree.parse(checkout.folder / "out/gate.xml").iter("testcase")
    names = sorted(case.get("name") for case in cases)
    expect(names == ["Mine/Small", "Mine/Small"], "JUnit has a case a workload and engine", names)
    expect((checkout.folder / "figures/history.jsonl").exists(), "figures are stored", "")
    failed = checkout.run(f"{gate} {checkout.other} mine.yaml")
    expect(failed.returncode == 1, "a changed program fails", failed.stdout)
    expect("::error" not in failed.stdout, "annotations are GitHub's alone", failed.stdout)
    refused = checkout.run(f"{gate} {checkout.broken} mine.yaml")
    expect(refused.returncode == 2, "a base that cannot run is no pass", refused.stdout)
    usage = checkout.run(gate)
    expect(usage.returncode != 0 and "usage" in usage.stdout, "a base is needed", usage.stdout)


def check_workflow(checkout, docs, expect):
    text = (docs / "ci/github.yaml").read_text()
    lines = re.findall(r"(?m)^ +run: (.*)$", text)
    gates = [line for line in lines if "gate.sh" in line]
    expect(len(gates) == 1, "one step of the workflow gates", lines)
    line = gates[0].replace("${{ github.event.pull_request.base.sha }}", checkout.other)
    summary = checkout.folder / "summary.md"
    ended = checkout.run(f"{line} mine.yaml", GITHUB_ACTIONS="true",
                         GITHUB_STEP_SUMMARY=str(summary))
    expect(ended.returncode == 1, "the step fails where the gate does", ended.stdout)
    expect("::error title=schedq gate" in ended.stdout, "what fails is annotated", ended.stdout)
    shown = summary.read_text()
    expect("| workload | metric |" in shown, "the table is shown", shown)
    scripts = {word for other in lines for word in re.findall(r"(?:ci|docs/ci)/[a-z_.]+", other)}
    for script in scripts:
        expect((docs.parent / script).exists(), f"{script} is there", scripts)


def main():
    program, docs = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    problems = []

    def expect(holds, what, got):
        if not holds:
            problems.append(f"expected: {what}; got: {got}")

    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(folder, program, docs)
        check_script(checkout, expect)
        check_workflow(checkout, docs, expect)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
