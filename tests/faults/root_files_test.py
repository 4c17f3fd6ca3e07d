#!/usr/bin/env python3
"""Goal: as root, where every file may be replaced, nothing is replaced that should not be, nothing
is half written on a disk that is full, and the table is always shown.

Method: a throwaway folder with a device node, a FIFO, symbolic links, and a file system of 24 KB.
Where the machine allows neither device nodes nor mounts, the test says so and is skipped.

usage: root_files_test.py PROGRAM
"""
import contextlib
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77
DISK_BYTES = 24 * 1024
LONG_TRACE = "^Gated/20"  # A built-in workload whose trace does not fit on the disk.


def skip(why):
    print(f"SKIPPED, nothing was tested: {why}")
    sys.exit(SKIPPED)


def expect(holds, what):
    if not holds:
        print(f"FAILED: {what}")
        sys.exit(1)


class Program:
    def __init__(self, path, folder):
        self.path = os.path.abspath(path)
        self.folder = folder

    def run(self, *arguments):
        return subprocess.run([self.path, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)


# Each way in which a command writes a file, beside what it prints.
def ways(target):
    return [
        ("--json", ["profile", "requeue", "--quick", "--only", "lockfree/narrowed", "--rounds", "1",
                    "--json", target]),
        ("--record", ["run", "--name", "^Gated/20", "--record", target]),
        ("--junit", ["gate", "--base", "base", "--new", "base", "--junit", target]),
        ("--markdown", ["gate", "--base", "base", "--new", "base", "--markdown", target]),
        ("--write-costs", ["run", "--clock", "real", "--engine", "lockfree", "--repeat", "1",
                           "--name", "^Basic/10N", "--write-costs", target]),
        ("--benchmark_out", ["bench", "--quick", "hints/claim_index",
                             f"--benchmark_out={target}"]),
    ]


def check_devices(program, folder):
    for flag, arguments in ways("null"):
        ended = program.run(*arguments)
        expect(ended.returncode == 0, f"{flag} to a device: {ended.stderr}")
        expect(stat.S_ISCHR(os.lstat(folder / "null").st_mode), f"{flag}: the device is replaced")
        expect(ended.stdout, f"{flag} to a device: no table")
    for flag, arguments in ways("full"):
        ended = program.run(*arguments)
        expect(ended.returncode == 2, f"{flag} to a full device: exit code {ended.returncode}")
        expect(ended.stdout, f"{flag} to a full device: no table")
        expect(len(ended.stderr.splitlines()) == 1, f"{flag}: {ended.stderr}")
        expect(stat.S_ISCHR(os.lstat(folder / "full").st_mode), f"{flag}: the device is replaced")


def check_links(program, folder):
    for flag, arguments in ways("link"):
        (folder / "elsewhere").mkdir(exist_ok=True)
        (folder / "elsewhere" / "target").write_text("old")
        ended = program.run(*arguments)
        expect(ended.returncode == 0, f"{flag} to a link: {ended.stderr}")
        expect((folder / "link").is_symlink(), f"{flag}: the link is replaced")
        written = (folder / "elsewhere" / "target").read_text()
        expect(written != "old", f"{flag}: nothing is written")
        expect(os.listdir(folder / "elsewhere") == ["target"], f"{flag}: something is left")


def check_pipes(program, folder):
    for flag, arguments in ways("fifo"):
        arrived = []
        reader = threading.Thread(target=lambda: arrived.append((folder / "fifo").read_text()))
        reader.start()
        ended = program.run(*arguments)
        reader.join()
        expect(ended.returncode == 0, f"{flag} to a FIFO: {ended.stderr}")
        expect(stat.S_ISFIFO(os.lstat(folder / "fifo").st_mode), f"{flag}: the FIFO is replaced")
        expect(arrived[0], f"{flag} to a FIFO: nothing arrived")


@contextlib.contextmanager
def small_disk(folder):
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder],
                             capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def check_small_disk(program, disk):
    def is_whole(path):
        if path.suffix == ".json":
            json.loads(path.read_text())
        return not path.name.startswith(".") and path.stat().st_size > 0

    # The suite's short workloads need more than there is.
    (disk / "kept.jsonl").write_text("old")
    for arguments in (["run", "--labels", "short", "--out", "disk/out"],
                      ["run", "--name", LONG_TRACE, "--record", "disk/kept.jsonl"],
                      ["run", "--name", LONG_TRACE, "--record", "disk/new/trace.jsonl"]):
        ended = program.run(*arguments)
        expect(ended.returncode == 2, f"{arguments}: exit code {ended.returncode}")
        expect("measured" in ended.stdout, f"{arguments}: no table")
        expect(len(ended.stderr.splitlines()) == 1, f"{arguments}: {ended.stderr}")
        expect("No space left on device" in ended.stderr, f"{arguments}: {ended.stderr}")
        files = [path for path in disk.rglob("*") if path.is_file()]
        for path in files:
            expect(is_whole(path), f"{arguments}: half written: {path.name}")
        expect((disk / "kept.jsonl").read_text() == "old", f"{arguments}: the old file is gone")
    expect(not (disk / "new").exists(), "a folder without a file is left")


def main():
    if os.geteuid() != 0:
        skip("this is not root, whom nothing would keep from replacing files")
    with tempfile.TemporaryDirectory(prefix="schedq-root-") as name:
        folder = pathlib.Path(name)
        program = Program(sys.argv[1], folder)
        made = program.run("run", "--name", "^Basic/10", "--out", "base")
        expect(made.returncode == 0, made.stderr)
        try:
            os.mknod(folder / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            os.mknod(folder / "full", 0o666 | stat.S_IFCHR, os.makedev(1, 7))
            (folder / "null").write_bytes(b"x")
        except OSError as error:
            skip(f"no device node can be made and used here: {error}")
        os.mkfifo(folder / "fifo")
        (folder / "link").symlink_to("elsewhere/target")
        check_devices(program, folder)
        check_links(program, folder)
        check_pipes(program, folder)
        with small_disk(folder / "disk"):
            check_small_disk(program, folder / "disk")
    print("nothing was replaced, nothing half written, each table shown")


if __name__ == "__main__":
    main()
