"""The work on one task: the call that it stands for, made as a direct call is."""

from __future__ import annotations

from typing import Any

from anyshape.protocol.encoding import encode_data
from anyshape.protocol.meta import CLIENT_INFO
from anyshape.protocol.methods import TOOLS_CALL
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.tasks import TaskStatus
from anyshape.server.failures import translate, unknown_tool
from anyshape.server.features.calls import read_id
from anyshape.server.lazy_object import LazyObject
from anyshape.server.service import Service
from anyshape.server.tasks.asking import TaskAsker
from anyshape.server.tasks.engine import TaskCall, TaskLink, TaskOutcome
from anyshape.tools.context import Context
from anyshape.tools.deadline import OvertimeError, within
from anyshape.tools.failures import timed_out
from anyshape.tools.routine import give_up
from anyshape.tools.tool import Tool
from anyshape.tools.workers import CrowdedError


async def perform(
    service: Service, call: TaskCall, link: TaskLink, timeout: float | None
) -> TaskOutcome:
    """Make the call that a task stands for, and return what a direct call would have answered.

    `timeout` is for tools that have none of their own. Only cancellation is raised.
    """
    try:
        offered = service.tools.roster.things.get(call.tool)
        if offered is None:  # It was removed meanwhile, or this worker never had it.
            raise unknown_tool(call.tool)
        revision = Revision(call.revision)
        context = _context(service, call, link, timeout) if offered.takes_context else None
        result = await _call(offered.tool, call, context, timeout)
        encode = offered.encoders.get(revision) or offered.make_encoder(revision)
        return TaskOutcome(TaskStatus.COMPLETED, encode(result))
    except Exception as error:
        return failed_outcome(error)


def failed_outcome(cause: Exception) -> TaskOutcome:
    """Return what a task comes to whose call is answered by an error."""
    failure = translate(cause, TOOLS_CALL)
    error: dict[str, Any] = {"code": failure.code, "message": failure.message}
    if failure.data is not None:
        error["data"] = failure.data
    return TaskOutcome(TaskStatus.FAILED, encode_data(error), failure.message)


def _context(service: Service, call: TaskCall, link: TaskLink, timeout: float | None) -> Context:
    meta = LazyObject(call.meta)
    return Context(
        request_id=read_id(call.request_id),
        meta=meta,
        client=meta.get(CLIENT_INFO),
        access=call.access,
        state=service.lifespan.state,
        report=link.report,
        find_asker=lambda clock: TaskAsker(call, link, clock, timeout),
    )


async def _call(
    tool: Tool, call: TaskCall, context: Context | None, timeout: float | None
) -> EncodedResult:
    if tool.timeout is not None or timeout is None:
        return await _until_begun(tool, call, context)
    try:
        return await within(timeout, _until_begun(tool, call, context), context)
    except OvertimeError:
        give_up(context)
        return timed_out(tool.name, timeout)


async def _until_begun(tool: Tool, call: TaskCall, context: Context | None) -> EncodedResult:
    """Call a tool, and again while all threads are busy: the task was accepted, and can wait."""
    while True:
        try:
            return await tool.call(call.arguments, context)
        except CrowdedError:
            continue
