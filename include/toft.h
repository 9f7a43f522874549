/*
 * toft.h: the C API of Toft, an embedded object database in a single file.
 *
 * A program declares classes, opens a file and works with objects as if they were in memory.
 * Objects, collections and results are live: they always show their realm's version of the data.
 * Writes are ACID transactions. Any number of threads and processes read consistent snapshots while
 * one writes, and observers are notified of changes, down to the indices.
 *
 * A program:
 *
 *     #include <stdio.h>
 *     #include <toft.h>
 *
 *     static const toft_property_schema dog[] = {
 *         TOFT_PROPERTY("name", TOFT_TYPE_STRING, TOFT_PROPERTY_PRIMARY_KEY),
 *         TOFT_PROPERTY("age", TOFT_TYPE_INT, 0),
 *     };
 *     static const toft_class_schema classes[] = {TOFT_CLASS("Dog", dog)};
 *
 *     int main(void) { // every call returns a status; a real program looks at it
 *         toft_configuration configuration;
 *         TOFT_INITIALIZE(&configuration);
 *         configuration.path = toft_text("dogs.toft");
 *         configuration.classes = classes, configuration.class_count = 1;
 *         toft_realm *realm = NULL;
 *         toft_class_key dogs;
 *         toft_realm_open(&configuration, &realm);
 *         toft_realm_find_class(realm, toft_text("Dog"), &dogs);
 *
 *         toft_string rex = toft_text("{\"name\": \"Rex\", \"age\": 3}");
 *         toft_realm_begin_write(realm, NULL);
 *         toft_realm_create_from_json(realm, dogs, TOFT_UPDATE_MODIFIED, rex, NULL, NULL, NULL);
 *         toft_realm_commit(realm, NULL, NULL); // on the disk, and visible to every process
 *
 *         toft_results *all = NULL, *young = NULL;
 *         uint64_t count = 0;
 *         toft_realm_objects(realm, dogs, &all);
 *         toft_results_filter(all, toft_text("age < 5 AND name BEGINSWITH 'R'"), NULL, 0, &young);
 *         toft_results_count(young, &count);
 *         printf("%d young dogs\n", (int)count);
 *         toft_results_release(young), toft_results_release(all), toft_realm_release(realm);
 *         return 0;
 *     }
 *
 * CONVENTIONS
 *
 *  1. Handles. A `toft_realm *`, `toft_object *`... is never dereferenced by anyone: its bits are
 *     an index with a generation, so a stale, forged or foreign handle, and one of another kind, is
 *     TOFT_ERROR_INVALID_HANDLE and never a crash. Each is released with `toft_<noun>_release`,
 *     once, from any thread, at any time and in any order; NULL and dead handles are no-ops there.
 *     A handle keeps what it needs alive: an object may outlive the handle of its realm. A release
 *     ends the handle at once. With the last handle the realm closes before the release returns, on
 *     whichever thread that is (tokens do not count); if the realm's thread is inside a call with
 *     it, at the end of that call. Objects kept by other handles end at once on the realm's thread,
 *     otherwise no later than the realm.
 *  2. Results. Every function that can fail returns a `toft_status`, and results come through
 *     trailing out-parameters, which are written only when the status is TOFT_OK. An out-parameter
 *     may be NULL only if its description says "may be NULL".
 *  3. Text and bytes are pointer + length (`toft_string`, `toft_data`); text is UTF-8 and need not
 *     end in NUL. {NULL, 0} is the empty one; NULL with a length is an error. The library borrows
 *     its arguments until the call returns. The caller borrows the library's results until the
 *     realm moves (refresh, begin, commit, cancel, dispatch, close, last release) and, inside a
 *     write transaction, until the next function that writes; another time is stated. Text that is
 *     written into a buffer of the caller always ends in NUL, as with snprintf.
 *  4. Structures that may grow begin with `size`, set by the caller to sizeof the structure
 *     (TOFT_INITIALIZE does that and clears the rest). The library reads and writes no byte beyond
 *     it. A size smaller than that of ABI version 2 is an error; so is a larger one whose unknown
 *     part is not zero, if the structure is an input. If it is an output, the library sets `size`
 *     to the bytes that it filled in: TOFT_HAS says whether a member is among them. Options may be
 *     NULL, which means all zero. Reserved members must be 0.
 *  5. Threads. A realm belongs to the thread that opened it, and so does everything got from it: on
 *     another thread they return TOFT_ERROR_WRONG_THREAD. With TOFT_CONFINEMENT_CALLER any thread
 *     may call, one at a time; with a frozen realm (toft_realm_freeze), any number of threads.
 *     Functions without this rule say "Any thread". Open the file once on each thread that needs
 *     it; that is cheap. In a child made by fork() every handle of the parent's is
 *     TOFT_ERROR_USED_AFTER_FORK, and its release does nothing; schemas and queries excepted, which
 *     belong to no realm. The child opens the file itself, even if other threads of the parent were
 *     inside the library. No function may be called in a signal handler, nor in a handler of
 *     pthread_atfork.
 *  6. Callbacks run on the thread of their realm, inside toft_realm_dispatch, toft_realm_refresh or
 *     toft_realm_begin_write, those of toft_realm_observe inside toft_realm_commit too, and never
 *     inside a lock: they may call anything. They must return: an exception of C++, longjmp and
 *     pthread_exit out of a callback are undefined behaviour. Each comes with a pointer for the
 *     caller's use and a function (may be NULL) that is called once when the pointer is no longer
 *     needed; after a failed call the pointer is still the caller's.
 *  7. Errors. toft_last_error gives code, message and detail of the last failure on the calling
 *     thread, toft_realm_last_error those of the last failure with a realm.
 *  8. Not found. A class or property that is asked for by name and is not there is an error. An
 *     object, an element or a least value that is sought and not there is no error: the status is
 *     TOFT_OK, the result NULL, TOFT_NO_INDEX or a null value.
 *  9. Growth. Nothing is exported that is not declared here. toft_abi_version() must equal
 *     TOFT_ABI_VERSION; compare them at load. As long as it does, later versions of the library
 *     only add: functions, members at the end of structures with a `size`, enumerators. A program
 *     must expect types, flags, status codes and kinds of changes that its header does not list.
 *     Functions are there since version 0.1.0 unless "Since" is said.
 *
 * Every function that takes a handle can fail with these, which are not repeated below ("the
 * usual"): TOFT_ERROR_INVALID_HANDLE, TOFT_ERROR_WRONG_THREAD, TOFT_ERROR_USED_AFTER_FORK,
 * TOFT_ERROR_CLOSED; TOFT_ERROR_INVALID_ARGUMENT for a NULL that is not allowed, a length beyond
 * the address space, an enumerator that does not exist, a reserved member that is not 0 or text
 * that is not UTF-8; TOFT_ERROR_UNSUPPORTED for flags and types that this version of the library
 * does not have; and, as any access to the file may meet damage or a failing disk,
 * TOFT_ERROR_CORRUPT and TOFT_ERROR_FILE_ACCESS. Costs are stated if they are not constant; n is
 * the number of objects of a class.
 *
 * Functions marked "Writes." need a write transaction, else TOFT_ERROR_NOT_IN_TRANSACTION.
 */
#ifndef TOFT_H
#define TOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define TOFT_API __attribute__((visibility("default")))
#else
#define TOFT_API
#endif

/* An enumeration of a fixed width, whatever the compiler's flags: in C++, C23 and Swift an
   enumeration, in older C a typedef of the type and constants. A value that this header does not
   list may come from a newer library: expect it. */
#if defined(__cplusplus) || defined(__swift__)                                                     \
    || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define TOFT_ENUM(name, type)                                                                      \
    enum name : type;                                                                              \
    typedef enum name name;                                                                        \
    enum name : type
#else
#define TOFT_ENUM(name, type)                                                                      \
    typedef type name;                                                                             \
    enum
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ===================================================================================== Versions */

#define TOFT_VERSION_MAJOR 0
#define TOFT_VERSION_MINOR 1
#define TOFT_VERSION_PATCH 0
#define TOFT_VERSION "0.1.0"

/* Grows when a program built against an older header could misbehave; adding functions does not
   change it. */
#define TOFT_ABI_VERSION 2

/* The library's version, like TOFT_VERSION. NUL-terminated, lives for ever. Any thread; never
   fails. */
TOFT_API const char *toft_version(void);

/* The library's version as one number: major * 1,000,000 + minor * 1,000 + patch. Any thread; never
   fails. */
TOFT_API uint32_t toft_version_number(void);

/* The library's ABI version, to compare with TOFT_ABI_VERSION. Any thread; never fails. */
TOFT_API uint32_t toft_abi_version(void);

/* ======================================================================================= Values */

/* Text: `size` bytes of UTF-8. See convention 3. */
typedef struct toft_string {
    const char *data;
    size_t size;
} toft_string;

/* Bytes. See convention 3. */
typedef struct toft_data {
    const void *data;
    size_t size;
} toft_data;

/* A point in time: seconds and nanoseconds (-999,999,999...999,999,999) since 1970-01-01 00:00 UTC,
   both of the same sign. */
typedef struct toft_date {
    int64_t seconds;
    int32_t nanoseconds;
} toft_date;

/* Names a class, and a property within its class. The keys are those of the file: the same in every
   process and for ever, never reused; 0 is no key. Find them by name once, keep them as long as the
   file is open. */
typedef uint32_t toft_class_key;
typedef uint32_t toft_property_key;

/* Names an object: its class and its key there. Plain data, needs no release, stays valid on any
   thread; keys are never reused, so a link to a deleted object never turns into one to another. */
typedef struct toft_link {
    int64_t object_key;
    toft_class_key class_key;
} toft_link;

/* The types of values and properties. */
TOFT_ENUM(toft_type, uint32_t) {
    TOFT_TYPE_NULL = 0, /* values only */
    TOFT_TYPE_BOOL = 1,
    TOFT_TYPE_INT = 2,    /* 64 bits, signed */
    TOFT_TYPE_FLOAT = 3,  /* IEEE 754 binary32 */
    TOFT_TYPE_DOUBLE = 4, /* IEEE 754 binary64 */
    TOFT_TYPE_STRING = 5, /* UTF-8, at most TOFT_MAX_VALUE_SIZE bytes */
    TOFT_TYPE_DATA = 6,   /* at most TOFT_MAX_VALUE_SIZE bytes */
    TOFT_TYPE_DATE = 7,
    TOFT_TYPE_LINK = 8, /* to an object of the property's target class */
    /* properties only: the objects that link here, computed, read-only */
    TOFT_TYPE_LINKING_OBJECTS = 9,
    /* values only: a whole list or set property that is set, an argument of a query (IN $0), or a
       list within a mixed property */
    TOFT_TYPE_LIST = 10,
    /* properties only: each value has a type of its own, null too, and may be a list or a
       dictionary of such values; what is given as a set is a list. Links lead to objects of any
       class that is not embedded. Always optional, no primary key */
    TOFT_TYPE_MIXED = 11,
    TOFT_TYPE_DECIMAL = 12,   /* IEEE 754-2008 decimal128: 34 digits */
    TOFT_TYPE_OBJECT_ID = 13, /* 12 bytes, by convention the seconds since 1970 first */
    TOFT_TYPE_UUID = 14,      /* 16 bytes */
    TOFT_TYPE_SET = 15,       /* values only, as TOFT_TYPE_LIST: a whole set property that is set */
    /* values only: a whole dictionary property that is set, or a dictionary within a mixed one */
    TOFT_TYPE_DICTIONARY = 16,
    /* reserved: values only, an object that the call creates; a library without it answers
       TOFT_ERROR_UNSUPPORTED */
    TOFT_TYPE_OBJECT = 17
};

/* Limits, in bytes. */
#define TOFT_MAX_CLASS_NAME_SIZE 57
#define TOFT_MAX_PROPERTY_NAME_SIZE 63
#define TOFT_MAX_VALUE_SIZE 16777215

/* Lists and dictionaries in one another, within a mixed property; one more is
   TOFT_ERROR_VALUE_TOO_LONG. */
#define TOFT_MAX_NESTED_COLLECTIONS 100

/* The two words of the binary encoding of IEEE 754-2008 (BID), as in BSON: in `high` a bit of sign,
   14 bits of the exponent + 6176 and the upper 49 bits of the coefficient, in `low` the others.
   1.50 is {150, 0x303C000000000000}. Every pair is a value: a coefficient beyond 34 digits counts
   as 0, as the standard says. Equal numbers are equal with different digits (1.0 and 1.00), which
   are kept; NaN equals NaN and sorts below all numbers. */
typedef struct toft_decimal {
    uint64_t low;
    uint64_t high;
} toft_decimal;
/* The bytes in the order in which their text spells them, which is that of sorting. */
typedef struct toft_uuid {
    uint8_t bytes[16];
} toft_uuid;
typedef struct toft_object_id {
    uint8_t bytes[12];
} toft_object_id;

/* Several values in a row. */
typedef struct toft_values {
    const struct toft_value *data;
    size_t count;
} toft_values;

/* Several keys with their values. */
typedef struct toft_entries {
    const struct toft_entry *data;
    size_t count;
} toft_entries;

/* One value: the member that `type` names. Expect types that this header does not list. A list or
   dictionary that was read from a mixed property has its count, and NULL for its elements, which a
   handle reads (toft_object_list); in results, aggregates and old values it has its elements. */
typedef struct toft_value {
    toft_type type;
    uint32_t reserved; /* 0 */
    union {
        bool boolean;
        int64_t integer;
        float float32;
        double float64;
        toft_string string;
        toft_data data;
        toft_date date;
        toft_link link;
        toft_values list;
        toft_decimal decimal;
        toft_uuid uuid;
        toft_object_id object_id;
        toft_entries entries;
    };
} toft_value;

/* A key of a dictionary and its value. */
typedef struct toft_entry {
    toft_string key;
    toft_value value;
} toft_entry;

/* Makes a toft_string of a NUL-terminated string (NULL gives the empty one); borrows it. */
static inline toft_string toft_text(const char *text) {
    toft_string string;
    string.data = text;
    string.size = text ? strlen(text) : 0;
    return string;
}

/* A toft_string of a string literal, for static tables. */
#define TOFT_TEXT(literal) {"" literal, sizeof("" literal) - 1}

/* The precision and the pointer that "%.*s" of printf takes. */
#define TOFT_FORMAT_ARGUMENTS(string) (int)(string).size, (string).data

/* Clears a structure that begins with `size` and sets it. */
#define TOFT_INITIALIZE(pointer)                                                                   \
    ((void)memset((pointer), 0, sizeof *(pointer)), (void)((pointer)->size = sizeof *(pointer)))

/* Make values. Those of strings and data borrow. */
static inline toft_value toft_value_null(void) {
    toft_value value;
    memset(&value, 0, sizeof value);
    return value;
}
static inline toft_value toft_value_bool(bool boolean) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_BOOL;
    value.boolean = boolean;
    return value;
}
static inline toft_value toft_value_int(int64_t integer) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_INT;
    value.integer = integer;
    return value;
}
static inline toft_value toft_value_float(float number) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_FLOAT;
    value.float32 = number;
    return value;
}
static inline toft_value toft_value_double(double number) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_DOUBLE;
    value.float64 = number;
    return value;
}
static inline toft_value toft_value_string(toft_string string) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_STRING;
    value.string = string;
    return value;
}
static inline toft_value toft_value_text(const char *text) {
    return toft_value_string(toft_text(text));
}
static inline toft_value toft_value_data(const void *bytes, size_t size) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_DATA;
    value.data.data = bytes;
    value.data.size = size;
    return value;
}
static inline toft_value toft_value_date(int64_t seconds, int32_t nanoseconds) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_DATE;
    value.date.seconds = seconds;
    value.date.nanoseconds = nanoseconds;
    return value;
}
static inline toft_value toft_value_uuid(toft_uuid uuid) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_UUID;
    value.uuid = uuid;
    return value;
}
static inline toft_value toft_value_decimal(toft_decimal decimal) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_DECIMAL;
    value.decimal = decimal;
    return value;
}
static inline toft_value toft_value_object_id(toft_object_id object_id) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_OBJECT_ID;
    value.object_id = object_id;
    return value;
}
static inline toft_value toft_value_link(toft_link link) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_LINK;
    value.link = link;
    return value;
}
static inline toft_value toft_value_list(const toft_value *values, size_t count) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_LIST;
    value.list.data = values;
    value.list.count = count;
    return value;
}
static inline toft_value toft_value_entries(const toft_entry *entries, size_t count) {
    toft_value value = toft_value_null();
    value.type = TOFT_TYPE_DICTIONARY;
    value.entries.data = entries;
    value.entries.count = count;
    return value;
}

/* ======================================================================================= Errors */

/* How a call ended. Codes are grouped by moment and never change their meaning; new ones may be
   added to a group. */
