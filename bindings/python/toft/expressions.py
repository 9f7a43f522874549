"""Queries as expressions of Python: `(Dog.age > 3) & Dog.owner.name.startswith("A")`.

A property that is read from its class is an `Expression`. Comparing it gives a `Condition`, and
conditions are joined with `&`, `|` and `~`. `Results.where` lets a condition write itself as text
of the query language, with its values as arguments.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast, overload

from . import _values as values
from .conversions import OwnConversion
from .errors import InvalidArgumentError, InvalidQueryError, NoSuchPropertyError
from .schema import no_property, properties_of, uniques

if TYPE_CHECKING:
    from .objects import Object
    from .rows import Binding, BoundProperty

T = TypeVar("T")
E = TypeVar("E")

Number = int | float | Decimal
_NUMBERS = (int, float, Decimal)

_HOW_TO_JOIN = (
    "join conditions with &, | and ~, each comparison in parentheses: "
    "(Dog.age > 3) & ~(Dog.name == 'Rex'); for 1 < x < 5 write x.between(...) or two comparisons; "
    "for x in list write x.in_(list)"
)


class Condition:
    """A condition on objects: made by comparing expressions, or by `toft.text`."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return _Joined("AND", self, _condition(other))

    def __or__(self, other: Condition) -> Condition:
        return _Joined("OR", self, _condition(other))

    def __invert__(self) -> Condition:
        return _Not(self)

    if not TYPE_CHECKING:

        def __rand__(self, other: object) -> NoReturn:
            _condition(other)

        __ror__ = __rand__

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a condition is neither true nor false: {_HOW_TO_JOIN}")

    def __repr__(self) -> str:
        return f"<condition {self._write(_Shown())}>"

    def _write(self, query: QueryText) -> str:
        """The text of this condition."""
        raise NotImplementedError


class Order:
    """One criterion of a sort: `Dog.age.desc()`."""

    __slots__ = ("expression", "is_descending")

    def __init__(self, expression: Expression[Any], is_descending: bool) -> None:
        self.expression = expression
        self.is_descending = is_descending

    def __repr__(self) -> str:
        return f"<order {self.expression._text(_Shown())}{' DESC' if self.is_descending else ''}>"


class Calculable(Generic[T]):
    """A value of objects in a query, which is compared and calculated with."""

    __slots__ = ()

    # ----------------------------------------------------------------------------------------------
    # Comparisons

    def __eq__(self, other: T | Calculable[T]) -> Condition:  # type: ignore[override]
        return _Comparison(self, "==", other)

    def __ne__(self, other: T | Calculable[T]) -> Condition:  # type: ignore[override]
        return _Comparison(self, "!=", other)

    __hash__ = object.__hash__

    def __lt__(self, other: T | Calculable[T]) -> Condition:
        return _Comparison(self, "<", other)

    def __le__(self, other: T | Calculable[T]) -> Condition:
        return _Comparison(self, "<=", other)

    def __gt__(self, other: T | Calculable[T]) -> Condition:
        return _Comparison(self, ">", other)

    def __ge__(self, other: T | Calculable[T]) -> Condition:
        return _Comparison(self, ">=", other)

    def in_(self, members: Iterable[T]) -> Condition:
        """Whether it is one of these."""
        if isinstance(members, (str, bytes)):
            raise TypeError(f"in_ takes some values, in_([...]), not {members!r:.80} alone")
        return _Comparison(self, "IN", list(members))

    def between(self, least: T, greatest: T) -> Condition:
        """Whether it is between these two or is one of them."""
        return _Between(self, least, greatest)

    def is_none(self) -> Condition:
        """Whether it has no value; equivalent to `== None`."""
        return _Comparison(self, "==", None)

    # ----------------------------------------------------------------------------------------------
    # Arithmetic of numbers, as `where` has it: nothing with a value is nothing, and so are a result
    # beyond 64 bits and a division by 0.

    def __add__(self, other: Number | Calculable[Any]) -> Calculation:
        return Calculation("+", self, other)

    def __radd__(self, other: Number) -> Calculation:
        return Calculation("+", other, self)

    def __sub__(self, other: Number | Calculable[Any]) -> Calculation:
        return Calculation("-", self, other)

    def __rsub__(self, other: Number) -> Calculation:
        return Calculation("-", other, self)

    def __mul__(self, other: Number | Calculable[Any]) -> Calculation:
        return Calculation("*", self, other)

    def __rmul__(self, other: Number) -> Calculation:
        return Calculation("*", other, self)

    def __truediv__(self, other: Number | Calculable[Any]) -> Calculation:
        return Calculation("/", self, other)

    def __rtruediv__(self, other: Number) -> Calculation:
        return Calculation("/", other, self)

    def __neg__(self) -> Calculation:
        return Calculation("-", 0, self)

    # ----------------------------------------------------------------------------------------------
    # Questions that are refused

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is a property of a class and neither true nor false: compare it, as in "
            f"{self!r} == True; and {_HOW_TO_JOIN}"
        )

    if not TYPE_CHECKING:  # so that a type checker refuses these

        def __iter__(self) -> NoReturn:
            raise TypeError(f"{self!r} is a property of a class; read it from an object")

        def __and__(self, other: object) -> NoReturn:
            raise TypeError(f"{self!r} is a property and not a condition: {_HOW_TO_JOIN}")

        __rand__ = __or__ = __ror__ = __and__

        def __invert__(self) -> NoReturn:
            self & None

        def _refused(self, *_: object) -> NoReturn:
            raise TypeError(
                f"queries calculate with +, -, * and / only: read {self!r} and calculate with that"
            )

        __pos__ = __abs__ = __floordiv__ = __rfloordiv__ = _refused
        __mod__ = __rmod__ = __pow__ = __rpow__ = _refused

    def _text(self, query: QueryText) -> str:
        """As the query language has it."""
        raise NotImplementedError

    def _is_whole(self, query: QueryText) -> bool:
        """Whether it is a whole number, of which the library makes whole quotients."""
        raise NotImplementedError


