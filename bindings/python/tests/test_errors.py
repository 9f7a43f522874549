"""The exception tree covers the header's codes."""

from __future__ import annotations

import pickle

import pytest
import toft
from toft.errors import error_class

pytestmark = pytest.mark.no_library


def test_each_code_of_the_header_has_an_exception_named_after_it() -> None:
    for status in toft.Status:
        if status == toft.Status.OK:
            continue
        words = status.name.removeprefix("ERROR_").title().replace("_", "")
        kind = error_class(status)
        assert kind.__name__ == f"{words}Error", status
        assert kind("sentence").code == status


def test_a_code_newer_than_the_package_is_an_exception_of_its_group() -> None:
    error = error_class(699)("sentence", code=699)
    assert type(error) is toft.QueryError
    assert error.code == 699
    assert type(error_class(99_999)("sentence")) is toft.Error


def test_exceptions_are_also_what_python_users_expect() -> None:
    for ours, pythons in [
        (toft.IndexOutOfRangeError, IndexError),
        (toft.TypeMismatchError, TypeError),
        (toft.NoSuchPropertyError, AttributeError),
        (toft.NoSuchClassError, KeyError),
        (toft.FileNotFoundError, FileNotFoundError),
        (toft.PermissionDeniedError, PermissionError),
        (toft.DiskFullError, OSError),
        (toft.LockTimeoutError, TimeoutError),
        (toft.QuerySyntaxError, ValueError),
    ]:
        assert issubclass(ours, pythons) and issubclass(ours, toft.Error)


def test_an_exception_tells_message_detail_and_number() -> None:
    error = toft.FileAccessError("It failed.", detail="pwrite\nmore", number=5)
    assert str(error) == "It failed.\npwrite\nmore"
    assert (error.code, error.number, error.errno) == (108, 5, 5)
    assert str(toft.NoSuchClassError("plain")) == "plain"


def test_exceptions_can_be_sent_to_another_process() -> None:
    error = toft.QuerySyntaxError("It failed.", detail="age >\n     ^", number=5)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.number, copy.code) == (type(error), str(error), 5, 601)
