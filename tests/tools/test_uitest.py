"""What a test file can ask for, and that a typo in it is an error (uitest.py without lit)."""
import pathlib
import sys
import tempfile
import types
import unittest

for name in ("lit", "lit.formats", "lit.Test"):
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["lit"].formats = sys.modules["lit.formats"]
sys.modules["lit"].Test = sys.modules["lit.Test"]
sys.modules["lit.formats"].FileBasedTest = object
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

import uitest  # noqa: E402


class Directives(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
            file.write(text)
            file.flush()
            return uitest.Expectations(file.name)

    def test_values_of_revisions(self):
        wanted = self.read("//@ revisions: a b\n//@ args: --seed 1\n//@[b] args: --x\n")
        self.assertEqual(wanted.revisions(), ["a", "b"])
        self.assertEqual(wanted.value("args", "a"), "--seed 1")
        self.assertEqual(wanted.value("args", "b"), "--seed 1 --x")
        self.assertEqual(wanted.value("exit", "a", "1"), "1")

    def test_places(self):
        wanted = self.read("x;\n\n//~^^ ERROR null some text\ny; //~[b] NOTE trap\n")
        self.assertEqual(wanted.announced("a"), [(1, "error", "null", "some text")])
        self.assertEqual(wanted.announced("b")[1], (4, "note", "trap", ""))

    def test_typos_are_errors(self):
        for text in ("//@ arg: x\n", "//@args x\n", "x; //~ FAILURE null\n", "x; //~ ERROR\n"):
            with self.assertRaises(uitest.Malformed, msg=text):
                self.read(text)


class Places(unittest.TestCase):
    def compare(self, announced, output):
        return uitest.UiTest._compare_places("/tests/a.cu", announced, output)

    def test_announced_and_found(self):
        line = "a.cu:3:1: error[null]: read of 4 bytes\n"
        self.assertEqual(self.compare([(3, "error", "null", "read")], line), [])
        self.assertEqual(len(self.compare([(3, "error", "null", "write")], line)), 2)
        self.assertEqual(len(self.compare([], line)), 1)
        self.assertEqual(len(self.compare([(4, "error", "null", "")], "")), 1)

    def test_normalisation(self):
        text = "at 0x7f001122 in /x/heddle/programs/" + "a" * 32 + "+0x12\n  = PTX: ld.u32 %r1, [%r2];\n/tests/a.cu 12 ms"
        self.assertEqual(uitest.UiTest._normalise("/tests/a.cu", text), "at 0x… in PROGRAM\n  = PTX: ld.u32 …\na.cu … s")


if __name__ == "__main__":
    unittest.main()
