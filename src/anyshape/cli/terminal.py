"""Everything that is written: data on stdout, the rest on stderr, nothing that steers a terminal.

What servers, schemas and tools say is strangers' text. Control characters in it are shown, never
obeyed, so that no answer can move the cursor, set a title or hide a line. What is said in one line
(a name, a title, a reason) stays in it, and a longer text is indented below its first line: no
answer can write a line that looks like one of ours.
"""

from __future__ import annotations

import inspect
import io
import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from anyshape.cli.failure import CommandError

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, all but tab and line feed
    "\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"  # unseen, or reordering
    "\u115f\u1160\u180e\u2060-\u2065\u206a-\u206f\u3164\uffa0\ufff9-\ufffb"  # likewise
    "\U000e0000-\U000e0fff"  # tags, which spell whole sentences that nothing shows
    "\ud800-\udfff]"
)
"""What a terminal obeys, or hides."""
_UNSTYLED = re.compile(rf"(?!\x1b\[[0-9;]*m){UNSAFE.pattern}")
_PADDING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
_NARROWEST = 40
_taken: list[TextIO] = []
"""What `sys.stdout` was when data was set apart, first of all stdout itself."""


class ReaderGone(Exception):
    """Whoever read our output has seen enough."""


def safe(text: str) -> str:
    """Return strangers' text with everything that a terminal would obey made visible."""
    return UNSAFE.sub(_visible, text)


def prose(text: str) -> str:
    """Return a stranger's description: many are docstrings with the indentation of their source."""
    return safe(inspect.cleandoc(text).strip())


def line(text: str) -> str:
    """Return strangers' text as a part of one line, whatever is in it."""
    return safe(text).replace("\n", "\\n")


def paragraph(text: str) -> str:
    """Return strangers' text of any length with its lines below the first indented."""
    return safe(text).replace("\n", "\n  ")


def host_of(url: str) -> str:
    """Return the host that a person is sent to, and whether its name may look like another's."""
    host = urlsplit(url).hostname or ""
    return f"{host} (its name is spelt in another script)" if "xn--" in host else host


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class LogLines(logging.Formatter):
    """Writes records so that nobody who is quoted in one can forge another or steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line, with what else there is, such as a traceback, indented."""
        return paragraph(super().format(record))


@contextmanager
def data_apart() -> Generator[None]:
    """Have `print` lead to stderr while the block runs: what a server here prints is no data.

    Blocks may overlap; the last one to end gives stdout back.
    """
    _taken.append(sys.stdout)
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        last = _taken.pop()
        if not _taken:
            sys.stdout = last


def data_stream() -> TextIO:
    """Return where data goes."""
    return _taken[0] if _taken else sys.stdout


def prepare() -> None:
    """Let the standard streams write any text, and what is logged to nobody else be harmless."""
    if logging.lastResort is not None:  # what writes records where nobody has set up `logging`
        logging.lastResort.setFormatter(LogLines())
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this; Python has none then
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - to the end
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Callable[..., None] | None = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def follow_log(name: str) -> None:
    """Have what a logger merely informs of on stderr, too, where nobody has set up `logging`."""
    logging.getLogger(name).setLevel(logging.INFO)
    if logging.lastResort is not None:
        logging.lastResort.setLevel(logging.INFO)


def width() -> int:
    """Return how many columns there are: the terminal's, `COLUMNS`, or 80."""
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def is_colourful(stream: TextIO) -> bool:
    """Return whether colours may be written to a stream (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def write(text: str) -> None:
    """Write data to stdout as it is; `ReaderGone` if nobody reads it any more."""
    try:
        stdout = data_stream()
        stdout.write(text if text.endswith("\n") else text + "\n")
        stdout.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def write_bytes(data: bytes) -> None:
    """Write data to stdout that is not text; `ReaderGone` if nobody reads it any more."""
    try:
        stdout = data_stream()
        stdout.flush()
        stdout.buffer.write(data)
        stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def say(text: str = "") -> None:
    """Write a line for the person, to stderr."""
    _tell(safe(text) + "\n")


def complain(failure: CommandError) -> None:
    """Write what went wrong and what to do about it, to stderr."""
    colourful = is_colourful(sys.stderr)
    label = "\x1b[1;31merror:\x1b[0m" if colourful else "error:"
    hint = "\x1b[1mhint:\x1b[0m" if colourful else "hint:"
    details = "".join(f"  {line(each)}\n" for each in failure.details)
    message = " ".join(failure.message.split("\n"))
    _tell(f"{label} {line(message)}\n{details}\n{hint} {line(failure.hint)}\n")


def _tell(text: str) -> None:
    """Write to stderr; where nobody takes it, data and exit code still say something."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        leave(sys.stderr)


def write_rest() -> None:
    """Write what has not left yet; what cannot be written has been complained of."""
    try:
        sys.stdout.flush()
    except OSError:
        leave(sys.stdout)


def leave(stream: TextIO) -> None:
    """Have what nobody takes lead nowhere, for Python tries to write the rest when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def heading(text: str, style: str = "bold") -> Text:
    """Return strangers' text as a heading, which is never broken."""
    from rich.text import Text

    return Text(line(text), style, no_wrap=True, overflow="ignore")


def indented(part: RenderableType, columns: int = 2) -> RenderableType:
    """Return a part with all of its lines a few columns to the right."""
    from rich.padding import Padding

    return Padding(part, (0, 0, 0, columns))


def render(*parts: RenderableType, columns: int | None = None, colourful: bool = False) -> str:
    """Return parts as text, one below the other, without padding at the ends of lines."""
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=io.StringIO(),
        width=columns or width(),
        force_terminal=colourful,
        color_system="standard" if colourful else None,
        no_color=not colourful,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        for part in parts:
            # Said again here, because printing makes another text of it.
            whole = isinstance(part, Text) and part.no_wrap
            console.print(part, no_wrap=whole, overflow="ignore" if whole else None, crop=False)
    # Every part was made safe where its text came from; should one be missed, it is caught here.
    return _PADDING.sub(r"\1", _UNSTYLED.sub(_visible, captured.get()))


def emit(*parts: RenderableType) -> None:
    """Write parts to stdout, in colour if it is a terminal."""
    write(render(*parts, colourful=is_colourful(data_stream())))
