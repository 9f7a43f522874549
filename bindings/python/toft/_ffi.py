"""The C API as ctypes declarations. Written by generate.py from include/toft.h."""

from __future__ import annotations

from ctypes import (
    CDLL,
    CFUNCTYPE,
    Structure,
    Union,
    c_bool,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from typing import Any, Callable, Optional

Check = Callable[[int, Any, Any], int]


def _prototype(
    library: CDLL, name: str, result: Any, parameters: list[Any], check: Optional[Check]
) -> Any:
    function = getattr(library, name)
    function.restype = result
    function.argtypes = parameters
    if check is not None:
        function.errcheck = check
    return function


TOFT_VERSION_MAJOR = 0
TOFT_VERSION_MINOR = 1
TOFT_VERSION_PATCH = 0
TOFT_VERSION = '0.1.0'
TOFT_ABI_VERSION = 2
TOFT_MAX_CLASS_NAME_SIZE = 57
TOFT_MAX_PROPERTY_NAME_SIZE = 63
TOFT_MAX_VALUE_SIZE = 16777215
TOFT_MAX_NESTED_COLLECTIONS = 100
TOFT_NO_WAIT = 0
TOFT_WAIT_FOR_EVER = -1
TOFT_KEY_SIZE = 64
TOFT_MAX_JSON_DEPTH = 400
TOFT_ALL_CLASSES = 4294967295
TOFT_NO_INDEX = 18446744073709551615
TOFT_SORT_DESCENDING = 1


class toft_type(IntEnum):
    NULL = 0
    BOOL = 1
    INT = 2
    FLOAT = 3
    DOUBLE = 4
    STRING = 5
    DATA = 6
    DATE = 7
    LINK = 8
    LINKING_OBJECTS = 9
    LIST = 10
    MIXED = 11
    DECIMAL = 12
    OBJECT_ID = 13
    UUID = 14
    SET = 15
    DICTIONARY = 16
    OBJECT = 17


class toft_status(IntEnum):
    OK = 0
    ERROR_INVALID_ARGUMENT = 1
    ERROR_INVALID_HANDLE = 2
    ERROR_WRONG_THREAD = 3
    ERROR_CLOSED = 4
    ERROR_USED_AFTER_FORK = 5
    ERROR_UNSUPPORTED = 6
    ERROR_INTERNAL = 7
    ERROR_WRONG_REALM = 8
    ERROR_INTERRUPTED = 9
    ERROR_FILE_NOT_FOUND = 101
    ERROR_PERMISSION_DENIED = 102
    ERROR_IS_DIRECTORY = 103
    ERROR_NOT_A_DATABASE = 104
    ERROR_UNSUPPORTED_FORMAT = 105
    ERROR_CORRUPT = 106
    ERROR_INCOMPATIBLE_PROCESS = 107
    ERROR_FILE_ACCESS = 108
    ERROR_DISK_FULL = 109
    ERROR_ADDRESS_SPACE_EXHAUSTED = 110
    ERROR_FILE_TOO_LARGE = 111
    ERROR_ALREADY_OPEN = 112
    ERROR_CONFIGURATION_MISMATCH = 113
    ERROR_FILE_REPLACED = 114
    ERROR_TOO_MANY_READERS = 115
    ERROR_FILE_EXISTS = 116
    ERROR_KEY_REQUIRED = 117
    ERROR_WRONG_KEY = 118
    ERROR_NOT_ENCRYPTED = 119
    ERROR_VERSION_TOO_LOW = 120
    ERROR_NOT_IN_TRANSACTION = 201
    ERROR_ALREADY_IN_TRANSACTION = 202
    ERROR_READ_ONLY = 203
    ERROR_LOCK_TIMEOUT = 204
    ERROR_POISONED = 205
    ERROR_COMMIT_OUTCOME_UNKNOWN = 206
    ERROR_INVALID_SCHEMA = 301
    ERROR_SCHEMA_MISMATCH = 302
    ERROR_SCHEMA_VERSION_TOO_LOW = 303
    ERROR_NO_SUCH_CLASS = 304
    ERROR_NO_SUCH_PROPERTY = 305
    ERROR_OBJECT_DELETED = 401
    ERROR_NO_SUCH_OBJECT = 402
    ERROR_DUPLICATE_PRIMARY_KEY = 403
    ERROR_MISSING_PRIMARY_KEY = 404
    ERROR_PRIMARY_KEY_CHANGE = 405
    ERROR_TYPE_MISMATCH = 406
    ERROR_NULL_NOT_ALLOWED = 407
    ERROR_VALUE_TOO_LONG = 408
    ERROR_READ_ONLY_PROPERTY = 409
    ERROR_OVERFLOW = 410
    ERROR_EMBEDDED_OBJECT = 411
    ERROR_DELETION_DENIED = 412
    ERROR_DUPLICATE_VALUE = 413
    ERROR_INDEX_OUT_OF_RANGE = 501
    ERROR_COLLECTION_INVALIDATED = 502
    ERROR_QUERY_SYNTAX = 601
    ERROR_INVALID_QUERY = 602
    ERROR_QUERY_TYPE_MISMATCH = 603
    ERROR_INVALID_QUERY_ARGUMENT = 604
    ERROR_UNSUPPORTED_AGGREGATE = 605
    ERROR_OBSERVE_IN_TRANSACTION = 701
    ERROR_INSIDE_CALLBACK = 702
    ERROR_OBSERVATION_UNAVAILABLE = 703


class toft_log_level(IntEnum):
    OFF = 0
    FATAL = 1
    ERROR = 2
    WARN = 3
    INFO = 4
    DETAIL = 5
    DEBUG = 6
    TRACE = 7


class toft_property_flags(IntEnum):
    PLAIN = 0
    NULLABLE = 1
    PRIMARY_KEY = 2
    INDEXED = 4
    LIST = 8
    SET = 16
    DICTIONARY = 32
    UNIQUE = 64
    FULL_TEXT = 128
    AUTO_INCREMENT = 256
    CASCADE = 512
    DENY = 1024


class toft_class_flags(IntEnum):
    PLAIN = 0
    EMBEDDED = 1


class toft_mode(IntEnum):
    READ_WRITE = 0
    EXISTING = 1
    READ_ONLY = 2


class toft_confinement(IntEnum):
    THREAD = 0
    CALLER = 1


class toft_open_flags(IntEnum):
    MAPPED = 0
    BUFFERED = 1
    WRITE_TIMEOUT = 2
    DELETE_IF_MIGRATION_NEEDED = 4
    AUTOMATIC_BACKLINK_HANDLING = 8
    EXCLUSIVE = 16


class toft_salvage_flags(IntEnum):
    PARTIAL = 0
    COMPLETE = 1
    SCHEMA_UNVERIFIED = 2


class toft_schema_change_kind(IntEnum):
    CLASS_ADDED = 1
    CLASS_REMOVED = 2
    CLASS_RENAMED = 3
    CLASS_CHANGED = 4
    PROPERTY_ADDED = 5
    PROPERTY_REMOVED = 6
    PROPERTY_RENAMED = 7
    PROPERTY_CHANGED = 8


class toft_write_flags(IntEnum):
    DEFAULT = 0
    TIMEOUT = 1


class toft_durability(IntEnum):
    IMMEDIATE = 0
    GROUP = 1
    DEFERRED = 2


class toft_update_policy(IntEnum):
    ERROR = 0
    ALL = 1
    MODIFIED = 2


class toft_input_flags(IntEnum):
    DEFAULT = 0
    NEW_ONLY = 1


class toft_json_flags(IntEnum):
    DEFAULT = 0
    REFUSE_UNKNOWN = 1


class toft_aggregate(IntEnum):
    MINIMUM = 0
    MAXIMUM = 1
    SUM = 2
    AVERAGE = 3


class toft_change_kind(IntEnum):
    INITIAL = 0
    UPDATE = 1
    DELETED = 2
    ERROR = 3


class toft_observe_flags(IntEnum):
    DEFAULT = 0
    OLD_VALUES = 1
    KEYS = 2
    RANGES = 4
    NO_INITIAL = 8
    NO_MOVES = 16


toft_destructor = CFUNCTYPE(None, c_void_p)


toft_progress_callback = CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)


