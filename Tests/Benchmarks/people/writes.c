/* Changing a tenth of all objects in one transaction, then deleting a tenth: W10, W11a. */
#include "bench.h"

#include <stdlib.h>

static void update(bench *bench, const int64_t *ids, const int64_t *ages, size_t count) {
    int64_t answers[ENGINE_COUNT];
    for (int index = 0; index < ENGINE_COUNT; index++) {
        double start = now();
        engines[index]->set_ages(bench->databases[index], ids, ages, count);
        figures_add(bench->figures, W10, index, (now() - start) / (double)count * 1e6);
        answers[index] = engines[index]->iterate(bench->databases[index]).ages;
    }
    agree(bench, "sum of the ages after the update", answers);
}

static void erase(bench *bench, const int64_t *ids, size_t count) {
    int64_t counts[ENGINE_COUNT], bosses[ENGINE_COUNT] = {0};
    for (int index = 0; index < ENGINE_COUNT; index++) {
        double start = now();
        engines[index]->erase(bench->databases[index], ids, count);
        figures_add(bench->figures, W11A, index, (now() - start) / (double)count * 1e6);
        counts[index] = (int64_t)engines[index]->count(bench->databases[index]);
        if (engines[index]->count_with_boss)
            bosses[index] = (int64_t)engines[index]->count_with_boss(bench->databases[index]);
    }
    agree(bench, "people left", counts);
    agree_with_bosses(bench, "people whose boss is left", bosses);
}

void update_and_erase(bench *bench) {
    size_t count = bench->objects / 10;
    int64_t *ids = random_ids(count, bench->objects, &bench->seed);
    int64_t *ages = obtain(count * sizeof *ages);
    for (size_t index = 0; index < count; index++)
        ages[index] = (int64_t)(random_number(&bench->seed) % 100);
    update(bench, ids, ages, count);
    free(ids);
    ids = random_ids(count, bench->objects, &bench->seed);
    erase(bench, ids, count);
    free(ids);
    free(ages);
}
