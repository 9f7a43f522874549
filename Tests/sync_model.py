"""The rules of Sync.md as a model: tables, a replica and the server of one realm, in memory.

It was written before the Swift code, and says what that must do: Tests/sync_comparison.py lets both
resolve the same random changesets. Tables are nested dictionaries, and a path leads into them:

    (oid,)                  an object: property -> value;  oid = (class, key)
    (oid, p)                a value; an embedded object; a list, set or dictionary
    (oid, p, x)             list element x: {'l': label, 'v': value}; member x: True; entry x;
                            property x of an embedded object
    (oid, p, x, 'v', y)     and so on. ABSENT: there is nothing at the path.

Embedded objects have one level here, links are not within mixed values, and the schema is fixed.
"""

from fractions import Fraction

ABSENT, NOPARENT = "<absent>", "<no parent>"
GAP, DRIFT = (
    8,
    20,
)  # between labels (1 << 20 in the product); how far a clock may be ahead (1,000 ms)
INT_MAX = (1 << 63) - 1

#          property -> (kind, of what, first value or delete rule)
SCHEMA = {
    "A": {
        "s": ("reg", "val", None),
        "v": ("reg", "val", None),
        "u": ("reg", "val", None),
        "n": ("int", "val", 0),
        "ln": ("link", "link", "nullify"),
        "ow": ("link", "link", "cascade"),
        "dn": ("link", "link", "deny"),
        "li": ("list", "val", None),
        "ll": ("list", "link", None),
        "le": ("list", "emb", None),
        "st": ("set", "val", None),
        "sl": ("set", "link", None),
        "dc": ("dict", "val", None),
        "dl": ("dict", "link", None),
        "de": ("dict", "emb", None),
        "em": ("emb", "emb", None),
        "mx": ("mixed", "val", None),
    },  # with primary key
    "B": {
        "s": ("reg", "val", None),
        "v": ("reg", "val", None),
        "ln": ("link", "link", "nullify"),
        "li": ("list", "val", None),
    },  # without: (replica, counter)
}
UNIQUE = {"A": ["u"], "B": []}
COLLECTIONS = ("list", "set", "dict")


def kind(oid, p):
    return SCHEMA[oid[0]][p]


def blank(oid):
    return {
        p: {} if k in COLLECTIONS else 0 if k == "int" else None
        for p, (k, _, _) in SCHEMA[oid[0]].items()
    }


def clone(v):
    return {k: clone(x) for k, x in v.items()} if isinstance(v, dict) else v


def is_link(v):
    return isinstance(v, tuple) and len(v) == 2 and v[0] in SCHEMA


def ordered(elements):
    """The ids of a list's elements in their order."""
    return sorted(elements, key=lambda e: (elements[e]["l"], e))


def read(objs, path):
    v = objs
    for x in path:
        if not isinstance(v, dict):
            return NOPARENT
        v = v.get(x, ABSENT)
    return v


# Mixed values: a scalar, ('D', id, ((key, value), ...)) or ('L', id, (value, ...)). An id names a
# collection for ever.
def nested_find(v, cid):
    if isinstance(v, tuple) and v and v[0] in ("D", "L"):
        if v[1] == cid:
            return v
        for x in v[2]:
            found = nested_find(x[1] if v[0] == "D" else x, cid)
            if found:
                return found
    return None


def nested_edit(v, cid, key, new):
    """Replaces an entry of dictionary `cid`; with key None all elements of list `cid`."""
    if not (isinstance(v, tuple) and v and v[0] in ("D", "L")):
        return v
    if v[1] == cid and key is None:
        return ("L", cid, new)
    if v[1] == cid:
        rest = [e for e in v[2] if e[0] != key] + ([] if new == ABSENT else [(key, new)])
        return ("D", cid, tuple(sorted(rest, key=lambda e: e[0])))
    return (
        v[0],
        v[1],
        tuple(
            (x[0], nested_edit(x[1], cid, key, new))
            if v[0] == "D"
            else nested_edit(x, cid, key, new)
            for x in v[2]
        ),
    )


