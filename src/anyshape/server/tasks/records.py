"""What Valkey or Redis keeps of a task, and the scripts that change it in one step.

A task is a hash beside the call it stands for; an index by the time until which each is kept bounds
how many there are, and a count how many bytes they take. The first end of a task is its only one:
work that was done twice, since a worker was thought dead, ends it once.
"""

from __future__ import annotations

from typing import Final

from anyshape.protocol.tasks import TaskSnapshot, TaskStatus

QUESTION: Final = "question:"
"""What the field of an open question begins with; that of its answer is written in `ASK`."""

# Arguments of the same name mean the same in all scripts; keys are `TaskKeys` of `redis_engine`.
_FORGET: Final = """
local function forget(index, sizes, now)
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now)) do
        redis.call('HINCRBY', sizes, 'total', -tonumber(redis.call('HGET', sizes, id) or '0'))
        redis.call('HDEL', sizes, id)
        redis.call('ZREM', index, id)
    end
end
"""

_IS_OVER: Final = """
local function is_over(task)
    local status = redis.call('HGET', task, 'status')
    return not status or status == 'completed' or status == 'failed' or status == 'cancelled'
end
"""

_GO_ON: Final = """
local function go_on(task, id, now, channel)
    for _, field in ipairs(redis.call('HKEYS', task)) do
        if string.sub(field, 1, 9) == 'question:' then return end
    end
    if redis.call('HGET', task, 'status') == 'input_required' then
        redis.call('HSET', task, 'status', 'working', 'updated', now)
        redis.call('PUBLISH', channel, id)
    end
end
"""
"""Has a task be worked on again, once no question of it is open."""

BEGIN: Final = (
    _FORGET
    + """
local task, call, index, owned, sizes = unpack(KEYS)
local id, now, until_, size, most, most_owned, most_bytes, owner, text = unpack(ARGV)
forget(index, sizes, now)
redis.call('ZREMRANGEBYSCORE', owned, '-inf', now)
if redis.call('ZCARD', index) >= tonumber(most) then return 'tasks' end
if owner ~= '' and redis.call('ZCARD', owned) >= tonumber(most_owned) then
    return 'tasks of one caller'
end
if tonumber(redis.call('HGET', sizes, 'total') or '0') + tonumber(size) > tonumber(most_bytes) then
    return 'bytes of tasks'
end
redis.call('ZADD', index, until_, id)
if owner ~= '' then
    redis.call('ZADD', owned, until_, id)
    redis.call('EXPIREAT', owned, math.ceil(tonumber(until_)))
end
redis.call('HSET', sizes, id, size)
redis.call('HINCRBY', sizes, 'total', size)
redis.call('HSET', task, 'status', 'working', 'created', now, 'updated', now, 'owner', owner)
redis.call('SET', call, text)
redis.call('EXPIREAT', task, math.ceil(tonumber(until_)))
redis.call('EXPIREAT', call, math.ceil(tonumber(until_)))
return ''
"""
)

END: Final = (
    _IS_OVER
    + """
local task, call, index, owned, sizes = unpack(KEYS)
local id, now, until_, status, outcome, message, most_bytes, full, channel = unpack(ARGV)
if is_over(task) then return 0 end
local total = tonumber(redis.call('HGET', sizes, 'total') or '0')
if outcome ~= '' and total + #outcome > tonumber(most_bytes) then
    status, outcome, message = 'failed', full, ''
end
redis.call('HSET', task, 'status', status, 'updated', now, 'until', until_)
redis.call('HDEL', task, 'message')
if outcome ~= '' then redis.call('HSET', task, 'outcome', outcome) end
if message ~= '' then redis.call('HSET', task, 'message', message) end
redis.call('DEL', call)
redis.call('HINCRBY', sizes, id, #outcome)
redis.call('HINCRBY', sizes, 'total', #outcome)
redis.call('ZADD', index, 'XX', until_, id)
redis.call('ZADD', owned, 'XX', until_, id)
redis.call('EXPIREAT', task, math.ceil(tonumber(until_)))
redis.call('PUBLISH', channel, id)
return 1
"""
)

REPORT: Final = (
    _IS_OVER
    + """
local task = KEYS[1]
local now, message = unpack(ARGV)
if is_over(task) then return 0 end
redis.call('HSET', task, 'updated', now, 'message', message)
return 1
"""
)

ASK: Final = (
    _IS_OVER
    + """
local task = KEYS[1]
local id, now, channel, key, question = unpack(ARGV)
if is_over(task) then return 0 end
if redis.call('HEXISTS', task, 'answer:' .. key) == 0 then
    redis.call('HSET', task, 'question:' .. key, question)
    redis.call('HSET', task, 'status', 'input_required', 'updated', now)
    redis.call('PUBLISH', channel, id)
end
return 1
"""
)

ANSWER: Final = (
    _IS_OVER
    + _GO_ON
    + """
local task, sizes = KEYS[1], KEYS[2]
local id, now, channel, most_bytes = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if is_over(task) then return '' end
for place = 5, #ARGV, 2 do
    local text = ARGV[place + 1]
    if redis.call('HEXISTS', task, 'question:' .. ARGV[place]) == 1 then
        if tonumber(redis.call('HGET', sizes, 'total') or '0') + #text > tonumber(most_bytes) then
            return 'bytes of tasks'
        end
        redis.call('HINCRBY', sizes, id, #text)
        redis.call('HINCRBY', sizes, 'total', #text)
        redis.call('HDEL', task, 'question:' .. ARGV[place])
        redis.call('HSET', task, 'answer:' .. ARGV[place], text)
    end
end
go_on(task, id, now, channel)
return ''
"""
)

WITHDRAW: Final = (
    _IS_OVER
    + _GO_ON
    + """
local task = KEYS[1]
local id, now, channel, key = unpack(ARGV)
if is_over(task) then return 0 end
redis.call('HDEL', task, 'question:' .. key)
go_on(task, id, now, channel)
return 1
"""
)


def read_record(
    id: str, fields: dict[bytes, bytes], *, now: float, keep: float, poll_interval: float
) -> TaskSnapshot:
    """Return how a task stands, from the fields of its hash."""
    status = TaskStatus(fields[b"status"].decode())
    message, kept = fields.get(b"message"), fields.get(b"until")
    begins = QUESTION.encode()
    return TaskSnapshot(
        id=id,
        status=status,
        created=float(fields[b"created"]),
        updated=float(fields[b"updated"]),
        kept_until=now + keep if kept is None else float(kept),
        poll_interval=poll_interval,
        message=None if message is None else message.decode(),
        outcome=fields.get(b"outcome"),
        questions={
            field.removeprefix(begins).decode(): text
            for field, text in fields.items()
            if field.startswith(begins)
        },
    )
