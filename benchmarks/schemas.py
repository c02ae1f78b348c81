"""Schemas as tools really publish them, each with a value that satisfies it and one that does not.

Flat arguments, either/or arguments, conditional ones, unions with and without a tag, big
enumerations, maps, recursive trees, long lists: the shapes that servers for weather, issue
trackers, databases, calendars, files, shops and devices have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}
FLAG: Json = {"type": "boolean"}


@dataclass(frozen=True)
class Case:
    """One tool's schema with its two instances."""

    name: str
    schema: Json
    valid: Any
    invalid: Any


def record(properties: Json, *, required: list[str] | None = None, **rest: Any) -> Json:
    """Return an object schema whose properties are all required unless told otherwise."""
    wanted = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": wanted, **rest}


def array(items: Json, **rest: Any) -> Json:
    """Return the schema of an array of `items`."""
    return {"type": "array", "items": items, **rest}


def choice(*values: Any) -> Json:
    """Return an enumeration."""
    return {"enum": list(values)}


COUNTRIES = [f"{first}{second}" for first in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for second in "AEIORSTU"]
CURRENCIES = ["EUR", "USD", "GBP", "NOK", "SEK", "DKK", "CHF", "JPY", "CNY", "INR", "BRL", "ZAR"]
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

_ADDRESS = record(
    {"street": TEXT, "city": TEXT, "zip": {"type": "string", "pattern": "^[0-9]{4,6}$"}},
    additionalProperties=False,
)
_PLACE = record({"lat": {"type": "number", "minimum": -90, "maximum": 90}, "lon": NUMBER})
_USER = record({"id": INTEGER, "name": TEXT, "email": {"type": "string", "format": "email"}})


def _flat() -> list[Case]:
    return [
        Case("ping: no arguments", record({}, additionalProperties=False), {}, {"x": 1}),
        Case(
            "get_weather: a city and a unit",
            record(
                {
                    "city": {"type": "string", "minLength": 1},
                    "unit": choice("celsius", "fahrenheit"),
                },
                required=["city"],
            ),
            {"city": "Bergen", "unit": "celsius"},
            {"city": "Bergen", "unit": "kelvin"},
        ),
        Case(
            "search_issues: filters and paging",
            record(
                {
                    "query": {"type": "string", "maxLength": 256},
                    "state": choice("open", "closed", "all"),
                    "labels": array(TEXT, maxItems=20, uniqueItems=True),
                    "assignee": {"type": ["string", "null"]},
                    "since": {"type": "string", "format": "date-time"},
                    "page": {"type": "integer", "minimum": 1},
                    "per_page": {"type": "integer", "minimum": 1, "maximum": 100},
                },
                required=["query"],
                additionalProperties=False,
            ),
            {
                "query": "memory leak in:title",
                "state": "open",
                "labels": ["bug", "p1"],
                "assignee": None,
                "since": "2026-07-28T09:00:00Z",
                "page": 1,
                "per_page": 50,
            },
            {"query": "memory leak", "state": "open", "labels": ["bug", "bug"], "per_page": 500},
        ),
        Case(
            "run_sql: a statement and its parameters",
            record(
                {
                    "statement": {"type": "string", "minLength": 1, "maxLength": 10000},
                    "parameters": array({"type": ["string", "number", "boolean", "null"]}),
                    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 60000},
                    "read_only": FLAG,
                },
                required=["statement"],
            ),
            {
                "statement": "select id, total from orders where customer = ? and total > ?",
                "parameters": ["ivory", 12.5, None, True],
                "timeout_ms": 5000,
                "read_only": True,
            },
            {"statement": "select 1", "parameters": [{"no": "objects"}]},
        ),
        Case(
            "convert_currency: one enumeration twice",
            record(
                {
                    "amount": {"type": "number", "exclusiveMinimum": 0},
                    "from": choice(*CURRENCIES),
                    "to": choice(*CURRENCIES),
                }
            ),
            {"amount": 12.5, "from": "NOK", "to": "ZAR"},
            {"amount": 0, "from": "NOK", "to": "ZAR"},
        ),
        Case(
            "vat_rate: an enumeration of 208 values",
            record({"country": choice(*COUNTRIES), "year": {"type": "integer", "minimum": 1990}}),
            {"country": COUNTRIES[-1], "year": 2026},
            {"country": "??", "year": 2026},
        ),
        Case(
            "send_mail: formats and patterns",
            record(
                {
                    "to": array({"type": "string", "pattern": "^[^@ ]+@[^@ ]+$"}, minItems=1),
                    "subject": {"type": "string", "maxLength": 200},
                    "body": TEXT,
                    "message_id": {"type": "string", "pattern": "^<[a-z0-9.-]+@[a-z0-9.-]+>$"},
                },
                required=["to", "subject", "body"],
            ),
            {
                "to": ["olive@shop.example", "onyx@shop.example"],
                "subject": "Your order",
                "body": "It is on its way.",
                "message_id": "<42.order@shop.example>",
            },
            {"to": ["nobody"], "subject": "Your order", "body": ""},
        ),
        Case(
            "set_thermostat: bounded numbers",
            record(
                {
                    "room": TEXT,
                    "celsius": {"type": "number", "minimum": 5, "maximum": 30, "multipleOf": 0.5},
                    "minutes": {"type": "integer", "minimum": 0, "maximum": 1440},
                },
                required=["room", "celsius"],
            ),
            {"room": "kitchen", "celsius": 20.5, "minutes": 90},
            {"room": "kitchen", "celsius": 20.3},
        ),
    ]


