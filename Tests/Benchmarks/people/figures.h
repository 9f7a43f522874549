/* The measurements: each round's figure of each engine, their medians, spread and ratio. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdio.h>

/* The columns of the table: the engines in the order of their turns, and the disk's own write. */
enum { TOFT, SQLITE, LMDB, ENGINE_COUNT, DISK = ENGINE_COUNT, COLUMN_COUNT };

/* The measured works. The lower a figure the better, always. */
typedef enum work {
    W1,
    W1B,
    W2_SMALL,
    W2_SMALL_TAIL,
    W2_MIDDLE,
    W2_MIDDLE_TAIL,
    W2,
    W2_TAIL,
    W2_CHECKPOINT,
    W2_CHECKPOINT_TAIL,
    W2_THREADS,
    W3,
    W4A,
    W4B,
    W4C,
    W4D,
    W4E,
    W5A,
    W5B,
    W5C,
    W6,
    W6_TEXT,
    W6B,
    W6B_INDEXED,
    W7A,
    W7A_LIMIT,
    W7B,
    W7B_LIMIT,
    W8,
    W8_OBJECTS,
    W8_SWIFT,
    W8_SWIFT_KEPT,
    W9A,
    W9A_FOLLOWED,
    W9B,
    W9C,
    W10,
    W11A,
    W13,
    W13_COMPACT,
    W13_DAY_BEFORE,
    W13_DAY,
    W14,
    W14_COLD,
    RECOVERY,
    WORK_COUNT
} work;

typedef struct figures figures;

figures *figures_make(void);
void figures_add(figures *, work, int column, double value);

/* A work in a few words. */
const char *figures_text(work);

/* One table; and the same as JSON, with each round's figures. */
void figures_print(const figures *, FILE *);
void figures_write(const figures *, FILE *, size_t objects);

#endif
