"""A copy of the checkout in the cache folder, for scripts that change code and build it.

The copy and its builds stay, so that a second trial compiles little.
"""
import os
from pathlib import Path
import shutil
import subprocess
import sys

from check_sources import files_of

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schedq"


def say(text):
    print(text, file=sys.stderr, flush=True)


def write_if_other(path, data):
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy_tree(tree, changed=None):
    """Makes `tree` equal to the checkout, but for the contents in `changed`, by path.

    What is equal keeps its time."""
    files = [path for path in files_of(ROOT) if path.parts[0] != "build"]
    for path in files:
        data = (changed or {}).get(path) or (ROOT / path).read_bytes()
        write_if_other(tree / path, data)
        shutil.copymode(ROOT / path, tree / path)
    wanted = set(files)
    for path in tree.rglob("*"):
        inside = path.relative_to(tree)
        if path.is_file() and inside.parts[0] != "build" and inside not in wanted:
            path.unlink()


def run(command, tree, **more):
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, **more)


def build(tree, preset, targets, jobs=os.cpu_count()):
    return run(["cmake", "--build", f"build/{preset}", "--parallel", str(jobs),
                "--target", *targets], tree)
