// Watches results while another thread writes: the callback gets the deleted, inserted and modified
// indices.
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>

#include "example.h"

static const toft_property_schema task_properties[] = {
    TOFT_PROPERTY("title", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("done", TOFT_TYPE_BOOL, 0),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Task", task_properties)};

// Each thread opens the database for itself.
static toft_realm *open_realm(const char *path) {
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(path);
    configuration.classes = classes;
    configuration.class_count = 1;
    toft_realm *realm = NULL;
    CHECK(toft_realm_open(&configuration, &realm));
    return realm;
}

static void put(toft_realm *realm, const char *title, bool done) {
    const toft_class_key task = class_key(realm, "Task");
    const toft_property_key keys[] = {
        property_key(realm, task, "title"), property_key(realm, task, "done")};
    const toft_value values[] = {toft_value_text(title), toft_value_bool(done)};
    CHECK(toft_realm_begin_write(realm, NULL));
    CHECK(toft_realm_create_object(
        realm, task, TOFT_UPDATE_MODIFIED, keys, values, 2, NULL, NULL, NULL));
    CHECK(toft_realm_commit(realm, NULL, NULL));
}

static void *write_elsewhere(void *path) {
    toft_realm *realm = open_realm(path);
    put(realm, "buy bread", false);
    put(realm, "call Ada", false);
    put(realm, "buy bread", true);
    toft_realm_release(realm);
    return NULL;
}

static void print_indices(const char *what, const uint64_t *indices, size_t count) {
    if (count == 0) return;
    printf("  %s", what);
    for (size_t index = 0; index < count; index++) printf(" %" PRIu64, indices[index]);
    printf("\n");
}

static void tasks_changed(void *user_data, const toft_changes *changes) {
    uint64_t *count = user_data;
    printf("%s\n", changes->kind == TOFT_CHANGE_INITIAL ? "watching" : "changed");
    print_indices("deleted", changes->deletions, changes->deletion_count);
    print_indices("inserted", changes->insertions, changes->insertion_count);
    print_indices("modified", changes->modifications, changes->modification_count);
    *count += changes->insertion_count - changes->deletion_count;
}

int main(int argc, char **argv) {
    char *path = argc > 1 ? argv[1] : "observe.toft";
    toft_realm *realm = open_realm(path);
    toft_results *all = NULL, *tasks = NULL;
    CHECK(toft_realm_objects(realm, class_key(realm, "Task"), &all));
    CHECK(toft_realm_begin_write(realm, NULL));
    CHECK(toft_results_delete_all(all));
    CHECK(toft_realm_commit(realm, NULL, NULL));

    CHECK(toft_results_filter(all, toft_text("TRUEPREDICATE SORT(title ASC)"), NULL, 0, &tasks));
    uint64_t followed = 0;
    toft_token *token = NULL;
    CHECK(toft_results_observe(tasks, NULL, tasks_changed, &followed, NULL, &token));
    struct pollfd wait = {.fd = -1, .events = POLLIN, .revents = 0};
    CHECK(toft_realm_descriptor(realm, &wait.fd));

    pthread_t writer;
    if (pthread_create(&writer, NULL, write_elsewhere, path) != 0) return 1;
    const toft_value done = toft_value_bool(true);
    toft_results *finished = NULL;
    CHECK(toft_results_filter(tasks, toft_text("done == $0"), &done, 1, &finished));
    uint64_t finished_count = 0;
    while (finished_count == 0) {
        if (poll(&wait, 1, 10000) != 1) return 1;
        CHECK(toft_realm_dispatch(realm, NULL));
        CHECK(toft_results_count(finished, &finished_count));
    }
    pthread_join(writer, NULL);
    printf("%" PRIu64 " tasks, %" PRIu64 " done\n", followed, finished_count);

    toft_results_release(finished);
    toft_token_release(token);
    toft_results_release(tasks);
    toft_results_release(all);
    toft_realm_release(realm);
    return 0;
}