toft_migration_callback = CFUNCTYPE(c_int, c_void_p, c_void_p)


toft_initialize_callback = CFUNCTYPE(c_int, c_void_p, c_void_p)


toft_compact_callback = CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)


toft_salvage_callback = CFUNCTYPE(c_bool, c_void_p, c_void_p)


toft_schema_change_callback = CFUNCTYPE(None, c_void_p, c_void_p)


toft_group_callback = CFUNCTYPE(None, c_void_p, c_void_p)


toft_changes_callback = CFUNCTYPE(None, c_void_p, c_void_p)


class toft_string(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("size", c_size_t),
    ]
    data: int | None
    size: int


class toft_data(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("size", c_size_t),
    ]
    data: int | None
    size: int


class toft_date(Structure):
    _fields_ = [
        ("seconds", c_int64),
        ("nanoseconds", c_int32),
    ]
    seconds: int
    nanoseconds: int


class toft_link(Structure):
    _fields_ = [
        ("object_key", c_int64),
        ("class_key", c_uint32),
    ]
    object_key: int
    class_key: int


class toft_decimal(Structure):
    _fields_ = [
        ("low", c_uint64),
        ("high", c_uint64),
    ]
    low: int
    high: int


class toft_uuid(Structure):
    _fields_ = [
        ("bytes", c_uint8 * 16),
    ]
    bytes: Any


class toft_object_id(Structure):
    _fields_ = [
        ("bytes", c_uint8 * 12),
    ]
    bytes: Any


class toft_values(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("count", c_size_t),
    ]
    data: int | None
    count: int


class toft_entries(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("count", c_size_t),
    ]
    data: int | None
    count: int


class toft_value_union(Union):
    _fields_ = [
        ("boolean", c_bool),
        ("integer", c_int64),
        ("float32", c_float),
        ("float64", c_double),
        ("string", toft_string),
        ("data", toft_data),
        ("date", toft_date),
        ("link", toft_link),
        ("list", toft_values),
        ("decimal", toft_decimal),
        ("uuid", toft_uuid),
        ("object_id", toft_object_id),
        ("entries", toft_entries),
    ]
    boolean: bool
    integer: int
    float32: float
    float64: float
    string: toft_string
    data: toft_data
    date: toft_date
    link: toft_link
    list: toft_values
    decimal: toft_decimal
    uuid: toft_uuid
    object_id: toft_object_id
    entries: toft_entries


class toft_value(Structure):
    _anonymous_ = ("_union",)
    _fields_ = [
        ("type", c_int),
        ("reserved", c_uint32),
        ("_union", toft_value_union),
    ]
    type: int
    reserved: int
    boolean: bool
    integer: int
    float32: float
    float64: float
    string: toft_string
    data: toft_data
    date: toft_date
    link: toft_link
    list: toft_values
    decimal: toft_decimal
    uuid: toft_uuid
    object_id: toft_object_id
    entries: toft_entries


class toft_entry(Structure):
    _fields_ = [
        ("key", toft_string),
        ("value", toft_value),
    ]
    key: toft_string
    value: toft_value


class toft_error(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("code", c_int),
        ("number", c_int64),
        ("message", toft_string),
        ("detail", toft_string),
    ]
    size: int
    code: int
    number: int
    message: toft_string
    detail: toft_string


class toft_property_schema(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", toft_string),
        ("type", c_int),
        ("flags", c_uint32),
        ("target_class", toft_string),
        ("target_property", toft_string),
    ]
    size: int
    name: toft_string
    type: int
    flags: int
    target_class: toft_string
    target_property: toft_string


class toft_unique(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("properties", c_void_p),
        ("property_count", c_size_t),
    ]
    size: int
    properties: int | None
    property_count: int


class toft_class_schema(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", toft_string),
        ("properties", c_void_p),
        ("property_count", c_size_t),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("uniques", c_void_p),
        ("unique_count", c_size_t),
    ]
    size: int
    name: toft_string
    properties: int | None
    property_count: int
    flags: int
    reserved: int
    uniques: int | None
    unique_count: int


