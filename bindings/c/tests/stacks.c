// Threads with small stacks: deep nesting works or is an error there, however deep it is, and never
// ends the process. Each shape is tried at many depths, in threads of many sizes.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <toft.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static const toft_property_schema properties[] = {
    TOFT_PROPERTY("id", TOFT_TYPE_INT, TOFT_PROPERTY_PRIMARY_KEY),
    TOFT_PROPERTY("n", TOFT_TYPE_INT, 0),
    TOFT_PROPERTY("s", TOFT_TYPE_STRING, 0),
    TOFT_PROPERTY("m", TOFT_TYPE_MIXED, TOFT_PROPERTY_NULLABLE),
    TOFT_LINK_TO("boss", "Thing"),
    TOFT_LIST_OF_LINKS("kids", "Thing"),
};
static const toft_class_schema classes[] = {TOFT_CLASS("Thing", properties)};

enum { DEEPEST = 110, TEXT = 1 << 16 };
enum { TOO_DEEP = -1 };

// The nested parts: queries, and values.
typedef enum shape {
    PARENTHESES,
    NEGATIONS,
    ALTERNATION,
    LEFT_SUM,
    RIGHT_SUM,
    SUBQUERIES,
    GROUPS,
    LONG_PATH,
    LONG_BACKWARD_PATH,
    MIXED_PATH,
    JSON_LISTS,
    JSON_DICTIONARIES,
    JSON_OBJECTS,
    VALUES,
    SHAPE_COUNT
} shape;

static const char *const names[SHAPE_COUNT] = {"parentheses", "NOT", "AND and OR",
    "sums from the left", "sums from the right", "SUBQUERY", "groups", "a path", "a path backwards",
    "a path within a value", "lists in JSON", "dictionaries in JSON", "objects in JSON", "values"};

static void repeat(char *text, const char *part, int count) {
    for (int index = 0; index < count; index++) strcat(text, part);
}

static void write_query(char *text, shape shape, int depth) {
    char part[64], *end;
    text[0] = 0;
    switch (shape) {
    case PARENTHESES:
        repeat(text, "(", depth);
        strcat(text, "n == 1");
        repeat(text, ")", depth);
        return;
    case NEGATIONS:
        repeat(text, "NOT (", depth);
        strcat(text, "n < s.@count");
        repeat(text, ")", depth);
        return;
    case ALTERNATION:
        for (int index = 0; index < depth; index++)
            strcat(text, index % 2 ? "(s == 'a' OR n > 5 OR " : "(n > 0 AND m == null AND ");
        strcat(text, "boss == null");
        repeat(text, ")", depth);
        return;
    case LEFT_SUM:
        strcat(text, "n");
        repeat(text, " + n", depth);
        strcat(text, " > 0");
        return;
    case RIGHT_SUM:
        repeat(text, "n * (", depth);
        strcat(text, "n");
        repeat(text, ")", depth);
        strcat(text, " > 0");
        return;
    case SUBQUERIES:
        end = text;
        for (int index = 0; index < depth; index++)
            end += index ? sprintf(end, "SUBQUERY($k%d.kids, $k%d, ", index - 1, index)
                         : sprintf(end, "SUBQUERY(kids, $k0, ");
        sprintf(part, "$k%d.n > 0", depth - 1);
        strcat(text, depth ? part : "n > 0");
        repeat(text, ").@count > 0", depth);
        return;
    case GROUPS:
        strcat(text, "s MATCHES '");
        repeat(text, "(", depth);
        strcat(text, "a");
        repeat(text, ")", depth);
        strcat(text, "'");
        return;
    case LONG_PATH:
        strcat(text, "ANY ");
        repeat(text, "kids.", depth < 62 ? depth : 62);
        strcat(text, "kids.n == 1");
        return;
    case LONG_BACKWARD_PATH:
        strcat(text, "ALL ");
        repeat(text, "@links.Thing.kids.", depth < 20 ? depth : 20);
        strcat(text, "kids.n == 1");
        return;
    default:
        strcat(text, "m");
        repeat(text, ".a", depth < 60 ? depth : 60);
        strcat(text, ".b == 1");
    }
}

static void write_json(char *text, shape shape, int depth, int id) {
    if (shape == JSON_OBJECTS) {
        char *end = text;
        depth += !depth;
        for (int index = 0; index < depth; index++)
            end += sprintf(end, "{\"id\": %d, \"boss\": ", id + index);
        sprintf(end, "null");
        repeat(text, "}", depth);
        return;
    }
    sprintf(text, "{\"id\": %d, \"m\": ", id);
    repeat(text, shape == JSON_LISTS ? "[" : "{\"a\": ", depth);
    strcat(text, "1");
    repeat(text, shape == JSON_LISTS ? "]" : "}", depth);
    strcat(text, "}");
}

