/* The packages of a distribution, read from a TSV file, and the clocks that both engines are
   timed with. */
#ifndef PACKAGES_H
#define PACKAGES_H

#include <stddef.h>
#include <stdint.h>

enum {
    NAME,
    VERSION,
    SECTION,
    PRIORITY,
    MAINTAINER,
    SIZE,
    INSTALLED_SIZE,
    ESSENTIAL,
    DESCRIPTION,
    HOMEPAGE,
    TAGS,
    DEPENDS,
    RECOMMENDS,
    FIELD_COUNT
};

typedef struct package {
    const char *fields[FIELD_COUNT]; /* NUL-terminated */
} package;

typedef struct packages {
    package *items;
    size_t count;
} packages;

/* Reads a file of 13 tab-separated columns; tags, depends and recommends are comma-separated.
   Exits on failure. */
packages packages_read(const char *path);

/* Calls back with each element of a comma-separated list. */
void each_element(
    const char *list, void (*body)(void *context, const char *text, size_t size), void *context);

/* Seconds on a clock that only goes forward. */
double now(void);

/* Peak memory of this process in KiB. */
long peak_memory(void);

/* Prints median and 99th percentile of durations in seconds, as microseconds: `"name_p50": x,
   "name_p99": y`. Sorts them. */
void print_percentiles(const char *name, double *seconds, size_t count);

/* The work of each engine; prints one line of JSON. */
int run_load(const char *database, const packages *all);
int run_commits(const char *database, size_t count);

#endif
