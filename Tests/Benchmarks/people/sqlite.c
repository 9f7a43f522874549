/* SQLite: WAL, synchronous FULL, prepared statements; tags as JSON in their row, which costs it
   less than a child table. */
#include "engine.h"
#include "measure.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BEGIN_WRITE,
    BEGIN_READ,
    COMMIT,
    INSERT,
    SET_AGE,
    ERASE,
    LOOK_UP,
    COUNT_OF_AGE,
    ITERATE,
    COUNT,
    COUNT_WITH_BOSS,
    AGE_OF,
    FIRST_CHANGE,
    FIRST_QUESTION = FIRST_CHANGE + CHANGE_COUNT,
    STATEMENT_COUNT = FIRST_QUESTION + QUESTION_COUNT
};

#define OVER_50 "SELECT id FROM person WHERE age > 50 ORDER BY city, score DESC"

static const char *const texts[STATEMENT_COUNT] = {
    "BEGIN IMMEDIATE",
    "BEGIN",
    "COMMIT",
    "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "UPDATE person SET age = ? WHERE id = ?",
    "DELETE FROM person WHERE id = ?",
    "SELECT age, name FROM person WHERE id = ?",
    "SELECT count(*) FROM person WHERE age = ?",
    "SELECT age, score, active FROM person",
    "SELECT count(*) FROM person",
    "SELECT count(*) FROM person WHERE boss IS NOT NULL",
    "SELECT age FROM person WHERE id = ?",
    [FIRST_CHANGE + AGE_RAISED] = "UPDATE person SET age = ? WHERE id = ?",
    [FIRST_CHANGE + AGE_ADDED_TO] = "UPDATE person SET age = age + ? WHERE id = ?",
    [FIRST_CHANGE + TAG_APPENDED] =
        "UPDATE person SET tags = json_insert(tags, '$[#]', ?) WHERE id = ?",
    [FIRST_CHANGE + UPSERTED] =
        "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "name = excluded.name, email = excluded.email, age = excluded.age, score = excluded.score,"
        " active = excluded.active, created = excluded.created, city = excluded.city",
    [FIRST_CHANGE + BOSS_SET] = "UPDATE person SET boss = ? WHERE id = ?",
    [FIRST_CHANGE + EMAIL_SET] = "UPDATE person SET email = ? WHERE id = ?",
    [FIRST_QUESTION + WELL_SCORED_AND_ACTIVE] =
        "SELECT count(*) FROM person WHERE score > 0.5 AND active",
    [FIRST_QUESTION + SUM_OF_AGES] = "SELECT sum(age) FROM person",
    [FIRST_QUESTION + AVERAGE_SCORE] = "SELECT avg(score) FROM person",
    [FIRST_QUESTION + GREATEST_SCORE] = "SELECT max(score) FROM person",
    [FIRST_QUESTION + NAME_CONTAINS] = "SELECT count(*) FROM person WHERE instr(name, '4242')",
    [FIRST_QUESTION + NAME_BEGINS] = "SELECT count(*) FROM person WHERE name LIKE 'al%'",
    [FIRST_QUESTION + CITY_IS] = "SELECT count(*) FROM person WHERE city = 'Elmfeld'",
    [FIRST_QUESTION + EMAIL_IS] = "SELECT id FROM person WHERE email = ?",
    [FIRST_QUESTION + NAME_IS_ONE] =
        "SELECT count(*) FROM person WHERE name IN (SELECT value FROM json_each(?))",
    [FIRST_QUESTION + EMAIL_IS_ONE] =
        "SELECT count(*) FROM person WHERE email IN (SELECT value FROM json_each(?))",
    [FIRST_QUESTION + FIRST_BY_NAME] = "SELECT id FROM person ORDER BY name",
    [FIRST_QUESTION + LIMIT_BY_NAME] = "SELECT id FROM person ORDER BY name LIMIT 100",
    [FIRST_QUESTION + FIRST_BY_CITY] = OVER_50,
    [FIRST_QUESTION + LIMIT_BY_CITY] = OVER_50 " LIMIT 100",
    [FIRST_QUESTION + AGES_OF_BOSSES] =
        "SELECT sum(boss.age) FROM person JOIN person AS boss ON person.boss = boss.id",
    [FIRST_QUESTION + AGES_FOLLOWED] = "SELECT boss FROM person",
    [FIRST_QUESTION + BOSS_IS_OLD] = "SELECT count(*) FROM person JOIN person AS boss ON "
                                     "person.boss = boss.id WHERE boss.age > 50",
    [FIRST_QUESTION + REPORTS_OF] = "SELECT count(*) FROM person WHERE boss = ?",
};

