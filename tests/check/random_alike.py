"""Random programs of threads that mostly have one code, for random_programs.py, each with the verdict of an
oracle that knows nothing of PTX or of Heddle.

A program is an abstract syntax tree. It is written out as CUDA C++, and executed by `Oracle`: every order of
every access, no reduction, and the judgement of endless executions over all sets of threads that move in them.
The oracle is written against the rules ([STEP.1] to [STEP.4], [CLUSTER], [FAIR]) and exists to be compared with.

Statements are tuples:
    ("access", operation, cell, operand, expected, register)   register: None if nobody uses the result
    ("if", condition, statements, statements)
    ("while", cell, comparison, value)                         waits: a load in a loop
    ("loop", statements, condition)                            do … while (condition)
    ("barrier",)                                               __syncthreads()
A cell, a condition or an operand is an expression: a number, "rank", a register's name, or (operator, left, right). So threads that stand at one
instruction may go to different cells.
"""
import itertools
import operator

import axb_oracle
from random_kernels import MODELS, Program, launch

HEAD = """#include <cuda/atomic>
#include <cstdlib>
__device__ int cells[4];
__device__ cuda::atomic_ref<int, cuda::thread_scope_device> cell(int n) { return cuda::atomic_ref<int, cuda::thread_scope_device>(cells[n]); }
__global__ void judge(int a, int b) { while (cells[0] == a && cells[1] == b && *(volatile int*)&cells[3] != 99) ; }
"""
NEVER = 3       # a cell that nobody writes
MOST_STATES = 15_000
OPERATORS = {"+": operator.add, "*": operator.mul, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
             "&&": lambda a, b: bool(a) and bool(b), "||": lambda a, b: bool(a) or bool(b)}
# How each operation may be written. The first three have no result; a plain atomic store is no step ([STEP.4]).
WRITTEN = {
    "store": ("cell({c}).store({v}, cuda::memory_order_relaxed)", "cell({c}).store({v}, cuda::memory_order_release)"),
    "volatile_store": ("*(volatile int*)&cells[{c}] = {v}",),
    "sum": ("atomicAdd(&cells[{c}], {v})", "cell({c}).fetch_add({v}, cuda::memory_order_relaxed)"),
    "load": ("cell({c}).load(cuda::memory_order_relaxed)", "cell({c}).load()", "*(volatile int*)&cells[{c}]", "atomicAdd(&cells[{c}], 0)"),
    "add": ("atomicAdd(&cells[{c}], {v})", "cell({c}).fetch_add({v})"),
    "exchange": ("atomicExch(&cells[{c}], {v})", "cell({c}).exchange({v}, cuda::memory_order_acq_rel)"),
    "max": ("atomicMax(&cells[{c}], {v})",),
    "cas": ("atomicCAS(&cells[{c}], {e}, {v})",),
}


def value(expression, rank, registers):
    if isinstance(expression, int):
        return expression
    if expression == "rank":
        return rank
    if isinstance(expression, str):
        return registers.get(expression, 0)
    name, left, right = expression
    return OPERATORS[name](value(left, rank, registers), value(right, rank, registers))


def updated(name, old, operand, expected):
    return {"load": lambda: old, "store": lambda: operand, "volatile_store": lambda: operand, "exchange": lambda: operand,
            "sum": lambda: old + operand, "add": lambda: old + operand, "max": lambda: max(old, operand),
            "cas": lambda: operand if old == expected else old}[name]()


# --- Code: statements without nesting -----------------------------------------------------------------

def flatten(statements, code):
    """Appends: ("access", …), ("unless", condition, to), ("goto", to), ("barrier",)."""
    for statement in statements:
        kind = statement[0]
        if kind in ("access", "barrier"):
            code.append(statement)
        elif kind == "if":
            _, condition, then, otherwise = statement
            branch = len(code)
            code.append(None)
            flatten(then, code)
            end = len(code)
            code.append(None)
            code[branch] = ("unless", condition, len(code))
            flatten(otherwise, code)
            code[end] = ("goto", len(code))
        elif kind == "while":
            _, cell, comparison, wanted = statement
            begin = len(code)
            code.append(("access", "load", cell, 0, 0, "seen"))
            code.append(("unless", (comparison, "seen", wanted), begin + 3))
            code.append(("goto", begin))
        else:
            _, body, condition = statement
            begin = len(code)
            flatten(body, code)
            code.append(("unless", condition, len(code) + 2))
            code.append(("goto", begin))
    return code


