/* Closes the library's descriptors, as daemons do, and opens files of its own, which get their
 * numbers: descriptors FILE.
 *
 * At each moment of a transaction, one descriptor after the other and all at once. Nothing may be
 * written into the program's files, their descriptors stay open, and a commit that returned TOFT_OK
 * is in the database when it is opened again. */
#define _GNU_SOURCE
#include "toft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { last_descriptor = 64, file_size = 1 << 20 };

static const toft_property_schema properties[] = {
    TOFT_PROPERTY("number", TOFT_TYPE_INT, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("text", TOFT_TYPE_STRING, 0),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Note", properties)};

static const char *path;

static void fail(const char *what, int line) {
    toft_error error;
    TOFT_INITIALIZE(&error);
    toft_last_error(&error);
    fprintf(stderr, "line %d: %s: %.*s\n", line, what, TOFT_FORMAT_ARGUMENTS(error.message));
    exit(1);
}
#define MUST(call)                                                                                 \
    if ((call) != TOFT_OK) fail(#call, __LINE__)
#define EXPECT(condition)                                                                          \
    if (!(condition)) fail(#condition, __LINE__)

static toft_realm *open_file(void) {
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(path);
    configuration.classes = classes;
    configuration.class_count = 1;
    toft_realm *realm;
    MUST(toft_realm_open(&configuration, &realm));
    return realm;
}

static uint64_t count_notes(toft_realm *realm) {
    toft_class_key note;
    toft_results *all;
    uint64_t count;
    MUST(toft_realm_find_class(realm, toft_text("Note"), &note));
    MUST(toft_realm_objects(realm, note, &all));
    MUST(toft_results_count(all, &count));
    toft_results_release(all);
    return count;
}

static toft_status create_note(toft_realm *realm, int64_t number) {
    toft_class_key note;
    toft_property_key keys[2];
    MUST(toft_realm_find_class(realm, toft_text("Note"), &note));
    MUST(toft_realm_find_property(realm, note, toft_text("number"), &keys[0]));
    MUST(toft_realm_find_property(realm, note, toft_text("text"), &keys[1]));
    const toft_value values[2] = {toft_value_int(number), toft_value_text("secret")};
    return toft_realm_create_object(
        realm, note, TOFT_UPDATE_ERROR, keys, values, 2, NULL, NULL, NULL);
}

/* Whether a number was open before the library opened its own. */
static bool is_ours[last_descriptor];

static int open_own(int number) {
    char name[4096];
    snprintf(name, sizeof name, "%s.own%d", path, number);
    return open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

/* Closes the library's `which`th descriptor, or all if it is negative; their numbers are files of
 * the program then. Returns their number. */
static int take(int which, int taken[]) {
    int found = 0, count = 0;
    for (int number = 3; number < last_descriptor; number++) {
        if (is_ours[number] || fcntl(number, F_GETFD) < 0) continue;
        if (which < 0 || found == which) {
            int own = open_own(number);
            EXPECT(own >= 0 && ftruncate(own, file_size) == 0);
            EXPECT(dup2(own, number) == number);
            close(own);
            taken[count++] = number;
        }
        found++;
    }
    taken[count] = -1;
    return found;
}

static void check_own(const int taken[]) {
    static char bytes[file_size], zeros[file_size];
    for (int i = 0; taken[i] >= 0; i++) {
        EXPECT(pread(taken[i], bytes, sizeof bytes, 0) == file_size);
        EXPECT(memcmp(bytes, zeros, sizeof bytes) == 0);
        EXPECT(lseek(taken[i], 0, SEEK_END) == file_size);
        close(taken[i]);
    }
}

/* A status of a call on a realm that may have lost a descriptor. */
static bool is_done(toft_status status) {
    if (status == TOFT_OK) return true;
    toft_error error;
    TOFT_INITIALIZE(&error);
    toft_last_error(&error);
    EXPECT(status == TOFT_ERROR_FILE_ACCESS && error.number == EBADF);
    return false;
}

enum { before_begin, before_create, before_commit, before_close, moments };

/* Returns how many descriptors the library had. */
static int try_moment(int moment, int which, toft_durability durability) {
    int taken[last_descriptor], count = 0;
    remove(path);
    toft_realm *realm = open_file();
    MUST(toft_realm_begin_write(realm, NULL));
    MUST(create_note(realm, 1));
    MUST(toft_realm_commit(realm, NULL, NULL));
    if (moment == before_begin) count = take(which, taken);
    bool is_committed = is_done(toft_realm_begin_write(realm, NULL));
    if (is_committed) {
        if (moment == before_create) count = take(which, taken);
        is_committed = is_done(create_note(realm, 2));
        if (moment == before_commit) count = take(which, taken);
        toft_commit_options options;
        TOFT_INITIALIZE(&options);
        options.durability = durability;
        is_committed = is_done(toft_realm_commit(realm, &options, NULL)) && is_committed;
    }
    if (moment == before_close) count = take(which, taken);
    EXPECT(count_notes(realm) == 1u + is_committed);
    /* Opened again while it is open, and while it is not. */
    for (int again = 0; again < 2; again++) {
        toft_realm *other = open_file();
        EXPECT(count_notes(other) == 1u + is_committed + (unsigned)again);
        MUST(toft_realm_begin_write(other, NULL));
        MUST(create_note(other, 3 + again));
        MUST(toft_realm_commit(other, NULL, NULL));
        toft_check_report report;
        TOFT_INITIALIZE(&report);
        size_t size;
        MUST(toft_realm_check(other, &report, NULL, 0, &size));
        EXPECT(report.problem_count == 0);
        if (again == 0) {
            const toft_status status = toft_realm_close(realm);
            EXPECT(status == TOFT_OK || status == TOFT_ERROR_COMMIT_OUTCOME_UNKNOWN);
            toft_realm_release(realm);
        }
        MUST(toft_realm_close(other));
        toft_realm_release(other);
    }
    check_own(taken);
    return count;
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    path = argv[1];
    for (int number = 0; number < last_descriptor; number++)
        is_ours[number] = fcntl(number, F_GETFD) >= 0;
    int tried = 0;
    for (int moment = 0; moment < moments; moment++)
        for (int durability = 0; durability < 3; durability++) {
            const int count = try_moment(moment, -1, (toft_durability)durability);
            EXPECT(count >= 2);
            for (int which = 0; which < count; which++, tried++)
                try_moment(moment, which, (toft_durability)durability);
        }
    printf("%d descriptors were closed, and no commit was lost\n", tried);
    return 0;
}
