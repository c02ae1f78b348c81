"""What a callable takes and gives, as its author wrote it: names, kinds, annotations, defaults.

The callable may be a function, a bound method, a `functools.partial`, an object with `__call__`,
or any of those behind decorators that used `functools.wraps`. String annotations are resolved in
the module, and for nested functions in the enclosing function, where they were written.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Union, cast, get_args, get_origin

import msgspec

from anyshape.errors import ToolDefinitionError
from anyshape.tools.asked_parameters import AskedParameter, read_ask, refuse_questions
from anyshape.tools.context import Context
from anyshape.tools.migration import refuse_injection, refuse_types, refuse_uses

EMPTY = inspect.Parameter.empty
"""Stands for an annotation or a default that was not written."""

_UNBOUND = ("self", "cls")


class Parameter(msgspec.Struct, frozen=True):
    """One parameter that a caller fills; what was not written about it is `EMPTY`."""

    name: str
    annotation: Any
    default: Any
    required: bool
    """Whether a call must bring it."""
    description: str | None = None


class Signature(msgspec.Struct, frozen=True):
    """What a callable takes (without its context), what it gives, and how it runs."""

    name: str
    label: str
    """What a message calls it by."""
    parameters: tuple[Parameter, ...]
    context: tuple[str, ...]
    positional: tuple[str, ...]
    """Those that cannot be given by name, the context and what is asked for among them."""
    returns: Any
    asynchronous: bool
    variable: str | None = None
    """The name of its `**` parameter, if it has one."""
    asks: tuple[AskedParameter, ...] = ()
    """The parameters that its user is asked for."""


def read_signature(function: Callable[..., Any], *, allow_variable: bool = False) -> Signature:
    """Read what `function` takes and gives, or say why it cannot be a tool.

    `allow_variable` admits a `**` parameter, which only a hand-written schema can describe.
    """
    label = name_of(function)
    _refuse_what_is_no_function(function, label)
    target = _innermost(function)
    try:
        written = inspect.signature(function)
        own: Mapping[str, Any] = getattr(target, "__annotations__", {})
    except NameError as error:
        raise _undefined(label, error) from None
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(
            f"{label}: its signature cannot be read ({error}); wrap it in a function of your own"
        ) from None
    hints = _resolve_hints(target, label)

    def annotation_of(name: str, raw: Any) -> Any:
        if name in hints and own.get(name) is raw:
            return hints[name]
        return _resolve_one(raw, target, label) if isinstance(raw, str) else raw

    bound = _bound_names(function)
    parameters: list[Parameter] = []
    context: list[str] = []
    asks: list[AskedParameter] = []
    positional: list[str] = []
    variable: str | None = None
    for index, (name, raw) in enumerate(written.parameters.items()):
        if name in bound:
            continue
        annotation = annotation_of(name, raw.annotation)
        if raw.kind is raw.VAR_POSITIONAL:
            advice = f"take a list instead, as in '{name}: list[...]'"
            if any(each.kind is raw.VAR_KEYWORD for each in written.parameters.values()):
                advice = "if a decorator made this function, put functools.wraps above it there"
            raise ToolDefinitionError(
                f"{label}: parameter '*{name}' has no name a caller could use; {advice}"
            )
        if raw.kind is raw.VAR_KEYWORD:
            if not allow_variable:
                raise ToolDefinitionError(
                    f"{label}: parameter '**{name}' cannot be described; name each parameter, "
                    f"take '{name}: dict[str, ...]', or for a tool write input_schema="
                )
            variable = name
            continue
        if raw.kind is raw.POSITIONAL_ONLY:
            positional.append(name)
        refuse_types(annotation, label, f"parameter '{name}'")
        if is_context(annotation):
            context.append(name)
            continue
        asked = read_ask(name, annotation, raw.default)
        if asked is not None:
            asks.append(asked)
            continue
        if index == 0 and name in _UNBOUND and raw.annotation is EMPTY and _is_in_class(target):
            raise ToolDefinitionError(
                f"{label}: parameter '{name}' shows that this method has no instance yet; "
                f"make the tool from the bound method, as in server.tool(instance.method)"
            )
        refuse_injection(annotation, raw.default, label, name)
        is_required = raw.default is EMPTY
        parameters.append(Parameter(name, annotation, raw.default, required=is_required))
    returns = annotation_of("return", written.return_annotation)
    refuse_types(returns, label, "its return annotation")
    if context:
        refuse_uses(target, tuple(context), label)
    asynchronous = _is_asynchronous(function) or _is_asynchronous(target)
    if context and not asynchronous:
        refuse_questions(target, tuple(context), label)
    return Signature(
        name=label.removesuffix("()").rpartition(".")[2],
        label=label,
        parameters=tuple(parameters),
        context=tuple(context),
        positional=tuple(positional),
        returns=returns,
        asynchronous=asynchronous,
        variable=variable,
        asks=tuple(asks),
    )


def name_of(function: Callable[..., Any]) -> str:
    """Return the name by which messages call `function`."""
    target: Any = function
    while isinstance(target, functools.partial):
        target = target.func
    name = getattr(target, "__qualname__", None) or type(target).__qualname__
    return f"{name.rpartition('<locals>.')[2]}()"


def is_context(annotation: Any) -> bool:
    """Tell whether `annotation` asks for the call's `Context` (`Context[State] | None` does)."""
    origin = get_origin(annotation)
    if annotation is Context or origin is Context:
        return True
    if origin is typing.Annotated:
        return is_context(get_args(annotation)[0])
    if origin is Union or origin is types.UnionType:
        members = [member for member in get_args(annotation) if member is not type(None)]
        return len(members) == 1 and is_context(members[0])
    return isinstance(annotation, type) and issubclass(annotation, Context)