class TooLarge(Exception):
    """The program has more states than an oracle in Python looks at."""


class Oracle:
    """All executions of `codes`, one for each thread, in blocks of `per_block`. `judged`: what the judge hangs for."""

    def __init__(self, codes, shape, per_block, judged):
        self.codes, self.shape, self.per_block, self.judged = codes, shape, per_block, judged
        self.everybody = range(len(codes))

    # A thread: (where it stands, registers, does it wait at a barrier?). A state: (threads, cells, who has taken a step).

    def settled(self, t, at, registers):
        """Executes what nobody else can see, up to an access, a barrier, or the end."""
        code = self.codes[t]
        while at < len(code) and code[at][0] in ("unless", "goto"):
            step = code[at]
            at = step[-1] if step[0] == "goto" or not value(step[1], t, registers) else at + 1
        return at

    def started(self):
        threads = tuple((self.settled(t, 0, {}), (), False) for t in self.everybody)
        return self.met(threads), (0, 0, 0, 0), frozenset()

    def met(self, threads):
        """Lets threads go on behind a barrier to which all that have not ended have come."""
        threads = list(threads)
        for first in range(0, len(threads), self.per_block):
            block = range(first, first + self.per_block)
            live = [t for t in block if threads[t][0] <= len(self.codes[t])]
            if live and all(threads[t][2] for t in live):
                for t in live:
                    at, registers, _ = threads[t]
                    threads[t] = (self.settled(t, at + 1, dict(registers)), registers, False)
        return tuple(threads)

    def movable(self, state):
        """Behind len(code) a thread has ended; at it, it is about to."""
        return frozenset(t for t in self.everybody if self.is_live(state, t) and not state[0][t][2])

    def is_live(self, state, t):
        return state[0][t][0] <= len(self.codes[t])

    def successor(self, state, t):
        threads, cells, stepped = state
        at, registers, _ = threads[t]
        code = self.codes[t]
        takes_step = True
        if at == len(code):
            thread = (at + 1, (), False)
        elif code[at][0] == "barrier":
            thread = (at, registers, True)
        else:
            _, name, cell, operand, expected, register = code[at]
            known = dict(registers)
            cell = int(value(cell, t, known))
            old = cells[cell]
            new = updated(name, old, value(operand, t, known), value(expected, t, known))
            cells = cells[:cell] + (new,) + cells[cell + 1:]
            if register:
                known[register] = old
            takes_step = name != "store"
            after = self.settled(t, at + 1, known)
            known.pop("seen", None)
            thread = (after, tuple(sorted(known.items())), False)
        threads = threads[:t] + (thread,) + threads[t + 1:]
        return self.met(threads), cells, stepped | {t} if takes_step else stepped

    def owed(self, state, model):
        """Who is guaranteed to go on, as in axb_oracle.owed, with blocks of several threads."""
        live, stepped = [t for t in self.everybody if self.is_live(state, t)], state[2]
        if model == "fair" or not live:
            return frozenset(live)
        if self.shape in ("cluster", "cooperative"):
            return frozenset(live if stepped or model == "hsa" else ())
        block = lambda t: t // self.per_block  # noqa: E731
        if model == "hsa":
            first = min(map(block, live))
            return frozenset(t for t in live if block(t) == first)
        begun = set(map(block, stepped))
        if model == "lobe":
            return frozenset(t for t in live if begun and block(t) <= max(begun))
        return frozenset(t for t in live if block(t) in begun)

    def graph(self):
        result, todo = {}, [self.started()]
        while todo:
            state = todo.pop()
            if state not in result:
                if len(result) == MOST_STATES:
                    raise TooLarge
                result[state] = {t: self.successor(state, t) for t in self.movable(state)}
                todo += result[state].values()
        return result

    def terminates(self, model):
        graph = self.graph()
        for state, moves in graph.items():
            if not moves and (any(self.is_live(state, t) for t in self.everybody) or state[1][:2] == self.judged):
                return False  # all who live are blocked, or the judge hangs
        for size in range(1, len(self.codes) + 1):
            for movers in map(frozenset, itertools.combinations(self.everybody, size)):
                # Who is owed progress moves, or is blocked; whoever is blocked in a circle is so in all of it.
                inside = {s for s, moves in graph.items() if movers <= moves.keys() | self.blocked(s)
                          and self.owed(s, model) <= movers | self.blocked(s)}
                edges = {s: [graph[s][t] for t in movers & graph[s].keys() if graph[s][t] in inside] for s in inside}
                label = axb_oracle.components(inside, edges)
                moved = {}
                for s in inside:
                    for t in movers & graph[s].keys():
                        if label.get(graph[s][t]) == label[s]:
                            moved.setdefault(label[s], set()).add(t)
                if any(who == movers for who in moved.values()):
                    return False
        return True

    def blocked(self, state):
        return frozenset(t for t in self.everybody if self.is_live(state, t) and state[0][t][2])


