"""The shop's schemas by hand, for the contenders that are given schemas rather than types."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _object(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


_TEXT: Json = {"type": "string"}
_INTEGER: Json = {"type": "integer"}
_NUMBER: Json = {"type": "number"}
_CURRENCY: Json = {"enum": ["EUR", "NOK", "USD"]}
_COUNTRY: Json = {"type": "string", "minLength": 2, "maxLength": 2}
_ADDRESS = _object({"street": _TEXT, "city": _TEXT, "country": _COUNTRY})
_CUSTOMER = _object({"id": _INTEGER, "name": _TEXT, "email": _TEXT, "address": _ADDRESS})
_LINE: Json = {
    "sku": _TEXT,
    "description": _TEXT,
    "quantity": {"type": "integer", "minimum": 1},
    "unit_price": {"type": "number", "minimum": 0},
    "tags": {"type": "array", "items": _TEXT},
}
_ORDER = _object(
    {
        "customer": _CUSTOMER,
        "currency": _CURRENCY,
        "lines": {"type": "array", "items": _object(_LINE)},
        "note": _TEXT,
    }
)
_RECEIPT = _object(
    {
        "id": _TEXT,
        "status": {"enum": ["accepted", "rejected"]},
        "created": _TEXT,
        "customer": _CUSTOMER,
        "currency": _CURRENCY,
        "lines": {"type": "array", "items": _object({**_LINE, "total": _NUMBER})},
        "subtotal": _NUMBER,
        "tax": _NUMBER,
        "total": _NUMBER,
        "note": _TEXT,
    }
)
_USER = _object({"id": _INTEGER, "name": _TEXT, "email": _TEXT, "active": {"type": "boolean"}})

INPUTS: dict[str, Json] = {
    "get_count": {"type": "object", "properties": {}},
    "list_users": _object({"limit": _INTEGER}),
    "create_order": _object({"order": _ORDER}),
}
OUTPUTS: dict[str, Json] = {
    "get_count": _INTEGER,
    "list_users": {"type": "array", "items": _USER},
    "create_order": _RECEIPT,
}
