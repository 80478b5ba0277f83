#!/usr/bin/env bash
# cost.sh NAME COMMAND…: runs one test of ctest, and notes the processor time that it and the processes it waited for
# have taken, in $HEDDLE_RESULTS/cost (bench/tests.py reads it). Without HEDDLE_RESULTS it is the command and nothing else.
# A test that need not run again (tools/unchanged.py) has passed.
[ -n "${HEDDLE_RESULTS:-}" ] || exec "${@:2}"
if [ -e "$HEDDLE_RESULTS/unchanged/${1//\//:}" ]; then
  echo "not run again: nothing that it depends on has changed since it passed"
  exit 0
fi
mkdir -p "$HEDDLE_RESULTS/cost"
"${@:2}"
status=$?
times >"$HEDDLE_RESULTS/cost/${1//\//:}"
exit $status
