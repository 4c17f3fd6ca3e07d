#!/usr/bin/env python3
"""Checks the rules of the house that neither clang-format nor clang-tidy knows.

usage: check_sources.py ROOT CHECK [FILE...]

CHECK is one of
  limits    files, functions and lines are short enough
  includes  quoted includes start at the root and point only where the direction table allows
  text      no absolute path of a machine, no note that something is left to do
  readmes   each folder has a README.md
  names     files, headings, names and flags that comments and documents mention exist

Without FILE the check reads every file that git knows or would add below ROOT (every file, where
ROOT is no git checkout). Exit 0: good, 1: problems, one line each, 2: wrong usage.
"""

import re
import subprocess
import sys
from pathlib import Path

import check_names

FILE_LINES_HARD = 800
FILE_LINES_AIM = 400
FUNCTION_LINES = 70
LINE_COLUMNS = 100

CODE = {".h", ".cc"}
TEXT = CODE | {".py", ".sh", ".cmake", ".md", ".txt", ".json", ".yaml", ".yml", ""}

# Which folders a folder may include from. The longest matching folder on the left decides; a
# trailing slash on the right admits subfolders too.
DIRECTION = {
    "engine/base": ["engine/base/"],
    "engine": ["engine", "engine/base/"],
    "engine/classic": ["engine/classic", "engine", "engine/base/"],
    "engine/lockfree": ["engine/lockfree/", "engine", "engine/base/"],
    "engine/lockfree/active": [
        "engine/lockfree/active", "engine/lockfree/memory", "engine/base/"],
    "engine/lockfree/backoff": [
        "engine/lockfree/backoff", "engine/lockfree/active", "engine/base/"],
    "engine/lockfree/groups": [
        "engine/lockfree/groups", "engine/lockfree/tickets", "engine/lockfree/active",
        "engine/lockfree/pods", "engine/lockfree/log", "engine", "engine/base/"],
    "engine/lockfree/log": ["engine/lockfree/log", "engine", "engine/base/"],
    "engine/lockfree/memory": ["engine/lockfree/memory", "engine/base/"],
    "engine/lockfree/moves": [
        "engine/lockfree/moves", "engine/lockfree/groups", "engine/lockfree/tickets",
        "engine/lockfree/pods", "engine/lockfree/log", "engine", "engine/base/"],
    "engine/lockfree/operations": [
        "engine/lockfree/operations", "engine/lockfree/moves", "engine/lockfree/groups",
        "engine/lockfree/tickets", "engine/lockfree/active", "engine/lockfree/backoff",
        "engine/lockfree/pods", "engine/lockfree/log", "engine", "engine/base/"],
    "engine/lockfree/pods": [
        "engine/lockfree/pods", "engine/lockfree/log", "engine/lockfree/memory", "engine",
        "engine/base/"],
    "engine/lockfree/tickets": [
        "engine/lockfree/tickets", "engine/lockfree/active", "engine/lockfree/backoff",
        "engine/lockfree/pods", "engine", "engine/base/"],
    "perf": ["perf/", "engine/base/"],
    "hints": ["hints/", "engine", "engine/base/"],
    "dispatcher": ["dispatcher/", "engine", "engine/base/"],
    "schedq": ["schedq/", "dispatcher/", "hints/", "engine/"],
    "bench": ["bench/", "schedq", "dispatcher/", "hints/", "perf/", "engine/"],
    "tests": ["tests/", "bench/", "schedq", "dispatcher/", "hints/", "perf/", "engine/"],
}

# What stands in these uses the product as it is installed.
OUTSIDE = ("examples/", "tests/install/plugins/")

# Folders that need no README.md: one file for a tool, or data that its parent describes. Below
# tests/unit each folder mirrors one of the product's, which has its own.
WITHOUT_README = {".", ".ci"}
MIRROR = "tests/unit/"


class Report:
    """Collects problems, which fail the check, and notes, which do not."""

    def __init__(self):
        self.problems = 0

    def problem(self, place, message):
        print(f"{place}: {message}")
        self.problems += 1

    def note(self, place, message):
        print(f"{place}: note: {message}")


def blanks(found):
    """What was matched, as spaces and line ends."""
    return re.sub(r"[^\n]", " ", found.group())


def blank_out(code):
    """The code with comments and literals as spaces, so that braces in them do not count."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
        re.DOTALL,
    )
    return pattern.sub(blanks, code)


def opens_function(head):
    """Whether a brace after this text opens a function's body, not a scope or an initializer."""
    scope = r"\s*(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b"
    if "(" not in head or head.rstrip()[-1] in "=(,[":
        return False
    return re.match(scope, head, re.DOTALL) is None


