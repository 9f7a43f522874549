"""One database in memory with one handle of every kind, and right arguments for every function."""

import ctypes
import itertools
import tempfile
from pathlib import Path

from arrow import Producer, ints, texts
from calls import (
    HEADER,
    E,
    Link,
    S,
    check,
    get,
    new_schema,
    open_realm,
    property_schema,
    sized,
    status,
    text,
    text_of,
    value,
    values,
)

CLASSES = {
    "Person": [
        property_schema("name", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_PRIMARY_KEY),
        property_schema("age", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_INDEXED),
        property_schema("nickname", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_NULLABLE),
        property_schema("boss", E.TOFT_TYPE_LINK, E.TOFT_PROPERTY_NULLABLE, "Person"),
        property_schema("numbers", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_LIST),
        property_schema("friends", E.TOFT_TYPE_LINK, E.TOFT_PROPERTY_LIST, "Person"),
        property_schema("tags", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_SET),
        property_schema("scores", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_DICTIONARY),
        property_schema("reports", E.TOFT_TYPE_LINKING_OBJECTS, 0, "Person", "boss"),
    ],
}

CHANGES_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(S.toft_changes))
DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
GROUP_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(S.toft_value))
LOG_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, S.toft_string)
#: It is set for the whole process, so it lives as long.
LOG_NOWHERE = LOG_CALLBACK(lambda user_data, level, message: None)
GROUP_NOWHERE = GROUP_CALLBACK(lambda user_data, group: None)
SCHEMA_CHANGE_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
SCHEMA_CHANGE_NOWHERE = SCHEMA_CHANGE_CALLBACK(lambda user_data, change: None)
NOTHING = DESTRUCTOR(lambda user_data: None)
_names = itertools.count()

#: The content of a result buffer before a call, to see that a failing call does not change it.
PATTERN = 0xA5


