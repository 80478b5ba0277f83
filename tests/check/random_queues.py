"""Random host programs around streams, for random_programs.py, each with the verdict of an oracle that knows nothing of
Heddle: one or two host threads, two streams that wait for the default stream or do not, and that stream, two events, kernels of
one or two threads, copies, values that streams write and wait for, host functions, queries, two mutexes of the host, and three
words that all of them can reach.

A program is an abstract syntax tree. It is written out as CUDA C++, and executed by `Oracle`: every order of every move, no
reduction, and then the judgement of all endless executions ([FAIR]) as a Streett automaton's. The oracle is written against
spec/progress.md and spec/api.md.

Statements, of host threads, host functions, and device threads:
    ("store", word, value)  ("add", word)  ("await", word)                 await: a loop that reads until the word is not 0
    ("if", word, value, statement)
Of host threads and host functions besides:
    ("locked", mutex, statements)
Of host threads besides:
    ("launch", stream, kernel)   ("copy", stream, word, value)   ("write", stream, word, value)
    ("value", stream, word)      ("function", stream, number)                value: the stream waits until the word is >= 1
    ("record", event, stream)    ("order", stream, event)
    ("finish", what)             ("poll", what)                   ("ready?", what, answer, statement)
`what` is ("stream", number), ("event", number) or ("device",); the last one only for "finish".
"""
from dataclasses import dataclass, replace

import axb_oracle
from random_alike import TooLarge, small_enough
from random_kernels import Program, each

HEAD = """#include <cuda.h>
#include <cuda/atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
struct Mail { cuda::atomic<int, cuda::thread_scope_system> a[4]; };
static Mail* mail;
__device__ int device_constants[3] = {0, 1, 2};
static int* constants;  // on the device: a copy between two places of the host is synchronous
static cudaStream_t s[3];  // the last one is the default stream
static cudaEvent_t e[2];
static std::mutex mutexes[2];
static void prepare(unsigned first, unsigned second) {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Mail));
  mail = new (memory) Mail{};
  cudaGetSymbolAddress(&memory, device_constants);
  constants = (int*)memory;
  cudaStreamCreateWithFlags(&s[0], first);
  cudaStreamCreateWithFlags(&s[1], second);
  for (cudaEvent_t& event : e) { cudaEventCreateWithFlags(&event, cudaEventDisableTiming); }
}
"""
MOST_STATES = 20_000
WORDS, MUTEXES, STREAMS, EVENTS = 3, 2, 2, 2
DEFAULT = STREAMS  # the number of the default stream


# --- Code: statements without nesting -----------------------------------------------------------------

def flatten(statement, code):
    """Appends: ("store" | "add", word, value), ("unless", word, value, to), ("while0", word), ("lock", word), ("call", …), ("return",),
    ("wait", what), ("query", what, to if not ready, to if ready). A mutex is a word that is 1 while somebody has it."""
    kind = statement[0]
    if kind in ("store", "add"):
        code.append((kind, statement[1], statement[2] if kind == "store" else 1))
    elif kind == "await":
        code.append(("while0", statement[1]))
    elif kind == "locked":
        mutex = WORDS + statement[1]
        code.append(("lock", mutex))
        for inner in statement[2]:
            flatten(inner, code)
        code.append(("store", mutex, 0))
    elif kind == "if":
        at = len(code)
        code.append(None)
        flatten(statement[3], code)
        code[at] = ("unless", statement[1], statement[2], len(code))
    elif kind == "poll":
        code.append(("call", ("asks",)))
        code.append(("query", statement[1], len(code) - 1, len(code) + 1))
    elif kind == "ready?":
        code.append(("call", ("asks",)))
        at = len(code)
        code.append(None)
        flatten(statement[3], code)
        then, otherwise = at + 1, len(code)
        code[at] = ("query", statement[1], *((otherwise, then) if statement[2] == "cudaSuccess" else (then, otherwise)))
    elif kind == "finish":
        code.append(("call", ("asks",)))
        code.append(("wait", statement[1]))
    else:
        code.append(("call", statement))
        code.append(("return",))


def code_of(statements):
    code = []
    for statement in statements:
        flatten(statement, code)
    return code


