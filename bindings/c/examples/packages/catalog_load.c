#include <string.h>

#include "catalog.h"

// Texts as one value; `room` holds them. More than it has room for are left out.
static toft_value list_of(const names *texts, toft_value *room, size_t capacity) {
    size_t count = texts->count < capacity ? texts->count : capacity;
    for (size_t index = 0; index < count; index++) room[index] = toft_string_value(texts->items[index]);
    return toft_list_value(room, count);
}

static void create(catalog *catalog, const package *package, load_report *report) {
    toft_value tags[64];
    const toft_property_key keys[] = {
        catalog->name, catalog->version,        catalog->section,   catalog->priority,    catalog->maintainer,
        catalog->size, catalog->installed_size, catalog->essential, catalog->description, catalog->homepage,    catalog->tags,
    };
    const toft_value values[] = {
        toft_string_value(package->name),
        toft_string_value(package->version),
        toft_string_value(package->section),
        toft_string_value(package->priority),
        toft_string_value(package->maintainer),
        toft_int(package->size),
        toft_int(package->installed_size),
        toft_bool(package->is_essential),
        toft_string_value(package->description),
        package->homepage.size > 0 ? toft_string_value(package->homepage) : toft_null(),
        list_of(&package->tags, tags, sizeof tags / sizeof tags[0]),
    };
    toft_status status = toft_object_create(catalog->realm, catalog->package, TOFT_UPDATE_ERROR, keys, values, 11, NULL, NULL, NULL);
    if (status == TOFT_ERROR_DUPLICATE_PRIMARY_KEY) { // the same package for another architecture
        report->repeated++;
        return;
    }
    CHECK(status);
    report->packages++;
}

static toft_object *find(catalog *catalog, toft_string name) {
    const toft_value key = toft_string_value(name);
    toft_object *object = NULL;
    CHECK(toft_object_find(catalog->realm, catalog->package, &key, &object));
    return object;
}

// The names that are packages, as a list of links; counts them.
static toft_value links_to(catalog *catalog, const names *names, toft_value *room, size_t capacity, uint64_t *linked, uint64_t *missing) {
    size_t count = 0;
    for (size_t index = 0; index < names->count && count < capacity; index++) {
        toft_object *target = find(catalog, names->items[index]);
        if (target == NULL) {
            ++*missing;
            continue;
        }
        toft_link link;
        CHECK(toft_object_link(target, &link));
        room[count++] = toft_link_value(link);
        toft_object_release(target);
    }
    *linked += count;
    return toft_list_value(room, count);
}

// A package that is listed again, for another architecture, has its links already.
static bool is_linked(catalog *catalog, toft_object *object) {
    toft_list *depends = NULL;
    uint64_t count = 0;
    CHECK(toft_object_list(object, catalog->depends, &depends));
    CHECK(toft_list_count(depends, &count));
    toft_list_release(depends);
    return count > 0;
}

static void link_package(catalog *catalog, const package *package, load_report *report) {
    enum { capacity = 1024 };
    toft_value depends[capacity], recommends[capacity];
    toft_object *object = find(catalog, package->name);
    if (!is_linked(catalog, object)) {
        const toft_property_key keys[] = {catalog->depends, catalog->recommends};
        const toft_value values[] = {
            links_to(catalog, &package->depends, depends, capacity, &report->depends, &report->missing_depends),
            links_to(catalog, &package->recommends, recommends, capacity, &report->recommends, &report->missing_recommends),
        };
        CHECK(toft_object_set_values(object, keys, values, 2));
    }
    toft_object_release(object);
}

load_report catalog_load(catalog *catalog, package_source *source) {
    load_report report;
    memset(&report, 0, sizeof report);
    const package *package;
    CHECK(toft_realm_begin_write(catalog->realm));
    CHECK(toft_object_delete_all(catalog->realm, catalog->package));
    while ((package = package_source_next(source)) != NULL) create(catalog, package, &report);
    CHECK(toft_realm_commit(catalog->realm, NULL));

    package_source_rewind(source);
    CHECK(toft_realm_begin_write(catalog->realm));
    while ((package = package_source_next(source)) != NULL) link_package(catalog, package, &report);
    CHECK(toft_realm_commit(catalog->realm, NULL));
    return report;
}
