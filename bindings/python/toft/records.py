"""Records: frozen dataclasses, without the module that makes those, which an import waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # what it tells is for type checkers

    def dataclass_transform(**_: Any) -> Any:
        return lambda cls: cls


R = TypeVar("R", bound="Record")


@dataclass_transform(frozen_default=True)
class Record:
    """Values by the names that a class annotates, in their order. They are set once, and two
    records of a class are equal when all of them are.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = (*cls._fields, *cls.__annotations__)
        setattr(cls, "__match_args__", cls._fields)

    def __init__(self, *given: Any, **named: Any) -> None:
        names = self._fields
        known = {**dict(zip(names, given)), **named}
        is_twice = len(known) < len(given) + len(named)
        defaults = {name: getattr(type(self), name) for name in names if hasattr(type(self), name)}
        if is_twice or set(known) - set(names) or set(names) - {*known, *defaults}:
            raise TypeError(f"a {type(self).__name__} has {', '.join(names)}, each once")
        vars(self).update(defaults | known)

    def replaced(self: R, **named: Any) -> R:
        """A copy with other values."""
        return type(self)(**{**vars(self), **named})

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._fields)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        values = zip(self._fields, self._values())
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values)})"

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"a {type(self).__name__} is never changed: {name!r}")

        def __delattr__(self, name: str) -> None:
            raise AttributeError(f"a {type(self).__name__} is never changed: {name!r}")
