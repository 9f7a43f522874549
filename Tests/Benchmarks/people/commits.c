/* Small durable commits: W2 in files of three sizes, during checkpoints, from four threads, and
   for a day. */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>

enum { BLOCK = 50, MANY = 1000, THREADS = 4, DAY = 10 };

/* ----------------------------------------------------------------------- One thread, one by one */

/* How long each commit took. Engines and disk commit a block in turn, so that what else the
   machine does meets all. */
typedef struct latencies {
    double *seconds[COLUMN_COUNT];
    size_t count;
    disk disk;
} latencies;

static latencies latencies_make(const bench *bench, size_t blocks) {
    latencies made = {.count = 0, .disk = disk_open(file_of(bench, TOFT, "disk"))};
    for (int column = 0; column < COLUMN_COUNT; column++)
        made.seconds[column] = obtain(blocks * BLOCK * sizeof(double));
    return made;
}

static void time_commits(
    latencies *latencies, int index, database *database, const person *people) {
    for (size_t commit = 0; commit < BLOCK; commit++) {
        double start = now();
        if (index == DISK)
            disk_write(&latencies->disk);
        else
            engines[index]->insert(database, &people[commit], 1);
        latencies->seconds[index][latencies->count + commit] = now() - start;
    }
}

/* Changes people all over the file, which leaves much for the next checkpoint to write. */
static void change_many(const bench *bench, int index, database *database, const int64_t *ids) {
    int64_t ages[MANY];
    size_t count = bench->objects < MANY ? bench->objects : MANY;
    for (size_t item = 0; item < count; item++) ages[item] = ids[item] % 100;
    engines[index]->set_ages(database, ids, ages, count);
}

/* One block of each. `changed` are the ids of people that each engine changes first, not timed;
   NULL: no changes. */
static void take_turns(latencies *latencies, bench *bench, database *const databases[], size_t size,
    const int64_t *changed) {
    person people[BLOCK];
    new_people(bench, people, BLOCK, size);
    for (int index = 0; index < ENGINE_COUNT; index++) {
        if (changed) change_many(bench, index, databases[index], changed);
        time_commits(latencies, index, databases[index], people);
    }
    time_commits(latencies, DISK, NULL, NULL);
    latencies->count += BLOCK;
    bench->next_id += BLOCK;
}

static void latencies_report(latencies *latencies, bench *bench, work median, work tail) {
    for (int column = 0; column < COLUMN_COUNT; column++) {
        figures_add(bench->figures, median, column,
            percentile(latencies->seconds[column], latencies->count, 0.5) * 1e6);
        figures_add(bench->figures, tail, column,
            percentile(latencies->seconds[column], latencies->count, 0.99) * 1e6);
        free(latencies->seconds[column]);
    }
    disk_close(&latencies->disk);
}

static void commit_into(
    bench *bench, database *const databases[], size_t size, work median, work tail) {
    size_t blocks = (bench->commits + BLOCK - 1) / BLOCK;
    latencies latencies = latencies_make(bench, blocks);
    for (size_t block = 0; block < blocks; block++)
        take_turns(&latencies, bench, databases, size, NULL);
    latencies_report(&latencies, bench, median, tail);
}

static void commit_into_new_file(bench *bench, size_t size, work median, work tail) {
    if (size >= bench->objects) return;
    database *databases[ENGINE_COUNT];
    int64_t counts[ENGINE_COUNT];
    for (int index = 0; index < ENGINE_COUNT; index++) {
        const char *path = file_of(bench, index, "part");
        remove_files(path);
        databases[index] = engines[index]->open(path);
        engines[index]->insert(databases[index], bench->people, size);
    }
    commit_into(bench, databases, size, median, tail);
    for (int index = 0; index < ENGINE_COUNT; index++) {
        counts[index] = (int64_t)engines[index]->count(databases[index]);
        engines[index]->close(databases[index]);
        remove_files(file_of(bench, index, "part"));
    }
    agree(bench, "people after small commits", counts);
}

void commit_one_by_one(bench *bench) {
    commit_into_new_file(bench, 10000, W2_SMALL, W2_SMALL_TAIL);
    commit_into_new_file(bench, 100000, W2_MIDDLE, W2_MIDDLE_TAIL);
    commit_into(bench, bench->databases, bench->objects, W2, W2_TAIL);
}

