from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.protocol.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Batch,
    Malformed,
    Notification,
    Request,
    Response,
    decode,
    encode_batch,
    encode_error,
    encode_notification,
    encode_response,
    request_key,
)


def frame(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


@pytest.mark.parametrize(
    "id",
    [
        "1",
        '"1"',
        "0",
        "-7",
        "1.0",
        "1e3",
        "0.1e-2",
        "9" * 60,
        "-" + "9" * 400,
        '""',
        '"\\u0031\\n\\"é"',
        '"' + "x" * 5000 + '"',
    ],
)
def test_an_id_is_echoed_as_the_text_it_came_as(id: str) -> None:
    message = decode(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'.encode())
    assert isinstance(message, Request)
    assert message.id == id.encode()
    assert (
        encode_response(message.id, b"{}")
        == f'{{"jsonrpc":"2.0","id":{id},"result":{{}}}}'.encode()
    )


@pytest.mark.parametrize("id", ["null", "true", "false", "[]", "{}", "[1]"])
def test_an_id_of_another_type_is_an_invalid_request_without_id(id: str) -> None:
    message = decode(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'.encode())
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (INVALID_REQUEST, None)


def test_a_message_with_a_method_and_no_id_is_a_notification() -> None:
    message = decode(frame(method="notifications/initialized"))
    assert isinstance(message, Notification)
    assert (message.method, message.params) == ("notifications/initialized", None)


def test_parameters_stay_raw() -> None:
    message = decode(b'{"jsonrpc":"2.0","id":1,"method":"m","params": {"a" : [1.0, 2]} }')
    assert isinstance(message, Request)
    assert bytes(message.params or b"") == b'{"a" : [1.0, 2]}'


@pytest.mark.parametrize("params", ["[]", "1", '"x"', "true", "[{}]"])
def test_parameters_that_are_no_object_are_invalid_and_the_id_is_known(params: str) -> None:
    message = decode(f'{{"jsonrpc":"2.0","id":7,"method":"m","params":{params}}}'.encode())
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (INVALID_PARAMS, b"7")


@pytest.mark.parametrize("params", ["[]", "1", '"x"', "true", "null"])
def test_a_notification_whose_parameters_are_no_object_has_none(params: str) -> None:
    message = decode(f'{{"jsonrpc":"2.0","method":"m","params":{params}}}'.encode())
    assert message == Notification("m")


def test_null_parameters_are_none() -> None:
    message = decode(frame(id=1, method="m", params=None))
    assert isinstance(message, Request)
    assert message.params is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"  ",
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"m"',
        b'{"jsonrpc":"2.0","id":1,"method":"m",}',
        b'{"jsonrpc":"2.0","id":NaN,"method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":01}}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":Nan}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}',
        b'[{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}]',
        b'{"jsonrpc":"2.0","id":"\xc3","method":"m"}',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m"} x',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m\n"}',
        b"[{}",
        b"[" * 200_000,
    ],
)
def test_what_is_not_json_is_a_parse_error_without_id(text: bytes) -> None:
    message = decode(text)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (PARSE_ERROR, None)


@pytest.mark.parametrize(
    "value",
    [
        b"NaN",
        b"Infinity",
        b'["NaN\\"", -Infinity, {"id": 2}]',
        b'"cut \\ud83d"',
        b'"\xff"',
        b'"caf\xe9 NaN"',
    ],
)
@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":%b}}',
        b'{"method":"m","params":{"id":7,"a":%b},"jsonrpc":"2.0","id":1}',
    ],
)
def test_a_request_with_a_value_that_is_not_json_is_refused_with_its_id(
    value: bytes, frame: bytes
) -> None:
    message = decode(frame % value)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (PARSE_ERROR, b"1")


@pytest.mark.parametrize("unit", [b'\\"', b'"', b"NaN", b'"NaN', b"\\", b'"\\'])
def test_looking_for_the_id_takes_time_in_proportion_to_the_message(unit: bytes) -> None:
    """The time-out of all tests would tell."""
    noise = unit * (1_000_000 // len(unit))
    message = decode(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN,"b":"%b' % noise)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (PARSE_ERROR, None)


def test_a_message_deeper_than_the_interpreter_reads_raises_nothing() -> None:
    """From 3.14 on the stack is the bound: what fits is read, and its parameters are no object."""
    frame = b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b}' % (b"[" * 200_000 + b"]" * 200_000)
    message = decode(frame)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) in {(PARSE_ERROR, None), (INVALID_PARAMS, b"1")}


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (b"null", None),
        (b"1", None),
        (b'"x"', None),
        (b"[]", None),
        (b"{}", None),
        (b'{"id":5}', b"5"),
        (b'{"jsonrpc":"1.0","id":5,"method":"m"}', b"5"),
        (b'{"jsonrpc":2.0,"id":"a","method":"m"}', b'"a"'),
        (b'{"id":5,"method":"m"}', b"5"),
        (b'{"jsonrpc":"2.0","id":5}', b"5"),
        (b'{"jsonrpc":"2.0","id":5,"method":1}', b"5"),
        (b'{"jsonrpc":"2.0","id":5,"method":null}', b"5"),
        (b'{"jsonrpc":"2.0","id":5,"result":{},"error":{}}', b"5"),
        (b'{"jsonrpc":"2.0","method":1}', None),
        (b'{"jsonrpc":"2.0","result":{}}', None),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request_with_its_id(
    text: bytes, id: bytes | None
) -> None:
    message = decode(text)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (INVALID_REQUEST, id)


