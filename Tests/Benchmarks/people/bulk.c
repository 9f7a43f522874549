/* Inserting everything, and the files it leaves: W1, W1b, W13. */
#include "bench.h"

enum { BATCH = 1000 };

static double mega(double bytes) {
    return bytes / 1e6;
}

static void insert_batches(bench *bench, int index) {
    const engine *engine = engines[index];
    const char *path = file_of(bench, index, "batches");
    remove_files(path);
    database *database = engine->open(path);
    double start = now();
    for (size_t done = 0; done < bench->objects; done += BATCH) {
        size_t rest = bench->objects - done;
        engine->insert(database, bench->people + done, rest < BATCH ? rest : BATCH);
    }
    figures_add(bench->figures, W1, index, (now() - start) / (double)bench->objects * 1e6);
    engine->close(database);
    figures_add(bench->figures, W13, index, mega(file_size(path)));
}

static void compact(bench *bench, int index) {
    const engine *engine = engines[index];
    if (!engine->compact) return;
    const char *copy = file_of(bench, index, "compact");
    remove_files(copy);
    database *database = engine->open(file_of(bench, index, "batches"));
    engine->compact(database, copy);
    engine->close(database);
    figures_add(bench->figures, W13_COMPACT, index, mega(file_size(copy)));
    remove_files(copy);
}

void insert_in_batches(bench *bench) {
    for (int index = 0; index < ENGINE_COUNT; index++) {
        insert_batches(bench, index);
        compact(bench, index);
    }
}

void insert_at_once(bench *bench) {
    int64_t counts[ENGINE_COUNT], bosses[ENGINE_COUNT] = {0};
    for (int index = 0; index < ENGINE_COUNT; index++) {
        const engine *engine = engines[index];
        const char *path = file_of(bench, index, "whole");
        remove_files(path);
        database *database = bench->databases[index] = engine->open(path);
        double start = now();
        engine->insert(database, bench->people, bench->objects);
        figures_add(bench->figures, W1B, index, (now() - start) / (double)bench->objects * 1e6);
        counts[index] = (int64_t)engine->count(database);
        if (engine->count_with_boss) bosses[index] = (int64_t)engine->count_with_boss(database);
    }
    agree(bench, "people inserted", counts);
    agree_with_bosses(bench, "people with a boss", bosses);
}
