#!/usr/bin/env bash
# Some programs of each bound, others each night; says how to get the same ones again.
# HEDDLE_NIGHT_SECONDS: for so long.
#   sample.sh PROGRAM COUNT I/N [BOUND]: the I-th of N parts of COUNT programs of each bound, or of this one
set -euo pipefail
asked=(--sample="$2" --slice="$3" --largest=1000000 --from="${HEDDLE_NIGHT:-0}")
if [ -n "${4:-}" ]; then
  asked+=(--bound="$4")
fi
echo "again: ./dev enumerate ${asked[*]}"
exec "$1" "${asked[@]}" --seconds="${HEDDLE_NIGHT_SECONDS:-0}"
