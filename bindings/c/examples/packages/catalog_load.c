#include <string.h>

#include "catalog.h"

static void append_texts(toft_object *object, toft_property_key property, const names *texts) {
    toft_value values[64];
    toft_list *list = NULL;
    if (texts->count == 0) return;
    CHECK(toft_object_list(object, property, &list));
    for (size_t first = 0; first < texts->count; first += 64) {
        size_t count = texts->count - first < 64 ? texts->count - first : 64;
        for (size_t index = 0; index < count; index++) values[index] = toft_string_value(texts->items[first + index]);
        CHECK(toft_list_append(list, values, count));
    }
    toft_list_release(list);
}

static void create(catalog *catalog, const package *package, load_report *report) {
    const toft_property_key keys[] = {
        catalog->name, catalog->version,        catalog->section,   catalog->priority,    catalog->maintainer,
        catalog->size, catalog->installed_size, catalog->essential, catalog->description, catalog->homepage,
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
    };
    toft_object *object = NULL;
    toft_status status = toft_object_create(catalog->realm, catalog->package, TOFT_UPDATE_ERROR, keys, values, 10, &object, NULL, NULL);
    if (status == TOFT_ERROR_DUPLICATE_PRIMARY_KEY) { // the same package for another architecture
        report->repeated++;
        return;
    }
    CHECK(status);
    append_texts(object, catalog->tags, &package->tags);
    toft_object_release(object);
    report->packages++;
}

static toft_object *find(catalog *catalog, toft_string name) {
    const toft_value key = toft_string_value(name);
    toft_object *object = NULL;
    CHECK(toft_object_find(catalog->realm, catalog->package, &key, &object));
    return object;
}

// Links to those of the names that are packages; returns how many those are.
static uint64_t link_names(catalog *catalog, toft_object *object, toft_property_key property, const names *names) {
    toft_list *list = NULL;
    uint64_t count = 0;
    if (names->count == 0) return 0;
    CHECK(toft_object_list(object, property, &list));
    for (size_t index = 0; index < names->count; index++) {
        toft_object *target = find(catalog, names->items[index]);
        if (target == NULL) continue;
        toft_link link;
        CHECK(toft_object_link(target, &link));
        const toft_value value = toft_link_value(link);
        CHECK(toft_list_append(list, &value, 1));
        toft_object_release(target);
        count++;
    }
    toft_list_release(list);
    return count;
}

static void link_package(catalog *catalog, const package *package, load_report *report) {
    toft_object *object = find(catalog, package->name);
    toft_list *depends = NULL;
    uint64_t linked = 0;
    CHECK(toft_object_list(object, catalog->depends, &depends));
    CHECK(toft_list_count(depends, &linked));
    toft_list_release(depends);
    if (linked == 0) { // not so for a repeated package
        uint64_t count = link_names(catalog, object, catalog->depends, &package->depends);
        report->depends += count;
        report->missing_depends += package->depends.count - count;
        count = link_names(catalog, object, catalog->recommends, &package->recommends);
        report->recommends += count;
        report->missing_recommends += package->recommends.count - count;
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
