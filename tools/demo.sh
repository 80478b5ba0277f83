#!/usr/bin/env bash
# What Heddle is for, in two commands. `./dev demo` builds first and then runs this.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 70

# show EXPECTED-STATUS COMMAND…: prints the command, what it prints and its exit code.
failed=0
show() {
  local expected=$1
  shift
  printf '\n\033[1m$ %s\033[0m\n' "$*"
  "$@"
  local status=$?
  printf '(exit code %d)\n' "$status"
  [ "$status" -eq "$expected" ] || failed=1
}

echo 'A kernel whose 256 threads hand a baton to each other, last one first: it needs CUDA'"'"'s progress'
echo 'guarantees, and Heddle keeps them.'
show 0 ./heddle run examples/relay.cu

echo
echo 'Two kernels in two streams; the second waits for the first. On a GPU it usually passes.'
show 1 ./heddle check examples/execution-model/stream.0.cu

echo
echo 'The same in one stream: now the order is promised.'
show 0 ./heddle check examples/execution-model/stream.1.cu
exit "$failed"
