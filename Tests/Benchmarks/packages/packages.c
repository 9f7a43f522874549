#include "packages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

long peak_memory(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void print_percentiles(const char *name, double *seconds, size_t count) {
    qsort(seconds, count, sizeof *seconds, compare);
    printf("\"%s_p50\": %.1f, \"%s_p99\": %.1f", name, seconds[count / 2] * 1e6, name,
        seconds[count * 99 / 100] * 1e6);
}

void each_element(const char *list, void (*body)(void *, const char *, size_t), void *context) {
    while (*list) {
        size_t size = strcspn(list, ",");
        body(context, list, size);
        list += size;
        if (*list == ',') list++;
    }
}

packages packages_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    text[size] = 0;
    packages all = {NULL, 0};
    size_t capacity = 0;
    for (char *line = text; *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        if (all.count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            all.items = realloc(all.items, capacity * sizeof *all.items);
        }
        package *item = &all.items[all.count++];
        char *cell = line;
        for (int field = 0; field < FIELD_COUNT; field++) {
            char *tab = strchr(cell, '\t');
            if (!tab && field < FIELD_COUNT - 1) {
                fprintf(stderr, "%s: line %zu has %d columns\n", path, all.count, field + 1);
                exit(1);
            }
            if (tab) *tab = 0;
            item->fields[field] = cell;
            cell = tab ? tab + 1 : cell;
        }
        line = end ? end + 1 : line + strlen(line);
        if (!end) break;
    }
    return all;
}

int main(int count, char **arguments) {
    if (count == 4 && !strcmp(arguments[1], "load")) {
        packages all = packages_read(arguments[2]);
        return run_load(arguments[3], &all);
    }
    if (count == 4 && !strcmp(arguments[1], "commits"))
        return run_commits(arguments[3], (size_t)atol(arguments[2]));
    fprintf(
        stderr, "usage: %s load PACKAGES.tsv DATABASE | commits COUNT DATABASE\n", arguments[0]);
    return 2;
}
