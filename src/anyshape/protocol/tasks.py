"""Tasks as data: work that outlives the request that asked for it, and how it stands on the wire.

https://github.com/modelcontextprotocol/ext-tasks, an extension of revision 2026-07-28. Tasks of
2025-11-25, which were an experiment with another shape, are not spoken.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from anyshape.protocol.completed import server_meta
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.meta import TASKS_EXTENSION

TASKS_CAPABILITY: Final[Mapping[str, Mapping[str, Mapping[str, object]]]] = {
    "extensions": {TASKS_EXTENSION: {}}
}
"""What client and server declare, each in its capabilities, to have tasks between them."""


class TaskStatus(enum.StrEnum):
    """How far a task is."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing will change any more."""
        return self in _FINAL


_FINAL: Final = frozenset({TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED})


class TaskSnapshot(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What there is to say of a task at one moment; times are seconds since the epoch.

    `outcome` is the JSON text of the result, or of the error, of a task that has one; `questions`
    that of each request to the client which waits for its answer.
    """

    id: str
    status: TaskStatus
    created: float
    updated: float
    kept_until: float
    poll_interval: float
    message: str | None = None
    outcome: bytes | None = None
    questions: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])


def encode_created(task: TaskSnapshot, server_info: bytes) -> bytes:
    """Return the result that stands for a call which became a task."""
    return b'{"resultType":"task",%b,"_meta":%b}' % (_base(task), server_meta(server_info))


def encode_task(task: TaskSnapshot) -> bytes:
    """Return the members of a task with all there is to know, for `tasks/get` and notifications."""
    members = _base(task)
    if task.status is TaskStatus.COMPLETED and task.outcome is not None:
        members = b"".join((members, b',"result":', task.outcome))
    elif task.status is TaskStatus.FAILED and task.outcome is not None:
        members = b"".join((members, b',"error":', task.outcome))
    elif task.status is TaskStatus.INPUT_REQUIRED:
        asked = {key: msgspec.Raw(text) for key, text in task.questions.items()}
        members = b'%b,"inputRequests":%b' % (members, encode_data(asked))
    return members


def _base(task: TaskSnapshot) -> bytes:
    wire: dict[str, object] = {"taskId": task.id, "status": task.status}
    if task.message is not None:
        wire["statusMessage"] = task.message
    wire["createdAt"] = _moment(task.created)
    wire["lastUpdatedAt"] = _moment(task.updated)
    wire["ttlMs"] = max(1, round((task.kept_until - task.created) * 1000))
    wire["pollIntervalMs"] = max(1, round(task.poll_interval * 1000))
    return encode_data(wire)[1:-1]


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