# --- States -------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Command:
    """One that has been submitted. `after`: numbers of those that must have completed before."""
    kind: str  # kernel, set (a copy, a written value), value, function, mark (an event's record, or a stream that waits for one)
    what: object
    after: tuple


@dataclass(frozen=True)
class State:
    words: tuple
    hosts: tuple      # where each host thread stands; behind its code: it has ended
    snapshots: tuple  # of each host thread: the commands that the call it is inside is about
    commands: tuple   # Command
    progress: tuple   # of each command: a kernel's threads, (where, has it taken a step); a function's place; else is it done?
    streams: tuple    # the last command of each, or None
    events: tuple
    observed: frozenset  # commands of which a call has said that they have completed


class Oracle:
    """All executions of `hosts`, code of host threads of which the first is main, with `kernels`, pairs of (threads' statements, are
    they one block?)."""

    def __init__(self, hosts, kernels, functions, blocking, prompt):
        self.hosts = hosts
        self.blocking = [n for n in range(STREAMS) if blocking[n]]  # streams that wait for the default stream, and it for them
        self.kernels = [([code_of(t) for t in threads], block) for threads, block in kernels]
        self.functions = [code_of(f) for f in functions]
        self.prompt = prompt

    def start(self):
        none = (None,) * len(self.hosts)
        return State((0,) * (WORDS + MUTEXES), (0,) * len(self.hosts), none, (), (), (None,) * (STREAMS + 1), (None,) * EVENTS, frozenset())

    # --- Commands ---
    def done(self, state, n):
        command, progress = state.commands[n], state.progress[n]
        if command.kind == "mark":
            return all(self.done(state, a) for a in command.after)
        if command.kind == "kernel":
            codes, _ = self.kernels[command.what]
            return all(at > len(code) for (at, _), code in zip(progress, codes))
        if command.kind == "function":
            return progress is not None and progress >= len(self.functions[command.what]) + 1
        return progress

    def ready(self, state, n):
        return all(self.done(state, a) for a in state.commands[n].after)

    def submit(self, state, statement):
        kind = statement[0]
        streams, events = list(state.streams), list(state.events)
        if kind == "record":
            stream = statement[2]
        else:
            stream = statement[1]
        earlier = [stream] + (self.blocking if stream == DEFAULT else [DEFAULT] if stream in self.blocking else [])
        after = tuple(streams[n] for n in earlier if streams[n] is not None)
        if kind == "order":
            if events[statement[2]] is None:
                return state
            after += (events[statement[2]],)
        number = len(state.commands)
        if kind == "launch":
            command, progress = Command("kernel", statement[2], after), tuple((0, False) for _ in self.kernels[statement[2]][0])
        elif kind in ("copy", "write"):
            command, progress = Command("set", statement[2:], after), False
        elif kind == "value":
            command, progress = Command("value", statement[2], after), False
        elif kind == "function":
            command, progress = Command("function", statement[2], after), None
        else:
            command, progress = Command("mark", None, after), None
        if kind == "record":
            events[statement[1]] = number
        streams[stream] = number  # what comes behind a record in its stream waits for no more than what comes before it
        return replace(state, commands=state.commands + (command,), progress=state.progress + (progress,), streams=tuple(streams), events=tuple(events))

    def about(self, state, what):
        if what[0] == "device":
            return tuple(n for n in state.streams if n is not None)
        last = (state.streams if what[0] == "stream" else state.events)[what[1]]
        return () if last is None else (last,)

    def observe(self, state, commands):
        seen, todo = set(state.observed), list(commands)
        while todo:
            n = todo.pop()
            if n not in seen:
                seen.add(n)
                todo += state.commands[n].after
        return replace(state, observed=frozenset(seen))

    # --- Moves: {actor: [(state, obliged by [QUERY])]} ---
    @staticmethod
    def accessed(words, i, at):
        """What one access does: the words, and where the thread goes on. A wait that is not over stays where it is."""
        if i[0] in ("store", "add"):
            word = i[2] if i[0] == "store" else words[i[1]] + i[2]
            return Oracle.with_item(words, i[1], word), at + 1
        if i[0] == "unless":
            return words, at + 1 if words[i[1]] == i[2] else i[3]
        if i[0] == "lock":
            return Oracle.with_item(words, i[1], 1), at + 1
        return words, at + 1 if words[i[1]] != 0 else at

    @staticmethod
    def blocked(words, i):
        return i[0] == "lock" and words[i[1]] != 0

    @staticmethod
    def with_item(values, n, value):
        return values[:n] + (value,) + values[n + 1:]

    def with_host(self, state, t, at, snapshot=None, words=None):
        if at < len(self.hosts[t]) and self.hosts[t][at][0] == "goto":
            at = self.hosts[t][at][1]
        return replace(state, words=words or state.words, hosts=self.with_item(state.hosts, t, at), snapshots=self.with_item(state.snapshots, t, snapshot))

    def with_progress(self, state, n, progress, words=None):
        return replace(state, words=words or state.words, progress=self.with_item(state.progress, n, progress))

    def host_moves(self, state, t):
        code, at = self.hosts[t], state.hosts[t]
        if at == len(code):
            return [(self.with_host(state, t, at + 1), False)]  # it ends
        i = code[at]
        if i[0] == "join":
            return [(self.with_host(state, t, at + 1), False)] if state.hosts[1] > len(self.hosts[1]) else []
        if i[0] == "call":
            if i[1][0] == "asks":
                return [(self.with_host(state, t, at + 1, self.about(state, code[at + 1][1])), False)]
            return [(self.with_host(self.submit(state, i[1]), t, at + 1), False)]
        if i[0] == "return":
            return [(self.with_host(state, t, at + 1), False)]
        if i[0] == "wait":
            about = state.snapshots[t]
            if all(self.done(state, n) for n in about):
                return [(self.with_host(self.observe(state, about), t, at + 1), False)]
            return []
        if i[0] == "query":
            about = state.snapshots[t]
            complete = all(self.done(state, n) for n in about)
            answers = [(self.with_host(self.observe(state, about), t, i[3]), False)] if complete else []
            if not set(about) <= state.observed:
                answers.append((self.with_host(state, t, i[2]), complete or self.some_is_due(state)))
            return answers
        if self.blocked(state.words, i):
            return []
        words, to = self.accessed(state.words, i, at)
        return [(self.with_host(state, t, to, None, words), False)]

    def device_moves(self, state):
        """{("thread", n, i) | ("command", n) | ("function", n): state}; a function that has begun is a host thread."""
        moves = {}
        for n, command in enumerate(state.commands):
            if command.kind == "mark" or self.done(state, n) or not self.ready(state, n):
                continue
            progress = state.progress[n]
            if command.kind == "kernel":
                for i, code in enumerate(self.kernels[command.what][0]):
                    at, stepped = progress[i]
                    if at > len(code):
                        continue
                    words, to = (state.words, at + 1) if at == len(code) else self.accessed(state.words, code[at], at)
                    steps = stepped or at == len(code) or code[at][0] != "store"
                    moves["thread", n, i] = self.with_progress(state, n, self.with_item(progress, i, (to, steps)), words)
            elif command.kind == "set":
                word, value = command.what
                moves["command", n] = self.with_progress(state, n, True, self.with_item(state.words, word, value))
            elif command.kind == "value":
                if state.words[command.what] >= 1:
                    moves["command", n] = self.with_progress(state, n, True)
            elif progress is None:
                moves["command", n] = self.with_progress(state, n, 0)  # the function begins
            else:
                code = self.functions[command.what]
                if progress < len(code) and self.blocked(state.words, code[progress]):
                    continue
                words, to = (state.words, progress + 1) if progress == len(code) else self.accessed(state.words, code[progress], progress)
                moves["function", n] = self.with_progress(state, n, to, words)
        return moves

    def may_wait(self, state, actor):
        """[HOST-CALL]"""
        return actor[0] == "command" and state.commands[actor[1]].kind == "function" and any(
            c.kind == "function" and state.progress[n] is not None and not self.done(state, n) for n, c in enumerate(state.commands))

    def some_is_due(self, state):
        return any(a[0] != "function" and not self.may_wait(state, a) for a in self.device_moves(state))

    def ended(self, state):
        return all(at > len(code) for at, code in zip(state.hosts, self.hosts))

    # --- Judgement ---
    def demands(self, state, moves):
        """Who is owed a move in this state: ("host", t), ("function", n), ("thread", n, i), or ("api", t)."""
        result = set()
        due = self.some_is_due(state)
        for t, code in enumerate(self.hosts):
            if state.hosts[t] > len(code):
                continue
            i = code[state.hosts[t]] if state.hosts[t] < len(code) else ("end",)
            can = ("host", t) in moves
            waits = i[0] == "wait" and not set(state.snapshots[t]) <= state.observed  # a call with nothing to wait for does not synchronise
            if waits or (i[0] in ("call", "return", "query", "wait") and not self.prompt):
                if can or due:
                    result.add(("api", t))
            elif can:
                result.add(("host", t))
        for actor in moves:
            if actor[0] == "function":
                result.add(actor)
            elif actor[0] == "thread":
                _, n, i = actor
                _, block = self.kernels[state.commands[n].what]
                if any(stepped for _, stepped in state.progress[n]) if block else state.progress[n][i][1]:
                    result.add(actor)
        return result

    def moves(self, state):
        moves = {a: [(to, False)] for a, to in self.device_moves(state).items()}
        for t, code in enumerate(self.hosts):
            if state.hosts[t] <= len(code):
                ways = self.host_moves(state, t)
                if ways:
                    moves["host", t] = ways
        return moves

    def graph(self):
        numbers, states, edges = {self.start(): 0}, [self.start()], []
        demands, hangs = [], False
        while len(edges) < len(states):
            state = states[len(edges)]
            if self.ended(state):
                edges.append([])
                demands.append(set())
                continue
            moves = self.moves(state)
            demands.append(self.demands(state, moves))
            hangs = hangs or not demands[-1]  # nobody has to move: all may stand still for ever
            out = []
            for actor, ways in moves.items():
                for to, obliged in ways:
                    if to not in numbers:
                        numbers[to] = len(states)
                        states.append(to)
                        if len(states) > MOST_STATES:
                            raise TooLarge
                    out.append((actor, numbers[to], obliged))
            edges.append(out)
        return edges, demands, hangs

    def terminates(self):
        edges, demands, hangs = self.graph()
        return not hangs and not endless(edges, demands)


