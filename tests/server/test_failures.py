"""Every exception, and the wire error and HTTP status it becomes."""

import logging

import msgspec
import pytest

from anyshape.errors import (
    InvalidSchema,
    LimitExceeded,
    NotJson,
    Problem,
    ProtocolError,
    RateLimited,
    ToolError,
    ValidationError,
)
from anyshape.protocol.revision import Revision
from anyshape.server import failures
from anyshape.server.failures import Failure, http_status, translate
from anyshape.tools.workers import CrowdedError

HANDSHAKE = (Revision.V2025_03_26, Revision.V2025_11_25, Revision.V2026_06_30)
SUPPORTED = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


@pytest.mark.behaviour("base.error-codes")
@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (ProtocolError("No", code=-32601, data={"a": 1}), Failure(-32601, "No", {"a": 1})),
        (ProtocolError("No"), Failure(-32603, "No")),
        (failures.invalid_params("x"), Failure(-32602, "Invalid params: x")),
        (failures.method_not_found("m"), Failure(-32601, "Method not found: m")),
        (failures.header_mismatch("h"), Failure(-32020, "Header mismatch: h")),
        (
            failures.missing_capability({"sampling": {}}),
            Failure(
                -32021,
                "Missing required client capability: sampling",
                {"requiredCapabilities": {"sampling": {}}},
            ),
        ),
        (
            failures.unsupported_version("v9"),
            Failure(
                -32022,
                "Unsupported protocol version",
                {"supported": SUPPORTED, "requested": "v9"},
            ),
        ),
        (
            failures.stopping(),
            Failure(
                503,
                "Server stopping: the call was given up before it was done; try again",
                status=503,
            ),
        ),
        (
            failures.unreadable(msgspec.ValidationError("Expected `str`")),
            Failure(-32602, "Invalid params: Expected `str`"),
        ),
        (
            failures.unreadable(msgspec.DecodeError("bad")),
            Failure(-32700, "Parse error: the parameters cannot be read"),
        ),
        (
            failures.unreadable(RecursionError()),
            Failure(-32700, "Parse error: the parameters cannot be read"),
        ),
    ],
)
def test_an_exception_becomes_its_wire_error(error: Exception, failure: Failure) -> None:
    assert translate(error, "tools/call") == failure


@pytest.mark.behaviour("tools.call.sanitized")
@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("secret"),
        ToolError("secret"),
        InvalidSchema("secret"),
        KeyError("secret"),
        RecursionError("secret"),
        msgspec.ValidationError("secret"),
        msgspec.DecodeError("secret"),
        LimitExceeded("secret", limit="instance_depth", allowed=1),
        NotJson("secret"),
        ValidationError([Problem("type", "/secret", "is no string", "")]),
    ],
)
def test_an_unexpected_exception_is_logged_and_not_shown(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "anyshape.server"):
        assert translate(error, "tools/call") == Failure(-32603, "Internal error")
    assert caplog.records[0].exc_info is not None


@pytest.mark.behaviour("transport.http.statuses")
@pytest.mark.parametrize(
    ("code", "modern", "handshake"),
    [
        (-32700, 400, 400),
        (-32600, 400, 400),
        (-32601, 404, 200),
        (-32602, 400, 200),
        (-32603, 500, 200),
        (-32020, 400, 200),
        (-32021, 400, 200),
        (-32022, 400, 200),
        (404, 200, 200),
        (503, 200, 200),
        (12345, 200, 200),
    ],
)
def test_a_code_travels_under_its_status(code: int, modern: int, handshake: int) -> None:
    failure = translate(ProtocolError("No", code=code), "tools/call")
    assert http_status(failure, Revision.V2026_07_28) == modern
    for revision in HANDSHAKE:
        assert http_status(failure, revision) == handshake


@pytest.mark.behaviour("transport.http.statuses")
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (failures.busy(1), 503),
        (failures.stopping(), 503),
        (failures.StoreAwayError(), 503),
        (CrowdedError("all threads are busy"), 503),
        (failures.not_acceptable(), 406),
        (failures.unknown_session(), 404),
        (RateLimited("too often", 1), 429),
    ],
)
def test_what_is_not_served_has_a_status_of_its_own(error: Exception, status: int) -> None:
    failure = translate(error, "tools/call")
    for revision in (Revision.V2026_07_28, *HANDSHAKE):
        assert http_status(failure, revision) == status


@pytest.mark.behaviour("base.error-codes.ranges")
def test_our_own_codes_lie_outside_the_ranges_that_others_reserve() -> None:
    for code in (failures.SERVER_BUSY, failures.NOT_ACCEPTABLE):
        assert not -32768 <= code <= -32000


def test_what_a_peer_sent_is_shown_shortened() -> None:
    assert len(failures.method_not_found("m" * 10_000).message) < 200
