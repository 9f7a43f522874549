/* Reading: W3 to W9. Each is measured warm: what is timed has been done just before. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 3, RUNS = 3, MOST_LOOK_UPS = 200000, MOST_QUESTIONS = 10000 };

/* A timed question: about some people if it needs them. */
typedef struct workload {
    /* Its answer, which is the same for all engines. NAN: the engine cannot. */
    double (*run)(const engine *, database *, const struct workload *);
    question question;
    const int64_t *ids;
    size_t count;
} workload;

/* The time of an engine, the median of its runs, and its answer. NAN: it cannot. */
typedef struct timed {
    double seconds[ENGINE_COUNT];
    double answers[ENGINE_COUNT];
} timed;

/* The engines take turns, so that slow moments of the machine, which last for tenths of a second,
   meet all of them. */
static timed time_in_turns(bench *bench, const workload *workload) {
    double runs[ENGINE_COUNT][TURNS * RUNS];
    timed timed;
    for (int turn = 0; turn < TURNS; turn++)
        for (int index = 0; index < ENGINE_COUNT; index++) {
            database *database = bench->databases[index];
            workload->run(engines[index], database, workload);
            for (int run = 0; run < RUNS; run++) {
                double start = now();
                timed.answers[index] = workload->run(engines[index], database, workload);
                runs[index][turn * RUNS + run] = now() - start;
            }
        }
    for (int index = 0; index < ENGINE_COUNT; index++)
        timed.seconds[index] =
            isnan(timed.answers[index]) ? NAN : percentile(runs[index], TURNS * RUNS, 0.5);
    return timed;
}

static double ages_and_names(const engine *engine, database *database, const workload *workload) {
    return (double)engine->look_up(database, workload->ids, workload->count);
}

static double people_of_42(const engine *engine, database *database, const workload *workload) {
    (void)workload;
    return (double)engine->count_of_age(database, 42);
}

static double answers_of_all(const engine *engine, database *database, const workload *workload) {
    if (!engine->ask) return NAN;
    double sum = 0;
    for (size_t index = 0; index < workload->count; index++)
        sum += engine->ask(database, workload->question, workload->ids[index]);
    return sum;
}

static void agree_on_whole_numbers(bench *bench, const char *question, const timed *timed) {
    int64_t numbers[ENGINE_COUNT];
    for (int index = 0; index < ENGINE_COUNT; index++)
        numbers[index] = (int64_t)timed->answers[index];
    agree(bench, question, numbers);
}

/* Adds the figures of all engines, in `unit` seconds. */
static timed time_all(
    bench *bench, work work, const workload *workload, double unit, const char *question) {
    timed timed = time_in_turns(bench, workload);
    for (int index = 0; index < ENGINE_COUNT; index++)
        figures_add(bench->figures, work, index, timed.seconds[index] / unit);
    agree_on_whole_numbers(bench, question, &timed);
    return timed;
}

static void look_up(bench *bench) {
    size_t count = bench->objects < MOST_LOOK_UPS ? bench->objects : MOST_LOOK_UPS;
    int64_t *ids = random_ids(count, bench->objects, &bench->seed);
    workload workload = {.run = ages_and_names, .ids = ids, .count = count};
    time_all(bench, W3, &workload, 1e-9 * (double)count, "ages and names looked up");
    free(ids);
}

static void count_of_age(bench *bench) {
    workload workload = {.run = people_of_42};
    time_all(bench, W4A, &workload, 1e-3, "people of 42");
}

