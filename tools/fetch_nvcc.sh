#!/usr/bin/env bash
# fetch_nvcc.sh VERSION: nvcc 13.0, 13.1, … from NVIDIA's wheels on PyPI, as a toolkit in build/nvcc/VERSION. Prints the path of
# its nvcc. What is there is not fetched again. The wheels of CUDA 12 hold ptxas and libnvvm, but no nvcc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:?usage: fetch_nvcc.sh VERSION}
folder=$PWD/build/nvcc/$version
case $version in 13.*) ;; *) echo "PyPI has no nvcc $version: install a toolkit" >&2; exit 1 ;; esac
if [ ! -x "$folder/bin/nvcc" ]; then
  new=$folder.new
  rm -rf "$new"
  mkdir -p "$(dirname "$folder")"
  packages=("nvidia-cuda-nvcc==$version.*" "nvidia-nvvm==$version.*" "nvidia-cuda-crt==$version.*"
    "nvidia-cuda-runtime==$version.*" "nvidia-cuda-cccl<=$version.999") # which has versions of its own
  python3 -m pip install --quiet --no-deps --no-compile --only-binary :all: --disable-pip-version-check --root-user-action=ignore \
    --target "$new" "${packages[@]}" >&2
  mkdir -p "$folder"
  cp -a "$new/nvidia/cu13/." "$folder/"
  rm -rf "$new"
fi
[ -x "$folder/bin/nvcc" ] || { echo "there is no nvcc in the wheels of $version" >&2; exit 1; }
echo "$folder/bin/nvcc"
