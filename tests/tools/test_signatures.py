"""What can be made into a tool, and what it is called with."""

from __future__ import annotations

import functools
import types
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import pytest
from pydantic import BaseModel

from anyshape.errors import ToolDefinitionError
from anyshape.tools import Context, Tool

__all__ = ["ClassVar"]  # an annotation below names it

P = ParamSpec("P")
R = TypeVar("R")


class Shop:
    """A place with methods."""

    def __init__(self, prices: dict[str, int]) -> None:
        self.prices = prices

    def price(self, item: str) -> int:
        """Say what an item costs."""
        return self.prices[item]

    async def price_later(self, item: str, context: Context) -> int:
        return self.prices[item]

    @classmethod
    def name(cls, loud: bool = False) -> str:
        return cls.__name__.upper() if loud else cls.__name__

    @staticmethod
    def add(a: int, b: int) -> int:
        return a + b


class Doubler:
    async def __call__(self, number: int) -> int:
        """Double a number."""
        return number * 2


class Greeter:
    def __call__(self, name: str) -> str:
        return f"Hello {name}"


def logged(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    return wrapper


@logged
def wrapped(number: int, step: int = 1) -> int:
    """Add a step."""
    return number + step


@logged
async def wrapped_later(number: int) -> int:
    return number + 1


def scale(factor: int, number: int, offset: int = 0) -> int:
    return factor * number + offset


def positional(a: int, b: int = 5, /, c: int = 0, *, d: int = 0) -> list[int]:
    return [a, b, c, d]


SHOP = Shop({"tea": 3})


@pytest.mark.parametrize(
    ("function", "name", "takes", "arguments", "value"),
    [
        (SHOP.price, "price", ["item"], {"item": "tea"}, 3),
        (SHOP.price_later, "price_later", ["item"], {"item": "tea"}, 3),
        (Shop.name, "name", ["loud"], {"loud": True}, "SHOP"),
        (Shop.add, "add", ["a", "b"], {"a": 1, "b": 2}, 3),
        (Shop.__dict__["add"], "add", ["a", "b"], {"a": 1, "b": 2}, 3),
        (Doubler(), "Doubler", ["number"], {"number": 4}, 8),
        (Greeter(), "Greeter", ["name"], {"name": "Ann"}, "Hello Ann"),
        (wrapped, "wrapped", ["number", "step"], {"number": 1}, 2),
        (wrapped_later, "wrapped_later", ["number"], {"number": 1}, 2),
        (functools.partial(scale, 3), "scale", ["number", "offset"], {"number": 2}, 6),
        (
            functools.partial(scale, offset=1),
            "scale",
            ["factor", "number"],
            {"factor": 2, "number": 2},
            5,
        ),
        (functools.partial(SHOP.price), "price", ["item"], {"item": "tea"}, 3),
        (positional, "positional", ["a", "b", "c", "d"], {"a": 1, "c": 3}, [1, 5, 3, 0]),
        (positional, "positional", ["a", "b", "c", "d"], {"d": 4, "a": 1, "b": 2}, [1, 2, 0, 4]),
    ],
    ids=lambda value: getattr(value, "__name__", None) if callable(value) else "",
)
async def test_any_callable_becomes_a_tool(
    call: Any, function: Any, name: str, takes: list[str], arguments: Any, value: Any
) -> None:
    tool = Tool.from_function(function)
    assert tool.name == name
    assert list(tool.listing.input_schema["properties"]) == takes
    assert (await call(tool, arguments)).value == value


def test_a_description_comes_from_the_callable_itself() -> None:
    assert Tool.from_function(SHOP.price).listing.description == "Say what an item costs."
    assert Tool.from_function(Doubler()).listing.description == "Double a number."
    assert Tool.from_function(functools.partial(wrapped, 1)).listing.description == "Add a step."


async def test_a_type_declared_inside_a_function_is_found(call: Any) -> None:
    class Local(BaseModel):
        number: int

    def tool(it: Local, others: list[Local] | None = None) -> Local:
        return it

    assert (await call(tool, {"it": {"number": 1}})).value == {"number": 1}


def test_the_same_annotation_means_what_it_means_where_it_stands() -> None:
    texts = ("Item", "list[Item] | None", "list['Item']", "None", "'Item'")

    def described(item: Any, text: str) -> Any:
        def tool(it: Any) -> Any: ...

        found = types.FunctionType(tool.__code__, {"Item": item}, "tool")
        found.__annotations__ = {"it": text}
        return Tool.from_function(found).listing.input_schema["properties"]["it"]

    for text in texts:
        assert described(int, text) == described(int, text)
        assert (described(int, text) == described(str, text)) is (text == "None")


async def test_a_decorator_without_annotations_keeps_those_of_the_function(call: Any) -> None:
    def later(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @later
    async def tool(number: int) -> int:
        return number

    made = Tool.from_function(tool)
    assert made.listing.output_schema == {"type": "integer"}
    assert (await call(made, {"number": 1})).value == 1


async def test_a_function_that_returns_an_awaitable_is_awaited(call: Any) -> None:
    async def work(number: int) -> int:
        return number + 1

    def tool(number: int) -> Awaitable[int]:
        return work(number)

    made = Tool.from_function(tool)
    assert made.listing.output_schema == {"type": "integer"}
    assert (await call(made, {"number": 1})).value == 2


async def first(context: Context, a: int) -> list[Any]:
    return [a, context.request_id]


async def middle(a: int, context: Context, b: int = 0) -> list[Any]:
    return [a, context.request_id]


async def last(a: int, *, context: Context) -> list[Any]:
    return [a, context.request_id]


async def optional(a: int, context: Context | None = None) -> list[Any]:
    return [a, context.request_id if context else None]


async def before(context: Context, a: int, /) -> list[Any]:
    return [a, context.request_id]


@pytest.mark.parametrize("function", [first, middle, last, optional, before])
async def test_the_context_is_injected_by_annotation(call: Any, function: Any) -> None:
    tool = Tool.from_function(function)
    assert "context" not in tool.listing.input_schema["properties"]
    outcome = await call(tool, {"a": 1}, context=Context(request_id="x-7"))
    assert outcome.value == [1, "x-7"]


def variable_positional(*numbers: int) -> int:
    return sum(numbers)


def variable_keywords(**options: int) -> int:
    return sum(options.values())


def bare_wrapper(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


def generator(n: int) -> Any:
    yield n


async def async_generator(n: int) -> Any:
    yield n


def unknown_name(it: Any) -> None: ...


unknown_name.__annotations__["it"] = "Nowhere"


def unknown_inside(it: Any) -> None: ...


unknown_inside.__annotations__["it"] = "list['Nowhere']"


def no_type(it: Any) -> None: ...


no_type.__annotations__["it"] = "ClassVar[int]"


def no_type_as_written(it: Any) -> None: ...


no_type_as_written.__annotations__["it"] = ClassVar[int]


def no_type_comes_back() -> Any: ...


no_type_comes_back.__annotations__["return"] = Generic


def no_expression(it: Any) -> None: ...


no_expression.__annotations__["it"] = "int or"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (variable_positional, r"variable_positional\(\): parameter '\*numbers'.*list"),
        (variable_keywords, r"variable_keywords\(\): parameter '\*\*options'.*input_schema="),
        (bare_wrapper, r"bare_wrapper\(\): parameter '\*args'.*decorator.*functools.wraps"),
        (generator, r"generator\(\): a generator.*return a list"),
        (async_generator, r"async_generator\(\): a generator.*return a list"),
        (Shop.price, r"Shop.price\(\): parameter 'self'.*instance.method"),
        (Shop.__dict__["name"], r"a classmethod inside its class.*after the class"),
        (Shop, r"Shop\(\): a class is not a function"),
        (unknown_name, r"unknown_name\(\): annotation name 'Nowhere'"),
        (unknown_inside, r"unknown_inside\(\): annotation name 'Nowhere'"),
        # Up to 3.13 `typing` refuses it when it reads the text, from 3.14 on when it is used.
        (no_type, r"no_type\(\): .*ClassVar\[int\] is not valid"),
        (no_type_as_written, r"no_type_as_written\(\): parameter 'it' .*ClassVar\[int\]"),
        (no_type_comes_back, r"no_type_comes_back\(\): return type Generic has no JSON Schema"),
        (no_expression, r"no_expression\(\): its annotations cannot be read"),
        (lambda: 1, r"the tool's name cannot be used.*pass name="),
        (3, "expected a function, got int"),
        ("find", "got the string .find.; it is named by name="),
    ],
    ids=lambda value: getattr(value, "__name__", None) if callable(value) else "",
)
def test_what_cannot_be_a_tool_says_why_and_what_to_do(function: Any, message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        Tool.from_function(function)


def test_a_tool_does_not_change() -> None:
    tool = Tool.from_function(scale)
    with pytest.raises(AttributeError):
        tool.timeout = 3
    assert tool.timeout is None
