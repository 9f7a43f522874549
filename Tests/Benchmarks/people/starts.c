/* From the start of a process to the first property it reads: W14; and the same after a process
   was killed while it committed. */
#include "bench.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { STARTS = 9, KILLS = 3, STEPS_TO_CHANGE = 50, CHANGED = 1000 };

/* ---------------------------------------------------------------------------------------- Start */

typedef struct started {
    double seconds; /* until it said what it read first */
    long long first, count;
} started;

static pid_t spawn(char *const arguments[], int output) {
    posix_spawn_file_actions_t actions;
    pid_t process;
    posix_spawn_file_actions_init(&actions);
    if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (posix_spawn(&process, arguments[0], &actions, NULL, arguments, environ))
        fail("cannot start %s", arguments[0]);
    posix_spawn_file_actions_destroy(&actions);
    return process;
}

/* Starts the program "first-read-NAME", which prints the age of a person and then how many there
   are. */
static started start(const bench *bench, const char *name, const char *path, int64_t id) {
    char program[4200], text[32];
    int ends[2], status;
    started result;
    snprintf(program, sizeof program, "%s/first-read-%s", bench->programs, name);
    snprintf(text, sizeof text, "%lld", (long long)id);
    if (pipe2(ends, O_CLOEXEC)) fail("no pipe");
    double begun = now();
    pid_t process = spawn((char *const[]){program, (char *)path, text, NULL}, ends[1]);
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    if (fscanf(output, "%lld", &result.first) != 1) fail("%s found nothing", program);
    result.seconds = now() - begun;
    if (fscanf(output, "%lld", &result.count) != 1) fail("%s did not count", program);
    fclose(output);
    waitpid(process, &status, 0);
    if (status) fail("%s failed", program);
    return result;
}

static double seconds_of_nothing(const bench *bench) {
    double seconds[STARTS];
    for (int index = 0; index < STARTS; index++)
        seconds[index] = start(bench, "nothing", "", 0).seconds;
    return percentile(seconds, STARTS, 0.5);
}

static int64_t time_starts(bench *bench, int index, work work, double nothing) {
    double seconds[STARTS];
    const char *path = file_of(bench, index, "batches");
    started started = start(bench, engines[index]->suffix, path, 0);
    for (int repeat = 0; repeat < STARTS; repeat++) {
        if (work == W14_COLD) make_cold(path);
        started = start(bench, engines[index]->suffix, path, (int64_t)bench->objects / 2);
        seconds[repeat] = started.seconds - nothing;
    }
    figures_add(bench->figures, work, index, percentile(seconds, STARTS, 0.5) * 1e3);
    return started.first * 1000000007 + started.count;
}

void start_programs(bench *bench) {
    const work works[] = {W14, W14_COLD};
    double nothing = seconds_of_nothing(bench);
    for (int work = 0; work < 2; work++) {
        int64_t answers[ENGINE_COUNT];
        for (int index = 0; index < ENGINE_COUNT; index++)
            answers[index] = time_starts(bench, index, works[work], nothing);
        agree(bench, "first age and count", answers);
    }
}

/* --------------------------------------------------------------------------------------- Killed */

/* The number of people a process has committed, in memory that outlives it. */
static volatile uint64_t *counter_of(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(uint64_t))) fail("cannot make %s", path);
    void *memory = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) fail("cannot map %s", path);
    return memory;
}

/* Mostly small commits; every fiftieth changes people all over the file. So at any moment much
   is committed and little of it is in its place. */
void commit_until_killed(
    const engine *engine, const char *path, const char *counter, size_t objects) {
    volatile uint64_t *committed = counter_of(counter);
    database *database = engine->open(path);
    size_t count = objects < CHANGED ? objects : CHANGED;
    uint64_t seed = *committed;
    int64_t ages[CHANGED] = {0};
    for (uint64_t step = 0;; step++) {
        if (step % STEPS_TO_CHANGE == 0) {
            int64_t *ids = random_ids(count, objects, &seed);
            engine->set_ages(database, ids, ages, count);
            free(ids);
        }
        person person = person_make((int64_t)(objects + *committed));
        engine->insert(database, &person, 1);
        ++*committed;
    }
}

static void kill_while_committing(bench *bench, int index, const char *path, const char *counter) {
    char program[4200], objects[32];
    int status;
    snprintf(program, sizeof program, "%s/beside", bench->programs);
    snprintf(objects, sizeof objects, "%zu", bench->objects);
    pid_t process = spawn((char *const[]){program, "--until-killed", (char *)engines[index]->suffix,
                              (char *)path, (char *)counter, objects, NULL},
        -1);
    usleep((useconds_t)(300000 + random_number(&bench->seed) % 300000));
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    if (!WIFSIGNALED(status)) fail("%s ended before it was killed", program);
}

/* All commits must exist, and at most one more: the commit that had not returned. */
static double seconds_to_recover(bench *bench, int index, double nothing) {
    const char *path = file_of(bench, index, "batches"),
               *counter = file_of(bench, index, "counter");
    kill_while_committing(bench, index, path, counter);
    started started = start(bench, engines[index]->suffix, path, 0);
    volatile uint64_t *committed = counter_of(counter);
    long long extra = started.count - (long long)(bench->objects + *committed);
    if (extra < 0 || extra > 1) {
        fprintf(stderr, "%s: %lld people too many after a kill\n", engines[index]->name, extra);
        bench->disagreements++;
    }
    *committed += (uint64_t)extra;
    munmap((void *)committed, sizeof(uint64_t));
    return started.seconds - nothing;
}

void recover_after_kill(bench *bench) {
    double nothing = seconds_of_nothing(bench), seconds[ENGINE_COUNT][KILLS];
    for (int index = 0; index < ENGINE_COUNT; index++) unlink(file_of(bench, index, "counter"));
    for (int kill = 0; kill < KILLS; kill++)
        for (int index = 0; index < ENGINE_COUNT; index++)
            seconds[index][kill] = seconds_to_recover(bench, index, nothing);
    for (int index = 0; index < ENGINE_COUNT; index++)
        figures_add(bench->figures, RECOVERY, index, percentile(seconds[index], KILLS, 1) * 1e3);
}
