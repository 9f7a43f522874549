// Asks questions: filters, sorts, links, aggregates, whole columns, and how it was done.
#include <inttypes.h>

#include "example.h"

static const toft_property_schema person_properties[] = {
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("age", TOFT_TYPE_INT, TOFT_PROPERTY_INDEXED),
    TOFT_LINK_TO("boss", "Person"),
    TOFT_PROPERTY("skills", TOFT_TYPE_STRING, TOFT_PROPERTY_LIST),
    TOFT_LINKING_OBJECTS("reports", "Person", "boss"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Person", person_properties)};

typedef struct person {
    const char *name;
    int age;
    const char *boss;
    const char *skills[3];
} person;

// Bosses come first, so that they can be linked to.
static const person people[] = {
    {"Ada", 52, NULL, {"mathematics", "looms", NULL}},
    {"Grace", 47, "Ada", {"compilers", "sailing", NULL}},
    {"Edsger", 61, "Ada", {"proofs", NULL, NULL}},
    {"Barbara", 38, "Grace", {"abstraction", "compilers", NULL}},
    {"Dennis", 29, "Grace", {"C", NULL, NULL}},
    {"Robin", 24, "Edsger", {"mathematics", "proofs", NULL}},
};

static toft_class_key person_class;
static toft_property_key name_key, age_key, boss_key, skills_key, reports_key;

static toft_realm *open_realm(void) {
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.in_memory_name = toft_text("query");
    configuration.classes = classes;
    configuration.class_count = 1;
    toft_realm *realm = NULL;
    CHECK(toft_realm_open(&configuration, &realm));
    person_class = class_key(realm, "Person");
    name_key = property_key(realm, person_class, "name");
    age_key = property_key(realm, person_class, "age");
    boss_key = property_key(realm, person_class, "boss");
    skills_key = property_key(realm, person_class, "skills");
    reports_key = property_key(realm, person_class, "reports");
    return realm;
}

static toft_object *find(toft_realm *realm, const char *name) {
    toft_value key = toft_value_text(name);
    toft_object *object = NULL;
    CHECK(toft_realm_find_object(realm, person_class, &key, &object));
    return object;
}

static toft_value boss_value(toft_realm *realm, const char *name) {
    if (name == NULL) return toft_value_null();
    toft_object *boss = find(realm, name);
    toft_link link;
    CHECK(toft_object_link(boss, &link));
    toft_object_release(boss);
    return toft_value_link(link);
}

static void create(toft_realm *realm, const person *person) {
    const toft_property_key keys[] = {name_key, age_key, boss_key};
    const toft_value values[] = {toft_value_text(person->name), toft_value_int(person->age),
        boss_value(realm, person->boss)};
    toft_object *object = NULL;
    CHECK(toft_realm_create_object(
        realm, person_class, TOFT_UPDATE_ERROR, keys, values, 3, &object, NULL, NULL));
    toft_list *skills = NULL;
    CHECK(toft_object_list(object, skills_key, &skills));
    for (size_t index = 0; index < 3 && person->skills[index] != NULL; index++) {
        toft_value skill = toft_value_text(person->skills[index]);
        CHECK(toft_list_append(skills, &skill, 1));
    }
    toft_list_release(skills);
    toft_object_release(object);
}

// Prints the names of up to 16 people, read as one column, then ends the results.
static void print_names(const char *title, toft_results *results) {
    toft_string names[16];
    toft_column column;
    TOFT_INITIALIZE(&column);
    column.property_key = name_key;
    column.element_size = sizeof names[0];
    column.values = names;
    size_t count = 0;
    CHECK(toft_results_columns(results, 0, &column, 1, 16, &count));
    printf("%s:", title);
    for (size_t row = 0; row < count; row++) printf(" %.*s", (int)names[row].size, names[row].data);
    printf("\n");
    toft_results_release(results);
}

static toft_results *filter(
    toft_results *results, const char *query, const toft_value *arguments, size_t count) {
    toft_results *filtered = NULL;
    CHECK(toft_results_filter(results, toft_text(query), arguments, count, &filtered));
    return filtered;
}

static void print_plan(toft_results *results) {
    char text[1024];
    size_t size = 0;
    CHECK(toft_results_explain(results, text, sizeof text, &size));
    printf("%.*s\n", (int)(size < sizeof text ? size : sizeof text), text);
}

int main(void) {
    toft_realm *realm = open_realm();
    CHECK(toft_realm_begin_write(realm, NULL));
    for (size_t index = 0; index < sizeof people / sizeof people[0]; index++)
        create(realm, &people[index]);
    CHECK(toft_realm_commit(realm, NULL, NULL));

    toft_results *all = NULL;
    CHECK(toft_realm_objects(realm, person_class, &all));

    const toft_value forty = toft_value_int(40);
    print_names("Older than 40", filter(all, "age > $0 SORT(age DESC)", &forty, 1));
    print_names("Boss younger than 50", filter(all, "boss.age < 50", NULL, 0));
    print_names(
        "Knows compilers or proofs", filter(all, "ANY skills IN {'compilers', 'proofs'}", NULL, 0));
    print_names("Leads nobody", filter(all, "reports.@count == 0", NULL, 0));
    print_names("Name has an 'r' in any case", filter(all, "name CONTAINS[c] 'R'", NULL, 0));

    toft_value average, oldest;
    CHECK(toft_results_average(all, age_key, &average));
    CHECK(toft_results_maximum(all, age_key, &oldest));
    printf("Average age %.1f, the oldest is %" PRId64 "\n", average.float64, oldest.integer);

    toft_object *grace = find(realm, "Grace");
    toft_results *reports = NULL;
    CHECK(toft_object_linking_objects(grace, reports_key, &reports));
    toft_object_release(grace);
    print_names("Report to Grace", reports);

    toft_results *indexed = filter(all, "age == 47", NULL, 0);
    print_plan(indexed);
    toft_results_release(indexed);

    toft_results_release(all);
    toft_realm_release(realm);
    return 0;
}
