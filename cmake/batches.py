#!/usr/bin/env python3
"""Puts the sources of one target into few batches, each compiled as one file.

usage: batches.py ROOT DIRECTORY NAME SOURCE...

Most of a compiler's time goes to headers, which a batch reads once. Two files may share a batch
when neither uses a name that the other one keeps to itself (in an unnamed namespace, as a static,
an alias or a macro), be it in headers below ROOT that the other one does not include. Where all of
a file stands in its unnamed namespace, as in most tests, the batch takes a copy in which that
namespace has a name, so that it keeps no name from others: DIRECTORY/named/<path>.

Writes DIRECTORY/NAME_<n>.cc, each with the #includes of its files, touches only those that differ,
and prints one path a line. A file that stays alone is printed itself, as is one that the build
makes: what lies beside DIRECTORY.
"""

import os
import re
import sys
from pathlib import Path

LINES_MAX = 2500
WORD = re.compile(r"[A-Za-z_]\w*")
# What a declaration at the left margin calls itself: the word before its parameters or its value.
DECLARED = re.compile(r"([A-Za-z_]\w*)\s*(?:\(|=|\{|;|\[|:(?!:)|final\b)")
KEYWORDS = {"alignas", "decltype", "operator", "static_assert", "template"}
ALIAS = re.compile(r"(?:using|namespace) (?:[\w:]*::)?(\w+)(?: = .*)?;|using (\w+) =")
MACRO = re.compile(r"\s*#\s*define\s+(\w+)")
TEST = re.compile(r"TEST(?:_P|_F)?\((\w+), (\w+)")
INCLUDED = re.compile(r'#include "([^"]+)"')


def lines_of(path):
    """The lines without their comments, but for those that say which namespace ends."""
    return [line if line.startswith("}") else line.split("//")[0]
            for line in path.read_text().splitlines()]


class Headers:
    """Reads each header below a root once."""

    def __init__(self, root):
        self.root = root
        self.read = {}

    def reached(self, lines):
        """The headers that these lines include, and those that these include."""
        found = set()
        waiting = INCLUDED.findall("\n".join(lines))
        while waiting:
            name = waiting.pop()
            if name not in found and (self.root / name).is_file():
                found.add(name)
                waiting.extend(self._header(name)[0])
        return found

    def words(self, names):
        return set().union(*(self._header(name)[1] for name in names))

    def _header(self, name):
        if name not in self.read:
            text = "\n".join(lines_of(self.root / name))
            self.read[name] = (INCLUDED.findall(text), set(WORD.findall(text)))
        return self.read[name]


class Source:
    """One file: its words, and the names that no other file of its batch may use."""

    def __init__(self, path, headers):
        self.path = path
        lines = lines_of(path)
        self.lines = len(lines)
        self.is_within_one = is_within_one_namespace(lines)
        self.words = set(WORD.findall("\n".join(lines)))
        self.headers = headers
        self.reached = headers.reached(lines)
        self.own = set()
        self.aliases = {}
        includes = [n for n, line in enumerate(lines) if line.startswith("#include")]
        defines = [n for n, line in enumerate(lines) if MACRO.match(line)]
        # A macro that comes before an #include may change what the header says.
        self.alone = bool(includes and defines and defines[0] < includes[-1])
        self._read(lines)

    def _read(self, lines):
        hidden = False
        for line in lines:
            alias = ALIAS.match(line)
            macro = MACRO.match(line)
            test = TEST.match(line)
            if line == "namespace {":
                hidden = True
            elif line == "}  // namespace":
                hidden = False
            elif hidden and self.is_within_one and not macro:
                continue
            elif alias:
                self.aliases[alias[1] or alias[2]] = line
            elif macro:
                self.own.add(macro[1])
            elif test:
                self.own.add(f"{test[1]}_{test[2]}_Test")
            elif (hidden or line.startswith("static ")) and WORD.match(line):
                self.own.update(declared(line))

    def clashes(self, other):
        return self._disturbed_by(other) or other._disturbed_by(self)

    def _disturbed_by(self, other):
        more = self.headers.words(other.reached - self.reached)
        return bool(self.own & (other.words | more)) or any(
            name in more or name in other.words and other.aliases.get(name) != line
            for name, line in self.aliases.items())


def declared(line):
    """The name that this line declares, or the names of several on one line."""
    while re.search(r"<[^<>]*>", line):
        line = re.sub(r"<[^<>]*>", "", line)
    found = next((match[1] for match in DECLARED.finditer(line) if match[1] not in KEYWORDS), None)
    return [found] if found else []


def is_within_one_namespace(lines):
    """Whether nothing of the file stands behind its only unnamed namespace."""
    begins = [n for n, line in enumerate(lines) if line == "namespace {"]
    ends = [n for n, line in enumerate(lines) if line == "}  // namespace"]
    return (len(begins) == len(ends) == 1 and begins[0] < ends[0]
            and all(not line or line.startswith("}  // namespace") for line in lines[ends[0]:]))


def named_copy(source, root, directory):
    """Writes the copy in which the unnamed namespace has a name; its path."""
    inside = os.path.relpath(source.path, root)
    path = directory / "named" / inside
    path.parent.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W", "_", inside)
    text = re.sub("^namespace {$", f"namespace {name} {{", source.path.read_text(), count=1,
                  flags=re.MULTILINE)
    write_if_other(path, f'#line 1 "{inside}"\n{text}')
    return path


def batches_of(sources):
    """Each source joins the first batch with room in which it clashes with no other."""
    batches = []
    for source in sources:
        for batch in batches:
            room = LINES_MAX - sum(other.lines for other in batch)
            if (not source.alone and not batch[0].alone and source.lines <= room
                    and not any(source.clashes(other) for other in batch)):
                batch.append(source)
                break
        else:
            batches.append([source])
    return batches


def write_if_other(path, text):
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def main(arguments):
    if len(arguments) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    headers = Headers(Path(arguments[0]))
    directory, name = Path(arguments[1]), arguments[2]
    directory.mkdir(parents=True, exist_ok=True)
    paths = [Path(path) for path in arguments[3:]]
    generated = [path for path in paths if path.is_relative_to(directory.parent)]
    sources = [Source(path, headers) for path in paths if path not in generated]
    for path in generated:
        print(path)
    for number, batch in enumerate(batches_of(sources), 1):
        if len(batch) == 1:
            print(batch[0].path)
            continue
        # Relative, so that ccache serves every clone with what one compiled.
        paths = [named_copy(source, headers.root, directory) if source.is_within_one
                 else source.path for source in batch]
        lines = [f'#include "{os.path.relpath(path, directory)}"\n' for path in paths]
        path = directory / f"{name}_{number}.cc"
        write_if_other(path, "".join(lines))
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
