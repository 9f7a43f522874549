// Packages, one after another, from a dpkg status file or from JSON lines.
#ifndef PACKAGE_SOURCE_H
#define PACKAGE_SOURCE_H

#include <stdbool.h>
#include <stdio.h>
#include <toft.h>

// Some texts in a row.
typedef struct names {
    toft_string *items;
    size_t count, capacity;
} names;

// One package. Its texts are valid until the next one is read.
typedef struct package {
    toft_string name, version, section, priority, maintainer, description, homepage;
    int64_t size;           // bytes of the archive; 0 where the source does not say
    int64_t installed_size; // KiB
    bool is_essential;
    names tags, depends, recommends; // names, each once
} package;

typedef struct package_source {
    FILE *file;
    const char *path;
    bool is_status;  // dpkg's paragraphs instead of JSON lines
    size_t line;     // the last one read, for messages
    char *text;      // the line or paragraph that the package points into
    size_t capacity;
    package package;
} package_source;

// Opens a file and looks at its first byte to tell the two kinds apart. Ends the program when it cannot.
void package_source_open(package_source *source, const char *path);

// The next package, or NULL at the end. Packages that are not installed are skipped. Malformed input ends the program.
const package *package_source_next(package_source *source);

// Goes back to the beginning.
void package_source_rewind(package_source *source);

void package_source_close(package_source *source);

// Adds a text unless it is there.
void names_add(names *list, toft_string name);

// Readers of one line (package_json.c) or paragraph (package_status.c); both change the text and let the package point into it.
bool package_read_json(package *package, char *line, size_t size, const char **problem);
bool package_read_paragraph(package *package, char *paragraph);

#endif