toft_default_callback = CFUNCTYPE(c_bool, c_void_p, toft_string, toft_string, c_void_p)


class toft_configuration(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("path", toft_string),
        ("in_memory_name", toft_string),
        ("mode", c_int),
        ("confinement", c_int),
        ("schema", c_void_p),
        ("classes", c_void_p),
        ("class_count", c_size_t),
        ("write_timeout", c_int32),
        ("flags", c_uint32),
        ("schema_version", c_uint64),
        ("interrupt", c_void_p),
        ("progress", toft_progress_callback),
        ("progress_user_data", c_void_p),
        ("migration", toft_migration_callback),
        ("migration_user_data", c_void_p),
        ("seed_path", toft_string),
        ("maximum_versions", c_uint64),
        ("compact", toft_compact_callback),
        ("compact_user_data", c_void_p),
        ("defaults", toft_default_callback),
        ("defaults_user_data", c_void_p),
        ("encryption_key", c_void_p),
        ("encryption_key_size", c_size_t),
        ("initialize", toft_initialize_callback),
        ("initialize_user_data", c_void_p),
        ("minimum_version", c_uint64),
    ]
    size: int
    path: toft_string
    in_memory_name: toft_string
    mode: int
    confinement: int
    schema: int | None
    classes: int | None
    class_count: int
    write_timeout: int
    flags: int
    schema_version: int
    interrupt: int | None
    progress: Any
    progress_user_data: int | None
    migration: Any
    migration_user_data: int | None
    seed_path: toft_string
    maximum_versions: int
    compact: Any
    compact_user_data: int | None
    defaults: Any
    defaults_user_data: int | None
    encryption_key: int | None
    encryption_key_size: int
    initialize: Any
    initialize_user_data: int | None
    minimum_version: int


class toft_compaction(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("size_before", c_uint64),
        ("size_after", c_uint64),
    ]
    size: int
    size_before: int
    size_after: int


class toft_compaction_step(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("moved_size", c_uint64),
        ("size_before", c_uint64),
        ("size_after", c_uint64),
        ("held_size", c_uint64),
        ("has_more", c_uint64),
    ]
    size: int
    moved_size: int
    size_before: int
    size_after: int
    held_size: int
    has_more: int


class toft_salvage_property(Structure):
    _fields_ = [
        ("name", toft_string),
        ("lost_count", c_uint64),
    ]
    name: toft_string
    lost_count: int


class toft_salvage_class(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", toft_string),
        ("object_count", c_uint64),
        ("missing_count", c_int64),
        ("older_count", c_uint64),
        ("unverified_count", c_uint64),
        ("dropped_count", c_uint64),
        ("cut_link_count", c_uint64),
        ("properties", c_void_p),
        ("property_count", c_size_t),
    ]
    size: int
    name: toft_string
    object_count: int
    missing_count: int
    older_count: int
    unverified_count: int
    dropped_count: int
    cut_link_count: int
    properties: int | None
    property_count: int


class toft_salvage_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("path", toft_string),
        ("new_path", toft_string),
        ("key", c_void_p),
        ("key_size", c_size_t),
        ("new_key", c_void_p),
        ("new_key_size", c_size_t),
        ("found", toft_salvage_callback),
        ("found_user_data", c_void_p),
        ("interrupt", c_void_p),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]
    size: int
    path: toft_string
    new_path: toft_string
    key: int | None
    key_size: int
    new_key: int | None
    new_key_size: int
    found: Any
    found_user_data: int | None
    interrupt: int | None
    flags: int
    reserved: int


class toft_salvage_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("version", c_uint64),
        ("class_count", c_uint64),
        ("object_count", c_uint64),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]
    size: int
    version: int
    class_count: int
    object_count: int
    flags: int
    reserved: int


toft_note_callback = CFUNCTYPE(None, c_void_p, toft_string)


class toft_import_realm_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("path", toft_string),
        ("new_path", toft_string),
        ("key", c_void_p),
        ("key_size", c_size_t),
        ("new_key", c_void_p),
        ("new_key_size", c_size_t),
        ("progress", toft_progress_callback),
        ("progress_user_data", c_void_p),
        ("note", toft_note_callback),
        ("note_user_data", c_void_p),
        ("interrupt", c_void_p),
    ]
    size: int
    path: toft_string
    new_path: toft_string
    key: int | None
    key_size: int
    new_key: int | None
    new_key_size: int
    progress: Any
    progress_user_data: int | None
    note: Any
    note_user_data: int | None
    interrupt: int | None


class toft_import_realm_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("format", c_uint64),
        ("schema_version", c_uint64),
        ("class_count", c_uint64),
        ("object_count", c_uint64),
    ]
    size: int
    format: int
    schema_version: int
    class_count: int
    object_count: int


class toft_class_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("key", c_uint32),
        ("primary_key", c_uint32),
        ("name", toft_string),
        ("property_count", c_uint64),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("unique_count", c_uint64),
    ]
    size: int
    key: int
    primary_key: int
    name: toft_string
    property_count: int
    flags: int
    reserved: int
    unique_count: int


class toft_property_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("key", c_uint32),
        ("type", c_int),
        ("flags", c_uint32),
        ("target_class", c_uint32),
        ("target_property", c_uint32),
        ("name", toft_string),
    ]
    size: int
    key: int
    type: int
    flags: int
    target_class: int
    target_property: int
    name: toft_string


class toft_schema_change(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("reserved", c_uint32),
        ("class_name", toft_string),
        ("property_name", toft_string),
        ("text", toft_string),
    ]
    size: int
    kind: int
    reserved: int
    class_name: toft_string
    property_name: toft_string
    text: toft_string


class toft_write_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("timeout", c_int32),
        ("flags", c_uint32),
    ]
    size: int
    timeout: int
    flags: int


class toft_commit_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("durability", c_int),
        ("flags", c_uint32),
        ("without_notifying", c_void_p),
        ("without_notifying_count", c_size_t),
    ]
    size: int
    durability: int
    flags: int
    without_notifying: int | None
    without_notifying_count: int


