"""The library as the tests call it:

every call counted, every failure an exception unless the status is asked for.
"""

import collections
import contextlib
import ctypes
import os
import queue
import threading
import uuid

from toft_header import Header

HEADER = Header()
LIBRARY = HEADER.load(os.environ.get("TOFT_LIBRARY", "libtoft.so.2"))
S = collections.namedtuple("Structures", HEADER.structures)(**HEADER.structures)
E = collections.namedtuple("Enumerators", HEADER.enumerators)(**HEADER.enumerators)
#: A migration lives in a callback alone, and so do its functions: see test_functions.py.
HEADER.handles.discard("toft_migration")
ANYWHERE = [each for each in HEADER.functions.values() if "_migration_" not in each.name]

#: The functions that were called and returned TOFT_OK (or return nothing that could fail).
succeeded = collections.Counter()


class ToftError(Exception):
    """A call that failed."""

    def __init__(self, function, status, message, detail, number):
        super().__init__(f"{function}: {status_name(status)}: {message}\n{detail}")
        self.status, self.message, self.detail, self.number = status, message, detail, number


def status_name(status):
    return LIBRARY.toft_status_name(status).decode()


def last_error():
    """Code, message, detail and number of the last failure on this thread."""
    error = sized(S.toft_error)
    assert LIBRARY.toft_last_error(ctypes.byref(error)) == E.TOFT_OK
    return error.code, text_of(error.message), text_of(error.detail), error.number


def status(name, *arguments):
    """Calls a function and gives its status."""
    result = getattr(LIBRARY, name)(*arguments)
    if result == E.TOFT_OK or not HEADER.functions[name].returns_status:
        succeeded[name] += 1
    return result


def check(name, *arguments):
    """Calls a function that has to succeed."""
    result = status(name, *arguments)
    if HEADER.functions[name].returns_status and result != E.TOFT_OK:
        code, message, detail, number = last_error()
        assert code == result, (
            f"{name} returned {status_name(result)}, the last error says {status_name(code)}"
        )
        raise ToftError(name, result, message, detail, number)
    return result


def text(string):
    """A toft_string; it keeps its bytes alive."""
    data = string.encode() if isinstance(string, str) else string
    buffer = ctypes.create_string_buffer(data, len(data) + 1)
    result = S.toft_string(ctypes.addressof(buffer), len(data))
    result.keep = buffer
    return result


def text_of(string):
    return ctypes.string_at(string.data, string.size).decode() if string.size else ""


def sized(structure, **members):
    """A structure that begins with its size."""
    result = structure(**members)
    result.size = ctypes.sizeof(structure)
    return result


Link = collections.namedtuple("Link", "object_key class_key")
Date = collections.namedtuple("Date", "seconds nanoseconds")
#: A list or a dictionary within a mixed property; a value has only the number of its elements.
Nested = collections.namedtuple("Nested", "kind count")


#: Types that a later version will have.
RESERVED_TYPES = (E.TOFT_TYPE_OBJECT,)


class ObjectId(bytes):
    """Twelve bytes to be passed as an object id."""


class Decimal(collections.namedtuple("Decimal", "low high")):
    """The two words of a decimal."""


class Float(float):
    """A number to be passed as binary32."""


def value(thing):
    """A toft_value of a Python value; it keeps its bytes alive."""
    result = S.toft_value()
    if thing is None:
        result.type = E.TOFT_TYPE_NULL
    elif isinstance(thing, bool):
        result.type, result.boolean = E.TOFT_TYPE_BOOL, thing
    elif isinstance(thing, int):
        result.type, result.integer = E.TOFT_TYPE_INT, thing
    elif isinstance(thing, Float):
        result.type, result.float32 = E.TOFT_TYPE_FLOAT, thing
    elif isinstance(thing, float):
        result.type, result.float64 = E.TOFT_TYPE_DOUBLE, thing
    elif isinstance(thing, str):
        string = text(thing)
        result.type, result.string, result.keep = E.TOFT_TYPE_STRING, string, string
    elif isinstance(thing, uuid.UUID):
        result.type, result.uuid.bytes = E.TOFT_TYPE_UUID, (ctypes.c_uint8 * 16)(*thing.bytes)
    elif isinstance(thing, Decimal):
        result.type, result.decimal = E.TOFT_TYPE_DECIMAL, S.toft_decimal(*thing)
    elif isinstance(thing, ObjectId):
        result.type, result.object_id.bytes = E.TOFT_TYPE_OBJECT_ID, (ctypes.c_uint8 * 12)(*thing)
    elif isinstance(thing, bytes):
        buffer = ctypes.create_string_buffer(thing, len(thing) + 1)
        result.type, result.data = (
            E.TOFT_TYPE_DATA,
            S.toft_data(ctypes.addressof(buffer), len(thing)),
        )
        result.keep = buffer
    elif isinstance(thing, Date):
        result.type, result.date = E.TOFT_TYPE_DATE, S.toft_date(*thing)
    elif isinstance(thing, Link):
        result.type, result.link = E.TOFT_TYPE_LINK, S.toft_link(*thing)
    elif isinstance(thing, list):
        elements = values(thing)
        result.type = E.TOFT_TYPE_LIST
        result.list = S.toft_values(ctypes.cast(elements, ctypes.POINTER(S.toft_value)), len(thing))
        result.keep = elements
    elif isinstance(thing, dict):
        made = entries(thing)
        result.type = E.TOFT_TYPE_DICTIONARY
        result.entries = S.toft_entries(ctypes.cast(made, ctypes.POINTER(S.toft_entry)), len(thing))
        result.keep = made
    else:
        raise TypeError(thing)
    return result


