/* How the cost of an object grows with the number of objects: W10b and W19. Toft beside SQLite, the
   same people, the same work, in turns. Tests/Benchmarks/README.md says how to run it. */
#include "engine.h"
#include "measure.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOFT, SQLITE, ENGINE_COUNT, MOST_SIZES = 16, MOST_ROUNDS = 100, BATCH = 1000000 };

static const engine *const engines[ENGINE_COUNT] = {&toft_engine, &sqlite_engine};

enum {
    INSERT,
    LOOK_UP,
    FIND,
    COUNT_REPORTS,
    FIRST_CHANGE,
    WORK_COUNT = FIRST_CHANGE + CHANGE_COUNT
};

static const char *const texts[WORK_COUNT] = {
    [INSERT] = "insert, 1,000,000 a transaction",
    [LOOK_UP] = "look up by primary key, read age and name",
    [FIND] = "find by indexed email",
    [COUNT_REPORTS] = "count of those whose boss is x",
    [FIRST_CHANGE + AGE_RAISED] = "change: age read, and set to one more",
    [FIRST_CHANGE + AGE_ADDED_TO] = "change: one added to the age",
    [FIRST_CHANGE + TAG_APPENDED] = "change: a tag appended to a list",
    [FIRST_CHANGE + UPSERTED] = "change: upsert of everything with another age",
    [FIRST_CHANGE + BOSS_SET] = "change: a link set",
    [FIRST_CHANGE + EMAIL_SET] = "change: an indexed text set",
};

typedef struct trial {
    const char *directory;
    size_t changes; /* people looked up or changed */
    size_t rounds;
    uint64_t seed;
    database *databases[ENGINE_COUNT];
    double figures[WORK_COUNT][ENGINE_COUNT][MOST_ROUNDS]; /* microseconds */
} trial;

static const char *path_of(const trial *trial, int index) {
    static char path[4200];
    snprintf(path, sizeof path, "%s/people.%s", trial->directory, engines[index]->suffix);
    return path;
}

static void add(trial *trial, int work, int engine, size_t round, double start, size_t count) {
    trial->figures[work][engine][round] = (now() - start) / (double)count * 1e6;
}

/* People in shuffled order; the boss of each is one of those before. */
static void insert(trial *trial, size_t objects) {
    uint64_t seed = 42;
    int64_t *order = random_ids(objects, objects, &seed);
    person *people = obtain(BATCH * sizeof *people);
    double seconds[ENGINE_COUNT] = {0};
    for (size_t first = 0; first < objects; first += BATCH) {
        size_t count = objects - first < BATCH ? objects - first : BATCH;
        for (size_t index = 0; index < count; index++) {
            people[index] = person_make(order[first + index]);
            if (first + index > 0)
                people[index].boss = order[random_number(&seed) % (first + index)];
        }
        for (int engine = 0; engine < ENGINE_COUNT; engine++) {
            double start = now();
            engines[engine]->insert(trial->databases[engine], people, count);
            seconds[engine] += now() - start;
        }
    }
    for (int engine = 0; engine < ENGINE_COUNT; engine++)
        for (size_t round = 0; round < trial->rounds; round++)
            trial->figures[INSERT][engine][round] = seconds[engine] / (double)objects * 1e6;
    free(people);
    free(order);
}

static void open_all(trial *trial) {
    for (int engine = 0; engine < ENGINE_COUNT; engine++)
        trial->databases[engine] = engines[engine]->open(path_of(trial, engine));
}

static void close_all(trial *trial) {
    for (int engine = 0; engine < ENGINE_COUNT; engine++)
        engines[engine]->close(trial->databases[engine]);
}

static void agree(const int64_t answers[ENGINE_COUNT], int work) {
    if (answers[TOFT] != answers[SQLITE])
        fail("%s: Toft says %lld, SQLite %lld", texts[work], (long long)answers[TOFT],
            (long long)answers[SQLITE]);
}

static void ask(trial *trial, int work, size_t round, const int64_t *ids) {
    int64_t answers[ENGINE_COUNT] = {0};
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        double start = now();
        database *database = trial->databases[engine];
        if (work == LOOK_UP)
            answers[engine] = engines[engine]->look_up(database, ids, trial->changes);
        else
            for (size_t index = 0; index < trial->changes; index++)
                answers[engine] += (int64_t)engines[engine]->ask(
                    database, work == FIND ? EMAIL_IS : REPORTS_OF, ids[index]);
        add(trial, work, engine, round, start, trial->changes);
    }
    agree(answers, work);
}

