"""`heddle run` from outside: what it says about programs that it cannot run, and its cache of programs.

HEDDLE is the program under test, CC a C compiler. No GPU, no CUDA toolkit: fake libraries have the names
that the real ones have, and a script plays nvcc.
"""
import os
import pathlib
import stat
import subprocess
import tempfile
import time
import unittest

HEDDLE = os.environ["HEDDLE"]
CC = os.environ.get("CC", "cc")
LIBRARIES = pathlib.Path(os.environ["HEDDLE_LIBRARIES"])

FAKE_NVCC = """#!/bin/sh
# Takes nvcc's command line, compiles the .cu file as C, and writes dependencies.
echo "$*" >>"$FAKE_NVCC_LOG"
out= source= deps=
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    -MF) deps=$2; shift ;;
    *.cu) source=$1 ;;
  esac
  shift
done
[ -n "$deps" ] && deps="-MD -MF $deps"
exec {cc} -x c $deps "$source" -o "$out"
"""


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.root / "cache"),
                                FAKE_NVCC_LOG=str(self.root / "nvcc.log"), HEDDLE_NVCC=str(self.root / "nvcc"))
        self.script("nvcc", FAKE_NVCC.replace("{cc}", CC))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def script(self, name, text):
        path = pathlib.Path(self.write(name, text))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def cc(self, *arguments):
        subprocess.run([CC, *arguments], check=True, cwd=self.root)

    def library(self, soname, text="void dummy(void) {}"):
        """A fake shared library of that name; returns the flags that link it."""
        self.write("library.c", text)
        self.cc("-shared", "-fPIC", f"-Wl,-soname,{soname}", "library.c", "-o", soname)
        return ["-Wl,--no-as-needed", str(self.root / soname)]

    def program(self, *flags, text="int main() { return 7; }"):
        self.write("app.c", text)
        self.cc("app.c", "-o", "app", *flags)
        return str(self.root / "app")

    def heddle(self, *arguments, **environment):
        return subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, cwd=self.root,
                              env=dict(self.environment, **environment), timeout=60)

    def expect(self, done, status, *texts):
        self.assertEqual(done.returncode, status, done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)

    def compilations(self):
        log = self.root / "nvcc.log"
        return len(log.read_text().splitlines()) if log.exists() else 0


class Refused(Program):
    def test_missing_program(self):
        self.expect(self.heddle("run", "nosuch"), 2, "there is no program 'nosuch'")
        self.expect(self.heddle("run", "nosuch.cu"), 2, "cannot read 'nosuch.cu'")

    def test_not_a_program(self):
        self.write("notes.txt", "hello\n")
        self.write("kernel.ptx", ".version 9.0\n")
        self.write("host.cpp", "int main() {}\n")
        self.expect(self.heddle("run", "notes.txt"), 2, "'./notes.txt' is not a program")
        self.expect(self.heddle("run", "./kernel.ptx"), 2, "holds device code only")
        self.expect(self.heddle("run", "host.cpp"), 2, "give heddle a .cu file or a program")
        self.expect(self.heddle("run", "."), 2, "it is a folder")

    def test_not_executable(self):
        path = self.program()
        os.chmod(path, 0o644)
        self.expect(self.heddle("run", "./app"), 2, "is not executable")

    def test_object_file(self):
        self.write("app.c", "int main() { return 0; }")
        self.cc("-c", "app.c")
        self.expect(self.heddle("run", "app.o"), 2, "an object file or a library")

    def test_damaged_program(self):
        path = pathlib.Path(self.program())
        path.write_bytes(path.read_bytes()[:2000])
        self.expect(self.heddle("run", "./app"), 2, "truncated")

    def test_kernels_without_any_runtime_library(self):
        self.program(text='__attribute__((section(".nv_fatbin"), used)) static const char x[64]; int main() { return 0; }')
        self.expect(self.heddle("run", "./app"), 2, "-cudart shared")

    def test_other_versions_of_the_runtime_library(self):
        self.program(*self.library("libcudart.so.11.0"))
        self.expect(self.heddle("run", "./app"), 3, "unsupported", "libcudart.so.11.0")

    def test_values_of_options(self):
        program = self.program()
        for word in ("0", "-1", "abc", "inf"):
            self.expect(self.heddle("run", "--max-time", word, "./app"), 2, f"--max-time: '{word}' is not a number of seconds above 0")
        for option in ("--output", "--html", "--baseline", "--write-baseline", "--config"):
            self.expect(self.heddle("run", option, "./app", "word"), 2, f"{option}: './app' is a program: the option needs a FILE")
        self.expect(self.heddle("check", "--progress-file", "./app", "word"), 2, "./app' is a program")
        self.assertTrue(pathlib.Path(program).read_bytes().startswith(b"\x7fELF"))
        self.expect(self.heddle("run", "-o", ".", "./app"), 2, "'.' is a folder")
        self.expect(self.heddle("run", "-o", "no/such", "./app"), 2, "cannot write 'no/such': No such file or directory")

    def test_flags_in_the_environment(self):
        self.program()
        said = "HEDDLE_FLAGS: '--races' of heddle check needs its value in the same word: --races=N"
        self.expect(self.heddle("check", "./app", HEDDLE_FLAGS="--races"), 2, said)
        self.expect(self.heddle("run", "./app", HEDDLE_FLAGS="--rases"), 2, "HEDDLE_FLAGS: '--rases' is not an option")

    def test_flags_for_a_program_that_is_not_compiled(self):
        self.program()
        self.expect(self.heddle("run", "--nvcc", "-O1", "./app"), 2, "does not end in .cu")


