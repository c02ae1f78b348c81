"""The workload: three tools of one small shop, as plain data and plain functions.

`get_count()` answers a number, `list_users(limit)` twenty users, `create_order(order)` takes ten
lines and answers a receipt of about two kilobytes. Every contender serves these three; the typed
versions are in `shop_pydantic` and `shop_msgspec`, and `EXPECTED` is what each must answer.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

COUNT = 42
TAX_RATE = 0.2
CREATED = "2026-07-28T09:30:00Z"

_WORDS = (
    "walnut",
    "copper",
    "linen",
    "slate",
    "amber",
    "cedar",
    "cobalt",
    "ivory",
    "olive",
    "onyx",
)

USERS: list[Json] = [
    {
        "id": number,
        "name": f"Customer {_WORDS[number % 10].title()} {number:02}",
        "email": f"{_WORDS[number % 10]}.{number:02}@shop.example",
        "active": number % 3 != 0,
    }
    for number in range(20)
]

ORDER: Json = {
    "customer": {
        "id": 7,
        "name": "Customer Ivory 07",
        "email": "ivory.07@shop.example",
        "address": {"street": "12 Harbour Lane", "city": "Bergen", "country": "NO"},
    },
    "currency": "EUR",
    "lines": [
        {
            "sku": f"SKU-{1000 + number}",
            "description": f"{_WORDS[number].title()} chair with a woven seat, batch {number}",
            "quantity": 1 + number % 4,
            "unit_price": 19.5 + number,
            "tags": [_WORDS[number], "furniture"],
        }
        for number in range(10)
    ],
    "note": "Leave at the back door.",
}

ARGUMENTS: dict[str, Json] = {
    "get_count": {},
    "list_users": {"limit": 20},
    "create_order": {"order": ORDER},
}


def get_count() -> int:
    return COUNT


def list_users(limit: int) -> list[Json]:
    return USERS[:limit]


def create_order(order: Json) -> Json:
    lines = [{**line, "total": line["quantity"] * line["unit_price"]} for line in order["lines"]]
    subtotal = sum(line["total"] for line in lines)
    return {
        "id": "ORD-2026-000042",
        "status": "accepted",
        "created": CREATED,
        "customer": order["customer"],
        "currency": order["currency"],
        "lines": lines,
        "subtotal": subtotal,
        "tax": subtotal * TAX_RATE,
        "total": subtotal + subtotal * TAX_RATE,
        "note": order["note"],
    }


EXPECTED: dict[str, Any] = {
    "get_count": COUNT,
    "list_users": USERS,
    "create_order": create_order(ORDER),
}
TOOLS = tuple(ARGUMENTS)


def answer(tool: str, arguments: Json) -> Any:
    """Run one of the three tools on plain values, as the floor servers do."""
    if tool == "get_count":
        return get_count()
    if tool == "list_users":
        return list_users(arguments["limit"])
    return create_order(arguments["order"])
