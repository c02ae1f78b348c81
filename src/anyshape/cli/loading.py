"""Find the server that `MODULE[:NAME]` means: a module on the path, or a Python file.

A server of `mcp` or FastMCP is adopted, or put behind a gateway as it is: see `anyshape.gateway`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from anyshape.cli.failure import CommandError, Exit, UsageError, explain
from anyshape.errors import AnyshapeError

if TYPE_CHECKING:
    from anyshape.gateway import GatewayConfig
    from anyshape.server import Server

FLEETS: Final = (".toml", ".json")
"""How the names of files end that describe a gateway."""


def load_server(target: str) -> Server:
    """Return the server that `MODULE[:NAME]` or `FILE.py[:NAME]` means, as one of ours."""
    found = load_upstream(target)
    if _is_own(found):
        return found
    from anyshape.gateway import adopt

    return adopt(found).server


def load_upstream(target: str) -> Any:
    """Return the server that `MODULE[:NAME]` or `FILE.py[:NAME]` means, ours or another SDK's."""
    place, name = _split(target)
    module = _import(place)
    return _only_server(module, place) if not name else _named_server(module, place, name)


def is_fleet(written: str) -> bool:
    """Tell whether somebody wrote the name of a file that describes a gateway."""
    if not written.endswith(FLEETS):
        return False
    from anyshape.gateway.config import is_configuration

    return is_configuration(Path(written).expanduser())


def load_fleet(path: str) -> GatewayConfig:
    """Return the gateway that a file describes."""
    from anyshape.gateway import load

    return load(Path(path).expanduser(), _find_module)


def _find_module(target: str) -> Any:
    """Return the server that a configuration names, or a `ValueError` to be told with its line.

    A file that is read again, by a gateway that is told to, has the same server if it is the same.
    """
    place, _ = _split(target)
    try:
        status = Path(place).stat() if place.endswith(".py") else None
        return _load_once(target, None if status is None else (status.st_mtime_ns, status.st_size))
    except OSError as error:
        raise ValueError(f"there is no file {place}") from error
    except CommandError as error:
        raise ValueError(error.message) from error


@lru_cache
def _load_once(target: str, _state: object) -> Any:
    return load_upstream(target)


def _split(target: str) -> tuple[str, str]:
    place, colon, name = target.rpartition(":")
    if not colon or name.endswith(".py") or "/" in name or "\\" in name:
        return target, ""
    return place, name


_HINT: Final = (
    "give a file (server.py), a module (package.server:name), a URL, or a command after --"
)


def _import(place: str) -> ModuleType:
    path = Path(place)
    is_file = place.endswith(".py")
    if is_file and not path.is_file():
        raise UsageError(f"there is no file {place}", hint="check the path")
    if not is_file and not all(part.isidentifier() for part in place.split(".")):
        raise UsageError(f"{place!r} is neither a module nor a Python file", hint=_HINT)
    # As `python FILE` and `python -m MODULE` have it, so that neighbours can be imported.
    directory = str(path.resolve().parent if is_file else Path.cwd())
    if directory not in sys.path:
        sys.path.insert(0, directory)
    from anyshape.server.standard_streams import taken_streams

    try:
        # What it prints is no data; if it runs its server at once, that finds no client there.
        with taken_streams():
            return _import_file(path) if is_file else importlib.import_module(place)
    except AnyshapeError as error:
        failure = explain(error)
        raise CommandError(
            f"{place} cannot be loaded: {failure.message}{_line_of(error, place)}",
            hint="correct the definition; the message names the place",
            code=Exit.NO,
        ) from error
    except ModuleNotFoundError as error:
        if error.name is not None and (place == error.name or place.startswith(f"{error.name}.")):
            raise UsageError(f"there is no module {place}", hint=_HINT) from error
        raise _broken(place, error) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _broken(place, error) from error


def _import_file(path: Path) -> ModuleType:
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    # Types are looked up by module name when a function's annotations are read.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _broken(place: str, error: BaseException) -> CommandError:
    # A syntax error names its place by itself.
    message = str(error.msg if isinstance(error, SyntaxError) else error).splitlines()
    kind = type(error).__name__
    shown = f"{kind}: {message[0]}" if message else kind
    run = place if place.endswith(".py") else f"-m {place}"
    return CommandError(
        f"{place} cannot be imported: {shown}{_line_of(error, place)}",
        hint=f"`python {run}` shows the whole traceback",
    )


def _line_of(error: BaseException, place: str) -> str:
    """Return the last line of the user's own that led to an error."""
    ours = str(Path(__file__).resolve().parent.parent)
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if not frame.filename.startswith((ours, "<frozen")):
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f" ({Path(error.filename or place).name}, line {error.lineno})"
    return ""


def _named_server(module: ModuleType, place: str, name: str) -> object:
    found: object = getattr(module, name, None)
    if _is_own(found) or _is_foreign(found):
        return found
    servers = _servers(module, _is_own)
    known = f"it has {', '.join(servers)}" if servers else "it has no server"
    if found is None:
        raise UsageError(f"{place} has no {name}", hint=known)
    raise UsageError(
        f"{place}:{name} is a {type(found).__name__}, and no server",
        hint="a Server of Anyshape, or one of mcp or FastMCP, can be served",
    )


def _only_server(module: ModuleType, place: str) -> object:
    servers = _servers(module, _is_own) or _servers(module, _is_foreign)
    if len(servers) > 1:
        raise UsageError(
            f"{place} has several servers: {', '.join(servers)}",
            hint=f"say which: {place}:{next(iter(servers))}",
        )
    for server in servers.values():
        return server
    raise UsageError(
        f"{place} has no server",
        hint='make one at the top level of the module: server = Server("name")',
    )


def _servers(module: ModuleType, is_server: Callable[[object], bool]) -> dict[str, object]:
    """Return the servers in a module by name; each by its first name alone."""
    found: dict[str, object] = {}
    seen: set[int] = set()
    for name, value in vars(module).items():
        if id(value) not in seen and is_server(value):
            found[name] = value
        seen.add(id(value))
    return found


def _is_own(value: object) -> bool:
    from anyshape.server import Server

    # By its own type: a lazy object that is asked for its class may not be able to say.
    return issubclass(type(value), Server)


def _is_foreign(value: object) -> bool:
    if type(value).__module__.split(".")[0] not in ("mcp", "fastmcp"):
        return False
    from anyshape.gateway.foreign import is_foreign

    return is_foreign(value)
