"""The audit log: who asked what, in lines that nobody can forge and that delay nobody."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, until

from anyshape.gateway.audit import AuditError, AuditLog, AuditOptions, AuditRecord

KEY = b"0123456789abcdef"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture
def log(path: Path) -> Iterator[Callable[..., AuditLog]]:
    made: list[AuditLog] = []

    def log(**options: Any) -> AuditLog:
        made.append(AuditLog(path, AuditOptions(**options)))
        return made[-1]

    yield log
    for each in made:
        each.close(PATIENCE)


def record(**members: Any) -> AuditRecord:
    given: dict[str, Any] = {
        "caller": "ann",
        "method": "tools/call",
        "name": "add",
        "verdict": "ok",
    }
    return AuditRecord(**{**given, **members})


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_says_who_what_where_and_how_it_went(
    path: Path, log: Callable[..., AuditLog]
) -> None:
    audit = log(key=KEY)
    audit.record(
        record(
            upstream="sums",
            seconds=0.0125,
            request_bytes=120,
            answer_bytes=48,
            arguments=b'{"a": 1, "b": 2}',
            trace="4bf92f3577b34da6a3ce929d0e0e4736",
            why="all is well",
            at=1_700_000_000.5,
        )
    )
    audit.close(PATIENCE)
    (line,) = lines(path)
    assert line.pop("argumentsHash").startswith("hmac-sha256:")
    assert line == {
        "time": "2023-11-14T22:13:20.500+00:00",
        "caller": "ann",
        "method": "tools/call",
        "name": "add",
        "upstream": "sums",
        "verdict": "ok",
        "milliseconds": 12.5,
        "requestBytes": 120,
        "answerBytes": 48,
        "trace": "4bf92f3577b34da6a3ce929d0e0e4736",
        "why": "all is well",
    }


def hashes(path: Path, *records: bytes, key: bytes | None) -> list[str]:
    audit = AuditLog(path, AuditOptions(key=key))
    for arguments in records:
        audit.record(record(arguments=arguments))
    audit.close(PATIENCE)
    return [line["argumentsHash"] for line in lines(path)[-len(records) :]]


def test_equal_arguments_have_one_hash_under_one_key_and_others_another(path: Path) -> None:
    one, same, other = hashes(
        path, b'{"a": 1, "b": 2}', b'{"b":2.0,"a":1}', b'{"a": 1, "b": 3}', key=KEY
    )
    assert one == same != other
    assert hashes(path, b'{"a": 1, "b": 2}', key=KEY) == [one]
    assert hashes(path, b'{"a": 1, "b": 2}', key=KEY[::-1]) != [one]
    assert hashes(path, b'{"a": 1, "b": 2}', key=None) != [one]
    assert "1" not in one.partition(":")[0]


def test_arguments_are_written_only_if_asked_for_and_then_without_credentials(
    path: Path, log: Callable[..., AuditLog]
) -> None:
    given = {
        "query": "x",
        "api_key": "sesame1",
        "login": [{"Password": "sesame2", "user": "ann"}],
        "headers": {"Authorization": "sesame3", "X-Token": {"deep": "sesame4"}},
    }
    audit = log(arguments="full")
    audit.record(record(arguments=json.dumps(given).encode()))
    audit.record(record(arguments=json.dumps({"long": "x" * 20_000}).encode()))
    audit.record(record(arguments=b"{no json"))
    audit.close(PATIENCE)
    full, long, broken = lines(path)
    assert full["arguments"] == {
        "query": "x",
        "api_key": "[withheld]",
        "login": [{"Password": "[withheld]", "user": "ann"}],
        "headers": {"Authorization": "[withheld]", "X-Token": "[withheld]"},
    }
    assert "sesame" not in path.read_text()
    for line in (long, broken):
        assert "arguments" not in line
        assert line["argumentsHash"]


def test_nothing_of_arguments_is_written_on_request(
    path: Path, log: Callable[..., AuditLog]
) -> None:
    audit = log(arguments="none")
    audit.record(record(arguments=b"{}"))
    audit.close(PATIENCE)
    assert not {"arguments", "argumentsHash"} & lines(path)[0].keys()


def test_what_a_stranger_chose_cannot_forge_a_line_or_steer_a_terminal(
    path: Path, log: Callable[..., AuditLog]
) -> None:
    forged = '"}\n{"caller":"root","verdict":"ok"}\r\u2028\x1b[2K\u202e\udcff'
    audit = log(arguments="full")
    audit.record(record(name=forged, caller="x" * 5_000, why=forged, arguments=b'{"\\n": "\\n"}'))
    audit.close(PATIENCE)
    text = path.read_bytes().decode("ascii")
    assert text.count("\n") == 1
    assert text.rstrip("\n").isprintable()
    (line,) = lines(path)
    assert line["name"] == forged
    assert len(line["caller"]) == 300


def test_the_file_is_appended_to_and_for_its_owner_alone(
    path: Path, log: Callable[..., AuditLog]
) -> None:
    for _ in range(2):
        audit = log()
        audit.record(record())
        audit.close(PATIENCE)
    assert len(lines(path)) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_after_a_rotation_lines_go_to_the_new_file(
    path: Path, log: Callable[..., AuditLog]
) -> None:
    audit = log()
    audit.record(record(name="before"))
    audit.close(PATIENCE)
    audit = log()
    path.rename(moved := path.with_suffix(".1"))
    audit.reopen()
    audit.record(record(name="after"))
    audit.close(PATIENCE)
    assert [line["name"] for line in lines(moved)] == ["before"]
    assert [line["name"] for line in lines(path)] == ["after"]


def test_a_new_file_that_cannot_be_opened_leaves_the_old_one_in_use(
    path: Path, log: Callable[..., AuditLog], caplog: pytest.LogCaptureFixture
) -> None:
    audit = log()
    path.rename(moved := path.with_suffix(".1"))
    path.mkdir()
    audit.reopen()
    audit.record(record())
    audit.close(PATIENCE)
    assert len(lines(moved)) == 1
    assert "cannot be opened again" in caplog.text


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Give events: a write has begun; writes may go on."""
    begun, go_on = threading.Event(), threading.Event()
    write = os.write

    def slow(descriptor: int, data: bytes) -> int:
        begun.set()
        assert go_on.wait(PATIENCE)
        return write(descriptor, data)

    monkeypatch.setattr("anyshape.gateway.audit.os.write", slow)
    yield begun, go_on
    go_on.set()


