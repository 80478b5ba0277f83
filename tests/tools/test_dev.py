"""./dev does not build in another tree's folder: what CMake does with a build folder that was copied."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check_place(configured_for):
    """What ./dev says of a build folder that was configured for the tree `configured_for`."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = pathlib.Path(temporary)
        shutil.copy(ROOT / "dev", tree)
        if configured_for is not None:
            (tree / "build/dev").mkdir(parents=True)
            (tree / "build/dev/CMakeCache.txt").write_text(
                f"CMAKE_HOME_DIRECTORY:INTERNAL={configured_for.format(tree=tree)}\n")
        return subprocess.run(["bash", "-c", "source ./dev help >/dev/null; check_place dev"],
                              cwd=tree, capture_output=True, text=True)


class Place(unittest.TestCase):
    def test_a_folder_of_another_tree_is_refused(self):
        done = check_place("/somewhere/else")
        self.assertEqual(done.returncode, 1)
        self.assertIn("build/dev was configured for /somewhere/else", done.stderr)
        self.assertIn("rm -rf build/dev", done.stderr)

    def test_its_own_folder_and_none_are_fine(self):
        for configured_for in ("{tree}", "{tree}/.", None):
            done = check_place(configured_for)
            self.assertEqual((done.returncode, done.stderr), (0, ""), configured_for)


if __name__ == "__main__":
    unittest.main()
