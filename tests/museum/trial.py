#!/usr/bin/env python3
"""Goal: the gate catches regressions that upstream really had, and nothing that is harmless.

Method: plants each piece of regressions.toml and harmless.toml in a copy of the tree, builds the
program, and gates it against the program of the tree as it is, tier by tier.

usage: trial.py [--check | --canary] [--preset PRESET] [--tiers TIERS] [NAME...]
  --check          only demand that every piece still applies
  --preset PRESET  of both builds (check)
  --tiers TIERS    comma-separated (semantic,instructions)
  NAME             these pieces; without NAME all

Copy and builds stay in the cache folder. The table says which tier caught which piece. Exit 0: each
regression was caught by a tier that it names, and no harmless change by any; 1: not so; 2: usage.
"""
import argparse
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "ci"))
from scratch_tree import CACHE, ROOT, build, copy_tree, run, say  # noqa: E402

VERDICTS = {0: "passes", 1: "CAUGHT", 2: "refused", 4: "cannot tell"}
# What shows most of what a queue does, in a few seconds.
WORKLOADS = ["--labels", "short"]


def read_pieces():
    pieces = []
    for name in ("regressions", "harmless"):
        for piece in tomllib.loads((HERE / f"{name}.toml").read_text())["piece"]:
            pieces.append({"tiers": [], **piece, "harmless": name == "harmless"})
    return pieces


def planted(piece):
    """The changed text of the file, or what is wrong."""
    path = ROOT / piece["file"]
    if not path.is_file():
        return None, f"{piece['file']} is not there"
    text = path.read_text()
    edits = [(piece["old"], piece["new"])]
    if "also_old" in piece:
        edits.append((piece["also_old"], piece["also_new"]))
    places = []
    for old, new in edits:
        if text.count(old) != 1:
            return None, f"its old text is {text.count(old)} times in {piece['file']}, not once"
        places.append((text.index(old), old, new))
    for place, old, new in sorted(places, reverse=True):
        text = text[:place] + new + text[place + len(old):]
    return text, None


def check(pieces):
    failed = 0
    for piece in pieces:
        wrong = planted(piece)[1]
        if wrong is not None:
            failed += 1
            print(f"{piece['name']}: {wrong}")
    if len(pieces) < 20 or sum(not piece["harmless"] for piece in pieces) < 10:
        failed += 1
        print("expected ten regressions and ten harmless changes at least")
    return failed


class Trial:
    def __init__(self, options):
        self.options = options
        self.tree = CACHE / "museum" / "tree"
        self.base = CACHE / "museum" / f"schedq-{options.preset}"

    def prepare(self):
        copy_tree(self.tree)
        if run(["cmake", "--preset", self.options.preset], self.tree).returncode != 0:
            sys.exit("museum: the copy does not configure")
        if not self.build():
            sys.exit("museum: the copy does not build as it is")
        self.base.write_bytes(self.program().read_bytes())
        self.base.chmod(0o755)

    def program(self):
        return self.tree / "build" / self.options.preset / "schedq"

    def build(self):
        built = build(self.tree, self.options.preset, ["schedq"])
        if built.returncode != 0:
            say(built.stdout[-3000:])
        return built.returncode == 0

    def verdicts(self, piece, text):
        """What each tier says of a piece."""
        path = self.tree / piece["file"]
        original = path.read_bytes()
        path.write_text(text)
        try:
            if not self.build():
                return None
            return {tier: self.judge(tier) for tier in self.options.tiers.split(",")}
        finally:
            path.write_bytes(original)

    def judge(self, tier):
        chosen = [] if tier == "time" else WORKLOADS
        ended = run([str(self.base), "gate", "--base", str(self.base), "--new",
                     str(self.program()), "--tier", tier, "--strict", *chosen], self.tree)
        (CACHE / "museum" / "last-gate.txt").write_text(ended.stdout)
        culprit = next((line.strip() for line in ended.stdout.splitlines()
                        if line.endswith(" % of the change")), "")
        return ended.returncode, culprit.split(":")[0] if tier == "instructions" else ""


def is_right(piece, verdicts):
    caught = {tier for tier, (code, _) in verdicts.items() if code == 1}
    if any(code not in (0, 1, 4) for code, _ in verdicts.values()):
        return False
    return not caught if piece["harmless"] else bool(caught & set(piece["tiers"]))


def try_all(pieces, options):
    trial = Trial(options)
    trial.prepare()
    tiers = options.tiers.split(",")
    print(f"| piece | {' | '.join(tiers)} | |\n|---|{'---|' * (len(tiers) + 1)}", flush=True)
    failed = 0
    for piece in pieces:
        text, wrong = planted(piece)
        verdicts = trial.verdicts(piece, text) if wrong is None else None
        if verdicts is None:
            failed += 1
            print(f"| {piece['name']} | {wrong or 'does not compile'} |", flush=True)
            continue
        right = is_right(piece, verdicts)
        failed += not right
        cells = [VERDICTS.get(code, f"exit code {code}") + (f": {culprit}" if culprit else "")
                 for code, culprit in verdicts.values()]
        print(f"| {piece['name']} | {' | '.join(cells)} | {'' if right else 'WRONG'} |", flush=True)
    return failed


def run_canary():
    regression = {"tiers": ["semantic"], "harmless": False}
    harmless = {"tiers": [], "harmless": True}
    assert is_right(regression, {"semantic": (1, "")})
    assert not is_right(regression, {"semantic": (0, "")}), "a regression that passes is right"
    assert not is_right(regression, {"semantic": (0, ""), "time": (1, "")})
    assert not is_right(regression, {"semantic": (2, "")}), "what was refused is caught"
    assert is_right(harmless, {"semantic": (0, ""), "time": (4, "")})
    assert not is_right(harmless, {"semantic": (1, "")}), "a false alarm is right"
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--canary", action="store_true")
    parser.add_argument("--preset", default="check")
    parser.add_argument("--tiers", default="semantic,instructions")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    if options.help:
        print(__doc__)
        return 0
    if options.canary:
        return run_canary()
    pieces = read_pieces()
    unknown = set(options.names) - {piece["name"] for piece in pieces}
    if unknown:
        say(f"museum: no piece is named {', '.join(sorted(unknown))}")
        return 2
    if options.check:
        return 1 if check(pieces) else 0
    chosen = [piece for piece in pieces if not options.names or piece["name"] in options.names]
    failed = try_all(chosen, options)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