def _alternatives() -> list[Case]:
    return [
        Case(
            "find_user: an id or a name",
            {
                "type": "object",
                "properties": {"id": INTEGER, "name": TEXT},
                "oneOf": [{"required": ["id"]}, {"required": ["name"]}],
            },
            {"id": 7},
            {"id": 7, "name": "Ivory"},
        ),
        Case(
            "find_resource: any one of four keys",
            {
                "type": "object",
                "properties": {"id": INTEGER, "uri": TEXT, "name": TEXT, "tag": TEXT},
                "anyOf": [{"required": [key]} for key in ("id", "uri", "name", "tag")],
                "additionalProperties": False,
            },
            {"tag": "furniture"},
            {"colour": "amber"},
        ),
        Case(
            "pay: tagged by its method",
            record(
                {
                    "amount": {"type": "number", "minimum": 0},
                    "method": {
                        "oneOf": [
                            record(
                                {
                                    "kind": {"const": "card"},
                                    "number": {"type": "string", "pattern": "^[0-9]{16}$"},
                                    "expires": {"type": "string", "pattern": "^[0-9]{2}/[0-9]{2}$"},
                                }
                            ),
                            record({"kind": {"const": "transfer"}, "iban": TEXT}),
                            record({"kind": {"const": "invoice"}, "address": _ADDRESS}),
                        ]
                    },
                }
            ),
            {
                "amount": 99.5,
                "method": {
                    "kind": "invoice",
                    "address": {"street": "12 Harbour Lane", "city": "Bergen", "zip": "5003"},
                },
            },
            {"amount": 99.5, "method": {"kind": "card", "number": "1234", "expires": "01/30"}},
        ),
        Case(
            "send_message: untagged union of contents",
            record(
                {
                    "channel": TEXT,
                    "content": {
                        "anyOf": [
                            TEXT,
                            record({"text": TEXT, "format": choice("plain", "markdown")}),
                            record({"image": TEXT, "alt": TEXT}),
                            array({"anyOf": [TEXT, record({"mention": INTEGER})]}, minItems=1),
                        ]
                    },
                }
            ),
            {"channel": "ops", "content": ["deployed by ", {"mention": 7}, ", all well"]},
            {"channel": "ops", "content": ["deployed by ", {"mention": "seven"}]},
        ),
        Case(
            "upload: if a link then no bytes",
            {
                "type": "object",
                "properties": {"link": TEXT, "bytes": TEXT, "encoding": TEXT},
                "if": {"required": ["link"]},
                "then": {"not": {"required": ["bytes"]}},
                "else": {"required": ["bytes", "encoding"]},
            },
            {"bytes": "aGVsbG8=", "encoding": "base64"},
            {"bytes": "aGVsbG8="},
        ),
        Case(
            "ship: rules by country",
            record(
                {"country": choice("NO", "US", "GB", "DE"), "postcode": TEXT, "state": TEXT},
                required=["country", "postcode"],
                allOf=[
                    {
                        "if": {"properties": {"country": {"const": country}}},
                        "then": {"properties": {"postcode": {"pattern": pattern}}, **more},
                    }
                    for country, pattern, more in (
                        ("NO", "^[0-9]{4}$", {}),
                        ("US", "^[0-9]{5}$", {"required": ["state"]}),
                        ("GB", "^[A-Z0-9 ]{5,8}$", {}),
                        ("DE", "^[0-9]{5}$", {}),
                    )
                ],
            ),
            {"country": "US", "postcode": "94105", "state": "CA"},
            {"country": "US", "postcode": "94105"},
        ),
        Case(
            "nullable_person: an object or null",
            {"anyOf": [_USER, {"type": "null"}]},
            None,
            {"id": "seven"},
        ),
        Case(
            "set_cell: any JSON scalar",
            record({"cell": {"type": "string", "pattern": "^[A-Z]+[0-9]+$"}, "value": {}}),
            {"cell": "AB12", "value": None},
            {"cell": "12AB", "value": 1},
        ),
        Case(
            "query_metrics: dependent arguments",
            record(
                {
                    "metric": TEXT,
                    "from": TEXT,
                    "to": TEXT,
                    "step": INTEGER,
                    "group_by": array(TEXT),
                    "having": TEXT,
                },
                required=["metric"],
                dependentRequired={"from": ["to"], "to": ["from"], "having": ["group_by"]},
            ),
            {"metric": "latency_p99", "from": "-1h", "to": "now", "step": 60},
            {"metric": "latency_p99", "having": "count > 3"},
        ),
        Case(
            "create_rule: closed by unevaluatedProperties",
            {
                "type": "object",
                "allOf": [
                    record({"name": TEXT, "enabled": FLAG}, required=["name"]),
                    {
                        "oneOf": [
                            record({"threshold": NUMBER, "window": INTEGER}),
                            record({"pattern": TEXT}),
                        ]
                    },
                ],
                "unevaluatedProperties": False,
            },
            {"name": "too slow", "enabled": True, "threshold": 250.0, "window": 300},
            {"name": "too slow", "threshold": 250.0, "window": 300, "colour": "red"},
        ),
    ]


