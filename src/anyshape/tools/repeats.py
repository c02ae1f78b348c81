"""What a function that asks its client would do more than once.

At 2026-07-28 a function runs from its start in each round of questions, so whatever it does before
a question it does again. This reads its source and finds statements that are there for their effect
and may be followed by a question. It is modest: a call whose value is used may have effects too,
and is not looked into.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from anyshape.errors import ToolDefinitionError
from anyshape.tools.asked_parameters import QUESTIONS
from anyshape.tools.signature import read_signature

_HARMLESS: Final = frozenset(("print", "debug", "info", "warning", "error", "exception", "log"))
"""Calls that may be made again: they tell of something, and change nothing."""
_SHOWN: Final = 60

Effects: TypeAlias = dict[int, str]
"""Statements, as they are written, by their line."""


def repeated_effects(function: Callable[..., Any]) -> list[str]:
    """Return a line for each statement that runs again in every round; none if all is well.

    None either where the source is not to be had.
    """
    target: Any = inspect.unwrap(function)
    while isinstance(target, partial):
        target = target.func
    try:
        context = read_signature(function, allow_variable=True).context
        lines, first = inspect.getsourcelines(target)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ToolDefinitionError):
        return []
    definition = tree.body[0] if tree.body else None
    if not context or not isinstance(definition, ast.AsyncFunctionDef):
        return []
    flow = _Flow(frozenset(context), definition)
    flow.walk(definition.body, {})
    return [
        f"line {effect + first - 1}, {text}, runs again whenever line {question + first - 1} asks "
        "a client of 2026-07-28; ask first, or take a parameter Annotated[…, Ask(…)]"
        for effect, (text, question) in sorted(flow.repeated.items())
    ]


class _Flow:
    """What may have been done where each question of one function is asked."""

    def __init__(self, context: frozenset[str], definition: ast.AsyncFunctionDef) -> None:
        self.repeated: dict[int, tuple[str, int]] = {}
        """Each statement that may come before a question, and the line of that question."""
        self._context = context
        self._own = frozenset(_own_containers(definition))
        self._jumps: list[Effects] = []
        """What was done where the innermost loop is left early, or begun again."""
        self._exits: list[Effects] = []
        """What was done wherever a block is left early."""

    def walk(self, statements: Sequence[ast.stmt], done: Effects) -> Effects | None:
        """Return what was done after some statements; `None` if nothing comes after them."""
        after: Effects | None = done
        for statement in statements:
            after = self._step(statement, after)
            if after is None:
                return None
        return after

    def _step(self, statement: ast.stmt, done: Effects) -> Effects | None:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return done
        for header in _headers(statement):
            self._ask(header, done)
        if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
            self._exits.append(done)
            if isinstance(statement, ast.Break | ast.Continue):
                self._jumps.append(done)
            return None
        if isinstance(statement, ast.If):
            bodies = (statement.body, statement.orelse)
            return _join(self.walk(body, done) for body in bodies)
        if isinstance(statement, ast.Match):
            ends = [self.walk(case.body, done) for case in statement.cases]
            return _join([*ends, done])
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            outer, self._jumps = self._jumps, []
            once = _join([done, self.walk(statement.body, done), *self._jumps]) or {}
            again = _join([once, self.walk(statement.body, once), *self._jumps]) or {}
            self._jumps = outer
            return self.walk(statement.orelse, again)
        if isinstance(statement, ast.With | ast.AsyncWith):
            return self.walk(statement.body, done)
        if isinstance(statement, ast.Try | ast.TryStar):
            count = len(self._exits)
            tried = self.walk(statement.body, done)
            before = _join([done, tried, *self._exits[count:]]) or {}
            ends = [self.walk(each.body, before) for each in statement.handlers]
            ends.append(None if tried is None else self.walk(statement.orelse, tried))
            after = _join(ends)
            last = self.walk(statement.finalbody, after or done)
            return None if after is None else last
        if self._has_effect(statement):
            return {**done, statement.lineno: _shorten(ast.unparse(statement))}
        return done

    def _ask(self, node: ast.AST, done: Effects) -> None:
        """Note what was done if this part of a statement asks something."""
        for question in self._questions(node):
            for line, text in done.items():
                self.repeated.setdefault(line, (text, question.lineno))

    def _questions(self, node: ast.AST) -> Iterator[ast.Call]:
        for each in ast.walk(node):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
                is_context = _root_of(each.func.value) in self._context
                if is_context and each.func.attr in QUESTIONS:
                    yield each

    def _has_effect(self, statement: ast.stmt) -> bool:
        """Tell whether a statement plainly is there for what it does."""
        if isinstance(statement, ast.Expr):
            value = statement.value.value if isinstance(statement.value, ast.Await) else None
            call = value or statement.value
            return isinstance(call, ast.Call) and not self._is_harmless(call)
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AugAssign):
            targets = [statement.target]
        elif isinstance(statement, ast.Delete):
            targets = statement.targets
        else:
            return False
        return any(
            isinstance(target, ast.Attribute | ast.Subscript) and _root_of(target) not in self._own
            for target in targets
        )

    def _is_harmless(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Name):
            return function.id in _HARMLESS
        if not isinstance(function, ast.Attribute):
            return False
        root = _root_of(function)
        if function.attr in _HARMLESS or root in self._context or root in self._own:
            return True
        # Questions that are asked together, and time that passes.
        return root == "asyncio" and (
            function.attr == "sleep" or any(True for _ in self._questions(call))
        )


def _headers(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement that run before any block in it."""
    for _, value in ast.iter_fields(statement):
        for each in value if isinstance(value, list) else [value]:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(each, ast.expr | ast.withitem):
                yield each


def _own_containers(definition: ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the names of what the function itself makes anew: lists, dicts and the like."""
    made = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    for node in ast.walk(definition):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.value
            is_made = isinstance(value, made) or (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Name)
                and value.func.id in ("list", "dict", "set")
            )
            if is_made:
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def _root_of(node: ast.AST) -> str | None:
    """Return the name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _join(ways: Iterable[Effects | None]) -> Effects | None:
    """Return what was done on any of several ways; `None` if none of them goes on."""
    open_ways = [way for way in ways if way is not None]
    if not open_ways:
        return None
    return {line: text for way in open_ways for line, text in way.items()}


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…")
