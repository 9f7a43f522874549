// worker DATABASE NUMBER: commits and follows the commits of all until it is killed. worker.py and
// main.swift do the same.
//
// Each commit adds an entry with embedded objects, replaces one of those of the entry before,
// deletes the entry of twenty commits ago, and counts: its own commits and those of all. Durable
// commits are acknowledged on standard output. Should the copy that follows the entries ever differ
// from them, the worker ends.
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

enum { WORKERS = 3, KEPT = 20 };

static const toft_property_schema entry_properties[] = {
    TOFT_PROPERTY("id", TOFT_TYPE_INT, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("text", TOFT_TYPE_STRING, 0),
    TOFT_LINK_TO("part", "Part"),
    TOFT_LIST_OF_LINKS("parts", "Part"),
};
static const toft_property_schema part_properties[] = {
    TOFT_PROPERTY("text", TOFT_TYPE_STRING, 0),
    TOFT_LINK_TO("inner", "Part"),
};
static const toft_property_schema count_properties[] = {
    TOFT_PROPERTY("worker", TOFT_TYPE_INT, TOFT_PROPERTY_PRIMARY_KEY), // -1: all
    TOFT_PROPERTY("commits", TOFT_TYPE_INT, 0),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Entry", entry_properties),
    TOFT_CLASS("Count", count_properties),
    {sizeof(toft_class_schema), TOFT_TEXT("Part"), part_properties, 2, TOFT_CLASS_EMBEDDED, 0, NULL,
        0}};

static toft_realm *realm;
static toft_class_key entry, counter;
static toft_property_key entry_keys[4], count_keys[2], part_keys[2];
static toft_results *entries;
static int64_t copy[2 * WORKERS * KEPT];
static size_t copied, calls;

static void open_database(const char *path) {
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(path);
    CHECK(toft_schema_new(classes, 3, &configuration.schema));
    CHECK(toft_realm_open(&configuration, &realm));
    entry = class_key(realm, "Entry");
    counter = class_key(realm, "Count");
    const toft_class_key part = class_key(realm, "Part");
    for (int index = 0; index < 4; index++) {
        entry_keys[index] = property_key(realm, entry, entry_properties[index].name.data);
    }
    for (int index = 0; index < 2; index++) {
        part_keys[index] = property_key(realm, part, part_properties[index].name.data);
        count_keys[index] = property_key(realm, counter, count_properties[index].name.data);
    }
    toft_results *all = NULL;
    CHECK(toft_realm_objects(realm, entry, &all));
    CHECK(toft_results_filter(all, toft_text("TRUEPREDICATE SORT(id ASC)"), NULL, 0, &entries));
}

static toft_object *find(toft_class_key class_key, int64_t id) {
    const toft_value key = toft_value_int(id);
    toft_object *object = NULL;
    CHECK(toft_realm_find_object(realm, class_key, &key, &object));
    return object;
}

static int64_t commits_of(int worker) {
    toft_object *object = find(counter, worker);
    toft_value commits = toft_value_int(0);
    if (object != NULL) CHECK(toft_object_get(object, count_keys[1], &commits));
    toft_object_release(object);
    return commits.integer;
}

static void set_commits(int worker, int64_t commits) {
    const toft_value values[] = {toft_value_int(worker), toft_value_int(commits)};
    CHECK(toft_realm_create_object(
        realm, counter, TOFT_UPDATE_MODIFIED, count_keys, values, 2, NULL, NULL, NULL));
}

// Puts a part with a part in it into an entry, and at the end of its list one and one of both.
static void add_parts(toft_object *made, const toft_value *text) {
    toft_object *outer = NULL;
    toft_list *list = NULL;
    CHECK(toft_object_set_embedded(made, entry_keys[2], part_keys, text, 1, &outer, NULL));
    CHECK(toft_object_set_embedded(outer, part_keys[1], part_keys, text, 1, NULL, NULL));
    toft_object_release(outer);
    CHECK(toft_object_list(made, entry_keys[3], &list));
    CHECK(toft_list_insert_embedded(list, 0, part_keys, text, 1, NULL, NULL));
    CHECK(toft_list_insert_embedded(list, 1, part_keys, text, 1, &outer, NULL));
    CHECK(toft_object_set_embedded(outer, part_keys[1], part_keys, text, 1, NULL, NULL));
    toft_object_release(outer);
    toft_list_release(list);
}

static int64_t commit(int worker) {
    CHECK(toft_realm_begin_write(realm, NULL));
    int64_t number = commits_of(worker) + 1;
    char text[32];
    snprintf(text, sizeof text, "%d/%lld", worker, (long long)number);
    const toft_value values[] = {toft_value_int(number * WORKERS + worker), toft_value_text(text)};
    toft_object *made = NULL;
    CHECK(toft_realm_create_object(
        realm, entry, TOFT_UPDATE_ERROR, entry_keys, values, 2, &made, NULL, NULL));
    add_parts(made, &values[1]);
    toft_object_release(made);
    toft_object *last = find(entry, (number - 1) * WORKERS + worker);
    const toft_value again = toft_value_text("again");
    if (last != NULL) { // the old one goes, with the one in it
        CHECK(toft_object_set_embedded(last, entry_keys[2], part_keys, &again, 1, NULL, NULL));
    }
    toft_object_release(last);
    toft_object *old = find(entry, (number - KEPT) * WORKERS + worker);
    if (old != NULL) CHECK(toft_object_delete(old));
    toft_object_release(old);
    set_commits(worker, number);
    set_commits(-1, commits_of(-1) + 1);
    CHECK(toft_realm_commit(realm, NULL, NULL));
    return number;
}

static size_t read_ids(uint64_t first, int64_t *ids, size_t capacity) {
    const toft_column column = {sizeof column, entry_keys[0], sizeof *ids, ids, NULL};
    size_t rows = 0;
    CHECK(toft_results_columns(entries, first, &column, 1, capacity, &rows));
    return rows;
}

static void entries_changed(void *user_data, const toft_changes *changes) {
    (void)user_data;
    calls++;
    if (changes->kind == TOFT_CHANGE_INITIAL) {
        copied = read_ids(0, copy, sizeof copy / sizeof *copy);
        return;
    }
    for (size_t index = changes->deletion_count; index-- > 0;) {
        size_t at = (size_t)changes->deletions[index];
        memmove(&copy[at], &copy[at + 1], (--copied - at) * sizeof *copy);
    }
    for (size_t index = 0; index < changes->insertion_count; index++) {
        size_t at = (size_t)changes->insertions[index];
        memmove(&copy[at + 1], &copy[at], (copied++ - at) * sizeof *copy);
        read_ids(at, &copy[at], 1);
    }
    int64_t ids[sizeof copy / sizeof *copy];
    if (read_ids(0, ids, sizeof ids / sizeof *ids) != copied
        || memcmp(ids, copy, copied * sizeof *copy) != 0) {
        fprintf(stderr, "the copy differs\n");
        _exit(3);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int worker = atoi(argv[2]);
    toft_token *token = NULL;
    open_database(argv[1]);
    CHECK(toft_results_observe(entries, NULL, entries_changed, NULL, NULL, &token));
    dprintf(STDOUT_FILENO, "opened %lld 0\n", (long long)commits_of(worker));
    for (;;) {
        int64_t number = commit(worker);
        dprintf(STDOUT_FILENO, "committed %lld %zu\n", (long long)number, calls);
        CHECK(toft_realm_dispatch(realm, NULL));
    }
}
