#!/usr/bin/env python3
"""`heddle check` on client programs of the concurrent map.

    test_check.py pairs LAYOUT     every pair of operations on one key, by two threads, from three beginnings: each ends in
                                   every schedule, with results that some sequential map gives
    test_check.py together LAYOUT  the same with a host thread and a device thread at once
    test_check.py threads LAYOUT   three threads; several keys on one path; full buckets and tables
    test_check.py weak LAYOUT      pairs once more, with --memory=ptx
    test_check.py races LAYOUT     pairs once more, single schedules under the monitor of data races
    test_check.py waiting          waiting for what need not come
    test_check.py mutants          headers with one rule of the protocol broken are found out, see mutants.py

Of pairs a fixed part is looked at; at night (tests/support/night.py) all.
"""
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "run"), str(HERE.parent / "support")]
import mutants  # noqa: E402
from night import in_time, mixed, night, some  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
CACHE = pathlib.Path(os.environ.get("HEDDLE_CACHE", "build/dev/tests/programs"))
FULL = night() is not None
OPERATIONS = ["insert1", "assign1", "apply1", "find1", "erase1", "walk1"]
BEGINNINGS = {
    "absent": "-",
    "present": "insert1",
    "erased": "insert1,erase1",  # an insertion re-uses the tombstone under the lock of the path's end
}
THREADS = [
    "1 insert2,insert3,insert4 insert1 find1",                 # over the end of a bucket
    "1 insert2,erase2,insert3,insert4 insert1 insert1",        # the same, and a tombstone before it
    "1 insert2,insert3 insert1 erase2,insert1",                # the key comes back nearer to the beginning
    "2 insert2,insert3,insert4 insert1 erase2,insert1",
    "1 insert2 walk2 insert1,erase1",                          # who stays is met once
    "1 insert2 find2 insert1,erase1",
    "1 insert2,insert1,erase1 assign1 erase2",
    "3 - insert1 insert1 erase1",
    "1 insert1,erase1 insert1 insert1 erase1",
    "1 insert1 apply1 apply1 erase1",
    "3 insert1 assign1 find1 erase1",
    "tight 1 insert2,insert3,insert4,insert5,insert6,insert7 insert1 erase2",
    "tight 2 insert2,insert3,insert4,insert5,insert6 insert1 insert7",
]


def compiled(source, *flags):
    """The source and its flags. Heddle compiles it, so that the host's accesses are watched, and keeps the result:
    the first call is made here, alone."""
    program = (str(source), "--nvcc=" + " ".join(["-std=c++17", "-Xcompiler", "-mcx16", *flags]))
    subprocess.run([HEDDLE, "check", "--max-states=1", "--races=0", program[1], program[0]], capture_output=True)
    return program


def compile_client(layout, *flags):
    return compiled(HERE / "check" / "pair.cu", f"-DLAYOUT={layout}", "-DHEDDLE_BUCKET_UNITS=4", *flags)


def check(program, arguments, *flags):
    command = [HEDDLE, "check", "--max-time=90", "--schedules=0", *flags, program[1], program[0], "--", *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


# Bounds of a search without --memory=ptx, which the pairs are looked at with as well.
KNOWN_BOUNDS = ("accesses to the elements of a vector one by one; --memory=ptx looks at it",
                # The host's thread notes what it does where the device's threads do; see history.h.
                "other moments of a plain host access to memory that kernels or copies under way can reach")


def problem_of_right(program, arguments, *flags):
    status, output = check(program, arguments, *flags)
    left_out = re.findall("= (?:not looked at|ended early): (.*)", output)
    known = left_out and all(what.startswith(KNOWN_BOUNDS) for what in left_out)
    right = status == 4 and known if status else "exhaustive" in output
    return [] if right else [f"{arguments} {' '.join(flags)}: exit code {status}\n{output[-2000:]}"]


def problem_of_wrong(program, arguments, expected, *flags):
    status, output = check(program, arguments, *flags)
    found = status == 1 and expected in output
    return [] if found else [f"{arguments}: '{expected}' was not found, exit code {status}\n{output[-2000:]}"]


def pairs():
    """Every pair from every beginning; blocks in turn, so that each pair runs in one block and in two."""
    for beginning in BEGINNINGS.values():
        for i, (first, second) in enumerate(itertools.combinations_with_replacement(OPERATIONS, 2)):
            yield i, beginning, first, second


def jobs_of(what, layout):
    if what == "pairs":
        client = compile_client(layout)
        for i, beginning, first, second in pairs():
            for blocks in ([1, 2] if FULL else [1 + i % 2]):
                yield problem_of_right, (client, f"{blocks} {beginning} {first} {second}")
    elif what == "weak":
        client = compile_client(layout, "-DWEAK_MEMORY")
        for i, beginning, first, second in pairs():
            if "walk1" not in (first, second) or FULL:
                yield problem_of_right, (client, f"{1 + i % 2} {beginning} {first} {second}", "--memory=ptx")
    elif what == "races":
        client = compile_client(layout)
        for i, beginning, first, second in pairs():
            if beginning == BEGINNINGS["erased"] or FULL:
                yield problem_of_right, (client, f"{1 + i % 2} {beginning} {first} {second}", "--races=4")
    elif what == "together":
        client = compile_client(layout, "-DHOST_PART")
        for beginning in BEGINNINGS.values():
            for first, second in itertools.product(OPERATIONS[:5], repeat=2):  # walk: every place, too long
                if first in ("insert1", "erase1") or FULL:
                    yield problem_of_right, (client, f"1 {beginning} {first} {second}")
    elif what == "threads":
        client = compile_client(layout)
        for arguments in THREADS:
            yield problem_of_right, (client, arguments)
    elif what == "waiting":
        client = compiled(HERE / "check" / "waiting.cu")
        yield problem_of_wrong, (client, "abandoned", "may hang")
        yield problem_of_wrong, (client, "unstarted", "starvation")
        yield problem_of_right, (client, "cooperative")
    elif what == "mutants":
        folder = CACHE.resolve() / "map-mutants"
        client = compiled(mutants.write(folder))
        for m in mutants.MUTANTS:
            yield problem_of_wrong, (client, f"{m.name}.{m.client} {m.arguments}", m.expected, *m.flags)
        for m in mutants.right_ones():
            yield problem_of_right, (client, f"right.{m.client} {m.arguments}", *m.flags)
    else:
        sys.exit(__doc__)


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    layout = sys.argv[2] if len(sys.argv) > 2 else "packed8"
    jobs = list(jobs_of(what, layout))
    if not FULL:
        # The baseline, which nobody uses, has the largest searches: one pair from each beginning.
        parts = 24 if layout == "talk" else {"pairs": 6, "weak": 3, "races": 3, "together": 3}.get(what, 1)
        jobs = some(jobs, parts)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        answers = [answer for answer in pool.map(in_time(lambda job: job[0](*job[1])), mixed(jobs)) if answer is not None]
    found = [text for answer in answers for text in answer]
    print("\n".join(found) or f"{len(answers)} of {len(jobs)} programs: as they should be")
    return 1 if found or not answers else 0


if __name__ == "__main__":
    sys.exit(main())