def links_to(objs, target):
    """The paths of all links to an object: backlinks."""
    for h, o in objs.items():
        for p, (k, of, _) in SCHEMA[h[0]].items():
            if of == "link" and k == "link":
                if o[p] == target:
                    yield (h, p)
            elif of == "link":
                for x, w in o[p].items():
                    if target in (x if k == "set" else w["v"] if k == "list" else w,):
                        yield (h, p, x)


def unlink(objs, path):
    """Null, or the element goes; a dictionary keeps its key."""
    h, p = path[:2]
    if kind(h, p)[0] == "link":
        objs[h][p] = None
    elif kind(h, p)[0] == "dict":
        objs[h][p][path[2]] = None
    else:
        del objs[h][p][path[2]]


def cascade(objs, oid):
    """The object and all that its delete takes along."""
    going = [oid]
    for d in going:
        for p, (_, _, rule) in SCHEMA[d[0]].items():
            t = objs[d][p] if rule == "cascade" else None
            if t is not None and t not in going:
                going.append(t)
    denied = any(
        kind(*x[:2])[2] == "deny" and x[0] not in going for d in going for x in links_to(objs, d)
    )
    return going, denied


class Changeset:
    """One write transaction of a replica: `q` counts those of the replica, `base` is the last
    entry that it had applied, `t` its clock.

    ("create", oid, {p: (value, explicit)})
    ("delete", oid, (others that went along,))
    ("put", path, value or ABSENT)          values, members, entries, embedded objects
    ("add", path, amount)
    ("insert", path, left, right, value)
    ("move", path, left, right)
    ("remove", path)
    ("clear", path)
    ("nested", path, collection id, key or None, value, ABSENT or elements)   within a mixed value
    """

    def __init__(self, r, q, base, t, ops):
        self.r, self.q, self.base, self.t, self.ops = r, q, base, t, ops


def owned(op):
    """The paths that an op owns from its commit until its answer is read. An add owns none."""
    if op[0] in ("create", "delete"):
        return [(op[1],)] + [(d,) for d in op[2] if op[0] == "delete"]
    return [] if op[0] == "add" else [op[1] + ("l",)] if op[0] == "move" else [told_as(op[1])]


def told_as(path):
    """A link in a list goes with its element if its target goes, so the element is told whole."""
    return path[:3] if len(path) == 4 and kind(*path[:2])[:2] == ("list", "link") else path


class Batch:
    """Facts of the entries (frm, to] as they are after `to`, and up to which of the replica's own
    changesets they answer. `complete`: they are all that there is, whatever `frm` was.
    """

    def __init__(self, epoch, frm, to, acked, facts, complete, safe, t):
        self.epoch, self.frm, self.to, self.acked = epoch, frm, to, acked
        self.facts, self.complete, self.safe, self.t = facts, complete, safe, t


