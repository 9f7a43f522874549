/* The packages through SQLite: WAL, synchronous FULL, child tables with foreign keys indexed
   both ways, prepared statements. */
#include "packages.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sqlite3 *database;

static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    exit(1);
}

static void execute(const char *sql) {
    check(sqlite3_exec(database, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(database, sql, -1, &statement, NULL));
    return statement;
}

static void open_database(const char *path) {
    check(sqlite3_open(path, &database));
    execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -524288; "
            "PRAGMA mmap_size = 4294967296;");
    execute("CREATE TABLE IF NOT EXISTS package (id INTEGER PRIMARY KEY, name TEXT NOT NULL "
            "UNIQUE, version TEXT, section TEXT, priority TEXT,"
            " maintainer TEXT, size INTEGER, installedSize INTEGER, essential INTEGER, description "
            "TEXT, homepage TEXT);"
            "CREATE TABLE IF NOT EXISTS tag (package INTEGER NOT NULL, position INTEGER NOT NULL, "
            "text TEXT NOT NULL, PRIMARY KEY (package, position)) WITHOUT ROWID;"
            "CREATE TABLE IF NOT EXISTS depends (package INTEGER NOT NULL, position INTEGER NOT "
            "NULL, target INTEGER NOT NULL, PRIMARY KEY (package, position)) WITHOUT ROWID;"
            "CREATE TABLE IF NOT EXISTS recommends (package INTEGER NOT NULL, position INTEGER NOT "
            "NULL, target INTEGER NOT NULL, PRIMARY KEY (package, position)) WITHOUT ROWID;"
            "CREATE INDEX IF NOT EXISTS depends_target ON depends (target);"
            "CREATE INDEX IF NOT EXISTS recommends_target ON recommends (target);");
}

typedef struct filling {
    sqlite3_stmt *insert;
    sqlite3_stmt *find; /* NULL: the element itself */
    sqlite3_int64 package;
    int position;
} filling;

static void append(void *context, const char *text, size_t size) {
    filling *state = context;
    if (state->find) {
        sqlite3_bind_text(state->find, 1, text, (int)size, SQLITE_STATIC);
        int found = sqlite3_step(state->find) == SQLITE_ROW;
        sqlite3_int64 target = found ? sqlite3_column_int64(state->find, 0) : 0;
        sqlite3_reset(state->find);
        if (!found) return;
        sqlite3_bind_int64(state->insert, 3, target);
    } else {
        sqlite3_bind_text(state->insert, 3, text, (int)size, SQLITE_STATIC);
    }
    sqlite3_bind_int64(state->insert, 1, state->package);
    sqlite3_bind_int(state->insert, 2, state->position++);
    check(sqlite3_step(state->insert));
    sqlite3_reset(state->insert);
}

static void fill(
    sqlite3_stmt *insert, sqlite3_stmt *find, sqlite3_int64 package, const char *elements) {
    filling state = {insert, find, package, 0};
    each_element(elements, append, &state);
}

int run_load(const char *path, const packages *all) {
    double start = now();
    open_database(path);
    execute("BEGIN IMMEDIATE");
    sqlite3_stmt *insert =
        prepare("INSERT INTO package (name, version, section, priority, maintainer, size, "
                "installedSize, essential, description, homepage)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *tag = prepare("INSERT INTO tag VALUES (?, ?, ?)");
    sqlite3_stmt *depends = prepare("INSERT INTO depends VALUES (?, ?, ?)");
    sqlite3_stmt *recommends = prepare("INSERT INTO recommends VALUES (?, ?, ?)");
    sqlite3_stmt *find = prepare("SELECT id FROM package WHERE name = ?");
    sqlite3_int64 *ids = malloc(all->count * sizeof *ids);
    for (size_t index = 0; index < all->count; index++) {
        const char *const *text = all->items[index].fields;
        for (int field = 0; field < 10; field++)
            sqlite3_bind_text(insert, field + 1, text[field], -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, SIZE + 1, atoll(text[SIZE]));
        sqlite3_bind_int64(insert, INSTALLED_SIZE + 1, atoll(text[INSTALLED_SIZE]));
        sqlite3_bind_int(insert, ESSENTIAL + 1, !strcmp(text[ESSENTIAL], "true"));
        check(sqlite3_step(insert));
        sqlite3_reset(insert);
        ids[index] = sqlite3_last_insert_rowid(database);
        fill(tag, NULL, ids[index], text[TAGS]);
    }
    for (size_t index = 0; index < all->count; index++) {
        fill(depends, find, ids[index], all->items[index].fields[DEPENDS]);
        fill(recommends, find, ids[index], all->items[index].fields[RECOMMENDS]);
    }
    execute("COMMIT");
    double seconds = now() - start;
    sqlite3_stmt *all_statements[] = {insert, tag, depends, recommends, find};
    for (size_t index = 0; index < sizeof all_statements / sizeof *all_statements; index++)
        sqlite3_finalize(all_statements[index]);
    sqlite3_close(database);
    struct stat status;
    stat(path, &status);
    printf("{\"load_seconds\": %.3f, \"file_bytes\": %lld, \"peak_kib\": %ld}\n", seconds,
        (long long)status.st_size, peak_memory());
    return 0;
}

int run_commits(const char *path, size_t count) {
    open_database(path);
    sqlite3_stmt *insert = prepare("INSERT INTO package (name, size) VALUES (?, ?) ON CONFLICT "
                                   "(name) DO UPDATE SET size = excluded.size");
    double *seconds = malloc(count * sizeof *seconds);
    for (size_t index = 0; index < count; index++) {
        char name[40];
        snprintf(name, sizeof name, "commit-%d-%zu", (int)getpid(), index);
        double start = now();
        execute("BEGIN IMMEDIATE");
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, (sqlite3_int64)index);
        check(sqlite3_step(insert));
        sqlite3_reset(insert);
        execute("COMMIT");
        seconds[index] = now() - start;
    }
    printf("{");
    print_percentiles("commit", seconds, count);
    printf("}\n");
    return 0;
}
