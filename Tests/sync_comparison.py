#!/usr/bin/env python3
"""Lets the model of sync and the Swift code resolve the same random changesets.

    python3 Tests/sync_comparison.py [RUNS] [FIRST SEED]

Each run is a random schedule of replicas, a server and a network, played with the model. Of a run
the program of the vectors gets the changesets in the server's order, with the facts of each entry
and the state in the end, and what each replica commits, receives and shows after each batch.
"""

import copy
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from sync_model import (
    ABSENT,
    COLLECTIONS,
    SCHEMA,
    Replica,
    Server,
    is_link,
    kind,
    ordered,
)

ROOT = Path(__file__).resolve().parent.parent

OPS = dict(
    create=6,
    delete=2,
    put=8,
    add=3,
    inner=3,
    insert=6,
    element=2,
    move=3,
    remove=2,
    clear=1,
    member=3,
    entry=4,
    nested=3,
)
PROFILES = {  # weights of local ops, and further settings
    "all": {},
    "lists": dict(insert=12, move=8, element=4, remove=4, create=2, delete=1, few=1),
    "life": dict(create=12, delete=8, put=4, few=1),
    "values": dict(put=12, add=6, entry=6, member=4, inner=6, nested=8),
    "refusals": dict(bad=0.15, delete=4),
    "partial": dict(partial=0.7),
    "links": dict(
        spoil=0.3, delete=5, put=10, element=12, insert=10, steps=2, only=("ln", "ow", "dn", "ll")
    ),
    "views": dict(partial=0.7, put=16, delete=1, only=("s", "ln", "ll", "sl", "dl")),
    "restore": dict(restore=0.03),
    "long": dict(gc=0.2, dead=0.3, write=0.12, steps=4),
    "many": dict(steps=3),
}
KEYS = ["k1", "k2", "k3", "k4"]


class Failure(Exception):
    pass


def need(ok, *what):
    if not ok:
        raise Failure(" ".join(map(str, what)))


