#include "figures.h"
#include "measure.h"

#include <math.h>
#include <string.h>

/* The goal is Toft's figure over SQLite's; 0: no goal, or the one that the note states. */
static const struct description {
    const char *name, *text, *unit;
    double goal;
    const char *note;
} descriptions[WORK_COUNT] = {
    [W1] = {"W1", "insert, 1,000 a transaction, per object", "us", 0.20, ""},
    [W1B] = {"W1b", "insert, one transaction, per object", "us", 0.20, ""},
    [W2_SMALL] = {"W2 10k", "commit one object into 10,000, median", "us", 1.0, ""},
    [W2_SMALL_TAIL] = {"W2 10k", "the same, 99th percentile", "us", 0, ""},
    [W2_MIDDLE] = {"W2 100k", "commit one object into 100,000, median", "us", 1.0, ""},
    [W2_MIDDLE_TAIL] = {"W2 100k", "the same, 99th percentile", "us", 0, ""},
    [W2] = {"W2", "commit one object into all, median", "us", 1.0, ""},
    [W2_TAIL] = {"W2", "the same, 99th percentile", "us", 0, ""},
    [W2_CHECKPOINT] = {"W2c", "the same while a checkpoint runs, median", "us", 1.0, ""},
    [W2_CHECKPOINT_TAIL] = {"W2c", "the same, 99th percentile", "us", 0, "below 5,000 us"},
    [W2_THREADS] = {"W2t", "commit one object, four threads, per commit", "us", 0, ""},
    [W3] = {"W3", "look up by primary key, read age and name", "ns", 0.40, ""},
    [W4A] = {"W4a", "count(age == 42), no index", "ms", 0.004, ""},
    [W4B] = {"W4b", "count(score > 0.5 AND active)", "ms", 0.020, ""},
    [W4C] = {"W4c", "sum(age)", "ms", 0.006, ""},
    [W4D] = {"W4d", "avg(score)", "ms", 0.020, ""},
    [W4E] = {"W4e", "max(score)", "ms", 0.020, ""},
    [W5A] = {"W5a", "count(name CONTAINS '4242')", "ms", 0.060, ""},
    [W5B] = {"W5b", "count(name BEGINSWITH[c] 'al')", "ms", 0.060, ""},
    [W5C] = {"W5c", "count(city == 'Elmfeld'), no index", "ms", 0.008, ""},
    [W6] = {"W6", "find by indexed email, query prepared", "us", 0.30, ""},
    [W6_TEXT] = {"W6", "the same, query as text", "us", 0.80, ""},
    [W6B] = {"W6b", "count(name IN 10,000 names), no index", "ms", 0.50, ""},
    [W6B_INDEXED] = {"W6b", "count(email IN 10,000 emails), indexed", "ms", 1.0, ""},
    [W7A] = {"W7a", "sort all by name, read 100", "ms", 0.20, ""},
    [W7A_LIMIT] = {"W7a", "the same with LIMIT 100", "ms", 0.10, ""},
    [W7B] = {"W7b", "age > 50 by city and score, read 100", "ms", 0.20, ""},
    [W7B_LIMIT] = {"W7b", "the same with LIMIT 100", "ms", 0.10, ""},
    [W8] = {"W8", "age, score, active of all: C, columns, per object", "ns", 0.02, ""},
    [W8_OBJECTS] = {"W8", "the same: C, object by object, per object", "ns", 0.50, ""},
    [W8_SWIFT] = {"W8", "the same: Swift, one instance used again, per object", "ns", 0.10, ""},
    [W8_SWIFT_KEPT] = {"W8", "the same: Swift, each instance kept, per object", "ns", 0.35, ""},
    [W9A] = {"W9a", "sum(boss.age), per object", "ns", 0.30, ""},
    [W9A_FOLLOWED] = {"W9a", "the same, link by link in the program", "ns", 0, ""},
    [W9B] = {"W9b", "count(boss.age > 50), per object", "ns", 0.30, ""},
    [W9C] = {"W9c", "count of those whose boss is x, per x", "ns", 0.50, ""},
    [W10] = {"W10", "update the age of a tenth, per object", "us", 0.20, ""},
    [W11A] = {"W11a", "delete a tenth, links become null, per object", "us", 0.15, ""},
    [W13] = {"W13", "file after W1", "MB", 0.75, ""},
    [W13_COMPACT] = {"W13", "file compacted", "MB", 0.70, ""},
    [W13_DAY_BEFORE] = {"W13d", "file before a day of small commits", "MB", 0, ""},
    [W13_DAY] = {"W13d", "file after them", "MB", 0, ""},
    [W14] = {"W14", "start to first property, beyond an empty program", "ms", 0, "SQLite + 1.5 ms"},
    [W14_COLD] = {"W14", "the same with cold pages", "ms", 0, "SQLite + 1.5 ms"},
    [RECOVERY] = {"", "start to first property after SIGKILL", "ms", 0, "below 500 ms"},
};

static const char *const column_names[COLUMN_COUNT] = {"Toft", "SQLite", "LMDB", "disk"};

enum { MOST_ROUNDS = 1000 };

