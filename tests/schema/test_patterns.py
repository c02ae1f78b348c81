"""Regular expressions: ECMA-262 is what they mean, and no text makes them run for long."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from anyshape.schema import InvalidSchema, LimitExceeded, Limits, compile

MEANINGS: list[tuple[str, str, bool]] = [
    (r"^a.c$", "abc", True),
    (r"^.$", "\n", False),
    (r"^.$", "\r", False),
    (r"^.$", "\u2028", False),
    (r"^.$", "\u2029", False),
    (r"^.$", "\u0085", True),
    (r"^.$", "😀", True),
    (r"^[.]$", "x", False),
    (r"^\.$", "x", False),
    (r"(?s:^.$)", "\n", True),
    (r"^(?s:a)b.$", "ab\r", False),
    (r"^(?s:(a)(?i:.)).$", "a\r\r", False),
    (r"^(?s:(a)(?i:.)).$", "a\rb", True),
    (r"^(?i:\W)$", "k", False),
    (r"^(?=.)(?i:\W)$", "k", False),
    (r"^(?=.)(?i:[\W])$", "S", False),
    (r"^(?=.)(?i:[^\W])$", "\u017f", True),
    (r"^(?=.)(?i:\w)\W$", "\u212a\u212a", True),
    (r"^(?=.)(?i:(?-i:\W)\W)$", "\u017f-", True),
    (r"^(?s:a(?-s:.))$", "a\r", False),
    (r"^[(?s:]*.$", "\r", False),
    (r"^\d$", "٣", False),
    (r"^\D$", "٣", True),
    (r"^\w$", "é", False),
    (r"^\W$", "é", True),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\u00a0", True),
    (r"\bé", "aé", True),
    (r"\bcat\b", "a cat sat", True),
    (r"\Bcat", "a cat", False),
    (r"^[\b]$", "\x08", True),
    (r"^\0$", "\x00", True),
    (r"^\cA$", "\x01", True),
    (r"^(?=[\cA-\cC])", "\x02", True),
    (r"^\x41\u0042$", "AB", True),
    (r"^\ud83d\ude00$", "😀", True),
    (r"^\u{1F600}$", "😀", True),
    (r"^[\u{1F600}-\u{1F64F}]$", "😃", True),
    (r"^\p{L}$", "é", True),
    (r"^\p{Script=Greek}$", "π", True),
    (r"^[]$", "a", False),
    (r"^[^]$", "\n", True),
    (r"^[^\]]$", "]", False),
    (r"^[a&&b]+$", "a&b", True),
    (r"^[[]$", "[", True),
    (r"^a$", "a\n", False),
    (r"^(?<year>\d{4})-\k<year>$", "2026-2026", True),
    (r"^(?<year>\d{4})-\k<year>$", "2026-2027", False),
    (r"^(?<a>x)(y)\k<a>0$", "xyx0", True),
    (r"^(a|b)\1$", "aa", True),
    (r"^(a|b)\1$", "ab", False),
    (r"^(?=.*\d)(?=.*[a-z]).{8,}$", "abcdefg1", True),
    (r"^(?=.*\d)(?=.*[a-z]).{8,}$", "abcdefgh", False),
    (r"^(?!admin$)", "admin", False),
    (r"(?<=\$)\d", "$5", True),
    (r"(?<!\$)\d", "$5", False),
    (r"(?:)", "", True),
    (r"b", "abc", True),
    (r"^\<b\>$", "<b>", True),
    (r"\<", "b", False),
    (r"^[*-\x2B--z]$", "5", True),
    (r"^[+--]$", ",", True),
    (r"^[a-c-]$", "-", True),
    (r"^[^--z]$", "5", False),
    (r"\ud83d\ude00|\B", "a😀a", True),
    (r"é|\B", "aéa", True),
    (r"^[^\0٣]$", "٣", False),
    (r"^\0٣$", "\0٣", True),
    (r"^(?=.)[\<\>]\>$", ">>", True),
]


@pytest.mark.parametrize(("pattern", "text", "matches"), MEANINGS)
def test_patterns_mean_what_ecma_262_says(pattern: str, text: str, matches: bool) -> None:
    assert compile({"pattern": pattern}).accepts(text) is matches
    assert compile({"not": {"pattern": pattern}}).accepts(text) is not matches
    assert compile({"patternProperties": {pattern: False}}).accepts({text: 1}) is not matches
    assert compile({"propertyNames": {"pattern": pattern}}).accepts({text: 1}) is matches


OLD_DIALECTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
]


@pytest.mark.parametrize("dialect", OLD_DIALECTS)
@pytest.mark.parametrize(("text", "matches"), [("a cat", True), ("écat", True), ("cats", False)])
def test_word_boundaries_mean_the_same_in_old_dialects(
    dialect: str, text: str, matches: bool
) -> None:
    whole = compile({"$schema": dialect, "pattern": r"\bcat\b"})
    names = compile({"$schema": dialect, "patternProperties": {r"\bcat\b": {"not": {}}}})
    both = compile({"$schema": dialect, "allOf": [{"pattern": r"\bcat\b"}, {"pattern": r"^\D+$"}]})

    assert whole.accepts(text) is both.accepts(text) is matches
    assert names.accepts({text: 1}) is not matches


@pytest.mark.parametrize("escape", [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S"])
def test_many_classes_mean_what_few_do(escape: str) -> None:
    few, many = (compile({"pattern": f"^{escape * count}$"}) for count in (30, 300))

    for character in "7a_ \u00a0\ufeffé٣\n-😀\U0010ffff":
        assert few.accepts(character * 30) is many.accepts(character * 300)


INVALID = [
    "(",
    ")",
    "[",
    "*",
    "a**",
    "a{2,1}",
    "[b-a]",
    "\\",
    r"\c",
    r"\cé",
    r"\Z",
    r"\a",
    r"\k<missing>",
    r"(?<n>a)(?<n>b)",
    "(?i)a",
    "(?P<n>a)",
    "(?>a)",
    r"\p{NoSuchProperty}",
]


@pytest.mark.parametrize("pattern", INVALID)
def test_what_is_no_expression_makes_the_schema_invalid_and_is_named(pattern: str) -> None:
    with pytest.raises(InvalidSchema) as raised:
        compile({"properties": {"a": {"pattern": pattern}}})

    assert raised.value.path == "/properties/a/pattern"
    assert "/properties/a/pattern" in str(raised.value)
    assert repr(pattern) in str(raised.value)

    with pytest.raises(InvalidSchema) as raised:
        compile({"patternProperties": {pattern: {"type": "string"}}})

    assert raised.value.path.startswith("/patternProperties/")


def test_a_flag_for_the_whole_expression_is_told_how_to_be_written() -> None:
    with pytest.raises(InvalidSchema, match=r"\(\?i:…\)"):
        compile({"pattern": "(?i)abc"})


def test_patterns_in_unused_definitions_are_checked_too() -> None:
    with pytest.raises(InvalidSchema) as raised:
        compile({"$defs": {"unused": {"pattern": "("}}})

    assert raised.value.path == "/$defs/unused/pattern"


def test_patterns_beside_a_reference_are_checked_too() -> None:
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {"type": "string"}},
        "properties": {"x": {"$ref": "#/definitions/a", "pattern": "("}},
    }

    with pytest.raises(InvalidSchema) as raised:
        compile(document)

    assert raised.value.path == "/properties/x/pattern"


class TestRespelling:
    """Patterns are put differently for the engine; nobody is to notice."""

    def test_keys_that_come_to_mean_the_same_keep_both_their_schemas(self) -> None:
        same = r"^[^\n\r\u2028\u2029]$"
        schema = compile({"patternProperties": {"^.$": {"minimum": 1}, same: {"maximum": 5}}})

        assert schema.accepts({"a": 3})
        assert not schema.accepts({"a": 0})
        assert not schema.accepts({"a": 6})

    def test_references_through_a_key_still_resolve(self) -> None:
        document = {
            "patternProperties": {"^a.c$": {"type": "integer"}},
            "additionalProperties": {"$ref": "#/patternProperties/%5Ea.c$"},
        }

        assert compile(document).accepts({"abc": 1, "other": 2})
        assert not compile(document).accepts({"other": "x"})

    def test_references_through_a_key_beneath_a_key_still_resolve(self) -> None:
        inner = {"patternProperties": {"^b.$": {"type": "integer"}}}
        document = {
            "patternProperties": {"^a.$": inner},
            "additionalProperties": {
                "$ref": "#/patternProperties/%5Ea.$/patternProperties/%5Eb.$",
            },
        }

        assert compile(document).accepts({"ax": {"bx": 1}, "other": 2})
        (problem,) = compile(document).problems({"other": "x"})
        assert problem.path == "/other"

    def test_references_within_a_resource_start_from_its_root(self) -> None:
        inner: dict[str, Any] = {
            "$id": "https://example.com/inner",
            "patternProperties": {"^a.c$": {"type": "integer"}},
            "additionalProperties": {"$ref": "#/patternProperties/%5Ea.c$"},
            "$defs": {"inner": {"patternProperties": {"^a.c$": {"type": "string"}}}},
        }
        schema = compile({"$ref": "https://example.com/inner", "$defs": {"inner": inner}})

        assert schema.accepts({"abc": 1, "other": 2})
        assert not schema.accepts({"other": "x"})

    def test_a_resource_under_a_key_goes_by_its_names(self) -> None:
        inner: dict[str, Any] = {
            "$id": "https://example.com/inner",
            "properties": {"a": {"$ref": "#/$defs/whole"}, "b": {"$ref": "#named"}},
            "$defs": {"whole": {"type": "integer"}, "text": {"$anchor": "named", "minLength": 2}},
        }
        schema = compile(
            {
                "patternProperties": {"^x.$": inner},
                "additionalProperties": {"$ref": "https://example.com/inner"},
            }
        )

        for name in ("xy", "other"):
            assert schema.accepts({name: {"a": 1, "b": "text"}})
            assert not schema.accepts({name: {"a": 1.5}})
            (problem,) = schema.problems({name: {"b": "t"}})
            assert problem.path == f"/{name}/b"

    def test_subschemas_under_a_key_are_found(self) -> None:
        inner = {"patternProperties": {"^b.$": {"pattern": "^c.$"}}}
        schema = compile({"patternProperties": {"^a.$": inner}})

        assert schema.accepts({"ax": {"bx": "cx"}})
        assert not schema.accepts({"ax": {"bx": "c\r"}})
        (problem,) = schema.problems({"ax": {"bx": "c\r"}})
        assert problem.path == "/ax/bx"

    def test_the_document_keeps_its_spelling(self) -> None:
        document = {"pattern": "^.$", "patternProperties": {"^x.$": True}}

        assert compile(document).document == document


BRIEF = Limits(seconds=0.1)
"""For what is stopped anyway, so that nobody waits."""
CATASTROPHIC = [
    (r"^(a|aa)+\1b$", "a" * 40),
    (r"^(?:a|a(?=a)|aa)+b$", "a" * 40),
    (r"^(a*)*\1b$", "a" * 40),
    (r"^((a|b)\2?)*c$", "a" * 40),
    (r"^(?:(?!b)(?:a|aa))+c$", "a" * 40),
]


def unknown(pattern: str, text: str) -> list[tuple[Any, Any]]:
    """Return schemas and values whose verdict hangs on whether `text` matches `pattern`."""
    probe = {"pattern": pattern}
    return [
        (probe, text),
        ({"not": probe}, text),
        ({"not": {"not": probe}}, text),
        ({"anyOf": [probe, False]}, text),
        ({"oneOf": [probe, True]}, text),
        ({"if": probe, "then": True, "else": False}, text),
        ({"if": probe, "then": False, "else": True}, text),
        ({"contains": probe}, [text]),
        ({"contains": probe, "minContains": 0, "maxContains": 0}, [text]),
        ({"propertyNames": probe}, {text: 1}),
        ({"propertyNames": {"not": probe}}, {text: 1}),
        ({"patternProperties": {pattern: False}}, {text: 1}),
        ({"patternProperties": {pattern: True}, "additionalProperties": False}, {text: 1}),
        ({"patternProperties": {pattern: True}, "unevaluatedProperties": False}, {text: 1}),
        ({"items": {"properties": {"a": probe}}}, [{"b": "ok"}, {"a": text}]),
        ({"$ref": "#/$defs/p", "$defs": {"p": {"not": probe}}}, text),
        (
            {"$id": "relative", "allOf": [{"$ref": "relative#/$defs/p"}], "$defs": {"p": probe}},
            text,
        ),
    ]


@pytest.mark.parametrize(("pattern", "text"), CATASTROPHIC)
def test_a_pattern_that_backtracks_too_much_is_neither_valid_nor_invalid(
    pattern: str, text: str
) -> None:
    schema = compile({"pattern": pattern}, limits=BRIEF)
    for verb in (schema.accepts, schema.problems, schema.validate):
        with pytest.raises(LimitExceeded) as raised:
            verb(text)
        assert raised.value.limit == "seconds"


@pytest.mark.parametrize(("document", "value"), unknown(*CATASTROPHIC[0]))
def test_a_verdict_that_hangs_on_the_pattern_is_not_given(document: Any, value: Any) -> None:
    with pytest.raises(LimitExceeded) as raised:
        compile(document, limits=BRIEF).accepts(value)
    assert raised.value.limit == "seconds"


@pytest.mark.parametrize(("pattern", "text"), CATASTROPHIC)
def test_a_verdict_that_is_known_before_the_pattern_is_tried_is_given(
    pattern: str, text: str
) -> None:
    probe = {"pattern": pattern}

    assert compile({"anyOf": [{"type": "string"}, probe]}).accepts(text)
    assert compile({"properties": {"a": probe}}).accepts({"b": text})
    assert not compile({"allOf": [{"type": "integer"}, probe]}).accepts(text)
    assert not compile({"not": {"anyOf": [{"type": "string"}, probe]}}).accepts(text)


def test_more_time_can_be_allowed() -> None:
    document = {"pattern": r"^(a|aa)+\1b$"}
    text = "a" * 28  # a fifth of a second, give or take

    assert not compile(document, limits=Limits(seconds=60)).accepts(text)
    with pytest.raises(LimitExceeded):
        compile(document, limits=Limits(seconds=0.01)).accepts(text)


def test_catastrophic_patterns_without_lookaround_are_harmless() -> None:
    schema = compile({"pattern": r"^(a+)+$"})

    assert not schema.accepts("a" * 100_000 + "!")
    assert schema.accepts("a" * 100_000)


def test_what_looks_like_a_flag_takes_no_longer_to_read_than_any_other_text() -> None:
    patterns = [f"{number}[(?{'s' * 3_980}]." for number in range(4)]
    begun = time.thread_time()
    schema = compile({"allOf": [{"pattern": pattern} for pattern in patterns]})

    assert time.thread_time() - begun < 0.25
    assert not schema.accepts("0s\r")


class TestSize:
    def test_a_long_pattern_exceeds_its_length(self) -> None:
        with pytest.raises(LimitExceeded) as raised:
            compile({"properties": {"a": {"pattern": "a" * 5_000}}})

        assert raised.value.limit == "pattern_length"
        assert raised.value.allowed == 4_096
        assert raised.value.found == 5_000
        assert raised.value.path == "/properties/a/pattern"

    @pytest.mark.parametrize(
        "pattern", ["(?:a{1000}){1000}", "(?:(?:a{100}){100}){100}", r"(?=a)(?:\p{L}{500}){100}"]
    )
    def test_a_pattern_bomb_exceeds_the_memory(self, pattern: str) -> None:
        with pytest.raises(LimitExceeded) as raised:
            compile({"pattern": pattern})

        assert raised.value.limit == "pattern_bytes"

    def test_many_patterns_share_one_budget(self) -> None:
        patterns = {rf"^x{number}\p{{L}}{{200}}$": True for number in range(20)}

        with pytest.raises(LimitExceeded) as raised:
            compile({"patternProperties": patterns})

        assert raised.value.limit == "pattern_bytes"

    def test_ordinary_patterns_are_small(self) -> None:
        ordinary = [
            r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$",
            r"^[a-zA-Z0-9_]{1,256}$",
            r"^\p{L}{1,64}$",
            r"^.{1,255}$",
        ]

        compile({"patternProperties": dict.fromkeys(ordinary, True)}, limits=Limits())


class TestText:
    """Linear is not free: a large pattern against much text is judged where it can be stopped."""

    HEAVY = r"^[01]*1[01]{4000}$"
    BITS = "".join(random.Random(0).choices("01", k=400_000))

    def test_much_text_against_a_large_pattern_is_stopped(self) -> None:
        schema = compile({"properties": {"bits": {"pattern": self.HEAVY}}}, limits=BRIEF)

        for verb in (schema.accepts, schema.problems, schema.validate):
            with pytest.raises(LimitExceeded) as raised:
                verb({"bits": self.BITS})
            assert raised.value.limit == "seconds"

    def test_little_text_is_matched(self) -> None:
        schema = compile({"properties": {"bits": {"pattern": self.HEAVY}}})

        assert schema.accepts({"bits": "1" * 4_001})
        assert not schema.accepts({"bits": "1" * 4_000})

    def test_text_that_the_pattern_never_meets_does_not_count(self) -> None:
        schema = compile({"properties": {"bits": {"pattern": self.HEAVY}, "body": {}}})
        body = "x" * 2_000_000

        assert schema.accepts({"bits": "1" * 4_001, "body": body})
        assert not schema.accepts({"bits": "1", "body": body})

    def test_a_text_too_long_for_this_process_still_gets_its_verdict(self) -> None:
        twice = {"pattern": r"^[ab]{1,1000}$|^[cd]*$"}
        schema = compile({"type": "object", "properties": {"a": twice, "b": twice}})
        longest = schema.cost.free_bytes

        assert 256 < longest < 100_000
        for length in (longest - 30, longest, longest * 3 // 2):
            assert schema.accepts({"a": "cd", "b": "c" * length})
            assert not schema.accepts({"a": "cd", "b": "c" * length + "e"})
            assert schema.problems({"a": "cd", "b": "c" * length}) == []

    def test_names_and_items_count_where_patterns_meet_them(self) -> None:
        met: list[tuple[Any, Any]] = [
            ({"patternProperties": {self.HEAVY: True}}, {self.BITS: 1}),
            ({"propertyNames": {"pattern": self.HEAVY}}, {self.BITS: 1}),
            ({"items": {"pattern": self.HEAVY}}, [self.BITS]),
            ({"prefixItems": [{"pattern": self.HEAVY}]}, [self.BITS]),
            ({"additionalProperties": {"pattern": self.HEAVY}}, {"a": self.BITS}),
            ({"not": {"properties": {"a": {"$ref": "#/$defs/p"}}}}, {"a": self.BITS}),
        ]
        for document, value in met:
            schema = compile({**document, "$defs": {"p": {"pattern": self.HEAVY}}}, limits=BRIEF)
            with pytest.raises(LimitExceeded):
                schema.accepts(value)

    def test_a_lookahead_that_looks_to_the_end_from_everywhere_is_stopped(self) -> None:
        schema = compile({"pattern": r"(?=a*b)c"}, limits=BRIEF)

        assert not schema.accepts("a" * 900)
        with pytest.raises(LimitExceeded):
            schema.accepts("a" * 1_000_000)

    @pytest.mark.parametrize("inner", [True, {"type": "integer"}, {"pattern": "^(?!y)b"}])
    def test_many_patterns_against_many_names_are_stopped(self, inner: object) -> None:
        names = {f"^(?!x)a{i}": inner for i in range(1_000)}
        schema = compile({"patternProperties": names}, limits=Limits(seconds=0.5))

        assert schema.accepts({"name": 1})
        with pytest.raises(LimitExceeded):
            schema.accepts({f"name{i}": 1 for i in range(50_000)})

    def test_ordinary_lookaround_copes_with_long_text(self) -> None:
        schema = compile({"pattern": r"^(?=.*\d)(?!.*<script>).*$"})

        assert schema.accepts("some text " * 10_000 + "1")
        assert not schema.accepts("some text " * 10_000)