class Replica:
    def __init__(self, r):
        self.r, self.objs, self.cursor, self.epoch = r, {}, 0, 0
        self.pending, self.kept = (
            [],
            [],
        )  # unanswered changesets; answered ones that the server may still lose
        self.q, self.ctr, self.seen_t = 0, 0, 0  # seen_t: the newest time it has given or applied
        self.tx, self.partial, self.stale = (
            None,
            False,
            False,
        )  # stale: the next batch must be complete
        self.cache = None

    def owners(self):
        if self.cache is None:
            own, adds = set(), {}
            for X in self.pending:
                for op in X.ops:
                    own.update(owned(op))
                    if op[0] == "add":
                        adds[op[1]] = adds.get(op[1], 0) + op[2]
            self.cache = own, adds
        return self.cache

    def covered(self, path):
        own = self.owners()[0]
        return any(path[:i] in own for i in range(1, len(path) + 1))

    # local writes: done at once, and noted
    def begin(self):
        self.tx = []

    def commit(self, now):
        if self.tx:
            self.q, self.seen_t, self.cache = self.q + 1, max(now, self.seen_t + 1), None
            self.pending.append(Changeset(self.r, self.q, self.cursor, self.seen_t, self.tx))
        self.tx = None

    def new_id(self):
        self.ctr += 1
        return (self.r, self.ctr)

    def create(self, oid, values):
        """values: property -> (value, explicit); of a list a sequence of values."""
        o, sent = blank(oid), {}
        for p, (v, x) in values.items():
            if kind(oid, p)[0] == "list":
                v = {self.new_id(): {"l": Fraction(i), "v": w} for i, w in enumerate(v)}
            o[p], sent[p] = clone(v), (clone(v), x)
        self.objs[oid] = o
        self.tx.append(("create", oid, sent))

    def delete(self, oid):
        going, denied = cascade(self.objs, oid)
        if not denied:
            for d in going:
                self.remove(d)
            self.tx.append(("delete", oid, tuple(going[1:])))

    def between(self, elements, i):
        """Neighbours of a place in a list, and a label for the time until the server gives one."""
        ids = ordered(elements)
        left, right = ids[i - 1] if i else None, ids[i] if i < len(ids) else None
        lo, hi = (elements[x]["l"] if x else None for x in (left, right))
        label = (
            Fraction(0)
            if lo is hi is None
            else hi - 1
            if lo is None
            else lo + 1
            if hi is None
            else (Fraction(lo + hi) / 2)
        )
        return left, right, label

    def insert(self, oid, p, i, v):
        e, els = self.new_id(), self.objs[oid][p]
        left, right, label = self.between(els, i)
        els[e] = {"l": label, "v": clone(v)}
        self.tx.append(("insert", (oid, p, e), left, right, clone(v)))

    def move(self, oid, p, e, i):
        """To where it then stands at index i."""
        els = self.objs[oid][p]
        left, right, label = self.between({x: y for x, y in els.items() if x != e}, i)
        els[e]["l"] = label
        self.tx.append(("move", (oid, p, e), left, right))

    def do(self, op):
        """All other ops, in the form in which they are sent."""
        k, path = op[:2]
        parent, x = read(self.objs, path[:-1]), path[-1]
        if k == "put" and op[2] != ABSENT:
            parent[x] = clone(op[2])
        elif k in ("put", "remove"):
            parent.pop(x, None)
        elif k == "add":
            parent[x] += op[2]
        elif k == "clear":
            parent[x] = {}
        elif k == "nested":
            parent[x] = nested_edit(parent[x], *op[2:])
        self.tx.append(op)

    # facts
    def remove(self, oid):
        for path in list(links_to(self.objs, oid)):
            unlink(self.objs, path)
        self.objs.pop(oid, None)

    def receive(self, b):
        if (
            b.epoch != self.epoch
            or b.to < self.cursor
            or not b.complete
            and (b.frm != self.cursor or self.stale)
        ):
            return False  # a copy of an earlier one, or one is missing
        while self.pending and self.pending[0].q <= b.acked:
            self.kept.append((b.to, self.pending.pop(0)))
        self.kept = [k for k in self.kept if k[0] > b.safe]
        self.cache, self.seen_t, fresh = None, max(self.seen_t, b.t), set()
        if b.complete:
            there = {path[0] for path, _ in b.facts}
            for oid in [x for x in self.objs if x not in there and not self.covered((x,))]:
                self.remove(oid)
        for path, v in b.facts:  # first what there is, then what is in it
            if len(path) == 1 and not self.covered(path):
                if v == ABSENT:
                    self.remove(path[0])
                elif path[0] not in self.objs:
                    self.objs[path[0]] = blank(path[0])
                    fresh.add(path[0])
        for path, v in b.facts:
            if path[0] in self.objs and v != NOPARENT:
                self.apply(path, v, path[0] in fresh)
        self.cursor, self.stale = b.to, False
        return True

    def apply(self, path, v, fresh):
        parent, x = read(self.objs, path[:-1]), path[-1]
        if not isinstance(parent, dict) or not fresh and self.covered(path):
            return
        now, k = parent.get(x, ABSENT), kind(*path[:2])[0] if len(path) > 1 else None
        if v == ABSENT:
            parent.pop(x, None)
        elif isinstance(v, dict) and isinstance(now, dict):
            for y in [y for y in now if y not in v]:
                self.apply(path + (y,), ABSENT, fresh)
            for y in v:
                self.apply(path + (y,), v[y], fresh)
        elif k == "int" and v is not None:
            parent[x] = v + self.owners()[1].get(path, 0)
        else:
            parent[x] = clone(v)
        at = path[:2] if k == "link" else path[:3]
        if (
            len(path) >= max(2, len(at))
            and kind(*path[:2])[1] == "link"
            and (k == "link" or len(path) > 2)
        ):
            w = read(self.objs, at)  # a link to what was deleted here, unanswered, is none
            to = path[2] if k == "set" else w.get("v") if isinstance(w, dict) else w
            if w not in (ABSENT, NOPARENT) and is_link(to) and to not in self.objs:
                unlink(self.objs, at)

    def rewind(self, epoch, head, last):
        """The server was restored: what it lost is unanswered again."""
        self.pending = [X for _, X in self.kept if X.q > last] + self.pending
        self.kept = [k for k in self.kept if k[1].q <= last]
        for X in self.pending:
            X.base = min(X.base, head)
        self.q = max(self.q, last)
        self.epoch, self.cursor, self.stale, self.cache = epoch, min(self.cursor, head), True, None

    def floor(self):
        """Nothing that it will ever send is based on an earlier entry."""
        return min([self.cursor] + [X.base for X in self.pending])


