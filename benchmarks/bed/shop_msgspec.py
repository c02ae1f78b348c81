"""The shop's tools with msgspec structs, for authors who want the last microseconds."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from bed import shop


class User(msgspec.Struct):
    """A customer's account."""

    id: int
    name: str
    email: str
    active: bool


class Address(msgspec.Struct):
    """Where a customer lives."""

    street: str
    city: str
    country: Annotated[str, msgspec.Meta(min_length=2, max_length=2)]


class Customer(msgspec.Struct):
    """Who orders."""

    id: int
    name: str
    email: str
    address: Address


class Line(msgspec.Struct):
    """One line of an order."""

    sku: str
    description: str
    quantity: Annotated[int, msgspec.Meta(ge=1)]
    unit_price: Annotated[float, msgspec.Meta(ge=0)]
    tags: list[str]


class Order(msgspec.Struct):
    """What is ordered."""

    customer: Customer
    currency: Literal["EUR", "NOK", "USD"]
    lines: list[Line]
    note: str


class ReceiptLine(Line):
    """A line with its price."""

    total: float


class Receipt(msgspec.Struct):
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


ACCOUNTS = [User(**user) for user in shop.USERS]


async def get_count() -> int:
    """Count the orders."""
    return shop.COUNT


async def list_users(limit: int) -> list[User]:
    """List the first users."""
    return ACCOUNTS[:limit]


async def create_order(order: Order) -> Receipt:
    """Place an order."""
    lines = [
        ReceiptLine(
            line.sku,
            line.description,
            line.quantity,
            line.unit_price,
            line.tags,
            line.quantity * line.unit_price,
        )
        for line in order.lines
    ]
    subtotal = sum(line.total for line in lines)
    return Receipt(
        id="ORD-2026-000042",
        status="accepted",
        created=shop.CREATED,
        customer=order.customer,
        currency=order.currency,
        lines=lines,
        subtotal=subtotal,
        tax=subtotal * shop.TAX_RATE,
        total=subtotal + subtotal * shop.TAX_RATE,
        note=order.note,
    )


TOOLS = (get_count, list_users, create_order)
