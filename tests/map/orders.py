#!/usr/bin/env python3
"""Every memory order of the map, the mutexes, of once and of the queue, under the memory model of PTX.

    orders.py                each order that becomes one step weaker is found by the program that order_table.py has for it (every
                             eighth; at night, see tests/support/night.py, all), or
                             stands there with the reason why none does. And pairs of operations are right as they are: of
                             mutexes, once, queue and warps; the others of the map are what `test_check.py weak` is for
    orders.py --all [NAMES]  searches all programs for each weakened order whose name matches the pattern, and compares with the table
    orders.py --list         the orders and their names

Each weakened order gets a copy of the headers in a namespace of its own; a few copies are one program."""
import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "run"), str(HERE.parent / "support")]
import mutants  # noqa: E402
from order_table import FOUND, UNNEEDED  # noqa: E402
from program import Compiler  # noqa: E402
from night import some  # noqa: E402
from test_check import BEGINNINGS, OPERATIONS  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
CACHE = pathlib.Path(os.environ.get("HEDDLE_CACHE", "build/dev/tests/programs"))
TEMPLATE = HERE / "check" / "orders.cu.in"

# Orders of libcu++ and of PTX, and arguments of the map's own functions that name one. One step weaker is:
ACQUIRE, RELEASE, ACQ_REL, RELAXED = (f"cuda::memory_order_{name}" for name in ("acquire", "release", "acq_rel", "relaxed"))
WEAKER = {
    "cuda::memory_order_seq_cst": [ACQ_REL],
    # libcu++ makes one instruction of the two orders of a compare-exchange, of the stronger one. So the two are weakened together:
    # one of them alone leaves the PTX as it is.
    f"{ACQ_REL}, {ACQUIRE}": [f"{ACQUIRE}, {ACQUIRE}", f"{RELEASE}, {RELAXED}"],
    f"{ACQUIRE}, {ACQUIRE}": [f"{RELAXED}, {RELAXED}"],
    # And one of all fences but relaxed and seq_cst ones.
    **{f"fence({order}": [f"fence({RELAXED}"] for order in (ACQ_REL, ACQUIRE, RELEASE)},
    ACQ_REL: [ACQUIRE, RELEASE],
    ACQUIRE: [RELAXED],
    RELEASE: [RELAXED],
    "atom.acq_rel": ["atom.acquire", "atom.release"],
    "atom.acquire": ["atom.relaxed"],
    "atom.release": ["atom.relaxed"],
    "ld.acquire": ["ld.relaxed"],
    "access::acquire": ["access::relaxed"],
    "ordering::synchronizing": ["ordering::relaxed"],
    # What an exchange of the map is told by an operation that synchronizes:
    "order": ["only_acquires()", "order, access::relaxed"],
    "order, access::relaxed": ["ordering::relaxed"],
    "before();": [";"],  # fences of operations of warps
    "after();": [";"],
    "__syncwarp();": [";"],
}
ORDER = re.compile(r"(?<!== )(?<!= )(?:\b|(?<=\\t)|(?<=_))(fence\(cuda::memory_order_(?:acq_rel|acquire|release)|"
                   r"cuda::memory_order_(?:acq_rel|acquire),\s*cuda::memory_order_acquire|"
                   r"cuda::memory_order_(?:seq_cst|acq_rel|acquire|release)|atom\.(?:acq_rel|acquire|release)|ld\.acquire|"
                   r"access::acquire|ordering::synchronizing)\b|\b((?:before|after|__syncwarp)\(\);)|"
                   r"\bmem::compare_exchange\((?:[^;()]|\([^()]*\))*?, (order(?:,\s*access::relaxed)?)\)")
# Not looked at, since the search sees host threads read the newest of everything: members for host threads, and what they are made of.
HOST = {
    "concurrent_map.cuh": re.compile(r"ordering::synchronizing"),
    "map/word.cuh": re.compile(r"result\.(?:key|other) = atomic_number|result, result, ordering"),
}

LOCKS = ["empty lock lock", "empty lock try_lock", "empty try_lock try_lock"]
ONCE = ["empty call call", "empty call done"]
QUEUE = [f"empty {pair}" for pair in ("push pop", "push push", "push try_pop", "push try_push", "try_push pop",
                                      "try_push try_push", "try_push try_pop", "try_pop try_pop")] + [
    f"full {pair}" for pair in ("push pop", "pop pop", "pop try_push", "pop try_pop", "try_push try_pop",
                                "try_pop try_pop")]
# A key of its own slot, keys at the end of a bucket, and what the rules of the protocol are there for.
MAP = [f"1 {beginning} {first} {second}" for beginning in BEGINNINGS.values()
       for first, second in itertools.combinations_with_replacement(OPERATIONS, 2)] + [
    "1 - insert-1 insert-1",
    "1 - insert-1 find-1",
    "1 - insert-1 walk-1",
    "1 insert2,insert3 insert1 insert1",
    "1 insert2,insert3 insert1 find1",
    "1 insert2,insert3,insert4 insert1 insert1",
    "1 insert2,insert3,insert4 insert1 find1",
    "1 insert2,insert3 insert1 erase3,insert1",
    "1 insert2,insert3,erase3 insert1 insert1",
    "1 insert2,insert3,erase3 insert1 erase2,insert1",
    "tight room3 1 insert2,insert3,insert4,erase3 insert1 erase2,insert1",
    "1 insert2,insert3,insert4,erase3 insert1 erase2,insert1",
]
WARP = [f"1 {beginning} {first} {second}" for beginning in BEGINNINGS.values()
        for first, second in itertools.product(("insert1", "find1", "contains1", "erase1"), repeat=2)] + [
    "1 insert3,insert4 insert1 erase3,insert1,insert2",
]


