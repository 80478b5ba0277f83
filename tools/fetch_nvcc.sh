#!/usr/bin/env bash
# fetch_nvcc.sh VERSION: nvcc 12.8, 13.0, … from NVIDIA's wheels on PyPI, as a toolkit in build/nvcc/VERSION. Prints the path of
# its nvcc. What is there is not fetched again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:?usage: fetch_nvcc.sh VERSION}
folder=$PWD/build/nvcc/$version
if [ ! -x "$folder/bin/nvcc" ]; then
  new=$folder.new
  rm -rf "$new"
  mkdir -p "$(dirname "$folder")"
  case $version in
    12.*)
      packages=("nvidia-cuda-nvcc-cu12==$version.*" "nvidia-cuda-runtime-cu12==$version.*" "nvidia-cuda-cccl-cu12==$version.*")
      ;;
    *)
      packages=("nvidia-cuda-nvcc==$version.*" "nvidia-nvvm==$version.*" "nvidia-cuda-crt==$version.*"
        "nvidia-cuda-runtime==$version.*" "nvidia-cuda-cccl<=$version.999") # which has versions of its own
      ;;
  esac
  python3 -m pip install --quiet --no-deps --no-compile --only-binary :all: --disable-pip-version-check --root-user-action=ignore \
    --target "$new" "${packages[@]}" >&2
  mkdir -p "$folder"
  # CUDA 13 has one folder for all, CUDA 12 one for each package.
  for part in "$new"/nvidia/cu13 "$new"/nvidia/cuda_{nvcc,runtime,cccl}; do
    if [ -d "$part" ]; then
      cp -a "$part/." "$folder/"
    fi
  done
  rm -rf "$new"
fi
[ -x "$folder/bin/nvcc" ] || { echo "there is no nvcc in the wheels of $version" >&2; exit 1; }
echo "$folder/bin/nvcc"
