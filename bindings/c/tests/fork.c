/* Forks while other threads are inside the library: fork FILE FORKS [cold].
 *
 * Threads open, write, read, observe and close all the time. The main thread forks; each child
 * opens the file, starts a thread of its own, writes, reads and closes, and has 30 seconds for it.
 * With `cold` the first fork comes while the threads make their very first calls. In the end the
 * file is checked, and has what everybody wrote. */
#define _GNU_SOURCE
#include "toft.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const toft_property_schema properties[] = {
    TOFT_PROPERTY("number", TOFT_TYPE_INT, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("text", TOFT_TYPE_STRING, TOFT_PROPERTY_NULLABLE | TOFT_PROPERTY_INDEXED),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Note", properties)};

static const char *path;
static atomic_bool is_done;
static atomic_llong next_number;
static atomic_llong written;

static void must(toft_status status, const char *what, int line) {
    if (status == TOFT_OK) return;
    toft_error error;
    TOFT_INITIALIZE(&error);
    toft_last_error(&error);
    fprintf(stderr, "%d: line %d: %s: %s: %.*s\n", (int)getpid(), line, what,
        toft_status_name(status), TOFT_FORMAT_ARGUMENTS(error.message));
    _exit(1);
}
#define MUST(call) must((call), #call, __LINE__)

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

/* A transaction with one more note. */
static void write_one(toft_realm *realm, int64_t number, toft_durability durability) {
    toft_class_key note;
    toft_property_key keys[2];
    MUST(toft_realm_find_class(realm, toft_text("Note"), &note));
    MUST(toft_realm_find_property(realm, note, toft_text("number"), &keys[0]));
    MUST(toft_realm_find_property(realm, note, toft_text("text"), &keys[1]));
    char text[32];
    snprintf(text, sizeof text, "note %lld", (long long)number);
    const toft_value values[2] = {toft_value_int(number), toft_value_text(text)};
    toft_commit_options options;
    TOFT_INITIALIZE(&options);
    options.durability = durability;
    MUST(toft_realm_begin_write(realm, NULL));
    MUST(toft_realm_create_object(
        realm, note, TOFT_UPDATE_ERROR, keys, values, 2, NULL, NULL, NULL));
    MUST(toft_realm_commit(realm, &options, NULL));
}

static uint64_t count_notes(toft_realm *realm, const char *query) {
    toft_class_key note;
    toft_results *all, *found;
    uint64_t count;
    MUST(toft_realm_find_class(realm, toft_text("Note"), &note));
    MUST(toft_realm_objects(realm, note, &all));
    MUST(toft_results_filter(all, toft_text(query), NULL, 0, &found));
    MUST(toft_results_count(found, &count));
    toft_results_release(found);
    toft_results_release(all);
    return count;
}

static void changed(void *user_data, const toft_changes *changes) {
    (void)user_data;
    (void)changes;
}

/* Everything that takes a lock: opening, observing, writing, reading, closing. */
static void *work(void *argument) {
    while (!atomic_load(&is_done)) {
        toft_realm *realm = open_file();
        toft_token *token;
        MUST(toft_realm_observe(realm, NULL, changed, NULL, NULL, &token));
        for (int i = 0; i < 5 && !atomic_load(&is_done); i++) {
            write_one(realm, atomic_fetch_add(&next_number, 1),
                (toft_durability)((intptr_t)argument % 3));
            atomic_fetch_add(&written, 1);
            MUST(toft_realm_dispatch(realm, NULL));
            count_notes(realm, "text CONTAINS '7'");
        }
        toft_token_release(token);
        toft_realm_release(realm);
    }
    return NULL;
}

static void *child_thread(void *argument) {
    toft_realm *realm = open_file();
    write_one(realm, *(int64_t *)argument + 1, TOFT_DURABILITY_GROUP);
    count_notes(realm, "number > 3");
    MUST(toft_realm_close(realm));
    toft_realm_release(realm);
    return NULL;
}

/* The child: two transactions on two threads, which contend for every lock. */
static int child(int64_t number, toft_realm *inherited) {
    bool changed_version;
    alarm(30);
    if (toft_realm_refresh(inherited, &changed_version) != TOFT_ERROR_USED_AFTER_FORK) return 2;
    toft_realm_release(inherited);
    pthread_t thread;
    if (pthread_create(&thread, NULL, child_thread, &number)) return 3;
    toft_realm *realm = open_file();
    toft_token *token;
    MUST(toft_realm_observe(realm, NULL, changed, NULL, NULL, &token));
    write_one(realm, number, TOFT_DURABILITY_DEFERRED);
    pthread_join(thread, NULL);
    MUST(toft_realm_refresh(realm, NULL));
    char query[64];
    snprintf(
        query, sizeof query, "number IN {%lld, %lld}", (long long)number, (long long)number + 1);
    if (count_notes(realm, query) != 2) return 4;
    toft_token_release(token);
    MUST(toft_realm_close(realm));
    toft_realm_release(realm);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    path = argv[1];
    const int forks = atoi(argv[2]), is_cold = argc > 3 && strcmp(argv[3], "cold") == 0;
    enum { thread_count = 3 };
    pthread_t threads[thread_count];
    alarm(300);
    for (intptr_t i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) return 1;
    int64_t number = 1000000000;
    int failures = 0;
    toft_realm *realm = is_cold ? NULL : open_file();
    for (int i = 0; i < forks; i++, number += 2) {
        if (is_cold) usleep((useconds_t)(rand() % 3000));
        const pid_t process = fork();
        if (process < 0) return 1;
        if (process == 0) {
            if (!is_cold) _exit(child(number, realm));
            /* Nothing was inherited by this thread: its first call is one of the child. */
            alarm(30);
            toft_realm *own = open_file();
            write_one(own, number, TOFT_DURABILITY_IMMEDIATE);
            write_one(own, number + 1, TOFT_DURABILITY_IMMEDIATE);
            MUST(toft_realm_close(own));
            toft_realm_release(own);
            _exit(0);
        }
        int status;
        if (waitpid(process, &status, 0) != process || status != 0) {
            fprintf(stderr, "child %d ended with status %x\n", i, status);
            failures++;
        }
    }
    atomic_store(&is_done, true);
    for (int i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
    if (!realm) realm = open_file();
    MUST(toft_realm_refresh(realm, NULL));
    const uint64_t of_children = count_notes(realm, "number >= 1000000000"),
                   of_parent = count_notes(realm, "number < 1000000000");
    toft_check_report report;
    TOFT_INITIALIZE(&report);
    size_t size;
    MUST(toft_realm_check(realm, &report, NULL, 0, &size));
    MUST(toft_realm_close(realm));
    toft_realm_release(realm);
    printf("%d children, %d failures, %llu notes of children, %llu of the parent, %llu problems\n",
        forks, failures, (unsigned long long)of_children, (unsigned long long)of_parent,
        (unsigned long long)report.problem_count);
    return failures || report.problem_count || of_children != (uint64_t)forks * 2
           || of_parent != (uint64_t)atomic_load(&written);
}
