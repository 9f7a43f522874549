/* What a database has to do here, and the three that do it. Each way is the one that its
   engine's manual recommends to an app. */
#ifndef ENGINE_H
#define ENGINE_H

#include "person.h"

/* One thread's open database; each engine has its own. */
typedef struct database database;

/* What goes over all objects. */
typedef struct totals {
    int64_t ages;
    double scores;
    uint64_t active;
} totals;

typedef struct engine {
    const char *name;
    const char *suffix; /* of its files */

    /* Opens a file on this thread, made when missing. Open it on each thread that needs it. */
    database *(*open)(const char *path);
    void (*close)(database *);

    /* Lets commits of several threads share their durable writes from now on. NULL: cannot. */
    void (*share_commits)(database *);

    /* Each is one transaction, durable when it returns. */
    void (*insert)(database *, const person *people, size_t count);
    void (*set_ages)(database *, const int64_t *ids, const int64_t *ages, size_t count);
    void (*erase)(database *, const int64_t *ids, size_t count); /* links to them become null */

    /* The sum of the ages and of the names' lengths of some, each found by its primary key. */
    int64_t (*look_up)(database *, const int64_t *ids, size_t count);
    /* How many are of an age, which is not indexed. */
    uint64_t (*count_of_age)(database *, int64_t age);
    /* Reads age, score and active of all. */
    totals (*iterate)(database *);
    uint64_t (*count)(database *);
    uint64_t (*count_with_boss)(database *); /* NULL: has no bosses */

    /* Writes a copy that is as small as it gets. NULL: cannot. */
    void (*compact)(database *, const char *path);
} engine;

extern const engine toft_engine, sqlite_engine, lmdb_engine;

#endif
