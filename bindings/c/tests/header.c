// The header in C11, and in C++17 by way of header.cc: every macro and inline function of it used
// once, and the structures as the ABI has them.
#include <toft.h>

#include <assert.h>
#include <stdio.h>

static_assert(sizeof(toft_value) == 24, "values are three words");
static_assert(sizeof(toft_type) == 4 && sizeof(toft_status) == 4, "enumerations are 32 bits");
// Structures that have grown since ABI 2 began have at least their old members, at the old offsets.
static_assert(
    sizeof(toft_configuration) >= 88 && offsetof(toft_configuration, schema_version) == 80,
    "ABI 2");
static_assert(
    sizeof(toft_database_info) >= 80 && offsetof(toft_database_info, deferred_size) == 72, "ABI 2");
static_assert(sizeof(toft_property_schema) == 64 && sizeof(toft_class_schema) >= 48, "ABI 2");
static_assert(
    sizeof(toft_error) == 56 && sizeof(toft_class_info) >= 48 && sizeof(toft_property_info) == 48,
    "ABI 2");
static_assert(
    sizeof(toft_column) == 32 && sizeof(toft_sort) == 24 && sizeof(toft_changes) >= 176, "ABI 2");
static_assert(sizeof(toft_write_options) == 16 && sizeof(toft_commit_options) == 32
                  && sizeof(toft_observe_options) == 32,
    "ABI 2");
static_assert(
    sizeof(toft_check_report) == 32 && sizeof(toft_link) == 16 && sizeof(toft_date) == 16, "ABI 2");
static_assert(sizeof(toft_decimal) == 16 && sizeof(toft_uuid) == 16 && sizeof(toft_object_id) == 12,
    "they fit into a value");
static_assert(
    sizeof(toft_open_flags) == 4 && sizeof(toft_change_kind) == 4 && sizeof(toft_confinement) == 4,
    "enumerations are 32 bits");

static const toft_property_schema properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("age", TOFT_TYPE_INT, TOFT_PROPERTY_NULLABLE | TOFT_PROPERTY_INDEXED),
    TOFT_LINK_TO("owner", "Dog"),
    TOFT_LIST_OF_LINKS("friends", "Dog"),
    TOFT_LINKING_OBJECTS("owned", "Dog", "owner"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Dog", properties)};

static int check_values(void) {
    const toft_value element = toft_value_int(7);
    const toft_link link = {5, 1};
    int wrong = 0;
    wrong += toft_value_null().type != TOFT_TYPE_NULL;
    wrong += !toft_value_bool(true).boolean || toft_value_int(-1).integer != -1;
    wrong += toft_value_float(1.5f).float32 != 1.5f || toft_value_double(2.5).float64 != 2.5;
    wrong += toft_value_text("abc").string.size != 3
             || toft_value_string(toft_text(NULL)).string.size != 0;
    wrong += toft_value_data("ab", 2).data.size != 2 || toft_value_date(1, 2).date.nanoseconds != 2;
    wrong +=
        toft_value_link(link).link.object_key != 5 || toft_value_list(&element, 1).list.count != 1;
    return wrong;
}

int main(void) {
    toft_error error;
    TOFT_INITIALIZE(&error);
    toft_schema *schema = NULL;
    char text[8];
    int wrong = check_values();
    wrong += toft_abi_version() != TOFT_ABI_VERSION || strcmp(toft_version(), TOFT_VERSION) != 0;
    wrong += toft_version_number()
             != TOFT_VERSION_MAJOR * 1000000 + TOFT_VERSION_MINOR * 1000 + TOFT_VERSION_PATCH;
    wrong += classes[0].property_count != 5 || properties[0].name.size != 4;
    wrong += toft_schema_new(classes, 1, &schema) != TOFT_OK;
    toft_schema_release(schema);
    wrong +=
        toft_last_error(&error) != TOFT_OK || error.code != TOFT_OK || TOFT_NO_INDEX != UINT64_MAX;
    wrong += !TOFT_HAS(&error, detail)
             || snprintf(text, sizeof text, "%.*s", TOFT_FORMAT_ARGUMENTS(classes[0].name)) != 3;
    error.size = offsetof(toft_error, detail);
    wrong += TOFT_HAS(&error, detail) || !TOFT_HAS(&error, message);
    wrong += TOFT_NO_WAIT != 0 || TOFT_WAIT_FOR_EVER != -1;
    return wrong;
}
