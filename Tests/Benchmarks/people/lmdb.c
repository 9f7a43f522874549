/* LMDB: keys and values. A person is one value behind its id, the emails are a second tree; no
   bosses and no tags, which it does not know. */
#include "engine.h"
#include "measure.h"

#include <lmdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A person's value; name, email and city follow each other in the text. */
typedef struct record {
    int64_t age;
    double score;
    int64_t created;
    uint8_t active, name_size, email_size, city_size;
    char text[84];
} record;

struct database {
    char path[4096];
    MDB_env *environment;
    MDB_dbi people, emails;
    unsigned users;
    database *next;
};

/* A process may open a file once, so threads share it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static database *open_databases;

static void try(int code) {
    if (code) fail("LMDB: %s", mdb_strerror(code));
}

static MDB_txn *begin(database *database, unsigned flags) {
    MDB_txn *transaction;
    try(mdb_txn_begin(database->environment, NULL, flags, &transaction));
    return transaction;
}

static database *open_environment(const char *path) {
    database *opened = obtain(sizeof *opened);
    strncpy(opened->path, path, sizeof opened->path - 1);
    try(mdb_env_create(&opened->environment));
    try(mdb_env_set_maxdbs(opened->environment, 2));
    try(mdb_env_set_mapsize(opened->environment, (size_t)8 << 30));
    try(mdb_env_open(opened->environment, path, MDB_NOSUBDIR, 0600));
    MDB_txn *transaction = begin(opened, 0);
    try(mdb_dbi_open(transaction, "people", MDB_CREATE | MDB_INTEGERKEY, &opened->people));
    try(mdb_dbi_open(transaction, "emails", MDB_CREATE, &opened->emails));
    try(mdb_txn_commit(transaction));
    return opened;
}

static database *open_lmdb(const char *path) {
    pthread_mutex_lock(&mutex);
    database *found = open_databases;
    while (found && strcmp(found->path, path)) found = found->next;
    if (!found) {
        found = open_environment(path);
        found->next = open_databases;
        open_databases = found;
    }
    found->users++;
    pthread_mutex_unlock(&mutex);
    return found;
}

static void close_lmdb(database *closing) {
    pthread_mutex_lock(&mutex);
    if (--closing->users == 0) {
        database **place = &open_databases;
        while (*place != closing) place = &(*place)->next;
        *place = closing->next;
        mdb_env_close(closing->environment);
        free(closing);
    }
    pthread_mutex_unlock(&mutex);
}

static MDB_val key_of(int64_t *id) {
    return (MDB_val){sizeof *id, id};
}

static size_t encode(const person *person, record *record) {
    size_t name = strlen(person->name), email = strlen(person->email), city = strlen(person->city);
    record->age = person->age;
    record->score = person->score;
    record->created = person->created;
    record->active = person->active;
    record->name_size = (uint8_t)name;
    record->email_size = (uint8_t)email;
    record->city_size = (uint8_t)city;
    memcpy(record->text, person->name, name);
    memcpy(record->text + name, person->email, email);
    memcpy(record->text + name + email, person->city, city);
    return offsetof(struct record, text) + name + email + city;
}

static void insert(database *database, const person *people, size_t count) {
    MDB_txn *transaction = begin(database, 0);
    for (size_t index = 0; index < count; index++) {
        int64_t id = people[index].id;
        record record;
        MDB_val key = key_of(&id), value = {encode(&people[index], &record), &record};
        try(mdb_put(transaction, database->people, &key, &value, MDB_NOOVERWRITE));
        MDB_val email = {strlen(people[index].email), (void *)people[index].email},
                owner = {sizeof id, &id};
        try(mdb_put(transaction, database->emails, &email, &owner, MDB_NOOVERWRITE));
    }
    try(mdb_txn_commit(transaction));
}

static void set_ages(database *database, const int64_t *ids, const int64_t *ages, size_t count) {
    MDB_txn *transaction = begin(database, 0);
    for (size_t index = 0; index < count; index++) {
        int64_t id = ids[index];
        MDB_val key = key_of(&id), value;
        record changed;
        try(mdb_get(transaction, database->people, &key, &value));
        memcpy(&changed, value.mv_data, value.mv_size);
        changed.age = ages[index];
        value.mv_data = &changed;
        try(mdb_put(transaction, database->people, &key, &value, 0));
    }
    try(mdb_txn_commit(transaction));
}

static void erase(database *database, const int64_t *ids, size_t count) {
    MDB_txn *transaction = begin(database, 0);
    for (size_t index = 0; index < count; index++) {
        int64_t id = ids[index];
        MDB_val key = key_of(&id), value;
        try(mdb_get(transaction, database->people, &key, &value));
        record record;
        memcpy(&record, value.mv_data, value.mv_size);
        MDB_val email = {record.email_size, record.text + record.name_size};
        try(mdb_del(transaction, database->emails, &email, NULL));
        try(mdb_del(transaction, database->people, &key, NULL));
    }
    try(mdb_txn_commit(transaction));
}

static int64_t look_up(database *database, const int64_t *ids, size_t count) {
    MDB_txn *transaction = begin(database, MDB_RDONLY);
    int64_t sum = 0;
    for (size_t index = 0; index < count; index++) {
        int64_t id = ids[index];
        MDB_val key = key_of(&id), value;
        try(mdb_get(transaction, database->people, &key, &value));
        const record *record = value.mv_data;
        sum += record->age + record->name_size;
    }
    mdb_txn_abort(transaction);
    return sum;
}

/* Calls back with every record. */
static void each_record(
    database *database, void (*body)(void *context, const record *), void *context) {
    MDB_txn *transaction = begin(database, MDB_RDONLY);
    MDB_cursor *cursor;
    MDB_val key, value;
    try(mdb_cursor_open(transaction, database->people, &cursor));
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) body(context, value.mv_data);
    mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
}

typedef struct age_count {
    int64_t age;
    uint64_t count;
} age_count;

static void count_if_of_age(void *context, const record *record) {
    age_count *wanted = context;
    wanted->count += record->age == wanted->age;
}

static uint64_t count_of_age(database *database, int64_t age) {
    age_count wanted = {age, 0};
    each_record(database, count_if_of_age, &wanted);
    return wanted.count;
}

static void add(void *context, const record *record) {
    totals *totals = context;
    totals->ages += record->age;
    totals->scores += record->score;
    totals->active += record->active;
}

static totals iterate(database *database) {
    totals totals = {0, 0, 0};
    each_record(database, add, &totals);
    return totals;
}

static uint64_t count(database *database) {
    MDB_txn *transaction = begin(database, MDB_RDONLY);
    MDB_stat facts;
    try(mdb_stat(transaction, database->people, &facts));
    mdb_txn_abort(transaction);
    return facts.ms_entries;
}

static void compact(database *database, const char *path) {
    MDB_env *copy = database->environment;
    try(mdb_env_copy2(copy, path, MDB_CP_COMPACT));
}

const engine lmdb_engine = {"LMDB", "lmdb", open_lmdb, close_lmdb, NULL, insert, set_ages, NULL,
    erase, look_up, count_of_age, NULL, iterate, NULL, count, NULL, compact};
