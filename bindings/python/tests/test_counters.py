"""Counters: an amount is added in place, to one object and to all of results."""

from __future__ import annotations

from enum import IntEnum

import pytest
import toft
from models import Everything

MOST = 2**63 - 1


class Level(IntEnum):
    LOW = 0
    HIGH = 1


class Page(toft.Object):
    visits: int = 0
    likes: int = toft.field(default=0, indexed=True)
    rank: int | None
    level: Level = Level.LOW
    title: str = ""
    parent: Page | None


def open_pages(path: object, count: int) -> toft.Realm:
    realm = toft.open(str(path), [Page, Everything])
    realm.begin_write()
    realm.insert_many(Page, ({"likes": number, "rank": 0} for number in range(count)))
    return realm


def test_a_counter_of_an_object_goes_up_and_down(path: object) -> None:
    with open_pages(path, 1) as realm:
        [page] = realm.objects(Page)
        page.increment("visits")
        page.increment(Page.visits, 5)
        page.increment(Page.visits, -2)
        page.increment("likes", 7)
        page.visits += 1
        assert (page.visits, page.likes) == (5, 7)
        assert list(realm.objects(Page).where(Page.likes == 7)) == [page]
        realm.commit()
        with pytest.raises(toft.NotInTransactionError):
            page.increment("visits")
        assert page.visits == 5
    draft = Page(visits=3)
    draft.increment(Page.visits, 2)
    assert draft.visits == 5


@pytest.mark.parametrize("start, amount", [(MOST, 1), (-MOST - 1, -1), (-1, -MOST - 1)])
def test_a_counter_never_wraps(path: object, start: int, amount: int) -> None:
    step = 1 if amount < 0 else -1
    with open_pages(path, 3) as realm:
        page, pages = realm.objects(Page)[1], realm.objects(Page)
        page.visits = start
        with pytest.raises(toft.OverflowError):
            page.increment("visits", amount)
        with pytest.raises(toft.OverflowError):
            pages.update(visits=Page.visits + amount, title="never")
        assert [each.visits for each in pages] == [0, start, 0]
        assert [each.title for each in pages] == [""] * 3
        assert pages.update(visits=Page.visits + (amount + step)) == 3
        assert page.visits == start + amount + step
        for beyond in (2**63, -(2**63) - 1):
            with pytest.raises(toft.InvalidArgumentError, match="64 bits"):
                page.increment("visits", beyond)
            with pytest.raises(toft.InvalidArgumentError, match="64 bits"):
                pages.update(visits=Page.visits + beyond)


def test_all_counters_of_results_go_up_at_once(path: object) -> None:
    with open_pages(path, 10) as realm:
        pages = realm.objects(Page)
        few = pages.where(Page.likes < 3)
        assert few.update(likes=Page.likes + 3, visits=1 + Page.visits, title="top") == 3
        assert len(few) == 0 and few.update(likes=Page.likes - 1) == 0
        assert sorted(page.likes for page in pages) == [3, 3, 4, 4, 5, 5, 6, 7, 8, 9]
        assert pages.sum("visits") == 3 and len(pages.where(Page.title == "top")) == 3
        assert pages.update(visits=Page.visits - 1) == 10
        assert pages.sum("visits") == -7
        # The set fails after the addition: both are undone.
        for amount in (1, -1, -(2**63)):
            pages.update(visits=0)
            with pytest.raises(toft.TypeMismatchError):
                pages.update(visits=Page.visits + amount, likes=Page.likes + 1, title=5)
            with pytest.raises(toft.ValueTooLongError):
                pages.update(visits=Page.visits + amount, title="x" * 2**24)
            assert pages.sum("visits") == 0 and pages.sum("likes") == 54
        realm.commit()
        with pytest.raises(toft.NotInTransactionError):
            pages.update(visits=Page.visits + 1)


def test_what_does_not_count_is_refused(path: object) -> None:
    with open_pages(path, 2) as realm:
        page, pages = realm.objects(Page)[0], realm.objects(Page)
        page.rank = None
        with pytest.raises(toft.NullNotAllowedError):
            page.increment("rank")
        with pytest.raises(toft.NullNotAllowedError):
            pages.update(rank=Page.rank + 1)
        assert [each.rank for each in pages] == [None, 0]
        for name in ("title", "level", "parent"):
            with pytest.raises(toft.TypeMismatchError):
                page.increment(name)
            with pytest.raises(toft.TypeMismatchError):
                pages.update(**{name: getattr(Page, name) + 1})
        with pytest.raises(toft.NoSuchPropertyError):
            page.increment("nope")
        with pytest.raises(toft.InvalidArgumentError, match="is not visits"):
            pages.update(visits=Page.likes + 1)
        for wrong in (Page.parent.visits, Everything.count, Page.title.length()):
            with pytest.raises(toft.InvalidArgumentError, match="of Page itself"):
                page.increment(wrong)
            with pytest.raises(toft.InvalidArgumentError):
                pages.update(visits=wrong + 1)
        for amount in (1.5, "1", True, None):
            with pytest.raises(TypeError):
                page.increment("visits", amount)  # type: ignore[arg-type]
            with pytest.raises(TypeError):  # 1.5 may be added in a condition
                pages.update(visits=Page.visits + amount)  # type: ignore[operator]
        someone = realm.create(Everything, id=1)
        with pytest.raises(toft.PrimaryKeyChangeError):
            someone.increment("id")
        realm.delete(page)
        with pytest.raises(toft.ObjectDeletedError):
            page.increment("visits")
