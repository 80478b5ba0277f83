#!/usr/bin/env bash
# Some programs of each bound, others with each commit, in two processes; says how to get the same
# ones again. sample.sh PROGRAM [COUNT [BOUND]]: so many of each bound, or of this one.
set -euo pipefail
commit=$(git rev-parse HEAD 2>/dev/null || echo none)
asked=(--sample="${2:-4}" --largest=1000000 --from="$commit")
if [ -n "${3:-}" ]; then
  asked+=(--bound="$3")
fi
echo "again: ./dev enumerate ${asked[*]} --slice=0/2, and 1/2"
"$1" "${asked[@]}" --slice=1/2 &
other=$!
failed=0
"$1" "${asked[@]}" --slice=0/2 || failed=1
wait "$other" || failed=1
exit $failed
