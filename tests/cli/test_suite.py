"""`heddle check --suite`: many programs, their expected verdicts, one report and one exit code."""
import json
import os
import pathlib
import subprocess
import time
import unittest
import xml.etree.ElementTree as xml

from programs import HANG, LONG, SameFolder

HEDDLE = os.environ["HEDDLE"]

ENDS = """
#include <cstdlib>
__global__ void k(int* p, int n) { atomicAdd(p, n); }
int main(int count, char** words) {
  int* p;
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  k<<<2, 2>>>(p, count > 1 ? std::atoi(words[1]) : 1);
  return cudaDeviceSynchronize();
}
"""
ALL = """
options: --max-time=30
programs:
  - program: ends.cu
    arguments: [3]
  - name: waits for a block
    program: hang.cu
    expect: may-hang
  - program: hang.cu
    name: as a finding
    expect: [starvation]
  - program: hang.cu
    name: with a fair scheduler
    options: [--progress=fair]
"""


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        written = SameFolder("cli.suite")
        cls.addClassCleanup(written.cleanup)
        cls.folder = written.path
        (cls.folder / "sub").mkdir()
        (cls.folder / "sub/ends.cu").write_text(ENDS)
        (cls.folder / "sub/hang.cu").write_text(HANG)
        (cls.folder / "sub/long.cu").write_text(LONG)
        (cls.folder / "sub/all.yaml").write_text(ALL)

    def heddle(self, *words, status=0, prefix=()):
        done = subprocess.run([*prefix, HEDDLE, "check", *words], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def write(self, text, name="one.yaml"):
        (self.folder / "sub" / name).write_text(text)
        return f"sub/{name}"

    def test_all_as_expected(self):
        done = self.heddle("--suite=sub/all.yaml", "-j2", "--format=json")
        report = json.loads(done.stdout)
        self.assertEqual([p["name"] for p in report["programs"]],
                         ["ends.cu 3", "waits for a block", "as a finding", "with a fair scheduler"])
        self.assertEqual([p["verdict"] for p in report["programs"]], ["terminates", "may-hang", "may-hang", "terminates"])
        self.assertTrue(all(p["as_expected"] for p in report["programs"]))
        self.assertEqual((report["as_expected"], report["not_as_expected"]), (4, 0))
        self.assertEqual(report["programs"][1]["report"]["findings"][0]["code"], "starvation")

    def test_same_for_any_number_of_jobs(self):
        def shown(jobs):
            report = json.loads(self.heddle("--suite=sub/all.yaml", jobs, "--format=json").stdout)
            for program in report["programs"]:
                del program["report"]["seconds"], program["seconds"]
            del report["seconds"]
            return report
        self.assertEqual(shown("-j1"), shown("-j3"))

    def test_not_as_expected(self):
        suite = self.write("programs:\n  - program: hang.cu\n  - program: ends.cu\n    expect: may-hang\n  - program: ends.cu\n    name: e\n")
        report = json.loads(self.heddle("--suite", suite, "--format=json", status=1).stdout)
        self.assertEqual([p["as_expected"] for p in report["programs"]], [False, False, True])
        text = self.heddle("--suite", suite, status=1).stdout
        self.assertIn("hang.cu: may-hang, expected: terminates", text)
        self.assertIn("error[starvation]", text)  # the finding in full where it was not expected
        self.assertIn("1 of 3 programs as expected", text)
        self.assertNotIn("error[starvation]", self.heddle("--suite=sub/all.yaml").stdout)

    def test_junit_has_a_test_for_each_program(self):
        suite = self.write("programs:\n  - program: hang.cu\n    expect: may-hang\n  - program: hang.cu\n    name: h & c\n")
        root = xml.fromstring(self.heddle("--suite", suite, "--format=junit", status=1).stdout)
        cases = root.findall(".//testcase")
        self.assertEqual([c.get("name") for c in cases], ["hang.cu", "h & c"])
        self.assertEqual([len(c.findall("failure")) for c in cases], [0, 1])
        self.assertIn("starvation", cases[1].find("failure").text)
        self.assertEqual(root.find("testsuite").get("failures"), "1")

    def test_sarif_has_a_run_for_each_program_and_expected_findings_are_suppressed(self):
        suite = self.write("programs:\n  - program: hang.cu\n    expect: may-hang\n  - program: hang.cu\n    name: again\n")
        runs = json.loads(self.heddle("--suite", suite, "--format=sarif", "-o", "out.sarif", status=1).stdout
                          or (self.folder / "out.sarif").read_text())["runs"]
        self.assertEqual(len(runs), 2)
        self.assertEqual(runs[0]["results"][0]["suppressions"][0]["justification"], "expected by sub/one.yaml:2")
        self.assertNotIn("suppressions", runs[1]["results"][0])
        self.assertNotEqual(runs[0]["automationDetails"]["id"], runs[1]["automationDetails"]["id"])

    def test_limits_and_programs_that_cannot_be_checked(self):
        suite = self.write("programs:\n  - program: long.cu\n    options: --max-states=20 --schedules=5\n")
        self.heddle("--suite", suite, status=4)
        suite = self.write("programs:\n  - program: gone.cu\n  - program: ends.cu\n")
        report = json.loads(self.heddle("--suite", suite, "--format=json", status=2).stdout)
        self.assertIn("gone.cu", report["programs"][0]["error"])
        self.assertTrue(report["programs"][1]["as_expected"])

    def test_goes_on_after_it_was_killed(self):
        suite = self.write("programs:\n  - program: hang.cu\n    expect: may-hang\n"
                           "  - program: long.cu\n    options: --max-states=6000 --schedules=0\n    expect: unknown\n  - program: ends.cu\n", "kept.yaml")
        kept = self.folder / "kept"
        job = subprocess.Popen([HEDDLE, "check", "--suite", suite, "-j1", "--checkpoint=kept"], cwd=self.folder, stdout=subprocess.DEVNULL)
        for _ in range(300):
            time.sleep(0.1)
            if kept.exists():
                break
        job.kill()  # most likely in the second program
        job.wait()
        whole = json.loads(self.heddle("--suite", suite, "--format=json").stdout)
        again = json.loads(self.heddle("--suite", suite, "--format=json", "--checkpoint=kept", "--resume").stdout)
        self.assertEqual([(p["name"], p["verdict"], p["as_expected"]) for p in again["programs"]],
                         [(p["name"], p["verdict"], p["as_expected"]) for p in whole["programs"]])
        third = json.loads(self.heddle("--suite", suite, "--format=json", "--checkpoint=kept", "--resume").stdout)
        self.assertEqual(third["programs"], again["programs"])  # to the seconds: nothing is checked again
        changed = (self.folder / "sub/hang.cu").read_text()
        try:
            (self.folder / "sub/hang.cu").write_text(ENDS)
            other = json.loads(self.heddle("--suite", suite, "--format=json", "--checkpoint=kept", "--resume", status=1).stdout)
            self.assertEqual(other["programs"][0]["verdict"], "terminates")
        finally:
            (self.folder / "sub/hang.cu").write_text(changed)
        kept.write_bytes(kept.read_bytes()[:-20])
        self.assertIn("not whole", self.heddle("--suite", suite, "--checkpoint=kept", "--resume", status=2).stderr)

    def test_a_checkpoint_that_cannot_be_written_is_told_at_once_or_is_a_warning(self):
        done = self.heddle("--suite=sub/all.yaml", "--checkpoint=nowhere/kept", status=2)
        self.assertIn("--checkpoint: cannot write 'nowhere/kept'", done.stderr)
        # Another file would take the device's place.
        self.assertIn("'/dev/null' is not a file", self.heddle("--suite=sub/all.yaml", "--checkpoint=/dev/null", status=2).stderr)
        os.mkdir(self.folder / "gone")
        (self.folder / "gone.cu").write_text('#include <unistd.h>\nint main() { rmdir("gone"); }\n')
        (self.folder / "gone.yaml").write_text("programs:\n  - program: gone.cu\n")
        # What it changes, another execution may find.
        done = self.heddle("--suite=gone.yaml", "--checkpoint=gone/kept", status=4)
        self.assertIn("cannot write the checkpoint gone/kept", done.stderr)

    def test_errors_in_the_file_name_the_place(self):
        for text, words in [
                ("programs:\n  - prog: a.cu\n", "one.yaml:2:5: there is no setting 'prog'"),
                ("programs:\n  - arguments: [a]\n", "one.yaml:2:5: which program?"),
                ("programs:\n  - program: a.cu\n    expect: ends\n", "one.yaml:3:13: there is no verdict and no finding 'ends'"),
                ("programs:\n  - program: a.cu\n    options: --max-tim=3\n", "--max-tim"),
                ("programs:\n  - program: a.cu\n    options: --format=json\n", "is for the suite as a whole"),
                ("programs: a.cu\n", "'programs' is a list"),
                ("program: a.cu\n", "there is no setting 'program'"),
                ("programs:\n  - program: a.cu\n  - program: a.cu\n", "one.yaml:3:5: there are two programs called 'a.cu'"),
                ("programs:\n  - {\n", "one.yaml"),
                ("", "no programs")]:
            with self.subTest(text):
                self.assertIn(words, self.heddle("--suite", self.write(text), status=2).stderr)
        self.assertIn("nowhere.yaml", self.heddle("--suite=nowhere.yaml", status=2).stderr)
        self.assertIn("suite", self.heddle("--suite=sub/all.yaml", "sub/ends.cu", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
