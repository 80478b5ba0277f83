#!/usr/bin/env bash
# Installs a package on a bare system, and checks an example with it. Without ROOT that is a Debian 12 made with
# debootstrap; ROOT may be of Ubuntu, and gets its packages from where it says.
#
#   tools/test_package.sh FOLDER deb|tarball|wheel [ROOT]
#
# Needs root, debootstrap and the archive of Debian or Ubuntu; the wheel also needs PyPI.
# Prints how long it took from the package to the first finding.
set -euo pipefail
# What is mounted below the root is gone when this script ends, however it ends.
if [ -z "${HEDDLE_OWN_MOUNTS:-}" ] && [ "$(id -u)" -eq 0 ]; then
  exec env HEDDLE_OWN_MOUNTS=1 unshare --mount --propagation private "$0" "$@"
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages=$(cd "$1" && pwd)
kind=$2
root=${3:-}
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "test_package: needs root and debootstrap" >&2
  exit 77 # skipped
fi
# What is mounted there is not ours to remove. --one-file-system alone does not help: a folder of the same file
# system that is mounted once more is on no other device.
mounted=()
remove_root() {
  local place
  for place in "${mounted[@]}"; do
    umount "$place" || return
  done
  rm -rf --one-file-system "$root" "$root.log"
}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  trap remove_root EXIT
  debootstrap --variant=minbase bookworm "$root" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  # Where packages come from is as on this machine.
  rm -f "$root/etc/apt/sources.list"
  cp -r /etc/apt/sources.list* "$root/etc/apt/" 2>/dev/null || true
fi
cp -r /etc/apt/apt.conf.d "$root/etc/apt/" 2>/dev/null || true
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
mkdir -p "$root/packages" "$root/example"
cp "$packages"/* "$root/packages/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/packages/ca.crt" # of this machine, for pip
cp "$here/examples/look_back_scan.cu" "$here/tests/users/classroom/missing_barrier.cu" "$root/example/"
mount -t proc proc "$root/proc"
mounted+=("$root/proc")

inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive HOME=/root PIP_CERT=/packages/ca.crt REQUESTS_CA_BUNDLE=/packages/ca.crt HEDDLE_NVCC="${HEDDLE_NVCC:-}" PATH=/env/bin:/opt/heddle/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
quiet() { "$@" >"$root/log" 2>&1 || { tail -20 "$root/log" >&2; exit 1; }; }
if [ -n "${HEDDLE_NVCC:-}" ]; then # a toolkit of this machine, below the same path
  toolkit=$(dirname "$(dirname "$(realpath "$HEDDLE_NVCC")")")
  mkdir -p "$root$toolkit"
  mount --bind "$toolkit" "$root$toolkit"
  mounted+=("$root$toolkit")
  mount -o remount,bind,ro "$root$toolkit"
  HEDDLE_NVCC=$toolkit/bin/nvcc
fi
quiet inside apt-get update -qq

start=$(date +%s)
case $kind in
  deb)
    debs=("/packages/$(basename "$packages"/heddle_*.deb)")
    # Its LLVM is Debian 12's.
    [ -z "$(inside apt-cache search --names-only '^libllvm22$')" ] || debs+=("/packages/$(basename "$packages"/heddle-llvm_*.deb)")
    quiet inside apt-get install -y -qq --no-install-recommends "${debs[@]}" g++ binutils
    ;;
  tarball)
    quiet inside apt-get install -y -qq --no-install-recommends g++ binutils
    mkdir -p "$root/opt/heddle"
    tar -xzf "$packages"/heddle-*.tar.gz --strip-components=1 -C "$root/opt/heddle"
    ;;
  wheel)
    quiet inside apt-get install -y -qq --no-install-recommends g++ binutils python3-venv
    quiet inside python3 -m venv /env
    wheel=$(basename "$packages"/heddle_cuda-*.whl)
    extra=$([ -n "${HEDDLE_NVCC:-}" ] && echo "[lint]" || echo "[cuda,lint]")
    quiet inside pip install --no-compile --find-links /packages "/packages/$wheel$extra"
    ;;
esac
inside heddle doctor || true
# What the README shows first.
status=0
inside bash -c 'cd /example && heddle missing_barrier.cu' >"$root/finding" 2>&1 || status=$?
end=$(date +%s)
if [ "$status" -ne 1 ] || ! grep -q 'error\[data-race\]' "$root/finding"; then
  cat "$root/finding" >&2
  echo "test_package: $kind: exit code $status where 1 is expected" >&2
  exit 1
fi
status=0
inside bash -c 'cd /example && heddle check look_back_scan.cu -- index' >"$root/finding" 2>&1 || status=$?
if [ "$status" -ne 1 ] || ! grep -q 'error\[starvation\]' "$root/finding"; then
  cat "$root/finding" >&2
  echo "test_package: $kind: exit code $status where 1 is expected" >&2
  exit 1
fi
echo "test_package: $kind: from the package to the first finding: $((end - start)) s"
