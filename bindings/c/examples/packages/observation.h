// One process observes what another commits.
#ifndef OBSERVATION_H
#define OBSERVATION_H

#include <sys/types.h>

#include "catalog.h"

// The other process: this program, run again to write.
typedef struct writer {
    pid_t process;
    int orders; // a byte written here lets it make its next commit
} writer;

// Starts the writer on a database that need not exist yet. Before this process opens anything.
writer writer_start(const char *program, const char *path);

// What the writer does: one commit for each byte on its standard input.
void writer_run(const char *path);

// Observes a query while the writer makes its commits, follows them by their indices in a copy, and compares. False when they differ.
bool observe_writer(catalog *catalog, writer writer);

#endif