class Calculation(Calculable[Any]):
    """A result of arithmetic in a condition: `Item.price * Item.count > 100`."""

    __slots__ = ("_left", "_operator", "_right")

    def __init__(self, operator: str, left: Any, right: Any) -> None:
        for each in (left, right):
            if isinstance(each, (Condition, bool)) or not isinstance(each, (Calculable, *_NUMBERS)):
                raise TypeError(f"queries calculate with numbers, not with {each!r:.80}")
        self._operator = operator
        self._left = left
        self._right = right

    def _text(self, query: QueryText) -> str:
        left, right = query.operand(self._left), query.operand(self._right)
        if self._operator == "/" and self._is_whole_of(query):
            left = f"{left} * 1.0"  # the quotient is that of Python's /
        return f"({left} {self._operator} {right})"

    def _is_whole(self, query: QueryText) -> bool:
        return self._operator != "/" and self._is_whole_of(query)

    def _is_whole_of(self, query: QueryText) -> bool:
        return all(
            each._is_whole(query) if isinstance(each, Calculable) else isinstance(each, int)
            for each in (self._left, self._right)
        )

    def __repr__(self) -> str:
        return self._text(_Shown())


class Increment(Calculation):
    """An amount that is added to a property: `Page.visits + 1`, for `Results.update`; in a
    condition it is arithmetic as any other.
    """

    __slots__ = ("amount", "expression")

    def __init__(self, expression: Expression[Any], amount: int) -> None:
        super().__init__("+", expression, amount)
        self.expression = expression
        self.amount = amount

    def __add__(self, other: Any) -> Any:
        if (amount := _amount(other)) is not None:
            return Increment(self.expression, self.amount + amount)
        return super().__add__(other)

    def __radd__(self, other: Any) -> Any:
        amount = _amount(other)
        return super().__radd__(other) if amount is None else self + amount

    def __sub__(self, other: Any) -> Any:
        amount = _amount(other)
        return super().__sub__(other) if amount is None else self + -amount

    def __repr__(self) -> str:
        return f"<{self.expression!r} + {self.amount}, for Results.update>"