static void change_people(trial *trial, change change, size_t round, size_t objects) {
    int64_t *ids = random_ids(trial->changes, objects, &trial->seed);
    int64_t *others = obtain(trial->changes * sizeof *others);
    int64_t ages[ENGINE_COUNT], bosses[ENGINE_COUNT];
    for (size_t index = 0; index < trial->changes; index++)
        others[index] = (int64_t)(random_number(&trial->seed) % objects);
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        double start = now();
        engines[engine]->change(trial->databases[engine], change, ids, others, trial->changes);
        add(trial, FIRST_CHANGE + (int)change, engine, round, start, trial->changes);
        ages[engine] = engines[engine]->iterate(trial->databases[engine]).ages;
        bosses[engine] = (int64_t)engines[engine]->count_with_boss(trial->databases[engine]);
    }
    agree(ages, FIRST_CHANGE + (int)change);
    agree(bosses, FIRST_CHANGE + (int)change);
    free(ids);
    free(others);
}

static void run(trial *trial, size_t objects) {
    for (int engine = 0; engine < ENGINE_COUNT; engine++) remove_files(path_of(trial, engine));
    open_all(trial);
    insert(trial, objects);
    close_all(trial);
    open_all(trial);
    for (size_t round = 0; round < trial->rounds; round++) {
        int64_t *ids = random_ids(trial->changes, objects, &trial->seed);
        for (int work = LOOK_UP; work < FIRST_CHANGE; work++) ask(trial, work, round, ids);
        free(ids);
    }
    for (size_t round = 0; round < trial->rounds; round++)
        for (int change = 0; change < CHANGE_COUNT; change++)
            change_people(trial, change, round, objects);
    close_all(trial);
    for (int engine = 0; engine < ENGINE_COUNT; engine++) remove_files(path_of(trial, engine));
}

/* Prints the row of each work and notes its ratio. */
static void print(const trial *trial, size_t objects, double ratios[WORK_COUNT]) {
    printf("%zu people, %zu of them looked up or changed; microseconds each\n", objects,
        trial->changes);
    printf("%-50s%10s%10s%8s\n", "", "Toft", "SQLite", "ratio");
    for (int work = 0; work < WORK_COUNT; work++) {
        double medians[ENGINE_COUNT], figures[MOST_ROUNDS];
        for (int engine = 0; engine < ENGINE_COUNT; engine++) {
            for (size_t round = 0; round < trial->rounds; round++)
                figures[round] = trial->figures[work][engine][round];
            medians[engine] = percentile(figures, trial->rounds, 0.5);
        }
        ratios[work] = medians[TOFT] / medians[SQLITE];
        printf(
            "%-50s%10.2f%10.2f%8.2f\n", texts[work], medians[TOFT], medians[SQLITE], ratios[work]);
    }
    fflush(stdout);
}

static int usage(void) {
    fputs("usage: growth [--changes N] [--rounds N] [--directory FOLDER] [OBJECTS...]\n", stderr);
    return 2;
}

int main(int count, char **arguments) {
    static const struct option options[] = {{"changes", 1, NULL, 'c'}, {"rounds", 1, NULL, 'r'},
        {"directory", 1, NULL, 'd'}, {NULL, 0, NULL, 0}};
    static const char *const usual[] = {"100000", "1000000", "10000000"};
    static trial trial = {.directory = "growth-files", .changes = 100000, .rounds = 3};
    static double ratios[MOST_SIZES][WORK_COUNT];
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'c':
            trial.changes = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            trial.rounds = strtoul(optarg, NULL, 10);
            break;
        case 'd':
            trial.directory = optarg;
            break;
        default:
            return usage();
        }
    const char *const *sizes = optind < count ? (const char *const *)arguments + optind : usual;
    int size_count = optind < count ? count - optind : 3;
    if (size_count > MOST_SIZES || trial.rounds < 1 || trial.rounds > MOST_ROUNDS) return usage();
    for (int index = 0; index < size_count; index++)
        if (strtoul(sizes[index], NULL, 10) < trial.changes || trial.changes < 1) return usage();
    if (mkdir(trial.directory, 0700) && errno != EEXIST) fail("cannot make %s", trial.directory);
    for (int index = 0; index < size_count; index++) {
        trial.seed = 1;
        size_t objects = strtoul(sizes[index], NULL, 10);
        run(&trial, objects);
        print(&trial, objects, ratios[index]);
    }
    rmdir(trial.directory);
    if (size_count > 1) printf("\nratio to SQLite, largest over smallest\n");
    for (int work = 0; size_count > 1 && work < WORK_COUNT; work++)
        printf("%-50s%10.2f\n", texts[work], ratios[size_count - 1][work] / ratios[0][work]);
    return 0;
}
