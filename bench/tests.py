#!/usr/bin/env python3
"""What the tests cost: processor minutes by group, the ten largest, and which groups cost more than tests/BUDGET.md has for them.

    bench/tests.py [RESULTS] [--all] [--strict]     RESULTS: build/dev/results, of the last ./dev test
    --all       every test, not the ten largest only
    --strict    status 1 if a group is above its budget, or a test is in no group

RESULTS holds ctest.xml (JUnit, seconds by the clock), cost/NAME (processor time, see tests/support/cost.sh), and what lit and
GoogleTest write: gtest/*.xml, lit/*.xml. A test belongs to the group with the longest name that its own begins with. Where cost/ has nothing of
a test, its seconds by the clock count, with a "~": they depend on what else the machine does.
"""
import argparse
import dataclasses
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| `([^`]+)` \| ([\d.]+) \|")


@dataclasses.dataclass
class Cost:
    """Seconds."""
    name: str
    wall: float
    processor: float = None

    @property
    def counted(self):
        return self.wall if self.processor is None else self.processor

    @property
    def mark(self):
        return "~" if self.processor is None else " "


def seconds(text):
    """`times` of the shell: two lines, its own and its children's, "0m0.010s 1m2.500s"."""
    return sum(60 * int(minutes) + float(rest) for minutes, rest in re.findall(r"(\d+)m([\d.]+)s", text))


def read_costs(results):
    """Of each entry of ctest that was run."""
    costs = []
    for case in ET.parse(results / "ctest.xml").getroot().iter("testcase"):
        if case.get("status") in ("notrun", "disabled"):
            continue
        cost = Cost(case.get("name"), float(case.get("time") or 0))
        noted = results / "cost" / cost.name.replace("/", ":")
        if noted.exists():
            cost.processor = seconds(noted.read_text())
        costs.append(cost)
    return costs


def read_inner(results):
    """The cases inside of GoogleTest's programs and lit's suites: they only have seconds by the clock."""
    return [Cost(f"{case.get('classname')}.{case.get('name')}", float(case.get("time") or 0))
            for path in [*results.glob("gtest/*.xml"), *results.glob("lit/*.xml")] for case in ET.parse(path).getroot().iter("testcase")]


def read_budget(path):
    """{group: minutes}. What has not been measured yet is a guess, and may be wrong by a factor of four."""
    rows = [(line, ROW.match(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return {match[1]: float(match[2]) * (4 if "not yet" in line else 1) for line, match in rows if match}


def group_of(name, groups):
    fitting = [group for group in groups if name == group or name.startswith((group + ".", group + "/"))]
    return max(fitting, key=len, default=None)


def by_group(costs, groups):
    """{group: costs}; None: those in no group."""
    found = {}
    for cost in costs:
        found.setdefault(group_of(cost.name, groups), []).append(cost)
    return found


def total(costs):
    return sum(cost.counted for cost in costs)


def table(costs, budget):
    """The lines that are printed, and what is wrong."""
    groups = by_group(costs, budget)
    lines, wrong = ["processor minutes  budget  tests  group"], []
    for group in sorted(groups, key=lambda g: -total(groups[g])):
        members = groups[group]
        minutes = total(members) / 60
        mark = "~" if any(cost.processor is None for cost in members) else " "
        lines.append(f"{minutes:16.2f}{mark}  {budget.get(group, 0):6.1f}  {len(members):5}  {group or 'in no group'}")
        if group is None:
            wrong += [f"tests/BUDGET.md has no group for {cost.name}" for cost in members]
        elif minutes > budget[group]:
            wrong.append(f"{group}: {minutes:.1f} minutes are more than the {budget[group]:.1f} in tests/BUDGET.md")
    known = sum(budget.get(group, 0) for group in groups)
    lines.append(f"{total(costs) / 60:16.2f}   {known:6.1f}  {len(costs):5}  together; {sum(cost.wall for cost in costs) / 60:.1f} by the clock, one after the other")
    return lines, wrong


def largest(costs, count):
    chosen = sorted(costs, key=lambda cost: -cost.counted)[:count]
    return [f"{cost.counted:8.1f} s{cost.mark} {cost.name}" for cost in chosen]


def report(results, count=10):
    """Lines to print, and what is above its budget."""
    costs = read_costs(results)
    lines, wrong = table(costs, read_budget(ROOT / "tests" / "BUDGET.md"))
    lines += ["", "the largest tests", *largest(costs, count)]
    inner = read_inner(results)
    if inner:
        lines += ["", "the largest cases inside of tests, by the clock", *largest(inner, count)]
    return lines, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/results")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    lines, wrong = report(options.results, None if options.all else 10)
    print("\n".join(lines + wrong))
    return 1 if wrong and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
