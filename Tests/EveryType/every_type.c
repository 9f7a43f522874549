// every_type DATABASE write | touch | print | precise. every_type.py and main.swift do the same,
// but for "precise": only C has dates with nanoseconds, as the file has.
//
// write: creates two objects of this language, one with values at their limits, one with null and
// empty ones. touch: counts up in all objects. print: all objects of all languages, byte by byte.
// precise: the date with nanoseconds that the object of C has.
#include <inttypes.h>
#include <math.h>

#include "example.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LANGUAGE "C"

static const toft_property_schema every_properties[] = {
    TOFT_PROPERTY("writer", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("touched", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("precise", TOFT_TYPE_DATE, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("bool", TOFT_TYPE_BOOL, 0),
    TOFT_PROPERTY("int", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("float", TOFT_TYPE_FLOAT, 0),
    TOFT_PROPERTY("double", TOFT_TYPE_DOUBLE, 0),
    TOFT_PROPERTY("string", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("data", TOFT_TYPE_DATA, 0),
    TOFT_PROPERTY("date", TOFT_TYPE_DATE, TOFT_PROPERTY_INDEXED),
    TOFT_PROPERTY("decimal", TOFT_TYPE_DECIMAL, 0),
    TOFT_PROPERTY("uuid", TOFT_TYPE_UUID, 0),
    TOFT_PROPERTY("objectId", TOFT_TYPE_OBJECT_ID, 0),
    TOFT_PROPERTY("maybeBool", TOFT_TYPE_BOOL, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeInt", TOFT_TYPE_INT, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeFloat", TOFT_TYPE_FLOAT, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeDouble", TOFT_TYPE_DOUBLE, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeString", TOFT_TYPE_STRING, TOFT_PROPERTY_NULLABLE | TOFT_PROPERTY_INDEXED),
    TOFT_PROPERTY("maybeData", TOFT_TYPE_DATA, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeDate", TOFT_TYPE_DATE, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeDecimal", TOFT_TYPE_DECIMAL, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeUuid", TOFT_TYPE_UUID, TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("maybeObjectId", TOFT_TYPE_OBJECT_ID, TOFT_PROPERTY_NULLABLE),
    TOFT_LINK_TO("link", "Every"),
    TOFT_LINK_TO("part", "Part"),
    TOFT_PROPERTY("bools", TOFT_TYPE_BOOL, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("ints", TOFT_TYPE_INT, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("floats", TOFT_TYPE_FLOAT, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("doubles", TOFT_TYPE_DOUBLE, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("strings", TOFT_TYPE_STRING, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("maybeStrings", TOFT_TYPE_STRING, TOFT_PROPERTY_LIST | TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("datas", TOFT_TYPE_DATA, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("dates", TOFT_TYPE_DATE, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("decimals", TOFT_TYPE_DECIMAL, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("uuids", TOFT_TYPE_UUID, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("objectIds", TOFT_TYPE_OBJECT_ID, TOFT_PROPERTY_LIST),
    TOFT_LIST_OF_LINKS("links", "Every"),
    TOFT_LIST_OF_LINKS("parts", "Part"),
    TOFT_PROPERTY("intSet", TOFT_TYPE_INT, TOFT_PROPERTY_SET),
    TOFT_PROPERTY("doubleSet", TOFT_TYPE_DOUBLE, TOFT_PROPERTY_SET),
    TOFT_PROPERTY("stringSet", TOFT_TYPE_STRING, TOFT_PROPERTY_SET),
    TOFT_PROPERTY("maybeIntSet", TOFT_TYPE_INT, TOFT_PROPERTY_SET | TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("uuidSet", TOFT_TYPE_UUID, TOFT_PROPERTY_SET),
    TOFT_PROPERTY("intMap", TOFT_TYPE_INT, TOFT_PROPERTY_DICTIONARY),
    TOFT_PROPERTY("doubleMap", TOFT_TYPE_DOUBLE, TOFT_PROPERTY_DICTIONARY),
    TOFT_PROPERTY(
        "maybeStringMap", TOFT_TYPE_STRING, TOFT_PROPERTY_DICTIONARY | TOFT_PROPERTY_NULLABLE),
    TOFT_PROPERTY("dateMap", TOFT_TYPE_DATE, TOFT_PROPERTY_DICTIONARY),
    {sizeof(toft_property_schema), TOFT_TEXT("linkMap"), TOFT_TYPE_LINK,
        TOFT_PROPERTY_DICTIONARY | TOFT_PROPERTY_NULLABLE, TOFT_TEXT("Every"), {NULL, 0}},
    TOFT_PROPERTY("mixed", TOFT_TYPE_MIXED, TOFT_PROPERTY_INDEXED),
    TOFT_PROPERTY("mixeds", TOFT_TYPE_MIXED, TOFT_PROPERTY_LIST),
    TOFT_PROPERTY("mixedSet", TOFT_TYPE_MIXED, TOFT_PROPERTY_SET),
    TOFT_PROPERTY("mixedMap", TOFT_TYPE_MIXED, TOFT_PROPERTY_DICTIONARY),
    TOFT_LINKING_OBJECTS("linked", "Every", "link"),
};
static const toft_property_schema part_properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, 0),
    TOFT_LINK_TO("owner", "Every"),
    TOFT_LINK_TO("inner", "Part"),
    TOFT_LIST_OF_LINKS("inners", "Part"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Every", every_properties),
    {sizeof(toft_class_schema), TOFT_TEXT("Part"), part_properties, COUNT(part_properties),
        TOFT_CLASS_EMBEDDED, 0, NULL, 0}};

static toft_realm *realm;
static toft_class_key every, part;

// --------------------------------------------------------------------------------------- Printing

static void print_value(const toft_value *value);

static void print_bytes(const void *data, size_t size) {
    for (size_t index = 0; index < size; index++) {
        printf("%02x", ((const unsigned char *)data)[index]);
    }
}

// Sign, digits and exponent.
static void print_decimal(toft_decimal decimal) {
    const uint64_t special = decimal.high >> 58 & 0x1F;
    if (special == 0x1F) {
        printf("Dnan");
        return;
    }
    printf("D%s", decimal.high >> 63 ? "-" : "");
    if (special == 0x1E) {
        printf("inf");
        return;
    }
    uint64_t words[2] = {decimal.high & 0x1FFFFFFFFFFFF, decimal.low};
    char digits[40];
    size_t count = 0;
    do { // divides by ten, 32 bits at a time
        uint64_t rest = 0;
        for (size_t index = 0; index < 4; index++) {
            const unsigned shift = index % 2 == 0 ? 32 : 0;
            const uint64_t part_of_it = rest << 32 | (words[index / 2] >> shift & 0xFFFFFFFF);
            words[index / 2] &= ~((uint64_t)0xFFFFFFFF << shift);
            words[index / 2] |= part_of_it / 10 << shift;
            rest = part_of_it % 10;
        }
        digits[count++] = (char)('0' + rest);
    } while (words[0] != 0 || words[1] != 0);
    while (count > 0) putchar(digits[--count]);
    printf("e%d", (int)(decimal.high >> 49 & 0x3FFF) - 6176);
}

static void print_dictionary(toft_dictionary *dictionary);

// Prints a list and releases it; so do the next two with their contents.
static void print_list(toft_list *list) {
    uint64_t count = 0;
    CHECK(toft_list_count(list, &count));
    printf("[");
    for (uint64_t index = 0; index < count; index++) {
        toft_value value;
        toft_list *inner = NULL;
        toft_dictionary *entries = NULL;
        CHECK(toft_list_get(list, index, &value));
        if (value.type == TOFT_TYPE_LIST) {
            CHECK(toft_list_get_list(list, index, &inner));
            print_list(inner);
        } else if (value.type == TOFT_TYPE_DICTIONARY) {
            CHECK(toft_list_get_dictionary(list, index, &entries));
            print_dictionary(entries);
        } else {
            print_value(&value);
        }
        printf(";");
    }
    printf("]");
    toft_list_release(list);
}

static void print_dictionary(toft_dictionary *dictionary) {
    toft_entry entries[10];
    size_t count = 0;
    CHECK(toft_dictionary_get_entries(dictionary, 0, entries, COUNT(entries), &count));
    printf("[");
    for (size_t index = 0; index < count; index++) {
        const toft_entry entry = entries[index];
        toft_list *list = NULL;
        toft_dictionary *inner = NULL;
        print_bytes(entry.key.data, entry.key.size);
        printf(":");
        if (entry.value.type == TOFT_TYPE_LIST) {
            CHECK(toft_dictionary_get_list(dictionary, entry.key, &list));
            print_list(list);
        } else if (entry.value.type == TOFT_TYPE_DICTIONARY) {
            CHECK(toft_dictionary_get_dictionary(dictionary, entry.key, &inner));
            print_dictionary(inner);
        } else {
            print_value(&entry.value);
        }
        printf(";");
    }
    printf("]");
    toft_dictionary_release(dictionary);
}

static void print_property(toft_object *object, const toft_property_info *info) {
    toft_value values[13];
    toft_list *list = NULL;
    toft_dictionary *dictionary = NULL;
    size_t count = 0;
    if (info->type == TOFT_TYPE_LINKING_OBJECTS) {
        toft_results *linking = NULL;
        CHECK(toft_object_linking_objects(object, info->key, &linking));
        CHECK(toft_results_get_values(linking, 0, values, COUNT(values), &count));
        toft_results_release(linking);
    } else if (info->flags & TOFT_PROPERTY_LIST) {
        CHECK(toft_object_list(object, info->key, &list));
        print_list(list);
        return;
    } else if (info->flags & TOFT_PROPERTY_SET) {
        toft_set *set = NULL;
        CHECK(toft_object_get_set(object, info->key, &set));
        CHECK(toft_set_get_values(set, 0, values, COUNT(values), &count));
        toft_set_release(set);
    } else if (info->flags & TOFT_PROPERTY_DICTIONARY) {
        CHECK(toft_object_get_dictionary(object, info->key, &dictionary));
        print_dictionary(dictionary);
        return;
    } else {
        CHECK(toft_object_get(object, info->key, values));
        if (values->type == TOFT_TYPE_DICTIONARY) {
            CHECK(toft_object_get_dictionary(object, info->key, &dictionary));
            print_dictionary(dictionary);
        } else {
            print_value(values);
        }
        return;
    }
    printf("[");
    for (size_t index = 0; index < count; index++) {
        print_value(&values[index]);
        printf(";");
    }
    printf("]");
}

static void print_object(toft_object *object, toft_class_key class_key, const char *end) {
    toft_property_key keys[100];
    size_t count = 0;
    CHECK(toft_realm_properties(realm, class_key, keys, COUNT(keys), &count));
    for (size_t index = 0; index < count; index++) {
        toft_property_info info;
        TOFT_INITIALIZE(&info);
        CHECK(toft_realm_property_info(realm, class_key, keys[index], &info));
        if (info.name.size == 7 && memcmp(info.name.data, "precise", 7) == 0) continue;
        printf("%.*s=", TOFT_FORMAT_ARGUMENTS(info.name));
        print_property(object, &info);
        printf("%s", end);
    }
}

static void print_link(toft_link link) {
    toft_object *object = NULL;
    toft_value writer;
    CHECK(toft_realm_follow(realm, link, &object));
    if (link.class_key == part) {
        printf("{");
        print_object(object, part, ",");
        printf("}");
    } else {
        CHECK(toft_object_get(object, property_key(realm, every, "writer"), &writer));
        printf("l");
        print_bytes(writer.string.data, writer.string.size);
    }
    toft_object_release(object);
}

static void print_value(const toft_value *value) {
    uint32_t single;
    uint64_t twice;
    switch (value->type) {
    case TOFT_TYPE_NULL:
        printf("null");
        break;
    case TOFT_TYPE_BOOL:
        printf(value->boolean ? "true" : "false");
        break;
    case TOFT_TYPE_INT:
        printf("i%" PRId64, value->integer);
        break;
    case TOFT_TYPE_FLOAT:
        memcpy(&single, &value->float32, sizeof single);
        printf("f%08" PRIx32, single);
        break;
    case TOFT_TYPE_DOUBLE:
        memcpy(&twice, &value->float64, sizeof twice);
        printf("d%016" PRIx64, twice);
        break;
    case TOFT_TYPE_STRING:
        printf("s");
        print_bytes(value->string.data, value->string.size);
        break;
    case TOFT_TYPE_DATA:
        printf("x");
        print_bytes(value->data.data, value->data.size);
        break;
    case TOFT_TYPE_DATE:
        printf("t%" PRId64 ":%d", value->date.seconds, (int)value->date.nanoseconds);
        break;
    case TOFT_TYPE_DECIMAL:
        print_decimal(value->decimal);
        break;
    case TOFT_TYPE_UUID:
        printf("u");
        print_bytes(value->uuid.bytes, sizeof value->uuid.bytes);
        break;
    case TOFT_TYPE_OBJECT_ID:
        printf("o");
        print_bytes(value->object_id.bytes, sizeof value->object_id.bytes);
        break;
    case TOFT_TYPE_LINK:
        print_link(value->link);
        break;
    default:
        printf("?");
        break;
    }
}

// ---------------------------------------------------------------------------------------- Writing

static void set(toft_object *object, const char *name, toft_value value) {
    CHECK(toft_object_set(object, property_key(realm, every, name), &value));
}

#define LIST(object, name, ...)                                                                    \
    do {                                                                                           \
        const toft_value elements[] = {__VA_ARGS__};                                               \
        set((object), (name), toft_value_list(elements, COUNT(elements)));                         \
    } while (0)

#define MAP(object, name, ...)                                                                     \
    do {                                                                                           \
        const toft_entry entries[] = {__VA_ARGS__};                                                \
        set((object), (name), toft_value_entries(entries, COUNT(entries)));                        \
    } while (0)

static toft_value text(const char *bytes, size_t size) {
    const toft_string string = {bytes, size};
    return toft_value_string(string);
}

static toft_value decimal(uint64_t low, uint64_t high) {
    const toft_decimal number = {low, high};
    return toft_value_decimal(number);
}

static toft_value uuid(uint8_t first, uint8_t step) {
    toft_uuid made;
    for (size_t index = 0; index < 16; index++) made.bytes[index] = (uint8_t)(first + index * step);
    return toft_value_uuid(made);
}

static toft_value object_id(uint8_t first, uint8_t step) {
    toft_object_id made;
    for (size_t index = 0; index < 12; index++) made.bytes[index] = (uint8_t)(first + index * step);
    return toft_value_object_id(made);
}

static toft_object *create(const char *writer) {
    const toft_property_key key = property_key(realm, every, "writer");
    const toft_value value = toft_value_text(writer);
    toft_object *object = NULL;
    CHECK(toft_realm_create_object(
        realm, every, TOFT_UPDATE_ERROR, &key, &value, 1, &object, NULL, NULL));
    return object;
}

static toft_value link_to(toft_object *object) {
    toft_link link;
    CHECK(toft_object_link(object, &link));
    return toft_value_link(link);
}

// A part with a name and a link to its owner, with a part in it, and that has a list of parts.
static void add_parts(toft_object *object) {
    const toft_property_key keys[] = {
        property_key(realm, part, "name"), property_key(realm, part, "owner")};
    const toft_property_key inner = property_key(realm, part, "inner");
    const toft_property_key inners = property_key(realm, part, "inners");
    const toft_value outside[] = {toft_value_text("outside"), link_to(object)};
    const toft_value names[] = {
        toft_value_text("inside"), toft_value_text("first"), toft_value_text("")};
    toft_object *outer = NULL, *middle = NULL;
    toft_list *list = NULL;
    CHECK(toft_object_set_embedded(
        object, property_key(realm, every, "part"), keys, outside, 2, &outer, NULL));
    CHECK(toft_object_set_embedded(outer, inner, keys, &names[0], 1, &middle, NULL));
    CHECK(toft_object_list(middle, inners, &list));
    CHECK(toft_list_insert_embedded(list, 0, keys, &names[1], 1, NULL, NULL));
    CHECK(toft_list_insert_embedded(list, 1, keys, &names[2], 1, NULL, NULL));
    toft_list_release(list);
    CHECK(toft_object_list(object, property_key(realm, every, "parts"), &list));
    CHECK(toft_list_insert_embedded(list, 0, keys, &names[1], 1, NULL, NULL));
    CHECK(toft_list_insert_embedded(list, 1, keys, outside, 2, NULL, NULL));
    toft_list_release(list);
    toft_object_release(outer);
    toft_object_release(middle);
}

static void add_mixed(
    toft_object *one, toft_object *two, toft_value word, const void *bytes, size_t size) {
    const toft_value first = link_to(one), second = link_to(two);
    const toft_value innermost[] = {
        toft_value_null(), toft_value_bool(true), toft_value_entries(NULL, 0)};
    const toft_value list[] = {
        toft_value_int(1), toft_value_double(2.5), toft_value_list(innermost, COUNT(innermost))};
    const toft_entry zero[] = {{{"k", 1}, toft_value_double(-0.0)}};
    const toft_value zeros[] = {toft_value_entries(zero, 1)};
    const toft_entry entries[] = {
        {{"list", 4}, toft_value_list(list, COUNT(list))},
        {{"text", 4}, word},
        {{"one", 3}, first},
    };
    const toft_entry seconds[] = {{{"", 0}, toft_value_list(&second, 1)}};
    set(one, "mixed", toft_value_entries(entries, COUNT(entries)));
    set(two, "mixed", decimal(250, 0x303C000000000000)); // 2.50
    LIST(one, "mixeds", toft_value_null(), toft_value_bool(false), toft_value_int(INT64_MIN),
        toft_value_double((double)NAN), word, toft_value_data(bytes, size), toft_value_date(0, 0),
        decimal(150, 0xB03C000000000000), uuid(0, 17), object_id(1, 20), second,
        toft_value_list(NULL, 0), toft_value_entries(seconds, 1));
    LIST(one, "mixedSet", second, text("a", 1), toft_value_data("a", 1), toft_value_int(2),
        toft_value_double(2.5), toft_value_null(), toft_value_date(0, 0),
        decimal(1, 0xB040000000000000), toft_value_bool(true));
    MAP(one, "mixedMap", {{"one", 3}, first}, {{"none", 4}, toft_value_null()},
        {{"list", 4}, toft_value_list(zeros, 1)});
}

static void write_objects(void) {
    // NUL, a character of each length in UTF-8, one beyond 16 bits, a joined emoji, a letter with
    // its accent apart.
    static const char all[] = "a\0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\xB4\xE2\x80\x8D\xEF\xBF\xBF"
                              "e\xCC\x81";
    static const unsigned char bytes[] = {0, 0xFF, 0x80, 10};
    const toft_value word = text(all, sizeof all - 1);
    const toft_value empty = text("", 0);
    toft_object *one = create(LANGUAGE "/1"), *two = create(LANGUAGE "/2");

    set(one, "precise", toft_value_date(-1, -999999999));
    set(one, "bool", toft_value_bool(true));
    set(one, "int", toft_value_int(INT64_MIN));
    set(one, "float", toft_value_float(-0.1F));
    set(one, "double", toft_value_double(5e-324));
    set(one, "string", word);
    set(one, "data", toft_value_data(bytes, sizeof bytes));
    set(one, "date", toft_value_date(-2177452801, -515625000)); // 1900
    set(one, "decimal", decimal(150, 0xB03C000000000000));      // -1.50
    set(one, "uuid", uuid(255, 255));
    set(one, "objectId", object_id(250, 1));
    set(one, "maybeBool", toft_value_bool(false));
    set(one, "maybeInt", toft_value_int(0));
    set(one, "maybeFloat", toft_value_float(NAN));
    set(one, "maybeDouble", toft_value_double((double)NAN));
    set(one, "maybeString", empty);
    set(one, "maybeData", toft_value_data("", 0));
    set(one, "maybeDate", toft_value_date(0, 0));
    set(one, "maybeDecimal", decimal(0, 0x7C00000000000000)); // NaN
    set(one, "maybeUuid", uuid(0, 0));
    set(one, "maybeObjectId", object_id(0, 0));
    set(one, "link", link_to(one));
    add_parts(one);
    LIST(one, "bools", toft_value_bool(true), toft_value_bool(false), toft_value_bool(true));
    LIST(one, "ints", toft_value_int(INT64_MAX), toft_value_int(-1), toft_value_int(-1));
    LIST(one, "floats", toft_value_float(INFINITY), toft_value_float(-0.0F));
    LIST(one, "doubles", toft_value_double((double)-INFINITY), toft_value_double(-0.0),
        toft_value_double((double)NAN), toft_value_double(0.1));
    LIST(one, "strings", word, empty, text("\0", 1), empty);
    LIST(one, "maybeStrings", toft_value_null(), empty, word);
    LIST(one, "datas", toft_value_data("", 0), toft_value_data(bytes, sizeof bytes));
    LIST(one, "dates", toft_value_date(-1, -515625000), toft_value_date(253402300799, 984375000));
    LIST(one, "decimals", decimal(150, 0x303C000000000000), decimal(0, 0xF800000000000000),
        decimal(0x378D8E63FFFFFFFF, 0x5FFFED09BEAD87C0));
    LIST(one, "uuids", uuid(0, 17), uuid(0, 17));
    LIST(one, "objectIds", object_id(1, 20));
    LIST(one, "links", link_to(two), link_to(one), link_to(two));
    LIST(one, "intSet", toft_value_int(3), toft_value_int(INT64_MIN), toft_value_int(-3));
    LIST(one, "doubleSet", toft_value_double(1.5), toft_value_double((double)NAN),
        toft_value_double((double)-INFINITY));
    LIST(one, "stringSet", word, empty, text("B", 1), text("a", 1));
    LIST(one, "maybeIntSet", toft_value_int(0), toft_value_null());
    LIST(one, "uuidSet", uuid(128, 1), uuid(0, 1));
    MAP(one, "intMap", {{"b", 1}, toft_value_int(-7)}, {{"", 0}, toft_value_int(INT64_MAX)});
    MAP(one, "doubleMap", {word.string, toft_value_double((double)INFINITY)});
    MAP(one, "maybeStringMap", {{"full", 4}, word}, {{"null", 4}, toft_value_null()},
        {{"empty", 5}, empty});
    MAP(one, "dateMap", {{"then", 4}, toft_value_date(-62135596800, 0)});
    MAP(one, "linkMap", {{"one", 3}, link_to(one)}, {{"none", 4}, toft_value_null()});

    add_mixed(one, two, word, bytes, sizeof bytes);
    set(two, "link", link_to(one));
    set(two, "date", toft_value_date(0, 0));
    set(two, "objectId", object_id(0, 0));
    toft_object_release(one);
    toft_object_release(two);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(argv[1]);
    CHECK(toft_schema_new(classes, COUNT(classes), &configuration.schema));
    CHECK(toft_realm_open(&configuration, &realm));
    every = class_key(realm, "Every");
    part = class_key(realm, "Part");
    toft_results *all = NULL, *objects = NULL;
    CHECK(toft_realm_objects(realm, every, &all));
    CHECK(toft_results_filter(all, toft_text("TRUEPREDICATE SORT(writer ASC)"), NULL, 0, &objects));
    const bool is_reading = strcmp(argv[2], "print") == 0 || strcmp(argv[2], "precise") == 0;
    if (!is_reading) CHECK(toft_realm_begin_write(realm, NULL));
    if (strcmp(argv[2], "write") == 0) write_objects();
    uint64_t count = 0;
    CHECK(toft_results_count(objects, &count));
    for (uint64_t index = 0; index < count; index++) {
        toft_object *object = NULL;
        toft_value value;
        CHECK(toft_results_object(objects, index, &object));
        if (strcmp(argv[2], "print") == 0) {
            print_object(object, every, "\n");
        } else if (strcmp(argv[2], "touch") == 0) {
            CHECK(toft_object_add(object, property_key(realm, every, "touched"), 1));
        } else if (strcmp(argv[2], "precise") == 0) {
            CHECK(toft_object_get(object, property_key(realm, every, "precise"), &value));
            print_value(&value);
            printf("\n");
        }
        toft_object_release(object);
    }
    if (!is_reading) CHECK(toft_realm_commit(realm, NULL, NULL));
    return 0;
}