def test_members_that_nobody_knows_are_skipped_to_say_what_is_wrong() -> None:
    many = b"".join(b',"%d":1' % number for number in range(100_000))
    text = b'{"id":7%b,"method":"tools/list"}' % many
    tracemalloc.start()
    try:
        message = decode(text)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert message == Malformed(INVALID_REQUEST, 'Invalid Request: expected "jsonrpc": "2.0"', b"7")


def test_of_a_key_given_twice_the_last_counts() -> None:
    message = decode(b'{"jsonrpc":"2.0","id":1,"method":"a","id":2,"method":"b"}')
    assert isinstance(message, Request)
    assert (message.id, message.method) == (b"2", "b")


def test_answers_keep_result_and_error_raw() -> None:
    good = decode(b'{"jsonrpc":"2.0","id":"x","result":{"a":1}}')
    assert isinstance(good, Response)
    assert (good.id, bytes(good.result or b""), good.error) == (b'"x"', b'{"a":1}', None)
    bad = decode(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}')
    assert isinstance(bad, Response)
    assert (bad.id, bad.result) == (b"1", None)
    assert json.loads(bytes(bad.error or b"")) == {"code": 1, "message": "m"}


@pytest.mark.parametrize("id", ["", '"id":null,'])
def test_an_error_answer_may_lack_the_id_it_could_not_read(id: str) -> None:
    message = decode(f'{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"m"}}}}'.encode())
    assert isinstance(message, Response)
    assert message.id is None
    assert message.error is not None


def test_a_batch_holds_each_message_on_its_own() -> None:
    message = decode(
        b'[{"jsonrpc":"2.0","id":1,"method":"a"}, 3, {"jsonrpc":"2.0","method":"b"},'
        b'{"jsonrpc":"2.0","id":2,"result":{}}, [], {"jsonrpc":"2.0","id":9,"method":3}]'
    )
    assert isinstance(message, Batch)
    assert [type(each) for each in message.messages] == [
        Request,
        Malformed,
        Notification,
        Response,
        Malformed,
        Malformed,
    ]
    last = message.messages[-1]
    assert isinstance(last, Malformed)
    assert last.id == b"9"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"1", b"1.0", True),
        (b"1", b"1e0", True),
        (b"100", b"1e2", True),
        (b"0", b"-0", True),
        (b'"a"', b'"\\u0061"', True),
        (b'"/"', b'"\\/"', True),
        (b"1", b'"1"', False),
        (b"1", b"1.5", False),
        (b'"a"', b'"A"', False),
        (b"9" * 5000, b"9" * 5000, True),
    ],
)
def test_ids_are_the_same_when_they_are_the_same_json_value(
    one: bytes, other: bytes, same: bool
) -> None:
    assert (request_key(one) == request_key(other)) is same


def test_an_error_without_id_leaves_it_out_or_says_null() -> None:
    assert json.loads(encode_error(None, -32700, "Parse error")) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "Parse error"},
    }
    assert json.loads(encode_error(None, -32700, "Parse error", null_id=True)) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "Parse error"},
    }


def test_an_error_carries_its_data() -> None:
    data = {"supported": ["2026-07-28"], "requested": "1900-01-01"}
    assert json.loads(encode_error(b'"a"', -32022, "Unsupported", data)) == {
        "jsonrpc": "2.0",
        "id": "a",
        "error": {"code": -32022, "message": "Unsupported", "data": data},
    }


def test_what_is_encoded_decodes_to_itself() -> None:
    notification = decode(encode_notification("notifications/x", b"{}"))
    assert isinstance(notification, Notification)
    assert isinstance(decode(encode_notification("notifications/x")), Notification)
    batch = decode(encode_batch([encode_response(b"1", b"{}"), encode_error(b"2", 1, "m")]))
    assert isinstance(batch, Batch)
    assert len(batch.messages) == 2


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)
members = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": json_values,
        "method": st.text(max_size=5) | json_values,
        "params": st.dictionaries(st.text(max_size=3), json_values, max_size=2) | json_values,
        "result": json_values,
        "error": json_values,
    },
)


@given(st.one_of(members, json_values, st.lists(members, max_size=3)))
def test_any_json_decodes_to_something(value: object) -> None:
    try:
        text = json.dumps(value).encode()
    except UnicodeEncodeError:
        return
    message = decode(text)
    singles = message.messages if isinstance(message, Batch) else (message,)
    for single in singles:
        assert isinstance(single, Request | Notification | Response | Malformed)
        if not isinstance(single, Notification) and single.id is not None:
            assert isinstance(json.loads(single.id), str | int | float)
            assert request_key(single.id)


@given(st.binary(max_size=60))
def test_any_bytes_decode_to_something(noise: bytes) -> None:
    assert isinstance(decode(noise), Request | Notification | Response | Malformed | Batch)