class Expression(Calculable[T]):
    """A property of objects in a query, or one at the end of links: `Dog.age`, `Dog.owner.name`."""

    __slots__ = ("_cls", "_is_length", "_names", "_quantifier")

    def __init__(
        self,
        cls: type[Object],
        names: tuple[str, ...],
        quantifier: str = "",
        is_length: bool = False,
    ) -> None:
        self._cls = cls
        self._names = names
        self._quantifier = quantifier
        self._is_length = is_length

    def __getattr__(self, name: str) -> Expression[Any]:
        """A property of the object that is linked to."""
        if name in Expression.__slots__:  # while a copy is made
            raise AttributeError(name)
        if self._is_length or name.startswith("__") or (name[0] == "_" == name[-1]):
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return Expression(self._cls, (*self._names, name), self._quantifier)

    # ----------------------------------------------------------------------------------------------
    # Text. The names that begin with an i ignore the case of letters.

    def startswith(self: Expression[str] | Expression[str | None], prefix: str) -> Condition:
        """Whether it begins with this text."""
        return _Comparison(self, "BEGINSWITH", prefix)

    def istartswith(self: Expression[str] | Expression[str | None], prefix: str) -> Condition:
        """`startswith`, whatever the case of letters."""
        return _Comparison(self, "BEGINSWITH[c]", prefix)

    def endswith(self: Expression[str] | Expression[str | None], suffix: str) -> Condition:
        """Whether it ends with this text."""
        return _Comparison(self, "ENDSWITH", suffix)

    def iendswith(self: Expression[str] | Expression[str | None], suffix: str) -> Condition:
        """`endswith`, whatever the case of letters."""
        return _Comparison(self, "ENDSWITH[c]", suffix)

    @overload
    def contains(self: Expression[str] | Expression[str | None], part: str) -> Condition: ...
    @overload
    def contains(self: Expression[list[E]], part: E) -> Condition: ...
    @overload
    def contains(self: Expression[dict[str, E]], part: str) -> Condition: ...
    def contains(self: Expression[Any], part: Any) -> Condition:
        """Whether this text, this element of a list or a set, or this key of a dictionary is in
        it."""
        return _Contains(self, part)

    def icontains(self: Expression[str] | Expression[str | None], part: str) -> Condition:
        """Whether this text is in it, whatever the case of letters."""
        return _Comparison(self, "CONTAINS[c]", part)

    def like(self: Expression[str] | Expression[str | None], pattern: str) -> Condition:
        """Whether it matches a pattern: ? is a character, * any number of them."""
        return _Comparison(self, "LIKE", pattern)

    def ilike(self: Expression[str] | Expression[str | None], pattern: str) -> Condition:
        """`like`, whatever the case of letters."""
        return _Comparison(self, "LIKE[c]", pattern)

    def matches(self: Expression[str] | Expression[str | None], pattern: str) -> Condition:
        """Whether a regular expression matches the whole text. The page about the query language
        lists its syntax: without references to groups, so that it always takes linear time.
        """
        return _Comparison(self, "MATCHES", pattern)

    def iequals(self: Expression[str] | Expression[str | None], text: str) -> Condition:
        """Whether it is this text, whatever the case of letters."""
        return _Comparison(self, "==[c]", text)

    # ----------------------------------------------------------------------------------------------
    # Collections and linking objects

    def __getitem__(self: Expression[dict[str, E]], key: str) -> Expression[E]:
        """The value of a key of a dictionary, null if the key does not exist:
        `Page.scores["a"] > 3`.
        """
        if not isinstance(key, str):
            raise TypeError(f"{self!r} has no [{key!r}]: the keys of a dictionary are texts")
        return Expression(self._cls, (*self._names, _Key(key)), self._quantifier)

    @overload
    def any(self: Expression[list[E]]) -> Expression[E]: ...
    @overload
    def any(self: Expression[dict[str, E]]) -> Expression[E]: ...
    @overload
    def any(self, condition: Condition) -> Condition: ...
    def any(self: Expression[Any], condition: Condition | None = None) -> Any:
        """At least one element, or value of a dictionary: `Dog.tags.any() == "good"`,
        `Person.dogs.any().age > 3`.

        With a condition: whether one element fulfils all of it: `Person.dogs.any((Dog.age > 3) &
        (Dog.name == "Rex"))`.
        """
        return self._quantified("ANY", condition, "> 0")

    @overload
    def all(self: Expression[list[E]]) -> Expression[E]: ...
    @overload
    def all(self: Expression[dict[str, E]]) -> Expression[E]: ...
    @overload
    def all(self, condition: Condition) -> Condition: ...
    def all(self: Expression[Any], condition: Condition | None = None) -> Any:
        """Every element, also of an empty collection. See `any`."""
        opposite = None if condition is None else ~_condition(condition)
        return self._quantified("ALL", opposite, "== 0")

    @overload
    def none(self: Expression[list[E]]) -> Expression[E]: ...
    @overload
    def none(self: Expression[dict[str, E]]) -> Expression[E]: ...
    @overload
    def none(self, condition: Condition) -> Condition: ...
    def none(self: Expression[Any], condition: Condition | None = None) -> Any:
        """No element. See `any`."""
        return self._quantified("NONE", condition, "== 0")

    def length(self) -> Expression[int]:
        """How many elements a collection has, or bytes a text: `Dog.tags.length() > 2`."""
        return Expression(self._cls, self._names, self._quantifier, is_length=True)

    def _quantified(self, quantifier: str, condition: Condition | None, count: str) -> Any:
        if condition is None:
            return Expression(self._cls, self._names, quantifier)
        return _Subquery(self, _condition(condition), count)

    # ----------------------------------------------------------------------------------------------
    # Sorting

    def asc(self) -> Order:
        """Sorted by it, the least first."""
        return Order(self, False)

    def desc(self) -> Order:
        """Sorted by it, the greatest first."""
        return Order(self, True)

    # ----------------------------------------------------------------------------------------------
    # Adding

    if TYPE_CHECKING:

        @overload
        def __add__(self, other: int) -> Increment: ...
        @overload
        def __add__(self, other: Number | Calculable[Any]) -> Calculation: ...
        def __add__(self, other: Any) -> Any: ...
        @overload
        def __radd__(self, other: int) -> Increment: ...
        @overload
        def __radd__(self, other: Number) -> Calculation: ...
        def __radd__(self, other: Any) -> Any: ...
        @overload
        def __sub__(self, other: int) -> Increment: ...
        @overload
        def __sub__(self, other: Number | Calculable[Any]) -> Calculation: ...
        def __sub__(self, other: Any) -> Any: ...

    else:

        def __add__(self, other: Any) -> Any:
            amount = _amount(other)
            return super().__add__(other) if amount is None else Increment(self, amount)

        __radd__ = __add__

        def __sub__(self, other: Any) -> Any:
            amount = _amount(other)
            return super().__sub__(other) if amount is None else Increment(self, -amount)

    # ----------------------------------------------------------------------------------------------
    # Questions that are refused

    if not TYPE_CHECKING:  # so that a type checker refuses these

        def __call__(self, *_: object) -> NoReturn:
            raise TypeError(f"expressions have no method {self._names[-1]!r}")

        def __contains__(self, value: object) -> NoReturn:
            raise TypeError(f"write {self!r}.contains({value!r})")

    def __repr__(self) -> str:
        return self._text(_Shown(self._cls.__name__ + "."))

    def _text(self, query: QueryText) -> str:
        path, last = query.path(self)
        quantifier = f"{self._quantifier} " if self._quantifier else ""
        if not self._is_length:
            return f"{quantifier}{path}"
        holds_many = last is None or _holds_many(last)
        return f"{quantifier}{path}.{'@count' if holds_many else '@size'}"

    def _is_whole(self, query: QueryText) -> bool:
        return self._is_length or query.is_whole(self)


