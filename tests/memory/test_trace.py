#!/usr/bin/env python3
"""Witnesses with --memory=ptx: which reads do not see the newest value. heddle replay --trace says who wrote it, and why they need not."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")
IDIOMS = str(pathlib.Path(__file__).parents[1] / "check/memory/idioms.cu")
LITMUS = str(pathlib.Path(__file__).parents[1] / "check/memory/litmus.cu")
READ = re.compile(r"an atomic read that finds 0 and does not see the newer 1: thread \(0,0,0\) of block \([01],0,0\) wrote 1 in "
                  r"litmus\.cu:\d+, and (.*?)  ")
OTHER = re.compile(r"(cudaDeviceSynchronize|writes|the end of the thread)\S* .* and (nothing|this thread) has")


def trace_of(*case):
    found = subprocess.run([HEDDLE, "check", "--memory=ptx", LITMUS, "--", *case], capture_output=True, text=True, check=False)
    schedule = re.search(r"heddle replay (v1:\S+)", found.stdout + found.stderr)[1]
    return subprocess.run([HEDDLE, "replay", "--trace", schedule], capture_output=True, text=True, check=False).stdout


class Trace(unittest.TestCase):
    def reads(self, *case):
        text = trace_of(*case)
        self.assertIsNone(OTHER.search(text), text)
        reasons = READ.findall(text)
        self.assertTrue(reasons, text)
        return set(reasons)

    def test_not_released(self):
        self.assertEqual(self.reads("MP-rlx", "plain"), {"nothing has released it"})

    def test_not_acquired(self):
        self.assertEqual(self.reads("MP-only-release", "plain"),
                         {"this thread has read from behind its release, but acquired nothing by that"})

    def test_not_read(self):
        self.assertEqual(self.reads("SB-ra", "plain"), {"this thread has read nothing from behind its release"})


class Race(unittest.TestCase):
    """A data race that needs stale reads comes with them."""

    def labels(self, *case):
        done = subprocess.run([HEDDLE, "check", "--memory=ptx", "--format=json", IDIOMS, "--", *case], capture_output=True, text=True,
                              check=False)
        findings = json.loads(done.stdout)["findings"]
        self.assertEqual([f["code"] for f in findings], ["data-race"], done.stdout)
        return [label["text"] for label in findings[0]["locations"]]

    def stale(self, *case):
        labels = self.labels(*case)
        self.assertEqual([label[:4] for label in labels[:2]], ["(1) ", "(2) "], labels)
        return [label for label in labels[2:] if "does not see the newer" in label]

    def test_needs_a_stale_read(self):
        self.assertIn("an atomic read that finds 0 and does not see the newer 1", self.stale("dekker-ra", "block")[0])
        self.assertTrue(self.stale("peterson-ra", "block"))

    def test_needs_none(self):
        self.assertEqual(self.stale("message-relaxed", "block"), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
