"""What a server asks of the user, asked on the terminal: a form field by field, or an address.

Everything goes to stderr and comes from the terminal, so that stdout stays data.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from anyshape.cli import terminal

if TYPE_CHECKING:
    from anyshape.client import ElicitAnswer, Elicitation

_YES = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


def questions() -> TerminalQuestions | None:
    """Return what asks the user, if there is one at this terminal."""
    return TerminalQuestions() if sys.stdin.isatty() and sys.stderr.isatty() else None


class TerminalQuestions:
    """Asks the user one question after another; the end of input cancels."""

    def __init__(self) -> None:
        self.clear: Callable[[], None] = lambda: None
        """Takes away whatever else is shown, such as a bar, before a question is."""

    async def __call__(self, asked: Elicitation) -> ElicitAnswer:
        """Return what the user answered."""
        self.clear()
        terminal.say(f"{terminal.line(asked.server)} asks:\n{_indented(asked.message)}")
        try:
            if asked.url is not None:
                return await _visit(asked.url)
            return await _fill_in(cast("dict[str, Any]", asked.schema))
        except EOFError:
            terminal.say()
            return "cancel"


async def _visit(url: str) -> ElicitAnswer:
    import webbrowser

    terminal.say(f"It wants you to visit {terminal.host_of(url)}:\n{_indented(url)}")
    if not await _agrees("Open it in a browser?", default=False):
        return "decline"
    if not webbrowser.open(url):
        terminal.say("No browser could be started; open the address yourself.")
    return "accept"


async def _fill_in(form: Mapping[str, Any]) -> ElicitAnswer:
    fields = cast("dict[str, dict[str, Any]]", form.get("properties", {}))
    required = cast("list[str]", form.get("required", []))
    terminal.say("An empty line takes the default; Ctrl-D cancels.")
    values: dict[str, Any] = {}
    for name, field in fields.items():
        value = await _ask_field(name, field, is_required=name in required)
        if value is not None:
            values[name] = value
    return values if await _agrees("Send this?", default=True) else "decline"


async def _ask_field(name: str, field: Mapping[str, Any], *, is_required: bool) -> Any:
    """Return the value of one field, asked for until it fits; `None` leaves it out."""
    from anyshape.schema import compile

    schema = compile(dict(field))
    choices = _choices(field)
    if field.get("description"):
        terminal.say(_indented(str(field["description"])))
    for value, title in choices.items():
        terminal.say(terminal.line(f"  {value}" + ("" if title == value else f"  {title}")))
    hint = f" [{_shown(field['default'])}]" if "default" in field else ""
    hint = hint or ("" if is_required else " (optional)")
    while True:
        text = await read_line(f"  {field.get('title') or name}{hint}: ")
        if not text and ("default" in field or not is_required):
            return field.get("default")
        value = _convert(text, field)
        problems = schema.problems(value)
        if not problems and (text or not is_required):
            return value
        terminal.say(f"  {problems[0].message if problems else 'a value is needed'}")


def _choices(field: Mapping[str, Any]) -> dict[str, str]:
    """Return the values that a field may have, and what each is called."""
    from anyshape.client.answers import as_list, as_object

    source = as_object(field.get("items")) or field
    titled = map(as_object, as_list(source.get("oneOf")) or as_list(source.get("anyOf")))
    titles = [(each["const"], each.get("title")) for each in titled if "const" in each]
    named = {str(value): str(title or value) for value, title in titles}
    values = [str(value) for value in as_list(source.get("enum"))]
    names = as_list(field.get("enumNames"))
    return named or dict(zip(values, [*map(str, names), *values[len(names) :]], strict=False))


def _convert(text: str, field: Mapping[str, Any]) -> Any:
    kind = field.get("type")
    if kind == "boolean":
        return _YES.get(text.lower(), text)
    if kind == "array":
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind in ("integer", "number"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


async def _agrees(question: str, *, default: bool) -> bool:
    answer = await read_line(f"{question} [{'Y/n' if default else 'y/N'}] ")
    return _YES.get(answer.lower(), default)


async def read_line(prompt: str) -> str:
    """Return the next line that is typed; `EOFError` at the end of input."""
    sys.stderr.write(terminal.line(prompt))
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def wait() -> None:
        text = sys.stdin.readline()
        loop.call_soon_threadsafe(lambda: None if line.done() else line.set_result(text))

    # Nobody can end a thread that waits for a key; as a daemon it does not keep the program.
    threading.Thread(target=wait, daemon=True).start()
    text = await line
    if not text:
        raise EOFError
    return text.strip()
