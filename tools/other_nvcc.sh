#!/usr/bin/env bash
# Programs with their output, and idioms with their verdicts, compiled by other versions of nvcc: the oldest and the newest that
# Heddle is for (docs/toolkits.md). HEDDLE_OTHER_NVCC names them, separated by colons; without it the newest one is fetched
# from PyPI, which has none of CUDA 12. Status 77: it cannot be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ -z "${HEDDLE_OTHER_NVCC:-}" ]; then
  if ! newest=$(tools/fetch_nvcc.sh 13.5); then
    echo "HEDDLE_OTHER_NVCC names no other nvcc, and PyPI gives none"
    exit 77
  fi
  HEDDLE_OTHER_NVCC=$newest
fi
failed=() tried=()
IFS=: read -r -a others <<<"$HEDDLE_OTHER_NVCC"
for nvcc in "${others[@]}"; do
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  tried+=("$version")
  for folder in run api libcudacxx; do
    python3 -B tests/run/run_test.py --heddle build/dev/bin/heddle --nvcc "$nvcc" --cache build/nightly/programs tests/$folder/*.cu ||
      failed+=("$folder with $version")
  done
  HEDDLE=build/dev/bin/heddle HEDDLE_NVCC=$nvcc python3 -B tests/check/test_cases.py tests/check/{clauses,idioms,memory}/*.cu ||
    failed+=("check with $version")
done
echo "nvcc ${tried[*]}: ${#failed[@]} failed ${failed[*]}"
[ ${#failed[@]} -eq 0 ]
