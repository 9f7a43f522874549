// A reader for one paragraph of dpkg's status file: lines of "Field: value". Lines that begin with a blank (the long description) are skipped.
#include <stdlib.h>
#include <string.h>

#include "package_source.h"

static bool is(const char *line, const char *colon, const char *field) {
    return (size_t)(colon - line) == strlen(field) && memcmp(line, field, strlen(field)) == 0;
}

// Adds the names in "libc6 (>= 2.34), default-mta | mail-transport-agent, python3:any": what may be installed, whatever the version.
static void add_relations(names *list, const char *text, size_t size) {
    const char *end = text + size;
    while (text < end) {
        while (text < end && strchr(" \t,|", *text) != NULL) text++;
        const char *start = text;
        while (text < end && strchr(" \t,|(:[<", *text) == NULL) text++;
        if (text > start) names_add(list, (toft_string){start, (size_t)(text - start)});
        while (text < end && *text != ',' && *text != '|') text++;
    }
}

// Adds the tags in "role::program, suite::debian".
static void add_tags(names *list, const char *text, size_t size) {
    const char *end = text + size;
    while (text < end) {
        while (text < end && strchr(" \t,\n", *text) != NULL) text++;
        const char *start = text;
        while (text < end && strchr(" \t,\n", *text) == NULL) text++;
        if (text > start) names_add(list, (toft_string){start, (size_t)(text - start)});
    }
}

static void take_field(package *package, const char *line, const char *colon, toft_string value) {
    if (is(line, colon, "Package")) package->name = value;
    else if (is(line, colon, "Version")) package->version = value;
    else if (is(line, colon, "Section")) package->section = value;
    else if (is(line, colon, "Priority")) package->priority = value;
    else if (is(line, colon, "Maintainer")) package->maintainer = value;
    else if (is(line, colon, "Homepage")) package->homepage = value;
    else if (is(line, colon, "Description")) package->description = value;
    else if (is(line, colon, "Installed-Size")) package->installed_size = strtoll(value.data, NULL, 10);
    else if (is(line, colon, "Size")) package->size = strtoll(value.data, NULL, 10);
    else if (is(line, colon, "Essential")) package->is_essential = value.size == 3 && memcmp(value.data, "yes", 3) == 0;
    else if (is(line, colon, "Depends") || is(line, colon, "Pre-Depends")) add_relations(&package->depends, value.data, value.size);
    else if (is(line, colon, "Recommends")) add_relations(&package->recommends, value.data, value.size);
    else if (is(line, colon, "Tag")) add_tags(&package->tags, value.data, value.size);
}

static bool is_installed(toft_string status) {
    static const char installed[] = " installed";
    size_t size = sizeof installed - 1;
    return status.size >= size && memcmp(status.data + status.size - size, installed, size) == 0;
}

bool package_read_paragraph(package *package, char *paragraph) {
    bool installed = true;
    for (char *line = paragraph; *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end == NULL) end = line + strlen(line);
        char *next = *end == '\n' ? end + 1 : end;
        char *colon = memchr(line, ':', (size_t)(end - line));
        if (*line != ' ' && *line != '\t' && colon != NULL) {
            char *value = colon + 1;
            while (value < end && *value == ' ') value++;
            toft_string text = {value, (size_t)(end - value)};
            if (is(line, colon, "Status")) installed = is_installed(text);
            else take_field(package, line, colon, text);
        }
        line = next;
    }
    return installed && package->name.size > 0;
}
