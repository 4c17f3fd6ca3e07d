#!/usr/bin/env python3
"""Draws the figures of this folder as SVG files beside this script.

usage: draw.py [--check]
  --check   write nothing; exit 1 if a file differs from what would be written
"""

import sys
from html import escape
from pathlib import Path

FONT = 14
SMALL = 12
INK = "#1f2933"
GREY = "#6b7785"
FILLS = {"queue": "#d9ecff", "pool": "#fdebc8", "flight": "#dff3df", "plain": "#ffffff",
         "stale": "#eceff2", "log": "#efe4fb"}


class Figure:
    """An SVG document, built from boxes, arrows and words."""

    def __init__(self, width, height, title):
        self.head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                     f'viewBox="0 0 {width} {height}" role="img" '
                     f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="{FONT}">')
        self.parts = [
            f"<title>{escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
            f'markerHeight="8" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{INK}"/>'
            "</marker></defs>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        ]

    def words(self, x, y, text, size=FONT, colour=INK, anchor="middle", bold=False):
        weight = ' font-weight="bold"' if bold else ""
        for number, line in enumerate(text.split("\n")):
            self.parts.append(
                f'<text x="{x}" y="{y + number * (size + 4)}" font-size="{size}" fill="{colour}" '
                f'text-anchor="{anchor}"{weight}>{escape(line)}</text>')

    def box(self, x, y, width, height, title, body="", fill="plain", dashed=False):
        """A box with a bold title and, below it, smaller words."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" '
            f'fill="{FILLS[fill]}" stroke="{INK}"{dash}/>')
        lines = body.count("\n") + 1 if body else 0
        total = FONT + lines * (SMALL + 4)
        top = y + (height - total) / 2 + FONT - 2
        self.words(x + width / 2, top, title, bold=True)
        if body:
            self.words(x + width / 2, top + SMALL + 5, body, SMALL, INK)

    def arrow(self, points, text="", at=None, anchor="middle", dashed=False):
        """A line through the points with a tip at its end, and words at `at`."""
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.4"'
                          f'{dash} marker-end="url(#tip)"/>')
        if text:
            self.words(at[0], at[1], text, SMALL, INK, anchor)

    def line(self, points, dashed=False):
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{GREY}"{dash}/>')

    def text(self):
        return "\n".join([self.head, *self.parts, "</svg>"]) + "\n"


def pod_life():
    figure = Figure(940, 540, "The places of a pod, and what moves it from one to the other")
    figure.box(40, 60, 160, 60, "PreEnqueue", "may it enter?", dashed=True)
    figure.box(340, 60, 180, 60, "active", "highest priority,\nthen oldest", "queue")
    figure.box(700, 60, 170, 60, "in flight", "events are logged for it", "flight")
    figure.box(700, 210, 170, 56, "bound", "absent from the queue")
    figure.box(340, 200, 180, 56, "backoff", "by window of a second", "queue")
    figure.box(340, 300, 180, 56, "error-backoff", "failed without a plugin", "queue")
    figure.box(40, 200, 160, 66, "gated", "a PreEnqueue plugin\nkeeps it out", "pool")
    figure.box(40, 400, 160, 66, "unschedulable", "its rejectors wait\nfor an event", "pool")
    figure.box(340, 400, 180, 66, "verdict", "does an event help?\nthe rejectors' hints",
               dashed=True)
    figure.words(120, 345, "the pool", SMALL, GREY)
    figure.line([(25, 182), (215, 182), (215, 482), (25, 482), (25, 182)], dashed=True)

    figure.arrow([(120, 18), (120, 58)], "Add", (130, 36), "start")
    figure.arrow([(200, 90), (338, 90)], "all pass", (264, 82))
    figure.arrow([(90, 120), (90, 198)], "one rejects", (84, 150), "end")
    figure.arrow([(150, 200), (150, 122)], "asked again", (158, 150), "start")
    figure.arrow([(520, 80), (698, 80)], "Pop", (610, 72))
    figure.arrow([(785, 120), (785, 208)], "Bind", (793, 165), "start")
    figure.arrow([(870, 90), (910, 90), (910, 440), (522, 440)], "Fail: the events since the pop",
                 (720, 456))
    figure.arrow([(400, 200), (400, 122)], "FlushBackoff", (392, 165), "end")
    figure.arrow([(340, 328), (280, 328), (280, 108), (338, 108)], "FlushBackoff", (288, 292),
                 "start")
    figure.arrow([(470, 200), (470, 160), (675, 160), (675, 100), (698, 100)],
                 "Pop, when active is empty", (560, 152), dashed=True)
    figure.arrow([(430, 400), (430, 358)], "an error", (438, 384), "start")
    figure.arrow([(520, 426), (560, 426), (560, 228), (522, 228)], "after backoff", (566, 290),
                 "start")
    figure.arrow([(520, 412), (650, 412), (650, 110), (522, 110)], "immediately", (658, 350),
                 "start")
    figure.arrow([(200, 418), (338, 418)], "Event", (272, 412))
    figure.arrow([(340, 448), (202, 448)], "skip", (272, 464))
    figure.words(470, 506,
                 "A pod whose verdict is \"after backoff\" and whose backoff is over goes to "
                 "active.\nWhat is about to enter active (or backoff, with "
                 "SchedulerPopFromBackoffQ) passes "
                 "PreEnqueue first, else it is gated.", SMALL)
    return figure


def lanes():
    figure = Figure(1000, 450, "The active queue: lanes of sorted runs, and a heap")
    figure.box(20, 40, 170, 54, "occupancy", "which lanes may\nhold something", "log")
    figure.words(20, 150,
                 "Pop compares the heads\n(green) of the best lane and\nthe heap's front. It "
                 "takes the\n"
                 "best one if a second look\nfinds the same words:\nthe double collect.", SMALL,
                 INK, "start")
    for row, (priority, runs) in enumerate(
            ((9, ((1, 4, 7, 12), (5,))), (5, ((2, 3, 9, 10, 11), (6, 8))), (0, ((13, 14),)))):
        y = 40 + row * 100
        figure.words(350, y + 19, f"lane: priority {priority}", FONT, INK, "end", True)
        for number, run in enumerate(runs):
            top = y + number * 36
            figure.words(366, top + 19, "main run" if number == 0 else "further run", SMALL, GREY,
                         "start")
            for place, timestamp in enumerate(run):
                x = 446 + place * 60
                figure.box(x, top, 54, 28, f"t={timestamp}", fill="queue" if place else "flight")
    figure.words(446, 28, "head: the oldest of its run", SMALL, INK, "start")
    figure.arrow([(800, 54), (690, 54)])
    figure.words(808, 46,
                 "Push appends at the tail,\nif the entry is not older\nthan the last one there",
                 SMALL, INK, "start")
    figure.words(350, 358, "heap", FONT, INK, "end", True)
    figure.words(366, 352, "what suits\nno lane", SMALL, GREY, "start")
    figure.box(446, 335, 130, 44, "front", "pops look here", "flight")
    for place in range(3):
        figure.box(590 + place * 96, 335, 88, 44, "bucket", "not sorted", "queue")
    figure.arrow([(634, 379), (634, 415), (511, 415), (511, 381)])
    figure.words(646, 419, "is put in order once the front is drained", SMALL, INK, "start")
    return figure


def two_sided_rule():
    figure = Figure(900, 420, "Why no wake-up is lost between an event and a failing pod")
    figure.words(150, 34, "thread E: an event comes", FONT, INK, "middle", True)
    figure.words(750, 34, "thread F: a pod fails", FONT, INK, "middle", True)
    figure.box(30, 60, 240, 54, "1. append to the log", "the event is in the list", "log")
    figure.box(30, 150, 240, 54, "2. look at the pool", "judge each pod found there", "pool")
    figure.box(630, 60, 240, 54, "1. enter the pool", "the slot's word says so", "pool")
    figure.box(630, 150, 240, 54, "2. read the log on", "judge what came since the pop", "log")
    figure.arrow([(150, 114), (150, 148)])
    figure.arrow([(750, 114), (750, 148)])
    figure.box(385, 60, 130, 54, "log", "", "log")
    figure.box(385, 150, 130, 54, "pool", "", "pool")
    figure.arrow([(270, 80), (383, 80)], "write", (326, 73))
    figure.arrow([(385, 185), (272, 185)], "read", (326, 178))
    figure.arrow([(630, 87), (560, 87), (560, 170), (517, 170)], "write", (595, 80))
    figure.arrow([(515, 100), (540, 100), (540, 190), (628, 190)], "read", (590, 183))
    figure.words(450, 250, "Each side writes first and reads second, in one order for all threads "
                 "(seq_cst). So one of the two reads comes last:", SMALL)
    figure.box(60, 275, 380, 56, "E looks after F has entered",
               "E finds the pod in the pool and judges it", "stale")
    figure.box(460, 275, 380, 56, "F reads after E has appended",
               "F finds the event in the log and judges it", "stale")
    figure.words(450, 365,
                 "If both find each other, the pod is judged twice for one event: an attempt too "
                 "many,\n"
                 "never one too few.", SMALL)
    return figure


def dispatcher():
    figure = Figure(980, 430,
                    "The dispatcher: an object's slot, the timer wheel, the lanes, the sink")
    figure.box(20, 50, 150, 56, "reporters", "status, nomination", "plain")
    figure.box(20, 140, 150, 56, "scheduler", "bindings", "plain")
    figure.box(240, 80, 190, 90, "slot of the object",
               "one call waits: merge,\noverwrite, skip, no-op;\none may be in flight", "queue")
    figure.arrow([(170, 78), (205, 78), (205, 110), (238, 110)], "Add", (190, 70))
    figure.arrow([(170, 168), (205, 168), (205, 140), (238, 140)], "Add", (190, 160))
    figure.box(500, 80, 150, 90, "timer wheel", "delayed calls,\nby millisecond", "log")
    figure.arrow([(430, 125), (498, 125)], "deadline", (464, 117))
    figure.words(790, 36, "due calls, first come first served", SMALL, GREY)
    for row, (name, note) in enumerate((("bindings", "first"), ("deletions", "then"), ("patches",
    "last, with a share"))):
        y = 50 + row * 56
        figure.box(720, y, 140, 44, name, note, "flight")
        figure.arrow([(650, 125), (685, 125), (685, y + 22), (718, y + 22)])
    figure.box(720, 270, 140, 56, "limits", "rate, burst,\nnumber in flight", "pool")
    figure.arrow([(860, 72), (900, 72), (900, 298), (862, 298)])
    figure.arrow([(860, 128), (900, 128), (900, 298), (862, 298)])
    figure.arrow([(860, 184), (900, 184), (900, 298), (862, 298)])
    figure.box(470, 270, 170, 56, "sink", "executes the call", "plain")
    figure.arrow([(720, 298), (642, 298)], "start", (682, 290))
    figure.arrow([(555, 326), (555, 385), (335, 385), (335, 172)],
                 "Complete: success or error; what came meanwhile is judged now",
                 (345, 404), "start")
    figure.arrow([(280, 172), (280, 270)], "no-op, outranked:\nskipped in O(1)", (270, 292),
                 "middle")
    return figure


FIGURES = {"pod-life": pod_life, "lanes": lanes, "two-sided-rule": two_sided_rule,
           "dispatcher": dispatcher}


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    differing = 0
    for name, draw in FIGURES.items():
        path = Path(__file__).with_name(f"{name}.svg")
        text = draw().text()
        if not arguments:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            print(f"{path.name} is not what draw.py draws; run it")
            differing += 1
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
