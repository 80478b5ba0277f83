"""Changes of the headers that break one rule of their protocol each, and a client in which it shows.

`heddle check` must find every one of them, and nothing in the same client with the headers as they are.
All are compiled into one program: each change gets a copy of the headers in a namespace of its own."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include" / "heddle"
TEMPLATE = pathlib.Path(__file__).with_name("check") / "mutants.cu.in"

PACKED, STATE, QUEUE, MUTEX, ONCE = "map/packed_table.cuh", "map/slot_table.cuh", "mpmc_queue.cuh", "mutex.cuh", "once.cuh"


@dataclasses.dataclass
class Mutant:
    name: str
    rule: str
    file: str
    old: str
    new: str
    client: str  # the layout of a map, "queue" or "locks"
    arguments: str  # of client.h
    expected: str = "host-crash"  # what the report says
    flags: tuple = ()


# A key comes back at the beginning of its path while an insertion of it is on its way to the end.
COME_BACK = "1 insert2,insert3 insert1 erase2,insert1,insert4"
MUTANTS = [
    Mutant("emptied", "P1: an empty slot that was filled never becomes empty again", PACKED,
           "slot == special() ? Word{0, 0} : tombstone<Word>()", "Word{0, 0}",
           "packed8", "1 insert2,insert1 erase2 insert1"),
    Mutant("unstamped", "P2: re-use of a tombstone leaves a new stamp at the end", PACKED,
           "mem::store_release(now.end, unlocked(held));", "mem::store_release(now.end, now.end_word);",
           "packed8", "1 insert2 insert1 erase2,insert1"),
    Mutant("one_scan", "P3: the path is read for the key after the end's stamp", PACKED,
           "(now.end == confirmed && same(now.end_word, confirmed_word))", "true",
           "packed8", COME_BACK),
    Mutant("not_read_again", "P3 in 16-byte words", PACKED,
           "if (!only_others(", "if (false && !only_others(",
           "packed16", COME_BACK),
    Mutant("tombstone_of_first_scan", "P4: the path is read for the key while the end is locked", PACKED,
           "const bool done = reuse_tombstone(p, desired, order);",
           "const bool done = is_tombstone(mem::compare_exchange("
           "now.tombstone, detail::tombstone<Word>(), desired, order));",
           "packed8", "1 insert2,insert3,erase3 insert1 erase2,insert1"),
    Mutant("unlocked", "P4: tombstones are re-used by whoever holds the end locked", PACKED,
           "if (is_locked(now.end_word)) {",
           "if (now.tombstone != nullptr) { if (is_tombstone(mem::compare_exchange("
           "now.tombstone, detail::tombstone<Word>(), desired, order))) { return insert_result::inserted; } }"
           " else if (is_locked(now.end_word)) {",
           "packed8", "1 insert2,insert3,erase3 insert1 erase2,insert1"),
    Mutant("unannounced", "P5: the filter bit is set before an insertion passes a bucket", PACKED,
           "mem::set_bits(base, p.filter_bit());", "",
           "packed8", "room14 1 insert101,insert102,insert103,insert104,insert105,insert106,insert107 insert1 find1"),
    Mutant("state_unstamped", "P2 in the state layout", STATE,
           "store_end(now.end, (now.end_state & ~std::uint64_t(0xffffffff)) + one_stamp);",
           "store_end(now.end, now.end_state);",
           "state", "1 insert2 insert1 erase2,insert1"),
    Mutant("state_relaxed", "a slot is published by a release", STATE,
           "state(i).store(s, cuda::memory_order_release);", "state(i).store(s, cuda::memory_order_relaxed);",
           "state", "2 - insert1 find1", "data-race", ("--races=8",)),
    Mutant("state_not_held", "a reader holds the slot while it looks", STATE,
           "~reader_hold() { table.leave(slot); }", "~reader_hold() {}",
           "state", "1 insert1 find1 erase1", "may hang"),
    Mutant("queue_early", "a cell is written before its turn is given away", QUEUE,
           "    c.value = value;\n    turn(c).store(turn_to_write(p) + 1, cuda::memory_order_release);",
           "    turn(c).store(turn_to_write(p) + 1, cuda::memory_order_release);\n    c.value = value;",
           "queue", "", "data-race", ("--races=8",)),
    Mutant("queue_relaxed", "a turn is given away by a release", QUEUE,
           "turn(c).store(turn_to_write(p) + 1, cuda::memory_order_release);",
           "turn(c).store(turn_to_write(p) + 1, cuda::memory_order_relaxed);",
           "queue", "", "data-race", ("--races=8",)),
    Mutant("mutex_relaxed", "unlock releases", MUTEX,
           "word().store(0, cuda::memory_order_release);", "word().store(0, cuda::memory_order_relaxed);",
           "locks", "", "data-race", ("--races=8",)),
    Mutant("mutex_loaded", "a mutex is taken by one exchange", MUTEX,
           "return word()\n        .compare_exchange_strong(free, 1, cuda::memory_order_acquire, "
           "cuda::memory_order_relaxed);",
           "if (word().load(cuda::memory_order_acquire) != free) { return false; } "
           "word().store(1, cuda::memory_order_relaxed); return true;",
           "locks", ""),
    Mutant("once_early", "once says `called` after the call", ONCE,
           "        attempt mine{*this};\n        function();\n",
           "        attempt mine{*this};\n        state().store(called, cuda::memory_order_release);\n        function();\n",
           "locks", ""),
]


def right_ones():
    """The same clients with the headers as they are."""
    seen = set()
    for mutant in MUTANTS:
        key = (mutant.client, mutant.arguments)
        if key not in seen:
            seen.add(key)
            yield mutant


def copy(name, folder, edit=lambda file, text: text):
    """Copies the headers into folder/name, in the namespace heddle_<name>, each as `edit` leaves it."""
    for path in sorted(HEADERS.rglob("*.cuh")):
        relative = path.relative_to(HEADERS)
        text = edit(str(relative), path.read_text(encoding="utf-8"))
        text = re.sub(r"\bheddle(?=::|\s*\{)", f"heddle_{name}", text)
        target = folder / name / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def copy_clients(folder):
    """The headers of client programs."""
    for header in ("client.h", "history.h"):
        (folder / header).write_text(TEMPLATE.with_name(header).read_text(encoding="utf-8"), encoding="utf-8")


def map_type(space, layout):
    return (f"{space}::concurrent_map<int, int, cuda::thread_scope_device, OnePath, "
            f"{space}::equal_to<int>, {space}::device_allocator, {space}::layout::{layout}>")


def _case(name, clients):
    space = f"heddle_{name}"
    lines = []
    for client in sorted(clients):
        if client == "queue":
            body = f"return run_queue<{space}::mpmc_queue<int, 2>>();"
        elif client == "locks":
            body = f"return run_locks<{space}::mutex<>, {space}::once<>>();"
        else:
            body = f"return run_client<{map_type(space, client)}>(argc, argv);"
        lines.append(f'  if (which == "{name}.{client}") {{\n    {body}\n  }}')
    return "\n".join(lines)


def write(folder):
    """Writes the program that holds them all; returns its path."""
    problems = []
    clients = {"right": {m.client for m in MUTANTS}}
    copy("right", folder)
    for mutant in MUTANTS:
        copy(mutant.name, folder, lambda file, text, m=mutant: text.replace(m.old, m.new) if file == m.file else text)
        if mutant.old not in (HEADERS / mutant.file).read_text(encoding="utf-8"):
            problems.append(f"{mutant.name}: {mutant.file} does not contain what is to be changed")
        clients[mutant.name] = {mutant.client}
    if problems:
        raise ValueError("\n".join(problems))
    includes = []
    for name, kinds in clients.items():
        files = {"queue": ["mpmc_queue"], "locks": ["mutex", "once"]}
        for file in sorted({f for kind in kinds for f in files.get(kind, ["concurrent_map"])}):
            includes.append(f'#include "{name}/{file}.cuh"')
    text = TEMPLATE.read_text(encoding="utf-8").replace("@INCLUDES@", "\n".join(includes))
    text = text.replace("@CASES@", "\n".join(_case(name, kinds) for name, kinds in clients.items()))
    copy_clients(folder)
    program = folder / "mutants.cu"
    program.write_text(text, encoding="utf-8")
    return program
