#!/usr/bin/env bash
# Goal: ci/lint catches what it promises to catch.
# Method: plant one fault in a small clean tree and expect the named check to fail with a message
# that names the fault; the same tree without it must pass first, so no check fails by accident.
#
# usage: lint_canaries.sh LINT CANARY
# shellcheck disable=SC2016  # the planted script must keep its dollar sign
set -euo pipefail

lint=$1
canary=$2
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT

# function_of_lines N prints a function that is N lines long.
function_of_lines() {
  printf 'void Long() {\n'
  for ((line = 2; line < $1; line++)); do printf '  Step(%d);\n' "$line"; done
  printf '}\n'
}

plant_clean_tree() {
  mkdir -p "$tree/engine/base" "$tree/hints"
  printf '#pragma once\n\nint Base();\n' >"$tree/engine/base/base.h"
  { printf '#pragma once\n\n#include "engine/base/base.h"\n\n' &&
    printf 'inline int Hint() { return Base(); }\n'; } >"$tree/hints/hint.h"
  { printf 'void Step(int);\n\n' && function_of_lines 70; } >"$tree/engine/long.cc"
  printf '#!/usr/bin/env bash\necho "$1"\n' >"$tree/engine/script.sh"
  printf '# A page\n\n## Words\n\nSee [words](#words).\n' >"$tree/page.md"
  for folder in engine engine/base hints; do printf 'Purpose.\n' >"$tree/$folder/README.md"; done
}

# expect_failure CHECK TEXT: the check fails, says TEXT, and counts it in its last line.
expect_failure() {
  local output
  if output=$("$lint" --root "$tree" "$1" 2>&1); then
    printf 'ci/lint %s passed although %s was planted\n' "$1" "$canary"
    exit 1
  fi
  grep -qF -- "$2" <<<"$output" || {
    printf 'ci/lint %s failed without saying "%s":\n%s\n' "$1" "$2" "$output"
    exit 1
  }
  [[ $output == *"0 passed, 1 failed" ]] || {
    printf 'the last line is not the sum:\n%s\n' "$output"
    exit 1
  }
}

# Plants this canary's fault.
plant_fault() {
  local base=$tree/engine/base/base.h long=$tree/engine/long.cc hint=$tree/hints/hint.h
  case $canary in
    upward_include) printf '#pragma once\n\n#include "hints/hint.h"\n' >"$base" ;;
    relative_include) printf '#include "../engine/base/base.h"\n' >"$hint" ;;
    missing_standard_include) printf 'std::string Name();\n' >>"$base" ;;
    missing_include) sed -i '/#include/d' "$hint" ;;
    include_in_vain) sed -i '/Hint()/d' "$hint" ;;
    long_file) for ((line = 0; line < 900; line++)); do printf '// Line.\n'; done >"$long" ;;
    long_function) { printf 'void Step(int);\n\n' && function_of_lines 71; } >"$long" ;;
    unformatted_line) printf '#pragma once\n\nint   Base();\n' >"$base" ;;
    machine_path) printf '// See /%s/someone/notes.\n' home >>"$base" ;;
    missing_readme) rm "$tree/hints/README.md" ;;
    unquoted_variable) printf '#!/usr/bin/env bash\necho $1\n' >"$tree/engine/script.sh" ;;
    missing_file) printf '// See engine/base/gone.h.\n' >>"$base" ;;
    missing_name) printf '// As GoneByNow() does.\n' >>"$base" ;;
    missing_link) printf 'See [words](#deeds).\n' >>"$tree/page.md" ;;
    missing_heading) printf '// page.md, "Words" and\n// "Deeds", says why.\n' >>"$base" ;;
    missing_flag) printf 'Say `--gone`.\n' >>"$tree/page.md" ;;
    idle_foreign_name) mkdir "$tree/ci" && printf 'NeverSaid a word\n' >"$tree/ci/foreign_names" ;;
  esac
}

case $canary in
  upward_include) check=includes text='engine/base/base.h:3: upward include' ;;
  relative_include) check=includes text='hints/hint.h:1: include of ../engine/base/base.h leaves' ;;
  missing_standard_include)
    check=uses text='engine/base/base.h:4: uses std::string without <string>'
    ;;
  missing_include) check=uses text='hints/hint.h:4: uses Base without "engine/base/base.h"' ;;
  include_in_vain)
    check=uses text='hints/hint.h:3: includes "engine/base/base.h" and uses nothing of it'
    ;;
  long_file) check=limits text='engine/long.cc: 900 lines, at most 800' ;;
  long_function) check=limits text='engine/long.cc:3: function of 71 lines, at most 70' ;;
  unformatted_line) check=format text='engine/base/base.h:3' ;;
  machine_path) check=text text='engine/base/base.h:4: absolute path of a machine' ;;
  missing_readme) check=readmes text='hints: has no README.md' ;;
  unquoted_variable) check=shell text='SC2086' ;;
  missing_file) check=names text='engine/base/base.h:4: no file is called engine/base/gone.h' ;;
  missing_name) check=names text='engine/base/base.h:4: GoneByNow is not in the code' ;;
  missing_link) check=names text='page.md:6: page.md has no heading for #deeds' ;;
  missing_heading) check=names text='engine/base/base.h:4: page.md has no heading "Deeds"' ;;
  missing_flag) check=names text='page.md:6: nothing takes --gone' ;;
  idle_foreign_name) check=names text='ci/foreign_names: NeverSaid is mentioned nowhere' ;;
  *) printf 'no canary is called %s\n' "$canary" && exit 2 ;;
esac

plant_clean_tree
"$lint" --root "$tree" "$check"
plant_fault
expect_failure "$check" "$text"
