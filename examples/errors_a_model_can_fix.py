"""Failures, each told to whom it concerns: the model, or the log."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator

from anyshape import Server, ToolError

server = Server("errors")

STOCK = {"tea": 3}


class Item(BaseModel):
    """One line of an order."""

    name: str
    count: Annotated[int, Field(ge=1, le=10)]

    @field_validator("name")
    @classmethod
    def check_name(cls, name: str) -> str:
        """Refuse capitals: what this says is told to the model."""
        if not name.islower():
            raise ValueError("item names are written in lower case")
        return name


@server.tool
def order(items: list[Item]) -> int:
    """Order items and return how many there were."""
    for item in items:
        if item.name not in STOCK:
            raise ToolError(f"We have no {item.name}. We do have: {', '.join(STOCK)}.")
        STOCK[item.name] -= item.count
    return sum(item.count for item in items)


@server.tool
def connect(host: str) -> str:
    """Connect to a host, which fails in a way that is nobody's business."""
    raise ConnectionError(f"password 'hunter2' was refused by {host}")


@server.tool
def read_sensor() -> int:
    """Promise a number and return what the sensor says, whatever that is."""
    reading: dict[str, Any] = {"value": "seven"}
    return reading["value"]


@server.tool(timeout=0.05)
async def wait() -> str:
    """Wait longer than there is time."""
    await asyncio.sleep(60)
    return "done"


if __name__ == "__main__":
    server.run()