def _refuse_what_is_no_function(function: Any, label: str) -> None:
    if isinstance(function, classmethod):
        raise ToolDefinitionError(
            f"{label}: a classmethod inside its class is not callable yet; "
            f"make the tool after the class, as in server.tool(Class.method)"
        )
    if inspect.isclass(function):
        raise ToolDefinitionError(
            f"{label}: a class is not a function; make the tool from a function that builds it"
        )
    if isinstance(function, str):
        raise ToolDefinitionError(
            f"expected a function, got the string {function[:40]!r}; it is named by name="
        )
    if not callable(function):
        raise ToolDefinitionError(f"{label}: expected a function, got {type(function).__name__}")
    for candidate in (function, _innermost(function)):
        if inspect.isgeneratorfunction(candidate) or inspect.isasyncgenfunction(candidate):
            raise ToolDefinitionError(
                f"{label}: a generator has no single result; "
                f"return a list, and report progress through Context"
            )


def _innermost(function: Any) -> Any:
    """Return the function whose module and annotations are the ones that were written."""
    while True:
        if isinstance(function, functools.partial | functools.partialmethod):
            function = function.func
        elif isinstance(function, staticmethod | types.MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif not inspect.isroutine(function) and not inspect.isclass(function):
            function = _call_of(function)
        else:
            return function


def _bound_names(function: Any) -> set[str]:
    """Return the keywords that a `partial` has filled: its author decided them, no caller may."""
    names: set[str] = set()
    while isinstance(function, functools.partial):
        names.update(function.keywords)
        function = function.func
    return names


def _is_in_class(function: Any) -> bool:
    parent = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(parent) and not parent.endswith("<locals>")


def _is_asynchronous(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(_call_of(function))


def _call_of(instance: Any) -> Any:
    """Return the method that runs when an object is called."""
    cls = cast("type[Any]", type(instance))
    return getattr(cls, "__call__", None)  # noqa: B004 - the method itself is wanted


def _resolve_hints(function: Any, label: str) -> dict[str, Any]:
    if not getattr(function, "__annotations__", None):
        return {}
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError:
        pass
    except (TypeError, SyntaxError) as error:
        raise ToolDefinitionError(f"{label}: its annotations cannot be read ({error})") from None
    try:
        return typing.get_type_hints(
            function, localns=_enclosing_names(function), include_extras=True
        )
    except NameError as error:
        raise _undefined(label, error) from None


def _undefined(label: str, error: NameError) -> ToolDefinitionError:
    return ToolDefinitionError(
        f"{label}: annotation name '{error.name}' is not defined where the function is; "
        f"import it at run time, not only under TYPE_CHECKING"
    )


def _resolve_one(annotation: str, function: Any, label: str) -> Any:
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    names = {**getattr(function, "__globals__", {}), **_enclosing_names(function)}
    try:
        return typing.get_type_hints(holder, names, names, include_extras=True)["it"]
    except NameError as error:
        raise _undefined(label, error) from None


def _enclosing_names(function: Any) -> Mapping[str, Any]:
    """Return the local names of the running function in which `function` was defined.

    A type declared inside a function is in no module; under `from __future__ import annotations`
    its name can only be found in the frame that is still defining the tool.
    """
    parent, separator, _ = getattr(function, "__qualname__", "").rpartition(".<locals>.")
    names = dict(inspect.getclosurevars(function).nonlocals) if separator else {}
    frame = sys._getframe() if separator else None
    while frame is not None:
        if frame.f_code.co_qualname == parent:
            return {**frame.f_locals, **names}
        frame = frame.f_back
    return names