def answers(edges):
    """Which demands are answered by these edges (actor, to, obliged)."""
    result = {actor for actor, _, _ in edges}
    result |= {("api", actor[1]) for actor in result if actor[0] == "host"}
    if any(actor[0] == "thread" for actor in result):
        result.add("device")
    return result


def endless(edges, demands):
    """Is there a set of states and edges in which an execution can stay for ever, so that each demand which recurs is answered?"""
    todo = [(set(range(len(edges))), False)]
    while todo:
        inside, without_queries = todo.pop()
        kept = {s: [e for e in edges[s] if e[1] in inside and not (without_queries and e[2])] for s in inside}
        for component in components(kept):
            within = [e for s in component for e in kept[s] if e[1] in component]
            if not within:
                continue
            given = answers(within)
            met = lambda d: d in given or (d[0] == "api" and "device" in given)  # noqa: E731
            bad = {s for s in component if not all(met(d) for d in demands[s])}
            queried = any(e[2] for e in within) and "device" not in given
            if not bad and not queried:
                return True
            todo.append((component - bad, without_queries or queried))
    return False


def components(edges):
    """Strongly connected components, as sets."""
    label = axb_oracle.components(edges, {s: [to for _, to, _ in out] for s, out in edges.items()})
    result = {}
    for state, of in label.items():
        result.setdefault(of, set()).add(state)
    return result.values()


