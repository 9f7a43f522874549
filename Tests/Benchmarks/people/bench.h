/* One run: the people, the files, and what all trials share. A trial gives each engine the same
   work in turn and compares the answers. */
#ifndef BENCH_H
#define BENCH_H

#include "engine.h"
#include "figures.h"
#include "measure.h"

typedef struct bench {
    size_t objects;        /* people loaded */
    size_t commits;        /* small commits of a trial */
    const char *directory; /* the folder of the files */
    const char *programs;  /* the folder of this program and those that it starts */
    const char *swift;     /* the program that iterates through the Swift API; NULL: left out */
    person *people;        /* in the order in which they are inserted */
    int64_t next_id;       /* of people that are inserted later */
    uint64_t seed;
    figures *figures;
    database *databases[ENGINE_COUNT]; /* those with all people, open on this thread */
    size_t disagreements;
} bench;

extern const engine *const engines[ENGINE_COUNT];

/* The path of an engine's file; gives one of a few buffers in turn. */
const char *file_of(const bench *, int engine, const char *name);

/* Every engine must have given the same answer. */
void agree(bench *, const char *question, const int64_t answers[ENGINE_COUNT]);
/* agree for answers about people with bosses. */
void agree_with_bosses(bench *, const char *question, const int64_t answers[ENGINE_COUNT]);

/* `count` people that are in no file yet, whose bosses are among the first `size`; each call
   gives the same until next_id moves. */
void new_people(const bench *, person *people, size_t count, size_t size);

/* Trials, in the order of a round. */
void insert_in_batches(bench *); /* leaves a closed file "batches" with all people */
void insert_at_once(bench *);    /* leaves the databases open */
void read_all_ways(bench *);
void commit_one_by_one(bench *);
void commit_during_checkpoints(bench *);
void commit_from_threads(bench *);
void commit_for_a_day(bench *);
void update_and_erase(bench *);
void start_programs(bench *); /* these need the databases closed */
void recover_after_kill(bench *);

/* In the process that is killed: commits until then, counting in a file what has been committed. */
_Noreturn void commit_until_killed(
    const engine *, const char *path, const char *counter, size_t objects);

#endif