def _amount(value: Any) -> int | None:
    """A whole number that is added to a property; None: the sum is for conditions alone."""
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    return operator.index(value) if is_whole else None


def whole(amount: int) -> int:
    """An amount that is added."""
    if isinstance(amount, bool) or not hasattr(amount, "__index__"):
        raise TypeError(f"whole numbers are added to a property, not {amount!r:.80}")
    return operator.index(amount)


def text(query: str, *arguments: Any) -> Condition:
    """A text of the query language as a condition, to be joined with others:
    `toft.text("dogs.@avg.age > $0", 3) & (Person.name == "Ada")`.
    """
    return _Text(query, arguments)


# -------------------------------------------------------------------------------------- Conditions


class _Comparison(Condition):
    __slots__ = ("_left", "_operator", "_right")

    def __init__(self, left: Calculable[Any], operator: str, right: Any) -> None:
        self._left = left
        self._operator = operator
        self._right = right

    def _write(self, query: QueryText) -> str:
        right = self._right
        if self._operator in _ORDERS:
            right = query.stored(self._left, right)
        return f"{self._left._text(query)} {self._operator} {query.operand(right)}"


class _Between(Condition):
    __slots__ = ("_expression", "_greatest", "_least")

    def __init__(self, expression: Calculable[Any], least: Any, greatest: Any) -> None:
        self._expression = expression
        self._least = least
        self._greatest = greatest

    def _write(self, query: QueryText) -> str:
        text = self._expression._text(query)
        if not isinstance(self._expression, Expression):
            least, greatest = query.operand(self._least), query.operand(self._greatest)
            return f"({text} >= {least} AND {text} <= {greatest})"
        ends = [query.stored(self._expression, end) for end in (self._least, self._greatest)]
        return f"{text} BETWEEN {{{', '.join(map(query.operand, ends))}}}"


