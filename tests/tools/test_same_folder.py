"""Programs that a test writes lie in the same place each time."""
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from same_folder import SameFolder  # noqa: E402


class Same(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name).resolve()
        (self.build / "CMakeCache.txt").touch()
        self.use(self.build / "bin/heddle")

    def use(self, heddle):
        changed = mock.patch.dict(os.environ, {"HEDDLE": str(heddle)})
        changed.start()
        self.addCleanup(changed.stop)

    def test_it_is_the_same_and_empty_each_time(self):
        for _ in range(2):
            with SameFolder("one") as folder:
                self.assertEqual(folder.path, self.build / "tests/written/one")
                self.assertEqual(list(folder.path.iterdir()), [])
                (folder.path / "a.cu").touch()
            self.assertFalse(folder.path.exists())

    def test_what_a_killed_test_has_left_is_removed(self):
        left = self.build / "tests/written/one/sub"
        left.mkdir(parents=True)
        with SameFolder("one") as folder:
            self.assertEqual(list(folder.path.iterdir()), [])

    def test_two_at_once_do_not_share_it(self):
        with SameFolder("one") as first, SameFolder("one") as second:
            self.assertNotEqual(first.path, second.path)
            self.assertTrue(second.path.is_dir())
        self.assertFalse(second.path.exists())

    def test_beside_a_tool_that_is_installed_it_is_temporary(self):
        (self.build / "CMakeCache.txt").unlink()
        with SameFolder("one") as folder:
            self.assertNotIn(self.build, folder.path.parents)
        self.use("heddle")
        with SameFolder("one") as folder:
            self.assertTrue(folder.path.is_dir())


if __name__ == "__main__":
    unittest.main()
