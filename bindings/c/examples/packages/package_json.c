// A reader for one JSON object whose values are strings, numbers, booleans, null or lists of strings. Strings are unescaped in place, for
// they only get shorter.
#include <stdlib.h>
#include <string.h>

#include "package_source.h"

typedef struct reader {
    char *next;
    const char *end;
    const char *problem;
} reader;

static bool fail(reader *reader, const char *problem) {
    if (reader->problem == NULL) reader->problem = problem;
    return false;
}

static void skip_space(reader *reader) {
    while (reader->next < reader->end && strchr(" \t\r\n", *reader->next) != NULL && *reader->next != '\0') reader->next++;
}

static bool accept(reader *reader, char wanted) {
    skip_space(reader);
    if (reader->next == reader->end || *reader->next != wanted) return false;
    reader->next++;
    return true;
}

static bool read_hex(reader *reader, unsigned *out_unit) {
    if (reader->end - reader->next < 4) return fail(reader, "an unfinished \\u");
    unsigned unit = 0;
    for (int digit = 0; digit < 4; digit++) {
        char c = *reader->next++;
        if (c >= '0' && c <= '9') unit = unit * 16 + (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f') unit = unit * 16 + (unsigned)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F') unit = unit * 16 + (unsigned)(c - 'A') + 10;
        else return fail(reader, "a \\u without four hexadecimal digits");
    }
    *out_unit = unit;
    return true;
}

static char *write_utf8(char *out, unsigned scalar) {
    if (scalar < 0x80) {
        *out++ = (char)scalar;
    } else if (scalar < 0x800) {
        *out++ = (char)(0xC0 | scalar >> 6);
        *out++ = (char)(0x80 | (scalar & 0x3F));
    } else if (scalar < 0x10000) {
        *out++ = (char)(0xE0 | scalar >> 12);
        *out++ = (char)(0x80 | (scalar >> 6 & 0x3F));
        *out++ = (char)(0x80 | (scalar & 0x3F));
    } else {
        *out++ = (char)(0xF0 | scalar >> 18);
        *out++ = (char)(0x80 | (scalar >> 12 & 0x3F));
        *out++ = (char)(0x80 | (scalar >> 6 & 0x3F));
        *out++ = (char)(0x80 | (scalar & 0x3F));
    }
    return out;
}

// Six bytes of escape become at most three, twelve at most four.
static bool read_unicode_escape(reader *reader, char **out) {
    unsigned scalar = 0, low = 0;
    if (!read_hex(reader, &scalar)) return false;
    if (scalar >= 0xD800 && scalar < 0xDC00) {
        if (reader->end - reader->next < 6 || reader->next[0] != '\\' || reader->next[1] != 'u') return fail(reader, "half a surrogate pair");
        reader->next += 2;
        if (!read_hex(reader, &low)) return false;
        if (low < 0xDC00 || low > 0xDFFF) return fail(reader, "half a surrogate pair");
        scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00);
    } else if (scalar >= 0xDC00 && scalar < 0xE000) {
        return fail(reader, "half a surrogate pair");
    }
    *out = write_utf8(*out, scalar);
    return true;
}

static bool read_escape(reader *reader, char **out) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (reader->next == reader->end) return fail(reader, "an unfinished string");
    char letter = *reader->next++;
    if (letter == 'u') return read_unicode_escape(reader, out);
    const char *found = letter == '\0' ? NULL : strchr(letters, letter);
    if (found == NULL) return fail(reader, "an unknown escape");
    *(*out)++ = meanings[found - letters];
    return true;
}

static bool read_string(reader *reader, toft_string *out_string) {
    if (!accept(reader, '"')) return fail(reader, "a string is missing");
    char *start = reader->next, *out = start;
    while (reader->next < reader->end) {
        char c = *reader->next++;
        if (c == '"') {
            out_string->data = start;
            out_string->size = (size_t)(out - start);
            return true;
        }
        if (c != '\\') *out++ = c;
        else if (!read_escape(reader, &out)) return false;
    }
    return fail(reader, "an unfinished string");
}

static bool read_names(reader *reader, names *out_names) {
    if (!accept(reader, '[')) return fail(reader, "a list is missing");
    if (accept(reader, ']')) return true;
    do {
        toft_string name;
        if (!read_string(reader, &name)) return false;
        names_add(out_names, name);
    } while (accept(reader, ','));
    return accept(reader, ']') || fail(reader, "an unfinished list");
}

static bool accept_word(reader *reader, const char *word) {
    skip_space(reader);
    size_t size = strlen(word);
    if ((size_t)(reader->end - reader->next) < size || memcmp(reader->next, word, size) != 0) return false;
    reader->next += size;
    return true;
}

static bool read_integer(reader *reader, int64_t *out_integer) {
    skip_space(reader);
    char *after = NULL;
    *out_integer = strtoll(reader->next, &after, 10);
    if (after == reader->next) return fail(reader, "an integer is missing");
    reader->next = after;
    return true;
}

static bool read_boolean(reader *reader, bool *out_boolean) {
    *out_boolean = accept_word(reader, "true");
    return *out_boolean || accept_word(reader, "false") || fail(reader, "true or false is missing");
}

static bool is(toft_string key, const char *name) {
    return key.size == strlen(name) && memcmp(key.data, name, key.size) == 0;
}

static bool read_value(reader *reader, toft_string key, package *package) {
    if (accept_word(reader, "null")) return true;
    if (is(key, "name")) return read_string(reader, &package->name);
    if (is(key, "version")) return read_string(reader, &package->version);
    if (is(key, "section")) return read_string(reader, &package->section);
    if (is(key, "priority")) return read_string(reader, &package->priority);
    if (is(key, "maintainer")) return read_string(reader, &package->maintainer);
    if (is(key, "description")) return read_string(reader, &package->description);
    if (is(key, "homepage")) return read_string(reader, &package->homepage);
    if (is(key, "size")) return read_integer(reader, &package->size);
    if (is(key, "installedSize")) return read_integer(reader, &package->installed_size);
    if (is(key, "essential")) return read_boolean(reader, &package->is_essential);
    if (is(key, "tags")) return read_names(reader, &package->tags);
    if (is(key, "depends")) return read_names(reader, &package->depends);
    if (is(key, "recommends")) return read_names(reader, &package->recommends);
    return fail(reader, "an unknown key");
}

static bool read_object(reader *reader, package *package) {
    if (!accept(reader, '{')) return fail(reader, "an object is missing");
    do {
        toft_string key;
        if (!read_string(reader, &key)) return false;
        if (!accept(reader, ':')) return fail(reader, "a colon is missing");
        if (!read_value(reader, key, package)) return false;
    } while (accept(reader, ','));
    if (!accept(reader, '}')) return fail(reader, "an unfinished object");
    return package->name.size > 0 || fail(reader, "a package without a name");
}

bool package_read_json(package *package, char *line, size_t size, const char **problem) {
    reader reader = {.next = line, .end = line + size, .problem = NULL};
    bool ok = read_object(&reader, package);
    *problem = reader.problem;
    return ok;
}
