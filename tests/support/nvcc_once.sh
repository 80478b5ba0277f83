#!/usr/bin/env bash
# nvcc_once.sh NVCC KEPT FLAG…: nvcc, but what it has made of the same sources with the same flags in the same folder is taken from the folder
# KEPT. For tests that compile the same few programs again and again, because they are about what becomes of them.
set -euo pipefail
nvcc=$1 kept=$2
shift 2
words=() out='' rule=''
all=("$@")
for ((i = 0; i < ${#all[@]}; ++i)); do
  case ${all[i]} in
    -o) out=${all[++i]} ;;
    -MF) rule=${all[++i]} ;;
    *) words+=("${all[i]}") ;;
  esac
done
[ -n "$out" ] || exec "$nvcc" "$@"
key=$(
  {
    pwd
    for word in "${words[@]}"; do
      printf '%q\n' "$word"
      if [ -f "$word" ]; then sha256sum <"$word"; fi
    done
  } | sha256sum | cut -c1-32
)
if ! [ -e "$kept/$key" ]; then
  "$nvcc" "$@"
  mkdir -p "$kept"
  cp "$out" "$kept/$key"
  if [ -n "$rule" ]; then cp "$rule" "$kept/$key.rule"; fi
  exit
fi
cp "$kept/$key" "$out"
if [ -n "$rule" ]; then cp "$kept/$key.rule" "$rule"; fi