@unittest.skipUnless((LIBRARIES / "libcudart.so.13").exists(), "libcudart is not built")
class Started(Program):
    def test_driver_api(self):
        self.program(*self.library("libcuda.so.1"))
        self.expect(self.heddle("run", "./app"), 7)

    def test_arguments_exit_code_and_environment(self):
        self.script("app", '#!/bin/sh\necho "$1|$2|$HEDDLE_MODE|$HEDDLE_DEVICE|$HEDDLE_DEVICES|$HEDDLE_SEED"; exit 5\n')
        done = self.heddle("run", "--seed", "3", "--devices", "2", "--device", "sm_80", "app", "--x", "y z")
        self.assertEqual((done.stdout, done.returncode), ("--x|y z|run|sm_80|2|3\n", 5))

    def test_our_library_comes_first(self):
        self.script("app", '#!/bin/sh\necho "$LD_LIBRARY_PATH"\n')
        done = self.heddle("run", "app", LD_LIBRARY_PATH="/elsewhere")
        folders = done.stdout.strip().split(":")
        self.assertEqual(folders[:2], [str(LIBRARIES.resolve()), "/elsewhere"])
        self.assertNotIn("", folders)  # would be the current folder

    def test_a_program_without_cuda_is_run_with_a_warning(self):
        self.program()
        self.expect(self.heddle("run", "app"), 7, "no sign of CUDA")

    def test_a_library_that_uses_cuda_is_a_sign_of_it(self):
        cudart = self.library("libcudart.so.13")
        for tags in ("--disable-new-dtags", "--enable-new-dtags"):
            self.write("mine.c", "int mine(void) { return 7; }")
            self.cc("-shared", "-fPIC", "mine.c", *cudart, "-o", "libmine.so")
            self.cc("-shared", "-fPIC", "library.c", "-Wl,--no-as-needed", "-L.", "-lmine", f"-Wl,{tags},-rpath,$ORIGIN",
                    "-o", "libouter.so")
            self.program("-L.", "-Wl,--no-as-needed", "-louter", f"-Wl,{tags},-rpath,$ORIGIN,-rpath-link,.")
            done = self.heddle("run", "./app")
            self.assertEqual((done.returncode, done.stderr), (7, ""))

    def test_rpath_does_not_win(self):
        wrong = self.library("libcudart.so.13", "#include <unistd.h>\n__attribute__((constructor)) void f(void) { _exit(9); }")
        for tags in ("--disable-new-dtags", "--enable-new-dtags"):
            self.program(*wrong, f"-Wl,{tags},-rpath,{self.root}")
            self.assertEqual(subprocess.run([self.root / "app"]).returncode, 9)
            self.expect(self.heddle("run", "./app"), 7)

    def test_libraries_that_need_a_gpu_are_named(self):
        self.program(*self.library("libcudart.so.13"), *self.library("libcufft.so.12"), f"-Wl,-rpath,{self.root}")
        self.expect(self.heddle("run", "./app"), 7, "libcufft.so.12")


