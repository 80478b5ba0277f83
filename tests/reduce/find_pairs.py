#!/usr/bin/env python3
"""Looks for a small program for each pair of reductions, one that both of them change, and for one of each bound. They are
tests/reduce/pairs.txt, which `ctest -R reduce.pairs` searches in every way.

    find_pairs.py PROGRAM [--sample=8] [--from=TEXT] [--known=tests/reduce/pairs.txt]

PROGRAM is heddle_enumerate. A reduction rests on others (configurations.cpp); a pair is the set that both and these make. A program
stands for it where the search with the whole set has fewer states than with any smaller set that is searched, or as
many as with a smaller one where none was found ("agrees": it is searched, at least). Of a bound ("bound") it is the program of
the sample for which most sets have fewer states. Keeps what --known has, and prints the whole table.
"""
import argparse
import re
import subprocess
import sys

LARGE = 50_000  # states of all searches of a program
STATES = re.compile(r"^([a-z -]+): (\d+) states$")  # incomplete ones end otherwise


def run(*command, limit=30):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False).stdout
    except subprocess.TimeoutExpired:
        return ""


def programs(enumerate_, sample, text):
    """(bound, number), a few of each bound."""
    numbers = []
    for line in run(enumerate_, f"--sample={sample}", f"--from={text}", "--list", limit=600).splitlines():
        bound = re.match(r"^(\S+): \d+ programs of", line)
        if bound:
            yield from ((bound[1], number) for number in numbers)
            numbers = []
        else:
            numbers.append(line.split()[0])


def searches(text):
    """{reductions: states} of what --program prints; the empty set is the reference."""
    found = {}
    for match in filter(None, map(STATES.match, text.splitlines())):
        found[frozenset() if match[1] == "reference" else frozenset(match[1].split())] = int(match[2])
    return found


def shown(found):
    """(set, how well) for each set of reductions of which the program is an example."""
    for chosen, states in found.items():
        less = [other for other in found if other < chosen]
        if chosen:
            yield chosen, "both" if states < min(found[other] for other in less) else "agrees"


def read(path):
    rows = {}
    for line in open(path, encoding="utf-8"):
        words = line.split("#")[0].split()
        if words:
            bound, number, how, *reductions = words
            if how != "bound":
                rows[frozenset(reductions)] = (how, 0, bound, number)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--sample", type=int, default=8)
    parser.add_argument("--from", dest="text", default="pairs")
    parser.add_argument("--known")
    options = parser.parse_args()
    best, of_bound = read(options.known) if options.known else {}, {}
    for bound, number in programs(options.program, options.sample, options.text):
        found = searches(run(options.program, f"--bound={bound}", f"--program={number}"))
        size = sum(found.values())
        rows = dict(shown(found))
        useful = list(rows.values()).count("both")
        if size < LARGE and (bound not in of_bound or (useful, -size) > of_bound[bound][:2]):
            of_bound[bound] = (useful, -size, number)
        for chosen, how in rows.items():
            old = best.get(chosen)
            # One that shows it; then the smaller one, so that all together take little time.
            if old is None or (how, -size) > (old[0], -old[1]) and not (old[0] == how and old[1] == 0):
                best[chosen] = (how, size, bound, number)
    for chosen, (how, _, bound, number) in sorted(best.items(), key=lambda item: (item[1][2], int(item[1][3]), sorted(item[0]))):
        print(bound, number, how, *sorted(chosen))
    for bound, (_, _, number) in sorted(of_bound.items()):
        print(bound, number, "bound")
    return 0


if __name__ == "__main__":
    sys.exit(main())
