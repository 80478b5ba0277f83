"""An explicit oracle for a tiny language of loads, stores, exchanges and branches: does every execution
that a progress model allows come to an end? Written against the rules; it knows nothing of PTX.

    terminates(threads, shape, model)

A thread is a list of instructions {"op": "store" | "load_branch" | "exchange_branch", "cell", "write",
"branch_if", "to"}. Shapes: plain (a block per thread), block, cluster, cooperative. Models: cuda, obe, hsa,
lobe, fair (src/explore/options.h).
"""
import itertools


def successor(threads, state, t, literature=False):
    """The state after thread t has made its move. A state: positions, cells, who has taken a step."""
    at, cells, stepped = state
    i = threads[t][at[t]]
    old, to = cells[i["cell"]], at[t] + 1
    if i["op"] != "load_branch":
        cells = cells[: i["cell"]] + (i["write"],) + cells[i["cell"] + 1 :]
    if i["op"] != "store" and old == i["branch_if"]:
        to = i["to"]
    # An atomic write is no step; ending is one. The models of the literature know no such difference.
    # literature=None: a thread that has only written may also stop before it ends.
    step = literature or i["op"] != "store" or (literature is not None and to == len(threads[t]))
    return (at[:t] + (to,) + at[t + 1 :], cells, stepped | {t} if step else stepped)


def live(threads, state):
    return frozenset(t for t in range(len(threads)) if state[0][t] < len(threads[t]))


def owed(threads, state, shape, model):
    """Who is guaranteed to move. Everything but a plain grid is one unit: all or nobody."""
    alive, stepped = live(threads, state), state[2]
    if model == "fair" or not alive:
        return alive
    if shape != "plain":
        return alive if stepped or model == "hsa" else frozenset()
    if model == "hsa":
        return frozenset({min(alive)})
    if model == "lobe":
        return frozenset(t for t in alive if stepped and t <= max(stepped))
    return alive & stepped


def components(nodes, edges):
    """Strongly connected components (Kosaraju, without recursion)."""
    order, seen = [], set()
    for root in nodes:
        todo = [(root, iter(edges[root]))] if root not in seen else []
        seen.add(root)
        while todo:
            node, rest = todo[-1]
            following = next((n for n in rest if n not in seen), None)
            if following is None:
                order.append(node)
                todo.pop()
            else:
                seen.add(following)
                todo.append((following, iter(edges[following])))
    back = {n: [] for n in nodes}
    for n in nodes:
        for m in edges[n]:
            back[m].append(n)
    label = {}
    for root in reversed(order):
        todo = [root] if root not in label else []
        while todo:
            node = todo.pop()
            if node not in label:
                label[node] = root
                todo += back[node]
    return label


def reachable(threads, literature):
    cells = 1 + max((i["cell"] for thread in threads for i in thread), default=0)
    start = (tuple(0 for _ in threads), (0,) * cells, frozenset())
    graph, todo = {}, [start]
    while todo:
        state = todo.pop()
        if state not in graph:
            graph[state] = {t: successor(threads, state, t, literature) for t in live(threads, state)}
            todo += graph[state].values()
    return graph


def terminates(threads, shape, model="cuda"):
    """An endless execution is one in which, from some moment on, exactly the threads of some set move,
    each again and again, everybody who is owed progress is among them, and the states repeat."""
    graph = reachable(threads, model == "lobe")
    for size in range(1, len(threads) + 1):
        for movers in map(frozenset, itertools.combinations(range(len(threads)), size)):
            inside = {s for s in graph if movers <= live(threads, s) and owed(threads, s, shape, model) <= movers}
            edges = {s: [graph[s][t] for t in movers if graph[s][t] in inside] for s in inside}
            label = components(inside, edges)
            moved = {}
            for s in inside:
                for t in movers:
                    if label.get(graph[s][t]) == label[s]:
                        moved.setdefault(label[s], set()).add(t)
            if any(who == movers for who in moved.values()):
                return False
    return True
