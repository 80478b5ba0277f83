"""Four programs of a class (tests/users/classroom), each with the mistake that the exercise is about, and the
command that a teacher gives to see it."""
import os
import pathlib
import subprocess
import unittest

HEDDLE = os.environ["HEDDLE"]
PROGRAMS = pathlib.Path(__file__).parent / "classroom"


class Classroom(unittest.TestCase):
    def heddle(self, *arguments, status):
        done = subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, cwd=PROGRAMS, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_race(self):
        said = self.heddle("run", "--races", "race.cu", status=1)
        self.assertRegex(said, r"race\.cu:5:\d+: error\[data-race\]")

    def test_divergence(self):
        said = self.heddle("check", "divergence.cu", status=1)
        self.assertRegex(said, r"divergence\.cu:(7|10):\d+: error\[barrier-divergence\]")
        # Both barriers, and the launch, in check and in run.
        for said in (said, self.heddle("run", "divergence.cu", status=1)):
            for line in (7, 10, 18):
                self.assertRegex(said, rf"\n +{line} \| .*\n +\| .*\^", line)
            self.assertIn("at this one", said)
            self.assertIn("launched from here", said)

    def test_deadlock(self):
        said = self.heddle("check", "deadlock.cu", status=1)
        self.assertRegex(said, r"deadlock\.cu:5:\d+: error\[livelock\]")
        self.assertIn("thread (0,0,0) of block (0,0,0) of kernel 'transfer<<<2,1>>>'", said)
        self.assertIn("thread (0,0,0) of block (1,0,0) of kernel 'transfer<<<2,1>>>'", said)

    def test_lockstep(self):
        self.heddle("check", "lockstep.cu", status=0)
        said = self.heddle("check", "--warps=both", "lockstep.cu", status=1)
        self.assertIn("hang: lockstep only", said)


if __name__ == "__main__":
    unittest.main()