def _documents() -> list[Case]:
    event = record(
        {
            "title": {"type": "string", "minLength": 1},
            "start": {"type": "string", "format": "date-time"},
            "end": {"type": "string", "format": "date-time"},
            "attendees": array(
                record(
                    {"email": TEXT, "response": choice("yes", "no", "maybe", "none")},
                    required=["email"],
                )
            ),
            "repeat": record(
                {
                    "every": choice("day", "week", "month"),
                    "on": array(choice(*WEEKDAYS), uniqueItems=True),
                    "count": {"type": "integer", "minimum": 1},
                },
                required=["every"],
            ),
            "reminders": array({"type": "integer", "minimum": 0}, maxItems=5),
        },
        required=["title", "start", "end"],
    )
    edit = record(
        {
            "path": {"type": "string", "pattern": "^[^\\u0000]+$"},
            "edits": array(
                record(
                    {"old": TEXT, "new": TEXT, "all": FLAG},
                    required=["old", "new"],
                    additionalProperties=False,
                ),
                minItems=1,
            ),
            "dry_run": FLAG,
        },
        required=["path", "edits"],
    )
    line = record(
        {
            "sku": {"type": "string", "pattern": "^SKU-[0-9]+$"},
            "quantity": {"type": "integer", "minimum": 1},
            "unit_price": {"type": "number", "minimum": 0},
            "tags": array(TEXT),
        }
    )
    lines = [
        {"sku": f"SKU-{number}", "quantity": 2, "unit_price": 19.5, "tags": ["oak", "chair"]}
        for number in range(10)
    ]
    order = {
        "$defs": {"Line": line, "Customer": _USER, "Address": _ADDRESS},
        **record(
            {
                "customer": {"$ref": "#/$defs/Customer"},
                "ship_to": {"$ref": "#/$defs/Address"},
                "currency": choice(*CURRENCIES),
                "lines": array({"$ref": "#/$defs/Line"}, minItems=1, maxItems=100),
            }
        ),
    }
    customer = {"id": 7, "name": "Ivory", "email": "ivory@shop.example"}
    address = {"street": "12 Harbour Lane", "city": "Bergen", "zip": "5003"}
    placed = {"customer": customer, "ship_to": address, "currency": "EUR", "lines": lines}
    return [
        Case(
            "create_event: a calendar entry",
            event,
            {
                "title": "Review",
                "start": "2026-07-28T09:00:00Z",
                "end": "2026-07-28T10:00:00Z",
                "attendees": [{"email": f"{n}@shop.example", "response": "yes"} for n in range(5)],
                "repeat": {"every": "week", "on": ["mon", "thu"], "count": 10},
                "reminders": [10, 60],
            },
            {
                "title": "Review",
                "start": "2026-07-28T09:00:00Z",
                "end": "2026-07-28T10:00:00Z",
                "repeat": {"every": "year"},
            },
        ),
        Case(
            "edit_file: replacements",
            edit,
            {
                "path": "src/shop/orders.py",
                "edits": [
                    {"old": f"line {n}\n" * 5, "new": f"changed {n}\n" * 5, "all": False}
                    for n in range(6)
                ],
                "dry_run": False,
            },
            {"path": "src/shop/orders.py", "edits": [{"old": "a", "new": "b", "regex": True}]},
        ),
        Case(
            "create_order: references and ten lines",
            order,
            placed,
            {**placed, "lines": [*lines[:-1], {**lines[-1], "quantity": 0}]},
        ),
        Case(
            "http_request: maps of headers",
            record(
                {
                    "method": choice("GET", "POST", "PUT", "PATCH", "DELETE"),
                    "url": {"type": "string", "pattern": "^https?://"},
                    "headers": {
                        "type": "object",
                        "propertyNames": {"pattern": "^[A-Za-z0-9-]+$"},
                        "additionalProperties": TEXT,
                        "maxProperties": 50,
                    },
                    "body": {"type": ["string", "object", "array", "null"]},
                },
                required=["method", "url"],
            ),
            {
                "method": "POST",
                "url": "https://shop.example/orders",
                "headers": {f"X-Header-{n}": "value" for n in range(12)},
                "body": {"any": ["thing", 1, None]},
            },
            {"method": "POST", "url": "https://shop.example", "headers": {"Bad header": "value"}},
        ),
        Case(
            "set_labels: patterned keys",
            {
                "type": "object",
                "patternProperties": {
                    "^env/": choice("dev", "stage", "live"),
                    "^team/": TEXT,
                    "^cost/": {"type": "number", "minimum": 0},
                },
                "additionalProperties": False,
            },
            {"env/web": "live", "env/jobs": "dev", "team/web": "platform", "cost/web": 12.5},
            {"env/web": "prod"},
        ),
        Case(
            "deploy: containers, ports, resources",
            record(
                {
                    "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,62}$"},
                    "replicas": {"type": "integer", "minimum": 0, "maximum": 100},
                    "containers": array(
                        record(
                            {
                                "image": TEXT,
                                "command": array(TEXT),
                                "env": {"type": "object", "additionalProperties": TEXT},
                                "ports": array(
                                    record(
                                        {
                                            "port": {
                                                "type": "integer",
                                                "minimum": 1,
                                                "maximum": 65535,
                                            },
                                            "protocol": choice("tcp", "udp"),
                                        },
                                        required=["port"],
                                    )
                                ),
                                "cpu": {"type": "string", "pattern": "^[0-9]+m?$"},
                            },
                            required=["image"],
                        ),
                        minItems=1,
                    ),
                }
            ),
            {
                "name": "shop-web",
                "replicas": 3,
                "containers": [
                    {
                        "image": "shop/web:42",
                        "command": ["serve", "--port", "8080"],
                        "env": {f"KEY_{n}": "value" for n in range(8)},
                        "ports": [{"port": 8080, "protocol": "tcp"}, {"port": 9090}],
                        "cpu": "500m",
                    }
                ],
            },
            {"name": "shop-web", "replicas": 3, "containers": [{"image": "x", "cpu": "half"}]},
        ),
        Case(
            "draw_route: positional arrays",
            record(
                {
                    "points": array(
                        {"prefixItems": [NUMBER, NUMBER], "items": False, "minItems": 2}, minItems=2
                    ),
                    "style": record({"width": NUMBER, "dash": array(NUMBER)}, required=[]),
                },
                required=["points"],
            ),
            {"points": [[60.39 + n / 100, 5.32] for n in range(25)], "style": {"width": 2}},
            {"points": [[60.39, 5.32], [60.4, 5.32, 12]]},
        ),
    ]


