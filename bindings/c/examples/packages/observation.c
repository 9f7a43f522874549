#define _POSIX_C_SOURCE 200809L
#include "observation.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { commit_count = 3 };

// --- The process that writes

static void put(catalog *catalog, const char *name, const char *version) {
    const toft_property_key keys[] = {catalog->name, catalog->version, catalog->section};
    const toft_value values[] = {toft_text_value(name), toft_text_value(version), toft_text_value("example")};
    CHECK(toft_object_create(catalog->realm, catalog->package, TOFT_UPDATE_MODIFIED, keys, values, 3, NULL, NULL, NULL));
}

static void erase(catalog *catalog, const char *name) {
    const toft_value key = toft_text_value(name);
    toft_object *object = NULL;
    CHECK(toft_object_find(catalog->realm, catalog->package, &key, &object));
    CHECK(toft_object_delete(object));
    toft_object_release(object);
}

static void make_commit(catalog *catalog, int number) {
    CHECK(toft_realm_begin_write(catalog->realm));
    if (number == 0) {
        put(catalog, "example-apple", "1.0");
        put(catalog, "example-banana", "1.0");
        put(catalog, "example-date", "1.0");
    } else if (number == 1) {
        put(catalog, "example-cherry", "1.0");
        put(catalog, "example-banana", "1.1");
    } else {
        erase(catalog, "example-apple");
        put(catalog, "example-date", "2.0");
    }
    CHECK(toft_realm_commit(catalog->realm, NULL));
}

void writer_run(const char *path) {
    catalog catalog;
    char order;
    for (int number = 0; number < commit_count && read(STDIN_FILENO, &order, 1) == 1; number++) {
        if (number == 0) catalog_open(&catalog, path);
        make_commit(&catalog, number);
        if (number == commit_count - 1) catalog_close(&catalog);
    }
}

writer writer_start(const char *program, const char *path) {
    int ends[2];
    if (pipe(ends) != 0) {
        perror("pipe");
        exit(1);
    }
    pid_t process = fork();
    if (process == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", program, "--write", path, (char *)NULL);
        _exit(127);
    }
    if (process < 0) {
        perror("fork");
        exit(1);
    }
    close(ends[0]);
    return (writer){process, ends[1]};
}

// --- The process that observes

// A copy of the names, changed by what the callbacks say and never read again as a whole.
typedef struct follower {
    catalog *catalog;
    toft_results *results;
    char names[32][64];
    size_t count;
    int calls;
} follower;

static void read_name(follower *follower, uint64_t index) {
    toft_string name;
    toft_column column;
    TOFT_INITIALIZE(&column);
    column.property_key = follower->catalog->name;
    column.element_size = sizeof name;
    column.values = &name;
    size_t rows = 0;
    CHECK(toft_results_columns(follower->results, index, &column, 1, 1, &rows));
    snprintf(follower->names[index], sizeof follower->names[index], "%.*s", (int)name.size, name.data);
}

static void print_indices(const char *what, const uint64_t *indices, size_t count) {
    if (count == 0) return;
    printf("; %s", what);
    for (size_t index = 0; index < count; index++) printf("%s %llu", index ? "," : "", (unsigned long long)indices[index]);
}

static void packages_changed(void *user_data, const toft_changes *changes) {
    follower *follower = user_data;
    if (changes->kind != TOFT_CHANGE_UPDATE) return;
    const size_t name_size = sizeof follower->names[0];
    for (size_t index = changes->deletion_count; index-- > 0;) {
        size_t at = (size_t)changes->deletions[index];
        memmove(follower->names[at], follower->names[at + 1], (--follower->count - at) * name_size);
    }
    for (size_t index = 0; index < changes->insertion_count; index++) {
        size_t at = (size_t)changes->insertions[index];
        memmove(follower->names[at + 1], follower->names[at], (follower->count++ - at) * name_size);
        read_name(follower, at);
    }
    follower->calls++;
    printf("   version %llu", (unsigned long long)changes->version);
    print_indices("deleted", changes->deletions, changes->deletion_count);
    print_indices("inserted", changes->insertions, changes->insertion_count);
    print_indices("modified", changes->modifications, changes->modification_count);
    printf(" -> now");
    for (size_t index = 0; index < follower->count; index++) printf(" %s", follower->names[index]);
    printf("\n");
}

static bool is_right(follower *follower) {
    uint64_t count = 0;
    CHECK(toft_results_count(follower->results, &count));
    bool right = count == follower->count;
    for (uint64_t index = 0; right && index < count; index++) {
        char followed[64];
        memcpy(followed, follower->names[index], sizeof followed);
        read_name(follower, index);
        right = strcmp(followed, follower->names[index]) == 0;
    }
    return right;
}

// Waits for the descriptor, then lets the library call back.
static bool dispatch(catalog *catalog, int descriptor) {
    struct pollfd wait = {.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, 30000) != 1) return false;
    CHECK(toft_realm_dispatch(catalog->realm, NULL));
    return true;
}

bool observe_writer(catalog *catalog, writer writer) {
    follower follower = {.catalog = catalog, .count = 0, .calls = 0};
    int descriptor = -1;
    toft_token *token = NULL;
    CHECK(toft_results_filter(catalog->all, toft_text("section == 'example' SORT(name ASC)"), NULL, 0, &follower.results));
    CHECK(toft_results_observe(follower.results, packages_changed, &follower, NULL, &token));
    CHECK(toft_realm_descriptor(catalog->realm, &descriptor));
    printf("Process %d observes section 'example' while process %d writes:\n", (int)getpid(), (int)writer.process);
    bool ok = dispatch(catalog, descriptor); // the initial call
    while (ok && follower.calls < commit_count) {
        int before = follower.calls;
        ok = write(writer.orders, "n", 1) == 1;
        while (ok && follower.calls == before) ok = dispatch(catalog, descriptor);
    }
    close(writer.orders);
    int status = 0;
    ok = waitpid(writer.process, &status, 0) == writer.process && WIFEXITED(status) && WEXITSTATUS(status) == 0 && ok;
    ok = ok && is_right(&follower);
    printf("   %s\n", ok ? "The copy that followed the indices equals the results." : "Something went wrong.");
    toft_token_release(token);
    toft_results_release(follower.results);
    return ok;
}