struct database {
    sqlite3 *connection;
    sqlite3_stmt *statements[STATEMENT_COUNT]; /* prepared when first needed */
};

static void try(database *database, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        fail("SQLite: %s", sqlite3_errmsg(database->connection));
}

static void execute(database *database, const char *sql) {
    try(database, sqlite3_exec(database->connection, sql, NULL, NULL, NULL));
}

static database *open_sqlite(const char *path) {
    database *opened = obtain(sizeof *opened);
    try(opened, sqlite3_open(path, &opened->connection));
    sqlite3_busy_timeout(opened->connection, 60000);
    execute(opened, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = "
                    "-524288; PRAGMA mmap_size = 4294967296;"
                    "PRAGMA foreign_keys = ON;");
    execute(opened, "CREATE TABLE IF NOT EXISTS person (id INTEGER PRIMARY KEY, name TEXT NOT "
                    "NULL, email TEXT NOT NULL UNIQUE,"
                    " age INTEGER NOT NULL, score REAL NOT NULL, active INTEGER NOT NULL, created "
                    "INTEGER NOT NULL, city TEXT NOT NULL,"
                    " boss INTEGER REFERENCES person ON DELETE SET NULL, tags TEXT NOT NULL);"
                    "CREATE INDEX IF NOT EXISTS person_boss ON person (boss);");
    return opened;
}

static void close_sqlite(database *database) {
    for (int index = 0; index < STATEMENT_COUNT; index++)
        sqlite3_finalize(database->statements[index]);
    try(database, sqlite3_close(database->connection));
    free(database);
}

static sqlite3_stmt *statement(database *database, int index) {
    if (!database->statements[index])
        try(database, sqlite3_prepare_v3(database->connection, texts[index], -1,
                          SQLITE_PREPARE_PERSISTENT, &database->statements[index], NULL));
    return database->statements[index];
}

/* Runs a statement to its first row, or to its end. */
static sqlite3_stmt *step(database *database, sqlite3_stmt *statement) {
    try(database, sqlite3_step(statement));
    return statement;
}

static void run(database *database, int index) {
    sqlite3_reset(step(database, statement(database, index)));
}

static void bind_person(
    sqlite3_stmt *statement, const person *person, char *tags, size_t capacity) {
    int tags_size = snprintf(tags, capacity, "[\"%s\",\"%s\",\"%s\"]", person->tags[0],
        person->tags[1], person->tags[2]);
    sqlite3_bind_int64(statement, 1, person->id);
    sqlite3_bind_text(statement, 2, person->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, person->email, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, person->age);
    sqlite3_bind_double(statement, 5, person->score);
    sqlite3_bind_int(statement, 6, person->active);
    sqlite3_bind_int64(statement, 7, person->created);
    sqlite3_bind_text(statement, 8, person->city, -1, SQLITE_STATIC);
    if (person->boss == NOBODY)
        sqlite3_bind_null(statement, 9);
    else
        sqlite3_bind_int64(statement, 9, person->boss);
    sqlite3_bind_text(statement, 10, tags, tags_size, SQLITE_STATIC);
}

static void insert(database *database, const person *people, size_t count) {
    run(database, BEGIN_WRITE);
    sqlite3_stmt *insert = statement(database, INSERT);
    for (size_t index = 0; index < count; index++) {
        char tags[64];
        bind_person(insert, &people[index], tags, sizeof tags);
        sqlite3_reset(step(database, insert));
    }
    run(database, COMMIT);
}

