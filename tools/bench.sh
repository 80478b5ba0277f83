#!/usr/bin/env bash
# Runs the benchmarks of one build: tools/bench.sh BUILD [FILTER]. Google Benchmark's JSON lands in
# BUILD/bench.json, for comparing two runs.
set -euo pipefail
build=$1
filter=${2:-.}

title() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

title "Interpreter: PTX instructions of one thread per second (core: one core, all: every core)"
"$build/bench/bench_interpreter" --benchmark_filter="$filter" --benchmark_counters_tabular=true \
  --benchmark_out="$build/bench.json" --benchmark_out_format=json 2>/dev/null
[ "$filter" = . ] || exit 0

title "Memory per resident device thread"
"$build/bench/bench_memory"

title "Process start to first kernel"
python3 bench/startup.py "$build/bin/heddle"

title "Opcodes of 627 programs that execute"
"$build/bench/bench_coverage"
