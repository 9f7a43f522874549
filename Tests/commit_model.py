"""The protocol of commits, made so small that every course it can take is tried.

A database of two meta pages, a log of three records and five pages; one writer, one checkpoint,
recoveries; each may die at every step, all may die together, and after every step the power may
fail, with any subset of the unsynced blocks on the disk. Then recovery has to find what was
promised. Content is the sequence of operations that were committed, so that a wrong one shows.

Each rule of the protocol is a switch. With all of them on, nothing bad may be found; with one off,
something bad must be: else the rule, or this model, is of no use. Rules that the model has no words
for (sizes, growth of the file, copies, readers) are held by other tests.

    python3 Tests/commit_model.py            every rule in turn, in less than a minute
    python3 Tests/commit_model.py 3 2        with more commits and more deaths: all of it takes long
"""

import itertools
import sys
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import NamedTuple

LOG, PAGES = 3, 5
FIRST_RECORD = 2
FIRST_PAGE = FIRST_RECORD + LOG
BLOCKS = FIRST_PAGE + PAGES
GARBAGE = "garbage"


@dataclass(frozen=True)
class Rules:
    """The rules of the protocol, and the options of the run."""

    versions_are_claimed: bool = True  # a number that was tried is never used again
    records_name_their_base: bool = (
        True  # replay takes a record only on the version that it was built on
    )
    writers_take_over: bool = (
        True  # who follows a dead writer syncs and adopts a meta newer than the published version
    )
    checkpoints_take_over: bool = (
        True  # who follows a dead checkpoint syncs and adopts its meta, whose pages stay till then
    )
    checkpoints_pin: bool = (
        True  # the pages of a version that is being checkpointed are not used again
    )
    # shared memory, set after a sync, says which pages may be reused; not a meta
    durable_is_a_word: bool = True
    # recovery syncs, writes a checkpoint and begins the log again, before anything is published
    recovery_is_durable: bool = True
    # of two consecutive records, if one had no room behind the other, the later one counts
    the_later_record_follows: bool = True
    recovery_reads_the_device: bool = (
        True  # not the cache, which after a failed sync shows what is not there
    )
    durable_covers_deferred: bool = (
        True  # a durable record brings the deferred ones before it along
    )
    commits_are_deferred: bool = False
    records_differ_in_length: bool = False  # a long one begins the next lap of the log
    failing_syncs: bool = False


# The content of a block. A page: its operations.


class Meta(NamedTuple):
    version: int
    root: int
    operations: tuple
    log_end: int
    log_hash: int
    salt: int


class Record(NamedTuple):
    version: int
    base_version: int
    position: int
    previous: int
    salt: int
    operation: str


class Page(NamedTuple):
    version: int
    operations: tuple


class Disk(NamedTuple):
    """`pending` are older contents of a block that a power failure may leave; `stuck` are blocks
    that a failed sync has left unwritten, and clean.
    """

    cache: tuple
    durable: tuple
    pending: tuple
    stuck: frozenset

    def write(self, block, content):
        pending = self.pending
        old = self.cache[block]
        if old != self.durable[block] and old not in pending[block]:
            pending = put(pending, block, pending[block] + (old,))
        return Disk(put(self.cache, block, content), self.durable, pending, self.stuck - {block})

    def sync(self, blocks=range(BLOCKS)):
        durable, pending = list(self.durable), list(self.pending)
        for block in blocks:
            if block not in self.stuck:
                durable[block], pending[block] = self.cache[block], ()
        return Disk(self.cache, tuple(durable), tuple(pending), self.stuck)

    def failed_sync(self, blocks):
        """The worst that may happen: nothing reaches the disk, and no later sync will try again."""
        lost = [block for block in blocks if self.cache[block] != self.durable[block]]
        pending = tuple(
            () if block in lost else contents for block, contents in enumerate(self.pending)
        )
        return Disk(self.cache, self.durable, pending, self.stuck | set(lost))


class Shared(NamedTuple):
    """The shared state of living processes."""

    version: int
    root: int
    operations: tuple
    log_end: int
    log_hash: int
    durable_version: int
    durable_root: int
    log_begin: int
    checkpoint_root: int | None
    claimed: int
    salt: int
    log_durable: int


class State(NamedTuple):
    disk: Disk
    shared: Shared | None  # None: all are dead
    writer: tuple | None  # kind, step, ...
    checkpoint: tuple | None
    recovery: tuple | None
    tried: int
    deaths: int
    committed: int
    acknowledged: tuple


class Corrupt(Exception):
    pass


def put(items, index, item):
    return items[:index] + (item,) + items[index + 1 :]


