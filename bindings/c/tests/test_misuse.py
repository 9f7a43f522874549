# Tests: Collections.swift, Logging.swift
"""Every function with every kind of wrong argument: an error each time, nothing written, never a
crash.

The functions and their parameters come from the header, so one that is added is tested without a
change here.
"""

import contextlib
import ctypes
import os
import random
import tempfile
import unittest

from calls import (
    ANYWHERE,
    HEADER,
    LIBRARY,
    RESERVED_TYPES,
    E,
    S,
    check,
    get,
    last_error,
    on_another_thread,
    status_name,
    text,
    value,
)
from world import Out, World, call

FALLIBLE = [function for function in ANYWHERE if function.returns_status]
RELEASES = [
    function for function in HEADER.functions.values() if function.name.endswith("_release")
]
SIZE_MAX = 2**64 - 1
#: Handles that no function may take, whatever the bits behind them are.
FORGED = [
    1,
    8,
    0xDEADBEEF,
    0x7FFFFFFFFFFFFFFF,
    2**64 - 1,
    0x8000000000000000,
    0xA000000100000FFF,
    0xB0000000FFFFFFFF,
]


def kind_of(parameter):
    """The kind of handle that a parameter is, or None."""
    spelling = parameter.spelling.replace(" ", "")
    return spelling[:-1] if spelling.endswith("*") and spelling[:-1] in HEADER.handles else None


#: Functions that take handles and may be called on any thread.
ANY_THREAD = ("toft_schema_new", "toft_realm_open", "toft_realm_interrupt", "toft_query_text")