TOFT_ENUM(toft_status, int32_t) {
    TOFT_OK = 0,

    /* Use */
    /* An argument that no call could accept: an unknown constant, text that is not UTF-8, null
       for a value. */
    TOFT_ERROR_INVALID_ARGUMENT = 1,
    /* A handle that is null, released, forged or of another kind. Swift and Python have no
       handles. */
    TOFT_ERROR_INVALID_HANDLE = 2,
    /* A realm, or something that belongs to one, was used on another thread or queue than its
       own. */
    TOFT_ERROR_WRONG_THREAD = 3,
    /* The realm has been closed or invalidated. */
    TOFT_ERROR_CLOSED = 4,
    /* The realm was opened by the parent process, before `fork`. */
    TOFT_ERROR_USED_AFTER_FORK = 5,
    /* The file or the caller asks for something that this version does not have. */
    TOFT_ERROR_UNSUPPORTED = 6,
    /* A mistake in Toft: please report it. */
    TOFT_ERROR_INTERNAL = 7,
    /* Two things of one call belong to different realms. */
    TOFT_ERROR_WRONG_REALM = 8,
    /* Another thread ended a wait or a query. */
    TOFT_ERROR_INTERRUPTED = 9,

    /* Opening, and the file */
    /* There is no such file, and none may be made. */
    TOFT_ERROR_FILE_NOT_FOUND = 101,
    /* The file or its folder can't be used with the rights of this process. */
    TOFT_ERROR_PERMISSION_DENIED = 102,
    /* The path is that of a folder. */
    TOFT_ERROR_IS_DIRECTORY = 103,
    /* The file is something else than a database of Toft; the message says what it looks like. */
    TOFT_ERROR_NOT_A_DATABASE = 104,
    /* A Toft file of a version, or with a feature, that this version of the library does not
       have. */
    TOFT_ERROR_UNSUPPORTED_FORMAT = 105,
    /* Bytes of the file are damaged; the number is the page. It can be found at any moment. */
    TOFT_ERROR_CORRUPT = 106,
    /* A process with another version of the library has the file open. */
    TOFT_ERROR_INCOMPATIBLE_PROCESS = 107,
    /* A system call failed; the detail names it, and the number is its errno. */
    TOFT_ERROR_FILE_ACCESS = 108,
    /* No space is left on the disk; nothing was changed. */
    TOFT_ERROR_DISK_FULL = 109,
    /* The process has no room left to map the file. */
    TOFT_ERROR_ADDRESS_SPACE_EXHAUSTED = 110,
    /* The file would grow beyond what the file system or the format holds. */
    TOFT_ERROR_FILE_TOO_LARGE = 111,
    /* The file is open, so this can't be done to it. */
    TOFT_ERROR_ALREADY_OPEN = 112,
    /* The file is open in this process with another configuration or schema. */
    TOFT_ERROR_CONFIGURATION_MISMATCH = 113,
    /* Another file was put in the place of the open one. */
    TOFT_ERROR_FILE_REPLACED = 114,
    /* Too many readers have the file open, or more versions are kept than the configuration
       allows; the number is then how many. */
    TOFT_ERROR_TOO_MANY_READERS = 115,
    /* The file that was to be made is there already; nothing was changed. */
    TOFT_ERROR_FILE_EXISTS = 116,
    /* The file is encrypted, and no key was given. */
    TOFT_ERROR_KEY_REQUIRED = 117,
    /* The file is encrypted with another key. */
    TOFT_ERROR_WRONG_KEY = 118,
    /* A key was given, and the file is not encrypted. */
    TOFT_ERROR_NOT_ENCRYPTED = 119,
    /* The file has an older version than the configuration asks for; the number is that of the
       file. */
    TOFT_ERROR_VERSION_TOO_LOW = 120,

    /* Transactions */
    /* A change outside of a write transaction. */
    TOFT_ERROR_NOT_IN_TRANSACTION = 201,
    /* A write transaction was begun inside another. */
    TOFT_ERROR_ALREADY_IN_TRANSACTION = 202,
    /* The realm, the file or the disk is read-only, or the object or collection to be changed is
       frozen. */
    TOFT_ERROR_READ_ONLY = 203,
    /* Another writer did not finish in time. */
    TOFT_ERROR_LOCK_TIMEOUT = 204,
    /* A sync failed in some process: nothing is written until all have closed the file. */
    TOFT_ERROR_POISONED = 205,
    /* A sync failed in this commit: whether it is on disk is known when the file is opened
       again. */
    TOFT_ERROR_COMMIT_OUTCOME_UNKNOWN = 206,

    /* Schema */
    /* The declared classes break rules; the detail lists every problem, one a line. */
    TOFT_ERROR_INVALID_SCHEMA = 301,
    /* The declared classes differ from the file's in a way that opening does not change; the
       detail lists every difference, one a line. */
    TOFT_ERROR_SCHEMA_MISMATCH = 302,
    /* The file has a higher schema version than the configuration. */
    TOFT_ERROR_SCHEMA_VERSION_TOO_LOW = 303,
    /* The realm has no such class. */
    TOFT_ERROR_NO_SUCH_CLASS = 304,
    /* The class has no such property. */
    TOFT_ERROR_NO_SUCH_PROPERTY = 305,

    /* Objects */
    /* The object has been deleted, or its realm invalidated. */
    TOFT_ERROR_OBJECT_DELETED = 401,
    /* There is no such object. */
    TOFT_ERROR_NO_SUCH_OBJECT = 402,
    /* Another object of the class has this primary key. */
    TOFT_ERROR_DUPLICATE_PRIMARY_KEY = 403,
    /* A primary key is needed and none was given, or the class has none. */
    TOFT_ERROR_MISSING_PRIMARY_KEY = 404,
    /* The primary key of an object never changes. */
    TOFT_ERROR_PRIMARY_KEY_CHANGE = 405,
    /* A value of another type than the property's, or a link to another class. */
    TOFT_ERROR_TYPE_MISMATCH = 406,
    /* Null for a property that is not optional. */
    TOFT_ERROR_NULL_NOT_ALLOWED = 407,
    /* A string or data of more than 16 MiB - 1, or too long for a primary key. */
    TOFT_ERROR_VALUE_TOO_LONG = 408,
    /* Linking objects only show what others link; they can't be set. */
    TOFT_ERROR_READ_ONLY_PROPERTY = 409,
    /* A sum of integers, or a counter, leaves the range of 64 bits. */
    TOFT_ERROR_OVERFLOW = 410,
    /* An embedded object was to be created without an owner, or to get a second one. */
    TOFT_ERROR_EMBEDDED_OBJECT = 411,
    /* A property with the delete rule "deny" links to the object that was to be deleted; the
       number is the key of the object that links. */
    TOFT_ERROR_DELETION_DENIED = 412,
    /* Two objects have the same values of properties that are unique. */
    TOFT_ERROR_DUPLICATE_VALUE = 413,

    /* Collections and results */
    /* There is no such index; the number is the index. */
    TOFT_ERROR_INDEX_OUT_OF_RANGE = 501,
    /* The object that owned the collection, or the base of the results, has been deleted. */
    TOFT_ERROR_COLLECTION_INVALIDATED = 502,

    /* Queries */
    /* The text of a query does not follow the grammar; the detail shows the place with a caret,
       and the number is its offset in bytes. */
    TOFT_ERROR_QUERY_SYNTAX = 601,
    /* The query is well-formed, but asks for something that does not exist. */
    TOFT_ERROR_INVALID_QUERY = 602,
    /* The query compares types that can't be compared. */
    TOFT_ERROR_QUERY_TYPE_MISMATCH = 603,
    /* An argument of the query is missing or of the wrong type. */
    TOFT_ERROR_INVALID_QUERY_ARGUMENT = 604,
    /* The property has no such aggregate, like a sum of strings. */
    TOFT_ERROR_UNSUPPORTED_AGGREGATE = 605,

    /* Observation */
    /* An observer was added in a transaction that has already changed something. */
    TOFT_ERROR_OBSERVE_IN_TRANSACTION = 701,
    /* The call is not possible inside a notification callback. */
    TOFT_ERROR_INSIDE_CALLBACK = 702,
    /* A frozen thing can't be observed, the thread has no run loop or queue, or the system had
       no thread or descriptor left. */
    TOFT_ERROR_OBSERVATION_UNAVAILABLE = 703
};

/* The last failure of a thread. */
typedef struct toft_error {
    size_t size;
    toft_status code;
    /* of the code: errno, a page, an index, the offset in a query; 0 if the code has no number */
    int64_t number;
    toft_string message; /* one sentence for people: failure, place and remedy; also ends in NUL */
    /* further lines (differences of a schema, a query with its caret), or empty; ends in NUL */
    toft_string detail;
} toft_error;

/* Gives the last failure on the calling thread; code TOFT_OK and empty texts if nothing has failed
   since the thread began or toft_clear_last_error. Success does not clear it, nor does this call.
   The texts are valid until the next failing call on this thread. Errors:
   TOFT_ERROR_INVALID_ARGUMENT (NULL or a wrong size; does not replace the last error). Any
   thread. */
TOFT_API toft_status toft_last_error(toft_error *out_error);

/* Forgets the last failure of the calling thread. Any thread; never fails. */
TOFT_API void toft_clear_last_error(void);

/* The name of a code, "TOFT_ERROR_CORRUPT"; "TOFT_ERROR_UNKNOWN" for any other number.
   NUL-terminated, lives for ever. Any thread. */
TOFT_API const char *toft_status_name(toft_status status);

/* ====================================================================================== Handles */

typedef struct toft_schema toft_schema;         /* a validated set of classes; any thread */
typedef struct toft_realm toft_realm;           /* a view of a database */
typedef struct toft_object toft_object;         /* a live object */
typedef struct toft_list toft_list;             /* a live list of an object */
typedef struct toft_set toft_set;               /* a live set of an object */
typedef struct toft_dictionary toft_dictionary; /* a live dictionary of an object */
/* live results of a query, a class, a collection or an inverse link */
typedef struct toft_results toft_results;
typedef struct toft_token toft_token;         /* a running observation */
typedef struct toft_migration toft_migration; /* the opening of a file of an older schema version */
typedef struct toft_query toft_query;         /* a query that has been parsed; any thread */

/* How many handles of all kinds are alive in this process; a program that released everything reads
   0. A forked child counts its parent's too. Any thread. */
TOFT_API toft_status toft_handle_count(uint64_t *out_count);

/* Called once when user data is no longer needed, on the thread that released, closed or
   dispatched. */
typedef void (*toft_destructor)(void *user_data);

/* ========================================================================================== Log */

/* How much a message matters. */
TOFT_ENUM(toft_log_level, uint32_t) {
    TOFT_LOG_OFF = 0,
    TOFT_LOG_FATAL = 1, /* reserved: the library never ends the process */
    TOFT_LOG_ERROR = 2, /* a disk fails, a file is damaged, the library has a bug */
    /* a process died while it wrote, a file was not closed well, a call was a misuse */
    TOFT_LOG_WARN = 3,
    TOFT_LOG_INFO = 4,   /* a file was recovered */
    TOFT_LOG_DETAIL = 5, /* a file was opened, checkpoints fell behind */
    TOFT_LOG_DEBUG = 6,  /* each checkpoint */
    TOFT_LOG_TRACE = 7   /* reserved */
};

/* Called with one message, valid until it returns; it also ends in NUL. */
typedef void (*toft_log_callback)(void *user_data, toft_log_level level, toft_string message);

/* Sets the callback for messages up to `level`, for the whole process, in place of the previous
   one; TOFT_LOG_OFF removes it, and the other arguments are ignored. It is called on the thread of
   the call that the message is about, at its end, outside all locks, or on a thread of the
   library's: so by several threads at once. It must return, and may call nothing of the library but
   releases and functions that never fail: all others are TOFT_ERROR_INSIDE_CALLBACK there. The
   previous callback may still be running on another thread when this returns; `destroy_user_data`
   (may be NULL) is called when the last call of the callback has ended. A child made by fork()
   starts without. Any thread. Without a callback a message costs one load. */
TOFT_API toft_status toft_set_log(toft_log_level level, toft_log_callback callback, void *user_data,
    toft_destructor destroy_user_data);

/* =============================================================================== Schema as data */

/* The properties of a property besides its type; combined with |. */
TOFT_ENUM(toft_property_flags, uint32_t) {
    TOFT_PROPERTY_PLAIN = 0,
    /* may be null; in a collection: its elements may. To-one links and links in a dictionary always
       are, other links in collections and collections themselves never */
    TOFT_PROPERTY_NULLABLE = 1,
    /* unique and immutable; int, string, object id or UUID; at most one in a class; implies an
       index */
    TOFT_PROPERTY_PRIMARY_KEY = 2,
    TOFT_PROPERTY_INDEXED = 4, /* bool, int, string, date, object id or UUID */
    /* one of these: a list, a set, a dictionary of values of the type */
    TOFT_PROPERTY_LIST = 8,
    TOFT_PROPERTY_SET = 16,
    TOFT_PROPERTY_DICTIONARY = 32,
    /* a toft_unique of this property alone; of what may be TOFT_PROPERTY_INDEXED */
    TOFT_PROPERTY_UNIQUE = 64,
    TOFT_PROPERTY_FULL_TEXT = 128, /* reserved; TOFT_ERROR_UNSUPPORTED today */
    /* with TOFT_PROPERTY_PRIMARY_KEY, of an int that is not nullable: an object that is created
       without the key gets the next one, 1 more than the greatest that an object of the class has
       had, or 1. A deleted object's key is not given out again. Keys of a transaction that is
       rolled back may be */
    TOFT_PROPERTY_AUTO_INCREMENT = 256,
    /* The delete rule of a link or of a collection of links, at most one; not to an embedded class.
       Without one, what an object links to stays when it is deleted, and links to an object that is
       deleted become null or leave their collection. */
    /* what an object links to is deleted with it, whatever else links to that; so is what that
       links to with this rule, however deep, and circles end. Not in an embedded class */
    TOFT_PROPERTY_CASCADE = 512,
    /* an object cannot be deleted while another one links to it through this property, unless the
       same call deletes that one too: TOFT_ERROR_DELETION_DENIED */
    TOFT_PROPERTY_DENY = 1024
};

/* One property of a class. */
typedef struct toft_property_schema {
    size_t size;
    toft_string name; /* 1...TOFT_MAX_PROPERTY_NAME_SIZE bytes */
    toft_type type;
    uint32_t flags;           /* toft_property_flags */
    toft_string target_class; /* links and linking objects: the other class; else empty */
    /* linking objects: the property of target_class that links here; else empty */
    toft_string target_property;
} toft_property_schema;

/* The properties of a class besides its members; combined with |. */
TOFT_ENUM(toft_class_flags, uint32_t) {
    TOFT_CLASS_PLAIN = 0,
    /* Each object lives in exactly one other, in a to-one link, a list or a dictionary of links:
       toft_object_set_embedded and its like create it there. It is deleted with its owner, when the
       link is set to something else and when the collection loses it; so are the embedded objects
       in it, however deep. No primary key. A class is embedded for good. */
    TOFT_CLASS_EMBEDDED = 1
};

/* Properties whose values together are unique among the objects of a class; an object with null in
   one of them differs from every other. It holds when a transaction commits: in between two objects
   may have the same values. A commit that fails for it is cancelled. */
typedef struct toft_unique {
    size_t size;
    const toft_string *properties; /* names of what may be TOFT_PROPERTY_INDEXED, in any order */
    size_t property_count;
} toft_unique;

/* One class. The elements of `properties` are `properties[0].size` bytes apart. */
typedef struct toft_class_schema {
    size_t size;
    toft_string name; /* 1...TOFT_MAX_CLASS_NAME_SIZE bytes */
    const toft_property_schema *properties;
    size_t property_count;
    uint32_t flags;    /* toft_class_flags */
    uint32_t reserved; /* 0 */
    /* they are `uniques[0].size` bytes apart; may be NULL without any */
    const toft_unique *uniques;
    size_t unique_count;
} toft_class_schema;

/* Rows of static tables: a property; a to-one link; a list of links; an inverse link; a class of an
   array of properties. */
#define TOFT_PROPERTY(name, type, flags)                                                           \
    {sizeof(toft_property_schema), TOFT_TEXT(name), (type), (uint32_t)(flags), {NULL, 0}, {NULL, 0}}
#define TOFT_LINK_TO(name, target)                                                                 \
    {sizeof(toft_property_schema), TOFT_TEXT(name), TOFT_TYPE_LINK, TOFT_PROPERTY_NULLABLE,        \
        TOFT_TEXT(target), {NULL, 0}}
#define TOFT_LIST_OF_LINKS(name, target)                                                           \
    {sizeof(toft_property_schema), TOFT_TEXT(name), TOFT_TYPE_LINK, TOFT_PROPERTY_LIST,            \
        TOFT_TEXT(target), {NULL, 0}}
#define TOFT_LINKING_OBJECTS(name, target, property)                                               \
    {sizeof(toft_property_schema), TOFT_TEXT(name), TOFT_TYPE_LINKING_OBJECTS,                     \
        TOFT_PROPERTY_PLAIN, TOFT_TEXT(target), TOFT_TEXT(property)}
#define TOFT_CLASS(name, properties)                                                               \
    {sizeof(toft_class_schema), TOFT_TEXT(name), (properties),                                     \
        sizeof(properties) / sizeof((properties)[0]), 0, 0, NULL, 0}

/* Validates and copies a schema. The elements of `classes` are `classes[0].size` bytes apart; 0
   classes are a valid, empty schema. Errors: TOFT_ERROR_INVALID_SCHEMA, whose detail lists every
   problem. Any thread. Cost: the size of the schema. */
TOFT_API toft_status toft_schema_new(
    const toft_class_schema *classes, size_t class_count, toft_schema **out_schema);

/* Releases a schema; realms opened with it keep what they need. Any thread. */
TOFT_API void toft_schema_release(toft_schema *schema);

/* ======================================================================================= Realms */

/* A new file can be read and written by its owner alone (mode 0600), whatever the umask says: give
   others rights with chmod. The lock file beside it gets the same rights; compactions and
   toft_change_key keep them. A process has at most 2,048 files open, each with up to three
   descriptors. A program that closes those, as daemons do, gets TOFT_ERROR_FILE_ACCESS with errno
   EBADF, and must open the file again: nothing is written to what has their numbers then. */

