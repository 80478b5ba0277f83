#!/usr/bin/env bash
# at_night.sh COMMAND…: the command, with the number of the first random program in the place of FIRST: another one each night; and
# in the place of SECONDS for how long it may look for something new (0: for as long as it takes).
set -euo pipefail
words=("$@")
for i in "${!words[@]}"; do
  words[i]=${words[i]/%FIRST/$((HEDDLE_NIGHT * 100000 % 4000000000))}
  words[i]=${words[i]/%=SECONDS/=${HEDDLE_NIGHT_SECONDS:-0}}
done
exec "${words[@]}"
