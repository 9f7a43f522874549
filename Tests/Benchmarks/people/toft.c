/* Toft through its C API. */
#include "toft.h"
#include "engine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ID,
    NAME,
    EMAIL,
    AGE,
    SCORE,
    ACTIVE,
    CREATED,
    CITY,
    BOSS,
    TAGS,
    STORED_COUNT,
    REPORTS = STORED_COUNT,
    PROPERTY_COUNT
};

static const toft_property_schema properties[PROPERTY_COUNT] = {
    TOFT_PROPERTY("id", TOFT_TYPE_INT, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("name", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("email", TOFT_TYPE_STRING, TOFT_PROPERTY_INDEXED),
    TOFT_PROPERTY("age", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("score", TOFT_TYPE_DOUBLE, 0),
    TOFT_PROPERTY("active", TOFT_TYPE_BOOL, 0),
    TOFT_PROPERTY("created", TOFT_TYPE_DATE, 0),
    TOFT_PROPERTY("city", TOFT_TYPE_STRING, 0),
    TOFT_LINK_TO("boss", "Person"),
    TOFT_PROPERTY("tags", TOFT_TYPE_STRING, TOFT_PROPERTY_LIST),
    TOFT_LINKING_OBJECTS("reports", "Person", "boss"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Person", properties)};

struct database {
    toft_realm *realm;
    toft_class_key person;
    toft_property_key keys[PROPERTY_COUNT];
    toft_durability durability;
    toft_link *links; /* by id: of those made through this database */
    size_t link_capacity;
    toft_query *with_email; /* prepared when first needed */
};

static void try(toft_status status) {
    if (status == TOFT_OK) return;
    toft_error error;
    TOFT_INITIALIZE(&error);
    toft_last_error(&error);
    fail("Toft: %s\n%s", error.message.data, error.detail.data);
}

/* Without a key if `key_size` is 0. */
static database *open_with_key(const char *path, const void *key, size_t key_size) {
    database *opened = obtain(sizeof *opened);
    toft_schema *schema;
    toft_configuration configuration;
    try(toft_schema_new(classes, 1, &schema));
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(path);
    configuration.schema = schema;
    configuration.encryption_key = key;
    configuration.encryption_key_size = key_size;
    try(toft_realm_open(&configuration, &opened->realm));
    toft_schema_release(schema);
    try(toft_realm_find_class(opened->realm, toft_text("Person"), &opened->person));
    for (int index = 0; index < PROPERTY_COUNT; index++)
        try(toft_realm_find_property(
            opened->realm, opened->person, properties[index].name, &opened->keys[index]));
    return opened;
}

static database *open_toft(const char *path) {
    return open_with_key(path, NULL, 0);
}

static database *open_encrypted(const char *path) {
    static const uint8_t key[TOFT_KEY_SIZE] = {1, 2, 3};
    return open_with_key(path, key, sizeof key);
}

static void close_toft(database *database) {
    try(toft_realm_close(database->realm));
    toft_realm_release(database->realm);
    toft_query_release(database->with_email);
    free(database->links);
    free(database);
}

static toft_object *find(database *database, int64_t id) {
    toft_value key = toft_value_int(id);
    toft_object *object;
    try(toft_realm_find_object(database->realm, database->person, &key, &object));
    if (!object) fail("Toft has no person %lld", (long long)id);
    return object;
}

/* As an app that loads a graph does, keeps the links of what it made. */
static void remember(database *database, int64_t id, toft_link link) {
    size_t needed = (size_t)id + 1;
    if (needed > database->link_capacity) {
        size_t capacity = needed * 2;
        toft_link *links = obtain(capacity * sizeof *links);
        if (database->links)
            memcpy(links, database->links, database->link_capacity * sizeof *links);
        free(database->links);
        database->links = links;
        database->link_capacity = capacity;
    }
    database->links[id] = link;
}

static toft_value link_to(database *database, int64_t id) {
    if (id == NOBODY) return toft_value_null();
    if ((size_t)id < database->link_capacity && database->links[id].class_key)
        return toft_value_link(database->links[id]);
    toft_object *object = find(database, id);
    toft_link link;
    try(toft_object_link(object, &link));
    toft_object_release(object);
    return toft_value_link(link);
}

/* Every transaction begins and ends here. */
static void begin(database *database) {
    try(toft_realm_begin_write(database->realm, NULL));
}
static void commit(database *database) {
    toft_commit_options options;
    TOFT_INITIALIZE(&options);
    options.durability = database->durability;
    try(toft_realm_commit(database->realm, &options, NULL));
}

static void share_commits(database *database) {
    database->durability = TOFT_DURABILITY_GROUP;
}

static toft_link create(database *database, const person *person) {
    toft_value tags[TAG_COUNT];
    for (int index = 0; index < TAG_COUNT; index++)
        tags[index] = toft_value_text(person->tags[index]);
    toft_value values[STORED_COUNT];
    values[ID] = toft_value_int(person->id);
    values[NAME] = toft_value_text(person->name);
    values[EMAIL] = toft_value_text(person->email);
    values[AGE] = toft_value_int(person->age);
    values[SCORE] = toft_value_double(person->score);
    values[ACTIVE] = toft_value_bool(person->active);
    values[CREATED] = toft_value_date(person->created, 0);
    values[CITY] = toft_value_text(person->city);
    values[BOSS] = link_to(database, person->boss);
    values[TAGS] = toft_value_list(tags, TAG_COUNT);
    toft_link link;
    try(toft_realm_create_object(database->realm, database->person, TOFT_UPDATE_ERROR,
        database->keys, values, STORED_COUNT, NULL, &link, NULL));
    return link;
}

static void insert(database *database, const person *people, size_t count) {
    begin(database);
    for (size_t index = 0; index < count; index++) {
        toft_link link = create(database, &people[index]);
        if (count > 1) remember(database, people[index].id, link);
    }
    commit(database);
}

static void set_ages(database *database, const int64_t *ids, const int64_t *ages, size_t count) {
    begin(database);
    for (size_t index = 0; index < count; index++) {
        toft_object *object = find(database, ids[index]);
        toft_value age = toft_value_int(ages[index]);
        try(toft_object_set(object, database->keys[AGE], &age));
        toft_object_release(object);
    }
    commit(database);
}

static void raise_age(database *database, toft_object *object) {
    toft_value age;
    try(toft_object_get(object, database->keys[AGE], &age));
    age.integer++;
    try(toft_object_set(object, database->keys[AGE], &age));
}

static void append_tag(database *database, toft_object *object) {
    toft_list *tags;
    toft_value tag = toft_value_text("new");
    try(toft_object_list(object, database->keys[TAGS], &tags));
    try(toft_list_append(tags, &tag, 1));
    toft_list_release(tags);
}

static void upsert(database *database, int64_t id) {
    person person = person_make(id);
    toft_value values[] = {[ID] = toft_value_int(id),
        [NAME] = toft_value_text(person.name),
        [EMAIL] = toft_value_text(person.email),
        [AGE] = toft_value_int(person.age + 100),
        [SCORE] = toft_value_double(person.score),
        [ACTIVE] = toft_value_bool(person.active),
        [CREATED] = toft_value_date(person.created, 0),
        [CITY] = toft_value_text(person.city)};
    try(toft_realm_create_object(database->realm, database->person, TOFT_UPDATE_MODIFIED,
        database->keys, values, sizeof values / sizeof *values, NULL, NULL, NULL));
}

static void change_one(
    database *database, change change, toft_object *object, int64_t id, int64_t other) {
    char email[32];
    toft_value value;
    switch (change) {
    case AGE_RAISED:
        raise_age(database, object);
        break;
    case AGE_ADDED_TO:
        try(toft_object_add(object, database->keys[AGE], 1));
        break;
    case TAG_APPENDED:
        append_tag(database, object);
        break;
    case BOSS_SET:
        value = link_to(database, other);
        try(toft_object_set(object, database->keys[BOSS], &value));
        break;
    default:
        person_new_email(email, id);
        value = toft_value_text(email);
        try(toft_object_set(object, database->keys[EMAIL], &value));
    }
}

static void change_people(
    database *database, change change, const int64_t *ids, const int64_t *others, size_t count) {
    begin(database);
    for (size_t index = 0; index < count; index++) {
        if (change == UPSERTED) {
            upsert(database, ids[index]);
            continue;
        }
        toft_object *object = find(database, ids[index]);
        change_one(database, change, object, ids[index], others[index]);
        toft_object_release(object);
    }
    commit(database);
}

static void erase(database *database, const int64_t *ids, size_t count) {
    begin(database);
    for (size_t index = 0; index < count; index++) {
        toft_object *object = find(database, ids[index]);
        try(toft_object_delete(object));
        toft_object_release(object);
    }
    commit(database);
}

static int64_t look_up(database *database, const int64_t *ids, size_t count) {
    const toft_property_key keys[] = {database->keys[AGE], database->keys[NAME]};
    int64_t sum = 0;
    for (size_t index = 0; index < count; index++) {
        toft_value id = toft_value_int(ids[index]), values[2];
        bool found;
        try(toft_realm_find_values(
            database->realm, database->person, &id, keys, 2, values, &found));
        if (!found) fail("Toft has no person %lld", (long long)ids[index]);
        sum += values[0].integer + (int64_t)values[1].string.size;
    }
    return sum;
}

static toft_results *all(database *database) {
    toft_results *results;
    try(toft_realm_objects(database->realm, database->person, &results));
    return results;
}

static uint64_t count_matches(database *database, const char *query, toft_value argument) {
    toft_results *everyone = all(database), *matches;
    uint64_t count;
    try(toft_results_filter(everyone, toft_text(query), &argument, 1, &matches));
    try(toft_results_count(matches, &count));
    toft_results_release(matches);
    toft_results_release(everyone);
    return count;
}

static double count_of_listed(database *database, bool by_email) {
    person *listed = obtain(LISTED * sizeof *listed);
    toft_value *texts = obtain(LISTED * sizeof *texts);
    for (int64_t index = 0; index < LISTED; index++) {
        listed[index] = person_make(3 * index);
        texts[index] = toft_value_text(by_email ? listed[index].email : listed[index].name);
    }
    toft_value list = toft_value_list(texts, LISTED);
    uint64_t count = count_matches(database, by_email ? "email IN $0" : "name IN $0", list);
    free(texts);
    free(listed);
    return (double)count;
}

static uint64_t count_of_age(database *database, int64_t age) {
    return count_matches(database, "age == $0", toft_value_int(age));
}
static uint64_t count_with_boss(database *database) {
    return count_matches(database, "boss != $0", toft_value_null());
}

static toft_results *filtered(database *database, const char *query) {
    toft_results *everyone = all(database), *matches;
    try(toft_results_filter(everyone, toft_text(query), NULL, 0, &matches));
    toft_results_release(everyone);
    return matches;
}

static int64_t id_of(database *database, toft_results *people, uint64_t index) {
    toft_value id;
    try(toft_results_object_values(people, index, &database->keys[ID], 1, &id));
    return id.integer;
}

static double first_id(database *database, toft_results *people) {
    double id = (double)id_of(database, people, 0);
    toft_results_release(people);
    return id;
}

static double with_email(database *database, int64_t id) {
    char email[32];
    person_email(email, id);
    toft_value argument = toft_value_text(email);
    if (!database->with_email) try(toft_query_new(toft_text("email == $0"), &database->with_email));
    toft_link person;
    toft_value found_id;
    bool found;
    try(toft_realm_find_first(
        database->realm, database->person, database->with_email, &argument, 1, &person, &found));
    if (!found) fail("Toft has no person with the e-mail %s", email);
    try(toft_realm_follow_values(
        database->realm, person, &database->keys[ID], 1, &found_id, &found));
    return (double)found_id.integer;
}

static double with_email_in_text(database *database, int64_t id) {
    char email[32], query[64];
    person_email(email, id);
    snprintf(query, sizeof query, "email == '%s'", email);
    return first_id(database, filtered(database, query));
}

static double sum_of_first_ids(database *database, toft_results *people) {
    double sum = 0;
    uint64_t count;
    try(toft_results_count(people, &count));
    for (uint64_t index = 0; index < 100 && index < count; index++)
        sum += (double)id_of(database, people, index);
    toft_results_release(people);
    return sum;
}

static double aggregate(database *database,
    toft_status (*function)(toft_results *, toft_property_key, toft_value *), int property) {
    toft_results *everyone = all(database);
    toft_value value;
    try(function(everyone, database->keys[property], &value));
    toft_results_release(everyone);
    return value.type == TOFT_TYPE_INT ? (double)value.integer : value.float64;
}

static double ages_of_bosses(database *database) {
    toft_results *everyone = all(database);
    toft_value sum;
    try(toft_results_aggregate(everyone, TOFT_AGGREGATE_SUM, toft_text("boss.age"), &sum));
    toft_results_release(everyone);
    return (double)sum.integer;
}

static double ages_followed(database *database) {
    toft_results *everyone = all(database);
    int64_t sum = 0;
    uint64_t count;
    try(toft_results_count(everyone, &count));
    for (uint64_t index = 0; index < count; index++) {
        toft_value boss, age;
        bool found;
        try(toft_results_object_values(everyone, index, &database->keys[BOSS], 1, &boss));
        if (boss.type == TOFT_TYPE_NULL) continue;
        try(toft_realm_follow_values(
            database->realm, boss.link, &database->keys[AGE], 1, &age, &found));
        sum += age.integer;
    }
    toft_results_release(everyone);
    return (double)sum;
}

static double reports_of(database *database, int64_t id) {
    toft_object *boss = find(database, id);
    toft_results *reports;
    uint64_t count;
    try(toft_object_linking_objects(boss, database->keys[REPORTS], &reports));
    try(toft_results_count(reports, &count));
    toft_results_release(reports);
    toft_object_release(boss);
    return (double)count;
}

static double ask(database *database, question question, int64_t id) {
    toft_value none = toft_value_null();
    switch (question) {
    case WELL_SCORED_AND_ACTIVE:
        return (double)count_matches(database, "score > 0.5 AND active == true", none);
    case SUM_OF_AGES:
        return aggregate(database, toft_results_sum, AGE);
    case AVERAGE_SCORE:
        return aggregate(database, toft_results_average, SCORE);
    case GREATEST_SCORE:
        return aggregate(database, toft_results_maximum, SCORE);
    case NAME_CONTAINS:
        return (double)count_matches(database, "name CONTAINS '4242'", none);
    case NAME_BEGINS:
        return (double)count_matches(database, "name BEGINSWITH[c] 'al'", none);
    case CITY_IS:
        return (double)count_matches(database, "city == 'Elmfeld'", none);
    case EMAIL_IS:
        return with_email(database, id);
    case EMAIL_IS_IN_TEXT:
        return with_email_in_text(database, id);
    case NAME_IS_ONE:
    case EMAIL_IS_ONE:
        return count_of_listed(database, question == EMAIL_IS_ONE);
    case FIRST_BY_NAME:
        return sum_of_first_ids(database, filtered(database, "TRUEPREDICATE SORT(name ASC)"));
    case LIMIT_BY_NAME:
        return sum_of_first_ids(
            database, filtered(database, "TRUEPREDICATE SORT(name ASC) LIMIT(100)"));
    case FIRST_BY_CITY:
        return sum_of_first_ids(
            database, filtered(database, "age > 50 SORT(city ASC, score DESC)"));
    case LIMIT_BY_CITY:
        return sum_of_first_ids(
            database, filtered(database, "age > 50 SORT(city ASC, score DESC) LIMIT(100)"));
    case AGES_OF_BOSSES:
        return ages_of_bosses(database);
    case AGES_FOLLOWED:
        return ages_followed(database);
    case BOSS_IS_OLD:
        return (double)count_matches(database, "boss.age > 50", none);
    default:
        return reports_of(database, id);
    }
}

static uint64_t count(database *database) {
    uint64_t count;
    try(toft_realm_object_count(database->realm, database->person, &count));
    return count;
}

static totals iterate(database *database) {
    enum { ROWS = 4096 };
    static int64_t ages[ROWS];
    static double scores[ROWS];
    static uint8_t active[ROWS];
    const toft_column columns[] = {
        {sizeof(toft_column), database->keys[AGE], sizeof *ages, ages, NULL},
        {sizeof(toft_column), database->keys[SCORE], sizeof *scores, scores, NULL},
        {sizeof(toft_column), database->keys[ACTIVE], sizeof *active, active, NULL},
    };
    toft_results *everyone = all(database);
    totals totals = {0, 0, 0};
    size_t rows;
    for (uint64_t first = 0;; first += rows) {
        try(toft_results_columns(everyone, first, columns, 3, ROWS, &rows));
        if (!rows) break;
        for (size_t row = 0; row < rows; row++) {
            totals.ages += ages[row];
            totals.scores += scores[row];
            totals.active += active[row];
        }
    }
    toft_results_release(everyone);
    return totals;
}

static totals iterate_objects(database *database) {
    const toft_property_key keys[] = {
        database->keys[AGE], database->keys[SCORE], database->keys[ACTIVE]};
    toft_results *everyone = all(database);
    totals totals = {0, 0, 0};
    uint64_t count;
    try(toft_results_count(everyone, &count));
    for (uint64_t index = 0; index < count; index++) {
        toft_value values[3];
        try(toft_results_object_values(everyone, index, keys, 3, values));
        totals.ages += values[0].integer;
        totals.scores += values[1].float64;
        totals.active += values[2].boolean;
    }
    toft_results_release(everyone);
    return totals;
}

const engine encrypted_toft_engine = {"Toft, encrypted", "encrypted.toft", open_encrypted,
    close_toft, share_commits, insert, set_ages, change_people, erase, look_up, count_of_age, ask,
    iterate, iterate_objects, count, count_with_boss, NULL};
const engine toft_engine = {"Toft", "toft", open_toft, close_toft, share_commits, insert, set_ages,
    change_people, erase, look_up, count_of_age, ask, iterate, iterate_objects, count,
    count_with_boss, NULL};