def _recursive() -> list[Case]:
    tree = {
        "$defs": {
            "Node": record(
                {"name": TEXT, "size": INTEGER, "children": array({"$ref": "#/$defs/Node"})},
                required=["name"],
            )
        },
        "$ref": "#/$defs/Node",
    }

    def grow(depth: int) -> Json:
        children = [grow(depth - 1) for _ in range(3)] if depth else []
        return {"name": f"level {depth}", "size": depth, "children": children}

    expression = {
        "$defs": {
            "Expression": {
                "oneOf": [
                    NUMBER,
                    record(
                        {
                            "op": choice("+", "-", "*", "/"),
                            "left": {"$ref": "#/$defs/Expression"},
                            "right": {"$ref": "#/$defs/Expression"},
                        }
                    ),
                    record({"negate": {"$ref": "#/$defs/Expression"}}),
                ]
            }
        },
        "type": "object",
        "properties": {"expression": {"$ref": "#/$defs/Expression"}},
        "required": ["expression"],
    }

    def compose(depth: int) -> Any:
        if depth == 0:
            return 1.5
        return {"op": "+", "left": compose(depth - 1), "right": {"negate": depth}}

    condition = {
        "$defs": {
            "Filter": {
                "anyOf": [
                    record({"and": array({"$ref": "#/$defs/Filter"}, minItems=1)}),
                    record({"or": array({"$ref": "#/$defs/Filter"}, minItems=1)}),
                    record({"not": {"$ref": "#/$defs/Filter"}}),
                    record(
                        {
                            "field": TEXT,
                            "op": choice("eq", "ne", "lt", "gt", "in"),
                            "value": {"type": ["string", "number", "boolean", "array", "null"]},
                        }
                    ),
                ]
            }
        },
        "type": "object",
        "properties": {"filter": {"$ref": "#/$defs/Filter"}, "limit": INTEGER},
        "required": ["filter"],
    }
    simple = {"field": "total", "op": "gt", "value": 100}
    nested = {"and": [simple, {"or": [simple, {"not": simple}]}, simple]}
    comment = {
        "$defs": {
            "Comment": record(
                {
                    "author": _USER,
                    "text": TEXT,
                    "replies": array({"$ref": "#/$defs/Comment"}),
                },
                required=["author", "text"],
            )
        },
        "type": "array",
        "items": {"$ref": "#/$defs/Comment"},
    }
    author = {"id": 7, "name": "Ivory", "email": "ivory@shop.example"}
    reply = {"author": author, "text": "Agreed.", "replies": []}
    return [
        Case("list_files: a tree of 121 nodes", tree, grow(4), {"name": "root", "children": [{}]}),
        Case(
            "evaluate: an expression tree",
            expression,
            {"expression": compose(6)},
            {"expression": {"op": "%", "left": 1, "right": 2}},
        ),
        Case(
            "search_orders: nested conditions",
            condition,
            {"filter": nested, "limit": 20},
            {"filter": {"and": []}},
        ),
        Case(
            "list_comments: threads",
            comment,
            [{"author": author, "text": "Nice.", "replies": [reply] * 3} for _ in range(4)],
            [{"author": author, "text": 7}],
        ),
    ]