# --- As CUDA C++ --------------------------------------------------------------------------------------

def text_of(expression):
    if isinstance(expression, tuple):
        return f"({text_of(expression[1])} {expression[0]} {text_of(expression[2])})"
    return str(expression)


class Writer:
    def __init__(self, source):
        self.source = source

    def access(self, name, cell, operand=0, expected=0):
        return self.source.choice(WRITTEN[name]).format(c=text_of(cell), v=text_of(operand), e=text_of(expected))

    def statements(self, statements):
        return " ".join(map(self.statement, statements))

    def statement(self, statement):
        kind = statement[0]
        if kind == "access":
            _, name, cell, operand, expected, register = statement
            return f"{register + ' = ' if register else ''}{self.access(name, cell, operand, expected)};"
        if kind == "if":
            _, condition, then, otherwise = statement
            rest = f" else {{ {self.statements(otherwise)} }}" if otherwise else ""
            return f"if {text_of(condition)} {{ {self.statements(then)} }}{rest}"
        if kind == "while":
            _, cell, comparison, wanted = statement
            return f"while ({self.access('load', cell)} {comparison} {wanted}) ;"
        if kind == "loop":
            return f"do {{ {self.statements(statement[1])} }} while {text_of(statement[2])};"
        return "__syncthreads();"


# --- At random ----------------------------------------------------------------------------------------

