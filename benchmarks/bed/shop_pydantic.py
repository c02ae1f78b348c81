"""The shop's tools with pydantic models, as most authors write them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from bed import shop


class User(BaseModel):
    """A customer's account."""

    id: int
    name: str
    email: str
    active: bool


class Address(BaseModel):
    """Where a customer lives."""

    street: str
    city: str
    country: str = Field(min_length=2, max_length=2)


class Customer(BaseModel):
    """Who orders."""

    id: int
    name: str
    email: str
    address: Address


class Line(BaseModel):
    """One line of an order."""

    sku: str
    description: str
    quantity: int = Field(ge=1)
    unit_price: float = Field(ge=0)
    tags: list[str]


class Order(BaseModel):
    """What is ordered."""

    customer: Customer
    currency: Literal["EUR", "NOK", "USD"]
    lines: list[Line]
    note: str


class ReceiptLine(Line):
    """A line with its price."""

    total: float


class Receipt(BaseModel):
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
            sku=line.sku,
            description=line.description,
            quantity=line.quantity,
            unit_price=line.unit_price,
            tags=line.tags,
            total=line.quantity * line.unit_price,
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
