#include "catalog.h"

static const toft_property_schema package_properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("version", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("section", TOFT_TYPE_STRING, TOFT_PROPERTY_INDEXED),
    TOFT_PROPERTY("priority", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("maintainer", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("size", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("installedSize", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("essential", TOFT_TYPE_BOOL, 0),
    TOFT_PROPERTY("description", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("homepage", TOFT_TYPE_STRING, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("tags", TOFT_TYPE_STRING, TOFT_PROPERTY_LIST),
    TOFT_LIST_OF_LINKS("depends", "Package"),
    TOFT_LIST_OF_LINKS("recommends", "Package"),
    TOFT_LINKING_OBJECTS("dependents", "Package", "depends"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Package", package_properties)};

static void find_keys(catalog *catalog) {
    struct {
        const char *name;
        toft_property_key *key;
    } properties[] = {
        {"name", &catalog->name},
        {"version", &catalog->version},
        {"section", &catalog->section},
        {"priority", &catalog->priority},
        {"maintainer", &catalog->maintainer},
        {"size", &catalog->size},
        {"installedSize", &catalog->installed_size},
        {"essential", &catalog->essential},
        {"description", &catalog->description},
        {"homepage", &catalog->homepage},
        {"tags", &catalog->tags},
        {"depends", &catalog->depends},
        {"recommends", &catalog->recommends},
        {"dependents", &catalog->dependents},
    };
    catalog->package = class_key(catalog->realm, "Package");
    for (size_t index = 0; index < sizeof properties / sizeof properties[0]; index++) {
        *properties[index].key = property_key(catalog->realm, catalog->package, properties[index].name);
    }
}

void catalog_open(catalog *catalog, const char *path) {
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(path);
    CHECK(toft_schema_new(classes, 1, &configuration.schema));
    CHECK(toft_realm_open(&configuration, &catalog->realm));
    toft_schema_release(configuration.schema);
    find_keys(catalog);
    CHECK(toft_results_all(catalog->realm, catalog->package, &catalog->all));
}

void catalog_close(catalog *catalog) {
    toft_results_release(catalog->all);
    toft_realm_release(catalog->realm);
}

const char *grouped(int64_t number) {
    static char buffers[8][32];
    static unsigned next = 0;
    char digits[24], *out = buffers[next++ % 8];
    int count = snprintf(digits, sizeof digits, "%lld", (long long)number), written = 0;
    for (int index = 0; index < count; index++) {
        if (index > 0 && (count - index) % 3 == 0 && digits[index - 1] != '-') out[written++] = ',';
        out[written++] = digits[index];
    }
    out[written] = '\0';
    return out;
}
