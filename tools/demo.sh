#!/usr/bin/env bash
# What Heddle is for, in four commands. `./dev demo` builds first and then runs this.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 70

# show EXPECTED-STATUS COMMAND…: prints the command, what it prints and its exit code.
failed=0
report=$(mktemp)
trap 'rm -f "$report"' EXIT
show() {
  local expected=$1
  shift
  printf '\n\033[1m$ %s\033[0m\n' "$*"
  "$@" | tee "$report"
  local status=${PIPESTATUS[0]}
  printf '(exit code %d)\n' "$status"
  [ "$status" -eq "$expected" ] || failed=1
}

echo 'A kernel whose 256 threads hand a baton to each other, last one first: it needs CUDA'"'"'s progress'
echo 'guarantees, and Heddle keeps them.'
show 0 ./heddle run examples/relay.cu

echo
echo 'A prefix sum with decoupled look-back, in which block N works on tile N and waits for tile N - 1.'
echo 'It gives the right result on the GPUs that there are.'
show 1 ./heddle check examples/look_back_scan.cu -- index

echo
echo 'The same execution once more, step by step:'
schedule=$(grep -o 'v1:[A-Za-z0-9_-]*' "$report" | head -1)
show 1 ./heddle replay --trace "${schedule:-none}"

echo
echo 'Each block takes the next tile by a ticket instead: now it only waits for blocks that have started.'
show 0 ./heddle check examples/look_back_scan.cu -- ticket
exit "$failed"