/* How a file is opened. */
TOFT_ENUM(toft_mode, uint32_t) {
    TOFT_MODE_READ_WRITE = 0, /* and created when missing, or a file without a byte */
    TOFT_MODE_EXISTING = 1,   /* read and write; TOFT_ERROR_FILE_NOT_FOUND when missing */
    /* must exist; writes are TOFT_ERROR_READ_ONLY. Classes and properties that the file lacks are
       there without objects and values; what else differs is TOFT_ERROR_SCHEMA_MISMATCH */
    TOFT_MODE_READ_ONLY = 2
};

/* The party that makes sure that calls on a realm, and on everything got from it, never overlap. */
TOFT_ENUM(toft_confinement, uint32_t) {
    /* the library: calls of other threads than the one that opened it are
       TOFT_ERROR_WRONG_THREAD */
    TOFT_CONFINEMENT_THREAD = 0,
    /* the caller: any thread may call, one at a time, releases excepted; for executors, fibers,
       coroutines and thread pools. A call during another thread's call is TOFT_ERROR_WRONG_THREAD.
       A release takes effect at once, or at the end of the call that is under way */
    TOFT_CONFINEMENT_CALLER = 1
};

/* How a file is opened; combined with |. By default its pages are mapped. An error of the device is
   then an error code when a page is read for the first time, and so is a file that was truncated
   before a transaction began. Two errors that no library can report without a signal handler of its
   own end the process with SIGBUS: a device that fails when it reads again a page that the system
   had dropped
   from memory, and a file that another program truncates in the middle of a read. */
TOFT_ENUM(toft_open_flags, uint32_t) {
    TOFT_OPEN_MAPPED = 0,
    /* pages are read into memory of the process by read calls and stay there as long as realms are
       open that read them: every error is an error code, for files on devices or from programs that
       can't be trusted. Costs a copy of what is read. While this process has the file open already
       the flag has no effect. */
    TOFT_OPEN_BUFFERED = 1,
    TOFT_OPEN_WRITE_TIMEOUT = 2, /* `write_timeout` of the configuration holds */
    /* a file whose classes do not fit the schema, which would be TOFT_ERROR_SCHEMA_MISMATCH, is
       deleted and created anew; TOFT_ERROR_ALREADY_OPEN if it is open elsewhere. Not with
       TOFT_MODE_READ_ONLY */
    TOFT_OPEN_DELETE_IF_MIGRATION_NEEDED = 4,
    /* objects of a class that becomes embedded are deleted without an owner, and copied for several
       owners, see "Migrations" below; otherwise such objects are TOFT_ERROR_SCHEMA_MISMATCH */
    TOFT_OPEN_AUTOMATIC_BACKLINK_HANDLING = 8,
    /* this process has the file for itself alone, so that it can be on any file system: one of FUSE
       (AppImages, NTFS sticks, the containers of users), of a network, of a virtual machine, on
       which processes can't share a database, and which is TOFT_ERROR_UNSUPPORTED without this
       flag. If there are file locks, another process that has it open, or opens it, gets
       TOFT_ERROR_INCOMPATIBLE_PROCESS; otherwise the program vouches for it. No lock file is made.
       With TOFT_MODE_READ_ONLY nobody may write meanwhile. A file on a read-only mount can be read
       without it. TOFT_ERROR_CONFIGURATION_MISMATCH if the process has the file open without it */
    TOFT_OPEN_EXCLUSIVE = 16
};

/* Timeouts are in milliseconds, as poll has them. Other negative ones are
   TOFT_ERROR_INVALID_ARGUMENT. */
#define TOFT_NO_WAIT 0
#define TOFT_WAIT_FOR_EVER (-1)

/* Called with how much of something that takes long is done, and with how much there is in all:
   `done` grows to `total`. It may call nothing of the library but releases and what never fails:
   all else is TOFT_ERROR_INSIDE_CALLBACK there. */
typedef void (*toft_progress_callback)(void *user_data, uint64_t done, uint64_t total);

/* Called by toft_realm_open if the file has a lower schema version than the configuration, see
   "Migrations" below. TOFT_OK: the migration is committed. Any other status: the file stays as it
   was, and toft_realm_open returns it, or TOFT_ERROR_INVALID_ARGUMENT for a number that is no
   toft_status. `migration` is valid until the callback returns. The callback holds up writers:
   what would wait for them on its thread, such as to open the same file with this configuration, is
   TOFT_ERROR_ALREADY_IN_TRANSACTION at once. */
typedef toft_status (*toft_migration_callback)(void *user_data, toft_migration *migration);

/* Asked by toft_realm_open, for an object that the file has, for the value of a property that is
   new to the file: true, with the value in `out_value`, whose texts and bytes are valid until the
   next call of the callback or the end of the opening; false: the property has no default, and
   stays 0, empty or null. After false for the first object of a class it is not called again for
   the property: if the property may be null, give null for objects without a value. It is not
   called for links and collections. A value of another type ends the opening with
   TOFT_ERROR_TYPE_MISMATCH,
   whose message names the property. In a migration the functions that need the new realm ask, so
   they return that error first: the one that a migration calls first, and
   toft_migration_rename_property. It may call nothing of the library but releases and what never
   fails: all else is TOFT_ERROR_INSIDE_CALLBACK there. */
typedef bool (*toft_default_callback)(
    void *user_data, toft_string class_name, toft_string property_name, toft_value *out_value);

/* Called by toft_realm_open if no program has given the database classes yet, with a realm in a
   write transaction: its changes are committed together with the classes, once in the life of the
   database, whichever process opens it first. TOFT_OK: it is committed. Any other status: the
   database stays without classes, toft_realm_open returns the status, or
   TOFT_ERROR_INVALID_ARGUMENT for a number that is no toft_status, and the next opening calls
   again. `realm` is released after the callback, which can't close it (TOFT_ERROR_INSIDE_CALLBACK)
   and neither begins nor ends a transaction, of another realm of the database neither:
   TOFT_ERROR_ALREADY_IN_TRANSACTION. */
typedef toft_status (*toft_initialize_callback)(void *user_data, toft_realm *realm);

/* Decides when toft_realm_open opens an existing file that no process has open, not even for
   reading, whether it is compacted before it is used: `total` bytes of the file, of them `used`
   bytes with data. It may call nothing of the library but releases and functions that never fail:
   all others are TOFT_ERROR_INSIDE_CALLBACK there. */
typedef bool (*toft_compact_callback)(void *user_data, uint64_t total, uint64_t used);

/* The options of toft_realm_open. Start with TOFT_INITIALIZE. */
typedef struct toft_configuration {
    size_t size;
    toft_string path; /* the file; or empty when in_memory_name is given */
    /* a database without a file, shared by name within the process, gone with its last realm */
    toft_string in_memory_name;
    toft_mode mode;
    toft_confinement confinement;
    /* borrowed for the call; NULL: `classes`, or without those the file's classes */
    toft_schema *schema;
    /* the classes, if `schema` is NULL; they are `classes[0].size` bytes apart */
    const toft_class_schema *classes;
    size_t class_count;
    /* with TOFT_OPEN_WRITE_TIMEOUT, else 0: how long a write transaction waits for other writers,
       unless its options say otherwise, and how long opening waits for those that write (the schema
       has to be written), or open, close or recover the file (for these 1...60 s); without it:
       TOFT_WAIT_FOR_EVER, and 60 s */
    int32_t write_timeout;
    uint32_t flags; /* toft_open_flags; unknown ones are TOFT_ERROR_UNSUPPORTED */
    /* of the schema, without which it must be 0; counted by the program; 0: that of the file. A
       file with a higher one is TOFT_ERROR_SCHEMA_VERSION_TOO_LOW. A higher one than the file's is
       written to the file, and classes and properties that the schema lacks are then hidden from
       programs that name no classes. With a `migration`, a file with a lower one is migrated, or
       refused if it is opened for reading only or can't be written:
       TOFT_ERROR_SCHEMA_MISMATCH */
    uint64_t schema_version;
    /* NULL, or a word that any thread or signal handler may change during the call: within 50 ms of
       its being not 0, a wait of toft_realm_open for other processes and writers ends with
       TOFT_ERROR_INTERRUPTED, and so does the building of an index: then the file is as it was */
    const uint32_t *interrupt;
    /* NULL, or called on the opening thread while indexes are built and defaults are set, with the
       number of finished objects and of all */
    toft_progress_callback progress;
    void *progress_user_data; /* for `progress` */
    /* NULL, or called on the opening thread if the file has classes and a lower schema version:
       needs a schema and a schema_version */
    toft_migration_callback migration;
    void *migration_user_data; /* for `migration` */
    /* empty, or a database, which need not be writable: a file that is missing is made a copy of
       it, in every mode */
    toft_string seed_path;
    /* 0, or how many versions there may be at most when a write transaction begins: the newest, and
       older ones that some process still reads, which let the file grow. With more,
       toft_realm_begin_write is TOFT_ERROR_TOO_MANY_READERS */
    uint64_t maximum_versions;
    /* NULL, or decides whether the file is compacted. Has no effect if the file is open already. If
       the disk is too full for it, the file stays as it is */
    toft_compact_callback compact;
    void *compact_user_data; /* for `compact` */
    /* NULL, or asked on the opening thread for the values that objects get in new properties */
    toft_default_callback defaults;
    void *defaults_user_data; /* for `defaults` */
    /* NULL and 0, or the TOFT_KEY_SIZE bytes of the key that the file is encrypted with; a missing
       file is created with it, and a seed has the same. Copied. With a key the file is read as with
       TOFT_OPEN_BUFFERED. A key for a database in memory is TOFT_ERROR_INVALID_ARGUMENT */
    const void *encryption_key;
    size_t encryption_key_size;
    /* NULL, or called on the opening thread if the database is new: needs a schema. A copy of a
       seed is not new. Not called by toft_realm_open_dry_run */
    toft_initialize_callback initialize;
    void *initialize_user_data; /* for `initialize` */
    /* 0, or a version that the program has seen the file at (toft_realm_version) and has kept
       elsewhere: an older file that was put in its place is TOFT_ERROR_VERSION_TOO_LOW, and is not
       written to; one that is missing is TOFT_ERROR_FILE_NOT_FOUND. Only of an encrypted file can
       nobody without the key forge the version. A deferred commit's counts once the commit is
       durable (toft_realm_flush). toft_compact and toft_change_key know no such limit: open the
       file before. One that TOFT_OPEN_DELETE_IF_MIGRATION_NEEDED makes anew begins at 1 */
    uint64_t minimum_version;
} toft_configuration;

/* Bytes of an encryption key; another size is TOFT_ERROR_INVALID_ARGUMENT. */
#define TOFT_KEY_SIZE 64

/* Opens a database on the calling thread. New classes, properties and indexes of the schema are
   added to the file, and required properties that the schema has as nullable become nullable;
   classes and properties that the schema lacks stay there, hidden. The realm shows the latest
   version. Errors: the groups "Opening" and TOFT_ERROR_SCHEMA_MISMATCH, TOFT_ERROR_LOCK_TIMEOUT
   (see `write_timeout`); TOFT_ERROR_INVALID_ARGUMENT when neither or both of path and
   in_memory_name are given. The realm: release it. Any thread, which then owns it. Cost:
   independent of the file's size, except that an index is built that is added, or whose property
   becomes nullable (so is that of the primary key), and that objects get the defaults of new
   properties. */
TOFT_API toft_status toft_realm_open(
    const toft_configuration *configuration, toft_realm **out_realm);

/* Closes a realm now: an open write transaction is cancelled, its observations end, everything got
   from it is TOFT_ERROR_CLOSED. The file itself is closed with the last of the process's realms of
   it, frozen ones included: then every commit becomes durable. A realm that is released without
   being closed does the same, but reports no failure: a program with deferred commits closes, or
   flushes.
   Errors, after which the realm is closed all the same: TOFT_ERROR_COMMIT_OUTCOME_UNKNOWN when
   deferred commits could not be made durable; TOFT_ERROR_POISONED when a sync of the file had
   failed before; another error of the file (TOFT_ERROR_FILE_ACCESS, TOFT_ERROR_DISK_FULL...) when
   all commits are durable and the next opening has to recover the file.
   Errors that leave it open: TOFT_ERROR_WRONG_THREAD, TOFT_ERROR_USED_AFTER_FORK;
   TOFT_ERROR_INSIDE_CALLBACK, of the realm that an opening lends to its callback. Closing twice is
   TOFT_ERROR_CLOSED. */
TOFT_API toft_status toft_realm_close(toft_realm *realm);

/* The last failure of a call with the realm or with what was got from it, on whichever thread, as
   toft_last_error gives it: for programs whose calls move between threads. The texts are valid
   until the next failing call with the realm. Works for a closed realm too. */
TOFT_API toft_status toft_realm_last_error(toft_realm *realm, toft_error *out_error);

/* Gives a realm that always shows this one's version; within a write transaction, the one that it
   began with. Any number of threads may use the frozen realm, and everything got from it, at the
   same time. It never moves: refresh and dispatch find nothing new, writing is
   TOFT_ERROR_READ_ONLY, observing is TOFT_ERROR_OBSERVATION_UNAVAILABLE. It can't be closed
   (TOFT_ERROR_READ_ONLY), and ends with its last handle; until then its version stays pinned.
   Strings and data that it gives are valid as long. `out_realm`: release it. */
TOFT_API toft_status toft_realm_freeze(toft_realm *realm, toft_realm **out_realm);

/* Gives a further handle of the same realm, to be released by itself: for wrappers that are copied.
   `out_realm`: release it. */
TOFT_API toft_status toft_realm_clone(toft_realm *realm, toft_realm **out_realm);

/* Writes the realm's version to a new file, without free space, while others read and write; a
   program that wants the newest one refreshes before. The copy holds the same: keys, counters,
   constraints and the schema's version. It has been read back and checked, and is durable, when the
   function returns; after an error, or a crash, there is no such file. Its directory must exist and
   be writable. Errors: TOFT_ERROR_FILE_EXISTS if `path` exists; TOFT_ERROR_ALREADY_IN_TRANSACTION
   in a write transaction; TOFT_ERROR_FILE_NOT_FOUND, TOFT_ERROR_PERMISSION_DENIED,
   TOFT_ERROR_DISK_FULL...; TOFT_ERROR_CORRUPT when the database is damaged. The copy is not
   encrypted, whether the realm is or not. Cost: the whole file. */
TOFT_API toft_status toft_realm_write_copy(toft_realm *realm, toft_string path);

/* toft_realm_write_copy with a key for the copy. `key` (may be NULL with the size 0: the copy is
   not encrypted): TOFT_KEY_SIZE bytes. */
TOFT_API toft_status toft_realm_write_copy_with_key(
    toft_realm *realm, toft_string path, const void *key, size_t key_size);

/* The schema version of a file, which is only read and may be open elsewhere. Errors: the group
   "Opening". Any thread. */
TOFT_API toft_status toft_file_schema_version(toft_string path, uint64_t *out_version);

/* toft_file_schema_version for an encrypted file. `key` (may be NULL with the size 0: the file is
   not encrypted): TOFT_KEY_SIZE bytes. */
TOFT_API toft_status toft_file_schema_version_with_key(
    toft_string path, const void *key, size_t key_size, uint64_t *out_version);

/* Deletes a database that nobody has open, in this process or another, whether it is whole or
   damaged. Its lock file, which holds no data, stays. `out_was_there` (may be NULL): whether there
   was a file. Errors: TOFT_ERROR_ALREADY_OPEN; TOFT_ERROR_NOT_A_DATABASE for any other file, but
   not for an empty one, which is deleted (an encrypted database that has lost both of its first
   pages looks like another file); TOFT_ERROR_PERMISSION_DENIED and others of the group "Opening".
   Any thread. Cost: the whole file if both of the first pages are lost. */
TOFT_API toft_status toft_file_delete(toft_string path, bool *out_was_there);

/* Sizes of a file in bytes; 0: it was not compacted. */
typedef struct toft_compaction {
    size_t size;
    uint64_t size_before;
    uint64_t size_after;
} toft_compaction;

/* Gives the free space of a file back to the system, if no process has it open, not even for
   reading. Each of its steps leaves a whole file: a crash loses nothing. The file may grow by its
   content meanwhile. Errors: TOFT_ERROR_FILE_NOT_FOUND and the others of the group "Opening"; the
   file then holds the same as before. Any thread. Cost: the whole file. */
TOFT_API toft_status toft_compact(toft_string path, toft_compaction *out_compaction);

/* toft_compact for an encrypted file. `key` (may be NULL with the size 0: the file is not
   encrypted): TOFT_KEY_SIZE bytes. */
TOFT_API toft_status toft_compact_with_key(
    toft_string path, const void *key, size_t key_size, toft_compaction *out_compaction);

/* The result of a step of a compaction. Sizes in bytes. */
typedef struct toft_compaction_step {
    size_t size;
    uint64_t moved_size;  /* moved from the end of the file to free space before it */
    uint64_t size_before; /* of the file */
    uint64_t size_after;
    /* what only earlier versions need, which some process reads: see toft_realm_pins. No step gives
       it back before they are gone. */
    uint64_t held_size;
    uint64_t has_more; /* 1: another step of that size would have work; 0: it would not */
} toft_compaction_step;

