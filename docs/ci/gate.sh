#!/bin/sh
# Gates a change: the same workloads on a base and on this tree. Reports go to out/.
#
# usage: gate.sh BASE [FILE.yaml...]
#   BASE   a commit, a schedq program, or a folder of results
#   FILE   workload files; none: the built-in suite
#
# environment:
#   SCHEDQ   the program (build/release/schedq)
#   TIERS    what is judged, of semantic,instructions,time (semantic)
#   STORE    a folder that collects figures for `schedq history`; none: nothing is collected
#
# Exit codes: 0 pass, 1 fail, 2 the input is wrong or the base cannot run, 4 cannot tell.
set -eu

base=${1:?"usage: gate.sh BASE [FILE.yaml...]"}
shift
schedq=${SCHEDQ:-build/release/schedq}
mkdir -p out
set -- "$@" --base "$base" --tier "${TIERS:-semantic}" --strict \
  --junit out/gate.xml --markdown out/gate.md
if [ -n "${STORE:-}" ]; then set -- "$@" --store "$STORE"; fi
if [ "${GITHUB_ACTIONS:-}" = true ]; then set -- "$@" --annotate; fi

status=0
"$schedq" gate "$@" || status=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f out/gate.md ]; then
  cat out/gate.md >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
