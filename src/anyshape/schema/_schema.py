"""A compiled schema: the one object that is published, enforced and explained."""

from __future__ import annotations

import contextlib
from typing import Any, Protocol

import msgspec

from anyshape.decoding import decode_json
from anyshape.errors import AnyshapeError, LimitExceeded, Problem, ValidationError
from anyshape.schema._bounds import Cost, Job, WouldWait, ask, leave_loop
from anyshape.schema._compile import Core, Test, copy_json
from anyshape.schema._instance import ENDLESS, is_light, json_test, read_json, text_size
from anyshape.schema._limits import Limits

_UNMEASURED = 500_000
"""Values that may be this long are not measured: no message brings many times as much."""
_READ_HERE = 64_000
"""Bytes of a value that is no plain JSON, or too deep, that is read on an event loop: 50 ms."""
_LONG_INTEGERS = 16
"""How many times its bound a value may take whose integers have thousands of digits."""


class Judge(Protocol):
    """Where values are judged, chosen once, when the schema is compiled: values that are JSON."""

    cost: Cost
    engine: Test | None = None
    """The engine itself, for values of at most `cost.free_bytes`; `None` if it is elsewhere."""
    recursive: bool = True
    """Whether a value that is too deep could make the engine go too deep."""
    weight: int = 0
    """About how many bytes it holds."""

    def accepts(self, value: object, size: int | None = None) -> bool:
        """Tell whether `value`, of `size` bytes as text, satisfies the schema."""
        ...

    def problems(self, value: object, limit: int, size: int | None = None) -> list[Problem]:
        """Return up to `limit` problems of `value`, of `size` bytes as text."""
        ...


class Confined(Judge):
    """Judges in a process that can be stopped; see `_bounds.confinement`."""

    def __init__(self, job: Job, cost: Cost, weight: int) -> None:
        self._job = job
        self.weight = weight
        self.cost = cost

    def accepts(self, value: object, size: int | None = None) -> bool:
        """Ask a worker."""
        return ask(msgspec.structs.replace(self._job, verb="accepts", value=value)).verdict

    def problems(self, value: object, limit: int, size: int | None = None) -> list[Problem]:
        """Ask a worker."""
        job = msgspec.structs.replace(self._job, verb="problems", value=value, limit=limit)
        return ask(job).problems


class InProcess(Judge):
    """Judges here what is small enough for the bound that was proved, and confines the rest."""

    def __init__(self, core: Core, confined: Confined, weight: int, *, recursive: bool) -> None:
        self._core = core
        self.weight = weight
        self._confined = confined
        self.cost = confined.cost
        self.engine = core.test
        # Nothing but recursion makes the engine go deeper than the document is.
        self.recursive = recursive

    def accepts(self, value: object, size: int | None = None) -> bool:
        """Ask the engine, here or elsewhere."""
        chosen, cost = self._choose(value, size), self.cost
        if chosen is self._confined and not cost.reads and is_light(value, cost.free_bytes):
            chosen = self._core
        return chosen.accepts(value)

    def problems(self, value: object, limit: int, size: int | None = None) -> list[Problem]:
        """Explain here or elsewhere."""
        return self._choose(value, size).problems(value, limit)

    def _choose(self, value: object, size: int | None) -> Core | Confined:
        free = self.cost.free_bytes
        if size is None:
            return self._core if text_size(value) <= free else self._confined
        if size <= free // _LONG_INTEGERS or (size <= free and text_size(value) != ENDLESS):
            return self._core
        if size <= free:
            leave_loop()  # whoever knows the size thinks that nothing has to be waited for
        return self._confined


class ParsedTest(Protocol):
    """See `Schema.accepts_parsed`."""

    def __call__(self, value: object, size: int | None = None, /) -> bool:
        """Tell whether `value`, of `size` bytes as text, satisfies the schema."""
        ...


def _parsed_test(judge: Judge, accepts: ParsedTest) -> ParsedTest:
    # A function of its own rather than a method: every call of a tool goes through it, and the
    # engine itself takes no longer than looking up three attributes.
    engine, free = judge.engine, judge.cost.free_bytes
    if engine is None or judge.recursive:
        return accepts
    unmeasured, short = free >= _UNMEASURED, free // _LONG_INTEGERS

    def test(value: object, size: int | None = None) -> bool:
        if size is None:
            size = 0 if unmeasured else text_size(value)
        if size > short:
            return judge.accepts(value, size)
        try:
            return engine(value)
        except Exception:
            return accepts(value, size)

    return test