/* Returns the free space of a file to the system in small steps, while others use it. One step
   moves at most `byte_count` bytes (at least 256 KiB, and one extent) from the end of the file to
   free space before them, and cuts off the pages that the step before has emptied, unless somebody
   still reads a version that needs them; 0: it only cuts off. If nobody reads an earlier version,
   new entries of an index move to their places first, if it has gained a sixteenth. It is a write
   transaction that changes no object: it waits for other writers and blocks them, but not readers
   and observers, and a crash loses nothing. The realm moves to the newest version before and after
   it. Call it until has_more is 0. Errors: TOFT_ERROR_ALREADY_IN_TRANSACTION; TOFT_ERROR_READ_ONLY,
   also if it is frozen, as it keeps its version; those of toft_realm_begin_write and
   toft_realm_commit. Cost: the inner nodes of all trees, about a hundredth of the file, and the
   moved pages; once only long values are left to move, the pages that contain them too. */
TOFT_API toft_status toft_realm_compact_step(
    toft_realm *realm, uint64_t byte_count, toft_compaction_step *out_step);

/* Encrypts a file with another key, if no process has it open, not even for reading. `old_key` (may
   be NULL with the size 0: the file is not encrypted) and `new_key` (may be NULL with the size 0:
   it is not encrypted afterwards): TOFT_KEY_SIZE bytes each. The file's content is written to a new
   file beside it, which takes its name, owner and mode when it is durable: a crash leaves one or
   the other. A hard link to the file by another name still leads to the old content, under the old
   key or in plain text: remove it. (toft_compact works in the file itself, and all its names still
   lead to it.) Errors: TOFT_ERROR_ALREADY_OPEN when a process has it open; TOFT_ERROR_KEY_REQUIRED,
   TOFT_ERROR_WRONG_KEY, TOFT_ERROR_NOT_ENCRYPTED when `old_key` is not its key, and the others of
   the group "Opening"; the file is then as before. Any thread. Cost: the whole file. */
TOFT_API toft_status toft_change_key(toft_string path, const void *old_key, size_t old_key_size,
    const void *new_key, size_t new_key_size);

/* A property that has lost values in a salvage. */
typedef struct toft_salvage_property {
    toft_string name;
    uint64_t lost_count; /* objects that have null or the default instead */
} toft_salvage_property;

/* The result of a salvage for one class. */
typedef struct toft_salvage_class {
    size_t size;
    toft_string name;
    uint64_t object_count; /* objects in the new file */
    /* objects of the version that was read which were not found; -1: their number is unknown */
    int64_t missing_count;
    /* objects of an older version: they may have been changed or deleted since */
    uint64_t older_count;
    /* objects that no checksum covers any more: they agree with themselves */
    uint64_t unverified_count;
    /* objects that were left out: without a primary key or with that of another one, with unique
       values of another one, or embedded and without an owner */
    uint64_t dropped_count;
    uint64_t cut_link_count; /* links to objects that are lost: null now, or gone from their list */
    const toft_salvage_property *properties; /* those that have lost values */
    size_t property_count;
} toft_salvage_class;

/* Called by toft_salvage for each class, in the order of the file's schema, before the new file has
   its name. False: the new file is not wanted, and toft_salvage returns TOFT_ERROR_INTERRUPTED.
   `found` and all that it points to are valid until the callback returns. It may call nothing of
   the library but releases and functions that never fail: all others are TOFT_ERROR_INSIDE_CALLBACK
   there. */
typedef bool (*toft_salvage_callback)(void *user_data, const toft_salvage_class *found);

/* The options of toft_salvage. Start with TOFT_INITIALIZE. */
typedef struct toft_salvage_options {
    size_t size;
    toft_string path;     /* the damaged file */
    toft_string new_path; /* the new file */
    /* NULL and 0 for a file that is not encrypted, else TOFT_KEY_SIZE bytes: of the damaged file */
    const void *key;
    size_t key_size;
    const void *new_key; /* of the new file, in the same way */
    size_t new_key_size;
    toft_salvage_callback found; /* NULL, or called for each class */
    void *found_user_data;       /* for `found` */
    /* NULL, or a word that any thread or signal handler may change during the call: when it is not
       0, the salvage ends with TOFT_ERROR_INTERRUPTED */
    const uint32_t *interrupt;
    uint32_t flags;    /* TOFT_OPEN_MAPPED or TOFT_OPEN_BUFFERED */
    uint32_t reserved; /* 0 */
} toft_salvage_options;

/* The options of a salvage; combined with |. */
TOFT_ENUM(toft_salvage_flags, uint32_t) {
    TOFT_SALVAGE_PARTIAL = 0,
    TOFT_SALVAGE_COMPLETE = 1, /* nothing is missing, and nothing was found damaged */
    /* nothing led to the schema any more: it was found by looking at every page */
    TOFT_SALVAGE_SCHEMA_UNVERIFIED = 2
};

/* The result of a salvage. */
typedef struct toft_salvage_report {
    size_t size;
    uint64_t version; /* the newest one that could be read */
    uint64_t class_count;
    uint64_t object_count;
    uint32_t flags; /* toft_salvage_flags */
    uint32_t reserved;
} toft_salvage_report;

/* Reads what a damaged file still holds into a new one, see the page on salvage. The damaged file
   is not written to, and no lock file is made beside it. The new file has been read back and
   checked, and is durable, when the function returns; after an error, or a crash, there is no such
   file. Its objects have the keys that they had. Errors: TOFT_ERROR_FILE_EXISTS when there is
   something at `new_path`; TOFT_ERROR_ALREADY_OPEN when a process has the damaged file open for
   writing; TOFT_ERROR_CORRUPT when its schema and the copy of that are lost, both meta pages of an
   encrypted file, or so much of its beginning that nothing can be read; TOFT_ERROR_KEY_REQUIRED,
   TOFT_ERROR_WRONG_KEY, TOFT_ERROR_NOT_ENCRYPTED, TOFT_ERROR_NOT_A_DATABASE,
   TOFT_ERROR_UNSUPPORTED_FORMAT, TOFT_ERROR_FILE_NOT_FOUND, TOFT_ERROR_DISK_FULL... Any thread.
   Cost: the whole file. */
TOFT_API toft_status toft_salvage(
    const toft_salvage_options *options, toft_salvage_report *out_report);

/* Called by toft_import_realm with what differs from the Realm file, a sentence each, after all is
   imported: names that Toft does not take, indexes without a counterpart, links to nothing... The
   text is valid until the callback returns. It may call nothing of the library but releases and
   what never fails: all else is TOFT_ERROR_INSIDE_CALLBACK there. */
typedef void (*toft_note_callback)(void *user_data, toft_string note);

/* The options of toft_import_realm. Start with TOFT_INITIALIZE. */
typedef struct toft_import_realm_options {
    size_t size;
    toft_string path;     /* the Realm file */
    toft_string new_path; /* the new file */
    /* NULL and 0 for a file that is not encrypted, else TOFT_KEY_SIZE bytes: of the Realm file */
    const void *key;
    size_t key_size;
    const void *new_key; /* of the new file, in the same way */
    size_t new_key_size;
    toft_progress_callback progress; /* NULL, or called with the progress */
    void *progress_user_data;        /* for `progress` */
    toft_note_callback note;         /* NULL, or called with each difference */
    void *note_user_data;            /* for `note` */
    /* NULL, or a word that any thread or signal handler may change during the call: when it is not
       0, the import ends with TOFT_ERROR_INTERRUPTED */
    const uint32_t *interrupt;
} toft_import_realm_options;

/* The result of toft_import_realm. */
typedef struct toft_import_realm_report {
    size_t size;
    uint64_t format;         /* the file format of the Realm file, 2 to 24; 0: it was empty */
    uint64_t schema_version; /* the new file has it too; 0 if no program had set one */
    uint64_t class_count;
    uint64_t object_count;
} toft_import_realm_report;

/* Reads one of Realm's own files into a new file: classes, objects, links, embedded objects, lists,
   sets, dictionaries, mixed values, primary keys, indexes and the schema version; see the page on
   Realm's files. realm-core is not needed. The Realm file is not written to, and no program may
   write it meanwhile. The new file is durable when the function returns; after an error, or a
   crash, there is no such file. Errors: TOFT_ERROR_FILE_EXISTS when there is something at
   `new_path`; TOFT_ERROR_NOT_A_DATABASE when `path` is no Realm file, or an encrypted one and no
   key was given; TOFT_ERROR_WRONG_KEY; TOFT_ERROR_CORRUPT when the Realm file is damaged;
   TOFT_ERROR_UNSUPPORTED for what no SDK of Realm makes; TOFT_ERROR_FILE_NOT_FOUND,
   TOFT_ERROR_DISK_FULL... Any thread. Cost: both files, and memory for some 50 bytes an object and
   for what is read of the Realm file. */
TOFT_API toft_status toft_import_realm(
    const toft_import_realm_options *options, toft_import_realm_report *out_report);

/* Releases a realm's handle. The realm closes with the last of this and of every object, list and
   results got from it: an open write transaction is cancelled, its version is given up, its
   observations end. Any thread. */
TOFT_API void toft_realm_release(toft_realm *realm);

/* Moves the realm to the latest version and calls back the observers that are due. `out_changed`
   (may be NULL): whether it moved. Inside a write transaction there is nothing newer: false. */
TOFT_API toft_status toft_realm_refresh(toft_realm *realm, bool *out_changed);

/* The realm's version: it grows with each commit of any process. Inside a write transaction: the
   one it began with. */
TOFT_API toft_status toft_realm_version(toft_realm *realm, uint64_t *out_version);

/* ----------------------------------------------------------------------- Classes and properties */

/* A class of an open realm. The name is valid until the realm closes. */
typedef struct toft_class_info {
    size_t size;
    toft_class_key key;
    toft_property_key primary_key; /* 0: no primary key */
    toft_string name;
    uint64_t property_count;
    uint32_t flags; /* toft_class_flags */
    uint32_t reserved;
    uint64_t unique_count; /* unique constraints */
} toft_class_info;

/* A property of an open realm. The texts are valid until the realm closes. */
typedef struct toft_property_info {
    size_t size;
    toft_property_key key;
    toft_type type;
    uint32_t flags;                    /* toft_property_flags */
    toft_class_key target_class;       /* links and linking objects, else 0 */
    toft_property_key target_property; /* linking objects, else 0 */
    toft_string name;
} toft_property_info;

/* Lists the classes in the order of their names: writes up to `capacity` keys (`out_keys` may be
   NULL when it is 0) and how many there are, which may be more. Cost: the number of classes. */
TOFT_API toft_status toft_realm_classes(
    toft_realm *realm, toft_class_key *out_keys, size_t capacity, size_t *out_count);

/* Finds a class by name. Errors: TOFT_ERROR_NO_SUCH_CLASS. */
TOFT_API toft_status toft_realm_find_class(
    toft_realm *realm, toft_string name, toft_class_key *out_key);

/* Gives a key path, such as "boss.name", the name `name` in the queries, sorts and groups on a
   class in this realm, or in realms frozen from it later. Nothing is stored. Properties come before
   aliases, a path may contain other aliases, and it is resolved when it is used. An empty path
   removes the alias. Errors: TOFT_ERROR_NO_SUCH_CLASS, TOFT_ERROR_READ_ONLY (of a frozen realm),
   TOFT_ERROR_INVALID_ARGUMENT (an empty name). */
TOFT_API toft_status toft_realm_set_alias(
    toft_realm *realm, toft_class_key class_key, toft_string name, toft_string key_path);

/* Describes a class. Errors: TOFT_ERROR_NO_SUCH_CLASS. */
TOFT_API toft_status toft_realm_class_info(
    toft_realm *realm, toft_class_key class_key, toft_class_info *out_info);

/* Lists the properties of a class in the order of declaration, like toft_realm_classes. Errors:
   TOFT_ERROR_NO_SUCH_CLASS. */
TOFT_API toft_status toft_realm_properties(toft_realm *realm, toft_class_key class_key,
    toft_property_key *out_keys, size_t capacity, size_t *out_count);

/* Finds a property by name. Errors: TOFT_ERROR_NO_SUCH_CLASS, TOFT_ERROR_NO_SUCH_PROPERTY. */
TOFT_API toft_status toft_realm_find_property(
    toft_realm *realm, toft_class_key class_key, toft_string name, toft_property_key *out_key);

/* Finds `count` properties by their names at once, all or nothing; `out_keys` has as many elements.
   Errors: those of toft_realm_find_property, for the first unknown name. */
TOFT_API toft_status toft_realm_find_properties(toft_realm *realm, toft_class_key class_key,
    const toft_string *names, size_t count, toft_property_key *out_keys);

/* Describes a property. Errors: TOFT_ERROR_NO_SUCH_CLASS, TOFT_ERROR_NO_SUCH_PROPERTY. */
TOFT_API toft_status toft_realm_property_info(toft_realm *realm, toft_class_key class_key,
    toft_property_key property_key, toft_property_info *out_info);

/* Lists the properties of a class's unique constraint, by its index: writes up to `capacity` keys
   (`out_keys` may be NULL when it is 0) and how many there are, which may be more. Errors:
   TOFT_ERROR_NO_SUCH_CLASS, TOFT_ERROR_INDEX_OUT_OF_RANGE. */
TOFT_API toft_status toft_realm_class_unique(toft_realm *realm, toft_class_key class_key,
    uint64_t index, toft_property_key *out_keys, size_t capacity, size_t *out_count);

/* How many objects of a class there are. Errors: TOFT_ERROR_NO_SUCH_CLASS. */
TOFT_API toft_status toft_realm_object_count(
    toft_realm *realm, toft_class_key class_key, uint64_t *out_count);

/* =================================================================================== Migrations */

/* A file with a lower schema version than the configuration's is migrated by toft_realm_open if
   that has a `migration`, in one write transaction. The callback gets two realms: the database as
   it was, and the database as it is to be, in which
   - a property of another type, or one that was nullable and is not any more, is a new one, which
     has the default that `defaults` of the configuration gives or no values, and a property that
     the schema lacks is hidden;
   - a primary key that changes is an ordinary property. After the callback its values must differ:
     TOFT_ERROR_DUPLICATE_PRIMARY_KEY;
   - a class that is to be embedded is not yet, and one that was embedded is not any more: their
     objects are created, deleted and linked to as others are.
   The callback copies what is to stay. An object has the same keys in both realms: see
   toft_object_link and toft_realm_follow. Afterwards what a property held that was replaced, or
   that the schema lacks, has left the file, with the embedded objects that lived in it: each class
   from which something goes is written anew. A class that the schema lacks stays in the file,
   hidden, unless toft_migration_delete_data has deleted it.

   A class becomes embedded, or is not any more, with a higher schema version, also without a
   `migration`. When it becomes embedded, each object needs exactly one owner after the callback: a
   link, an element of a list of links or a value of a dictionary of links. No mixed value and no
   set links to it, it is within an object that is not embedded, and embedded objects are nested at
   most 100 deep. Otherwise the opening is TOFT_ERROR_SCHEMA_MISMATCH, whose detail has the numbers
   of objects that do not fit, and the file stays as it was. With
   TOFT_OPEN_AUTOMATIC_BACKLINK_HANDLING objects that no owner leads to are deleted, and those that
   have several are copied for each further one: with the embedded objects in them, and with their
   links to others.

   The functions below belong to the callback's thread, until it returns: then the migration is
   TOFT_ERROR_INVALID_HANDLE, and its realms are TOFT_ERROR_CLOSED. Names are those of the file, or
   of the schema. */

/* The schema version of the file, and that of the configuration. Each may be NULL. */
TOFT_API toft_status toft_migration_versions(
    toft_migration *migration, uint64_t *out_old, uint64_t *out_new);

/* The database as it was, frozen, with all classes of the file. Unlike other frozen realms it is
   for one thread at a time. If much was read of an encrypted file, toft_realm_refresh releases the
   memory, and borrowed bytes become invalid. `out_realm`: release it. */
TOFT_API toft_status toft_migration_old_realm(toft_migration *migration, toft_realm **out_realm);

/* The database as it is to be, in a write transaction, which the callback can neither commit nor
   cancel, nor end by closing the realm (TOFT_ERROR_INSIDE_CALLBACK). Rename classes before.
   `out_realm`: release it. */
TOFT_API toft_status toft_migration_new_realm(toft_migration *migration, toft_realm **out_realm);

/* Gives a class another name; its objects and all links to them stay. Before anything else but
   toft_migration_versions and toft_migration_old_realm. Errors: TOFT_ERROR_INVALID_ARGUMENT when
   the file has no class `old_name`, or has one `new_name`, or the schema still has `old_name`; of
   the opening, when the class has a name at the end that the schema lacks. */
TOFT_API toft_status toft_migration_rename_class(
    toft_migration *migration, toft_string old_name, toft_string new_name);

/* Gives a property another name, with its values; what the file has under `new_name`, new or not,
   goes. A `new_name` that the schema lacks is one for the meantime: rename it again, or the opening
   is TOFT_ERROR_INVALID_ARGUMENT and the file stays as it was. Property keys that were asked for
   before may name others now. Errors: TOFT_ERROR_INVALID_ARGUMENT when there is no class or
   property of the name, the schema still has `old_name`, the types differ, or a nullable property
   would not be nullable any more. */
TOFT_API toft_status toft_migration_rename_property(
    toft_migration *migration, toft_string class_name, toft_string old_name, toft_string new_name);

