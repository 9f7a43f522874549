/* Toft with encryption beside Toft without it: W15. Both do the work of the same people in turns.
   Tests/Benchmarks/README.md says how to run it. */
#include "engine.h"
#include "measure.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAIN, ENCRYPTED, KIND_COUNT, SCANS = 5, MOST_LOOK_UPS = 200000, MOST_ROUNDS = 1000 };

static const engine *const kinds[KIND_COUNT] = {
    [PLAIN] = &toft_engine, [ENCRYPTED] = &encrypted_toft_engine};

typedef enum work {
    W1B,
    FIRST,
    W3,
    W4A,
    W4B,
    W4C,
    W4D,
    W4E,
    W8,
    W8_OBJECTS,
    W10_FIRST,
    W10,
    WORK_COUNT
} work;

/* The goal is the encrypted file's figure over the plain one's; 0: no goal. */
static const struct {
    const char *name, *text, *unit;
    double goal;
} descriptions[WORK_COUNT] = {
    [W1B] = {"W1b", "insert, one transaction, per object", "us", 1.25},
    [FIRST] = {"", "count(age == 42) first of all after opening", "ms", 0},
    [W3] = {"W3", "look up by primary key, read age and name", "ns", 1.10},
    [W4A] = {"W4a", "count(age == 42), no index", "ms", 1.10},
    [W4B] = {"W4b", "count(score > 0.5 AND active)", "ms", 1.10},
    [W4C] = {"W4c", "sum(age)", "ms", 1.10},
    [W4D] = {"W4d", "avg(score)", "ms", 1.10},
    [W4E] = {"W4e", "max(score)", "ms", 1.10},
    [W8] = {"W8", "age, score, active of all: columns, per object", "ns", 1.10},
    [W8_OBJECTS] = {"W8", "the same, object by object, per object", "ns", 1.10},
    [W10_FIRST] = {"W10", "update the age of a tenth first of all, per object", "us", 0},
    [W10] = {"W10", "the same after reading, per object", "us", 1.25},
};

typedef struct trial {
    size_t objects;
    const char *directory;
    person *people;
    double figures[WORK_COUNT][KIND_COUNT][MOST_ROUNDS];
    size_t round;
    uint64_t seed;
    database *databases[KIND_COUNT];
    int64_t answers[KIND_COUNT];
} trial;

static void add(trial *trial, work work, int kind, double seconds, double parts) {
    double unit = descriptions[work].unit[0] == 'n'   ? 1e9
                  : descriptions[work].unit[0] == 'u' ? 1e6
                                                      : 1e3;
    trial->figures[work][kind][trial->round] = seconds / parts * unit;
}

static void agree(const trial *trial, work work) {
    if (trial->answers[PLAIN] != trial->answers[ENCRYPTED])
        fail("%s: the answers do not agree", descriptions[work].text);
}

static const char *path_of(const trial *trial, int kind) {
    static char path[4200];
    snprintf(path, sizeof path, "%s/people.%s", trial->directory, kinds[kind]->suffix);
    return path;
}

static void insert(trial *trial) {
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        remove_files(path_of(trial, kind));
        database *database = kinds[kind]->open(path_of(trial, kind));
        double start = now();
        kinds[kind]->insert(database, trial->people, trial->objects);
        add(trial, W1B, kind, now() - start, (double)trial->objects);
        kinds[kind]->close(database);
    }
}

static void open_all(trial *trial) {
    for (int kind = 0; kind < KIND_COUNT; kind++)
        trial->databases[kind] = kinds[kind]->open(path_of(trial, kind));
}

static void close_all(trial *trial) {
    for (int kind = 0; kind < KIND_COUNT; kind++) kinds[kind]->close(trial->databases[kind]);
}

static void update(trial *trial, work work) {
    size_t count = trial->objects / 10;
    int64_t *ids = random_ids(count, trial->objects, &trial->seed);
    int64_t *ages = obtain(count * sizeof *ages);
    for (size_t index = 0; index < count; index++)
        ages[index] = (int64_t)(random_number(&trial->seed) % 100);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        double start = now();
        kinds[kind]->set_ages(trial->databases[kind], ids, ages, count);
        add(trial, work, kind, now() - start, (double)count);
        trial->answers[kind] = kinds[kind]->iterate(trial->databases[kind]).ages;
    }
    agree(trial, work);
    free(ids);
    free(ages);
}

static void read_first(trial *trial) {
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        double start = now();
        trial->answers[kind] = (int64_t)kinds[kind]->count_of_age(trial->databases[kind], 42);
        add(trial, FIRST, kind, now() - start, 1);
    }
    agree(trial, FIRST);
}

/* A work on a database; adds to the answer. */
typedef void ask(const engine *, database *, const trial *, const int64_t *ids, int64_t *answer);

static size_t look_up_count(const trial *trial) {
    return trial->objects < MOST_LOOK_UPS ? trial->objects : MOST_LOOK_UPS;
}

static void look_up(const engine *engine, database *database, const trial *trial,
    const int64_t *ids, int64_t *answer) {
    *answer += engine->look_up(database, ids, look_up_count(trial));
}