static void set_ages(database *database, const int64_t *ids, const int64_t *ages, size_t count) {
    run(database, BEGIN_WRITE);
    sqlite3_stmt *set = statement(database, SET_AGE);
    for (size_t index = 0; index < count; index++) {
        sqlite3_bind_int64(set, 1, ages[index]);
        sqlite3_bind_int64(set, 2, ids[index]);
        sqlite3_reset(step(database, set));
    }
    run(database, COMMIT);
}

static int64_t age_of(database *database, int64_t id) {
    sqlite3_stmt *age_of = statement(database, AGE_OF);
    sqlite3_bind_int64(age_of, 1, id);
    int64_t age = sqlite3_column_int64(step(database, age_of), 0);
    sqlite3_reset(age_of);
    return age;
}

static void change_one(
    database *database, change change, sqlite3_stmt *changing, int64_t id, int64_t other) {
    char email[32], tags[64];
    person person;
    switch (change) {
    case AGE_RAISED:
        sqlite3_bind_int64(changing, 1, age_of(database, id) + 1);
        break;
    case AGE_ADDED_TO:
        sqlite3_bind_int64(changing, 1, 1);
        break;
    case TAG_APPENDED:
        sqlite3_bind_text(changing, 1, "new", -1, SQLITE_STATIC);
        break;
    case UPSERTED:
        person = person_make(id);
        person.age += 100;
        bind_person(changing, &person, tags, sizeof tags);
        break;
    case BOSS_SET:
        sqlite3_bind_int64(changing, 1, other);
        break;
    default:
        person_new_email(email, id);
        sqlite3_bind_text(changing, 1, email, -1, SQLITE_STATIC);
    }
    if (change != UPSERTED) sqlite3_bind_int64(changing, 2, id);
    sqlite3_reset(step(database, changing));
}

static void change_people(
    database *database, change change, const int64_t *ids, const int64_t *others, size_t count) {
    run(database, BEGIN_WRITE);
    sqlite3_stmt *changing = statement(database, FIRST_CHANGE + (int)change);
    for (size_t index = 0; index < count; index++)
        change_one(database, change, changing, ids[index], others[index]);
    run(database, COMMIT);
}

static void erase(database *database, const int64_t *ids, size_t count) {
    run(database, BEGIN_WRITE);
    sqlite3_stmt *erase = statement(database, ERASE);
    for (size_t index = 0; index < count; index++) {
        sqlite3_bind_int64(erase, 1, ids[index]);
        sqlite3_reset(step(database, erase));
    }
    run(database, COMMIT);
}

/* In one read transaction, as in a realm at one version. */
static int64_t look_up(database *database, const int64_t *ids, size_t count) {
    int64_t sum = 0;
    run(database, BEGIN_READ);
    sqlite3_stmt *find = statement(database, LOOK_UP);
    for (size_t index = 0; index < count; index++) {
        sqlite3_bind_int64(find, 1, ids[index]);
        step(database, find);
        const unsigned char *name = sqlite3_column_text(find, 1);
        if (!name) fail("SQLite has no person %lld", (long long)ids[index]);
        sum += sqlite3_column_int64(find, 0) + sqlite3_column_bytes(find, 1);
        sqlite3_reset(find);
    }
    run(database, COMMIT);
    return sum;
}

static uint64_t number(database *database, sqlite3_stmt *statement) {
    uint64_t result = (uint64_t)sqlite3_column_int64(step(database, statement), 0);
    sqlite3_reset(statement);
    return result;
}

static uint64_t count_of_age(database *database, int64_t age) {
    sqlite3_stmt *count = statement(database, COUNT_OF_AGE);
    sqlite3_bind_int64(count, 1, age);
    return number(database, count);
}

static uint64_t count(database *database) {
    return number(database, statement(database, COUNT));
}
static uint64_t count_with_boss(database *database) {
    return number(database, statement(database, COUNT_WITH_BOSS));
}

