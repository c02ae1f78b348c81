"""A server with a thousand tools."""

from __future__ import annotations

from anyshape import Server

server = Server("many")


def make(number: int) -> None:
    @server.tool(name=f"tool-{number:04}", description=f"Does thing number {number}.")
    def tool(text: str, times: int = number) -> str:
        return text * times


for each in range(1000):
    make(each)
