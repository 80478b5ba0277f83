#!/usr/bin/env bash
# at_night.sh COMMAND…: the command, with the number of the first random program in the place of FIRST: another one each night.
set -euo pipefail
words=("$@")
for i in "${!words[@]}"; do
  if [ "${words[i]}" = FIRST ]; then
    words[i]=$((HEDDLE_NIGHT * 100000 % 4000000000))
  fi
done
exec "${words[@]}"