/* Deletes all objects of a class; a class that the schema lacks leaves the file then, with all
   properties that link to it. `out_was_there` (may be NULL): whether the file has it. Errors:
   TOFT_ERROR_DELETION_DENIED (of a class that the schema has). Cost: the objects and links to
   them. */
TOFT_API toft_status toft_migration_delete_data(
    toft_migration *migration, toft_string class_name, bool *out_was_there);

/* The change of a class or a property. */
TOFT_ENUM(toft_schema_change_kind, uint32_t) {
    TOFT_SCHEMA_CLASS_ADDED = 1,
    TOFT_SCHEMA_CLASS_REMOVED = 2, /* deleted; or hidden from the program, its objects stay */
    TOFT_SCHEMA_CLASS_RENAMED = 3,
    TOFT_SCHEMA_CLASS_CHANGED = 4, /* its primary key, what is unique, or whether it is embedded */
    TOFT_SCHEMA_PROPERTY_ADDED = 5,
    TOFT_SCHEMA_PROPERTY_REMOVED = 6, /* or hidden from the program, its values stay */
    TOFT_SCHEMA_PROPERTY_RENAMED = 7,
    TOFT_SCHEMA_PROPERTY_CHANGED = 8 /* its type, its index, or what deletions do along it */
};

/* A change of the classes of a file. The texts are valid until the callback returns. */
typedef struct toft_schema_change {
    size_t size;
    toft_schema_change_kind kind;
    uint32_t reserved;
    toft_string class_name;    /* afterwards; of a class that is removed, before */
    toft_string property_name; /* afterwards; empty for a change of a class */
    toft_string text;          /* "property 'Person.age' is int, was string" */
} toft_schema_change;

/* Called with each change. It may call nothing of the library but releases and what never fails:
   all else is TOFT_ERROR_INSIDE_CALLBACK there. */
typedef void (*toft_schema_change_callback)(void *user_data, const toft_schema_change *change);

/* Reports the changes that toft_realm_open would make to the classes of a file with this
   configuration, and the classes and properties that the program would not see as its schema lacks
   them, and fails as it would: everything is done, the migration too, in a write transaction that
   is rolled back. If something new may be a renamed old one, the text asks "Did you rename it?":
   only a migration can say. The file, which must exist, stays as it was, though it may have grown.
   The configuration needs a schema. Errors: those of toft_realm_open. Any thread. Cost: that of the
   opening. */
TOFT_API toft_status toft_realm_open_dry_run(
    const toft_configuration *configuration, toft_schema_change_callback callback, void *user_data);

/* ================================================================================= Transactions */

/* The options of a write transaction; combined with |. */
TOFT_ENUM(toft_write_flags, uint32_t) {
    TOFT_WRITE_DEFAULT = 0,
    TOFT_WRITE_TIMEOUT = 1 /* `timeout` */
};

/* How a write transaction begins. Start with TOFT_INITIALIZE. */
typedef struct toft_write_options {
    size_t size;
    /* with TOFT_WRITE_TIMEOUT, else 0: how long to wait for other writers; without it: as long as
       the configuration says */
    int32_t timeout;
    uint32_t flags; /* toft_write_flags */
} toft_write_options;

/* Begins a write transaction: waits for other writers, moves to the latest version and, if that is
   another, calls back the observers that are due. `options` (may be NULL: the configuration's
   timeout). Errors: TOFT_ERROR_ALREADY_IN_TRANSACTION (also when another realm of the same file is
   in a write transaction on this thread, as a wait for it would never end),
   TOFT_ERROR_LOCK_TIMEOUT, TOFT_ERROR_INTERRUPTED, TOFT_ERROR_READ_ONLY, TOFT_ERROR_POISONED,
   TOFT_ERROR_FILE_REPLACED. */
TOFT_API toft_status toft_realm_begin_write(toft_realm *realm, const toft_write_options *options);

/* Makes a wait of the realm for other writers (toft_realm_begin_write, toft_realm_flush) end with
   TOFT_ERROR_INTERRUPTED within 50 ms: the one that is under way, on whichever thread; and so a
   query that is being worked out for a function of results, which ends within its next thousand
   objects, and toft_realm_check, within its next page. Without one it does nothing. Any thread,
   also while a call with the realm is under way. For toft_realm_open see `interrupt` of the
   configuration. */
TOFT_API toft_status toft_realm_interrupt(toft_realm *realm);

/* When a commit is durable: there again after the machine stops (power, kernel). Whichever is
   chosen, every process sees the commit when it returns, and no crash or kill of a process loses
   it. */
TOFT_ENUM(toft_durability, uint32_t) {
    /* When it returns. Cost: a durable write. */
    TOFT_DURABILITY_IMMEDIATE = 0,
    /* When it returns. Commits of several threads of the process share a durable write: more of
       them in a second, while one may take longer. Alone it is like TOFT_DURABILITY_IMMEDIATE. */
    TOFT_DURABILITY_GROUP = 1,
    /* Later: with the next commit that is not deferred, with toft_realm_flush, about a second after
       the last commit, when much waits (16 MiB), or when the file is closed. Until then a crash of
       the machine may take back the last commits, never one while a later one stays. Cost: no
       durable write. Large transactions, and the first in a file since it was closed, are durable
       when they return. */
    TOFT_DURABILITY_DEFERRED = 2
};

/* How a transaction is committed. Start with TOFT_INITIALIZE. */
typedef struct toft_commit_options {
    size_t size;
    toft_durability durability;
    uint32_t flags; /* reserved, 0 */
    /* observations of this realm that this transaction skips; one that has not been called for an
       earlier commit yet is notified of both: dispatch before this one begins */
    toft_token *const *without_notifying;
    size_t without_notifying_count;
} toft_commit_options;

/* Commits: when this returns TOFT_OK the transaction is on disk and the realm shows it; then the
   observers of the realm (toft_realm_observe) are called back. `options` (may be NULL:
   TOFT_DURABILITY_IMMEDIATE, everybody is notified). `out_version` (may be NULL): its version. When
   the options are at fault (TOFT_ERROR_INVALID_ARGUMENT, TOFT_ERROR_UNSUPPORTED,
   TOFT_ERROR_INVALID_HANDLE, TOFT_ERROR_WRONG_REALM), the transaction is still open; when anything
   else fails, it is over and nothing of it is visible, except after
   TOFT_ERROR_COMMIT_OUTCOME_UNKNOWN. Errors: TOFT_ERROR_NOT_IN_TRANSACTION, TOFT_ERROR_DISK_FULL,
   TOFT_ERROR_POISONED, TOFT_ERROR_COMMIT_OUTCOME_UNKNOWN. Cost: what the transaction changed, and
   one durable write; two syncs for a large transaction. */
TOFT_API toft_status toft_realm_commit(
    toft_realm *realm, const toft_commit_options *options, uint64_t *out_version);

/* Makes every commit so far durable, of any realm and any process, and returns then; at once when
   all are. Waits for other writers as long as the configuration says. A frozen realm does it too,
   on any thread. Errors:
   TOFT_ERROR_ALREADY_IN_TRANSACTION, TOFT_ERROR_READ_ONLY, TOFT_ERROR_LOCK_TIMEOUT,
   TOFT_ERROR_INTERRUPTED, TOFT_ERROR_POISONED (the sync failed, now or before). Cost: one durable
   write of what was deferred. */
TOFT_API toft_status toft_realm_flush(toft_realm *realm);

/* Cancels: all as it was at toft_realm_begin_write. Objects made in the transaction are
   TOFT_ERROR_OBJECT_DELETED. Errors: TOFT_ERROR_NOT_IN_TRANSACTION. */
TOFT_API toft_status toft_realm_cancel(toft_realm *realm);

/* Writes. Begins a savepoint: a state of the write transaction that it can return to, so that many
   calls are done as a whole or not at all. Savepoints are nested, and the end of the transaction
   ends all. Until it ends, each change costs a read of the previous value. Errors:
   TOFT_ERROR_NOT_IN_TRANSACTION. Cost: the changes that the transaction has buffered so far, which
   are written. */
TOFT_API toft_status toft_realm_begin_savepoint(toft_realm *realm);

/* Writes. Ends the savepoint that was begun last. `keep`: what was done since stays; else all is as
   it was then, and observers hear nothing of it: what was created is TOFT_ERROR_OBJECT_DELETED,
   what was deleted or replaced is there again as the same objects. Errors:
   TOFT_ERROR_INVALID_ARGUMENT (no savepoint), TOFT_ERROR_NOT_IN_TRANSACTION; after those of the
   file the transaction can only be cancelled. Cost: the changes since. */
TOFT_API toft_status toft_realm_end_savepoint(toft_realm *realm, bool keep);

/* Whether a write transaction of this realm is open. */
TOFT_API toft_status toft_realm_is_writing(toft_realm *realm, bool *out_is_writing);

/* ====================================================================================== Objects */

/* The behaviour of toft_realm_create_object when the primary key exists. */
TOFT_ENUM(toft_update_policy, uint32_t) {
    TOFT_UPDATE_ERROR = 0,   /* TOFT_ERROR_DUPLICATE_PRIMARY_KEY */
    TOFT_UPDATE_ALL = 1,     /* sets every given property; observers see each as modified */
    TOFT_UPDATE_MODIFIED = 2 /* sets those that differ */
};

/* Writes. Creates an object of a class with `count` properties given as parallel arrays (both may
   be NULL when it is 0); the others take their defaults: null if nullable, otherwise 0, false,
   empty, 1970. Lists and sets take a TOFT_TYPE_LIST, dictionaries a TOFT_TYPE_DICTIONARY. A class
   with a primary key needs it among them, unless that is TOFT_PROPERTY_AUTO_INCREMENT. All or
   nothing. `out_object` (may be NULL): a handle, release it. `out_link` (may be NULL): its link.
   `out_created` (may be NULL): false when an object with that primary key was updated.
   Errors: TOFT_ERROR_NO_SUCH_CLASS, TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_MISSING_PRIMARY_KEY,
   TOFT_ERROR_DUPLICATE_PRIMARY_KEY, TOFT_ERROR_MISSING_PRIMARY_KEY (a policy other than
   TOFT_UPDATE_ERROR on a class without), TOFT_ERROR_EMBEDDED_OBJECT (the class is embedded),
   TOFT_ERROR_OVERFLOW (no next primary key: one was INT64_MAX), and those of toft_object_set.
   Cost: O(log n). */
TOFT_API toft_status toft_realm_create_object(toft_realm *realm, toft_class_key class_key,
    toft_update_policy policy, const toft_property_key *property_keys, const toft_value *values,
    size_t count, toft_object **out_object, toft_link *out_link, bool *out_created);

/* Flags of a toft_input_column. */
TOFT_ENUM(toft_input_flags, uint32_t) {
    TOFT_INPUT_DEFAULT = 0,
    TOFT_INPUT_NEW_ONLY = 1 /* for objects that are created: those that exist keep what they have */
};

/* A property of many objects to be created, in the caller's memory. An element of `values` is, by
   the property's type and `element_size`:
   TOFT_TYPE_BOOL       1: uint8_t, 0 is false
   TOFT_TYPE_INT        8: int64_t
   TOFT_TYPE_FLOAT      4: float
   TOFT_TYPE_DOUBLE     8: double
   TOFT_TYPE_LINK       8: int64_t, the object key in the property's target class
   TOFT_TYPE_DATE      16: toft_date, or 8: int64_t, microseconds since 1970
   TOFT_TYPE_STRING    16: toft_string, or 1: the bytes from one offset in `offsets` to the next
   TOFT_TYPE_DATA      16: toft_data, or 1: as for strings
   TOFT_TYPE_UUID      16: toft_uuid
   TOFT_TYPE_OBJECT_ID 12: toft_object_id
   TOFT_TYPE_DECIMAL   16: toft_decimal
   any, collections too, 24: toft_value
   Memory of Arrow, NumPy, pandas and polars can be handed over as it is. It need not be aligned. It
   must not be memory that this library lends: each row that is written may move that. */
typedef struct toft_input_column {
    size_t size;
    toft_property_key property_key;
    uint32_t element_size;
    const void *values; /* may be NULL if nothing is to be read */
    /* with an `element_size` of 1: ascending offsets into `values`, one more than rows; else NULL
     */
    const void *offsets;
    size_t values_size;   /* with offsets: the bytes at `values`; else 0 */
    uint32_t offset_size; /* with offsets: 4 (int32_t) or 8 (int64_t); else 0 */
    uint32_t flags;       /* toft_input_flags */
    /* marks of missing values; NULL: no value is missing. At most one of the two: a byte for each
       row, not 0 if it is null; or Arrow's bitmap, in which the bit `validity_offset` + i, the
       least significant of a byte first, is 1 if there is a value */
    const uint8_t *nulls;
    const uint8_t *validity;
    size_t validity_offset;
} toft_input_column;

/* Writes. toft_realm_create_object for `count` rows: each row of the columns is an object.
   `columns` are `columns[0].size` bytes apart. All or nothing; the message and `number` of an error
   name the row. `out_object_keys` (may be NULL): room for `count` keys, one for each row.
   `out_created` (may be NULL): room for `count` bytes, 1 if the row's object is new. Errors: those
   of toft_realm_create_object, TOFT_ERROR_INVALID_ARGUMENT (a size that the type does not have,
   offsets that do not ascend or lead out of `values`). Cost: O(log n) each row. */
TOFT_API toft_status toft_realm_create_objects(toft_realm *realm, toft_class_key class_key,
    toft_update_policy policy, const toft_input_column *columns, size_t column_count, size_t count,
    int64_t *out_object_keys, uint8_t *out_created);

/* Finds the rows of a column of primary keys, in the form for toft_realm_create_objects, that have
   an object. `out_found`: room for `count` bytes, 1 if the row has one. Errors:
   TOFT_ERROR_NO_SUCH_CLASS, TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_INVALID_ARGUMENT (also a
   property that is not the primary key), TOFT_ERROR_MISSING_PRIMARY_KEY (the class lacks one),
   TOFT_ERROR_TYPE_MISMATCH. Cost:
   O(log n) each row. */
TOFT_API toft_status toft_realm_find_objects(toft_realm *realm, toft_class_key class_key,
    const toft_input_column *primary_keys, size_t count, uint8_t *out_found);

/* Writes. toft_realm_create_object with the members of a JSON object as properties. Each is what
   toft_object_to_json writes: dates are texts in ISO 8601, data base 64, uuids, object ids and
   decimals texts, lists and sets arrays, dictionaries objects; NaN and infinities are the texts
   "nan", "inf" and "-inf". An int may be written as any number that is exactly it (2, 2.0, 2e0, -0
   for 0), a decimal as a number or a text of one; neither is rounded. A double is the nearest one,
   but neither infinite nor 0 if the number is not. A link is the primary key of an object that
   exists or comes in the same text, or the object itself, which is then created or updated as
   `policy` says (always created if its class has no primary key). If a class has no primary key,
   its objects may have a number as `_key`, by which the same text links to them; `_key` is the
   property if a class has one of this name, and the number is `__key` then. A link to an object
   whose primary key is null is {"$class": "Person", "$link": null}. Embedded objects are objects.
   Values of a TOFT_TYPE_MIXED that JSON has no type for are an object with one member:
   {"$date": "2026-11-22T08:30:00Z"}, "$data", "$decimal", "$uuid", "$objectId", "$float", "$double"
   (2.0 is an int, and a whole number beyond 64 bits, without a point and an exponent, is a
   decimal); a link is {"$class": "Person", "$link": 7}. No object may have two members of one name.
   A member that is no property is left out, as Realm does. A byte order mark in front is left out.
   `json` may have any length and at most TOFT_MAX_JSON_DEPTH arrays and objects in one another. All
   or nothing. `out_object` (may be NULL), `out_link` (may be NULL) and `out_created` (may be NULL)
   are those of toft_realm_create_object. Errors: its own; TOFT_ERROR_INVALID_ARGUMENT (not JSON, or
   a name twice; number: the offset in bytes), TOFT_ERROR_VALUE_TOO_LONG (too deep),
   TOFT_ERROR_TYPE_MISMATCH (1e400 for a double, 35 digits for a decimal), TOFT_ERROR_NO_SUCH_OBJECT
   (a link to what is not there). Cost: the length of the text, O(log n) for each object in it. */
TOFT_API toft_status toft_realm_create_from_json(toft_realm *realm, toft_class_key class_key,
    toft_update_policy policy, toft_string json, toft_object **out_object, toft_link *out_link,
    bool *out_created);

/* Flags of toft_realm_create_from_json_with_flags. */
TOFT_ENUM(toft_json_flags, uint32_t) {
    TOFT_JSON_DEFAULT = 0,
    TOFT_JSON_REFUSE_UNKNOWN = 1 /* a member that is no property: TOFT_ERROR_NO_SUCH_PROPERTY */
};

/* Writes. toft_realm_create_from_json with toft_json_flags. `out_object` (may be NULL),
   `out_link` (may be NULL) and `out_created` (may be NULL) are those of toft_realm_create_object.
   Errors: those of toft_realm_create_from_json, TOFT_ERROR_NO_SUCH_PROPERTY (a member that is not a
   property, if such are refused). */
TOFT_API toft_status toft_realm_create_from_json_with_flags(toft_realm *realm,
    toft_class_key class_key, toft_update_policy policy, uint32_t flags, toft_string json,
    toft_object **out_object, toft_link *out_link, bool *out_created);

/* Arrays and objects in one another, in JSON; one more is TOFT_ERROR_VALUE_TOO_LONG. */
#define TOFT_MAX_JSON_DEPTH 400

