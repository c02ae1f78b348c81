"""Where do the microseconds of the tools layer go, and what would the other ways have cost?

One call without any transport: arguments checked, converted, the function run, its value
serialized and checked. Beside it, the alternatives that were weighed for each step, on the same
receipt of 1.8 KB. `python benchmarks/bench_tools.py` prints the figures that
docs/internals/performance.md keeps: the best of several runs, so that neighbours on the
machine count little.
"""

from __future__ import annotations

import asyncio
import timeit
from collections.abc import Callable
from typing import Any

import msgspec
from bed import shop, shop_msgspec, shop_pydantic, shop_typed_dicts
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from anyshape.schema import compile
from anyshape.tools import Context, Tool

RECEIPT = shop.EXPECTED["create_order"]


async def nothing() -> int:
    return 42


async def add(a: int, b: int) -> int:
    return a + b


def add_quickly(a: int, b: int) -> int:
    return a + b


async def with_context(a: int, b: int, context: Context) -> int:
    return a + b


async def with_dict(order: dict[str, Any]) -> dict[str, Any]:
    return order


async def with_typed_dict(order: shop_typed_dicts.Receipt) -> shop_typed_dicts.Receipt:
    return order


async def with_struct(order: shop_msgspec.Receipt) -> shop_msgspec.Receipt:
    return order


async def with_model(order: shop_pydantic.Receipt) -> shop_pydantic.Receipt:
    return order


def best(run: Callable[[], Any], number: int) -> float:
    """Return the microseconds of one run, at its best."""
    return min(timeit.repeat(run, number=number, repeat=9)) / number * 1e6


def show(name: str, microseconds: float) -> None:
    print(f"{name:<72}{microseconds:>8.2f} µs")


def measure_calls() -> None:
    small, order = b'{"a":1,"b":2}', msgspec.json.encode({"order": RECEIPT})
    context = Context()

    def step(tool: Tool, arguments: bytes | None) -> Callable[[], None]:
        def run() -> None:
            try:
                tool.call(arguments, context).send(None)
            except StopIteration:
                return
            raise AssertionError("this call should not have waited")

        return run

    print(f"One call, checked both ways (an order is {len(order)} bytes)")
    cases: list[tuple[str, Tool, bytes | None, int]] = [
        ("no parameters, returns an int", Tool.from_function(nothing), None, 5000),
        ("two ints, returns an int", Tool.from_function(add), small, 5000),
        (
            "the same, synchronous and inline",
            Tool.from_function(add_quickly, inline=True),
            small,
            5000,
        ),
        ("the same with a Context", Tool.from_function(with_context), small, 5000),
        (
            "the same with a time-out that is not needed",
            Tool.from_function(add, timeout=5),
            small,
            5000,
        ),
        ("order as dict", Tool.from_function(with_dict), order, 500),
        ("order as TypedDict", Tool.from_function(with_typed_dict), order, 500),
        ("order as msgspec struct", Tool.from_function(with_struct), order, 500),
        ("order as pydantic model", Tool.from_function(with_model), order, 500),
    ]
    for name, tool, arguments, number in cases:
        show(name, best(step(tool, arguments), number))

    async def hop() -> float:
        tool = Tool.from_function(add_quickly)
        loop = asyncio.get_running_loop()
        fastest = float("inf")
        for _ in range(20):
            start = loop.time()
            for _ in range(100):
                await tool.call(small)
            fastest = min(fastest, (loop.time() - start) / 100)
        return fastest * 1e6

    show("two ints, synchronous on a worker thread", asyncio.run(hop()))


def measure_alternatives() -> None:
    arguments: Any = TypedDict("Arguments", {"order": shop_pydantic.Receipt})
    adapter, model_adapter = TypeAdapter(arguments), TypeAdapter(shop_pydantic.Receipt)
    raw = msgspec.json.encode({"order": RECEIPT})
    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    decoded, model = decode(raw), model_adapter.validate_python(RECEIPT)
    struct = msgspec.convert(RECEIPT, shop_msgspec.Receipt)
    accepts = compile(model_adapter.json_schema(mode="serialization")).accepts
    to_python, to_json = model_adapter.serializer.to_python, model_adapter.serializer.to_json

    def python_then_encode() -> bytes:
        value = to_python(model, mode="json", by_alias=True, warnings=False)
        accepts(value)
        return encode(value)

    def json_then_decode() -> bytes:
        text = to_json(model, by_alias=True, warnings=False)
        accepts(decode(text))
        return text

    def builtins_then_encode_struct() -> bytes:
        accepts(msgspec.to_builtins(struct))
        return encode(struct)

    def builtins_then_encode_those() -> bytes:
        value = msgspec.to_builtins(struct)
        accepts(value)
        return encode(value)

    def encode_then_decode() -> bytes:
        text = encode(struct)
        accepts(decode(text))
        return text

    print("\nArguments: what was weighed (an order of pydantic models)")
    show("decode, needed by the check in any case", best(lambda: decode(raw), 500))
    show("check", best(lambda: accepts(RECEIPT), 500))
    show(
        "convert: pydantic from the text, strict (chosen for dates and the like)",
        best(lambda: adapter.validate_json(raw, strict=True), 500),
    )
    show(
        "convert: pydantic from the decoded value, strict (chosen)",
        best(lambda: adapter.validate_python(decoded, strict=True), 500),
    )
    show(
        "convert: pydantic from the decoded value, coercing",
        best(lambda: adapter.validate_python(decoded), 500),
    )
    show(
        "convert: pydantic per argument, encoded again",
        best(lambda: model_adapter.validate_json(encode(decoded["order"]), strict=True), 500),
    )
    print("\nResult: what was weighed")
    show("pydantic: to JSON types, check, encode (chosen)", best(python_then_encode, 500))
    show("pydantic: to JSON text, decode, check", best(json_then_decode, 500))
    show(
        "msgspec: to JSON types, check, encode the struct",
        best(builtins_then_encode_struct, 500),
    )
    show(
        "msgspec: to JSON types, check, encode those (chosen)",
        best(builtins_then_encode_those, 500),
    )
    show("msgspec: encode, decode, check (writes NaN as null)", best(encode_then_decode, 500))


if __name__ == "__main__":
    measure_calls()
    measure_alternatives()
