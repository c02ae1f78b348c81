"""The public surface: what `__all__` promises is there, and importing does nothing."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest
from patience import PATIENCE

import anyshape

PUBLIC = (
    "anyshape",
    "anyshape.errors",
    "anyshape.schema",
    "anyshape.server",
    "anyshape.client",
    "anyshape.client.auth",
    "anyshape.tools",
    "anyshape.providers",
    "anyshape.agents",
    "anyshape.screening",
)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_name_in_all_is_there_and_documented(module: str) -> None:
    loaded = importlib.import_module(module)
    names: list[str] = loaded.__all__
    assert names == sorted(names, key=_order)
    for name in names:
        value: object = getattr(loaded, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, f"{module}.{name} has no docstring"


def _order(name: str) -> tuple[int, str]:
    """Sort as the linter does: constants, then classes, then the rest."""
    if name.isupper():
        return (0, name)
    return (1 if name[0].isupper() else 2, name)


def test_the_front_door_has_what_the_readme_uses() -> None:
    from anyshape import Client, Context, Image, Server, Text, ToolError, ToolResult
    from anyshape.schema import Limits, RemoteReferences, compile

    assert all((Client, Context, Image, Server, Text, ToolError, ToolResult))
    assert all((Limits, RemoteReferences, compile))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        getattr(anyshape, "nothing")  # noqa: B009 - the linter would have it fail type checks


HEAVY = {
    *("aiohttp", "uvicorn", "uvloop", "typer", "rich", "click", "mcp", "opentelemetry"),
    *("pydantic", "docstring_parser", "anyshape.schema._explain", "anyshape.schema._remote"),
}


@pytest.mark.parametrize(
    "statement", ["import anyshape", "from anyshape import Server", "import anyshape.schema"]
)
def test_importing_loads_nothing_heavy_and_configures_no_logging(statement: str) -> None:
    code = (
        f"import sys, logging; before = list(logging.root.handlers); {statement}; "
        f"found = {HEAVY} & set(sys.modules); "
        "assert not found, found; assert logging.root.handlers == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