class Reject(Exception):
    pass


class Entry:
    def __init__(self, s, X, pub, priv, rejected):
        self.s, self.X, self.r, self.q, self.t = s, X, X.r, X.q, X.t
        self.pub, self.priv, self.rejected = pub, priv, rejected


class Server:
    """`meta`: oid -> sub-path -> [time, entry, writer, explicit, ...] of the last write; `birth`:
    oid -> sub-path -> (entry, creator, {joined}) of objects and embedded objects; `tombs`: oid ->
    (p, element) -> label. All three are the server's alone, and forgotten below the floor.
    """

    def __init__(self, validator=None):
        self.tables = self.objs, self.meta, self.birth, self.tombs = {}, {}, {}, {}
        self.log, self.start, self.head, self.epoch, self.safe = {}, 0, 0, 0, 0
        self.last, self.hist, self.now = {}, {0: {}}, 0
        self.low, self.low_t = {}, 0  # of what was trimmed: last changesets, newest time
        self.validator, self.told, self.placed = validator, 0, 0

    # one changeset
    def push(self, X):
        last = self.last.get(X.r, 0)
        if X.q <= last:
            return "copy"
        if X.q > last + 1:
            return "gap"
        self.undo, self.pub, self.priv, rejected = {}, {}, {}, None
        self.X, self.s, X.t = X, self.head + 1, min(X.t, self.now + DRIFT)
        try:
            for op in X.ops:
                getattr(self, "op_" + op[0])(*op[1:])
            self.check_unique()
        except Reject as e:
            self.roll_back()
            rejected, self.pub, self.priv = str(e), {}, {}
            for op in X.ops:
                for path in owned(op) or [op[1]]:
                    self.tell_whole(path[0]) if op[0] == "delete" else self.tell(path)
        self.head, self.last[X.r] = self.s, X.q
        self.log[self.s] = Entry(self.s, X, list(self.pub), list(self.priv), rejected)
        self.hist[self.s] = {
            **self.hist[self.s - 1],
            **{x: clone(self.objs[x]) for x in self.undo if x in self.objs},
        }
        for oid in self.undo:
            if oid not in self.objs:
                self.hist[self.s].pop(oid, None)
        return "rejected" if rejected else "accepted"

    def touch(self, oid):
        if oid not in self.undo:
            self.undo[oid] = [clone(d.get(oid)) for d in self.tables]

    def roll_back(self):
        for oid, olds in self.undo.items():
            for d, old in zip(self.tables, olds):
                d.pop(oid, None) if old is None else d.__setitem__(oid, old)

    def show(self, path):
        self.pub[path] = 1

    def tell(self, path):
        """A fact for the author alone: what it owns did not come out as sent."""
        self.told += 1
        self.priv[path] = 1

    def tell_whole(self, oid):
        """An object that the author has removed, and the links to it, which went with it there."""
        self.tell((oid,))
        for path in links_to(self.objs, oid):
            self.tell(path)

    # who wins
    def seen(self, m):
        return m[1] <= self.X.base or m[2] == self.X.r

    def wins(self, m, explicit=1):
        if m is None:
            return True
        if m[3] != explicit:
            return explicit > m[3]
        knew = self.seen(m)
        return knew or (self.X.t, self.X.r) > (m[0], m[2])

    def stamp(self, oid, sub, explicit=1, node=()):
        m = self.meta[oid].get(sub)
        t = max(self.X.t, m[0] + 1) if m and self.seen(m) else self.X.t
        self.meta[oid][sub] = [t, self.s, self.X.r, explicit, *node]

    def known(self, oid, sub=()):
        """There, and the very object (and embedded objects along `sub`) that the author meant: it
        saw it, made it, or made the same one at the same time.
        """
        if oid not in self.objs:
            return False
        for i in range(len(sub) + 1):
            b = self.birth[oid].get(sub[:i])
            if b and not (b[0] <= self.X.base or b[1] == self.X.r or self.X.r in b[2]):
                return False
        return True

    # objects
    def op_create(self, oid, values):
        self.touch(oid)
        b = self.birth.get(oid, {(): (self.s,)}).get(())
        known = not b or b[0] <= self.X.base  # made again by one who knew it: defaults say nothing
        if oid not in self.objs:
            self.objs[oid], self.meta[oid], self.tombs[oid] = blank(oid), {}, {}
            self.birth[oid] = {(): (self.s, self.X.r, frozenset())}
            self.show((oid,))
        else:
            b = self.birth[oid].get((), (0, 0, frozenset()))
            self.birth[oid][()] = (b[0], b[1], b[2] | {self.X.r})
            self.tell((oid,))
        for p, (v, explicit) in values.items():
            k = kind(oid, p)[0]
            if k == "list":
                left = None
                for e in ordered(v):
                    self.op_insert((oid, p, e), left, None, v[e]["v"])
                    left = e
            elif k in COLLECTIONS:
                for x, w in v.items():
                    self.op_put((oid, p, x), w)
            elif (k != "emb" or v is not None) and (explicit or not known):
                self.op_put((oid, p), v, explicit)

    def op_delete(self, oid, others):
        if oid not in self.objs:
            self.tell((oid,))
        elif not self.known(oid):
            self.tell_whole(oid)
        else:
            going, denied = cascade(self.objs, oid)
            if denied:
                raise Reject("deny")
            for d in going:
                self.erase(d)
        for d in others:
            if d in self.objs:
                self.tell_whole(d)

    def erase(self, oid):
        """Links to it go, each told as a fact: what follows from a delete is the server's word,
        too.
        """
        for path in list(links_to(self.objs, oid)):
            self.touch(path[0])
            unlink(self.objs, path)
            self.show(path)
        self.touch(oid)
        for d in self.tables:
            del d[oid]
        self.show((oid,))

    # values
    def op_put(self, path, v, explicit=1):
        oid, sub = path[0], path[1:]
        p, of = sub[0], kind(oid, sub[0])[1]
        k = kind(oid, p)[0]
        link = sub[1] if k == "set" else v
        dead = of == "link" and v != ABSENT and link is not None and not self.known(link)
        parent = read(self.objs, path[:-1])
        if (
            not isinstance(parent, dict)
            or not self.known(oid, sub[:-1])
            or dead
            and k in ("list", "set")
            or not self.wins(self.meta[oid].get(sub), explicit)
        ):
            return self.tell(told_as(path))
        if self.validator and not self.validator(p, v):
            raise Reject("validator")
        self.touch(oid)
        if v == ABSENT:
            parent.pop(path[-1], None)
        else:
            parent[path[-1]] = None if dead else clone(v)
        if (
            isinstance(v, dict) or v is None and of == "emb"
        ):  # an embedded object: what was in it has gone
            self.birth[oid][sub] = (self.s, self.X.r, frozenset())
            for x in [x for x in self.meta[oid] if len(x) > len(sub) and x[: len(sub)] == sub]:
                del self.meta[oid][x]
        self.stamp(oid, sub, explicit)
        self.show(told_as(path))

    def op_add(self, path, amount):
        oid, p = path
        if (
            not self.known(oid)
            or self.objs[oid][p] is None
            or abs(self.objs[oid][p] + amount) > INT_MAX
        ):
            return self.tell(path)
        self.touch(oid)
        self.objs[oid][p] += amount
        self.show(path)

    def op_nested(self, path, cid, key, new):
        oid, p = path
        at = nested_find(self.objs[oid][p], cid) if self.known(oid) else None
        sub = (p, "nested", cid, key)
        if not at or (at[0] == "L") != (key is None) or not self.wins(self.meta[oid].get(sub)):
            return self.tell(path)
        self.touch(oid)
        self.objs[oid][p] = nested_edit(self.objs[oid][p], cid, key, new)
        self.stamp(oid, sub)
        self.show(path)

    # lists
    def op_insert(self, path, left, right, v):
        oid, p, e = path
        if (
            not self.known(oid)
            or e in self.objs[oid][p]
            or (p, e) in self.tombs[oid]
            or kind(oid, p)[1] == "link"
            and not self.known(v)
        ):
            return self.tell(path)
        self.touch(oid)
        label, node = self.place(oid, p, left, right)
        self.objs[oid][p][e] = {"l": label, "v": clone(v)}
        self.stamp(oid, (p, e), node=node)
        if isinstance(v, dict):
            self.birth[oid][(p, e, "v")] = (self.s, self.X.r, frozenset())
        self.show(path)

    def op_move(self, path, left, right):
        oid, p, e = path
        if (
            not self.known(oid)
            or e not in self.objs[oid][p]
            or not self.wins(self.meta[oid].get((p, e, "l")))
        ):
            return self.tell(path + ("l",))
        self.touch(oid)
        el = self.objs[oid][p].pop(e)
        label, node = self.place(oid, p, left, right)
        self.objs[oid][p][e] = {"l": label, "v": el["v"]}
        self.stamp(oid, (p, e, "l"), node=node)
        self.show((oid, p, e, "l"))

    def op_remove(self, path):
        oid, p, e = path
        if not self.known(oid) or e not in self.objs[oid][p]:
            return self.tell(path)
        self.touch(oid)
        self.tombs[oid][(p, e)] = self.objs[oid][p].pop(e)["l"]
        self.stamp(oid, (p, e, "gone"))
        self.show(path)

    def place(self, oid, p, left, right):
        """A label, and the element's node in the tree of Fugue: a right child of the left neighbour
        or, where that has right children which the author knew, a left child of the right one.
        Children of one side stand by time, earlier first; nobody's run is broken up, forwards or
        backwards.
        """
        meta, els = self.meta[oid], self.objs[oid][p]
        seq = sorted(
            [(x["l"], e) for e, x in els.items()]
            + [(l, e) for (prop, e), l in self.tombs[oid].items() if prop == p]
        )
        at = {e: i for i, (_, e) in enumerate(seq)}

        def node(e):  # [time, entry, writer, explicit, (parent, its side, its place), place]
            return meta.get((p, e, "l")) or meta.get((p, e))

        def usable(e):  # there, and where the author saw it
            return e in at and ((p, e, "l") not in meta or self.seen(meta[(p, e, "l")]))

        def place_of(e):
            return node(e)[5] if e is not None and node(e) else 0

        def child(e, parent, side):  # the node of that child of a parent in whose subtree e is
            while e is not None and node(e):
                up, its_side, its_place = node(e)[4]
                if node(up) and its_place != place_of(up):
                    return None  # that one has moved since
                if (up, its_side) == (parent, side):
                    return node(e)
                e = up
            return None

        def before(m):
            return (m[0], m[2]) < (self.X.t, self.X.r)

        n, has_left = len(seq), left is None or usable(left)
        if right is not None and usable(right) and (not has_left or child(right, left, "right")):
            pos, parent = at[right], (right, "left", place_of(right))
            while pos:
                c = child(seq[pos - 1][1], right, "left")
                if c is None or before(c):
                    break
                pos -= 1
        elif has_left:
            pos, parent = 0 if left is None else at[left] + 1, (left, "right", place_of(left))
            while pos < n:
                c = child(seq[pos][1], left, "right")
                if c is None or not before(c):
                    break
                pos += 1
        else:
            pos, parent = n, (None, "right", 0)
        self.placed += 1
        lo, hi = seq[pos - 1][0] if pos else None, seq[pos][0] if pos < n else None
        if lo is not None and hi is not None and hi - lo < 2:
            for i, (_, e) in enumerate(seq):  # the product renumbers the smallest window with room
                label = (i + (i >= pos)) * GAP
                if e in els:
                    els[e]["l"] = label
                    self.show((oid, p, e, "l"))
                else:
                    self.tombs[oid][(p, e)] = label
            label = pos * GAP
        elif lo is None:
            label = 0 if hi is None else hi - GAP
        else:
            label = lo + GAP if hi is None else (lo + hi) // 2
        return label, (parent, self.placed)

    # collections
    def op_clear(self, path):
        """Takes out all that the author knew."""
        oid, p = path
        for x in list(self.objs[oid][p]) if self.known(oid) else ():
            m = self.meta[oid].get((p, x))
            if m is None or self.seen(m):
                self.op_remove((oid, p, x)) if kind(oid, p)[0] == "list" else self.op_put(
                    (oid, p, x), ABSENT
                )
        self.tell(path)

    def check_unique(self):
        for oid in self.undo:
            for p in UNIQUE[oid[0]] if oid in self.objs else ():
                v = self.objs[oid][p]
                if v is not None and any(
                    o[p] == v for h, o in self.objs.items() if h != oid and h[0] == oid[0]
                ):
                    raise Reject("unique")

    # what is sent
    def view(self, s, queries):
        """The part of the state that a replica with these queries sees, after entry s: class ->
        True or values of `s`.
        """
        if queries is None:
            return self.hist[s]
        there = {
            x: o
            for x, o in self.hist[s].items()
            if x[0] in queries and (queries[x[0]] is True or o["s"] in queries[x[0]])
        }
        shown = {x: clone(o) for x, o in there.items()}
        for oid in self.hist[s]:
            for path in list(links_to(shown, oid)) if oid not in there else ():
                unlink(shown, path)
        return shown

    def batch(self, r, frm, to, queries=None, complete=False, stateless=False):
        """Several entries coalesce by themselves, as a fact is what is there after the last of
        them.
        """
        entries = [e for e in self.log.values() if e.s <= to]
        acked = max([e.q for e in entries if e.r == r] + [self.low.get(r, 0)])
        now, t = self.view(to, queries), max([e.t for e in entries] + [self.low_t])
        if complete or frm < self.start:
            return Batch(
                self.epoch,
                frm,
                to,
                acked,
                [((x,), clone(o)) for x, o in now.items()],
                True,
                self.safe,
                t,
            )
        paths = {}
        for e in entries:
            if e.s > frm:
                paths.update(dict.fromkeys(e.pub + (e.priv if e.r == r else [])))
        if queries is not None:
            before = {} if stateless else self.view(frm, queries)
            for oid in dict.fromkeys(path[0] for path in list(paths)):
                if oid not in now:
                    paths[(oid,)] = None
                elif oid not in before:  # it has come into view, with the links to it
                    paths.update(dict.fromkeys([(oid,), *(links_to(now, oid))]))
        if stateless:  # a fact for a prefix may always stand for those below
            paths = dict.fromkeys(path[:2] for path in paths)
        facts = [
            (path, clone(read(now, path)))
            for path in paths
            if not any(path[:i] in paths for i in range(1, len(path)))
        ]
        return Batch(
            self.epoch, frm, to, acked, [f for f in facts if f[1] != NOPARENT], False, self.safe, t
        )

    # what is forgotten
    def forget(self, floor):
        """No changeset to come is based on an entry before `floor`."""
        for oid in self.objs:
            self.meta[oid] = {k: m for k, m in self.meta[oid].items() if m[1] > floor}
            self.birth[oid] = {k: b for k, b in self.birth[oid].items() if b[0] > floor}
            self.tombs[oid] = {
                k: l for k, l in self.tombs[oid].items() if (*k, "gone") in self.meta[oid]
            }

    def trim(self, s):
        """Drops the log up to an entry: a replica behind it gets the whole state."""
        for x in range(self.start + 1, s + 1):
            e = self.log.pop(x)
            self.low[e.r], self.low_t = max(self.low.get(e.r, 0), e.q), max(self.low_t, e.t)
        self.start = max(self.start, s)
