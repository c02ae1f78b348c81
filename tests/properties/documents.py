"""Schema documents for the differential tests, made from scratch.

Everything comes from one `random.Random`, so that a case is known by its seed. The documents look
like those of tools: typed, nested, with references and compositions, in every dialect; small enough
that no implementation takes long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from trees import Json, clone, places

DIALECTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    19: "https://json-schema.org/draft/2019-09/schema",
    20: "https://json-schema.org/draft/2020-12/schema",
}
NAMES: tuple[str, ...] = (
    "a",
    "b",
    "c",
    "name",
    "id",
    "kind",
    "$ref",
    "x-1",
    "é",
    "",
    "a/b~",
    "items",
)
TYPES: tuple[str, ...] = ("null", "boolean", "integer", "number", "string", "array", "object")
SCALARS: tuple[Json, ...] = (
    *(None, True, False, 0, 1, 2, -1, 3.0, 1.0, 0.5, -0.0, 2.5, 10, 19.99, 1e20, 1e300, 1e-7),
    *(2**53, 2**53 + 1, 2**63, 2**64, 2**70, -(2**70), 10**400),
    *("", "a", "b", "ab", "1", "é", "name", "2026-01-02", "\u0663", "😀", "a\nb", "aaaa"),
)
CONSTANTS: tuple[Json, ...] = (
    *SCALARS,
    *([], [1], [True], [1.0], [1, [2]], [[], {}], {}, {"a": 1}, {"a": 1.0}, {"a": [None]}),
    {"a": 1, "b": {"c": "x"}},
)
NUMBERS: tuple[Json, ...] = (-1, 0, 1, 2, 3, 10, 0.5, 2.5, -0.5, 1e20, 2**53, 2**64, 100)
PATTERNS: dict[str, tuple[str, ...]] = {
    "^a": ("a", "ab"),
    "b$": ("b", "ab"),
    "^[a-z]+$": ("name", "ab"),
    "^[A-Z][A-Z0-9_]+-\\d+$": ("AB-1", "A1_-22"),
    "^\\d{4}-\\d{2}-\\d{2}$": ("2026-01-02",),
    "^\\d+$": ("1", "42"),
    "\\w": ("a", "é1"),
    "^\\S*$": ("", "ab"),
    "a|b": ("a", "xb"),
    "^(a+)+$": ("aaaa", "a"),
    "^.{2,4}$": ("ab", "aaaa", "😀é"),
    "^(?!x)": ("a", ""),
    "^(?=.*[0-9])[a-z0-9]+$": ("a1", "1"),
    "(?<!a)b": ("b", "xb"),
    "^(?!\\d)\\w+$": ("a1", "name"),
    "^(a|b)\\1$": ("aa", "bb"),
    "^\\p{L}+$": ("é", "ab"),
    "": ("", "a"),
}
REFERENCES = (("$ref",), ("$dynamicRef",), ("$recursiveRef",))
FORMATS = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "time": "03:04:05Z",
    "duration": "P1D",
    "email": "a@example.com",
    "hostname": "example.com",
    "idn-hostname": "münchen.de",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "https://example.com/a",
    "uri-reference": "/a?b",
    "iri": "https://example.com/é",
    "uuid": "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    "uri-template": "/a/{b}",
    "json-pointer": "/a/0",
    "relative-json-pointer": "1/a",
    "regex": "^a+$",
    "int32": "1",
    "no such format": "x",
}


@dataclass(frozen=True)
class Dialect:
    """A dialect by its number, with the names that differ."""

    number: int

    @property
    def definitions(self) -> str:
        """The keyword that holds definitions."""
        return "$defs" if self.number >= 19 else "definitions"

    @property
    def identifier(self) -> str:
        """The keyword that names a resource."""
        return "$id" if self.number >= 6 else "id"


class Maker:
    """Makes documents of one dialect from scratch."""

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.dialect = Dialect(number)
        self.count = random.choice((0, 0, 1, 2, 3, 4))
        self.ways = [random.choice(("pointer", "pointer", "anchor", "name")) for _ in range(4)]

    def document(self) -> Json:
        """Return a document."""
        random, dialect = self.random, self.dialect
        # Small documents are quick, and what is wrong with a combination shows without the rest.
        schema = self.schema(random.choice((1, 1, 2, 2, 3)), low=0)
        if isinstance(schema, bool):
            return schema
        if dialect.number != 20 or random.random() < 0.2:
            schema["$schema"] = DIALECTS[dialect.number]
        if self.count:
            definitions = {f"d{n}": self.definition(n) for n in range(self.count)}
            schema[dialect.definitions] = definitions
        if "$ref" in schema and dialect.number < 19:
            # Whatever stands beside a reference is ignored in these, definitions included by some.
            schema = {"allOf": [{"$ref": schema.pop("$ref")}], **schema}
        if random.random() < 0.1:
            schema[dialect.identifier] = random.choice(
                ("urn:example:root", "https://example.com/r")
            )
        return schema

    def definition(self, number: int) -> Json:
        """Return what `#/$defs/d<number>` is; in place it refers to later ones only."""
        schema = self.schema(self.random.choice((0, 1, 2)), low=number + 1)
        way = self.way(number)
        if way == "pointer":
            return schema
        if isinstance(schema, bool) or "$ref" in schema:
            wrapped: dict[str, Json] = {"allOf": [schema]}
            schema = wrapped
        if way == "name":
            # References inside it would start from it; make them none.
            if any(place[-1:] in REFERENCES for place in places(schema)):
                schema = {"type": self.random.choice(TYPES)}
            schema[self.dialect.identifier] = f"urn:example:d{number}"
        else:
            dynamic = self.dialect.number == 20 and self.random.random() < 0.5
            schema["$dynamicAnchor" if dynamic else "$anchor"] = f"n{number}"
        return schema

    def way(self, number: int) -> str:
        """Return how definition `number` is referred to: by pointer, anchor or name."""
        way = self.ways[number]
        return "pointer" if way == "anchor" and self.dialect.number < 19 else way

    def schema(self, depth: int, *, low: int) -> Json:
        """Return a schema; a reference in place leads to a definition from `low` on."""
        random = self.random
        if random.random() < 0.06 and self.dialect.number >= 6:
            return random.random() < 0.7
        schema: dict[str, Json] = {}
        kind = random.choices(
            ("scalar", "object", "array", "choice", "composed", "reference", "several", "any"),
            (26, 22, 12, 12, 12, 10, 5, 5),
        )[0]
        if depth <= 0 and kind in ("object", "array", "composed", "several"):
            kind = "scalar"
        match kind:
            case "scalar":
                self.scalar(schema)
            case "object":
                self.object(schema, depth)
            case "array":
                self.array(schema, depth)
            case "choice":
                self.choice(schema)
            case "composed":
                if random.random() < 0.6:
                    self.object(schema, depth - 1)
                self.composition(schema, depth, low)
            case "reference":
                self.reference(schema, low)
                if random.random() < 0.2:
                    self.scalar(schema)
            case "several":
                for add in random.sample((self.object, self.array), random.randint(1, 2)):
                    add(schema, depth)
                self.scalar(schema)
                self.composition(schema, depth, low)
                schema.pop("type", None)
            case _:
                pass
        if random.random() < 0.1:
            schema[random.choice(("title", "description", "$comment"))] = "some text"
        if random.random() < 0.05:
            schema["default"] = clone(random.choice(CONSTANTS))
        if random.random() < 0.03 and depth > 0:
            schema["type"] = random.sample(TYPES, random.randint(1, 4))
        return schema

    def scalar(self, schema: dict[str, Json]) -> None:
        """Add a scalar type with its bounds."""
        random = self.random
        kind = random.choice(("string", "string", "integer", "number", "boolean", "null", "list"))
        schema["type"] = random.sample(TYPES, random.randint(1, 3)) if kind == "list" else kind
        if kind in ("string", "list"):
            if random.random() < 0.3:
                schema["minLength"] = random.randint(0, 3)
            if random.random() < 0.3:
                schema["maxLength"] = random.randint(0, 6)
            if random.random() < 0.35:
                schema["pattern"] = random.choice(tuple(PATTERNS))
            if random.random() < 0.2:
                schema["format"] = random.choice(tuple(FORMATS))
            if random.random() < 0.05:
                schema["contentMediaType"] = "application/json"
        if kind in ("integer", "number", "list"):
            if random.random() < 0.3:
                schema["minimum"] = random.choice(NUMBERS)
            if random.random() < 0.3:
                schema["maximum"] = random.choice(NUMBERS)
            if random.random() < 0.15:
                four = self.dialect.number == 4
                schema.setdefault("minimum", 0)
                schema["exclusiveMinimum"] = True if four else random.choice(NUMBERS)
            if random.random() < 0.2:
                schema["multipleOf"] = random.choice((1, 2, 3, 0.5, 0.01, 2.5, 10**20, 7))

    def choice(self, schema: dict[str, Json]) -> None:
        """Add an enumeration or a constant."""
        random = self.random
        if random.random() < 0.4 and self.dialect.number >= 6:
            schema["const"] = clone(random.choice(CONSTANTS))
        else:
            pool: Sequence[Json] = CONSTANTS if random.random() < 0.6 else ("a", "b", "ab", "name")
            values = random.sample(pool, random.randint(1, min(5, len(pool))))
            members: list[Json] = []
            for value in values:
                if value not in members:  # equal members are not allowed everywhere
                    members.append(value)
            schema["enum"] = members
        if random.random() < 0.3:
            schema["type"] = random.choice(TYPES)

    def object(self, schema: dict[str, Json], depth: int) -> None:
        """Add what concerns objects, in any combination."""
        random, number = self.random, self.dialect.number
        if random.random() < 0.7:
            schema["type"] = "object"
        names = random.sample(NAMES, random.randint(1, 4))
        if random.random() < 0.9:
            schema["properties"] = {name: self.child(depth) for name in names}
        if random.random() < 0.6:
            most = min(len(names), 3)
            required = random.sample(names, random.randint(1 if number == 4 else 0, most))
            if random.random() < 0.1:
                required.append("z")
            schema["required"] = required
        if random.random() < 0.5:
            schema["additionalProperties"] = (
                random.random() < 0.3 if random.random() < 0.5 else self.child(depth)
            )
        if random.random() < 0.2:
            patterns = random.sample(tuple(PATTERNS), random.randint(1, 2))
            schema["patternProperties"] = {pattern: self.child(depth) for pattern in patterns}
        if random.random() < 0.1 and number >= 6:
            schema["propertyNames"] = random.choice(
                ({"maxLength": 3}, {"pattern": "^[a-z]*$"}, {"enum": ["a", "b"]}, False)
            )
        if random.random() < 0.1:
            schema["minProperties"] = random.randint(0, 3)
        if random.random() < 0.1:
            schema["maxProperties"] = random.randint(0, 4)
        if random.random() < 0.12:
            lists = {name: random.sample(NAMES, random.randint(1, 2)) for name in names[:2]}
            schema["dependentRequired" if number >= 19 else "dependencies"] = lists
        if random.random() < 0.1:
            keyword = "dependentSchemas" if number >= 19 else "dependencies"
            schema[keyword] = {name: self.plain(depth - 1) for name in names[:2]}
        if random.random() < 0.12 and number >= 19:
            schema["unevaluatedProperties"] = random.random() < 0.2 or self.child(0)

    def array(self, schema: dict[str, Json], depth: int) -> None:
        """Add what concerns arrays."""
        random, number = self.random, self.dialect.number
        if random.random() < 0.8:
            schema["type"] = "array"
        if random.random() < 0.75:
            schema["items"] = self.child(depth)
        if random.random() < 0.25:
            prefix = [self.child(depth) for _ in range(random.randint(1, 3))]
            if number == 20:
                schema["prefixItems"] = prefix
            else:
                schema["items"] = prefix
                if random.random() < 0.5:
                    schema["additionalItems"] = self.child(depth)
        if random.random() < 0.2 and number >= 6:
            schema["contains"] = self.child(depth)
            if number >= 19:
                if random.random() < 0.4:
                    schema["minContains"] = random.randint(0, 2)
                if random.random() < 0.4:
                    schema["maxContains"] = random.randint(0, 3)
        if random.random() < 0.25:
            schema["uniqueItems"] = random.random() < 0.9
        if random.random() < 0.25:
            schema["minItems"] = random.randint(0, 3)
        if random.random() < 0.25:
            schema["maxItems"] = random.randint(0, 4)
        if random.random() < 0.12 and number >= 19:
            schema["unevaluatedItems"] = random.random() < 0.2 or self.child(0)

    def composition(self, schema: dict[str, Json], depth: int, low: int) -> None:
        """Add one or two ways of combining schemas in place."""
        random = self.random
        keywords = ["allOf", "anyOf", "oneOf", "not"]
        if self.dialect.number >= 7:
            keywords += ["if", "if"]
        for keyword in random.sample(keywords, random.choice((1, 1, 2))):
            if keyword == "not":
                schema["not"] = self.schema(depth - 1, low=low)
            elif keyword == "if":
                for part in ("if", *random.sample(("then", "else"), random.randint(1, 2))):
                    schema[part] = self.schema(depth - 1, low=low)
            else:
                count = random.randint(1, 3)
                schema[keyword] = [self.schema(depth - 1, low=low) for _ in range(count)]
        if random.random() < 0.15 and self.dialect.number >= 19:
            keyword = random.choice(("unevaluatedProperties", "unevaluatedItems"))
            schema[keyword] = random.random() < 0.2 or self.child(0)

    def reference(self, schema: dict[str, Json], low: int) -> None:
        """Add a reference to a definition from `low` on, or nothing where there is none."""
        if low >= self.count:
            self.scalar(schema)
            return
        target = self.random.randrange(low, self.count)
        dynamic = self.dialect.number == 20 and self.random.random() < 0.1
        keyword = "$dynamicRef" if dynamic else "$ref"
        match self.way(target):
            case "anchor":
                schema[keyword] = f"#n{target}"
            case "name":
                schema[keyword] = f"urn:example:d{target}"
            case _:
                schema[keyword] = f"#/{self.dialect.definitions}/d{target}"

    def child(self, depth: int) -> Json:
        """Return a schema for a part of the value: it may refer to anything, the root included."""
        chance = self.random.random()
        if chance < 0.06:
            return {"$recursiveRef" if self.dialect.number == 19 and chance < 0.02 else "$ref": "#"}
        if chance < 0.2:
            return {}
        return self.schema(depth - 1, low=0)

    def plain(self, depth: int) -> Json:
        """Return a schema without references in place."""
        return self.schema(depth, low=self.count)