/* Finds an object by its primary key. `out_object`: a handle, release it; NULL when there is no
   such object, which is not an error. Errors: TOFT_ERROR_NO_SUCH_CLASS,
   TOFT_ERROR_MISSING_PRIMARY_KEY, TOFT_ERROR_TYPE_MISMATCH. Cost: O(log n). */
TOFT_API toft_status toft_realm_find_object(toft_realm *realm, toft_class_key class_key,
    const toft_value *primary_key, toft_object **out_object);

/* Makes a handle of a link. `out_object`: release it; NULL when the object has been deleted, which
   is no error. Errors: TOFT_ERROR_NO_SUCH_CLASS. Cost: O(log n). */
TOFT_API toft_status toft_realm_follow(toft_realm *realm, toft_link link, toft_object **out_object);

/* The object's link: its name for other objects, threads and processes. */
TOFT_API toft_status toft_object_link(toft_object *object, toft_link *out_link);

/* Whether the object exists in the realm's version. Cost: O(log n). */
TOFT_API toft_status toft_object_is_valid(toft_object *object, bool *out_is_valid);

/* Writes. Deletes the object: links to it become null, those in dictionaries too, lists and sets
   lose it; what it links to stays, except embedded objects, which it owns, and what a
   TOFT_PROPERTY_CASCADE leads to. The handle stays, to be released. Errors:
   TOFT_ERROR_OBJECT_DELETED, TOFT_ERROR_DELETION_DENIED. Cost: O(log n) for each object that goes
   and each link from and to it. */
TOFT_API toft_status toft_object_delete(toft_object *object);

/* The `class_key` of toft_realm_delete_all for all classes together. */
#define TOFT_ALL_CLASSES 4294967295

/* Writes. Deletes all objects of a class, or of all, all or nothing. Errors:
   TOFT_ERROR_NO_SUCH_CLASS, TOFT_ERROR_DELETION_DENIED. Cost: O(n). */
TOFT_API toft_status toft_realm_delete_all(toft_realm *realm, toft_class_key class_key);

/* Gives a further handle, as toft_realm_clone does. `out_object`: release it. */
TOFT_API toft_status toft_object_clone(toft_object *object, toft_object **out_object);

/* Releases an object's handle; the object stays. Any thread. */
TOFT_API void toft_object_release(toft_object *object);

/* -------------------------------------------------------------------------- Values of an object */

/* Reads a property. Strings and data are borrowed (convention 3). Linking objects and collections
   have functions of their own. Errors: TOFT_ERROR_OBJECT_DELETED, TOFT_ERROR_NO_SUCH_PROPERTY,
   TOFT_ERROR_TYPE_MISMATCH. Cost: O(log n). */
TOFT_API toft_status toft_object_get(
    toft_object *object, toft_property_key property_key, toft_value *out_value);

/* Writes. Sets a property, also to the value it has: observers then see it as modified. A list or
   set takes a TOFT_TYPE_LIST, a dictionary a TOFT_TYPE_DICTIONARY: its contents replace the
   previous ones, null empties them, of equal keys the last one counts. A link to embedded objects
   takes no new ones: null or an empty collection, which delete them, or its present value. Errors:
   TOFT_ERROR_EMBEDDED_OBJECT (a link to an embedded object that is not there already, a list of
   them in another order, a dictionary of them), TOFT_ERROR_OBJECT_DELETED (also the target of a
   link), TOFT_ERROR_NO_SUCH_PROPERTY,
   TOFT_ERROR_TYPE_MISMATCH, TOFT_ERROR_NULL_NOT_ALLOWED, TOFT_ERROR_VALUE_TOO_LONG,
   TOFT_ERROR_READ_ONLY_PROPERTY, TOFT_ERROR_PRIMARY_KEY_CHANGE. Cost: O(log n). */
TOFT_API toft_status toft_object_set(
    toft_object *object, toft_property_key property_key, const toft_value *value);

/* Reads `count` properties at once into `out_values`. Errors: those of toft_object_get. Cost:
   O(log n + count). */
TOFT_API toft_status toft_object_get_values(toft_object *object,
    const toft_property_key *property_keys, size_t count, toft_value *out_values);

/* Reads `count` properties of the object that a link names, without a handle of it: as
   toft_realm_follow, toft_object_get_values and toft_object_release together, for less than one of
   them. Strings and data are borrowed (convention 3). `out_found`: false when the object has been
   deleted, which is no error; `out_values` are then untouched. Errors: TOFT_ERROR_NO_SUCH_CLASS,
   TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH. Cost: O(log n + count). */
TOFT_API toft_status toft_realm_follow_values(toft_realm *realm, toft_link link,
    const toft_property_key *property_keys, size_t count, toft_value *out_values, bool *out_found);

/* toft_object_get_values for the object with a primary key. `out_found`: false if there is no such
   object, which is not an error. Errors: those of toft_realm_find_object and
   toft_object_get_values. Cost: O(log n + count). */
TOFT_API toft_status toft_realm_find_values(toft_realm *realm, toft_class_key class_key,
    const toft_value *primary_key, const toft_property_key *property_keys, size_t count,
    toft_value *out_values, bool *out_found);

/* Writes. Sets `count` properties at once, all or nothing. Errors: those of toft_object_set. Cost:
   O(log n + count). */
TOFT_API toft_status toft_object_set_values(toft_object *object,
    const toft_property_key *property_keys, const toft_value *values, size_t count);

/* Writes. Adds `amount`, which may be negative, to an int property: for counters. The commit record
   keeps the amount beside the result. Errors, after which nothing has changed: TOFT_ERROR_OVERFLOW
   (the result leaves the range of 64 bits), TOFT_ERROR_NULL_NOT_ALLOWED (the property is null),
   TOFT_ERROR_OBJECT_DELETED, TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH (not an int, or
   a list), TOFT_ERROR_PRIMARY_KEY_CHANGE. Cost: O(log n). */
TOFT_API toft_status toft_object_add(
    toft_object *object, toft_property_key property_key, int64_t amount);

/* Writes. Creates an embedded object with `count` properties, as toft_realm_create_object does, in
   a to-one link, and deletes the one that was there. All or nothing. Observers see the owner's
   property as modified. `out_object` (may be NULL): a handle, release it. `out_link` (may be NULL):
   its link. Errors: TOFT_ERROR_TYPE_MISMATCH (also a property that does not link to an embedded
   class), TOFT_ERROR_VALUE_TOO_LONG (more than 100 embedded objects would be within one another),
   and those of toft_object_set. Cost: as toft_object_delete for what was there. */
TOFT_API toft_status toft_object_set_embedded(toft_object *object, toft_property_key property_key,
    const toft_property_key *property_keys, const toft_value *values, size_t count,
    toft_object **out_object, toft_link *out_link);

/* An object as JSON on one line: every property but inverse links, as toft_realm_create_from_json
   reads it. Up to `depth` links (0...100) are followed: an object that is reached for the first
   time is written in place of the link, with its own links followed one less. Otherwise a link is
   the primary key of its object, or the object key, which each object of a class without primary
   key has as `_key` (`__key` if a property has that name); if the primary key is null, it is
   {"$class": "Person", "$link": null}. In a mixed property a link always has that form, and is null
   if it leads to an object of a class that the schema does not have. Each object is written once,
   even in cycles. Writes up to `capacity` bytes (`out_text` may be NULL when it is 0), always ended
   by NUL, which counts as one of them, and the size of the whole text without NUL, which may be
   more. Errors:
   TOFT_ERROR_OBJECT_DELETED, TOFT_ERROR_INVALID_ARGUMENT (a greater depth),
   TOFT_ERROR_MISSING_PRIMARY_KEY (a link to an object whose primary key is null and whose class has
   a property named `$class` or `$link`), TOFT_ERROR_VALUE_TOO_LONG (more than 101 objects in one
   another). Cost: the length of the text.
 */
TOFT_API toft_status toft_object_to_json(
    toft_object *object, uint32_t depth, char *out_text, size_t capacity, size_t *out_size);

/* The objects that link here through an inverse property, live. `out_results`: release them.
   Errors: TOFT_ERROR_OBJECT_DELETED, TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH (not
   TOFT_TYPE_LINKING_OBJECTS). */
TOFT_API toft_status toft_object_linking_objects(
    toft_object *object, toft_property_key property_key, toft_results **out_results);

/* ======================================================================================== Lists */

/* A list property, or the list that a mixed property holds, live. `out_list`: release it. Once its
   object is deleted, the list's functions are TOFT_ERROR_COLLECTION_INVALIDATED. Errors:
   TOFT_ERROR_OBJECT_DELETED, TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH.
   A list within a mixed property is invalid too once the property, or the element that holds it, is
   set to something else. Each change of it writes the whole value of the property, and the object's
   observers are notified of that. Observers of such a list or dictionary get the differences
   between two versions: a replaced element as modified, nothing for one that was set to its present
   value, and no moves. */
TOFT_API toft_status toft_object_list(
    toft_object *object, toft_property_key property_key, toft_list **out_list);

/* Whether the list's object exists in the realm's version. Cost: O(log n). */
TOFT_API toft_status toft_list_is_valid(toft_list *list, bool *out_is_valid);

/* Whose list it is, also of an object that has been deleted. `out_property_key` (may be NULL). */
TOFT_API toft_status toft_list_owner(
    toft_list *list, toft_link *out_owner, toft_property_key *out_property_key);

/* How many elements the list has. */
TOFT_API toft_status toft_list_count(toft_list *list, uint64_t *out_count);

/* Reads one element, 0 <= index < count; strings and data are borrowed. Errors:
   TOFT_ERROR_INDEX_OUT_OF_RANGE. */
TOFT_API toft_status toft_list_get(toft_list *list, uint64_t index, toft_value *out_value);

/* Reads up to `capacity` elements from `first` (0 <= first <= count) on; `out_count`: how many it
   wrote. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE. Cost: the elements read. */
TOFT_API toft_status toft_list_get_values(
    toft_list *list, uint64_t first, toft_value *out_values, size_t capacity, size_t *out_count);

/* The list, and the dictionary, that an element of a list of mixed values is now, live: see
   toft_object_list. Release it. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE, TOFT_ERROR_TYPE_MISMATCH
   (the element is something else). */
TOFT_API toft_status toft_list_get_list(toft_list *list, uint64_t index, toft_list **out_list);
TOFT_API toft_status toft_list_get_dictionary(
    toft_list *list, uint64_t index, toft_dictionary **out_dictionary);

/* Writes. Replaces one element. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE and those of
   toft_object_set. */
TOFT_API toft_status toft_list_set(toft_list *list, uint64_t index, const toft_value *value);

/* Writes. toft_object_set_embedded for an element: the new object takes the place of the one at
   `index`. `out_object` (may be NULL): a handle, release it. `out_link` (may be NULL): its link.
   Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE and those of toft_object_set_embedded. */
TOFT_API toft_status toft_list_set_embedded(toft_list *list, uint64_t index,
    const toft_property_key *property_keys, const toft_value *values, size_t count,
    toft_object **out_object, toft_link *out_link);

/* Writes. Creates an embedded object as a new element before `index` (0 <= index <= the list's
   count). `out_object` (may be NULL): a handle, release it. `out_link` (may be NULL): its link. */
TOFT_API toft_status toft_list_insert_embedded(toft_list *list, uint64_t index,
    const toft_property_key *property_keys, const toft_value *values, size_t count,
    toft_object **out_object, toft_link *out_link);

/* Writes. Inserts `count` values before `index` (0 <= index <= the list's count), all or nothing.
   Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE and those of toft_object_set. Cost: small lists are copied,
   long ones O(log count) an element. */
TOFT_API toft_status toft_list_insert(
    toft_list *list, uint64_t index, const toft_value *values, size_t count);

/* Writes. Appends `count` values, all or nothing. Errors: those of toft_object_set. */
TOFT_API toft_status toft_list_append(toft_list *list, const toft_value *values, size_t count);

/* Writes. Erases `count` elements from `first` on; objects linked stay, unless embedded. Errors:
   TOFT_ERROR_INDEX_OUT_OF_RANGE. */
TOFT_API toft_status toft_list_erase(toft_list *list, uint64_t first, uint64_t count);

/* Writes. Moves the element at `from`, whose index is `to` afterwards. Errors:
   TOFT_ERROR_INDEX_OUT_OF_RANGE. */
TOFT_API toft_status toft_list_move(toft_list *list, uint64_t from, uint64_t to);

/* Writes. Exchanges two elements. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE. */
TOFT_API toft_status toft_list_swap(toft_list *list, uint64_t first, uint64_t second);

/* Writes. Erases all elements; objects linked stay, unless embedded. */
TOFT_API toft_status toft_list_clear(toft_list *list);

#define TOFT_NO_INDEX UINT64_MAX

/* The index of the first element that equals a value, or TOFT_NO_INDEX. Errors:
   TOFT_ERROR_TYPE_MISMATCH. Cost: the list's count. */
TOFT_API toft_status toft_list_find(toft_list *list, const toft_value *value, uint64_t *out_index);

/* Finds a value among `count` elements from `first` on. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE.
   Cost: `count`. */
TOFT_API toft_status toft_list_find_in(
    toft_list *list, const toft_value *value, uint64_t first, uint64_t count, uint64_t *out_index);

/* The list as results, live, to filter, sort and sum. `out_results`: release them. */
TOFT_API toft_status toft_list_results(toft_list *list, toft_results **out_results);

/* Gives a further handle, as toft_realm_clone does. `out_list`: release it. */
TOFT_API toft_status toft_list_clone(toft_list *list, toft_list **out_list);

/* Releases a list's handle; the list stays. Any thread. */
TOFT_API void toft_list_release(toft_list *list);

/* ========================================================================================= Sets */

/* A set property, live: distinct values (1 and 1.0 never meet, as all are of one type; -0.0 equals
   0.0, NaN equals NaN), in ascending order: null, false, numbers with NaN first, strings and data
   by their bytes, links by their objects' keys. `out_set`: release it. Once its object is deleted,
   the set's functions are TOFT_ERROR_COLLECTION_INVALIDATED. Errors: TOFT_ERROR_OBJECT_DELETED,
   TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH. */
TOFT_API toft_status toft_object_get_set(
    toft_object *object, toft_property_key property_key, toft_set **out_set);

/* Whether the set's object exists in the realm's version. Cost: O(log n). */
TOFT_API toft_status toft_set_is_valid(toft_set *set, bool *out_is_valid);

/* Whose set it is, also of an object that has been deleted. `out_property_key` (may be NULL). */
TOFT_API toft_status toft_set_owner(
    toft_set *set, toft_link *out_owner, toft_property_key *out_property_key);

/* How many elements the set has. */
TOFT_API toft_status toft_set_count(toft_set *set, uint64_t *out_count);

/* Reads one element, 0 <= index < count; strings and data are borrowed. Errors:
   TOFT_ERROR_INDEX_OUT_OF_RANGE. */
TOFT_API toft_status toft_set_get(toft_set *set, uint64_t index, toft_value *out_value);

/* Reads up to `capacity` elements from `first` (0 <= first <= count) on; `out_count`: how many it
   wrote. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE. Cost: the elements read. */
TOFT_API toft_status toft_set_get_values(
    toft_set *set, uint64_t first, toft_value *out_values, size_t capacity, size_t *out_count);

/* The index of a value, or TOFT_NO_INDEX. Errors: TOFT_ERROR_TYPE_MISMATCH. Cost: O(log count). */
TOFT_API toft_status toft_set_find(toft_set *set, const toft_value *value, uint64_t *out_index);

/* Writes. Inserts a value unless the set has it: then nothing changes. `out_index` (may be NULL):
   its index. `out_inserted` (may be NULL): whether it is new. Errors: those of toft_object_set.
   Cost: O(log count); small sets are copied. */
TOFT_API toft_status toft_set_insert(
    toft_set *set, const toft_value *value, uint64_t *out_index, bool *out_inserted);

/* Writes. Erases a value; an object linked stays. `out_erased` (may be NULL): whether the set had
   it. Errors: TOFT_ERROR_TYPE_MISMATCH. Cost: as toft_set_insert. */
TOFT_API toft_status toft_set_erase(toft_set *set, const toft_value *value, bool *out_erased);

/* Writes. Erases all elements; objects linked stay. */
TOFT_API toft_status toft_set_clear(toft_set *set);

/* The set as results, live, to filter, sort and sum. `out_results`: release them. */
TOFT_API toft_status toft_set_results(toft_set *set, toft_results **out_results);

/* Gives a further handle, as toft_realm_clone does. `out_set`: release it. */
TOFT_API toft_status toft_set_clone(toft_set *set, toft_set **out_set);

/* Releases a set's handle; the set stays. Any thread. */
TOFT_API void toft_set_release(toft_set *set);

/* ================================================================================= Dictionaries */

/* A dictionary property, or the dictionary in a mixed property (see toft_object_list for its
   differences), live: values under keys that are text, in the order of the keys' bytes. A key
   contains no "." and does not begin with "$"; writing another one is TOFT_ERROR_INVALID_ARGUMENT;
   it may be empty. When the target of a link is deleted, its key stays, with null.
   `out_dictionary`: release it. Once its object is deleted, the dictionary's functions are
   TOFT_ERROR_COLLECTION_INVALIDATED. Errors: TOFT_ERROR_OBJECT_DELETED,
   TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH. */
TOFT_API toft_status toft_object_get_dictionary(
    toft_object *object, toft_property_key property_key, toft_dictionary **out_dictionary);

