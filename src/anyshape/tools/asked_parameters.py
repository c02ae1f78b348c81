"""Parameters that are asked for: by the user's answer, before the function runs.

    async def delete(path: str, sure: Annotated[bool, Ask("Delete it?")]) -> str: …

Such a parameter is no argument: it is in no schema that is published, and no caller can fill it.
All of them are asked before anything is done, so nothing is done twice, in any era.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from anyshape.errors import ToolDefinitionError, ToolError
from anyshape.tools.bytecode import attributes_of
from anyshape.tools.context import Unanswered
from anyshape.tools.notes import take_note

if TYPE_CHECKING:
    from anyshape.tools.context import Context
    from anyshape.tools.forms import UserForm
    from anyshape.tools.signature import Signature

QUESTIONS: Final = frozenset(("elicit", "elicit_url", "sample", "roots"))
"""The methods of a context that ask."""

ASKING: Final = "the context to ask by"
"""The key under which the context is passed to what asks; with spaces, so no parameter has it."""

_EMPTY: Final = inspect.Parameter.empty


class Ask:
    """Ask the user for a parameter: `Annotated[bool, Ask("Delete it?")]`.

    The parameter's type is what `Context.elicit` takes. `message` is a string, or a function that
    makes one and takes any of the other parameters by name. A user who refuses to answer, or does
    not, ends the call, unless the parameter has a default, or is an `Elicited[…]`, which says what
    the user did.
    """

    __slots__ = ("message",)

    def __init__(self, message: str | Callable[..., str]) -> None:
        if not isinstance(message, str) and not callable(message):
            got = type(cast("object", message)).__name__
            raise TypeError(f"Ask takes a message, or a function that makes one, got {got}")
        self.message = message


class AskedParameter(msgspec.Struct, frozen=True):
    """A parameter that is asked for, as it was written."""

    name: str
    kind: Any
    message: str | Callable[..., str]
    default: Any


class _Question(msgspec.Struct, frozen=True):
    """What was decided about one of them."""

    asked: AskedParameter
    form: UserForm
    takes: Mapping[str, Any]
    """What its message is made of: parameters, with their defaults."""
    wants_outcome: bool

    def message(self, values: Mapping[str, Any]) -> str:
        """Return what the user is asked."""
        made = self.asked.message
        if isinstance(made, str):
            return made
        given = {name: values.get(name, default) for name, default in self.takes.items()}
        return made(**given)


def read_ask(name: str, annotation: Any, default: Any) -> AskedParameter | None:
    """Return what a parameter is asked for with, `None` if it is an argument like any other."""
    kind, ask = take_note(annotation, Ask)
    return None if ask is None else AskedParameter(name, kind, ask.message, default)


def refuse_questions(function: Any, context: tuple[str, ...], label: str) -> None:
    """Raise if a function that is not async asks its client, whom it cannot wait for."""
    for parameter in context:
        for name in attributes_of(function, parameter, QUESTIONS, inside=False):
            raise ToolDefinitionError(
                f"{label}: only an async function can ask, as in {parameter}.{name}(…); write "
                "async def, or take a parameter that is asked for: Annotated[…, Ask('…')]"
            )


def ask_first(start: Callable[..., Any], signature: Signature) -> Callable[..., Awaitable[Any]]:
    """Return what asks for parameters, and then starts a function with them."""
    questions = [_decide(asked, signature) for asked in signature.asks]

    async def start_asked(**values: Any) -> Any:
        context: Context = values.pop(ASKING)
        answers = await _ask_all(questions, context, values)
        outcome = start(**values, **answers)
        return await outcome if inspect.isawaitable(outcome) else outcome

    return start_asked


def _decide(asked: AskedParameter, signature: Signature) -> _Question:
    from anyshape.tools.forms import form_of
    from anyshape.tools.outcomes import accepted_type

    label = f"{signature.label}: parameter '{asked.name}'"
    inner = accepted_type(asked.kind)
    kind = asked.kind if inner is None else inner
    takes: dict[str, Any] = {}
    if not isinstance(asked.message, str):
        known = {parameter.name: parameter.default for parameter in signature.parameters}
        for name in inspect.signature(asked.message).parameters:
            if name not in known:
                raise ToolDefinitionError(
                    f"{label}: its message takes '{name}', which is no argument of this function; "
                    f"it has {', '.join(known) or 'none'}"
                )
            takes[name] = known[name]
    return _Question(asked, form_of(kind, label), takes, inner is not None)


async def _ask_all(
    questions: list[_Question], context: Context, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answers, by parameter: all that is not known is asked for together."""
    from anyshape.tools.asking import elicit
    from anyshape.tools.outcomes import Accepted

    asker = context.ready_asker()
    answers: dict[str, Any] = {}
    for question in questions:
        name, message = question.asked.name, question.message(values)
        try:
            outcome = await elicit(asker, message, question.form, name)
        except Unanswered:
            continue  # So that the rest is asked for in the same round.
        if question.wants_outcome:
            answers[name] = outcome
        elif isinstance(outcome, Accepted):
            answers[name] = outcome.data
        elif question.asked.default is not _EMPTY:
            answers[name] = question.asked.default
        else:
            did = "refused to answer" if outcome.action == "decline" else "did not answer"
            raise ToolError(f"the user {did}: {message}")
    asker.check()
    return answers