# --- As CUDA C++ --------------------------------------------------------------------------------------

class Writer:
    def __init__(self, source, number):
        self.source, self.number = source, number

    def statement(self, statement, mail="mail"):
        kind, rest = statement[0], statement[1:]
        pick = self.source.choice
        if kind == "store":
            order = pick(("", ", cuda::memory_order_relaxed", ", cuda::memory_order_release"))
            return f"{mail}->a[{rest[0]}].store({rest[1]}{order});"
        if kind == "add":
            return f"{mail}->a[{rest[0]}].fetch_add(1{pick(('', ', cuda::memory_order_relaxed'))});"
        if kind == "await":
            return f"while ({mail}->a[{rest[0]}].load({pick(('', 'cuda::memory_order_acquire', 'cuda::memory_order_relaxed'))}) == 0) ;"
        if kind == "if":
            return f"if ({mail}->a[{rest[0]}].load() == {rest[1]}) {{ {self.statement(rest[2], mail)} }}"
        if kind == "judge":
            return f"while ({' && '.join(f'mail->a[{w}].load() == {v}' for w, v in rest[0])}) ;"
        if kind == "locked":
            return f"{{ const std::lock_guard<std::mutex> guard(mutexes[{rest[0]}]); {' '.join(self.statement(s, mail) for s in rest[1])} }}"
        if kind == "launch":
            return f"k{self.number}_{rest[1]}<<<SHAPE{rest[1]}, 0, s[{rest[0]}]>>>(mail);"
        if kind == "copy":
            return f"cudaMemcpyAsync(&mail->a[{rest[1]}], &constants[{rest[2]}], 4, cudaMemcpyDefault, s[{rest[0]}]);"
        if kind == "write":
            return f"cuStreamWriteValue32(s[{rest[0]}], (CUdeviceptr)&mail->a[{rest[1]}], {rest[2]}, 0);"
        if kind == "value":
            return f"cuStreamWaitValue32(s[{rest[0]}], (CUdeviceptr)&mail->a[{rest[1]}], 1, CU_STREAM_WAIT_VALUE_GEQ);"
        if kind == "function":
            return f"cudaLaunchHostFunc(s[{rest[0]}], f{self.number}_{rest[1]}, nullptr);"
        if kind == "record":
            return f"cudaEventRecord(e[{rest[0]}], s[{rest[1]}]);"
        if kind == "order":
            return f"cudaStreamWaitEvent(s[{rest[0]}], e[{rest[1]}], 0);"
        what = rest[0]
        if kind == "finish":
            return {"stream": "cudaStreamSynchronize(s[{0}]);", "event": "cudaEventSynchronize(e[{0}]);",
                    "device": "cudaDeviceSynchronize();"}[what[0]].format(*what[1:])
        query = f"cudaStreamQuery(s[{what[1]}])" if what[0] == "stream" else f"cudaEventQuery(e[{what[1]}])"
        if kind == "poll":
            return f"while ({query} == cudaErrorNotReady) ;"
        return f"if ({query} == {rest[1]}) {{ {self.statement(rest[2])} }}"