class toft_input_column(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("property_key", c_uint32),
        ("element_size", c_uint32),
        ("values", c_void_p),
        ("offsets", c_void_p),
        ("values_size", c_size_t),
        ("offset_size", c_uint32),
        ("flags", c_uint32),
        ("nulls", c_void_p),
        ("validity", c_void_p),
        ("validity_offset", c_size_t),
    ]
    size: int
    property_key: int
    element_size: int
    values: int | None
    offsets: int | None
    values_size: int
    offset_size: int
    flags: int
    nulls: int | None
    validity: int | None
    validity_offset: int


class toft_sort(Structure):
    _fields_ = [
        ("key_path", toft_string),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]
    key_path: toft_string
    flags: int
    reserved: int


class toft_column(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("property_key", c_uint32),
        ("element_size", c_uint32),
        ("values", c_void_p),
        ("nulls", c_void_p),
    ]
    size: int
    property_key: int
    element_size: int
    values: int | None
    nulls: int | None


class toft_group_value(Structure):
    _fields_ = [
        ("key_path", toft_string),
        ("aggregate", c_int),
        ("reserved", c_uint32),
    ]
    key_path: toft_string
    aggregate: int
    reserved: int


class toft_move(Structure):
    _fields_ = [
        ("from", c_uint64),
        ("to", c_uint64),
    ]
    to: int


class toft_range(Structure):
    _fields_ = [
        ("first", c_uint64),
        ("count", c_uint64),
    ]
    first: int
    count: int


class toft_changes(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("error", c_int),
        ("previous_version", c_uint64),
        ("version", c_uint64),
        ("deletions", c_void_p),
        ("deletion_count", c_size_t),
        ("insertions", c_void_p),
        ("insertion_count", c_size_t),
        ("modifications", c_void_p),
        ("modification_count", c_size_t),
        ("modifications_after", c_void_p),
        ("moves", c_void_p),
        ("move_count", c_size_t),
        ("properties", c_void_p),
        ("property_count", c_size_t),
        ("old_values", c_void_p),
        ("deleted_ranges", c_void_p),
        ("deleted_range_count", c_size_t),
        ("inserted_ranges", c_void_p),
        ("inserted_range_count", c_size_t),
        ("modified_ranges", c_void_p),
        ("modified_range_count", c_size_t),
        ("deleted_keys", c_void_p),
        ("deleted_key_count", c_size_t),
        ("inserted_keys", c_void_p),
        ("inserted_key_count", c_size_t),
        ("modified_keys", c_void_p),
        ("modified_key_count", c_size_t),
    ]
    size: int
    kind: int
    error: int
    previous_version: int
    version: int
    deletions: int | None
    deletion_count: int
    insertions: int | None
    insertion_count: int
    modifications: int | None
    modification_count: int
    modifications_after: int | None
    moves: int | None
    move_count: int
    properties: int | None
    property_count: int
    old_values: int | None
    deleted_ranges: int | None
    deleted_range_count: int
    inserted_ranges: int | None
    inserted_range_count: int
    modified_ranges: int | None
    modified_range_count: int
    deleted_keys: int | None
    deleted_key_count: int
    inserted_keys: int | None
    inserted_key_count: int
    modified_keys: int | None
    modified_key_count: int


class toft_observe_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("key_paths", c_void_p),
        ("key_path_count", c_size_t),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]
    size: int
    key_paths: int | None
    key_path_count: int
    flags: int
    reserved: int


class toft_database_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("version", c_uint64),
        ("latest_version", c_uint64),
        ("oldest_pinned_version", c_uint64),
        ("file_size", c_uint64),
        ("free_size", c_uint64),
        ("page_size", c_uint32),
        ("format_version", c_uint32),
        ("log_size", c_uint64),
        ("checkpoint_version", c_uint64),
        ("deferred_size", c_uint64),
        ("schema_version", c_uint64),
        ("live_size", c_uint64),
        ("held_size", c_uint64),
    ]
    size: int
    version: int
    latest_version: int
    oldest_pinned_version: int
    file_size: int
    free_size: int
    page_size: int
    format_version: int
    log_size: int
    checkpoint_version: int
    deferred_size: int
    schema_version: int
    live_size: int
    held_size: int


class toft_version_pin(Structure):
    _fields_ = [
        ("version", c_uint64),
        ("process_id", c_uint64),
        ("held_size", c_uint64),
        ("age", c_int64),
    ]
    version: int
    process_id: int
    held_size: int
    age: int


class toft_check_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("problem_count", c_uint64),
        ("page_count", c_uint64),
        ("object_count", c_uint64),
    ]
    size: int
    problem_count: int
    page_count: int
    object_count: int


toft_log_callback = CFUNCTYPE(None, c_void_p, c_int, toft_string)


