// The packages of a distribution as objects: load them, ask five questions, update, delete, and
// observe what another process commits.
//
//   packages PACKAGES.tsv DATABASE
//
// bindings/python/examples/packages.py and Tests/PackagesSwift/main.swift are the same program,
// part by part, and print the same. The times are printed to standard error.
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../example.h"

// --- The class. The first properties are the columns of the TSV, in its order; lists have commas
// between their elements.

enum {
    NAME,
    VERSION,
    SECTION,
    PRIORITY,
    MAINTAINER,
    SIZE,
    INSTALLED_SIZE,
    ESSENTIAL,
    DESCRIPTION,
    HOMEPAGE,
    TAGS,
    DEPENDS,
    RECOMMENDS,
    COLUMNS
};
enum { DEPENDENTS = COLUMNS, PROPERTIES };

static const toft_property_schema package_properties[PROPERTIES] = {
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

// The open database, with the keys that everything here uses.
static toft_realm *realm;
static toft_class_key package;
static toft_property_key keys[PROPERTIES];
static toft_results *packages;

static void open_database(const char *path) {
    toft_configuration configuration;
    TOFT_INITIALIZE(&configuration);
    configuration.path = toft_text(path);
    configuration.classes = classes;
    configuration.class_count = 1;
    CHECK(toft_realm_open(&configuration, &realm));
    package = class_key(realm, "Package");
    for (size_t index = 0; index < PROPERTIES; index++)
        keys[index] = property_key(realm, package, package_properties[index].name.data);
    CHECK(toft_realm_objects(realm, package, &packages));
}

static void close_database(void) {
    toft_results_release(packages);
    toft_realm_release(realm);
}

// --- Loading

typedef struct table {
    char *text;
    toft_string (*rows)[COLUMNS];
    size_t count;
} table;

static _Noreturn void fail(const char *path, size_t line, const char *problem) {
    fprintf(stderr, "%s:%zu: %s\n", path, line, problem);
    exit(1);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat facts;
    if (file == NULL || fstat(fileno(file), &facts) != 0) fail(path, 0, "cannot be read");
    char *text = malloc((size_t)facts.st_size + 1);
    if (text == NULL || fread(text, 1, (size_t)facts.st_size, file) != (size_t)facts.st_size)
        fail(path, 0, "cannot be read");
    text[facts.st_size] = '\0';
    fclose(file);
    return text;
}

static bool is_number(toft_string cell) {
    return cell.size > 0 && strspn(cell.data, "0123456789") == cell.size;
}

static table read_table(const char *path) {
    table table = {read_file(path), NULL, 0};
    size_t capacity = 0;
    for (char *line = table.text, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        if (end == NULL) fail(path, table.count + 1, "the line does not end");
        if (table.count == capacity)
            table.rows = realloc(table.rows, (capacity = capacity * 2 + 1024) * sizeof *table.rows);
        if (table.rows == NULL) abort();
        size_t column = 0;
        for (char *cell = line; cell <= end; column++) {
            size_t size = strcspn(cell, "\t\n");
            if (column < COLUMNS) table.rows[table.count][column] = (toft_string){cell, size};
            cell += size + 1;
        }
        table.count++;
        if (column != COLUMNS) fail(path, table.count, "there are not 13 columns");
        const toft_string *row = table.rows[table.count - 1];
        if (!is_number(row[SIZE]) || !is_number(row[INSTALLED_SIZE]))
            fail(path, table.count, "a size is no number");
    }
    return table;
}

// The next element of a list with commas; false at its end.
static bool next_element(toft_string *list, toft_string *element) {
    if (list->size == 0) return false;
    const char *comma = memchr(list->data, ',', list->size);
    *element = (toft_string){list->data, comma ? (size_t)(comma - list->data) : list->size};
    size_t used = element->size + (comma != NULL);
    *list = (toft_string){list->data + used, list->size - used};
    return true;
}

enum { ROOM = 1024 }; // more elements than any list has

static toft_value texts(toft_string list, toft_value room[ROOM]) {
    size_t count = 0;
    for (toft_string element; count < ROOM && next_element(&list, &element);)
        room[count++] = toft_value_string(element);
    return toft_value_list(room, count);
}

static toft_object *find(toft_string name) {
    const toft_value key = toft_value_string(name);
    toft_object *object = NULL;
    CHECK(toft_realm_find_object(realm, package, &key, &object));
    return object;
}

// Links to the packages with these names; counts those that there are and those that there are not.
static toft_value links(toft_string list, toft_value room[ROOM], size_t *linked, size_t *missing) {
    size_t count = 0;
    for (toft_string name; count < ROOM && next_element(&list, &name);) {
        toft_object *target = find(name);
        toft_link link;
        if (target == NULL) {
            ++*missing;
            continue;
        }
        CHECK(toft_object_link(target, &link));
        room[count++] = toft_value_link(link);
        toft_object_release(target);
    }
    *linked += count;
    return toft_value_list(room, count);
}

static void create(toft_string row[COLUMNS]) {
    toft_value tags[ROOM], values[DEPENDS];
    for (size_t column = 0; column < TAGS; column++)
        values[column] = toft_value_string(row[column]);
    values[SIZE] = toft_value_int(strtoll(row[SIZE].data, NULL, 10));
    values[INSTALLED_SIZE] = toft_value_int(strtoll(row[INSTALLED_SIZE].data, NULL, 10));
    values[ESSENTIAL] = toft_value_bool(row[ESSENTIAL].size == 4); // true
    if (row[HOMEPAGE].size == 0) values[HOMEPAGE] = toft_value_null();
    values[TAGS] = texts(row[TAGS], tags);
    CHECK(toft_realm_create_object(
        realm, package, TOFT_UPDATE_ERROR, keys, values, DEPENDS, NULL, NULL, NULL));
}

// First every package, then, when all can be found, the links between them. One transaction.
static void load(const char *path) {
    table table = read_table(path);
    toft_value depends[ROOM], recommends[ROOM];
    size_t linked[2] = {0, 0}, missing[2] = {0, 0};
    CHECK(toft_realm_begin_write(realm, NULL));
    CHECK(toft_realm_delete_all(realm, package));
    for (size_t row = 0; row < table.count; row++) create(table.rows[row]);
    for (size_t row = 0; row < table.count; row++) {
        toft_object *object = find(table.rows[row][NAME]);
        const toft_value values[] = {
            links(table.rows[row][DEPENDS], depends, &linked[0], &missing[0]),
            links(table.rows[row][RECOMMENDS], recommends, &linked[1], &missing[1]),
        };
        CHECK(toft_object_set_values(object, &keys[DEPENDS], values, 2));
        toft_object_release(object);
    }
    CHECK(toft_realm_commit(realm, NULL, NULL));
    printf("%zu packages are loaded, with %zu dependencies and %zu recommendations; %zu and %zu "
           "more name no package.\n",
        table.count, linked[0], linked[1], missing[0], missing[1]);
    free(table.rows);
    free(table.text);
}

// --- Five questions

static toft_results *filter(const char *query) {
    toft_results *results = NULL;
    CHECK(toft_results_filter(packages, toft_text(query), NULL, 0, &results));
    return results;
}

static unsigned long long count(const char *query) {
    toft_results *results = filter(query);
    uint64_t count = 0;
    CHECK(toft_results_count(results, &count));
    toft_results_release(results);
    return count;
}

// Aggregates of a property of all.
static void answer_how_large(void) {
    toft_value sum, average, maximum;
    CHECK(toft_results_sum(packages, keys[INSTALLED_SIZE], &sum));
    CHECK(toft_results_average(packages, keys[INSTALLED_SIZE], &average));
    CHECK(toft_results_maximum(packages, keys[INSTALLED_SIZE], &maximum));
    printf("1. Installed, all of it takes %lld KiB, on average %.1f KiB; the largest package takes "
           "%lld KiB.\n",
        (long long)sum.integer, average.float64, (long long)maximum.integer);
}

// An indexed property, a sort, a limit; two columns read at once.
static void answer_largest_libraries(void) {
    toft_results *results = filter("section == 'libs' SORT(installedSize DESC) LIMIT(5)");
    toft_string names[5];
    int64_t sizes[5];
    const toft_column columns[] = {
        {sizeof(toft_column), keys[NAME], sizeof names[0], names, NULL},
        {sizeof(toft_column), keys[INSTALLED_SIZE], sizeof sizes[0], sizes, NULL},
    };
    size_t rows = 0;
    CHECK(toft_results_columns(results, 0, columns, 2, 5, &rows));
    printf("2. The largest libraries:");
    for (size_t row = 0; row < rows; row++) {
        printf("%s %.*s (%lld KiB)", row ? "," : "", (int)names[row].size, names[row].data,
            (long long)sizes[row]);
    }
    printf(".\n");
    toft_results_release(results);
}

// Links, backwards; and two links forwards.
static void answer_who_needs_libc(void) {
    toft_object *libc = find(toft_text("libc6"));
    toft_results *dependents = NULL;
    uint64_t direct = 0;
    if (libc != NULL) {
        CHECK(toft_object_linking_objects(libc, keys[DEPENDENTS], &dependents));
        CHECK(toft_results_count(dependents, &direct));
    }
    printf("3. libc6 is needed by %llu packages directly, and by %llu at second hand.\n",
        (unsigned long long)direct, count("ANY depends.depends.name == 'libc6'"));
    toft_results_release(dependents);
    toft_object_release(libc);
}

// Links and their number in a query.
static void answer_who_needs_python(void) {
    printf("4. %llu packages outside section python depend on a package of Python 3; %llu depend "
           "on nothing and recommend nothing.\n",
        count("section != 'python' AND ANY depends.name BEGINSWITH 'python3'"),
        count("depends.@count == 0 AND recommends.@count == 0"));
}

// Lists of values.
static void answer_languages(void) {
    static const char *const languages[] = {"c", "c++", "python", "perl"};
    printf("5. Their tags say that they are implemented in");
    for (size_t index = 0; index < 4; index++) {
        char query[64];
        snprintf(query, sizeof query, "ANY tags == 'implemented-in::%s'", languages[index]);
        printf("%s %s: %llu", index ? "," : "", languages[index], count(query));
    }
    printf("; %llu have more than three tags.\n", count("tags.@count > 3"));
}

static void answer(void) {
    answer_how_large();
    answer_largest_libraries();
    answer_who_needs_libc();
    answer_who_needs_python();
    answer_languages();
}

// --- Updating and deleting

static void update(void) {
    toft_results *games = filter("section == 'games'");
    const toft_value extra = toft_value_text("extra");
    uint64_t count_of_games = 0;
    CHECK(toft_realm_begin_write(realm, NULL));
    CHECK(toft_results_count(games, &count_of_games));
    for (uint64_t index = 0; index < count_of_games; index++) {
        toft_object *game = NULL;
        CHECK(toft_results_object(games, index, &game));
        CHECK(toft_object_set(game, keys[PRIORITY], &extra));
        toft_object_release(game);
    }
    CHECK(toft_realm_commit(realm, NULL, NULL));
    toft_results_release(games);
    printf("Updated: %llu games are extra; so are %llu packages in all.\n",
        (unsigned long long)count_of_games, count("priority == 'extra'"));
}

static void delete_documents(void) {
    unsigned long long documents = count("section == 'doc'"), before = count("depends.@count == 0");
    toft_results *results = filter("section == 'doc'");
    CHECK(toft_realm_begin_write(realm, NULL));
    CHECK(toft_results_delete_all(results));
    CHECK(toft_realm_commit(realm, NULL, NULL));
    toft_results_release(results);
    printf(
        "Deleted: %llu documents, %llu packages are left; %llu depended on nothing, now %llu do.\n",
        documents, count("TRUEPREDICATE"), before, count("depends.@count == 0"));
}

// --- Observing another process

enum { COMMITS = 3 };

static void put(const char *name, const char *version) {
    const toft_value values[] = {
        toft_value_text(name), toft_value_text(version), toft_value_text("example")};
    CHECK(toft_realm_create_object(
        realm, package, TOFT_UPDATE_MODIFIED, keys, values, 3, NULL, NULL, NULL));
}

static void make_commit(int number) {
    CHECK(toft_realm_begin_write(realm, NULL));
    if (number == 1) {
        put("example-apple", "1.0");
        put("example-banana", "1.0");
        put("example-date", "1.0");
    } else if (number == 2) {
        put("example-cherry", "1.0");
        put("example-banana", "1.1");
    } else {
        toft_object *apple = find(toft_text("example-apple"));
        CHECK(toft_object_delete(apple));
        toft_object_release(apple);
        put("example-date", "2.0");
    }
    CHECK(toft_realm_commit(realm, NULL, NULL));
}

// The other process: a commit for each byte on its standard input.
static void write_on_order(const char *path) {
    char order;
    open_database(path);
    for (int number = 1; read(STDIN_FILENO, &order, 1) == 1; number++) make_commit(number);
    close_database();
}

// A copy of the names, changed by the callbacks and never read again as a whole.
typedef struct follower {
    toft_results *results;
    char names[32][64];
    size_t count;
    int calls;
} follower;

static void read_name(toft_results *results, uint64_t index, char name[64]) {
    toft_string text;
    const toft_column column = {sizeof column, keys[NAME], sizeof text, &text, NULL};
    size_t rows = 0;
    CHECK(toft_results_columns(results, index, &column, 1, 1, &rows));
    snprintf(name, 64, "%.*s", (int)text.size, text.data);
}

static void print_indices(const char *what, const uint64_t *indices, size_t count) {
    for (size_t index = 0; index < count; index++)
        printf("%s %llu", index ? "," : what, (unsigned long long)indices[index]);
}

static void packages_changed(void *user_data, const toft_changes *changes) {
    follower *copy = user_data;
    copy->calls++;
    if (changes->kind == TOFT_CHANGE_INITIAL) return;
    for (size_t index = changes->deletion_count; index-- > 0;) {
        size_t at = (size_t)changes->deletions[index];
        memmove(copy->names[at], copy->names[at + 1], (--copy->count - at) * sizeof copy->names[0]);
    }
    for (size_t index = 0; index < changes->insertion_count; index++) {
        size_t at = (size_t)changes->insertions[index];
        memmove(copy->names[at + 1], copy->names[at], (copy->count++ - at) * sizeof copy->names[0]);
        read_name(copy->results, at, copy->names[at]);
    }
    printf("   version %llu", (unsigned long long)changes->version);
    print_indices("; deleted", changes->deletions, changes->deletion_count);
    print_indices("; inserted", changes->insertions, changes->insertion_count);
    print_indices("; modified", changes->modifications, changes->modification_count);
    printf(" -> now");
    for (size_t index = 0; index < copy->count; index++) printf(" %s", copy->names[index]);
    printf("\n");
}

static bool is_right(const follower *copy) {
    uint64_t count = 0;
    CHECK(toft_results_count(copy->results, &count));
    bool right = count == copy->count;
    for (uint64_t index = 0; right && index < count; index++) {
        char name[64];
        read_name(copy->results, index, name);
        right = strcmp(name, copy->names[index]) == 0;
    }
    return right;
}

// This program again, to write; `orders` is its standard input.
static pid_t start_writer(const char *program, const char *path, int *orders) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", program, "--write", path, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    *orders = ends[1];
    return process;
}

