/* Reading: W3 to W9. Each is measured warm: what is timed has been done once before. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCANS = 5, MOST_LOOK_UPS = 200000, MOST_QUESTIONS = 10000 };

static void look_up(bench *bench) {
    size_t count = bench->objects < MOST_LOOK_UPS ? bench->objects : MOST_LOOK_UPS;
    int64_t *ids = random_ids(count, bench->objects, &bench->seed);
    int64_t answers[ENGINE_COUNT];
    for (int index = 0; index < ENGINE_COUNT; index++) {
        answers[index] = engines[index]->look_up(bench->databases[index], ids, count);
        double start = now();
        answers[index] += engines[index]->look_up(bench->databases[index], ids, count);
        figures_add(bench->figures, W3, index, (now() - start) / (double)count * 1e9);
    }
    agree(bench, "ages and names looked up", answers);
    free(ids);
}

static void count_of_age(bench *bench) {
    int64_t answers[ENGINE_COUNT];
    for (int index = 0; index < ENGINE_COUNT; index++) {
        double seconds[SCANS];
        answers[index] = (int64_t)engines[index]->count_of_age(bench->databases[index], 42);
        for (int scan = 0; scan < SCANS; scan++) {
            double start = now();
            answers[index] += (int64_t)engines[index]->count_of_age(bench->databases[index], 42);
            seconds[scan] = now() - start;
        }
        figures_add(bench->figures, W4A, index, percentile(seconds, SCANS, 0.5) * 1e3);
    }
    agree(bench, "people of 42", answers);
}

/* Seconds for a question about each of some people, the median of a few turns; its answers are
   added up. */
static double time_to_ask(bench *bench, int engine, question question, const int64_t *ids,
    size_t count, double *answers) {
    double seconds[SCANS];
    for (int scan = -1; scan < SCANS; scan++) {
        double start = now();
        *answers = 0;
        for (size_t index = 0; index < count; index++)
            *answers += engines[engine]->ask(bench->databases[engine], question, ids[index]);
        if (scan >= 0) seconds[scan] = now() - start;
    }
    return percentile(seconds, SCANS, 0.5);
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
        size_t turns = asked[index].of_one ? count : 1;
        double unit = asked[index].unit ? asked[index].unit : 1e-9 * (double)bench->objects;
        double answers[ENGINE_COUNT];
        for (int engine = 0; engine < ENGINE_COUNT; engine++) {
            if (!engines[engine]->ask) continue;
            double seconds =
                time_to_ask(bench, engine, asked[index].question, ids, turns, &answers[engine]);
            figures_add(bench->figures, asked[index].work, engine, seconds / (double)turns / unit);
        }
        int64_t numbers[ENGINE_COUNT] = {
            (int64_t)(answers[TOFT] * 1e6), (int64_t)(answers[SQLITE] * 1e6)};
        agree_with_bosses(bench, figures_text(asked[index].work), numbers);
    }
    free(ids);
}

/* Totals as one number: the scores are whole multiples of 2^-32 and so is their sum. */
static int64_t number_of(totals totals) {
    return (int64_t)((uint64_t)totals.ages * 1000003u
                     + (uint64_t)(totals.scores * 4294967296.0) * 10007u + totals.active);
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

/* Nanoseconds an object. */
static double time_to_iterate(
    bench *bench, int engine, totals (*iterate)(database *), int64_t *answer) {
    double seconds[SCANS];
    for (int scan = -1; scan < SCANS; scan++) {
        double start = now();
        *answer = number_of(iterate(bench->databases[engine]));
        if (scan >= 0) seconds[scan] = now() - start;
    }
    return percentile(seconds, SCANS, 0.5) / (double)bench->objects * 1e9;
}

static void iterate(bench *bench) {
    int64_t answers[ENGINE_COUNT];
    for (int index = 0; index < ENGINE_COUNT; index++) {
        double nanoseconds =
            time_to_iterate(bench, index, engines[index]->iterate, &answers[index]);
        figures_add(bench->figures, W8, index, nanoseconds);
        if (index == TOFT) continue;
        figures_add(bench->figures, W8_OBJECTS, index, nanoseconds);
        if (!bench->swift) continue;
        figures_add(bench->figures, W8_SWIFT, index, nanoseconds);
        figures_add(bench->figures, W8_SWIFT_KEPT, index, nanoseconds);
    }
    agree(bench, "ages, scores and active of all", answers);
    figures_add(bench->figures, W8_OBJECTS, TOFT,
        time_to_iterate(bench, TOFT, engines[TOFT]->iterate_objects, &answers[TOFT]));
    agree(bench, "ages, scores and active of all, object by object", answers);
    if (!bench->swift) return;
    answers[TOFT] = iterate_in_swift(bench);
    agree(bench, "ages, scores and active of all through the Swift API", answers);
}

void read_all_ways(bench *bench) {
    look_up(bench);
    count_of_age(bench);
    ask_all(bench);
    iterate(bench);
}
