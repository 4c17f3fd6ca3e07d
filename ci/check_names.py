"""What a comment or a document mentions exists: files, folders, headings, code names and flags.

check_sources.py runs this as its check `names`. What it looks at:
  - comments of code, scripts and build files, and documents without their code blocks;
  - names of files, and paths below the folders of the root;
  - links of documents, with anchors, and headings that stand in quotes behind a document's name;
  - names in CamelCase, kCamel or snake_case, and Name(): they occur in code outside comments;
  - flags: some program or script of the tree knows them.
ci/foreign_names lists the names that others own, each with a reason.
"""

import fnmatch
import os
import re
from pathlib import Path

FOREIGN = "ci/foreign_names"
WRITTEN = {"build", "out"}  # What is below these folders exists once it was built or measured.

CODE = {".h", ".cc", ".c", ".in"}
SCRIPTS = {".py", ".sh", ".cmake", ".yaml", ".yml", ".toml", ".txt", ""}
DATA = {".json", ".jsonl"}
# Files with these suffixes are looked for wherever they are named; other files only by their path.
OURS = r"h|cc|c|py|sh|md|cmake|toml|svg"
OTHERS = r"json|jsonl|ya?ml|txt|in"

FILE = re.compile(r"(?<![\w/.$<>{}~:-])((?:[\w.*{},-]+/)*[\w.*][\w.*-]*\."
                  rf"(?:{OURS}|{OTHERS}))\b(?![\w/.-]*\w)")
LINK = re.compile(r"\]\(([^)\s]*)\)")
QUOTED_HEADINGS = re.compile(r'([\w/.-]+\.md)((?:,?\s+(?:and\s+)?\(?"[^"]+"\)?)+)')
NAME = re.compile(
    r"(?<![\w.$/<-])(?:(?P<qualified>(?:\w+::)+)?"
    r"(?P<name>[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|k[A-Z]\w+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?"
    r"|[A-Za-z]\w+(?=\(\))))(?![\w/>-]|\.\w)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+[a-z]")
COMMENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<raw>\w*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.DOTALL)
ARGUMENT = re.compile(r"/\*\w+=\*/")  # Names a parameter of a call, maybe of somebody else's.
SCRIPT_COMMENT = re.compile(r"(?:^|(?<=\s))#(?![!{])[^\n]*", re.MULTILINE)


def blanks(text):
    return re.sub(r"[^\n]", " ", text)


class Text:
    """What people read of one file, and its rest, which machines read."""

    def __init__(self, path, content):
        self.path = path
        self.is_document = path.suffix == ".md"
        if self.is_document:
            self.prose, self.code = without_code_blocks(content), ""
        elif path.suffix in CODE:
            self.prose, self.code = split(content, COMMENT, ("//", "/*"))
        elif path.suffix in DATA:
            self.prose, self.code = "", content
        else:
            self.prose, self.code = split(content, SCRIPT_COMMENT, ("#",))
        if not self.is_document:
            # A comment that goes on in the next line is one text; the marks become spaces.
            self.prose = re.sub(r"(?m)^(\s*)(///?|#)", lambda at: blanks(at.group()), self.prose)

    def line_of(self, position):
        return self.prose.count("\n", 0, position) + 1


def split(content, pattern, marks):
    """The comments with the rest as spaces, and the rest with the comments as spaces."""
    prose, code, end = [], [], 0
    for found in pattern.finditer(content):
        between = content[end:found.start()]
        is_comment = found.group().startswith(marks) and not ARGUMENT.match(found.group())
        prose += [blanks(between), found.group() if is_comment else blanks(found.group())]
        code += [between, blanks(found.group()) if is_comment else found.group()]
        end = found.end()
    return "".join(prose) + blanks(content[end:]), "".join(code) + content[end:]


def without_code_blocks(content):
    lines, in_fence, was_blank = [], False, True
    for line in content.split("\n"):
        is_fence = line.lstrip().startswith("```")
        is_block = line.startswith("    ") and (was_blank or not lines[-1].strip())
        lines.append("" if in_fence or is_fence or is_block else line)
        in_fence = in_fence != is_fence
        was_blank = not line.strip()
    return "\n".join(lines)


def headings(document):
    return [found.group(1).strip() for found in re.finditer(r"(?m)^#+ (.*)$", document)]


