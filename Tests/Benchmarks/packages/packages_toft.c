/* The packages through the C API of Toft. */
#include "packages.h"
#include "toft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) != TOFT_OK) {                                                                   \
            toft_error error;                                                                      \
            TOFT_INITIALIZE(&error);                                                               \
            toft_last_error(&error);                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, error.message.data);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const toft_property_schema properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("version", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("section", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("priority", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("maintainer", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("size", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("installedSize", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("essential", TOFT_TYPE_BOOL, 0),
    TOFT_PROPERTY("description", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("homepage", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("tags", TOFT_TYPE_STRING, TOFT_PROPERTY_LIST),
    TOFT_LIST_OF_LINKS("depends", "Package"),
    TOFT_LIST_OF_LINKS("recommends", "Package"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Package", properties)};

static toft_realm *realm;
static toft_class_key package_class;
static toft_property_key keys[FIELD_COUNT];

static void open_database(const char *path) {
    toft_schema *schema;
    toft_configuration configuration;
    TRY(toft_schema_new(classes, 1, &schema));
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(path);
    configuration.schema = schema;
    TRY(toft_realm_open(&configuration, &realm));
    toft_schema_release(schema);
    TRY(toft_realm_find_class(realm, toft_text("Package"), &package_class));
    for (int field = 0; field < FIELD_COUNT; field++)
        TRY(toft_realm_find_property(realm, package_class, properties[field].name, &keys[field]));
}

static void append_text(void *list, const char *text, size_t size) {
    toft_string string = {text, size};
    toft_value value = toft_value_string(string);
    TRY(toft_list_append(list, &value, 1));
}

static void append_link(void *list, const char *text, size_t size) {
    toft_string string = {text, size};
    toft_value name = toft_value_string(string);
    toft_object *target;
    TRY(toft_realm_find_object(realm, package_class, &name, &target));
    if (!target) return;
    toft_link link;
    TRY(toft_object_link(target, &link));
    toft_object_release(target);
    toft_value value = toft_value_link(link);
    TRY(toft_list_append(list, &value, 1));
}

static void fill(toft_object *object, toft_property_key key, const char *elements,
    void (*append)(void *, const char *, size_t)) {
    if (!*elements) return;
    toft_list *list;
    TRY(toft_object_list(object, key, &list));
    each_element(elements, append, list);
    toft_list_release(list);
}

int run_load(const char *database, const packages *all) {
    double start = now();
    open_database(database);
    TRY(toft_realm_begin_write(realm, NULL));
    toft_object **objects = malloc(all->count * sizeof *objects);
    for (size_t index = 0; index < all->count; index++) {
        const char *const *text = all->items[index].fields;
        toft_value values[10];
        for (int field = 0; field < 10; field++) values[field] = toft_value_text(text[field]);
        values[SIZE] = toft_value_int(atoll(text[SIZE]));
        values[INSTALLED_SIZE] = toft_value_int(atoll(text[INSTALLED_SIZE]));
        values[ESSENTIAL] = toft_value_bool(!strcmp(text[ESSENTIAL], "true"));
        TRY(toft_realm_create_object(realm, package_class, TOFT_UPDATE_ERROR, keys, values, 10,
            &objects[index], NULL, NULL));
        fill(objects[index], keys[TAGS], text[TAGS], append_text);
    }
    for (size_t index = 0; index < all->count; index++) {
        fill(objects[index], keys[DEPENDS], all->items[index].fields[DEPENDS], append_link);
        fill(objects[index], keys[RECOMMENDS], all->items[index].fields[RECOMMENDS], append_link);
        toft_object_release(objects[index]);
    }
    TRY(toft_realm_commit(realm, NULL, NULL));
    double seconds = now() - start;
    toft_realm_close(realm);
    struct stat status;
    stat(database, &status);
    printf("{\"load_seconds\": %.3f, \"file_bytes\": %lld, \"peak_kib\": %ld}\n", seconds,
        (long long)status.st_size, peak_memory());
    return 0;
}

int run_commits(const char *database, size_t count) {
    open_database(database);
    double *seconds = malloc(count * sizeof *seconds);
    for (size_t index = 0; index < count; index++) {
        char name[40];
        snprintf(name, sizeof name, "commit-%d-%zu", (int)getpid(), index);
        toft_value values[] = {toft_value_text(name), toft_value_int((int64_t)index)};
        toft_property_key chosen[] = {keys[NAME], keys[SIZE]};
        double start = now();
        TRY(toft_realm_begin_write(realm, NULL));
        TRY(toft_realm_create_object(
            realm, package_class, TOFT_UPDATE_ALL, chosen, values, 2, NULL, NULL, NULL));
        TRY(toft_realm_commit(realm, NULL, NULL));
        seconds[index] = now() - start;
    }
    printf("{");
    print_percentiles("commit", seconds, count);
    printf("}\n");
    toft_realm_close(realm);
    return 0;
}
