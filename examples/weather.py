"""Forecasts, as plain lists of numbers."""

from typing import Annotated

from pydantic import Field

from anyshape import Server

server = Server("weather")


@server.tool
def temperatures(city: str, days: Annotated[int, Field(ge=1, le=3)] = 3) -> list[float]:
    """Forecast the temperatures of the coming days."""
    return [12.5, 14.0, 13.2][:days]


if __name__ == "__main__":
    server.run()