/* Whether the dictionary's object exists in the realm's version. Cost: O(log n). */
TOFT_API toft_status toft_dictionary_is_valid(toft_dictionary *dictionary, bool *out_is_valid);

/* Whose dictionary it is, also of an object that has been deleted. `out_property_key` (may be
   NULL). */
TOFT_API toft_status toft_dictionary_owner(
    toft_dictionary *dictionary, toft_link *out_owner, toft_property_key *out_property_key);

/* How many keys the dictionary has. */
TOFT_API toft_status toft_dictionary_count(toft_dictionary *dictionary, uint64_t *out_count);

/* Reads the value of a key; strings and data are borrowed. Null if the key does not exist, which
   `out_found` (may be NULL) distinguishes from a stored null. Cost: O(log count). */
TOFT_API toft_status toft_dictionary_get(
    toft_dictionary *dictionary, toft_string key, toft_value *out_value, bool *out_found);

/* The index of a key in the order of keys, or TOFT_NO_INDEX. Cost: O(log count). */
TOFT_API toft_status toft_dictionary_find(
    toft_dictionary *dictionary, toft_string key, uint64_t *out_index);

/* The index of the first value that equals one, as toft_list_find has it, among `count` values from
   `first` on in the order of keys; or TOFT_NO_INDEX. Errors: TOFT_ERROR_TYPE_MISMATCH,
   TOFT_ERROR_INDEX_OUT_OF_RANGE. Cost: `count`. */
TOFT_API toft_status toft_dictionary_find_value(toft_dictionary *dictionary,
    const toft_value *value, uint64_t first, uint64_t count, uint64_t *out_index);

/* Reads up to `capacity` keys and their values from `first` (0 <= first <= count) on, in the order
   of keys; keys, strings and data are borrowed. `out_count`: how many it wrote. Errors:
   TOFT_ERROR_INDEX_OUT_OF_RANGE. Cost: the entries read. */
TOFT_API toft_status toft_dictionary_get_entries(toft_dictionary *dictionary, uint64_t first,
    toft_entry *out_entries, size_t capacity, size_t *out_count);

/* The list, and the dictionary, that is the present value of a key in a dictionary of mixed values,
   live: see toft_object_list. Release it; NULL if the key does not exist. Errors:
   TOFT_ERROR_TYPE_MISMATCH (the value is something else). */
TOFT_API toft_status toft_dictionary_get_list(
    toft_dictionary *dictionary, toft_string key, toft_list **out_list);
TOFT_API toft_status toft_dictionary_get_dictionary(
    toft_dictionary *dictionary, toft_string key, toft_dictionary **out_dictionary);

/* Writes. Sets the value of a key, also to the value that it has: observers then see it as
   modified. `out_inserted` (may be NULL): whether the key is new. Errors: those of toft_object_set.
   Cost: O(log count); small dictionaries are copied. */
TOFT_API toft_status toft_dictionary_set(
    toft_dictionary *dictionary, toft_string key, const toft_value *value, bool *out_inserted);

/* Writes. toft_object_set_embedded for a key: the new object takes the place of the one that is
   there, if any. `out_object` (may be NULL): a handle, release it. `out_link` (may be NULL): its
   link. Errors: those of toft_object_set_embedded. */
TOFT_API toft_status toft_dictionary_set_embedded(toft_dictionary *dictionary, toft_string key,
    const toft_property_key *property_keys, const toft_value *values, size_t count,
    toft_object **out_object, toft_link *out_link);

/* Writes. Erases a key with its value; an object linked stays, unless embedded. `out_erased` (may
   be NULL): whether the key was there. Cost: as toft_dictionary_set. */
TOFT_API toft_status toft_dictionary_erase(
    toft_dictionary *dictionary, toft_string key, bool *out_erased);

/* Writes. Erases all keys; objects linked stay. */
TOFT_API toft_status toft_dictionary_clear(toft_dictionary *dictionary);

/* The values as results, live, in the order of their keys, to filter, sort and sum; links that are
   null are left out. `out_results`: release them. */
TOFT_API toft_status toft_dictionary_results(
    toft_dictionary *dictionary, toft_results **out_results);

/* Gives a further handle, as toft_realm_clone does. `out_dictionary`: release it. */
TOFT_API toft_status toft_dictionary_clone(
    toft_dictionary *dictionary, toft_dictionary **out_dictionary);

/* Releases a dictionary's handle; the dictionary stays. Any thread. */
TOFT_API void toft_dictionary_release(toft_dictionary *dictionary);

/* ========================================================================== Queries and results */

/* Results are live and lazy: they show the realm's version, creating them costs nothing, and a
   chain is worked out when it is first asked. Those of a whole class or a list are never copied.
   Elements are links, or values for a list of values. */

/* One criterion of a sort: a property, or a path over to-one links ("boss.name"); of values:
   "self". */
typedef struct toft_sort {
    toft_string key_path;
    uint32_t flags;    /* TOFT_SORT_DESCENDING or 0; unknown bits are TOFT_ERROR_UNSUPPORTED */
    uint32_t reserved; /* 0 */
} toft_sort;

#define TOFT_SORT_DESCENDING 1

/* All objects of a class in the order of their keys, which is that of creation. `out_results`:
   release them. Errors: TOFT_ERROR_NO_SUCH_CLASS. */
TOFT_API toft_status toft_realm_objects(
    toft_realm *realm, toft_class_key class_key, toft_results **out_results);

/* Those of the results that match a query, in the same order: "age > $0 AND name BEGINSWITH[c]
   'a' SORT(age DESC) LIMIT(10)". Sources/Toft/Toft.docc/QueryLanguage.md has the language, with an
   example of each operator. `arguments` (may be NULL when 0) are the values of $0, $1...; they are
   copied. `out_results`: release them. Errors: TOFT_ERROR_QUERY_SYNTAX, TOFT_ERROR_INVALID_QUERY,
   TOFT_ERROR_QUERY_TYPE_MISMATCH, TOFT_ERROR_INVALID_QUERY_ARGUMENT. Cost: the length of the
   query. */
TOFT_API toft_status toft_results_filter(toft_results *results, toft_string query,
    const toft_value *arguments, size_t argument_count, toft_results **out_results);

/* Parses a query, to be used any number of times, with any results and objects. `out_query`:
   release it. Errors: TOFT_ERROR_QUERY_SYNTAX (of a text with a hyphen only when it is used, as
   names may have hyphens). Any thread. Cost: the length of the query. */
TOFT_API toft_status toft_query_new(toft_string text, toft_query **out_query);

/* The text of a query. Writes up to `capacity` bytes (`out_text` may be NULL when it is 0), always
   ended by NUL, which counts as one of them; `out_size` is the size of the whole text without NUL,
   which may be more. Any thread. */
TOFT_API toft_status toft_query_text(
    toft_query *query, char *out_text, size_t capacity, size_t *out_size);

/* Releases a query; results made with it stay. Any thread. */
TOFT_API void toft_query_release(toft_query *query);

/* toft_results_filter with a query that has been parsed. Results and errors are equal, at less
   cost. */
TOFT_API toft_status toft_results_filter_prepared(toft_results *results, toft_query *query,
    const toft_value *arguments, size_t argument_count, toft_results **out_results);

/* Finds the first object of a class that a query gives, without handles of results or of the
   object: what toft_results_get has at index 0 after toft_results_filter_prepared. `out_object`:
   the object (toft_realm_follow_values reads it), untouched if `out_found` is false: there is no
   result, which is not an error. Errors: those of toft_results_filter_prepared, and
   TOFT_ERROR_NO_SUCH_CLASS. Cost: that of the query with LIMIT(1); O(log n) for an indexed property
   that is compared by ==. */
TOFT_API toft_status toft_realm_find_first(toft_realm *realm, toft_class_key class_key,
    toft_query *query, const toft_value *arguments, size_t argument_count, toft_link *out_object,
    bool *out_found);

/* Whether an object passes the conditions of a query, whose SORT, DISTINCT and LIMIT say nothing of
   one object. Errors: TOFT_ERROR_OBJECT_DELETED and those of toft_results_filter. */
TOFT_API toft_status toft_object_matches(toft_object *object, toft_query *query,
    const toft_value *arguments, size_t argument_count, bool *out_matches);

/* The results sorted by `count` criteria (at least 1), the first being the most significant;
   ties keep their order; null comes first when ascending. `out_results`: release them. Errors:
   TOFT_ERROR_INVALID_QUERY. */
TOFT_API toft_status toft_results_sort(
    toft_results *results, const toft_sort *criteria, size_t count, toft_results **out_results);

/* The first of the results for each combination of values at `count` key paths (at least 1).
   `out_results`: release them. Errors: TOFT_ERROR_INVALID_QUERY. */
TOFT_API toft_status toft_results_distinct(
    toft_results *results, const toft_string *key_paths, size_t count, toft_results **out_results);

/* The first `limit` of the results. `out_results`: release them. */
TOFT_API toft_status toft_results_limit(
    toft_results *results, uint64_t limit, toft_results **out_results);

/* All but the first `offset` of the results. `out_results`: release them. */
TOFT_API toft_status toft_results_offset(
    toft_results *results, uint64_t offset, toft_results **out_results);

/* The present results as a fixed list: elements are no longer added or removed, though the objects
   stay live and may be deleted. For loops that change their own results: as in a loop of Swift or
   Python, an object deleted meanwhile keeps its place, is null to toft_results_get, and
   TOFT_ERROR_OBJECT_DELETED for other reads. `out_results`: release them. Cost: the count. */
TOFT_API toft_status toft_results_snapshot(toft_results *results, toft_results **out_results);

/* These results in another realm of the same database: from a realm to one frozen from it, and
   back; each handle must be one that the calling thread may use. Results of a list whose object
   does not exist are TOFT_ERROR_COLLECTION_INVALIDATED when they are read. `out_results`: release
   them. Errors: TOFT_ERROR_WRONG_REALM (a realm of another database), TOFT_ERROR_NO_SUCH_CLASS (the
   realm was opened without the class). */
TOFT_API toft_status toft_results_resolve(
    toft_results *results, toft_realm *realm, toft_results **out_results);

/* Whether the source of the results, a list or an object that is linked to, exists in the realm's
   version; if not, functions are TOFT_ERROR_COLLECTION_INVALIDATED. Cost: O(log n). */
TOFT_API toft_status toft_results_is_valid(toft_results *results, bool *out_is_valid);

/* How many there are. Cost: O(1) for a class or list, else the query on first use in a version. */
TOFT_API toft_status toft_results_count(toft_results *results, uint64_t *out_count);

/* Whether there are no results. A query that has not been evaluated in this version searches for
   the first result alone, and so do functions that read it at index 0. */
TOFT_API toft_status toft_results_is_empty(toft_results *results, bool *out_is_empty);

/* One element, 0 <= index < count: a link, or a value for results of values; null for an element of
   a snapshot that has been deleted. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE. Cost: O(log n) for a
   class. */
TOFT_API toft_status toft_results_get(toft_results *results, uint64_t index, toft_value *out_value);

/* Reads up to `capacity` elements from `first` (0 <= first <= count) on, as toft_results_get gives
   them; `out_count`: how many it wrote. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE. Cost: the elements
   read. */
TOFT_API toft_status toft_results_get_values(toft_results *results, uint64_t first,
    toft_value *out_values, size_t capacity, size_t *out_count);

/* One element as an object: release it. Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE,
   TOFT_ERROR_TYPE_MISMATCH (results of values), TOFT_ERROR_OBJECT_DELETED (in a snapshot). */
TOFT_API toft_status toft_results_object(
    toft_results *results, uint64_t index, toft_object **out_object);

/* Reads `count` properties of one element, without a handle of it: as toft_results_object,
   toft_object_get_values and toft_object_release together, for less than one of them. The way to
   walk over results object by object; toft_results_columns is faster still for columns of fixed
   width. Strings and data are borrowed (convention 3). Errors: TOFT_ERROR_INDEX_OUT_OF_RANGE,
   TOFT_ERROR_OBJECT_DELETED (in a snapshot), TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH.
   Cost: O(count) for a neighbour of the element that was read before, else O(log n + count). */
TOFT_API toft_status toft_results_object_values(toft_results *results, uint64_t index,
    const toft_property_key *property_keys, size_t count, toft_value *out_values);

/* The index of a value (an object's link, for results of objects), or TOFT_NO_INDEX. Errors:
   TOFT_ERROR_TYPE_MISMATCH. Cost: O(log n) for a class, else the count. */
TOFT_API toft_status toft_results_find(
    toft_results *results, const toft_value *value, uint64_t *out_index);

/* The class of the objects, 0 for results of values. */
TOFT_API toft_status toft_results_class(toft_results *results, toft_class_key *out_key);

/* Writes. Deletes all objects of the results. Errors: TOFT_ERROR_TYPE_MISMATCH (results of
   values). */
TOFT_API toft_status toft_results_delete_all(toft_results *results);

/* Writes. Sets `count` properties of all objects of the results to the same values, all or nothing.
   The objects are those of the moment of the call: an object that no longer matches is not left
   out. `out_count` (may be NULL): number of the objects. Errors: TOFT_ERROR_TYPE_MISMATCH (results
   of values) and those of toft_object_set, if there is an object. Cost: the count, O(log n)
   each. */
TOFT_API toft_status toft_results_set_values(toft_results *results,
    const toft_property_key *property_keys, const toft_value *values, size_t count,
    uint64_t *out_count);

/* Writes. toft_object_add for all objects of the results, all or nothing. `out_count` (may be
   NULL): number of the objects. Errors, after which nothing has changed: TOFT_ERROR_TYPE_MISMATCH
   (results of values) and those of toft_object_add, if there is an object. Cost: the count, O(log
   n) each. */
TOFT_API toft_status toft_results_add(
    toft_results *results, toft_property_key property_key, int64_t amount, uint64_t *out_count);

/* The conditions and orderings of the results, as the text of one query: filters, sorts, DISTINCT
   and limits in their order, with the values of the arguments. The text given to
   toft_results_filter
   of the same objects and schema gives the same results; "TRUEPREDICATE" without any. The source of
   the objects (a class, a list, inverse links) is not part of it. Writes it as toft_results_explain
   does. Errors: TOFT_ERROR_TYPE_MISMATCH (results of values). */
TOFT_API toft_status toft_results_query(
    toft_results *results, char *out_text, size_t capacity, size_t *out_size);

/* How the results are worked out: runs the query, and gives the plan as text with what was read and
   how long it took. Writes up to `capacity` bytes (`out_text`
   may be NULL when it is 0), always ended by NUL, which counts as one of them, and the size of the
   whole text without NUL, which may be more. */
TOFT_API toft_status toft_results_explain(
    toft_results *results, char *out_text, size_t capacity, size_t *out_size);

/* Gives a further handle, as toft_realm_clone does. `out_results`: release it. */
TOFT_API toft_status toft_results_clone(toft_results *results, toft_results **out_results);

/* Releases results. Any thread. */
TOFT_API void toft_results_release(toft_results *results);

/* ====================================================================================== Columns */

/* A property of many objects, read into the caller's buffers. An element of `values` is, by the
   property's type:
   TOFT_TYPE_BOOL       uint8_t, 0 or 1     TOFT_TYPE_DATE       toft_date
   TOFT_TYPE_INT        int64_t             TOFT_TYPE_UUID       toft_uuid
   TOFT_TYPE_FLOAT      float               TOFT_TYPE_OBJECT_ID  toft_object_id
   TOFT_TYPE_DOUBLE     double              TOFT_TYPE_DECIMAL    toft_decimal
   TOFT_TYPE_STRING     toft_string         TOFT_TYPE_LINK       int64_t, the object key in the
   TOFT_TYPE_DATA       toft_data                                property's target class */
typedef struct toft_column {
    size_t size;
    toft_property_key property_key; /* 0: the object's own key, int64_t */
    /* bytes of one element of `values`: sizeof what the type asks for */
    uint32_t element_size;
    void *values; /* room for `capacity` elements; null reads as zero bytes */
    /* room for `capacity` bytes, 1 if null; may be NULL when the caller does not need them */
    uint8_t *nulls;
} toft_column;

/* Reads `column_count` properties of the objects from `first` (0 <= first <= count) on into the
   columns, at most `capacity` rows; `out_rows`: how many there were. `columns` are
   `columns[0].size` bytes apart. Strings and data are borrowed (convention 3). An object that a
   snapshot (toft_results_snapshot) still lists and that has been deleted is null in each column,
   its own key too. When it fails, the contents of the buffers are undefined. Errors:
   TOFT_ERROR_INDEX_OUT_OF_RANGE, TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH (lists,
   linking objects, results of values), TOFT_ERROR_INVALID_ARGUMENT (element_size). Cost: the rows,
   at memory speed in the order of a class. */
TOFT_API toft_status toft_results_columns(toft_results *results, uint64_t first,
    const toft_column *columns, size_t column_count, size_t capacity, size_t *out_rows);

/* toft_results_columns for the `count` objects of a class with some keys, as links have them:
   `object_keys` may be NULL when it is 0. `nulls` (may be NULL): a byte for each, not 0 if there is
   no key. Each column has room for `count` elements; that of no key, and of a key that no object
   has, is null. Errors: TOFT_ERROR_NO_SUCH_CLASS, and those of toft_results_columns. Cost: O(log n)
   for each key; keys in ascending order take less. */
TOFT_API toft_status toft_realm_columns(toft_realm *realm, toft_class_key class_key,
    const int64_t *object_keys, const uint8_t *nulls, size_t count, const toft_column *columns,
    size_t column_count);

/* ======================================================================================= Arrow */