static void count_of_age(const engine *engine, database *database, const trial *trial,
    const int64_t *ids, int64_t *answer) {
    (void)trial, (void)ids;
    *answer += (int64_t)engine->count_of_age(database, 42);
}

static void iterate(const engine *engine, database *database, const trial *trial,
    const int64_t *ids, int64_t *answer) {
    (void)trial, (void)ids;
    *answer += engine->iterate(database).ages;
}

static void iterate_objects(const engine *engine, database *database, const trial *trial,
    const int64_t *ids, int64_t *answer) {
    (void)trial, (void)ids;
    *answer += engine->iterate_objects(database).ages;
}

#define QUESTION(name, asked)                                                                      \
    static void name(const engine *engine, database *database, const trial *trial,                 \
        const int64_t *ids, int64_t *answer) {                                                     \
        (void)trial, (void)ids;                                                                    \
        *answer += (int64_t)(engine->ask(database, asked, 0) * 1e6);                               \
    }
QUESTION(well_scored, WELL_SCORED_AND_ACTIVE)
QUESTION(sum_of_ages, SUM_OF_AGES)
QUESTION(average_score, AVERAGE_SCORE)
QUESTION(greatest_score, GREATEST_SCORE)

/* Warm: what is timed has been done once before. The kinds take turns. */
static void read_warm(trial *trial) {
    static const struct {
        work work;
        ask *ask;
    } asked[] = {{W3, look_up}, {W4A, count_of_age}, {W4B, well_scored}, {W4C, sum_of_ages},
        {W4D, average_score}, {W4E, greatest_score}, {W8, iterate}, {W8_OBJECTS, iterate_objects}};
    int64_t *ids = random_ids(look_up_count(trial), trial->objects, &trial->seed);
    for (size_t index = 0; index < sizeof asked / sizeof *asked; index++) {
        double seconds[KIND_COUNT][SCANS];
        work work = asked[index].work;
        double parts = work == W3                         ? (double)look_up_count(trial)
                       : work == W8 || work == W8_OBJECTS ? (double)trial->objects
                                                          : 1;
        for (int scan = -1; scan < SCANS; scan++)
            for (int kind = 0; kind < KIND_COUNT; kind++) {
                trial->answers[kind] = 0;
                double start = now();
                asked[index].ask(
                    kinds[kind], trial->databases[kind], trial, ids, &trial->answers[kind]);
                if (scan >= 0) seconds[kind][scan] = now() - start;
            }
        for (int kind = 0; kind < KIND_COUNT; kind++)
            add(trial, work, kind, percentile(seconds[kind], SCANS, 0.5), parts);
        agree(trial, work);
    }
    free(ids);
}

static void run_round(trial *trial) {
    insert(trial);
    open_all(trial);
    update(trial, W10_FIRST);
    close_all(trial);
    open_all(trial);
    read_first(trial);
    read_warm(trial);
    update(trial, W10);
    close_all(trial);
}

static void print(trial *trial, size_t rounds) {
    printf("%-5s%-55s%2s%14s%14s%8s%8s\n", "", "medians of the rounds", "", "plain", "encrypted",
        "ratio", "goal");
    for (int work = 0; work < WORK_COUNT; work++) {
        double ratios[MOST_ROUNDS], medians[KIND_COUNT];
        for (size_t round = 0; round < rounds; round++)
            ratios[round] =
                trial->figures[work][ENCRYPTED][round] / trial->figures[work][PLAIN][round];
        for (int kind = 0; kind < KIND_COUNT; kind++)
            medians[kind] = percentile(trial->figures[work][kind], rounds, 0.5);
        printf("%-5s%-55s%2s%14.3f%14.3f%8.2f", descriptions[work].name, descriptions[work].text,
            descriptions[work].unit, medians[PLAIN], medians[ENCRYPTED],
            percentile(ratios, rounds, 0.5));
        if (descriptions[work].goal > 0) printf("%8.2f", descriptions[work].goal);
        printf("\n");
    }
}

static int usage(void) {
    fputs("usage: encrypted [--objects N] [--rounds N] [--directory FOLDER]\n", stderr);
    return 2;
}

int main(int count, char **arguments) {
    static const struct option options[] = {{"objects", 1, NULL, 'n'}, {"rounds", 1, NULL, 'r'},
        {"directory", 1, NULL, 'd'}, {NULL, 0, NULL, 0}};
    static trial trial = {.objects = 1000000, .directory = "encrypted-files", .seed = 1};
    size_t rounds = 3;
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'n':
            trial.objects = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            rounds = strtoul(optarg, NULL, 10);
            break;
        case 'd':
            trial.directory = optarg;
            break;
        default:
            return usage();
        }
    if (optind != count || trial.objects < 100 || rounds < 1 || rounds > MOST_ROUNDS)
        return usage();
    if (mkdir(trial.directory, 0700) && errno != EEXIST) fail("cannot make %s", trial.directory);
    trial.people = people_make(trial.objects);
    for (trial.round = 0; trial.round < rounds; trial.round++) run_round(&trial);
    for (int kind = 0; kind < KIND_COUNT; kind++) remove_files(path_of(&trial, kind));
    rmdir(trial.directory);
    print(&trial, rounds);
    free(trial.people);
    return 0;
}
