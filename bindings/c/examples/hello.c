// Declares a class, opens a file, writes one object, reads it back.
#include "example.h"

static const toft_property_schema dog_properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("age", TOFT_TYPE_INT, 0),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Dog", dog_properties)};

int main(int argc, char **argv) {
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(argc > 1 ? argv[1] : "hello.toft");
    configuration.classes = classes;
    configuration.class_count = 1;
    toft_realm *realm = NULL;
    CHECK(toft_realm_open(&configuration, &realm));

    const toft_class_key dog = class_key(realm, "Dog");
    const toft_property_key keys[] = {
        property_key(realm, dog, "name"), property_key(realm, dog, "age")};
    const toft_value rex[] = {toft_value_text("Rex"), toft_value_int(3)};
    CHECK(toft_realm_begin_write(realm, NULL));
    CHECK(
        toft_realm_create_object(realm, dog, TOFT_UPDATE_MODIFIED, keys, rex, 2, NULL, NULL, NULL));
    CHECK(toft_realm_commit(realm, NULL, NULL));

    toft_object *found = NULL;
    CHECK(toft_realm_find_object(realm, dog, &rex[0], &found));
    toft_value values[2];
    CHECK(toft_object_get_values(found, keys, 2, values));
    printf("%.*s is %lld years old\n", TOFT_FORMAT_ARGUMENTS(values[0].string),
        (long long)values[1].integer);

    toft_object_release(found);
    toft_realm_release(realm);
    return 0;
}