static double sum_of_first_ids(database *database, sqlite3_stmt *people) {
    double sum = 0;
    for (int row = 0; row < 100 && sqlite3_step(people) == SQLITE_ROW; row++)
        sum += sqlite3_column_double(people, 0);
    try(database, sqlite3_reset(people));
    return sum;
}

static double id_with_email(database *database, sqlite3_stmt *find, int64_t id) {
    char email[32];
    person_email(email, id);
    sqlite3_bind_text(find, 1, email, -1, SQLITE_STATIC);
    double found = sqlite3_column_double(step(database, find), 0);
    sqlite3_reset(find);
    return found;
}

static double id_with_email_in_text(database *database, int64_t id) {
    char email[32], sql[100];
    sqlite3_stmt *find;
    person_email(email, id);
    snprintf(sql, sizeof sql, "SELECT id FROM person WHERE email = '%s'", email);
    try(database, sqlite3_prepare_v2(database->connection, sql, -1, &find, NULL));
    double found = sqlite3_column_double(step(database, find), 0);
    sqlite3_finalize(find);
    return found;
}

/* The texts of listed people as a JSON array, which is how a list is bound. */
static double count_of_listed(database *database, sqlite3_stmt *find, bool by_email) {
    char *texts = obtain(LISTED * 40), *end = texts;
    for (int64_t index = 0; index < LISTED; index++) {
        person listed = person_make(3 * index);
        end += sprintf(end, "%c\"%s\"", index ? ',' : '[', by_email ? listed.email : listed.name);
    }
    sprintf(end, "]");
    sqlite3_bind_text(find, 1, texts, -1, SQLITE_STATIC);
    double found = sqlite3_column_double(step(database, find), 0);
    sqlite3_reset(find);
    free(texts);
    return found;
}

static double ages_followed(database *database, sqlite3_stmt *bosses) {
    int64_t sum = 0;
    while (sqlite3_step(bosses) == SQLITE_ROW) {
        if (sqlite3_column_type(bosses, 0) == SQLITE_NULL) continue;
        sum += age_of(database, sqlite3_column_int64(bosses, 0));
    }
    try(database, sqlite3_reset(bosses));
    return (double)sum;
}

static double ask(database *database, question question, int64_t id) {
    if (question == EMAIL_IS_IN_TEXT) return id_with_email_in_text(database, id);
    sqlite3_stmt *asked = statement(database, FIRST_QUESTION + (int)question);
    switch (question) {
    case AGES_FOLLOWED:
        return ages_followed(database, asked);
    case EMAIL_IS:
        return id_with_email(database, asked, id);
    case NAME_IS_ONE:
    case EMAIL_IS_ONE:
        return count_of_listed(database, asked, question == EMAIL_IS_ONE);
    case FIRST_BY_NAME:
    case LIMIT_BY_NAME:
    case FIRST_BY_CITY:
    case LIMIT_BY_CITY:
        return sum_of_first_ids(database, asked);
    default: {
        if (question == REPORTS_OF) sqlite3_bind_int64(asked, 1, id);
        double answer = sqlite3_column_double(step(database, asked), 0);
        sqlite3_reset(asked);
        return answer;
    }
    }
}

static totals iterate(database *database) {
    totals totals = {0, 0, 0};
    sqlite3_stmt *all = statement(database, ITERATE);
    while (sqlite3_step(all) == SQLITE_ROW) {
        totals.ages += sqlite3_column_int64(all, 0);
        totals.scores += sqlite3_column_double(all, 1);
        totals.active += (uint64_t)sqlite3_column_int(all, 2);
    }
    try(database, sqlite3_reset(all));
    return totals;
}

static void compact(database *database, const char *path) {
    char sql[4200];
    snprintf(sql, sizeof sql, "VACUUM INTO '%s'", path);
    execute(database, sql);
}

const engine sqlite_engine = {"SQLite", "sqlite", open_sqlite, close_sqlite, NULL, insert, set_ages,
    change_people, erase, look_up, count_of_age, ask, iterate, NULL, count, count_with_boss,
    compact};
