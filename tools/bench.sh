#!/usr/bin/env bash
# Runs the benchmarks of one build: tools/bench.sh BUILD [FILTER]. JSON lands in BUILD/bench.json.
set -euo pipefail
build=$1
filter=${2:-.}
exec "$build/bench/heddle_benchmarks" --benchmark_filter="$filter" \
  --benchmark_out="$build/bench.json" --benchmark_out_format=json
