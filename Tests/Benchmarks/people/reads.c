/* Reading: W3, W4a, W8. Each is measured warm: what is timed has been done once before. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCANS = 5, MOST_LOOK_UPS = 200000 };

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

/* Totals as one number: the scores are whole multiples of 2^-32 and so is their sum. */
static int64_t number_of(totals totals) {
    return (int64_t)((uint64_t)totals.ages * 1000003u
                     + (uint64_t)(totals.scores * 4294967296.0) * 10007u + totals.active);
}

/* The Swift API's figure, from a program that reads the same file. SQLite's beside it is that
   of its C interface. */
static int64_t iterate_in_swift(bench *bench) {
    char command[8500];
    double nanoseconds;
    totals totals;
    snprintf(command, sizeof command, "'%s' '%s'", bench->swift, file_of(bench, TOFT, "whole"));
    FILE *output = popen(command, "r");
    if (!output
        || fscanf(output, "%lf %ld %lf %lu", &nanoseconds, &totals.ages, &totals.scores,
               &totals.active)
               != 4)
        fail("%s failed", command);
    pclose(output);
    figures_add(bench->figures, W8_SWIFT, TOFT, nanoseconds);
    return number_of(totals);
}

static void iterate(bench *bench) {
    int64_t answers[ENGINE_COUNT];
    for (int index = 0; index < ENGINE_COUNT; index++) {
        double seconds[SCANS];
        for (int scan = -1; scan < SCANS; scan++) {
            double start = now();
            answers[index] = number_of(engines[index]->iterate(bench->databases[index]));
            if (scan >= 0) seconds[scan] = now() - start;
        }
        double nanoseconds = percentile(seconds, SCANS, 0.5) / (double)bench->objects * 1e9;
        figures_add(bench->figures, W8, index, nanoseconds);
        if (bench->swift && index != TOFT)
            figures_add(bench->figures, W8_SWIFT, index, nanoseconds);
    }
    agree(bench, "ages, scores and active of all", answers);
    if (!bench->swift) return;
    answers[TOFT] = iterate_in_swift(bench);
    agree(bench, "ages, scores and active of all through the Swift API", answers);
}

void read_all_ways(bench *bench) {
    look_up(bench);
    count_of_age(bench);
    iterate(bench);
}
