"""The wheel that `./dev package` makes: what is in it, its tag, and an installation without network.

The .deb and the tarball are tried on a bare Debian by tools/test_package.sh, which needs root."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "gallery" / "grid_barrier.cu"


def glibc_of(content):
    """The newest version of glibc that an ELF file names."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", content)
    return max(((int(a), int(b)) for a, b in found), default=(0, 0))


class Target(unittest.TestCase):
    @unittest.skipUnless(shutil.which("ninja") and (BUILD / "build.ninja").exists(), "this was not built by ninja")
    def test_what_is_installed_is_built_for_packages(self):
        """`./dev package` builds `heddle_packaged` alone, in a folder of its own."""
        def linked(*targets):
            done = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", *targets], capture_output=True, text=True, check=True)
            return set(re.findall(r" -o ((?:bin|lib)/\S+)", done.stdout))

        scripts = "".join(script.read_text(encoding="utf-8") for script in BUILD.glob("src/**/cmake_install.cmake"))
        installed = set(re.findall(rf'"{re.escape(str(BUILD))}/((?:bin|lib)/[^"]+)"', scripts))
        self.assertIn("lib/libcudart.so.13", installed)
        self.assertEqual(set(), (installed & linked()) - linked("heddle_packaged"))


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        subprocess.run([sys.executable, ROOT / "tools" / "package.py", BUILD, cls.folder, "--only", "wheel"],
                       check=True, stdout=subprocess.DEVNULL)
        (cls.wheel,) = cls.folder.glob("heddle_cuda-*.whl")
        cls.archive = zipfile.ZipFile(cls.wheel)
        cls.names = cls.archive.namelist()

    @classmethod
    def tearDownClass(cls):
        cls.archive.close()
        shutil.rmtree(cls.folder)

    def test_holds_what_a_prefix_holds(self):
        inside = [name.split(".data/", 1)[-1] for name in self.names]
        for name in ("scripts/heddle", "scripts/heddle-cc", "data/lib/heddle/libcudart.so.13",
                     "data/lib/heddle/libfmt.so.9", "data/include/heddle/concurrent_map.cuh",
                     "data/lib/cmake/heddle/heddleConfig.cmake", "data/share/man/man1/heddle-check.1"):
            self.assertIn(name, inside)
        self.assertIn("heddle/pytest_plugin.py", self.names)
        self.assertFalse([name for name in inside if "LLVM" in name or name.endswith("heddle-lint")])

    def test_licences_of_what_is_inside_come_with_it(self):
        def text(name):
            (found,) = [n for n in self.names if n.endswith("share/doc/heddle/" + name)]
            return self.archive.read(found).decode()

        self.assertIn("LLVM Exceptions", text("copyright"))
        for library in ("libfmt", "libyaml-cpp", "libcli11", "libexpected", "nlohmann-json", "libzstd", "liblz4", "libxxhash"):
            self.assertIn("Copyright", text("licenses/" + library))

    def test_no_script_for_linkers_lies_where_the_loader_looks(self):
        for name in self.names:
            if re.search(r"/lib/heddle/[^/]*\.so", name):
                self.assertEqual(self.archive.read(name)[:4], b"\x7fELF", name)

    def test_the_tag_is_the_newest_glibc(self):
        newest = max(glibc_of(self.archive.read(name)) for name in self.names if ".data/" in name)
        self.assertIn(f"manylinux_{newest[0]}_{newest[1]}_x86_64", self.wheel.name)

    def test_the_record_is_right(self):
        (record,) = [name for name in self.names if name.endswith("RECORD")]
        rows = list(csv.reader(io.StringIO(self.archive.read(record).decode())))
        self.assertEqual(sorted(row[0] for row in rows), sorted(self.names))
        for name, digest, _ in rows:
            if name != record:
                wanted = base64.urlsafe_b64encode(hashlib.sha256(self.archive.read(name)).digest()).rstrip(b"=").decode()
                self.assertEqual(digest, "sha256=" + wanted, name)

    def test_an_installation_finds_a_hang(self):
        home = self.folder / "env"
        venv.create(home, with_pip=True)
        subprocess.run([home / "bin" / "pip", "install", "--quiet", "--no-deps", "--no-index", self.wheel], check=True)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        environment.pop("LD_LIBRARY_PATH", None)

        def heddle(*words):
            return subprocess.run([home / "bin" / "heddle", *words], capture_output=True, text=True, env=environment)

        doctor = heddle("doctor")
        self.assertEqual(doctor.returncode, 0, doctor.stdout)
        self.assertIn(str(home / "lib" / "heddle"), doctor.stdout)
        self.assertIn("without  heddle-lint", doctor.stdout)
        plugin = subprocess.run([home / "bin" / "python", "-c", "import heddle; print(heddle.__file__)"], cwd=home,
                                capture_output=True, text=True)
        self.assertIn(str(home), plugin.stdout, plugin.stderr)
        check = heddle("check", str(EXAMPLE))
        self.assertEqual(check.returncode, 1, check.stdout + check.stderr)
        self.assertIn("error[starvation]", check.stdout)

    def test_doctor_says_what_is_missing(self):
        environment = {**os.environ, "PATH": "/nonexistent", "HEDDLE_NVCC": "/nonexistent/nvcc"}
        done = subprocess.run([BUILD / "bin" / "heddle", "doctor"], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 3)
        self.assertIn("MISSING  nvcc", done.stdout)
        self.assertIn("MISSING  C++ compiler", done.stdout)
        self.assertIn("install: apt install g++", done.stdout)


if __name__ == "__main__":
    unittest.main()