static const char *why(void) {
    static _Thread_local toft_error error;
    TOFT_INITIALIZE(&error);
    toft_last_error(&error);
    return error.message.data;
}

// 0, or TOO_DEEP if a call says so; ends the program at any other error.
static int accepted(toft_status status, shape shape, int depth) {
    if (status == TOFT_OK) return 0;
    const char *message = why();
    if (status != TOFT_ERROR_QUERY_SYNTAX && status != TOFT_ERROR_VALUE_TOO_LONG
        && status != TOFT_ERROR_INVALID_QUERY)
        FAIL("%s, %d deep: %s: %s", names[shape], depth, toft_status_name(status), message);
    if (!strstr(message, "nest") && !strstr(message, "stack") && !strstr(message, "around it")
        && !strstr(message, "in one another"))
        FAIL("%s, %d deep: %s", names[shape], depth, message);
    return TOO_DEEP;
}

// Every way in which a query is read and run.
static int ask(toft_realm *realm, toft_class_key key, shape shape, int depth, char *text,
    toft_query *prepared) {
    toft_results *all = NULL, *found = NULL;
    uint64_t count = 0;
    size_t size = 0;
    write_query(text, shape, depth);
    if (accepted(toft_realm_objects(realm, key, &all), shape, depth)) FAIL("no objects");
    toft_status status = prepared ? toft_results_filter_prepared(all, prepared, NULL, 0, &found)
                                  : toft_results_filter(all, toft_text(text), NULL, 0, &found);
    int result = accepted(status, shape, depth);
    if (result == 0) {
        result = accepted(toft_results_count(found, &count), shape, depth);
        if (result == 0 && shape == PARENTHESES && count != 1)
            FAIL("%d deep: a wrong count", depth);
        if (accepted(toft_results_explain(found, text, TEXT, &size), shape, depth))
            result = TOO_DEEP;
        if (accepted(toft_results_query(found, text, TEXT, &size), shape, depth)) result = TOO_DEEP;
        toft_results_release(found);
    }
    toft_results_release(all);
    return result;
}

// Makes an object with a value, reads it in every way, and compares.
static int store(toft_realm *realm, toft_class_key key, const toft_property_key *keys, shape shape,
    int depth, char *text) {
    static _Thread_local toft_value levels[DEEPEST + 2];
    static _Thread_local int next_id = 1000;
    toft_object *object = NULL, *other = NULL;
    toft_link link;
    size_t size = 0;
    int id = next_id, result;
    next_id += DEEPEST;
    if (shape == VALUES) {
        levels[0] = toft_value_int(1);
        for (int index = 0; index < depth; index++)
            levels[index + 1] = toft_value_list(&levels[index], 1);
        const toft_value values[] = {toft_value_int(id), levels[depth]};
        const toft_property_key both[] = {keys[0], keys[3]};
        result = accepted(toft_realm_create_object(
                              realm, key, TOFT_UPDATE_ERROR, both, values, 2, &object, &link, NULL),
            shape, depth);
    } else {
        write_json(text, shape, depth, id);
        result = accepted(toft_realm_create_from_json(
                              realm, key, TOFT_UPDATE_ERROR, toft_text(text), &object, &link, NULL),
            shape, depth);
    }
    if (result || depth == 0) {
        toft_object_release(object);
        return result;
    }
    result = accepted(toft_object_to_json(object, 100, text, TEXT, &size), shape, depth);
    const toft_value again = toft_value_int(id + DEEPEST - 1);
    if (accepted(toft_realm_create_object(
                     realm, key, TOFT_UPDATE_ERROR, keys, &again, 1, &other, NULL, NULL),
            shape, depth))
        FAIL("no other object");
    if (shape == VALUES) {
        toft_value copied = levels[depth];
        if (accepted(toft_object_set(other, keys[3], &copied), shape, depth)) result = TOO_DEEP;
    }
    toft_results *all = NULL, *sorted = NULL;
    uint64_t count = 0;
    if (accepted(toft_realm_objects(realm, key, &all), shape, depth)) FAIL("no objects");
    if (accepted(toft_results_filter(all,
                     toft_text("m == boss.m OR m.@type == 'list' SORT(m ASC) DISTINCT(m)"), NULL, 0,
                     &sorted),
            shape, depth))
        FAIL("no filter");
    if (accepted(toft_results_count(sorted, &count), shape, depth)) result = TOO_DEEP;
    toft_results_release(sorted);
    toft_results_release(all);
    toft_object_release(other);
    toft_object_release(object);
    return result;
}

