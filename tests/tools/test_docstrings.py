"""Docstrings describe the tool and its parameters, in three styles."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from anyshape.tools import Tool

GOOGLE = """Find things.

    Looks everywhere, twice:

    - here
    - there

    Args:
        query: What to look
            for, in full.
        limit (int): How many. Defaults to 10.
        context: Never published.

    Returns:
        The things.

    Raises:
        ToolError: if there are none.
    """

NUMPY = """Find things.

    Looks everywhere, twice:

    - here
    - there

    Parameters
    ----------
    query : str
        What to look
        for, in full.
    limit : int, optional
        How many. Defaults to 10.

    Returns
    -------
    list
        The things.
    """

REST = """Find things.

    Looks everywhere, twice:

    - here
    - there

    :param query: What to look
        for, in full.
    :param int limit: How many. Defaults to 10.
    :returns: The things.
    """


OPENING = "Find things.\n\nLooks everywhere, twice:\n\n- here\n- there\n\n"


@pytest.mark.parametrize(
    ("docstring", "rest"),
    [
        (
            GOOGLE,
            "Returns:\n    The things.\n\nRaises:\n    ToolError: if there are none.",
        ),
        (NUMPY, "Returns\n-------\nlist\n    The things."),
        (REST, ":returns: The things."),
    ],
    ids=["Google", "NumPy", "reST"],
)
def test_every_style_describes_the_tool_and_its_parameters(docstring: str, rest: str) -> None:
    def find(query: str, limit: int = 10) -> list[str]:
        return []

    find.__doc__ = docstring
    listing = Tool.from_function(find).listing
    assert listing.description == OPENING + rest
    assert listing.input_schema["properties"] == {
        "query": {"type": "string", "description": "What to look for, in full."},
        "limit": {"type": "integer", "default": 10, "description": "How many. Defaults to 10."},
    }


@pytest.mark.parametrize(
    ("docstring", "description"),
    [
        (None, None),
        ("   ", None),
        ("One line.", "One line."),
        (
            "One line: with a colon.\n\n    And: more\n    text.\n",
            "One line: with a colon.\n\nAnd: more\ntext.",
        ),
        ("Do.\n\nArgs:\n    nothing: of ours\n", "Do."),
        ("\n    Args:\n        it: The thing.\n    ", None),
        ("Do.\n\n    Args:\n", "Do.\n\nArgs:"),
        ("Do.\n\nArgs: are fun.", "Do.\n\nArgs: are fun."),
        ("Do.\n\nArgs:\n- it: a list, not a section", "Do.\n\nArgs:\n- it: a list, not a section"),
        ("Do.\n\nArgs:\n    of all kinds", "Do.\n\nArgs:\n    of all kinds"),
        ("Do.\n\nArgs:\n    it: A.\n\n\nNote:\n    Slow.", "Do.\n\nNote:\n    Slow."),
        (
            "Do.\n\nExamples:\n    >>> tool(1)\n\n\n    2\n\nArgs:\n    it: A.\nReturns:\n    B.",
            "Do.\n\nExamples:\n    >>> tool(1)\n\n\n    2\n\nReturns:\n    B.",
        ),
        ("Do.\n\n:param it: A.\n:type it: int\n:rtype: str", "Do.\n\n:rtype: str"),
        (
            "Do.\n\nParameters\n----------\nit : int\n    A.\n\nNotes\n-----\nSlow.",
            "Do.\n\nNotes\n-----\nSlow.",
        ),
        (
            "Do.\n\nReturns:\n    It.\n\nYields:\n    No.",
            "Do.\n\nReturns:\n    It.\n\nYields:\n    No.",
        ),
    ],
)
def test_all_but_what_is_said_of_parameters_is_the_description(
    docstring: str | None, description: str | None
) -> None:
    def tool(it: int = 0) -> None: ...

    tool.__doc__ = docstring
    assert Tool.from_function(tool).listing.description == description


def test_words_nearer_to_the_parameter_win() -> None:
    def tool(
        a: Annotated[str, Field(description="from Field")],
        b: Annotated[str, "from Annotated"],
        c: str,
    ) -> None:
        """Do.

        Args:
            a: from docstring
            b: from docstring
            c: from docstring
        """

    properties: dict[str, Any] = Tool.from_function(tool).listing.input_schema["properties"]
    assert [schema["description"] for schema in properties.values()] == [
        "from Field",
        "from Annotated",
        "from docstring",
    ]


def test_numpy_parameters_described_together_are_each_described() -> None:
    def tool(a: int, b: int) -> None:
        """Do.

        Parameters
        ----------
        a, b : int
            The sides.
        """

    properties: dict[str, Any] = Tool.from_function(tool).listing.input_schema["properties"]
    assert [schema["description"] for schema in properties.values()] == ["The sides."] * 2


def test_an_explicit_description_wins() -> None:
    def tool() -> None:
        """From the docstring."""

    assert Tool.from_function(tool, description="Mine.").listing.description == "Mine."
