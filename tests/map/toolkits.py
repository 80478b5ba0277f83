#!/usr/bin/env python3
"""Compiles every_call.cu against the headers, device library and assembler of other CUDA toolkits.

    toolkits.py --clang clang++-22 --nvcc nvcc FOLDER…

Each FOLDER holds include/, nvvm/libdevice/ and bin/ptxas of one toolkit. Those of CUDA 12.4 to 12.9 can be had from
PyPI (nvidia-cuda-nvcc-cu12, nvidia-cuda-runtime-cu12, nvidia-cuda-cccl-cu12, unpacked into one folder); these packages
have no nvcc, so clang is the front end, for sm_70 and sm_90, and the installed nvcc compiles once more with their
libcu++. A folder that has bin/nvcc is compiled with that one as well. May miss: what only the front end of an older
nvcc refuses."""
import argparse
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("every_call.cu")
COMMON = ["-std=c++17", "-c", "-o", "/dev/null", str(SOURCE)]


def commands(options, folder):
    for architecture in ("sm_70", "sm_90"):
        yield [options.clang, "-x", "cuda", f"--cuda-path={folder}", f"--cuda-gpu-arch={architecture}",
               "-Wno-unknown-cuda-version", "-Wno-unknown-pragmas", *COMMON]
    yield [options.nvcc, "-arch=sm_90", "-isystem", f"{folder}/include", *COMMON]
    if (folder / "bin" / "nvcc").exists():
        for architecture in ("sm_70", "sm_90"):
            yield [f"{folder}/bin/nvcc", f"-arch={architecture}", *COMMON]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clang", default="clang++-22")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = 0
    for folder in options.folder:
        for command in commands(options, folder):
            done = subprocess.run(command, capture_output=True, text=True)
            failed += done.returncode != 0
            print("ok" if done.returncode == 0 else "FAILED", " ".join(command[:6]))
            if done.returncode != 0:
                print(done.stderr[:3000])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
