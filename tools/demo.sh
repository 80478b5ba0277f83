#!/usr/bin/env bash
# What Heddle is for, in two commands. `./dev demo` builds first and then runs this.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 70

show() {
  printf '\n\033[1m$ %s\033[0m\n' "$*"
  "$@"
  local status=$?
  printf '(exit code %d)\n' "$status"
  return "$status"
}

status=0
show ./heddle run examples/relay.cu || status=1
exit "$status"
