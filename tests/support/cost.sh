#!/usr/bin/env bash
# cost.sh NAME COMMAND…: runs one test of ctest, and notes the processor time that it and the processes it waited for
# have taken, in $HEDDLE_RESULTS/cost (bench/tests.py reads it). Without HEDDLE_RESULTS it is the command and nothing else.
[ -n "${HEDDLE_RESULTS:-}" ] || exec "${@:2}"
mkdir -p "$HEDDLE_RESULTS/cost"
"${@:2}"
status=$?
times >"$HEDDLE_RESULTS/cost/${1//\//:}"
exit $status