class Grammar:
    def __init__(self, source, threads):
        self.source, self.threads, self.registers = source, threads, []

    def operand(self):
        pick = self.source.randrange(8)
        if pick == 0 and self.registers:
            return ("+", self.source.choice(self.registers), 1)
        if pick < 3:
            return ("+", "rank", 1)
        return self.source.randrange(4)

    def cell(self):
        """One of the first three; now and then one of two, by who asks or by what it has found."""
        pick, n = self.source.randrange(8), self.source.randrange
        if pick < 5:
            return n(3)
        asked = self.source.choice(self.registers) if pick == 7 and self.registers else "rank"
        one = ("==", asked, n(self.threads))
        return one if n(2) else ("+", one, 1)

    def condition(self):
        pick, n = self.source.randrange(10), self.source.randrange
        if not self.registers:
            return ("==", "rank", n(self.threads))
        register = self.source.choice(self.registers)
        if pick == 0:
            return ("==", "rank", n(self.threads))
        if pick == 1:
            return ("==", ("+", ("*", register, 8), "rank"), n(4) * 8 + n(self.threads))
        if pick == 2:
            return ("||", ("==", register, 0), ("==", register, n(1, 4)))
        if pick == 3:
            return ("<", register, n(1, self.threads + 1))
        return (self.source.choice(("==", "==", "==", "!=")), register, n(self.threads + 1))

    def reading(self):
        register = f"r{len(self.registers)}"
        name = self.source.choice(("load", "add", "add", "add", "exchange", "exchange", "cas", "max"))
        statement = ("access", name, self.cell(), self.operand() if name != "add" else 1, self.source.randrange(2), register)
        self.registers.append(register)
        return statement

    def statement(self, depth=0):
        pick = self.source.randrange(20)
        if pick < 6:
            return [self.reading()]
        if pick < 8:
            return [("access", self.source.choice(("sum", "store", "volatile_store")), self.cell(), self.operand(), 0, None)]
        if pick < 9:
            return [("while", self.cell(), *self.source.choice((("==", 0), ("!=", 1), ("<", 2))))]
        if pick < 11 and depth < 2:
            read = self.reading()
            bound = self.source.randrange(1, self.threads)
            return [("loop", [("access", "add", 2, 1, 0, read[-1]), *self.statement(depth + 2)], ("<", read[-1], bound))]
        before = [self.reading()] if not self.registers or self.source.randrange(2) else []
        condition = self.condition()
        if pick < 14:
            if self.source.randrange(2):
                before.append(self.reading())
                condition = ("&&", condition, self.condition())
            return [*before, ("if", condition, [("while", NEVER, "==", 0)], [])]
        if depth > 1:
            return [*before, ("if", condition, [("access", "store", self.cell(), self.operand(), 0, None)], [])]
        return [*before, ("if", condition, self.statement(depth + 1), self.statement(depth + 1) if self.source.randrange(3) == 0 else [])]

    def body(self):
        return [s for _ in range(self.source.choice((1, 2, 2, 3))) for s in self.statement()]


def all_registers(statements):
    for statement in statements:
        if statement[0] == "access" and statement[5]:
            yield statement[5]
        elif statement[0] in ("if", "loop"):
            for part in statement[1:]:
                if isinstance(part, list):
                    yield from all_registers(part)


SHAPES = {"blocks": (1, (2, 3, 3, 4)), "block": (0, (2, 3)), "two_by_two": (2, (4,)), "cluster": (1, (2, 3)), "cooperative": (1, (2, 3))}


def draw(source, number):
    shape = source.choice(("blocks", "blocks", "block", "block", *SHAPES))
    per_block, sizes = SHAPES[shape]
    threads = source.choice(sizes)
    per_block = per_block or threads
    grammar = Grammar(source, threads)
    parts = [grammar.body()]
    if per_block > 1 and source.randrange(3) == 0:
        parts.append(grammar.body())
    body = [s for n, part in enumerate(parts) for s in ([("barrier",)] if n else []) + part]
    if source.randrange(4) == 0:  # one of them does something besides
        other = Grammar(source, threads)
        other.registers = list(grammar.registers)
        body = [("if", ("==", "rank", source.randrange(threads)), other.statement(), []), *body]
    model = "cuda" if source.randrange(3) else source.choice(MODELS)
    judged = (source.randrange(4), source.randrange(4))
    names = sorted(set(all_registers(body)))
    terminates = Oracle([flatten(body, [])] * threads, shape, per_block, judged).terminates(model)
    declared = "".join(f" int {name} = 0;" for name in names)
    kernel = (f"__global__ void k{number}() {{\n  const int rank = blockIdx.x * blockDim.x + threadIdx.x; (void)rank;{declared}\n"
              f"  {Writer(source).statements(body)}\n}}\n")
    main = launch(f"k{number}", shape, threads // per_block, per_block) + f"    judge<<<1, 1>>>({judged[0]}, {judged[1]});\n"
    return Program(number, kernel, main, [] if model == "cuda" else [f"--progress={model}"], "terminates" if terminates else "may-hang")


def small_enough(draw_one):
    """Draws the next program whose states the oracle can look at."""
    def next_one(source, number):
        while True:
            try:
                return draw_one(source, number)
            except TooLarge:
                pass
    return next_one


KINDS = {"alike": (HEAD, small_enough(draw))}
