// The packages as objects: their class, loading them, and the questions about them.
#ifndef CATALOG_H
#define CATALOG_H

#include "../example.h"
#include "package_source.h"

// The open database, with the keys that everything here uses.
typedef struct catalog {
    toft_realm *realm;
    toft_class_key package;
    toft_property_key name, version, section, priority, maintainer, size, installed_size, essential, description, homepage, tags, depends,
        recommends, dependents;
    toft_results *all;
} catalog;

// What loading did.
typedef struct load_report {
    uint64_t packages, repeated;
    uint64_t depends, recommends;                 // links made
    uint64_t missing_depends, missing_recommends; // names that no package has
} load_report;

void catalog_open(catalog *catalog, const char *path);
void catalog_close(catalog *catalog);

// Reads the source twice: first every package, then, when all can be found, the links between them. Two transactions.
load_report catalog_load(catalog *catalog, package_source *source);

// Asks five questions and prints the answers.
void catalog_answer(catalog *catalog);

// A number with commas: "1,234,567". Valid until eight more have been asked for.
const char *grouped(int64_t number);

#endif
