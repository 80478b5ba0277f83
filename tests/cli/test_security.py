"""What is pasted or planted does not run: schedule strings of somebody else, cache folders that others can change, links in
the place of files that are written, and host programs that crash before their first call."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

from programs import HANG
from schedules import changed, lines_of, schedule_of

HEDDLE = os.environ["HEDDLE"]
NVCC = os.environ["HEDDLE_NVCC"]
NVCC_ONCE = pathlib.Path(__file__).resolve().parents[1] / "support/nvcc_once.sh"

WITH_ARGUMENTS = HANG.replace("int main() {", "int main(int count, char**) {\n  if (count != 3) return 7;")
WITH_FLAGS = HANG.replace("int main() {", "#ifndef WAITS\n#error no flags\n#endif\nint main() {")
EARLY = """
#include <cstdlib>
#include <stdexcept>
#include <cstring>
__global__ void nop() {}
int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "abort") == 0) abort();
  if (count > 1 && std::strcmp(words[1], "throw") == 0) throw std::runtime_error("no input");
  nop<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
"""
STATIC = """
#include <cstdlib>
struct Early { Early() { abort(); } } early;
__global__ void nop() {}
int main() { nop<<<1, 1>>>(); }
"""


class Security(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name)
        cls.work = cls.root / "work"
        cls.work.mkdir()
        for name, text in {"hang": HANG, "words": WITH_ARGUMENTS, "flags": WITH_FLAGS, "early": EARLY, "static": STATIC}.items():
            (cls.work / f"{name}.cu").write_text(text)
        cls.cache = cls.root / "cache"
        # Most tests begin with an empty cache, which is what they are about; the few programs need not be compiled for each.
        cls.nvcc = cls.root / "nvcc"
        cls.nvcc.write_text(f'#!/bin/sh\nexec "{NVCC_ONCE}" "{NVCC}" "{cls.root}/compiled" "$@"\n')
        cls.nvcc.chmod(0o755)

    def heddle(self, *arguments, status=None, cwd=None, without=(), umask=-1, **environment):
        variables = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "HEDDLE_NVCC": str(self.nvcc), **environment}
        for name in without:
            variables.pop(name)
        done = subprocess.run([HEDDLE, *map(str, arguments)], capture_output=True, text=True, cwd=cwd or self.work, timeout=200,
                              env=variables, umask=umask, check=False)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def schedule(self, *arguments):
        said = self.heddle("check", "--format=json", *arguments, status=1).stdout
        return json.loads(said)["findings"][0]["replay"]


class Pasted(Security):
    """Schedule strings."""

    def setUp(self):
        self.proof = self.root / "proof"
        self.proof.unlink(missing_ok=True)
        self.script = self.root / "evil"
        self.script.write_text(f"#!/bin/sh\ntouch {self.proof}\n")
        self.script.chmod(0o755)

    def tearDown(self):
        self.assertFalse(self.proof.exists(), "something that a schedule names has been executed")

    def refused(self, schedule, *arguments, **options):
        done = self.heddle("replay", *arguments, schedule, status=2, **options)
        self.assertEqual(done.stdout, "")
        self.assertFalse(self.proof.exists())
        return done.stderr

    def test_flags_of_a_string_reach_no_compiler(self):
        schedule = self.schedule("hang.cu")
        for flags in (f"-ccbin {self.script}", f"--compiler-bindir={self.script}", f"-Xcompiler -wrapper,{self.script}", "-DX=1",
                      f"-DX=$(touch {self.proof})"):
            with self.subTest(flags):
                said = self.refused(changed(schedule, nvcc=flags))
                self.assertIn("carries flags for nvcc, which are not taken from it", said)
                self.assertIn("type: heddle replay --nvcc=", said)

    def test_flags_of_an_old_string_may_be_typed(self):
        old = changed(self.schedule("--nvcc=-DWAITS", "flags.cu"), nvcc="-DWAITS")
        self.assertIn("heddle replay --nvcc=-DWAITS v1:…", self.refused(old))
        self.heddle("replay", "--nvcc=-DWAITS", old, status=1)

    def test_flags_are_those_that_the_cache_has_noted(self):
        schedule = self.schedule("--nvcc", "-O1 -DWAITS", "flags.cu")
        self.assertFalse([line for line in lines_of(schedule) if "WAITS" in line])
        self.heddle("replay", schedule, status=1)
        # Elsewhere nobody knows them.
        elsewhere = {"XDG_CACHE_HOME": str(self.root / "empty")}
        self.assertIn("no flags", self.heddle("replay", schedule, status=2, **elsewhere).stderr)
        self.heddle("replay", "--nvcc=-DWAITS", schedule, status=1, **elsewhere)

    def test_typed_flags_are_on_a_list(self):
        schedule = self.schedule("hang.cu")
        for flags in (f"-ccbin {self.script}", f"-ccbin={self.script}", f"--compiler-bindir {self.script}", f"-Xcompiler -B{self.root}",
                      f"-Xcompiler -wrapper,{self.script}", f"-Xlinker -plugin={self.script}", "-run", f"--options-file {self.script}",
                      f"-Xcompiler -fplugin={self.script}", f"-I -ccbin={self.script}", f"'-lx;touch {self.proof}'", f"-Xcompiler -Wl,-x",
                      f"'-DX=$(touch {self.proof})'", f"'-Xptxas=-v;touch {self.proof}'", f"-DX=`touch {self.proof}`",
                      f"-Xcompiler '-DX -B{self.root}'", f"--dryrun", f"-keep", "-optf x", "-ldir x"):
            with self.subTest(flags):
                said = self.refused(schedule, "--nvcc", flags)
                self.assertIn("is not a flag that heddle replay gives to nvcc", said)
        self.heddle("replay", "--nvcc", "-O1 -DX='\"(a b)\"' -I . -std=c++17 -lineinfo -Xcompiler -fopenmp,-Wall", schedule, status=1)

    def test_a_string_chooses_no_program(self):
        schedule = self.schedule("hang.cu")
        shell = shutil.which("sh")
        for program, arguments in ((shell, ["-c", f"touch {self.proof}"]), (str(self.script), []), ("sh", ["-c", f"touch {self.proof}"]),
                                   ("python3", ["-c", f"open('{self.proof}', 'w')"])):
            for content in (None, "0" * 32):
                with self.subTest(program):
                    said = self.refused(changed(schedule, program=program, argument=arguments, content=content))
                    self.assertIn("not made by your own heddle check", said)
                    self.assertIn("type: heddle replay --program=", said)
        # The program was typed; its arguments were not.
        said = self.refused(changed(schedule, program="sh", argument=["-c", f"touch {self.proof}"], content=None), f"--program={shell}")
        self.assertIn("with which arguments a program runs", said)

    def test_a_source_of_the_user_with_the_same_contents(self):
        schedule = self.schedule("words.cu", "--", "one", "two")
        foreign = changed(schedule, argument=["one", "two"])  # the same lines, in another order
        self.assertNotEqual(schedule, foreign)
        self.heddle("replay", schedule, status=1)
        done = self.heddle("replay", foreign, status=1)
        self.assertIn("with the arguments that the schedule names: one two", done.stderr)
        self.heddle("replay", changed(schedule, argument=None), "--", "one", "two", status=1)

        copy = self.work / "copy"
        copy.mkdir(exist_ok=True)
        shutil.copy(self.work / "words.cu", copy)
        self.heddle("replay", changed(schedule, program="/somewhere/words.cu"), status=1, cwd=copy)
        with (copy / "words.cu").open("a") as out:
            out.write("// more\n")
        self.assertIn("is not byte for byte the program", self.refused(foreign, cwd=copy))
        self.assertIn("is not byte for byte the program", self.refused(changed(foreign, content=None), cwd=copy))
        # This user's own check has printed it.
        self.assertIn("note: 'words.cu' is not byte for byte", self.heddle("replay", schedule, cwd=copy).stderr)

    def test_a_source_outside_of_the_current_folder(self):
        planted = self.root / "planted"
        planted.mkdir(exist_ok=True)
        shutil.copy(self.work / "hang.cu", planted / "other.cu")
        inside = self.root / "inside"
        inside.mkdir(exist_ok=True)
        schedule = self.schedule("hang.cu")
        said = self.refused(changed(schedule, program=str(planted / "other.cu")), cwd=inside)
        self.assertIn("which is not here", said)
        said = self.refused(changed(schedule, program="../planted/other.cu"), cwd=inside)
        self.assertIn("is not a file of yours below this folder", said)
        self.assertIn("heddle replay --program=../planted/other.cu v1:…", said)
        (inside / "link.cu").symlink_to(planted / "other.cu")
        said = self.refused(changed(schedule, program="link.cu"), cwd=inside)
        self.assertIn("is not a file of yours below this folder", said)
        self.heddle("replay", f"--program={planted / 'other.cu'}", changed(schedule, program="link.cu"), status=1, cwd=inside)

    def test_names_that_are_options_or_commands(self):
        schedule = self.schedule("hang.cu")
        content = next(line.split(" ")[1] for line in lines_of(schedule) if line.startswith("content "))
        odd = self.work / "odd"
        odd.mkdir(exist_ok=True)
        for name in (f"$(touch proof).cu", "`touch proof`.cu", f'x";touch proof;".cu'):
            shutil.copy(self.work / "hang.cu", odd / name)
            said = self.refused(changed(schedule, program=name, content=content), cwd=odd)
            self.assertIn("nvcc gives the name of a file to a shell", said)
            self.assertIn("nvcc gives the name of a file to a shell", self.heddle("check", "./" + name, status=2, cwd=odd).stderr)
        name = f"-ccbin=x.cu"
        shutil.copy(self.work / "hang.cu", odd / name)
        self.heddle("replay", changed(schedule, program=name), status=1, cwd=odd)
        self.assertFalse((odd / "proof").exists())

    def test_other_fields(self):
        schedule = self.schedule("hang.cu")
        for field in ({"device": "sm_90 -ccbin x"}, {"device": None}, {"devices": "100000"}):
            self.assertIn("devices that this version of Heddle does not know", self.refused(changed(schedule, **field)))
        for field in ({"content": "../x"}, {"digest": "x\x1b[2J"}, {"options": "run=x"}, {"planted": "x"}, {"devices": "-1"}):
            self.assertIn("a line that means nothing", self.refused(changed(schedule, **field)))
        # Limits are the user's.
        options = [line.split(" ", 1)[1] for line in lines_of(schedule) if line.startswith("options ")]
        self.heddle("replay", changed(schedule, options=",".join([*options, "max-states=4000000000,max-memory=4000000000"])), status=1)

    def test_a_terminal_is_given_no_commands(self):
        schedule = self.schedule("hang.cu")
        for bad in (changed(schedule, program="a\x1b]0;x\x07.cu"), changed(schedule, nvcc="\x1b[2J"), "v1:\x1b[2J", "v\x1b[2J:",
                    changed(schedule, program="sh", argument=["\x1b[2J"]), schedule_of(["\x1b[2J x"])):
            self.assertNotRegex(self.refused(bad), r"[\x00-\x09\x0b-\x1f\x7f]")


class Planted(Security):
    """Folders and files that others could have made."""

    def compiles(self, **options):
        """`run` works, and says what there is to say."""
        return self.heddle("run", "early.cu", status=0, **options).stderr

    def test_the_cache_is_for_its_user_only(self):
        cache = self.root / "fresh/deep"
        self.assertEqual(self.compiles(XDG_CACHE_HOME=str(cache), umask=0), "")
        for folder in (cache, cache / "heddle", *(cache / "heddle").iterdir()):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700, folder)
        for file in (cache / "heddle/programs").iterdir():
            self.assertEqual(stat.S_IMODE(file.stat().st_mode) & 0o022, 0, file)

    def refuses(self, cache, why):
        said = self.compiles(XDG_CACHE_HOME=str(cache))
        self.assertRegex(said, f"warning: the cache is not used, because others could plant programs in it: {why}")
        self.assertEqual(said.count("warning"), 1)

    def test_a_folder_that_others_can_write_to(self):
        for number, (folder, mode) in enumerate((("heddle", 0o777), ("heddle", 0o770), ("heddle/programs", 0o722), ("heddle/kernels", 0o702))):
            cache = self.root / f"open{number}"
            (cache / folder).mkdir(parents=True)
            (cache / folder).chmod(mode)
            self.refuses(cache, f"others may write to '{cache / folder}'")
            self.assertEqual([path for path in cache.rglob("*") if path.is_file()], [])

    def test_a_parent_that_others_can_write_to(self):
        cache = self.root / "shared"
        cache.mkdir()
        cache.chmod(0o777)
        self.refuses(cache, f"others may write to '{cache}'")
        cache.chmod(0o1777)  # as /tmp: what is there cannot be taken away
        self.assertEqual(self.compiles(XDG_CACHE_HOME=str(cache)), "")

    def test_a_link_in_the_place_of_a_folder(self):
        cache = self.root / "linked"
        cache.mkdir()
        (self.root / "target").mkdir()
        (cache / "heddle").symlink_to(self.root / "target")
        self.refuses(cache, f"'{cache / 'heddle'}' is a symbolic link")
        self.assertEqual(list((self.root / "target").iterdir()), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root to make a folder of another user")
    def test_a_folder_of_another_user(self):
        for folder in ("", "heddle", "heddle/programs"):
            with self.subTest(folder):
                cache = self.root / f"of-others-{folder.replace('/', '-')}"
                (cache / folder).mkdir(parents=True)
                os.chown(cache / folder, 12345, 12345)
                self.refuses(cache, f"'{str(cache / folder).rstrip('/')}' belongs to another user")

    def test_a_planted_program_is_not_executed(self):
        cache = self.root / "planted-program"
        self.compiles(XDG_CACHE_HOME=str(cache))
        proof = self.root / "executed"
        for kind in "writable", "link", "elsewhere":
            with self.subTest(kind):
                programs = cache / "heddle/programs"
                (manifest,) = programs.glob("*.manifest")
                name = manifest.read_text().split()[-1]
                evil = self.root / f"evil-{kind}"
                evil.write_text(f"#!/bin/sh\ntouch {proof}\n")
                evil.chmod(0o755)
                if kind == "elsewhere":
                    manifest.write_text(manifest.read_text().replace(f"program {name}", f"program ../../../{evil.name}"))
                else:
                    (programs / name).unlink()
                    if kind == "link":
                        (programs / name).symlink_to(evil)
                    else:
                        shutil.copy(evil, programs / name)
                        (programs / name).chmod(0o777)
                self.compiles(XDG_CACHE_HOME=str(cache))
                self.assertFalse(proof.exists())

    def test_without_a_home(self):
        temporary = self.root / "tmp"
        temporary.mkdir()
        options = {"without": ("HOME", "XDG_CACHE_HOME"), "TMPDIR": str(temporary)}
        self.assertEqual(self.compiles(**options), "")
        self.assertEqual(list(temporary.iterdir()), [])
        self.heddle("check", "hang.cu", status=1, **options)
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual(self.heddle("run", "early.cu", "--", "abort", **options).returncode, 134)
        self.assertEqual(list(temporary.iterdir()), [])
        (temporary / "suite.yaml").write_text(f"checks:\n  - program: {self.work / 'early.cu'}\n")
        before = set(temporary.iterdir())
        self.heddle("check", "--suite", temporary / "suite.yaml", **options)
        self.assertEqual(set(temporary.iterdir()), before)
        temporary.chmod(0o777)
        self.assertIn("no place for compiled programs", self.heddle("run", "early.cu", status=2, **options).stderr)

    def test_a_home_that_does_not_exist_is_not_made(self):
        temporary = self.root / "tmp-home"
        temporary.mkdir()
        home = self.root / "nobody"
        blocked = self.root / "file"
        blocked.write_text("")
        for name, words in ((home, "does not exist"), (blocked, "does not exist")):
            with self.subTest(name):
                options = {"without": ("XDG_CACHE_HOME",), "HOME": str(name), "TMPDIR": str(temporary)}
                said = self.heddle("run", "early.cu", **options).stderr
                self.assertIn(f"the home folder '{name}' {words}, so the compiled program is not kept", said)
                self.assertFalse(home.exists())
                self.assertEqual(list(temporary.iterdir()), [])
        home.mkdir()
        (home / ".cache").write_text("")  # root may write everywhere, but not below a file
        said = self.heddle("run", "early.cu", without=("XDG_CACHE_HOME",), HOME=str(home), TMPDIR=str(temporary)).stderr
        self.assertIn("the cache cannot be written", said)
        self.assertEqual(list(temporary.iterdir()), [])
        (home / ".cache").unlink()
        said = self.heddle("run", "early.cu", without=("XDG_CACHE_HOME",), HOME=str(home)).stderr
        self.assertNotIn("not kept", said)
        self.assertTrue((home / ".cache/heddle/programs").is_dir())

    def test_links_in_the_place_of_files(self):
        victim = self.root / "victim"
        victim.write_text("precious\n")
        (self.work / "kept.new").symlink_to(victim)
        self.heddle("check", "--checkpoint=kept", "--max-states=2", "--schedules=0", "hang.cu")
        self.assertEqual(victim.read_text(), "precious\n")
        self.assertFalse((self.work / "kept.new").is_symlink())

    @unittest.skipUnless(os.geteuid() == 0, "needs root to make a link of another user")
    def test_links_of_another_user(self):
        victim = self.root / "other-victim"
        victim.write_text("precious\n")
        link = self.work / "link"
        link.symlink_to(victim)
        os.chown(link, 12345, 12345, follow_symlinks=False)
        for flag in "--progress-file", "--html", "-o":
            done = self.heddle("check", flag, "link", "hang.cu")
            self.assertIn("cannot write 'link'", done.stderr)
            self.assertEqual(victim.read_text(), "precious\n")
        os.chown(link, 0, 0, follow_symlinks=False)
        self.heddle("check", "-o", "link", "hang.cu", status=1)
        self.assertIn("may hang", victim.read_text())


class EarlyCrash(Security):
    """A signal before the first CUDA call."""

    def test_is_a_finding(self):
        for words, said in ((["early.cu", "--", "abort"], None), (["early.cu", "--", "throw"], "what():  no input"), (["static.cu"], None)):
            with self.subTest(words):
                result = json.loads(self.heddle("check", "--format=json", *words, status=1).stdout)
                (finding,) = result["findings"]
                self.assertEqual((result["verdict"], finding["code"], finding["rule"]), ("defect", "host-crash", "CRASH"))
                self.assertEqual(finding["message"], "the host program was ended by Aborted before its first CUDA call")
                if said:
                    self.assertIn(f"it said:   {said}", finding["notes"])
                done = self.heddle("replay", finding["replay"], status=1)
                self.assertIn("0 steps: the host program was ended by Aborted before its first CUDA call", done.stdout)

    def test_an_end_without_one_is_none(self):
        self.heddle("check", "early.cu", status=0)
        done = self.heddle("check", "/bin/true", status=2)
        self.assertIn("ended (exit code 0) before any CUDA call", done.stderr)

    def test_run(self):
        result = json.loads(self.heddle("run", "--format=json", "-o", "-", "early.cu", "--", "abort", status=134).stdout)
        self.assertEqual([finding["code"] for finding in result["findings"]], ["host-crash"])


if __name__ == "__main__":
    unittest.main()
