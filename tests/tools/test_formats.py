"""Dates, times and durations go by standard names, and pass in every form Python gives them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pytest
from pydantic import AwareDatetime, BaseModel, Field

from anyshape import Client, Server
from anyshape.tools import Tool
from anyshape.tools.formats import loosen, publish, to_read, to_write

UTC = datetime.UTC
MOMENT = datetime.datetime(2026, 7, 28, 10, 30)


class Event(BaseModel):
    when: datetime.datetime
    at: datetime.time
    lasts: datetime.timedelta
    day: datetime.date
    exactly: AwareDatetime


EVENT = Event(
    when=MOMENT,
    at=datetime.time(10, 30, 0, 5),
    lasts=datetime.timedelta(days=-1, microseconds=1),
    day=MOMENT.date(),
    exactly=MOMENT.replace(tzinfo=UTC),
)
PROPERTIES = {
    "when": {"type": "string", "format": "date-time"},
    "at": {"type": "string", "format": "time"},
    "lasts": {"type": "string", "format": "duration"},
    "day": {"type": "string", "format": "date"},
    "exactly": {"type": "string", "format": "date-time"},
}


class Lap(msgspec.Struct):
    took: datetime.timedelta


@dataclass
class Loose:
    """Checks nothing that it is given."""

    when: datetime.datetime
    day: datetime.date
    exactly: AwareDatetime


def echo(event: Event) -> Event:
    return event


def test_standard_names_are_published_both_ways() -> None:
    listing = Tool.from_function(echo).listing
    assert listing.input_schema["properties"]["event"]["properties"] == PROPERTIES
    assert isinstance(listing.output_schema, dict)
    assert listing.output_schema["properties"] == PROPERTIES


async def test_values_without_offset_and_fractions_go_through_server_and_client() -> None:
    server = Server("dates")
    server.tool(echo)

    @server.tool
    def lap(lap: Lap) -> Lap:
        return lap

    for revision in ("2025-11-25", "2026-07-28"):
        async with Client(server, revision=revision) as client:
            arguments = {"event": EVENT.model_dump(mode="json")}
            assert await client.call("echo", arguments, returns=Event) == EVENT
            lasted = {"lap": {"took": "-P1DT0.5S"}}
            assert await client.call("lap", lasted, returns=Lap) == Lap(
                -datetime.timedelta(days=1, seconds=0.5)
            )


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (datetime.datetime, "2026-07-28T10:30:00", MOMENT),
        (datetime.datetime, "2026-07-28T10:30:00Z", MOMENT.replace(tzinfo=UTC)),
        (datetime.datetime, "2026-07-28 10:30", MOMENT),
        (datetime.time, "10:30", datetime.time(10, 30)),
        (datetime.timedelta, "-PT1.5S", -datetime.timedelta(seconds=1.5)),
        (datetime.timedelta, "P1Y", datetime.timedelta(days=365)),
        (list[datetime.datetime | None], ["2026-07-28T10:30", None], [MOMENT, None]),
    ],
    ids=str,
)
async def test_an_argument_is_read_in_every_form_that_its_type_takes(
    call: Any, annotation: Any, given: Any, expected: Any
) -> None:
    received: list[Any] = []

    def take(it: Any) -> None:
        received.append(it)

    take.__annotations__["it"] = annotation
    outcome = await call(take, {"it": given})
    assert (outcome.is_error, received) == (False, [expected]), outcome.text


@pytest.mark.parametrize(
    ("given", "words"),
    [("tomorrow", "valid datetime"), (5, "expected a string"), (None, "expected a string")],
    ids=str,
)
async def test_an_argument_that_is_no_date_is_refused_in_words_that_name_no_other_format(
    call: Any, given: Any, words: str
) -> None:
    def take(it: datetime.datetime) -> None:
        raise AssertionError

    outcome = await call(take, {"it": given})
    assert outcome.is_error
    assert words in outcome.text
    assert "loose" not in outcome.text


async def test_other_formats_beside_a_loose_one_are_still_enforced(call: Any) -> None:
    def take(
        mail: Annotated[str, Field(json_schema_extra={"format": "email"})],
        when: datetime.datetime = MOMENT,
    ) -> None: ...

    assert not (await call(take, {"mail": "a@example.com", "when": "2026-07-28T10:30:00"})).is_error
    assert (await call(take, {"mail": "nobody"})).is_error


@pytest.mark.parametrize(
    "wrong",
    [
        Loose("soon", MOMENT.date(), MOMENT.replace(tzinfo=UTC)),  # pyright: ignore[reportArgumentType]
        Loose(MOMENT, "Tuesday", MOMENT.replace(tzinfo=UTC)),  # pyright: ignore[reportArgumentType]
        Loose(MOMENT, MOMENT.date(), MOMENT),
    ],
    ids=["no date-time", "no date", "no offset"],
)
async def test_a_result_that_only_looks_typed_is_judged_by_what_it_says(
    call: Any, wrong: Loose
) -> None:
    def give() -> Loose:
        return wrong

    assert (await call(give)).is_error


async def test_a_result_may_hold_dates_as_text_already(call: Any) -> None:
    def give() -> list[datetime.datetime]:
        return ["2026-07-28 10:30:00"]  # pyright: ignore[reportReturnType]  # from a database

    assert (await call(give)).value == ["2026-07-28 10:30:00"]


@pytest.mark.parametrize(
    "value",
    [
        datetime.datetime.min,
        datetime.datetime.max,
        MOMENT.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-5, minutes=-30))),
        MOMENT.replace(tzinfo=datetime.timezone(datetime.timedelta(seconds=3661))),
        datetime.time.max,
        datetime.time(1, tzinfo=UTC),
        datetime.timedelta(),
        datetime.timedelta.max,
        datetime.timedelta.min,
        datetime.timedelta(days=400, seconds=3723, microseconds=1),
    ],
    ids=str,
)
@pytest.mark.parametrize("library", ["pydantic", "msgspec"])
async def test_whatever_python_writes_is_accepted(call: Any, value: Any, library: str) -> None:
    def give() -> Any:
        return value if library == "pydantic" else holder(value)

    annotation: Any = value.__class__
    holder: Any = msgspec.defstruct("Holder", [("it", annotation)])
    give.__annotations__["return"] = annotation if library == "pydantic" else holder
    outcome = await call(give)
    assert not outcome.is_error


def test_what_an_author_wrote_is_left_as_it_is() -> None:
    written = {"type": "string", "format": "date-time"}
    tool = Tool.from_function(lambda: MOMENT, name="a", output_schema=written)
    assert tool.output is not None
    assert tool.listing.output_schema == tool.output.document == written
    assert not tool.output.accepts("2026-07-28T10:30:00")


def test_only_schema_positions_are_settled() -> None:
    marked = {"type": "string", "format": "date-time"}
    loosen(marked)
    document = {
        "type": "object",
        "properties": {"format": dict(marked), "a": {"$ref": "#/$defs/A"}},
        "default": {"properties": {"a": dict(marked)}},
        "$defs": {"A": {"anyOf": [dict(marked), {"const": dict(marked)}]}},
    }
    published = publish(document)
    assert published["properties"]["format"] == {"type": "string", "format": "date-time"}
    assert published["$defs"]["A"]["anyOf"] == [
        {"type": "string", "format": "date-time"},
        {"const": marked},
    ]
    assert published["default"] == document["default"]
    assert to_read(document)["properties"]["format"] == {"type": "string"}
    assert to_write(document)["properties"]["format"].keys() == {"type", "pattern"}
    unmarked = {"type": "string", "format": "date"}
    assert publish(unmarked) is unmarked