class _Contains(Condition):
    """A part of a text, or an element of a list: the property decides."""

    __slots__ = ("_expression", "_part")

    def __init__(self, expression: Expression[Any], part: Any) -> None:
        self._expression = expression
        self._part = part

    def _write(self, query: QueryText) -> str:
        path, last = query.path(self._expression)
        if last is not None and _holds_many(last):
            if last.container is dict:
                return f"ANY {path}.@keys == {query.operand(self._part)}"
            return f"ANY {path} == {query.operand(query.stored(self._expression, self._part))}"
        return f"{self._expression._text(query)} CONTAINS {query.operand(self._part)}"


class _Joined(Condition):
    """Conditions joined by AND or by OR. A chain of one word has one level of parentheses."""

    __slots__ = ("_parts", "_word")

    def __init__(self, word: str, *parts: Condition) -> None:
        self._word = word
        self._parts: list[Condition] = []
        for part in parts:
            same = isinstance(part, _Joined) and part._word == word
            self._parts += part._parts if isinstance(part, _Joined) and same else [part]

    def _write(self, query: QueryText) -> str:
        return f"({f' {self._word} '.join(part._write(query) for part in self._parts)})"


class _Not(Condition):
    __slots__ = ("_condition",)

    def __init__(self, condition: Condition) -> None:
        self._condition = condition

    def _write(self, query: QueryText) -> str:
        return f"NOT ({self._condition._write(query)})"

    def __invert__(self) -> Condition:
        return self._condition


class _Subquery(Condition):
    """How many elements fulfil a condition."""

    __slots__ = ("_collection", "_condition", "_count")

    def __init__(self, collection: Expression[Any], condition: Condition, count: str) -> None:
        self._collection = collection
        self._condition = condition
        self._count = count

    def _write(self, query: QueryText) -> str:
        subquery = query.subquery(self._collection, self._condition._write)
        return f"{subquery}.@count {self._count}"


