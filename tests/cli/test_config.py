"""What a project lives with: .heddle.yaml and baselines, for `run`, `check` and `lint`."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

from programs import SameFolder

HEDDLE = os.environ["HEDDLE"]

# The argument chooses what goes wrong.
PROGRAM = """#include <cstring>
__device__ void put(int* p, int i) { p[i] = 1; }
__global__ void store(int* p, int i) { put(p, i); }
__global__ void count(int* p) { *p = *p + 1; }
__global__ void wait(volatile int* p) {
  if (blockIdx.x == 1) *p = 1;
  else while (*p == 0) {}
}
__global__ void uneven(int* p) {
  if (threadIdx.x < 16) __syncthreads();
  p[threadIdx.x] = 0;
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int* p;
  cudaMalloc(&p, 256);
  cudaMemset(p, 0, 256);
  if (std::strcmp(what, "fault") == 0) store<<<1, 1>>>(p, 1000);
  if (std::strcmp(what, "race") == 0) count<<<1, 32>>>(p);
  if (std::strcmp(what, "hang") == 0) wait<<<2, 1>>>(p);
  cudaDeviceSynchronize();
  return 0;
}
"""


class Config(unittest.TestCase):
    def setUp(self):
        folder = SameFolder("cli.config")
        self.addCleanup(folder.cleanup)
        self.root = folder.path
        (self.root / "src").mkdir()
        (self.root / "src/app.cu").write_text(PROGRAM)

    def heddle(self, *arguments, status, folder="."):
        done = subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, cwd=self.root / folder, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def config(self, text, name=".heddle.yaml"):
        (self.root / name).write_text(text)

    def test_by_what_an_entry_may_go(self):
        self.heddle("run", "src/app.cu", "--", "fault", status=1)
        for entry in ("code: out-of-bounds", "code: MEM-BOUNDS", "file: src/app.cu", "file: '*.cu'", "function: store",
                      "function: put", "function: 'st*'", "library: src",
                      "text: '__device__ void put(int* p, int i) { p[i] = 1; }'",
                      "code: out-of-bounds && file: src/*.cu && function: store"):
            with self.subTest(entry):
                entry = entry.replace(" && ", "\n    ")
                self.config(f"suppress:\n  - {entry}\n    reason: because\n")
                said = self.heddle("run", "src/app.cu", "--", "fault", status=0)
                self.assertIn("heddle: suppressed: out-of-bounds at src/app.cu:2:", said)
                self.assertIn("by .heddle.yaml:2: because", said)
                self.assertNotIn("error[", said)
        for entry in ("code: data-race", "file: app.cuh", "function: stores", "library: cub", "text: p[i]",
                      "code: out-of-bounds && function: count"):
            with self.subTest(entry):
                entry = entry.replace(" && ", "\n    ")
                self.config(f"suppress:\n  - {entry}\n    reason: because\n")
                self.assertIn("error[out-of-bounds]", self.heddle("run", "src/app.cu", "--", "fault", status=1))

    def test_a_pipe_in_the_place_of_a_file(self):
        """What a setting names, or what is found, is read if it is a regular file; a pipe would be waited for."""
        os.mkfifo(self.root / "pipe")
        self.config("baseline: pipe\n")
        for command in ("run", "check", "lint", "config"):
            words = [] if command == "config" else ["src/app.cu"]
            self.assertIn("pipe': it is not a regular file", self.heddle(command, *words, status=2))
        self.config("baseline: missing.yaml\n")
        self.assertIn("missing.yaml': No such file", self.heddle("config", status=2))
        (self.root / ".heddle.yaml").unlink()
        os.mkfifo(self.root / ".heddle.yaml")
        self.assertIn(".heddle.yaml': it is not a regular file", self.heddle("config", status=2))
        self.assertIn(".heddle.yaml': it is not a regular file", self.heddle("lint", "src/app.cu", status=2))
        (self.root / ".heddle.yaml").unlink()
        os.mkfifo(self.root / "suite.cu")
        (self.root / "suite.yaml").write_text("programs:\n  - program: suite.cu\n")
        self.assertIn("it is not a regular file", self.heddle("check", "--suite=suite.yaml", status=2))

    def test_a_user_may_type_a_pipe(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.write(writer, b"suppress:\n  - code: out-of-bounds\n    reason: because\n")
        os.close(writer)
        done = subprocess.run([HEDDLE, "run", f"--config=/dev/fd/{reader}", "src/app.cu", "--", "fault"], capture_output=True, text=True,
                              cwd=self.root, timeout=120, pass_fds=[reader], check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_messages_with_words_of_the_file(self):
        """A terminal is given no commands."""
        self.config('"\\e[2J": x\n')
        self.assertIn("there is no setting '\\x1b[2J'", self.heddle("config", status=2))

    def test_settings_of_lint_that_lie_in_themselves(self):
        for text in ("lint: &a\n  rules: &b\n    x: *b\n", "lint: &a\n  x: &b {y: *b}\n", 'lint: &a\n  "": *a\n'):
            with self.subTest(text):
                self.config(text)
                self.assertIn(".heddle.yaml:", self.heddle("lint", "src/app.cu", status=2))
        self.config("lint:\n  rules:\n    no-such-rule:\n      words: [a]\n")
        self.assertNotIn("needs", self.heddle("lint", "src/app.cu", status=2))

    def test_it_is_found_upwards(self):
        self.config("suppress:\n  - code: out-of-bounds\n    reason: because\n")
        self.heddle("run", "app.cu", "--", "fault", status=0, folder="src")
        with tempfile.TemporaryDirectory() as elsewhere:
            self.heddle("run", str(self.root / "src/app.cu"), "--", "fault", status=0, folder=elsewhere)
        self.heddle("run", "--config=none", "src/app.cu", "--", "fault", status=1)
        self.config("suppress: []\n", "other.yaml")
        self.heddle("run", "--config=other.yaml", "src/app.cu", "--", "fault", status=1)
        self.assertIn("cannot read", self.heddle("run", "--config=no.yaml", "src/app.cu", status=2))

    def test_reports_count_what_is_suppressed(self):
        self.config("suppress:\n  - code: out-of-bounds\n    reason: because\n")
        result = json.loads(self.heddle("run", "--format=json", "-o-", "src/app.cu", "--", "fault", status=0))
        self.assertEqual((result["verdict"], result["findings"]), ("suppressed", []))
        (known,) = result["suppressed"]
        self.assertEqual((known["code"], known["suppressed"]), ("out-of-bounds", {"reason": "because", "by": ".heddle.yaml:2"}))
        self.assertEqual(known["functions"], ["store", "put"])
        suite = xml.fromstring(self.heddle("run", "--format=junit", "-o-", "src/app.cu", "--", "fault", status=0))[0]
        self.assertEqual(suite.find("testcase/skipped").get("message"), "suppressed: because")
        run = json.loads(self.heddle("run", "--format=sarif", "-o-", "src/app.cu", "--", "fault", status=0))["runs"][0]
        self.assertEqual(run["results"][0]["suppressions"], [{"kind": "external", "justification": "because"}])

    def test_check(self):
        self.heddle("check", "src/app.cu", "--", "hang", status=1)
        self.config("suppress:\n  - code: starvation\n    function: wait\n    reason: blocks start in order here\n")
        said = self.heddle("check", "src/app.cu", "--", "hang", status=0)
        # Nobody calls a program with a known hang one that terminates.
        self.assertIn("src/app.cu: no other defect than suppressed ones: ", said)
        self.assertNotIn("terminates", said)
        self.assertIn("= suppressed: starvation at src/app.cu:7:", said)
        result = json.loads(self.heddle("check", "--format=json", "src/app.cu", "--", "hang", status=0))
        self.assertEqual((result["verdict"], len(result["suppressed"])), ("suppressed", 1))
        self.assertIn("terminates under every schedule", self.heddle("check", "src/app.cu", status=0))
        self.config("suppress:\n  - code: data-race\n    reason: approximate\n")
        said = self.heddle("check", "--races=1", "src/app.cu", "--", "race", status=0)
        self.assertIn("= suppressed: data-race at src/app.cu:4:", said)
        self.assertNotIn("data races (none", said)

    def test_lint(self):
        self.assertIn("thread_synchronization", self.heddle("lint", "src/app.cu", status=1))
        self.config("suppress:\n  - code: CUDA-1.14\n    function: uneven\n    reason: taught in lesson 3\n"
                    "  - function: wait\n    reason: taught in lesson 4\n")
        self.assertIn("suppressed", self.heddle("lint", "src/app.cu", status=0))
        run = json.loads(self.heddle("lint", "--format=sarif", "-o", "out", "src/app.cu", status=0) and
                         (self.root / "out").read_text())["runs"][0]
        self.assertIn([{"kind": "external", "justification": "taught in lesson 3"}],
                      [result.get("suppressions") for result in run["results"]])
        self.config("suppress:\n  - code: CUDA-1.15\n    reason: no such rule\n")
        self.assertIn(".heddle.yaml:2: there is no finding or rule 'CUDA-1.15'", self.heddle("lint", "src/app.cu", status=2))

    def test_what_is_not_needed_is_told(self):
        self.config("suppress:\n  - code: null\n    reason: long ago\n  - code: data-race\n    reason: approximate\n"
                    "  - code: CUDA-1.14\n    reason: lesson 3\n  - code: trap\n    program: other\n    reason: elsewhere\n")
        said = self.heddle("run", "src/app.cu", status=0)
        self.assertIn(".heddle.yaml:2: nothing here needs this suppression: code 'null'", said)
        for not_looked_for in (4, 6, 8):
            self.assertNotIn(f".heddle.yaml:{not_looked_for}:", said)
        self.assertIn(".heddle.yaml:4: nothing here", self.heddle("run", "--races", "src/app.cu", status=0))
        self.assertIn("= note: .heddle.yaml:2: nothing here", self.heddle("check", "src/app.cu", status=0))

    def test_mistakes_are_told_with_their_place(self):
        for text, words in {
            "suppress:\n  - code: trap\n": ".heddle.yaml:2:5: a suppression needs a reason",
            "suppress:\n  - reason: all is well\n": ".heddle.yaml:2:5: this would suppress everything",
            "suppress:\n  - code: trapp\n    reason: x\n": ".heddle.yaml:2:11: there is no finding 'trapp'",
            "suppress:\n  - code: unsupported\n    reason: x\n": ".heddle.yaml:2:11: there is no finding 'unsupported'",
            "suppress:\n  - kode: trap\n    reason: x\n": ".heddle.yaml:2:5: there is no setting 'kode'",
            "hide:\n": ".heddle.yaml:1:1: there is no setting 'hide'",
            "suppress:\n  - code: trap\n    code: null\n    reason: x\n": ".heddle.yaml:3:5: 'code' is given twice",
            "suppress: [\n": ".heddle.yaml:2:1: ",
        }.items():
            with self.subTest(text):
                self.config(text)
                for command in ("run", "check", "lint"):
                    self.assertIn(words, self.heddle(command, "src/app.cu", status=2))

    def test_a_baseline(self):
        said = self.heddle("run", "--write-baseline=known.yaml", "src/app.cu", "--", "fault", status=0)
        self.assertIn("1 finding added to known.yaml", said)
        self.assertNotIn("error[", said)
        self.assertIn("1 finding added", self.heddle("check", "--write-baseline=known.yaml", "src/app.cu", "--", "hang", status=0))
        self.heddle("lint", "--write-baseline=known.yaml", "src/app.cu", status=0)
        text = (self.root / "known.yaml").read_text()
        self.assertIn("file: src/app.cu", text)
        self.config("baseline: known.yaml\n")
        # The line may move.
        (self.root / "src/app.cu").write_text("\n\n" + PROGRAM)
        self.heddle("run", "src/app.cu", "--", "fault", status=0)
        self.heddle("run", "app.cu", "--", "fault", status=0, folder="src")
        self.heddle("check", "src/app.cu", "--", "hang", status=0)
        self.heddle("lint", "src/app.cu", status=0)
        self.heddle("run", "--races", "src/app.cu", "--", "race", status=1)  # this one is new
        # Nothing is added twice, and the same findings give the same bytes.
        self.assertIn("0 findings added", self.heddle("run", "--write-baseline=known.yaml", "src/app.cu", "--", "fault", status=0))
        self.assertEqual((self.root / "known.yaml").read_text(), text)
        self.heddle("run", "--config=none", "--baseline=known.yaml", "src/app.cu", "--", "fault", status=0)

    def test_the_settings_explain_themselves(self):
        self.assertIn("settings: none", self.heddle("config", status=0))
        self.config("suppress:\n  - code: trap\n    reason: because\n")
        said = self.heddle("config", "--explain", status=0, folder="src")
        self.assertIn(".heddle.yaml:2: code 'trap': because", said)
        for word in ("reason", "library", "baseline", "data-race", "--list-rules"):
            self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main()