class Run:
    def __init__(self, seed, forgets=True, profile=None):
        self.rng = rng = random.Random(seed)
        self.name = profile or rng.choice(list(PROFILES))
        self.set, self.forgets, self.n = PROFILES[self.name], forgets, 0
        self.ops = {**OPS, **{k: v for k, v in self.set.items() if k in OPS}}
        self.keys = KEYS[:2] if self.set.get("few") else KEYS
        self.server = Server(lambda p, v: v != "BAD")
        self.server.now = 100
        self.replicas = [Replica(r + 1) for r in range(rng.choice([2, 2, 3, 3, 4]))]
        each = {c.r: None for c in self.replicas}
        self.skew = {r: rng.choice([0, 0, -30, 30, 90]) for r in each}
        self.queries, self.told, self.shows = (
            dict(each),
            dict(each),
            dict(each),
        )  # wanted, sent last, of its state
        self.sent, self.sent_q = (
            dict.fromkeys(each, 0),
            dict.fromkeys(each, 0),
        )  # on this connection
        self.connections = dict.fromkeys(each, 0)
        self.up, self.down = {r: [] for r in each}, {r: [] for r in each}
        self.dead = {r for r in each if rng.random() < self.set.get("dead", 0)}
        for c in self.replicas:
            if rng.random() < self.set.get("partial", 0):
                c.partial, self.queries[c.r] = True, self.some_queries()
        self.backup, self.restored = None, False
        self.steps = rng.choice([20, 40, 60, 90]) * self.set.get("steps", 1)

    def some_queries(self):
        q = {"A": self.rng.choice([True, {"d"}, {"x"}, {"d", "x"}, {"x", "y"}])}
        return {**q, "B": self.rng.choice([True, {"d", "y"}])} if self.rng.random() < 0.6 else q

    def fresh(self):
        self.n += 1
        return self.n

    def mixed(self, depth=0):
        cid = self.fresh()
        if depth > 1 or self.rng.random() < 0.4:
            return cid
        parts = [self.mixed(depth + 1) for _ in range(self.rng.randrange(3))]
        return (
            ("L", cid, tuple(parts))
            if self.rng.random() < 0.4
            else ("D", cid, tuple((f"m{i}", x) for i, x in enumerate(parts)))
        )

    def value(self, c, oid, p):
        (k, of, _), rng = kind(oid, p), self.rng
        if p == "s":
            return (
                "BAD" if rng.random() < self.set.get("bad", 0.01) else rng.choice(["d", "x", "y"])
            )
        if p == "u":
            return rng.choice(["u1", "u2", None, None])
        if of == "link":
            return rng.choice([None, *c.objs] if k in ("link", "dict") else list(c.objs) or [None])
        if of == "emb":
            return (
                None
                if k == "emb" and rng.random() < 0.2
                else {"x": self.fresh(), "y": self.fresh()}
            )
        return self.mixed() if k == "mixed" else rng.randrange(4) if k == "set" else self.fresh()

    def transaction(self, c):
        c.begin()
        for _ in range(self.rng.choice([1, 1, 2, 3, 5])):
            self.local(c, self.rng.choices(list(self.ops), list(self.ops.values()))[0])
        if c.objs and self.rng.random() < self.set.get("spoil", 0):  # so that all of it is refused
            c.do(("put", (self.rng.choice(list(c.objs)), "s"), "BAD"))
        c.commit(self.server.now + self.skew[c.r])

    def local(self, c, op):
        rng = self.rng
        if op == "create" or not c.objs:
            oid = ("B", c.new_id()) if rng.random() < 0.25 else ("A", rng.choice(self.keys))
            values = {}
            for p, (k, of, _) in SCHEMA[oid[0]].items():
                if p == "s" and rng.random() < 0.5:
                    values[p] = ("d", 0)
                elif rng.random() < 0.25:
                    some = [
                        x
                        for x in (self.value(c, oid, p) for _ in range(rng.randrange(3)))
                        if x is not None
                    ]
                    values[p] = (
                        some
                        if k == "list"
                        else dict.fromkeys(some, True)
                        if k == "set"
                        else {f"e{i}": x for i, x in enumerate(some)}
                        if k == "dict"
                        else self.value(c, oid, p),
                        1,
                    )
            return None if oid in c.objs else c.create(oid, values)
        oid = rng.choice(list(c.objs))
        if op == "delete":
            return c.delete(oid)
        kinds = dict(
            put=("reg", "int", "link", "mixed", "emb"),
            add=("int",),
            inner=("emb", "list", "dict"),
            clear=COLLECTIONS,
            member=("set",),
            entry=("dict",),
            nested=("mixed",),
        ).get(op, ("list",))
        props = [
            p
            for p, (k, of, _) in SCHEMA[oid[0]].items()
            if k in kinds and (op != "inner" or of == "emb")
        ]
        props = [p for p in props if p in self.set.get("only", props)]
        if not props:
            return
        p = rng.choice(props)
        (k, of, _), now = kind(oid, p), c.objs[oid][p]
        v = self.value(c, oid, p)
        els = ordered(now) if k == "list" else []
        if op == "put":
            c.do(("put", (oid, p), v))
        elif op == "add" and now is not None:
            c.do(("add", (oid, p), rng.choice([1, 2, -3])))
        elif op == "inner" and now:
            x = () if k == "emb" else (rng.choice(list(now)),) + (("v",) if k == "list" else ())
            c.do(("put", (oid, p, *x, rng.choice("xy")), self.fresh()))
        elif (
            op == "clear" and c.partial and of == "link"
        ):  # it can't see all: what it sees, one by one
            for x in list(now):
                c.do(("remove", (oid, p, x)) if k == "list" else ("put", (oid, p, x), ABSENT))
        elif op == "clear":
            c.do(("clear", (oid, p)))
        elif op == "member":
            m = rng.choice(list(now)) if now and rng.random() < 0.5 else v
            if m is not None:
                c.do(("put", (oid, p, m), True if rng.random() < 0.6 else ABSENT))
        elif op == "entry":
            c.do(
                (
                    "put",
                    (oid, p, rng.choice(["e0", "e1", "e2"])),
                    ABSENT if rng.random() < 0.3 else v,
                )
            )
        elif op == "nested":
            self.nested(c, oid, p)
        elif op == "insert" and v is not None:
            i = rng.choice([len(els), rng.randint(0, len(els))])
            for n in range(rng.choice([1, 1, 3])):  # also runs, forwards and backwards
                c.insert(oid, p, i + n * rng.randint(0, 1), v)
                v = v if of == "link" else self.value(c, oid, p)
        elif els and op == "element" and v is not None:
            c.do(("put", (oid, p, rng.choice(els), "v"), v))
        elif els and op == "remove":
            c.do(("remove", (oid, p, rng.choice(els))))
        elif els and op == "move":
            c.move(oid, p, rng.choice(els), rng.randrange(len(els)))

    def nested(self, c, oid, p):
        found, walk = [], [c.objs[oid][p]]
        while walk:
            v = walk.pop()
            if isinstance(v, tuple) and v and v[0] in ("D", "L"):
                found.append(v)
                walk += [x[1] if v[0] == "D" else x for x in v[2]]
        if not found:
            return
        v = self.rng.choice(found)
        if v[0] == "D":
            new = ABSENT if self.rng.random() < 0.25 else self.mixed(1)
            return c.do(("nested", (oid, p), v[1], self.rng.choice(["m0", "m1", "m2"]), new))
        values = list(v[2])
        values.insert(self.rng.randint(0, len(values)), self.mixed(1))
        c.do(("nested", (oid, p), v[1], None, tuple(values[self.rng.choice([0, 0, 1]) :])))

    # The network: in order while a connection lasts; then some is lost, and some comes again.
    def connect(self, c):
        s, r = self.server, c.r
        self.up[r], self.down[r], self.connections[r] = [], [], self.connections[r] + 1
        if c.epoch != s.epoch:
            c.rewind(s.epoch, s.head, s.last.get(r, 0))
        self.sent[r] = -1 if c.stale else c.cursor
        self.sent_q[r] = 0 if self.rng.random() < 0.5 else s.last.get(r, 0)
        self.told[r] = self.shows[r]

    def send(self, c, most=99):
        for X in c.pending[:]:
            if X.q > self.sent_q[c.r] and most > 0:
                self.up[c.r] += [copy.copy(X)] * (2 if self.rng.random() < 0.1 else 1)
                self.sent_q[c.r], most = X.q, most - 1

    def serve(self, c):
        X, s = self.up[c.r].pop(0), self.server
        if isinstance(X, dict):
            self.queries[c.r] = X
        elif s.push(copy.copy(X)) == "rejected":
            need(s.hist[s.head] == s.hist[s.head - 1], "a refused changeset left a trace")

    def tell(self, c, to=None):
        s, r = self.server, c.r
        frm, requery = self.sent[r], self.told[r] != self.queries[r]
        to = self.rng.randint(max(frm, 0), s.head) if to is None else to
        if to == frm and not requery:
            return
        if frm < s.start or requery:
            to = s.head
        b = s.batch(r, frm, to, self.queries[r], frm < 0 or requery, self.rng.random() < 0.3)
        self.told[r], self.sent[r] = self.queries[r], to
        self.down[r].append((b, self.queries[r]))
        if self.rng.random() < 0.1:
            self.down[r].insert(
                self.rng.randrange(len(self.down[r]) + 1), (copy.deepcopy(b), self.queries[r])
            )

    def hear(self, c):
        b, queries = self.down[c.r].pop(0)
        if c.receive(b):
            self.shows[c.r] = queries
            self.check_replica(c, queries)

    def step(self):
        rng, s, c = self.rng, self.server, self.rng.choice(self.replicas)
        s.now += rng.randrange(8)
        x = rng.random()
        if rng.random() < self.set.get("write", 0.34):
            self.transaction(c)
        elif x < 0.24:
            self.send(c, rng.choice([1, 2, 99]))
        elif x < 0.55:
            self.serve(c) if self.up[c.r] else None
        elif x < 0.73:
            self.tell(c)
        elif x < 0.93:
            self.hear(c) if self.down[c.r] else None
        else:
            self.connect(c)
        if c.partial and rng.random() < 0.03:
            self.up[c.r].append(self.some_queries())
        if rng.random() < self.set.get("gc", 0.02):
            live, trims = [c for c in self.replicas if c.r not in self.dead], rng.random() < 0.5
            floor = min([c.floor() for c in live] + [s.head])
            if self.forgets:
                s.forget(floor)
                s.trim(min([floor] + [self.sent[c.r] for c in live])) if trims else None
        if rng.random() < self.set.get("restore", 0):
            if self.backup is None or rng.random() < 0.6:
                self.backup = copy.deepcopy(s)
                s.safe = self.backup.safe = s.head
            else:
                self.restored, self.server = True, copy.deepcopy(self.backup)
                self.server.epoch, self.server.now = s.epoch + 1, s.now
                for c in self.replicas:
                    self.connect(c)

    def finish(self):
        s = self.server
        for _ in range(4):
            for c in self.replicas:
                self.connect(c)
                self.send(c)
                while self.up[c.r]:
                    self.serve(c)
            for c in self.replicas:
                self.tell(c, s.head)
                while self.down[c.r]:
                    self.hear(c)
        for c in self.replicas:
            need(
                not c.pending and c.cursor == s.head,
                "replica",
                c.r,
                "did not come to rest",
                c.cursor,
                s.head,
            )
            need(
                c.objs == s.view(s.head, self.queries[c.r]),
                "replica",
                c.r,
                "differs from the server",
            )
        for oid, o in s.objs.items():
            need(
                not any(x not in s.objs for p in o for x in self.links(oid, p, o[p])),
                "a link to nothing",
                oid,
            )
            need(
                all(
                    len({x["l"] for x in o[p].values()}) == len(o[p])
                    for p in o
                    if kind(oid, p)[0] == "list"
                ),
                "two elements in one place",
                oid,
            )
        used = [o["u"] for x, o in s.objs.items() if x[0] == "A" and o["u"] is not None]
        need(len(used) == len(set(used)), "not unique", used)
        return s.hist[s.head]

    @staticmethod
    def links(oid, p, v):
        k, of, _ = kind(oid, p)
        found = (
            []
            if of != "link"
            else [v]
            if k == "link"
            else v
            if k == "set"
            else ([x["v"] for x in v.values()] if k == "list" else v.values())
        )
        return [x for x in found if x is not None]

    def check_replica(self, c, queries):
        """Outside of what its unanswered changes own, a replica shows the state after its cursor.
        Links to what it has deleted (and made again, perhaps), or made outside of its view, are
        open until that is answered.
        """
        gone = {d for X in c.pending for op in X.ops if op[0] == "delete" for d in (op[1], *op[2])}
        gone |= {op[1] for X in c.pending for op in X.ops if op[0] == "create" and c.partial}
        adds = c.owners()[1]

        def same(path, v, w):
            if c.covered(path):
                return
            if len(path) == 3 and kind(*path[:2])[1] == "link":
                to = [
                    path[2]
                    if kind(*path[:2])[0] == "set"
                    else x.get("v")
                    if isinstance(x, dict)
                    else x
                    for x in (v, w)
                ]
                if any(is_link(x) and (x in gone or x not in c.objs) for x in to):
                    return
            if len(path) == 2 and kind(*path)[0] == "link" and any(x in gone for x in (v, w)):
                return
            if isinstance(v, dict) and isinstance(w, dict):
                for x in set(v) | set(w):
                    same(path + (x,), v.get(x, ABSENT), w.get(x, ABSENT))
                return
            w = (
                w + adds.get(path, 0)
                if len(path) == 2 and kind(*path)[0] == "int" and w is not None
                else w
            )
            need(v == w, "replica", c.r, "at", c.cursor, path, "shows", v, "and should", w)

        want = self.server.view(c.cursor, queries)
        for oid in set(want) | set(c.objs):
            same((oid,), c.objs.get(oid, ABSENT), want.get(oid, ABSENT))


