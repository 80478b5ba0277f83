#!/usr/bin/env python3
"""What `heddle check` costs: check.py [SECTION…]

    speed      states per second and core on a device-only program, and peak memory per state; executions per
               second with host code. Where the time goes: perf record -e cpu-clock -g heddle check …; perf
               report --sort comm,sym (the process named by a hash is the program, `heddle` judges)
    cores      the same search with one process and with several
    ranks      the same search with N processes, on N ranks of this machine (Open MPI), and on N as if each had a machine of its
               own: wall clock, processor time, states that two ranks have explored, messages and bytes
    examples   the document's examples (aim: each below 0.5 s once compiled)
    idioms     states and time of every case of tests/check/idioms and tests/check/clauses
    axb        29 tests x 4 shapes x 4 progress models (aim: below 10 s)
    lockstep   states of both modes for the programs of tests/simt/check, states and moves per second
    switches   states of SWITCHED with each switch of spec/reductions.md off: rows of its table "What each switch buys"
    growth     2, 3, 4, 6, 8 blocks and 32, 64, 128 threads, with and without each reduction
    wide       blocks of 64 to 1,024 threads under the memory model of PTX (aim: below 10 s up to 256)
    aims       the figures that have an aim, and whether it is met

A search is given MAX_TIME seconds (environment, default 10); "-" means that it did not finish. Times are wall
clock from start to exit of the tool, with the program already compiled, on however many cores there are.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "check"))
os.chdir(ROOT)
import cases  # noqa: E402
import test_axb  # noqa: E402

MAX_TIME = os.environ.get("MAX_TIME", "10")
GRIDS, LOCKS, BARRIERS = (f"tests/check/idioms/{name}.cu" for name in ("grids", "locks", "barriers"))
DEVICE = "tests/check/clauses/device.cu"
BLOCKS, WIDE = "bench/check/blocks.cu", "bench/check/wide.cu"
REDUCTIONS = {"all": [], "no symmetry": ["--no-symmetry"], "not eager": ["--no-eager"],
              "neither": ["--no-symmetry", "--no-eager"]}
GROWING = [  # program, case, sizes
    (GRIDS, "barrier plain", (2, 3, 4, 6, 8)),
    (GRIDS, "barrier cooperative", (2, 3, 4, 6, 8)),
    (GRIDS, "ticket-barrier cooperative", (2, 3, 4, 6, 8)),
    (GRIDS, "look-back-ticket plain", (2, 3, 4, 6, 8)),
    (GRIDS, "up cooperative", (2, 3, 4, 6, 8)),
    (LOCKS, "ticket-lock plain", (2, 3, 4, 6, 8)),
    (LOCKS, "spin-lock plain", (2, 3, 4, 6, 8)),
    (LOCKS, "philosophers-ordered plain", (2, 3, 4, 6)),
    (LOCKS, "spin-lock block", (32, 64, 128)),
    (DEVICE, "last-sets block", (32, 64, 128)),
    (BARRIERS, "all-come block", (32, 64, 128, 256)),
]


def check(program, words, *options):
    """Answer and seconds; the answer's verdict is None if the search did not finish."""
    case = cases.Case(program, words.split(), {"verdict": ["terminates"], "flags": [f"--max-time={MAX_TIME}", "--schedules=0"]})
    return case.run(*options)


def finished(answer):
    return answer["verdict"] is not None and answer.get("complete")


def cell(answer):
    return f"{answer['states']:>7,} {answer['wall']:>6.2f}s" if finished(answer) else f"{'-':>15}"