class MisuseTests(unittest.TestCase):
    def setUp(self):
        self.world = World()

    def tearDown(self):
        self.world.close()

    @contextlib.contextmanager
    def writing(self, function):
        """Runs a test of a function in the state in which it could succeed."""
        needs_write = function.writes or function.name in (
            "toft_realm_commit",
            "toft_realm_commit",
            "toft_realm_cancel",
        )
        if needs_write:
            check("toft_realm_begin_write", self.world.realm, None)
        if function.name == "toft_realm_end_savepoint":
            check("toft_realm_begin_savepoint", self.world.realm)
        try:
            yield
        finally:
            if needs_write:
                check("toft_realm_cancel", self.world.realm)

    def expect(self, function, arguments, *statuses, hint=""):
        """Calls, expects one of the statuses and untouched results."""
        result = call(function.name, arguments)
        names = [status_name(status) for status in statuses]
        self.assertIn(status_name(result), names, f"{function.name} with {hint}")
        if function.name == "toft_last_error":
            return
        self.assertEqual(
            last_error()[0], result, f"{function.name} with {hint}: the last error has another code"
        )
        self.assertNotEqual(last_error()[1], "", f"{function.name} with {hint}: no message")
        for argument in arguments:
            if isinstance(argument, Out):
                self.assertTrue(
                    argument.is_untouched, f"{function.name} with {hint}: a result was written"
                )

    def with_parameter(self, wanted):
        """Every function and index of a parameter that is wanted."""
        for function in FALLIBLE:
            for index, parameter in enumerate(function.parameters):
                if wanted(parameter):
                    yield function, index, parameter

    def replaced(self, function, index, wrong):
        arguments = self.world.arguments(function.name)
        arguments[index] = wrong
        return arguments

    def test_handles_that_are_null_forged_released_or_of_another_kind_are_errors(self):
        for function, index, parameter in self.with_parameter(kind_of):
            kind = kind_of(parameter)
            released = self.world.another(kind)
            check(f"{kind}_release", released)
            wrong = {
                f"{other} handle": self.world.handle(other)
                for other in HEADER.handles
                if other != kind
            }
            wrong.update({f"forged {bits:x}": bits for bits in FORGED})
            wrong.update({"NULL": None, "released": released})
            for hint, handle in wrong.items():
                with self.subTest(function=function.name, handle=hint), self.writing(function):
                    self.expect(
                        function,
                        self.replaced(function, index, handle),
                        E.TOFT_ERROR_INVALID_HANDLE,
                        hint=hint,
                    )

    def test_handles_of_another_thread_are_errors(self):
        for function, _, _ in self.with_parameter(kind_of):
            with self.subTest(function=function.name), self.writing(function):
                arguments = self.world.arguments(function.name)
                if function.name in ANY_THREAD:
                    continue
                result, error = on_another_thread(
                    lambda: (call(function.name, arguments), last_error())
                )
                self.assertEqual(status_name(result), "TOFT_ERROR_WRONG_THREAD", function.name)
                self.assertEqual(error[0], result)
                self.assertTrue(
                    all(
                        argument.is_untouched for argument in arguments if isinstance(argument, Out)
                    )
                )

    def test_handles_of_a_closed_realm_are_errors(self):
        for function, _, parameter in self.with_parameter(kind_of):
            if kind_of(parameter) in ("toft_schema", "toft_token", "toft_query"):
                continue
            if function.name in ("toft_realm_last_error", "toft_realm_interrupt"):
                continue  # the first tells why, the second asks nothing of the realm
            with self.subTest(function=function.name):
                world = World()
                arguments = world.arguments(function.name)
                check("toft_realm_close", world.realm)
                self.expect(function, arguments, E.TOFT_ERROR_CLOSED, hint="a closed realm")
                world.close()

    def test_handles_of_the_parent_process_are_errors(self):
        functions = [
            function
            for function, _, parameter in self.with_parameter(kind_of)
            if function.name not in ("toft_query_text",)
        ]
        arguments = {function.name: self.world.arguments(function.name) for function in functions}
        process = os.fork()
        if process == 0:
            wrong = [
                function.name
                for function in functions
                if call(function.name, arguments[function.name]) != E.TOFT_ERROR_USED_AFTER_FORK
            ]
            for release in RELEASES:
                call(release.name, [self.world.handle(release.name.removesuffix("_release"))])
            print(wrong, flush=True) if wrong else None
            os._exit(min(len(wrong), 100))
        self.assertEqual(os.waitpid(process, 0)[1], 0)
        self.assertEqual(get("toft_results_count", self.world.results), 3, "the parent goes on")

    def test_missing_room_for_a_result_is_an_error_unless_it_may_be_missing(self):
        for function, index, parameter in self.with_parameter(
            lambda parameter: parameter.name.startswith("out_")
        ):
            with (
                self.subTest(function=function.name, parameter=parameter.name),
                self.writing(function),
            ):
                arguments = self.replaced(function, index, None)
                if not function.may_be_null(parameter):
                    self.expect(
                        function,
                        arguments,
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=f"{parameter.name} NULL",
                    )

    def test_missing_input_is_an_error(self):
        inputs = lambda parameter: (
            parameter.spelling.startswith("const ") and parameter.spelling.endswith("*")
        )  # noqa: E731
        for function, index, parameter in self.with_parameter(inputs):
            if any(p.name == "argument_count" for p in function.parameters):
                continue
            with (
                self.subTest(function=function.name, parameter=parameter.name),
                self.writing(function),
            ):
                if function.may_be_null(parameter):
                    continue
                self.expect(
                    function,
                    self.replaced(function, index, None),
                    E.TOFT_ERROR_INVALID_ARGUMENT,
                    hint=f"{parameter.name} NULL",
                )
        with self.subTest("arguments of a query"):
            function = HEADER.functions["toft_results_filter"]
            arguments = self.world.arguments(function.name)
            arguments[3] = 1
            self.expect(
                function, arguments, E.TOFT_ERROR_INVALID_ARGUMENT, hint="1 argument at NULL"
            )

    def test_missing_callbacks_are_errors(self):
        for function, index, parameter in self.with_parameter(
            lambda parameter: parameter.name == "callback"
        ):
            with self.subTest(function=function.name):
                self.expect(
                    function,
                    self.replaced(function, index, None),
                    E.TOFT_ERROR_INVALID_ARGUMENT,
                    hint="callback NULL",
                )

    def test_texts_that_are_null_too_long_or_no_utf8_are_errors(self):
        for function, index, parameter in self.with_parameter(
            lambda parameter: parameter.spelling == "toft_string"
        ):
            for hint, string in wrong_texts().items():
                with self.subTest(function=function.name, text=hint), self.writing(function):
                    self.expect(
                        function,
                        self.replaced(function, index, string),
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=hint,
                    )
            with self.subTest(function=function.name, text="empty"), self.writing(function):
                call(function.name, self.replaced(function, index, S.toft_string(None, 0)))

    def test_texts_inside_structures_and_values_are_checked_too(self):
        cases = {
            ("toft_realm_open", "path"): lambda string: self.structure(
                "toft_realm_open", "configuration", path=string, in_memory_name=text("")
            ),
            ("toft_realm_open", "in_memory_name"): lambda string: self.structure(
                "toft_realm_open", "configuration", in_memory_name=string
            ),
            ("toft_schema_new", "name"): lambda string: self.structure(
                "toft_schema_new", "classes", name=string
            ),
            ("toft_results_sort", "key_path"): lambda string: self.structure(
                "toft_results_sort", "criteria", key_path=string
            ),
            ("toft_results_distinct", "key_paths"): lambda string: self.with_argument(
                "toft_results_distinct", "key_paths", string
            ),
        }
        for (name, member), arguments in cases.items():
            for hint, string in wrong_texts().items():
                with self.subTest(function=name, member=member, text=hint):
                    self.expect(
                        HEADER.functions[name],
                        arguments(string),
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=hint,
                    )
        for name, parameter, key in (
            ("toft_realm_find_object", "primary_key", None),
            ("toft_realm_find_values", "primary_key", None),
            ("toft_object_set", "value", "nickname"),
            ("toft_object_set_values", "values", "nickname"),
            ("toft_results_filter", "arguments", None),
            ("toft_realm_find_first", "arguments", None),
        ):
            for hint, string in wrong_texts().items():
                with self.subTest(function=name, value=hint), self.writing(HEADER.functions[name]):
                    wrong = S.toft_value(type=E.TOFT_TYPE_STRING)
                    wrong.string = string
                    arguments = self.with_argument(name, parameter, wrong)
                    self.choose_property(name, arguments, key)
                    self.expect(
                        HEADER.functions[name], arguments, E.TOFT_ERROR_INVALID_ARGUMENT, hint=hint
                    )

    def test_types_of_values_to_come_are_unsupported(self):
        for number in RESERVED_TYPES:
            for function, index, parameter in self.with_parameter(
                lambda parameter: "toft_value *" in parameter.spelling
            ):
                if parameter.name.startswith("out_"):
                    continue
                with self.subTest(function=function.name, type=number), self.writing(function):
                    arguments = self.with_argument(
                        function.name, parameter.name, S.toft_value(type=number)
                    )
                    if function.name == "toft_realm_create_object":
                        arguments[5] = 1
                    self.expect(function, arguments, E.TOFT_ERROR_UNSUPPORTED, hint=f"{number}")

    def test_reserved_words_must_be_zero(self):
        wrong = value(5)
        wrong.reserved = 1
        for function, index, parameter in self.with_parameter(
            lambda parameter: "toft_value *" in parameter.spelling
        ):
            if parameter.name.startswith("out_"):
                continue
            with self.subTest(function=function.name), self.writing(function):
                arguments = self.with_argument(function.name, parameter.name, wrong)
                if function.name == "toft_realm_create_object":
                    arguments[5] = 1
                self.expect(function, arguments, E.TOFT_ERROR_INVALID_ARGUMENT, hint="reserved 1")
        inside = value([5])
        ctypes.cast(inside.list.data, ctypes.POINTER(S.toft_value))[0].reserved = 0x80000000
        with self.subTest("in a list"), self.writing(HEADER.functions["toft_object_set"]):
            self.expect(
                HEADER.functions["toft_object_set"],
                self.with_argument("toft_object_set", "value", inside),
                E.TOFT_ERROR_INVALID_ARGUMENT,
            )
        for function, parameter in (
            ("toft_results_sort", "criteria"),
            ("toft_schema_new", "classes"),
            ("toft_realm_observe", "options"),
        ):
            with self.subTest(function=function):
                self.expect(
                    HEADER.functions[function],
                    self.structure(function, parameter, reserved=1),
                    E.TOFT_ERROR_INVALID_ARGUMENT,
                )

    def test_flags_that_this_version_does_not_know_are_unsupported(self):
        for function, parameter, known in (
            ("toft_realm_open", "configuration", 31),
            ("toft_realm_begin_write", "options", 1),
            ("toft_realm_commit", "options", 0),
            ("toft_results_sort", "criteria", 1),
            ("toft_schema_new", "classes", 1),
            ("toft_results_observe", "options", 1 | 2 | 4 | 8 | 16),
        ):
            for bit in range(32):
                if known & 1 << bit:
                    continue
                with (
                    self.subTest(function=function, bit=bit),
                    self.writing(HEADER.functions[function]),
                ):
                    self.expect(
                        HEADER.functions[function],
                        self.structure(function, parameter, flags=1 << bit),
                        E.TOFT_ERROR_UNSUPPORTED,
                        hint=f"bit {bit}",
                    )

    def test_types_and_enumerators_that_do_not_exist_are_errors(self):
        for number in (18, 99, 0x7FFFFFFF, 0xFFFFFFFF):
            for function, index, parameter in self.with_parameter(
                lambda parameter: "toft_value *" in parameter.spelling
            ):
                if parameter.name.startswith("out_"):
                    continue
                with self.subTest(function=function.name, type=number), self.writing(function):
                    arguments = self.replaced(function, index, S.toft_value(type=number))
                    if function.name == "toft_realm_create_object":
                        arguments[5] = 1
                    if "argument_count" in (names := [p.name for p in function.parameters]):
                        arguments[names.index("argument_count")] = 1
                    self.expect(
                        function,
                        arguments,
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=f"value type {number}",
                    )
            for function, index, parameter in self.with_parameter(
                lambda parameter: parameter.spelling in ("toft_update_policy", "toft_log_level")
            ):
                with self.subTest(function=function.name, policy=number), self.writing(function):
                    self.expect(
                        function,
                        self.replaced(function, index, number),
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=f"policy {number}",
                    )
            for member in ("mode", "confinement"):
                with self.subTest(member, number=number):
                    self.expect(
                        HEADER.functions["toft_realm_open"],
                        self.structure("toft_realm_open", "configuration", **{member: number}),
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=f"{member} {number}",
                    )
            with (
                self.subTest("durability", number=number),
                self.writing(HEADER.functions["toft_realm_commit"]),
            ):
                arguments = self.structure("toft_realm_commit", "options", durability=number)
                self.expect(
                    HEADER.functions["toft_realm_commit"],
                    arguments,
                    E.TOFT_ERROR_INVALID_ARGUMENT,
                    hint=f"durability {number}",
                )
                self.assertTrue(
                    get("toft_realm_is_writing", self.world.realm), "the transaction is still open"
                )
            for member in ("type", "flags"):
                with self.subTest(member, number=number):
                    arguments = self.world.arguments("toft_schema_new")
                    setattr(arguments[0].properties[0], member, number | 0x10000)
                    self.expect(
                        HEADER.functions["toft_schema_new"],
                        arguments,
                        E.TOFT_ERROR_INVALID_ARGUMENT
                        if member == "type"
                        else E.TOFT_ERROR_UNSUPPORTED,
                        hint=f"{member} {number}",
                    )
                    arguments[0].properties[0].type, arguments[0].properties[0].flags = (
                        E.TOFT_TYPE_STRING,
                        E.TOFT_PROPERTY_PRIMARY_KEY,
                    )
            self.assertEqual(LIBRARY.toft_status_name(number), b"TOFT_ERROR_UNKNOWN")

    def test_lengths_beyond_memory_are_errors(self):
        for function, index, parameter in self.with_parameter(
            lambda parameter: parameter.spelling == "size_t"
        ):
            if any(p.name == "argument_count" for p in function.parameters):
                continue
            with (
                self.subTest(function=function.name, parameter=parameter.name),
                self.writing(function),
            ):
                self.expect(
                    function,
                    self.replaced(function, index, SIZE_MAX),
                    E.TOFT_ERROR_INVALID_ARGUMENT,
                    hint=f"{parameter.name} SIZE_MAX",
                )

    def test_indices_beyond_the_end_are_errors(self):
        for function, index, parameter in self.with_parameter(
            lambda parameter: parameter.spelling == "uint64_t"
        ):
            if parameter.name in ("limit", "offset", "byte_count"):
                continue
            for far in (4, 2**63, SIZE_MAX):
                with (
                    self.subTest(function=function.name, parameter=parameter.name, index=far),
                    self.writing(function),
                ):
                    self.expect(
                        function,
                        self.replaced(function, index, far),
                        E.TOFT_ERROR_INDEX_OUT_OF_RANGE,
                        hint=f"{parameter.name} {far}",
                    )

    def test_classes_and_properties_that_do_not_exist_are_errors(self):
        for function, index, parameter in self.with_parameter(
            lambda parameter: parameter.spelling == "toft_class_key"
        ):
            for key in (0, 77, 0xFFFFFFFE, 0xFFFFFFFF):
                # TOFT_ALL_CLASSES
                if key == 0xFFFFFFFF and function.name == "toft_realm_delete_all":
                    continue
                with self.subTest(function=function.name, class_key=key), self.writing(function):
                    self.expect(
                        function,
                        self.replaced(function, index, key),
                        E.TOFT_ERROR_NO_SUCH_CLASS,
                        hint=f"class {key}",
                    )
        for function, index, parameter in self.with_parameter(
            lambda parameter: parameter.spelling == "toft_property_key"
        ):
            for key in (77, 0xFFFFFFFF):
                with self.subTest(function=function.name, property_key=key), self.writing(function):
                    self.expect(
                        function,
                        self.replaced(function, index, key),
                        E.TOFT_ERROR_NO_SUCH_PROPERTY,
                        hint=f"property {key}",
                    )

    def test_sizes_of_structures_are_checked(self):
        for function in FALLIBLE:
            for index, argument in enumerate(self.world.arguments(function.name)):
                is_out = isinstance(argument, Out) and argument.is_sized
                is_in = (
                    isinstance(argument, ctypes.Structure)
                    and type(argument)._fields_[0][0] == "size"
                )
                for size in (0, 1, 8, 4100, SIZE_MAX) if is_in or is_out else ():
                    with self.subTest(function=function.name, size=size), self.writing(function):
                        arguments = self.world.arguments(function.name)
                        if is_out:
                            ctypes.memmove(
                                arguments[index].buffer, ctypes.byref(ctypes.c_size_t(size)), 8
                            )
                            arguments[index].before = bytes(arguments[index].buffer)
                        else:
                            arguments[index].size = size
                        self.expect(
                            function,
                            arguments,
                            E.TOFT_ERROR_INVALID_ARGUMENT,
                            hint=f"a size of {size}",
                        )

    def test_a_structure_of_a_later_version_is_taken_only_without_what_is_unknown(self):
        class Later(ctypes.Structure):
            _fields_ = [("configuration", S.toft_configuration), ("extra", ctypes.c_uint64)]

        later = Later()
        later.configuration = self.world.arguments("toft_realm_open")[0]
        later.configuration.size = ctypes.sizeof(Later)
        pointer = ctypes.cast(ctypes.byref(later), ctypes.POINTER(S.toft_configuration))
        check("toft_realm_release", get("toft_realm_open", pointer))
        later.extra = 1
        self.expect(
            HEADER.functions["toft_realm_open"],
            [pointer, Out(HEADER.functions["toft_realm_open"].parameters[1])],
            E.TOFT_ERROR_UNSUPPORTED,
        )

    def test_writing_outside_a_transaction_is_an_error(self):
        for function in FALLIBLE:
            if function.writes:
                with self.subTest(function=function.name):
                    self.expect(
                        function,
                        self.world.arguments(function.name),
                        E.TOFT_ERROR_NOT_IN_TRANSACTION,
                        hint="no transaction",
                    )

    def test_lengths_and_pointers_inside_structures_are_checked(self):
        room = (ctypes.c_int64 * 4)()
        blob = S.toft_value(type=E.TOFT_TYPE_DATA)
        cases = {
            ("toft_schema_new", "classes"): [
                {"property_count": SIZE_MAX},
                {"property_count": 2**60},
                {"properties": None},
            ],
            ("toft_results_columns", "columns"): [
                {"values": None},
                {"element_size": 7},
                {"element_size": 0},
                {"element_size": 0xFFFFFFFF},
            ],
        }
        for (name, parameter), members in cases.items():
            for wrong in members:
                with self.subTest(function=name, **wrong):
                    self.expect(
                        HEADER.functions[name],
                        self.structure(name, parameter, **wrong),
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=str(wrong),
                    )
        for data, size in (
            (None, 5),
            (ctypes.addressof(room), SIZE_MAX),
            (ctypes.addressof(room), 2**63),
        ):
            blob.data = S.toft_data(data, size)
            for name, parameter in (
                ("toft_object_set", "value"),
                ("toft_list_append", "values"),
                ("toft_results_filter", "arguments"),
            ):
                with self.subTest(function=name, size=size), self.writing(HEADER.functions[name]):
                    self.expect(
                        HEADER.functions[name],
                        self.with_argument(name, parameter, blob),
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=f"{size} bytes",
                    )
        element = ctypes.pointer(value(1))
        for data, count in ((None, 5), (element, SIZE_MAX), (element, 2**62)):
            listed = S.toft_value(type=E.TOFT_TYPE_LIST)
            listed.list = S.toft_values(data, count)
            for name, parameter in (
                ("toft_object_set", "value"),
                ("toft_results_filter", "arguments"),
            ):
                with self.subTest(function=name, count=count), self.writing(HEADER.functions[name]):
                    self.expect(
                        HEADER.functions[name],
                        self.with_argument(name, parameter, listed),
                        E.TOFT_ERROR_INVALID_ARGUMENT,
                        hint=f"{count} values",
                    )

    def test_several_wrong_arguments_at_once_in_random_order_never_crash(self):
        seed = int(os.environ.get("TOFT_SEED", random.randrange(2**32)))
        generator = random.Random(seed)
        print(f"seed {seed}", end=" ", flush=True)
        # A text that becomes a path names a file of the working directory.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        functions = ANYWHERE
        for _ in range(60):
            self.world.close()
            self.world = World()
            for _ in range(100):
                function = generator.choice(functions)
                arguments = self.world.arguments(function.name)
                for index, parameter in enumerate(function.parameters):
                    if generator.random() < 0.4:
                        arguments[index] = self.nasty(generator, parameter, arguments[index])
                call(function.name, arguments)

    def nasty(self, generator, parameter, right):
        """Something that a parameter should not be, as long as what it points to is memory."""
        kind = kind_of(parameter)
        if kind:
            return generator.choice(
                [
                    None,
                    *FORGED,
                    *(self.world.handle(other) for other in HEADER.handles),
                    self.world.handle(kind),
                ]
            )
        if parameter.spelling == "toft_string":
            return generator.choice(
                list(wrong_texts().values()) + [text(""), text("Person"), text("x" * 70)]
            )
        if parameter.spelling == "toft_link":
            return S.toft_link(
                generator.choice([-(2**63), -1, 0, 2, 2**63 - 1]),
                generator.choice([0, 1, 9, 2**32 - 1]),
            )
        if parameter.spelling == "size_t":
            return generator.choice([0, SIZE_MAX, 2**63, right])
        if parameter.spelling in (
            "uint64_t",
            "toft_class_key",
            "toft_property_key",
            "toft_update_policy",
            "toft_status",
            "toft_log_level",
        ):
            return generator.choice(
                [0, 1, 3, 2**31 - 1, 2**32 - 1]
                + ([SIZE_MAX] if parameter.spelling == "uint64_t" else [])
            )
        if parameter.spelling.endswith("*") and parameter.name != "user_data":
            return None
        return right

    def test_releasing_what_is_no_handle_does_nothing(self):
        before = get("toft_handle_count")
        for function in RELEASES:
            kind = function.name.removesuffix("_release")
            for bits in [
                None,
                *FORGED,
                *(self.world.handle(other) for other in HEADER.handles if other != kind),
            ]:
                call(function.name, [bits])
            released = self.world.another(kind)
            for _ in range(3):
                call(function.name, [released])
        self.assertEqual(get("toft_handle_count"), before)

    def with_argument(self, name, parameter, argument):
        names = [declared.name for declared in HEADER.functions[name].parameters]
        arguments = self.replaced(HEADER.functions[name], names.index(parameter), argument)
        if parameter == "arguments":
            arguments[names.index("argument_count")] = 1
        return arguments

    def structure(self, function, parameter, **members):
        """Right arguments but for members of a structure."""
        names = [declared.name for declared in HEADER.functions[function].parameters]
        arguments = self.world.arguments(function)
        for member, wrong in members.items():
            setattr(arguments[names.index(parameter)], member, wrong)
        return arguments

    def choose_property(self, name, arguments, key):
        if key is not None:
            arguments[1] = (
                self.world.keys[key]
                if name == "toft_object_set"
                else (ctypes.c_uint32 * 1)(self.world.keys[key])
            )


def wrong_texts():
    """Texts that are wrong everywhere."""
    return {
        "NULL with 5 bytes": S.toft_string(None, 5),
        "broken UTF-8": text(b"Person\xff"),
        "half a character": text(b"Pers\xc3"),
        "a surrogate": text(b"\xed\xa0\x80"),
        "SIZE_MAX bytes": long_text(SIZE_MAX),
        "2^63 bytes": long_text(2**63),
    }


def long_text(size):
    result = text("Person")
    result.size = size
    return result


if __name__ == "__main__":
    unittest.main()
