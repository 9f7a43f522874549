"""The meaning of class bodies, before there is a database."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc
from typing import Annotated, Any, ClassVar

import pytest
import toft
from models import Dog, Everything, Person
from toft import _values as values
from toft.schema import PropertySchema, properties_of

pytestmark = pytest.mark.no_library


def shape(cls: type[toft.Object], name: str) -> tuple[int, bool, bool, str]:
    found: PropertySchema = properties_of(cls)[name]
    return found.type, found.is_optional, found.container is list, found.target


def test_annotations_say_types() -> None:
    assert shape(Everything, "flag") == (values.BOOL, False, False, "")
    assert shape(Everything, "ratio") == (values.FLOAT, False, False, "")
    assert shape(Everything, "score") == (values.DOUBLE, False, False, "")
    assert shape(Everything, "maybe_ratio") == (values.FLOAT, True, False, "")
    assert shape(Everything, "maybe_born") == (values.DATE, True, False, "")
    assert shape(Everything, "other") == (values.LINK, True, False, "Everything")
    assert shape(Everything, "others") == (values.LINK, False, True, "Everything")
    assert shape(Everything, "maybe_counts") == (values.INT, True, True, "")
    assert shape(Dog, "owner") == (values.LINK, True, False, "Person")
    assert shape(Person, "dogs") == (values.LINKING_OBJECTS, False, False, "Dog")
    assert properties_of(Person)["dogs"].origin_property == "owner"


def test_all_ways_to_spell_optional_and_list_are_understood() -> None:
    class Spelled(toft.Object):
        a: int | None
        b: int | None
        c: Spelled | None
        d: list[Spelled]
        e: toft.List[Spelled]
        f: list[Later]
        g: Later | None

    found = [shape(Spelled, name) for name in "abcdefg"]
    assert found[:2] == [(values.INT, True, False, "")] * 2
    assert found[2] == (values.LINK, True, False, "Spelled")
    assert found[3:5] == [(values.LINK, False, True, "Spelled")] * 2
    assert found[5:] == [(values.LINK, False, True, "Later"), (values.LINK, True, False, "Later")]


def test_what_an_annotation_says_to_others_is_left_to_them() -> None:
    class Noted(toft.Object):
        a: Annotated[int, "years"]
        b: Annotated[int | None, "years"]
        c: Annotated[list[int], "years"]
        d: Annotated[Noted | None, "a link"]
        e: list[Annotated[int, "years"]]
        f: Annotated[toft.Float32 | None, "metres"]

    found = [shape(Noted, name) for name in "abcdef"]
    assert found[:2] == [(values.INT, False, False, ""), (values.INT, True, False, "")]
    assert found[2] == found[4] == (values.INT, False, True, "")
    assert found[3] == (values.LINK, True, False, "Noted")
    assert found[5] == (values.FLOAT, True, False, "")


def test_a_class_is_no_dataclass_and_says_so() -> None:
    class Plain(toft.Object):
        name: str = ""

    with pytest.raises(TypeError, match="Plain has a constructor by itself"):
        dataclasses.dataclass(Plain)
    assert Plain(name="a").name == "a"


def test_a_field_says_what_is_wrong_where_it_stands() -> None:
    wrong: Any
    for wrong in (5, None, (1,), [None]):
        with pytest.raises(TypeError, match="unique is a bool, a text or texts"):
            toft.field(unique=wrong)
    for wrong in (5, None, Dog(name="Rex")):
        with pytest.raises(TypeError, match="a class or its name is due"):
            toft.linking_objects(wrong, "owner")


def test_class_variables_private_names_and_methods_are_not_stored() -> None:
    class Plain(toft.Object):
        kinds: ClassVar[int] = 3
        _cache: int
        name: str

        def shout(self) -> str:
            return self.name.upper()

    assert list(properties_of(Plain)) == ["name"]
    assert Plain(name="Rex").shout() == "REX"
    assert Plain.kinds == 3


def test_a_class_has_the_properties_of_its_bases_first() -> None:
    class Animal(toft.Object):
        name: str

    class Cat(Animal):
        lives: int = 9

    assert list(properties_of(Cat)) == ["name", "lives"]
    assert Cat(name="Tom").lives == 9


def test_every_problem_of_a_class_is_told_at_once() -> None:
    class Wrong(toft.Object):
        a: dict[int, int]
        b: int | str
        c: list[list[int]]
        d: list
        e: list[int] | None
        f = toft.field(indexed=True)
        g: dict = {}
        h: "list["

    with pytest.raises(toft.InvalidSchemaError) as raised:
        Wrong()
    lines = raised.value.detail.splitlines()
    assert sorted(line.split(":")[0] for line in lines) == [f"Wrong.{name}" for name in "abcdefgh"]


def test_an_object_in_no_database_is_a_plain_object() -> None:
    rex = Dog(name="Rex", tags=["good"])
    assert (rex.name, rex.age, rex.owner, rex.tags, rex.friends) == ("Rex", 0, None, ["good"], [])
    rex.friends.append(rex)
    rex.age += 1
    assert rex.friends[0].age == 1
    assert rex.is_valid and rex.realm is None
    assert repr(rex) == "Dog(name='Rex', age=1)"
    assert rex == rex and rex != Dog(name="Rex", tags=["good"])


def test_objects_do_not_share_their_lists() -> None:
    class Box(toft.Object):
        things: list[str]
        made: list[str] = toft.field(default_factory=lambda: ["x"])
        given: list[str] = ["w"]

    one, other = Box(), Box()
    one.things.append("a")
    one.made.append("y")
    one.given.append("z")
    assert other.things == [] and other.made == ["x"] and other.given == ["w"]


def test_the_constructor_asks_for_what_has_no_default_as_that_of_a_dataclass() -> None:
    class Cat(toft.Object):
        name: str
        lives: int = 9
        weight: float
        nick: str | None
        owner: Cat | None
        tags: list[str]
        kittens = toft.linking_objects("Cat", "owner")

    with pytest.raises(TypeError, match=r"Cat\(\) must be given name, weight"):
        Cat()
    with pytest.raises(TypeError, match="weight"):
        Cat(name="Tom")
    with pytest.raises(TypeError, match=r"by name: Cat\(name='Tom'\)"):
        Cat("Tom")
    tom = Cat(name="Tom", weight=3.5)
    assert (tom.lives, tom.nick, tom.owner, tom.tags) == (9, None, None, [])


def test_the_constructor_has_a_signature_for_help_and_editors() -> None:
    assert str(inspect.signature(Dog)) == (
        "(*, name: 'str', age: 'int' = 0, owner: 'Person | None' = None, tags: 'list[str]' = [], "
        "friends: 'list[Dog]' = [])"
    )
    assert "age: 'int' = 0" in pydoc.plain(pydoc.render_doc(Dog))


def test_a_mistyped_name_is_an_error_everywhere() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'name'"):
        Dog(nmae="Rex")
    rex = Dog(name="Rex")
    with pytest.raises(AttributeError):
        rex.nmae = "Max"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        del rex.name


def test_linking_objects_cannot_be_set() -> None:
    with pytest.raises(toft.ReadOnlyPropertyError):
        Person(name="Ada").dogs = []


def test_the_base_class_alone_is_no_model() -> None:
    with pytest.raises(toft.InvalidArgumentError):
        toft.Object()


def test_a_name_with_an_underscore_is_a_property_when_it_has_a_field() -> None:
    class Plain(toft.Object):
        _cache: ClassVar[int] = 3
        _hidden: int = 4
        _id: int = toft.field(primary_key=True)

    assert list(properties_of(Plain)) == ["_id"]
    assert shape(Plain, "_id") == (values.INT, False, False, "")


def test_a_property_that_would_hide_what_objects_have_is_refused() -> None:
    class Hiding(toft.Object):
        realm: int
        observe: str

    with pytest.raises(toft.InvalidSchemaError) as raised:
        properties_of(Hiding)
    assert (
        'Hiding.realm: toft.Object uses this name: say realm_: ... = toft.field(name="realm")'
        in str(raised.value)
    )
    assert "Hiding.observe" in raised.value.detail
