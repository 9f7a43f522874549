// Shared by the examples: a call that fails says why and ends the program.
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <toft.h>

static inline void example_check(toft_status status, const char *call, const char *file, int line) {
    if (status == TOFT_OK) return;
    toft_error error;
    TOFT_INITIALIZE(&error);
    toft_last_error(&error);
    fprintf(stderr, "%s:%d: %s\n%s: %s\n%s\n", file, line, call, toft_status_name(status),
        error.message.data, error.detail.data);
    exit(1);
}

// Makes a call; continues only if it succeeded.
#define CHECK(call) example_check((call), #call, __FILE__, __LINE__)

// The key of a class, by name.
static inline toft_class_key class_key(toft_realm *realm, const char *name) {
    toft_class_key key = 0;
    CHECK(toft_realm_find_class(realm, toft_text(name), &key));
    return key;
}

// The key of a property, by name.
static inline toft_property_key property_key(
    toft_realm *realm, toft_class_key class_key, const char *name) {
    toft_property_key key = 0;
    CHECK(toft_realm_find_property(realm, class_key, toft_text(name), &key));
    return key;
}

#endif