@unittest.skipUnless((LIBRARIES / "libcudart.so.13").exists(), "libcudart is not built")
class Compiled(Program):
    def setUp(self):
        super().setUp()
        self.write("value.h", "#define VALUE 7\n")
        self.write("app.cu", '#include "value.h"\nint main() { return VALUE; }\n')

    def run_app(self, *arguments, status=7, **environment):
        done = self.heddle("run", *arguments, "app.cu", **environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_the_second_run_compiles_nothing(self):
        self.run_app()
        self.run_app()
        self.assertEqual(self.compilations(), 1)

    def test_a_changed_header_compiles_again(self):
        self.run_app()
        self.write("value.h", "#define VALUE 8\n")
        self.run_app(status=8)
        self.run_app(status=8)
        self.assertEqual(self.compilations(), 2)

    def test_a_header_whose_size_and_time_stay_the_same_compiles_again(self):
        past = 1_000_000_000
        header = self.root / "value.h"
        os.utime(header, (past, past))
        time.sleep(2.1)  # until then nothing is known by its times
        self.run_app()
        self.run_app()
        self.assertEqual(self.compilations(), 1)
        self.write("value.h", "#define VALUE 8\n")
        os.utime(header, (past, past))
        self.run_app(status=8)
        self.assertEqual(self.compilations(), 2)
        header.touch()  # is read again, and is what it was
        self.run_app(status=8)
        self.assertEqual(self.compilations(), 2)

    def test_a_header_that_changes_while_it_is_compiled_is_not_remembered(self):
        compiler = (self.root / "nvcc").read_text().replace("exec ", "")
        self.script("nvcc", compiler + "echo '#define VALUE 9' > value.h\n")
        self.run_app()
        self.script("nvcc", compiler)
        self.run_app(status=9)

    def test_a_changed_source_or_flag_compiles_again_and_the_old_one_stays(self):
        self.run_app()
        self.run_app("--nvcc", "-DX=1")
        self.run_app("--device", "sm_80")
        self.assertEqual(self.compilations(), 3)
        self.run_app("--device", "sm_80")
        self.run_app()
        self.assertEqual(self.compilations(), 3)

    def test_the_command_line(self):
        self.run_app("--device", "sm_80", "--nvcc", "'-DX=a b' -O1")
        line = (self.root / "nvcc.log").read_text()
        for part in ("-cudart shared", "-arch=sm_80", "-lineinfo", "-DX=a b -O1"):
            self.assertIn(part, line)
        self.run_app("--nvcc", "-arch=sm_75 -G")
        line = (self.root / "nvcc.log").read_text().splitlines()[-1]
        self.assertNotIn("sm_90", line)
        self.assertNotIn("-lineinfo", line)

    def test_errors_of_the_compiler_come_through(self):
        self.write("app.cu", "int main( {\n")
        done = self.heddle("run", "app.cu")
        self.expect(done, 2, "app.cu:1", "nvcc could not compile 'app.cu'")
        self.assertNotIn("-rdc", done.stderr)
        self.write("more.cu", "int more;\n")
        self.expect(self.heddle("run", "app.cu", "more.cu"), 2, "of another file needs --nvcc=-rdc=true")
        self.assertEqual(list((self.root / "cache/heddle/programs").iterdir()), [])

    def test_flags_that_heddle_sets_itself_are_refused(self):
        self.expect(self.heddle("run", "--nvcc", "-o x", "app.cu"), 2, "leave out -o")
        self.expect(self.heddle("run", "--nvcc", "-cudart static", "app.cu"), 2, "leave out -cudart")

    def test_no_nvcc(self):
        self.expect(self.heddle("run", "app.cu", HEDDLE_NVCC="/nonexistent/nvcc"), 2, "HEDDLE_NVCC")

    def test_a_cache_folder_that_cannot_be_made(self):
        self.write("blocked", "")
        self.expect(self.heddle("run", "app.cu", XDG_CACHE_HOME=str(self.root / "blocked")), 2, "XDG_CACHE_HOME")


if __name__ == "__main__":
    unittest.main()