def log_block(position):
    return FIRST_RECORD + position % LOG


def next_lap(position):
    return (position // LOG + 1) * LOG


def record_hash(record):
    return hash((record.version, record.previous, record.operation, record.salt))


def metas(blocks):
    return [block for block in blocks[:2] if isinstance(block, Meta)]


def newest_meta(blocks):
    found = metas(blocks)
    if not found:
        raise Corrupt("no meta is left")
    return max(found, key=lambda meta: meta.version)


def recover(blocks, rules):
    """The newest meta, and the operations, version, end and hash of the log behind it."""
    meta = newest_meta(blocks)
    page = blocks[meta.root]
    if not isinstance(page, Page) or page.operations != meta.operations:
        raise Corrupt(f"the root of {meta} is {page}")
    operations, version, end, last = meta.operations, meta.version, meta.log_end, meta.log_hash
    while True:
        following = [
            record
            for position in (end, next_lap(end))
            if isinstance(record := blocks[log_block(position)], Record)
            and (record.position, record.previous, record.salt) == (position, last, meta.salt)
            and (record.base_version == version or not rules.records_name_their_base)
        ]
        if not following:
            break
        record = following[0]
        if rules.the_later_record_follows:
            record = max(following, key=lambda record: record.version)
        operations, version, end, last = (
            operations + (record.operation,),
            record.version,
            record.position + 1,
            record_hash(record),
        )
    return meta, operations, version, end, last


# The steps that may come next. Each yields the step, the state after it, and the blocks that it
# synced.


def recovery_steps(state, rules):
    disk, step = state.disk, state.recovery
    if step is None:
        yield (
            "recovery: begin",
            state._replace(recovery=("sync" if rules.recovery_is_durable else "replay",)),
            None,
        )
    elif step[0] == "sync":
        yield (
            "recovery: sync",
            state._replace(disk=disk.sync(), recovery=("replay",)),
            range(BLOCKS),
        )
    elif step[0] == "replay":
        from_device = rules.recovery_reads_the_device and rules.recovery_is_durable
        seen = disk.durable[:FIRST_PAGE] + disk.cache[FIRST_PAGE:] if from_device else disk.cache
        meta, operations, version, end, last = recover(seen, rules)
        used = {meta.root} | {other.root for other in metas(disk.cache)}
        page = next(page for page in range(FIRST_PAGE, BLOCKS) if page not in used)
        if not rules.recovery_is_durable:
            yield (
                "recovery: replay and publish",
                carry_on(state, meta, operations, version, end, last, page),
                None,
            )
            return
        version = max([version] + [other.version for other in metas(disk.cache)]) + 4
        slot = 1 if seen[0] == meta else 0
        renewed = Meta(version, page, operations, 0, 0, meta.salt + version + 1)
        yield (
            "recovery: replay",
            state._replace(
                disk=disk.write(page, Page(version, operations)),
                recovery=("sync pages", slot, renewed),
            ),
            None,
        )
    elif step[0] == "sync pages":
        yield (
            "recovery: sync pages",
            state._replace(disk=disk.sync(), recovery=("meta",) + step[1:]),
            range(BLOCKS),
        )
    elif step[0] == "meta":
        yield (
            "recovery: meta",
            state._replace(disk=disk.write(step[1], step[2]), recovery=("sync meta",) + step[1:]),
            None,
        )
    else:
        _, slot, meta = step
        shared = Shared(
            meta.version,
            meta.root,
            meta.operations,
            0,
            0,
            meta.version,
            meta.root,
            0,
            None,
            meta.version,
            meta.salt,
            0,
        )
        yield (
            "recovery: sync meta, publish",
            state._replace(disk=disk.sync([slot]), shared=shared, recovery=None),
            [slot],
        )


def carry_on(state, meta, operations, version, end, last, page):
    disk, root = state.disk, meta.root
    if operations != meta.operations:
        disk, root = disk.write(page, Page(version, operations)), page
    shared = Shared(
        version,
        root,
        operations,
        end,
        last,
        meta.version,
        meta.root,
        meta.log_end,
        None,
        version,
        meta.salt,
        end,
    )
    return state._replace(disk=disk, shared=shared, recovery=None)


def free_page(state, rules):
    shared = state.shared
    needed = {
        shared.root,
        shared.durable_root if rules.durable_is_a_word else newest_meta(state.disk.cache).root,
    }
    if shared.checkpoint_root is not None and rules.checkpoints_pin:
        needed.add(shared.checkpoint_root)
    return next((page for page in range(FIRST_PAGE, BLOCKS) if page not in needed), None)


def idle_slot(disk):
    first, second = disk.cache[:2]
    return 1 if first and (not second or first.version > second.version) else 0


def begin_commit(state, rules, limit):
    shared, newest = state.shared, newest_meta(state.disk.cache)
    if state.committed >= limit:
        return
    for kind in ["logged", "direct"] + ["deferred"] * rules.commits_are_deferred:
        if kind == "direct" and (
            state.checkpoint
            or rules.checkpoints_take_over
            and newest.version > shared.durable_version
        ):
            continue  # it needs the checkpoint lock, and what a dead checkpoint left comes first
        begin = shared.log_begin if rules.durable_is_a_word else newest.log_end
        if kind == "direct":
            places = [None]
        else:
            places = [shared.log_end]
            if rules.records_differ_in_length and shared.log_end % LOG:
                places.append(next_lap(shared.log_end))
            places = [place for place in places if place - begin < LOG]
        if not places:
            continue
        if rules.writers_take_over and newest.version > shared.version and not state.checkpoint:
            adopted = Shared(
                newest.version,
                newest.root,
                newest.operations,
                newest.log_end,
                newest.log_hash,
                newest.version,
                newest.root,
                newest.log_end,
                None,
                max(shared.claimed, newest.version),
                newest.salt,
                newest.log_end,
            )
            yield (
                "writer: sync and adopt the newer meta",
                state._replace(disk=state.disk.sync(), shared=adopted),
                range(BLOCKS),
            )
            return
        version = (shared.claimed if rules.versions_are_claimed else shared.version) + 1
        claimed = shared._replace(claimed=max(shared.claimed, version))
        for place in places:
            name = f"{state.tried}{kind[0]}" + ("" if place in (None, shared.log_end) else "l")
            writer = (kind, "page", version, name, place)
            begun = state._replace(
                shared=claimed, writer=writer, tried=state.tried + 1, committed=state.committed + 1
            )
            at = "" if place is None else f" at {place}"
            yield f"writer: begin {kind} {version}{at}", begun, None


def writer_steps(state, rules, limit):
    if state.writer is None:
        yield from begin_commit(state, rules, limit)
        return
    disk, shared = state.disk, state.shared
    kind, step, version, operation = state.writer[:4]
    operations = shared.operations + (operation,)
    if step == "page":
        page = free_page(state, rules)
        if page is not None:
            old = disk.cache[page]
            if isinstance(old, Page) and old.version == version and old.operations != operations:
                raise Corrupt(
                    f"page {page} is born in version {version} twice, and somebody may remember "
                    f"the first"
                )
            later = (kind, "sync", version, operation, page)
            if kind != "direct":
                later = (kind, "record", version, operation, page, state.writer[4])
            yield (
                "writer: page",
                state._replace(disk=disk.write(page, Page(version, operations)), writer=later),
                None,
            )
    elif kind == "direct":
        yield from direct_steps(state, operations)
    else:
        yield from logged_steps(state, rules, operations)


def logged_steps(state, rules, operations):
    disk, shared = state.disk, state.shared
    kind, step, version, operation, page, place = state.writer
    record = Record(version, shared.version, place, shared.log_hash, shared.salt, operation)
    published = shared._replace(
        version=version,
        root=page,
        operations=operations,
        log_end=place + 1,
        log_hash=record_hash(record),
    )
    if step == "record":
        later = (
            kind,
            "publish" if kind == "deferred" else "make durable",
            version,
            operation,
            page,
            place,
        )
        yield (
            "writer: record",
            state._replace(disk=disk.write(log_block(place), record), writer=later),
            None,
        )
    elif step == "make durable":
        first = shared.log_durable if rules.durable_covers_deferred else place
        blocks = [log_block(position) for position in range(first, place + 1)]
        later = (kind, "publish", version, operation, page, place)
        yield (
            "writer: record is durable",
            state._replace(disk=disk.sync(blocks), writer=later),
            blocks,
        )
    elif kind == "deferred":
        yield (
            "writer: publish what was deferred",
            state._replace(shared=published, writer=None),
            None,
        )
    else:
        published = published._replace(log_durable=max(shared.log_durable, place + 1))
        yield (
            "writer: publish",
            state._replace(shared=published, writer=None, acknowledged=operations),
            None,
        )


def direct_steps(state, operations):
    disk, shared = state.disk, state.shared
    kind, step, version, operation, page = state.writer[:5]
    follow = state.writer[2:]
    if step == "sync":
        yield (
            "writer: sync",
            state._replace(disk=disk.sync(), writer=(kind, "meta") + follow + (idle_slot(disk),)),
            range(BLOCKS),
        )
    elif step == "meta":
        slot = state.writer[5]
        meta = Meta(version, page, operations, shared.log_end, shared.log_hash, shared.salt)
        yield (
            "writer: meta",
            state._replace(disk=disk.write(slot, meta), writer=(kind, "sync meta") + follow),
            None,
        )
    elif step == "sync meta":
        slot = state.writer[5]
        yield (
            "writer: sync meta",
            state._replace(disk=disk.sync([slot]), writer=(kind, "publish") + follow),
            [slot],
        )
    else:
        published = shared._replace(
            version=version,
            root=page,
            operations=operations,
            durable_version=version,
            durable_root=page,
            log_begin=shared.log_end,
            checkpoint_root=None,
            log_durable=shared.log_end,
        )
        yield (
            "writer: publish",
            state._replace(shared=published, writer=None, acknowledged=operations),
            None,
        )


def checkpoint_steps(state, rules):
    disk, shared = state.disk, state.shared
    if state.checkpoint is None:
        newest = newest_meta(disk.cache)
        if state.writer and state.writer[0] == "direct":
            return  # it has the checkpoint lock
        if (
            rules.checkpoints_take_over
            and shared.durable_version < newest.version <= shared.version
        ):
            adopted = shared._replace(
                durable_version=newest.version,
                durable_root=newest.root,
                log_begin=newest.log_end,
                checkpoint_root=None,
                log_durable=max(shared.log_durable, newest.log_end),
            )
            yield (
                "checkpoint: sync and adopt the one in doubt",
                state._replace(disk=disk.sync([0, 1]), shared=adopted),
                [0, 1],
            )
        elif shared.version > shared.durable_version and not (
            rules.writers_take_over and newest.version > shared.version
        ):
            meta = Meta(
                shared.version,
                shared.root,
                shared.operations,
                shared.log_end,
                shared.log_hash,
                shared.salt,
            )
            yield (
                "checkpoint: begin",
                state._replace(
                    shared=shared._replace(checkpoint_root=shared.root), checkpoint=("sync", meta)
                ),
                None,
            )
        return
    step, meta = state.checkpoint[:2]
    if step == "sync":
        yield (
            "checkpoint: sync",
            state._replace(disk=disk.sync(), checkpoint=("meta", meta, idle_slot(disk))),
            range(BLOCKS),
        )
    elif step == "meta":
        slot = state.checkpoint[2]
        yield (
            "checkpoint: meta",
            state._replace(disk=disk.write(slot, meta), checkpoint=("sync meta", meta, slot)),
            None,
        )
    elif step == "sync meta":
        slot = state.checkpoint[2]
        yield (
            "checkpoint: sync meta",
            state._replace(disk=disk.sync([slot]), checkpoint=("end", meta)),
            [slot],
        )
    else:
        done = shared._replace(
            durable_version=meta.version,
            durable_root=meta.root,
            log_begin=meta.log_end,
            checkpoint_root=None,
            log_durable=max(shared.log_durable, meta.log_end),
        )
        yield "checkpoint: end", state._replace(shared=done, checkpoint=None), None


def deaths(state, limit):
    if state.deaths >= limit:
        return
    died = state._replace(deaths=state.deaths + 1)
    if state.shared is None:
        yield "recovery dies", died._replace(recovery=None)
        return
    if state.writer:
        yield "the writer dies", died._replace(writer=None)
    if state.checkpoint:
        yield "the checkpoint dies", died._replace(checkpoint=None)
    yield "all die", died._replace(shared=None, writer=None, checkpoint=None)


def steps(state, rules, commits, death_limit):
    if state.shared is None:
        courses = recovery_steps(state, rules)
    else:
        courses = itertools.chain(
            writer_steps(state, rules, commits), checkpoint_steps(state, rules)
        )
    for name, after, synced in courses:
        yield name, after
        if synced is not None and rules.failing_syncs and not state.disk.stuck:
            # The database is poisoned, so all close it; the next one recovers.
            disk = state.disk.failed_sync(synced)
            yield (
                name + " fails",
                state._replace(disk=disk, shared=None, writer=None, checkpoint=None, recovery=None),
            )
    yield from deaths(state, death_limit)


# The invariants of every state.


def images(disk):
    """All that a power failure may leave. A record or a meta may also be torn."""
    unsure = [
        block
        for block in range(BLOCKS)
        if block not in disk.stuck
        and (disk.pending[block] or disk.cache[block] != disk.durable[block])
    ]
    choices = [
        (disk.durable[block], *disk.pending[block], disk.cache[block])
        + ((GARBAGE,) if block < FIRST_PAGE else ())
        for block in unsure
    ]
    for chosen in itertools.product(*choices):
        image = list(disk.durable)
        for block, content in zip(unsure, chosen):
            image[block] = content
        yield tuple(image)


def problem(state, published, rules):
    promised = state.acknowledged if rules.commits_are_deferred else published
    for image in images(state.disk):
        try:
            operations = recover(image, rules)[1]
        except Corrupt as error:
            return f"after a power failure: {error}"
        if operations[: len(promised)] != promised:
            return f"after a power failure {operations} is there, {promised} was promised"
        if not rules.commits_are_deferred and len(operations) > len(promised) + 1:
            return f"after a power failure {operations} is there, and only {promised} was published"
    if state.shared is None:
        try:
            recover(state.disk.cache, rules)
        except Corrupt as error:
            return f"after the death of all: {error}"
    else:
        page = state.disk.cache[state.shared.root]
        if not isinstance(page, Page) or page.operations != state.shared.operations:
            return f"page {state.shared.root} of the published version holds {page}"
    return None


def start():
    blocks = [None] * BLOCKS
    blocks[0], blocks[FIRST_PAGE] = Meta(1, FIRST_PAGE, (), 0, 0, 7), Page(1, ())
    disk = Disk(tuple(blocks), tuple(blocks), ((),) * BLOCKS, frozenset())
    return State(
        disk,
        Shared(1, FIRST_PAGE, (), 0, 0, 1, FIRST_PAGE, 0, None, 1, 7, 0),
        None,
        None,
        None,
        0,
        0,
        0,
        (),
    )


def explore(rules, commits, death_limit, limit):
    """Tries every course, the short ones first.

    Returns the number of states, and the fault and the steps to it, or None.
    """
    first = (start(), ())
    origins = {first: None}
    queue = deque([first])

    def course(key):
        names = []
        while origins[key]:
            name, key = origins[key]
            names.append(name)
        return " > ".join(reversed(names))

    count = 0
    while queue and count < limit:
        key = queue.popleft()
        state, published = key
        count += 1
        if found := problem(state, published, rules):
            return count, f"{found}\n    {course(key)}"
        try:
            for name, after in steps(state, rules, commits, death_limit):
                seen = after.shared.operations if after.shared else published
                if len(seen) < len(published) and not rules.commits_are_deferred:
                    return (
                        count,
                        f"{published} was published, {seen} is\n    {course(key)} > {name}",
                    )
                if (after, seen) not in origins:
                    origins[after, seen] = (name, key)
                    queue.append((after, seen))
        except Corrupt as error:
            return count, f"while it runs: {error}\n    {course(key)}"
    return count, None


RULES = Rules()
DEFERRED = replace(RULES, commits_are_deferred=True)
FAILING = replace(RULES, failing_syncs=True)
LONG = replace(RULES, records_differ_in_length=True)
RUNS = [
    ("all rules", RULES, False),
    ("all rules, deferred commits", DEFERRED, False),
    ("all rules, failing syncs", FAILING, False),
    ("all rules, long records", LONG, False),
    (
        "all rules, long and deferred records",
        replace(LONG, commits_are_deferred=True),
        False,
    ),
    ("version numbers are not claimed", replace(RULES, versions_are_claimed=False), True),
    ("records do not name their base", replace(RULES, records_name_their_base=False), True),
    ("writers do not take over", replace(RULES, writers_take_over=False), True),
    ("checkpoints do not take over", replace(RULES, checkpoints_take_over=False), True),
    ("checkpoints do not pin", replace(RULES, checkpoints_pin=False), True),
    ("durable is what a meta says", replace(RULES, durable_is_a_word=False), True),
    ("recovery publishes what it reads", replace(RULES, recovery_is_durable=False), True),
    ("recovery reads the cache", replace(FAILING, recovery_reads_the_device=False), True),
    ("the first record follows", replace(LONG, the_later_record_follows=False), True),
    ("deferred records are not covered", replace(DEFERRED, durable_covers_deferred=False), True),
]


def main(commits, death_limit, limit):
    passed = True
    for name, rules, is_wrong in RUNS:
        before = time.monotonic()
        count, found = explore(rules, commits, death_limit, limit)
        verdict = "as it should" if bool(found) == is_wrong else "NOT as it should"
        passed &= bool(found) == is_wrong
        print(
            f"{name}: {count} states, {'bad' if found else 'none bad'}, {verdict}, "
            f"{time.monotonic() - before:.1f} s",
            flush=True,
        )
        if found:
            print(f"    {found}")
    return 0 if passed else 1


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(numbers + [3, 2, 150_000][len(numbers) :])))