class _Text(Condition):
    __slots__ = ("_arguments", "_query")

    # An argument, or a constant, in which a dollar sign means nothing.
    _WORDS = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\$(K?)(\d+)""", re.DOTALL)

    def __init__(self, query: str, arguments: tuple[Any, ...]) -> None:
        self._query = query
        self._arguments = arguments

    def _write(self, query: QueryText) -> str:
        query.refuse_in_subquery()
        numbered: dict[int, str] = {}

        def renumbered(word: re.Match[str]) -> str:
            if word[2] is None:
                return word[0]
            number = int(word[2])
            if number >= len(self._arguments):
                raise InvalidQueryError(
                    f"The text has no argument for {word[0]}: {self._query!r} was given "
                    f"{len(self._arguments)}."
                )
            if number not in numbered:
                numbered[number] = query.operand(self._arguments[number])
            operand = numbered[number]
            return operand.replace("$", "$K", 1) if word[1] else operand

        return f"({self._WORDS.sub(renumbered, self._query)})"


def _condition(value: object) -> Condition:
    if isinstance(value, Condition):
        return value
    raise TypeError(f"{value!r} is not a condition: {_HOW_TO_JOIN}")


# ------------------------------------------------------------------------------ Writing the queries


class QueryText:
    """A query that conditions write: the objects that they are about, and its arguments."""

    def __init__(self, binding: Binding) -> None:
        self.arguments: list[Any] = []
        self._variables = 0
        # The prefix of a path, and the class of the objects: for the query, and for each subquery.
        self._scopes: list[tuple[str, Binding]] = [("", binding)]

    def operand(self, value: Any) -> str:
        """The operand of a comparison: another property, or an argument."""
        if isinstance(value, Calculable):
            return value._text(self)
        if isinstance(value, Condition):
            raise TypeError(f"{value!r} is compared: {_HOW_TO_JOIN}")
        self.arguments.append(value)
        return f"${len(self.arguments) - 1}"

    def is_whole(self, expression: Expression[Any]) -> bool:
        """Whether a property holds whole numbers."""
        return bound_path(self._scope(expression)[1], expression)[1].type == values.INT

    def stored(self, expression: Calculable[Any], value: Any) -> Any:
        """A comparison's value in the stored form of the expression's property."""
        is_own = isinstance(expression, Expression) and not expression._is_length
        conversion = self._conversion(cast("Expression[Any]", expression)) if is_own else None
        if conversion is None or isinstance(value, (Calculable, Condition)):
            return value
        if isinstance(value, list):
            return [conversion.stored(item) for item in value]
        return conversion.stored(value)

    def _conversion(self, expression: Expression[Any]) -> OwnConversion | None:
        found = bound_path(self._scope(expression)[1], expression)[1].conversion
        return found if isinstance(found, OwnConversion) else None

    def path(self, expression: Expression[Any]) -> tuple[str, BoundProperty | None]:
        """The key path of an expression, and the property at its end."""
        prefix, binding = self._scope(expression)
        names, last = bound_path(binding, expression)
        return prefix + self._joined(names), last

    def _joined(self, names: list[str]) -> str:
        """A path of names, and of keys of dictionaries, which are arguments."""
        text, start = "", 0
        for end in range(1, len(names) + 1):
            if end < len(names) and not isinstance(names[end], _Key):
                continue
            part = names[start:end]
            if isinstance(part[0], _Key):
                text += f"[{self.operand(str(part.pop(0)))}]"
            if part:
                path = ".".join(part)
                text += "." if text else ""
                text += path if _is_plain(part) else self._named(path)
            start = end
        return text

    def subquery(self, collection: Expression[Any], write: Callable[[QueryText], str]) -> str:
        """The elements of a collection of objects that fulfil what `write` writes."""
        path, last = self.path(collection)
        if last is None or last.type not in (values.LINK, values.LINKING_OBJECTS):
            raise InvalidQueryError(
                f"{collection!r} holds no objects: write {collection!r}.any() == value."
            )
        self._variables += 1
        variable = f"$v{self._variables}"
        target = self._scopes[0][1].session.classes.binding_of_key(last.target)
        self._scopes.append((f"{variable}.", target))
        try:
            return f"SUBQUERY({path}, {variable}, {write(self)})"
        finally:
            self._scopes.pop()

    def refuse_in_subquery(self) -> None:
        """To be called by conditions that are not allowed in one."""
        if len(self._scopes) > 1:
            raise InvalidQueryError("toft.text(...) cannot be in any(...), all(...), none(...).")

    def _scope(self, expression: Expression[Any]) -> tuple[str, Binding]:
        for prefix, binding in reversed(self._scopes):
            if _is_of(expression, binding.cls):
                return prefix, binding
        asked = self._scopes[-1][1].cls.__name__
        raise InvalidQueryError(f"{expression!r} is not a property of the queried {asked}.")

    def _named(self, path: str) -> str:
        """A path with names that are words of the query language: as an argument."""
        self.arguments.append(path)
        return f"$K{len(self.arguments) - 1}"


class _Shown(QueryText):
    """Writes for people to read: with values in place of arguments, names as the class has them."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix

    def operand(self, value: Any) -> str:
        return value._text(self) if isinstance(value, Calculable) else repr(value)

    def is_whole(self, expression: Expression[Any]) -> bool:
        return False

    def stored(self, expression: Calculable[Any], value: Any) -> Any:
        return value

    def path(self, expression: Expression[Any]) -> tuple[str, BoundProperty | None]:
        text = "".join(
            f"[{str(name)!r}]" if isinstance(name, _Key) else f".{name}"
            for name in expression._names
        )
        return self._prefix + text[1:], None

    def subquery(self, collection: Expression[Any], write: Callable[[QueryText], str]) -> str:
        return f"SUBQUERY({self.path(collection)[0]}, {write(self)})"

    def refuse_in_subquery(self) -> None:
        pass


