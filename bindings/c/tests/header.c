// The header in C11: every macro and inline function of it used once, and the structures as the ABI
// has them.
#include <toft.h>

_Static_assert(sizeof(toft_value) == 24, "values are three words");
_Static_assert(sizeof(toft_type) == 4 && sizeof(toft_status) == 4, "enumerations are 32 bits");
_Static_assert(sizeof(toft_configuration) == 64 && sizeof(toft_property_schema) == 64
                   && sizeof(toft_class_schema) == 40,
    "ABI 1");
_Static_assert(
    sizeof(toft_error) == 56 && sizeof(toft_class_info) == 40 && sizeof(toft_property_info) == 48,
    "ABI 1");
_Static_assert(sizeof(toft_column) == 32 && sizeof(toft_changes) == 120 && sizeof(toft_info) == 80
                   && sizeof(toft_commit_options) == 16,
    "ABI 1");
_Static_assert(
    sizeof(toft_check_report) == 32 && sizeof(toft_link) == 16 && sizeof(toft_date) == 16, "ABI 1");

static const toft_property_schema properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("age", TOFT_TYPE_INT, TOFT_PROPERTY_NULLABLE | TOFT_PROPERTY_INDEXED),
    TOFT_LINK_TO("owner", "Dog"),
    TOFT_LIST_OF_LINKS("friends", "Dog"),
    TOFT_LINKING_OBJECTS("owned", "Dog", "owner"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Dog", properties)};

static int check_values(void) {
    const toft_value element = toft_int(7);
    const toft_link link = {5, 1};
    int wrong = 0;
    wrong += toft_null().type != TOFT_TYPE_NULL;
    wrong += !toft_bool(true).boolean || toft_int(-1).integer != -1;
    wrong += toft_float(1.5f).float32 != 1.5f || toft_double(2.5).float64 != 2.5;
    wrong += toft_text_value("abc").string.size != 3
             || toft_string_value(toft_text(NULL)).string.size != 0;
    wrong += toft_data_value("ab", 2).data.size != 2 || toft_date_value(1, 2).date.nanoseconds != 2;
    wrong +=
        toft_link_value(link).link.object_key != 5 || toft_list_value(&element, 1).list.count != 1;
    return wrong;
}

int main(void) {
    toft_error error;
    TOFT_INITIALIZE(&error);
    toft_schema *schema = NULL;
    int wrong = check_values();
    wrong += toft_abi_version() != TOFT_ABI_VERSION || strcmp(toft_version(), TOFT_VERSION) != 0;
    wrong += classes[0].property_count != 5 || properties[0].name.size != 4;
    wrong += toft_schema_new(classes, 1, &schema) != TOFT_OK;
    toft_schema_release(schema);
    wrong +=
        toft_last_error(&error) != TOFT_OK || error.code != TOFT_OK || TOFT_NO_INDEX != UINT64_MAX;
    return wrong;
}