# --- At random ----------------------------------------------------------------------------------------

class Grammar:
    def __init__(self, source):
        self.source, self.kernels, self.functions, self.needs = source, [], [], []
        self.streams = STREAMS + (source.randrange(3) == 0)
        self.blocking = [self.streams > STREAMS and source.randrange(3) > 0 for _ in range(STREAMS)]
        self.locks = source.randrange(3) == 0

    def n(self, below):
        return self.source.randrange(below)

    def access(self, awaits=True):
        pick, word = self.n(8), self.n(WORDS)
        if pick < 2:
            return ("store", word, self.source.choice((1, 1, 2)))
        if pick < 4:
            return ("add", word)
        if pick < 6 and awaits:
            self.needs.append(word)
            return ("await", word)
        return ("if", word, self.n(2), self.source.choice((("store", self.n(WORDS), 1), ("add", self.n(WORDS)))))

    def kernel(self, threads=None):
        threads = threads or [[self.access() for _ in range(self.source.choice((1, 1, 2)))] for _ in range(self.source.choice((1, 1, 2)))]
        self.kernels.append((threads, self.n(2) == 0))
        return len(self.kernels) - 1

    def what(self):
        return self.source.choice((("stream", self.n(STREAMS)), ("event", self.n(EVENTS))))

    def statement(self, depth=0):
        if self.locks and depth == 0 and self.n(3) == 0:
            return ("locked", self.n(MUTEXES), [self.statement(1) for _ in range(self.source.choice((1, 2)))])
        pick, stream, event = self.n(22), self.n(self.streams), self.n(EVENTS)
        if pick < 6:
            return ("launch", stream, self.kernel())
        if pick < 8:
            return ("record", event, stream)
        if pick < 9:
            return ("order", stream, event)
        if pick < 10:
            return ("finish", self.source.choice((("stream", self.n(STREAMS)), ("event", event), ("device",))))
        if pick < 12:
            return ("poll", self.what())
        if pick < 14 and depth == 0:
            return ("ready?", self.what(), self.source.choice(("cudaSuccess", "cudaErrorNotReady")), self.statement(1))
        if pick < 15:
            return (self.source.choice(("copy", "write")), stream, self.n(WORDS), self.source.choice((0, 1, 1, 2)))
        if pick < 16:
            word = self.n(WORDS)
            self.needs.append(word)
            return ("value", stream, word)
        if pick < 18:
            accesses = [self.access() for _ in range(self.source.choice((1, 1, 2)))]
            return self.function([("locked", self.n(MUTEXES), accesses)] if self.locks and self.n(2) else accesses, stream)
        return self.access()

    def function(self, statements, stream):
        self.functions.append(statements)
        return ("function", stream, len(self.functions) - 1)

    def setting(self, word):
        """A statement that sets the word, from wherever that is possible."""
        stream = self.n(self.streams)
        return self.source.choice((("copy", stream, word, 1), ("write", stream, word, 1), ("store", word, 1), ("add", word),
                                   ("launch", stream, self.kernel([[("add", word)]])), self.function([("store", word, 1)], stream)))


