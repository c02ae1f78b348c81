"""A library of types is one module: what it says is what a tool publishes, reads and writes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest
from msgspec import Struct
from pydantic import BaseModel

from anyshape.errors import ToolDefinitionError
from anyshape.tools import Tool
from anyshape.tools.signature import Parameter
from anyshape.tools.types import ArgumentsError, ParameterTypes, ValueType, choice
from anyshape.tools.types.library import UnsupportedError


class Roman:
    """A type that no library knows: a number that is written as a Roman numeral."""

    def __init__(self, number: int) -> None:
        self.number = number


NUMERALS = {"I": 1, "IV": 4, "IX": 9}
SCHEMA = {"type": "string", "pattern": "^[IVX]+$"}


class RomanTypes:
    """What `TypeLibrary` asks of a module."""

    FAMILY = "a Roman numeral"
    NOTES = "nothing"

    def claims(self, annotation: Any) -> bool:
        return annotation is Roman

    def overlooks(self, annotation: Any) -> bool:
        return False

    def describe_parameters(
        self, parameters: Sequence[Parameter], used: Collection[str] = ()
    ) -> ParameterTypes:
        names = {parameter.name: parameter.name for parameter in parameters}

        def read(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
            for name, text in arguments.items():
                if text not in NUMERALS:
                    raise ArgumentsError.at(f"/{name}", "expected a small numeral")
                arguments[name] = Roman(NUMERALS[text])
            return arguments

        return ParameterTypes({name: dict(SCHEMA) for name in names}, names, {}, read)

    def describe_value(self, annotation: Any) -> ValueType:
        if annotation is not Roman:
            raise UnsupportedError("not a numeral")
        by_number = {number: text for text, number in NUMERALS.items()}
        return ValueType(dict(SCHEMA), lambda value: by_number[value.number])


class Model(BaseModel):
    number: int


class Record(Struct):
    number: int


@pytest.fixture(autouse=True)
def another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_LIBRARIES", (RomanTypes(), *choice._LIBRARIES))


async def double(it: Roman, model: Model, record: Record, plain: int = 0) -> Roman:
    return Roman(it.number + model.number + record.number + plain)


async def test_each_library_describes_reads_and_writes_its_own_types(call: Any) -> None:
    tool = Tool.from_function(double)
    assert tool.listing.output_schema == SCHEMA
    assert tool.listing.input_schema["properties"]["it"] == SCHEMA
    assert list(tool.listing.input_schema["properties"]) == ["it", "model", "record", "plain"]
    arguments = {"it": "I", "model": {"number": 1}, "record": {"number": 2.0}}
    assert (await call(tool, arguments)).value == "IV"
    assert (await call(tool, {**arguments, "plain": 5})).value == "IX"


async def test_what_a_library_refuses_to_read_is_a_problem_of_the_arguments(call: Any) -> None:
    refused = await call(double, {"it": "X", "model": {"number": 1}, "record": {"number": 2}})
    assert refused.is_error
    assert "/it: expected a small numeral" in refused.text


def test_a_type_that_no_library_knows_is_refused() -> None:
    async def tool(it: type[Roman]) -> None: ...

    with pytest.raises(ToolDefinitionError, match="parameter 'it' has no JSON Schema"):
        Tool.from_function(tool)