def bound_path(binding: Binding, expression: Expression[Any]) -> tuple[list[str], BoundProperty]:
    """The names that the file has for the steps of a path, and the property at its end."""
    names: list[str] = []
    last: BoundProperty | None = None
    for name in expression._names:
        if isinstance(name, _Key):
            if last is None or last.container is not dict:
                raise NoSuchPropertyError(f"{expression!r}: only a dictionary has keys.")
            last = last.of_key()
            names.append(name)
            continue
        if last is not None:
            if not last.target:
                raise NoSuchPropertyError(
                    f"{binding.cls.__name__}.{last.name} is no link: it has no property {name!r}, "
                    f"and expressions have no such method."
                )
            binding = binding.session.classes.binding_of_key(last.target)
        last = binding.property(name)
        names.append(last.stored_name)
    assert last is not None
    return names, last


def _is_of(expression: Expression[Any], cls: type[Object]) -> bool:
    return any(base.__name__ == expression._cls.__name__ for base in cls.__mro__)


def key_path(binding: Binding, expression: Expression[Any]) -> tuple[list[str], BoundProperty]:
    """`bound_path` of what objects are sorted or grouped by, or read."""
    _require_expression(expression)
    if expression._is_length or expression._quantifier:
        raise InvalidArgumentError(f"{expression!r} is for conditions: only properties here.")
    if not _is_of(expression, binding.cls):
        raise InvalidArgumentError(f"{expression!r} is not a property of {binding.cls.__name__}.")
    return bound_path(binding, expression)


def _require_expression(value: object) -> None:
    if isinstance(value, Expression):
        return
    hint = " Give them one after the other." if isinstance(value, (list, tuple, set)) else ""
    raise TypeError(
        f"the name of a property, or an expression such as Dog.age, is due, not {value!r:.80}."
        f"{hint}"
    )


def property_name(cls: type[Object], name: str | Expression[Any]) -> str:
    """The name of the one property of a class that is meant."""
    if isinstance(name, str):
        return name
    _require_expression(name)
    if name._names[1:] or name._is_length or name._quantifier or not _is_of(name, cls):
        raise InvalidArgumentError(f"{name!r} is not a property of {cls.__name__} itself.")
    return name._names[0]


def unique_names(
    cls: type[Object],
    by: str | Expression[Any] | Sequence[str | Expression[Any]],
    given: Mapping[str, Any],
) -> list[str]:
    """The names of properties that are unique together, each of which has been given."""
    names = [
        property_name(cls, each) for each in ([by] if isinstance(by, (str, Expression)) else by)
    ]
    properties = properties_of(cls)
    for name in names:
        if name not in properties:
            raise no_property(cls, name)
        if name not in given:
            raise InvalidArgumentError(f"upsert by {name} needs the {name} of the object.")
    known = [[each.name for each in group] for group in uniques(properties.values())]
    known += [[each.name] for each in properties.values() if each.field.primary_key]
    if sorted(names) not in map(sorted, known):
        shown = " and ".join(names)
        raise InvalidArgumentError(
            f"{cls.__name__}.{shown} is not unique: declare it with toft.field(unique=True), or "
            f"several with one text, toft.field(unique={'_'.join(names)!r})."
        )
    return names


def bound_key_path(binding: Binding, path: str | Expression[Any]) -> str:
    """A key path with the names that the file has."""
    return path if isinstance(path, str) else joined(key_path(binding, path)[0])


def path_name(key: str | Expression[Any]) -> str:
    """A key path as the program has it."""
    return key if isinstance(key, str) else ".".join(key._names)


def joined(names: list[str]) -> str:
    """A key path of the names that `bound_path` gives."""
    path = ""
    for name in names:
        if isinstance(name, _Key):
            path += "['" + name.replace("\\", "\\\\").replace("'", "\\'") + "']"
        else:
            path += "." + name if path else name
    return path


class _Key(str):
    """A key of a dictionary in a path."""

    __slots__ = ()


def _holds_many(each: BoundProperty) -> bool:
    return each.container is not None or each.type == values.LINKING_OBJECTS


_ORDERS = frozenset(("==", "!=", "<", "<=", ">", ">=", "IN"))
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_WORDS = frozenset(
    "and or not any some all none true false null nil inf infinity nan truepredicate "
    "falsepredicate subquery obj between in".split()
)


def _is_plain(names: list[str]) -> bool:
    return all(_PLAIN.fullmatch(name) and name.lower() not in _WORDS for name in names)
