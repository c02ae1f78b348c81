"""The demo server, and what its tools do not show: a string, a union, and arguments left out."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from anyshape.demo.server import server

__all__ = ["server"]

server.remove_tool("choose_seat")  # It asks its user, and there is none.


class Circle(BaseModel):
    """A circle."""

    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    """A square."""

    kind: Literal["square"]
    side: float


@server.tool
def greet(name: str, greeting: str = "Hello", times: int = 1) -> str:
    """Greet somebody: a plain string."""
    return " ".join([f"{greeting}, {name}!"] * times)


@server.tool
def measure(shape: Circle | Square) -> float | str:
    """Measure the area of a shape: a number, or words if it has none."""
    if isinstance(shape, Circle):
        return "round"
    return shape.side**2