def values(things):
    """An array of values that keeps their bytes alive."""
    made = [value(thing) for thing in things]
    array = (S.toft_value * max(len(things), 1))(*made)
    array.keep = made
    return array


def entries(things):
    """An array of entries that keeps their bytes alive."""
    array, kept = (S.toft_entry * max(len(things), 1))(), []
    for entry, (key, thing) in zip(array, things.items()):
        kept += [text(key), value(thing)]
        entry.key, entry.value = kept[-2:]
    array.keep = kept
    return array


def python(result):
    """The Python value of a toft_value."""
    if result.type == E.TOFT_TYPE_NULL:
        return None
    if result.type == E.TOFT_TYPE_LIST:
        if not result.list.data:
            return Nested("list", result.list.count)
        return [python(each) for each in result.list.data[: result.list.count]]
    if result.type == E.TOFT_TYPE_DICTIONARY:
        if not result.entries.data:
            return Nested("dictionary", result.entries.count)
        found = result.entries.data[: result.entries.count]
        return {text_of(each.key): python(each.value) for each in found}
    if result.type == E.TOFT_TYPE_STRING:
        return text_of(result.string)
    if result.type == E.TOFT_TYPE_DATA:
        return ctypes.string_at(result.data.data, result.data.size) if result.data.size else b""
    if result.type == E.TOFT_TYPE_DATE:
        return Date(result.date.seconds, result.date.nanoseconds)
    if result.type == E.TOFT_TYPE_UUID:
        return uuid.UUID(bytes=bytes(result.uuid.bytes))
    if result.type == E.TOFT_TYPE_DECIMAL:
        return Decimal(result.decimal.low, result.decimal.high)
    if result.type == E.TOFT_TYPE_OBJECT_ID:
        return ObjectId(result.object_id.bytes)
    if result.type == E.TOFT_TYPE_LINK:
        return Link(result.link.object_key, result.link.class_key)
    member = {
        E.TOFT_TYPE_BOOL: "boolean",
        E.TOFT_TYPE_INT: "integer",
        E.TOFT_TYPE_FLOAT: "float32",
        E.TOFT_TYPE_DOUBLE: "float64",
    }
    return getattr(result, member[result.type])


def get(name, *arguments):
    """Calls a function whose last parameter is its only result, and gives that result as a Python
    value.
    """
    out = HEADER.functions[name].parameters[-1].ctype._type_()
    if isinstance(out, ctypes.Structure) and out._fields_[0][0] == "size":
        out = sized(type(out))
    check(name, *arguments, ctypes.byref(out))
    if isinstance(out, S.toft_value):
        return python(out)
    if isinstance(out, S.toft_link):
        return Link(out.object_key, out.class_key)
    return out if isinstance(out, ctypes.Structure) else out.value


def property_schema(name, type, flags=0, target="", origin=""):
    result = sized(S.toft_property_schema, type=type, flags=flags)
    result.keep = (text(name), text(target), text(origin))
    result.name, result.target_class, result.target_property = result.keep
    return result


def class_schema(name, properties):
    array = (S.toft_property_schema * max(len(properties), 1))(*properties)
    result = sized(S.toft_class_schema, property_count=len(properties))
    string = text(name)
    result.name, result.properties = string, array
    result.keep = (string, array, properties)
    return result


def new_schema(classes):
    """A schema handle of {class name: [property_schema(...)]}."""
    made = [class_schema(name, properties) for name, properties in classes.items()]
    array = (S.toft_class_schema * max(len(made), 1))(*made)
    array.keep = made
    return get("toft_schema_new", array, len(made))


def configuration(path="", memory="", timeout=None, **members):
    result = sized(S.toft_configuration, **members)
    if timeout is not None:
        result.write_timeout = timeout
        result.flags |= E.TOFT_OPEN_WRITE_TIMEOUT
    result.keep = (text(path), text(memory))
    result.path, result.in_memory_name = result.keep
    return result


def open_realm(classes=None, **arguments):
    """Opens a realm with the classes given, or those that the file has."""
    schema = new_schema(classes) if classes is not None else None
    try:
        return get("toft_realm_open", ctypes.byref(configuration(schema=schema, **arguments)))
    finally:
        if schema:
            check("toft_schema_release", schema)


def on_another_thread(body):
    """Runs a body on a thread of its own and gives its result."""
    results, failures = [], []

    def run():
        try:
            results.append(body())
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


@contextlib.contextmanager
def other_threads_release():
    """A function that hands an object's handle to one of three threads, which release it."""
    handles = queue.SimpleQueue()

    def collect():
        while (handle := handles.get()) is not None:
            LIBRARY.toft_object_release(handle)

    collectors = [threading.Thread(target=collect) for _ in range(3)]
    for collector in collectors:
        collector.start()
    try:
        yield handles.put
    finally:
        for _ in collectors:
            handles.put(None)
        for collector in collectors:
            collector.join()