def js(v):
    """A value or a piece of a table as JSON."""
    if v == ABSENT:
        return {"absent": True}
    if is_link(v):
        return {"link": [v[0], list(v[1]) if isinstance(v[1], tuple) else v[1]]}
    if isinstance(v, tuple) and len(v) == 3 and v[0] in ("D", "L"):
        return (
            {"id": v[1], "dict": {k: js(x) for k, x in v[2]}}
            if v[0] == "D"
            else {"id": v[1], "list": [js(x) for x in v[2]]}
        )
    if isinstance(v, dict) and v and all(isinstance(x, dict) and "l" in x for x in v.values()):
        return [
            {
                "element": f"{e[0]}:{e[1]}",
                "label": int(v[e]["l"]) if v[e]["l"] == int(v[e]["l"]) else None,
                "value": js(v[e]["v"]),
            }
            for e in ordered(v)
        ]
    if isinstance(v, dict):
        return {name(k): js(x) for k, x in v.items()}
    return [js(x) for x in v] if isinstance(v, (list, tuple)) else v


def name(k):
    return (
        f"{k[0]}:{k[1]}"
        if isinstance(k, tuple) and isinstance(k[0], int)
        else json.dumps(js(k))
        if isinstance(k, tuple)
        else str(k)
    )


def state(objs):
    return [
        [js(x)["link"], {p: js(v) for p, v in o.items() if v not in (None, {})}]
        for x, o in sorted(objs.items(), key=str)
    ]


