/* Toft beside SQLite and LMDB: the same people, the same work, in turns.
   Tests/Benchmarks/README.md says how to run it and what it does. */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const engine *const engines[ENGINE_COUNT] = {
    [TOFT] = &toft_engine, [SQLITE] = &sqlite_engine, [LMDB] = &lmdb_engine};

const char *file_of(const bench *bench, int engine, const char *name) {
    enum { BUFFERS = 4 };
    static char buffers[BUFFERS][4200];
    static int next;
    char *path = buffers[next++ % BUFFERS];
    snprintf(path, sizeof buffers[0], "%s/%s.%s", bench->directory, name, engines[engine]->suffix);
    return path;
}

static void agree_on(
    bench *bench, const char *question, const int64_t answers[ENGINE_COUNT], int count) {
    for (int index = 1; index < count; index++) {
        if (answers[index] == answers[0]) continue;
        fprintf(stderr, "%s: %s says %lld, %s says %lld\n", question, engines[0]->name,
            (long long)answers[0], engines[index]->name, (long long)answers[index]);
        bench->disagreements++;
    }
}

void agree(bench *bench, const char *question, const int64_t answers[ENGINE_COUNT]) {
    agree_on(bench, question, answers, ENGINE_COUNT);
}

void agree_with_bosses(bench *bench, const char *question, const int64_t answers[ENGINE_COUNT]) {
    agree_on(bench, question, answers, LMDB);
}

void new_people(const bench *bench, person *people, size_t count, size_t size) {
    uint64_t seed = (uint64_t)bench->next_id;
    for (size_t index = 0; index < count; index++) {
        people[index] = person_make(bench->next_id + (int64_t)index);
        people[index].boss = bench->people[random_number(&seed) % size].id;
    }
}

static void close_databases(bench *bench) {
    for (int index = 0; index < ENGINE_COUNT; index++)
        engines[index]->close(bench->databases[index]);
}

typedef struct trial {
    const char *name;
    void (*run)(bench *);
} trial;

static void run_round(bench *bench) {
    static const trial trials[] = {
        {"insert, 1,000 a transaction", insert_in_batches},
        {"insert, one transaction", insert_at_once},
        {"read", read_all_ways},
        {"commit one by one", commit_one_by_one},
        {"commit during checkpoints", commit_during_checkpoints},
        {"commit from threads", commit_from_threads},
        {"commit for a day", commit_for_a_day},
        {"update and delete", update_and_erase},
        {"close", close_databases},
        {"start", start_programs},
        {"recover after kill", recover_after_kill},
    };
    bench->next_id = (int64_t)bench->objects;
    for (size_t index = 0; index < sizeof trials / sizeof *trials; index++) {
        double start = now();
        fprintf(stderr, "%-30s", trials[index].name);
        trials[index].run(bench);
        fprintf(stderr, "%6.1f s\n", now() - start);
    }
}

static void remove_directory(const bench *bench) {
    static const char *const names[] = {"batches", "whole", "disk", "counter"};
    for (int index = 0; index < ENGINE_COUNT; index++)
        for (size_t name = 0; name < sizeof names / sizeof *names; name++)
            remove_files(file_of(bench, index, names[name]));
    rmdir(bench->directory);
}

/* The folder of this program. */
static char *own_directory(void) {
    static char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) fail("cannot find this program");
    *strrchr(path, '/') = 0;
    return path;
}

static int usage(void) {
    fputs("usage: beside [--objects N] [--rounds N] [--commits N] [--directory FOLDER] [--swift "
          "PROGRAM] [--json FILE]\n",
        stderr);
    return 2;
}

static int run_until_killed(char **arguments) {
    for (int index = 0; index < ENGINE_COUNT; index++)
        if (!strcmp(engines[index]->suffix, arguments[0]))
            commit_until_killed(
                engines[index], arguments[1], arguments[2], (size_t)atoll(arguments[3]));
    return usage();
}

static void write_json(const bench *bench, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) fail("cannot write %s: %s", path, strerror(errno));
    figures_write(bench->figures, file, bench->objects);
    if (fclose(file)) fail("cannot write %s: %s", path, strerror(errno));
}

int main(int count, char **arguments) {
    static const struct option options[] = {{"objects", 1, NULL, 'n'}, {"rounds", 1, NULL, 'r'},
        {"commits", 1, NULL, 'c'}, {"directory", 1, NULL, 'd'}, {"swift", 1, NULL, 's'},
        {"json", 1, NULL, 'j'}, {NULL, 0, NULL, 0}};
    bench bench = {.objects = 1000000, .commits = 1000, .directory = "benchmark-files", .seed = 1};
    const char *json = NULL;
    int option;
    long rounds = 5;
    if (count == 6 && !strcmp(arguments[1], "--until-killed"))
        return run_until_killed(arguments + 2);
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'n':
            bench.objects = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            rounds = strtol(optarg, NULL, 10);
            break;
        case 'c':
            bench.commits = strtoul(optarg, NULL, 10);
            break;
        case 'd':
            bench.directory = optarg;
            break;
        case 's':
            bench.swift = optarg;
            break;
        case 'j':
            json = optarg;
            break;
        default:
            return usage();
        }
    if (optind != count || bench.objects < 100 || bench.commits < 1 || rounds < 1) return usage();
    bench.programs = own_directory();
    bench.people = people_make(bench.objects);
    bench.figures = figures_make();
    if (mkdir(bench.directory, 0700) && errno != EEXIST)
        fail("cannot make %s: %s", bench.directory, strerror(errno));
    for (long round = 1; round <= rounds; round++) {
        fprintf(stderr, "Round %ld of %ld, %zu objects\n", round, rounds, bench.objects);
        run_round(&bench);
    }
    remove_directory(&bench);
    figures_print(bench.figures, stdout);
    if (json) write_json(&bench, json);
    if (bench.disagreements) fail("%zu answers do not agree", bench.disagreements);
    free(bench.people);
    free(bench.figures);
    return 0;
}
