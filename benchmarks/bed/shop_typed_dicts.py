"""The shop's tools with TypedDicts: JSON objects in, JSON objects out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from bed import shop


class User(TypedDict):
    """A customer's account."""

    id: int
    name: str
    email: str
    active: bool


class Address(TypedDict):
    """Where a customer lives."""

    street: str
    city: str
    country: Annotated[str, Field(min_length=2, max_length=2)]


class Customer(TypedDict):
    """Who orders."""

    id: int
    name: str
    email: str
    address: Address


class Line(TypedDict):
    """One line of an order."""

    sku: str
    description: str
    quantity: Annotated[int, Field(ge=1)]
    unit_price: Annotated[float, Field(ge=0)]
    tags: list[str]


class Order(TypedDict):
    """What is ordered."""

    customer: Customer
    currency: Literal["EUR", "NOK", "USD"]
    lines: list[Line]
    note: str


class ReceiptLine(Line):
    """A line with its price."""

    total: float


class Receipt(TypedDict):
    """What was ordered, and what it costs."""

    id: str
    status: Literal["accepted", "rejected"]
    created: str
    customer: Customer
    currency: Literal["EUR", "NOK", "USD"]
    lines: list[ReceiptLine]
    subtotal: float
    tax: float
    total: float
    note: str


async def get_count() -> int:
    """Count the orders."""
    return shop.COUNT


async def list_users(limit: int) -> list[User]:
    """List the first users."""
    return shop.USERS[:limit]


async def create_order(order: Order) -> Receipt:
    """Place an order."""
    return shop.create_order(order)


TOOLS = (get_count, list_users, create_order)