def measure(program, words, *options, jobs=1):
    """Answer, processor seconds of the tool and the program that it explores, and bytes of the larger of the two."""
    check(program, words, "--max-states=16")  # compiles, once
    case = cases.Case(program, words.split(), {"verdict": ["terminates"], "flags": [f"--max-time={MAX_TIME}", "--schedules=0", f"-j{jobs}"]})
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(case.command(*options), stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0  # it has been waited for
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def speed():
    print("== speed: device only, one process, end to end (the search, the judgement, one repetition)")
    print(f"{'':<46}{'states':>9}{'s':>8}{'states/s':>11}{'CPU s':>8}{'per core':>11}{'bytes':>8}")
    programs = [(LOCKS, f"philosophers-ordered {shape}", ("neither", "all")) for shape in ("block 5", "block 6", "plain 6")]
    programs += [(BLOCKS, words, ("all",)) for words in ("dine 2 3", "alike 2 4", "shared 1 5")]
    for program, words, reductions in programs:
        for name in reductions:
            answer, seconds, size = measure(program, words, *REDUCTIONS[name])
            states, wall = answer["states"], max(answer["seconds"], 1e-9)
            print(f"{words + ', ' + ('all reductions' if name == 'all' else 'none'):<46}{states:>9,}{wall:>8.2f}{states / wall:>11,.0f}"
                  f"{seconds:>8.2f}{states / seconds:>11,.0f}{size / states:>8,.0f}{'' if finished(answer) else '   CUT SHORT'}", flush=True)
    host = check("tests/check/idioms/host.cu", "queried-while-spinning")
    print(f"host code: {host.get('states', 0):,} states, {host.get('executions', 0):,} executions in {host.get('seconds') or 0:.2f} s: "
          f"{host.get('executions', 0) / max(host.get('seconds') or 1, 1e-9):,.0f} executions/s")


def processor_time(program, words, *options, before=()):
    """Answer, and processor seconds and page faults of all processes of the check, those that the tool does not wait for, too;
    and what it says with HEDDLE_PHASES."""
    case = cases.Case(program, words.split(), {"verdict": ["terminates"], "flags": [f"--max-time={MAX_TIME}", "--schedules=0"]})
    with tempfile.TemporaryDirectory() as folder:
        counts = pathlib.Path(folder) / "counts"
        done = subprocess.run(["perf", "stat", "-x,", "-o", counts, "-e", "task-clock,page-faults", *before,
                               *case.command(*options)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, "HEDDLE_PHASES": "1"})
        rows = [line.split(",") for line in counts.read_text().splitlines() if line and line[0] != "#"]
        numbers = {row[2].split(":")[0]: float(row[0]) for row in rows}
    return json.loads(done.stdout), numbers["task-clock"] / 1000, int(numbers["page-faults"]), done.stderr


def cores():
    most = len(os.sched_getaffinity(0))
    print(f"== cores: the same search with 1, 2, … processes on {most} processors: wall clock of the whole check, the judgement and one "
          "repetition included; processor time and page faults of all processes (perf stat). More processes than processors show what "
          "they cost, not what they gain.")
    for program, words, options in ((LOCKS, "philosophers-ordered plain 6", REDUCTIONS["neither"]),
                                    (LOCKS, "philosophers-ordered plain 7", ["--max-states=3000000"]),
                                    (LOCKS, "philosophers-ordered plain 7", ["--max-states=3000000", *REDUCTIONS["neither"]]),
                                    ("tests/check/idioms/host_threads.cu", "two-launchers", ["--states-alone=0"])):
        check(program, words, "--max-states=16")  # compiles, once
        alone = None
        for jobs in sorted({1, 2, 4, 8, 16, 32, most} & set(range(1, max(most, 16) + 1))):
            answer, seconds, faults, _ = processor_time(program, words, *options, f"-j{jobs}")
            wall = answer["seconds"] or 0
            alone = alone or wall
            print(f"{words:<30}{answer['states']:>10,} states  -j{jobs:<3}{wall:>7.2f} s  x{alone / max(wall, 1e-9):<5.2f}"
                  f"processor {seconds:>7.2f} s  {faults:>8,} faults{'' if finished(answer) else '   CUT SHORT'}", flush=True)


def ranks():
    print("== ranks: the same search with N processes of one rank (-jN), on N ranks of this machine, which lend their processors to one, "
          "and on N that search as if each had a machine of its own, one process each: wall clock; processor time of all processes (start "
          "of MPI and of the program on each rank included); where the search is divided, what two ranks have explored, and what all "
          "ranks have sent")
    launcher = shutil.which("mpirun.openmpi")
    if not launcher:
        print("no Open MPI")
        return
    most = max(len(os.sched_getaffinity(0)), 4)
    for program, words, options in ((LOCKS, "philosophers-ordered plain 7", ["--max-states=3000000"]),
                                    (LOCKS, "philosophers-ordered plain 7", ["--max-states=3000000", *REDUCTIONS["neither"]]),
                                    (LOCKS, "ticket-lock plain 7", ["--max-states=3000000", *REDUCTIONS["neither"]])):
        check(program, words, "--max-states=16")  # compiles, once
        for count in (n for n in (1, 2, 4, 8, 16) if n <= most):
            processes = None
            mpirun = [launcher, "--oversubscribe", "--allow-run-as-root", "-n", str(count)]
            for name, before, flags in (("processes", [], [f"-j{count}"]), ("ranks", mpirun, ["-j1"]),
                                        ("ranks apart", mpirun, ["-j1", "--ranks-per-machine=1"])):
                begun = time.monotonic()
                answer, seconds, faults, said = processor_time(program, words, *options, *flags, before=before)
                wall = time.monotonic() - begun
                processes = processes or (wall, seconds)
                cost = re.findall(r"have sent (\d+) messages, (\d+) bytes, .*; (\d+) states more were explored twice", said)
                messages, size, twice = (sum(map(int, column)) for column in zip(*cost)) if cost else (0, 0, 0)
                states = answer["states"]
                print(f"{words:<30}{states:>10,} states  {count:>2} {name:<12}{wall:>7.2f} s  speed x{processes[0] / wall:<5.2f}"
                      f"processor {seconds:>6.2f} s  x{seconds / processes[1]:<5.2f}{faults:>9,} faults"
                      + (f"  {100 * twice / states:>4.1f} % twice  {messages:>6,} messages  {size / states:>5.1f} bytes per state" if cost else "")
                      + ("" if finished(answer) else "   CUT SHORT"), flush=True)


def examples():
    print("== examples of the document")
    for path in cases.programs("examples/execution-model"):
        check(path, "", "--max-states=16")
        answer = check(path, "")
        print(f"{path.stem:<12}{answer['verdict'] or '-':<12}{answer.get('states', 0):>8,} states {answer['wall']:>6.2f} s")


def idioms():
    print("== idioms and clauses")
    for path in cases.programs("tests/check/idioms", "tests/check/clauses"):
        for case in cases.read_cases(path):
            answer = case.run()
            print(f"{case.name:<60}{answer['verdict'] or '-':<12}{answer.get('states', 0):>8,} states "
                  f"{answer.get('executions', 0):>7,} executions {answer.get('wall', 0):>6.2f} s", flush=True)


def axb():
    print("== axb")
    suite = test_axb.Axb("test_published_verdicts")
    began = time.monotonic()
    suite.test_published_verdicts()
    print(f"all together {time.monotonic() - began:.1f} s")


def lockstep():
    print("== lockstep: states and time with independent threads and with lockstep warps")
    questions = []
    for program in cases.programs("tests/simt/check"):
        for case in cases.read_cases(program):
            if (program, case.words) not in questions:
                questions.append((program, case.words))
    # Large enough for a speed: warps of one lane, and of several.
    questions += [(pathlib.Path(LOCKS), words.split())
                  for words in ("ticket-lock plain 64", "ticket-lock block 4", "spin-lock plain 8")]
    for program, words in questions:
        row = []
        for mode in "independent", "lockstep":
            check(program, " ".join(words), f"--warps={mode}", "--max-states=16")  # compiles, once
            answer = check(program, " ".join(words), f"--warps={mode}")
            speed = answer.get("states", 0) / (answer.get("seconds") or 1)
            row.append(f"{answer['verdict'] or '-':<11}{cell(answer)} {speed:>9,.0f}/s")
        print(f"{program.stem + ' ' + ' '.join(words):<28}" + "   ".join(row), flush=True)


def growth():
    print("== growth: states and time, with reductions off as named")
    for program, words, sizes in GROWING:
        print(words)
        for name, options in REDUCTIONS.items():
            row, out = [], False
            for size in sizes:
                answer = None if out else check(program, f"{words} {size}", *options)
                out = out or not finished(answer)
                row.append(cell(answer) if answer else f"{'-':>15}")
            print(f"    {name:<12}" + "".join(f"{size:>5}:{text}" for size, text in zip(sizes, row)), flush=True)


def wide():
    print("== wide: blocks of many threads with --memory=ptx, one process")
    for words in [f"last 4 {threads}" for threads in (64, 128, 256, 512, 1024)] + [f"sum 2 {threads}" for threads in (128, 512)]:
        answer, seconds, _ = measure(WIDE, words, "--memory=ptx")
        print(f"{words:<14}{answer['states']:>9,} states{seconds:>8.2f} s of processor time{'' if finished(answer) else '   CUT SHORT'}", flush=True)


AIMS = [  # program, case, seconds
    (BARRIERS, "all-come block 256", 0.5),
    (LOCKS, "spin-lock block 32", 10),
    (GRIDS, "barrier cooperative 64", 1),
    (GRIDS, "barrier plain 64", 1),
    (GRIDS, "ticket-barrier cooperative 64", 1),
    (LOCKS, "ticket-lock plain 64", 1),
]


SWITCHES = ("symmetry", "eager", "sums", "orderly", "places", "movers", "early-writes", "settled", "data-order", "cone", "phases",
            "peeks", "allocations", "neighbours", "host-first", "straight")
IDIOMS, MEMORY = "tests/check/idioms", "tests/check/memory"
SWITCHED = [  # program, case, flags
    (f"{IDIOMS}/large.cu", "counters block 64", ()),
    (f"{IDIOMS}/large.cu", "copy-beside-tickets plain 8", ()),
    (f"{IDIOMS}/grids.cu", "barrier cooperative 8", ()),
    (f"{IDIOMS}/grids.cu", "look-back-ticket plain 4", ()),
    (f"{IDIOMS}/grids.cu", "look-back-warps-ticket plain", ()),
    (f"{IDIOMS}/locks.cu", "ticket-lock plain 4", ()),
    (f"{IDIOMS}/kernels.cu", "histogram", ()),
    (f"{IDIOMS}/device_heap.cu", "lists block 32", ()),
    (f"{IDIOMS}/pipelines.cu", "peeks block 64", ()),
    (f"{IDIOMS}/pipelines.cu", "stages block 64", ()),
    (f"{IDIOMS}/barriers.cu", "named-ring block 96", ()),
    (f"{IDIOMS}/clusters.cu", "neighbour-stays cluster 2", ()),
    (f"{IDIOMS}/clusters.cu", "mbarrier-full-empty block 2", ()),
    (f"{IDIOMS}/last_block.cu", "two-counters 7", ()),
    (f"{IDIOMS}/cone.cu", "exchange 8", ()),
    (f"{IDIOMS}/movers.cu", "barrier cooperative 64", ()),
    (f"{IDIOMS}/data_order.cu", "exchange-add block 64", ()),
    (f"{IDIOMS}/data_order.cu", "compact plain 256", ()),
    (f"{IDIOMS}/host.cu", "sets-in-two-streams", ()),
    (f"{IDIOMS}/clocks.cu", "limit-several plain 3", ()),
    (f"{MEMORY}/algorithms.cu", "cas-rotation plain 10", ("--memory=ptx",)),
    (f"{MEMORY}/algorithms.cu", "look-back cooperative 2", ("--memory=ptx",)),
    (f"{MEMORY}/idioms.cu", "last-block plain 3", ("--memory=ptx",)),
]


def switches():
    limit = 20_000

    def states(program, words, flags):
        case = cases.Case(program, words.split(), {"verdict": ["terminates"], "flags": [f"--max-states={limit}", "--max-time=60", "--schedules=0", "-j1"]})
        answer = case.run(*flags)
        return f"{answer.get('states', 0):,}" + ("" if finished(answer) else " !")

    print(f"== switches: states, all processes one; '!': not complete within {limit:,} states or a minute")
    for program, words, flags in SWITCHED:
        usual = states(program, words, flags)
        changed = [f"{name} {count}" for name in SWITCHES
                   if (count := states(program, words, (*flags, f"--no-{name}"))) != usual]
        print(f"| {words} | {usual} | {', '.join(changed) or 'none'} |", flush=True)


def aims():
    print("== aims")
    for program, words, seconds in AIMS:
        check(program, words, "--max-states=16")
        answer = check(program, words)
        met = finished(answer) and answer["wall"] <= seconds
        print(f"{words:<32}{answer['verdict'] or '-':<12}{answer.get('states', 0):>8,} states {answer.get('wall', 0):>6.2f} s "
              f"(aim {seconds} s){'' if met else '   NOT MET'}", flush=True)


SECTIONS = {f.__name__: f for f in (speed, cores, ranks, examples, axb, wide, aims, lockstep, growth, switches, idioms)}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        SECTIONS[section]()
