#!/usr/bin/env bash
# Builds and runs the device benchmark, then counts with the profiler what each bulk operation moves: DRAM sectors
# (32 bytes) read and written, and L2 requests, per operation. usage: run.sh [millions of keys] [results folder]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
millions=${1:-100} results=${2:-.}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
nvcc -std=c++17 -O3 -arch="${ARCH:-sm_90}" -I"$here/../../include" "$here/device.cu" -o "$build/bench"
"$build/bench" "$millions" 3 | tee "$results/results.txt"
if ! command -v ncu >/dev/null; then
  echo "no ncu here: sectors per operation were not counted" | tee "$results/sectors.txt"
  exit 0
fi
metrics=dram__sectors_read.sum,dram__sectors_write.sum,lts__t_requests.sum,gpu__time_duration.sum
for name in "4+4 packed8" "8+8 packed16"; do
  for load in 0.5 0.8 0.9; do
    ncu --clock-control none --csv --metrics $metrics \
      -k 'regex:bulk_insert|bulk_find|partition_pairs|insert_bins' -c 5 "$build/bench" "$millions" 1 "$name" $load |
      python3 "$here/sectors.py" "$name" $load "$millions"
  done
done | tee "$results/sectors.txt"