@pytest.mark.parametrize(
    "options", [{"max_waiting": 3}, {"max_waiting_bytes": 30}], ids=["records", "bytes"]
)
def test_a_slow_disk_delays_nobody_and_what_is_dropped_is_counted(
    path: Path,
    log: Callable[..., AuditLog],
    slow_disk: tuple[threading.Event, threading.Event],
    options: dict[str, int],
) -> None:
    begun, go_on = slow_disk
    audit = log(**options)
    audit.record(record())
    assert begun.wait(PATIENCE)
    for _ in range(10):
        audit.record(record(arguments=b"1234567890"))
    assert audit.dropped == 7
    go_on.set()
    audit.close(PATIENCE)
    assert sum("caller" in line for line in lines(path)) == 4
    assert [line["dropped"] for line in lines(path) if "dropped" in line] == [7]


def test_a_disk_that_refuses_costs_lines_that_are_counted_and_not_the_gateway(
    path: Path,
    log: Callable[..., AuditLog],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    audit = log()
    refused = threading.Event()

    def refuse(_descriptor: int, _data: bytes) -> int:
        refused.set()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("anyshape.gateway.audit.os.write", refuse)
        audit.record(record())
        assert refused.wait(PATIENCE)
    audit.record(record(name="later"))
    audit.close(PATIENCE)
    assert [line["name"] for line in lines(path) if "name" in line] == ["later"]
    assert audit.dropped == 1
    assert caplog.text.count("No space left on device") == 1
    assert audit.record(record()) is None
    assert audit.dropped == 2


def test_a_disk_that_is_full_in_the_middle_of_a_line_costs_that_line_and_no_later_one(
    path: Path, log: Callable[..., AuditLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = log()
    write, refused = os.write, threading.Event()
    room = 400

    def fill(descriptor: int, data: bytes) -> int:
        nonlocal room
        if not room:
            refused.set()
            raise OSError(28, "No space left on device")
        written = write(descriptor, data[:room])
        room -= written
        return written

    with monkeypatch.context() as patch:
        patch.setattr("anyshape.gateway.audit.os.write", fill)
        for number in range(20):
            audit.record(record(name=f"early {number}"))
        assert refused.wait(PATIENCE)
        until(lambda: not audit._waiting)
    audit.record(record(name="later"))
    audit.close(PATIENCE)
    texts = path.read_text().splitlines()
    torn = [text for text in texts if not text.endswith("}")]
    whole = [json.loads(text) for text in texts if text.endswith("}")]
    names = [line["name"] for line in whole if "name" in line]
    assert len(torn) == 1
    assert names[-1] == "later"
    assert len(names) - 1 + audit.dropped == 20
    assert sum(line.get("dropped", 0) for line in whole) == audit.dropped


def test_a_record_that_cannot_be_written_costs_its_own_line(
    path: Path, log: Callable[..., AuditLog], caplog: pytest.LogCaptureFixture
) -> None:
    audit = log()
    audit.record(record(at=float("inf")))
    audit.record(record(name="later"))
    audit.close(PATIENCE)
    assert [line["name"] for line in lines(path) if "name" in line] == ["later"]
    assert audit.dropped == 1
    assert "cannot be written" in caplog.text


def test_a_log_that_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot open audit log"):
        AuditLog(tmp_path / "nowhere" / "audit.log")


@pytest.mark.parametrize(
    "options",
    [{"arguments": "some"}, {"key": b"short"}, {"key": "a text of 16 letters"}, {"max_waiting": 0}],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        AuditOptions(**options)


def test_a_key_is_not_shown() -> None:
    assert "0123" not in repr(AuditOptions(key=KEY))
