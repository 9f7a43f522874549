// The least that proves an installed package: it compiles, links, opens a database in memory and
// reads back what it wrote.
#include <stdio.h>
#include <toft.h>

static const toft_property_schema properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("age", TOFT_TYPE_INT, 0),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Dog", properties)};

int main(void) {
    toft_realm *realm = NULL;
    toft_class_key dog = 0;
    toft_property_key keys[2] = {0, 0};
    toft_object *rex = NULL;
    const toft_value values[] = {toft_value_text("Rex"), toft_value_int(3)};
    toft_value age = toft_value_null();
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.in_memory_name = toft_text("consumer");
    bool ok = toft_abi_version() == TOFT_ABI_VERSION
              && toft_schema_new(classes, 1, &configuration.schema) == TOFT_OK
              && toft_realm_open(&configuration, &realm) == TOFT_OK
              && toft_realm_find_class(realm, toft_text("Dog"), &dog) == TOFT_OK
              && toft_realm_find_property(realm, dog, toft_text("name"), &keys[0]) == TOFT_OK
              && toft_realm_find_property(realm, dog, toft_text("age"), &keys[1]) == TOFT_OK
              && toft_realm_begin_write(realm, NULL) == TOFT_OK
              && toft_realm_create_object(
                     realm, dog, TOFT_UPDATE_ERROR, keys, values, 2, &rex, NULL, NULL)
                     == TOFT_OK
              && toft_realm_commit(realm, NULL, NULL) == TOFT_OK
              && toft_object_get(rex, keys[1], &age) == TOFT_OK;
    if (ok) printf("Rex is %lld years old, says Toft %s\n", (long long)age.integer, toft_version());
    toft_object_release(rex);
    toft_realm_release(realm);
    toft_schema_release(configuration.schema);
    return ok ? 0 : 1;
}
