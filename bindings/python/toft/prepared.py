"""Queries that are parsed once."""

from __future__ import annotations

import ctypes
from typing import Any

from ._lib import Handle, borrowed, library
from .errors import InvalidQueryError
from .objects import Object, live


class Query:
    """A query as text that is parsed once and used many times, with any results, objects and
    realms, on any thread:

        adults = toft.Query("age >= $0 AND name BEGINSWITH $1")
        realm.objects(Person).where(adults, 18, "A")
        adults.matches(ada, 18, "A")
    """

    __slots__ = ("_handle", "text")

    text: str
    """The text that it was made from."""

    def __init__(self, text: str) -> None:
        """Parses a text. Which properties there are is asked when it is used."""
        if not isinstance(text, str):
            raise TypeError(f"a text of the query language is due, not {text!r:.80}")
        string, memory = borrowed(text, InvalidQueryError)
        address = ctypes.c_void_p()
        library().toft_query_new(string, ctypes.byref(address))
        self._handle = Handle(address.value, library().toft_query_release)
        self.text = text

    def matches(self, instance: Object, *arguments: Any) -> bool:
        """Whether a live object passes the conditions. SORT, DISTINCT and LIMIT say nothing of one
        object.
        """
        single = live(instance).single(instance)
        matches = ctypes.c_bool()
        with single.session.writing.asking() as lent:
            for argument in arguments:
                lent.add(argument, single.session)
            library().toft_object_matches(
                single.handle().address,
                self._handle.address,
                lent.address,
                lent.count,
                ctypes.byref(matches),
            )
        return matches.value

    def __reduce__(self) -> tuple[type[Query], tuple[str]]:
        return Query, (self.text,)

    def __repr__(self) -> str:
        return f"<Query {self.text}>"
