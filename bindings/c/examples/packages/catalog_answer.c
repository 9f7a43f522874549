#include <string.h>

#include "catalog.h"

static toft_results *filter(catalog *catalog, const char *query) {
    toft_results *results = NULL;
    CHECK(toft_results_filter(catalog->all, toft_text(query), NULL, 0, &results));
    return results;
}

static uint64_t count(catalog *catalog, const char *query) {
    toft_results *results = filter(catalog, query);
    uint64_t count = 0;
    CHECK(toft_results_count(results, &count));
    toft_results_release(results);
    return count;
}

// 1. Scalars of all objects: aggregates.
static void answer_how_large(catalog *catalog) {
    toft_value sum, average, maximum;
    CHECK(toft_results_sum(catalog->all, catalog->installed_size, &sum));
    CHECK(toft_results_average(catalog->all, catalog->installed_size, &average));
    CHECK(toft_results_maximum(catalog->all, catalog->installed_size, &maximum));
    if (average.type == TOFT_TYPE_NULL) return;
    printf("1. Installed, all of it takes %s KiB, on average %.1f KiB; the largest package takes %s KiB.\n", grouped(sum.integer),
           average.float64, grouped(maximum.integer));
}

// 2. Scalars of some: an indexed property, a sort, a limit, and two columns read at once.
static void answer_largest_libraries(catalog *catalog) {
    toft_results *results = filter(catalog, "section == 'libs' SORT(installedSize DESC) LIMIT(5)");
    toft_string names[5];
    int64_t sizes[5];
    toft_column columns[2];
    TOFT_INITIALIZE(&columns[0]);
    columns[0].property_key = catalog->name;
    columns[0].element_size = sizeof names[0];
    columns[0].values = names;
    TOFT_INITIALIZE(&columns[1]);
    columns[1].property_key = catalog->installed_size;
    columns[1].element_size = sizeof sizes[0];
    columns[1].values = sizes;
    size_t rows = 0;
    CHECK(toft_results_columns(results, 0, columns, 2, 5, &rows));
    printf("2. The largest libraries:");
    for (size_t row = 0; row < rows; row++) {
        printf("%s %.*s (%s KiB)", row ? "," : "", (int)names[row].size, names[row].data, grouped(sizes[row]));
    }
    printf(".\n");
    toft_results_release(results);
}

// Walks the inverse links from one object: who depends on it, who depends on those...
static void count_dependents(catalog *catalog, toft_link start, uint64_t *out_direct, uint64_t *out_total) {
    uint64_t all = 0;
    CHECK(toft_results_count(catalog->all, &all));
    int64_t *queue = malloc((all + 1) * sizeof *queue), last = start.object_key;
    if (queue == NULL) abort();
    toft_value greatest = toft_null();
    CHECK(toft_results_get(catalog->all, all - 1, &greatest)); // in the order of keys
    if (greatest.link.object_key > last) last = greatest.link.object_key;
    char *seen = calloc((size_t)last + 1, 1);
    if (seen == NULL) abort();
    uint64_t done = 0, found = 0;
    queue[found++] = start.object_key;
    seen[start.object_key] = 1;
    while (done < found) {
        const toft_link link = {queue[done++], start.class_key};
        toft_object *object = NULL;
        toft_results *dependents = NULL;
        CHECK(toft_object_follow(catalog->realm, link, &object));
        CHECK(toft_object_linking_objects(object, catalog->dependents, &dependents));
        int64_t keys[64];
        toft_column column;
        TOFT_INITIALIZE(&column);
        column.element_size = sizeof keys[0];
        column.values = keys;
        size_t rows = 0;
        for (uint64_t first = 0;; first += rows) {
            CHECK(toft_results_columns(dependents, first, &column, 1, 64, &rows));
            if (rows == 0) break;
            for (size_t row = 0; row < rows; row++) {
                if (seen[keys[row]]) continue;
                seen[keys[row]] = 1;
                queue[found++] = keys[row];
            }
        }
        if (done == 1) *out_direct = found - 1;
        toft_results_release(dependents);
        toft_object_release(object);
    }
    *out_total = found - 1;
    free(seen);
    free(queue);
}

// 3. Links, backwards.
static void answer_who_needs(catalog *catalog, const char *name) {
    const toft_value key = toft_text_value(name);
    toft_object *object = NULL;
    CHECK(toft_object_find(catalog->realm, catalog->package, &key, &object));
    if (object == NULL) {
        printf("3. %s is not among the packages.\n", name);
        return;
    }
    toft_link link;
    CHECK(toft_object_link(object, &link));
    toft_object_release(object);
    uint64_t direct = 0, total = 0;
    count_dependents(catalog, link, &direct, &total);
    printf("3. %s is needed by %s packages directly, and by %s in the end.\n", name, grouped((int64_t)direct), grouped((int64_t)total));
}

// 4. Links, forwards: in a query.
static void answer_python_programs(catalog *catalog) {
    uint64_t programs = count(catalog, "section != 'python' AND ANY depends.name BEGINSWITH 'python3'");
    uint64_t independent = count(catalog, "depends.@count == 0 AND recommends.@count == 0");
    printf("4. %s packages outside section python depend on a package of Python 3; %s depend on nothing and recommend nothing.\n",
           grouped((int64_t)programs), grouped((int64_t)independent));
}

// 5. Lists of values.
static void answer_languages(catalog *catalog) {
    static const char *const languages[] = {"c", "c++", "python", "perl"};
    printf("5. Their tags say that they are implemented in");
    for (size_t index = 0; index < 4; index++) {
        char query[64];
        snprintf(query, sizeof query, "ANY tags == 'implemented-in::%s'", languages[index]);
        printf("%s %s: %s", index ? "," : "", languages[index], grouped((int64_t)count(catalog, query)));
    }
    printf("; %s have more than three tags.\n", grouped((int64_t)count(catalog, "tags.@count > 3")));
}

void catalog_answer(catalog *catalog) {
    answer_how_large(catalog);
    answer_largest_libraries(catalog);
    answer_who_needs(catalog, "libc6");
    answer_python_programs(catalog);
    answer_languages(catalog);
}