static void ask_all(bench *bench) {
    static const struct {
        work work;
        question question;
        bool of_one; /* asked about many people, one by one: the time is that of one */
        double unit; /* of the figure in seconds; 0: nanoseconds an object */
    } asked[] = {
        {W4B, WELL_SCORED_AND_ACTIVE, false, 1e-3},
        {W4C, SUM_OF_AGES, false, 1e-3},
        {W4D, AVERAGE_SCORE, false, 1e-3},
        {W4E, GREATEST_SCORE, false, 1e-3},
        {W5A, NAME_CONTAINS, false, 1e-3},
        {W5B, NAME_BEGINS, false, 1e-3},
        {W5C, CITY_IS, false, 1e-3},
        {W6, EMAIL_IS, true, 1e-6},
        {W6_TEXT, EMAIL_IS_IN_TEXT, true, 1e-6},
        {W6B, NAME_IS_ONE, false, 1e-3},
        {W6B_INDEXED, EMAIL_IS_ONE, false, 1e-3},
        {W7A, FIRST_BY_NAME, false, 1e-3},
        {W7A_LIMIT, LIMIT_BY_NAME, false, 1e-3},
        {W7B, FIRST_BY_CITY, false, 1e-3},
        {W7B_LIMIT, LIMIT_BY_CITY, false, 1e-3},
        {W9A, AGES_OF_BOSSES, false, 0},
        {W9A_FOLLOWED, AGES_FOLLOWED, false, 0},
        {W9B, BOSS_IS_OLD, false, 0},
        {W9C, REPORTS_OF, true, 1e-9},
    };
    size_t count = bench->objects < MOST_QUESTIONS ? bench->objects : MOST_QUESTIONS;
    int64_t *ids = random_ids(count, bench->objects, &bench->seed);
    for (size_t index = 0; index < sizeof asked / sizeof *asked; index++) {
        workload workload = {.run = answers_of_all,
            .question = asked[index].question,
            .ids = ids,
            .count = asked[index].of_one ? count : 1};
        double unit = asked[index].unit ? asked[index].unit : 1e-9 * (double)bench->objects;
        timed timed = time_in_turns(bench, &workload);
        for (int engine = 0; engine < ENGINE_COUNT; engine++)
            if (!isnan(timed.seconds[engine]))
                figures_add(bench->figures, asked[index].work, engine,
                    timed.seconds[engine] / (double)workload.count / unit);
        int64_t numbers[ENGINE_COUNT] = {
            (int64_t)(timed.answers[TOFT] * 1e6), (int64_t)(timed.answers[SQLITE] * 1e6)};
        agree_with_bosses(bench, figures_text(asked[index].work), numbers);
    }
    free(ids);
}

/* Totals as one number that a double holds: the scores are whole multiples of 2^-32 and so is their
   sum. */
static int64_t number_of(totals totals) {
    uint64_t number = (uint64_t)totals.ages * 1000003u
                      + (uint64_t)(totals.scores * 4294967296.0) * 10007u + totals.active;
    return (int64_t)(number % (1ull << 53));
}

static double all_columns(const engine *engine, database *database, const workload *workload) {
    (void)workload;
    return (double)number_of(engine->iterate(database));
}

static double all_objects(const engine *engine, database *database, const workload *workload) {
    (void)workload;
    return (double)number_of(
        (engine->iterate_objects ? engine->iterate_objects : engine->iterate)(database));
}

/* The Swift API's figure, from a program that reads the same file. SQLite's beside it is that
   of its C interface. */
static int64_t iterate_in_swift(bench *bench) {
    char command[8500];
    double again, kept;
    totals totals;
    snprintf(command, sizeof command, "'%s' '%s'", bench->swift, file_of(bench, TOFT, "whole"));
    FILE *output = popen(command, "r");
    if (!output
        || fscanf(output, "%lf %lf %ld %lf %lu", &again, &kept, &totals.ages, &totals.scores,
               &totals.active)
               != 5)
        fail("%s failed", command);
    pclose(output);
    figures_add(bench->figures, W8_SWIFT, TOFT, again);
    figures_add(bench->figures, W8_SWIFT_KEPT, TOFT, kept);
    return number_of(totals);
}

static void iterate(bench *bench) {
    double unit = 1e-9 * (double)bench->objects;
    workload columns = {.run = all_columns}, objects = {.run = all_objects};
    timed timed = time_all(bench, W8, &columns, unit, "ages, scores and active of all");
    time_all(bench, W8_OBJECTS, &objects, unit, "ages, scores and active of all, object by object");
    if (!bench->swift) return;
    for (int index = TOFT + 1; index < ENGINE_COUNT; index++) {
        figures_add(bench->figures, W8_SWIFT, index, timed.seconds[index] / unit);
        figures_add(bench->figures, W8_SWIFT_KEPT, index, timed.seconds[index] / unit);
    }
    timed.answers[TOFT] = (double)iterate_in_swift(bench);
    agree_on_whole_numbers(bench, "ages, scores and active of all through the Swift API", &timed);
}

void read_all_ways(bench *bench) {
    look_up(bench);
    count_of_age(bench);
    ask_all(bench);
    iterate(bench);
}
