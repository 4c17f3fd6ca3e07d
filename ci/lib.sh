# shellcheck shell=bash
# What the scripts of ci/ share: where things are, how a step is shown, how results are counted.
# Source it after `set -euo pipefail`.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # for those who source this
cache=${XDG_CACHE_HOME:-$HOME/.cache}/schedq
jobs=$(nproc)
logs=$root/build/log
passed=0
failed=0

# Progress goes to stderr, so that stdout holds results only.
say() { printf '%s\n' "$*" >&2; }

# One line and exit code 2: the input, the usage or the machine is not as it must be.
die() {
  say "${0##*/}: $*"
  exit 2
}

# log_of TITLE is where a step of this script writes.
log_of() { printf '%s/%s-%s.log' "$logs" "${0##*/}" "${1//[^A-Za-z0-9]/-}"; }

# step TITLE COMMAND... runs a command with its output in a log, says how long it took, and shows
# the end of the log when it fails. Returns what the command returned.
step() {
  local title=$1 log started status=0
  shift
  mkdir -p "$logs"
  log=$(log_of "$title")
  started=$SECONDS
  "$@" >"$log" 2>&1 || status=$?
  if ((status == 0)); then
    say "$(printf '%-44s %4d s' "$title" $((SECONDS - started)))"
  else
    tail -n 100 "$log" >&2
    say "$(printf '%-44s %4d s  FAILED, log %s' "$title" $((SECONDS - started)) "${log#"$root/"}")"
  fi
  return "$status"
}

# count STATUS adds one passed or failed check to the sums.
count() {
  if (($1 == 0)); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# checked TITLE COMMAND... is a step that counts as one check.
checked() {
  local status=0
  step "$@" || status=$?
  count "$status"
  return 0
}

# configure PRESET
configure() { (cd "$root" && cmake --preset "$1"); }

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --build "$root/build/$preset" --parallel "$jobs" ${1+--target "$@"}
}

# The last line of a run, and its exit code.
finish() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0))
}