def functions(code):
    """Yields (first line, last line) of each function, head and lambdas inside it included."""
    depth_of_function = None
    start_of_function = 0
    depth = 0
    head_start = 0
    code = blank_out(re.sub(r"^[ \t]*#(\\\n|[^\n])*", blanks, code, flags=re.MULTILINE))
    for found in re.finditer(r"[{};]", code):
        position = found.start()
        if found.group() == "{":
            head = code[head_start:position]
            if depth_of_function is None and opens_function(head):
                depth_of_function = depth
                start_of_function = head_start + len(head) - len(head.lstrip())
            depth += 1
        elif found.group() == "}":
            depth -= 1
            if depth_of_function == depth:
                depth_of_function = None
                yield (code.count("\n", 0, start_of_function) + 1,
                       code.count("\n", 0, position) + 1)
        head_start = position + 1


def check_limits(root, path, report):
    if path.suffix not in CODE | {".py", ".sh", ".cmake"}:
        return
    text = (root / path).read_text()
    lines = text.splitlines()
    if len(lines) > FILE_LINES_HARD:
        report.problem(path, f"{len(lines)} lines, at most {FILE_LINES_HARD}")
    elif len(lines) > FILE_LINES_AIM:
        report.note(path, f"{len(lines)} lines, aim under {FILE_LINES_AIM}")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS and "://" not in line:
            report.problem(f"{path}:{number}", f"{len(line)} columns, at most {LINE_COLUMNS}")
    if path.suffix in CODE:
        for first, last in functions(text):
            if last - first + 1 > FUNCTION_LINES:
                report.problem(f"{path}:{first}",
                               f"function of {last - first + 1} lines, at most {FUNCTION_LINES}")


def longest_folder(folder):
    """The row of the direction table that governs a folder, or None."""
    parts = folder.split("/")
    for length in range(len(parts), 0, -1):
        row = "/".join(parts[:length])
        if row in DIRECTION:
            return row
    return None


def allowed(include_folder, row):
    return any(
        include_folder == entry
        or (entry.endswith("/") and (include_folder + "/").startswith(entry))
        for entry in DIRECTION[row])


def check_includes(root, path, report):
    if path.suffix not in CODE:
        return
    row = longest_folder(path.parent.as_posix())
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
        if not found:
            continue
        place = f"{path}:{number}"
        bracket, target = found.groups()
        folder = Path(target).parent.as_posix()
        if ".." in target.split("/"):
            report.problem(place, f"include of {target} leaves its folder; write it from the root")
        elif bracket == '"' and longest_folder(folder) is None:
            report.problem(place, f"include of {target} does not start at the root's folders")
        elif (bracket == "<" and (root / target).is_file()
              and not path.as_posix().startswith(OUTSIDE)):
            report.problem(place, f"include of {target} is ours; write it in quotes")
        elif bracket == '"' and row is None:
            report.problem(place, f"{path.parent} is not in the direction table")
        elif bracket == '"' and not allowed(folder, row):
            report.problem(place, f"upward include: {row} may not see {folder}")


def check_text(root, path, report):
    if path.suffix not in TEXT or path.name == Path(__file__).name:
        return
    forbidden = [
        (re.compile(r"(?<![\w.$}/*-])/(home|root|work|Users)/\w"), "absolute path of a machine"),
        (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b"), "a note that something is left to do"),
    ]
    try:
        lines = (root / path).read_text().splitlines()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(lines, 1):
        for pattern, message in forbidden:
            if pattern.search(line):
                report.problem(f"{path}:{number}", message)


def check_readmes(root, paths, report):
    marks = {path for path in paths if path.suffix in CODE or path.name == "CMakeLists.txt"}
    folders = {parent for path in marks for parent in path.parents}
    for folder in sorted(folders):
        name = folder.as_posix()
        if name in WITHOUT_README or name.startswith(MIRROR):
            continue
        if not (root / folder / "README.md").is_file():
            report.problem(folder, "has no README.md")


def check_mentioned_names(root, paths, report):
    check_names.check_names(root, paths, report, files_of(root))


CHECKS_OF_FILES = {"limits": check_limits, "includes": check_includes, "text": check_text}
CHECKS_OF_TREES = {"readmes": check_readmes, "names": check_mentioned_names}


def files_of(root):
    """Every file of the tree as a path relative to root: what git tracks or would add."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        paths = [Path(name) for name in listed.stdout.split("\0") if name]
    else:
        paths = [path.relative_to(root) for path in root.rglob("*")]
    return sorted(path for path in paths if (root / path).is_file())


def main(arguments):
    if len(arguments) < 2 or arguments[1] not in {**CHECKS_OF_FILES, **CHECKS_OF_TREES}:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0])
    check = arguments[1]
    paths = [Path(name) for name in arguments[2:]] or files_of(root)
    report = Report()
    if check in CHECKS_OF_TREES:
        CHECKS_OF_TREES[check](root, paths, report)
    else:
        for path in paths:
            CHECKS_OF_FILES[check](root, path, report)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
