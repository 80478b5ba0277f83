"""One test program: what its header says, and how it is compiled.

A program is a .cu file whose header comment states what it exercises, in lines of the form

    //@ exercises: text        what of CUDA and of Heddle the program uses (required)
    //@ flags: ...             nvcc flags besides the common ones
    //@ also-flags: ...        compile and run once more with these flags instead of `flags`; the
                               output must be the same; may be repeated
    //@ needs: header.h        skipped, with a word, where the toolkit does not have this header
    //@ sources: a.cu b.cu     further sources, relative to the program
    //@ args: ...              the program's arguments
    //@ heddle: ...            arguments of `heddle run`
    //@ seeds: 1 2 3           run once more per seed with `--seed N`; the output must be the same
    //@ exit: N                expected exit code (default 0)
    //@ expect: regex          faults: the first line of the report, then lines that must follow
    //@ hardware: text         the output is not compared with a GPU's, for the reason given
    //@ gap: reason            known not to pass yet, because Heddle lacks what the reason names
    //@ timeout: seconds       for one run (default 60)

A directive that is not in this list is an error, so a typing mistake cannot switch a check off.
Standard output is compared byte for byte with NAME.out beside the program, if there is one.
"""
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile

ARCHITECTURE = "-arch=compute_90"  # PTX is all that Heddle reads: without machine code nvcc is a fifth faster
LINKED_ARCHITECTURE = "-arch=sm_90"  # nvlink knows no other
COMMON_FLAGS = [ARCHITECTURE, "-std=c++17"]
ONCE = {"exercises", "flags", "needs", "sources", "args", "heddle", "seeds", "exit", "hardware", "gap", "timeout"}
REPEATED = {"also-flags", "expect"}
DIRECTIVE = re.compile(r"^\s*//\s*@\s*([\w-]*)\s*(:?)\s*(.*?)\s*$")
QUOTED_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class BadProgram(Exception):
    """The header of a program is wrong, or the program does not compile."""


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.folder = os.path.dirname(self.path)
        values = {name: [] for name in ONCE | REPEATED}
        with open(self.path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if not lines or not lines[0].startswith("// "):
            raise BadProgram(f"{self.path}:1: the file must open with a comment that says what it does")
        for number, line in enumerate(lines, 1):
            if not re.match(r"^\s*//\s*@", line):
                continue
            match = DIRECTIVE.match(line)
            name, colon, text = match.groups()
            if name not in values or not colon or not line.startswith("//@ "):
                raise BadProgram(f"{self.path}:{number}: unknown or malformed directive: {line.strip()}")
            if name in ONCE and values[name]:
                raise BadProgram(f"{self.path}:{number}: '{name}' is given twice")
            values[name].append(text)
        if not values["exercises"]:
            raise BadProgram(f"{self.path}: no '//@ exercises:' line")
        one = lambda name, default="": values[name][0] if values[name] else default
        self.exercises = one("exercises")
        self.flag_sets = [shlex.split(one("flags"))] + [shlex.split(text) for text in values["also-flags"]]
        self.sources = [self.path] + [os.path.join(self.folder, name) for name in one("sources").split()]
        self.needs = one("needs", None)
        self.arguments = shlex.split(one("args"))
        self.heddle_arguments = shlex.split(one("heddle"))
        self.seeds = [int(seed) for seed in one("seeds").split()]
        self.exit_code = int(one("exit", "0"))
        self.expected = [re.compile(text) for text in values["expect"]]
        self.no_hardware = one("hardware", None)
        self.gap = one("gap", None)
        self.timeout = float(one("timeout", "60"))
        self.output_path = os.path.splitext(self.path)[0] + ".out"

    def expected_output(self):
        if not os.path.exists(self.output_path):
            return None
        with open(self.output_path, "rb") as file:
            return file.read()

    def uses_patience(self):
        return any(os.path.basename(path) == "patience.h" for path, _ in _closure(self.sources))


def _closure(sources):
    """The sources and the project headers they reach, with contents, in a fixed order."""
    pending, seen, result = list(sources), set(), []
    while pending:
        path = os.path.normpath(pending.pop(0))
        if path in seen or not os.path.exists(path):
            continue
        seen.add(path)
        with open(path, "rb") as file:
            text = file.read()
        result.append((path, text))
        for name in QUOTED_INCLUDE.findall(text):
            pending.append(os.path.join(os.path.dirname(path), name.decode()))
    return result


class Compiler:
    """nvcc with a cache addressed by the contents of everything that goes in."""

    def __init__(self, nvcc, cache, libraries=None, runtime="shared"):
        self.nvcc = nvcc
        self.runtime = runtime  # what -cudart says
        self.cache = cache
        self.libraries = libraries  # where -lcuda is found if the toolkit has no stub of it
        self._version = None

    def version(self):
        if self._version is None:
            self._version = subprocess.run([self.nvcc, "--version"], capture_output=True, check=True).stdout
        return self._version

    def command(self, sources, flags):
        flags = list(flags)
        # Line information is part of every report; -G brings its own.
        if "-G" not in flags:
            flags.append("-lineinfo")
        # A program's own -std, -arch or -gencode takes the place of the common one.
        common = ["-cudart", self.runtime, *COMMON_FLAGS]
        if any(flag.startswith("-std") for flag in flags):
            common.remove("-std=c++17")
        if any(flag.startswith(("-arch", "-gencode")) for flag in flags):
            common.remove(ARCHITECTURE)
        elif any(flag.startswith(("-rdc", "-dc", "--relocatable-device-code", "-dlto")) for flag in flags):
            common[common.index(ARCHITECTURE)] = LINKED_ARCHITECTURE
        return common + flags, sources

    def has_header(self, name):
        nvcc = os.path.realpath(shutil.which(self.nvcc) or self.nvcc)
        return os.path.exists(os.path.join(os.path.dirname(os.path.dirname(nvcc)), "include", name))

    def compile(self, sources, flags):
        """Returns the path of the executable, compiling it if the cache does not hold it."""
        options, sources = self.command(sources, flags)
        key = hashlib.sha256()
        key.update(self.version())
        key.update("\0".join(options).encode())
        for path, text in _closure(sources):
            key.update(b"\0" + path.encode() + b"\0" + text)  # reports name the path
        folder = os.path.join(self.cache, key.hexdigest()[:24])
        executable = os.path.join(folder, os.path.splitext(os.path.basename(sources[0]))[0])
        if os.path.exists(executable):
            return executable
        os.makedirs(folder, exist_ok=True)
        # Compile aside and rename, so that two runs at once cannot see half a file.
        with tempfile.TemporaryDirectory(dir=self.cache) as aside:
            target = os.path.join(aside, "program")
            command = [self.nvcc, *options, "-o", target, *sources]
            if self.libraries and "-lcuda" in options:
                command.append("-L" + self.libraries)
            done = subprocess.run(command, capture_output=True, text=True, cwd=aside)
            if done.returncode != 0:
                raise BadProgram(f"does not compile: {shlex.join(command)}\n{done.stdout}{done.stderr}")
            os.rename(target, executable)
        return executable