def anchor_of(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")


class Tree:
    """All that may be named: files, folders, headings, and words of code."""

    def __init__(self, root, paths):
        self.texts = {}
        for path in paths:
            if path.suffix not in CODE | SCRIPTS | DATA | {".md"}:
                continue
            try:
                self.texts[path] = Text(path, (root / path).read_text())
            except UnicodeDecodeError:
                continue
        self.files = {path.as_posix() for path in paths}
        self.folders = {parent.as_posix() for path in paths for parent in path.parents}
        self.tops = {folder for folder in self.folders if "/" not in folder} - {"."}
        self.names = {path.name for path in paths}
        self.words = set()
        self.literals = set()
        for text in self.texts.values():
            if text.path.as_posix() == FOREIGN:
                continue
            self.words.update(re.findall(r"\w+", text.code))
            self.literals.update(re.findall(r'"([\w-]+(?:/[\w<>-]+)+)', text.code))
            self.literals.update(FLAG.findall(text.code))
        self.words.update(part for path in paths for part in re.findall(r"\w+", path.name))
        self.words.update(path.stem for path in paths)
        self.foreign = read_foreign(root)
        self.used_foreign = set()

    def is_foreign(self, name):
        if name in self.foreign:
            self.used_foreign.add(name)
            return True
        return False

    def has_path(self, name, folder):
        """A file or folder of this name, from the root or from this folder."""
        for start in ("", folder):
            path = os.path.normpath(os.path.join(start, name))
            if path in self.files or path in self.folders:
                return True
            if re.search(r"[*{]", path):
                patterns = braces(path)
                if all(fnmatch.filter(self.files | self.folders, each) for each in patterns):
                    return True
        return False


def braces(path):
    """a.{h,cc} as a.h and a.cc."""
    found = re.search(r"\{([^}]*)\}", path)
    if not found:
        return [path]
    return [each for part in found.group(1).split(",")
            for each in braces(path[:found.start()] + part + path[found.end():])]


def read_foreign(root):
    names = {}
    path = root / FOREIGN
    for line in path.read_text().splitlines() if path.is_file() else []:
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            names[name] = reason.strip()
    return names


def check_files(tree, text, report):
    folder = text.path.parent.as_posix()
    for found in FILE.finditer(text.prose):
        name = found.group(1)
        is_named_alone = "/" not in name
        if name.split("/")[0] in WRITTEN:
            continue
        place = f"{text.path}:{text.line_of(found.start())}"
        if is_named_alone and re.search(rf"\.({OTHERS})$", name):
            continue
        if not is_named_alone and name.split("/")[0] not in tree.tops | {"..", "."} and re.search(
                rf"\.({OTHERS})$", name):
            continue
        if tree.has_path(name, folder) or tree.is_foreign(name):
            continue
        if is_named_alone:
            matches = [file for file in tree.files
                       if fnmatch.fnmatch(file.rsplit("/", 1)[-1], name)]
            below = [file for file in matches if file.startswith(folder + "/") or folder == "."]
            if matches and (below or not text.is_document):
                continue
            if matches:
                report.problem(place, f"{name} is not in this folder; write {sorted(matches)[0]}")
                continue
        report.problem(place, f"no file is called {name}")


def check_folders(tree, text, report):
    tops = "|".join(map(re.escape, sorted(tree.tops)))
    pattern = rf"(?<![\w/.$<>{{}}~:\"-])((?:{tops})/[\w/-]+)(?![\w./*<{{-]*[\w*<{{])"
    folder = text.path.parent.as_posix()
    for found in re.finditer(pattern, text.prose):
        name = found.group(1).rstrip("/")
        if tree.has_path(name, folder) or tree.is_foreign(name):
            continue
        if any(f"{literal}/".startswith(name + "/") or name.startswith(literal + "/")
               for literal in tree.literals - tree.folders):
            continue
        report.problem(f"{text.path}:{text.line_of(found.start())}", f"there is no {name}")


def check_links(tree, text, report):
    for found in LINK.finditer(text.prose) if text.is_document else []:
        target, _, anchor = found.group(1).partition("#")
        place = f"{text.path}:{text.line_of(found.start())}"
        if re.match(r"\w+://", target):
            continue
        path = text.path if not target else Path(
            os.path.normpath(os.path.join(text.path.parent.as_posix(), target)))
        if path.as_posix() not in tree.files | tree.folders:
            report.problem(place, f"the link to {target} leads nowhere")
        elif anchor and anchor not in map(anchor_of, headings(tree.texts[path].prose)):
            report.problem(place, f"{path} has no heading for #{anchor}")


def check_headings(tree, text, report):
    for found in QUOTED_HEADINGS.finditer(text.prose):
        document = next((path for path in (Path(found.group(1)), text.path.parent / found.group(1))
                         if path in tree.texts), None)
        if document is None:
            continue
        known = headings(tree.texts[document].prose)
        for heading in re.findall(r'"([^"]+)"', found.group(2)):
            heading = " ".join(heading.split())
            if heading.rstrip(".,") not in known:
                report.problem(f"{text.path}:{text.line_of(found.start())}",
                               f'{document} has no heading "{heading}"')


def check_words(tree, text, report):
    prose = re.sub(r"\S+://\S+", lambda at: blanks(at.group()), text.prose)
    for found in NAME.finditer(prose):
        name = found.group("name")
        if name in tree.words or tree.is_foreign(name):
            continue
        if name.endswith("s") and name[:-1] in tree.words:  # Several of a kind.
            continue
        if (found.group("qualified") or "").split(":")[0] in tree.foreign:
            tree.is_foreign(found.group("qualified").split(":")[0])
            continue
        report.problem(f"{text.path}:{text.line_of(found.start())}",
                       f"{name} is not in the code; if others own it, list it in {FOREIGN}")


def check_flags(tree, text, report):
    for found in FLAG.finditer(text.prose) if text.is_document else []:
        flag = found.group()
        if flag not in tree.literals and not tree.is_foreign(flag):
            report.problem(f"{text.path}:{text.line_of(found.start())}", f"nothing takes {flag}")


def check_names(root, paths, report, all_paths):
    tree = Tree(root, all_paths)
    for path in paths:
        text = tree.texts.get(path)
        if text is None or path.as_posix() == FOREIGN:
            continue
        for check in (check_files, check_folders, check_links, check_headings, check_words,
                      check_flags):
            check(tree, text, report)
    for name, reason in tree.foreign.items():
        if not reason:
            report.problem(FOREIGN, f"{name} has no reason")
        elif len(paths) == len(all_paths) and name not in tree.used_foreign:
            report.problem(FOREIGN, f"{name} is mentioned nowhere or is ours")
