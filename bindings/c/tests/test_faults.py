# Tests: EntryPoint.swift, SchemaAsData.swift
"""A disk that fails, a file that is deleted, and a heap that is used up, under the library as
programs use it.
"""

import ctypes
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from calls import E, S, check, open_realm, sized, status, status_name
from preload import COMPILER, build, failing_calls
from test_durability import CLASSES, numbers, put

# While the file $TOFT_TEST_FAULT exists, nothing becomes durable.
FAILING_DISK = r"""
static int is_failing(void) {
    return access(getenv("TOFT_TEST_FAULT"), F_OK) == 0 ? (errno = EIO, 1) : 0;
}
static int fails(long number) {
    return number == SYS_pwritev2 && is_failing();
}
/* syscall */
int fdatasync(int fd) {
    return is_failing() ? -1 : (int)syscall(SYS_fdatasync, fd);
}
"""

# Commits objects and prints the number of each, with a heap that fails at the k-th allocation after
# the realm is open.
USED_UP = r"""
#define _GNU_SOURCE
#include "toft.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
static atomic_long left = -1;
static int is_armed;
static atomic_long count;
static int fails(void) {
    return is_armed && atomic_fetch_add(&count, 1) + 1 == left;
}
void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    return fails() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *old, size_t size) {
    return fails() ? NULL : __libc_realloc(old, size);
}
void *aligned_alloc(size_t unit, size_t size) {
    return fails() ? NULL : __libc_memalign(unit, size);
}
int posix_memalign(void **out, size_t unit, size_t size) {
    if (fails()) return 12;
    *out = __libc_memalign(unit, size);
    return *out ? 0 : 12;
}
static void must(toft_status status) {
    if (status != TOFT_OK) _exit(3);
}
int main(int argc, char **argv) {
    (void)argc;
    alarm(60);
    toft_property_schema property = {.size = sizeof property,
        .name = {"number", 6},
        .type = TOFT_TYPE_INT,
        .flags = TOFT_PROPERTY_PRIMARY_KEY};
    toft_class_schema note = {
        .size = sizeof note, .name = {"Note", 4}, .properties = &property, .property_count = 1};
    toft_schema *schema;
    must(toft_schema_new(&note, 1, &schema));
    toft_configuration configuration = {
        .size = sizeof configuration, .path = {argv[1], strlen(argv[1])}, .schema = schema};
    toft_realm *realm;
    must(toft_realm_open(&configuration, &realm));
    toft_class_key class;
    toft_property_key key;
    must(toft_realm_find_class(realm, (toft_string){"Note", 4}, &class));
    must(toft_realm_find_property(realm, class, (toft_string){"number", 6}, &key));
    left = atol(argv[2]);
    is_armed = 1;
    for (long number = 0; number < 30; number++) {
        toft_value value = {.type = TOFT_TYPE_INT, .integer = number};
        must(toft_realm_begin_write(realm, NULL));
        must(toft_realm_create_object(
            realm, class, TOFT_UPDATE_ERROR, &key, &value, 1, NULL, NULL, NULL));
        must(toft_realm_commit(realm, NULL, NULL));
        char line[32];
        if (write(1, line, snprintf(line, sizeof line, "%ld\n", number)) < 0) _exit(4);
    }
    must(toft_realm_close(realm));
    is_armed = 0;
    char line[32];
    return write(1, line, snprintf(line, sizeof line, "allocations %ld\n", count)) < 0;
}
"""


def close_badly(path, flag, durability):
    """The child:

    two notes, the second with this durability; then the disk fails, and the realm is closed.
    """
    realm = open_realm(CLASSES, path=path)
    put(realm, 0)
    check("toft_realm_flush", realm)
    if durability == "deferred":
        put(realm, 1)
    pathlib.Path(flag).touch()
    print(status_name(status("toft_realm_close", realm)), flush=True)
    print(status_name(status("toft_realm_refresh", realm, None)), flush=True)
    check("toft_realm_release", realm)


class FaultTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.path = f"{directory.name}/notes.toft"

    def expect(self, *allowed):
        realm = open_realm(CLASSES, path=self.path)
        found = numbers(realm)
        self.assertIn(found, allowed)
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        self.assertEqual(report.problem_count, 0)
        put(realm, 1_000)
        self.assertEqual(numbers(realm), [*found, 1_000])
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)

    def closing(self, durability):
        environment, flag = failing_calls(self.directory, FAILING_DISK), self.directory / "fails"
        code = "import sys, test_faults; test_faults.close_badly(*sys.argv[1:])"
        child = subprocess.run(
            [sys.executable, "-c", code, self.path, flag, durability],
            cwd=pathlib.Path(__file__).parent,
            env=environment | {"TOFT_TEST_FAULT": str(flag)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=120,
        )
        return child.stdout.split()

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_close_reports_deferred_commits_that_may_be_lost(self):
        self.assertEqual(
            self.closing("deferred"), ["TOFT_ERROR_COMMIT_OUTCOME_UNKNOWN", "TOFT_ERROR_CLOSED"]
        )
        self.expect([0], [0, 1])

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_close_reports_a_failing_disk_when_all_is_durable(self):
        self.assertEqual(self.closing("none"), ["TOFT_ERROR_FILE_ACCESS", "TOFT_ERROR_CLOSED"])
        self.expect([0])

    def test_nothing_is_committed_into_a_file_that_was_deleted(self):
        realm = open_realm(CLASSES, path=self.path)
        put(realm, 0)
        os.unlink(self.path)
        self.assertEqual(status("toft_realm_begin_write", realm, None), E.TOFT_ERROR_FILE_REPLACED)
        self.assertEqual(numbers(realm), [0], "what was there can still be read")
        check("toft_realm_close", realm)
        check("toft_realm_release", realm)
        self.expect([])

    @unittest.skipUnless(COMPILER and sys.platform == "linux", "needs a C compiler and glibc")
    def test_a_heap_that_is_used_up_ends_the_process_and_takes_no_commit_back(self):
        library = pathlib.Path(os.environ["TOFT_LIBRARY"]).resolve()
        program = build(self.directory, USED_UP, "heap", library, f"-Wl,-rpath,{library.parent}")
        whole = subprocess.run(
            [program, self.path, "0"], stdout=subprocess.PIPE, text=True, check=True, timeout=120
        )
        total = int(whole.stdout.split()[-1])
        seed = random.randrange(1 << 30)
        dice, died = random.Random(seed), 0
        for _ in range(40):
            for name in self.directory.glob("notes.toft*"):
                name.unlink()
            failing = dice.randrange(1, total + 1)
            run = subprocess.run(
                [program, self.path, str(failing)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=120,
            )
            lines = run.stdout.split("\n")[:-1]
            committed = [int(line) for line in lines if line.isdigit()]
            died += run.returncode != 0
            with self.subTest(seed=seed, allocation=failing, of=total, ended=run.returncode):
                self.expect(committed, [*committed, len(committed)])
        self.assertGreater(died, 20, f"seed {seed}: the allocations that failed were hardly used")


if __name__ == "__main__":
    unittest.main()
