"""What is kept of compiled schemas is bounded by what it holds, and made once for all who ask."""

from __future__ import annotations

import threading
from random import Random
from typing import Any

import psutil
import pytest
from patience import PATIENCE

from anyshape.errors import InvalidSchema
from anyshape.schema import compile
from anyshape.schema._cache import Cache
from anyshape.schema._pipeline import _KEPT_BYTES, _cache


def kept(cache: Cache[str], keys: str) -> str:
    """Return those of `keys` that the cache has, without asking for any to be made."""
    return "".join(key for key in keys if cache.peek(key) is not None)


def fill(cache: Cache[str], keys: str, size: int) -> None:
    for key in keys:
        cache.get(key, lambda key=key: (f"made {key}", size))


class TestBytes:
    def test_what_was_asked_for_last_is_kept_up_to_the_bytes_allowed(self) -> None:
        cache: Cache[str] = Cache(most=100)
        fill(cache, "abcdef", 30)

        assert kept(cache, "abcdef") == "def"
        assert len(cache._kept) == 3

    def test_asking_again_keeps_a_thing(self) -> None:
        cache: Cache[str] = Cache(most=100)
        fill(cache, "abcabdae", 30)

        assert kept(cache, "abcde") == "ade"

    def test_a_large_thing_takes_the_place_of_many_small_ones(self) -> None:
        cache: Cache[str] = Cache(most=100)
        fill(cache, "abcd", 20)
        fill(cache, "L", 90)

        assert kept(cache, "abcdL") == "L"

    def test_what_is_larger_than_all_that_is_allowed_is_made_and_not_kept(self) -> None:
        cache: Cache[str] = Cache(most=100)
        fill(cache, "a", 20)

        assert cache.get("L", lambda: ("large", 101)) == "large"
        assert cache.peek("L") is None
        fill(cache, "bcde", 20)
        assert kept(cache, "bcde") == "bcde"

    def test_what_was_forgotten_is_made_again_and_counted_once(self) -> None:
        cache: Cache[str] = Cache(most=100)
        for _ in range(50):
            fill(cache, "abcd", 30)

        assert len(cache._kept) == 3


class TestFlights:
    def test_however_many_ask_at_once_one_of_them_makes_it(self) -> None:
        cache: Cache[object] = Cache(most=100)
        making, go = threading.Event(), threading.Event()
        made: list[object] = []
        found: list[object] = []

        def make() -> tuple[object, int]:
            making.set()
            assert go.wait(PATIENCE)
            made.append(object())
            return made[-1], 10

        threads = [
            threading.Thread(target=lambda: found.append(cache.get("key", make))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        assert making.wait(PATIENCE)
        assert cache.peek("key") is None
        go.set()
        for thread in threads:
            thread.join(PATIENCE)

        assert len(made) == 1
        assert found == made * 8
        assert cache.peek("key") is made[0]

    def test_what_is_being_made_is_not_pushed_out(self) -> None:
        cache: Cache[str] = Cache(most=100)
        making, go = threading.Event(), threading.Event()

        def make() -> tuple[str, int]:
            making.set()
            assert go.wait(PATIENCE)
            return "slow", 10

        thread = threading.Thread(target=lambda: cache.get("slow", make))
        thread.start()
        assert making.wait(PATIENCE)
        fill(cache, "abcdef", 30)
        go.set()
        thread.join(PATIENCE)

        assert cache.peek("slow") == "slow"

    def test_a_failure_is_told_and_not_kept(self) -> None:
        cache: Cache[str] = Cache(most=100)

        def fail() -> tuple[str, int]:
            raise InvalidSchema("no")

        for _ in range(2):
            with pytest.raises(InvalidSchema):
                cache.get("key", fail)
        assert len(cache._kept) == 0
        assert cache.get("key", lambda: ("yes", 10)) == "yes"


def test_compiled_schemas_are_kept_within_a_bound_of_bytes() -> None:
    _cache._begin()
    for number in range(40):
        compile({"properties": {f"p{number}_{n}": {"type": "string"} for n in range(1_000)}})

    # Each is counted with eight thousand bytes a subschema.
    assert 1 <= len(_cache._kept) <= _KEPT_BYTES // (8_000 * 1_000)


def test_many_small_schemas_are_all_kept() -> None:
    _cache._begin()
    schemas = [compile({"const": f"small {number}"}) for number in range(600)]

    for number, schema in enumerate(schemas):
        assert compile({"const": f"small {number}"})._judge is schema._judge


def test_what_matching_leaves_behind_is_counted() -> None:
    # A matcher keeps what it worked out about texts, and a stranger chooses these.
    random = Random(1)
    patterns = {f"p{n}": {"pattern": f"[ab]*a[ab]{{{12 + n % 5}}}c{n}"} for n in range(40)}
    schema = compile({"properties": patterns})
    assert not schema.cost.confined
    process = psutil.Process()
    before = process.memory_info().rss
    for name in patterns:
        for _ in range(3):
            text = "".join(random.choices("ab", k=schema.cost.free_bytes - 100))
            assert not schema.accepts_parsed({name: text}, schema.cost.free_bytes)
            assert schema.problems({name: text}, size=schema.cost.free_bytes)

    assert process.memory_info().rss - before < 1.5 * schema.weight


@pytest.mark.parametrize(
    ("inner", "levels"),
    [
        ({"enum": [f"{n:x}" for n in range(600)]}, 120),
        ({"default": [1] * 2_000}, 120),
        ({"properties": {f"{n:x}": {"required": ["a", "b"]} for n in range(180)}}, 120),
    ],
    ids=["constants", "annotations", "subschemas"],
)
def test_what_is_compiled_for_each_reference_counts_each_time(inner: Any, levels: int) -> None:
    for _ in range(levels):
        inner = {"items": inner}
    references = [{"$ref": "#/$defs/a" + "/items" * level} for level in range(levels + 1)]
    document = {"prefixItems": references, "$defs": {"a": inner}}
    process = psutil.Process()
    before = process.memory_info().rss
    schema = compile(document)

    assert not schema.cost.confined
    assert process.memory_info().rss - before < 1.5 * schema.weight


@pytest.mark.parametrize(
    ("held", "confined"),
    [
        ({"examples": [{"a": 1}] * 20_000}, False),
        ({"default": {f"{n:x}": {"": True} for n in range(12_000)}}, False),
        ({"dependentRequired": {f"{n:x}": ["a", "b"] for n in range(10_000)}}, False),
        ({"default": [{"a": 1}] * 110_000}, True),
    ],
    ids=["examples", "nested", "names", "confined"],
)
def test_what_a_document_holds_beside_subschemas_counts(held: Any, confined: bool) -> None:
    compile({"$comment": "what the first one needs besides", **held})
    process = psutil.Process()
    before = process.memory_info().rss
    schemas = [compile({"$comment": f"{n}", **held}) for n in range(8)]

    assert {schema.cost.confined for schema in schemas} == {confined}
    assert process.memory_info().rss - before < 1.5 * sum(schema.weight for schema in schemas)
