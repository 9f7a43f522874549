/* The operations of a database here, and the three engines that have them. Each way is the one that
   its
   engine's manual recommends to an app. */
#ifndef ENGINE_H
#define ENGINE_H

#include "person.h"

/* One thread's open database; each engine has its own. */
typedef struct database database;

/* The results of a pass over all objects. */
typedef struct totals {
    int64_t ages;
    double scores;
    uint64_t active;
} totals;

/* People in the lists that are asked for: those with the ids 0, 3, 6... */
enum { LISTED = 10000 };

/* The questions about all people; each answer is a number. */
typedef enum question {
    WELL_SCORED_AND_ACTIVE,
    SUM_OF_AGES,
    AVERAGE_SCORE,
    GREATEST_SCORE,
    NAME_CONTAINS,
    NAME_BEGINS,
    CITY_IS,
    EMAIL_IS,         /* the query is prepared once; finds the person with an id */
    EMAIL_IS_IN_TEXT, /* its text is given each time */
    NAME_IS_ONE,      /* how many have one of the names of LISTED people */
    EMAIL_IS_ONE,     /* the same of emails, which are indexed */
    FIRST_BY_NAME,    /* sorts all, reads 100 and adds up their ids */
    LIMIT_BY_NAME,    /* asks for no more than 100 */
    FIRST_BY_CITY,    /* the same of those over 50, by city and falling score */
    LIMIT_BY_CITY,
    AGES_OF_BOSSES, /* asked in one call */
    AGES_FOLLOWED,  /* the program reads each link and asks for what it leads to */
    BOSS_IS_OLD,
    REPORTS_OF, /* how many people have the person with an id as their boss */
    QUESTION_COUNT
} question;

/* How programs change a person whom they have found by primary key: W10b. */
typedef enum change {
    AGE_RAISED,   /* the age is read, and set to one more */
    AGE_ADDED_TO, /* one is added without reading it */
    TAG_APPENDED,
    UPSERTED, /* given again with all values and another age */
    BOSS_SET,
    EMAIL_SET, /* which is indexed */
    CHANGE_COUNT
} change;

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
    /* Changes people; the bosses are those of `others`. NULL: cannot. */
    void (*change)(database *, change, const int64_t *ids, const int64_t *others, size_t count);
    void (*erase)(database *, const int64_t *ids, size_t count); /* links to them become null */

    /* The sum of the ages and of the names' lengths of some, each found by its primary key. */
    int64_t (*look_up)(database *, const int64_t *ids, size_t count);
    /* How many are of an age, which is not indexed. */
    uint64_t (*count_of_age)(database *, int64_t age);
    /* Answers a question, about the person with an id if it needs one. NULL: cannot. */
    double (*ask)(database *, question, int64_t id);
    /* Reads age, score and active of all, and the same object by object. NULL: no other way. */
    totals (*iterate)(database *);
    totals (*iterate_objects)(database *);
    uint64_t (*count)(database *);
    uint64_t (*count_with_boss)(database *); /* NULL: has no bosses */

    /* Writes a copy that is as small as it gets. NULL: cannot. */
    void (*compact)(database *, const char *path);
} engine;

extern const engine toft_engine, encrypted_toft_engine, sqlite_engine, lmdb_engine;

#endif
