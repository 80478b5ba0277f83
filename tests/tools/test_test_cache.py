"""tools/test_cache.py: what is complete is carried over, once; the least recently used goes."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True

import test_cache  # noqa: E402


class Cache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text="x"):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def do(self, what, build):
        return test_cache.main(["test_cache", what, str(self.root / build), str(self.root / "kept")])

    def test_to_another_build(self):
        self.write("a/tests/programs/12ab/saxpy", "program").chmod(0o700)
        self.write("a/cache/heddle/programs/34cd")
        self.write("a/cache/heddle/programs/34cd.manifest")
        self.do("keep", "a")
        self.do("take", "b")
        self.assertEqual((self.root / "b/tests/programs/12ab/saxpy").read_text(), "program")
        self.assertTrue(os.access(self.root / "b/tests/programs/12ab/saxpy", os.X_OK))
        self.assertTrue((self.root / "b/cache/heddle/programs/34cd.manifest").exists())
        self.assertEqual((self.root / "b/cache/heddle/programs").stat().st_mode & 0o077, 0)

    def test_not_what_is_incomplete_or_made_by_heddle(self):
        self.write("a/cache/heddle/programs/34cd.123")
        self.write("a/cache/heddle/kernels/99")
        (self.root / "a/tests/programs/12ab").mkdir(parents=True)
        self.do("keep", "a")
        self.assertEqual([path for path in (self.root / "kept").rglob("*") if path.is_file()], [])

    def test_the_least_recently_used_goes(self):
        for number in range(4):
            path = self.write(f"kept/tests-programs/{number}/program", "x" * 100).parent
            os.utime(path, (number, number))
        self.assertEqual(test_cache.shrink(self.root / "kept", 250), 2)
        self.assertEqual(sorted(path.name for path in (self.root / "kept/tests-programs").iterdir()), ["2", "3"])

    def test_what_a_build_has_used_is_kept_longer(self):
        self.write("a/tests/programs/old/program")
        old = self.write("kept/tests-programs/old/program").parent
        os.utime(old, (1, 1))
        self.do("keep", "a")
        self.assertGreater(old.stat().st_mtime, 1)


if __name__ == "__main__":
    unittest.main()