struct figures {
    double values[WORK_COUNT][COLUMN_COUNT][MOST_ROUNDS];
    size_t counts[WORK_COUNT][COLUMN_COUNT];
};

figures *figures_make(void) {
    return obtain(sizeof(figures));
}

const char *figures_text(work work) {
    return descriptions[work].text;
}

void figures_add(figures *figures, work work, int column, double value) {
    size_t *count = &figures->counts[work][column];
    if (*count < MOST_ROUNDS) figures->values[work][column][(*count)++] = value;
}

typedef struct summary {
    size_t count;
    double median, least, greatest;
} summary;

static summary summarise(const double *values, size_t count) {
    double sorted[MOST_ROUNDS];
    if (!count) return (summary){0, NAN, NAN, NAN};
    memcpy(sorted, values, count * sizeof *sorted);
    double median = percentile(sorted, count, 0.5);
    return (summary){count, median, sorted[0], sorted[count - 1]};
}

static summary summary_of(const figures *figures, work work, int column) {
    return summarise(figures->values[work][column], figures->counts[work][column]);
}

/* Summarizes the ratios of each round, whose two figures were taken one after the other. A work
   that takes no longer than an empty program has no ratio. */
static summary ratio(const figures *figures, work work) {
    double ratios[MOST_ROUNDS];
    size_t count = 0;
    for (size_t round = 0;
        round < figures->counts[work][TOFT] && round < figures->counts[work][SQLITE]; round++) {
        double toft = figures->values[work][TOFT][round],
               sqlite = figures->values[work][SQLITE][round];
        if (toft > 0 && sqlite > 0) ratios[count++] = toft / sqlite;
    }
    return summarise(ratios, count);
}

static void print_number(FILE *output, double value, int width) {
    int decimals = fabs(value) < 10 ? 2 : fabs(value) < 1000 ? 1 : 0;
    if (isnan(value))
        fprintf(output, "%*s", width, "");
    else
        fprintf(output, "%*.*f", width, decimals, value);
}

static void print_summary(FILE *output, summary summary) {
    char spread[32] = "";
    print_number(output, summary.median, 10);
    if (summary.count > 1)
        snprintf(spread, sizeof spread, "%.4g-%.4g", summary.least, summary.greatest);
    fprintf(output, " %-15s", spread);
}

static void print_ratio(FILE *output, summary ratio, const struct description *described) {
    if (ratio.count)
        fprintf(output, "%8.*f", ratio.median < 0.1 ? 4 : 2, ratio.median);
    else
        fprintf(output, "%8s", "");
    if (described->goal > 0)
        fprintf(output, "%8g", described->goal);
    else
        fprintf(output, "  %s", described->note);
    if (ratio.count && described->goal > 0 && ratio.median > described->goal)
        fprintf(output, "  %.1fx", ratio.median / described->goal);
}

void figures_print(const figures *figures, FILE *output) {
    fprintf(output, "%-8s%-51s%2s", "", "median and spread of the rounds", "");
    for (int column = 0; column < COLUMN_COUNT; column++)
        fprintf(output, "%10s %-15s", column_names[column], "");
    fprintf(output, "%8s%8s\n", "ratio", "goal");
    for (int work = 0; work < WORK_COUNT; work++) {
        const struct description *described = &descriptions[work];
        if (!figures->counts[work][TOFT]) continue;
        fprintf(output, "%-8s%-51s%2s", described->name, described->text, described->unit);
        for (int column = 0; column < COLUMN_COUNT; column++)
            print_summary(output, summary_of(figures, work, column));
        print_ratio(output, ratio(figures, work), described);
        fputc('\n', output);
    }
}

static void write_number(FILE *output, const char *name, double value) {
    if (isnan(value))
        fprintf(output, "\"%s\": null", name);
    else
        fprintf(output, "\"%s\": %.9g", name, value);
}

static void write_column(const figures *figures, FILE *output, work work, int column) {
    summary summary = summary_of(figures, work, column);
    fprintf(output, ", \"%s\": {", column_names[column]);
    write_number(output, "median", summary.median);
    fprintf(output, ", \"rounds\": [");
    for (size_t index = 0; index < summary.count; index++)
        fprintf(output, "%s%.9g", index ? ", " : "", figures->values[work][column][index]);
    fprintf(output, "]}");
}

void figures_write(const figures *figures, FILE *output, size_t objects) {
    const char *separator = "";
    fprintf(output, "{\"objects\": %zu, \"figures\": [", objects);
    for (int work = 0; work < WORK_COUNT; work++) {
        const struct description *described = &descriptions[work];
        if (!figures->counts[work][TOFT]) continue;
        fprintf(output, "%s\n  {\"work\": \"%s\", \"text\": \"%s\", \"unit\": \"%s\", ", separator,
            described->name, described->text, described->unit);
        write_number(output, "ratio", ratio(figures, work).median);
        fprintf(output, ", ");
        write_number(output, "goal", described->goal > 0 ? described->goal : NAN);
        for (int column = 0; column < COLUMN_COUNT; column++)
            if (figures->counts[work][column]) write_column(figures, output, work, column);
        fprintf(output, "}");
        separator = ",";
    }
    fprintf(output, "\n]}\n");
}