@dataclasses.dataclass(frozen=True)
class Type:
    """What is defined in which headers, and the programs that use it."""
    headers: tuple
    spelled: str  # "": a map, of the layout that its name says
    use: str
    programs: list

    def is_map(self):
        return self.use == "map"

    def include(self):
        return "concurrent_map.cuh" if self.is_map() else self.headers[0]


PACKED, OF_WARPS = ("map/word.cuh", "map/packed_table.cuh"), ("map/packed_warp.cuh", "concurrent_map.cuh")
TYPES = {
    "mutex": Type(("mutex.cuh",), "mutex<>", "under_lock", LOCKS),
    "ticket_mutex": Type(("mutex.cuh",), "ticket_mutex<>", "under_lock", LOCKS),
    "once": Type(("once.cuh",), "once<>", "once", ONCE),
    "queue": Type(("mpmc_queue.cuh",), "mpmc_queue<int, 2>", "queue", QUEUE),
    "packed8": Type(PACKED, "", "map", MAP),
    "packed16": Type(PACKED, "", "map", MAP),
    "state": Type(("map/slot_table.cuh",), "", "map", MAP),
    "warp8": Type(OF_WARPS, "", "map", WARP),
    "warp16": Type(OF_WARPS, "", "map", WARP),
}


@dataclasses.dataclass(frozen=True)
class Order:
    """One that is one step weaker than in the header."""
    name: str
    header: str
    line: str
    weaker: str
    begin: int
    end: int

    def __str__(self):
        return f"{self.header}: {self.line}: {self.weaker}"

    def types(self):
        return [kind for kind, row in TYPES.items() if self.header in row.headers]

    def key(self):
        return self.header, self.line, self.weaker

    def edit(self, file, text):
        if file == self.header:
            text = text[:self.begin] + self.weaker + text[self.end:]
        if file == "map/word.cuh" and self.weaker == "only_acquires()":
            text = with_acquiring_exchanges(text)
        return text


EXCHANGE = re.compile(r"  HEDDLE_ANYWHERE static word\d+ compare_exchange\(.*?\n  \}\n(?=  HEDDLE_ANYWHERE|  ///)", re.DOTALL)


def with_acquiring_exchanges(text):
    """Compare-exchanges that acquire and do not release, which the map has no use for."""
    def both(match):
        other = match[0].replace("ordering order", "only_acquires order").replace("order == ordering::synchronizing", "false")
        other = re.sub(r"\b(?:order == ordering|reads == access)::relaxed", "false", other)
        return match[0] + other.replace("_acq_rel", "_acquire").replace("atom.acq_rel", "atom.acquire")
    begin = text.index("template <cuda::thread_scope Scope> struct memory {")
    return text[:begin] + "struct only_acquires {};\n" + EXCHANGE.sub(both, text[begin:])


def orders():
    for header in sorted({header for row in TYPES.values() for header in row.headers}):
        text = (mutants.HEADERS / header).read_text(encoding="utf-8")
        lines, seen = text.splitlines(), collections.Counter()
        found = [(*match.span(match.lastindex), weaker) for match in ORDER.finditer(text)
                 for weaker in WEAKER[" ".join(match[match.lastindex].split())]]
        for number, (begin, end, weaker) in enumerate(found):
            line = lines[text[:begin].count("\n")].rstrip("\\").strip()
            if not (header in HOST and HOST[header].search(line)):
                seen[line, weaker] += 1
                line += f" // {seen[line, weaker]}" if seen[line, weaker] > 1 else ""
                yield Order(f"{pathlib.Path(header).stem}_{number}", header, line, weaker, begin, end)


def run_of(name, kind):
    """What a program does with one type of one copy."""
    space, row = f"heddle_{name}", TYPES[kind]
    if row.is_map():
        layout = kind.replace("warp", "packed")
        return f"run_client<{mutants.map_type(space, layout)}, {'true' if layout != kind else 'false'}>(argc - 1, argv + 1)"
    full = f"{space}::{row.spelled}"
    return f"run_queue<{full}>(argv)" if row.use == "queue" else f"run<{full}, {row.use}<{full}>>(make<{full}>(), argv)"


