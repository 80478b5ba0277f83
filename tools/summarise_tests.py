#!/usr/bin/env python3
"""Prints the last lines of ./dev test: what the tests cost (bench/tests.py), and how many passed, counting the cases inside
each binary.

    summarise_tests.py RESULTS [--budget]     --budget: a group that costs more than tests/BUDGET.md has for it is a failure

RESULTS holds ctest.xml (ctest --output-junit), gtest/*.xml and lit/*.xml. A ctest entry that wrote
case results of its own is counted by these; the others count as one test.
"""
import pathlib
import sys
import xml.etree.ElementTree as ET

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import tests as costs  # noqa: E402


def count_cases(path):
    """(total, failed, skipped) of a JUnit-like file."""
    root = ET.parse(path).getroot()
    cases = list(root.iter("testcase"))
    failed = sum(1 for c in cases if c.find("failure") is not None or c.find("error") is not None)
    skipped = sum(1 for c in cases if c.find("skipped") is not None or c.get("status") == "notrun")
    return len(cases), failed, skipped


def main(argv):
    results = pathlib.Path(argv[1])
    lines, expensive = costs.report(results)
    print("\n".join(lines), end="\n\n")
    total = failed = skipped = 0
    for path in list(results.glob("gtest/*.xml")) + list(results.glob("lit/*.xml")):
        t, f, s = count_cases(path)
        total, failed, skipped = total + t, failed + f, skipped + s
    broken = []
    for case in ET.parse(results / "ctest.xml").getroot().iter("testcase"):
        status, name = case.get("status"), case.get("name")
        detailed = name.startswith("unit.") or name.startswith("lit.")
        if status == "fail":
            broken.append(name)
            if not detailed:
                failed += 1
        elif status in ("notrun", "disabled"):
            skipped += 1
        if not detailed:
            total += 1
    for name in broken:
        print(f"failed: {name}")
    if "--budget" in argv[2:]:
        for reason in expensive:
            print(f"failed: {reason}")
    # A crashed binary writes no case results; its entry still counts as one failure.
    failed = max(failed, len(broken))
    passed = max(total - failed - skipped, 0)
    unchanged = len(list(results.glob("unchanged/*")))
    not_again = f"; {unchanged} of them not run again, see tools/unchanged.py" if unchanged else ""
    print(f"{passed} tests passed, {failed} failed, {skipped} skipped{not_again}")
    too_expensive = "--budget" in argv[2:] and expensive
    return 1 if failed or too_expensive or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
