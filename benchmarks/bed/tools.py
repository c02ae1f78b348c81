"""Generated tools, for the benchmarks that need a hundred or a thousand of them.

`make_functions(n)` gives `n` distinct typed functions as an author would write them; what a plain
server would publish for them is in `listing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

_SOURCE = '''
async def lookup_{number}(
    query: Annotated[str, Field(min_length=1, description="What to look for in {number}")],
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    order: Literal["newest", "oldest", "relevance"] = "relevance",
    filters: Filters | None = None,
) -> list[Found]:
    """Look things up in collection {number} and return the best matches first."""
    return [Found(id={number}, title=query, score=1.0)][:limit]
'''


class Filters(BaseModel):
    """Narrows a search."""

    owner: str | None = None
    tags: list[str] = Field(default_factory=list, max_length=10)
    archived: bool = False


class Found(BaseModel):
    """One match."""

    id: int
    title: str
    score: float


def make_functions(count: int) -> list[Callable[..., Any]]:
    """Return `count` functions `lookup_0`, `lookup_1`, … with four parameters each."""
    names: dict[str, Any] = {
        "Annotated": Annotated,
        "Field": Field,
        "Filters": Filters,
        "Found": Found,
        "Literal": Literal,
        "__name__": __name__,
    }
    functions: list[Callable[..., Any]] = []
    for number in range(count):
        exec(_SOURCE.format(number=number), names)
        functions.append(names[f"lookup_{number}"])
    return functions