class Schema:
    """A JSON Schema document, compiled; safe to share between threads.

    `accepts` is fast, `problems` is patient, and the two always agree.
    """

    def __init__(
        self, judge: Judge, kept: dict[str, Any] | bool | bytes, dialect: str, limits: Limits
    ) -> None:
        """Take what compiling gave, and the document or its text."""
        self._judge = judge
        self._free = judge.cost.free_bytes
        self._engine = judge.engine
        self._short = self._free // _LONG_INTEGERS
        self._unmeasured = self._free >= _UNMEASURED
        self._prove = json_test(limits.instance_depth)
        self._kept = kept
        self._dialect = dialect
        self._limits = limits
        self.accepts_parsed = _parsed_test(judge, self.accepts)
        """Tell the same as `accepts` of a value that a JSON parser made, which needs no proof.

        Whoever has the text knows its size, the second argument; without it the value is measured,
        if that matters. On an event loop `WouldWait` is raised if the size says that nothing has to
        be waited for, and very long integers say otherwise.
        """

    @property
    def document(self) -> dict[str, Any] | bool:
        """The document exactly as given, a fresh copy each time."""
        kept = self._kept
        copied: Any = decode_json(kept) if isinstance(kept, bytes) else copy_json(kept)
        return copied

    @property
    def cost(self) -> Cost:
        """What was proved about the work of judging one value."""
        return self._judge.cost

    @property
    def weight(self) -> int:
        """About how many bytes the compiled schema takes, those it shares with equal ones too."""
        return self._judge.weight

    @property
    def dialect(self) -> str:
        """The URI of the dialect that the document is written in."""
        return self._dialect

    @property
    def limits(self) -> Limits:
        """The limits that the schema was compiled with."""
        return self._limits

    def accepts(self, value: object, size: int | None = None) -> bool:
        """Tell whether `value` satisfies the schema; `size` is that of its text, if it is known.

        Raises `NotJson` when it is no JSON value, and `LimitExceeded` when a budget runs out first.
        """
        try:
            if self._prove(value):
                if size is None:
                    size = 0 if self._unmeasured else text_size(value)
                if size <= self._short and self._engine is not None:
                    return self._engine(value)
                return self._judge.accepts(value, size)
        except (AnyshapeError, WouldWait):
            raise
        except Exception:
            # The engine's errors are of several types and name no place; ours do.
            return self._judge.accepts(self._read(value, size), size)
        return self._judge.accepts(self._read(value, size), size)

    def problems(self, value: object, limit: int = 20, size: int | None = None) -> list[Problem]:
        """Return up to `limit` ways in which `value` breaks the schema, none when it does not.

        `size` is that of its text, if it is known; `waits` then tells where they are looked for.
        Of an invalid value there is always one, if only that looking for them took too long.
        """
        if limit < 1:
            raise ValueError(f"limit must be a positive integer, got {limit!r}")
        admitted = self._admit(value, size)
        try:
            return self._judge.problems(admitted, limit, size)
        except LimitExceeded as error:
            if self._judge.accepts(admitted, size):
                return []
            return [Problem("", "", f"does not satisfy the schema; {error.message}")]

    def validate(self, value: object, size: int | None = None) -> None:
        """Raise `ValidationError` with the problems that `problems` finds, if there are any."""
        if not self.accepts(value, size):
            raise ValidationError(self.problems(value, size=size))

    def waits(self, size: int) -> bool:
        """Tell whether judging a value of `size` bytes of JSON text may wait for another process.

        On an event loop it is then done with `aside`.
        """
        return size > self._free

    def _admit(self, value: object, size: int | None) -> object:
        with contextlib.suppress(Exception):
            if self._prove(value):
                return value
        return self._read(value, size)

    def _read(self, value: object, size: int | None) -> object:
        """Return `value` in the types that JSON has; raise `NotJson` or `LimitExceeded`."""
        if size is not None and size > _READ_HERE:
            leave_loop()
        return read_json(value, depth=self._limits.instance_depth, most=self._limits.memory // 64)

    def __repr__(self) -> str:
        """Return the beginning of the document."""
        text = repr(self.document)
        return f"<Schema {text if len(text) <= 60 else text[:59] + '…'}>"