// Dispatches until the observer has been called so often; false when nothing comes for half a
// minute.
static bool wait_for_calls(const follower *copy, int descriptor, int calls) {
    while (copy->calls < calls) {
        struct pollfd wait = {.fd = descriptor, .events = POLLIN, .revents = 0};
        if (poll(&wait, 1, 30000) != 1) return false;
        CHECK(toft_realm_dispatch(realm, NULL));
    }
    return true;
}

static bool observe(const char *program, const char *path) {
    follower copy = {
        .results = filter("section == 'example' SORT(name ASC)"), .count = 0, .calls = 0};
    int descriptor = -1, orders = -1, status = 0;
    toft_token *token = NULL;
    CHECK(toft_results_observe(copy.results, NULL, packages_changed, &copy, NULL, &token));
    CHECK(toft_realm_descriptor(realm, &descriptor));
    printf("Section 'example' is observed while another process writes:\n");
    pid_t writer = start_writer(program, path, &orders);
    bool ok = wait_for_calls(&copy, descriptor, 1); // the initial call
    for (int number = 1; ok && number <= COMMITS; number++) {
        ok = write(orders, "n", 1) == 1 && wait_for_calls(&copy, descriptor, 1 + number);
    }
    close(orders);
    ok = waitpid(writer, &status, 0) == writer && status == 0 && ok && is_right(&copy);
    printf("   %s\n",
        ok ? "The copy that followed the indices equals the results." : "Something went wrong.");
    toft_token_release(token);
    toft_results_release(copy.results);
    return ok;
}

// --- The program

static void print_time(const char *what) {
    static double last;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    double now = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    if (what != NULL) fprintf(stderr, "%s: %.3f s\n", what, now - last);
    last = now;
}

static bool is_sound(void) {
    toft_check_report report;
    TOFT_INITIALIZE(&report);
    size_t size = 0;
    CHECK(toft_realm_check(realm, &report, NULL, 0, &size));
    return report.problem_count == 0;
}

static bool run(const char *program, const char *source, const char *database) {
    open_database(database);
    print_time(NULL);
    load(source);
    print_time("loading");
    answer();
    print_time("answers");
    update();
    delete_documents();
    print_time("changes");
    bool ok = observe(program, database);
    ok = is_sound() && ok;
    close_database();
    return ok;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        write_on_order(argv[2]);
        return 0;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: %s PACKAGES.tsv DATABASE\n", argv[0]);
        return 2;
    }
    return run(argv[0], argv[1], argv[2]) ? 0 : 1;
}
