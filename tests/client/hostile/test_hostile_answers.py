"""Answers from a hostile server: an error that says what happened, and the next call works."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable

import pytest
from patience import PATIENCE

from anyshape.client import Client, Frame
from anyshape.errors import (
    AnyshapeError,
    LimitExceeded,
    OutputMismatch,
    ProtocolError,
    TransportError,
)
from anyshape.protocol.content import UnknownContent

pytestmark = pytest.mark.usefixtures("unheld")

Open = Callable[..., contextlib.AbstractAsyncContextManager[Client]]

# Over stdio, what is no message cannot be told from a stray line: the call ends by its time limit.
STRAY = {"garbage", "binary", "string", "number", "empty_object", "empty_batch"}
MOMENT = 0.3

EXPECTED: dict[str, type[AnyshapeError]] = {
    "content_string": ProtocolError,
    "is_error_string": ProtocolError,
    "result_type": ProtocolError,
    "wants_input": ProtocolError,
    "wants_nothing": ProtocolError,
    "asks_for_ever": ProtocolError,
    "error_string": ProtocolError,
    "error_code": ProtocolError,
    "error_null_id": ProtocolError,
    "error_long": ProtocolError,
    "null_result": ProtocolError,
    "array_result": ProtocolError,
    "string_result": ProtocolError,
    "no_structure": OutputMismatch,
    "wrong_structure": OutputMismatch,
    "deep": LimitExceeded,
    "huge": TransportError,
    "huge_id_last": TransportError,
}


async def expect(client: Client, name: str, kind: type[AnyshapeError], timeout: float) -> str:
    await client.list_tools()
    with pytest.raises(kind) as raised:
        await client.call_tool(name, timeout=timeout)
    message = str(raised.value)
    assert message
    assert len(message) < 2000
    assert message.isprintable()
    return message


async def test_a_bad_answer_costs_only_its_call(open_client: Open, plain: str) -> None:
    async with open_client() as client:
        stray = plain in STRAY and "process" in client._channel.transport.place
        kind = EXPECTED.get(plain, AnyshapeError)
        await expect(client, plain, kind, MOMENT if stray else PATIENCE)
        assert await client.call("good", returns=int) == 42


async def test_content_of_unknown_kinds_is_kept_as_it_came(open_client: Open) -> None:
    async with open_client() as client:
        result = await client.call_tool("unknown_content")
        assert result.value == 42
        assert all(isinstance(block, UnknownContent) for block in result.content)
        assert len(result.content) == 4


async def test_an_answer_to_another_request_is_not_taken(open_client: Open, wrong_id: str) -> None:
    async with open_client() as client:
        message = await expect(client, wrong_id, AnyshapeError, 1.0)
        assert "answered what was not asked" in message or "an answer to something else" in message
        assert await client.call("good", returns=int) == 42


async def test_what_a_server_says_beside_the_answer_does_no_harm(
    open_client: Open, chatter: str
) -> None:
    async with open_client() as client:
        reports: list[object] = []
        assert (await client.call_tool(chatter, on_progress=reports.append)).value == 42
        assert reports == []
        assert await client.call("good", returns=int) == 42


async def test_of_a_flood_only_a_part_is_taken_at_each_turn_of_the_loop(open_client: Open) -> None:
    turn = 0
    taken: Counter[int] = Counter()

    async def turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    def take(frame: Frame) -> None:
        taken[turn] += 1

    async with open_client(on_frame=take) as client:
        turning = asyncio.create_task(turns())
        assert await client.call("flood", returns=int) == 42
        turning.cancel()
    assert taken.total() > 2_000
    assert max(taken.values()) < 400


async def test_silence_ends_with_the_time_limit(open_client: Open) -> None:
    async with open_client() as client:
        message = await expect(client, "silence", TransportError, MOMENT)
        assert "'silence' within 0.3 s" in message
        assert await client.call("good", returns=int) == 42


async def test_invalid_utf8_is_no_answer(open_client: Open) -> None:
    async with open_client() as client:
        await expect(client, "invalid_utf8", AnyshapeError, MOMENT)
        assert await client.call("good", returns=int) == 42


async def test_a_batch_is_read(open_client: Open) -> None:
    async with open_client() as client:
        assert await client.call("batched", returns=int) == 42


async def test_of_two_answers_the_first_counts(open_stdio_client: Open) -> None:
    async with open_stdio_client() as client:
        assert await client.call("twice_answered", returns=int) == 42
        assert await client.call("good", returns=int) == 42


async def test_lines_that_are_no_messages_are_skipped_and_shown(open_stdio_client: Open) -> None:
    async with open_stdio_client() as client:
        assert await client.call("banner", returns=int) == 42
        message = await expect(client, "silence", TransportError, MOMENT)
        assert "Server ready" in message


@pytest.mark.parametrize("name", ["exit", "crash_in_answer", "closed_output"])
async def test_a_process_that_dies_costs_its_call_and_is_started_again(
    open_stdio_client: Open, name: str
) -> None:
    async with open_stdio_client() as client:
        message = await expect(client, name, TransportError, PATIENCE)
        if name == "exit":
            assert "exit status 7" in message
            assert "giving up" in message
        assert await client.call("good", returns=int) == 42


async def test_a_line_without_end_is_refused_while_it_comes(open_stdio_client: Open) -> None:
    async with open_stdio_client() as client:
        message = await expect(client, "endless_line", TransportError, PATIENCE)
        assert "longer than 8000000 bytes" in message
        assert await client.call("good", returns=int) == 42


@pytest.mark.parametrize("name", ["endless_lines", "line_without_end"])
async def test_a_process_that_writes_without_end_is_ended_and_started_again(
    open_stdio_client: Open, name: str
) -> None:
    async with open_stdio_client() as client:
        message = await expect(client, name, TransportError, PATIENCE)
        assert "wrote more than 16000000 bytes without an answer" in message
        assert await client.call("good", returns=int) == 42


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("status_500", "HTTP 500 Oops: 'Traceback"),
        ("status_204", "HTTP 204"),
        ("status_202", "HTTP 202"),
        ("status_401", "credentials"),
        ("html", "text/html"),
        ("no_type", "no content type"),
        ("empty", "no JSON-RPC message"),
        ("redirect_away", "another origin"),
        ("redirect_circle", "circles"),
        ("not_http", "does not speak HTTP"),
        ("closed", "broke"),
        ("cut_body", "broke"),
        ("lying_length", "longer than 8000000 bytes"),
        ("header_flood", "HTTP"),
        ("gzip_bomb", "longer than 8000000 bytes"),
        ("not_gzip", "broke"),
        ("stream_without_end", "longer than 8000000 bytes"),
        ("stream_of_comments", "longer than 8000000 bytes"),
        ("stream_one_huge_event", "longer than 8000000 bytes"),
        ("stream_without_answer", "without an answer"),
        ("stream_cut", "broke"),
        ("stream_garbage", "without an answer"),
        ("stream_wrong_id", "without an answer"),
    ],
)
async def test_bad_http_costs_only_its_call(open_http_client: Open, name: str, said: str) -> None:
    async with open_http_client() as client:
        kind = ProtocolError if name == "empty" else TransportError
        assert said in await expect(client, name, kind, PATIENCE)
        assert await client.call("good", returns=int) == 42


async def test_a_slow_drip_ends_with_the_time_limit(open_http_client: Open) -> None:
    async with open_http_client() as client:
        await expect(client, "slow_drip", TransportError, MOMENT)
        assert await client.call("good", returns=int) == 42


async def test_a_stream_left_open_after_its_answer_keeps_nobody(open_http_client: Open) -> None:
    async with open_http_client() as client:
        assert await client.call("stream_kept_open", returns=int) == 42
        assert await client.call("good", returns=int) == 42