def draw(source, number):
    grammar, joins = Grammar(source), source.randrange(3) == 0
    hosts = [[grammar.statement() for _ in range(source.choice((1, 2, 2, 3)))]]
    if joins:
        hosts.append([grammar.statement() if source.randrange(2) else grammar.access() for _ in range(source.choice((1, 1, 2)))])
    for word in list(grammar.needs):
        if source.randrange(4):
            thread = source.choice(hosts)
            thread.insert(source.randrange(len(thread) + 1), grammar.setting(word))
    judged = [(source.randrange(WORDS), source.choice((0, 1, 1, 2))) for _ in range(source.choice((0, 1, 2)))]
    prompt = source.randrange(4) == 0
    writer = Writer(source, number)
    functions = [f"__global__ void k{number}_{n}(Mail* m) {{\n  const int rank = blockIdx.x + threadIdx.x;\n"
                 f"{each([' '.join(writer.statement(s, 'm') for s in t) for t in threads])}}}\n" for n, (threads, _) in enumerate(grammar.kernels)]
    functions += [f"static void f{number}_{n}(void*) {{ {' '.join(map(writer.statement, f))} }}\n" for n, f in enumerate(grammar.functions)]
    flags = ", ".join("cudaStreamDefault" if blocking else "cudaStreamNonBlocking" for blocking in grammar.blocking)
    lines = [f"prepare({flags});"]
    texts = [[writer.statement(s) for s in host] for host in hosts]
    if joins:
        lines += ["std::thread second([] {", "  cudaSetDevice(0);", *("  " + line for line in texts[1]), "});"]
    lines += [*texts[0], *(["second.join();"] if joins else []), "cudaDeviceSynchronize();"]
    if judged:
        lines.append(writer.statement(("judge", judged)))
    main = "".join(f"    {line}\n" for line in lines)
    for n, (threads, block) in enumerate(grammar.kernels):
        main = main.replace(f"SHAPE{n},", f"1, {len(threads)}," if block else f"{len(threads)}, 1,")
    codes = [code_of(host) for host in hosts]  # cudaSetDevice is no call that may wait ([API])
    end = codes[0]  # what follows in main, the last call of all programs included
    if joins:
        end.append(("join",))
    flatten(("finish", ("device",)), end)
    if judged:
        first, last = len(end), len(end) + len(judged) + 1
        end += [*(("unless", word, value, last) for word, value in judged), ("goto", first)]
    flatten(("finish", ("device",)), end)
    oracle = Oracle(codes, grammar.kernels, grammar.functions, grammar.blocking, prompt)
    return Program(number, "".join(functions), main, ["--api=prompt"] if prompt else [], "terminates" if oracle.terminates() else "may-hang")


KINDS = {"queues": (HEAD, small_enough(draw))}