def _results() -> list[Case]:
    forecast = record(
        {
            "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            "low": NUMBER,
            "high": NUMBER,
            "sky": choice("clear", "cloudy", "rain", "snow"),
            "wind": record({"speed": {"type": "number", "minimum": 0}, "direction": INTEGER}),
        }
    )
    day = {
        "date": "2026-07-28",
        "low": 9.5,
        "high": 18.0,
        "sky": "rain",
        "wind": {"speed": 7.5, "direction": 210},
    }
    wide = record({f"field_{number}": NUMBER for number in range(200)})
    product = record(
        {"id": INTEGER, "title": TEXT, "price": NUMBER, "stock": INTEGER, "tags": array(TEXT)}
    )
    products = [
        {"id": n, "title": f"Chair {n}", "price": 19.5, "stock": n, "tags": ["oak", "new"]}
        for n in range(200)
    ]
    return [
        Case("get_count: a number", {"type": "integer", "minimum": 0}, 42, -1),
        Case("list_names: strings", array(TEXT), [f"name {n}" for n in range(50)], ["a", 1]),
        Case(
            "list_users: twenty users",
            array(_USER),
            [{"id": n, "name": f"User {n}", "email": f"{n}@shop.example"} for n in range(20)],
            [{"id": 1, "name": "User"}],
        ),
        Case("forecast: fourteen days", array(forecast), [day] * 14, [{**day, "sky": "fog"}]),
        Case(
            "list_products: two hundred rows",
            array(product),
            products,
            [*products, {"id": "x"}],
        ),
        Case(
            "sensors: two hundred fields",
            wide,
            {f"field_{number}": number / 2 for number in range(200)},
            {"field_0": 1},
        ),
        Case(
            "places: points on a map",
            record({"type": {"const": "Points"}, "places": array(_PLACE), "total": INTEGER}),
            {
                "type": "Points",
                "places": [{"lat": 60.39, "lon": 5.32 + n} for n in range(40)],
                "total": 40,
            },
            {"type": "Points", "places": [{"lat": 91, "lon": 0}], "total": 1},
        ),
    ]


CASES: tuple[Case, ...] = (
    *_flat(),
    *_alternatives(),
    *_documents(),
    *_recursive(),
    *_results(),
)
