"""Tasks: calls that outlive their requests, looked at, answered and cancelled by id.

https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

import msgspec

from anyshape.errors import ProtocolError, ToolDefinitionError
from anyshape.protocol.capabilities import lacking
from anyshape.protocol.completed import encode_result, opening, server_meta
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import MISSING_REQUIRED_CLIENT_CAPABILITY
from anyshape.protocol.meta import CLIENT_CAPABILITIES, TASKS_EXTENSION
from anyshape.protocol.methods import TASK_CHANGED, TASKS_CANCEL, TASKS_GET, TASKS_UPDATE
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.tasks import TASKS_CAPABILITY, TaskSnapshot, encode_created, encode_task
from anyshape.server.failures import invalid_params
from anyshape.server.features.announcements import Topic
from anyshape.server.features.feature import Feature, Grant, Method, read_member
from anyshape.server.features.tools import OfferedTool
from anyshape.server.parameters import CallParameters, TaskParameters, TaskUpdateParameters
from anyshape.server.request import OpenRequest
from anyshape.server.service import Service
from anyshape.server.tasks.asking import ask_ahead
from anyshape.server.tasks.engine import TaskCall, TaskEngine, new_task_id
from anyshape.server.tasks.memory import MemoryTasks
from anyshape.server.tasks.options import TaskOptions
from anyshape.tools.tool import Tool

_decode_ids: Final = msgspec.json.Decoder(list[str]).decode


class _TaskTopic(Topic):
    """A task that somebody listens for; the notification says how it stands when that is sent."""

    look: Callable[[], TaskSnapshot] | None = None

    def message(self, meta: bytes | None = None) -> bytes:
        state = Topic(self.notification, b"" if self.look is None else encode_task(self.look()))
        return state.message(meta)


class Tasks(Feature):
    """The tasks of a server, wherever they are kept."""

    def __init__(self, service: Service) -> None:
        options = service.options.tasks or TaskOptions()
        make = MemoryTasks if options.store is None else options.store.engine
        self.engine: TaskEngine = make(service, options)
        self.engine.on_change = self._tell
        self._service = service
        service.lifespan.add(self.engine.opened)
        # Clients have to send Mcp-Name; FastMCP's, up to 4.1 at least, does not.
        named: dict[str, Any] = {"named": "task_id", "may_omit_name": True}
        self.methods = {
            TASKS_GET: Method(TaskParameters, modern=self.get, **named),
            TASKS_UPDATE: Method(TaskUpdateParameters, modern=self.update, **named),
            TASKS_CANCEL: Method(TaskParameters, modern=self.cancel, **named),
        }

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        """Return the extension, where there is one."""
        return TASKS_CAPABILITY if revision.has_tasks else {}

    async def begin(
        self,
        offered: OfferedTool,
        arguments: bytes | None,
        parameters: CallParameters,
        request: OpenRequest,
    ) -> bytes:
        """Answer a call with the task that it becomes, after what has to be asked before it."""
        answers: Mapping[str, bytes] = {}
        if offered.tool.asks_first:
            ahead = await ask_ahead(offered.tool, arguments, parameters, request)
            if isinstance(ahead, EncodedResult):
                return self._service.tools.encode(offered.name, request.revision, ahead)
            answers = ahead
        call = TaskCall(
            id=new_task_id(),
            tool=offered.name,
            arguments=arguments,
            revision=request.revision.value,
            meta=encode_data(dict(request.meta)),
            request_id=request.id,
            access=request.peer.access,
            answers=answers,
        )
        task = await self.engine.begin(call)
        return encode_created(task, request.server_info)

    async def get(self, parameters: TaskParameters, request: OpenRequest) -> bytes:
        """Answer `tasks/get`."""
        task = await self._find(parameters.task_id, request)
        return encode_result(request.revision, encode_task(task), request.server_info)

    async def update(self, parameters: TaskUpdateParameters, request: OpenRequest) -> bytes:
        """Answer `tasks/update`."""
        task = await self._find(parameters.task_id, request)
        answers = {key: bytes(raw) for key, raw in parameters.input_responses.items()}
        await self.engine.answer(task.id, answers)
        return _acknowledge(request)

    async def cancel(self, parameters: TaskParameters, request: OpenRequest) -> bytes:
        """Answer `tasks/cancel`."""
        task = await self._find(parameters.task_id, request)
        await self.engine.cancel(task.id)
        return _acknowledge(request)

    async def _find(self, id: str, request: OpenRequest) -> TaskSnapshot:
        """Return a task of whoever asks, or raise."""
        if not _declares_tasks(request):
            raise no_tasks()
        task = await self.engine.find(id, request.peer.subject)
        if task is None:
            raise unknown_task()
        return task

    async def grants(
        self, asked: Mapping[str, msgspec.Raw], request: OpenRequest
    ) -> Iterable[Grant]:
        """Return the tasks, of those that a subscription names, that it will be told of."""
        ids = cast("list[str] | None", read_member(asked, "taskIds", _decode_ids))
        if ids is None:
            return ()
        if not _declares_tasks(request):
            raise no_tasks()
        most = self._service.options.max_resource_subscriptions
        if len(ids) > most:
            raise invalid_params(f"taskIds may name {most} tasks, got {len(ids)}")
        topics: list[Topic] = []
        known: list[str] = []
        for id in dict.fromkeys(ids):
            if await self.engine.find(id, request.peer.subject) is not None:
                await self.engine.watch(id)
                known.append(id)
                topics.append(self._topic(id))
        return (Grant("taskIds", known, tuple(topics)),)

    def _topic(self, id: str) -> _TaskTopic:
        return _TaskTopic(TASK_CHANGED, encode_data(id))

    def _tell(self, id: str, look: Callable[[], TaskSnapshot]) -> None:
        # It equals the topic that is listened for, so listeners get this one, which can look.
        topic = self._topic(id)
        if self._service.listeners.has(topic):
            topic.look = look
            self._service.listeners.tell(topic)


class TaskRule(NamedTuple):
    """How the calls of one tool become tasks."""

    tasks: Tasks
    is_required: bool

    def takes(self, request: OpenRequest) -> bool:
        """Tell whether a call becomes a task; raises if it has to, and its client has none."""
        if request.revision.has_tasks and _declares_tasks(request):
            return True
        if self.is_required:
            raise no_tasks()
        return False


def task_rule(service: Service, tool: Tool, use: object) -> TaskRule:
    """Return how the calls of a tool become tasks, as its author has it."""
    if use not in (True, "optional", "required"):
        raise ToolDefinitionError(
            f'{tool.name}: task has to be True, False, "optional" or "required", got {use!r:.40}'
        )
    return TaskRule(service.feature(Tasks), use == "required")


def no_tasks() -> ProtocolError:
    """Return the error for a request that needs tasks, of a client that has not declared them."""
    return ProtocolError(
        f"Missing required client capability: the extension {TASKS_EXTENSION}",
        code=MISSING_REQUIRED_CLIENT_CAPABILITY,
        data={"requiredCapabilities": TASKS_CAPABILITY},
    )


def unknown_task() -> ProtocolError:
    """Return the error for an id that stands for no task of whoever asks."""
    return invalid_params("there is no task of that id; it may have expired")


def _acknowledge(request: OpenRequest) -> bytes:
    meta = server_meta(request.server_info)
    return b'%b"_meta":%b}' % (opening(request.revision), meta)


def _declares_tasks(request: OpenRequest) -> bool:
    return not lacking(TASKS_CAPABILITY, request.meta.get(CLIENT_CAPABILITIES, {}))