void commit_during_checkpoints(bench *bench) {
    size_t blocks = bench->commits / BLOCK / 2 + 1;
    latencies latencies = latencies_make(bench, blocks);
    size_t count = bench->objects < MANY ? bench->objects : MANY;
    for (size_t block = 0; block < blocks; block++) {
        int64_t *changed = random_ids(count, bench->objects, &bench->seed);
        take_turns(&latencies, bench, bench->databases, bench->objects, changed);
        free(changed);
    }
    latencies_report(&latencies, bench, W2_CHECKPOINT, W2_CHECKPOINT_TAIL);
}

/* --------------------------------------------------------------------------------- Four threads */

typedef struct committer {
    const engine *engine;
    const char *path;
    const person *people;
    size_t count;
    pthread_barrier_t *start;
} committer;

static void *commit_own(void *argument) {
    const committer *self = argument;
    database *database = self->engine->open(self->path);
    if (self->engine->share_commits) self->engine->share_commits(database);
    pthread_barrier_wait(self->start);
    for (size_t index = 0; index < self->count; index++)
        self->engine->insert(database, &self->people[index], 1);
    pthread_barrier_wait(self->start);
    self->engine->close(database);
    return NULL;
}

static double seconds_of_threads(
    const bench *bench, int index, const person *people, size_t count) {
    pthread_t threads[THREADS];
    committer committers[THREADS];
    pthread_barrier_t start;
    const char *path = file_of(bench, index, "whole");
    pthread_barrier_init(&start, NULL, THREADS + 1);
    for (int thread = 0; thread < THREADS; thread++) {
        committers[thread] =
            (committer){engines[index], path, people + (size_t)thread * count, count, &start};
        if (pthread_create(&threads[thread], NULL, commit_own, &committers[thread]))
            fail("no thread");
    }
    pthread_barrier_wait(&start);
    double begun = now();
    pthread_barrier_wait(&start);
    double seconds = now() - begun;
    for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
    pthread_barrier_destroy(&start);
    return seconds;
}

void commit_from_threads(bench *bench) {
    size_t count = (bench->commits + THREADS - 1) / THREADS, total = count * THREADS;
    person *people = obtain(total * sizeof *people);
    new_people(bench, people, total, bench->objects);
    for (int index = 0; index < ENGINE_COUNT; index++)
        figures_add(bench->figures, W2_THREADS, index,
            seconds_of_threads(bench, index, people, count) / (double)total * 1e6);
    bench->next_id += (int64_t)total;
    free(people);
}

/* ---------------------------------------------------------------------------------------- A day */

/* Ten times as many commits as the other trials make, by default ten thousand, one every nine
   seconds: of ten, nine change a person and one adds one. */
static void commit_day(
    bench *bench, int index, const int64_t *changed, const person *added, size_t count) {
    const char *path = file_of(bench, index, "whole");
    figures_add(bench->figures, W13_DAY_BEFORE, index, file_size(path) / 1e6);
    for (size_t commit = 0; commit < count; commit++) {
        int64_t age = changed[commit] % 100;
        if (commit % 10 == 9)
            engines[index]->insert(bench->databases[index], &added[commit / 10], 1);
        else
            engines[index]->set_ages(bench->databases[index], &changed[commit], &age, 1);
    }
    figures_add(bench->figures, W13_DAY, index, file_size(path) / 1e6);
}

void commit_for_a_day(bench *bench) {
    size_t count = bench->commits * DAY, added_count = count / 10;
    int64_t *changed = obtain(count * sizeof *changed);
    for (size_t index = 0; index < count; index++)
        changed[index] = (int64_t)(random_number(&bench->seed) % bench->objects);
    person *added = obtain(added_count * sizeof *added);
    int64_t counts[ENGINE_COUNT];
    new_people(bench, added, added_count, bench->objects);
    for (int index = 0; index < ENGINE_COUNT; index++) {
        commit_day(bench, index, changed, added, count);
        counts[index] = (int64_t)engines[index]->count(bench->databases[index]);
    }
    bench->next_id += (int64_t)added_count;
    agree(bench, "people after a day", counts);
    free(changed);
    free(added);
}