class World:
    """Three people; Ada has two reports, the numbers and tags 1, 2, 3 and the scores a, b, c."""

    def __init__(self):
        self.name = f"world-{next(_names)}"
        self.directory = tempfile.TemporaryDirectory()
        self.realm = open_realm(CLASSES, memory=self.name)
        self.person = get("toft_realm_find_class", self.realm, text("Person"))
        self.keys = {
            declared: get("toft_realm_find_property", self.realm, self.person, text(declared))
            for declared in (text_of(each.name) for each in CLASSES["Person"])
        }
        self.callback = CHANGES_CALLBACK(lambda user_data, changes: None)
        self.destructor = DESTRUCTOR(lambda user_data: None)
        self._fill()
        self.schema = new_schema(CLASSES)
        self.query = get("toft_query_new", text("age > 50"))
        self.list = get("toft_object_list", self.object, self.keys["numbers"])
        self.set = get("toft_object_get_set", self.object, self.keys["tags"])
        self.dictionary = get("toft_object_get_dictionary", self.object, self.keys["scores"])
        self.results = get("toft_realm_objects", self.realm, self.person)
        self.token = get("toft_realm_observe", self.realm, None, self.callback, None, None)

    def _fill(self):
        check("toft_realm_begin_write", self.realm, None)
        self.object = self.create("Ada", 52)
        link = value_link = get("toft_object_link", self.object)
        for name, age in (("Grace", 47), ("Edsger", 61)):
            check("toft_object_release", self.create(name, age, value_link))
        numbers = get("toft_object_list", self.object, self.keys["numbers"])
        check("toft_list_append", numbers, values([1, 2, 3]), 3)
        check("toft_list_release", numbers)
        check("toft_object_set", self.object, self.keys["tags"], value([3, 1, 2, 1]))
        scores = value({"c": 3, "a": 1, "b": 2})
        check("toft_object_set", self.object, self.keys["scores"], scores)
        self.link = S.toft_link(*link)
        check("toft_realm_commit", self.realm, None, None)

    def create(self, name, age, boss=None):
        keys = (ctypes.c_uint32 * 3)(self.keys["name"], self.keys["age"], self.keys["boss"])
        out = ctypes.c_void_p()
        check(
            "toft_realm_create_object",
            self.realm,
            self.person,
            E.TOFT_UPDATE_ERROR,
            keys,
            values([name, age, boss]),
            3,
            ctypes.byref(out),
            None,
            None,
        )
        return out.value

    def handle(self, kind):
        """The world's handle of a kind: "toft_realm"..."""
        return getattr(self, kind.removeprefix("toft_"))

    def another(self, kind):
        """A further handle of the kind, to be released."""
        makers = {
            "toft_schema": lambda: new_schema(CLASSES),
            "toft_realm": lambda: open_realm(memory=self.name),
            "toft_object": lambda: get("toft_realm_follow", self.realm, self.link),
            "toft_query": lambda: get("toft_query_new", text("age > 50")),
            "toft_list": lambda: get("toft_object_list", self.object, self.keys["numbers"]),
            "toft_set": lambda: get("toft_object_get_set", self.object, self.keys["tags"]),
            "toft_dictionary": lambda: get(
                "toft_object_get_dictionary", self.object, self.keys["scores"]
            ),
            "toft_results": lambda: get("toft_realm_objects", self.realm, self.person),
            "toft_token": lambda: get(
                "toft_realm_observe", self.realm, None, self.callback, None, None
            ),
        }
        return makers[kind]()

    def close(self):
        for kind in sorted(HEADER.handles):
            check(f"{kind}_release", self.handle(kind))
        self.directory.cleanup()

    def arguments(self, name):
        """Right arguments for a function, as a list of what ctypes takes.

        Those for results are `Out`.
        """
        function = HEADER.functions[name]
        special = getattr(self, f"_special_{name}", lambda: {})()
        result = []
        for parameter in function.parameters:
            if parameter.name in special:
                result.append(special[parameter.name])
            elif parameter.name.startswith("out_"):
                result.append(Out(parameter))
            else:
                result.append(self._default(parameter))
        return result

    def _default(self, parameter):
        spelling = parameter.spelling.replace("const ", "").replace(" ", "")
        if spelling.endswith("*") and spelling[:-1] in HEADER.handles:
            return self.handle(spelling[:-1])
        defaults = {
            "class_key": self.person,
            "property_key": self.keys["age"],
            "name": text("Person"),
            "query": text("age > 50"),
            "link": self.link,
            "key": text("a"),
            "key_path": text("age"),
            "value": value(53),
            "primary_key": value("Ada"),
            "policy": E.TOFT_UPDATE_ERROR,
            "aggregate": E.TOFT_AGGREGATE_SUM,
            "amount": 1,
            "index": 0,
            "first": 0,
            "second": 1,
            "from": 0,
            "to": 1,
            "count": 1,
            "limit": 1,
            "offset": 1,
            "capacity": 1,
            "depth": 0,
            "keep": True,
            "arguments": None,
            "argument_count": 0,
            "options": None,
            "callback": self.callback,
            "user_data": None,
            "destroy_user_data": self.destructor,
            "status": E.TOFT_OK,
        }
        return defaults[parameter.name]

    def _special_toft_realm_open(self):
        from calls import configuration

        return {"configuration": configuration(memory=self.name)}

    def _special_toft_realm_write_copy(self):
        return {"path": text(f"{self.directory.name}/{next(_names)}.toft")}

    def _special_toft_compact(self):
        path = f"{self.directory.name}/{next(_names)}.toft"
        check("toft_realm_release", open_realm(path=path))
        return {"path": text(path)}

    def _special_toft_realm_compact_step(self):
        return {"byte_count": 1 << 20}

    def _special_toft_salvage(self):
        path = self._special_toft_compact()["path"]
        options = sized(S.toft_salvage_options, path=path)
        options.keep = path, text(f"{self.directory.name}/{next(_names)}.toft")
        options.new_path = options.keep[1]
        return {"options": options}

    def _special_toft_import_realm(self):
        given = Path(__file__).resolve().parents[3] / "Tests/RealmFiles/links.realm"
        options = sized(S.toft_import_realm_options, path=text(str(given)))
        options.keep = text(str(given)), text(f"{self.directory.name}/{next(_names)}.toft")
        options.path, options.new_path = options.keep
        return {"options": options}

    def _special_toft_file_schema_version_with_key(self):
        return {**self._special_toft_compact(), "key": None, "key_size": 0}

    _special_toft_file_schema_version = _special_toft_compact
    _special_toft_file_delete = _special_toft_compact

    def _special_toft_realm_open_dry_run(self):
        from calls import configuration

        given = configuration(memory=self.name, schema=new_schema(CLASSES))
        return {"configuration": given, "callback": SCHEMA_CHANGE_NOWHERE}

    def _special_toft_realm_write_copy_with_key(self):
        return {**self._special_toft_realm_write_copy(), "key": None, "key_size": 0}

    def _special_toft_compact_with_key(self):
        return {**self._special_toft_compact(), "key": None, "key_size": 0}

    def _special_toft_change_key(self):
        new = {"new_key": bytes(range(64)), "new_key_size": 64}
        return {**self._special_toft_compact(), "old_key": None, "old_key_size": 0, **new}

    def _special_toft_set_log(self):
        return {
            "level": E.TOFT_LOG_TRACE,
            "callback": LOG_NOWHERE,
            "destroy_user_data": NOTHING,
        }

    def _special_toft_realm_begin_write(self):
        return {"options": sized(S.toft_write_options, timeout=0, flags=E.TOFT_WRITE_TIMEOUT)}

    def _special_toft_realm_commit(self):
        return {"options": sized(S.toft_commit_options, durability=E.TOFT_DURABILITY_DEFERRED)}

    def _special_toft_realm_observe(self):
        return {"options": sized(S.toft_observe_options, flags=E.TOFT_OBSERVE_NO_INITIAL)}

    _special_toft_object_observe = _special_toft_realm_observe
    _special_toft_list_observe = _special_toft_realm_observe
    _special_toft_set_observe = _special_toft_realm_observe
    _special_toft_dictionary_observe = _special_toft_realm_observe
    _special_toft_results_observe = _special_toft_realm_observe

    def _special_toft_schema_new(self):
        from calls import class_schema

        return {"classes": class_schema("Person", CLASSES["Person"]), "class_count": 1}

    def _special_toft_realm_find_property(self):
        return {"name": text("age")}

    def _special_toft_realm_find_properties(self):
        name = text("age")
        names = (S.toft_string * 1)(name)
        names.keep = name
        return {"names": names, "count": 1}

    def _special_toft_realm_create_object(self):
        keys = (ctypes.c_uint32 * 2)(self.keys["name"], self.keys["age"])
        return {"property_keys": keys, "values": values(["Barbara", 38]), "count": 2}

    def _special_toft_realm_create_objects(self):
        name = text("Barbara")
        column = sized(
            S.toft_input_column,
            property_key=self.keys["name"],
            element_size=ctypes.sizeof(name),
            values=ctypes.addressof(name),
        )
        column.keep = name
        return {"columns": column, "column_count": 1}

    def _special_toft_realm_create_from_arrow(self):
        given = Producer([texts("name", ["Barbara"]), ints("age", [38])])
        keys = (ctypes.c_uint32 * 1)(self.keys["nickname"])
        return {"stream": given.stream, "property_keys": keys, "values": values(["B"]), "count": 1}

    def _special_toft_results_arrow_stream(self):
        return {"key_paths": text("age"), "count": 1}

    def _special_toft_realm_find_objects(self):
        return {"primary_keys": self._special_toft_realm_create_objects()["columns"]}

    def _special_toft_realm_create_from_json(self):
        return {"json": text('{"name": "Barbara", "age": 38}')}

    def _special_toft_realm_create_from_json_with_flags(self):
        return {**self._special_toft_realm_create_from_json(), "flags": E.TOFT_JSON_DEFAULT}

    def _special_toft_object_get_values(self):
        return {"property_keys": (ctypes.c_uint32 * 1)(self.keys["age"])}

    _special_toft_realm_follow_values = _special_toft_object_get_values
    _special_toft_realm_find_values = _special_toft_object_get_values
    _special_toft_results_object_values = _special_toft_object_get_values

    def _special_toft_object_set_values(self):
        return {"property_keys": (ctypes.c_uint32 * 1)(self.keys["age"]), "values": values([53])}

    # The world has no embedded class: they are refused, unless another argument is wrong first.
    _special_toft_object_set_embedded = _special_toft_object_set_values
    _special_toft_list_set_embedded = _special_toft_object_set_values
    _special_toft_list_insert_embedded = _special_toft_object_set_values
    _special_toft_dictionary_set_embedded = _special_toft_object_set_values

    def _special_toft_object_linking_objects(self):
        return {"property_key": self.keys["reports"]}

    def _special_toft_object_list(self):
        return {"property_key": self.keys["numbers"]}

    def _special_toft_object_get_set(self):
        return {"property_key": self.keys["tags"]}

    def _special_toft_object_get_dictionary(self):
        return {"property_key": self.keys["scores"]}

    def _special_toft_results_set_values(self):
        return {"property_keys": (ctypes.c_uint32 * 1)(self.keys["age"]), "values": values([53])}

    def _special_toft_query_new(self):
        return {"text": text("age > 50")}

    def _special_toft_list_insert(self):
        return {"values": values([4])}

    def _special_toft_list_append(self):
        return {"values": values([4])}

    def _special_toft_list_find(self):
        return {"value": value(2)}

    def _special_toft_set_find(self):
        return {"value": value(2)}

    _special_toft_set_erase = _special_toft_set_find

    def _special_toft_results_find(self):
        return {"value": value(Link(self.link.object_key, self.link.class_key))}

    def _special_toft_results_sort(self):
        criterion = S.toft_sort()
        criterion.keep = text("age")
        criterion.key_path = criterion.keep
        return {"criteria": criterion}

    def _special_toft_results_distinct(self):
        return {"key_paths": text("age")}

    def _special_toft_results_groups(self):
        return {
            "key_paths": text("age"),
            "key_count": 1,
            "values": None,
            "value_count": 0,
            "callback": GROUP_NOWHERE,
        }

    def _special_toft_results_columns(self):
        buffer = (ctypes.c_int64 * 4)()
        column = sized(
            S.toft_column,
            property_key=self.keys["age"],
            element_size=8,
            values=ctypes.addressof(buffer),
        )
        column.keep = buffer
        return {"columns": column, "column_count": 1, "capacity": 4}

    def _special_toft_realm_columns(self):
        keys = (ctypes.c_int64 * 1)(self.link.object_key)
        return {**self._special_toft_results_columns(), "object_keys": keys, "nulls": None}