typedef struct work {
    shape shape;
    toft_query *prepared[DEEPEST]; // read by a thread with room
    int deepest;                   // that was accepted; of what was prepared too
    int deepest_prepared;
} work;

static void *run(void *context) {
    work *work = context;
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    char name[40];
    snprintf(name, sizeof name, "stacks %p", (void *)&name);
    configuration.in_memory_name = toft_text(name);
    configuration.classes = classes;
    configuration.class_count = 1;
    toft_realm *realm = NULL;
    toft_class_key key = 0;
    toft_property_key keys[6];
    if (toft_realm_open(&configuration, &realm) != TOFT_OK) FAIL("no realm: %s", why());
    if (toft_realm_find_class(realm, toft_text("Thing"), &key) != TOFT_OK) FAIL("no class");
    for (int index = 0; index < 6; index++)
        if (toft_realm_find_property(realm, key, properties[index].name, &keys[index]) != TOFT_OK)
            FAIL("no property");
    char *text = malloc(TEXT);
    if (!text) FAIL("no memory");
    if (toft_realm_begin_write(realm, NULL) != TOFT_OK) FAIL("no transaction");
    toft_object *first = NULL;
    toft_link link;
    toft_list *kids = NULL;
    const toft_value values[] = {toft_value_int(1), toft_value_int(1), toft_value_text("a")};
    if (toft_realm_create_object(
            realm, key, TOFT_UPDATE_ERROR, keys, values, 3, &first, &link, NULL)
        != TOFT_OK)
        FAIL("no object");
    // Its own kid, so that every path continues.
    const toft_value kid = toft_value_link(link);
    if (toft_object_list(first, keys[5], &kids) != TOFT_OK) FAIL("no list");
    if (toft_list_append(kids, &kid, 1) != TOFT_OK) FAIL("no kid");
    toft_list_release(kids);
    toft_object_release(first);
    work->deepest = work->deepest_prepared = -1;
    int before = -1;
    for (int depth = 0; depth < DEEPEST; depth += depth < 12 ? 1 : 7) {
        int result = work->shape < JSON_LISTS ? ask(realm, key, work->shape, depth, text, NULL)
                                              : store(realm, key, keys, work->shape, depth, text);
        if (result == 0) {
            if (work->deepest != before)
                FAIL("%s: %d deep works, %d did not", names[work->shape], depth, before);
            work->deepest = depth;
        }
        before = depth;
        if (work->shape >= JSON_LISTS || !work->prepared[depth]) continue;
        if (ask(realm, key, work->shape, depth, text, work->prepared[depth]) == 0)
            work->deepest_prepared = depth;
    }
    if (toft_realm_commit(realm, NULL, NULL) != TOFT_OK) FAIL("no commit");
    free(text);
    toft_realm_release(realm);
    return NULL;
}

static void in_thread(work *work, size_t stack) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, stack)) FAIL("no stack of %zu bytes", stack);
    if (pthread_create(&thread, &attributes, run, work)) FAIL("no thread");
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

int main(void) {
    static const size_t sizes[] = {
        64 << 10, 72 << 10, 96 << 10, 128 << 10, 192 << 10, 256 << 10, 1 << 20};
    static char text[TEXT];
    for (shape shape = 0; shape < SHAPE_COUNT; shape++) {
        work work = {.shape = shape};
        for (int depth = 0; depth < DEEPEST && shape < JSON_LISTS; depth++) {
            write_query(text, shape, depth);
            toft_query_new(toft_text(text), &work.prepared[depth]);
        }
        printf("%-24s", names[shape]);
        int deepest = -1;
        for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
            in_thread(&work, sizes[index]);
            printf("  %zu KiB: %d", sizes[index] >> 10, work.deepest);
            if (shape < JSON_LISTS) printf("/%d", work.deepest_prepared);
            fflush(stdout);
            // A query without nesting, and a little of it, is for every thread.
            if (work.deepest < 2) FAIL("\n%s: %d deep is too deep", names[shape], work.deepest + 1);
            if (work.deepest < deepest) FAIL("\n%s: less in a larger stack", names[shape]);
            deepest = work.deepest;
        }
        putchar('\n');
        int least = deepest;
        in_thread(&work, 8 << 20);
        if (work.deepest > least)
            FAIL("%s: %d deep is too deep for 1 MiB", names[shape], least + 1);
        for (int depth = 0; depth < DEEPEST; depth++) toft_query_release(work.prepared[depth]);
    }
    return 0;
}