/* A stream of Arrow's C stream interface: a table that is handed over as it lies in memory.
   toft_arrow.h declares the structure for programs that have it from no other header. */
struct ArrowArrayStream;

/* Gives results as a stream of Arrow: one struct for each batch of rows, its children the columns.
   `key_paths`: properties, also behind links to one object each, as "plane.manufacturer", which
   name their columns; NULL with a `count` of 0: all properties that are stored, in a class without
   primary key after the objects' keys, `_key`. A null link gives null in the columns behind it.
   By the property's type, a column is in Arrow:
   bool, int, float, double  bool, int64, float32, float64
   string                    large_utf8; if texts repeat so that the file stores codes for them, a
                             dictionary of large_utf8 with int32
   data                      large_binary
   date                      timestamp in microseconds, UTC; nanoseconds are rounded down
   uuid                      fixed_size_binary(16), as the extension type arrow.uuid
   object id                 fixed_size_binary(12)
   decimal                   decimal128(38, the most digits that one has behind the point); text if
                             one is not finite, or if 38 digits are not enough
   mixed                     large_utf8 of JSON as toft_object_to_json writes it, as the extension
                             type arrow.json
   link                      the primary key of the target; int64, its object key, without one
   embedded object           struct of its properties; JSON within itself
   list, set                 large_list
   dictionary                map, its keys in ascending order
   A batch has at most 65,536 rows, and fewer if they take more than some 32 MB. The stream shows
   the version of this call and pins it until it is released; of a write transaction it has the
   changes so far, and all batches are then made at once. It outlives the realm; any thread may read
   it, one at a time. An object that a snapshot still lists and that has been deleted is null in
   each column. Its functions return 0 or a number of errno.h, with a message from get_last_error.
   `out_stream`: written as it is uninitialized; call its `release`. Errors:
   TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_TYPE_MISMATCH (a path over a collection or to an inverse
   link, results of values), TOFT_ERROR_INVALID_ARGUMENT (a path twice). Cost: of the results, and
   one pass over each decimal column; a batch reads each cluster of a class once. */
TOFT_API toft_status toft_results_arrow_stream(toft_results *results, const toft_string *key_paths,
    size_t count, struct ArrowArrayStream *out_stream);

/* Writes. Creates or updates an object for each row of a stream of Arrow. Its columns are
   properties by their names, of the types that toft_results_arrow_stream gives, and of others that
   hold the values exactly: integers of all widths, floating-point numbers for ints and back,
   decimals of 32 and 64 bits, dates and timestamps of all units with a zone, texts for uuids,
   object ids and decimals, strings and lists of all layouts, dictionary-encoded columns, lists of
   key and value for dictionaries. A link is the primary key of its target, which exists or comes in
   the stream; an int64 object key in a class without one. A column `_key` is skipped, as new
   objects get new keys. A property without a column takes its default: one of the `count`
   `property_keys` and `values` (both may be NULL when it is 0), which are for new objects alone,
   else that of toft_realm_create_object. All or nothing; the message and `number` of an error name
   the row, from 0 through all batches. The stream is read once and released, also after a failure,
   unless `stream` is NULL. `out_rows` (may be NULL): the number of rows. Errors: those of
   toft_realm_create_object, TOFT_ERROR_UNSUPPORTED (a type of Arrow), TOFT_ERROR_INVALID_ARGUMENT
   (a stream that was released, that fails or contradicts itself), TOFT_ERROR_NO_SUCH_OBJECT (a
   link). Cost: O(log n) each row, and a savepoint. */
TOFT_API toft_status toft_realm_create_from_arrow(toft_realm *realm, toft_class_key class_key,
    toft_update_policy policy, struct ArrowArrayStream *stream,
    const toft_property_key *property_keys, const toft_value *values, size_t count,
    uint64_t *out_rows);

/* =================================================================================== Aggregates */

/* Nulls and NaN do not count. `property_key`: an int, float, double, decimal or mixed property
   (minimum and maximum: also a date), or 0 for results of values. Of mixed values, the least and
   the greatest are those that toft_results_sort puts first and last, lists and dictionaries left
   out: a text may be the greatest; the sum and the mean are of the numbers. Errors:
   TOFT_ERROR_NO_SUCH_PROPERTY, TOFT_ERROR_UNSUPPORTED_AGGREGATE. Cost: one pass over one column, no
   object is made. */

/* The least value, of the property's type; null without a value. */
TOFT_API toft_status toft_results_minimum(
    toft_results *results, toft_property_key property_key, toft_value *out_value);

/* The greatest value, of the property's type; null without a value. */
TOFT_API toft_status toft_results_maximum(
    toft_results *results, toft_property_key property_key, toft_value *out_value);

/* The sum: TOFT_TYPE_INT for int, TOFT_TYPE_DECIMAL for decimal and mixed, rounded to 34 digits
   (half to even) after each addition, else TOFT_TYPE_DOUBLE; 0 when there is no value. Errors:
   TOFT_ERROR_OVERFLOW (ints whose sum is beyond 64 bits). */
TOFT_API toft_status toft_results_sum(
    toft_results *results, toft_property_key property_key, toft_value *out_value);

/* The mean, TOFT_TYPE_DOUBLE, or TOFT_TYPE_DECIMAL of decimal and mixed; null when there is no
   value. */
TOFT_API toft_status toft_results_average(
    toft_results *results, toft_property_key property_key, toft_value *out_value);

TOFT_ENUM(toft_aggregate, uint32_t) {
    TOFT_AGGREGATE_MINIMUM = 0,
    TOFT_AGGREGATE_MAXIMUM = 1,
    TOFT_AGGREGATE_SUM = 2,
    TOFT_AGGREGATE_AVERAGE = 3
};

/* One of the four above, of the values of a key path from each object: a property by its name, or
   one at the end of to-one links ("boss.age"; null if a link is), or behind the key of a dictionary
   ("marks['art']"); an alias. For results of values the path is "self". Errors: those above, and
   TOFT_ERROR_INVALID_QUERY (an invalid path over links, or one to several values). Cost: one pass
   over the column; over links one read for each object. */
TOFT_API toft_status toft_results_aggregate(
    toft_results *results, toft_aggregate aggregate, toft_string key_path, toft_value *out_value);

/* An aggregate of the objects of a group. */
typedef struct toft_group_value {
    toft_string key_path; /* a property, or a path over to-one links ("boss.age") */
    toft_aggregate aggregate;
    uint32_t reserved; /* 0 */
} toft_group_value;

/* Takes one group: the values that its objects share, one for each key path; the number of its
   objects, TOFT_TYPE_INT; and what was asked of them. They are borrowed for the time of the
   call. */
typedef void (*toft_group_callback)(void *user_data, const toft_value *group);

/* Groups the objects by the values of `key_count` key paths (at least 1; properties, or paths over
   to-one links, null if a link is), as GROUP BY of SQL does, and calls `callback` for each group in
   the order of these values: null first, then as toft_results_sort sorts. `values` (may be NULL
   when 0) are computed for each group: as toft_results_minimum and its kin do, without null and
   NaN. The callback is called on this thread after all groups are known, and may call the library.
   Errors: TOFT_ERROR_INVALID_QUERY (an invalid path, or one to several values),
   TOFT_ERROR_UNSUPPORTED_AGGREGATE, TOFT_ERROR_OVERFLOW, TOFT_ERROR_TYPE_MISMATCH (results of
   values). Cost: one pass over the columns, no object is made. */
TOFT_API toft_status toft_results_groups(toft_results *results, const toft_string *key_paths,
    size_t key_count, const toft_group_value *values, size_t value_count,
    toft_group_callback callback, void *user_data);

/* ================================================================================== Change sets */

/* Why a callback is called. */
TOFT_ENUM(toft_change_kind, uint32_t) {
    /* the first call of results and collections: what is observed is there to be read; nothing is
       listed */
    TOFT_CHANGE_INITIAL = 0,
    TOFT_CHANGE_UPDATE = 1,  /* something changed */
    TOFT_CHANGE_DELETED = 2, /* the object, or the collection's, is gone; the last call */
    TOFT_CHANGE_ERROR = 3    /* changes could not be worked out: `error`; the last call */
};

/* An element that went from an old to a new index. */
typedef struct toft_move {
    uint64_t from;
    uint64_t to;
} toft_move;

/* `count` indices from `first` on. */
typedef struct toft_range {
    uint64_t first;
    uint64_t count;
} toft_range;

/* The changes between the last call of an observer and this one: the net effect of all commits
   between. Indices ascend. To follow in a copy: erase the deletions from the last to the first,
   insert the insertions from the first to the last, then read the modifications again. A move is a
   deletion and an insertion too. Valid until the callback returns. */
typedef struct toft_changes {
    size_t size; /* set by the library */
    toft_change_kind kind;
    /* TOFT_OK unless the kind is TOFT_CHANGE_ERROR; the text is in toft_last_error */
    toft_status error;
    uint64_t previous_version; /* of the last call, 0 at the first */
    uint64_t version;          /* the realm's present version */
    const uint64_t *deletions; /* indices before */
    size_t deletion_count;
    const uint64_t *insertions; /* indices after */
    size_t insertion_count;
    const uint64_t *modifications; /* indices before, of elements that are in both */
    size_t modification_count;
    /* the same elements' indices after; modification_count of them */
    const uint64_t *modifications_after;
    const toft_move *moves; /* lists: elements moved within */
    size_t move_count;
    const toft_property_key *properties; /* objects: the properties that were set */
    size_t property_count;
    /* with TOFT_OBSERVE_OLD_VALUES, objects: the values of `properties` at the last call;
       property_count of them, else NULL. A collection reads as null */
    const toft_value *old_values;
    /* with TOFT_OBSERVE_RANGES: the same indices as above, as ranges; the arrays of single indices
       are then NULL with a count of 0 */
    const toft_range *deleted_ranges;
    size_t deleted_range_count;
    const toft_range *inserted_ranges;
    size_t inserted_range_count;
    const toft_range *modified_ranges; /* indices before */
    size_t modified_range_count;
    /* with TOFT_OBSERVE_KEYS, dictionaries: the keys of what is listed above, ascending */
    const toft_string *deleted_keys;
    size_t deleted_key_count;
    const toft_string *inserted_keys;
    size_t inserted_key_count;
    const toft_string *modified_keys; /* whose value was set, or links to what changed */
    size_t modified_key_count;
} toft_changes;

/* Whether a structure from the library holds a member: a library older than this header fills in
   less. */
#define TOFT_HAS(pointer, member)                                                                  \
    ((pointer)->size >= (size_t)((const char *)(&(pointer)->member + 1) - (const char *)(pointer)))

/* Called with changes, on the realm's thread. */
typedef void (*toft_changes_callback)(void *user_data, const toft_changes *changes);

/* ================================================================================== Observation */

/* The options of an observation; combined with |. */
TOFT_ENUM(toft_observe_flags, uint32_t) {
    TOFT_OBSERVE_DEFAULT = 0,
    TOFT_OBSERVE_OLD_VALUES = 1, /* objects: fill in `old_values` */
    TOFT_OBSERVE_KEYS = 2,       /* dictionaries: fill in keys beside the indices */
    TOFT_OBSERVE_RANGES = 4,     /* fill in ranges instead of single indices */
    TOFT_OBSERVE_NO_INITIAL = 8, /* results and collections: no TOFT_CHANGE_INITIAL */
    TOFT_OBSERVE_NO_MOVES = 16   /* lists: moves are reported as deletions and insertions alone */
};

/* How something is observed. Start with TOFT_INITIALIZE. */
typedef struct toft_observe_options {
    size_t size;
    /* "age", "boss.name", "dogs.age": the paths whose changes are modifications; NULL: all that the
       subject reaches over up to three links. With a count of 0: only insertions and deletions. Not
       for realms */
    const toft_string *key_paths;
    size_t key_path_count;
    uint32_t flags;    /* toft_observe_flags; unknown ones are TOFT_ERROR_UNSUPPORTED */
    uint32_t reserved; /* 0 */
} toft_observe_options;

/* Observes. An observation runs until its token is released or the realm closes. Changes are worked
   out by a thread of the library and delivered by toft_realm_dispatch (or refresh, or begin_write)
   on the realm's thread; several commits may come as one call, and no call comes without a change.
   Results and collections: elements that came, went, moved, or had a property set, their own or one
   of an object that they reach over up to three links; the first call, TOFT_CHANGE_INITIAL, comes
   with the next dispatch. An object: properties set, or its deletion. A realm: any commit, its own
   ones too; nothing is listed. `options` (may be NULL). `destroy_user_data` may be NULL.
   `out_token`: release it to stop; after a release on the realm's thread the callback is not called
   again. Errors: TOFT_ERROR_OBSERVE_IN_TRANSACTION, TOFT_ERROR_OBJECT_DELETED,
   TOFT_ERROR_NO_SUCH_PROPERTY (in a key path). */
TOFT_API toft_status toft_realm_observe(toft_realm *realm, const toft_observe_options *options,
    toft_changes_callback callback, void *user_data, toft_destructor destroy_user_data,
    toft_token **out_token);

TOFT_API toft_status toft_object_observe(toft_object *object, const toft_observe_options *options,
    toft_changes_callback callback, void *user_data, toft_destructor destroy_user_data,
    toft_token **out_token);

TOFT_API toft_status toft_list_observe(toft_list *list, const toft_observe_options *options,
    toft_changes_callback callback, void *user_data, toft_destructor destroy_user_data,
    toft_token **out_token);

TOFT_API toft_status toft_set_observe(toft_set *set, const toft_observe_options *options,
    toft_changes_callback callback, void *user_data, toft_destructor destroy_user_data,
    toft_token **out_token);

TOFT_API toft_status toft_dictionary_observe(toft_dictionary *dictionary,
    const toft_observe_options *options, toft_changes_callback callback, void *user_data,
    toft_destructor destroy_user_data, toft_token **out_token);

TOFT_API toft_status toft_results_observe(toft_results *results,
    const toft_observe_options *options, toft_changes_callback callback, void *user_data,
    toft_destructor destroy_user_data, toft_token **out_token);

/* Stops an observation and releases its token. Any thread. */
TOFT_API void toft_token_release(toft_token *token);

/* ===================================================================================== Dispatch */

/* A file descriptor for poll, epoll, select or any event loop: readable while toft_realm_dispatch
   has something to do. It belongs to the realm and lives until it closes: do not read, write or
   close it. */
TOFT_API toft_status toft_realm_descriptor(toft_realm *realm, int *out_descriptor);

/* Moves the realm to the version that the library's thread has worked out, if one is newer and no
   write transaction is open, and calls back the observers that are due, on this thread. Does not
   wait. `out_calls` (may be NULL): how many callbacks it called. Errors: TOFT_ERROR_INSIDE_CALLBACK
   (inside a callback). */
TOFT_API toft_status toft_realm_dispatch(toft_realm *realm, size_t *out_calls);

/* =============================================================================== Check and info */

/* Facts about an open database; sizes in bytes. */
typedef struct toft_database_info {
    size_t size;
    uint64_t version;               /* the realm's version */
    uint64_t latest_version;        /* that is published */
    uint64_t oldest_pinned_version; /* of any process; what was freed later is not reused yet */
    uint64_t file_size;
    uint64_t free_size; /* of it: free for reuse */
    uint32_t page_size;
    uint32_t format_version;
    uint64_t log_size;           /* of the file: the log */
    uint64_t checkpoint_version; /* what was committed since is in the log */
    /* bytes of the log that a crash of the machine may lose: deferred commits; 0: all are
       durable */
    uint64_t deferred_size;
    uint64_t schema_version; /* of the realm's version; 0: it was never set */
    uint64_t live_size;      /* of the file: what the latest version consists of */
    /* of the file: what only earlier versions need, which some process reads, or the last
       checkpoint */
    uint64_t held_size;
} toft_database_info;

/* Facts about the realm's database. */
TOFT_API toft_status toft_realm_info(toft_realm *realm, toft_database_info *out_info);

/* A version that a process reads: what it needs is not reused. */
typedef struct toft_version_pin {
    uint64_t version;
    /* 0: unknown, of another process that has the file open for reading only */
    uint64_t process_id;
    uint64_t held_size; /* bytes that this version needs and the latest one does not */
    /* milliseconds since the process began to read it; -1: unknown, of a process that has the file
       open for reading only, be it the caller's */
    int64_t age;
} toft_version_pin;

/* Lists the versions that are read, oldest first, each once for each process: writes up to
   `capacity` pins (`out_pins` may be NULL when it is 0) and how many there are, which may be more.
   Cost: the number of pins and of runs of freed pages. */
TOFT_API toft_status toft_realm_pins(
    toft_realm *realm, toft_version_pin *out_pins, size_t capacity, size_t *out_count);

/* The result of a check. */
typedef struct toft_check_report {
    size_t size;
    uint64_t problem_count; /* 0: all is well */
    uint64_t page_count;    /* pages looked at */
    uint64_t object_count;
} toft_check_report;

/* Reads everything in the realm's version and checks it: structure, order, checksums, indexes,
   links, free space. Damage found is no failure: the problems are counted, and described one a line
   in up to `capacity` bytes at `out_text` (may be NULL when it is 0), always ended by NUL, which
   counts as one of them; `out_size` is the size of the whole text without NUL. Cost: the whole
   file. */
TOFT_API toft_status toft_realm_check(toft_realm *realm, toft_check_report *out_report,
    char *out_text, size_t capacity, size_t *out_size);

#ifdef __cplusplus
}
#endif

#endif