class Out:
    """Room for a result, filled with a pattern."""

    def __init__(self, parameter):
        pointee = getattr(parameter.ctype, "_type_", None) or ctypes.c_char
        if isinstance(pointee, str):
            pointee = ctypes.c_char
        self.size = max(ctypes.sizeof(pointee), 1)
        self.buffer = (ctypes.c_uint8 * max(self.size, 64))(*[PATTERN] * max(self.size, 64))
        self.is_sized = issubclass(pointee, ctypes.Structure) and pointee._fields_[0][0] == "size"
        if self.is_sized:
            ctypes.memmove(self.buffer, ctypes.byref(ctypes.c_size_t(self.size)), 8)
        self.before = bytes(self.buffer)
        self.pointer = ctypes.cast(self.buffer, parameter.ctype)

    @property
    def is_untouched(self):
        return bytes(self.buffer) == self.before

    @property
    def is_beyond_untouched(self):
        """Whether nothing was written behind the result."""
        return bytes(self.buffer)[self.size :] == self.before[self.size :]


def call(name, arguments):
    """Calls a function with arguments of `World.arguments`."""
    passed = [argument.pointer if isinstance(argument, Out) else argument for argument in arguments]
    passed = [
        ctypes.byref(argument) if _by_reference(argument, parameter) else argument
        for argument, parameter in zip(passed, HEADER.functions[name].parameters)
    ]
    return status(name, *passed)


def _by_reference(argument, parameter):
    return isinstance(argument, ctypes.Structure) and parameter.spelling.endswith("*")