def path_js(path):
    return [js(path[0])["link"]] + [name(x) if isinstance(x, tuple) else x for x in path[1:]]


def changeset(X):
    def op_js(op):
        if op[0] == "create":
            return ["create", js(op[1])["link"], {p: [js(v), x] for p, (v, x) in op[2].items()}]
        if op[0] == "delete":
            return ["delete", js(op[1])["link"], [js(d)["link"] for d in op[2]]]
        return [op[0], path_js(op[1])] + [
            name(x) if isinstance(x, tuple) and op[0] in ("insert", "move") and i < 2 else js(x)
            for i, x in enumerate(op[2:])
        ]

    return {"r": X.r, "q": X.q, "base": X.base, "t": X.t, "ops": [op_js(op) for op in X.ops]}


def record(c, events):
    commit, receive = c.commit, c.receive

    def recorded_commit(now):
        n = len(c.pending)
        commit(now)
        if len(c.pending) > n:
            events.append({"commit": changeset(c.pending[-1])})

    def recorded_receive(b):
        facts = [[path_js(path), js(v)] for path, v in b.facts]
        if receive(b):
            events.append(
                {
                    "from": b.frm,
                    "to": b.to,
                    "answered": b.acked,
                    "complete": b.complete,
                    "facts": facts,
                    "shown": state(c.objs),
                }
            )
            return True
        return False

    c.commit, c.receive = recorded_commit, recorded_receive


def played(seed):
    """A run as the program of the vectors reads it: its changesets, and its replicas."""
    run = Run(seed, profile=list(PROFILES)[seed % len(PROFILES)])
    events = {c.r: [] for c in run.replicas}
    for c in run.replicas:
        record(c, events[c.r])
    for _ in range(run.steps):
        run.step()
    run.finish()
    s = run.server
    if run.restored:
        return []
    cases = [{"seed": seed, "replicas": events}]
    if not s.start:
        entries = [
            dict(
                changeset(e.X),
                refused=e.rejected,
                facts=[path_js(x) for x in e.pub],
                author=[path_js(x) for x in e.priv],
            )
            for e in s.log.values()
        ]
        cases.append({"seed": seed, "entries": entries, "final": state(s.objs)})
    return cases


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for start in range(first, first + count, 500):
            seeds = range(start, min(start + 500, first + count))
            file = Path(folder) / f"{start}.json"
            file.write_text(json.dumps([case for seed in seeds for case in played(seed)]))
            files.append(str(file))
        done = subprocess.run([ROOT / "Tests/sync-vectors", *files], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