class Library:
    """The functions of the library, ready to be called."""

    def __init__(self, library: CDLL, check: Check) -> None:
        self.toft_version = _prototype(
            library, "toft_version", c_void_p,
            [], None
        )
        self.toft_version_number = _prototype(
            library, "toft_version_number", c_uint32,
            [], None
        )
        self.toft_abi_version = _prototype(
            library, "toft_abi_version", c_uint32,
            [], None
        )
        self.toft_last_error = _prototype(
            library, "toft_last_error", c_int,
            [c_void_p], None
        )
        self.toft_clear_last_error = _prototype(
            library, "toft_clear_last_error", None,
            [], None
        )
        self.toft_status_name = _prototype(
            library, "toft_status_name", c_void_p,
            [c_int], None
        )
        self.toft_handle_count = _prototype(
            library, "toft_handle_count", c_int,
            [c_void_p], check
        )
        self.toft_set_log = _prototype(
            library, "toft_set_log", c_int,
            [c_int, toft_log_callback, c_void_p, toft_destructor], check
        )
        self.toft_schema_new = _prototype(
            library, "toft_schema_new", c_int,
            [c_void_p, c_size_t, c_void_p], check
        )
        self.toft_schema_release = _prototype(
            library, "toft_schema_release", None,
            [c_void_p], None
        )
        self.toft_realm_open = _prototype(
            library, "toft_realm_open", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_close = _prototype(
            library, "toft_realm_close", c_int,
            [c_void_p], check
        )
        self.toft_realm_last_error = _prototype(
            library, "toft_realm_last_error", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_freeze = _prototype(
            library, "toft_realm_freeze", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_clone = _prototype(
            library, "toft_realm_clone", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_write_copy = _prototype(
            library, "toft_realm_write_copy", c_int,
            [c_void_p, toft_string], check
        )
        self.toft_realm_write_copy_with_key = _prototype(
            library, "toft_realm_write_copy_with_key", c_int,
            [c_void_p, toft_string, c_void_p, c_size_t], check
        )
        self.toft_file_schema_version = _prototype(
            library, "toft_file_schema_version", c_int,
            [toft_string, c_void_p], check
        )
        self.toft_file_schema_version_with_key = _prototype(
            library, "toft_file_schema_version_with_key", c_int,
            [toft_string, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_file_delete = _prototype(
            library, "toft_file_delete", c_int,
            [toft_string, c_void_p], check
        )
        self.toft_compact = _prototype(
            library, "toft_compact", c_int,
            [toft_string, c_void_p], check
        )
        self.toft_compact_with_key = _prototype(
            library, "toft_compact_with_key", c_int,
            [toft_string, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_compact_step = _prototype(
            library, "toft_realm_compact_step", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_change_key = _prototype(
            library, "toft_change_key", c_int,
            [toft_string, c_void_p, c_size_t, c_void_p, c_size_t], check
        )
        self.toft_salvage = _prototype(
            library, "toft_salvage", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_import_realm = _prototype(
            library, "toft_import_realm", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_release = _prototype(
            library, "toft_realm_release", None,
            [c_void_p], None
        )
        self.toft_realm_refresh = _prototype(
            library, "toft_realm_refresh", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_version = _prototype(
            library, "toft_realm_version", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_classes = _prototype(
            library, "toft_realm_classes", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_find_class = _prototype(
            library, "toft_realm_find_class", c_int,
            [c_void_p, toft_string, c_void_p], check
        )
        self.toft_realm_set_alias = _prototype(
            library, "toft_realm_set_alias", c_int,
            [c_void_p, c_uint32, toft_string, toft_string], check
        )
        self.toft_realm_class_info = _prototype(
            library, "toft_realm_class_info", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_realm_properties = _prototype(
            library, "toft_realm_properties", c_int,
            [c_void_p, c_uint32, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_find_property = _prototype(
            library, "toft_realm_find_property", c_int,
            [c_void_p, c_uint32, toft_string, c_void_p], check
        )
        self.toft_realm_find_properties = _prototype(
            library, "toft_realm_find_properties", c_int,
            [c_void_p, c_uint32, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_property_info = _prototype(
            library, "toft_realm_property_info", c_int,
            [c_void_p, c_uint32, c_uint32, c_void_p], check
        )
        self.toft_realm_class_unique = _prototype(
            library, "toft_realm_class_unique", c_int,
            [c_void_p, c_uint32, c_uint64, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_object_count = _prototype(
            library, "toft_realm_object_count", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_migration_versions = _prototype(
            library, "toft_migration_versions", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_migration_old_realm = _prototype(
            library, "toft_migration_old_realm", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_migration_new_realm = _prototype(
            library, "toft_migration_new_realm", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_migration_rename_class = _prototype(
            library, "toft_migration_rename_class", c_int,
            [c_void_p, toft_string, toft_string], check
        )
        self.toft_migration_rename_property = _prototype(
            library, "toft_migration_rename_property", c_int,
            [c_void_p, toft_string, toft_string, toft_string], check
        )
        self.toft_migration_delete_data = _prototype(
            library, "toft_migration_delete_data", c_int,
            [c_void_p, toft_string, c_void_p], check
        )
        self.toft_realm_open_dry_run = _prototype(
            library, "toft_realm_open_dry_run", c_int,
            [c_void_p, toft_schema_change_callback, c_void_p], check
        )
        self.toft_realm_begin_write = _prototype(
            library, "toft_realm_begin_write", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_interrupt = _prototype(
            library, "toft_realm_interrupt", c_int,
            [c_void_p], check
        )
        self.toft_realm_commit = _prototype(
            library, "toft_realm_commit", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_realm_flush = _prototype(
            library, "toft_realm_flush", c_int,
            [c_void_p], check
        )
        self.toft_realm_cancel = _prototype(
            library, "toft_realm_cancel", c_int,
            [c_void_p], check
        )
        self.toft_realm_begin_savepoint = _prototype(
            library, "toft_realm_begin_savepoint", c_int,
            [c_void_p], check
        )
        self.toft_realm_end_savepoint = _prototype(
            library, "toft_realm_end_savepoint", c_int,
            [c_void_p, c_bool], check
        )
        self.toft_realm_is_writing = _prototype(
            library, "toft_realm_is_writing", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_create_object = _prototype(
            library, "toft_realm_create_object", c_int,
            [c_void_p, c_uint32, c_int, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p],
             check
        )
        self.toft_realm_create_objects = _prototype(
            library, "toft_realm_create_objects", c_int,
            [c_void_p, c_uint32, c_int, c_void_p, c_size_t, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_realm_find_objects = _prototype(
            library, "toft_realm_find_objects", c_int,
            [c_void_p, c_uint32, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_create_from_json = _prototype(
            library, "toft_realm_create_from_json", c_int,
            [c_void_p, c_uint32, c_int, toft_string, c_void_p, c_void_p, c_void_p], check
        )
        self.toft_realm_create_from_json_with_flags = _prototype(
            library, "toft_realm_create_from_json_with_flags", c_int,
            [c_void_p, c_uint32, c_int, c_uint32, toft_string, c_void_p, c_void_p, c_void_p], check
        )
        self.toft_realm_find_object = _prototype(
            library, "toft_realm_find_object", c_int,
            [c_void_p, c_uint32, c_void_p, c_void_p], check
        )
        self.toft_realm_follow = _prototype(
            library, "toft_realm_follow", c_int,
            [c_void_p, toft_link, c_void_p], check
        )
        self.toft_object_link = _prototype(
            library, "toft_object_link", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_object_is_valid = _prototype(
            library, "toft_object_is_valid", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_object_delete = _prototype(
            library, "toft_object_delete", c_int,
            [c_void_p], check
        )
        self.toft_realm_delete_all = _prototype(
            library, "toft_realm_delete_all", c_int,
            [c_void_p, c_uint32], check
        )
        self.toft_object_clone = _prototype(
            library, "toft_object_clone", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_object_release = _prototype(
            library, "toft_object_release", None,
            [c_void_p], None
        )
        self.toft_object_get = _prototype(
            library, "toft_object_get", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_object_set = _prototype(
            library, "toft_object_set", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_object_get_values = _prototype(
            library, "toft_object_get_values", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_follow_values = _prototype(
            library, "toft_realm_follow_values", c_int,
            [c_void_p, toft_link, c_void_p, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_realm_find_values = _prototype(
            library, "toft_realm_find_values", c_int,
            [c_void_p, c_uint32, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_object_set_values = _prototype(
            library, "toft_object_set_values", c_int,
            [c_void_p, c_void_p, c_void_p, c_size_t], check
        )
        self.toft_object_add = _prototype(
            library, "toft_object_add", c_int,
            [c_void_p, c_uint32, c_int64], check
        )
        self.toft_object_set_embedded = _prototype(
            library, "toft_object_set_embedded", c_int,
            [c_void_p, c_uint32, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_object_to_json = _prototype(
            library, "toft_object_to_json", c_int,
            [c_void_p, c_uint32, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_object_linking_objects = _prototype(
            library, "toft_object_linking_objects", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_object_list = _prototype(
            library, "toft_object_list", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_list_is_valid = _prototype(
            library, "toft_list_is_valid", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_list_owner = _prototype(
            library, "toft_list_owner", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_list_count = _prototype(
            library, "toft_list_count", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_list_get = _prototype(
            library, "toft_list_get", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_list_get_values = _prototype(
            library, "toft_list_get_values", c_int,
            [c_void_p, c_uint64, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_list_get_list = _prototype(
            library, "toft_list_get_list", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_list_get_dictionary = _prototype(
            library, "toft_list_get_dictionary", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_list_set = _prototype(
            library, "toft_list_set", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_list_set_embedded = _prototype(
            library, "toft_list_set_embedded", c_int,
            [c_void_p, c_uint64, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_list_insert_embedded = _prototype(
            library, "toft_list_insert_embedded", c_int,
            [c_void_p, c_uint64, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_list_insert = _prototype(
            library, "toft_list_insert", c_int,
            [c_void_p, c_uint64, c_void_p, c_size_t], check
        )
        self.toft_list_append = _prototype(
            library, "toft_list_append", c_int,
            [c_void_p, c_void_p, c_size_t], check
        )
        self.toft_list_erase = _prototype(
            library, "toft_list_erase", c_int,
            [c_void_p, c_uint64, c_uint64], check
        )
        self.toft_list_move = _prototype(
            library, "toft_list_move", c_int,
            [c_void_p, c_uint64, c_uint64], check
        )
        self.toft_list_swap = _prototype(
            library, "toft_list_swap", c_int,
            [c_void_p, c_uint64, c_uint64], check
        )
        self.toft_list_clear = _prototype(
            library, "toft_list_clear", c_int,
            [c_void_p], check
        )
        self.toft_list_find = _prototype(
            library, "toft_list_find", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_list_find_in = _prototype(
            library, "toft_list_find_in", c_int,
            [c_void_p, c_void_p, c_uint64, c_uint64, c_void_p], check
        )
        self.toft_list_results = _prototype(
            library, "toft_list_results", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_list_clone = _prototype(
            library, "toft_list_clone", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_list_release = _prototype(
            library, "toft_list_release", None,
            [c_void_p], None
        )
        self.toft_object_get_set = _prototype(
            library, "toft_object_get_set", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_set_is_valid = _prototype(
            library, "toft_set_is_valid", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_set_owner = _prototype(
            library, "toft_set_owner", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_set_count = _prototype(
            library, "toft_set_count", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_set_get = _prototype(
            library, "toft_set_get", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_set_get_values = _prototype(
            library, "toft_set_get_values", c_int,
            [c_void_p, c_uint64, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_set_find = _prototype(
            library, "toft_set_find", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_set_insert = _prototype(
            library, "toft_set_insert", c_int,
            [c_void_p, c_void_p, c_void_p, c_void_p], check
        )
        self.toft_set_erase = _prototype(
            library, "toft_set_erase", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_set_clear = _prototype(
            library, "toft_set_clear", c_int,
            [c_void_p], check
        )
        self.toft_set_results = _prototype(
            library, "toft_set_results", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_set_clone = _prototype(
            library, "toft_set_clone", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_set_release = _prototype(
            library, "toft_set_release", None,
            [c_void_p], None
        )
        self.toft_object_get_dictionary = _prototype(
            library, "toft_object_get_dictionary", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_dictionary_is_valid = _prototype(
            library, "toft_dictionary_is_valid", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_dictionary_owner = _prototype(
            library, "toft_dictionary_owner", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_dictionary_count = _prototype(
            library, "toft_dictionary_count", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_dictionary_get = _prototype(
            library, "toft_dictionary_get", c_int,
            [c_void_p, toft_string, c_void_p, c_void_p], check
        )
        self.toft_dictionary_find = _prototype(
            library, "toft_dictionary_find", c_int,
            [c_void_p, toft_string, c_void_p], check
        )
        self.toft_dictionary_find_value = _prototype(
            library, "toft_dictionary_find_value", c_int,
            [c_void_p, c_void_p, c_uint64, c_uint64, c_void_p], check
        )
        self.toft_dictionary_get_entries = _prototype(
            library, "toft_dictionary_get_entries", c_int,
            [c_void_p, c_uint64, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_dictionary_get_list = _prototype(
            library, "toft_dictionary_get_list", c_int,
            [c_void_p, toft_string, c_void_p], check
        )
        self.toft_dictionary_get_dictionary = _prototype(
            library, "toft_dictionary_get_dictionary", c_int,
            [c_void_p, toft_string, c_void_p], check
        )
        self.toft_dictionary_set = _prototype(
            library, "toft_dictionary_set", c_int,
            [c_void_p, toft_string, c_void_p, c_void_p], check
        )
        self.toft_dictionary_set_embedded = _prototype(
            library, "toft_dictionary_set_embedded", c_int,
            [c_void_p, toft_string, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_dictionary_erase = _prototype(
            library, "toft_dictionary_erase", c_int,
            [c_void_p, toft_string, c_void_p], check
        )
        self.toft_dictionary_clear = _prototype(
            library, "toft_dictionary_clear", c_int,
            [c_void_p], check
        )
        self.toft_dictionary_results = _prototype(
            library, "toft_dictionary_results", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_dictionary_clone = _prototype(
            library, "toft_dictionary_clone", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_dictionary_release = _prototype(
            library, "toft_dictionary_release", None,
            [c_void_p], None
        )
        self.toft_realm_objects = _prototype(
            library, "toft_realm_objects", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_results_filter = _prototype(
            library, "toft_results_filter", c_int,
            [c_void_p, toft_string, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_query_new = _prototype(
            library, "toft_query_new", c_int,
            [toft_string, c_void_p], check
        )
        self.toft_query_text = _prototype(
            library, "toft_query_text", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_query_release = _prototype(
            library, "toft_query_release", None,
            [c_void_p], None
        )
        self.toft_results_filter_prepared = _prototype(
            library, "toft_results_filter_prepared", c_int,
            [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_find_first = _prototype(
            library, "toft_realm_find_first", c_int,
            [c_void_p, c_uint32, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p], check
        )
        self.toft_object_matches = _prototype(
            library, "toft_object_matches", c_int,
            [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_sort = _prototype(
            library, "toft_results_sort", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_distinct = _prototype(
            library, "toft_results_distinct", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_limit = _prototype(
            library, "toft_results_limit", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_results_offset = _prototype(
            library, "toft_results_offset", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_results_snapshot = _prototype(
            library, "toft_results_snapshot", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_results_resolve = _prototype(
            library, "toft_results_resolve", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_results_is_valid = _prototype(
            library, "toft_results_is_valid", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_results_count = _prototype(
            library, "toft_results_count", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_results_is_empty = _prototype(
            library, "toft_results_is_empty", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_results_get = _prototype(
            library, "toft_results_get", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_results_get_values = _prototype(
            library, "toft_results_get_values", c_int,
            [c_void_p, c_uint64, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_object = _prototype(
            library, "toft_results_object", c_int,
            [c_void_p, c_uint64, c_void_p], check
        )
        self.toft_results_object_values = _prototype(
            library, "toft_results_object_values", c_int,
            [c_void_p, c_uint64, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_find = _prototype(
            library, "toft_results_find", c_int,
            [c_void_p, c_void_p, c_void_p], check
        )
        self.toft_results_class = _prototype(
            library, "toft_results_class", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_results_delete_all = _prototype(
            library, "toft_results_delete_all", c_int,
            [c_void_p], check
        )
        self.toft_results_set_values = _prototype(
            library, "toft_results_set_values", c_int,
            [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_add = _prototype(
            library, "toft_results_add", c_int,
            [c_void_p, c_uint32, c_int64, c_void_p], check
        )
        self.toft_results_query = _prototype(
            library, "toft_results_query", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_explain = _prototype(
            library, "toft_results_explain", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_clone = _prototype(
            library, "toft_results_clone", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_results_release = _prototype(
            library, "toft_results_release", None,
            [c_void_p], None
        )
        self.toft_results_columns = _prototype(
            library, "toft_results_columns", c_int,
            [c_void_p, c_uint64, c_void_p, c_size_t, c_size_t, c_void_p], check
        )
        self.toft_realm_columns = _prototype(
            library, "toft_realm_columns", c_int,
            [c_void_p, c_uint32, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t], check
        )
        self.toft_results_arrow_stream = _prototype(
            library, "toft_results_arrow_stream", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_create_from_arrow = _prototype(
            library, "toft_realm_create_from_arrow", c_int,
            [c_void_p, c_uint32, c_int, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_results_minimum = _prototype(
            library, "toft_results_minimum", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_results_maximum = _prototype(
            library, "toft_results_maximum", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_results_sum = _prototype(
            library, "toft_results_sum", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_results_average = _prototype(
            library, "toft_results_average", c_int,
            [c_void_p, c_uint32, c_void_p], check
        )
        self.toft_results_aggregate = _prototype(
            library, "toft_results_aggregate", c_int,
            [c_void_p, c_int, toft_string, c_void_p], check
        )
        self.toft_results_groups = _prototype(
            library, "toft_results_groups", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, toft_group_callback, c_void_p], check
        )
        self.toft_realm_observe = _prototype(
            library, "toft_realm_observe", c_int,
            [c_void_p, c_void_p, toft_changes_callback, c_void_p, toft_destructor, c_void_p], check
        )
        self.toft_object_observe = _prototype(
            library, "toft_object_observe", c_int,
            [c_void_p, c_void_p, toft_changes_callback, c_void_p, toft_destructor, c_void_p], check
        )
        self.toft_list_observe = _prototype(
            library, "toft_list_observe", c_int,
            [c_void_p, c_void_p, toft_changes_callback, c_void_p, toft_destructor, c_void_p], check
        )
        self.toft_set_observe = _prototype(
            library, "toft_set_observe", c_int,
            [c_void_p, c_void_p, toft_changes_callback, c_void_p, toft_destructor, c_void_p], check
        )
        self.toft_dictionary_observe = _prototype(
            library, "toft_dictionary_observe", c_int,
            [c_void_p, c_void_p, toft_changes_callback, c_void_p, toft_destructor, c_void_p], check
        )
        self.toft_results_observe = _prototype(
            library, "toft_results_observe", c_int,
            [c_void_p, c_void_p, toft_changes_callback, c_void_p, toft_destructor, c_void_p], check
        )
        self.toft_token_release = _prototype(
            library, "toft_token_release", None,
            [c_void_p], None
        )
        self.toft_realm_descriptor = _prototype(
            library, "toft_realm_descriptor", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_dispatch = _prototype(
            library, "toft_realm_dispatch", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_info = _prototype(
            library, "toft_realm_info", c_int,
            [c_void_p, c_void_p], check
        )
        self.toft_realm_pins = _prototype(
            library, "toft_realm_pins", c_int,
            [c_void_p, c_void_p, c_size_t, c_void_p], check
        )
        self.toft_realm_check = _prototype(
            library, "toft_realm_check", c_int,
            [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p], check
        )


FUNCTIONS = (
    "toft_version",
    "toft_version_number",
    "toft_abi_version",
    "toft_last_error",
    "toft_clear_last_error",
    "toft_status_name",
    "toft_handle_count",
    "toft_set_log",
    "toft_schema_new",
    "toft_schema_release",
    "toft_realm_open",
    "toft_realm_close",
    "toft_realm_last_error",
    "toft_realm_freeze",
    "toft_realm_clone",
    "toft_realm_write_copy",
    "toft_realm_write_copy_with_key",
    "toft_file_schema_version",
    "toft_file_schema_version_with_key",
    "toft_file_delete",
    "toft_compact",
    "toft_compact_with_key",
    "toft_realm_compact_step",
    "toft_change_key",
    "toft_salvage",
    "toft_import_realm",
    "toft_realm_release",
    "toft_realm_refresh",
    "toft_realm_version",
    "toft_realm_classes",
    "toft_realm_find_class",
    "toft_realm_set_alias",
    "toft_realm_class_info",
    "toft_realm_properties",
    "toft_realm_find_property",
    "toft_realm_find_properties",
    "toft_realm_property_info",
    "toft_realm_class_unique",
    "toft_realm_object_count",
    "toft_migration_versions",
    "toft_migration_old_realm",
    "toft_migration_new_realm",
    "toft_migration_rename_class",
    "toft_migration_rename_property",
    "toft_migration_delete_data",
    "toft_realm_open_dry_run",
    "toft_realm_begin_write",
    "toft_realm_interrupt",
    "toft_realm_commit",
    "toft_realm_flush",
    "toft_realm_cancel",
    "toft_realm_begin_savepoint",
    "toft_realm_end_savepoint",
    "toft_realm_is_writing",
    "toft_realm_create_object",
    "toft_realm_create_objects",
    "toft_realm_find_objects",
    "toft_realm_create_from_json",
    "toft_realm_create_from_json_with_flags",
    "toft_realm_find_object",
    "toft_realm_follow",
    "toft_object_link",
    "toft_object_is_valid",
    "toft_object_delete",
    "toft_realm_delete_all",
    "toft_object_clone",
    "toft_object_release",
    "toft_object_get",
    "toft_object_set",
    "toft_object_get_values",
    "toft_realm_follow_values",
    "toft_realm_find_values",
    "toft_object_set_values",
    "toft_object_add",
    "toft_object_set_embedded",
    "toft_object_to_json",
    "toft_object_linking_objects",
    "toft_object_list",
    "toft_list_is_valid",
    "toft_list_owner",
    "toft_list_count",
    "toft_list_get",
    "toft_list_get_values",
    "toft_list_get_list",
    "toft_list_get_dictionary",
    "toft_list_set",
    "toft_list_set_embedded",
    "toft_list_insert_embedded",
    "toft_list_insert",
    "toft_list_append",
    "toft_list_erase",
    "toft_list_move",
    "toft_list_swap",
    "toft_list_clear",
    "toft_list_find",
    "toft_list_find_in",
    "toft_list_results",
    "toft_list_clone",
    "toft_list_release",
    "toft_object_get_set",
    "toft_set_is_valid",
    "toft_set_owner",
    "toft_set_count",
    "toft_set_get",
    "toft_set_get_values",
    "toft_set_find",
    "toft_set_insert",
    "toft_set_erase",
    "toft_set_clear",
    "toft_set_results",
    "toft_set_clone",
    "toft_set_release",
    "toft_object_get_dictionary",
    "toft_dictionary_is_valid",
    "toft_dictionary_owner",
    "toft_dictionary_count",
    "toft_dictionary_get",
    "toft_dictionary_find",
    "toft_dictionary_find_value",
    "toft_dictionary_get_entries",
    "toft_dictionary_get_list",
    "toft_dictionary_get_dictionary",
    "toft_dictionary_set",
    "toft_dictionary_set_embedded",
    "toft_dictionary_erase",
    "toft_dictionary_clear",
    "toft_dictionary_results",
    "toft_dictionary_clone",
    "toft_dictionary_release",
    "toft_realm_objects",
    "toft_results_filter",
    "toft_query_new",
    "toft_query_text",
    "toft_query_release",
    "toft_results_filter_prepared",
    "toft_realm_find_first",
    "toft_object_matches",
    "toft_results_sort",
    "toft_results_distinct",
    "toft_results_limit",
    "toft_results_offset",
    "toft_results_snapshot",
    "toft_results_resolve",
    "toft_results_is_valid",
    "toft_results_count",
    "toft_results_is_empty",
    "toft_results_get",
    "toft_results_get_values",
    "toft_results_object",
    "toft_results_object_values",
    "toft_results_find",
    "toft_results_class",
    "toft_results_delete_all",
    "toft_results_set_values",
    "toft_results_add",
    "toft_results_query",
    "toft_results_explain",
    "toft_results_clone",
    "toft_results_release",
    "toft_results_columns",
    "toft_realm_columns",
    "toft_results_arrow_stream",
    "toft_realm_create_from_arrow",
    "toft_results_minimum",
    "toft_results_maximum",
    "toft_results_sum",
    "toft_results_average",
    "toft_results_aggregate",
    "toft_results_groups",
    "toft_realm_observe",
    "toft_object_observe",
    "toft_list_observe",
    "toft_set_observe",
    "toft_dictionary_observe",
    "toft_results_observe",
    "toft_token_release",
    "toft_realm_descriptor",
    "toft_realm_dispatch",
    "toft_realm_info",
    "toft_realm_pins",
    "toft_realm_check",
)
