#define _POSIX_C_SOURCE 200809L
#include "package_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void fail(const package_source *source, const char *problem) {
    fprintf(stderr, "%s:%zu: %s\n", source->path, source->line, problem);
    exit(1);
}

void package_source_open(package_source *source, const char *path) {
    memset(source, 0, sizeof *source);
    source->path = path;
    source->file = fopen(path, "r");
    if (source->file == NULL) fail(source, strerror(errno));
    int first = getc(source->file);
    source->is_status = first != '{';
    rewind(source->file);
}

void package_source_rewind(package_source *source) {
    rewind(source->file);
    source->line = 0;
}

void package_source_close(package_source *source) {
    fclose(source->file);
    free(source->text);
    free(source->package.tags.items);
    free(source->package.depends.items);
    free(source->package.recommends.items);
}

void names_add(names *list, toft_string name) {
    for (size_t index = 0; index < list->count; index++) {
        if (list->items[index].size == name.size && memcmp(list->items[index].data, name.data, name.size) == 0) return;
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 16;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (list->items == NULL) abort();
    }
    list->items[list->count++] = name;
}

static void clear(package *package) {
    struct package empty = {.tags = package->tags, .depends = package->depends, .recommends = package->recommends};
    empty.tags.count = empty.depends.count = empty.recommends.count = 0;
    *package = empty;
}

// Reads one line behind `used` bytes of the text; returns its length, or -1 at the end of the file.
static ssize_t read_line(package_source *source, size_t used) {
    static char *line = NULL;
    static size_t capacity = 0;
    ssize_t size = getline(&line, &capacity, source->file);
    if (size < 0) return -1;
    source->line++;
    if (used + (size_t)size + 1 > source->capacity) {
        source->capacity = (used + (size_t)size + 1) * 2;
        source->text = realloc(source->text, source->capacity);
        if (source->text == NULL) abort();
    }
    memcpy(source->text + used, line, (size_t)size + 1);
    return size;
}

static const package *next_json(package_source *source) {
    ssize_t size = read_line(source, 0);
    if (size < 0) return NULL;
    clear(&source->package);
    const char *problem = NULL;
    if (!package_read_json(&source->package, source->text, (size_t)size, &problem)) fail(source, problem);
    return &source->package;
}

static const package *next_paragraph(package_source *source) {
    while (true) {
        size_t used = 0;
        ssize_t size;
        while ((size = read_line(source, used)) > 1) used += (size_t)size;
        if (used == 0 && size < 0) return NULL;
        if (used == 0) continue;
        source->text[used] = '\0';
        clear(&source->package);
        if (package_read_paragraph(&source->package, source->text)) return &source->package;
    }
}

const package *package_source_next(package_source *source) {
    return source->is_status ? next_paragraph(source) : next_json(source);
}