def write(folder, copies):
    """A program of `copies`: (name, type, order or None)."""
    names = {name: order for name, _, order in copies}
    for name, order in names.items():
        mutants.copy(name, folder, *([order.edit] if order else []))
    mutants.copy_clients(folder)
    includes = sorted({f'#include "{name}/{TYPES[kind].include()}"' for name, kind, _ in copies})
    cases = [f'  if (which == "{name}.{kind}") {{\n    return {run_of(name, kind)};\n  }}' for name, kind, _ in copies]
    text = TEMPLATE.read_text(encoding="utf-8").replace("@INCLUDES@", "\n".join(includes)).replace("@CASES@", "\n".join(cases))
    program = folder / "orders.cu"
    program.write_text(text, encoding="utf-8")
    return str(program)


def compile_all(copies):
    """{name.type: program}. A program has few maps, since all its kernels are read whenever it starts."""
    folder = CACHE.resolve() / "map-orders"
    compiler = Compiler(os.environ.get("HEDDLE_NVCC", "nvcc"), str(CACHE.resolve()))
    compiler.version()
    maps = sorted((copy for copy in copies if TYPES[copy[1]].is_map()), key=lambda copy: copy[1])
    groups = [maps[i:i + 8] for i in range(0, len(maps), 8)] + [[copy for copy in copies if not TYPES[copy[1]].is_map()]]

    def compiled(number):
        source = write(folder / str(number), groups[number])
        return compiler.compile([source], ["-arch=compute_90", "-DWEAK_MEMORY", "-DHEDDLE_BUCKET_UNITS=4"])
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        programs = list(pool.map(compiled, [number for number, group in enumerate(groups) if group]))
    return {f"{name}.{kind}": program for program, group in zip(programs, filter(None, groups)) for name, kind, _ in group}


def is_endless(kind, first):
    """When a warp searches for a key, all lanes read, and the explorer does not come to an end. Single schedules are enough."""
    return "warp" in kind and not first.startswith("insert")


def answer(programs, name, arguments, schedules=2000):
    """What is said about a copy, with "type argument…"."""
    arguments = f"{name}.{arguments}".split()
    limits = ["--max-states=300", f"--schedules={schedules}"] if is_endless(arguments[0], arguments[3]) else ["--schedules=0"]
    command = [HEDDLE, "check", "--memory=ptx", "--max-time=60", *limits, programs[arguments[0]], *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def problem_of_right(programs, arguments):
    status, output = answer(programs, "right", arguments, schedules=30)
    kind, _, _, first = arguments.split()[:4]
    # The clients are compiled by nvcc alone, so nobody watches what their host code does with managed memory.
    left_out = re.findall("= (?:not looked at|ended early): (.*)", output)
    unwatched = status == 4 and all("not instrumented" in what for what in left_out)
    right = status == 4 if is_endless(kind, first) else unwatched or (status == 0 and "exhaustive" in output)
    return [] if right else [f"{arguments}: exit code {status}\n{output[-1500:]}"]


def problem_of_found(programs, order):
    status, output = answer(programs, order.name, FOUND[order.key()])
    return [] if status == 1 else [f"{order}: {FOUND[order.key()]} does not find it, exit code {status}\n{output[-1500:]}"]


def problem_of_search(programs, order):
    """All programs, until one finds it."""
    found, open_ones = None, []
    for arguments in (f"{kind} {pair}" for kind in order.types() for pair in TYPES[kind].programs):
        status, output = answer(programs, order.name, arguments)
        if status == 1:
            found = arguments
            break
        if "exhaustive" not in output:
            open_ones.append(arguments)
    print(f"{order.name}: {order}: {found or f'not found, not exhaustive: {open_ones}'}", flush=True)
    right = order.key() in (FOUND if found else UNNEEDED)
    return [] if right else [f"{order}: {'is found' if found else 'is not found'}: the table has something else"]


def main():
    listed = list(orders())
    if "--list" in sys.argv:
        print("\n".join(f"{order.name}: {order}: {FOUND.get(order.key()) or UNNEEDED.get(order.key())}" for order in listed))
        return 0
    problems = [f"{key}: not in the headers" for key in (FOUND.keys() | UNNEEDED.keys()) - {order.key() for order in listed}]
    if "--all" in sys.argv:
        pattern = (sys.argv + [""])[sys.argv.index("--all") + 1]
        listed = [order for order in listed if re.search(pattern, order.name)]
        programs = compile_all([(order.name, kind, order) for order in listed for kind in order.types()])
        calls = [(problem_of_search, order) for order in listed]
    else:
        problems += [f"{order}: neither found nor unneeded" for order in listed if order.key() not in (FOUND.keys() | UNNEEDED.keys())]
        found = [order for order in listed if order.key() in FOUND]
        found = some(found, 8)
        pairs = [(kind, pair) for kind, row in TYPES.items() if not row.is_map() for pair in row.programs]
        pairs += sorted({tuple(FOUND[order.key()].split(" ", 1)) for order in found if "warp" in FOUND[order.key()]})
        programs = compile_all([(order.name, FOUND[order.key()].split()[0], order) for order in found] +
                               [("right", kind, None) for kind in dict(pairs)])
        calls = [(problem_of_found, order) for order in found]
        calls = [(problem_of_right, f"{kind} {pair}") for kind, pair in pairs] + calls
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems += [problem for answers in pool.map(lambda call: call[0](programs, call[1]), calls) for problem in answers]
    print("\n".join(problems) or f"{len(calls)} checks: as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
