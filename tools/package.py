#!/usr/bin/env python3
"""Packages from a build folder: heddle_*.deb, heddle-llvm_*.deb, a tarball and a wheel.

    package.py BUILD FOLDER [--only deb|tarball|wheel|llvm-wheel]

The wheel holds what an installation below a prefix holds, so that `bin`, `lib/heddle`, `include` and
`share/man` lie in the environment that it is installed into. Its tag is the newest glibc that any file in it
asks for. It brings libfmt and libyaml-cpp; libstdc++ and libgcc are the system's, as for every manylinux
wheel. What needs LLVM is a wheel of its own, heddle_cuda_llvm, with LLVM's libraries: the extra 'lint'.
"""
import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

LLVM = 22
ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of the system, by the rules for manylinux wheels.
OF_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z|util|resolv)\.so|ld-linux|linux-vdso")


def call(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def newest_glibc(paths):
    """(2, 34) if that is the newest version of glibc that one of the files asks for."""
    wanted = [(0, 0)]
    for path in paths:
        text = call("objdump", "-p", path)
        wanted += [tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_(\d+\.\d+)", text)]
    return max(wanted)


def version_of(build):
    return re.search(r"CMAKE_PROJECT_VERSION:STATIC=(.*)", (build / "CMakeCache.txt").read_text()).group(1)


def install(build, prefix, component):
    call("cmake", "--install", build, "--prefix", prefix, "--component", component, "--strip")


def needed_libraries(paths):
    """{soname: file} of every library that the files need and a system need not have."""
    result = {}
    for path in paths:
        for soname, file in re.findall(r"^\s*(\S+) => (/\S+)", call("ldd", path), re.M):
            if not OF_SYSTEM.search(soname):
                result[soname] = pathlib.Path(file).resolve()
    return result


def license_of(file):
    """Of the Debian package that a library on this machine comes from."""
    # Debian 12 knows some by their place before /lib and /usr/lib were one folder.
    found = call("dpkg-query", "--search", f"*{str(file).removeprefix('/usr')}")
    package = found.split(":")[0]
    return package, pathlib.Path(f"/usr/share/doc/{package}/copyright").read_bytes()


def python_package(info):
    """The package `heddle`, for scripts and for pytest, which finds its plug-in by the entry point."""
    folder = ROOT / "python"
    entries = [(path.relative_to(folder).as_posix(), path.read_bytes(), 0o644)
               for path in sorted((folder / "heddle").rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return [*entries, (f"{info}/entry_points.txt", b"[pytest11]\nheddle = heddle.pytest_plugin\n", 0o644)]


def write_wheel(folder, name, version, tree, summary, metadata):
    """tree: a prefix with bin, lib, … The file's name ends in the tag that its contents allow."""
    elf = [p for p in sorted(tree.rglob("*")) if p.is_file() and not p.is_symlink() and is_elf(p)]
    # Executables of ours and libraries alone: objects ask for nothing.
    major, minor = newest_glibc(p for p in elf if p.suffix != ".o")
    tag = f"py3-none-manylinux_{major}_{minor}_x86_64"
    wheel = folder / f"{name}-{version}-{tag}.whl"
    info, data = f"{name}-{version}.dist-info", f"{name}-{version}.data"
    entries = []
    for path in sorted(tree.rglob("*")):
        if path.is_dir():
            continue
        inside = path.relative_to(tree)
        scripts = inside.parts[0] == "bin"
        target = f"{data}/scripts/{inside.name}" if scripts else f"{data}/data/{inside.as_posix()}"
        entries.append((target, path.read_bytes(), 0o755 if is_elf(path) else 0o644))
    if name == "heddle_cuda":
        entries += python_package(info)
    license_text = (ROOT / "LICENSE").read_bytes()
    head = [f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\nSummary: {summary}\n",
            "License: Apache-2.0 WITH LLVM-exception\nRequires-Python: >=3.8\n", *metadata]
    entries += [
        (f"{info}/METADATA", "".join(head).encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: heddle\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644),
        (f"{info}/LICENSE", license_text, 0o644),
    ]
    record = "".join(
        "{},sha256={},{}\n".format(
            target, base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode(), len(content))
        for target, content, _ in entries) + f"{info}/RECORD,,\n"
    entries.append((f"{info}/RECORD", record.encode(), 0o644))
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for target, content, mode in entries:
            member = zipfile.ZipInfo(target, date_time=(1980, 1, 1, 0, 0, 0))
            member.external_attr = (0o100000 | mode) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return wheel


def cuda_extra():
    """The wheels that ./dev unpacks, as requirements of the extra 'cuda'."""
    text = (ROOT / "tools" / "cuda-requirements.txt").read_text()
    pinned = re.findall(r"^(nvidia-[a-z-]+==[\d.]+)", text, re.M)
    return "Provides-Extra: cuda\n" + "".join(f"Requires-Dist: {p} ; extra == 'cuda'\n" for p in pinned)


def make_wheel(build, folder):
    version = version_of(build)
    with tempfile.TemporaryDirectory() as temporary:
        tree = pathlib.Path(temporary)
        install(build, tree, "tool")
        links = [p for p in tree.rglob("*") if p.is_symlink()]
        for link in links:  # a wheel holds none
            content = link.resolve().read_bytes()
            link.unlink()
            link.write_bytes(content)
        extra = f"Provides-Extra: lint\nRequires-Dist: heddle-cuda-llvm == {version} ; extra == 'lint'\n"
        readme = "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text()
        return write_wheel(folder, "heddle_cuda", version, tree, "Runs and checks CUDA C++ programs on the CPU",
                           [cuda_extra(), extra, readme])


def make_llvm_wheel(build, folder):
    version = version_of(build)
    with tempfile.TemporaryDirectory() as temporary:
        tree = pathlib.Path(temporary)
        install(build, tree, "llvm")
        shutil.rmtree(tree / "lib", ignore_errors=True)  # the module for clang-tidy needs a clang-tidy
        libraries = tree / "lib" / "heddle"
        libraries.mkdir(parents=True)
        for soname, file in needed_libraries((tree / "bin").iterdir()).items():
            if soname.startswith(("libfmt", "libyaml")):
                continue  # of the wheel heddle_cuda
            shutil.copy(file, libraries / soname)
            call("patchelf", "--set-rpath", "$ORIGIN", libraries / soname)
            package, text = license_of(file)
            licenses = tree / "share" / "doc" / "heddle-llvm" / "licenses"
            licenses.mkdir(parents=True, exist_ok=True)
            (licenses / package).write_bytes(text)
        # Clang's own headers, which src/lint/frontend.cpp looks for there.
        resources = pathlib.Path(call(f"clang-{LLVM}", "-print-resource-dir").strip()) / "include"
        shutil.copytree(resources, libraries / "clang" / "include")
        return write_wheel(folder, "heddle_cuda_llvm", version, tree, "heddle lint, and machine code for heddle run",
                           [f"Requires-Dist: heddle-cuda == {version}\n"])


def make_with_cpack(generator, build, folder):
    before = set(folder.iterdir())
    with tempfile.TemporaryDirectory() as temporary:
        call("cpack", "-G", generator, "--config", build / "CPackConfig.cmake", "-B", temporary)
        for file in pathlib.Path(temporary).iterdir():
            if file.suffix in (".deb", ".gz"):
                shutil.copy(file, folder)
    return sorted(set(folder.iterdir()) - before)


MAKERS = {
    "deb": lambda build, folder: make_with_cpack("DEB", build, folder),
    "tarball": lambda build, folder: make_with_cpack("TGZ", build, folder),
    "wheel": lambda build, folder: [make_wheel(build, folder)],
    "llvm-wheel": lambda build, folder: [make_llvm_wheel(build, folder)],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", choices=MAKERS, action="append")
    options = parser.parse_args()
    folder = options.folder.absolute()
    for kind in options.only or MAKERS:
        folder.mkdir(parents=True, exist_ok=True)
        for file in MAKERS[kind](options.build.absolute(), folder):
            print(f"{file.name}  {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
